/* SPDX-License-Identifier: Apache-2.0 */
#include "executor/keeper.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include "base/mem.h"

enum order_kind { ORDER_READ, ORDER_NOTE, ORDER_END };

struct order {
    struct letter letter; /* kind: enum order_kind */
    struct keeper_read *read;
    int64_t log_id, log_date_ms;
    const char *word;
};

struct keeper {
    const char *logpath;
    struct mailbox *orders, *loop;
    pthread_t thread;
};

/* False: that was the last one. */
static bool follow(struct keeper *k, struct order *o)
{
    bool more = o->letter.kind != ORDER_END;
    if (o->letter.kind == ORDER_READ) {
        struct keeper_read *r = o->read;
        runlog_read(k->logpath, r->log_date_ms, r->log_id, r->from_line, r->whole_lines, &r->page);
        mailbox_post(k->loop, &r->letter);
    } else if (o->letter.kind == ORDER_NOTE) {
        runlog_note(k->logpath, o->log_date_ms, o->log_id, o->word);
    }
    free(o);
    return more;
}

static void *keep(void *arg)
{
    struct keeper *k = arg;
    for (bool more = true; more;) {
        struct list orders;
        list_init(&orders);
        if (!mailbox_take(k->orders, &orders))
            mailbox_wait(k->orders, -1);
        for (struct list_node *n; (n = list_pop(&orders));)
            more = follow(k, container_of(n, struct order, letter.node)) && more;
    }
    return NULL;
}

struct keeper *keeper_new(const char *logpath, struct mailbox *loop)
{
    struct keeper *k = mem_new(sizeof(*k));
    sigset_t all, before;
    k->logpath = logpath;
    k->loop = loop;
    k->orders = mailbox_new();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&k->thread, NULL, keep, k) != 0)
        abort();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return k;
}

static void post(struct keeper *k, enum order_kind kind, struct order order)
{
    struct order *o = mem_new(sizeof(*o));
    *o = order;
    o->letter.kind = (int)kind;
    mailbox_post(k->orders, &o->letter);
}

void keeper_free(struct keeper *k)
{
    if (!k)
        return;
    post(k, ORDER_END, (struct order){ .read = NULL });
    pthread_join(k->thread, NULL);
    mailbox_free(k->orders);
    free(k);
}

void keeper_read(struct keeper *k, struct keeper_read *r)
{
    post(k, ORDER_READ, (struct order){ .read = r });
}

void keeper_note(struct keeper *k, int64_t log_id, int64_t log_date_ms, const char *word)
{
    post(k, ORDER_NOTE,
         (struct order){ .log_id = log_id, .log_date_ms = log_date_ms, .word = word });
}
