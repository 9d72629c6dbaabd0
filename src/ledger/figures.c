/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - the figures' transaction: the ends of a batch go in as bytes, and are counted in
 * memory when the commit is made. What is done with rows in the same transaction is
 * figures_fold.c. */
#include "ledger/figures_internal.h"
#include <stdlib.h>

struct figures *figures_new(struct zone *zone)
{
    struct figures *f = mem_new(sizeof(*f));
    pthread_mutex_init(&f->lock, NULL);
    tallies_init(&f->all, zone);
    buf_init(&f->bytes, SIZE_MAX / 2);
    return f;
}

void figures_free(struct figures *f)
{
    if (!f)
        return;
    tallies_done(&f->all);
    others_free(f->others);
    free(f->step.jobs);
    free(f->step.folded);
    free(f->step.shelves);
    free(f->deltas);
    buf_done(&f->bytes);
    tally_rows_done(&f->rows);
    free(f->stats);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

const struct zone *figures_zone(const struct figures *f)
{
    return f->all.zone;
}

void figures_share(struct figures *f, int64_t node)
{
    f->others = others_new(node, f->all.zone);
}

/* ---- other servers --------------------------------------------------------------------------- */

static void hold(void *arg, bool on)
{
    struct figures *f = arg;
    if (on)
        pthread_mutex_lock(&f->lock);
    else
        pthread_mutex_unlock(&f->lock);
}

static void each_own(void *arg,
                     void (*fn)(struct others *o, int64_t job_id, const struct job_stat *s),
                     struct others *o)
{
    struct figures *f = arg;
    const struct job_tally *j;
    for (size_t i = 0, k = 0; (j = tallies_next_job(&f->all, &i, &k));)
        fn(o, j->tally.id, &j->stat);
}

enum err figures_others_load(struct figures *f, struct store *s, struct why *why)
{
    return others_load(f->others, s, &(struct others_own){ hold, each_own, f }, why);
}

int64_t figures_others_read(struct figures *f, int64_t node)
{
    return others_read(f->others, node);
}

struct run_end *figures_others_take(struct figures *f, int64_t node, int64_t n, struct slice bytes,
                                    size_t *ret_n, int64_t *ret_at_ms)
{
    return others_take(f->others, node, n, bytes, ret_n, ret_at_ms);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static struct job_stat *staged(struct figures *f, int64_t job_id)
{
    struct job_tally *j = tallies_find_job(&f->all, job_id);
    if (!j) { /* the map is read by others */
        pthread_mutex_lock(&f->lock);
        j = tallies_job(&f->all, job_id, f->n);
        pthread_mutex_unlock(&f->lock);
    }
    if (!j->staged) {
        j->staged = mem_new(sizeof(*j->staged));
        *j->staged = j->stat;
        append(f->step.jobs, f->step.njobs, f->step.cjobs, j);
    }
    return j->staged;
}

static int64_t taken_ms(const struct batch *b)
{
    return b->now_ms > 0 ? b->now_ms : 0;
}

static void ends_stage(struct figures *f, struct batch *b)
{
    for (int i = 0; i < b->nends; i++) {
        struct run_end *e = &b->ends[i];
        struct job_stat *stat = staged(f, e->job_id);
        e->streak_was = stat->streak;
        job_stat_end(stat, e, taken_ms(b));
        e->streak = stat->streak;
    }
}

/* What this transaction writes as rows, for the other servers. A shelf without jobs has no number,
 * and they keep what they have of its jobs, which are deleted. */
static int folds_add(const struct figures *f, struct ends_writer *w)
{
    int n = 0;
    for (int i = 0; i < f->step.nfolded; i++)
        if (!f->step.folded[i]->of_job) {
            ends_add_fold(w, &(struct ends_fold){ false, f->step.folded[i]->id });
            n++;
        }
    for (int i = 0; i < f->step.nshelves; i++) {
        const struct job_tally *j = NULL;
        for (int k = 0; k < SHELF_JOBS && !j; k++)
            j = f->step.shelves[i]->jobs[k];
        if (!j)
            continue;
        ends_add_fold(w, &(struct ends_fold){ true, tallies_shelf_of(j->tally.id) });
        n++;
    }
    return n;
}

/* Behind the fold, of which it tells. */
static enum err ends_write(struct figures *f, struct store *s, struct batch *b, struct why *why)
{
    buf_reset(&f->bytes);
    struct ends_writer w = ends_begin(&f->bytes, taken_ms(b));
    int n = f->others ? folds_add(f, &w) : 0;
    for (int i = 0; i < b->nends; i++)
        ends_add(&w, &b->ends[i]);
    if (!n && !b->nends)
        return OK;
    enum err err =
        s->ops->figures->delta_add(s, slice_of(f->bytes.data, f->bytes.len), &f->step.n, why);
    b->ends_no = f->step.n;
    return err;
}

static void ends_count(struct figures *f, const struct batch *b)
{
    struct tallies *all = &f->all;
    for (int i = 0; i < b->nends; i++) {
        const struct run_end *e = &b->ends[i];
        struct tally *job = &tallies_job(all, e->job_id, f->n)->tally;
        struct tally *to[] = { job, &all->whole,
                               e->group_id ? tallies_group(all, e->group_id) : NULL };
        int64_t quarter = tallies_quarter(e), hour = tallies_hour(all, e);
        for (size_t k = 0; k < countof(to) && to[k]; k++) {
            struct part *p = tally_part(to[k], to[k]->of_job ? hour : quarter, NULL);
            tally_end(all, to[k], p, e, f->step.n, taken_ms(b));
        }
    }
}

/* ---- the transaction ------------------------------------------------------------------------- */

enum err figures_write(struct figures *f, struct store *s, struct batch *b, struct why *why)
{
    f->step.n = 0;
    f->step.njobs = f->step.nfolded = f->step.nshelves = 0;
    f->step.ndropped = f->step.expire = 0;
    f->step.report = false;
    ends_stage(f, b);
    enum err err = figures_fold(f, s, b, why);
    if (!err)
        err = ends_write(f, s, b, why);
    if (!err)
        err = figures_drop(f, s, why);
    if (!err)
        err = figures_expire(f, s, b->now_ms, why);
    if (!err)
        err = b->no_report ? OK : figures_report_write(f, s, b->now_ms, why);
    return err;
}

static void unstage(struct figures *f, bool keep)
{
    for (int i = 0; i < f->step.njobs; i++) {
        struct job_tally *j = f->step.jobs[i];
        if (keep)
            j->stat = *j->staged;
        free(j->staged);
        j->staged = NULL;
    }
    f->step.njobs = 0;
}

static void drop_deleted(struct figures *f, const struct batch *b)
{
    for (int i = 0; i < b->nedits; i++) {
        if (b->edits[i]->kind != EDIT_JOB_DELETE || b->edits[i]->err)
            continue;
        tallies_drop_job(&f->all, b->edits[i]->id);
        if (f->others)
            others_forget(f->others, b->edits[i]->id);
    }
}

void figures_written(struct figures *f, const struct batch *b, bool committed)
{
    pthread_mutex_lock(&f->lock);
    unstage(f, committed);
    if (committed)
        figures_folded(f);
    if (committed && f->step.n) {
        ends_count(f, b);
        f->n = f->step.n;
        for (int i = 0; f->others && i < b->nends; i++)
            others_own_end(f->others, &b->ends[i], taken_ms(b));
    }
    if (committed)
        drop_deleted(f, b);
    pthread_mutex_unlock(&f->lock);
    if (!committed)
        return;
    if (f->step.n)
        figures_noted(f, f->step.n, f->bytes.len);
    figures_dropped(f);
    if (f->step.report)
        f->report_ms = b->now_ms;
}
