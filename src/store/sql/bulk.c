/* SPDX-License-Identifier: Apache-2.0 */
/* One statement a table, composed from its columns. */
#include "store/bulk.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "store/sql/tables.h"
#include <stdlib.h>
#include <string.h>

#define STATEMENT_MAX 4096
#define EACH_ROWS 1000

struct bulk_put {
    const struct bulk_table *table;
    struct sql_query *query;
};

static enum err sql_only(const struct store *s, struct why *why)
{
    if (strcmp(s->ops->name, "memory") != 0)
        return OK;
    why_set(why, "the memory engine keeps no tables");
    return ERR_INVALID;
}

enum err bulk_begin(struct store *s, const struct bulk_table *t, struct bulk_put **ret,
                    struct why *why)
{
    enum err err = sql_only(s, why);
    if (err)
        return err;
    struct buf text = BUF_INIT(STATEMENT_MAX);
    buf_printf(&text, "INSERT INTO %s (", t->name);
    for (int i = 0; i < t->n; i++)
        buf_printf(&text, "%s%s", i ? ", " : "", t->columns[i].name);
    buf_text(&text, ") VALUES (");
    for (int i = 0; i < t->n; i++)
        buf_printf(&text, t->columns[i].type == BULK_TIME ? "%s{time ?%d}" : "%s?%d", i ? ", " : "",
                   i + 1);
    buf_char(&text, ')');
    struct sql_query *q;
    err = sql_query_own(sql_of(s), buf_str(&text), &q, why);
    buf_done(&text);
    if (err)
        return err;
    *ret = mem_new(sizeof(**ret));
    **ret = (struct bulk_put){ t, q };
    return OK;
}

static void bind(struct sql_query *q, int i, enum bulk_type type, const struct bulk_value *v)
{
    if (v->null)
        sql_bind_null(q, i);
    else if (type == BULK_TEXT)
        sql_bind_text(q, i, v->text);
    else if (type == BULK_REAL)
        sql_bind_real(q, i, v->real);
    else if (type == BULK_BLOB)
        sql_bind_blob(q, i, v->bytes);
    else
        sql_bind_i64(q, i, v->number);
}

enum err bulk_row(struct bulk_put *b, const struct bulk_value *values, struct why *why)
{
    sql_reset(b->query);
    for (int i = 0; i < b->table->n; i++)
        bind(b->query, i + 1, b->table->columns[i].type, &values[i]);
    return sql_do(b->query, why);
}

void bulk_end(struct bulk_put *b)
{
    if (b)
        sql_query_end(b->query);
    free(b);
}

enum err bulk_lift(struct store *s, const struct bulk_table *t, struct why *why)
{
    enum err err = sql_only(s, why);
    const char *format = err ? NULL : sql_of(s)->driver->lift;
    if (!format)
        return err;
    struct buf text = BUF_INIT(STATEMENT_MAX);
    buf_printf(&text, format, t->name);
    struct sql_query *q;
    int64_t last;
    err = sql_query_once(sql_of(s), buf_str(&text), &q, why);
    buf_done(&text);
    if (!err)
        err = sql_one(q, 0, &last, why);
    sql_query_end(q);
    return err;
}

/* ---- reading ---------------------------------------------------------------------------------
 */

static int nkeys(const struct bulk_table *t)
{
    return t->nkeys ? t->nkeys : 1;
}

void bulk_place_done(struct bulk_place *p)
{
    for (int i = 0; i < BULK_KEYS_MAX; i++)
        free(p->texts[i]);
    *p = (struct bulk_place){ 0 };
}

static void place_set(struct bulk_place *p, const struct bulk_table *t,
                      const struct bulk_value *values)
{
    bulk_place_done(p);
    p->set = true;
    for (int i = 0; i < nkeys(t); i++) {
        p->key[i] = values[i];
        if (t->columns[i].type == BULK_TEXT && !values[i].null)
            p->key[i].text = p->texts[i] = mem_dup(values[i].text);
    }
}

/* Behind the key of parameters ?1, …: written out, because row values are compared without an index
 * by some engines; the first condition is where the walk along the index begins. */
static void write_behind(struct buf *text, const struct bulk_table *t)
{
    int n = nkeys(t);
    buf_printf(text, " WHERE %s >= ?1 AND (", t->columns[0].name);
    for (int i = 0; i < n; i++)
        buf_printf(text, i + 1 < n ? "%1$s > ?%2$d OR (%1$s = ?%2$d AND (" : "%1$s > ?%2$d",
                   t->columns[i].name, i + 1);
    for (int i = 0; i + 1 < n; i++)
        buf_text(text, "))");
    buf_char(text, ')');
}

static enum err slice_query(struct store *s, const struct bulk_table *t,
                            const struct bulk_place *after, int max, struct sql_query **ret,
                            struct why *why)
{
    struct buf text = BUF_INIT(STATEMENT_MAX);
    int n = after->set ? nkeys(t) : 0;
    buf_text(&text, "SELECT ");
    for (int i = 0; i < t->n; i++)
        buf_printf(&text, t->columns[i].type == BULK_TIME ? "%s{ms %s}" : "%s%s", i ? ", " : "",
                   t->columns[i].name);
    buf_printf(&text, " FROM %s", t->name);
    if (n)
        write_behind(&text, t);
    for (int i = 0; i < nkeys(t); i++)
        buf_printf(&text, "%s%s", i ? ", " : " ORDER BY ", t->columns[i].name);
    buf_printf(&text, " LIMIT ?%d", n + 1);
    enum err err = sql_query_once(sql_of(s), buf_str(&text), ret, why);
    buf_done(&text);
    for (int i = 0; !err && i < n; i++)
        bind(*ret, i + 1, t->columns[i].type, &after->key[i]);
    if (!err)
        sql_bind_i64(*ret, n + 1, max);
    return err;
}

static enum err text_read(struct sql_query *q, const struct bulk_table *t, int i,
                          struct bulk_value *ret, struct why *why)
{
    size_t size;
    ret->text = q->s->driver->text(q->stmt, i, &size);
    if (ret->text && strlen(ret->text) == size)
        return OK;
    if (!ret->text) {
        why_set(why, "there is no memory for a text of %s", t->name);
        return ERR_NOMEM;
    }
    char key[64];
    sql_text_copy(q, 0, key, sizeof(key));
    why_set(why, "%s, %s %s: column %s holds a NUL", t->name, t->columns[0].name, key,
            t->columns[i].name);
    return ERR_INVALID;
}

/* *ret_owned: memory of the value. */
static enum err value_read(struct sql_query *q, const struct bulk_table *t, int i,
                           struct bulk_value *ret, char **ret_owned, struct why *why)
{
    enum bulk_type type = t->columns[i].type;
    *ret = (struct bulk_value){ .null = q->s->driver->is_null(q->stmt, i) };
    if (ret->null)
        return OK;
    if (type == BULK_TEXT)
        return text_read(q, t, i, ret, why);
    if (type == BULK_REAL)
        ret->real = sql_real(q, i, 0);
    else if (type != BULK_BLOB)
        ret->number = sql_i64(q, i, 0);
    else {
        struct slice bytes = sql_blob(q, i); /* of one column at a time */
        *ret_owned = mem_dupn(bytes.p ? bytes.p : "", bytes.n);
        ret->bytes = slice_of(*ret_owned, bytes.n);
    }
    return OK;
}

static enum err row_read(struct sql_query *q, const struct bulk_table *t, struct bulk_place *last,
                         bulk_row_fn *fn, void *ctx, struct why *why)
{
    struct bulk_value values[BULK_COLUMNS_MAX];
    char *owned[BULK_COLUMNS_MAX] = { NULL };
    enum err err = OK;
    for (int i = 0; !err && i < t->n; i++)
        err = value_read(q, t, i, &values[i], &owned[i], why);
    if (!err)
        err = fn(ctx, values, why);
    if (!err)
        place_set(last, t, values);
    for (int i = 0; i < t->n; i++)
        free(owned[i]);
    return err;
}

enum err bulk_slice(struct store *s, const struct bulk_table *t, struct bulk_place *io, int max,
                    bulk_row_fn *fn, void *ctx, int *ret_n, struct why *why)
{
    struct sql_query *q = NULL;
    struct bulk_place last = { 0 };
    *ret_n = 0;
    enum err err = sql_only(s, why);
    if (!err)
        err = slice_query(s, t, io, max, &q, why);
    for (bool row = true; !err && row;) {
        err = sql_next(q, &row, why);
        if (!err && row) {
            err = row_read(q, t, &last, fn, ctx, why);
            ++*ret_n;
        }
    }
    sql_query_end(q);
    if (last.set) { /* not before: *io's texts were lent to the statement */
        bulk_place_done(io);
        *io = last;
    }
    return err;
}

enum err bulk_each(struct store *s, const struct bulk_table *t, bulk_row_fn *fn, void *ctx,
                   struct why *why)
{
    struct bulk_place at = { 0 };
    int n = EACH_ROWS;
    enum err err = OK;
    while (!err && n == EACH_ROWS)
        err = bulk_slice(s, t, &at, EACH_ROWS, fn, ctx, &n, why);
    bulk_place_done(&at);
    return err;
}

/* ---- what a filling knows itself by ---------------------------------------------------------- */

enum err bulk_last(struct store *s, const struct bulk_table *t, int64_t *ret, struct why *why)
{
    struct buf text = BUF_INIT(STATEMENT_MAX);
    struct sql_query *q = NULL;
    buf_printf(&text, "SELECT max(%s) FROM %s", t->columns[0].name, t->name);
    enum err err = sql_query_once(sql_of(s), buf_str(&text), &q, why);
    buf_done(&text);
    if (!err)
        err = sql_one(q, INT64_MIN, ret, why);
    sql_query_end(q);
    return err;
}

enum err bulk_remove(struct store *s, const struct bulk_table *t, int64_t after, int64_t upto,
                     struct why *why)
{
    struct buf text = BUF_INIT(STATEMENT_MAX);
    struct sql_query *q = NULL;
    const char *key = t->columns[0].name;
    buf_printf(&text, "DELETE FROM %s WHERE %s > ?1 AND %s <= ?2", t->name, key, key);
    enum err err = sql_query_once(sql_of(s), buf_str(&text), &q, why);
    buf_done(&text);
    if (!err) {
        sql_bind_i64(q, 1, after);
        sql_bind_i64(q, 2, upto);
        err = sql_do(q, why);
    }
    sql_query_end(q);
    return err;
}

enum err bulk_mark_get(struct store *s, const char *name, int64_t otherwise, int64_t *ret,
                       struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(s), "SELECT value FROM peal_seq WHERE name = ?1", &q, why);
    if (err)
        return err;
    sql_bind_text(q, 1, name);
    return sql_one(q, otherwise, ret, why);
}

enum err bulk_mark_drop(struct store *s, const char *name, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(s), "DELETE FROM peal_seq WHERE name = ?1", &q, why);
    if (err)
        return err;
    sql_bind_text(q, 1, name);
    return sql_do(q, why);
}

enum err bulk_mark_put(struct store *s, const char *name, int64_t value, struct why *why)
{
    struct sql_query *q;
    enum err err = bulk_mark_drop(s, name, why);
    if (!err)
        err = sql_query(sql_of(s), "INSERT INTO peal_seq (name, value) VALUES (?1, ?2)", &q, why);
    if (err)
        return err;
    sql_bind_text(q, 1, name);
    sql_bind_i64(q, 2, value);
    return sql_do(q, why);
}

/* ---- sums ------------------------------------------------------------------------------------
 */

int64_t bulk_log_slot(int64_t ms)
{
    return sql_span_slot(ms);
}

static uint64_t hash_value(enum bulk_type type, const struct bulk_value *v)
{
    if (type == BULK_TEXT)
        return hash_text(slice_text(v->text));
    if (type == BULK_BLOB)
        return hash_text(v->bytes);
    uint64_t bits = (uint64_t)v->number;
    if (type == BULK_REAL)
        memcpy(&bits, &v->real, sizeof(bits));
    return hash_u64(bits);
}

void bulk_sum_add(struct bulk_sum *sum, const struct bulk_table *t, const struct bulk_value *values)
{
    uint64_t hash = 0;
    for (int i = 0; i < t->n; i++) {
        bool null = values[i].null;
        uint64_t one = null ? (uint64_t)i : hash_value(t->columns[i].type, &values[i]);
        hash = hash_u64(hash ^ one ^ ((uint64_t)null << 63));
    }
    sum->rows++;
    sum->hash += hash;
}
