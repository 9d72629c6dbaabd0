/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - the figures' transaction: ends in, rows out, bytes away.
 *
 * A tally is folded whole: all rows that it adds to, in one transaction, through the last commit
 * that memory has counted. Adding is refused by a row that includes that commit already, so a fold
 * may be repeated. The lists of what is dirty are in the order of the oldest end; in front of the
 * first of them no bytes are needed any more. */
#include "ledger/figures.h"
#include "base/log.h"
#include "base/mem.h"
#include "cron/civil.h"
#include "ledger/others.h"
#include "ledger/tally.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FOLD_ROWS 250
#define FOLD_MS 300000 /* the oldest end waits at most so long for its row */
#define DELTA_BYTES_MAX (64 << 20)
#define DROP_MIN 16 /* rows of bytes that go at once, and the most in one transaction */
#define DROP_MAX 64
#define EXPIRE_ROWS 100
#define EXPIRE_MS 600000
#define REPORT_MS 60000
#define LOOK_MS 1000
#define DAY_MS INT64_C(86400000)
#define ID_MAX (INT64_C(1) << 53)
#define LOAD_AT_ONCE 64

struct delta { /* a row of peal_delta */
    int64_t n;
    size_t bytes;
};

struct running { /* live runs, of the days of the report */
    int64_t at_ms;
    int64_t days[FIGURES_REPORT_DAYS], counts[FIGURES_REPORT_DAYS];
};

struct step {  /* of the transaction under way, to be done in memory when it is committed */
    int64_t n; /* the commit with the ends; 0: there are none */
    struct job_tally **jobs; /* whose stat is staged */
    int njobs, cjobs;
    struct tally **folded;
    int nfolded, cfolded;
    struct shelf **shelves; /* all of whose jobs are folded */
    int nshelves, cshelves;
    int ndropped;
    int expire;  /* the level that is through, 0: none */
    bool report; /* it was written */
};

struct figures {
    pthread_mutex_t lock;  /* for what other threads read: all, n, running */
    struct others *others; /* NULL: this server has the database alone */
    struct tallies all;
    int64_t n; /* the last commit that is counted */
    struct running running;

    /* the writer's own */
    struct step step;
    struct delta *deltas; /* on disk, by n */
    int first_delta, ndeltas, cdeltas;
    size_t delta_bytes;
    int64_t force_n; /* what is as old is folded now */
    int64_t quarter;
    int64_t expired_ms, report_ms;
    int expiring; /* the next level, 0: none */
    struct buf bytes;
    struct tally_rows rows;
    struct job_stat_row *stats;
    int nstats, cstats;
};

#define append(array, n, cap, value)                                                               \
    do {                                                                                           \
        if ((n) == (cap)) {                                                                        \
            (cap) = (cap) ? (cap)*2 : 64;                                                          \
            (array) = mem_resize((array), (size_t)(cap) * sizeof(*(array)));                       \
        }                                                                                          \
        (array)[(n)++] = (value);                                                                  \
    } while (0)

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

/* ---- start ----------------------------------------------------------------------------------- */

static void delta_note(struct figures *f, int64_t n, size_t bytes)
{
    const struct delta d = { n, bytes };
    append(f->deltas, f->ndeltas, f->cdeltas, d);
    f->delta_bytes += bytes;
}

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

static int64_t load_through_own(struct loading *l, const struct tally *t, const int64_t slots[2])
{
    struct through own = { others_node(l->f->others), 0 };
    for (int i = 0; !l->err && i < 2; i++)
        l->err =
            l->s->ops->cluster->figure_nodes(l->s, slots[i], t->id, 0, look_through, &own, l->why);
    return own.n;
}

/* The commit that the group's rows of this quarter include. The quarter's own may have gone
 * already; that of the day stays, but is another one when the server's zone has changed. */
static int64_t load_through(struct loading *l, const struct tally *t, int64_t quarter)
{
    const struct store_figures *ops = l->s->ops->figures;
    int64_t day = figure_slot(FIGURE_DAY, l->f->all.zone, figure_slot_ms(quarter)), through = 0;
    const int64_t slots[] = { quarter, day };
    if (l->f->others)
        return load_through_own(l, t, slots);
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
    delta_note(l->f, n, bytes.n);
    l->f->n = n > l->f->n ? n : l->f->n;
    return !l->err;
}

struct existing {
    const int64_t *ids;
    bool *there;
    int n;
};

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

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

static enum err fold(struct figures *f, struct store *s, const struct batch *b, struct why *why)
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

static enum err drop(struct figures *f, struct store *s, struct why *why)
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

static enum err expire(struct figures *f, struct store *s, int64_t now_ms, struct why *why)
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

/* ---- the report ------------------------------------------------------------------------------ */

static void report_days(const struct figures *f, int64_t now_ms, int64_t days[FIGURES_REPORT_DAYS])
{
    int64_t ms = now_ms;
    for (int i = 0; i < FIGURES_REPORT_DAYS; i++) {
        days[i] = figure_slot_ms(figure_slot(FIGURE_DAY, f->all.zone, ms));
        ms = days[i] - 1;
    }
}

enum err figures_report_day(struct figures *f, struct store *reader, const struct scope *scope,
                            int64_t day_ms, struct report_row *ret, struct why *why)
{
    static const int64_t whole = 0;
    bool all = scope_is_all(scope);
    const int64_t *groups = all ? &whole : scope->ids;
    size_t n = all ? 1 : scope->n;
    enum err err = OK;
    *ret = (struct report_row){ .day_ms = day_ms };
    for (size_t i = 0; !err && i < n; i++) {
        struct figure day;
        err = figures_read(f, reader, FIGURE_DAY, groups[i], 0, day_ms, &day, NULL, why);
        if (err)
            break;
        ret->succeeded += day.counts[OUTCOME_SUCCEEDED];
        ret->failed += figure_failed(&day);
    }
    return err;
}

static enum err report_row(struct figures *f, struct store *s, int64_t day_ms, int64_t now_ms,
                           struct report_row *ret, struct why *why)
{
    enum err err = figures_report_day(f, s, NULL, day_ms, ret, why);
    ret->updated_ms = now_ms;
    pthread_mutex_lock(&f->lock);
    for (int i = 0; i < FIGURES_REPORT_DAYS; i++)
        if (f->running.days[i] == day_ms)
            ret->running = f->running.counts[i];
    pthread_mutex_unlock(&f->lock);
    return err;
}

/* Rows of days of which nothing is known may be somebody else's: they stay. */
static enum err report(struct figures *f, struct store *s, int64_t now_ms, struct why *why)
{
    int64_t age = now_ms - f->report_ms, days[FIGURES_REPORT_DAYS];
    if (age >= 0 && age < REPORT_MS)
        return OK;
    report_days(f, now_ms, days);
    enum err err = OK;
    for (int i = 0; !err && i < FIGURES_REPORT_DAYS; i++) {
        struct report_row r;
        err = report_row(f, s, days[i], now_ms, &r, why);
        if (!err && (i == 0 || r.succeeded || r.failed || r.running))
            err = s->ops->figures->reports_put(s, &r, 1, why);
    }
    f->step.report = !err;
    return err;
}

/* ---- the transaction ------------------------------------------------------------------------- */

enum err figures_write(struct figures *f, struct store *s, struct batch *b, struct why *why)
{
    f->step.n = 0;
    f->step.njobs = f->step.nfolded = f->step.nshelves = 0;
    f->step.ndropped = f->step.expire = 0;
    f->step.report = false;
    ends_stage(f, b);
    enum err err = fold(f, s, b, why);
    if (!err)
        err = ends_write(f, s, b, why);
    if (!err)
        err = drop(f, s, why);
    if (!err)
        err = expire(f, s, b->now_ms, why);
    if (!err)
        err = b->no_report ? OK : report(f, s, b->now_ms, why);
    return err;
}

static void dropped(struct figures *f)
{
    for (; f->step.ndropped > 0; f->step.ndropped--)
        f->delta_bytes -= f->deltas[f->first_delta++].bytes;
    if (f->first_delta > f->ndeltas / 2) {
        f->ndeltas -= f->first_delta;
        memmove(f->deltas, f->deltas + f->first_delta, (size_t)f->ndeltas * sizeof(*f->deltas));
        f->first_delta = 0;
    }
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
    for (int i = 0; committed && i < f->step.nfolded; i++)
        tally_clean(f->step.folded[i], f->n);
    for (int i = 0; committed && i < f->step.nshelves; i++)
        list_remove(&f->step.shelves[i]->dirty);
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
        delta_note(f, f->step.n, f->bytes.len);
    dropped(f);
    if (f->step.expire)
        f->expiring = f->step.expire + 1 < FIGURE_LEVELS ? f->step.expire + 1 : 0;
    if (f->step.report)
        f->report_ms = b->now_ms;
}

/* ---- readers --------------------------------------------------------------------------------- */

bool figures_job(struct figures *f, int64_t job_id, struct job_stat *ret)
{
    return f->others ? others_job(f->others, job_id, ret) : figures_job_here(f, job_id, ret);
}

bool figures_job_here(struct figures *f, int64_t job_id, struct job_stat *ret)
{
    pthread_mutex_lock(&f->lock);
    const struct job_tally *j = tallies_find_job(&f->all, job_id);
    bool any = j && (j->stat.nlast || j->stat.success_ms);
    if (any)
        *ret = j->stat;
    pthread_mutex_unlock(&f->lock);
    return any;
}

size_t figures_jobs(struct figures *f)
{
    if (f->others)
        return others_jobs(f->others);
    pthread_mutex_lock(&f->lock);
    size_t n = f->all.njobs;
    pthread_mutex_unlock(&f->lock);
    return n;
}

/* All jobs of which something is known, over all servers. */
static void jobs_each(struct figures *f,
                      void (*fn)(void *ctx, int64_t id, const struct job_stat *s), void *ctx)
{
    const struct job_tally *j;
    if (f->others) {
        others_each(f->others, fn, ctx);
        return;
    }
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0, k = 0; (j = tallies_next_job(&f->all, &i, &k));)
        fn(ctx, j->tally.id, &j->stat);
    pthread_mutex_unlock(&f->lock);
}

struct ids {
    int64_t *items;
    int n, room;
    bool failing;
};

static void add_id(void *ctx, int64_t id, const struct job_stat *s)
{
    struct ids *x = ctx;
    if (s->nlast && (!x->failing || s->streak))
        append(x->items, x->n, x->room, id);
}

int64_t *figures_job_ids(struct figures *f, bool failing, size_t max, size_t *ret_n)
{
    struct ids ids = { .room = 64, .failing = failing };
    ids.items = mem_new((size_t)ids.room * sizeof(*ids.items));
    jobs_each(f, add_id, &ids);
    qsort(ids.items, (size_t)ids.n, sizeof(*ids.items), compare_ids);
    *ret_n = (size_t)ids.n < max ? (size_t)ids.n : max;
    return ids.items;
}

struct reading {
    struct others_part *parts; /* of each server what memory has; n 0: it counts no more */
    size_t n;
    struct figure *to;
    uint32_t *durations; /* NULL: not wanted */
};

static void add_durations(uint32_t *to, const uint32_t *by)
{
    for (int i = 0; to && by && i < DURATION_BUCKETS; i++)
        to[i] = UINT32_MAX - to[i] < by[i] ? UINT32_MAX : to[i] + by[i];
}

static bool read_row(void *ctx, const struct figure_row *r)
{
    struct reading *x = ctx;
    figure_add(x->to, &r->figure);
    add_durations(x->durations, r->durations);
    for (size_t i = 0; i < x->n; i++)
        if (x->parts[i].node == r->node && r->through >= x->parts[i].n)
            x->parts[i].n = 0;
    return true;
}

/* The same as figures_read, of each server. */
static enum err read_all(struct figures *f, struct store *reader, int64_t slot, int64_t group_id,
                         int64_t job_id, const struct others_part *own, struct figure *ret,
                         uint32_t *durations, struct why *why)
{
    struct reading x = { .to = ret, .durations = durations };
    x.parts = others_parts(f->others, slot, group_id, job_id, &x.n);
    x.parts[x.n++] = *own;
    *ret = (struct figure){ .took_ms = 0 };
    enum err err =
        reader->ops->cluster->figure_nodes(reader, slot, group_id, job_id, read_row, &x, why);
    for (size_t i = 0; !err && i < x.n; i++) {
        if (!x.parts[i].n)
            continue;
        figure_add(ret, &x.parts[i].figure);
        add_durations(durations, x.parts[i].durations);
    }
    free(x.parts);
    return err;
}

/* What memory has, first; then the row. If that says that it includes all that memory had, it was
 * folded in between. */
enum err figures_read(struct figures *f, struct store *reader, enum figure_level level,
                      int64_t group_id, int64_t job_id, int64_t at_ms, struct figure *ret,
                      uint32_t *durations, struct why *why)
{
    struct figure more = { .took_ms = 0 };
    uint32_t more_durations[DURATION_BUCKETS] = { 0 };
    struct figure_row row = { .through = -1 };
    int64_t slot = figure_slot(level, f->all.zone, at_ms);
    if (durations)
        memset(durations, 0, DURATION_BUCKETS * sizeof(*durations));
    pthread_mutex_lock(&f->lock);
    struct job_tally *j = job_id ? tallies_find_job(&f->all, job_id) : NULL;
    const struct tally *t = !job_id ? tallies_find_group(&f->all, group_id) : j ? &j->tally : NULL;
    if (t)
        tally_sum(&f->all, t, slot, &more, more_durations);
    int64_t n = f->n;
    pthread_mutex_unlock(&f->lock);
    if (f->others) {
        struct others_part own = { .node = others_node(f->others), .n = n, .figure = more };
        memcpy(own.durations, more_durations, sizeof(own.durations));
        return read_all(f, reader, slot, group_id, job_id, &own, ret, durations, why);
    }
    enum err err =
        reader->ops->figures->figure_get(reader, slot, group_id, job_id, &row, durations, why);
    if (err && err != ERR_NOTFOUND)
        return err;
    if (err)
        row = (struct figure_row){ .through = -1 };
    *ret = row.figure;
    if (row.through >= n && n > 0)
        return OK;
    figure_add(ret, &more);
    for (int i = 0; durations && i < DURATION_BUCKETS; i++)
        durations[i] += more_durations[i];
    return OK;
}

/* Live runs of all groups, as they were at most a second ago. */
static enum err running_look(struct figures *f, struct store *reader, struct running *r,
                             struct why *why)
{
    pthread_mutex_lock(&f->lock);
    int64_t age = r->at_ms - f->running.at_ms;
    bool look = age < 0 || age >= LOOK_MS || f->running.days[0] != r->days[0];
    if (!look)
        *r = f->running;
    pthread_mutex_unlock(&f->lock);
    if (!look)
        return OK;
    enum err err = reader->ops->figures->runs_running(reader, NULL, r->days, FIGURES_REPORT_DAYS,
                                                      r->at_ms, r->counts, why);
    if (err)
        return err;
    pthread_mutex_lock(&f->lock);
    f->running = *r;
    pthread_mutex_unlock(&f->lock);
    return OK;
}

enum err figures_report(struct figures *f, struct store *reader, const struct scope *scope,
                        int64_t now_ms, struct report_row ret[FIGURES_REPORT_DAYS], struct why *why)
{
    struct running r = { .at_ms = now_ms };
    report_days(f, now_ms, r.days);
    enum err err = scope_is_all(scope) ? running_look(f, reader, &r, why)
                                       : reader->ops->figures->runs_running(reader, scope, r.days,
                                                                            FIGURES_REPORT_DAYS,
                                                                            now_ms, r.counts, why);
    for (int i = 0; !err && i < FIGURES_REPORT_DAYS; i++) {
        err = figures_report_day(f, reader, scope, r.days[i], &ret[i], why);
        ret[i].running = r.counts[i];
    }
    return err;
}

/* ---- a second reader ---------------------------------------------------------------------------
 */

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
