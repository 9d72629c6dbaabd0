/* SPDX-License-Identifier: Apache-2.0 */
/* What a handler sees of its run: the second part of peal/executor.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/mem.h"
#include "executor/run/run.h"
#include "wire/texts.h"

enum { LINE_MAX_BYTES = 65536, PROGRESS_EVERY_MS = 1000 };

const char *peal_param(const struct peal_run *run)
{
    return run->params.p;
}

size_t peal_param_size(const struct peal_run *run)
{
    return run->params.n;
}

int64_t peal_job_id(const struct peal_run *run)
{
    return run->job_id;
}

int64_t peal_log_id(const struct peal_run *run)
{
    return run->log_id;
}

int64_t peal_moment_ms(const struct peal_run *run)
{
    return run->scheduled_ms;
}

int peal_shard_index(const struct peal_run *run)
{
    return run->shard;
}

int peal_shard_total(const struct peal_run *run)
{
    return run->shard_total;
}

int peal_attempt(const struct peal_run *run)
{
    return run->attempt;
}

int64_t peal_deadline_ms(const struct peal_run *run)
{
    return run->deadline_ms;
}

const char *peal_traceparent(const struct peal_run *run)
{
    return run->trace;
}

void *peal_arg(const struct peal_run *run)
{
    return run->arg;
}

void *peal_state(const struct peal_run *run)
{
    return run->state;
}

enum peal_stop peal_stopping(const struct peal_run *run)
{
    return run_stop_reason(run);
}

int peal_stop_fd(const struct peal_run *run)
{
    return run->bell;
}

enum peal_stop peal_wait(struct peal_run *run, int64_t ms)
{
    run_wait(run, ms < 0 ? 0 : ms);
    return run_stop_reason(run);
}

void peal_log_at(struct peal_run *run, const char *function, int line, const char *format, ...)
{
    char small[4096], *text = small;
    va_list ap, again;
    va_start(ap, format);
    va_copy(again, ap);
    int n = vsnprintf(small, sizeof(small), format, ap);
    va_end(ap);
    if (n >= (int)sizeof(small) && (text = try_alloc((size_t)n + 1)))
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    if (!text)
        text = small;
    if (n >= 0)
        run->io->line(run, function, line,
                      slice_of(text, utf8_cut(text, strlen(text), LINE_MAX_BYTES)));
    if (text != small)
        free(text);
}

void peal_log_raw(struct peal_run *run, const void *bytes, size_t size)
{
    run->io->raw(run, bytes, size);
}

static bool worth_a_line(struct peal_run *run, int percent)
{
    int64_t now = clock_boot_ms();
    pthread_mutex_lock(&run->lock);
    bool yes = !run->progress_ms || now - run->progress_ms >= PROGRESS_EVERY_MS || percent >= 100;
    if (yes)
        run->progress_ms = now;
    pthread_mutex_unlock(&run->lock);
    return yes;
}

static void progress(struct peal_run *run, const char *function, int line, int percent,
                     const char *text)
{
    run_set_progress(run, percent, slice_text(text));
    if (run->io->progress)
        run->io->progress(run);
    if (!worth_a_line(run, percent))
        return;
    run_log_at(run, function, line, "progress %d %%: %.*s", percent,
               (int)utf8_cut(text, strlen(text), 200), text);
}

void peal_progress_at(struct peal_run *run, const char *function, int line, int percent,
                      const char *format, ...)
{
    va_list ap;
    char text[256];
    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    progress(run, function, line, percent, text);
}

/* For programs that were built before the macro. */
void(peal_progress)(struct peal_run *run, int percent, const char *format, ...)
{
    va_list ap;
    char text[256];
    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    progress(run, "peal_progress", 0, percent, text);
}

void peal_result(struct peal_run *run, int code, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    /* 0 and less are no codes: to an XXL-JOB admin such a run would go on for ever */
    run_result_va(run, code > 0 ? code : WIRE_CODE_FAIL, format, ap);
    va_end(ap);
}
