/* SPDX-License-Identifier: Apache-2.0 */
/* figures_fold.c - what memory has counted becomes rows, and bytes that no row lacks go.
 *
 * A tally is folded whole: all rows that it adds to, in one transaction, through the last commit
 * that memory has counted. Adding is refused by a row that includes that commit already, so a fold
 * may be repeated. The lists of what is dirty are in the order of the oldest end; in front of the
 * first of them no bytes are needed any more. */
#include "ledger/figures_internal.h"
#include <string.h>

#define FOLD_ROWS 250
#define FOLD_MS 300000 /* the oldest end waits at most so long for its row */
#define DELTA_BYTES_MAX (64 << 20)
#define DROP_MIN 16 /* rows of bytes that go at once, and the most in one transaction */
#define DROP_MAX 64
#define EXPIRE_ROWS 100
#define EXPIRE_MS 600000
#define DAY_MS INT64_C(86400000)

void figures_noted(struct figures *f, int64_t n, size_t bytes)
{
    const struct delta d = { n, bytes };
    append(f->deltas, f->ndeltas, f->cdeltas, d);
    f->delta_bytes += bytes;
}

/* ---- fold ------------------------------------------------------------------------------------ */

static bool is_due(const struct figures *f, int64_t since_n, int64_t since_ms, int64_t now_ms)
{
    int64_t age = now_ms - since_ms;
    return since_n <= f->force_n || age >= FOLD_MS || age <= -FOLD_MS;
}

/* Its rows went with it, in this transaction. */
static bool is_deleted(const struct batch *b, int64_t job_id)
{
    for (int i = 0; i < b->nedits; i++)
        if (b->edits[i]->kind == EDIT_JOB_DELETE && !b->edits[i]->err && b->edits[i]->id == job_id)
            return true;
    return false;
}

static bool fold_full(const struct figures *f)
{
    return f->rows.n + f->nstats >= FOLD_ROWS;
}

static void fold_groups(struct figures *f, int64_t now_ms)
{
    list_each(&f->all.dirty_groups, node, tmp)
    {
        struct tally *t = container_of(node, struct tally, dirty);
        if (!is_due(f, t->since_n, t->since_ms, now_ms) || fold_full(f))
            return;
        tally_rows_add(&f->rows, &f->all, t, f->n);
        append(f->step.folded, f->step.nfolded, f->step.cfolded, t);
    }
}

static void fold_job(struct figures *f, struct job_tally *j)
{
    const struct job_stat_row row = { .job_id = j->tally.id, .through = f->n, .stat = &j->stat };
    tally_rows_add(&f->rows, &f->all, &j->tally, f->n);
    append(f->step.folded, f->step.nfolded, f->step.cfolded, &j->tally);
    append(f->stats, f->nstats, f->cstats, row);
}

static void fold_jobs(struct figures *f, const struct batch *b)
{
    list_each(&f->all.dirty_shelves, node, tmp)
    {
        struct shelf *s = container_of(node, struct shelf, dirty);
        if (!is_due(f, s->since_n, s->since_ms, b->now_ms) || fold_full(f))
            return;
        for (int i = 0; i < SHELF_JOBS; i++)
            if (s->jobs[i] && s->jobs[i]->tally.nparts && !is_deleted(b, s->jobs[i]->tally.id))
                fold_job(f, s->jobs[i]);
        append(f->step.shelves, f->step.nshelves, f->step.cshelves, s);
    }
}

enum err figures_fold(struct figures *f, struct store *s, const struct batch *b, struct why *why)
{
    int64_t quarter = figure_slot(FIGURE_QUARTER, NULL, b->now_ms);
    if (quarter != f->quarter || f->delta_bytes > DELTA_BYTES_MAX)
        f->force_n = f->n;
    f->quarter = quarter;
    f->rows.n = f->nstats = 0;
    fold_groups(f, b->now_ms);
    fold_jobs(f, b);
    tally_rows_end(&f->rows);
    enum err err = OK;
    if (f->rows.n)
        err = s->ops->figures->figures_add(s, f->rows.rows, f->rows.n, why);
    if (!err && f->nstats)
        err = s->ops->figures->job_stats_put(s, f->stats, f->nstats, why);
    return err;
}

/* The first commit whose ends some row lacks. */
static int64_t needed_from(const struct figures *f)
{
    const struct list_node *group = list_first(&f->all.dirty_groups);
    const struct list_node *shelf = list_first(&f->all.dirty_shelves);
    int64_t n = group ? container_of(group, struct tally, dirty)->since_n : INT64_MAX;
    if (shelf && container_of(shelf, struct shelf, dirty)->since_n < n)
        n = container_of(shelf, struct shelf, dirty)->since_n;
    return n;
}

enum err figures_drop(struct figures *f, struct store *s, struct why *why)
{
    int64_t from = needed_from(f);
    int n = 0;
    while (n < DROP_MAX && n < f->ndeltas - f->first_delta &&
           f->deltas[f->first_delta + n].n < from)
        n++;
    if (n < DROP_MIN)
        return OK;
    f->step.ndropped = n;
    return s->ops->figures->deltas_drop(s, f->deltas[f->first_delta + n - 1].n, why);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static const int keep_days[FIGURE_LEVELS] = {
    [FIGURE_QUARTER] = 8, [FIGURE_HOUR] = 400, [FIGURE_JOB_HOUR] = 8, [FIGURE_JOB_DAY] = 400
};

enum err figures_expire(struct figures *f, struct store *s, int64_t now_ms, struct why *why)
{
    int64_t age = now_ms - f->expired_ms;
    bool more = false;
    if (!f->expiring && (age >= EXPIRE_MS || age < 0)) {
        f->expiring = FIGURE_QUARTER;
        f->expired_ms = now_ms;
    }
    if (!f->expiring)
        return OK;
    enum figure_level level = (enum figure_level)f->expiring;
    if (keep_days[level]) {
        int64_t until = now_ms - keep_days[level] * DAY_MS;
        enum err err = s->ops->figures->figures_expire(
            s, figure_slot_at(level, 0), figure_slot_at(level, until), EXPIRE_ROWS, &more, why);
        if (err)
            return err;
    }
    f->step.expire = more ? 0 : f->expiring;
    return OK;
}

/* ---- committed ------------------------------------------------------------------------------- */

void figures_folded(struct figures *f)
{
    for (int i = 0; i < f->step.nfolded; i++)
        tally_clean(f->step.folded[i], f->n);
    for (int i = 0; i < f->step.nshelves; i++)
        list_remove(&f->step.shelves[i]->dirty);
}

void figures_dropped(struct figures *f)
{
    for (; f->step.ndropped > 0; f->step.ndropped--)
        f->delta_bytes -= f->deltas[f->first_delta++].bytes;
    if (f->first_delta > f->ndeltas / 2) {
        f->ndeltas -= f->first_delta;
        memmove(f->deltas, f->deltas + f->first_delta, (size_t)f->ndeltas * sizeof(*f->deltas));
        f->first_delta = 0;
    }
    if (f->step.expire)
        f->expiring = f->step.expire + 1 < FIGURE_LEVELS ? f->step.expire + 1 : 0;
}
