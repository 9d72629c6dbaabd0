/* SPDX-License-Identifier: Apache-2.0 */
/* Calls from centers to executors. A request may be late or lost, a connection refused or reset;
 * the process may be stopped between its look at the lease and the first byte. What was on its way
 * when its connection was reset arrives or dies in less than three seconds. */
#include "world.h"
#include <stdio.h>

#define TIMEOUT_MS 3000
#define SETTLE_MS 2500

static struct conn *conn_at(struct world *w, int64_t id)
{
    return map_find(&w->conns, (uint64_t)id);
}

static void release(struct world *w, struct conn *c)
{
    if (c->open || c->pending)
        return;
    map_take(&w->conns, (uint64_t)c->id);
    free(c);
}

/* For the center it is over. */
static void answer(struct world *w, struct conn *c, enum call_outcome outcome,
                   const struct reply *reply)
{
    struct cnode *n = c->from;
    struct call_result r = { .kind = c->kind,
                             .log_id = c->log_id,
                             .ticket = c->ticket,
                             .address = c->address,
                             .outcome = outcome,
                             .code = reply ? reply->code : 0,
                             .repeat = reply && reply->repeat,
                             .msg = slice_text(reply ? "" : "no answer"),
                             .log = reply ? reply->log : LOG_CANNOT_TELL };
    c->open = false;
    n->ncalls--;
    sched_on_call(n->sched, now_of(n), &r);
    release(w, c);
    loop_pump(w, n);
}

static void on_deliver(struct world *w, struct event *e);

static void deliver_in(struct world *w, struct conn *c, int64_t ms)
{
    struct event *e = elsewhere(w, ms, NULL, on_deliver, NULL);
    e->a = c->id;
    e->b = ++c->arrival;
    c->pending = true;
}

/* The caller's end is gone: what is on its way arrives soon, or never. */
static void reset(struct world *w, struct conn *c)
{
    if (!c->pending)
        return;
    if (chance(w, 500000))
        c->pending = false;
    else
        deliver_in(w, c, between(w, 1, SETTLE_MS));
}

static void on_failed(struct world *w, struct event *e)
{
    struct conn *c = conn_at(w, e->a);
    if (!c || !c->open)
        return;
    reset(w, c);
    answer(w, c, c->left ? CALL_IN_DOUBT : CALL_NOT_SENT, NULL);
}

static void on_reply(struct world *w, struct event *e)
{
    struct conn *c = conn_at(w, e->a);
    if (c && c->open)
        answer(w, c, CALL_ANSWERED, e->p);
}

static void on_deliver(struct world *w, struct event *e)
{
    struct conn *c = conn_at(w, e->a);
    if (!c || !c->pending || c->arrival != (uint32_t)e->b)
        return;
    struct exec *x = &w->execs[c->to];
    c->pending = false;
    if (x->up && x->life == c->exec_life) {
        struct reply *reply = mem_new(sizeof(*reply));
        *reply = exec_take(w, x, c);
        int64_t ms = chance(w, (uint32_t)w->late_ppm) ? between(w, 50, 4000) : between(w, 0, 5);
        if (c->open && !chance(w, (uint32_t)w->loss_ppm))
            after(w, ms, c->from, on_reply, reply)->a = c->id;
        else
            free(reply);
    } else if (c->open) {
        after(w, 1, c->from, on_failed, NULL)->a = c->id;
    }
    release(w, c);
}

/* The first byte is written. */
static void write_out(struct world *w, struct conn *c)
{
    const struct exec *x = &w->execs[c->to];
    c->left = true;
    c->exec_life = x->life;
    if (c->kind == CALL_RUN)
        check_send(w, c);
    after(w, TIMEOUT_MS, c->from, on_failed, NULL)->a = c->id;
    if (!x->up || chance(w, (uint32_t)w->loss_ppm))
        return; /* never arrives */
    deliver_in(w, c, chance(w, (uint32_t)w->late_ppm) ? between(w, 20, 5500) : between(w, 0, 3));
    if (chance(w, (uint32_t)w->loss_ppm)) /* a reset out of nowhere */
        after(w, between(w, 0, 6), c->from, on_failed, NULL)->a = c->id;
}

static void on_write_out(struct world *w, struct event *e)
{
    struct conn *c = conn_at(w, e->a);
    if (c && c->open)
        write_out(w, c);
}

static int exec_at(const struct world *w, const char *address)
{
    for (int i = 0; i < w->nexecs; i++)
        if (strcmp(w->execs[i].address, address) == 0)
            return i;
    return -1;
}

/* A yes of the core, and then nothing is waited for; but the process may be stopped right there. */
static void leave(struct world *w, struct conn *c)
{
    struct cnode *n = c->from;
    if (c->kind == CALL_RUN && !sched_leaving(n->sched, now_of(n), c->log_id, c->ticket)) {
        answer(w, c, CALL_AGAIN, NULL);
        return;
    }
    if (c->kind == CALL_RUN && !w->calm && chance(w, 5000)) {
        int64_t ms = between(w, 1, 9000);
        say(w, "%s is stopped before a first byte for %lld ms", n->name, (long long)ms);
        c->stale = c->left = true;
        w->pauses++;
        n->paused_ms = w->t + ms;
        after(w, ms, n, on_write_out, NULL)->a = c->id;
        return;
    }
    write_out(w, c);
}

void net_call(struct world *w, struct cnode *n, const struct call *call)
{
    struct conn *c = mem_new(sizeof(*c));
    c->id = ++w->last_conn;
    c->from = n;
    c->gen = n->gen;
    c->to = exec_at(w, call->address);
    c->kind = call->kind;
    c->log_id = call->log_id;
    c->job_id = call->job_id;
    c->ticket = call->ticket;
    c->block = call->job ? call->job->block : BLOCK_SERIAL;
    c->open = true;
    snprintf(c->address, sizeof(c->address), "%s", call->address);
    snprintf(c->param, sizeof(c->param), "%s", call->param ? call->param : "");
    snprintf(c->handler, sizeof(c->handler), "%s", call->job ? call->job->handler : "");
    map_set(&w->conns, (uint64_t)c->id, c);
    n->ncalls++;
    if (c->to < 0 || !w->execs[c->to].up || chance(w, (uint32_t)w->refuse_ppm))
        after(w, between(w, 0, 10), n, on_failed, NULL)->a = c->id;
    else
        leave(w, c);
}

/* In the order of their ids, so that it does not depend on the map. */
static int64_t *conns_of(struct world *w, size_t *ret_n)
{
    int64_t *ids = mem_new((w->conns.len + 1) * sizeof(*ids));
    size_t n = 0;
    void *value;
    for (size_t i = 0; map_next(&w->conns, &i, &value);)
        ids[n++] = ((struct conn *)value)->id;
    *ret_n = n;
    return ids;
}

void net_node_gone(struct world *w, struct cnode *n)
{
    size_t len;
    int64_t *ids = conns_of(w, &len);
    for (size_t i = 0; i < len; i++) {
        struct conn *c = conn_at(w, ids[i]);
        if (c->from != n || !c->open)
            continue;
        c->open = false;
        reset(w, c);
        release(w, c);
    }
    free(ids);
    n->ncalls = 0;
}

void net_exec_gone(struct world *w, int exec)
{
    size_t len;
    int64_t *ids = conns_of(w, &len);
    for (size_t i = 0; i < len; i++) {
        const struct conn *c = conn_at(w, ids[i]);
        if (c->to == exec && c->open && c->left && !c->stale)
            after(w, between(w, 0, 5), c->from, on_failed, NULL)->a = c->id;
    }
    free(ids);
}

void net_done(struct world *w)
{
    void *value;
    for (size_t i = 0; map_next(&w->conns, &i, &value);)
        free(value);
    map_done(&w->conns);
}
