/* SPDX-License-Identifier: Apache-2.0 */
/* figures_load.c - the figures at the start of a server: rows, and the ends of the commits that a
 * row does not include, read from their bytes. */
#include "ledger/figures_internal.h"
#include "base/log.h"
#include <stdlib.h>

#define ID_MAX (INT64_C(1) << 53)
#define LOAD_AT_ONCE 64

/* A node that has the database after another one, or under another name, goes on from what that has
 * counted: batches are numbered on, so the row through the last of them is the one. One of several
 * goes on from its own. */
static bool load_stat(void *ctx, const struct job_stat_row *r)
{
    struct figures *f = ctx;
    if (f->others && r->node != others_node(f->others))
        return true;
    struct job_tally *j = tallies_find_job(&f->all, r->job_id);
    if (j && r->through <= j->tally.through)
        return true;
    if (!j)
        j = tallies_job(&f->all, r->job_id, r->through);
    j->tally.through = r->through;
    j->stat = *r->stat;
    return true;
}

struct loading {
    struct figures *f;
    struct store *s;
    struct why *why;
    int64_t *jobs; /* that have no row yet */
    int njobs, cjobs;
    int damaged;
    enum err err;
};

/* A job whose row is gone was deleted, unless it is younger than the last fold. */
static struct job_tally *load_job(struct loading *l, int64_t id)
{
    struct job_tally *j = tallies_find_job(&l->f->all, id);
    if (j)
        return j;
    append(l->jobs, l->njobs, l->cjobs, id);
    return tallies_job(&l->f->all, id, 0);
}

/* The commit that the group's rows of this quarter include. The quarter's own may have gone
 * already; that of the day stays, but is another one when the server's zone has changed. */
static int64_t load_through(struct loading *l, const struct tally *t, int64_t quarter)
{
    const struct store_figures *ops = l->s->ops->figures;
    int64_t day = figure_slot(FIGURE_DAY, l->f->all.zone, figure_slot_ms(quarter)), through = 0;
    const int64_t slots[] = { quarter, day };
    if (l->f->others) {
        if (!l->err)
            l->err = others_through(l->f->others, l->s, others_node(l->f->others), t->id, quarter,
                                    &through, l->why);
        return through;
    }
    for (size_t i = 0; !l->err && i < countof(slots); i++) {
        struct figure_row row;
        enum err err = ops->figure_get(l->s, slots[i], t->id, 0, &row, NULL, l->why);
        if (!err && row.through > through)
            through = row.through;
        else if (err && err != ERR_NOTFOUND)
            l->err = err;
    }
    return through;
}

static void load_group_end(struct loading *l, struct tally *t, const struct run_end *e, int64_t n,
                           int64_t at_ms)
{
    bool is_new = false;
    struct part *p = tally_part(t, tallies_quarter(e), &is_new);
    if (is_new)
        p->through = load_through(l, t, p->slot);
    if (n > p->through)
        tally_end(&l->f->all, t, p, e, n, at_ms);
}

static void load_end(struct loading *l, const struct run_end *e, int64_t n, int64_t at_ms)
{
    struct tallies *all = &l->f->all;
    struct job_tally *j = load_job(l, e->job_id);
    if (n > j->tally.through) {
        struct part *p = tally_part(&j->tally, tallies_hour(all, e), NULL);
        tally_end(all, &j->tally, p, e, n, at_ms);
        job_stat_end(&j->stat, e, at_ms);
    }
    load_group_end(l, &all->whole, e, n, at_ms);
    if (e->group_id)
        load_group_end(l, tallies_group(all, e->group_id), e, n, at_ms);
}

/* Memory of hundreds of thousands of jobs is in no cache, and the start would wait for each line of
 * it: those of many ends are asked for before the first of them is counted. */
static void load_ahead(const struct loading *l, const struct run_end *ends, int n)
{
    const struct job_tally *jobs[LOAD_AT_ONCE];
    for (int i = 0; i < n; i++)
        tallies_ahead(&l->f->all, ends[i].job_id);
    for (int i = 0; i < n; i++) {
        jobs[i] = tallies_find_job(&l->f->all, ends[i].job_id);
        for (size_t at = 0; jobs[i] && at < sizeof(struct job_tally); at += CACHE_LINE)
            __builtin_prefetch((const char *)jobs[i] + at, 1);
    }
    for (int i = 0; i < n; i++)
        if (jobs[i] && jobs[i]->tally.parts)
            tally_ahead(&jobs[i]->tally);
}

static bool load_delta(void *ctx, int64_t n, struct slice bytes)
{
    struct loading *l = ctx;
    struct ends_reader r = ends_read(bytes);
    struct run_end ends[LOAD_AT_ONCE];
    if (n < 1 || n > ID_MAX) {
        l->damaged++;
        return true;
    }
    for (int some = 1; some && !l->err;) {
        for (some = 0; some < LOAD_AT_ONCE && ends_next(&r, &ends[some]);)
            some++;
        load_ahead(l, ends, some);
        for (int i = 0; i < some && !l->err; i++)
            load_end(l, &ends[i], n, r.at_ms);
    }
    l->damaged += r.bad;
    figures_noted(l->f, n, bytes.n);
    l->f->n = n > l->f->n ? n : l->f->n;
    return !l->err;
}

struct existing {
    const int64_t *ids;
    bool *there;
    int n;
};

static bool job_there(void *ctx, const struct job_record *r)
{
    struct existing *x = ctx;
    const int64_t *at = bsearch(&r->id, x->ids, (size_t)x->n, sizeof(*x->ids), compare_ids);
    if (at)
        x->there[at - x->ids] = true;
    return true;
}

/* What was deleted while bytes of it were still there does not come back. */
static enum err forget_deleted(struct loading *l)
{
    if (!l->njobs)
        return OK;
    qsort(l->jobs, (size_t)l->njobs, sizeof(*l->jobs), compare_ids);
    struct existing x = { l->jobs, mem_new((size_t)l->njobs), l->njobs };
    enum err err = l->s->ops->catalog->jobs_get(l->s, l->jobs, l->njobs, job_there, &x, l->why);
    for (int i = 0; !err && i < l->njobs; i++)
        if (!x.there[i])
            tallies_drop_job(&l->f->all, l->jobs[i]);
    free(x.there);
    return err;
}

enum err figures_load(struct figures *f, struct store *s, struct why *why)
{
    struct loading l = { .f = f, .s = s, .why = why };
    struct watermark last = { 0 };
    enum err err = s->ops->txn->watermark_get(s, &last, why);
    f->n = last.batch; /* rows may say that they include it, though its bytes have gone */
    if (!err)
        err = s->ops->figures->job_stats_each(s, load_stat, f, why);
    if (!err)
        err = s->ops->figures->deltas_each(s, load_delta, &l, why);
    if (!err)
        err = l.err;
    if (!err)
        err = forget_deleted(&l);
    free(l.jobs);
    why_clear(err ? NULL : why);
    if (l.damaged)
        log_warn("figures",
                 "%d rows of peal_delta are not what this program wrote: figures lack their ends",
                 l.damaged);
    return err || !f->others ? err : figures_others_load(f, s, why);
}
