/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory as a database that several servers can open: lives and nodes, runs that get
 * another owner, the inbox, edits that others are told of. Each function is written from what
 * store.h says of it, not from the statements of the SQL engines, so each of the two can show a
 * mistake in the other. */
#include "base/mem.h"
#include "base/str.h"
#include "store/memory/memory.h"
#include "store/release.h"
#include <stdlib.h>
#include <string.h>

#define BATCH_BITS 36 /* commits of one life have numbers of their own */

/* ---- lives and nodes ------------------------------------------------------------------------- */

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

static void life_of(struct store *s, int64_t *ret_node, int64_t *ret_epoch)
{
    const struct memory *m = memory_of(s);
    *ret_node = m->at->node;
    *ret_epoch = m->at->epoch;
}

static enum err beat(struct store *s, const struct node_beat *b, bool *ret_ours,
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

static enum err nodes_page(struct store *s, int64_t below_epoch, int64_t limit, node_row_fn *fn,
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

static enum err lives_each(struct store *s, int64_t limit, life_row_fn *fn, void *ctx,
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

static bool owns_runs(const struct memory *m, int64_t epoch)
{
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_RUN], &i, &row);)
        if (((const struct mem_run *)row)->epoch == epoch)
            return true;
    return false;
}

static enum err orphans_each(struct store *s, int64_t limit, life_row_fn *fn, void *ctx,
                             struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    bool more = true;
    int64_t *keys = mem_keys(m, T_LIFE, &n);
    for (size_t i = 0; i < n && more && limit > 0; i++) {
        const struct mem_life *l = mem_find(m, T_LIFE, keys[i]);
        if (!l->ended || !owns_runs(m, l->epoch))
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
static enum err declare(struct store *s, int64_t node, int64_t epoch, int64_t beat_no,
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

static enum err drain(struct store *s, int64_t node, bool on, struct why *why)
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

/* ---- homes ----------------------------------------------------------------------------------- */

static void home(struct store *s, int64_t node, int64_t claim_ms)
{
    struct memory *m = memory_of(s);
    m->at->homed = true;
    m->at->home = node;
    m->at->claim_ms = claim_ms;
}

static enum err homes_put(struct store *s, const int64_t *ids, const int64_t *homes, int n,
                          struct why *why)
{
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++) {
        const struct due_row *old = mem_find(m, T_DUE, ids[i]);
        if (!old)
            continue;
        if (!mem_lock(m, T_DUE, ids[i]))
            return mem_busy(m, why);
        struct due_row *d = mem_new(sizeof(*d));
        *d = *old;
        d->home = homes[i];
        mem_put(m, T_DUE, ids[i], d);
    }
    return OK;
}

static int by_place(const void *a, const void *b)
{
    const struct home_row *x = a, *y = b;
    if (x->next_ms != y->next_ms)
        return x->next_ms < y->next_ms ? -1 : 1;
    return (x->job_id > y->job_id) - (x->job_id < y->job_id);
}

static enum err homes_take(struct store *s, const struct home_row *after, int max,
                           struct home_row *rows, int *ret_n, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    struct home_row *found = mem_new((m->tables[T_DUE].len + 1) * sizeof(*found));
    size_t n = 0;
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_DUE], &i, &row);) {
        const struct due_row *d = row;
        const struct home_row r = { d->home, d->next_ms, d->job_id };
        if (r.home == after->home && r.next_ms != NEVER_MS && by_place(&r, after) > 0 &&
            !mem_held(m, T_DUE, r.job_id))
            found[n++] = r;
    }
    qsort(found, n, sizeof(*found), by_place);
    *ret_n = n < (size_t)max ? (int)n : max;
    for (int i = 0; i < *ret_n; i++) {
        rows[i] = found[i];
        (void)mem_lock(m, T_DUE, rows[i].job_id);
    }
    free(found);
    return OK;
}

static enum err homes_next(struct store *s, int64_t after, int64_t *ret, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    void *row;
    *ret = -1;
    for (size_t i = 0; map_next(&m->tables[T_DUE], &i, &row);) {
        const struct due_row *d = row;
        if (d->next_ms != NEVER_MS && d->home > after && (*ret < 0 || d->home < *ret))
            *ret = d->home;
    }
    return OK;
}

static enum err homes_count(struct store *s, int64_t of, int64_t *ret, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    void *row;
    *ret = 0;
    for (size_t i = 0; map_next(&m->tables[T_DUE], &i, &row);) {
        const struct due_row *d = row;
        *ret += d->next_ms != NEVER_MS && d->home == of;
    }
    return OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* It may have left in the life that had it. */
static bool may_have_left(const struct run_row *r, const struct adoption *a)
{
    if (r->phase == PHASE_SENT || r->phase == PHASE_UNKNOWN)
        return true;
    return r->phase == PHASE_PLANNED && !a->clean && r->address && r->due_ms <= a->watermark_ms;
}

static enum err runs_adopt(struct store *s, const struct adoption *a, run_row_fn *fn, void *ctx,
                           bool *ret_left, struct why *why)
{
    struct memory *m = memory_of(s);
    size_t n;
    int taken = 0;
    bool more = true;
    int64_t *keys = mem_keys(m, T_RUN, &n);
    for (size_t i = 0; i < n && taken < a->max; i++) {
        const struct mem_run *old = mem_find(m, T_RUN, keys[i]);
        if (old->epoch != a->epoch || mem_held(m, T_RUN, keys[i]))
            continue;
        struct mem_run *r = mem_run_copy(&old->row, m->at->node, m->at->epoch);
        r->told = old->told;
        if (may_have_left(&old->row, a)) {
            r->row.phase = PHASE_UNKNOWN;
            r->row.doubted = true;
        }
        mem_put(m, T_RUN, keys[i], r);
        if (more)
            more = mem_run_lend(m, r, fn, ctx);
        taken++;
    }
    free(keys);
    *ret_left = owns_runs(m, a->epoch);
    return m->at->lost ? mem_busy(m, why) : OK;
}

static enum err runs_live(struct store *s, const int64_t *log_ids, int n, bool *live,
                          struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++)
        live[i] = mem_find(m, T_RUN, log_ids[i]) != NULL;
    return OK;
}

/* ---- the inbox ------------------------------------------------------------------------------- */

static void inbox_change(struct memory *m, const struct inbox_row *to)
{
    struct inbox_row *r = mem_new(sizeof(*r));
    *r = *to;
    r->msg = mem_dup(to->msg ? to->msg : "");
    mem_put(m, T_INBOX, r->id, r);
}

static enum err inbox_put(struct store *s, const struct inbox_row *rows, int n, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++) {
        struct inbox_row r = rows[i];
        r.id = mem_next_id(m, T_INBOX);
        r.what = INBOX_RESULT;
        inbox_change(m, &r);
    }
    return OK;
}

static enum err inbox_each(struct store *s, int64_t after_id, int max, inbox_row_fn *fn, void *ctx,
                           struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    bool more = true;
    int64_t *keys = mem_keys(m, T_INBOX, &n);
    for (size_t i = 0; i < n && more && max > 0; i++) {
        const struct inbox_row *r = mem_find(m, T_INBOX, keys[i]);
        const struct mem_run *run = mem_find(m, T_RUN, r->log_id);
        bool for_us =
            run ? r->what != INBOX_ANSWERED && run->epoch == m->at->epoch : r->what == INBOX_RESULT;
        if (r->id <= after_id || !for_us)
            continue;
        more = fn(ctx, r);
        max--;
    }
    free(keys);
    return OK;
}

static enum err inbox_take(struct store *s, const int64_t *ids, int n, bool *taken, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++) {
        taken[i] = mem_find(m, T_INBOX, ids[i]) && !mem_held(m, T_INBOX, ids[i]);
        if (taken[i])
            mem_put(m, T_INBOX, ids[i], NULL);
    }
    return OK;
}

static enum err inbox_ask(struct store *s, int64_t log_id, int64_t at_ms, int64_t *ret_id,
                          struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    const struct inbox_row r = {
        .id = mem_next_id(m, T_INBOX), .log_id = log_id, .at_ms = at_ms, .what = INBOX_KILL
    };
    inbox_change(m, &r);
    *ret_id = r.id;
    return OK;
}

static enum err inbox_answer(struct store *s, int64_t id, enum inbox_answer code, const char *msg,
                             int64_t before_ms, struct why *why)
{
    struct memory *m = memory_of(s);
    const struct inbox_row *old = mem_find(m, T_INBOX, id);
    if (old && old->what == INBOX_KILL) {
        struct inbox_row r = *old;
        r.what = INBOX_ANSWERED;
        r.code = code;
        r.msg = (char *)msg;
        inbox_change(m, &r);
    }
    size_t n;
    int64_t *keys = mem_keys(m, T_INBOX, &n);
    for (size_t i = 0; i < n; i++) {
        const struct inbox_row *r = mem_find(m, T_INBOX, keys[i]);
        if (r->what != INBOX_RESULT && r->at_ms < before_ms && !mem_held(m, T_INBOX, keys[i]))
            mem_put(m, T_INBOX, keys[i], NULL);
    }
    free(keys);
    return m->at->lost ? mem_busy(m, why) : OK;
}

static enum err inbox_get(struct store *s, int64_t id, struct inbox_row *ret, struct why *why)
{
    (void)why;
    const struct inbox_row *r = mem_find(memory_of(s), T_INBOX, id);
    if (!r)
        return ERR_NOTFOUND;
    *ret = *r;
    ret->msg = mem_dup(r->msg);
    return OK;
}

/* ---- edits ----------------------------------------------------------------------------------- */

static enum err jobs_hold(struct store *s, const int64_t *ids, int n, struct why *why)
{
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++)
        if (mem_find(m, T_DUE, ids[i]) && !mem_lock(m, T_DUE, ids[i]))
            return mem_busy(m, why);
    return OK;
}

static enum err changes_put(struct store *s, const struct job_news *changes, int n,
                            int64_t before_ms, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++) {
        struct job_news *c = mem_new(sizeof(*c));
        *c = changes[i];
        c->id = mem_next_id(m, T_CHANGE);
        mem_put(m, T_CHANGE, c->id, c);
    }
    size_t nkeys;
    int64_t *keys = mem_keys(m, T_CHANGE, &nkeys);
    for (size_t i = 0; i < nkeys; i++) {
        const struct job_news *c = mem_find(m, T_CHANGE, keys[i]);
        if (c->at_ms < before_ms && !mem_held(m, T_CHANGE, keys[i]))
            mem_put(m, T_CHANGE, keys[i], NULL);
    }
    free(keys);
    return OK;
}

static enum err changes_each(struct store *s, int64_t after_id, int max, job_news_fn *fn, void *ctx,
                             struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    bool more = true;
    int64_t *keys = mem_keys(m, T_CHANGE, &n);
    for (size_t i = 0; i < n && more && max > 0; i++) {
        if (keys[i] <= after_id)
            continue;
        more = fn(ctx, mem_find(m, T_CHANGE, keys[i]));
        max--;
    }
    free(keys);
    return OK;
}

/* Each edit makes one version, and says it. */
static bool version_is_quiet(const struct memory *m, int64_t job_id, int64_t version)
{
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_CHANGE], &i, &row);) {
        const struct job_news *c = row;
        if (c->job_id == job_id && c->version == version && !c->anew)
            return true;
    }
    return false;
}

static enum err changes_anew(struct store *s, int64_t job_id, int64_t from, int64_t to,
                             bool *ret_anew, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    *ret_anew = false;
    for (int64_t version = from + 1; version <= to && !*ret_anew; version++)
        *ret_anew = !version_is_quiet(m, job_id, version);
    return OK;
}

static enum err runs_told(struct store *s, int64_t job_id, int64_t version, struct why *why)
{
    struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_RUN, &n);
    for (size_t i = 0; i < n; i++) {
        const struct mem_run *old = mem_find(m, T_RUN, keys[i]);
        if (old->row.job_id != job_id || old->epoch != m->at->epoch || old->told >= version)
            continue;
        struct mem_run *r = mem_run_copy(&old->row, old->node, old->epoch);
        r->told = version;
        mem_put(m, T_RUN, keys[i], r);
    }
    free(keys);
    return m->at->lost ? mem_busy(m, why) : OK;
}

/* The lives' runs of the job are few: each life is counted anew. */
static struct untold untold_of(const struct memory *m, int64_t job_id, int64_t version,
                               int64_t epoch, int *ret_rows)
{
    struct untold u = { .epoch = epoch };
    void *row;
    *ret_rows = 0;
    for (size_t i = 0; map_next(&m->tables[T_RUN], &i, &row);) {
        const struct mem_run *r = row;
        if (r->row.job_id != job_id || r->told >= version || r->epoch != epoch)
            continue;
        bool asked_for =
            r->row.kind == KIND_CRON || r->row.kind == KIND_MISFIRE || r->row.kind == KIND_RETRY;
        u.unsent += r->row.phase <= PHASE_UNKNOWN;
        u.out += asked_for && r->row.phase <= PHASE_ACCEPTED;
        ++*ret_rows;
    }
    return u;
}

static enum err runs_untold(struct store *s, int64_t job_id, int64_t version, int64_t but_epoch,
                            untold_fn *fn, void *ctx, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    bool more = true;
    int64_t *keys = mem_keys(m, T_LIFE, &n);
    for (size_t i = 0; i < n && more; i++) {
        int rows = 0;
        struct untold u = untold_of(m, job_id, version, keys[i], &rows);
        const struct mem_life *l = mem_find(m, T_LIFE, keys[i]);
        const struct mem_node *node = mem_find(m, T_NODE, l->node);
        u.node = node ? node->name : "";
        if (rows && keys[i] != but_epoch)
            more = fn(ctx, &u);
    }
    free(keys);
    return OK;
}

const struct store_cluster memory_cluster = { .life = life_of,
                                              .beat = beat,
                                              .nodes_page = nodes_page,
                                              .lives_each = lives_each,
                                              .orphans_each = orphans_each,
                                              .declare = declare,
                                              .drain = drain,
                                              .home = home,
                                              .homes_put = homes_put,
                                              .homes_take = homes_take,
                                              .homes_next = homes_next,
                                              .homes_count = homes_count,
                                              .runs_adopt = runs_adopt,
                                              .runs_live = runs_live,
                                              .inbox_put = inbox_put,
                                              .inbox_each = inbox_each,
                                              .inbox_take = inbox_take,
                                              .inbox_ask = inbox_ask,
                                              .inbox_answer = inbox_answer,
                                              .inbox_get = inbox_get,
                                              .jobs_hold = jobs_hold,
                                              .changes_put = changes_put,
                                              .changes_each = changes_each,
                                              .changes_anew = changes_anew,
                                              .runs_told = runs_told,
                                              .runs_untold = runs_untold };
