/* SPDX-License-Identifier: Apache-2.0 */
/* kill.h - a user's kill: withdraws what has not left, asks the executor for the rest. */
#ifndef PEAL_SCHED_KILL_H
#define PEAL_SCHED_KILL_H

#include "sched/sched.h"

struct run;

#define KILLED_BY_USER "killed by a user: " /* before what the executor said; see log_outcome.c */

void kill_ask(struct sched *s, struct now now, int64_t log_id, void *reply);
void kill_on_call(struct sched *s, struct now now, const struct call_result *c);
void kill_settle(struct sched *s, struct now now, struct run *r); /* held no longer */

#endif
