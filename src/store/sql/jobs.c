/* SPDX-License-Identifier: Apache-2.0 */
/* The definitions of jobs, and pages of them, on any engine that speaks SQL. A job is a row in
 * three tables; the two that are ours are written whole, because another program may have left
 * them out. */
#include "base/buf.h"
#include "base/mem.h"
#include "store/sql/job_row.h"
#include "store/sql/page.h"
#include "store/sql/tables.h"

/* ---- reading --------------------------------------------------------------------------------- */

enum err sql_job_get(struct store *store, int64_t id, struct job_record *ret, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_row_by_id(s, s->job_texts[SQL_JOB_GET], "job", id, &q, why);
    if (err)
        return err;
    sql_job_read(s, q, ret);
    sql_reset(q);
    return OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static enum err side_put(struct sql *s, const char *forget, const struct job_record *r,
                         enum sql_job_text text, enum job_table table, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_change_by_id(s, forget, r->id, NULL, why);
    if (!err)
        err = sql_query(s, s->job_texts[text], &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->id);
    sql_job_bind(q, 2, r, table);
    return sql_do(q, why);
}

/* peal_job and peal_due: written whole, whether or not another program left the rows out. */
static enum err sides_put(struct sql *s, const struct job_record *r, struct why *why)
{
    enum err err =
        side_put(s, "DELETE FROM peal_job WHERE job_id = ?1", r, SQL_JOB_PUT_OWN, JOB_OWN, why);
    return err ? err
               : side_put(s, "DELETE FROM peal_due WHERE job_id = ?1", r, SQL_JOB_PUT_DUE, JOB_DUE,
                          why);
}

enum err sql_job_insert(struct store *store, struct job_record *r, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s, s->job_texts[SQL_JOB_INSERT], &q, why);
    if (err)
        return err;
    sql_job_bind(q, 1, r, JOB_INFO);
    err = sql_insert(q, &r->id, why);
    return err ? err : sides_put(s, r, why);
}

enum err sql_job_update(struct store *store, const struct job_record *r, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s, s->job_texts[SQL_JOB_UPDATE], &q, why);
    if (err)
        return err;
    int64_t rows = 0;
    sql_bind_i64(q, sql_job_bind(q, 1, r, JOB_INFO), r->id);
    err = sql_change(q, &rows, why);
    if (err)
        return err;
    return rows ? sides_put(s, r, why) : sql_none("job", r->id, why);
}

enum err sql_jobs_get(struct store *store, const int64_t *ids, int n, job_row_fn *fn, void *ctx,
                      struct why *why)
{
    enum err err = OK;
    bool more = true;
    for (int i = 0; more && i < n; i++) { /* on SQLite a list in one statement is no quicker */
        struct why missing = { "" };
        struct job_record r;
        err = sql_job_get(store, ids[i], &r, &missing);
        if (err == ERR_NOTFOUND)
            continue;
        if (err) {
            why_set(why, "%s", missing.text);
            return err;
        }
        more = fn(ctx, &r);
        job_record_done(&r);
    }
    return OK;
}

/* The reason, in a row that another program may have left out. */
static enum err reason_put(struct sql *s, int64_t id, const char *reason, struct why *why)
{
    static const char *const texts[] = {
        "UPDATE peal_job SET stop_reason = ?1 WHERE job_id = ?2",
        "INSERT INTO peal_job (stop_reason, job_id) VALUES (?1, ?2)",
    };
    int64_t rows = 0;
    enum err err = OK;
    for (size_t i = 0; !err && !rows && i < countof(texts); i++) {
        struct sql_query *q;
        err = sql_query(s, texts[i], &q, why);
        if (err)
            break;
        sql_bind_text(q, 1, reason);
        sql_bind_i64(q, 2, id);
        err = sql_change(q, &rows, why);
    }
    return err;
}

static enum err stop_one(struct sql *s, int64_t id, const char *reason, int64_t now_ms,
                         struct why *why)
{
    struct sql_query *q;
    int64_t rows = 0;
    enum err err = sql_query(
        s, "UPDATE xxl_job_info SET trigger_status = 0, update_time = ?1 WHERE id = ?2", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, now_ms);
    sql_bind_i64(q, 2, id);
    err = sql_change(q, &rows, why);
    if (err || !rows)
        return err;
    err =
        sql_change_by_id(s, "UPDATE peal_due SET next_ms = NULL WHERE job_id = ?1", id, NULL, why);
    return err ? err : reason_put(s, id, reason, why);
}

enum err sql_jobs_stop(struct store *store, const struct job_stop *stops, int n, int64_t now_ms,
                       struct why *why)
{
    struct sql *s = sql_of(store);
    enum err err = OK;
    for (int i = 0; !err && i < n; i++)
        err = stop_one(s, stops[i].job_id, stops[i].reason, now_ms, why);
    return err;
}

enum err sql_job_delete(struct store *store, int64_t id, struct why *why)
{
    static const char *const rest[] = {
        "DELETE FROM xxl_job_logglue WHERE job_id = ?1", "DELETE FROM peal_job WHERE job_id = ?1",
        "DELETE FROM peal_due WHERE job_id = ?1",        "DELETE FROM peal_skip WHERE job_id = ?1",
        "DELETE FROM peal_job_stat WHERE job_id = ?1",   "DELETE FROM peal_purge WHERE job_id = ?1",
        "INSERT INTO peal_purge (job_id) VALUES (?1)",
    };
    struct sql *s = sql_of(store);
    int64_t gone = 0;
    enum err err = sql_change_by_id(s, "DELETE FROM xxl_job_info WHERE id = ?1", id, &gone, why);
    if (!err && !gone)
        return sql_none("job", id, why);
    for (size_t i = 0; !err && i < countof(rest); i++)
        err = sql_change_by_id(s, rest[i], id, NULL, why);
    return err;
}

/* ---- pages ----------------------------------------------------------------------------------- */

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
    int64_t planned_ms = sql_i64(q, next, NEVER_MS);
    if (planned_ms < r.next_ms)
        r.next_ms = planned_ms;
    if (w->now_ms > 0 && r.last_ms > w->now_ms)
        w->err = w->s->driver->last_fired(w->s, r.id, w->now_ms, &r.last_ms, w->why);
    bool more = !w->err && w->fn(w->ctx, &r);
    job_record_done(&r);
    return more;
}

/* What is planned already and has not fired comes before what comes next. */
#define PLANNED_MS                                                                                 \
    "(SELECT moment_ms FROM peal_run WHERE job_id = j.id AND kind = 0 AND moment_ms > %lld "       \
    "AND phase = 1 ORDER BY moment_ms LIMIT 1)"
#define NEVER "9223372036854775807"

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

/* The order as SQL: its key (empty: the id alone) and its direction. */
static const char *jobs_key_of(const struct jobs_filter *f, const char *least, struct buf *text)
{
    if (f->order == JOBS_NAME)
        buf_text(text, "substr(j.job_desc, 1, " TEXT_OF(JOBS_NAME_KEY) ")");
    else if (f->order == JOBS_NEXT)
        buf_printf(text, "%s(coalesce(d.next_ms, " NEVER "), coalesce(" PLANNED_MS ", " NEVER "))",
                   least, (long long)planned_from(f));
    return f->order == JOBS_NEWEST ? "DESC" : "ASC";
}

/* Behind the last row of the page before. */
static void where_after(struct sql_where *p, const struct jobs_filter *f, const char *key)
{
    if (!f->after)
        return;
    buf_text(&p->key, p->where.len ? " AND " : " WHERE ");
    if (key[0]) {
        const char *name = f->order == JOBS_NAME ? f->after->name : NULL;
        where_param(p, name, f->after->next_ms);
        where_param(p, NULL, f->after->id);
        p->nkey = 2;
        buf_printf(&p->key,
                   name ? "(%s, j.id) > (substr(?%d, 1, " TEXT_OF(JOBS_NAME_KEY) "), ?%d)"
                        : "(%s, j.id) > (?%d, ?%d)",
                   key, p->n - 1, p->n);
        return;
    }
    p->nkey = 1;
    buf_printf(&p->key, "j.id %c ?%d", f->order == JOBS_NEWEST ? '<' : '>',
               where_param(p, NULL, f->after->id));
}

static void jobs_where(struct sql_where *p, const struct jobs_filter *f)
{
    if (f->id > 0)
        where_number(p, "j.id = ", f->id);
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

/* The ids of the page come first, so that what costs is read for its rows only. */
static void compose_jobs(const struct jobs_filter *f, const char *key, const char *way,
                         struct buf *order, struct buf *rest)
{
    buf_printf(order, " ORDER BY %s%sj.id %s", key, key[0] ? ", " : "", way);
    buf_text(rest, ") SELECT ");
    sql_job_columns(rest);
    buf_printf(rest, ", " PLANNED_MS SQL_JOB_TABLES, (long long)planned_from(f));
    buf_printf(rest, "WHERE j.id IN (SELECT id FROM picked)%s", buf_str(order));
}

enum err sql_jobs_page(struct store *store, const struct jobs_filter *f, job_row_fn *fn, void *ctx,
                       int64_t *ret_total, struct why *why)
{
    struct jobs_walk walk = { sql_of(store), fn, ctx, f->now_ms, OK, why };
    struct buf key = BUF_INIT(1024), order = BUF_INIT(4096), rest = BUF_INIT(8192);
    struct sql_where p;
    where_init(&p, sql_of(store));
    jobs_where(&p, f);
    const char *way = jobs_key_of(f, p.driver->least, &key);
    where_after(&p, f, buf_str(&key));
    compose_jobs(f, buf_str(&key), way, &order, &rest);
    const struct sql_page page = {
        .select = "WITH picked(id) AS (SELECT j.id FROM xxl_job_info j "
                  "LEFT JOIN peal_due d ON d.job_id = j.id",
        .order = buf_str(&order),
        .rest = buf_str(&rest),
        .count = "SELECT j.id AS id FROM xxl_job_info j",
        .count_order = "",
        .count_max = f->count_max ? f->count_max : SQL_COUNT_MAX,
        .offset = f->offset,
        .limit = f->limit,
        .lend = jobs_lend,
        .ctx = &walk,
    };
    enum err err = sql_page_run(walk.s, &page, &p, ret_total, why);
    buf_done(&key);
    buf_done(&order);
    buf_done(&rest);
    return err ? err : walk.err;
}
