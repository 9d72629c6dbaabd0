/* SPDX-License-Identifier: Apache-2.0 */
/* The definitions of jobs on any engine that speaks SQL. A job is a row in three tables; the two
 * that are ours are written whole, because another program may have left them out. */
#include "base/buf.h"
#include "base/mem.h"
#include "store/sql/job_row.h"
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
        s, "UPDATE xxl_job_info SET trigger_status = 0, update_time = {time ?1} WHERE id = ?2", &q,
        why);
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
