/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - one run, and what a handler may do with it.
 *
 * A run belongs to the loop thread while it is queued and after its end, and to one worker in
 * between; run->stop is the only word that both write meanwhile. Handlers use only the functions
 * of the second part. */
#ifndef PEAL_EXECUTOR_RUN_H
#define PEAL_EXECUTOR_RUN_H

#include <stdarg.h>
#include <stdatomic.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/mailbox.h"
#include "base/why.h"
#include "executor/runlog.h"
#include "peal/executor.h"

struct executor_config;
struct peal_run;
struct script_kind;
struct wire_run_request;

/* Why a run shall end before its handler is done. The first reason stays. */
enum run_stop {
    RUN_GOES_ON = PEAL_GOES_ON,
    RUN_KILLED = PEAL_KILLED,       /* /kill */
    RUN_COVERED = PEAL_COVERED,     /* COVER_EARLY */
    RUN_CHANGED = PEAL_CHANGED,     /* the job has another handler or script now */
    RUN_SHUTDOWN = PEAL_SHUTDOWN,   /* the executor stops */
    RUN_TIMED_OUT = PEAL_TIMED_OUT, /* executorTimeout */
    RUN_ENDED,                      /* the result stands: nothing can stop it any more */
};

enum run_letter { RUN_BEGUN, RUN_OVER }; /* kinds of the letters to the loop */

/* Where what a handler says goes: into the run's log, or, in a child process, to the parent. Called
 * on the handler's threads, one call at a time. */
struct run_io {
    void (*line)(struct peal_run *r, const char *function, int line, struct slice text);
    void (*raw)(struct peal_run *r, const char *p, size_t n);
    /* r->percent and r->progress are new. NULL: nobody else needs to know. */
    void (*progress)(struct peal_run *r);
};
extern const struct run_io run_io_log;

struct peal_run {
    const struct run_io *io; /* run_io_log unless somebody else speaks for the handler */
    struct list_node node;   /* in its job's queue, then in the pool's */
    struct letter begun;     /* worker -> loop: the timeout counts from now */
    struct letter over;      /* worker -> loop: the result stands, the run is yours again */
    int64_t log_id, log_date_ms, job_id, glue_update_ms, timeout_s;
    int64_t moment_ms;   /* planned for */
    int64_t deadline_ms; /* wall clock: when the timeout strikes; 0: never. Set before "begun" */
    int shard, shard_total, attempt;
    void *arg, *state;                  /* for the handler */
    int percent;                        /* of the last progress; -1: none */
    char progress[201];                 /* its text */
    int64_t progress_ms;                /* boot: when it was last logged */
    const struct peal_handler *handler; /* NULL: a script */
    const struct script_kind *script;   /* NULL: a handler */
    struct slice params, source;        /* owned: they follow the struct; each ends in a NUL */
    const struct executor_config *config;
    _Atomic int stop; /* enum run_stop */
    int bell;         /* the worker's descriptor, readable after a stop; set before "begun" */
    int worker;       /* its number */
    bool started;     /* the handler was entered */
    bool seen_begun;  /* loop: the letter has come */
    bool has_result;  /* somebody said how it ended */
    int code;         /* of the result: 200, 500, 502, or the handler's own */
    struct buf msg;   /* of the result */
    struct runlog log;
};

/* A run with copies of the request's texts; NULL without memory. */
struct peal_run *run_make(const struct wire_run_request *q, const struct executor_config *config);
void run_drop(struct peal_run *r);

/* Loop: ask it to end. Harmless when it has ended or was asked before. */
void run_ask_to_stop(struct peal_run *r, enum run_stop why);
/* Loop: the letter "begun" came. */
void run_saw_begun(struct peal_run *r);
/* The result of a run that was stopped; waiting: it had not been started. */
void run_set_stopped(struct peal_run *r, enum run_stop why, bool waiting);
/* Worker: start line, handler, end line; afterwards the result stands. */
void run_execute(struct peal_run *r);

/* --- for handlers --- */

static inline bool run_stopping(const struct peal_run *r)
{
    return atomic_load(&r->stop) != RUN_GOES_ON;
}

/* Forget rings of the bell, unless this run shall end. */
void run_clear_bell(struct peal_run *r);
/* Sleep. False as soon as the run shall end. */
bool run_wait(struct peal_run *r, int64_t ms);
/* The result; the last call counts. Without a call it follows from what the handler returns. */
void run_result(struct peal_run *r, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void run_result_va(struct peal_run *r, int code, const char *format, va_list ap);
/* A line of the run's log. */
void run_log_at(struct peal_run *r, const char *function, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Bytes of its log as they are: what a child process prints. */
void run_output(struct peal_run *r, const char *p, size_t n);
#define run_log(r, ...) run_log_at(r, __func__, __LINE__, __VA_ARGS__)

#endif
