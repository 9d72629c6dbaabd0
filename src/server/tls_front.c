/* SPDX-License-Identifier: Apache-2.0 */
/* A front of the usual kind, whose every request moves at once, with its connection. */
#include "server/tls_front.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/thread.h"
#include "server/center.h"

enum message_of { MESSAGE_MOVED, MESSAGE_DRAIN, MESSAGE_LAST_ANSWERS, MESSAGE_QUIT };

struct tls_front {
    /* its thread's, once it runs */
    struct loop *loop;
    struct httpd *front;
    struct loop_mailbox incoming;
    pthread_t thread;
    bool started;
    _Atomic bool empty;
    struct message drain, quit;
    /* the scheduler's */
    struct loop *to_loop;
    struct httpd *to;
    struct loop_mailbox moved;
};

/* ---- its thread --------------------------------------------------------------------------------
 */

static void move(struct httpd_request *q, void *arg)
{
    struct tls_front *f = arg;
    struct httpd_moved *m = httpd_detach(q);
    m->message.kind = MESSAGE_MOVED;
    mailbox_send(f->moved.mailbox, &m->message);
}

static size_t move_head(struct httpd_request *q, void *arg)
{
    move(q, arg);
    return 0;
}

static void on_message(struct loop_mailbox *m, struct message *l)
{
    struct tls_front *f = container_of(m, struct tls_front, incoming);
    if (l->kind == MESSAGE_DRAIN)
        httpd_drain(f->front);
    else if (l->kind == MESSAGE_LAST_ANSWERS)
        httpd_last_answers(f->front);
    else
        loop_stop(f->loop);
}

static void before_sleep(void *arg)
{
    struct tls_front *f = arg;
    atomic_store(&f->empty, httpd_empty(f->front));
}

static void *turn(void *arg)
{
    loop_run(((struct tls_front *)arg)->loop);
    return NULL;
}

/* ---- the scheduler's ---------------------------------------------------------------------------
 */

static void on_moved(struct loop_mailbox *m, struct message *l)
{
    struct tls_front *f = container_of(m, struct tls_front, moved);
    httpd_attach(f->to, container_of(l, struct httpd_moved, message));
}

struct tls_front *tls_front_new(struct tls_server *tls, struct loop *l, struct httpd *to)
{
    struct tls_front *f = mem_new(sizeof(*f));
    struct httpd_config config = {
        .on_request = move, .on_head = move_head, .body_max = CENTER_BODY_MAX, .tls = tls, .arg = f
    };
    f->loop = loop_new();
    f->front = httpd_new(f->loop, &config);
    f->incoming.mailbox = mailbox_new();
    f->incoming.message = on_message;
    f->moved.mailbox = mailbox_new();
    f->moved.message = on_moved;
    f->to_loop = l;
    f->to = to;
    f->quit.kind = MESSAGE_QUIT;
    f->empty = true;
    return f;
}

struct httpd *tls_front_httpd(struct tls_front *f)
{
    return f->front;
}

enum err tls_front_start(struct tls_front *f, struct why *why)
{
    enum err err = loop_mailbox_add(f->loop, &f->incoming);
    if (!err)
        err = loop_mailbox_add(f->to_loop, &f->moved);
    if (err) {
        why_set(why, "no descriptors left");
        return err;
    }
    loop_before_sleep(f->loop, before_sleep, f);
    int rc = thread_start(&f->thread, "peal-tls", 0, turn, f);
    if (rc) {
        why_set(why, "cannot start a thread: %s", strerror(rc));
        return ERR_FULL;
    }
    f->started = true;
    return OK;
}

void tls_front_drain(struct tls_front *f, bool last_answers)
{
    f->drain.kind = last_answers ? MESSAGE_LAST_ANSWERS : MESSAGE_DRAIN;
    mailbox_send(f->incoming.mailbox, &f->drain);
}

bool tls_front_empty(struct tls_front *f)
{
    return atomic_load(&f->empty) && !mailbox_any(f->moved.mailbox);
}

static void drop_moved(struct mailbox *m)
{
    struct list rest;
    list_init(&rest);
    while (mailbox_take(m, &rest))
        ;
    for (struct list_node *n; (n = list_pop(&rest));) {
        struct message *l = container_of(n, struct message, node);
        httpd_moved_free(container_of(l, struct httpd_moved, message));
    }
}

void tls_front_free(struct tls_front *f)
{
    if (!f)
        return;
    if (f->started) {
        mailbox_send(f->incoming.mailbox, &f->quit);
        pthread_join(f->thread, NULL);
        loop_mailbox_remove(f->loop, &f->incoming);
        loop_mailbox_remove(f->to_loop, &f->moved);
    }
    httpd_free(f->front);
    drop_moved(f->moved.mailbox);
    mailbox_free(f->moved.mailbox);
    mailbox_free(f->incoming.mailbox);
    loop_free(f->loop);
    free(f);
}
