/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows a page of the log has, by the indexes that SQLite has for it: chunks of 4,096 ids. */
#include "base/mem.h"
#include "store/sql/log_row.h"
#include "store/sql/page.h"
#include "store/sqlite/sqlite_db.h"
#include <stdlib.h>
#include <sys/stat.h>

#define LOGS_COUNT_MAX 10001 /* rows of the log that are counted */

/* One job's rows, newest first, found one after the other: the next smaller id of the job in its
 * chunk of INDEX, or else the next chunk that has rows at all. Rows leave in the order in which
 * they are found, and nothing is read beyond the page, or beyond the chunk of the smallest id. ?1
 * the job, ?2 the largest id, ?3 the smallest. AND: a further condition on x, or nothing; WHERE:
 * the same, alone. */
#define JOB_LOG_FOUND(index, and)                                                                  \
    "(SELECT max(x.id) FROM xxl_job_log x INDEXED BY " index " WHERE x.id >> 12 = w.n AND "        \
    "x.job_id = ?1 AND x.id < ifnull(w.id, ?2 + 1)" and                                            \
        ")"
#define JOB_LOG_SELECT(index, and)                                                                 \
    "WITH RECURSIVE walk(n, id) AS ("                                                              \
    "SELECT max(x.id) >> 12, NULL FROM xxl_job_log x WHERE x.id <= ?2" and                         \
        " UNION ALL "                                                                              \
        "SELECT iif(" JOB_LOG_FOUND(index,                                                         \
                                    and) " IS NULL, (SELECT max(x.id) FROM xxl_job_log x WHERE "   \
                                         "x.id < w.n << 12 AND x.id >= ?3" and                     \
        ") >> 12, w.n), " JOB_LOG_FOUND(                                                           \
            index, and) " FROM walk w WHERE w.n IS NOT NULL) " SQL_LOG_COLUMNS                     \
                        "FROM walk CROSS JOIN xxl_job_log l ON l.id = walk.id" SQL_LOG_LIVE
#define JOB_LOG_COUNT(index, and)                                                                  \
    "WITH RECURSIVE chunk(n) AS (SELECT max(x.id) >> 12 FROM xxl_job_log x WHERE x.id <= ?2" and   \
        " UNION ALL SELECT (SELECT max(x.id) FROM xxl_job_log x WHERE x.id < chunk.n << 12 AND "   \
        "x.id >= ?3" and                                                                           \
        ") >> 12 FROM chunk WHERE chunk.n IS NOT NULL) SELECT l.id AS id FROM chunk CROSS JOIN "   \
        "xxl_job_log l INDEXED BY " index                                                          \
        " ON l.id >> 12 = chunk.n AND l.job_id = ?1" SQL_LOG_LIVE

/* Word for word the condition of the indexes over failures. */
#define FAILED(t) "(" t ".trigger_code NOT IN (0, 200) OR " t ".handle_code NOT IN (0, 200))"
#define FAILED_INDEX "i_log_job_failed"
#define JOB_INDEX "i_log_jobid"

/* What a page of the log reads, by its filter. */
static const struct log_walk {
    const char *select, *order, *count;
} log_walks[] = {
    { SQL_LOG_SELECT, " ORDER BY l.id DESC", "SELECT l.id AS id FROM xxl_job_log l" SQL_LOG_LIVE },
    { JOB_LOG_SELECT(JOB_INDEX, ""), "", JOB_LOG_COUNT(JOB_INDEX, "") },
    { JOB_LOG_SELECT(FAILED_INDEX, " AND " FAILED("x")), "",
      JOB_LOG_COUNT(FAILED_INDEX, " AND " FAILED("x")) },
};

static const struct log_walk *log_walk(const struct logs_filter *f)
{
    if (f->job_id <= 0 || f->status == 3) /* what runs is found by peal_run */
        return &log_walks[0];
    return f->status == 2 ? &log_walks[2] : &log_walks[1];
}

enum err sqlite_log_span(struct sqlite *s, int64_t from_ms, int64_t to_ms, int64_t *ret_low,
                         int64_t *ret_high, struct why *why)
{
    sqlite3_stmt *q;
    bool row, timed = from_ms >= 0 || to_ms >= 0;
    enum err err = timed ? sql_get(s,
                                   "SELECT min(first_id), max(last_id) FROM peal_log_span "
                                   "WHERE slot BETWEEN ?1 AND ?2",
                                   &q, why)
                         : sql_get(s,
                                   "SELECT (SELECT min(id) FROM xxl_job_log), "
                                   "(SELECT max(id) FROM xxl_job_log)",
                                   &q, why);
    if (err)
        return err;
    if (timed) {
        bind_i64(q, 1, from_ms >= 0 ? sqlite_span_slot(from_ms) : INT64_MIN);
        bind_i64(q, 2, to_ms >= 0 ? sqlite_span_slot(to_ms) : INT64_MAX);
    }
    err = sql_step(s, q, &row, why);
    if (err)
        return err;
    *ret_low = row ? col_i64(q, 0, 1) : 1;
    *ret_high = row ? col_i64(q, 1, 0) : 0;
    sqlite3_reset(q);
    return OK;
}

static void where_logs(struct sql_where *p, const struct logs_filter *f, int64_t low, int64_t high)
{
    if (f->job_id > 0) { /* the first three parameters: JOB_LOG_SELECT names them */
        where_number(p, "l.job_id = ", f->job_id);
        where_number(p, "l.id <= ", high);
        where_number(p, "l.id >= ", low);
    }
    if (f->group_id > 0)
        where_number(p, "l.job_group = ", f->group_id);
    where_scope(p, "l.job_group", f->scope, f->group_id);
    if (f->status == 1)
        where_add(p, "l.handle_code = 200");
    else if (f->status == 2)
        where_add(p, FAILED("l"));
    else if (f->status == 3)
        where_add(p, "l.trigger_code = 200 AND l.handle_code = 0 AND "
                     "l.id IN (SELECT log_id FROM peal_run)");
    if (f->now_ms > 0 && (f->status < 1 || f->status > 3)) /* those have codes already */
        where_number(p, "iif(r.phase = 1, r.due_ms, 0) <= ", f->now_ms);
    if (f->from_ms >= 0)
        where_number(p, "l.trigger_time >= ", f->from_ms);
    if (f->to_ms >= 0)
        where_number(p, "l.trigger_time <= ", f->to_ms);
    if (f->from_ms >= 0 || f->to_ms >= 0) {
        where_number(p, "l.id >= ", low);
        where_number(p, "l.id <= ", high);
    }
}

enum err sqlite_logs_page(struct store *store, const struct logs_filter *f, log_row_fn *fn,
                          void *ctx, int64_t *ret_total, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    int64_t low, high;
    enum err err = sqlite_log_span(s, f->from_ms, f->to_ms, &low, &high, why);
    if (err)
        return err;
    struct sql_where p;
    where_init(&p, &s->sql);
    where_logs(&p, f, low, high);
    const struct log_walk *walk = log_walk(f);
    const struct sql_page page = {
        .select = walk->select,
        .order = walk->order,
        .count = walk->count,
        .count_max = LOGS_COUNT_MAX,
        .low = low,
        .high = high >= low ? high : 0,
        .offset = f->offset,
        .limit = f->limit,
        .lend = sql_log_lend,
        .fn = &fn,
        .ctx = ctx,
    };
    return sql_page_run(&s->sql, &page, &p, ret_total, why);
}

/* ---- the last run that has come -------------------------------------------------------------- */

/* The newest of the schedule's runs whose scheduled time has come: planning has moved last_ms past
 * it. Found like JOB_LOG_SELECT finds a page, but in LAST_STEPS at most, so that a page of jobs
 * which all wait for one scheduled time costs milliseconds whatever the log holds; 0 then. */
#define LAST_STEPS "1000"
#define LAST_FOUND                                                                                 \
    "(SELECT max(x.id) FROM xxl_job_log x WHERE x.id >> 12 = w.n AND x.job_id = ?1 AND "           \
    "x.id < ifnull(w.id, w.n + 1 << 12))"
enum err sqlite_last_fired(struct sql *sql, int64_t job_id, int64_t now_ms, int64_t *ret_ms,
                           struct why *why)
{
    struct sqlite *s = (struct sqlite *)sql;
    sqlite3_stmt *q;
    enum err err = sql_get(
        s,
        "WITH RECURSIVE walk(n, id, step) AS (SELECT max(id) >> 12, NULL, 0 FROM xxl_job_log "
        "UNION ALL SELECT iif(" LAST_FOUND " IS NULL, "
        "(SELECT max(id) FROM xxl_job_log WHERE id < w.n << 12) >> 12, w.n), " LAST_FOUND
        ", w.step + 1 FROM walk w WHERE w.n IS NOT NULL AND w.step < " LAST_STEPS ") "
        "SELECT ifnull(r.moment_ms, l.trigger_time) FROM walk CROSS JOIN xxl_job_log l "
        "ON l.id = walk.id LEFT JOIN peal_run r ON r.log_id = l.id "
        "WHERE ifnull(r.moment_ms, l.trigger_time) <= ?2 "
        "AND (l.trigger_msg IS NULL OR l.trigger_msg GLOB 'cron: *') LIMIT 1",
        &q, why);
    if (err)
        return err;
    bind_i64(q, 1, job_id);
    bind_i64(q, 2, now_ms);
    return sql_number(s, q, 0, ret_ms, why);
}

enum err sqlite_facts(struct store *store, struct store_facts *ret, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    bool row;
    struct stat st;
    enum err err = sql_get(s,
                           "SELECT page_count * page_size, "
                           "(SELECT trigger_time FROM xxl_job_log ORDER BY id LIMIT 1) "
                           "FROM pragma_page_count, pragma_page_size",
                           &q, why);
    if (!err)
        err = sql_step(s, q, &row, why);
    if (err)
        return err;
    *ret = (struct store_facts){ .bytes = col_i64(q, 0, 0), .oldest_ms = col_i64(q, 1, -1) };
    sqlite3_reset(q);
    char *wal = mem_join(s->path, "-wal");
    if (stat(wal, &st) == 0)
        ret->log_bytes = (int64_t)st.st_size;
    free(wal);
    return OK;
}
