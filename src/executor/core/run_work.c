/* SPDX-License-Identifier: Apache-2.0 */
/* A run on its worker: the start line, the handler or the script, the result, the end line.
 *
 * The bell is published before the flag is looked at, and the loop sets the flag before it looks
 * for a bell: so a stop that comes at the same time is seen by one of the two. */
#include "executor/core/run_work.h"
#include <stdio.h>
#include "base/clock.h"
#include "base/mem.h"
#include "executor/core/handlers.h"
#include "executor/core/keep.h"
#include "executor/process/isolate.h"
#include "executor/process/script.h"
#include "wire/executor_side.h"
#include "wire/texts.h"

static void log_start(struct peal_run *r)
{
    char thread[RUN_THREAD];
    struct buf text = BUF_INIT(r->params.n + 256);
    buf_printf(&text, WIRE_LOG_START, (int)r->params.n, r->params.p);
    runlog_start(&r->log, run_thread(r, thread), slice_of(buf_str(&text), text.len));
    buf_done(&text);
}

static void log_end(struct peal_run *r)
{
    char thread[RUN_THREAD];
    struct buf text = BUF_INIT(r->msg.len + 256);
    const char *how = r->code == WIRE_CODE_OK ? "finish" : "error";
    buf_printf(&text, WIRE_LOG_END, how, r->code, (int)r->msg.len, buf_str(&r->msg));
    runlog_end(&r->log, run_thread(r, thread), slice_of(buf_str(&text), text.len));
    buf_done(&text);
}

static void call_handler(struct peal_run *r)
{
    if (r->handler->flags & PEAL_PROCESS) {
        isolate_run(r->context->isolate, r, handlers_number(r->handler));
        return;
    }
    int status = r->keep ? keep_begin(r->keep) : 0;
    r->arg = r->handler->arg;
    r->state = r->keep ? r->keep->state : NULL;
    if (status) {
        run_result(r, WIRE_CODE_FAIL, "the handler's init returned %d", status);
        return;
    }
    status = r->handler->run(r);
    if (status && !r->has_result)
        run_result(r, WIRE_CODE_FAIL, "the handler returned %d", status);
}

static void execute(struct peal_run *r)
{
    r->started = true;
    log_start(r);
    if (r->handler)
        call_handler(r);
    else
        script_run(r);
    run_settle(r);
    log_end(r);
}

void run_work(struct pool_task *t, const struct pool_worker *w)
{
    struct peal_run *r = container_of(t, struct peal_run, task);
    r->worker = w->number;
    if (r->timeout_s > 0) {
        int64_t s = r->timeout_s < RUN_TIMEOUT_MAX_S ? r->timeout_s : RUN_TIMEOUT_MAX_S;
        r->deadline_ms = clock_wall_ms() + s * 1000;
        mailbox_send(r->loop, &r->begun);
    }
    keep_end(r->retired);
    r->retired = NULL;
    atomic_store(&r->bell, w->bell);
    if (run_stopping(r)) /* before the bell was known */
        run_settle(r);
    else
        execute(r);
    mailbox_send(r->loop, &r->over);
}
