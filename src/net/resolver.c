/* SPDX-License-Identifier: Apache-2.0 */
/* The threads are detached and share counted state: an owner that goes away must not wait for a
 * name server that does not answer. */
#include "net/resolver.h"
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/thread.h"

enum { THREADS_MAX = 4 };

struct resolver {
    pthread_mutex_t lock; /* guards all below but the mailbox */
    pthread_cond_t work;
    struct list queue;
    int refs, threads, sleeping, queued;
    bool stop;
    struct mailbox *mailbox;
};

static void free_messages(struct list *l)
{
    for (struct list_node *n; (n = list_pop(l));)
        free(container_of(container_of(n, struct message, node), struct lookup, message));
}

/* Called with the lock held; gives it up. */
static void unref_and_unlock(struct resolver *r)
{
    bool last = --r->refs == 0;
    pthread_mutex_unlock(&r->lock);
    if (!last)
        return;
    struct list left;
    list_init(&left);
    mailbox_take(r->mailbox, &left);
    free_messages(&left);
    free_messages(&r->queue);
    mailbox_free(r->mailbox);
    pthread_cond_destroy(&r->work);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

static void resolve(struct lookup *k)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
    struct addrinfo *list = NULL;
    char port[8];
    snprintf(port, sizeof(port), "%u", k->port);
    int rc = getaddrinfo(k->host, port, &hints, &list);
    k->why = rc ? gai_strerror(rc) : "the name has no address";
    if (rc)
        return;
    for (struct addrinfo *a = list; a && k->nfound < RESOLVER_ADDRESSES; a = a->ai_next) {
        if (a->ai_addrlen > sizeof(k->found[0].addr))
            continue;
        memcpy(&k->found[k->nfound].addr, a->ai_addr, a->ai_addrlen);
        k->found[k->nfound++].len = a->ai_addrlen;
    }
    freeaddrinfo(list);
}

static void *resolver_thread(void *arg)
{
    struct resolver *r = arg;
    pthread_mutex_lock(&r->lock);
    while (!r->stop) {
        struct list_node *n = list_pop(&r->queue);
        if (!n) {
            r->sleeping++;
            pthread_cond_wait(&r->work, &r->lock);
            r->sleeping--;
            continue;
        }
        r->queued--;
        pthread_mutex_unlock(&r->lock);
        struct lookup *k =
            container_of(container_of(n, struct message, node), struct lookup, message);
        resolve(k);
        mailbox_send(r->mailbox, &k->message);
        pthread_mutex_lock(&r->lock);
    }
    unref_and_unlock(r);
    return NULL;
}

/* With the lock held. */
static void start_thread(struct resolver *r)
{
    pthread_t thread;
    if (thread_start(&thread, "peal-resolver", 0, resolver_thread, r))
        return;
    pthread_detach(thread);
    r->threads++;
    r->refs++;
}

struct resolver *resolver_new(void)
{
    struct mailbox *mailbox = mailbox_new();
    if (!mailbox)
        return NULL;
    struct resolver *r = mem_new(sizeof(*r));
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->work, NULL);
    list_init(&r->queue);
    r->mailbox = mailbox;
    r->refs = 1;
    return r;
}

void resolver_free(struct resolver *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_cond_broadcast(&r->work);
    unref_and_unlock(r);
}

void resolver_ask(struct resolver *r, struct lookup *k)
{
    k->nfound = 0;
    k->message.node.prev = k->message.node.next = NULL;
    pthread_mutex_lock(&r->lock);
    list_push(&r->queue, &k->message.node);
    r->queued++;
    if (r->queued > r->sleeping && r->threads < THREADS_MAX)
        start_thread(r);
    if (r->threads == 0) { /* the system gives us no thread: that is an answer too */
        list_remove(&k->message.node);
        r->queued--;
        k->why = "no thread for name resolution";
        mailbox_send(r->mailbox, &k->message);
    }
    pthread_cond_signal(&r->work);
    pthread_mutex_unlock(&r->lock);
}

struct mailbox *resolver_mailbox(struct resolver *r)
{
    return r->mailbox;
}
