/* SPDX-License-Identifier: Apache-2.0 */
/* Workers are started when there are more tasks than idle workers, and stay. Tasks are handed over
 * in one step an iteration; one worker is woken, and each that takes a task while others wait wakes
 * the next. */
#include "executor/run/pool.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"

struct worker {
    struct pool_worker is;
    struct pool *pool;
    pthread_t thread;
};

struct pool {
    struct log_sink *sink;
    int max;
    size_t stack;
    struct list held; /* the loop's: not handed over yet */
    int nheld;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t work;
    struct list queue;
    int nworkers, nqueued;
    int nidle;   /* asleep, or on their way to sleep */
    bool waking; /* one was woken and has not looked yet */
    bool ending;
    struct worker *workers; /* max of them */
};

/* With the lock held. One at a time: the worker that wakes up wakes the next, if there still is
 * work.
 */
static void wake_one(struct pool *p)
{
    if (!p->nqueued || !p->nidle || p->waking)
        return;
    p->waking = true;
    pthread_cond_signal(&p->work);
}

/* The next task; NULL when the pool ends and all is done. */
static struct pool_task *next(struct pool *p)
{
    struct pool_task *t = NULL;
    pthread_mutex_lock(&p->lock);
    p->nidle++;
    while (!p->ending && list_empty(&p->queue)) {
        pthread_cond_wait(&p->work, &p->lock);
        p->waking = false;
    }
    p->nidle--;
    if (!list_empty(&p->queue)) {
        t = container_of(list_pop(&p->queue), struct pool_task, node);
        p->nqueued--;
        wake_one(p);
    }
    pthread_mutex_unlock(&p->lock);
    return t;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    log_to(w->pool->sink);
    for (struct pool_task *t; (t = next(w->pool));)
        t->work(t, &w->is);
    return NULL;
}

/* With the lock held. */
static bool hire(struct pool *p)
{
    struct worker *w = &p->workers[p->nworkers];
    *w = (struct worker){ .pool = p, .is.number = p->nworkers + 1 };
    w->is.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    char name[32];
    snprintf(name, sizeof(name), "peal-run-%d", w->is.number);
    bool hired = w->is.bell >= 0 && thread_start(&w->thread, name, p->stack, work, w) == 0;
    if (hired)
        p->nworkers++;
    else if (w->is.bell >= 0)
        close(w->is.bell);
    return hired;
}

enum err pool_new(int workers, size_t stack, struct pool **ret, struct why *why)
{
    struct pool *p = mem_new(sizeof(*p));
    p->sink = log_sink_here();
    p->max = workers;
    p->stack = stack;
    p->workers = mem_new((size_t)workers * sizeof(*p->workers));
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    list_init(&p->queue);
    list_init(&p->held);
    pthread_mutex_lock(&p->lock);
    bool hired = hire(p);
    pthread_mutex_unlock(&p->lock);
    if (hired) {
        *ret = p;
        return OK;
    }
    why_set(why, "no thread can be started for handlers");
    pool_free(p);
    return ERR_IO;
}

void pool_give(struct pool *p, struct pool_task *t)
{
    list_push(&p->held, &t->node);
    p->nheld++;
}

void pool_flush(struct pool *p)
{
    if (!p->nheld)
        return;
    bool refused = false;
    pthread_mutex_lock(&p->lock);
    for (struct list_node *n; (n = list_pop(&p->held));)
        list_push(&p->queue, n);
    p->nqueued += p->nheld;
    p->nheld = 0;
    for (int lack = p->nqueued - p->nidle; lack > 0 && p->nworkers < p->max && !refused; lack--)
        refused = !hire(p);
    int have = p->nworkers;
    wake_one(p);
    pthread_mutex_unlock(&p->lock);
    if (refused)
        log_warn("executor", "no more than %d workers: the system gives no thread", have);
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    if (p->nworkers)
        pool_flush(p);
    pthread_mutex_lock(&p->lock);
    p->ending = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->nworkers; i++) {
        pthread_join(p->workers[i].thread, NULL);
        close(p->workers[i].is.bell);
    }
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    free(p->workers);
    free(p);
}
