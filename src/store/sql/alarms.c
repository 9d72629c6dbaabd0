/* SPDX-License-Identifier: Apache-2.0 */
/* Alarms and the log of their deliveries, on any engine that speaks SQL. The keys of their rows
 * make a write that is made again harmless. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "store/sql/channels.h"
#include "store/sql/page.h"
#include "store/sql/tables.h"

/* ---- adding ---------------------------------------------------------------------------------- */

static enum err alarm_there(struct sql *s, const struct alarm_record *r, int64_t *ret,
                            struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(s, "SELECT 1 FROM peal_alarm WHERE log_id = ?1 AND channel = ?2", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->log_id);
    sql_bind_text(q, 2, r->channel);
    return sql_one(q, 0, ret, why);
}

/* What the log row said came of earlier alarms, of a loss: there is one under way again. */
static enum err log_claim_again(struct sql *s, int64_t log_id, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s,
                             "UPDATE xxl_job_log SET alarm_status = -1 WHERE id = ?1 "
                             "AND alarm_status IN (2, 3)",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, log_id);
    return sql_do(q, why);
}

static enum err alarm_insert(struct sql *s, struct alarm_record *r, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s,
                             "INSERT INTO peal_alarm (log_id, job_id, group_id, channel, targets, "
                             "made_ms, phase, code, cause, fingerprint) "
                             "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->log_id);
    sql_bind_i64(q, 2, r->job_id);
    sql_bind_i64(q, 3, r->group_id);
    sql_bind_text(q, 4, r->channel);
    sql_bind_text(q, 5, r->targets);
    sql_bind_i64(q, 6, r->made_ms);
    sql_bind_i64(q, 7, r->phase);
    sql_bind_i64(q, 8, r->code);
    sql_bind_text_or(q, 9, r->cause, "");
    sql_bind_i64(q, 10, (int64_t)r->fingerprint);
    return sql_insert(q, &r->id, why);
}

static enum err alarm_add(struct sql *s, struct alarm_record *r, struct why *why)
{
    int64_t there = 0;
    enum err err = alarm_there(s, r, &there, why);
    r->id = 0;
    if (err || there)
        return err;
    err = alarm_insert(s, r, why);
    return err ? err : log_claim_again(s, r->log_id, why);
}

static enum err alarms_add(struct store *store, struct alarm_record *rows, int n, struct why *why)
{
    enum err err = OK;
    for (int i = 0; !err && i < n; i++)
        err = alarm_add(sql_of(store), &rows[i], why);
    return err;
}

static enum err delivery_there(struct sql *s, const struct delivery_record *r, int64_t *ret,
                               struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(
        s, "SELECT 1 FROM peal_delivery WHERE alarm_id = ?1 AND target = ?2 AND n = ?3", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->alarm_id);
    sql_bind_text_or(q, 2, r->target, "");
    sql_bind_i64(q, 3, r->n);
    return sql_one(q, 0, ret, why);
}

static enum err delivery_add(struct store *store, const struct delivery_record *r, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    int64_t there = 0;
    enum err err = delivery_there(s, r, &there, why);
    if (err || there)
        return err;
    err = sql_query(s,
                    "INSERT INTO peal_delivery (alarm_id, target, n, at_ms, took_ms, "
                    "outcome, said) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->alarm_id);
    sql_bind_text_or(q, 2, r->target, "");
    sql_bind_i64(q, 3, r->n);
    sql_bind_i64(q, 4, r->at_ms);
    sql_bind_i64(q, 5, r->took_ms);
    sql_bind_i64(q, 6, r->outcome);
    sql_bind_text(q, 7, r->said);
    return sql_do(q, why);
}

/* ---- closing --------------------------------------------------------------------------------- */

static enum err log_settle(struct sql *s, int64_t id, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(s,
                  "UPDATE xxl_job_log SET alarm_status = (SELECT max(status) FROM peal_alarm "
                  "WHERE log_id = xxl_job_log.id) WHERE id = (SELECT log_id FROM peal_alarm "
                  "WHERE id = ?1) AND alarm_status = -1 AND NOT EXISTS (SELECT 1 FROM peal_alarm "
                  "WHERE log_id = xxl_job_log.id AND closed_ms IS NULL)",
                  &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    return sql_do(q, why);
}

static enum err alarm_close(struct store *store, int64_t id, enum alarm_status status,
                            int64_t now_ms, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s,
                             "UPDATE peal_alarm SET closed_ms = ?2, status = ?3 "
                             "WHERE id = ?1 AND closed_ms IS NULL",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    sql_bind_i64(q, 2, now_ms);
    sql_bind_i64(q, 3, status);
    int64_t rows = 0;
    err = sql_change(q, &rows, why);
    return err || !rows ? err : log_settle(s, id, why);
}

static enum err alarm_reopen(struct store *store, int64_t id, int64_t now_ms, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    int64_t rows = 0, log_id = 0;
    enum err err = sql_query(s,
                             "UPDATE peal_alarm SET closed_ms = NULL, status = -1, resent_ms = ?2 "
                             "WHERE id = ?1 AND closed_ms IS NOT NULL",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    sql_bind_i64(q, 2, now_ms);
    err = sql_change(q, &rows, why);
    if (err || !rows)
        return err ? err : sql_none("delivery", id, why);
    err = sql_query(s, "SELECT log_id FROM peal_alarm WHERE id = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    err = sql_one(q, 0, &log_id, why);
    return err ? err : log_claim_again(s, log_id, why);
}

static enum err purge_step(struct sql *s, const char *text, int64_t before_ms, int max,
                           int64_t *ret_gone, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s, text, &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, before_ms);
    sql_bind_i64(q, 2, max);
    return sql_change(q, ret_gone, why);
}

#define OLDEST                                                                                     \
    "(SELECT id FROM (SELECT id FROM peal_alarm WHERE closed_ms IS NOT NULL AND closed_ms < ?1 "   \
    "ORDER BY closed_ms, id LIMIT ?2) AS old)"

static enum err alarms_purge(struct store *store, int64_t before_ms, int max, bool *ret_more,
                             struct why *why)
{
    struct sql *s = sql_of(store);
    int64_t gone = 0;
    enum err err = purge_step(s, "DELETE FROM peal_delivery WHERE alarm_id IN " OLDEST, before_ms,
                              max, &gone, why);
    if (!err)
        err =
            purge_step(s, "DELETE FROM peal_alarm WHERE id IN " OLDEST, before_ms, max, &gone, why);
    if (!err)
        *ret_more = gone >= max;
    return err;
}

/* ---- reading --------------------------------------------------------------------------------- */

static enum phase phase_read(int64_t phase)
{
    return phase > 0 && phase < PHASE_COUNT ? (enum phase)phase : PHASE_FAILED;
}

static struct alarm_record alarm_read(struct sql_query *q)
{
    int i = 0;
    struct alarm_record r = { .id = sql_i64(q, i++, 0) };
    r.log_id = sql_i64(q, i++, 0);
    r.job_id = sql_i64(q, i++, 0);
    r.group_id = sql_i64(q, i++, 0);
    r.channel = sql_text(q, i++);
    r.targets = sql_text(q, i++);
    r.made_ms = sql_i64(q, i++, 0);
    r.phase = phase_read(sql_i64(q, i++, 0));
    r.code = sql_int(q, i++, 0);
    r.cause = sql_text(q, i++);
    r.fingerprint = (uint64_t)sql_i64(q, i++, 0);
    r.closed_ms = sql_i64(q, i++, -1);
    int status = sql_int(q, i++, ALARM_CLAIMED);
    r.status =
        status >= ALARM_CLAIMED && status <= ALARM_HELD ? (enum alarm_status)status : ALARM_CLAIMED;
    r.resent_ms = sql_i64(q, i++, -1);
    return r;
}

static bool alarm_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct alarm_record r = alarm_read(q);
    bool more = (*(alarm_row_fn **)fn)(ctx, &r);
    alarm_record_done(&r);
    return more;
}

#define COLUMNS                                                                                    \
    "id, log_id, job_id, group_id, channel, targets, made_ms, phase, code, cause, fingerprint, "   \
    "closed_ms, status, resent_ms"
#define OPEN "SELECT " COLUMNS " FROM peal_alarm WHERE "
#define BY_ID "closed_ms IS NULL AND id > ?1 ORDER BY id LIMIT ?2"

static enum err alarms_open(struct store *store, const char *channel, int64_t after_id, int max,
                            alarm_row_fn *fn, void *ctx, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s, channel ? OPEN "channel = ?3 AND " BY_ID : OPEN BY_ID, &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, after_id);
    sql_bind_i64(q, 2, max);
    if (channel)
        sql_bind_text(q, 3, channel);
    return sql_rows(q, alarm_lend, &fn, ctx, why);
}

static enum err alarm_get(struct store *store, int64_t id, struct alarm_record *ret,
                          struct why *why)
{
    struct sql_query *q;
    enum err err = sql_row_by_id(sql_of(store), "SELECT " COLUMNS " FROM peal_alarm WHERE id = ?1",
                                 "delivery", id, &q, why);
    if (err)
        return err;
    *ret = alarm_read(q);
    sql_reset(q);
    return OK;
}

static void filter_where(struct sql_where *p, struct sql *s, const struct alarms_filter *f)
{
    where_init(p, s);
    if (f->incident_id > 0) {
        where_number(p,
                     "log_id IN (SELECT -id FROM peal_tell WHERE incident_id = ", f->incident_id);
        buf_text(&p->where, ")");
    }
    if (f->log_id > 0)
        where_number(p, "log_id = ", f->log_id);
    if (f->channel) {
        where_add(p, "channel = ");
        buf_printf(&p->where, "?%d", where_param(p, f->channel, 0));
    }
    if (f->status == ALARM_CLAIMED)
        where_add(p, "closed_ms IS NULL");
    else if (f->status != ALARM_UNSEEN)
        where_number(p, "closed_ms IS NOT NULL AND status = ", f->status);
    if (f->since_ms > 0 && f->status != ALARM_UNSEEN && f->status != ALARM_CLAIMED) {
        where_number(p, "closed_ms >= ", f->since_ms); /* by the index */
    } else if (f->since_ms > 0) {
        where_number(p, "(closed_ms IS NULL OR closed_ms >= ", f->since_ms);
        buf_text(&p->where, ")");
    }
    where_scope(p, "group_id", f->scope, 0);
}

static enum err filter_count(struct sql *s, const struct alarms_filter *f, int64_t *ret_total,
                             struct why *why)
{
    struct sql_query *q = NULL;
    struct sql_where p;
    char after[60];
    filter_where(&p, s, f);
    snprintf(after, sizeof(after), " LIMIT %d) counted", ALARMS_COUNT_MAX);
    enum err err =
        where_query(&p, s, "SELECT count(*) FROM (SELECT id FROM peal_alarm", after, &q, why);
    if (!err)
        err = sql_one(q, 0, ret_total, why);
    sql_query_end(q);
    where_done(&p);
    return err;
}

static enum err alarms_page(struct store *store, const struct alarms_filter *f, alarm_row_fn *fn,
                            void *ctx, int64_t *ret_total, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q = NULL;
    struct sql_where p;
    char after[60];
    enum err err = filter_count(s, f, ret_total, why);
    if (err)
        return err;
    filter_where(&p, s, f);
    where_number(&p, "id < ", f->below_id);
    snprintf(after, sizeof(after), " ORDER BY id DESC LIMIT %lld", (long long)f->limit);
    err = where_query(&p, s, "SELECT " COLUMNS " FROM peal_alarm", after, &q, why);
    if (!err)
        err = sql_rows(q, alarm_lend, &fn, ctx, why);
    sql_query_end(q);
    where_done(&p);
    return err;
}

static bool delivery_lend(struct sql_query *q, void *fn, void *ctx)
{
    int i = 0;
    struct delivery_record r = { .alarm_id = sql_i64(q, i++, 0) };
    r.target = sql_text(q, i++);
    r.n = sql_int(q, i++, 0);
    r.at_ms = sql_i64(q, i++, 0);
    r.took_ms = sql_i64(q, i++, 0);
    int outcome = sql_int(q, i++, DELIVERY_AGAIN);
    r.outcome = outcome >= DELIVERY_SENT && outcome < DELIVERIES ? (enum delivery_outcome)outcome
                                                                 : DELIVERY_AGAIN;
    r.said = sql_text(q, i++);
    bool more = (*(delivery_row_fn **)fn)(ctx, &r);
    delivery_record_done(&r);
    return more;
}

static enum err deliveries_each(struct store *store, int64_t alarm_id, delivery_row_fn *fn,
                                void *ctx, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s,
                             "SELECT alarm_id, target, n, at_ms, took_ms, outcome, said "
                             "FROM peal_delivery WHERE alarm_id = ?1 ORDER BY target, n",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, alarm_id);
    return sql_rows(q, delivery_lend, &fn, ctx, why);
}

const struct store_alarms sql_alarms = {
    .alarms_add = alarms_add,
    .alarms_open = alarms_open,
    .deliveries_each = deliveries_each,
    .delivery_add = delivery_add,
    .alarm_close = alarm_close,
    .alarm_get = alarm_get,
    .alarms_page = alarms_page,
    .alarm_reopen = alarm_reopen,
    .alarms_purge = alarms_purge,
    .channels_each = sql_channels_each,
    .channel_get = sql_channel_get,
    .channel_insert = sql_channel_insert,
    .channel_update = sql_channel_update,
    .channel_delete = sql_channel_delete,
};
