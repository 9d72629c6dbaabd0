/* SPDX-License-Identifier: Apache-2.0 */
/* The executor as its host sees it: a thread with a loop of its own, and functions that any thread
 * may call. Requests go to the loop as atomic words and a write to its eventfd, so that a handler,
 * and even a signal handler, may ask for a stop. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "executor/core/executor.h"
#include "executor/lib/embed.h"
#include "executor/lib/options.h"
#include "executor/process/isolate.h"
#include "net/addr.h"

enum state { IS_NEW, IS_STARTING, IS_ON, IS_OVER };
enum { NO_WISH = -1 };

struct peal_executor {
    struct config config;
    struct handlers handlers;
    const char *(*hint)(struct slice handler);
    struct why why;
    struct log_sink sink;
    peal_say_fn *say;
    void *say_arg;
    bool print;
    struct service *service; /* borrowed; NULL: there is none */
    /* from start to stop */
    struct executor_config cf;
    struct isolate *isolate;
    struct loop *loop; /* the thread's */
    struct loop_fd wishes;
    struct executor *executor;
    pthread_t thread;
    bool has_thread;
    int stopped_fd; /* eventfd; readable once it has stopped; -1: never started */
    char address[ADDR_TEXT_MAX];
    _Atomic int stops; /* how often to stop; above 1: at once */
    _Atomic int drain; /* 0, 1, NO_WISH */
    _Atomic bool end;  /* do not even begin to stop */
    /* between the threads */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum state state;
    bool closing;                         /* it has stopped, and waits for handlers that did not */
    const struct executor_counts *counts; /* borrowed from executor; NULL: it is not there */
    _Atomic int stuck;                    /* handlers that did not stop, when it stopped */
    enum err start_err;
    struct why start_why;
};

static enum peal_err result_of(enum err err)
{
    switch (err) {
    case OK:
        return PEAL_OK;
    case ERR_NOMEM:
        return PEAL_NOMEM;
    case ERR_INVALID:
    case ERR_TOOBIG:
    case ERR_EXISTS:
    case ERR_NOTFOUND:
        return PEAL_INVALID;
    case ERR_NET:
        return PEAL_NET;
    case ERR_BUSY:
        return PEAL_BUSY;
    default:
        return PEAL_IO;
    }
}

static enum peal_err failed(struct peal_executor *e, enum err err)
{
    if (err && !e->why.text[0])
        why_set(&e->why, "%s", err_text(err));
    return result_of(err);
}

/* --- its thread --- */

static void set_state(struct peal_executor *e, enum state state,
                      const struct executor_counts *counts)
{
    pthread_mutex_lock(&e->lock);
    e->state = state;
    e->counts = counts;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static enum state state_of(const struct peal_executor *e)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)&e->lock;
    pthread_mutex_lock(lock);
    enum state state = e->state;
    pthread_mutex_unlock(lock);
    return state;
}

static void ring(int fd)
{
    uint64_t one = 1;
    while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

static void on_wishes(struct loop_fd *f, uint32_t events)
{
    struct peal_executor *e = container_of(f, struct peal_executor, wishes);
    uint64_t count;
    ssize_t n = read(f->fd, &count, sizeof(count));
    (void)n;
    (void)events;
    int drain = atomic_exchange(&e->drain, NO_WISH);
    if (drain != NO_WISH)
        executor_drain(e->executor, drain);
    for (int stops = atomic_exchange(&e->stops, 0); stops > 0; stops--)
        executor_stop(e->executor);
    if (e->end)
        loop_stop(e->loop);
}

static void on_stopped(void *arg)
{
    struct peal_executor *e = arg;
    loop_stop(e->loop);
}

static enum err open_loop(struct peal_executor *e, struct why *why)
{
    if (!(e->loop = loop_new())) {
        why_set(why, "the system has no descriptor for it");
        return ERR_IO;
    }
    e->cf.on_stopped = on_stopped;
    e->cf.arg = e;
    enum err err = executor_new(e->loop, &e->cf, &e->executor, why);
    if (!err)
        err = loop_fd_add(e->loop, &e->wishes);
    if (!err && e->service)
        service_watch(e->service, e->loop, NULL, NULL);
    return err;
}

static void close_loop(struct peal_executor *e)
{
    if (e->executor)
        loop_fd_remove(e->loop, &e->wishes);
    if (e->service)
        service_unwatch(e->service);
    executor_free(e->executor);
    loop_free(e->loop);
    e->executor = NULL;
    e->loop = NULL;
}

static void tell_stopped(struct peal_executor *e)
{
    set_state(e, IS_OVER, NULL);
    ring(e->stopped_fd);
}

/* From here on, and until it is over, handlers still use the settings. */
static void set_closing(struct peal_executor *e, bool closing)
{
    pthread_mutex_lock(&e->lock);
    e->closing = closing;
    pthread_mutex_unlock(&e->lock);
}

static bool is_closing(struct peal_executor *e)
{
    pthread_mutex_lock(&e->lock);
    bool closing = e->closing;
    pthread_mutex_unlock(&e->lock);
    return closing;
}

static void *live(void *arg)
{
    struct peal_executor *e = arg;
    log_to(e->say || e->print ? &e->sink : NULL);
    e->start_err = open_loop(e, &e->start_why);
    if (e->start_err) {
        close_loop(e);
        set_state(e, IS_OVER, NULL);
        return NULL;
    }
    text_copy(e->address, sizeof(e->address), slice_text(executor_address(e->executor)));
    set_state(e, IS_ON, executor_counts(e->executor));
    loop_run(e->loop);
    e->stuck = executor_stuck(e->executor);
    set_state(e, IS_ON, NULL);
    if (e->stuck) { /* it has stopped as far as it can: to free it would wait for them */
        set_closing(e, true);
        tell_stopped(e);
    }
    close_loop(e);
    if (e->stuck)
        set_closing(e, false);
    else
        tell_stopped(e);
    return NULL;
}

/* --- making and freeing --- */

static void say(void *arg, enum log_level level, const char *module, const char *text)
{
    struct peal_executor *e = arg;
    if (e->print)
        log_print(level, module, text);
    else
        e->say(e->say_arg, (enum peal_log_level)level, text);
}

struct peal_executor *embed_new(const struct config_table *table)
{
    struct peal_executor *e = try_alloc(sizeof(*e));
    pthread_condattr_t monotonic;
    if (!e)
        return NULL;
    config_begin(table, &e->config);
    handlers_init(&e->handlers);
    e->sink.say = say;
    e->sink.arg = e;
    e->wishes.fd = e->stopped_fd = -1;
    pthread_mutex_init(&e->sink.lock, NULL);
    pthread_mutex_init(&e->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&e->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return e;
}

struct peal_executor *peal_executor_new(void)
{
    return embed_new(&options_library);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* What a start has made, once its thread is done. */
static void clear(struct peal_executor *e)
{
    if (e->has_thread)
        pthread_join(e->thread, NULL);
    e->has_thread = false;
    isolate_free(e->isolate);
    e->isolate = NULL;
    close_fd(&e->wishes.fd);
    close_fd(&e->stopped_fd);
    e->state = IS_NEW;
}

void peal_executor_free(struct peal_executor *e)
{
    if (!e)
        return;
    e->end = true;
    if (e->wishes.fd >= 0)
        ring(e->wishes.fd);
    clear(e);
    handlers_done(&e->handlers);
    config_done(&e->config);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    pthread_mutex_destroy(&e->sink.lock);
    free(e);
}

static bool wants_processes(const struct handlers *h)
{
    for (size_t i = 0; i < h->n; i++)
        if (h->all[i]->flags & PEAL_PROCESS)
            return true;
    return false;
}

/* The fork server first: it must not have descriptors and threads that come later. */
static enum err prepare(struct peal_executor *e)
{
    enum err err = options_apply(&e->config, &e->cf, &e->why);
    e->cf.handlers = &e->handlers;
    e->cf.hint = e->hint;
    if (!err && (e->cf.programs || wants_processes(&e->handlers)))
        err = isolate_new(e->handlers.all, e->handlers.n, e->cf.grace_ms, &e->isolate, &e->why);
    e->cf.isolate = e->isolate;
    if (err)
        return err;
    e->stopped_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    e->wishes = (struct loop_fd){ .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                                  .events = EPOLLIN,
                                  .ready = on_wishes };
    if (e->stopped_fd >= 0 && e->wishes.fd >= 0)
        return OK;
    why_set(&e->why, "the system has no descriptor for it: %s", strerror(errno));
    return ERR_IO;
}

static enum err check_enabled(struct peal_executor *e)
{
    if (config_flag(&e->config, OPTION_ENABLED))
        return OK;
    why_set(&e->why, "it is switched off: " OPTION_ENABLED " is false");
    return ERR_INVALID;
}

static enum err run_thread(struct peal_executor *e)
{
    e->state = IS_STARTING;
    e->start_why = (struct why){ { 0 } };
    e->has_thread = thread_start(&e->thread, "peal-loop", 0, live, e) == 0;
    if (!e->has_thread) {
        why_set(&e->why, "the system gives no thread");
        return ERR_IO;
    }
    pthread_mutex_lock(&e->lock);
    while (e->state == IS_STARTING)
        pthread_cond_wait(&e->changed, &e->lock);
    pthread_mutex_unlock(&e->lock);
    e->why = e->start_why;
    return e->start_err;
}

static enum peal_err still_at_work(struct peal_executor *e)
{
    why_set(&e->why, "it has stopped, but %d of its handlers did not: they are still at work",
            e->stuck);
    return PEAL_BUSY;
}

enum peal_err peal_executor_start(struct peal_executor *e)
{
    why_clear(&e->why);
    enum state state = state_of(e);
    if (state == IS_STARTING || state == IS_ON) {
        why_set(&e->why, "it has been started already");
        return PEAL_BUSY;
    }
    if (is_closing(e))
        return still_at_work(e);
    clear(e);
    e->stops = 0;
    e->drain = NO_WISH;
    e->end = false;
    e->stuck = 0;
    enum err err = check_enabled(e);
    if (!err)
        err = prepare(e);
    if (!err)
        err = run_thread(e);
    if (err)
        clear(e);
    return failed(e, err);
}

/* --- before the start --- */

static enum peal_err not_now(struct peal_executor *e)
{
    why_clear(&e->why);
    enum state state = state_of(e);
    if (is_closing(e))
        return still_at_work(e);
    if (state == IS_NEW || state == IS_OVER)
        return PEAL_OK;
    why_set(&e->why, "it has been started: that must be said before");
    return PEAL_BUSY;
}

enum peal_err peal_executor_set(struct peal_executor *e, const char *key, const char *value)
{
    enum peal_err err = not_now(e);
    return err ? err : failed(e, config_set(&e->config, key, value, &e->why));
}

enum peal_err peal_executor_read(struct peal_executor *e, const char *path)
{
    enum peal_err err = not_now(e);
    return err ? err : failed(e, config_load(&e->config, path, &e->why));
}

enum peal_err peal_executor_add(struct peal_executor *e, const struct peal_handler *handler)
{
    enum peal_err err = not_now(e);
    return err ? err : failed(e, handlers_add(&e->handlers, handler, &e->why));
}

void peal_executor_on_say(struct peal_executor *e, peal_say_fn *fn, void *arg)
{
    if (not_now(e))
        return;
    e->say = fn;
    e->say_arg = arg;
}

const char *peal_executor_why(const struct peal_executor *e)
{
    return e->why.text;
}

const char *peal_executor_address(const struct peal_executor *e)
{
    return e->address;
}

/* --- while it runs --- */

void peal_executor_drain(struct peal_executor *e, int drain)
{
    e->drain = drain ? 1 : 0;
    if (e->wishes.fd >= 0)
        ring(e->wishes.fd);
}

void peal_executor_stop(struct peal_executor *e)
{
    e->stops++;
    if (e->wishes.fd >= 0)
        ring(e->wishes.fd);
}

enum peal_err peal_executor_wait(struct peal_executor *e, int64_t ms)
{
    struct timespec until = clock_after_ms(ms < 0 ? 0 : ms);
    int timeout = 0;
    why_clear(&e->why);
    pthread_mutex_lock(&e->lock);
    while (e->state == IS_ON && !timeout) {
        if (ms < 0)
            pthread_cond_wait(&e->changed, &e->lock);
        else
            timeout = pthread_cond_timedwait(&e->changed, &e->lock, &until);
    }
    enum state state = e->state;
    pthread_mutex_unlock(&e->lock);
    if (state == IS_OVER)
        return PEAL_OK;
    why_set(&e->why, state == IS_ON ? "it goes on" : "it has not been started");
    return state == IS_ON ? PEAL_TIMEOUT : PEAL_BUSY;
}

int peal_executor_fd(const struct peal_executor *e)
{
    return e->stopped_fd;
}

static void copy_counts(const struct executor_counts *c, struct peal_status *to)
{
    to->registered = c->registered;
    to->draining = c->draining;
    to->stopping = c->stopping;
    to->running = c->running;
    to->waiting = c->waiting;
    to->accepted = c->accepted;
    to->refused = c->refused;
    to->ended = c->ended;
    to->results_pending = c->results;
}

/* A newer library may know more than the program that asks, or less. */
void peal_executor_status(const struct peal_executor *e, struct peal_status *ret)
{
    struct peal_status now = { .size = ret->size };
    pthread_mutex_t *lock = (pthread_mutex_t *)&e->lock;
    pthread_mutex_lock(lock);
    if (e->counts)
        copy_counts(e->counts, &now);
    else
        now.stopping = e->state == IS_ON;
    pthread_mutex_unlock(lock);
    size_t size = ret->size < sizeof(now) ? ret->size : sizeof(now);
    memcpy(ret, &now, size);
}

/* --- for programs of ours --- */

struct config *embed_config(struct peal_executor *e)
{
    return &e->config;
}

const struct handlers *embed_handlers(const struct peal_executor *e)
{
    return &e->handlers;
}

int embed_stuck(const struct peal_executor *e)
{
    return e->stuck;
}

void embed_hint(struct peal_executor *e, const char *(*hint)(struct slice handler))
{
    e->hint = hint;
}

void embed_service(struct peal_executor *e, struct service *s)
{
    e->service = s;
}

void embed_print(struct peal_executor *e)
{
    enum log_format format;
    if (log_format_of(config_text(&e->config, OPTION_LOG_FORMAT), &format)) /* else start says it */
        log_set_format(format);
    e->print = true;
}
