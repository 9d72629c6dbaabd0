/* SPDX-License-Identifier: Apache-2.0 */
/* broadcast.h - lists and views made anew, and the broadcasts that are planned again for it. */
#ifndef PEAL_SCHED_BROADCAST_H
#define PEAL_SCHED_BROADCAST_H

#include "sched/sched.h"

struct run;
struct group;

/* A broadcast none of whose shards has left is planned again if the group's list is another by now:
 * it may have changed while the rows were written, or while an edit held them. r: one of them.
 */
void broadcast_check(struct sched *s, struct now now, struct run *r);
/* The same of rows that have just been written; of a large group perhaps later. */
void broadcast_entered(struct sched *s, struct now now, struct run *r);
void broadcast_sweep(struct sched *s, struct now now); /* once a second: those put off */
void groups_refresh(struct sched *s, struct now now);  /* makes stale lists and views */
/* The same for one group, if it costs little or has not been done for the batch that gathers. */
void group_freshen(struct sched *s, struct now now, struct group *g);
/* The same at any cost: a broadcast is about to leave. */
void group_now(struct sched *s, struct now now, struct group *g);

#endif
