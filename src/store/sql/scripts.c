/* SPDX-License-Identifier: Apache-2.0 */
/* The versions of scripts on any engine that speaks SQL: rows of xxl_job_logglue, which XXL-JOB
 * writes and reads too. */
#include "store/sql/sql.h"
#include "store/sql/tables.h"

#define COLUMNS                                                                                    \
    "SELECT id, job_id, glue_type, glue_remark, {ms add_time}, "                                   \
    "coalesce({bytes glue_source}, 0), "

static void script_read(struct sql_query *q, struct script_record *r)
{
    r->id = sql_i64(q, 0, 0);
    r->job_id = sql_i64(q, 1, 0);
    r->glue_type = sql_text(q, 2);
    r->remark = sql_text(q, 3);
    r->added_ms = sql_i64(q, 4, 0);
    r->bytes = sql_i64(q, 5, 0);
    r->source = sql_text(q, 6);
}

static bool script_row(struct sql_query *q, void *fn, void *ctx)
{
    struct script_record r;
    script_read(q, &r);
    bool more = (*(script_row_fn **)fn)(ctx, &r);
    script_record_done(&r);
    return more;
}

enum err sql_scripts_each(struct store *store, int64_t job_id, int64_t before_id, int max,
                          script_row_fn *fn, void *ctx, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s,
                             COLUMNS "NULL FROM xxl_job_logglue WHERE job_id = ?1 AND id < ?2 "
                                     "ORDER BY id DESC LIMIT ?3",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, job_id);
    sql_bind_i64(q, 2, before_id > 0 ? before_id : INT64_MAX);
    sql_bind_i64(q, 3, max);
    return sql_rows(q, script_row, &fn, ctx, why);
}

enum err sql_script_get(struct store *store, int64_t job_id, int64_t id, struct script_record *ret,
                        struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    bool row;
    enum err err = sql_query(
        s, COLUMNS "glue_source FROM xxl_job_logglue WHERE id = ?1 AND job_id = ?2", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    sql_bind_i64(q, 2, job_id);
    err = sql_next(q, &row, why);
    if (err)
        return err;
    if (!row)
        return sql_none("script", id, why);
    script_read(q, ret);
    sql_reset(q);
    return OK;
}

static enum err trim(struct sql *s, int64_t job_id, int keep, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(s,
                  "DELETE FROM xxl_job_logglue WHERE job_id = ?1 AND id NOT IN (SELECT id "
                  "FROM (SELECT id FROM xxl_job_logglue WHERE job_id = ?1 ORDER BY id DESC "
                  "LIMIT ?2) AS newest)",
                  &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, job_id);
    sql_bind_i64(q, 2, keep);
    return sql_do(q, why);
}

enum err sql_script_add(struct store *store, struct script_record *r, int keep, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(
        s,
        "INSERT INTO xxl_job_logglue (job_id, glue_type, glue_source, "
        "glue_remark, add_time, update_time) VALUES (?1, ?2, ?3, ?4, {time ?5}, {time ?6})",
        &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->job_id);
    sql_bind_text(q, 2, r->glue_type);
    sql_bind_text(q, 3, r->source);
    sql_bind_text_or(q, 4, r->remark, "");
    sql_bind_i64(q, 5, r->added_ms);
    sql_bind_i64(q, 6, r->added_ms);
    err = sql_insert(q, &r->id, why);
    return err ? err : trim(s, r->job_id, keep, why);
}
