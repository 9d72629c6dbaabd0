/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs on SQLite: where planning stands (peal_due, narrow), and the definitions. */
#include "base/mem.h"
#include "store/sqlite/sqlite_db.h"
#include <stdlib.h>

/* ---- planning -------------------------------------------------------------------------------- */

static void due_read(sqlite3_stmt *q, struct due_row *ret)
{
    ret->job_id = sqlite3_column_int64(q, 0);
    ret->next_ms = col_i64(q, 1, NEVER_MS);
    ret->last_ms = sqlite3_column_int64(q, 2);
    ret->planned_until_ms = sqlite3_column_int64(q, 3);
    ret->version = sqlite3_column_int64(q, 4);
}

enum err sqlite_due_take(struct store *store, int64_t from_ms, int64_t until_ms, int max,
                         struct due_row *rows, int *ret_n, int64_t *ret_next_ms, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    /* one walk along the index: the row after the last taken tells the next scheduled time */
    enum err err = sql_get(s,
                           "SELECT job_id, next_ms, last_ms, planned_until_ms, version "
                           "FROM peal_due WHERE next_ms >= ? ORDER BY next_ms, job_id",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, from_ms);
    int n = 0;
    int64_t next_ms = NEVER_MS;
    for (;;) {
        bool row;
        err = sql_step(s, q, &row, why);
        if (err)
            return err;
        if (!row)
            break;
        next_ms = sqlite3_column_int64(q, 1);
        if (next_ms > until_ms || n == max)
            break;
        due_read(q, &rows[n++]);
        next_ms = NEVER_MS;
    }
    sqlite3_reset(q);
    *ret_n = n;
    *ret_next_ms = next_ms;
    return OK;
}

enum err sqlite_due_put(struct store *store, const struct due_row *rows, int n, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "UPDATE peal_due SET next_ms = ?2, last_ms = ?3, planned_until_ms = ?4 "
                           "WHERE job_id = ?1",
                           &q, why);
    for (int i = 0; !err && i < n; i++) {
        bind_i64(q, 1, rows[i].job_id);
        bind_scheduled(q, 2, rows[i].next_ms, NEVER_MS);
        bind_i64(q, 3, rows[i].last_ms);
        bind_i64(q, 4, rows[i].planned_until_ms);
        err = sql_run(s, q, why);
    }
    return err;
}

enum err sqlite_due_each(struct store *store, bool rate, int64_t after_id, int max,
                         struct due_row *rows, int *ret_n, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "SELECT d.job_id, d.next_ms, d.last_ms, d.planned_until_ms, d.version "
                           "FROM peal_due d JOIN xxl_job_info j ON j.id = d.job_id "
                           "WHERE d.job_id > ?1 AND d.next_ms IS NOT NULL "
                           "AND j.schedule_type IN (?2, ?3) ORDER BY d.job_id LIMIT ?4",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, after_id);
    bind_text(q, 2, rate ? "FIX_RATE" : "CRON");
    bind_text(q, 3, rate ? "FIX_DELAY" : "CRON");
    bind_i64(q, 4, max);
    int n = 0;
    bool row = true;
    for (;;) {
        err = sql_step(s, q, &row, why);
        if (err)
            return err;
        if (!row)
            break;
        due_read(q, &rows[n++]);
    }
    *ret_n = n;
    return OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

enum err sqlite_job_get(struct store *store, int64_t id, struct job_record *ret, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_by_id(s, s->job_texts[SQLITE_JOB_GET], "job", id, &q, why);
    if (err)
        return err;
    sqlite_job_read(s, q, ret);
    sqlite3_reset(q);
    return OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Run a statement whose only parameter is an id; *ret_changed: rows. */
static enum err run_by_id(struct sqlite *s, const char *text, int64_t id, int *ret_changed,
                          struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s, text, &q, why);
    if (err)
        return err;
    bind_i64(q, 1, id);
    err = sql_run(s, q, why);
    if (!err && ret_changed)
        *ret_changed = sqlite3_changes(s->db);
    return err;
}

static enum err side_put(struct sqlite *s, const struct job_record *r, enum sqlite_job_text text,
                         enum job_table table, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s, s->job_texts[text], &q, why);
    if (err)
        return err;
    bind_i64(q, 1, r->id);
    sqlite_job_bind(q, 2, r, table);
    return sql_run(s, q, why);
}

/* peal_job and peal_due: written whole, whether or not another program left the rows out. */
static enum err sides_put(struct sqlite *s, const struct job_record *r, struct why *why)
{
    enum err err = side_put(s, r, SQLITE_JOB_PUT_OWN, JOB_OWN, why);
    return err ? err : side_put(s, r, SQLITE_JOB_PUT_DUE, JOB_DUE, why);
}

enum err sqlite_job_insert(struct store *store, struct job_record *r, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s, s->job_texts[SQLITE_JOB_INSERT], &q, why);
    if (err)
        return err;
    sqlite3_bind_null(q, 1);
    sqlite_job_bind(q, 2, r, JOB_INFO);
    err = sql_run(s, q, why);
    if (err)
        return err;
    r->id = sqlite3_last_insert_rowid(s->db);
    return sides_put(s, r, why);
}

enum err sqlite_job_update(struct store *store, const struct job_record *r, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s, s->job_texts[SQLITE_JOB_UPDATE], &q, why);
    if (err)
        return err;
    bind_i64(q, sqlite_job_bind(q, 1, r, JOB_INFO), r->id);
    err = sql_run(s, q, why);
    if (err)
        return err;
    return sqlite3_changes(s->db) ? sides_put(s, r, why) : sql_missing("job", r->id, why);
}

enum err sqlite_jobs_get(struct store *store, const int64_t *ids, int n, job_row_fn *fn, void *ctx,
                         struct why *why)
{
    enum err err = OK;
    bool more = true;
    for (int i = 0; more && i < n; i++) { /* a list in one statement is no quicker here */
        struct why missing = { "" };
        struct job_record r;
        err = sqlite_job_get(store, ids[i], &r, &missing);
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

static enum err stop_one(struct sqlite *s, int64_t id, const char *reason, int64_t now_ms,
                         struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(
        s, "UPDATE xxl_job_info SET trigger_status = 0, update_time = ?2 WHERE id = ?1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, id);
    bind_i64(q, 2, now_ms);
    err = sql_run(s, q, why);
    if (err)
        return err;
    if (!sqlite3_changes(s->db))
        return OK;
    err = run_by_id(s, "UPDATE peal_due SET next_ms = NULL WHERE job_id = ?1", id, NULL, why);
    if (err)
        return err;
    err = sql_get(s,
                  "INSERT INTO peal_job (job_id, stop_reason) VALUES (?1, ?2) "
                  "ON CONFLICT (job_id) DO UPDATE SET stop_reason = excluded.stop_reason",
                  &q, why);
    if (err)
        return err;
    bind_i64(q, 1, id);
    bind_text(q, 2, reason);
    return sql_run(s, q, why);
}

enum err sqlite_jobs_stop(struct store *store, const struct job_stop *stops, int n, int64_t now_ms,
                          struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    enum err err = OK;
    for (int i = 0; !err && i < n; i++)
        err = stop_one(s, stops[i].job_id, stops[i].reason, now_ms, why);
    return err;
}

enum err sqlite_job_delete(struct store *store, int64_t id, struct why *why)
{
    static const char *const rest[] = {
        "DELETE FROM xxl_job_logglue WHERE job_id = ?1",
        "DELETE FROM peal_job WHERE job_id = ?1",
        "DELETE FROM peal_due WHERE job_id = ?1",
        "DELETE FROM peal_skip WHERE job_id = ?1",
        "DELETE FROM peal_job_stat WHERE job_id = ?1",
        "INSERT OR IGNORE INTO peal_purge (job_id) VALUES (?1)",
    };
    struct sqlite *s = sqlite_of(store);
    int gone = 0;
    enum err err = run_by_id(s, "DELETE FROM xxl_job_info WHERE id = ?1", id, &gone, why);
    if (!err && !gone)
        return sql_missing("job", id, why);
    for (size_t i = 0; !err && i < countof(rest); i++)
        err = run_by_id(s, rest[i], id, NULL, why);
    return err;
}

/* ---- the log rows of deleted jobs ------------------------------------------------------------
 * A walk goes upwards through the chunks of i_log_jobid and remembers where it stands, so each
 * chunk is looked at once a walk. Rows of runs that were open when it began are passed over; no new
 * ones come to a deleted job, so the next walk begins at the first of these. */

#define PURGE_JOBS 1000   /* looked at in one step */
#define PURGE_CHUNKS 1000 /* of all jobs in one step: a millisecond or two */

struct purging {
    int64_t job_id, from_id;
    int64_t open_id; /* 0: no run is open; -1: the walk has not begun */
};

struct purge_budget { /* of one step */
    int rows, chunks;
};

/* A walk that has not begun anew comes last: it may be one that waits for an open run. */
static enum err purge_list(struct sqlite *s, struct purging *list, size_t *ret_n, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "SELECT job_id, from_id, ifnull(open_id, -1) FROM peal_purge "
                           "ORDER BY open_id IS NULL AND from_id > 0, job_id LIMIT ?1",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, PURGE_JOBS);
    size_t n = 0;
    bool row = true;
    while (!(err = sql_step(s, q, &row, why)) && row)
        list[n++] = (struct purging){ col_i64(q, 0, 0), col_i64(q, 1, 0), col_i64(q, 2, -1) };
    *ret_n = n;
    return err;
}

static enum err purge_begin(struct sqlite *s, struct purging *p, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s, "SELECT min(log_id) FROM peal_run WHERE job_id = ?1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, p->job_id);
    return sql_number(s, q, 0, &p->open_id, why);
}

/* The chunk of the next row of any job; -1: there is none. */
static enum err purge_chunk(struct sqlite *s, const struct purging *p, int64_t *ret,
                            struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s, "SELECT min(id) >> 12 FROM xxl_job_log WHERE id >= ?1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, p->from_id);
    return sql_number(s, q, -1, ret, why);
}

static enum err purge_rows(struct sqlite *s, const struct purging *p, int64_t chunk, int max,
                           int *ret_gone, struct why *why)
{
    sqlite3_stmt *q;
    enum err err =
        sql_get(s,
                "DELETE FROM xxl_job_log WHERE id IN (SELECT l.id FROM xxl_job_log l "
                "INDEXED BY i_log_jobid WHERE l.id >> 12 = ?1 AND l.job_id = ?2 AND l.id >= ?3 "
                "AND NOT EXISTS (SELECT 1 FROM peal_run r WHERE r.log_id = l.id) "
                "ORDER BY l.id LIMIT ?4)",
                &q, why);
    if (err)
        return err;
    bind_i64(q, 1, chunk);
    bind_i64(q, 2, p->job_id);
    bind_i64(q, 3, p->from_id);
    bind_i64(q, 4, max);
    err = sql_run(s, q, why);
    if (!err)
        *ret_gone = sqlite3_changes(s->db);
    return err;
}

static enum err purge_keep(struct sqlite *s, const struct purging *p, struct why *why)
{
    sqlite3_stmt *q;
    enum err err =
        sql_get(s, "UPDATE peal_purge SET from_id = ?2, open_id = ?3 WHERE job_id = ?1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, p->job_id);
    bind_i64(q, 2, p->from_id);
    bind_scheduled(q, 3, p->open_id, -1);
    return sql_run(s, q, why);
}

/* Walks on as far as the budget goes. *ret_end: no more rows. */
static enum err purge_walk(struct sqlite *s, struct purging *p, struct purge_budget *left,
                           bool *ret_end, struct why *why)
{
    enum err err = p->open_id < 0 ? purge_begin(s, p, why) : OK;
    *ret_end = false;
    while (!err && left->rows > 0 && left->chunks > 0 && !*ret_end) {
        int64_t chunk = -1;
        int gone = 0;
        err = purge_chunk(s, p, &chunk, why);
        *ret_end = chunk < 0;
        if (err || *ret_end)
            break;
        err = purge_rows(s, p, chunk, left->rows, &gone, why);
        left->rows -= gone;
        left->chunks--;
        if (left->rows > 0 && chunk < INT64_MAX >> 12)
            p->from_id = (chunk + 1) << 12;
        else
            *ret_end = left->rows > 0; /* the last chunk that there can be */
    }
    return err;
}

/* The job leaves the list with its last row. */
static enum err purge_job(struct sqlite *s, struct purging *p, struct purge_budget *left,
                          struct why *why)
{
    bool end;
    enum err err = purge_walk(s, p, left, &end, why);
    if (!err && end && p->open_id == 0)
        return run_by_id(s, "DELETE FROM peal_purge WHERE job_id = ?1", p->job_id, NULL, why);
    if (end) {
        p->from_id = p->open_id;
        p->open_id = -1;
    }
    return err ? err : purge_keep(s, p, why);
}

enum err sqlite_purge(struct store *store, int max, bool *ret_more, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    struct purging *list = mem_new(PURGE_JOBS * sizeof(*list));
    struct purge_budget left = { max, PURGE_CHUNKS };
    size_t n = 0;
    enum err err = purge_list(s, list, &n, why);
    for (size_t i = 0; !err && i < n && left.rows > 0 && left.chunks > 0; i++)
        err = purge_job(s, &list[i], &left, why);
    free(list);
    if (!err)
        *ret_more = left.rows <= 0 || left.chunks <= 0;
    return err;
}
