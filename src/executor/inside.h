/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - the executor's own parts, for executor.c (its life) and front.c (its requests). */
#ifndef PEAL_EXECUTOR_INSIDE_H
#define PEAL_EXECUTOR_INSIDE_H

#include "executor/centers.h"
#include "executor/executor.h"
#include "executor/handlers.h"
#include "executor/jobs.h"
#include "executor/keeper.h"
#include "executor/pool.h"
#include "net/addr.h"
#include "net/httpd.h"

/* Results that may wait for a center; with more of them new runs are refused. */
#define RESULTS_MAX 200000

/*   RUNNING --executor_stop--> LEAVING --time over--> ENDING --nothing runs--> FLUSHING --> STOPPED
 *                                 +--------------nothing runs, and left-----------^
 *   LEAVING: deregister, let runs go on. ENDING: runs were asked to stop. FLUSHING: results go out,
 *   for FLUSH_MS at most. */
enum executor_phase { RUNNING, LEAVING, ENDING, FLUSHING, STOPPED };

struct executor {
    struct loop *loop;         /* borrowed */
    struct executor_config cf; /* texts borrowed, none NULL */
    struct httpd *front;
    struct mailbox *mailbox; /* from workers and keeper */
    struct loop_mail mail;
    struct pool *pool;
    struct keeper *keeper;
    struct centers_config centers_config;
    struct centers *centers;
    struct jobs jobs;
    char address[ADDR_TEXT_MAX];
    enum executor_phase phase;
    bool left;
    struct loop_timer stop_timer;
    struct loop_task stopped_task;
};

enum executor_letter { LETTER_BEGUN = RUN_BEGUN, LETTER_OVER = RUN_OVER, LETTER_PAGE };

/* front.c: one request of a center, and the answer to /log when it has been read. */
void front_request(struct httpd_request *q, void *executor);
void front_page(struct keeper_read *r);

#endif
