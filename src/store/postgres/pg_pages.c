/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of the log a page has, by the index in chunks of 4,096 ids: from the newest chunk
 * down, and in each the rows of the job, sorted. A page that is full looks no further: the server
 * goes on in a recursion, and from a chunk to the next, only as far as rows are asked for. */
#include "store/postgres/pg.h"
#include "store/sql/log_walk.h"

#define CHUNKS(and)                                                                                \
    "WITH RECURSIVE chunk(n) AS (SELECT max(x.id) >> 12 FROM xxl_job_log x WHERE x.id <= ?2" and   \
        " UNION ALL SELECT (SELECT max(x.id) FROM xxl_job_log x WHERE x.id < c.n << 12 AND "       \
        "x.id >= ?3" and                                                                           \
        ") >> 12 FROM chunk c WHERE c.n IS NOT NULL) "
#define ROWS(and)                                                                                  \
    "FROM chunk CROSS JOIN LATERAL (SELECT * FROM xxl_job_log x WHERE x.id >> 12 = chunk.n AND "   \
    "x.job_id = ?1" and                                                                            \
        " ORDER BY x.id DESC OFFSET 0) l" SQL_LOG_LIVE

static const struct sql_log_walk walks[SQL_LOG_WALKS] = {
    [SQL_LOG_ALL] = SQL_LOG_WALK_ALL,
    [SQL_LOG_JOB] = { CHUNKS("") SQL_LOG_COLUMNS ROWS(""), "",
                      CHUNKS("") "SELECT l.id AS id " ROWS("") },
    [SQL_LOG_JOB_FAILED] = { CHUNKS(" AND " SQL_LOG_FAILED("x"))
                                 SQL_LOG_COLUMNS ROWS(" AND " SQL_LOG_FAILED("x")),
                             "",
                             CHUNKS(" AND " SQL_LOG_FAILED("x")) "SELECT l.id AS id " ROWS(
                                 " AND " SQL_LOG_FAILED("x")) },
};

enum err pg_logs_page(struct store *store, const struct logs_filter *f, log_row_fn *fn, void *ctx,
                      int64_t *ret_total, struct why *why)
{
    return sql_logs_page(store, walks, f, fn, ctx, ret_total, why);
}

/* ---- the last run that has come -------------------------------------------------------------- */

/* The newest of the schedule's runs whose scheduled time has come: planning has moved last_ms past
 * it. So many chunks are looked at, at most; 0 then. */
#define LAST_CHUNKS "250"
enum err pg_last_fired(struct sql *s, int64_t job_id, int64_t now_ms, int64_t *ret_ms,
                       struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(
        s,
        "WITH RECURSIVE chunk(n, step) AS (SELECT max(x.id) >> 12, 0 FROM xxl_job_log x "
        "UNION ALL SELECT (SELECT max(x.id) FROM xxl_job_log x WHERE x.id < c.n << 12) >> 12, "
        "c.step + 1 FROM chunk c WHERE c.n IS NOT NULL AND c.step < " LAST_CHUNKS ") "
        "SELECT coalesce(r.moment_ms, {ms l.trigger_time}) FROM chunk CROSS JOIN LATERAL "
        "(SELECT x.id, x.trigger_time, x.trigger_msg FROM xxl_job_log x "
        "WHERE x.id >> 12 = chunk.n AND x.job_id = ?1 ORDER BY x.id DESC OFFSET 0) l "
        "LEFT JOIN peal_run r ON r.log_id = l.id "
        "WHERE coalesce(r.moment_ms, {ms l.trigger_time}) <= ?2 "
        "AND (l.trigger_msg IS NULL OR l.trigger_msg LIKE 'cron: %') LIMIT 1",
        &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, job_id);
    sql_bind_i64(q, 2, now_ms);
    return sql_one(q, 0, ret_ms, why);
}

/* ---- the whole ------------------------------------------------------------------------------- */

enum err pg_facts(struct store *store, struct store_facts *ret, struct why *why)
{
    struct sql_query *q;
    bool row;
    enum err err = sql_query(sql_of(store),
                             "SELECT pg_database_size(current_database()), (SELECT {ms "
                             "trigger_time} FROM xxl_job_log ORDER BY id LIMIT 1)",
                             &q, why);
    if (!err)
        err = sql_next(q, &row, why);
    if (err)
        return err;
    *ret = (struct store_facts){ .bytes = sql_i64(q, 0, 0), .oldest_ms = sql_i64(q, 1, -1) };
    sql_reset(q);
    return OK;
}
