/* SPDX-License-Identifier: Apache-2.0 */
#include "executor/pool.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"

enum { STACK_SIZE = 512 * 1024 };

struct worker {
    struct pool *pool;
    pthread_t thread;
    int bell, number;
};

struct pool {
    struct mailbox *loop;
    int max;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t work;
    struct list queue;
    int nworkers, nidle, nqueued;
    bool ending;
    struct worker *workers; /* max of them */
};

/* The next run; NULL when the pool ends. */
static struct peal_run *next(struct pool *p)
{
    struct peal_run *r = NULL;
    pthread_mutex_lock(&p->lock);
    p->nidle++;
    while (!p->ending && list_empty(&p->queue))
        pthread_cond_wait(&p->work, &p->lock);
    p->nidle--;
    if (!p->ending) {
        r = container_of(list_pop(&p->queue), struct peal_run, node);
        p->nqueued--;
    }
    pthread_mutex_unlock(&p->lock);
    return r;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (struct peal_run *r; (r = next(w->pool));) {
        r->bell = w->bell;
        r->worker = w->number;
        mailbox_post(w->pool->loop, &r->begun);
        run_execute(r);
        mailbox_post(w->pool->loop, &r->over);
    }
    return NULL;
}

/* With the lock held. Workers take no signals: those are the loop's thread's. */
static void hire(struct pool *p)
{
    struct worker *w = &p->workers[p->nworkers];
    *w = (struct worker){ .pool = p, .number = p->nworkers + 1 };
    w->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_attr_t attr;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_SIZE);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool hired = w->bell >= 0 && pthread_create(&w->thread, &attr, work, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (hired) {
        p->nworkers++;
        return;
    }
    if (w->bell >= 0)
        close(w->bell);
    log_warn("executor", "no more than %d workers: the system gives no thread", p->nworkers);
}

struct pool *pool_new(int workers, struct mailbox *loop)
{
    struct pool *p = mem_new(sizeof(*p));
    p->loop = loop;
    p->max = workers;
    p->workers = mem_new((size_t)workers * sizeof(*p->workers));
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    list_init(&p->queue);
    return p;
}

void pool_give(struct pool *p, struct peal_run *r)
{
    pthread_mutex_lock(&p->lock);
    list_push(&p->queue, &r->node);
    p->nqueued++;
    if (p->nqueued > p->nidle && p->nworkers < p->max)
        hire(p);
    pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->ending = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->nworkers; i++) {
        pthread_join(p->workers[i].thread, NULL);
        close(p->workers[i].bell);
    }
    for (struct list_node *n; (n = list_pop(&p->queue));)
        run_drop(container_of(n, struct peal_run, node));
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    free(p->workers);
    free(p);
}
