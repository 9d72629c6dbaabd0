/* SPDX-License-Identifier: Apache-2.0 */
/* peer_asks.c - other threads ask a node: a message to the scheduler's loop, a condition back. The
 * asker may give up while the loop is at it, so the side that lets go last frees the ask. */
#include "base/clock.h"
#include "base/mem.h"
#include "server/state.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_MS (PEER_TIMEOUT_MS + 200) /* the loop may be busy */
#define LOOK_MS 100

struct peer_ask {
    struct message message;
    struct list_node node; /* in center.peer_asks, while the call is open */
    pthread_mutex_t lock;  /* guards refs and done; the rest belongs to one side at a time */
    pthread_cond_t ready;
    int refs;
    bool done;
    int64_t begun_ms, of; /* boot; the node */
    char *path, *body;
    size_t nbody;
    struct peer_call call;
    char *answer;
    size_t nanswer;
    enum err err;
    struct why why;
};

static void ask_put(struct peer_ask *a)
{
    pthread_mutex_lock(&a->lock);
    bool last = --a->refs == 0;
    pthread_mutex_unlock(&a->lock);
    if (!last)
        return;
    pthread_cond_destroy(&a->ready);
    pthread_mutex_destroy(&a->lock);
    free(a->path);
    free(a->body);
    free(a->answer);
    free(a);
}

/* ---- the asker ------------------------------------------------------------------------------- */

struct peer_ask *center_peer_ask(struct center *c, int64_t node, const char *path,
                                 struct slice body)
{
    struct peer_ask *a = mem_new(sizeof(*a));
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&a->ready, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&a->lock, NULL);
    a->message.kind = MESSAGE_PEER_ASK;
    a->refs = 2;
    a->of = node;
    a->path = mem_dup(path);
    a->body = mem_dupn(body.n ? body.p : "", body.n);
    a->nbody = body.n;
    a->begun_ms = clock_boot_ms();
    mailbox_send(c->mailbox, &a->message);
    return a;
}

enum err center_peer_answer(struct center *c, struct peer_ask *a, char **ret, size_t *ret_n,
                            struct why *why)
{
    *ret = NULL;
    *ret_n = 0;
    pthread_mutex_lock(&a->lock);
    while (!a->done && !c->closed && clock_boot_ms() - a->begun_ms < PATIENCE_MS) {
        struct timespec look = clock_after_ms(LOOK_MS);
        pthread_cond_timedwait(&a->ready, &a->lock, &look);
    }
    enum err err = a->done ? a->err : c->closed ? ERR_STOPPING : ERR_TIMEOUT;
    if (a->done && !err) {
        *ret = a->answer;
        *ret_n = a->nanswer;
        a->answer = NULL;
    }
    if (a->done)
        why_set(why, "%s", a->why.text);
    else
        why_set(why, "%s", err_text(err));
    pthread_mutex_unlock(&a->lock);
    ask_put(a);
    return err;
}

/* ---- the scheduler's side -------------------------------------------------------------------- */

static void answer(struct peer_ask *a, enum err err)
{
    list_remove(&a->node);
    pthread_mutex_lock(&a->lock);
    a->err = err;
    a->done = true;
    pthread_cond_signal(&a->ready);
    pthread_mutex_unlock(&a->lock);
    ask_put(a);
}

static void done(struct peer_call *call)
{
    struct peer_ask *a = container_of(call, struct peer_ask, call);
    if (!call->answered) {
        why_set(&a->why, "%s", call->why);
        answer(a, call->refused == 404 ? ERR_INVALID : ERR_NET);
        return;
    }
    a->answer = mem_dupn(call->body.n ? call->body.p : "", call->body.n);
    a->nanswer = call->body.n;
    answer(a, OK);
}

void peer_ask_open(struct center *c, struct message *l)
{
    struct peer_ask *a = container_of(l, struct peer_ask, message);
    int64_t epoch = peers_epoch(c->peers, a->of);
    list_push(&c->peer_asks, &a->node);
    a->call.done = done;
    if (epoch && peers_call(c->peers, epoch, a->path, slice_of(a->body, a->nbody), &a->call))
        return;
    why_set(&a->why, "node %lld cannot be asked now", (long long)a->of);
    answer(a, ERR_NOTFOUND);
}

void peer_ask_refuse(struct message *l)
{
    answer(container_of(l, struct peer_ask, message), ERR_STOPPING);
}

void peer_asks_refuse(struct center *c)
{
    for (struct list_node *n; (n = list_first(&c->peer_asks));) {
        struct peer_ask *a = container_of(n, struct peer_ask, node);
        peers_abort(&a->call);
        answer(a, ERR_STOPPING);
    }
}
