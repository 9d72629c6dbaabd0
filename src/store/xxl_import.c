/* SPDX-License-Identifier: Apache-2.0 */
/* A table is a row below: what is selected there, what is written here. Values come as texts and
 * are made what the target's column is; a text with a NUL, which not every engine can hold, is
 * refused. Where a job stands (peal_due) is made of its columns in xxl_job_info. */
#include "store/xxl_import.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "cron/rfc3339.h"
#include "store/bulk.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SQL_MAX 4096
#define PROGRESS_ROWS 1000
#define SLICE_ROWS 5000 /* of the log in one transaction */
#define SCAN_MS 5000    /* how far ahead a Java admin takes what is due */

/* ---- the tables -------------------------------------------------------------------------------
 */

static const struct bulk_column group_columns[] = {
    { "id", BULK_I64 },           { "app_name", BULK_TEXT },     { "title", BULK_TEXT },
    { "address_type", BULK_I64 }, { "address_list", BULK_TEXT }, { "update_time", BULK_TIME },
};
static const struct bulk_column registry_columns[] = {
    { "id", BULK_I64 },
    { "registry_group", BULK_TEXT },
    { "registry_key", BULK_TEXT },
    { "registry_value", BULK_TEXT },
    { "update_time", BULK_TIME },
};
static const struct bulk_column script_columns[] = {
    { "id", BULK_I64 },           { "job_id", BULK_I64 },       { "glue_type", BULK_TEXT },
    { "glue_source", BULK_TEXT }, { "glue_remark", BULK_TEXT }, { "add_time", BULK_TIME },
    { "update_time", BULK_TIME },
};
static const struct bulk_column user_columns[] = {
    { "id", BULK_I64 },   { "username", BULK_TEXT },   { "password", BULK_TEXT },
    { "role", BULK_I64 }, { "permission", BULK_TEXT },
};
static const struct bulk_column due_columns[] = {
    { "job_id", BULK_I64 },
    { "next_ms", BULK_I64 },
    { "last_ms", BULK_I64 },
    { "version", BULK_I64 },
};
static const struct bulk_column log_columns[] = {
    { "id", BULK_I64 },
    { "job_group", BULK_I64 },
    { "job_id", BULK_I64 },
    { "executor_address", BULK_TEXT },
    { "executor_handler", BULK_TEXT },
    { "executor_param", BULK_TEXT },
    { "executor_sharding_param", BULK_TEXT },
    { "executor_fail_retry_count", BULK_I64 },
    { "trigger_time", BULK_TIME },
    { "trigger_code", BULK_I64 },
    { "trigger_msg", BULK_TEXT },
    { "handle_time", BULK_TIME },
    { "handle_code", BULK_I64 },
    { "handle_msg", BULK_TEXT },
    { "alarm_status", BULK_I64 },
};
static const struct bulk_column span_columns[] = {
    { "slot", BULK_I64 },
    { "first_id", BULK_I64 },
    { "last_id", BULK_I64 },
};

enum { LOG, GROUPS, JOBS, DUE, SCRIPTS, USERS, REGISTRY };
enum { LOG_TIME = 8 }; /* place of trigger_time */

#define TABLE(name, columns)                                                                       \
    {                                                                                              \
        name, columns, (int)countof(columns), 1                                                    \
    }

struct plan_of_import {
    struct bulk_column job_columns[BULK_COLUMNS_MAX]; /* id, and those of xxl_job_info */
    struct bulk_table tables[XXL_IMPORT_TABLES];
    int status; /* place of trigger_status among the job's columns */
};

static const char *const names[XXL_IMPORT_TABLES] = {
    [LOG] = "log rows",           [GROUPS] = "groups",   [JOBS] = "jobs",
    [DUE] = "next times",         [SCRIPTS] = "scripts", [USERS] = "users",
    [REGISTRY] = "registrations",
};

static void make_plan(struct plan_of_import *p)
{
    int n = 0;
    p->job_columns[n++] = (struct bulk_column){ "id", BULK_I64 };
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        if (c->table != JOB_INFO)
            continue;
        if (strcmp(c->name, "trigger_status") == 0)
            p->status = n;
        enum bulk_type type = c->type >= JOB_TEXT   ? BULK_TEXT
                              : c->type == JOB_TIME ? BULK_TIME
                                                    : BULK_I64;
        p->job_columns[n++] = (struct bulk_column){ c->name, type };
    }
    const struct bulk_table tables[XXL_IMPORT_TABLES] = {
        [LOG] = TABLE("xxl_job_log", log_columns),
        [GROUPS] = TABLE("xxl_job_group", group_columns),
        [JOBS] = { "xxl_job_info", p->job_columns, n, 1 },
        [DUE] = TABLE("peal_due", due_columns),
        [SCRIPTS] = TABLE("xxl_job_logglue", script_columns),
        [USERS] = TABLE("xxl_job_user", user_columns),
        [REGISTRY] = TABLE("xxl_job_registry", registry_columns),
    };
    memcpy(p->tables, tables, sizeof(tables));
}

/* The name of a column in the source. */
static const char *source_name(const struct layout *l, int table, const char *name)
{
    if (table == GROUPS && strcmp(name, "title") == 0)
        return l->group_name;
    if (table == JOBS && strcmp(name, "job_desc") == 0)
        return l->job_name;
    return name;
}

static void compose(struct buf *sql, const struct plan_of_import *p, const struct xxl_import *m,
                    int table)
{
    if (table == DUE) {
        buf_text(sql, "SELECT id, IF(trigger_status = 1 AND trigger_next_time > 0, "
                      "trigger_next_time, NULL), trigger_last_time, 1 FROM xxl_job_info");
        return;
    }
    if (table == REGISTRY) { /* before 2.5 a registration may have several rows */
        buf_text(sql, "SELECT MIN(id), registry_group, registry_key, registry_value, "
                      "MAX(update_time) FROM xxl_job_registry GROUP BY registry_group, "
                      "registry_key, registry_value");
        return;
    }
    const struct bulk_table *t = &p->tables[table];
    buf_text(sql, "SELECT ");
    for (int i = 0; i < t->n; i++)
        buf_printf(sql, "%s%s", i ? ", " : "", source_name(m->layout, table, t->columns[i].name));
    buf_printf(sql, " FROM %s", t->name);
    char since[RFC3339_SIZE];
    if (table == LOG)
        buf_printf(sql, " WHERE trigger_time >= '%s'",
                   walltime_format(m->since_ms, m->zone, since));
    buf_text(sql, " ORDER BY id");
}

/* ---- rows -------------------------------------------------------------------------------------
 */

struct span { /* of the log: which ids it has */
    int64_t slot, first, last;
};

struct filling { /* one table under way */
    const struct xxl_import *import;
    struct store *to;
    struct map *spans; /* slot -> struct span, owned */
    const struct plan_of_import *plan;
    int table;
    struct bulk_put *put;
    struct bulk_sum *sum;
    void (*progress)(void *ctx, const char *what, int64_t rows);
    void *ctx;
    struct why *why;
    enum err err; /* of the first row that failed; what follows is not looked at */
};

static enum err bad_value(struct filling *f, struct slice id, int column, const char *problem)
{
    why_set(f->why, "%s, id %.*s: column %s %s", names[f->table], (int)id.n, id.p ? id.p : "",
            f->plan->tables[f->table].columns[column].name, problem);
    return ERR_INVALID;
}

static enum err take_value(struct filling *f, const struct slice *from, int i,
                           struct bulk_value *to, char **ret_text)
{
    const struct bulk_column *c = &f->plan->tables[f->table].columns[i];
    struct slice v = from[i];
    *to = (struct bulk_value){ .null = v.p == NULL };
    *ret_text = NULL;
    if (to->null)
        return OK;
    if (c->type == BULK_I64 && !parse_i64(v, &to->number))
        return bad_value(f, from[0], i, "is no whole number");
    if (c->type == BULK_TIME) {
        v.n = v.n > 19 ? 19 : v.n; /* without a fraction */
        to->null = walltime_parse(v, f->import->zone, &to->number, NULL) != OK; /* 0000-00-00 */
    }
    if (c->type == BULK_TEXT) {
        if (memchr(v.p, '\0', v.n))
            return bad_value(f, from[0], i, "holds a NUL");
        to->text = *ret_text = mem_dupn(v.p, v.n);
    }
    return OK;
}

static void stop_job(const struct filling *f, struct bulk_value *values)
{
    if (!f->import->stopped)
        return;
    if (f->table == JOBS)
        values[f->plan->status].number = 0;
    else if (f->table == DUE)
        values[1].null = true;
}

static void note_span(struct map *spans, int64_t id, int64_t ms)
{
    int64_t slot = bulk_log_slot(ms);
    struct span *span = map_find(spans, (uint64_t)slot);
    if (!span) {
        span = mem_new(sizeof(*span));
        *span = (struct span){ slot, id, id };
        map_set(spans, (uint64_t)slot, span);
    }
    span->first = id < span->first ? id : span->first;
    span->last = id > span->last ? id : span->last;
}

/* The log may be longer than one transaction should be. */
static enum err log_row_done(struct filling *f, const struct bulk_value *values)
{
    if (!values[LOG_TIME].null)
        note_span(f->spans, values[0].number, values[LOG_TIME].number);
    if (f->import->dry || f->sum->rows % SLICE_ROWS != 0)
        return OK;
    enum err err = f->to->ops->txn->commit(f->to, NULL, f->why);
    return err ? err : f->to->ops->txn->begin(f->to, f->why);
}

static void on_row(void *ctx, const struct slice *from)
{
    struct filling *f = ctx;
    const struct bulk_table *t = &f->plan->tables[f->table];
    struct bulk_value values[BULK_COLUMNS_MAX] = { { .null = true } };
    char *texts[BULK_COLUMNS_MAX] = { NULL };
    for (int i = 0; !f->err && i < t->n; i++)
        f->err = take_value(f, from, i, &values[i], &texts[i]);
    if (!f->err) {
        stop_job(f, values);
        f->err = bulk_row(f->put, values, f->why);
    }
    if (!f->err) {
        bulk_sum_add(f->sum, t, values);
        if (f->progress && f->sum->rows % PROGRESS_ROWS == 0)
            f->progress(f->ctx, names[f->table], f->sum->rows);
        if (f->table == LOG)
            f->err = log_row_done(f, values);
    }
    for (int i = 0; i < t->n; i++)
        free(texts[i]);
}

static enum err fill(struct filling *f)
{
    struct buf sql = BUF_INIT(SQL_MAX);
    compose(&sql, f->plan, f->import, f->table);
    if (f->progress)
        f->progress(f->ctx, names[f->table], 0);
    enum err err = bulk_begin(f->to, &f->plan->tables[f->table], &f->put, f->why);
    if (!err) {
        err = reader_query(f->import->from, buf_str(&sql), on_row, f, f->why);
        bulk_end(f->put);
    }
    buf_done(&sql);
    return err ? err : f->err;
}

/* ---- the target -------------------------------------------------------------------------------
 */

struct summing {
    struct bulk_sum sum;
    const struct bulk_table *table;
};

static enum err on_target_row(void *ctx, const struct bulk_value *values, struct why *why)
{
    struct summing *s = ctx;
    (void)why;
    bulk_sum_add(&s->sum, s->table, values);
    return OK;
}

static enum err sum_up(struct store *to, const struct bulk_table *t, struct bulk_sum *ret,
                       struct why *why)
{
    struct summing s = { .table = t };
    enum err err = bulk_each(to, t, on_target_row, &s, why);
    *ret = s.sum;
    return err;
}

static enum err empty(struct store *to, const struct plan_of_import *p, struct why *why)
{
    for (int i = 0; i < XXL_IMPORT_TABLES; i++) {
        struct summing s = { .table = &p->tables[i] };
        struct bulk_place at = { 0 };
        int n;
        enum err err = bulk_slice(to, s.table, &at, 1, on_target_row, &s, &n, why);
        bulk_place_done(&at);
        if (err)
            return err;
        if (n > 0) {
            why_set(why, "the target is not empty: %s has rows; name a new database",
                    p->tables[i].name);
            return ERR_EXISTS;
        }
    }
    return OK;
}

static enum err spans_put(struct store *to, const struct map *spans, struct why *why)
{
    static const struct bulk_table t = TABLE("peal_log_span", span_columns);
    struct bulk_put *put = NULL;
    enum err err = bulk_begin(to, &t, &put, why);
    void *value;
    for (size_t i = 0; !err && map_next(spans, &i, &value);) {
        const struct span *span = value;
        const struct bulk_value values[] = { { .number = span->slot },
                                             { .number = span->first },
                                             { .number = span->last } };
        err = bulk_row(put, values, why);
    }
    bulk_end(put);
    return err;
}

static enum err compare(struct store *to, const struct plan_of_import *p,
                        const struct bulk_sum sums[XXL_IMPORT_TABLES], struct why *why)
{
    for (int i = 0; i < XXL_IMPORT_TABLES; i++) {
        struct bulk_sum sum;
        enum err err = sum_up(to, &p->tables[i], &sum, why);
        if (err)
            return err;
        if (sum.rows != sums[i].rows || sum.hash != sums[i].hash) {
            why_set(why, "%s read otherwise than they were written (%lld rows, %lld expected)",
                    names[i], (long long)sum.rows, (long long)sums[i].rows);
            return ERR_CORRUPT;
        }
    }
    return OK;
}

static enum err fill_all(const struct xxl_import *m, const struct plan_of_import *plan,
                         struct filling like, struct bulk_sum sums[XXL_IMPORT_TABLES])
{
    enum err err = OK;
    for (int i = m->since_ms ? LOG : GROUPS; !err && i < XXL_IMPORT_TABLES; i++) {
        struct filling f = like;
        f.table = i;
        f.sum = &sums[i];
        err = fill(&f);
        if (!err && i != DUE)
            err = bulk_lift(f.to, &plan->tables[i], f.why);
    }
    if (!err)
        err = spans_put(like.to, like.spans, like.why);
    return err ? err : compare(like.to, plan, sums, like.why);
}

enum err xxl_import_run(const struct xxl_import *m, struct store *to,
                        void (*progress)(void *ctx, const char *what, int64_t rows), void *ctx,
                        struct xxl_import_count ret[XXL_IMPORT_TABLES], struct why *why)
{
    struct plan_of_import plan;
    struct bulk_sum sums[XXL_IMPORT_TABLES] = { { 0, 0 } };
    struct map spans;
    make_plan(&plan);
    enum err err = empty(to, &plan, why);
    if (!err)
        err = to->ops->txn->begin(to, why);
    if (err)
        return err;
    map_init(&spans);
    struct filling like = { .import = m,
                            .to = to,
                            .spans = &spans,
                            .plan = &plan,
                            .ctx = ctx,
                            .why = why,
                            .progress = progress };
    err = fill_all(m, &plan, like, sums);
    if (!err && !m->dry)
        err = to->ops->txn->commit(to, NULL, why);
    if (err || m->dry)
        to->ops->txn->rollback(to);
    for (int i = 0; i < XXL_IMPORT_TABLES; i++)
        ret[i] = (struct xxl_import_count){ names[i], sums[i].rows };
    void *value;
    for (size_t i = 0; map_next(&spans, &i, &value);)
        free(value);
    map_done(&spans);
    return err;
}

/* ---- is somebody at work there? ---------------------------------------------------------------
 */

struct advance {
    int64_t due, sum;
};

static void on_advance(void *ctx, const struct slice *v)
{
    struct advance *a = ctx;
    int64_t n;
    a->due = v[0].p && parse_i64(v[0], &n) ? n : 0;
    a->sum = v[1].p && parse_i64(v[1], &n) ? n : 0;
}

static enum err look(struct reader *from, int64_t until_ms, struct advance *ret, struct why *why)
{
    struct buf sql = BUF_INIT(SQL_MAX);
    *ret = (struct advance){ 0, 0 };
    buf_printf(
        &sql,
        "SELECT COUNT(*), CAST(COALESCE(SUM(trigger_next_time MOD 1000000007), 0) AS SIGNED) "
        "FROM xxl_job_info WHERE trigger_status = 1 AND trigger_next_time <= %lld",
        (long long)until_ms);
    enum err err = reader_query(from, buf_str(&sql), on_advance, ret, why);
    buf_done(&sql);
    return err;
}

enum err xxl_import_live(struct reader *from, bool *ret, struct why *why)
{
    int64_t until_ms = clock_wall_ms() + SCAN_MS;
    struct advance before, after;
    enum err err = look(from, until_ms, &before, why);
    *ret = false;
    if (err || before.due == 0)
        return err;
    struct timespec pause = { SCAN_MS / 1000 + 1, 0 };
    nanosleep(&pause, NULL);
    err = look(from, until_ms, &after, why);
    *ret = !err && (after.due != before.due || after.sum != before.sum);
    return err;
}
