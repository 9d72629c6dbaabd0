/* SPDX-License-Identifier: Apache-2.0 */
/* digest.h - what one message of a rule tells: the alarm, and the jobs that it is about. It is read
 * when the message is sent. */
#ifndef PEAL_ALARM_DIGEST_H
#define PEAL_ALARM_DIGEST_H

#include "alarm/message.h"
#include "cron/zone.h"
#include "ledger/figures.h"

struct digest;

/* The message of that id; since-texts are in the zone. NULL: it has gone. */
struct digest *digest_new(struct store *reader, struct figures *figures, int64_t tell_id,
                          const struct zone *zone);
/* Into m, whose group and lang are set: what it tells. Borrowed from d. */
void digest_put(struct digest *d, struct alarm_message *m);
void digest_free(struct digest *d); /* NULL is fine */

#endif
