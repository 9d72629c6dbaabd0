/* SPDX-License-Identifier: Apache-2.0 */
/* node_metrics.c - the rows of peal_node, read once for each scrape. A server that is dead is told
 * by all others, so an alert needs one of them. Of a life that is over there is a state alone. */
#include "api/node_metrics.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define NODES_MAX 64 /* the newest lives */
#define LIVES_MAX 64 /* that are over and have runs, to be counted */

static const char *const states[] = { "up", "draining", "stopped", "dead" };

struct seen_node {
    struct node_record r; /* without its texts, but: */
    char name[129];
};

struct nodes {
    struct seen_node items[NODES_MAX];
    int n, unfinished;
    const struct metrics *own;
};

int64_t node_beat_age_ms(const struct node_record *r, const struct metrics *own)
{
    int64_t now_ms = clock_wall_ms() + atomic_load_explicit(&own->db_skew_ms, memory_order_relaxed);
    int64_t age_ms = now_ms - (r->wall_ms + r->skew_ms);
    return r->beat <= 0 ? -1 : age_ms > 0 ? age_ms : 0;
}

const char *node_state(const struct node_record *r)
{
    if (r->ended)
        return r->dead ? "dead" : "stopped";
    return r->draining ? "draining" : "up";
}

static bool add_node(void *ctx, const struct node_record *r)
{
    struct nodes *x = ctx;
    struct seen_node *to = &x->items[x->n++];
    to->r = *r;
    text_copy(to->name, sizeof(to->name), slice_text(r->name));
    return x->n < NODES_MAX;
}

static bool add_life(void *ctx, const struct life_record *r)
{
    struct nodes *x = ctx;
    (void)r;
    x->unfinished++;
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void head(struct buf *out, const char *name, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void labels(struct buf *out, const char *name, const struct seen_node *e)
{
    buf_printf(out, "%s{node=\"%lld\",name=\"", name, (long long)e->r.node);
    metrics_label(out, e->name);
    buf_char(out, '"');
}

static void write_states(const struct nodes *x, struct buf *out)
{
    head(out, "peal_node_state", "1: the state in which that server is.");
    for (int i = 0; i < x->n; i++)
        for (size_t k = 0; k < countof(states); k++) {
            labels(out, "peal_node_state", &x->items[i]);
            buf_printf(out, ",state=\"%s\"} %d\n", states[k],
                       strcmp(states[k], node_state(&x->items[i].r)) == 0);
        }
}

/* The value of a server that lives; false: it is not known. */
typedef bool value_fn(const struct nodes *x, const struct node_record *r, double *ret);

static bool beat_age(const struct nodes *x, const struct node_record *r, double *ret)
{
    int64_t ms = node_beat_age_ms(r, x->own);
    *ret = (double)ms / 1000;
    return ms >= 0;
}

static bool lease(const struct nodes *x, const struct node_record *r, double *ret)
{
    int64_t ms = node_beat_age_ms(r, x->own);
    *ret = ms >= 0 && ms < NODE_LEASE_MS ? (double)(NODE_LEASE_MS - ms) / 1000 : 0;
    return true;
}

static bool weight(const struct nodes *x, const struct node_record *r, double *ret)
{
    (void)x;
    *ret = r->weight;
    return r->beat > 0;
}

static bool jobs(const struct nodes *x, const struct node_record *r, double *ret)
{
    (void)x;
    *ret = (double)r->jobs;
    return r->beat > 0 && r->jobs >= 0;
}

static bool runs(const struct nodes *x, const struct node_record *r, double *ret)
{
    (void)x;
    *ret = (double)r->live;
    return r->beat > 0 && r->live >= 0;
}

/* The first beat does not know it yet. */
static bool skew(const struct nodes *x, const struct node_record *r, double *ret)
{
    (void)x;
    *ret = (double)r->skew_ms / 1000;
    return r->beat > 1;
}

static const struct {
    const char *name, *help;
    value_fn *value;
} gauges[] = {
    { "peal_node_beat_age_seconds", "How old the last beat of that server is.", beat_age },
    { "peal_node_lease_seconds", "How long that server may still send by its last beat.", lease },
    { "peal_node_weight", "Jobs come to that server in proportion to it: 4 to 1.", weight },
    { "peal_node_homed_jobs", "Jobs that that server plans, as it has counted them.", jobs },
    { "peal_node_open_runs", "Runs that were open in that server at its last beat.", runs },
    { "peal_node_skew_seconds", "The database's clock minus that server's.", skew },
};

static void write_living(const struct nodes *x, struct buf *out)
{
    double value;
    for (size_t k = 0; k < countof(gauges); k++) {
        head(out, gauges[k].name, gauges[k].help);
        for (int i = 0; i < x->n; i++) {
            const struct node_record *r = &x->items[i].r;
            if (r->ended || !gauges[k].value(x, r, &value))
                continue;
            labels(out, gauges[k].name, &x->items[i]);
            buf_printf(out, "} %g\n", value);
        }
    }
}

enum err node_metrics_write(struct web_call *call, struct buf *out, struct why *why)
{
    const struct store_cluster *cluster = call->db->ops->cluster;
    int64_t total;
    if (!cluster)
        return OK;
    struct nodes *x = mem_new(sizeof(*x));
    x->own = center_metrics(call->center);
    enum err err = cluster->nodes_page(call->db, INT64_MAX, NODES_MAX, add_node, x, &total, why);
    if (!err)
        err = cluster->orphans_each(call->db, LIVES_MAX, add_life, x, why);
    if (!err) {
        write_states(x, out);
        write_living(x, out);
        head(out, "peal_node_takeovers",
             "Lives of servers that are over, whose runs have not all been taken over.");
        buf_printf(out, "peal_node_takeovers %d\n", x->unfinished);
    }
    free(x);
    return err;
}
