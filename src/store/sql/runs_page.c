/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of runs by key, and a bound of what one page looks at.
 *
 * A page walks down in slices. The filter decides what is walked over: live rows, failures by their
 * index, the rows of some jobs by theirs, chunk by chunk, stories, or all rows. Of each slice it is
 * known beforehand how many rows it has at most, so the bound holds whatever the other conditions
 * leave; these are SQL where that is cheap, and store_run_matches has the last word, as for every
 * engine.
 */
#include "base/mem.h"
#include "model/log_outcome.h"
#include "store/shared.h"
#include "store/sql/log_walk.h"
#include "store/sql/tables.h"

#define SLICE 4096

#define FAILED SQL_LOG_FAILED

/* ?1 chunk, ?2 smallest id, ?3 below, ?4 address. {JOBS}: a list of ids. */
static const struct over {
    /* The slice: how many rows, and the smallest id; the parts before and behind {JOBS}. NULL: so
     * many ids from the newest row on. */
    const char *slice, *slice_rest;
    const char *from; /* the rows of the slice */
    bool jobs;        /* needs {JOBS}; a slice is a chunk */
} overs[] = {
    { "SELECT count(*), min(log_id) FROM (SELECT log_id FROM peal_run WHERE log_id >= ?2 "
      "AND log_id < ?3 ORDER BY log_id DESC LIMIT 4096) AS slice",
      "",
      "FROM peal_run r CROSS JOIN xxl_job_log l WHERE l.id = r.log_id AND r.log_id >= ?2 "
      "AND r.log_id < ?3",
      false },
    { "SELECT count(*), min(id) FROM (SELECT x.id FROM xxl_job_log x{by i_log_job_failed} "
      "WHERE " FAILED("x") " AND x.id >> 12 = ?1 AND x.id >= ?2 AND x.id < ?3 AND x.job_id IN (",
      ")) AS slice",
      "FROM xxl_job_log l{by i_log_job_failed}" SQL_LOG_LIVE
      " WHERE " FAILED("l") " AND l.id >> 12 = ?1 AND l.id >= ?2 AND l.id < ?3 AND l.job_id IN (",
      true },
    { "SELECT count(*), min(id) FROM (SELECT id FROM xxl_job_log{by i_log_jobid} "
      "WHERE id >> 12 = ?1 AND id >= ?2 AND id < ?3 AND job_id IN (",
      ")) AS slice",
      "FROM xxl_job_log l{by i_log_jobid}" SQL_LOG_LIVE " WHERE l.id >> 12 = ?1 "
      "AND l.id >= ?2 AND l.id < ?3 AND l.job_id IN (",
      true },
    { "SELECT count(*), min(id) FROM (SELECT x.id FROM xxl_job_log x{by i_log_failed} "
      "WHERE " FAILED("x") " AND x.id >= ?2 AND x.id < ?3 ORDER BY x.id DESC LIMIT 4096) AS slice",
      "",
      "FROM xxl_job_log l{by i_log_failed}" SQL_LOG_LIVE
      " WHERE " FAILED("l") " AND l.id >= ?2 AND l.id < ?3",
      false },
    { NULL, "", "FROM xxl_job_log l" SQL_LOG_LIVE " WHERE l.id >= ?2 AND l.id < ?3", false },
    { "SELECT count(*), min(log_id) FROM (SELECT log_id FROM peal_story WHERE log_id >= ?2 "
      "AND log_id < ?3 ORDER BY log_id DESC LIMIT 4096) AS slice",
      "",
      "FROM peal_story s CROSS JOIN xxl_job_log l" SQL_LOG_LIVE
      " WHERE l.id = s.log_id AND s.log_id >= ?2 AND s.log_id < ?3",
      false },
};

static const struct over *over_of(const struct runs_filter *f)
{
    if (f->unknown || f->outcomes == LOG_OUTCOME_BIT(LOG_OPEN))
        return &overs[0];
    if (f->told && !f->njobs)
        return &overs[5];
    bool failed = f->outcomes && !(f->outcomes & ~LOG_OUTCOMES_FAILED);
    return f->njobs ? &overs[failed ? 1 : 2] : &overs[failed ? 3 : 4];
}

struct walk {
    struct sql *s;
    const struct runs_filter *f;
    const struct over *over;
    struct sql_query *slice, *rows;
    log_row_fn *fn;
    void *ctx;
    int64_t low, below, looked;
    struct runs_end *end;
    int64_t given;
};

/* ---- statements ------------------------------------------------------------------------------ */

static void write_ids(struct buf *b, const int64_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(b, "%s%lld", i ? "," : "", (long long)ids[i]);
    if (n == 0)
        buf_text(b, "NULL");
}

static void write_scope(struct buf *b, const struct scope *scope)
{
    if (scope_is_all(scope))
        return;
    buf_text(b, " AND l.job_group IN (");
    write_ids(b, scope->ids, scope->n);
    buf_char(b, ')');
}

/* Conditions that leave out many rows before they are read whole. */
static void write_filter(struct buf *b, const struct runs_filter *f)
{
    write_scope(b, f->scope);
    write_scope(b, f->groups);
    if (f->address)
        buf_text(b, " AND l.executor_address = ?4");
    if (f->outcomes == LOG_OUTCOME_BIT(LOG_SUCCEEDED))
        buf_text(b, " AND l.handle_code = 200");
    if (f->from_ms >= 0)
        buf_printf(b, " AND {ms l.trigger_time} >= %lld", (long long)f->from_ms);
    if (f->to_ms >= 0)
        buf_printf(b, " AND {ms l.trigger_time} < %lld", (long long)f->to_ms);
    if (f->told)
        buf_text(b, " AND EXISTS (SELECT 1 FROM peal_story t WHERE t.log_id = l.id)");
    if (f->now_ms > 0)
        buf_printf(b, " AND CASE WHEN r.phase = 1 THEN r.due_ms ELSE 0 END <= %lld",
                   (long long)f->now_ms);
}

static enum err prepare(struct walk *w, struct why *why)
{
    const struct runs_filter *f = w->f;
    struct buf slice = BUF_INIT(65536), rows = BUF_INIT(262144);
    if (w->over->slice)
        buf_text(&slice, w->over->slice);
    buf_text(&rows, SQL_LOG_COLUMNS);
    buf_text(&rows, w->over->from);
    if (w->over->jobs) {
        write_ids(&slice, f->jobs, f->njobs);
        write_ids(&rows, f->jobs, f->njobs);
        buf_char(&rows, ')');
    }
    buf_text(&slice, w->over->slice_rest);
    write_filter(&rows, f);
    buf_text(&rows, " ORDER BY l.id DESC");
    enum err err = slice.failed || rows.failed ? ERR_TOOBIG : OK;
    if (!err && w->over->slice)
        err = sql_query_once(w->s, buf_str(&slice), &w->slice, why);
    if (!err)
        err = sql_query_once(w->s, buf_str(&rows), &w->rows, why);
    buf_done(&slice);
    buf_done(&rows);
    return err;
}

static void bind(const struct walk *w, struct sql_query *q, int64_t low)
{
    sql_reset(q);
    sql_bind_i64(q, 1, low >> 12);
    sql_bind_i64(q, 2, low);
    sql_bind_i64(q, 3, w->below);
    if (w->f->address && q == w->rows)
        sql_bind_text(q, 4, w->f->address);
}

/* ---- walking --------------------------------------------------------------------------------- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The slice by its newest row: the chunk of that row, or so many ids. The rows are not counted:
 * that would read them twice. */
static enum err slice_of_ids(struct walk *w, int64_t *ret_low, int64_t *ret_n, bool *ret_end,
                             struct why *why)
{
    int64_t newest = 0;
    struct sql_query *q;
    enum err err = sql_query(w->s, "SELECT max(id) FROM xxl_job_log WHERE id < ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, w->below);
    err = sql_one(q, INT64_MIN, &newest, why);
    *ret_end = newest < w->low;
    if (err || *ret_end)
        return err;
    int64_t low = w->over->jobs ? newest & ~(int64_t)(SLICE - 1) : newest - (SLICE - 1);
    *ret_low = larger(low, w->low);
    *ret_n = newest - *ret_low + 1;
    return OK;
}

/* The next slice: *ret_low where it begins, *ret_n its rows. *ret_end: there is none. */
static enum err next_slice(struct walk *w, int64_t *ret_low, int64_t *ret_n, bool *ret_end,
                           struct why *why)
{
    bool row;
    enum err err = OK;
    if (w->over->jobs || !w->over->slice)
        err = slice_of_ids(w, ret_low, ret_n, ret_end, why);
    if (err || *ret_end || !w->over->slice)
        return err;
    int64_t low = w->over->jobs ? *ret_low : w->low;
    bind(w, w->slice, low);
    err = sql_next(w->slice, &row, why);
    if (err)
        return err;
    *ret_n = sql_i64(w->slice, 0, 0);
    *ret_low = w->over->jobs ? low : sql_i64(w->slice, 1, low);
    *ret_end = !w->over->jobs && *ret_n == 0;
    sql_reset(w->slice);
    return OK;
}

/* One row that matches in SQL. False: enough. */
static bool take(struct walk *w)
{
    const struct runs_filter *f = w->f;
    struct log_record r;
    sql_log_read(w->rows, &r);
    bool more = true;
    if (store_run_matches(f, &r)) {
        w->below = r.id;
        w->end->counted++;
        if (w->given >= f->limit) {
            w->end->more = true;
            more = w->end->counted < f->count_max;
        } else {
            w->given++;
            w->end->below_id = r.id;
            more = w->fn(w->ctx, &r);
        }
    }
    log_record_done(&r);
    return more;
}

static enum err walk_slice(struct walk *w, int64_t low, bool *ret_enough, struct why *why)
{
    bool row = true;
    enum err err = OK;
    bind(w, w->rows, low);
    while (!err && !*ret_enough) {
        err = sql_next(w->rows, &row, why);
        if (err || !row)
            break;
        *ret_enough = !take(w);
    }
    sql_reset(w->rows);
    return err;
}

/* A page that is not full goes on where the walk has stopped. */
static void stopped(struct walk *w)
{
    w->end->more = true;
    if (w->given < w->f->limit)
        w->end->below_id = w->below;
}

static enum err walk_all(struct walk *w, struct why *why)
{
    bool enough = false, end = false;
    enum err err = OK;
    while (!err && !enough && !end) {
        int64_t low = w->low, n = 0;
        if (w->looked >= RUNS_LOOK_MAX) {
            stopped(w);
            return OK;
        }
        err = next_slice(w, &low, &n, &end, why);
        if (!err && !end && n > 0)
            err = walk_slice(w, low, &enough, why);
        if (!err && !end && !enough) {
            w->looked += n + 1;
            w->below = low;
        }
    }
    w->end->exact = !err && end;
    return err;
}

enum err sql_runs_page(struct store *store, const struct runs_filter *f, log_row_fn *fn, void *ctx,
                       struct runs_end *ret, struct why *why)
{
    struct walk w = {
        .s = sql_of(store), .f = f, .over = over_of(f), .fn = fn, .ctx = ctx, .end = ret
    };
    bool own = false;
    int64_t high = 0;
    *ret = (struct runs_end){ 0 };
    enum err err = w.s->driver->page_begin(w.s, &own, why);
    if (!err)
        err = sql_log_span(w.s, f->from_ms, f->to_ms < 0 ? -1 : f->to_ms - 1, &w.low, &high, why);
    if (!err)
        err = prepare(&w, why);
    if (w.low < f->low_id)
        w.low = f->low_id;
    w.below = high < f->below_id - 1 ? high + 1 : f->below_id;
    if (!err)
        err = walk_all(&w, why);
    if (err == ERR_TIMEOUT && w.below < INT64_MAX) { /* the page's second is over */
        stopped(&w);
        err = OK;
    }
    sql_query_end(w.slice);
    sql_query_end(w.rows);
    w.s->driver->page_end(w.s, own);
    return err;
}
