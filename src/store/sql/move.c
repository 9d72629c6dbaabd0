/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of rows by their key, each in a transaction of the target. What the target has is what
 * tells where a move goes on: rows arrive in the order of their key, so behind the largest one; a
 * table whose key is not one number is small, and begins anew. At the end both databases are read
 * once more and compared, then the marks of the move go in the transaction that makes the target a
 * database whose server has stopped cleanly.
 *
 * What is not copied as it stands: the source's lives become one that has ended, with their totals.
 * The flight recorder in the data folder is the source's and is not believed: its id is drawn anew.
 * Log ids go on far behind the source's, so that executors which know some of a life that the
 * source should yet have do not mistake them. */
#include "store/move.h"
#include "base/mem.h"
#include "base/secret.h"
#include "store/sql/move_tables.h"
#include "store/sql/tables.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_ROWS 1000
#define ID_JUMP (INT64_C(1) << 24)
#define STATEMENT_MAX 512

struct move {
    const struct store_move *args;
    struct store *from, *to;
    struct move_tables tables;
    struct watermark mark; /* of the source when the move was called */
    int64_t node;          /* of the source's last life; it becomes 1 */
    bool server;           /* the target is on one */
    struct store_moved *ret;
};

/* ---- statements ------------------------------------------------------------------------------ */

/* A statement with the table's name, and its number. */
static enum err number_of(struct store *s, const char *format, const char *table, int64_t otherwise,
                          int64_t *ret, struct why *why)
{
    char text[STATEMENT_MAX];
    struct sql_query *q = NULL;
    snprintf(text, sizeof(text), format, table);
    enum err err = sql_query_once(sql_of(s), text, &q, why);
    if (!err)
        err = sql_one(q, otherwise, ret, why);
    sql_query_end(q);
    return err;
}

static enum err run(struct store *s, const char *text, struct why *why)
{
    struct sql_query *q = NULL;
    enum err err = sql_query_once(sql_of(s), text, &q, why);
    if (!err)
        err = sql_do(q, why);
    sql_query_end(q);
    return err;
}

static enum err end(const struct move *m, enum err err, struct why *why)
{
    if (!err && !m->args->dry)
        err = m->to->ops->txn->commit(m->to, NULL, why);
    if (err || m->args->dry)
        m->to->ops->txn->rollback(m->to);
    return err;
}

/* ---- peal_seq -------------------------------------------------------------------------------- */

static const struct bulk_column seq_columns[] = { { "name", BULK_TEXT }, { "value", BULK_I64 } };
static const struct bulk_table seqs = { "peal_seq", seq_columns, 2, 1 };

/* The engine's own counter of log ids is not another engine's. */
static enum err seq_copy(void *ctx, const struct bulk_value *values, struct why *why)
{
    const struct move *m = ctx;
    return strcmp(values[0].text, "log") == 0
               ? OK
               : bulk_mark_put(m->to, values[0].text, values[1].number, why);
}

/* ---- may it begin? --------------------------------------------------------------------------- */

static enum err source_look(struct move *m, struct why *why)
{
    enum err err = sql_move_ended(sql_of(m->from), why);
    if (!err)
        err = m->from->ops->txn->watermark_get(m->from, &m->mark, why);
    if (!err)
        err = number_of(m->from,
                        "SELECT max(node) FROM peal_epoch WHERE epoch = "
                        "(SELECT max(epoch) FROM %s)",
                        "peal_epoch", 1, &m->node, why);
    if (!err && !m->mark.clean) {
        why_set(why, "the server of the source was not stopped cleanly, or never started: start it "
                     "and stop it once");
        return ERR_INVALID;
    }
    return err;
}

static enum err nothing(void *ctx, const struct bulk_value *values, struct why *why)
{
    (void)ctx;
    (void)values;
    (void)why;
    return OK;
}

static enum err target_empty(const struct move *m, struct why *why)
{
    struct watermark mark;
    enum err err = m->to->ops->txn->watermark_get(m->to, &mark, why);
    if (!err && mark.batch) {
        why_set(why, "the target is not empty: a server has worked on it; name a new database");
        return ERR_EXISTS;
    }
    for (int i = 0; !err && i < m->tables.n; i++) {
        const struct bulk_table *t = &m->tables.items[i].bulk;
        struct bulk_place at = { 0 };
        int n;
        err = bulk_slice(m->to, t, &at, 1, nothing, NULL, &n, why);
        bulk_place_done(&at);
        if (!err && n) {
            why_set(why, "the target is not empty: %s has rows; name a new database", t->name);
            err = ERR_EXISTS;
        }
    }
    return err;
}

static enum err marks_put(const struct move *m, struct why *why)
{
    enum err err = m->to->ops->txn->begin(m->to, why);
    if (err)
        return err;
    err = bulk_mark_put(m->to, SQL_MOVE_FROM, m->mark.trace_key, why);
    if (!err)
        err = bulk_mark_put(m->to, SQL_MOVE_BATCH, m->mark.batch, why);
    return end(m, err, why);
}

static enum err marks_check(const struct move *m, struct why *why)
{
    int64_t from = 0, batch = 0;
    enum err err = bulk_mark_get(m->to, SQL_MOVE_FROM, 0, &from, why);
    if (!err)
        err = bulk_mark_get(m->to, SQL_MOVE_BATCH, 0, &batch, why);
    if (err || (from == m->mark.trace_key && batch == m->mark.batch && !m->args->dry))
        return err;
    why_set(why, "a move into the target has begun already%s",
            m->args->dry                ? ": there is nothing to try"
            : from != m->mark.trace_key ? ", from another database than this"
                                        : ", and the source has been used since: drop the target, "
                                          "and begin with an empty one");
    return m->args->dry ? ERR_EXISTS : ERR_INVALID;
}

static enum err target_look(const struct move *m, struct why *why)
{
    int64_t begun = 0;
    enum err err = number_of(m->to, "SELECT count(*) FROM %s WHERE name = '" SQL_MOVE_FROM "'",
                             "peal_seq", 0, &begun, why);
    m->ret->resumed = begun > 0;
    if (err)
        return err;
    if (begun)
        return marks_check(m, why);
    err = target_empty(m, why);
    return err || m->args->dry ? err : marks_put(m, why);
}

/* A server that was started on the source meanwhile has committed. */
static enum err source_still(const struct move *m, struct why *why)
{
    struct watermark now;
    enum err err = m->from->ops->txn->watermark_get(m->from, &now, why);
    if (err || now.batch == m->mark.batch)
        return err;
    why_set(why, "a server has used the source during the move: drop the target, and begin with an "
                 "empty one");
    return ERR_INVALID;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct walk { /* through one table */
    const struct move *m;
    const struct move_table *t;
    struct bulk_put *put;
    struct bulk_sum sum;
    bool source; /* its rows are made the target's */
};

/* The first node that joins gets number 1, and a live run is adopted by the life that begins. */
static void own(const struct walk *w, struct bulk_value *values)
{
    bool live = strcmp(w->t->bulk.name, "peal_run") == 0;
    if (live) {
        values[w->t->node].number = 1;
        values[w->t->epoch].number = w->m->server ? 0 : 1;
    } else if (w->t->node >= 0) {
        int64_t *node = &values[w->t->node].number;
        *node = *node == w->m->node ? 1 : *node == 1 ? w->m->node : *node;
    }
}

static enum err row_failed(const struct walk *w, const struct bulk_value *key, const char *problem,
                           struct why *why)
{
    char number[24];
    snprintf(number, sizeof(number), "%lld", (long long)key->number);
    bool text = w->t->columns[0].type == BULK_TEXT;
    why_set(why, "%s, %s %.64s: %s", w->t->bulk.name, w->t->columns[0].name,
            text ? key->text : number, problem);
    return ERR_INVALID;
}

/* PostgreSQL and MySQL take no other bytes; SQLite may hold any. */
static enum err texts_check(const struct walk *w, const struct bulk_value *values, struct why *why)
{
    for (int i = 0; w->m->server && i < w->t->bulk.n; i++) {
        const char *text = values[i].text;
        char problem[128];
        if (!text || w->t->columns[i].type != BULK_TEXT || utf8_valid(text, strlen(text)))
            continue;
        snprintf(problem, sizeof(problem), "column %s is not UTF-8", w->t->columns[i].name);
        return row_failed(w, values, problem, why);
    }
    return OK;
}

static enum err on_row(void *ctx, const struct bulk_value *values, struct why *why)
{
    struct walk *w = ctx;
    struct bulk_value mine[BULK_COLUMNS_MAX];
    struct why said = { "" };
    memcpy(mine, values, (size_t)w->t->bulk.n * sizeof(*mine));
    if (w->source)
        own(w, mine);
    bulk_sum_add(&w->sum, &w->t->bulk, mine);
    if (!w->put)
        return OK;
    enum err err = texts_check(w, mine, why);
    if (err)
        return err;
    err = bulk_row(w->put, mine, &said);
    if (err)
        (void)row_failed(w, values, said.text, why);
    return err;
}

static void tell(const struct walk *w, enum move_step step)
{
    const struct store_move *args = w->m->args;
    if (args->progress)
        args->progress(args->ctx, step, w->t->bulk.name, w->sum.rows);
}

static enum err copy_slice(struct walk *w, struct bulk_place *at, int *ret_n, struct why *why)
{
    const struct move *m = w->m;
    enum err err = m->to->ops->txn->begin(m->to, why);
    if (err)
        return err;
    err = bulk_slice(m->from, &w->t->bulk, at, SLICE_ROWS, on_row, w, ret_n, why);
    return end(m, err, why);
}

/* Behind what the target has; a table that has no such order is emptied. */
static enum err go_on(const struct walk *w, struct bulk_place *at, struct why *why)
{
    const struct move *m = w->m;
    char text[STATEMENT_MAX];
    int64_t last = INT64_MIN;
    enum err err = OK;
    if (!m->ret->resumed)
        return OK;
    if (w->t->lined) {
        snprintf(text, sizeof(text), "SELECT max(%s) FROM %%s", w->t->columns[0].name);
        err = number_of(m->to, text, w->t->bulk.name, INT64_MIN, &last, why);
        at->set = last != INT64_MIN;
        at->key[0].number = last;
        return err;
    }
    snprintf(text, sizeof(text), "DELETE FROM %s", w->t->bulk.name);
    err = m->to->ops->txn->begin(m->to, why);
    if (err)
        return err;
    return end(m, run(m->to, text, why), why);
}

static enum err copy_table(const struct move *m, const struct move_table *t, struct why *why)
{
    struct walk w = { .m = m, .t = t, .source = true };
    struct bulk_place at = { 0 };
    int n = SLICE_ROWS;
    enum err err = go_on(&w, &at, why);
    if (!err)
        err = bulk_begin(m->to, &t->bulk, &w.put, why);
    while (!err && n == SLICE_ROWS) {
        err = copy_slice(&w, &at, &n, why);
        if (!err)
            tell(&w, MOVE_COPY);
    }
    bulk_end(w.put);
    bulk_place_done(&at);
    m->ret->copied += w.sum.rows;
    return err;
}

static enum err sum_table(struct walk *w, struct store *s, struct why *why)
{
    struct bulk_place at = { 0 };
    int n = SLICE_ROWS;
    enum err err = OK;
    while (!err && n == SLICE_ROWS) {
        err = bulk_slice(s, &w->t->bulk, &at, SLICE_ROWS, on_row, w, &n, why);
        if (!err)
            tell(w, MOVE_COMPARE);
    }
    bulk_place_done(&at);
    return err;
}

static enum err compare_table(const struct move *m, const struct move_table *t, struct why *why)
{
    struct walk from = { .m = m, .t = t, .source = true }, to = { .m = m, .t = t };
    enum err err = sum_table(&from, m->from, why);
    if (!err)
        err = sum_table(&to, m->to, why);
    if (err)
        return err;
    m->ret->rows += from.sum.rows;
    m->ret->sum += from.sum.hash;
    if (from.sum.rows == to.sum.rows && from.sum.hash == to.sum.hash)
        return OK;
    why_set(why,
            "%s reads otherwise in the target than in the source (%lld rows, %lld expected): drop "
            "the target, and begin with an empty one",
            t->bulk.name, (long long)to.sum.rows, (long long)from.sum.rows);
    return ERR_CORRUPT;
}

/* ---- ids ------------------------------------------------------------------------------------- */

static enum err next_put(struct store *s, const char *table, int64_t next, struct why *why)
{
    enum err err = OK;
    for (size_t i = 0; !err && i < countof(sql_of(s)->driver->next_id); i++) {
        char text[STATEMENT_MAX];
        const char *format = sql_of(s)->driver->next_id[i];
        if (!format)
            continue;
        snprintf(text, sizeof(text), format, table, (long long)next);
        err = run(s, text, why);
    }
    return err;
}

/* What the source gave last, although it has been deleted since. */
static enum err last_given(const struct move *m, const char *table, int64_t *ret, struct why *why)
{
    int64_t largest = 0;
    enum err err = number_of(m->from, sql_of(m->from)->driver->last_id, table, 0, ret, why);
    if (!err)
        err = number_of(m->from, "SELECT max(id) FROM %s", table, 0, &largest, why);
    if (*ret < largest)
        *ret = largest;
    return err;
}

/* A row that was deleted must not come again under its id with another content. */
static enum err ids_lift(const struct move *m, struct why *why)
{
    enum err err = OK;
    for (int i = 0; !err && i < m->tables.n; i++) {
        const struct move_table *t = &m->tables.items[i];
        const char *name = t->bulk.name;
        bool log = strcmp(name, "xxl_job_log") == 0;
        int64_t last = 0;
        if (!t->counted)
            continue;
        err = last_given(m, name, &last, why);
        if (log) {
            last = last < m->mark.last_id ? m->mark.last_id : last;
            last += ID_JUMP;
            m->ret->next_log_id = last + 1;
        }
        if (!err && !(log && !m->server)) /* SQLite counts these in peal_seq */
            err = next_put(m->to, name, last + 1, why);
    }
    return err;
}

/* ---- the end --------------------------------------------------------------------------------- */

static enum err epoch_put(const struct move *m, struct why *why)
{
    static_assert(TOTAL_COUNT == 10, "the statements name them");
    struct totals totals = { { 0 } };
    int64_t open = 0;
    struct sql_query *q;
    unsigned char random[(RECORDER_ID_SIZE - 1) / 2];
    char recorder[RECORDER_ID_SIZE];
    enum err err = m->from->ops->txn->totals_get(m->from, &totals, &open, why);
    if (!err)
        err = sql_query(
            sql_of(m->to),
            m->server
                ? "INSERT INTO peal_epoch (node, ended, batch, watermark_ms, clean, recorder, "
                  "renewals, planned, finished, rejected, lost, skipped, withdrawn, sent, resent, "
                  "late, found) VALUES (1, 1, ?1, ?2, 1, ?3, 0, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
                  "?12, ?13)"
                : "UPDATE peal_epoch SET batch = ?1, watermark_ms = ?2, clean = 1, recorder = ?3, "
                  "renewals = 0, planned = ?4, finished = ?5, rejected = ?6, lost = ?7, "
                  "skipped = ?8, withdrawn = ?9, sent = ?10, resent = ?11, late = ?12, "
                  "found = ?13 WHERE epoch = 1",
            &q, why);
    if (err)
        return err;
    secret_random(random, sizeof(random));
    hex_text(random, sizeof(random), recorder);
    sql_bind_i64(q, 1, m->mark.batch);
    sql_bind_i64(q, 2, m->mark.until_ms);
    sql_bind_text(q, 3, recorder);
    for (int i = 0; i < TOTAL_COUNT; i++)
        sql_bind_i64(q, 4 + i, totals.n[i]);
    return sql_do(q, why);
}

static enum err finish(const struct move *m, struct why *why)
{
    enum err err = m->to->ops->txn->begin(m->to, why);
    if (err)
        return err;
    err = bulk_each(m->from, &seqs, seq_copy, (void *)m, why);
    if (!err && !m->server)
        err = bulk_mark_put(m->to, "log", m->ret->next_log_id - 1, why);
    if (!err)
        err = epoch_put(m, why);
    if (!err)
        err = bulk_mark_drop(m->to, SQL_MOVE_FROM, why);
    if (!err)
        err = bulk_mark_drop(m->to, SQL_MOVE_BATCH, why);
    return end(m, err, why);
}

static enum err move_all(struct move *m, struct why *why)
{
    enum err err = source_look(m, why);
    if (!err)
        err = target_look(m, why);
    for (int i = 0; !err && i < m->tables.n; i++)
        err = copy_table(m, &m->tables.items[i], why);
    m->ret->rows = m->args->dry ? m->ret->copied : 0;
    if (err || m->args->dry)
        return err;
    for (int i = 0; !err && i < m->tables.n; i++)
        err = compare_table(m, &m->tables.items[i], why);
    if (!err)
        err = ids_lift(m, why);
    if (!err)
        err = source_still(m, why);
    return err ? err : finish(m, why);
}

enum err store_move(const struct store_move *args, struct store_moved *ret, struct why *why)
{
    static const struct store_options read = { .bulk = STORE_BULK_READ },
                                      write = { .bulk = STORE_BULK_WRITE };
    struct move m = { .args = args, .ret = ret };
    *ret = (struct store_moved){ 0 };
    enum err err = move_tables_read(&m.tables, why);
    ret->tables = m.tables.n;
    if (!err)
        err = store_open(args->from, &read, &m.from, why);
    if (!err)
        err = store_open(args->to, &write, &m.to, why);
    m.server = m.to && sql_of(m.to)->driver->epochs;
    if (!err)
        err = move_all(&m, why);
    store_close(m.to);
    store_close(m.from);
    move_tables_done(&m.tables);
    return err;
}
