/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h - the queues: one per job, one run of a job at a time, so many runs at a time in all.
 *
 * What is taken has its place in the queue at once, and begins when the journal has it, all before
 * it in its job are over, and a worker is free. How a run ends: it is over (its worker says so), or
 * it would not stop in time, or it is taken out of the queue before it began; each leaves through
 * "ended", once, with its result. A handler that would not stop keeps its job and its worker.
 * A START that is on its way to the disk has a worker reserved, or one of those that will be free
 * by then: as many more as runs have ended within limits.soon_ms lately. If that many do not come
 * free, the runs that are STARTED go first when a worker comes free.
 * Writing to the journal is the owner's task: jobs calls hooks, and the owner calls back with the
 * outcome. A job is here as long as it has something running or waiting, or a handler's state,
 * which goes when the job has been idle for a while. Thread: the loop's. */
#ifndef PEAL_EXECUTOR_CORE_JOBS_H
#define PEAL_EXECUTOR_CORE_JOBS_H

#include "base/map.h"
#include "executor/core/dedup.h"
#include "executor/run/run.h"
#include "net/loop.h"
#include "wire/executor_side.h"

#define JOBS_IDLE_MAX 10000 /* idle jobs with a state; with more of them the oldest goes sooner */

struct jobs_hooks {
    /* Put it into the journal, as STARTED or as ACCEPTED; then jobs_accepted. */
    void (*accept)(struct peal_run *r, bool started, void *arg);
    /* Say STARTED in the journal; then jobs_started. */
    void (*start)(struct peal_run *r, void *arg);
    /* It ended so. r is borrowed if it is REPORTED, else owned. */
    void (*ended)(struct peal_run *r, int code, char *msg, void *arg); /* owns msg */
    /* One that was REPORTED has returned at last. Owns r. */
    void (*returned)(struct peal_run *r, void *arg);
};

struct jobs_limits {
    int workers;    /* runs at work */
    int queue;      /* runs that wait, of one job */
    int grace_ms;   /* from the request to stop to "would not stop" */
    int soon_ms;    /* about what the journal takes; runs that end so soon need not be waited for */
    int idle_ms;    /* from a job's last run to the end of its handler's state */
    int remember;   /* finished log ids */
    int64_t memory; /* bytes of runs */
};

struct jobs { /* embed it; jobs_init fills it */
    struct jobs_limits limits;
    const struct jobs_hooks *hooks;
    void *arg;
    struct map by_id;         /* struct job, owned */
    struct map writing;       /* dedup_key -> struct peal_run whose ACCEPT is under way, borrowed */
    struct dedup dedup;       /* log ids */
    struct list ready;        /* struct job: its first run waits for a worker and nothing else */
    struct list idle;         /* struct job, the longest idle first */
    struct loop *loop;        /* borrowed */
    struct pool *pool;        /* borrowed */
    struct mailbox *incoming; /* borrowed: messages of keeps */
    struct loop_timer again;  /* a START could not be written */
    struct list started;      /* struct peal_run: STARTED, and no worker was free after all */
    int at_work, live;        /* workers taken or promised; runs that have not ended */
    int busy;                 /* workers that the pool has tasks for */
    struct turnover {         /* runs that ended in this slice of soon_ms, and in the one before */
        int64_t slice;
        int now, before;
    } turnover;
    int waiting, nidle;
    int stuck; /* at work, and reported as ones that would not stop */
    bool closing;
    int64_t bytes;       /* of the live ones */
    int64_t other_bytes; /* that count too: the owner's */
};

enum { JOBS_MESSAGE_KEPT = 8 }; /* kind of the message that a job's state is gone */

void jobs_init(struct jobs *j, struct loop *l, const struct jobs_limits *limits,
               const struct jobs_hooks *hooks, void *arg);
/* pool, incoming: borrowed until jobs_done. */
void jobs_begin(struct jobs *j, struct pool *pool, struct mailbox *incoming);
/* Runs still waiting are freed, states ended; none may be at work. */
void jobs_done(struct jobs *j);

/* Take a run by the rules of its block strategy. On ERR_BUSY (discarded) and ERR_FULL it stays the
 * caller's and why has the answer's text. */
MUST_CHECK enum err jobs_offer(struct jobs *j, struct peal_run *r, enum wire_block block,
                               struct why *why);
/* Take one that the journal has from before: no rule applies. */
void jobs_restore(struct jobs *j, struct peal_run *r);
/* The journal has it; with err it has not: then r is the caller's again, and in the dedup set no
 * more. */
void jobs_accepted(struct jobs *j, struct peal_run *r, enum err err);
void jobs_started(struct jobs *j, struct peal_run *r, enum err err);
/* Messages. */
void jobs_begun(struct jobs *j, struct peal_run *r);
void jobs_over(struct jobs *j, struct peal_run *r);
void jobs_kept(struct jobs *j, struct message *l);

bool jobs_busy(const struct jobs *j, int64_t job_id);
/* Its ACCEPT is under way; else NULL. */
struct peal_run *jobs_writing(const struct jobs *j, int64_t log_id, int64_t log_date_ms);
/* A run whose handler is at work or about to be; NULL. For the page of its log, which a center asks
 * for with the date of its database: that may have lost the milliseconds. */
struct peal_run *jobs_running(const struct jobs *j, int64_t log_id);
/* Those at work, one a call, *i from 0; NULL after the last. Between calls nothing may change. */
struct peal_run *jobs_at_work(const struct jobs *j, size_t *i);
/* End what is running and waiting of one job. False if there is nothing. */
bool jobs_end(struct jobs *j, int64_t job_id, enum run_stop why);
void jobs_end_all(struct jobs *j, enum run_stop why);
/* Ask those at work to stop and begin no others: what waits stays in the journal. */
void jobs_close(struct jobs *j);

#endif
