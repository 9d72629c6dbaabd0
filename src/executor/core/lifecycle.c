/* SPDX-License-Identifier: Apache-2.0 */
/* A run's way through the journal: nothing is promised before it is on disk, nothing is forgotten
 * before a center or the journal has it. */
#include <stdlib.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "executor/core/internal.h"

static void write_accept(struct peal_run *r, bool started, void *executor)
{
    struct executor *e = executor;
    struct write *w = write_new(RUN_JOURNAL_ACCEPT, r, 0);
    r->seq = e->next_seq++;
    r->in_started = started;
    w->op.row = (struct run_journal_row){
        .seq = r->seq,
        .state = started ? RUN_JOURNAL_STARTED : RUN_JOURNAL_ACCEPTED,
        .log_id = r->log_id,
        .log_date_ms = r->log_date_ms,
        .scheduled_ms = r->scheduled_ms,
        .accepted_ms = clock_wall_ms(),
        .attempt = r->attempt,
        .request = r->asker->body, /* it stays until the answer */
    };
    e->promises++;
    run_journal_send(e->journal, &w->op);
}

static void write_start(struct peal_run *r, void *executor)
{
    struct executor *e = executor;
    struct write *w = write_new(RUN_JOURNAL_START, r, 0);
    w->op.row.seq = r->seq;
    e->promises++;
    run_journal_send(e->journal, &w->op);
}

static void accepted(struct executor *e, struct peal_run *r, const struct run_journal_op *op)
{
    endpoint_accepted(e, r, op->err, &op->why);
    if (op->err)
        log_error("executor", "runs are refused: the journal takes none: %s", op->why.text);
    else
        e->counts.accepted++;
    jobs_accepted(&e->jobs, r, op->err);
    if (op->err) {
        run_drop(r);
        stopping_advance(e);
    }
}

static void started(struct executor *e, struct peal_run *r, const struct run_journal_op *op)
{
    if (op->err)
        log_error("executor", "runs wait: the journal does not take their start: %s", op->why.text);
    r->in_started = op->err == OK;
    jobs_started(&e->jobs, r, op->err);
}

void lifecycle_written(struct executor *e, struct write *w)
{
    struct peal_run *r = w->of;
    switch (w->op.what) {
    case RUN_JOURNAL_ACCEPT:
        e->promises--;
        accepted(e, r, &w->op);
        free(w);
        break;
    case RUN_JOURNAL_START:
        e->promises--;
        started(e, r, &w->op);
        free(w);
        break;
    case RUN_JOURNAL_RESULT:
    case RUN_JOURNAL_TELL:
        results_written(&e->results, w);
        stopping_advance(e);
        break;
    case RUN_JOURNAL_FORGET:
        free(w);
        break;
    }
}

/* What a run without a log of its own leaves goes into the day's; has it one? */
static bool share_log(struct executor *e, struct peal_run *r)
{
    if (!r->started)
        return false;
    log_writer_share(e->log_writer, runlog_take(&r->log));
    return runlog_has_file(&r->log);
}

static void returned(struct peal_run *r, void *executor)
{
    share_log(executor, r);
    run_drop(r);
}

static void ended(struct peal_run *r, int code, char *msg, void *executor)
{
    struct executor *e = executor;
    struct result *result = mem_new(sizeof(*result));
    result->seq = r->seq;
    result->log_id = r->log_id;
    result->log_date_ms = r->log_date_ms;
    result->code = code;
    result->msg = msg;
    e->counts.ended++;
    if (r->stage == RUN_AT_WORK)
        result->has_log = share_log(e, r);
    if (r->stage == RUN_REPORTED)
        log_warn("executor",
                 "run %lld of job %lld goes on although it was asked to stop: it "
                 "keeps its worker, and its job waits",
                 (long long)r->log_id, (long long)r->job_id);
    else
        run_drop(r);
    results_add(&e->results, result, clock_wall_ms());
    stopping_advance(e);
}

const struct jobs_hooks lifecycle_hooks = { write_accept, write_start, ended, returned };

void lifecycle_told(struct result *r, bool acknowledged, void *executor)
{
    struct executor *e = executor;
    if (r->has_log)
        log_writer_note(e->log_writer, r->log_id, r->log_date_ms, acknowledged ? "finish" : "fail");
    if (!acknowledged)
        return;
    results_told(&e->results, r);
    stopping_advance(e);
}

struct result *lifecycle_failed(int64_t seq, int64_t log_id, int64_t log_date_ms, const char *text)
{
    struct result *r = mem_new(sizeof(*r));
    r->seq = seq;
    r->log_id = log_id;
    r->log_date_ms = log_date_ms;
    r->code = 500;
    r->msg = mem_dup(text);
    return r;
}
