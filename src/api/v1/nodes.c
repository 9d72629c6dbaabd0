/* SPDX-License-Identifier: Apache-2.0 */
/* The servers of a database as a resource. One in a file has a single server, which answers from
 * its memory what other databases have in a row of peal_node. */
#include "api/v1/query.h"
#include "api/v1/v1.h"

static const char *state_of(const struct node_record *r)
{
    if (r->ended)
        return r->dead ? "dead" : "stopped";
    return r->draining ? "draining" : "up";
}

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

struct nodes_list {
    struct v1_listing l; /* a cursor is an epoch */
    const struct metrics *self;
};

static bool add_node(void *ctx, const struct node_record *r)
{
    struct nodes_list *x = ctx;
    struct jsonw *w = &x->l.w;
    bool self = r->epoch == x->self->node.epoch;
    if (!v1_listing_takes(&x->l, r->epoch))
        return false;
    jsonw_object(w, NULL);
    jsonw_i64(w, "id", r->node);
    jsonw_text(w, "name", r->name);
    jsonw_i64(w, "epoch", r->epoch);
    jsonw_text(w, "state", state_of(r));
    jsonw_bool(w, "self", self);
    jsonw_text(w, "address", text_or_null(r->address));
    jsonw_text(w, "version", text_or_null(r->version));
    i64_or_null(w, "runs", r->live >= 0, r->live);
    v1_instant_or_null(w, "beat", r->beat > 0 ? r->wall_ms : 0);
    i64_or_null(w, "skewMs", r->beat > 1, r->skew_ms);
    v1_instant_or_null(w, "started", self ? x->self->started_ms : r->began_ms);
    jsonw_object_end(w);
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
        .name = m->node.name,
        .address = center_listen(call->center),
        .version = PEAL_VERSION,
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
