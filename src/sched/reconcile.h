/* SPDX-License-Identifier: Apache-2.0 */
/* reconcile.h - what became of a run that did not answer: the reconciliation table. */
#ifndef PEAL_SCHED_RECONCILE_H
#define PEAL_SCHED_RECONCILE_H

#include "sched/sched.h"

struct lane;
struct run;

void reconcile_timer(struct sched *s, struct now now, struct run *r);
/* False: the idleBeat is not one of a round. */
bool reconcile_on_idle(struct sched *s, struct now now, const struct call_result *c);
void reconcile_on_log(struct sched *s, struct now now, const struct call_result *c);
void reconcile_pump(struct sched *s, struct now now, struct lane *lane);
void reconcile_pump_all(struct sched *s, struct now now); /* after timers: rounds begin */
void rounds_free(struct lane *lane);
/* The process stood still for so long: that proves no silence. */
void reconcile_paused(struct run *r, struct now now, int64_t ms);

#endif
