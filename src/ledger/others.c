/* SPDX-License-Identifier: Apache-2.0 */
/* others.c - tallies of a server are kept as that server keeps its own: ends add to them, and what
 * it has written as rows is dropped when the commit with these rows is read.
 *
 * How a job is doing is kept once for all servers, with its runs in the order of their log ids:
 * ends of two servers are heard at each in another order. At a load it is put together from each
 * server's own account. */
#include "ledger/others.h"
#include "base/log.h"
#include "base/mem.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct peer { /* another server */
    int64_t node;
    int64_t n, read; /* what others_part says; the last commit that was read */
    struct tallies all;
};

struct seen_job {
    int64_t id;
    struct job_stat stat;
};

struct account { /* what is replaced by a load */
    struct map jobs;
    size_t njobs;
    struct peer **peers;
    size_t npeers;
};

struct others {
    pthread_mutex_t lock; /* for the account */
    int64_t node;
    struct zone *zone;
    struct account account;
};

/* ---- life ------------------------------------------------------------------------------------ */

static void account_init(struct account *a)
{
    memset(a, 0, sizeof(*a));
    map_init(&a->jobs);
}

static void account_done(struct account *a)
{
    void *job;
    for (size_t i = 0; map_next(&a->jobs, &i, &job);)
        free(job);
    map_done(&a->jobs);
    for (size_t i = 0; i < a->npeers; i++) {
        tallies_done(&a->peers[i]->all);
        free(a->peers[i]);
    }
    free(a->peers);
}

struct others *others_new(int64_t node, struct zone *zone)
{
    struct others *o = mem_new(sizeof(*o));
    pthread_mutex_init(&o->lock, NULL);
    o->node = node;
    o->zone = zone_ref(zone);
    account_init(&o->account);
    return o;
}

void others_free(struct others *o)
{
    if (!o)
        return;
    account_done(&o->account);
    zone_unref(o->zone);
    pthread_mutex_destroy(&o->lock);
    free(o);
}

int64_t others_node(const struct others *o)
{
    return o->node;
}

static struct peer *peer_find(const struct account *a, int64_t node)
{
    for (size_t i = 0; i < a->npeers; i++)
        if (a->peers[i]->node == node)
            return a->peers[i];
    return NULL;
}

static struct peer *peer_of(struct account *a, struct zone *zone, int64_t node)
{
    struct peer *p = peer_find(a, node);
    if (p)
        return p;
    p = mem_new(sizeof(*p));
    p->node = node;
    tallies_init(&p->all, zone);
    a->peers = mem_resize(a->peers, (a->npeers + 1) * sizeof(struct peer *));
    a->peers[a->npeers++] = p;
    return p;
}

static struct seen_job *job_of(struct account *a, int64_t id)
{
    struct seen_job *j = map_find(&a->jobs, (uint64_t)id);
    if (j)
        return j;
    j = mem_new(sizeof(*j));
    j->id = id;
    map_set(&a->jobs, (uint64_t)id, j);
    a->njobs++;
    return j;
}

/* ---- counting -------------------------------------------------------------------------------- */

static void job_end(struct account *a, struct run_end *e, int64_t at_ms)
{
    struct job_stat *stat = &job_of(a, e->job_id)->stat;
    e->streak_was = stat->streak;
    job_stat_end_by_id(stat, e, at_ms);
    e->streak = stat->streak;
}

static void peer_end(struct peer *p, const struct run_end *e, int64_t n, int64_t at_ms)
{
    struct tallies *all = &p->all;
    struct tally *to[] = { &tallies_job(all, e->job_id, 0)->tally, &all->whole,
                           e->group_id ? tallies_group(all, e->group_id) : NULL };
    int64_t quarter = tallies_quarter(e), hour = tallies_hour(all, e);
    for (size_t i = 0; i < countof(to) && to[i]; i++)
        tally_end(all, to[i], tally_part(to[i], to[i]->of_job ? hour : quarter, NULL), e, n, at_ms);
}

static void peer_folded(struct peer *p, const struct ends_fold *f)
{
    struct tally *t = f->of_shelf ? NULL : tallies_find_group(&p->all, f->id);
    if (f->of_shelf)
        tallies_drop_shelf(&p->all, f->id);
    else if (t)
        tally_clean(t, 0);
}

struct run_end *others_take(struct others *o, int64_t node, int64_t n, struct slice bytes,
                            size_t *ret_n, int64_t *ret_at_ms)
{
    struct ends_reader r = ends_read(bytes);
    struct run_end e, *ends = NULL;
    struct ends_fold fold;
    size_t count = 0, room = 0;
    pthread_mutex_lock(&o->lock);
    struct peer *p = peer_of(&o->account, o->zone, node);
    bool is_new = n > p->read;
    while (is_new && ends_next_fold(&r, &fold))
        peer_folded(p, &fold);
    while (is_new && ends_next(&r, &e)) {
        peer_end(p, &e, n, r.at_ms);
        job_end(&o->account, &e, r.at_ms);
        if (count == room) {
            room = room ? room * 2 : 16;
            ends = mem_resize(ends, room * sizeof(*ends));
        }
        ends[count++] = e;
    }
    if (is_new)
        p->read = n;
    if (n > p->n)
        p->n = n;
    pthread_mutex_unlock(&o->lock);
    *ret_n = count;
    *ret_at_ms = r.at_ms;
    return ends;
}

int64_t others_read(struct others *o, int64_t node)
{
    pthread_mutex_lock(&o->lock);
    const struct peer *p = peer_find(&o->account, node);
    int64_t read = p ? p->read : 0;
    pthread_mutex_unlock(&o->lock);
    return read;
}

void others_own_end(struct others *o, struct run_end *e, int64_t at_ms)
{
    pthread_mutex_lock(&o->lock);
    job_end(&o->account, e, at_ms);
    pthread_mutex_unlock(&o->lock);
}

void others_forget(struct others *o, int64_t job_id)
{
    pthread_mutex_lock(&o->lock);
    struct seen_job *j = map_take(&o->account.jobs, (uint64_t)job_id);
    o->account.njobs -= j != NULL;
    pthread_mutex_unlock(&o->lock);
    free(j);
}

/* ---- load ------------------------------------------------------------------------------------ */

struct loaded { /* a commit's bytes; owned */
    int64_t node, n;
    char *bytes;
    size_t size;
};

struct loading {
    struct others *o;
    struct store *store;
    struct account fresh;
    int64_t node; /* whose commits are read */
    struct loaded *deltas;
    size_t n;
    struct why *why;
    enum err err;
};

static bool add_node(void *ctx, const struct life_record *r)
{
    struct loading *l = ctx;
    if (r->node != l->o->node)
        (void)peer_of(&l->fresh, l->o->zone, r->node);
    return true;
}

static bool add_delta(void *ctx, int64_t n, struct slice bytes)
{
    struct loading *l = ctx;
    if ((l->n & (l->n - 1)) == 0) /* doubles at powers of two */
        l->deltas = mem_resize(l->deltas, (l->n ? l->n * 2 : 1) * sizeof(*l->deltas));
    struct loaded *d = &l->deltas[l->n++];
    *d = (struct loaded){ l->node, n, mem_new(bytes.n + 1), bytes.n };
    memcpy(d->bytes, bytes.p, bytes.n);
    return true;
}

/* Rows are read behind the commits, so that no end is in neither: a server deletes the bytes of a
 * commit only when rows include it. */
static bool add_stat(void *ctx, const struct job_stat_row *r)
{
    struct loading *l = ctx;
    struct peer *p = r->node == l->o->node ? NULL : peer_of(&l->fresh, l->o->zone, r->node);
    if (!p)
        return true;
    struct job_tally *j = tallies_job(&p->all, r->job_id, r->through);
    j->tally.through = r->through;
    j->stat = *r->stat;
    p->n = r->through > p->n ? r->through : p->n;
    return true;
}

struct through {
    int64_t node, n;
};

static bool look_through(void *ctx, const struct figure_row *r)
{
    struct through *t = ctx;
    if (r->node == t->node && r->through > t->n)
        t->n = r->through;
    return true;
}

/* The quarter's own row may have gone already; that of the day stays, but is another one when the
 * server's zone has changed. */
enum err others_through(struct others *o, struct store *s, int64_t node, int64_t group_id,
                        int64_t quarter, int64_t *ret, struct why *why)
{
    const int64_t slots[] = { quarter, figure_slot(FIGURE_DAY, o->zone, figure_slot_ms(quarter)) };
    struct through t = { node, 0 };
    enum err err = OK;
    for (size_t i = 0; !err && i < countof(slots); i++)
        err = s->ops->cluster->figure_nodes(s, slots[i], group_id, 0, look_through, &t, why);
    *ret = t.n;
    return err;
}

static void count_group(struct loading *l, struct peer *p, struct tally *t, const struct run_end *e,
                        int64_t n, int64_t at_ms)
{
    bool is_new = false;
    struct part *part = tally_part(t, tallies_quarter(e), &is_new);
    if (is_new && !l->err)
        l->err = others_through(l->o, l->store, p->node, t->id, part->slot, &part->through, l->why);
    if (n > part->through)
        tally_end(&p->all, t, part, e, n, at_ms);
}

static void count_end(struct loading *l, struct peer *p, const struct run_end *e, int64_t n,
                      int64_t at_ms)
{
    struct tallies *all = &p->all;
    struct job_tally *j = tallies_job(all, e->job_id, 0);
    if (n > j->tally.through) {
        struct part *part = tally_part(&j->tally, tallies_hour(all, e), NULL);
        tally_end(all, &j->tally, part, e, n, at_ms);
        job_stat_end(&j->stat, e, at_ms);
    }
    count_group(l, p, &all->whole, e, n, at_ms);
    if (e->group_id)
        count_group(l, p, tallies_group(all, e->group_id), e, n, at_ms);
}

static void count_delta(struct loading *l, const struct loaded *d)
{
    struct ends_reader r = ends_read(slice_of(d->bytes, d->size));
    struct peer *p = peer_of(&l->fresh, l->o->zone, d->node);
    struct run_end e;
    while (!l->err && ends_next(&r, &e))
        count_end(l, p, &e, d->n, r.at_ms);
    if (r.bad)
        log_warn("figures", "commit %lld of server %lld cannot be read: its ends are not counted",
                 (long long)d->n, (long long)d->node);
    p->read = d->n;
    p->n = d->n > p->n ? d->n : p->n;
}

/* How jobs are doing, by all servers but this one. Of a job all of whose ends stand in rows its
 * server's own account is not needed any more. */
static void join_peer(struct account *a, struct peer *p)
{
    struct job_tally *j;
    int64_t *gone = mem_new((p->all.njobs + 1) * sizeof(*gone));
    size_t n = 0;
    for (size_t i = 0, k = 0; (j = tallies_next_job(&p->all, &i, &k));) {
        job_stat_join(&job_of(a, j->tally.id)->stat, &j->stat);
        if (!j->tally.nparts)
            gone[n++] = j->tally.id;
    }
    for (size_t i = 0; i < n; i++)
        tallies_drop_job(&p->all, gone[i]);
    free(gone);
}

static void load_rows(struct loading *l)
{
    struct store_ops const *ops = l->store->ops;
    enum { NODES = 10000 };
    l->err = ops->cluster->lives_each(l->store, NODES, add_node, l, l->why);
    for (size_t i = 0; !l->err && i < l->fresh.npeers; i++) {
        l->node = l->fresh.peers[i]->node;
        l->err = ops->cluster->deltas_of(l->store, l->node, 0, INT64_MAX, INT32_MAX, add_delta, l,
                                         l->why);
    }
    if (!l->err)
        l->err = ops->figures->job_stats_each(l->store, add_stat, l, l->why);
    for (size_t i = 0; !l->err && i < l->n; i++)
        count_delta(l, &l->deltas[i]);
    for (size_t i = 0; !l->err && i < l->fresh.npeers; i++)
        join_peer(&l->fresh, l->fresh.peers[i]);
}

static void join_own(struct others *o, int64_t job_id, const struct job_stat *s)
{
    job_stat_join(&job_of(&o->account, job_id)->stat, s);
}

enum err others_load(struct others *o, struct store *store, const struct others_own *own,
                     struct why *why)
{
    struct loading l = { .o = o, .store = store, .why = why };
    account_init(&l.fresh);
    load_rows(&l);
    if (!l.err) {
        own->hold(own->arg, true);
        pthread_mutex_lock(&o->lock);
        const struct account before = o->account;
        o->account = l.fresh;
        l.fresh = before;
        own->each(own->arg, join_own, o);
        pthread_mutex_unlock(&o->lock);
        own->hold(own->arg, false);
    }
    account_done(&l.fresh);
    for (size_t i = 0; i < l.n; i++)
        free(l.deltas[i].bytes);
    free(l.deltas);
    return l.err;
}

/* ---- readers --------------------------------------------------------------------------------- */

bool others_job(struct others *o, int64_t job_id, struct job_stat *ret)
{
    pthread_mutex_lock(&o->lock);
    const struct seen_job *j = map_find(&o->account.jobs, (uint64_t)job_id);
    bool any = j && (j->stat.nlast || j->stat.success_ms);
    if (any)
        *ret = j->stat;
    pthread_mutex_unlock(&o->lock);
    return any;
}

size_t others_jobs(struct others *o)
{
    pthread_mutex_lock(&o->lock);
    size_t n = o->account.njobs;
    pthread_mutex_unlock(&o->lock);
    return n;
}

void others_each(struct others *o, void (*fn)(void *ctx, int64_t id, const struct job_stat *s),
                 void *ctx)
{
    void *v;
    pthread_mutex_lock(&o->lock);
    for (size_t i = 0; map_next(&o->account.jobs, &i, &v);) {
        const struct seen_job *j = v;
        fn(ctx, j->id, &j->stat);
    }
    pthread_mutex_unlock(&o->lock);
}

struct others_part *others_parts(struct others *o, int64_t slot, int64_t group_id, int64_t job_id,
                                 size_t *ret_n)
{
    pthread_mutex_lock(&o->lock);
    const struct account *a = &o->account;
    struct others_part *parts = mem_new((a->npeers + 1) * sizeof(*parts));
    *ret_n = a->npeers;
    for (size_t i = 0; i < a->npeers; i++) {
        struct peer *p = a->peers[i];
        struct job_tally *j = job_id ? tallies_find_job(&p->all, job_id) : NULL;
        const struct tally *t = !job_id ? tallies_find_group(&p->all, group_id)
                                : j     ? &j->tally
                                        : NULL;
        parts[i] = (struct others_part){ .node = p->node, .n = p->n };
        if (t)
            tally_sum(&p->all, t, slot, &parts[i].figure, job_id ? NULL : parts[i].durations);
    }
    pthread_mutex_unlock(&o->lock);
    return parts;
}

static void copy_peer(const struct peer *p, struct figures_copy *ret)
{
    struct tally_rows rows = { NULL, NULL, 0, 0 };
    void *v;
    tally_rows_add(&rows, &p->all, &p->all.whole, p->n);
    for (size_t i = 0; map_next(&p->all.groups, &i, &v);)
        tally_rows_add(&rows, &p->all, v, p->n);
    ret->rows = mem_resize(ret->rows, (ret->nrows + (size_t)rows.n + 1) * sizeof(*ret->rows));
    bool any = false;
    for (int i = 0; i < rows.n; i++) {
        if (figure_slot_level(rows.rows[i].slot) != FIGURE_QUARTER)
            continue;
        rows.rows[i].node = p->node;
        ret->rows[ret->nrows++] = rows.rows[i];
        any = true;
    }
    tally_rows_done(&rows);
    ret->others[ret->nothers++] = (struct figures_node){ p->node, p->n, any };
}

void others_copy(struct others *o, struct figures_copy *ret)
{
    pthread_mutex_lock(&o->lock);
    ret->others = mem_new((o->account.npeers + 1) * sizeof(*ret->others));
    for (size_t i = 0; i < o->account.npeers; i++)
        copy_peer(o->account.peers[i], ret);
    pthread_mutex_unlock(&o->lock);
}
