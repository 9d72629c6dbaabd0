/* SPDX-License-Identifier: Apache-2.0 */
/* result.h - results: what a callback does to a run in each phase. */
#ifndef PEAL_SCHED_RESULT_H
#define PEAL_SCHED_RESULT_H

#include "sched/sched.h"

/* As sched.h has them. */
bool result_foreign(struct sched *s, int64_t log_id, int64_t date_ms);
bool result_take(struct sched *s, struct now now, int64_t log_id, int code, struct slice msg,
                 struct claim *claim);
void result_of_inbox(struct sched *s, struct now now, const struct inbox_row *row);
/* Results that had to wait for a commit (kept as late ones of the batch that gathers) count now. */
void results_again(struct sched *s, struct now now, int64_t log_id);

#endif
