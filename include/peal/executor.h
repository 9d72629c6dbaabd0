/* SPDX-License-Identifier: Apache-2.0 */
/* peal/executor.h - libpeal: run the jobs of a scheduling center in your own program.
 *
 * The center (Peal's, or an XXL-JOB admin from 2.2 to 3.4) decides when a job is due and sends a
 * *run* to an executor; the executor runs the job's *handler*, a C function of yours, and reports
 * how it ended. A whole executor:
 *
 *     #include <peal/executor.h>
 *
 *     PEAL_HANDLER(helloJobHandler)
 *     {
 *         peal_log(run, "hello, %s", peal_param(run));
 *         return 0;
 *     }
 *
 *     int main(int argc, char **argv)
 *     {
 *         return peal_executor_main(argc, argv);
 *     }
 *
 *     cc hello.c $(pkg-config --cflags --libs peal) -o hello
 *     PEAL_ACCESS_TOKEN=... ./hello --centers http://127.0.0.1:8080 --app hello
 *
 * A run that was taken is kept in a journal before the center hears yes, and a result before the
 * handler's thread forgets it: after a crash what was waiting runs, what was running is reported
 * failed (or runs again, with PEAL_IDEMPOTENT), and results go out, each once.
 *
 * The library starts threads of its own with all signals blocked except those of faults, installs
 * no signal handlers, has no state outside the executors that you make (several may live in one
 * process), never exits or aborts its host, and prints nothing unless you let it
 * (peal_executor_main does). Where memory for something small is missing its threads wait for some;
 * what a request sizes is refused.
 *
 * Texts are UTF-8. Scheduled times are milliseconds since 1970-01-01 UTC. C and C++. */
#ifndef PEAL_EXECUTOR_H
#define PEAL_EXECUTOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEAL_PUBLIC __attribute__((visibility("default")))
#define PEAL_FORMAT(f, a) __attribute__((format(printf, f, a)))

struct peal_run;      /* one run, while its handler is in it */
struct peal_executor; /* one executor */

/* ---- handlers -------------------------------------------------------------------------------- */

/* Runs on a thread of the executor, or in a child process. 0: the run succeeded. Anything else: it
 * failed, with code 500 and the number in the message. peal_result overrides both. The run is
 * borrowed: it ends when the function returns. Runs of one job never overlap, those of different
 * jobs do. */
typedef int peal_run_fn(struct peal_run *run);

enum peal_handler_flag {
    /* Each run in a child process, forked from a process that was split off when the executor
     * started (so handlers are to be added before, and see memory as it was then). A crash is a
     * failed run with the signal's name, and a run that does not stop is ended by SIGTERM, then
     * SIGKILL, with all processes of its group. What it prints becomes its log. */
    PEAL_PROCESS = 1,
    /* A second execution does no harm: a run that a crash of the executor interrupted runs again
     * instead of being reported failed. */
    PEAL_IDEMPOTENT = 2,
};

struct peal_handler {
    const char *name; /* as the job names it; unique in its executor, 1-255 bytes */
    peal_run_fn *run;
    /* Optional. Once before the first run of a job and again after it was idle for 90 s; *state is
     * NULL before and is what peal_state gives. Not 0: that run fails, the next one tries again.
     * On the thread of that run. In a child process: around each run. */
    int (*init)(void *arg, void **state);
    /* Optional. When the job has been idle for 90 s, has another handler, or the executor stops. */
    void (*destroy)(void *arg, void *state);
    void *arg;      /* yours: peal_arg */
    unsigned flags; /* enum peal_handler_flag */
};

/* Define a handler and put it in the table that peal_executor_main reads, at file level:
 *
 *     PEAL_HANDLER(name) { ... uses run ... return 0; }
 *     PEAL_HANDLER(name, .flags = PEAL_PROCESS | PEAL_IDEMPOTENT) { ... }
 */
#define PEAL_HANDLER(...) PEAL_HANDLER_AS(__VA_ARGS__, )
/* Private to PEAL_HANDLER. Linkers that collect garbage are told to keep entries that no code
 * names.
 */
#define PEAL_HANDLER_AS(id, ...)                                                                   \
    static int id(struct peal_run *run);                                                           \
    static const struct peal_handler peal_handler_##id = { .name = #id, .run = id, __VA_ARGS__ };  \
    static const struct peal_handler *const peal_entry_##id                                        \
        __attribute__((used, PEAL_RETAIN section("peal_handlers"))) = &peal_handler_##id;          \
    static int id(struct peal_run *run __attribute__((unused)))
#define PEAL_RETAIN
#ifdef __has_attribute
#if __has_attribute(retain)
#undef PEAL_RETAIN
#define PEAL_RETAIN retain,
#endif
#endif

/* ---- inside a handler: any thread of the handler, until it returns -----------------------------
 */

/* What the job's parameter is; ends in a NUL and may contain others. Never NULL. */
PEAL_PUBLIC const char *peal_param(const struct peal_run *run);
PEAL_PUBLIC size_t peal_param_size(const struct peal_run *run); /* bytes, without the NUL */
PEAL_PUBLIC int64_t peal_job_id(const struct peal_run *run);
PEAL_PUBLIC int64_t peal_log_id(const struct peal_run *run); /* of this run: use it to dedupe */
/* The instant that the run was planned for. From an XXL-JOB admin: the whole second. */
PEAL_PUBLIC int64_t peal_moment_ms(const struct peal_run *run);
/* Of a broadcast: this is shard index of total. Else 0 of 1. */
PEAL_PUBLIC int peal_shard_index(const struct peal_run *run);
PEAL_PUBLIC int peal_shard_total(const struct peal_run *run);
/* 0: the first run; n: the n-th retry. XXL-JOB admins do not say: 0. */
PEAL_PUBLIC int peal_attempt(const struct peal_run *run);
/* When the job's timeout strikes; 0: never. */
PEAL_PUBLIC int64_t peal_deadline_ms(const struct peal_run *run);
/* The request's traceparent (W3C Trace Context), checked, to be handed on with the handler's own
 * calls. "": it had none, or the executor was restarted before the run began. */
PEAL_PUBLIC const char *peal_traceparent(const struct peal_run *run);
PEAL_PUBLIC void *peal_arg(const struct peal_run *run);   /* of struct peal_handler */
PEAL_PUBLIC void *peal_state(const struct peal_run *run); /* what init made */

enum peal_stop {
    PEAL_GOES_ON,
    PEAL_KILLED,    /* a user ended it */
    PEAL_COVERED,   /* a newer run takes its place (COVER_EARLY) */
    PEAL_CHANGED,   /* the job has another handler now */
    PEAL_SHUTDOWN,  /* the executor stops */
    PEAL_TIMED_OUT, /* the job's timeout */
};

/* Shall this run end, and why? A handler that runs long asks often. Its result then is decided by
 * the reason. A handler that has not returned some seconds later (peal.executor.stop.grace) is
 * reported as "would not stop" (as a thread) or killed (as a process). */
PEAL_PUBLIC enum peal_stop peal_stopping(const struct peal_run *run);
/* Readable as soon as the run shall end, for poll(); not to be read or closed. */
PEAL_PUBLIC int peal_stop_fd(const struct peal_run *run);
/* Sleep. The reason as soon as the run shall end, else PEAL_GOES_ON when ms have passed. */
PEAL_PUBLIC enum peal_stop peal_wait(struct peal_run *run, int64_t ms);

/* A line of the run's log, which the console shows while the run goes on; cut at 64 KiB. A log
 * takes 256 MiB. A full disk costs lines, not runs. */
#define peal_log(run, ...) peal_log_at(run, __func__, __LINE__, __VA_ARGS__)
PEAL_PUBLIC void peal_log_at(struct peal_run *run, const char *function, int line,
                             const char *format, ...) PEAL_FORMAT(4, 5);
PEAL_PUBLIC void peal_log_raw(struct peal_run *run, const void *bytes, size_t size); /* as it is */

/* How far it is: 0-100, and a text of at most 200 bytes. Becomes a line of the log, at most one a
 * second, and part of the message if the run is stopped. */
PEAL_PUBLIC void peal_progress(struct peal_run *run, int percent, const char *format, ...)
    PEAL_FORMAT(3, 4);
PEAL_PUBLIC void peal_progress_at(struct peal_run *run, const char *function, int line, int percent,
                                  const char *format, ...) PEAL_FORMAT(5, 6);
/* The line says which function wrote it. */
#define peal_progress(run, ...) peal_progress_at(run, __func__, __LINE__, __VA_ARGS__)

/* How it ended: 200 is success, 502 a timeout, any other code above 0 a failure; 0 and less become
 * 500. The message is cut at 50,000 UTF-16 units. The last call counts, also against what the
 * handler returns; a reason to stop counts more. */
PEAL_PUBLIC void peal_result(struct peal_run *run, int code, const char *format, ...)
    PEAL_FORMAT(3, 4);

/* ---- an executor of your own -------------------------------------------------------------------
 */

enum peal_err {
    PEAL_OK,
    PEAL_INVALID, /* a key, value, name or file that breaks a rule */
    PEAL_NOMEM,
    PEAL_IO,      /* a file or folder */
    PEAL_NET,     /* a port or an address */
    PEAL_BUSY,    /* the journal is another process's; or: not in this state */
    PEAL_TIMEOUT, /* peal_executor_wait */
};

/* Every function below may be called from any thread, but not two at once for one executor, and
 * not from a handler (except peal_executor_stop and peal_executor_drain). */

/* NULL without memory. Nothing is opened or started. */
PEAL_PUBLIC struct peal_executor *peal_executor_new(void);
/* Asks what is at work to stop, waits for it however long it takes, and frees. What waits, and
 * results that no center has, are in the journal for the next start. NULL is fine. */
PEAL_PUBLIC void peal_executor_free(struct peal_executor *e);
/* The reason of the last failure: a sentence that names the key or file and the rule. Valid until
 * the next call with e. */
PEAL_PUBLIC const char *peal_executor_why(const struct peal_executor *e);

/* Before start, or after the stop; PEAL_BUSY also while a handler that would not stop is still at
 * work. The keys are those of `peal executor --help` and docs/executor.md, XXL-JOB's among
 * them: "xxl.job.admin.addresses", "xxl.job.accessToken", "xxl.job.executor.appname", ... */
PEAL_PUBLIC enum peal_err peal_executor_set(struct peal_executor *e, const char *key,
                                            const char *value);
/* Before start. A .properties file, also a whole application's: unknown keys are left alone. */
PEAL_PUBLIC enum peal_err peal_executor_read(struct peal_executor *e, const char *path);
/* Before start. The struct is copied; name is copied too. */
PEAL_PUBLIC enum peal_err peal_executor_add(struct peal_executor *e,
                                            const struct peal_handler *handler);

enum peal_log_level { PEAL_ERROR, PEAL_WARN, PEAL_INFO, PEAL_DEBUG };
/* Before start. What the executor says about itself, a sentence a call; from its threads, one at a
 * time. Without it nothing is said. */
typedef void peal_say_fn(void *arg, enum peal_log_level level, const char *text);
PEAL_PUBLIC void peal_executor_on_say(struct peal_executor *e, peal_say_fn *say, void *arg);

/* Open the journal, listen, start the threads, begin to register. On failure nothing is left
 * behind and it may be tried again. PEAL_INVALID also where xxl.job.executor.enabled is false. */
PEAL_PUBLIC enum peal_err peal_executor_start(struct peal_executor *e);
/* The address that centers are told, once it is started. */
PEAL_PUBLIC const char *peal_executor_address(const struct peal_executor *e);

/* Deregister and take no new runs, but go on with those that are here (1), or back to work (0).
 * Returns at once. */
PEAL_PUBLIC void peal_executor_drain(struct peal_executor *e, int drain);
/* Begin to stop, and return at once: deregister, take no new runs, let those that are here go on
 * for peal.executor.stop.timeout, then ask those at work to stop and hand those that wait back to
 * the center ("not executed"), deliver results. What cannot be delivered in time is in the journal
 * and goes out after the next start. A second call ends the first wait. */
PEAL_PUBLIC void peal_executor_stop(struct peal_executor *e);
/* Until it has stopped; ms < 0: for ever. PEAL_TIMEOUT: it goes on. A handler that would not stop
 * is not waited for (peal_executor_free does). */
PEAL_PUBLIC enum peal_err peal_executor_wait(struct peal_executor *e, int64_t ms);
/* Readable when it has stopped: for your event loop. Not to be read or closed. -1 before start. */
PEAL_PUBLIC int peal_executor_fd(const struct peal_executor *e);

struct peal_status {
    size_t size; /* set by you: sizeof(struct peal_status) */
    int registered, draining, stopping;
    int running, waiting;             /* runs */
    int64_t accepted, refused, ended; /* since start */
    int64_t results_pending;          /* not yet taken by a center */
};
PEAL_PUBLIC void peal_executor_status(const struct peal_executor *e, struct peal_status *ret);

/* ---- a program that is an executor -------------------------------------------------------------
 */

/* Options, environment and -c FILE as `peal executor`, SIGTERM and SIGINT stop it, log lines on
 * standard error; with --help the reference. The handlers are those of PEAL_HANDLER in the program
 * that calls it. Returns the exit status. Not to be called where other threads run already. */
PEAL_PUBLIC int peal_executor_run(int argc, char **argv, const struct peal_handler *const *handlers,
                                  size_t n);

#ifndef __cplusplus
extern const struct peal_handler *const __start_peal_handlers[]
    __attribute__((weak, visibility("hidden")));
extern const struct peal_handler *const __stop_peal_handlers[]
    __attribute__((weak, visibility("hidden")));

static inline int peal_executor_main(int argc, char **argv)
{
    return peal_executor_run(argc, argv, __start_peal_handlers,
                             (size_t)(__stop_peal_handlers - __start_peal_handlers));
}
#endif

#ifdef __cplusplus
}
#endif

#endif
