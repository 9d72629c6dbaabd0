/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of alarms, on any engine that speaks SQL. */
#include "store/sql/rules.h"
#include "store/sql/hold.h"
#include "store/sql/tables.h"

#define VALUES_OF                                                                                  \
    "version, name, kind, level, group_id, job_id, in_a_row, longer_ms, channels, "                \
    "quiet_from, quiet_to, repeat_ms, enabled, created_ms, updated_ms"
#define COLUMNS "id, " VALUES_OF

static struct rule_record rule_read(struct sql_query *q)
{
    int i = 0;
    struct rule_record r = { .id = sql_i64(q, i++, 0) };
    r.version = sql_i64(q, i++, 0);
    r.name = sql_text(q, i++);
    r.kind = sql_rule_kind(q, i++);
    r.level = sql_rule_level(q, i++);
    r.group_id = sql_i64(q, i++, 0);
    r.job_id = sql_i64(q, i++, 0);
    r.in_a_row = sql_int(q, i++, 1);
    r.longer_ms = sql_i64(q, i++, 0);
    r.channels = sql_text(q, i++);
    r.quiet_from = sql_int(q, i++, -1);
    r.quiet_to = sql_int(q, i++, -1);
    r.repeat_ms = sql_i64(q, i++, 0);
    r.enabled = sql_i64(q, i++, 0) != 0;
    r.created_ms = sql_i64(q, i++, 0);
    r.updated_ms = sql_i64(q, i, 0);
    return r;
}

static void rule_bind(struct sql_query *q, const struct rule_record *r)
{
    sql_bind_i64(q, 2, r->version);
    sql_bind_text(q, 3, r->name);
    sql_bind_text(q, 4, rule_kind_text(r->kind));
    sql_bind_text(q, 5, rule_level_text(r->level));
    sql_bind_i64(q, 6, r->group_id);
    sql_bind_i64(q, 7, r->job_id);
    sql_bind_i64(q, 8, r->in_a_row);
    sql_bind_i64(q, 9, r->longer_ms);
    sql_bind_text(q, 10, r->channels);
    sql_bind_unless(q, 11, r->quiet_from, -1);
    sql_bind_unless(q, 12, r->quiet_to, -1);
    sql_bind_i64(q, 13, r->repeat_ms);
    sql_bind_i64(q, 14, r->enabled);
    sql_bind_i64(q, 15, r->created_ms);
    sql_bind_i64(q, 16, r->updated_ms);
}

static bool rule_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct rule_record r = rule_read(q);
    bool more = (*(rule_row_fn **)fn)(ctx, &r);
    rule_record_done(&r);
    return more;
}

static enum err sql_rules_each(struct store *store, rule_row_fn *fn, void *ctx, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(sql_of(store), "SELECT " COLUMNS " FROM peal_alarm_rule ORDER BY id", &q, why);
    return err ? err : sql_rows(q, rule_lend, &fn, ctx, why);
}

static enum err sql_rule_get(struct store *store, int64_t id, struct rule_record *ret,
                             struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_row_by_id(sql_of(store), "SELECT " COLUMNS " FROM peal_alarm_rule WHERE id = ?1",
                      "rule", id, &q, why);
    if (err)
        return err;
    *ret = rule_read(q);
    sql_reset(q);
    return OK;
}

static enum err sql_rule_insert(struct store *store, struct rule_record *r, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "INSERT INTO peal_alarm_rule (" VALUES_OF ") VALUES (?2, ?3, ?4, "
                             "?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
                             &q, why);
    if (err)
        return err;
    rule_bind(q, r);
    sql_of(store)->changed = true;
    return sql_insert(q, &r->id, why);
}

static enum err sql_rule_update(struct store *store, const struct rule_record *r, struct why *why)
{
    struct sql_query *q;
    int64_t rows = 0;
    enum err err = sql_query(sql_of(store),
                             "UPDATE peal_alarm_rule SET version = ?2, name = ?3, kind = ?4, "
                             "level = ?5, group_id = ?6, job_id = ?7, in_a_row = ?8, "
                             "longer_ms = ?9, channels = ?10, quiet_from = ?11, quiet_to = ?12, "
                             "repeat_ms = ?13, enabled = ?14, created_ms = ?15, updated_ms = ?16 "
                             "WHERE id = ?1",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->id);
    rule_bind(q, r);
    sql_of(store)->changed = true;
    err = sql_change(q, &rows, why);
    return err || rows ? err : sql_none("rule", r->id, why);
}

static enum err sql_rule_delete(struct store *store, int64_t id, struct why *why)
{
    int64_t rows = 0;
    sql_of(store)->changed = true;
    enum err err = sql_change_by_id(sql_of(store), "DELETE FROM peal_alarm_rule WHERE id = ?1", id,
                                    &rows, why);
    return err || rows ? err : sql_none("rule", id, why);
}

static enum err sql_rule_lock(struct store *store, int64_t id, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    int64_t there;
    if (!s->shared)
        return OK;
    enum err err = sql_query(s, "SELECT id FROM peal_alarm_rule WHERE id = ?1 FOR UPDATE", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    err = sql_one(q, 0, &there, why);
    return err ? err : sql_hold_one(s, "peal_alarm_rule", "created_ms", "id", id, why);
}

/* ---- messages -------------------------------------------------------------------------------- */

static enum err sql_tell_insert(struct store *store, struct tell_record *r, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "INSERT INTO peal_tell (incident_id, state, at_ms) "
                             "VALUES (?1, ?2, ?3)",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->incident_id);
    sql_bind_i64(q, 2, r->state);
    sql_bind_i64(q, 3, r->at_ms);
    return sql_insert(q, &r->id, why);
}

static enum err sql_tell_get(struct store *store, int64_t id, struct tell_record *ret,
                             struct why *why)
{
    struct sql_query *q;
    enum err err = sql_row_by_id(sql_of(store),
                                 "SELECT id, incident_id, state, at_ms FROM peal_tell "
                                 "WHERE id = ?1",
                                 "message", id, &q, why);
    if (err)
        return err;
    ret->id = sql_i64(q, 0, 0);
    ret->incident_id = sql_i64(q, 1, 0);
    int state = sql_int(q, 2, TELL_OPENED);
    ret->state = state >= 0 && state < TELL_STATES ? (enum tell_state)state : TELL_OPENED;
    ret->at_ms = sql_i64(q, 3, 0);
    sql_reset(q);
    return OK;
}

/* ---- states that rules look for -------------------------------------------------------------- */

static bool late_lend(struct sql_query *q, void *fn, void *ctx)
{
    return (*(job_late_fn **)fn)(ctx, sql_i64(q, 0, 0), sql_i64(q, 1, 0));
}

static enum err sql_jobs_late(struct store *store, int64_t until_ms, int max, job_late_fn *fn,
                              void *ctx, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT job_id, min(at_ms) FROM ("
                             "SELECT job_id, moment_ms AS at_ms FROM peal_run "
                             "WHERE phase = 1 AND kind <= 1 AND moment_ms <= ?1 "
                             "UNION ALL SELECT job_id, next_ms AS at_ms FROM peal_due "
                             "WHERE next_ms <= ?2) AS late GROUP BY job_id ORDER BY job_id "
                             "LIMIT ?3",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, until_ms);
    sql_bind_i64(q, 2, until_ms);
    sql_bind_i64(q, 3, max);
    return sql_rows(q, late_lend, &fn, ctx, why);
}

static bool skip_lend(struct sql_query *q, void *fn, void *ctx)
{
    const struct skip_row r = { .job_id = sql_i64(q, 1, 0),
                                .from_ms = sql_i64(q, 2, 0),
                                .to_ms = sql_i64(q, 3, 0),
                                .count = sql_i64(q, 4, 0) };
    return (*(skip_row_fn **)fn)(ctx, sql_i64(q, 0, 0), &r);
}

static enum err sql_skips_newest(struct store *store, int max, skip_row_fn *fn, void *ctx,
                                 struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT id, job_id, from_ms, to_ms, count FROM peal_skip "
                             "ORDER BY to_ms DESC, id DESC LIMIT ?1",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, max);
    return sql_rows(q, skip_lend, &fn, ctx, why);
}

static enum err sql_group_enabled(struct store *store, int64_t group_id, bool *ret, struct why *why)
{
    struct sql_query *q;
    int64_t found = 0;
    enum err err = sql_query(sql_of(store),
                             "SELECT 1 FROM xxl_job_info WHERE job_group = ?1 "
                             "AND trigger_status = 1 LIMIT 1",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, group_id);
    err = sql_one(q, 0, &found, why);
    *ret = found != 0;
    return err;
}

/* ---- silences -------------------------------------------------------------------------------- */

static bool silence_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct silence_record r = { .id = sql_i64(q, 0, 0) };
    r.group_id = sql_i64(q, 1, 0);
    r.rule_id = sql_i64(q, 2, 0);
    r.from_ms = sql_i64(q, 3, 0);
    r.until_ms = sql_i64(q, 4, 0);
    r.made_ms = sql_i64(q, 5, 0);
    r.reason = sql_text(q, 6);
    r.by = sql_text(q, 7);
    r.job_id = sql_i64(q, 8, 0);
    bool more = (*(silence_row_fn **)fn)(ctx, &r);
    silence_record_done(&r);
    return more;
}

static enum err sql_silences_each(struct store *store, silence_row_fn *fn, void *ctx,
                                  struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT id, group_id, rule_id, from_ms, until_ms, made_ms, reason, "
                             "made_by, job_id FROM peal_silence ORDER BY id",
                             &q, why);
    return err ? err : sql_rows(q, silence_lend, &fn, ctx, why);
}

static enum err sql_silence_insert(struct store *store, struct silence_record *r, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "INSERT INTO peal_silence (group_id, rule_id, from_ms, until_ms, "
                             "made_ms, reason, made_by, job_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
                             "?7, ?8)",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->group_id);
    sql_bind_i64(q, 2, r->rule_id);
    sql_bind_i64(q, 3, r->from_ms);
    sql_bind_i64(q, 4, r->until_ms);
    sql_bind_i64(q, 5, r->made_ms);
    sql_bind_text_or(q, 6, r->reason, "");
    sql_bind_text_or(q, 7, r->by, "");
    sql_bind_i64(q, 8, r->job_id);
    return sql_insert(q, &r->id, why);
}

static enum err sql_silence_delete(struct store *store, int64_t id, struct why *why)
{
    int64_t rows = 0;
    enum err err =
        sql_change_by_id(sql_of(store), "DELETE FROM peal_silence WHERE id = ?1", id, &rows, why);
    return err || rows ? err : sql_none("silence", id, why);
}

static enum err sql_silences_expire(struct store *store, int64_t before_ms, struct why *why)
{
    return sql_change_by_id(sql_of(store), "DELETE FROM peal_silence WHERE until_ms < ?1",
                            before_ms, NULL, why);
}

const struct store_rules sql_rules = {
    .rules_each = sql_rules_each,
    .rule_get = sql_rule_get,
    .rule_insert = sql_rule_insert,
    .rule_update = sql_rule_update,
    .rule_delete = sql_rule_delete,
    .rule_lock = sql_rule_lock,
    .incident_get = sql_incident_get,
    .incident_find = sql_incident_find,
    .incident_insert = sql_incident_insert,
    .incident_update = sql_incident_update,
    .incidents_unsettled = sql_incidents_unsettled,
    .incidents_page = sql_incidents_page,
    .incidents_purge = sql_incidents_purge,
    .incident_job_put = sql_incident_job_put,
    .incident_job_get = sql_incident_job_get,
    .incident_jobs_each = sql_incident_jobs_each,
    .incident_jobs_open = sql_incident_jobs_open,
    .incident_jobs_unsettled = sql_incident_jobs_unsettled,
    .tell_insert = sql_tell_insert,
    .tell_get = sql_tell_get,
    .jobs_late = sql_jobs_late,
    .skips_newest = sql_skips_newest,
    .group_enabled = sql_group_enabled,
    .silences_each = sql_silences_each,
    .silence_insert = sql_silence_insert,
    .silence_delete = sql_silence_delete,
    .silences_expire = sql_silences_expire,
};
