/* SPDX-License-Identifier: Apache-2.0 */
/* results_taken.c - results that other nodes bring, of runs that this one may own.
 *
 * They count as if the executor had told them here, and the node that brought them is answered when
 * they are committed: not sooner, also where an executor would have been, because what stands in
 * this node's journal is of no use to the cluster if this node does not come back. The answer names
 * the places of those whose runs are not in memory here. While this node cannot commit it says so
 * at once, and the results go another way. */
#include "base/log.h"
#include "base/mem.h"
#include "server/state.h"
#include "wire/open_api.h"
#include <stdlib.h>

#define MISSING_MAX (PEER_ANSWER_MAX - 1024)

struct taken { /* a call whose results wait for their commit */
    struct waiter kept;
    struct list_node node;
    struct peer_asked *call;
    struct buf missing;
    bool full; /* there was no room for one of them */
};

static bool can_keep(const struct center *c)
{
    return !c->draining && !c->fenced && node_leased(c->node) && !writer_in_trouble(c->writer);
}

static void taken_drop(struct taken *t)
{
    list_remove(&t->node);
    buf_done(&t->missing);
    free(t);
}

static void answer(struct taken *t)
{
    if (t->missing.failed || t->full)
        peer_refuse(t->call, t->full ? 503 : 500);
    else
        peer_answer(t->call, slice_of(t->missing.data, t->missing.len));
    taken_drop(t);
}

static void committed(struct center *c, struct waiter *k)
{
    (void)c;
    answer(container_of(k, struct taken, kept));
}

/* How many are of runs that are here. Of these, results that bring back the date of an older run
 * are of no run at all, and done with. */
static size_t take(struct center *c, struct taken *t, const struct wire_callbacks *all)
{
    struct now now = center_now();
    struct center_result *own = mem_new((all->n + 1) * sizeof(*own));
    int64_t group;
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct wire_callback *r = &all->items[i];
        if (!r->fault && sched_result_group(c->sched, r->log_id, &group))
            own[n++] = (struct center_result){ r->log_id, r->log_date_ms, r->code, r->msg };
        else
            buf_printf(&t->missing, "%s%zu", t->missing.len ? " " : "", i);
    }
    size_t ours = n;
    n = results_leave_foreign(c, own, n);
    for (size_t i = 0; i < n; i++)
        t->full |= !sched_result(c->sched, now, own[i].log_id, own[i].code, own[i].msg);
    free(own);
    if (t->full)
        results_full(c);
    return ours;
}

void results_peer(struct center *c, struct peer_asked *a)
{
    struct wire_callbacks all;
    struct why why = { "" };
    if (!can_keep(c)) {
        peer_refuse(a, 503);
        return;
    }
    if (wire_callbacks_parse(a->body, &all, &why)) {
        log_warn("peers", "results of epoch %lld cannot be read: %s", (long long)a->from, why.text);
        peer_refuse(a, 400);
        return;
    }
    struct taken *t = mem_new(sizeof(*t));
    t->call = a;
    buf_init(&t->missing, MISSING_MAX);
    list_push(&c->taken, &t->node);
    size_t n = take(c, t, &all);
    wire_callbacks_done(&all);
    atomic_fetch_add_explicit(&c->metrics.received, n, memory_order_relaxed);
    t->kept.done = committed;
    if (!n) {
        answer(t);
        return;
    }
    sched_ack_after(c->sched, center_now(), &t->kept.ack);
    sched_want_batch(c->sched); /* no journal has them */
}

void taken_free(struct center *c)
{
    for (struct list_node *n; (n = list_first(&c->taken));)
        taken_drop(container_of(n, struct taken, node));
}
