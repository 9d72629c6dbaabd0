/* SPDX-License-Identifier: Apache-2.0 */
/* What the index of the log by job serves: in InnoDB it has the ids in it, so one job's rows are
 * read from its end. */
#include "store/mysql/my_db.h"
#include "store/sql/log_walk.h"

#define LAST_ROWS "1000" /* rows of the job that are looked at for its last scheduled time */

static const struct sql_log_walk walks[SQL_LOG_WALKS] = {
    [SQL_LOG_ALL] = SQL_LOG_WALK_ALL,
    [SQL_LOG_JOB] = SQL_LOG_WALK_ALL,
    [SQL_LOG_JOB_FAILED] = SQL_LOG_WALK_ALL,
};

enum err my_logs_page(struct store *s, const struct logs_filter *f, log_row_fn *fn, void *ctx,
                      int64_t *ret_total, struct why *why)
{
    return sql_logs_page(s, walks, f, fn, ctx, ret_total, why);
}

enum err my_last_fired(struct sql *s, int64_t job_id, int64_t now_ms, int64_t *ret_ms,
                       struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(s,
                  "SELECT coalesce(r.moment_ms, {ms l.trigger_time}) FROM (SELECT id FROM "
                  "xxl_job_log WHERE job_id = ?1 ORDER BY id DESC LIMIT " LAST_ROWS ") x "
                  "JOIN xxl_job_log l ON l.id = x.id LEFT JOIN peal_run r ON r.log_id = l.id "
                  "WHERE coalesce(r.moment_ms, {ms l.trigger_time}) <= ?2 AND "
                  "(l.trigger_msg IS NULL OR l.trigger_msg LIKE 'cron: %') "
                  "ORDER BY l.id DESC LIMIT 1",
                  &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, job_id);
    sql_bind_i64(q, 2, now_ms);
    return sql_one(q, 0, ret_ms, why);
}

enum err my_facts(struct store *store, struct store_facts *ret, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    struct store_facts facts = { 0 };
    enum err err = sql_query(s,
                             "SELECT sum(data_length + index_length) FROM "
                             "information_schema.tables WHERE table_schema = database()",
                             &q, why);
    if (!err)
        err = sql_one(q, 0, &facts.bytes, why);
    if (!err)
        err =
            sql_query(s, "SELECT {ms trigger_time} FROM xxl_job_log ORDER BY id LIMIT 1", &q, why);
    if (!err)
        err = sql_one(q, -1, &facts.oldest_ms, why);
    if (!err)
        *ret = facts;
    return err;
}
