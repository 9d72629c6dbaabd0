/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows a page of the log has, by the indexes that SQLite has for it: chunks of 4,096 ids. */
#include "base/mem.h"
#include "store/sql/log_walk.h"
#include "store/sqlite/sqlite_db.h"
#include <stdlib.h>
#include <sys/stat.h>

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

#define FAILED_INDEX "i_log_job_failed"
#define JOB_INDEX "i_log_jobid"

static const struct sql_log_walk walks[SQL_LOG_WALKS] = {
    [SQL_LOG_ALL] = SQL_LOG_WALK_ALL,
    [SQL_LOG_JOB] = { JOB_LOG_SELECT(JOB_INDEX, ""), "", JOB_LOG_COUNT(JOB_INDEX, "") },
    [SQL_LOG_JOB_FAILED] = { JOB_LOG_SELECT(FAILED_INDEX, " AND " SQL_LOG_FAILED("x")), "",
                             JOB_LOG_COUNT(FAILED_INDEX, " AND " SQL_LOG_FAILED("x")) },
};

enum err sqlite_logs_page(struct store *store, const struct logs_filter *f, log_row_fn *fn,
                          void *ctx, int64_t *ret_total, struct why *why)
{
    return sql_logs_page(store, walks, f, fn, ctx, ret_total, why);
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
