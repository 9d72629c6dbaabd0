/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.h - from due to its lane. */
#ifndef PEAL_SCHED_DISPATCH_H
#define PEAL_SCHED_DISPATCH_H

#include "sched/sched.h"

struct lane;
struct run;

void dispatch_due(struct sched *s, struct now now);
void dispatch_watermark(struct sched *s, struct now now); /* the watermark moved */
void dispatch_addressed(struct sched *s, struct now now,
                        struct run *r); /* its address is on disk */
/* The job has got another group or route: what waits begins again with its address. */
void dispatch_moved(struct sched *s, struct run *r);
/* A living address with room behind the run's own; NULL if there is none. */
struct lane *dispatch_next_lane(struct sched *s, const struct run *r);
void dispatch_sweep(struct sched *s, struct now now); /* start deadlines, once a second */

#endif
