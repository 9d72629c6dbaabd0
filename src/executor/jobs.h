/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h - the queues: one per job, one run of a job at a time.
 *
 * A job is here as long as it has something running or waiting. Of its runs the first goes to the
 * pool, the others wait for it. How a run ends: it is over (its worker says so), or it is taken out
 * of the queue before it began; in both cases it leaves through "ended", with its result.
 * Thread: the loop's. */
#ifndef PEAL_EXECUTOR_JOBS_H
#define PEAL_EXECUTOR_JOBS_H

#include "base/map.h"
#include "executor/known.h"
#include "executor/run.h"
#include "net/loop.h"
#include "wire/executor_side.h"

struct pool;

struct jobs {                                     /* embed it; jobs_init fills it */
    struct map by_id;                             /* struct job, owned */
    struct known known;                           /* log ids */
    struct loop *loop;                            /* borrowed */
    struct pool *pool;                            /* borrowed */
    int queue_max, live;                          /* live: runs that have not ended */
    void (*ended)(struct peal_run *r, void *arg); /* owns r */
    void *arg;
};

void jobs_init(struct jobs *j, struct loop *l, struct pool *pool, int queue_max, int remember);
void jobs_done(struct jobs *j); /* runs still waiting are freed; none may be at work */

/* Take a run by the rules of its block strategy. On ERR_BUSY (discarded) and ERR_FULL it stays the
 * caller's and why has the answer's text. */
MUST_CHECK enum err jobs_offer(struct jobs *j, struct peal_run *r, enum wire_block block,
                               struct why *why);
bool jobs_busy(const struct jobs *j, int64_t job_id);
/* The run of this log id that is with the pool; NULL: there is none. */
struct peal_run *jobs_running(const struct jobs *j, int64_t log_id);
/* End what is running and waiting of one job. False if there is nothing. */
bool jobs_end(struct jobs *j, int64_t job_id, enum run_stop why);
void jobs_end_all(struct jobs *j, enum run_stop why);
/* Letters of a run. */
void jobs_begun(struct jobs *j, struct peal_run *r);
void jobs_over(struct jobs *j, struct peal_run *r);

#endif
