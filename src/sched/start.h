/* SPDX-License-Identifier: Apache-2.0 */
/* start.h - what the disk holds when a life begins. */
#ifndef PEAL_SCHED_START_H
#define PEAL_SCHED_START_H

#include "sched/sched.h"

struct run;

/* As sched.h has them. */
void start_watermark(struct sched *s, int64_t watermark_ms, bool clean);
void start_run(struct sched *s, struct now now, const struct run_row *row, struct job *job,
               enum flight_known known);
/* Of a LOST run that this one retries: it, or the clock, decides no more. r: NULL is fine. */
void start_retry(struct sched *s, struct run *r);
void start_done(struct sched *s, struct now now);

#endif
