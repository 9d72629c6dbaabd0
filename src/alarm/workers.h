/* SPDX-License-Identifier: Apache-2.0 */
/* workers.h - the threads in which a channel's tries block. */
#ifndef PEAL_ALARM_WORKERS_H
#define PEAL_ALARM_WORKERS_H

#include "alarm/channel.h"
#include "base/mailbox.h"

#define WORKERS 4

struct workers;

struct workers_try {
    struct message message; /* goes to done, with the kind given to workers_new */
    const struct alarm_message *text;
    /* result */
    enum delivery_outcome outcome;
    struct why said;
    int64_t at_ms, took_ms; /* wall when it began */
};

/* For an open channel, which must outlive it. The owner gives at most WORKERS tries at once.
 */
struct workers *workers_new(struct channel *c, struct mailbox *done, int kind);
/* Owner's thread. t belongs to them until it is in the mailbox. */
void workers_give(struct workers *w, struct workers_try *t);
/* Ends tries under way and joins: every try given is in the mailbox then, those that were not begun
 * as DELIVERY_AGAIN. NULL is fine. */
void workers_free(struct workers *w);

#endif
