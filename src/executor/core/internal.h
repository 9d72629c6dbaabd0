/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - the executor's own parts, for executor.c (its life), lifecycle.c (a run's),
 * recovery.c (what the journal has from before) and endpoints.c (requests). */
#ifndef PEAL_EXECUTOR_CORE_INTERNAL_H
#define PEAL_EXECUTOR_CORE_INTERNAL_H

#include <stdatomic.h>
#include "executor/core/centers.h"
#include "executor/core/executor.h"
#include "executor/core/handlers.h"
#include "executor/core/jobs.h"
#include "executor/log/log_writer.h"
#include "executor/core/pool.h"
#include "executor/core/results.h"
#include "net/addr.h"
#include "net/httpd.h"

/* Results that may wait for a center; with more of them new runs are refused. */
#define RESULTS_MAX 200000

/*   RUNNING --executor_stop--> LEAVING --time over--> ENDING --nothing runs--> FLUSHING --> STOPPED
 *                                 +--------------nothing runs, and left-----------^
 *   LEAVING: deregister, for LEAVE_MS at most, let runs go on. ENDING: runs were asked to stop.
 * FLUSHING: results go out, for FLUSH_MS at most. While RUNNING it may be draining: deregistered,
 * and /run is refused. */
enum executor_phase { RUNNING, LEAVING, ENDING, FLUSHING, STOPPED };

struct executor_counts { /* written by the loop, read by any thread */
    _Atomic int registered, draining, stopping, running, waiting, stuck;
    _Atomic int64_t accepted, refused, ended, results;
};

struct executor {
    struct loop *loop;         /* borrowed */
    struct executor_config cf; /* texts borrowed, none NULL */
    struct limits *limits;     /* of scripts and commands */
    struct httpd *front;
    struct mailbox *mailbox; /* from workers, log writer and journal */
    struct loop_mailbox incoming;
    struct pool *pool;
    struct log_writer *log_writer;
    struct run_journal *store;
    int64_t next_seq;
    int promises; /* ACCEPTs and STARTs on their way to the journal */
    struct centers_config centers_config;
    struct centers *centers;
    struct jobs jobs;
    struct results results;
    struct list recovered_runs, recovered_results; /* between opening the journal and the start */
    int64_t recovered_ms;                          /* boot: youngest end of a known run so far */
    char address[ADDR_TEXT_MAX];
    char journal[RUNLOG_PATH];
    enum executor_phase phase;
    bool left, draining;
    struct loop_timer stop_timer, leave_timer;
    struct loop_task stopped_task;
    struct executor_counts counts;
};

enum executor_message {
    MESSAGE_BEGUN = RUN_BEGUN,
    MESSAGE_OVER = RUN_OVER,
    MESSAGE_PAGE,
    MESSAGE_KEPT = JOBS_MESSAGE_KEPT,
    MESSAGE_WRITTEN = RESULTS_MESSAGE_WRITTEN,
};

/* executor.c: look whether the phase's condition is met, after each event that might have met it.
 */
void executor_advance(struct executor *e);

/* lifecycle.c */
extern const struct jobs_hooks lifecycle_hooks; /* arg: the executor */
void lifecycle_written(struct executor *e, struct write *w);
void lifecycle_told(struct result *r, bool acknowledged, void *executor);
/* A result for a run that has none of its own; code 500. */
struct result *lifecycle_failed(int64_t seq, int64_t log_id, int64_t log_date_ms, const char *text);

/* recovery.c: rows of the journal, and then what follows from them. */
void recover_row(void *executor, const struct run_journal_row *row);
void recover_begin(struct executor *e);

/* endpoints.c: one request of a center, and the answer to /log when it has been read. */
void endpoint_request(struct httpd_request *q, void *executor);
/* Of a large one, before its body is read: how large it may be. */
size_t endpoint_head(struct httpd_request *q, void *executor);
void endpoint_page(struct log_writer_read *r);
/* The handler or script of a run; why has the answer's text. */
MUST_CHECK enum err endpoint_choose(const struct executor *e, const struct wire_run_request *q,
                                    struct peal_run *r, struct why *why);
/* The journal has it, or has not: what those hear who sent it. */
void endpoint_accepted(struct executor *e, struct peal_run *r, enum err err, const struct why *why);

/* endpoint_peal.c: /peal/drain, /peal/undrain, /peal/status; the token was right. False: neither.
 */
bool endpoint_peal(struct executor *e, struct httpd_request *q);

#endif
