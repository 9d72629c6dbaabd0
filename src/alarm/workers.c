/* SPDX-License-Identifier: Apache-2.0 */
/* workers.c - a queue under a lock, and threads that sleep on it: a try blocks its thread, never
 * the one that decides what is tried. */
#include "alarm/workers.h"
#include <pthread.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"

struct workers {
    struct channel *channel;
    struct mailbox *done;
    int kind;
    pthread_mutex_t lock; /* guards queue */
    pthread_cond_t any;
    struct list queue; /* struct message of workers_try */
    _Atomic bool stop;
    int nworkers;
    pthread_t workers[WORKERS];
};

/* NULL: stopped. */
static struct workers_try *take(struct workers *p)
{
    pthread_mutex_lock(&p->lock);
    while (list_empty(&p->queue) && !p->stop)
        pthread_cond_wait(&p->any, &p->lock);
    struct list_node *n = p->stop ? NULL : list_pop(&p->queue);
    pthread_mutex_unlock(&p->lock);
    return n ? container_of(n, struct workers_try, message.node) : NULL;
}

static void give_back(struct workers *p, struct workers_try *t)
{
    t->message.kind = p->kind;
    mailbox_send(p->done, &t->message);
}

static void *worker_main(void *arg)
{
    struct workers *p = arg;
    for (struct workers_try *t; (t = take(p));) {
        int64_t begun_ms = clock_boot_ms();
        t->at_ms = clock_wall_ms();
        t->outcome = p->channel->ops->send(p->channel, t->text, &p->stop, &t->said);
        t->took_ms = clock_boot_ms() - begun_ms;
        give_back(p, t);
    }
    return NULL;
}

struct workers *workers_new(struct channel *c, struct mailbox *done, int kind)
{
    struct workers *p = mem_new(sizeof(*p));
    p->channel = c;
    p->done = done;
    p->kind = kind;
    list_init(&p->queue);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->any, NULL);
    for (; p->nworkers < WORKERS; p->nworkers++)
        if (thread_start(&p->workers[p->nworkers], "peal-channel", 0, worker_main, p))
            abort(); /* no threads at start: nothing can run */
    return p;
}

void workers_give(struct workers *p, struct workers_try *t)
{
    pthread_mutex_lock(&p->lock);
    list_push(&p->queue, &t->message.node);
    pthread_cond_signal(&p->any);
    pthread_mutex_unlock(&p->lock);
}

void workers_free(struct workers *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->any);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->nworkers; i++)
        pthread_join(p->workers[i], NULL);
    for (struct list_node *n; (n = list_pop(&p->queue));) {
        struct workers_try *t = container_of(n, struct workers_try, message.node);
        t->outcome = DELIVERY_AGAIN;
        give_back(p, t);
    }
    pthread_cond_destroy(&p->any);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
