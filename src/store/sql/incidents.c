/* SPDX-License-Identifier: Apache-2.0 */
/* What rules have found, on any engine that speaks SQL: alarms, and the jobs that each is about. */
#include "base/mem.h"
#include "store/sql/page.h"
#include "store/sql/rules.h"
#include <stdio.h>
#include <stdlib.h>

enum rule_kind sql_rule_kind(struct sql_query *q, int i)
{
    char *text = sql_text(q, i);
    enum rule_kind kind = RULE_FAILED;
    if (text && !rule_kind_of(slice_text(text), &kind))
        kind = RULE_FAILED;
    free(text);
    return kind;
}

enum rule_level sql_rule_level(struct sql_query *q, int i)
{
    char *text = sql_text(q, i);
    enum rule_level level = RULE_WARNING;
    if (text && !rule_level_of(slice_text(text), &level))
        level = RULE_WARNING;
    free(text);
    return level;
}

/* ---- alarms ---------------------------------------------------------------------------------- */

#define COLUMNS                                                                                    \
    "id, rule_id, group_id, kind, level, cause, address, since_ms, log_id, text, last_ms, jobs, "  \
    "open, events, untold, told_ms, told, closed_ms, closed_by, acknowledged_ms, "                 \
    "acknowledged_by, settled"

static struct incident_record incident_read(struct sql_query *q)
{
    int i = 0;
    struct incident_record r = { .id = sql_i64(q, i++, 0) };
    r.rule_id = sql_i64(q, i++, 0);
    r.group_id = sql_i64(q, i++, 0);
    r.kind = sql_rule_kind(q, i++);
    r.level = sql_rule_level(q, i++);
    int cause = sql_int(q, i++, CAUSE_GROUP);
    r.cause = cause >= 0 && cause < CAUSES ? (enum incident_cause)cause : CAUSE_GROUP;
    r.address = sql_text(q, i++);
    r.since_ms = sql_i64(q, i++, 0);
    r.log_id = sql_i64(q, i++, 0);
    r.text = sql_text(q, i++);
    r.last_ms = sql_i64(q, i++, 0);
    r.jobs = sql_i64(q, i++, 0);
    r.open = sql_i64(q, i++, 0);
    r.events = sql_i64(q, i++, 0);
    r.untold = sql_i64(q, i++, 0);
    r.told_ms = sql_i64(q, i++, -1);
    r.told = sql_i64(q, i++, 0);
    r.closed_ms = sql_i64(q, i++, -1);
    r.closed_by = sql_text(q, i++);
    r.acknowledged_ms = sql_i64(q, i++, -1);
    r.acknowledged_by = sql_text(q, i++);
    r.settled = sql_i64(q, i, 0) != 0;
    return r;
}

/* From parameter i on: what changes. */
static void incident_bind(struct sql_query *q, int i, const struct incident_record *r)
{
    sql_bind_i64(q, i++, r->last_ms);
    sql_bind_i64(q, i++, r->jobs);
    sql_bind_i64(q, i++, r->open);
    sql_bind_i64(q, i++, r->events);
    sql_bind_i64(q, i++, r->untold);
    sql_bind_unless(q, i++, r->told_ms, -1);
    sql_bind_i64(q, i++, r->told);
    sql_bind_unless(q, i++, r->closed_ms, -1);
    sql_bind_text(q, i++, r->closed_by);
    sql_bind_unless(q, i++, r->acknowledged_ms, -1);
    sql_bind_text(q, i++, r->acknowledged_by);
    sql_bind_i64(q, i, r->settled);
}

static bool incident_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct incident_record r = incident_read(q);
    bool more = (*(incident_row_fn **)fn)(ctx, &r);
    incident_record_done(&r);
    return more;
}

enum err sql_incident_get(struct store *store, int64_t id, struct incident_record *ret,
                          struct why *why)
{
    struct sql_query *q;
    enum err err = sql_row_by_id(
        sql_of(store), "SELECT " COLUMNS " FROM peal_incident WHERE id = ?1", "alarm", id, &q, why);
    if (err)
        return err;
    *ret = incident_read(q);
    sql_reset(q);
    return OK;
}

enum err sql_incident_find(struct store *store, int64_t rule_id, int64_t group_id,
                           enum incident_cause cause, const char *address,
                           struct incident_record *ret, struct why *why)
{
    struct sql_query *q;
    bool row = false;
    enum err err = sql_query(sql_of(store),
                             "SELECT " COLUMNS " FROM peal_incident WHERE rule_id = ?1 "
                             "AND group_id = ?2 AND cause = ?3 AND address = ?4 "
                             "AND closed_ms IS NULL ORDER BY id DESC LIMIT 1",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, rule_id);
    sql_bind_i64(q, 2, group_id);
    sql_bind_i64(q, 3, cause);
    sql_bind_text(q, 4, address);
    err = sql_next(q, &row, why);
    if (err || !row)
        return err ? err : ERR_NOTFOUND;
    *ret = incident_read(q);
    sql_reset(q);
    return OK;
}

enum err sql_incident_insert(struct store *store, struct incident_record *r, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(
        sql_of(store),
        "INSERT INTO peal_incident (rule_id, group_id, kind, level, cause, address, since_ms, "
        "log_id, text, last_ms, jobs, open, events, untold, told_ms, told, closed_ms, closed_by, "
        "acknowledged_ms, acknowledged_by, settled) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, "
        "?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)",
        &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->rule_id);
    sql_bind_i64(q, 2, r->group_id);
    sql_bind_text(q, 3, rule_kind_text(r->kind));
    sql_bind_text(q, 4, rule_level_text(r->level));
    sql_bind_i64(q, 5, r->cause);
    sql_bind_text_or(q, 6, r->address, "");
    sql_bind_i64(q, 7, r->since_ms);
    sql_bind_i64(q, 8, r->log_id);
    sql_bind_text_or(q, 9, r->text, "");
    incident_bind(q, 10, r);
    return sql_insert(q, &r->id, why);
}

enum err sql_incident_update(struct store *store, const struct incident_record *r, struct why *why)
{
    struct sql_query *q;
    int64_t rows = 0;
    enum err err = sql_query(
        sql_of(store),
        "UPDATE peal_incident SET last_ms = ?2, jobs = ?3, open = ?4, events = ?5, untold = ?6, "
        "told_ms = ?7, told = ?8, closed_ms = ?9, closed_by = ?10, acknowledged_ms = ?11, "
        "acknowledged_by = ?12, settled = ?13 WHERE id = ?1",
        &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->id);
    incident_bind(q, 2, r);
    err = sql_change(q, &rows, why);
    return err || rows ? err : sql_none("alarm", r->id, why);
}

enum err sql_incidents_unsettled(struct store *store, int64_t after_id, int max,
                                 incident_row_fn *fn, void *ctx, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT " COLUMNS " FROM peal_incident WHERE settled = 0 "
                             "AND id > ?1 ORDER BY id LIMIT ?2",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, after_id);
    sql_bind_i64(q, 2, max);
    return sql_rows(q, incident_lend, &fn, ctx, why);
}

static void filter_where(struct sql_where *p, struct sql *s, const struct incidents_filter *f)
{
    where_init(p, s);
    if (f->rule_id > 0)
        where_number(p, "rule_id = ", f->rule_id);
    if (f->open >= 0)
        where_add(p, f->open ? "closed_ms IS NULL" : "closed_ms IS NOT NULL");
    where_scope(p, "group_id", f->scope, 0);
}

static enum err filter_count(struct sql *s, const struct incidents_filter *f, int64_t *ret_total,
                             struct why *why)
{
    struct sql_query *q = NULL;
    struct sql_where p;
    filter_where(&p, s, f);
    enum err err = where_query(&p, s, "SELECT count(*) FROM (SELECT id FROM peal_incident",
                               ") counted", &q, why);
    if (!err)
        err = sql_one(q, 0, ret_total, why);
    sql_query_end(q);
    where_done(&p);
    return err;
}

enum err sql_incidents_page(struct store *store, const struct incidents_filter *f,
                            incident_row_fn *fn, void *ctx, int64_t *ret_total, struct why *why)
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
    err = where_query(&p, s, "SELECT " COLUMNS " FROM peal_incident", after, &q, why);
    if (!err)
        err = sql_rows(q, incident_lend, &fn, ctx, why);
    sql_query_end(q);
    where_done(&p);
    return err;
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
    "(SELECT id FROM (SELECT id FROM peal_incident WHERE settled = 1 AND closed_ms < ?1 "          \
    "ORDER BY closed_ms, id LIMIT ?2) AS old)"

enum err sql_incidents_purge(struct store *store, int64_t before_ms, int max, bool *ret_more,
                             struct why *why)
{
    static const char *const steps[] = {
        "DELETE FROM peal_incident_job WHERE incident_id IN " OLDEST,
        "DELETE FROM peal_tell WHERE incident_id IN " OLDEST,
        "DELETE FROM peal_incident WHERE id IN " OLDEST,
    };
    int64_t gone = 0;
    enum err err = OK;
    for (size_t i = 0; !err && i < countof(steps); i++)
        err = purge_step(sql_of(store), steps[i], before_ms, max, &gone, why);
    if (!err)
        *ret_more = gone >= max;
    return err;
}

/* ---- their jobs ------------------------------------------------------------------------------ */

#define JOB_COLUMNS                                                                                \
    "incident_id, job_id, rule_id, log_id, since_ms, events, took_ms, closed_ms, text"

static struct incident_job job_read(struct sql_query *q)
{
    int i = 0;
    struct incident_job j = { .incident_id = sql_i64(q, i++, 0) };
    j.job_id = sql_i64(q, i++, 0);
    j.rule_id = sql_i64(q, i++, 0);
    j.log_id = sql_i64(q, i++, 0);
    j.since_ms = sql_i64(q, i++, 0);
    j.events = sql_i64(q, i++, 0);
    j.took_ms = sql_i64(q, i++, 0);
    j.closed_ms = sql_i64(q, i++, -1);
    j.text = sql_text(q, i);
    return j;
}

static void job_bind(struct sql_query *q, const struct incident_job *j)
{
    int i = 1;
    sql_bind_i64(q, i++, j->incident_id);
    sql_bind_i64(q, i++, j->job_id);
    sql_bind_i64(q, i++, j->rule_id);
    sql_bind_i64(q, i++, j->log_id);
    sql_bind_i64(q, i++, j->since_ms);
    sql_bind_i64(q, i++, j->events);
    sql_bind_i64(q, i++, j->took_ms);
    sql_bind_unless(q, i++, j->closed_ms, -1);
    sql_bind_text_or(q, i, j->text, "");
}

static bool job_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct incident_job j = job_read(q);
    bool more = (*(incident_job_row_fn **)fn)(ctx, &j);
    incident_job_done(&j);
    return more;
}

enum err sql_incident_job_put(struct store *store, const struct incident_job *j, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    int64_t rows = 0;
    enum err err = sql_query(s,
                             "UPDATE peal_incident_job SET rule_id = ?3, log_id = ?4, "
                             "since_ms = ?5, events = ?6, took_ms = ?7, closed_ms = ?8, text = ?9 "
                             "WHERE incident_id = ?1 AND job_id = ?2",
                             &q, why);
    if (err)
        return err;
    job_bind(q, j);
    err = sql_change(q, &rows, why);
    if (err || rows)
        return err;
    err = sql_query(s,
                    "INSERT INTO peal_incident_job (" JOB_COLUMNS
                    ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                    &q, why);
    if (err)
        return err;
    job_bind(q, j);
    return sql_do(q, why);
}

enum err sql_incident_job_get(struct store *store, int64_t incident_id, int64_t job_id,
                              struct incident_job *ret, struct why *why)
{
    struct sql_query *q;
    bool row = false;
    enum err err = sql_query(sql_of(store),
                             "SELECT " JOB_COLUMNS " FROM peal_incident_job "
                             "WHERE incident_id = ?1 AND job_id = ?2",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, incident_id);
    sql_bind_i64(q, 2, job_id);
    err = sql_next(q, &row, why);
    if (err || !row)
        return err ? err : ERR_NOTFOUND;
    *ret = job_read(q);
    sql_reset(q);
    return OK;
}

enum err sql_incident_jobs_each(struct store *store, int64_t incident_id, int max,
                                incident_job_row_fn *fn, void *ctx, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT " JOB_COLUMNS " FROM peal_incident_job "
                             "WHERE incident_id = ?1 ORDER BY CASE WHEN closed_ms IS NULL THEN 0 "
                             "ELSE 1 END, job_id LIMIT ?2",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, incident_id);
    sql_bind_i64(q, 2, max);
    return sql_rows(q, job_lend, &fn, ctx, why);
}

enum err sql_incident_jobs_open(struct store *store, int64_t job_id, incident_job_row_fn *fn,
                                void *ctx, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT " JOB_COLUMNS " FROM peal_incident_job WHERE job_id = ?1 "
                             "AND closed_ms IS NULL ORDER BY incident_id",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, job_id);
    return sql_rows(q, job_lend, &fn, ctx, why);
}

static bool id_lend(struct sql_query *q, void *fn, void *ctx)
{
    return (*(job_id_fn **)fn)(ctx, sql_i64(q, 0, 0));
}

enum err sql_incident_jobs_unsettled(struct store *store, job_id_fn *fn, void *ctx, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT DISTINCT j.job_id FROM peal_incident i JOIN "
                             "peal_incident_job j ON j.incident_id = i.id "
                             "WHERE i.settled = 0 AND j.closed_ms IS NULL",
                             &q, why);
    return err ? err : sql_rows(q, id_lend, &fn, ctx, why);
}
