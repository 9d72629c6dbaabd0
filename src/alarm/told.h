/* SPDX-License-Identifier: Apache-2.0 */
/* told.h - a message as channels show it. Any thread. */
#ifndef PEAL_ALARM_TOLD_H
#define PEAL_ALARM_TOLD_H

#include "alarm/message.h"
#include "base/buf.h"

/* The JSON of docs/alarms.md. */
void told_json(struct buf *out, const struct alarm_message *m);
/* Lines for people, the title first. What is in them is not escaped. */
void told_text(struct buf *out, const struct alarm_message *m);

#endif
