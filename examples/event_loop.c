/* SPDX-License-Identifier: Apache-2.0 */
/* event_loop.c - an executor inside of a program that has an event loop and signals of its own.
 *
 * The library touches no signals and needs no loop of yours: its threads work beside. Three things
 * connect both:
 *
 * - peal_executor_stop returns at once; peal_executor_fd becomes readable when everything has
 * ended. So stopping is one more descriptor in the loop, and nothing waits for it.
 * - Handlers run on the executor's threads. What belongs to the loop's thread (here: the counter)
 * is not touched by them: they hand a *request* to the loop, over a queue with an eventfd, and wait
 *   for the answer in poll(), together with peal_stop_fd, so that a kill is felt there as well.
 * - What the executor says about itself comes to a function of yours (peal_executor_on_say).
 *
 * Settings are the arguments, KEY=VALUE each: the keys of `peal executor --help`.
 *
 *     cc event_loop.c $(pkg-config --cflags --libs peal) -pthread -o event_loop
 *     ./event_loop xxl.job.admin.addresses=http://127.0.0.1:8080 xxl.job.executor.appname=loop \
 *         xxl.job.accessToken=... */
#include <peal/executor.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* ---- the host: a loop, and a counter that only the loop's thread may touch ---- */

/* What a handler wants of the loop. Counted, because either side may be the last to look at it: a
 * handler that is stopped leaves before the loop has answered. */
struct request {
    struct request *next;
    long long add; /* in */
    long long sum; /* out: valid once done was read */
    int done;      /* eventfd */
    int nholders;  /* under host.lock */
};

static struct host {
    pthread_mutex_t lock; /* of the queue, and of nholders */
    struct request *first, **last;
    int queued;    /* eventfd: there is something in the queue */
    long long sum; /* the loop's thread only */
} host = { .lock = PTHREAD_MUTEX_INITIALIZER, .last = &host.first };

static void heap(int fd)
{
    if (write(fd, &(uint64_t){ 1 }, sizeof(uint64_t)) < 0)
        perror("eventfd");
}

static void request_drop(struct request *r)
{
    pthread_mutex_lock(&host.lock);
    int left = --r->nholders;
    pthread_mutex_unlock(&host.lock);
    if (left)
        return;
    close(r->done);
    free(r);
}

/* Any thread: to the loop. NULL when there is no memory or no descriptor. */
static struct request *request_post(long long add)
{
    struct request *r = calloc(1, sizeof(*r));
    if (!r || (r->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) {
        free(r);
        return NULL;
    }
    r->add = add;
    r->nholders = 2; /* the caller and the loop */
    pthread_mutex_lock(&host.lock);
    *host.last = r;
    host.last = &r->next;
    pthread_mutex_unlock(&host.lock);
    heap(host.queued);
    return r;
}

/* The loop's thread: everything that is in the queue. */
static void requests_serve(void)
{
    uint64_t count;
    if (read(host.queued, &count, sizeof(count)) < 0)
        return;
    pthread_mutex_lock(&host.lock);
    struct request *r = host.first;
    host.first = NULL;
    host.last = &host.first;
    pthread_mutex_unlock(&host.lock);
    while (r) {
        struct request *next = r->next;
        r->sum = host.sum += r->add;
        heap(r->done);
        request_drop(r);
        r = next;
    }
}

/* ---- the handler: on a thread of the executor ---- */

static int add(struct peal_run *run)
{
    struct request *r = request_post(strtoll(peal_param(run), NULL, 10));
    if (!r) {
        peal_result(run, 500, "no memory for the request");
        return 0;
    }
    struct pollfd wait[] = { { .fd = r->done, .events = POLLIN },
                             { .fd = peal_stop_fd(run), .events = POLLIN } };
    uint64_t count = 0; /* reading it is also what makes the answer visible to this thread */
    while (read(r->done, &count, sizeof(count)) < 0 && !peal_stopping(run))
        poll(wait, 2, -1);
    if (count)
        peal_result(run, 200, "the sum is %lld", r->sum);
    request_drop(r);
    return 0;
}

/* ---- both together ---- */

static void say(void *arg, enum peal_log_level level, const char *text)
{
    static const char *const levels[] = { "error", "warn", "info", "debug" };
    (void)arg;
    fprintf(stderr, "executor %s: %s\n", levels[level], text);
}

/* NULL after a line on standard error. */
static struct peal_executor *executor_begin(int nsettings, char **settings)
{
    static const struct peal_handler handler = { .name = "addJobHandler", .run = add };
    struct peal_executor *e = peal_executor_new();
    if (!e)
        return NULL;
    peal_executor_on_say(e, say, NULL);
    enum peal_err err = peal_executor_add(e, &handler);
    for (int i = 0; i < nsettings && !err; i++) {
        char *value = strchr(settings[i], '=');
        if (value)
            *value++ = '\0';
        err = peal_executor_set(e, settings[i], value ? value : "");
    }
    if (!err)
        err = peal_executor_start(e);
    if (!err)
        return e;
    fprintf(stderr, "event_loop: %s\n", peal_executor_why(e));
    peal_executor_free(e);
    return NULL;
}

static void watch(int epoll, int fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
        perror("epoll_ctl");
}

/* Turns until the executor has stopped; a signal asks it to. */
static void turn(int epoll, int signals, struct peal_executor *e)
{
    for (;;) {
        struct epoll_event event;
        if (epoll_wait(epoll, &event, 1, -1) != 1)
            continue; /* a signal that we do not watch */
        if (event.data.fd == host.queued) {
            requests_serve();
        } else if (event.data.fd == signals) {
            struct signalfd_siginfo info;
            if (read(signals, &info, sizeof(info)) == sizeof(info))
                peal_executor_stop(e); /* a second one ends its patience */
        } else if (event.data.fd == peal_executor_fd(e)) {
            return;
        }
    }
}

int main(int argc, char **argv)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    host.queued = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct peal_executor *e = executor_begin(argc - 1, argv + 1);
    if (!e)
        return 1;
    watch(epoll, signals);
    watch(epoll, host.queued);
    watch(epoll, peal_executor_fd(e));
    printf("listening on %s\n", peal_executor_address(e));
    fflush(stdout);
    turn(epoll, signals, e);
    peal_executor_free(e);
    requests_serve(); /* whose handlers were stopped before the answer */
    printf("the sum is %lld\n", host.sum);
    close(host.queued);
    close(epoll);
    close(signals);
    return 0;
}
