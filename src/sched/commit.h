/* SPDX-License-Identifier: Apache-2.0 */
/* commit.h - batches: what the next one takes, and what a commit brings back. */
#ifndef PEAL_SCHED_COMMIT_H
#define PEAL_SCHED_COMMIT_H

#include "sched/sched.h"

/* Whether runs are planned here at all: not while memory holds as many as it may, nor at a node
 * that has no place among those which plan. */
bool commit_plans(const struct sched *s);
/* The next batch says that what is planned on disk has not been sent. */
bool commit_wants_clean(const struct sched *s);
struct batch *commit_take(struct sched *s, struct now now);
void commit_done(struct sched *s, struct now now, struct batch *b);

#endif
