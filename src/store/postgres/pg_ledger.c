/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger on PostgreSQL: what is due, and the rows of what is planned. One round trip a kind of
 * row, however many there are. */
#include "base/clock.h"
#include "base/mem.h"
#include "store/postgres/pg.h"
#include "store/shared.h"
#include "store/sql/job_row.h"
#include <libpq-fe.h>
#include <string.h>

#define FLOOR_MS 1000 /* so often what is due is looked for from the beginning */

/* ---- planning -------------------------------------------------------------------------------- */

static void due_read(struct sql_query *q, struct due_row *ret)
{
    ret->job_id = sql_i64(q, 0, 0);
    ret->next_ms = sql_i64(q, 1, NEVER_MS);
    ret->last_ms = sql_i64(q, 2, 0);
    ret->planned_until_ms = sql_i64(q, 3, 0);
    ret->version = sql_i64(q, 4, 0);
    ret->home = 0;
}

/* Entries of an index that were advanced stay below what is due as long as any snapshot is older:
 * they are passed over by a lower bound, which is lifted once a second. */
static int64_t floor_take(struct pg_floor *f, int64_t from_ms)
{
    int64_t now_ms = clock_boot_ms();
    if (now_ms >= f->until_ms) {
        f->until_ms = now_ms + FLOOR_MS;
        f->ms = INT64_MIN;
    }
    return f->ms > from_ms ? f->ms : from_ms;
}

/* The row behind the last one that was taken tells the next scheduled time. By a home time is
 * written as the index by home has it: the server would rather look for few rows of a home by the
 * index of all. */
#define TAKEN(home, ms)                                                                            \
    "WITH taken AS (SELECT job_id, next_ms, last_ms, planned_until_ms, version FROM peal_due "     \
    "WHERE " home ms " >= ?1 AND " ms " <= ?2 ORDER BY " ms ", job_id LIMIT ?3 "                   \
    "FOR UPDATE SKIP LOCKED) SELECT * FROM taken UNION ALL (SELECT NULL, next_ms, 0, 0, 0 FROM "   \
    "peal_due WHERE " home ms " > ?2 AND " ms " >= ?1 ORDER BY " ms ", job_id LIMIT 1)"

static enum err take_own(struct pg *s, int64_t from_ms, int64_t until_ms, int max,
                         struct due_row *rows, int *ret_n, int64_t *next_ms, struct why *why)
{
    struct sql_query *q;
    int n = 0;
    bool row = true;
    enum err err = sql_query(
        &s->sql, s->sql.homed ? TAKEN("home = ?4 AND ", "next_ms + 0") : TAKEN("", "next_ms"), &q,
        why);
    if (err)
        return err;
    sql_bind_i64(q, 1, floor_take(&s->own, from_ms));
    sql_bind_i64(q, 2, until_ms);
    sql_bind_i64(q, 3, (int64_t)max + 1);
    if (s->sql.homed)
        sql_bind_i64(q, 4, s->sql.home);
    while (!(err = sql_next(q, &row, why)) && row) {
        struct due_row one;
        due_read(q, &one);
        if (one.job_id && n < max)
            rows[n++] = one;
        else if (one.next_ms < *next_ms)
            *next_ms = one.next_ms;
    }
    s->own.taken_ms = n ? rows[n - 1].next_ms : INT64_MIN;
    s->own.full = n == max;
    *ret_n = n;
    return err;
}

/* What other homes have left, by the index of all: there is nothing while all is well, so that all
 * that they have advanced lies below the floor. */
static enum err take_others(struct pg *s, int64_t from_ms, int64_t until_ms, int max,
                            struct due_row *rows, int *n, struct why *why)
{
    struct sql_query *q;
    bool row = true;
    if (until_ms > s->sql.claim_ms)
        until_ms = s->sql.claim_ms;
    s->others.taken_ms = INT64_MIN;
    s->others.full = false;
    if (!s->sql.homed || *n >= max || until_ms < from_ms)
        return OK;
    enum err err = sql_query(&s->sql,
                             "SELECT job_id, next_ms, last_ms, planned_until_ms, version FROM "
                             "peal_due WHERE next_ms >= ?1 AND next_ms <= ?2 AND home <> ?4 "
                             "ORDER BY next_ms, job_id LIMIT ?3 FOR UPDATE SKIP LOCKED",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, floor_take(&s->others, from_ms));
    sql_bind_i64(q, 2, until_ms);
    sql_bind_i64(q, 3, max - *n);
    sql_bind_i64(q, 4, s->sql.home);
    while (!(err = sql_next(q, &row, why)) && row)
        due_read(q, &rows[(*n)++]);
    s->others.full = *n == max;
    s->others.taken_ms = s->others.full ? rows[*n - 1].next_ms : until_ms;
    return err;
}

enum err pg_due_take(struct store *store, int64_t from_ms, int64_t until_ms, int max,
                     struct due_row *rows, int *ret_n, int64_t *ret_next_ms, struct why *why)
{
    struct pg *s = pg_of(store);
    int n = 0;
    int64_t next_ms = NEVER_MS;
    enum err err = take_own(s, from_ms, until_ms, max, rows, &n, &next_ms, why);
    if (!err)
        err = take_others(s, from_ms, until_ms, max, rows, &n, why);
    if (err)
        return err;
    s->taken = n;
    *ret_n = n;
    *ret_next_ms = next_ms;
    return OK;
}

static void floor_written(struct pg_floor *f, int64_t next_ms)
{
    if (next_ms < f->ms)
        f->ms = next_ms;
    if (next_ms < f->left_ms)
        f->left_ms = next_ms;
}

void pg_due_written(struct pg *s, int64_t next_ms)
{
    floor_written(&s->own, next_ms);
    floor_written(&s->others, next_ms);
}

static void floor_lift(struct pg_floor *f)
{
    f->ms = f->reached_ms = INT64_MIN;
    f->left_ms = INT64_MAX;
}

void pg_floors_lift(struct pg *s)
{
    floor_lift(&s->own);
    floor_lift(&s->others);
}

/* Not within a transaction: that may look below what it has just taken. */
static void floor_raise(struct pg_floor *f)
{
    int64_t ms = f->reached_ms < f->left_ms ? f->reached_ms : f->left_ms;
    if (ms > f->ms)
        f->ms = ms;
    f->reached_ms = INT64_MIN;
    f->left_ms = INT64_MAX;
}

void pg_floors_raise(struct pg *s)
{
    floor_raise(&s->own);
    floor_raise(&s->others);
}

/* all: what was taken has been advanced. */
static void floor_put(struct pg_floor *f, bool all)
{
    if (f->taken_ms > f->reached_ms)
        f->reached_ms = f->taken_ms;
    if (!all)
        f->left_ms = INT64_MIN;
    else if (f->full && f->taken_ms < f->left_ms)
        f->left_ms = f->taken_ms;
}

enum err pg_due_put(struct store *store, const struct due_row *rows, int n, struct why *why)
{
    struct pg *s = pg_of(store);
    if (s->taken >= 0) {
        floor_put(&s->own, n == s->taken);
        floor_put(&s->others, n == s->taken);
    }
    s->taken = -1;
    if (n <= 0)
        return OK;
    struct pg_array *id = pg_array(s, 0, PG_I64), *next = pg_array(s, 1, PG_I64),
                    *last = pg_array(s, 2, PG_I64), *until = pg_array(s, 3, PG_I64),
                    *home = pg_array(s, 4, PG_I64);
    for (int i = 0; i < n; i++) {
        pg_add_i64(id, rows[i].job_id);
        if (rows[i].next_ms == NEVER_MS)
            pg_add_null(next);
        else
            pg_add_i64(next, rows[i].next_ms);
        pg_add_i64(last, rows[i].last_ms);
        pg_add_i64(until, rows[i].planned_until_ms);
        pg_add_i64(home, s->sql.homed ? rows[i].home : 0);
        pg_due_written(s, rows[i].next_ms);
    }
    return pg_call(s,
                   "UPDATE peal_due d SET next_ms = v.next, before_ms = CASE WHEN d.last_ms < "
                   "v.last THEN d.last_ms ELSE d.before_ms END, last_ms = v.last, "
                   "planned_until_ms = v.until, home = v.home FROM unnest($1::bigint[], "
                   "$2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) "
                   "AS v(id, next, last, until, home) WHERE d.job_id = v.id",
                   5, NULL, why);
}

/* ---- spans: which ids a time can have -------------------------------------------------------- */

enum err pg_spans_flush(struct pg *s, struct why *why)
{
    if (s->nspans == 0)
        return OK;
    struct pg_array *slot = pg_array(s, 0, PG_I64), *first = pg_array(s, 1, PG_I64),
                    *last = pg_array(s, 2, PG_I64);
    for (int i = 0; i < s->nspans; i++) {
        pg_add_i64(slot, s->spans[i].slot);
        pg_add_i64(first, s->spans[i].first_id);
        pg_add_i64(last, s->spans[i].last_id);
    }
    s->nspans = 0;
    return pg_call(s,
                   "INSERT INTO peal_log_span AS p (slot, first_id, last_id) "
                   "SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) "
                   "AS v(slot, first_id, last_id) ORDER BY slot "
                   "ON CONFLICT (slot) DO UPDATE SET first_id = least(p.first_id, "
                   "excluded.first_id), last_id = greatest(p.last_id, excluded.last_id)",
                   3, NULL, why);
}

/* A full table is written first. */
static enum err span_note(struct pg *s, int64_t trigger_ms, int64_t id, struct why *why)
{
    int64_t slot = sql_span_slot(trigger_ms);
    for (int i = s->nspans - 1; i >= 0; i--) {
        struct pg_span *span = &s->spans[i];
        if (span->slot != slot)
            continue;
        if (id < span->first_id)
            span->first_id = id;
        if (id > span->last_id)
            span->last_id = id;
        return OK;
    }
    enum err err = s->nspans == PG_SPANS ? pg_spans_flush(s, why) : OK;
    s->spans[s->nspans++] = (struct pg_span){ slot, id, id };
    return err;
}

/* ---- adding ---------------------------------------------------------------------------------- */

static int64_t log_ms(const struct run_row *r)
{
    return run_log_ms(r->kind, r->scheduled_ms, r->due_ms);
}

/* The rows of the log, and the ids that they were given, in the order of the rows. */
static enum err logs_insert(struct pg *s, struct run_row *rows, int n, struct why *why)
{
    struct pg_array *a[9];
    static const unsigned types[] = { PG_I64,  PG_I64, PG_TEXT, PG_TEXT, PG_TEXT,
                                      PG_TEXT, PG_I32, PG_TIME, PG_TEXT };
    PGresult *r = NULL;
    for (int i = 0; i < (int)countof(types); i++)
        a[i] = pg_array(s, i, types[i]);
    for (int i = 0; i < n; i++) {
        char sharding[24];
        pg_add_i64(a[0], rows[i].group_id);
        pg_add_i64(a[1], rows[i].job_id);
        pg_add_text(a[2], rows[i].address);
        pg_add_text(a[3], rows[i].handler);
        pg_add_text(a[4], rows[i].param);
        pg_add_text(a[5], store_sharding(&rows[i], sharding, sizeof(sharding)));
        pg_add_i32(a[6], rows[i].retries_left);
        pg_add_time(a[7], log_ms(&rows[i]));
        pg_add_text(a[8], store_kind_text(rows[i].kind));
    }
    enum err err = pg_call(
        s,
        "INSERT INTO xxl_job_log (job_group, job_id, executor_address, executor_handler, "
        "executor_param, executor_sharding_param, executor_fail_retry_count, trigger_time, "
        "trigger_code, trigger_msg, handle_code) SELECT g, j, a, h, p, s, c, t, 0, m, 0 FROM "
        "unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], "
        "$7::integer[], $8::timestamptz[], $9::text[]) WITH ORDINALITY "
        "AS v(g, j, a, h, p, s, c, t, m, o) ORDER BY o RETURNING id",
        countof(types), &r, why);
    if (!err && PQntuples(r) != n)
        err = pg_fail_as(s, ERR_STORE, "it has not added all rows of the log", why);
    for (int i = 0; !err && i < n; i++)
        rows[i].log_id = pg_get_i64(r, i, 0, -1);
    PQclear(r);
    return err;
}

#define LIVE                                                                                       \
    "INSERT INTO peal_run (log_id, job_id, kind, moment_ms, shard, shard_total, attempt, cause, "  \
    "phase, doubted, broadcast, retries_left, due_ms, version, told, node, epoch, address, "       \
    "choices) SELECT i, j, k, m, s, t, a, c, p, d, b, r, u, v, v, ($15::bigint[])[1], "            \
    "($16::bigint[])[1], "                                                                         \
    "e, h FROM unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::bigint[], $5::integer[], "   \
    "$6::integer[], $7::integer[], $8::bigint[], $9::smallint[], $10::smallint[], "                \
    "$11::smallint[], $12::integer[], $13::bigint[], $14::bigint[], $17::text[], $18::text[]) "    \
    "AS x(i, j, k, m, s, t, a, c, p, d, b, r, u, v, e, h) "                                        \
    "ON CONFLICT (job_id, kind, moment_ms, shard, attempt, cause) DO NOTHING RETURNING log_id"

static void live_fill(struct pg *s, const struct run_row *rows, int n)
{
    static const unsigned types[PG_ARRAYS] = { PG_I64, PG_I64, PG_I16, PG_I64, PG_I32,  PG_I32,
                                               PG_I32, PG_I64, PG_I16, PG_I16, PG_I16,  PG_I32,
                                               PG_I64, PG_I64, PG_I64, PG_I64, PG_TEXT, PG_TEXT };
    struct pg_array *a[PG_ARRAYS];
    for (int i = 0; i < PG_ARRAYS; i++)
        a[i] = pg_array(s, i, types[i]);
    pg_add_i64(a[14], s->sql.node);
    pg_add_i64(a[15], s->sql.epoch);
    for (int i = 0; i < n; i++) {
        const struct run_row *r = &rows[i];
        pg_add_i64(a[0], r->log_id);
        pg_add_i64(a[1], r->job_id);
        pg_add_i16(a[2], r->kind);
        pg_add_i64(a[3], r->scheduled_ms);
        pg_add_i32(a[4], r->shard);
        pg_add_i32(a[5], r->shard_total);
        pg_add_i32(a[6], r->attempt);
        pg_add_i64(a[7], r->cause);
        pg_add_i16(a[8], r->phase);
        pg_add_i16(a[9], r->doubted);
        pg_add_i16(a[10], r->broadcast);
        pg_add_i32(a[11], r->retries_left);
        pg_add_i64(a[12], r->due_ms);
        pg_add_i64(a[13], r->version);
        pg_add_text(a[16], r->address);
        pg_add_text(a[17], r->choices);
    }
}

/* Some runs are there already: their rows of the log go again. The ids of the others have come in
 * the order of the rows. */
static enum err duplicates_drop(struct pg *s, struct run_row *rows, int n, const PGresult *added,
                                struct why *why)
{
    struct pg_array *gone = pg_array(s, 0, PG_I64);
    int next = 0, nadded = PQntuples(added);
    for (int i = 0; i < n; i++) {
        if (next < nadded && pg_get_i64(added, next, 0, -1) == rows[i].log_id) {
            next++;
            continue;
        }
        pg_add_i64(gone, rows[i].log_id);
        rows[i].log_id = -1;
    }
    if (next != nadded)
        return pg_fail_as(s, ERR_STORE, "it has added live rows in another order", why);
    return pg_call(s, "DELETE FROM xxl_job_log WHERE id = ANY ($1::bigint[])", 1, NULL, why);
}

enum err pg_runs_add(struct store *store, struct run_row *rows, int n, struct why *why)
{
    struct pg *s = pg_of(store);
    PGresult *r = NULL;
    if (n <= 0)
        return OK;
    enum err err = logs_insert(s, rows, n, why);
    if (!err) {
        live_fill(s, rows, n);
        err = pg_call(s, LIVE, PG_ARRAYS, &r, why);
    }
    if (!err && PQntuples(r) != n)
        err = duplicates_drop(s, rows, n, r, why);
    PQclear(r);
    for (int i = 0; !err && i < n; i++)
        if (rows[i].log_id >= 0)
            err = span_note(s, log_ms(&rows[i]), rows[i].log_id, why);
    return err;
}

/* ---- definitions ----------------------------------------------------------------------------- */

static void jobs_text(struct pg *s)
{
    struct buf text = BUF_INIT(16384);
    buf_text(&text, "SELECT ");
    sql_job_columns(&text);
    buf_text(&text, SQL_JOB_TABLES "WHERE ");
    buf_printf(&text, pg_driver.among, "j.id", 1);
    s->jobs_text = buf_take(&text);
}

enum err pg_jobs_get(struct store *store, const int64_t *ids, int n, job_row_fn *fn, void *ctx,
                     struct why *why)
{
    struct pg *s = pg_of(store);
    struct sql_query *q;
    bool row = true, more = true;
    if (n <= 0)
        return OK;
    if (!s->jobs_text)
        jobs_text(s);
    enum err err = sql_query(&s->sql, s->jobs_text, &q, why);
    if (err)
        return err;
    struct buf list = BUF_INIT((size_t)n * 24 + 16);
    for (int i = 0; i < n; i++)
        buf_printf(&list, "%c%lld", i ? ',' : '[', (long long)ids[i]);
    buf_char(&list, ']');
    sql_bind_text(q, 1, buf_str(&list));
    while (more && !(err = sql_next(q, &row, why)) && row) {
        struct job_record r;
        sql_job_read(&s->sql, q, &r);
        more = fn(ctx, &r);
        job_record_done(&r);
    }
    sql_reset(q);
    buf_done(&list);
    return err;
}
