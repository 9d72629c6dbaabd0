/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL as a driver of the statements that all SQL engines share.
 *
 * Numbers and texts go as text: the server gives each parameter the type of what it meets, and
 * reads the number as that. Rows come one at a time. When another statement is run before the last
 * one of them has been read, the rest is taken off the connection and kept. */
#include "base/mem.h"
#include "store/postgres/pg.h"
#include "store/sql/selftest.h"
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARAMS_MAX 64
#define KEPT_MAX 1000000 /* rows that are kept of one statement */
#define TEXT_MAX 200000  /* of a statement */

struct pg_query {
    struct pg *s;
    char *text; /* with $1, … */
    bool kept;
    struct pg_prepared prepared;
    int n;                        /* parameters */
    unsigned char at[PARAMS_MAX]; /* of ours: its place in the text, from 1 on; 0: not in it */
    struct param {
        const char *p; /* NULL: NULL */
        int length;
        bool bytes;
        char number[32];
        char *copy;
    } params[PARAMS_MAX];
    bool running;
    PGresult *row;
    PGresult **rest; /* rows that were kept, from next on */
    size_t nrest, next, cap;
    struct buf bytes; /* of the blob that was read last */
};

static struct pg *of(struct sql *s)
{
    return (struct pg *)s;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The place of our parameter i in the text that is made. */
static int place(struct pg_query *q, int i)
{
    if (!q->at[i])
        q->at[i] = (unsigned char)++q->n;
    return q->at[i];
}

/* ?N, or ? for the next one, becomes $N; what stands in quotes stays. False: too many. */
static bool translate(struct pg_query *q, const char *text, struct buf *to)
{
    int last = 0;
    bool quoted = false;
    for (const char *p = text; *p; p++) {
        quoted ^= *p == '\'';
        if (quoted || *p != '?') {
            buf_char(to, *p);
            continue;
        }
        int i = 0;
        while (p[1] >= '0' && p[1] <= '9' && i < PARAMS_MAX)
            i = i * 10 + (*++p - '0');
        if (!i)
            i = last + 1;
        if (i >= PARAMS_MAX)
            return false;
        last = i;
        buf_printf(to, "$%d", place(q, i));
    }
    return !to->failed;
}

static enum err prepare(struct sql *sql, const char *text, bool kept, void **ret, struct why *why)
{
    struct pg *s = of(sql);
    struct pg_query *q = mem_new(sizeof(*q));
    struct buf to = BUF_INIT(TEXT_MAX);
    q->s = s;
    q->kept = kept;
    buf_init(&q->bytes, 64 * 1024 * 1024);
    snprintf(q->prepared.name, sizeof(q->prepared.name), "q%u", s->nprepared++);
    bool good = translate(q, text, &to);
    q->text = buf_take(&to);
    *ret = q;
    if (good)
        return OK;
    free(q->text);
    free(q);
    *ret = NULL;
    return pg_fail_as(s, ERR_TOOBIG, "a statement is too long", why);
}

/* ---- parameters ------------------------------------------------------------------------------ */

static struct param *param(struct pg_query *q, int i)
{
    static struct param nowhere;
    struct param *p = q->at[i] ? &q->params[q->at[i] - 1] : &nowhere;
    free(p->copy);
    p->copy = NULL;
    p->bytes = false;
    p->length = 0;
    return p;
}

static void null_bind(void *stmt, int i)
{
    param(stmt, i)->p = NULL;
}

static void i64_bind(void *stmt, int i, int64_t v)
{
    struct param *p = param(stmt, i);
    snprintf(p->number, sizeof(p->number), "%lld", (long long)v);
    p->p = p->number;
}

static void real_bind(void *stmt, int i, double v)
{
    struct param *p = param(stmt, i);
    snprintf(p->number, sizeof(p->number), "%.17g", v);
    p->p = p->number;
}

static void text_bind(void *stmt, int i, const char *text)
{
    struct param *p = param(stmt, i);
    p->p = pg_text(text, &p->copy);
}

static void blob_bind(void *stmt, int i, struct slice bytes)
{
    struct param *p = param(stmt, i);
    p->p = bytes.n ? bytes.p : "";
    p->length = (int)bytes.n;
    p->bytes = true;
}

/* ---- running --------------------------------------------------------------------------------- */

static void rest_drop(struct pg_query *q)
{
    while (q->next < q->nrest)
        PQclear(q->rest[q->next++]);
    q->next = q->nrest = 0;
}

/* The results that are still on the connection are read and forgotten. */
static void drain(struct pg *s)
{
    struct why ignored = { "" };
    PGresult *r = NULL;
    s->streaming = NULL;
    while (s->db && !pg_next(s, &r, &ignored) && r)
        PQclear(r);
}

static void reset(void *stmt)
{
    struct pg_query *q = stmt;
    if (q->s->streaming == q)
        drain(q->s);
    PQclear(q->row);
    q->row = NULL;
    rest_drop(q);
    q->running = false;
}

static void finalize(struct sql *sql, void *stmt)
{
    struct pg_query *q = stmt;
    (void)sql;
    reset(q);
    for (int i = 0; i < PARAMS_MAX; i++)
        free(q->params[i].copy);
    buf_done(&q->bytes);
    free(q->rest);
    free(q->text);
    free(q);
}

static enum err rest_keep(struct pg_query *q, struct why *why)
{
    struct pg *s = q->s;
    for (;;) {
        PGresult *r;
        enum err err = pg_next(s, &r, why);
        if (err)
            return err;
        if (!r)
            break;
        if (q->nrest >= KEPT_MAX) {
            PQclear(r);
            drain(s);
            return pg_fail_as(s, ERR_TOOBIG, "a statement has too many rows", why);
        }
        if (q->nrest == q->cap) {
            q->cap = q->cap ? q->cap * 2 : 64;
            q->rest = mem_resize(q->rest, q->cap * sizeof(PGresult *));
        }
        q->rest[q->nrest++] = r;
    }
    s->streaming = NULL;
    return OK;
}

static enum err broken(struct pg *s, struct why *why)
{
    enum err err = pg_fail(s, NULL, why);
    pg_hang_up(s);
    return err;
}

/* Once a connection; what is used once is not prepared. */
static enum err prepare_there(struct pg_query *q, struct why *why)
{
    struct pg *s = q->s;
    PGresult *r;
    enum err err = OK;
    if (!q->kept || q->prepared.life == s->life)
        return OK;
    if (!PQsendPrepare(s->db, q->prepared.name, q->text, 0, NULL))
        return broken(s, why);
    enum err gone;
    while (!(gone = pg_next(s, &r, why)) && r) {
        if (!err && PQresultStatus(r) != PGRES_COMMAND_OK)
            err = pg_fail(s, r, why);
        PQclear(r);
    }
    if (!gone && !err)
        q->prepared.life = s->life;
    return gone ? gone : err;
}

static enum err start(struct pg_query *q, struct why *why)
{
    struct pg *s = q->s;
    const char *values[PARAMS_MAX];
    int lengths[PARAMS_MAX], formats[PARAMS_MAX];
    enum err err = pg_ready(s, why);
    if (!err)
        err = pg_quiet(s, why);
    if (!err)
        err = prepare_there(q, why);
    if (err)
        return err;
    for (int i = 0; i < q->n; i++) {
        values[i] = q->params[i].p;
        lengths[i] = q->params[i].length;
        formats[i] = q->params[i].bytes;
    }
    int sent = q->kept
                   ? PQsendQueryPrepared(s->db, q->prepared.name, q->n, values, lengths, formats, 0)
                   : PQsendQueryParams(s->db, q->text, q->n, NULL, values, lengths, formats, 0);
    if (!sent || !PQsetSingleRowMode(s->db))
        return broken(s, why);
    q->running = true;
    s->streaming = q;
    s->keep = rest_keep;
    return OK;
}

/* Its next result, from what was kept or from the connection; NULL: none any more. */
static enum err next_result(struct pg_query *q, PGresult **ret, struct why *why)
{
    *ret = NULL;
    if (q->next < q->nrest) {
        *ret = q->rest[q->next++];
        return OK;
    }
    return q->s->streaming == q ? pg_next(q->s, ret, why) : OK;
}

static enum err step(struct sql *sql, void *stmt, bool *ret_row, struct why *why)
{
    struct pg_query *q = stmt;
    struct pg *s = of(sql);
    PGresult *r = NULL;
    *ret_row = false;
    enum err err = q->running ? OK : start(q, why);
    PQclear(q->row);
    q->row = NULL;
    if (!err)
        err = next_result(q, &r, why);
    if (!err && r && PQresultStatus(r) == PGRES_SINGLE_TUPLE) {
        q->row = r;
        *ret_row = true;
        return OK;
    }
    if (!err && !r)
        err = pg_fail(s, NULL, why);
    if (r && PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK)
        err = pg_fail(s, r, why);
    else if (r)
        s->changes = strtoll(PQcmdTuples(r), NULL, 10);
    PQclear(r);
    reset(q);
    return err;
}

static int64_t changes(struct sql *sql)
{
    return of(sql)->changes;
}

/* The id is the last one that a sequence has given on this connection. */
static int64_t inserted(struct sql *sql)
{
    struct pg *s = of(sql);
    struct why ignored = { "" };
    PGresult *r;
    if (pg_call(s, "SELECT lastval()", 0, &r, &ignored))
        return 0;
    int64_t id = pg_get_i64(r, 0, 0, 0);
    PQclear(r);
    return id;
}

/* ---- columns --------------------------------------------------------------------------------- */

static bool is_null(void *stmt, int i)
{
    struct pg_query *q = stmt;
    return PQgetisnull(q->row, 0, i);
}

static int64_t i64(void *stmt, int i)
{
    struct pg_query *q = stmt;
    return strtoll(PQgetvalue(q->row, 0, i), NULL, 10);
}

static double real(void *stmt, int i)
{
    struct pg_query *q = stmt;
    return strtod(PQgetvalue(q->row, 0, i), NULL);
}

static const char *text(void *stmt, int i, size_t *ret_n)
{
    struct pg_query *q = stmt;
    *ret_n = (size_t)PQgetlength(q->row, 0, i);
    return PQgetisnull(q->row, 0, i) ? NULL : PQgetvalue(q->row, 0, i);
}

/* Bytes come as \x and digits. */
static struct slice blob(void *stmt, int i)
{
    struct pg_query *q = stmt;
    const char *p = PQgetvalue(q->row, 0, i);
    size_t n = (size_t)PQgetlength(q->row, 0, i);
    buf_reset(&q->bytes);
    if (n < 2 || p[0] != '\\')
        return slice_of("", 0);
    for (size_t k = 2; k + 1 < n; k += 2)
        buf_char(&q->bytes, (char)(hex_digit(p[k]) << 4 | hex_digit(p[k + 1])));
    return slice_of(buf_str(&q->bytes), q->bytes.len);
}

/* ---- ids ------------------------------------------------------------------------------------- */

/* What a sequence has given is given, whatever becomes of the transaction. */
static enum err ids_skip(struct sql *sql, bool done, struct why *why)
{
    char text[300];
    if (done)
        return OK;
    snprintf(text, sizeof(text),
             "SELECT setval(pg_get_serial_sequence('xxl_job_log', 'id'), nextval("
             "pg_get_serial_sequence('xxl_job_log', 'id')) + %lld), setval("
             "pg_get_serial_sequence('peal_epoch', 'epoch'), nextval("
             "pg_get_serial_sequence('peal_epoch', 'epoch')) + %d)",
             (long long)SQL_IDS_LOST, SQL_EPOCHS_LOST);
    return pg_exec(of(sql), text, why);
}

/* ---- a page's snapshot ----------------------------------------------------------------------- */

static enum err page_begin(struct sql *sql, bool *ret_own, struct why *why)
{
    struct pg *s = of(sql);
    *ret_own = !s->in_transaction;
    if (!*ret_own)
        return OK;
    enum err err = pg_ready(s, why);
    return err ? err
               : pg_exec(s,
                         "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
                         "SET LOCAL statement_timeout = '1s'",
                         why);
}

static void page_end(struct sql *sql, bool own)
{
    struct pg *s = of(sql);
    struct why ignored = { "" };
    if (own && s->db && PQtransactionStatus(s->db) != PQTRANS_IDLE &&
        pg_exec(s, "ROLLBACK", &ignored))
        pg_hang_up(s);
}

static const struct sql_home_index home_index = {
    .there = "SELECT count(*) FROM pg_class WHERE relname = 'i_due_home' AND relkind = 'i' AND "
             "relnamespace = current_schema()::regnamespace",
    .make = "CREATE INDEX i_due_home ON peal_due (home, (next_ms + 0), job_id) "
            "WHERE next_ms IS NOT NULL",
    .drop = "DROP INDEX i_due_home",
    .take = "SELECT next_ms, job_id FROM peal_due WHERE home = ?1 AND next_ms + 0 >= ?2 AND "
            "(next_ms + 0 > ?2 OR job_id > ?3) ORDER BY next_ms + 0, job_id LIMIT ?4 "
            "FOR UPDATE SKIP LOCKED",
};

const struct sql_driver pg_driver = {
    .contains = "strpos(lower(%s COLLATE \"C\"), lower(?%d::text COLLATE \"C\")) > 0",
    .among = "%s = ANY (translate(?%d::text, '[]', '{}')::bigint[])",
    .lift = "SELECT setval(pg_get_serial_sequence('%1$s', 'id'), max(id)) FROM %1$s "
            "HAVING max(id) IS NOT NULL",
    .last_id = "SELECT last_value FROM pg_sequences WHERE schemaname = current_schema() AND "
               "sequencename = '%s_id_seq'",
    .next_id = { "SELECT setval(pg_get_serial_sequence('%1$s', 'id'), greatest(%2$lld - 1, 1), "
                 "%2$lld > 1)" }, /* pg_sequences does not show what has not been given yet */
    .least = "least",
    .ms_of = "(extract(epoch FROM %s) * 1000)::bigint",
    .time_of = "(timestamptz 'epoch' + %s * interval '1 millisecond')",
    .bytes_of = "octet_length(%s)",
    .by_index = "%.0s",
    .must_index = "%.0s",
    .cut = "%s",
    .home_index = &home_index,
    .counts_tables = false,
    .epochs = true,
    .clock = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)",
    .ids_skip = ids_skip,
    .selftest = &pg_selftest,
    .prepare = prepare,
    .finalize = finalize,
    .bind_null = null_bind,
    .bind_i64 = i64_bind,
    .bind_real = real_bind,
    .bind_text = text_bind,
    .bind_blob = blob_bind,
    .step = step,
    .reset = reset,
    .changes = changes,
    .inserted = inserted,
    .is_null = is_null,
    .i64 = i64,
    .real = real,
    .text = text,
    .blob = blob,
    .page_begin = page_begin,
    .page_end = page_end,
    .last_fired = pg_last_fired,
};
