/* SPDX-License-Identifier: Apache-2.0 */
/* commit.h - batches: what the next one takes, and what a commit brings back. */
#ifndef PEAL_SCHED_COMMIT_H
#define PEAL_SCHED_COMMIT_H

#include "sched/sched.h"

/* As many runs in memory as it may hold: planning pauses. */
bool commit_full(const struct sched *s);
/* The next batch says that what is planned on disk has not been sent. */
bool commit_wants_clean(const struct sched *s);
struct batch *commit_take(struct sched *s, struct now now);
void commit_done(struct sched *s, struct now now, struct batch *b);

#endif
