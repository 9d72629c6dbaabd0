/* SPDX-License-Identifier: Apache-2.0 */
/* memory_nodes.c - nodes that share the store in memory, and their lives: who lives, who is over.
 */
#include "base/mem.h"
#include "base/str.h"
#include "store/memory/memory.h"
#include "store/release.h"
#include <stdlib.h>
#include <string.h>

#define BATCH_BITS 36 /* commits of one life have numbers of their own */

static void life_change(struct memory *m, const struct mem_life *to)
{
    struct mem_life *l = mem_new(sizeof(*l));
    *l = *to;
    mem_put(m, T_LIFE, l->epoch, l);
}

static void node_change(struct memory *m, const struct mem_node *to)
{
    struct mem_node *n = mem_new(sizeof(*n));
    *n = *to;
    mem_put(m, T_NODE, n->node, n);
}

static bool node_is_named(const void *row, const void *name)
{
    return strcmp(((const struct mem_node *)row)->name, name) == 0;
}

static const struct mem_node *node_of_name(const struct memory *m, const char *name)
{
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_NODE], &i, &row);)
        if (node_is_named(row, name))
            return row;
    return NULL;
}

static void node_take(struct memory *m, const char *name, struct mem_node *ret)
{
    const struct mem_node *there = node_of_name(m, name);
    *ret = (struct mem_node){ .node = there ? there->node : mem_next_id(m, T_NODE) };
    if (there)
        *ret = *there;
    text_copy(ret->name, sizeof(ret->name), slice_text(name));
}

/* The life of that node before, which is over: the new one is its heir. */
static void last_end(struct memory *m, int64_t node, int64_t heir, struct mem_life *ret_last)
{
    size_t n;
    int64_t *keys = mem_keys(m, T_LIFE, &n);
    for (size_t i = 0; i < n; i++) {
        struct mem_life l = *(const struct mem_life *)mem_find(m, T_LIFE, keys[i]);
        if (l.node != node)
            continue;
        *ret_last = l; /* of several the newest */
        if (l.ended)
            continue;
        l.ended = true;
        l.heir = heir;
        life_change(m, &l);
    }
    free(keys);
}

/* What the node's lives have left is its own again. */
static void own_take(struct memory *m)
{
    size_t n;
    int64_t *keys = mem_keys(m, T_RUN, &n);
    for (size_t i = 0; i < n; i++) {
        const struct mem_run *old = mem_find(m, T_RUN, keys[i]);
        const struct mem_life *l = mem_find(m, T_LIFE, old->epoch);
        if (!l || l->node != m->at->node || !l->ended)
            continue;
        struct mem_run *r = mem_run_copy(&old->row, m->at->node, m->at->epoch);
        r->told = old->told;
        mem_put(m, T_RUN, keys[i], r);
    }
    free(keys);
}

enum err mem_life_begin(struct memory *m, const char *name, struct why *why)
{
    struct mem_node node;
    struct mem_life last = { 0 };
    if (mem_lifted(m, T_NODE, node_is_named, name))
        return mem_busy(m, why);
    node_take(m, name, &node);
    struct mem_life l = { .epoch = mem_next_id(m, T_LIFE), .node = node.node };
    last_end(m, node.node, l.epoch, &last);
    l.watermark = last.watermark;
    if (l.watermark.batch < l.epoch << BATCH_BITS)
        l.watermark.batch = l.epoch << BATCH_BITS;
    life_change(m, &l);
    node.epoch = l.epoch;
    node.beat = 0;
    node.dead = node.draining = node.asked = false;
    text_copy(node.version, sizeof(node.version), slice_text(store_release.version));
    node_change(m, &node);
    m->at->node = node.node;
    m->at->epoch = l.epoch;
    m->at->batch = l.watermark.batch;
    own_take(m);
    return OK;
}

void memory_life(struct store *s, int64_t *ret_node, int64_t *ret_epoch)
{
    const struct memory *m = memory_of(s);
    *ret_node = m->at->node;
    *ret_epoch = m->at->epoch;
}

enum err memory_beat(struct store *s, const struct node_beat *b, bool *ret_ours,
                     int64_t *ret_clock_ms, struct why *why)
{
    struct memory *m = memory_of(s);
    const struct mem_node *old = mem_find(m, T_NODE, m->at->node);
    *ret_ours =
        old && old->epoch == m->at->epoch && !old->dead && old->beat >= b->last && old->beat < b->n;
    *ret_clock_ms = -1;
    if (!*ret_ours) {
        why_set(why, "the row takes no beat of epoch %lld: it has %lld of epoch %lld%s",
                (long long)m->at->epoch, (long long)(old ? old->beat : 0),
                (long long)(old ? old->epoch : 0), old && old->dead ? ", which is dead" : "");
        return OK;
    }
    struct mem_node n = *old;
    n.beat = b->n;
    n.mark_ms = b->watermark_ms > n.mark_ms ? b->watermark_ms : n.mark_ms;
    n.skew_ms = b->skew_ms;
    n.wall_ms = b->wall_ms;
    n.live = b->live;
    n.jobs = b->jobs;
    n.weight = b->weight;
    n.draining = b->draining;
    text_copy(n.address, sizeof(n.address), slice_text(b->address ? b->address : ""));
    bool began = mem_auto_begin(m);
    node_change(m, &n);
    return mem_auto_end(m, began, why);
}

static int by_epoch_down(const void *a, const void *b)
{
    const struct mem_node *x = *(const struct mem_node *const *)a,
                          *y = *(const struct mem_node *const *)b;
    return (x->epoch < y->epoch) - (x->epoch > y->epoch);
}

/* All nodes, the newest life first. The array is the caller's. */
static const struct mem_node **nodes_sorted(const struct memory *m, size_t *ret_n)
{
    const struct mem_node **nodes =
        mem_new((m->tables[T_NODE].len + 1) * sizeof(struct mem_node *));
    size_t n = 0;
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_NODE], &i, &row);)
        nodes[n++] = row;
    qsort(nodes, n, sizeof(struct mem_node *), by_epoch_down);
    *ret_n = n;
    return nodes;
}

enum err memory_nodes_page(struct store *s, int64_t below_epoch, int64_t limit, node_row_fn *fn,
                           void *ctx, int64_t *ret_total, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    const struct mem_node **nodes = nodes_sorted(m, &n);
    *ret_total = (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        const struct mem_node *o = nodes[i];
        const struct mem_life *l = mem_find(m, T_LIFE, o->epoch);
        const struct node_record r = { .node = o->node,
                                       .epoch = o->epoch,
                                       .beat = o->beat,
                                       .wall_ms = o->wall_ms,
                                       .live = o->live,
                                       .jobs = o->beat ? o->jobs : -1,
                                       .weight = o->weight,
                                       .skew_ms = o->skew_ms,
                                       .draining = o->draining,
                                       .asked = o->asked,
                                       .ended = !l || l->ended,
                                       .dead = o->dead,
                                       .name = o->name,
                                       .address = o->address,
                                       .protocol = store_release.protocol,
                                       .version = o->version };
        if (o->epoch < below_epoch && (limit-- <= 0 || !fn(ctx, &r)))
            break;
    }
    free(nodes);
    return OK;
}

static struct life_record life_said(const struct mem_life *l, const struct mem_node *n)
{
    int64_t mark_ms = n ? n->mark_ms : 0;
    return (struct life_record){ .node = l->node,
                                 .epoch = l->epoch,
                                 .beat = n ? n->beat : 0,
                                 .watermark_ms = l->watermark.until_ms > mark_ms
                                                     ? l->watermark.until_ms
                                                     : mark_ms,
                                 .heir = l->heir,
                                 .skew_ms = n ? n->skew_ms : 0,
                                 .changes = l->changes,
                                 .weight = n ? n->weight : 0,
                                 .ended = l->ended,
                                 .clean = l->watermark.clean,
                                 .draining = n && n->draining,
                                 .asked = n && n->asked };
}

enum err memory_lives_each(struct store *s, int64_t limit, life_row_fn *fn, void *ctx,
                           struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    bool more = true;
    const struct mem_node **nodes = nodes_sorted(m, &n);
    for (size_t i = 0; i < n && more && limit-- > 0; i++) {
        const struct life_record r = life_said(mem_find(m, T_LIFE, nodes[i]->epoch), nodes[i]);
        more = fn(ctx, &r);
    }
    free(nodes);
    return OK;
}

bool mem_owns_runs(const struct memory *m, int64_t epoch)
{
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_RUN], &i, &row);)
        if (((const struct mem_run *)row)->epoch == epoch)
            return true;
    return false;
}

enum err memory_orphans_each(struct store *s, int64_t limit, life_row_fn *fn, void *ctx,
                             struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    bool more = true;
    int64_t *keys = mem_keys(m, T_LIFE, &n);
    for (size_t i = 0; i < n && more && limit > 0; i++) {
        const struct mem_life *l = mem_find(m, T_LIFE, keys[i]);
        if (!l->ended || !mem_owns_runs(m, l->epoch))
            continue;
        const struct life_record r = life_said(l, mem_find(m, T_NODE, l->node));
        more = fn(ctx, &r);
        limit--;
    }
    free(keys);
    return OK;
}

/* No beat is taken once the first row is written; the second one may be held by a commit that is
 * under way. */
enum err memory_declare(struct store *s, int64_t node, int64_t epoch, int64_t beat_no,
                        bool *ret_done, struct why *why)
{
    struct memory *m = memory_of(s);
    const struct mem_node *n = mem_find(m, T_NODE, node);
    *ret_done = false;
    if (!n || n->epoch != epoch || n->beat != beat_no)
        return OK;
    struct mem_node dead = *n;
    dead.dead = true;
    bool began = mem_auto_begin(m);
    node_change(m, &dead);
    enum err err = mem_auto_end(m, began, why);
    const struct mem_life *l = mem_find(m, T_LIFE, epoch);
    if (err || !l || l->ended)
        return err;
    struct mem_life over = *l;
    over.ended = true;
    over.heir = m->at->epoch;
    began = mem_auto_begin(m);
    life_change(m, &over);
    err = mem_auto_end(m, began, why);
    *ret_done = !err;
    return err;
}

enum err memory_drain(struct store *s, int64_t node, bool on, struct why *why)
{
    struct memory *m = memory_of(s);
    const struct mem_node *old = mem_find(m, T_NODE, node);
    if (!old || old->asked == on)
        return OK;
    struct mem_node n = *old;
    n.asked = on;
    bool began = mem_auto_begin(m);
    node_change(m, &n);
    return mem_auto_end(m, began, why);
}
