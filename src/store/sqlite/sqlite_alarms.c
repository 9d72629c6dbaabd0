/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_alarms.c - alarms on SQLite: peal_alarm with what is open in a partial index, and the log
 * of deliveries, whose key makes a write that is made again harmless. */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "store/sqlite/sqlite_db.h"

/* ---- adding ---------------------------------------------------------------------------------- */

static enum err alarm_add(struct sqlite *s, struct alarm_record *r, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "INSERT INTO peal_alarm (log_id, job_id, group_id, channel, targets, "
                           "made_ms, phase, code, cause, fingerprint) "
                           "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) "
                           "ON CONFLICT (log_id, channel) DO NOTHING",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, r->log_id);
    bind_i64(q, 2, r->job_id);
    bind_i64(q, 3, r->group_id);
    bind_text(q, 4, r->channel);
    bind_text(q, 5, r->targets);
    bind_i64(q, 6, r->made_ms);
    bind_i64(q, 7, r->phase);
    bind_i64(q, 8, r->code);
    bind_text_or(q, 9, r->cause, "");
    bind_i64(q, 10, (int64_t)r->fingerprint);
    err = sql_run(s, q, why);
    if (!err)
        r->id = sqlite3_changes(s->db) ? sqlite3_last_insert_rowid(s->db) : 0;
    return err;
}

static enum err sqlite_alarms_add(struct store *store, struct alarm_record *rows, int n,
                                  struct why *why)
{
    enum err err = OK;
    for (int i = 0; !err && i < n; i++)
        err = alarm_add(sqlite_of(store), &rows[i], why);
    return err;
}

static enum err sqlite_delivery_add(struct store *store, const struct delivery_record *r,
                                    struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "INSERT INTO peal_delivery (alarm_id, target, n, at_ms, took_ms, "
                           "outcome, said) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) "
                           "ON CONFLICT (alarm_id, target, n) DO NOTHING",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, r->alarm_id);
    bind_text_or(q, 2, r->target, "");
    bind_i64(q, 3, r->n);
    bind_i64(q, 4, r->at_ms);
    bind_i64(q, 5, r->took_ms);
    bind_i64(q, 6, r->outcome);
    bind_text(q, 7, r->said);
    return sql_run(s, q, why);
}

/* ---- closing --------------------------------------------------------------------------------- */

static enum err log_settle(struct sqlite *s, int64_t id, struct why *why)
{
    sqlite3_stmt *q;
    enum err err =
        sql_get(s,
                "UPDATE xxl_job_log SET alarm_status = (SELECT max(status) FROM peal_alarm "
                "WHERE log_id = xxl_job_log.id) WHERE id = (SELECT log_id FROM peal_alarm "
                "WHERE id = ?1) AND alarm_status = -1 AND NOT EXISTS (SELECT 1 FROM peal_alarm "
                "WHERE log_id = xxl_job_log.id AND closed_ms IS NULL)",
                &q, why);
    if (err)
        return err;
    bind_i64(q, 1, id);
    return sql_run(s, q, why);
}

static enum err sqlite_alarm_close(struct store *store, int64_t id, enum alarm_status status,
                                   int64_t now_ms, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "UPDATE peal_alarm SET closed_ms = ?2, status = ?3 "
                           "WHERE id = ?1 AND closed_ms IS NULL",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, id);
    bind_i64(q, 2, now_ms);
    bind_i64(q, 3, status);
    err = sql_run(s, q, why);
    return err || !sqlite3_changes(s->db) ? err : log_settle(s, id, why);
}

static enum err purge_step(struct sqlite *s, const char *text, int64_t before_ms, int max,
                           struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s, text, &q, why);
    if (err)
        return err;
    bind_i64(q, 1, before_ms);
    bind_i64(q, 2, max);
    return sql_run(s, q, why);
}

#define OLDEST                                                                                     \
    "(SELECT id FROM peal_alarm WHERE closed_ms IS NOT NULL AND closed_ms < ?1 "                   \
    "ORDER BY closed_ms, id LIMIT ?2)"

static enum err sqlite_alarms_purge(struct store *store, int64_t before_ms, int max, bool *ret_more,
                                    struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    enum err err =
        purge_step(s, "DELETE FROM peal_delivery WHERE alarm_id IN " OLDEST, before_ms, max, why);
    if (!err)
        err = purge_step(s, "DELETE FROM peal_alarm WHERE id IN " OLDEST, before_ms, max, why);
    if (!err)
        *ret_more = sqlite3_changes(s->db) >= max;
    return err;
}

/* ---- reading --------------------------------------------------------------------------------- */

static enum phase phase_read(int64_t phase)
{
    return phase > 0 && phase < PHASE_COUNT ? (enum phase)phase : PHASE_FAILED;
}

static bool alarm_row(sqlite3_stmt *q, void *fn, void *ctx)
{
    int i = 0;
    struct alarm_record r = { .id = col_i64(q, i++, 0) };
    r.log_id = col_i64(q, i++, 0);
    r.job_id = col_i64(q, i++, 0);
    r.group_id = col_i64(q, i++, 0);
    r.channel = col_text(q, i++);
    r.targets = col_text(q, i++);
    r.made_ms = col_i64(q, i++, 0);
    r.phase = phase_read(col_i64(q, i++, 0));
    r.code = col_int(q, i++, 0);
    r.cause = col_text(q, i++);
    r.fingerprint = (uint64_t)col_i64(q, i++, 0);
    r.closed_ms = col_i64(q, i++, -1);
    int status = col_int(q, i++, ALARM_CLAIMED);
    r.status = status >= ALARM_CLAIMED && status <= ALARM_FAILED ? (enum alarm_status)status
                                                                 : ALARM_CLAIMED;
    bool more = (*(alarm_row_fn **)fn)(ctx, &r);
    alarm_record_done(&r);
    return more;
}

static enum err sqlite_alarms_open(struct store *store, const char *channel, int64_t after_id,
                                   int max, alarm_row_fn *fn, void *ctx, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "SELECT id, log_id, job_id, group_id, channel, targets, made_ms, phase, "
                           "code, cause, fingerprint, closed_ms, status FROM peal_alarm "
                           "WHERE channel = ?1 AND closed_ms IS NULL AND id > ?2 "
                           "ORDER BY id LIMIT ?3",
                           &q, why);
    if (err)
        return err;
    bind_text(q, 1, channel);
    bind_i64(q, 2, after_id);
    bind_i64(q, 3, max);
    return sql_each(s, q, alarm_row, &fn, ctx, NULL, why);
}

static bool delivery_row(sqlite3_stmt *q, void *fn, void *ctx)
{
    int i = 0;
    struct delivery_record r = { .alarm_id = col_i64(q, i++, 0) };
    r.target = col_text(q, i++);
    r.n = col_int(q, i++, 0);
    r.at_ms = col_i64(q, i++, 0);
    r.took_ms = col_i64(q, i++, 0);
    int outcome = col_int(q, i++, DELIVERY_AGAIN);
    r.outcome = outcome >= DELIVERY_SENT && outcome <= DELIVERY_NEVER
                    ? (enum delivery_outcome)outcome
                    : DELIVERY_AGAIN;
    r.said = col_text(q, i++);
    bool more = (*(delivery_row_fn **)fn)(ctx, &r);
    delivery_record_done(&r);
    return more;
}

static enum err sqlite_deliveries_each(struct store *store, int64_t alarm_id, delivery_row_fn *fn,
                                       void *ctx, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "SELECT alarm_id, target, n, at_ms, took_ms, outcome, said "
                           "FROM peal_delivery WHERE alarm_id = ?1 ORDER BY target, n",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, alarm_id);
    return sql_each(s, q, delivery_row, &fn, ctx, NULL, why);
}

const struct store_alarms sqlite_alarms = {
    .alarms_add = sqlite_alarms_add,
    .alarms_open = sqlite_alarms_open,
    .deliveries_each = sqlite_deliveries_each,
    .delivery_add = sqlite_delivery_add,
    .alarm_close = sqlite_alarm_close,
    .alarms_purge = sqlite_alarms_purge,
};
