/* SPDX-License-Identifier: Apache-2.0 */
/* One run: made from a request, stopped, settled, and what its handler says about it.
 *
 * The loop and the worker meet in r->stop alone. The loop sets it once, and rings the worker's bell
 * in between; the worker replaces it with RUN_ENDED, and waits for a ring that is under way before
 * it does. So a run has one reason to stop, or a result of its own, and never both. */
#include "executor/run/run.h"
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "wire/executor_side.h"
#include "wire/texts.h"

#define CUT_MARK "..."
#define MSG_MAX (WIRE_HANDLE_MSG_UNITS * 3 + sizeof(CUT_MARK))

static const char *const stop_texts[] = {
    [RUN_KILLED] = WIRE_TEXT_KILL,
    /* NOLINTNEXTLINE(bugprone-suspicious-missing-comma): the macro is one text in pieces */
    [RUN_COVERED] = WIRE_TEXT_COVER,
    [RUN_CHANGED] = "the job's handler or script has changed.",
    [RUN_SHUTDOWN] = "the executor is shutting down.",
};

static struct slice keep_text(char **at, struct slice s)
{
    struct slice kept = { *at, s.n };
    if (s.n)
        memcpy(*at, s.p, s.n);
    (*at)[s.n] = '\0';
    *at += s.n + 1;
    return kept;
}

struct peal_run *run_make(const struct wire_run_request *q, const struct run_context *context,
                          bool again)
{
    struct peal_run *r = try_alloc(sizeof(*r) + q->params.n + q->glue_source.n + 2);
    if (!r)
        return NULL;
    char *at = (char *)(r + 1);
    r->io = &run_io_log;
    r->log_id = q->log_id;
    r->log_date_ms = q->log_date_ms;
    r->job_id = q->job_id;
    r->glue_update_ms = q->glue_update_ms;
    r->timeout_s = q->timeout_s;
    r->shard = q->shard;
    r->shard_total = q->shard_total;
    r->params = keep_text(&at, q->params);
    r->source = keep_text(&at, q->glue_source);
    r->scheduled_ms = q->log_date_ms;
    r->percent = -1;
    r->context = context;
    r->size = sizeof(*r) + q->params.n + q->glue_source.n;
    r->begun.kind = RUN_BEGUN;
    r->over.kind = RUN_OVER;
    r->code = WIRE_CODE_OK;
    r->bell = -1;
    pthread_mutex_init(&r->lock, NULL);
    runlog_init(&r->log, context->logpath, r->log_date_ms, r->log_id, again);
    buf_init(&r->msg, MSG_MAX);
    return r;
}

void run_drop(struct peal_run *r)
{
    if (!r)
        return;
    runlog_done(&r->log);
    buf_done(&r->msg);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

/* --- stopping --- */

static void ring(int bell)
{
    uint64_t one = 1;
    while (write(bell, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

/* While the bell rings the run cannot end: a late ring would reach the worker's next run. */
void run_ask_to_stop(struct peal_run *r, enum run_stop why)
{
    int goes_on = RUN_GOES_ON;
    if (!atomic_compare_exchange_strong(&r->stop, &goes_on, (int)why | RUN_RINGING))
        return;
    int bell = atomic_load(&r->bell);
    if (bell >= 0) /* else its worker, as it begins, sees that it has to end */
        ring(bell);
    atomic_store(&r->stop, (int)why);
}

void run_set_stopped(struct peal_run *r, enum run_stop why, bool waiting)
{
    if (why == RUN_TIMED_OUT) {
        run_result(r, WIRE_CODE_TIMEOUT, "%s", WIRE_TEXT_TIMEOUT);
        return;
    }
    run_result(r, WIRE_CODE_FAIL, "%s%s", stop_texts[why],
               waiting ? WIRE_TEXT_WAS_QUEUED : WIRE_TEXT_WAS_RUNNING);
}

bool run_would_not_stop(struct peal_run *r, int *ret_code, struct buf *text)
{
    int why = atomic_load(&r->stop), percent;
    char progress[sizeof(r->progress)];
    if (why == RUN_ENDED || why == RUN_GOES_ON)
        return false;
    run_get_progress(r, &percent, progress);
    *ret_code = why == RUN_TIMED_OUT ? WIRE_CODE_TIMEOUT : WIRE_CODE_FAIL;
    buf_text(text, why == RUN_TIMED_OUT ? WIRE_TEXT_TIMEOUT : stop_texts[why]);
    buf_text(text, " [job running, would not stop");
    if (percent >= 0)
        buf_printf(text, "; last progress: %d %% %s", percent, progress);
    buf_char(text, ']');
    return true;
}

void run_get_progress(struct peal_run *r, int *ret_percent, char text[201])
{
    pthread_mutex_lock(&r->lock);
    *ret_percent = r->percent;
    memcpy(text, r->progress, sizeof(r->progress));
    pthread_mutex_unlock(&r->lock);
}

void run_set_progress(struct peal_run *r, int percent, struct slice text)
{
    pthread_mutex_lock(&r->lock);
    r->percent = percent < 0 ? 0 : percent > 100 ? 100 : percent;
    text_copy(r->progress, sizeof(r->progress), text);
    pthread_mutex_unlock(&r->lock);
}

const char *run_thread(const struct peal_run *r, char to[RUN_THREAD])
{
    snprintf(to, RUN_THREAD, "worker-%d", r->worker);
    return to;
}

static void drain_bell(int bell)
{
    uint64_t count;
    ssize_t n = read(bell, &count, sizeof(count));
    (void)n;
}

/* What became of it: how it was stopped, and how far it had come. */
static void with_progress(struct peal_run *r, enum run_stop why)
{
    run_set_stopped(r, why, !r->started);
    if (r->percent < 0 || !r->started)
        return;
    pthread_mutex_lock(&r->lock);
    buf_printf(&r->msg, " [last progress: %d %% %s]", r->percent, r->progress);
    pthread_mutex_unlock(&r->lock);
}

void run_settle(struct peal_run *r)
{
    int why = atomic_load(&r->stop);
    do {
        while (why & RUN_RINGING) {
            sched_yield();
            why = atomic_load(&r->stop);
        }
    } while (!atomic_compare_exchange_weak(&r->stop, &why, RUN_ENDED));
    if (why == RUN_GOES_ON)
        return;
    drain_bell(r->bell);
    with_progress(r, (enum run_stop)why);
}

/* --- for handlers --- */

void run_clear_bell(struct peal_run *r)
{
    drain_bell(r->bell);
    if (run_stopping(r)) /* that ring may have been ours */
        ring(r->bell);
}

bool run_wait(struct peal_run *r, int64_t ms)
{
    int64_t end = clock_boot_ms() + ms;
    while (!run_stopping(r)) {
        int64_t left = end - clock_boot_ms();
        if (left <= 0)
            return true;
        struct pollfd p = { .fd = r->bell, .events = POLLIN };
        if (poll(&p, 1, left > 60000 ? 60000 : (int)left) > 0)
            run_clear_bell(r);
    }
    return false;
}

void run_result_va(struct peal_run *r, int code, const char *format, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, ap);
    char *text = n < 0 ? NULL : try_alloc((size_t)n + 1);
    pthread_mutex_lock(&r->lock);
    r->code = code;
    r->has_result = true;
    buf_reset(&r->msg);
    if (text) {
        vsnprintf(text, (size_t)n + 1, format, again);
        size_t keep = utf8_cut_units(text, (size_t)n, WIRE_HANDLE_MSG_UNITS);
        buf_add(&r->msg, text, keep);
        if (keep < (size_t)n)
            buf_text(&r->msg, CUT_MARK);
    }
    pthread_mutex_unlock(&r->lock);
    free(text);
    va_end(again);
}

void run_result(struct peal_run *r, int code, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    run_result_va(r, code, format, ap);
    va_end(ap);
}

static void line_to_log(struct peal_run *r, const char *function, int line, struct slice text)
{
    char thread[RUN_THREAD];
    runlog_line(&r->log, r->handler ? r->handler->name : "script", function, line,
                run_thread(r, thread), text);
}

static void raw_to_log(struct peal_run *r, const char *p, size_t n)
{
    runlog_raw(&r->log, p, n);
}

const struct run_io run_io_log = { line_to_log, raw_to_log, NULL };

void run_log_at(struct peal_run *r, const char *function, int line, const char *format, ...)
{
    char text[4096];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    if (n < 0)
        return;
    r->io->line(r, function, line, slice_of(text, utf8_cut(text, strlen(text), sizeof(text))));
}

void run_output(struct peal_run *r, const char *p, size_t n)
{
    r->io->raw(r, p, n);
}
