/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - one run, and what a handler may do with it.
 *
 * A run belongs to the loop thread while it is queued and after its end, and to one worker in
 * between; run->stop is the only member that both write meanwhile, and its progress is the only
 * thing that the loop reads. Handlers use only the functions of the second part.
 *
 *   WRITING --ACCEPT on disk--> WAITING --its turn--> STARTING --START on disk--> AT_WORK --> over
 *      +---- it is its job's turn at once: one commit ----^                         |
 *                                      asked to stop, and did not in time: REPORTED +---> over */
#ifndef PEAL_EXECUTOR_RUN_RUN_H
#define PEAL_EXECUTOR_RUN_RUN_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/mailbox.h"
#include "base/why.h"
#include "executor/log/runlog.h"
#include "executor/run/pool.h"
#include "peal/executor.h"
#include "wire/trace_parent.h"

#define RUN_TIMEOUT_MAX_S 100000000ll /* three years: more is as good as none */
enum { RUN_THREAD = 32 };             /* bytes of a worker's name in logs */

struct httpd_request;
struct isolate;
struct keep;
struct limits;
struct peal_run;
struct script_kind;
struct wire_run_request;

/* Why a run has to end before its handler is done. The first reason stays. */
enum run_stop {
    RUN_GOES_ON = PEAL_GOES_ON,
    RUN_KILLED = PEAL_KILLED,       /* /kill */
    RUN_COVERED = PEAL_COVERED,     /* COVER_EARLY */
    RUN_CHANGED = PEAL_CHANGED,     /* the job has another handler or script now */
    RUN_SHUTDOWN = PEAL_SHUTDOWN,   /* the executor stops */
    RUN_TIMED_OUT = PEAL_TIMED_OUT, /* executorTimeout */
    RUN_ENDED,                      /* the result stands: nothing can stop it any more */
    RUN_RINGING = 64,               /* with a reason: the loop is ringing the bell just now */
};

enum run_stage { RUN_WRITING, RUN_WAITING, RUN_STARTING, RUN_AT_WORK, RUN_REPORTED };

enum run_message { RUN_BEGUN, RUN_OVER }; /* kinds of the messages to the loop */

/* Where what a handler says goes: into the run's log, or, in a child process, to the parent. Called
 * on the handler's threads, one call at a time. */
struct run_io {
    void (*line)(struct peal_run *r, const char *function, int line, struct slice text);
    void (*raw)(struct peal_run *r, const char *p, size_t n);
    /* r->percent and r->progress are new. NULL: nothing else to do. */
    void (*progress)(struct peal_run *r);
};
extern const struct run_io run_io_log;

struct run_context {             /* what all runs of an executor share; outlives them */
    const char *logpath;         /* folder of the logs */
    const struct limits *limits; /* of scripts and commands; NULL: none can run */
    struct isolate *isolate;     /* parent of all processes; NULL: none can be made */
};

struct peal_run {
    const struct run_io *io; /* run_io_log, but in a child process */
    struct list_node node;   /* in its job's queue */
    struct pool_task task;
    struct message begun; /* worker -> loop, if there is a timeout: it counts from now */
    struct message over;  /* worker -> loop: the result stands, the run is yours again */
    size_t size;          /* bytes that it takes, about; the next ones included */
    size_t asked;         /* bytes of its request, as long as an answer is due */
    /* what it is */
    int64_t seq; /* in the journal */
    int64_t log_id, log_date_ms, job_id, glue_update_ms, timeout_s;
    int64_t scheduled_ms;               /* planned for */
    char trace[WIRE_TRACE_PARENT_SIZE]; /* traceparent of its request; "": none. Not in the journal
                                         */
    int shard, shard_total, attempt;
    const struct peal_handler *handler; /* NULL: a script */
    const struct script_kind *script;   /* NULL: a handler */
    struct slice params, source;        /* owned: they follow the struct; each ends in a NUL */
    const struct run_context *context;  /* borrowed */
    struct mailbox *loop;               /* borrowed: where its messages go */
    /* the loop's */
    enum run_stage stage;
    bool in_started;             /* the journal says STARTED: it needs no START */
    struct httpd_request *asker; /* to be answered when it is kept; further ones by user */
    /* the worker's */
    void *arg, *state;    /* for the handler */
    struct keep *keep;    /* of its job, borrowed; NULL: the handler has no state */
    struct keep *retired; /* owned: another handler's, to be ended before */
    int64_t deadline_ms;  /* wall clock: when the timeout strikes; 0: never. Set before the start */
    int worker;           /* its number */
    bool started;         /* the handler was entered */
    struct runlog log;
    /* both's */
    _Atomic int stop;     /* enum run_stop */
    _Atomic int bell;     /* the worker's descriptor, readable after a stop; -1: not begun */
    pthread_mutex_t lock; /* guards what follows: held for a copy only */
    bool has_result;      /* a result was set */
    int code;             /* of the result: 200, 500, 502, or the handler's own */
    struct buf msg;       /* of the result */
    int64_t progress_ms;  /* boot: when progress was last logged; 0: never */
    int percent;          /* of the last progress; -1: none */
    char progress[201];   /* its text */
};

/* A run with copies of the request's texts; NULL without memory. again: an earlier executor may
 * have begun it. */
struct peal_run *run_make(const struct wire_run_request *q, const struct run_context *context,
                          bool again);
void run_drop(struct peal_run *r);

/* Loop: ask it to end. Harmless when it has ended or was asked before. */
void run_ask_to_stop(struct peal_run *r, enum run_stop why);
/* The result of a run that was stopped; waiting: it had not been started. */
void run_set_stopped(struct peal_run *r, enum run_stop why, bool waiting);
/* What is said of one that was asked to stop and goes on; code and text are not stored in r. False:
 * it has just ended. */
bool run_would_not_stop(struct peal_run *r, int *ret_code, struct buf *text);
/* The last progress; "" and -1: none. Any thread. */
void run_get_progress(struct peal_run *r, int *ret_percent, char text[201]);
void run_set_progress(struct peal_run *r, int percent, struct slice text);
/* Worker: from here on nothing can stop it; a stop that came before decides the result. */
void run_settle(struct peal_run *r);
/* The name of its worker in logs; returns to. */
const char *run_thread(const struct peal_run *r, char to[RUN_THREAD]);

/* --- for handlers --- */

static inline bool run_stopping(const struct peal_run *r)
{
    return atomic_load(&r->stop) != RUN_GOES_ON;
}

/* The reason to stop, as a handler may know it: one that has returned has none. */
static inline enum peal_stop run_stop_reason(const struct peal_run *r)
{
    int why = atomic_load(&r->stop) & ~RUN_RINGING;
    return why == RUN_ENDED ? PEAL_GOES_ON : (enum peal_stop)why;
}

/* Forget rings of the bell, unless this run has to end: once a run ended whose bell rang, its
 * worker does so. */
void run_clear_bell(struct peal_run *r);
/* Sleep. False as soon as the run has to end. */
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
