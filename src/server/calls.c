/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - the core's calls, handed to the transport of their address; what came of each goes back
 * to the core. */
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "server/state.h"
#include "wire/texts.h"

struct out_call {
    struct transport_call call;
    struct list_node node; /* in center.calls */
    struct center *center;
    enum call_kind kind;
    uint32_t ticket;
    int64_t log_id, due_ms;
    struct call again; /* the same, for any kind but a run */
    struct key_sent sent;
    char address[];
};

/* ---- tokens ---------------------------------------------------------------------------------- */

void calls_begin(struct center *c, struct call *call, struct transport_call *t,
                 struct key_sent *ret)
{
    call->token = keys_for(c->keys, call->group_id, call->address, ret);
    if (call->log_id)
        call->trace = trace_in(&call->root, c->trace_key, call->log_id);
    transports_call(c->transports, call, t);
}

/* In the words that XXL-JOB's executors have for it, and ours. */
static bool says_wrong_token(const struct call_result *r)
{
    return r->outcome == CALL_ANSWERED && r->code != 200 &&
           slice_eq(slice_trim(r->msg), WIRE_TEXT_TOKEN);
}

bool calls_again(struct center *c, int64_t group_id, const char *address,
                 const struct key_sent *sent, const struct call_result *r)
{
    if (!sent->change && !keys_any(c->keys))
        return false;
    if (says_wrong_token(r))
        return keys_refused(c->keys, group_id, address, sent,
                            sched_address_listed(c->sched, group_id, slice_text(address)));
    if (r->outcome == CALL_ANSWERED)
        keys_taken(c->keys, group_id, address, sent);
    return false;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void start(struct center *c, const struct call *call);

/* Right before the first byte: the one place where the core lets a run go, or does not. */
static bool on_leaving(void *arg)
{
    const struct out_call *o = arg;
    return sched_leaving(o->center->sched, center_now(), o->log_id, o->ticket);
}

static void measure(const struct out_call *o, struct call_result *r)
{
    struct metrics *m = &o->center->metrics;
    if (o->kind != CALL_RUN || !o->call.sent_us)
        return;
    r->sent_us = o->call.sent_us;
    r->took_us = clock_wall_us() - o->call.sent_us;
    histogram_add(&m->lateness, o->call.sent_us - o->due_ms * 1000);
    histogram_add(&m->phase[METRIC_ANSWER], r->took_us);
}

static void on_done(struct transport_call *call, struct call_result *r)
{
    struct out_call *o = container_of(call, struct out_call, call);
    bool again = calls_again(o->center, o->again.group_id, o->address, &o->sent, r);
    if (again && o->kind != CALL_RUN) {
        list_remove(&o->node);
        start(o->center, &o->again);
        free(o);
        return;
    }
    if (again) /* it was looked at before anything else was: the core decides the run anew */
        *r = (struct call_result){ .outcome = CALL_AGAIN };
    measure(o, r);
    if (r->outcome == CALL_FULL)
        log_warn("dispatch", "%s: %.*s; the call is made a little later", o->address, (int)r->msg.n,
                 r->msg.p);
    r->kind = o->kind;
    r->log_id = o->log_id;
    r->ticket = o->ticket;
    r->address = o->address;
    sched_on_call(o->center->sched, center_now(), r);
    list_remove(&o->node);
    free(o);
}

static void start(struct center *c, const struct call *call)
{
    size_t n = strlen(call->address) + 1;
    struct out_call *o = mem_new(sizeof(*o) + n);
    o->call.done = on_done;
    if (call->kind == CALL_RUN)
        o->call.leaving = on_leaving;
    o->call.arg = o;
    o->center = c;
    o->kind = call->kind;
    o->ticket = call->ticket;
    o->log_id = call->log_id;
    o->due_ms = call->due_ms;
    memcpy(o->address, call->address, n);
    o->again = *call;
    o->again.address = o->address;
    o->again.job = NULL; /* borrowed, as param is */
    o->again.param = NULL;
    list_push(&c->calls, &o->node);
    struct call now = *call;
    calls_begin(c, &now, &o->call, &o->sent);
}

void calls_start(struct center *c, const struct call *call)
{
    start(c, call);
}

void calls_abort(struct center *c)
{
    struct list_node *n;
    while ((n = list_first(&c->calls))) {
        struct out_call *o = container_of(n, struct out_call, node);
        struct call_result r = { .outcome = transport_abort(&o->call),
                                 .msg = slice_text("the center is stopping") };
        on_done(&o->call, &r);
    }
}
