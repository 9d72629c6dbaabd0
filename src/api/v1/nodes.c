/* SPDX-License-Identifier: Apache-2.0 */
/* The servers of a database as a resource. One in a file has a single server, which answers from
 * its memory what other databases have in a row of peal_node.
 *
 * To drain a server is a wish in its row, which may be written at any of them: the server reads it
 * with its next look at the others (src/sched/node.c), and its beat says that it does so. */
#include "api/audit.h"
#include "api/node_metrics.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"
#include "store/release.h"
#include <stdlib.h>

static void i64_or_null(struct jsonw *w, const char *name, bool known, int64_t v)
{
    if (known)
        jsonw_i64(w, name, v);
    else
        jsonw_null(w, name);
}

static const char *text_or_null(const char *text)
{
    return text[0] ? text : NULL;
}

static void write_node(struct jsonw *w, const struct node_record *r, const struct metrics *own)
{
    bool self = r->epoch == own->node.epoch;
    int64_t age_ms = node_beat_age_ms(r, own);
    jsonw_object(w, NULL);
    jsonw_i64(w, "id", r->node);
    jsonw_text(w, "name", r->name);
    jsonw_i64(w, "epoch", r->epoch);
    jsonw_text(w, "state", node_state(r));
    jsonw_bool(w, "drainAsked", r->asked && !r->ended);
    jsonw_bool(w, "self", self);
    jsonw_text(w, "address", text_or_null(r->address));
    jsonw_text(w, "version", text_or_null(r->version));
    jsonw_i64(w, "protocol", r->protocol);
    i64_or_null(w, "runs", r->live >= 0, r->live);
    i64_or_null(w, "jobs", r->beat > 0 && r->jobs >= 0 && !r->ended, r->jobs);
    v1_instant_or_null(w, "beat", r->beat > 0 ? r->wall_ms : 0);
    i64_or_null(w, "beatAgeMs", age_ms >= 0, age_ms);
    jsonw_bool(w, "leased", !r->ended && age_ms < NODE_LEASE_MS);
    i64_or_null(w, "skewMs", r->beat > 1, r->skew_ms);
    v1_instant_or_null(w, "started", self ? own->started_ms : r->began_ms);
    jsonw_object_end(w);
}

/* ---- list ------------------------------------------------------------------------------------ */

struct nodes_list {
    struct v1_listing l; /* a cursor is an epoch */
    const struct metrics *self;
};

static bool add_node(void *ctx, const struct node_record *r)
{
    struct nodes_list *x = ctx;
    if (!v1_listing_takes(&x->l, r->epoch))
        return false;
    write_node(&x->l.w, r, x->self);
    return true;
}

static void add_only_one(struct web_call *call, struct nodes_list *x)
{
    struct center_health h;
    struct metrics *m = center_metrics(call->center);
    center_health(call->center, &h);
    const struct node_record r = {
        .node = m->node.node,
        .epoch = m->node.epoch,
        .live = atomic_load_explicit(&m->open, memory_order_relaxed),
        .draining = h.draining,
        .jobs = -1,
        .name = m->node.name,
        .address = center_listen(call->center),
        .protocol = store_release.protocol,
        .version = store_release.version,
    };
    (void)add_node(x, &r);
}

static enum err add_nodes(struct web_call *call, struct nodes_list *x, int64_t below_epoch,
                          int64_t *ret_total, struct why *why)
{
    const struct store_cluster *cluster = call->db->ops->cluster;
    if (cluster)
        return cluster->nodes_page(call->db, below_epoch, x->l.limit + 1, add_node, x, ret_total,
                                   why);
    *ret_total = 1;
    if (center_metrics(call->center)->node.epoch < below_epoch)
        add_only_one(call, x);
    return OK;
}

void v1_nodes_list(struct web_call *call)
{
    struct why why = { "" };
    struct query q;
    struct cursor after = { .id = INT64_MAX };
    struct nodes_list x = { .l = { .w = jsonw_on(&call->output) },
                            .self = center_metrics(call->center) };
    int64_t total = 0;
    query_begin(&q, call);
    x.l.limit = query_limit(&q);
    (void)query_cursor(&q, &after);
    if (!query_end(&q))
        return;
    v1_list_begin(&x.l.w);
    enum err err = add_nodes(call, &x, after.id, &total, &why);
    if (err)
        problem_err(call, err, &why);
    else
        v1_list_end(call, &x.l.w, x.l.more ? &x.l.last : NULL, total, true);
}

/* ---- drain ----------------------------------------------------------------------------------- */

struct wish { /* for the writer's thread */
    int64_t node;
    bool on;
};

static enum err wish_run(struct store *s, void *arg, struct why *why)
{
    const struct wish *w = arg;
    return s->ops->cluster->drain(s, w->node, w->on, why);
}

static void wish_done(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    free(arg);
}

static enum err wish_write(struct web_call *call, int64_t node, bool on, struct why *why)
{
    static const struct ledger_write write = { wish_run, wish_done };
    struct wish *w = mem_new(sizeof(*w));
    *w = (struct wish){ node, on };
    return center_write(call->center, &write, w, why);
}

struct nodes_look {
    int64_t node;
    bool found, ended;
    char name[129];
    int others;      /* that live, plan, and are not asked to drain */
    struct jsonw *w; /* NULL: the node is not written */
    const struct metrics *self;
};

static bool look_at(void *ctx, const struct node_record *r)
{
    struct nodes_look *x = ctx;
    if (r->node != x->node) {
        x->others += !r->ended && !r->asked && !r->draining;
        return true;
    }
    x->found = true;
    x->ended = r->ended;
    text_copy(x->name, sizeof(x->name), slice_text(r->name));
    if (x->w)
        write_node(x->w, r, x->self);
    return true;
}

static enum err look(struct web_call *call, struct nodes_look *x, struct why *why)
{
    int64_t total;
    return call->db->ops->cluster->nodes_page(call->db, INT64_MAX, INT32_MAX, look_at, x, &total,
                                              why);
}

/* Whether the node may be told that. False: the call is answered. */
static bool may_be_told(struct web_call *call, const struct nodes_look *x, bool on)
{
    if (!x->found)
        problem(call, PROBLEM_NOT_FOUND, "there is no server with id %lld", (long long)x->node);
    else if (x->ended)
        problem(call, PROBLEM_CONFLICT, "%s does not run", x->name);
    else if (on && !x->others)
        problem(call, PROBLEM_CONFLICT,
                "no other server plans: a server that drains leaves its jobs to others. "
                "Start another one, or undrain one, before %s",
                x->name);
    else
        return true;
    return false;
}

static void answer(struct web_call *call, int64_t node)
{
    struct why why = { "" };
    struct jsonw w = jsonw_on(&call->output);
    struct nodes_look x = { .node = node, .w = &w, .self = center_metrics(call->center) };
    enum err err = look(call, &x, &why);
    if (err)
        problem_err(call, err, &why);
}

static void drain(struct web_call *call, bool on)
{
    struct why why = { "" };
    struct nodes_look x = { .node = call->params.items[0].number };
    if (!center_shares(call->center)) {
        problem(call, PROBLEM_CONFLICT,
                "this server has its database alone: it stops, or it plans (node.cluster)");
        return;
    }
    enum err err = look(call, &x, &why);
    if (!err && !may_be_told(call, &x, on))
        return;
    if (!err)
        err = wish_write(call, x.node, on, &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    audit_note(call, on ? "node.drain" : "node.undrain", x.node, x.name);
    answer(call, x.node);
}

void v1_node_drain(struct web_call *call)
{
    drain(call, true);
}

void v1_node_undrain(struct web_call *call)
{
    drain(call, false);
}
