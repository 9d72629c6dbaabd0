/* SPDX-License-Identifier: Apache-2.0 */
/* net.c - calls from the center to executors: a transport (transport/transport.h) in memory, made
 * of dice. A request may be late, lost, or answered into the void; a connection may take its time
 * to open, be refused or reset. The one thing that can be relied on, as everywhere in the
 * reconciliation table: what was on its way when its connection was reset arrives or dies in less
 * than three seconds. A request is never doubled: it is a byte stream, and the center never
 * re-posts blindly. */
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL_TIMEOUT_MS 3000
#define SETTLE_MS 2500 /* with what an executor takes from its queue to the start line: < 3 s */

static const char *const kinds[] = { "run", "beat", "idleBeat", "log", "kill" };

/* Those under way to one executor, or to all addresses without an executor. */
static int *open_calls(struct sim *s, const struct conn *c)
{
    return &s->open_calls[c->to + 1];
}

/* For the center it is over. */
static void conn_ended(struct sim *s, struct conn *c)
{
    *open_calls(s, c) -= c->open;
    c->open = false;
}

static void conn_release(struct sim *s, struct conn *c)
{
    if (c->open || c->pending)
        return;
    map_take(&s->conns, (uint64_t)c->id);
    free(c);
}

/* The call ends for the center. */
static void conn_close(struct sim *s, struct conn *c, enum call_outcome outcome,
                       const struct reply *reply)
{
    if (!c->open) {
        conn_release(s, c);
        return;
    }
    conn_ended(s, c);
    static const char *const words[] = { "answered", "not sent", "in doubt", "foreign",
                                         "full",     "unfit",    "again" };
    sim_trace(s, "%s %lld at %s: %s %d%s", kinds[c->call.kind], (long long)c->call.log_id,
              c->address, words[outcome], reply ? reply->code : 0,
              reply && reply->repeat ? " repeat" : "");
    struct call_result r = {
        .outcome = outcome,
        .code = reply ? reply->code : 0,
        .repeat = reply && reply->repeat,
        .msg = slice_text(outcome == CALL_ANSWERED ? "" : "no answer"),
        .log = reply ? reply->log : LOG_CANNOT_TELL,
    };
    int64_t id = c->id;
    check_answered(s, c, outcome, reply);
    c->of->done(c->of, &r); /* the center may crash in there, and it be released */
    c = map_find(&s->conns, (uint64_t)id);
    if (c)
        conn_release(s, c);
}

static void deliver(struct sim *s, struct event *e);

/* The center's end is gone: what is on its way arrives soon, or never. */
static void conn_reset(struct sim *s, struct conn *c)
{
    if (!c->pending)
        return;
    if (sim_chance(s, s->choked ? 150000 : 500000)) {
        c->pending = false;
        return;
    }
    struct event *e = sim_send(s, sim_between(s, 1, SETTLE_MS), deliver, c->id, 0, NULL);
    c->arrival = e->tie;
}

static void on_reply(struct sim *s, struct event *e)
{
    struct conn *c = map_find(&s->conns, (uint64_t)e->a);
    if (!c || center_frozen(s, e))
        return;
    struct reply *reply = e->p;
    conn_close(s, c, CALL_ANSWERED, reply);
}

static void on_timeout(struct sim *s, struct event *e)
{
    struct conn *c = map_find(&s->conns, (uint64_t)e->a);
    if (!c || center_frozen(s, e))
        return;
    if (c->open)
        conn_reset(s, c);
    conn_close(s, c, c->left ? CALL_IN_DOUBT : CALL_NOT_SENT, NULL);
}

static void on_refused(struct sim *s, struct event *e)
{
    struct conn *c = map_find(&s->conns, (uint64_t)e->a);
    if (!c || center_frozen(s, e))
        return;
    conn_close(s, c, CALL_NOT_SENT, NULL);
}

static int64_t service_ms(struct sim *s, const struct exec *x)
{
    if (x->slow && sim_chance(s, 400000))
        return sim_between(s, 200, sim_chance(s, 200000) ? 7000 : 2900);
    return sim_chance(s, s->late_ppm) ? sim_between(s, 100, 4000) : sim_between(s, 0, 3);
}

/* The request is at the executor's end. */
static void deliver(struct sim *s, struct event *e)
{
    struct conn *c = map_find(&s->conns, (uint64_t)e->a);
    if (!c || !c->pending || c->arrival != e->tie)
        return;
    c->pending = false;
    struct exec *x = &s->execs[c->to];
    if (!x->up || x->life != c->exec_lifecycle) { /* the process that had accepted it is gone */
        conn_close(s, c, CALL_IN_DOUBT, NULL);
        return;
    }
    struct reply *reply = mem_new(sizeof(*reply));
    *reply = exec_take(s, x, c);
    sim_trace(s, "%s arrives %s %lld job %lld: %d%s log %d", x->address, kinds[c->call.kind],
              (long long)c->call.log_id, (long long)c->call.job_id, reply->code,
              reply->repeat ? " repeat" : "", reply->log);
    if (c->open && !sim_chance(s, s->loss_ppm)) {
        sim_send(s, service_ms(s, x) + sim_between(s, 0, 3), on_reply, c->id, 0, reply);
        return;
    }
    free(reply);
    conn_release(s, c);
}

static int exec_at(const struct sim *s, const char *address)
{
    for (int i = 0; i < s->nexecs; i++)
        if (strcmp(s->execs[i].address, address) == 0)
            return i;
    return -1;
}

/* Does the core let it go? Asked once, right before the first byte. */
static bool leaves(struct sim *s, struct conn *c)
{
    c->left = !c->of->leaving || c->of->leaving(c->of->arg);
    if (c->left && c->call.kind == CALL_RUN) {
        backup_sent(s, &c->call);
        check_leaving(s, c);
    }
    return c->left;
}

/* The first byte is on its way, into an executor that is there. */
static void conn_sent(struct sim *s, struct conn *c)
{
    c->exec_lifecycle = s->execs[c->to].life;
    sim_send(s, CALL_TIMEOUT_MS, on_timeout, c->id, 0, NULL);
    if (s->boot_ms < s->execs[c->to].dark_until_ms) /* taken, and never heard of */
        return;
    if (sim_chance(s, s->loss_ppm))
        return; /* never arrives */
    int64_t in = sim_between(s, 0, 3);
    if (sim_chance(s, s->late_ppm) || (s->execs[c->to].slow && sim_chance(s, 60000)))
        in = sim_between(s, 50, 5900);
    if (s->choked && c->call.kind == CALL_RUN && sim_chance(s, 350000))
        in = sim_between(s, 3001, 5400);
    c->pending = true;
    struct event *e = sim_send(s, in, deliver, c->id, 0, NULL);
    c->arrival = e->tie;
    if (sim_chance(s, s->loss_ppm)) /* a reset out of nowhere */
        sim_send(s, sim_between(s, 0, 6), on_timeout, c->id, 0, NULL);
}

/* There is a connection to send on, or none can be had. */
static void conn_opened(struct sim *s, struct conn *c)
{
    bool there = c->to >= 0 && s->execs[c->to].up;
    bool dark = there && s->boot_ms < s->execs[c->to].dark_until_ms;
    if (!there || (!dark && sim_chance(s, s->refuse_ppm)))
        sim_send(s, sim_between(s, 0, 20), on_refused, c->id, 0, NULL);
    else if (!leaves(s, c))
        conn_close(s, c, CALL_AGAIN, NULL);
    else
        conn_sent(s, c);
}

static void on_opened(struct sim *s, struct event *e)
{
    struct conn *c = map_find(&s->conns, (uint64_t)e->a);
    if (c && c->open && !center_frozen(s, e))
        conn_opened(s, c);
}

static void net_call(struct transport *t, const struct call *call, struct transport_call *of)
{
    struct sim *s = container_of(t, struct sim, net);
    struct conn *c = mem_new(sizeof(*c));
    c->begun_ms = s->boot_ms;
    c->of = of;
    of->transport = t;
    of->own = c;
    c->id = ++s->last_conn;
    c->call = *call;
    c->block = call->job ? call->job->block : BLOCK_SERIAL;
    snprintf(c->address, sizeof(c->address), "%s", call->address);
    c->call.address = c->address;
    snprintf(c->param, sizeof(c->param), "%s", call->param ? call->param : "");
    snprintf(c->handler, sizeof(c->handler), "%s", call->job ? call->job->handler : "");
    c->to = exec_at(s, call->address);
    c->open = true;
    *open_calls(s, c) += 1;
    map_set(&s->conns, (uint64_t)c->id, c);
    check_called(s, call, c->id);
    if (s->client_room && *open_calls(s, c) > s->client_room) {
        conn_close(s, c, CALL_FULL, NULL); /* not even tried */
        return;
    }
    if (!s->opening_ppm || !sim_chance(s, s->opening_ppm)) { /* over a kept one */
        conn_opened(s, c);
        return;
    }
    sim_send(s, CALL_TIMEOUT_MS, on_timeout, c->id, 0, NULL);
    sim_send(s, sim_between(s, 1, sim_chance(s, 100000) ? 3500 : 60), on_opened, c->id, 0, NULL);
}

static enum call_outcome net_abort(struct transport_call *of)
{
    struct sim *s = container_of(of->transport, struct sim, net);
    struct conn *c = of->own;
    enum call_outcome outcome = c->left ? CALL_IN_DOUBT : CALL_NOT_SENT;
    conn_reset(s, c);
    conn_ended(s, c);
    conn_release(s, c);
    return outcome;
}

static void net_warm(struct transport *t, const char *address, int connections)
{
    (void)t;
    (void)address;
    (void)connections;
}

static void net_sweep(struct transport *t, int64_t boot_ms)
{
    (void)t;
    (void)boot_ms;
}

void net_init(struct sim *s)
{
    static const struct transport_ops ops = {
        .call = net_call, .abort = net_abort, .warm = net_warm, .sweep = net_sweep
    };
    s->net.ops = &ops;
    map_init(&s->conns);
}

/* Ids of the connections, ascending, so that what happens to them does not depend on the map. */
static int64_t *conn_ids(struct sim *s, size_t *ret_n)
{
    int64_t *ids = mem_new((s->conns.len + 1) * sizeof(*ids));
    void *value;
    size_t n = 0;
    for (size_t i = 0; map_next(&s->conns, &i, &value);)
        ids[n++] = ((struct conn *)value)->id;
    *ret_n = n;
    return ids;
}

static void on_dead_peer(struct sim *s, struct event *e)
{
    struct conn *c = map_find(&s->conns, (uint64_t)e->a);
    if (!c || center_frozen(s, e))
        return;
    conn_close(s, c, c->left ? CALL_IN_DOUBT : CALL_NOT_SENT, NULL);
}

void net_reset_exec(struct sim *s, int exec)
{
    size_t n;
    int64_t *ids = conn_ids(s, &n);
    for (size_t i = 0; i < n; i++) {
        struct conn *c = map_find(&s->conns, (uint64_t)ids[i]);
        if (c->to == exec && c->open)
            sim_send(s, sim_between(s, 0, 5), on_dead_peer, c->id, 0, NULL);
    }
    free(ids);
}
