/* SPDX-License-Identifier: Apache-2.0 */
/* figures_copy.c - what a second reader of the figures begins with: all that memory has, as of one
 * commit, and with it the rows on disk. Its reader adds the ends of later commits
 * to it, so each end is counted once. */
#include "ledger/figures_internal.h"
#include <stdlib.h>

static void copy_rows(struct figures *f, struct figures_copy *ret)
{
    struct tally_rows rows = { NULL, NULL, 0, 0 };
    void *v;
    tally_rows_add(&rows, &f->all, &f->all.whole, f->n);
    for (size_t i = 0; map_next(&f->all.groups, &i, &v);)
        tally_rows_add(&rows, &f->all, v, f->n);
    for (int i = 0; i < rows.n; i++)
        if (figure_slot_level(rows.rows[i].slot) == FIGURE_QUARTER) {
            rows.rows[i].node = f->others ? others_node(f->others) : 0;
            rows.rows[ret->nrows++] = rows.rows[i];
        }
    ret->rows = rows.rows;
    free(rows.durations);
}

struct failing_jobs {
    struct figures_copy *copy;
    size_t room;
};

static void add_failing(void *ctx, int64_t id, const struct job_stat *s)
{
    struct failing_jobs *x = ctx;
    if (!s->streak || !s->nlast)
        return;
    const struct failing_job one = { .job_id = id,
                                     .last_id = job_stat_last(s, 0).log_id,
                                     .since_ms = s->failed_ms,
                                     .streak = s->streak };
    append(x->copy->failing, x->copy->nfailing, x->room, one);
}

/* The ends of this server and of others may be those of commits that the failing jobs do not know
 * yet, or the other way about: what comes behind the copy says how such a job is doing. */
void figures_copy(struct figures *f, struct figures_copy *ret)
{
    struct failing_jobs failing = { ret, 0 };
    *ret = (struct figures_copy){ .no = 0 };
    pthread_mutex_lock(&f->lock);
    ret->no = f->n;
    copy_rows(f, ret);
    if (!f->others) { /* with the same lock */
        const struct job_tally *j;
        for (size_t i = 0, k = 0; (j = tallies_next_job(&f->all, &i, &k));)
            add_failing(&failing, j->tally.id, &j->stat);
    }
    pthread_mutex_unlock(&f->lock);
    if (!f->others)
        return;
    others_copy(f->others, ret);
    others_each(f->others, add_failing, &failing);
}

void figures_copy_done(struct figures_copy *c)
{
    free(c->rows);
    free(c->failing);
    free(c->others);
}

static struct figures_node *copy_node(const struct figures_copy *c, int64_t node)
{
    for (size_t i = 0; i < c->nothers; i++)
        if (c->others[i].node == node)
            return &c->others[i];
    return NULL;
}

int64_t figures_copy_no(const struct figures_copy *c, int64_t node)
{
    const struct figures_node *n = copy_node(c, node);
    return n ? n->no : 0;
}

struct copying {
    struct figures_copy *c;
    int64_t own;  /* node; 0: there are no others */
    bool *folded; /* of the copy's rows: one on disk includes it */
    figure_row_fn *fn;
    void *ctx;
    bool overtaken;
};

/* A row through the copy's own commit was folded when the copy was taken, or right after. */
static bool copy_row(void *ctx, const struct figure_row *r)
{
    struct copying *x = ctx;
    struct figures_node *other = x->own && r->node != x->own ? copy_node(x->c, r->node) : NULL;
    if (other && !other->any && r->through > other->no)
        other->no = r->through; /* nothing of it is in memory: rows are all there is */
    int64_t no = !x->own || r->node == x->own ? x->c->no : other ? other->no : INT64_MAX;
    x->overtaken = r->through > no;
    for (size_t i = 0; r->through == no && i < x->c->nrows; i++)
        if (x->c->rows[i].slot == r->slot && x->c->rows[i].group_id == r->group_id &&
            (!x->own || x->c->rows[i].node == r->node))
            x->folded[i] = true;
    return !x->overtaken && x->fn(x->ctx, r);
}

enum err figures_copy_slots(struct figures_copy *c, struct figures *f, struct store *reader,
                            int64_t from_ms, int64_t quarters_ms, figure_row_fn *fn, void *ctx,
                            struct why *why)
{
    const struct store_figures *ops = reader->ops->figures;
    struct copying x = { .c = c, .folded = mem_new(c->nrows + 1), .fn = fn, .ctx = ctx };
    x.own = f->others ? others_node(f->others) : 0;
    int64_t hour_ms = figure_slot_ms(figure_slot(FIGURE_HOUR, f->all.zone, quarters_ms));
    enum err err = ops->figures_each(reader, figure_slot_at(FIGURE_HOUR, from_ms),
                                     figure_slot_at(FIGURE_HOUR, hour_ms), copy_row, &x, why);
    if (!err && !x.overtaken)
        err = ops->figures_each(reader, figure_slot_at(FIGURE_QUARTER, hour_ms),
                                figure_slot_at(FIGURE_QUARTER + 1, 0), copy_row, &x, why);
    for (size_t i = 0; !err && !x.overtaken && i < c->nrows; i++)
        if (!x.folded[i] && figure_slot_ms(c->rows[i].slot) >= hour_ms)
            (void)!fn(ctx, &c->rows[i]);
    free(x.folded);
    return err ? err : x.overtaken ? ERR_OVERTAKEN : OK;
}
