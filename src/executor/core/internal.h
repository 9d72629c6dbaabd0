/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - struct executor, for the files that work on all of it. From the ground up:
 *
 *   stopping.c         draining and stopping: the phases
 *   endpoints_peal.c   requests of operators
 *   endpoints.c        requests of centers
 *   lifecycle.c        a run's way through the journal
 *   recovery.c         what the journal has from before
 *   executor.c         making and freeing it, its iterations and messages
 *
 * Each calls those above it in this list only. Thread: the loop's. */
#ifndef PEAL_EXECUTOR_CORE_INTERNAL_H
#define PEAL_EXECUTOR_CORE_INTERNAL_H

#include <stdatomic.h>
#include "executor/core/centers.h"
#include "executor/core/executor.h"
#include "executor/core/handlers.h"
#include "executor/core/jobs.h"
#include "executor/core/results.h"
#include "executor/log/log_writer.h"
#include "executor/run/pool.h"
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

struct executor {
    struct loop *loop;         /* borrowed */
    struct executor_config cf; /* texts borrowed, none NULL */
    struct limits *limits;     /* of scripts and commands; owned */
    struct run_context context;
    struct httpd *httpd;
    struct mailbox *mailbox; /* from workers, log writer and journal */
    struct loop_mailbox incoming;
    struct pool *pool;
    struct log_writer *log_writer;
    struct run_journal *journal;
    int64_t next_seq;
    int promises; /* ACCEPTs and STARTs on their way to the journal */
    struct centers_config centers_config;
    struct centers *centers;
    struct jobs jobs;
    struct results results;
    struct list recovered_runs, recovered_results; /* between opening the journal and the start */
    int64_t recovered_ms;                          /* boot: youngest end in the dedup set so far */
    char address[ADDR_TEXT_MAX];
    char journal_path[RUNLOG_PATH];
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

/* stopping.c: is the phase's condition met? After each event that might have met it. */
void stopping_advance(struct executor *e);
void stopping_left(void *executor); /* deregistered, or every center was tried */
void stopping_init(struct executor *e);
void stopping_done(struct executor *e); /* at once STOPPED; no timer is left */

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
/* The journal has it, or has not: the requests that sent it are answered. */
void endpoint_accepted(struct executor *e, struct peal_run *r, enum err err, const struct why *why);

/* endpoints_peal.c: /peal/drain, /peal/undrain, /peal/status; the token was right. False: neither.
 */
bool endpoint_peal(struct executor *e, struct httpd_request *q);

#endif
