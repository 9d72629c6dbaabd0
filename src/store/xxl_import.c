/* SPDX-License-Identifier: Apache-2.0 */
/* The log goes first (xxl_history.h), with its marks; the rest is one transaction, in which the
 * marks go: it has all of the import's small tables or none. */
#include "store/xxl_import.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "store/xxl_history.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SQL_MAX 4096
#define PROGRESS_ROWS 1000
#define SCAN_MS 5000 /* how far ahead a Java admin takes what is due */

/* ---- the tables -------------------------------------------------------------------------------
 */

static const struct bulk_column span_columns[] = {
    { "slot", BULK_I64 },
    { "first_id", BULK_I64 },
    { "last_id", BULK_I64 },
};

/* ---- rows ------------------------------------------------------------------------------------ */

struct filling { /* one table under way */
    const struct xxl_import *import;
    struct store *to;
    const struct xxl_rows *rows;
    int table;
    struct bulk_put *put;
    struct bulk_sum *sum;
    void (*progress)(void *ctx, const char *what, int64_t rows);
    void *ctx;
    struct why *why;
    enum err err; /* of the first row that failed; what follows is not looked at */
};

static void stop_job(const struct filling *f, struct bulk_value *values)
{
    if (!f->import->stopped)
        return;
    if (f->table == XXL_JOBS)
        values[f->rows->status].number = 0;
    else if (f->table == XXL_DUE)
        values[1].null = true;
}

static void on_row(void *ctx, const struct slice *from)
{
    struct filling *f = ctx;
    struct xxl_row row;
    if (f->err)
        return;
    f->err = xxl_row_take(f->rows, f->table, f->import->zone, from, &row, f->why);
    if (!f->err) {
        stop_job(f, row.values);
        f->err = bulk_row(f->put, row.values, f->why);
    }
    if (!f->err) {
        bulk_sum_add(f->sum, &f->rows->tables[f->table], row.values);
        if (f->progress && f->sum->rows % PROGRESS_ROWS == 0)
            f->progress(f->ctx, xxl_table_names[f->table], f->sum->rows);
    }
    xxl_row_done(&row);
}

static enum err fill(struct filling *f)
{
    struct buf sql = BUF_INIT(SQL_MAX);
    xxl_rows_select(&sql, f->rows, f->import->layout, f->table);
    if (f->progress)
        f->progress(f->ctx, xxl_table_names[f->table], 0);
    enum err err = bulk_begin(f->to, &f->rows->tables[f->table], &f->put, f->why);
    if (!err) {
        err = reader_query(f->import->from, buf_str(&sql), on_row, f, f->why);
        bulk_end(f->put);
    }
    buf_done(&sql);
    return err ? err : f->err;
}

/* ---- the target -------------------------------------------------------------------------------
 */

struct span { /* of the log: which ids it has */
    int64_t slot, first, last;
};

struct summing {
    struct bulk_sum sum;
    const struct bulk_table *table;
    struct map *spans; /* slot -> struct span, owned; NULL: none is wanted */
};

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

static enum err on_target_row(void *ctx, const struct bulk_value *values, struct why *why)
{
    struct summing *s = ctx;
    (void)why;
    bulk_sum_add(&s->sum, s->table, values);
    if (s->spans && !values[XXL_LOG_TIME].null)
        note_span(s->spans, values[XXL_LOG_ID].number, values[XXL_LOG_TIME].number);
    return OK;
}

static enum err empty(const struct xxl_history *h, struct why *why)
{
    for (int i = h->begun ? XXL_LOG + 1 : XXL_LOG; i < XXL_IMPORT_TABLES; i++) {
        struct summing s = { .table = &h->rows->tables[i] };
        struct bulk_place at = { 0 };
        int n;
        enum err err = bulk_slice(h->to, s.table, &at, 1, on_target_row, &s, &n, why);
        bulk_place_done(&at);
        if (err)
            return err;
        if (n > 0) {
            why_set(why, "the target is not empty: %s has rows; name a new database",
                    s.table->name);
            return ERR_EXISTS;
        }
    }
    return OK;
}

static enum err spans_put(struct store *to, const struct map *spans, struct why *why)
{
    static const struct bulk_table t = { "peal_log_span", span_columns, (int)countof(span_columns),
                                         1 };
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

/* What was written reads as what was read; spans: of the log, or NULL. */
static enum err compare(struct store *to, const struct xxl_rows *rows, int table,
                        const struct bulk_sum *expected, struct map *spans, struct why *why)
{
    struct summing s = { .table = &rows->tables[table], .spans = spans };
    enum err err = bulk_each(to, s.table, on_target_row, &s, why);
    if (err || (s.sum.rows == expected->rows && s.sum.hash == expected->hash))
        return err;
    why_set(why, "%s read otherwise than they were written (%lld rows, %lld expected)",
            xxl_table_names[table], (long long)s.sum.rows, (long long)expected->rows);
    return ERR_CORRUPT;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static enum err history(struct xxl_history *h, struct map *spans, struct why *why)
{
    if (!h->import->days)
        return OK;
    enum err err = xxl_history_begin(h, why);
    if (!err)
        err = xxl_history_copy(h, why);
    return err || h->import->dry ? err : compare(h->to, h->rows, XXL_LOG, &h->sum, spans, why);
}

static enum err fill_all(const struct xxl_history *h, const struct map *spans,
                         struct bulk_sum sums[XXL_IMPORT_TABLES], struct why *why)
{
    enum err err = OK;
    for (int i = XXL_LOG + 1; !err && i < XXL_IMPORT_TABLES; i++) {
        struct filling f = { .import = h->import,
                             .to = h->to,
                             .rows = h->rows,
                             .table = i,
                             .sum = &sums[i],
                             .progress = h->progress,
                             .ctx = h->ctx,
                             .why = why };
        err = fill(&f);
        if (!err && i != XXL_DUE)
            err = bulk_lift(h->to, &h->rows->tables[i], why);
        if (!err)
            err = compare(h->to, h->rows, i, &sums[i], NULL, why);
    }
    if (!err && h->import->days)
        err = bulk_lift(h->to, &h->rows->tables[XXL_LOG], why);
    if (!err)
        err = spans_put(h->to, spans, why);
    return err ? err : xxl_history_end(h, why);
}

static enum err run(struct xxl_history *h, struct map *spans,
                    struct bulk_sum sums[XXL_IMPORT_TABLES], struct why *why)
{
    bool dry = h->import->dry;
    enum err err = xxl_history_look(h, why);
    if (!err)
        err = empty(h, why);
    if (!err)
        err = history(h, spans, why);
    if (!err)
        err = h->to->ops->txn->begin(h->to, why);
    if (err)
        return err;
    err = fill_all(h, spans, sums, why);
    if (!err && !dry)
        err = h->to->ops->txn->commit(h->to, NULL, why);
    if (err || dry)
        h->to->ops->txn->rollback(h->to);
    return err;
}

enum err xxl_import_run(const struct xxl_import *m, struct store *to,
                        void (*progress)(void *ctx, const char *what, int64_t rows), void *ctx,
                        struct xxl_imported *ret, struct why *why)
{
    struct xxl_rows rows;
    struct bulk_sum sums[XXL_IMPORT_TABLES] = { { 0, 0 } };
    struct map spans;
    struct xxl_history h = {
        .import = m, .rows = &rows, .to = to, .progress = progress, .ctx = ctx
    };
    xxl_rows_make(&rows);
    map_init(&spans);
    enum err err = run(&h, &spans, sums, why);
    sums[XXL_LOG] = h.sum;
    *ret = (struct xxl_imported){ .resumed = h.begun, .there = h.there };
    for (int i = 0; i < XXL_IMPORT_TABLES; i++) {
        ret->counts[i] = (struct xxl_import_count){ xxl_table_names[i], sums[i].rows };
        ret->sum += sums[i].hash;
    }
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
