/* SPDX-License-Identifier: Apache-2.0 */
/* executors.h - addresses as pages show them, and what users do with them. */
#ifndef PEAL_SCHED_EXECUTORS_H
#define PEAL_SCHED_EXECUTORS_H

#include "model/executor.h"
#include "sched/sched.h"

/* As sched.h has them. */
int executors_each(const struct sched *s, struct now now, const struct executors_filter *f,
                   sched_executor_fn *fn, void *ctx);
void executors_seen(struct sched *s, struct now now, bool anew, sched_seen_fn *fn, void *ctx);
void executors_unseen(struct sched *s); /* drops what is to be told as gone */
int executors_busy(const struct sched *s, const char *address,
                   struct sched_busy ret[SCHED_BUSY_MAX]);
void executors_probed(struct sched *s, struct now now, const struct call_result *c);

#endif
