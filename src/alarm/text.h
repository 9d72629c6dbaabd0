/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - the message of an alarm, out of the rows that it is about. */
#ifndef PEAL_ALARM_TEXT_H
#define PEAL_ALARM_TEXT_H

#include "alarm/channel.h"
#include "cron/zone.h"
#include "ledger/figures.h"
#include "store/store.h"

struct text;

/* What the log, the job and the group say now; a row that has gone meanwhile is left out, and what
 * the alarm itself holds stands in. row and target are lent while the text is used. zone: of the
 * times in it, borrowed for the call. The reader's thread. */
struct text *text_new(struct store *reader, struct figures *figures, const struct alarm_record *row,
                      const char *target, struct zone *zone, enum wire_lang lang);
/* The message tells that so many were kept back before it. Before another thread has it. */
void text_held(struct text *t, int64_t held);
const struct alarm_message *text_message(const struct text *t); /* any thread */
void text_free(struct text *t);

#endif
