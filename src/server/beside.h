/* SPDX-License-Identifier: Apache-2.0 */
/* beside.h - what other programs on the same tables do to groups, registrations and ends of runs
 * (XXL-JOB's Java admins): read every few seconds on the maintenance thread, and told to the
 * scheduler. */
#ifndef PEAL_SERVER_BESIDE_H
#define PEAL_SERVER_BESIDE_H

#include "base/mailbox.h"
#include "sched/sched.h"
#include "store/store.h"

struct beside;

/* What is heard goes to tell, as messages of that kind. */
struct beside *beside_new(struct mailbox *tell, int kind);
void beside_free(struct beside *b); /* NULL is fine */

/* Tells of addresses that have registered lately, of groups that are new or have changed, and of
 * open runs that have been ended in the log. An error is logged, and the next look tries again. */
void beside_look(struct beside *b, struct store *reader);

/* On the scheduler's thread: takes what such a message says, and the message. */
void beside_heard(struct sched *s, struct now now, struct message *m);
void beside_drop(struct message *m); /* the message alone */

#endif
