/* SPDX-License-Identifier: Apache-2.0 */
/* The asks stay here while a worker reads: a call that is refused is made again, and loses none. */
#include "api/end_look.h"
#include "base/mem.h"
#include "live/tails.h"
#include <stdlib.h>

struct end_look {
    struct list asks;
};

struct found {
    struct end_look *of;
    int n;
    struct {
        int64_t log_id;
        bool ended;
    } runs[];
};

struct end_look *end_look_new(void)
{
    struct end_look *l = mem_new(sizeof(*l));
    list_init(&l->asks);
    return l;
}

void end_look_free(struct end_look *l)
{
    if (!l)
        return;
    for (struct list_node *n; (n = list_pop(&l->asks));)
        center_log_ask_free(container_of(n, struct center_log_ask, message.node));
    free(l);
}

void end_look_add(struct end_look *l, struct center_log_ask *a)
{
    list_push(&l->asks, &a->message.node);
}

bool end_look_wanted(const struct end_look *l)
{
    return !list_empty(&l->asks);
}

/* What cannot be read is taken for open: it is asked for again. A row that is gone has ended. */
static void look(struct web_call *call)
{
    struct found *f = call->wish;
    for (int i = 0; call->db && i < f->n; i++) {
        struct log_record r;
        struct why why = { "" };
        enum err err = call->db->ops->pages->log_get(call->db, f->runs[i].log_id, &r, &why);
        f->runs[i].ended = err == ERR_NOTFOUND || (!err && r.handle_code > 0);
        if (!err)
            log_record_done(&r);
    }
}

static void give(struct web_call *call, const struct web_live *live)
{
    struct found *f = call->wish;
    for (int i = 0; i < f->n; i++) { /* in their order, from the first on */
        struct list_node *n = list_pop(&f->of->asks);
        struct center_log_ask *a = container_of(n, struct center_log_ask, message.node);
        tails_looked(live->tails, a, f->runs[i].ended);
    }
}

void end_look_collect(struct web_call *call, struct end_look *l)
{
    int n = 0;
    list_each(&l->asks, at, tmp) n++;
    struct found *f = mem_new(sizeof(*f) + (size_t)n * sizeof(f->runs[0]));
    f->of = l;
    list_each(&l->asks, at, next) f->runs[f->n++].log_id =
        container_of(at, struct center_log_ask, message.node)->log_id;
    call->wish = f;
    call->task = look;
    call->done = give;
}
