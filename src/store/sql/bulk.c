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
    err = sql_query_once(sql_of(s), buf_str(&text), &q, why);
    buf_done(&text);
    if (err)
        return err;
    *ret = mem_new(sizeof(**ret));
    **ret = (struct bulk_put){ t, q };
    return OK;
}

enum err bulk_row(struct bulk_put *b, const struct bulk_value *values, struct why *why)
{
    sql_reset(b->query);
    for (int i = 0; i < b->table->n; i++) {
        if (values[i].null)
            sql_bind_null(b->query, i + 1);
        else if (b->table->columns[i].type == BULK_TEXT)
            sql_bind_text(b->query, i + 1, values[i].text);
        else
            sql_bind_i64(b->query, i + 1, values[i].number);
    }
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

static void row_read(struct sql_query *q, const struct bulk_table *t, bulk_row_fn *fn, void *ctx)
{
    struct bulk_value values[BULK_COLUMNS_MAX];
    char *texts[BULK_COLUMNS_MAX];
    for (int i = 0; i < t->n; i++) {
        bool text = t->columns[i].type == BULK_TEXT;
        texts[i] = text ? sql_text(q, i) : NULL;
        values[i] = (struct bulk_value){ q->s->driver->is_null(q->stmt, i),
                                         text ? 0 : sql_i64(q, i, 0), texts[i] };
    }
    fn(ctx, values);
    for (int i = 0; i < t->n; i++)
        free(texts[i]);
}

enum err bulk_each(struct store *s, const struct bulk_table *t, bulk_row_fn *fn, void *ctx,
                   struct why *why)
{
    enum err err = sql_only(s, why);
    if (err)
        return err;
    struct buf text = BUF_INIT(STATEMENT_MAX);
    buf_text(&text, "SELECT ");
    for (int i = 0; i < t->n; i++)
        buf_printf(&text, t->columns[i].type == BULK_TIME ? "%s{ms %s}" : "%s%s", i ? ", " : "",
                   t->columns[i].name);
    buf_printf(&text, " FROM %s ORDER BY %s", t->name, t->columns[0].name);
    struct sql_query *q;
    err = sql_query_once(sql_of(s), buf_str(&text), &q, why);
    buf_done(&text);
    for (bool row = true; !err && row;) {
        err = sql_next(q, &row, why);
        if (!err && row)
            row_read(q, t, fn, ctx);
    }
    sql_query_end(q);
    return err;
}

int64_t bulk_log_slot(int64_t ms)
{
    return sql_span_slot(ms);
}

void bulk_sum_add(struct bulk_sum *sum, const struct bulk_table *t, const struct bulk_value *values)
{
    uint64_t hash = 0;
    for (int i = 0; i < t->n; i++) {
        uint64_t one = (uint64_t)i;
        if (!values[i].null && t->columns[i].type == BULK_TEXT)
            one = hash_text(slice_text(values[i].text));
        else if (!values[i].null)
            one = hash_u64((uint64_t)values[i].number);
        hash = hash_u64(hash ^ one ^ ((uint64_t)values[i].null << 63));
    }
    sum->rows++;
    sum->hash += hash;
}
