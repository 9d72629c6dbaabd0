/* SPDX-License-Identifier: Apache-2.0 */
/* front_queue.c - the queues of calls and the workers that run them. The lock is held only while a
 * call enters or leaves a queue. */
#include "api/front_internal.h"
#include "base/log.h"

/* Of each class, how many requests run at once, and how many wait for that: above, one is answered
 * busy. A login takes 40 ms, so those that wait begin within two seconds or so. */
static const struct class
{
    int running, waiting;
} classes[WEB_CLASSES] = {
    [WEB_PAGE] = { WEB_WORKERS, 900 },
    [WEB_EXECUTOR] = { 2, 64 },
    [WEB_PASSWORD] = { 1, 32 },
};

void web_queues_init(struct web *w)
{
    for (int i = 0; i < WEB_CLASSES; i++)
        waiting_init(&w->queues[i], classes[i].waiting);
}

struct web_call *web_queue(struct web *w, struct web_call *call)
{
    pthread_mutex_lock(&w->lock);
    struct waiting_call *out =
        w->stopping ? &call->waiting
                    : waiting_put(&w->queues[web_class_of(&call->match)], &call->waiting);
    pthread_cond_signal(&w->ready);
    pthread_mutex_unlock(&w->lock);
    return out ? container_of(out, struct web_call, waiting) : NULL;
}

/* The next call that its class allows; waits for one. NULL: stop. Called with the lock. */
static struct web_call *next_call(struct web *w, enum web_class *ret_class)
{
    while (!w->stopping) {
        for (int i = 0; i < WEB_CLASSES; i++) {
            if (w->running[i] >= classes[i].running)
                continue;
            struct waiting_call *next = waiting_take(&w->queues[i]);
            if (next) {
                w->running[i]++;
                *ret_class = (enum web_class)i;
                return container_of(next, struct web_call, waiting);
            }
        }
        pthread_cond_wait(&w->ready, &w->lock);
    }
    return NULL;
}

void *web_work(void *arg)
{
    struct web *w = arg;
    struct store *db = NULL;
    enum web_class class;
    struct web_call *call;
    pthread_mutex_lock(&w->lock);
    while ((call = next_call(w, &class))) {
        pthread_mutex_unlock(&w->lock);
        struct why why = { "" };
        if (!db && center_reader(w->center, &db, &why))
            log_warn("web", "pages cannot be read: %s", why.text);
        call->db = db;
        (call->task ? call->task : w->serve)(call);
        mailbox_send(w->mailbox, &call->message);
        pthread_mutex_lock(&w->lock);
        w->running[class]--;
        pthread_cond_signal(&w->ready); /* its class may have had to wait for this */
    }
    pthread_mutex_unlock(&w->lock);
    store_close(db);
    return NULL;
}
