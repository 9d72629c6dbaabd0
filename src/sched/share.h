/* SPDX-License-Identifier: Apache-2.0 */
/* share.h - a center that has its database together with others. */
#ifndef PEAL_SCHED_SHARE_H
#define PEAL_SCHED_SHARE_H

#include "sched/sched.h"

/* A batch is done: the runs that it took from another center. */
void share_adopted(struct sched *s, struct now now, const struct batch *b);
/* The same, of any: what is in memory by an older version of its job than the newest that is known
 * is held against that with the next batch. */
void share_synced(struct sched *s, const struct batch *b);
void share_loaded(struct sched *s); /* the same, of all jobs at the start */

#endif
