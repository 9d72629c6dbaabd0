/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of jobs on any engine that speaks SQL: by id, by name, by the next or the last scheduled
 * time. The statement first picks the ids of the page; what costs is read for them only. */
#include "base/buf.h"
#include "base/mem.h"
#include "store/sql/job_row.h"
#include "store/sql/page.h"
#include "store/sql/tables.h"
#include <stdio.h>
#include <string.h>

struct jobs_walk {
    struct sql *s;
    job_row_fn *fn;
    void *ctx;
    int64_t now_ms;
    enum err err;
    struct why *why;
};

static bool jobs_lend(struct sql_query *q, void *fn, void *ctx)
{
    (void)fn;
    struct jobs_walk *w = ctx;
    struct job_record r;
    int next = sql_job_read(w->s, q, &r);
    int64_t planned_ms = sql_i64(q, next, NEVER_MS), before_ms = sql_i64(q, next + 1, 0);
    if (planned_ms < r.next_ms)
        r.next_ms = planned_ms;
    if (w->now_ms > 0 && r.last_ms > w->now_ms) {
        w->err = w->s->driver->last_fired(w->s, r.id, w->now_ms, &r.last_ms, w->why);
        if (before_ms <= w->now_ms && r.last_ms < before_ms) /* its row of the log has gone */
            r.last_ms = before_ms;
    }
    r.key_ms = sql_i64(q, next + 2, 0);
    bool more = !w->err && w->fn(w->ctx, &r);
    job_record_done(&r);
    return more;
}

/* What is planned already and has not fired comes before what comes next. */
#define PLANNED_MS                                                                                 \
    "(SELECT moment_ms FROM peal_run WHERE job_id = j.id AND kind = 0 AND moment_ms > %lld "       \
    "AND phase = 1 ORDER BY moment_ms LIMIT 1)"
#define NEVER "9223372036854775807"

static bool by_last(const struct jobs_filter *f)
{
    return f->order == JOBS_LAST || f->order == JOBS_FIRED;
}

static bool downwards(const struct jobs_filter *f)
{
    return f->order == JOBS_NEWEST || f->order == JOBS_FIRED;
}

/* The key of what has not fired: behind all others. */
static const char *never_of(const struct jobs_filter *f)
{
    return f->order == JOBS_FIRED ? "0" : NEVER;
}

static long long come_by(const struct jobs_filter *f)
{
    return f->now_ms > 0 ? f->now_ms : INT64_MAX;
}

static int64_t planned_from(const struct jobs_filter *f)
{
    return f->now_ms > 0 ? f->now_ms : -INT64_MAX;
}

static void where_is(struct sql_where *p, const char *column, const char *text)
{
    if (!text)
        return;
    where_add(p, column);
    buf_printf(&p->where, " = ?%d", where_param(p, text, 0));
}

/* Of a row of peal_due (%s) whose last_ms lies ahead, and of any. */
#define AHEAD_KEY "CASE WHEN %s.before_ms > 0 THEN %s(%s.before_ms, %lld) ELSE %s END"
#define LAST_KEY                                                                                   \
    "CASE WHEN coalesce(d.last_ms, 0) <= 0 THEN %s WHEN d.last_ms <= %lld THEN d.last_ms "         \
    "ELSE " AHEAD_KEY " END"

/* The order as SQL: its key (empty: the id alone) and its direction. */
static const char *jobs_key_of(const struct jobs_filter *f, const char *least, struct buf *text)
{
    if (f->order == JOBS_NAME)
        buf_text(text, "substr(j.job_desc, 1, " TEXT_OF(JOBS_NAME_KEY) ")");
    else if (f->order == JOBS_NEXT)
        buf_printf(text, "%s(coalesce(d.next_ms, " NEVER "), coalesce(" PLANNED_MS ", " NEVER "))",
                   least, (long long)planned_from(f));
    else if (by_last(f))
        buf_printf(text, LAST_KEY, never_of(f), come_by(f), "d", least, "d", come_by(f),
                   never_of(f));
    return downwards(f) ? "DESC" : "ASC";
}

/* By a scheduled time among all jobs, or those of many groups: the jobs of few are sorted. */
static bool walks_times(const struct jobs_filter *f)
{
    return (f->order == JOBS_NEXT || by_last(f)) && f->id <= 0 && f->group_id <= 0 &&
           (scope_is_all(f->scope) || f->scope->n > 8);
}

/* Behind the last row of the page before. */
static void where_after(struct sql_where *p, const struct jobs_filter *f)
{
    if (!f->after)
        return;
    struct buf key = BUF_INIT(1024);
    jobs_key_of(f, p->driver->least, &key);
    buf_text(&p->key, p->where.len ? " AND " : " WHERE ");
    if (key.len) {
        const char *name = f->order == JOBS_NAME ? f->after->name : NULL;
        where_param(p, name, f->after->key_ms);
        where_param(p, NULL, f->after->id);
        p->nkey = 2;
        buf_printf(&p->key,
                   name ? "(%s, j.id) %c (substr(?%d, 1, " TEXT_OF(JOBS_NAME_KEY) "), ?%d)"
                        : "(%s, j.id) %c (?%d, ?%d)",
                   walks_times(f) ? "c.key_ms" : buf_str(&key), downwards(f) ? '<' : '>', p->n - 1,
                   p->n);
    } else {
        p->nkey = 1;
        buf_printf(&p->key, "j.id %c ?%d", downwards(f) ? '<' : '>',
                   where_param(p, NULL, f->after->id));
    }
    buf_done(&key);
}

static void where_only(struct sql_where *p, const int64_t *ids, size_t n)
{
    where_add(p, "j.id IN (");
    for (size_t i = 0; i < n; i++)
        buf_printf(&p->where, "%s%lld", i ? ", " : "", (long long)ids[i]);
    buf_text(&p->where, ")");
}

/* Few jobs start others: an index has just those. */
static void where_child(struct sql_where *p, int64_t child)
{
    if (child <= 0)
        return;
    where_add(p, "");
    buf_printf(&p->where,
               "j.id IN (SELECT id FROM xxl_job_info WHERE child_jobid IS NOT NULL "
               "AND child_jobid <> '' AND ',' || replace(child_jobid, ' ', '') || ',' "
               "LIKE '%%,%lld,%%')",
               (long long)child);
}

static void jobs_where(struct sql_where *p, const struct jobs_filter *f)
{
    if (f->id > 0)
        where_number(p, "j.id = ", f->id);
    if (f->only)
        where_only(p, f->only, f->nonly);
    where_child(p, f->child);
    if (f->group_id > 0)
        where_number(p, "j.job_group = ", f->group_id);
    where_scope(p, "j.job_group", f->scope, f->group_id);
    if (f->status == 0)
        where_add(p, "(j.trigger_status IS NULL OR j.trigger_status <> 1)");
    else if (f->status > 0)
        where_number(p, "j.trigger_status = ", f->status == 1 ? 1 : INT64_MIN);
    where_has(p, "j.job_desc", f->description);
    where_has(p, "j.executor_handler", f->handler);
    where_has(p, "j.author", f->author);
    where_is(p, "j.schedule_type", f->type);
    where_is(p, "j.author", f->owner);
    static const char *const columns[] = { "j.job_desc", "j.executor_handler", "j.author" };
    where_all_words(p, columns, countof(columns), "j.id", f->words);
}

struct jobs_text { /* the page's statement around its WHERE clause */
    struct buf select, order, rest;
};

/* ---- by a scheduled time ----------------------------------------------------------------------
 */

/* The conditions of a part, and where the page begins in the order of key and id. */
static void part_where(const struct sql_where *p, const struct jobs_filter *f, const char *key,
                       struct buf *text)
{
    const char *where = buf_str(&p->where);
    if (where[0])
        buf_printf(text, " AND %s", where + strlen(" WHERE "));
    if (f->after)
        buf_printf(text, " AND (%s, j.id) %c (?%d, ?%d)", key, downwards(f) ? '<' : '>', p->n - 1,
                   p->n);
}

/* The jobs that a page by next scheduled time is made of, with these times, from three places:
 * what is planned and has not fired comes before what comes next, and is few rows; the others
 * follow by the index of peal_due, and those that never fire by id. A place gives a page at most,
 * so that a page costs the same however many jobs there are. */
static void walk_next(const struct jobs_filter *f, const struct sql_where *p, struct buf *text)
{
    long long rows = f->offset + f->limit;
    buf_printf(text,
               "WITH planned(id, key_ms) AS (SELECT r.job_id, min(r.moment_ms) FROM peal_run r "
               "WHERE r.kind = 0 AND r.phase = 1 AND r.moment_ms > %lld GROUP BY r.job_id), "
               "soon(id, key_ms) AS (SELECT j.id, %s(c.key_ms, coalesce(d.next_ms, " NEVER ")) "
               "FROM planned c CROSS JOIN xxl_job_info j LEFT JOIN peal_due d ON d.job_id = j.id "
               "WHERE j.id = c.id",
               (long long)planned_from(f), p->driver->least);
    part_where(p, f, "c.key_ms", text);
    buf_text(text, "), later(id, key_ms) AS (SELECT j.id, c.next_ms FROM peal_due c "
                   "CROSS JOIN xxl_job_info j WHERE j.id = c.job_id AND c.next_ms IS NOT NULL "
                   "AND j.id NOT IN (SELECT id FROM planned)");
    part_where(p, f, "c.next_ms", text);
    buf_printf(
        text,
        " ORDER BY c.next_ms, c.job_id LIMIT %lld), "
        "few(n) AS (SELECT n FROM (SELECT count(*) AS n FROM later) AS found WHERE n < %lld), "
        "never(id, key_ms) AS (SELECT j.id, " NEVER " FROM few CROSS JOIN xxl_job_info j "
        "LEFT JOIN peal_due d ON d.job_id = j.id WHERE d.next_ms IS NULL "
        "AND j.id NOT IN (SELECT id FROM planned)",
        rows, rows);
    part_where(p, f, NEVER, text);
    buf_printf(text,
               " ORDER BY j.id LIMIT %lld), candidate(id, key_ms) AS (SELECT id, key_ms FROM soon "
               "UNION ALL SELECT id, key_ms FROM later UNION ALL SELECT id, key_ms FROM never), "
               "picked(id) AS (SELECT j.id FROM candidate c JOIN xxl_job_info j ON j.id = c.id",
               rows);
}

/* The same by the last scheduled time: those of which one is planned ahead, which are few rows, by
 * the one before; by the index of peal_due those whose last one has come; by id those that have not
 * fired. */
static void walk_last(const struct jobs_filter *f, const struct sql_where *p, struct buf *text)
{
    long long rows = f->offset + f->limit, now = come_by(f);
    const char *way = downwards(f) ? "DESC" : "ASC", *least = p->driver->least;
    buf_text(text, "WITH ahead(id, key_ms) AS (SELECT c.job_id, ");
    buf_printf(text, AHEAD_KEY, "c", least, "c", now, never_of(f));
    buf_printf(text,
               " FROM peal_due c WHERE c.last_ms > %lld AND c.last_ms > 0), "
               "soon(id, key_ms) AS (SELECT j.id, c.key_ms "
               "FROM ahead c CROSS JOIN xxl_job_info j WHERE j.id = c.id",
               now);
    part_where(p, f, "c.key_ms", text);
    buf_text(text, "), fired(id, key_ms) AS (SELECT j.id, c.last_ms FROM peal_due c "
                   "CROSS JOIN xxl_job_info j WHERE j.id = c.job_id");
    if (f->after) /* SQLite seeks the first of several bounds */
        buf_printf(text, " AND c.last_ms %s ?%d", downwards(f) ? "<=" : ">=", p->n - 1);
    buf_printf(text, " AND c.last_ms > 0 AND c.last_ms <= %lld", now);
    part_where(p, f, "c.last_ms", text);
    buf_printf(text,
               " ORDER BY c.last_ms %s, c.job_id %s LIMIT %lld), "
               "few(n) AS (SELECT n FROM (SELECT count(*) AS n FROM fired) AS found "
               "WHERE n < %lld), never(id, key_ms) AS (SELECT j.id, %s FROM few "
               "CROSS JOIN xxl_job_info j LEFT JOIN peal_due d ON d.job_id = j.id "
               "WHERE coalesce(d.last_ms, 0) <= 0",
               way, way, rows, rows, never_of(f));
    part_where(p, f, never_of(f), text);
    buf_printf(text,
               " ORDER BY j.id %s LIMIT %lld), candidate(id, key_ms) AS (SELECT id, key_ms "
               "FROM soon UNION ALL SELECT id, key_ms FROM fired "
               "UNION ALL SELECT id, key_ms FROM never), "
               "picked(id) AS (SELECT j.id FROM candidate c JOIN xxl_job_info j ON j.id = c.id",
               way, rows);
}

/* ---- the page -------------------------------------------------------------------------------- */

/* The ids of the page come first, so that what costs is read for its rows only. */
static void compose_jobs(const struct jobs_filter *f, const struct sql_where *p,
                         struct jobs_text *t)
{
    struct buf key = BUF_INIT(1024);
    const char *way = jobs_key_of(f, p->driver->least, &key);
    char behind[8] = "";
    if (key.len)
        snprintf(behind, sizeof(behind), " %s, ", way);
    if (walks_times(f) && by_last(f))
        walk_last(f, p, &t->select);
    else if (walks_times(f))
        walk_next(f, p, &t->select);
    else
        buf_text(&t->select, "WITH picked(id) AS (SELECT j.id FROM xxl_job_info j "
                             "LEFT JOIN peal_due d ON d.job_id = j.id");
    buf_printf(&t->order, " ORDER BY %s%sj.id %s", walks_times(f) ? "c.key_ms" : buf_str(&key),
               behind, way);
    buf_text(&t->rest, ") SELECT ");
    sql_job_columns(&t->rest);
    buf_printf(&t->rest, ", " PLANNED_MS ", d.before_ms, %s" SQL_JOB_TABLES,
               (long long)planned_from(f),
               f->order == JOBS_NEXT || by_last(f) ? buf_str(&key) : "0");
    buf_printf(&t->rest, "WHERE j.id IN (SELECT id FROM picked) ORDER BY %s%sj.id %s",
               buf_str(&key), behind, way);
    buf_done(&key);
}

enum err sql_jobs_page(struct store *store, const struct jobs_filter *f, job_row_fn *fn, void *ctx,
                       int64_t *ret_total, struct why *why)
{
    struct jobs_walk walk = { sql_of(store), fn, ctx, f->now_ms, OK, why };
    struct jobs_text t = { BUF_INIT(65536), BUF_INIT(4096), BUF_INIT(8192) };
    struct sql_where p;
    where_init(&p, sql_of(store));
    jobs_where(&p, f);
    where_after(&p, f);
    compose_jobs(f, &p, &t);
    const struct sql_page page = {
        .select = buf_str(&t.select),
        .order = buf_str(&t.order),
        .rest = buf_str(&t.rest),
        .count = "SELECT j.id AS id FROM xxl_job_info j",
        .count_order = "",
        .count_all = f->count_max ? NULL : "SELECT count(*) FROM xxl_job_info",
        .count_max = f->count_max ? f->count_max : SQL_COUNT_MAX,
        .offset = f->offset,
        .limit = f->limit,
        .lend = jobs_lend,
        .ctx = &walk,
    };
    enum err err = sql_page_run(walk.s, &page, &p, ret_total, why);
    buf_done(&t.select);
    buf_done(&t.order);
    buf_done(&t.rest);
    return err ? err : walk.err;
}
