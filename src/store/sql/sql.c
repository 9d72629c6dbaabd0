/* SPDX-License-Identifier: Apache-2.0 */
/* Statements on a driver: kept by the address of their text, so that each stands where it is used,
 * and the few shapes in which all of them are run. */
#include "store/sql/sql.h"
#include "base/buf.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define EXPANDED_MAX (1024 * 1024)  /* bytes of a statement */
#define TEXT_MAX (16 * 1024 * 1024) /* bytes of one text, XXL-JOB's mediumtext */

/* ---- statements ------------------------------------------------------------------------------ */

/* One macro from p on, which is a brace; returns what is behind it. */
static const char *expand_one(const struct sql_driver *d, const char *p, struct buf *to)
{
    const struct {
        const char *name, *format;
    } macros[] = { { "{ms ", d->ms_of },        { "{time ", d->time_of },   { "{by ", d->by_index },
                   { "{must ", d->must_index }, { "{bytes ", d->bytes_of }, { "{cut ", d->cut } };
    for (size_t i = 0; i < countof(macros); i++) {
        size_t n = strlen(macros[i].name);
        const char *end = strchr(p, '}');
        if (strncmp(p, macros[i].name, n) != 0 || !end)
            continue;
        char what[64];
        text_copy(what, sizeof(what), slice_of(p + n, (size_t)(end - p) - n));
        buf_printf(to, macros[i].format, what);
        return end + 1;
    }
    buf_char(to, *p);
    return p + 1;
}

/* NULL: there is nothing to expand. Owned. */
static char *expand(const struct sql_driver *d, const char *text)
{
    if (!strchr(text, '{'))
        return NULL;
    struct buf to = BUF_INIT(EXPANDED_MAX);
    while (*text) {
        size_t n = strcspn(text, "{");
        buf_add(&to, text, n);
        text += n;
        if (*text)
            text = expand_one(d, text, &to);
    }
    return buf_take(&to);
}

static enum err prepare(struct sql *s, const char *text, bool kept, struct sql_query **ret,
                        struct why *why)
{
    void *stmt;
    char *expanded = expand(s->driver, text);
    enum err err = s->driver->prepare(s, expanded ? expanded : text, kept, &stmt, why);
    free(expanded);
    if (err)
        return err;
    struct sql_query *q = mem_new(sizeof(*q));
    *q = (struct sql_query){ s, stmt };
    *ret = q;
    return OK;
}

enum err sql_query(struct sql *s, const char *text, struct sql_query **ret, struct why *why)
{
    uint64_t key = (uint64_t)(uintptr_t)text;
    struct sql_query *q = map_find(&s->queries, key);
    *ret = NULL; /* compilers that look into callers cannot know that an error is never OK */
    if (!q) {
        enum err err = prepare(s, text, true, &q, why);
        if (err)
            return err;
        map_set(&s->queries, key, q);
    }
    *ret = q;
    return OK;
}

enum err sql_query_once(struct sql *s, const char *text, struct sql_query **ret, struct why *why)
{
    *ret = NULL;
    return prepare(s, text, false, ret, why);
}

enum err sql_query_own(struct sql *s, const char *text, struct sql_query **ret, struct why *why)
{
    *ret = NULL;
    return prepare(s, text, true, ret, why);
}

void sql_query_end(struct sql_query *q)
{
    if (q)
        q->s->driver->finalize(q->s, q->stmt);
    free(q);
}

enum err sql_next(struct sql_query *q, bool *ret_row, struct why *why)
{
    *ret_row = false;
    return q->s->driver->step(q->s, q->stmt, ret_row, why);
}

void sql_reset(struct sql_query *q)
{
    q->s->driver->reset(q->stmt);
}

enum err sql_do(struct sql_query *q, struct why *why)
{
    bool row = true;
    enum err err = OK;
    while (!err && row)
        err = sql_next(q, &row, why);
    return err;
}

enum err sql_do_once(struct sql *s, const char *text, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query_once(s, text, &q, why);
    if (err)
        return err;
    err = sql_do(q, why);
    sql_query_end(q);
    return err;
}

enum err sql_change(struct sql_query *q, int64_t *ret_rows, struct why *why)
{
    enum err err = sql_do(q, why);
    if (!err)
        *ret_rows = q->s->driver->changes(q->s);
    return err;
}

enum err sql_insert(struct sql_query *q, int64_t *ret_id, struct why *why)
{
    enum err err = sql_do(q, why);
    if (!err)
        *ret_id = q->s->driver->inserted(q->s);
    return err;
}

enum err sql_change_by_id(struct sql *s, const char *text, int64_t id, int64_t *ret_rows,
                          struct why *why)
{
    struct sql_query *q;
    int64_t rows = 0;
    enum err err = sql_query(s, text, &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    err = sql_change(q, &rows, why);
    if (!err && ret_rows)
        *ret_rows = rows;
    return err;
}

enum err sql_one(struct sql_query *q, int64_t otherwise, int64_t *ret, struct why *why)
{
    bool row;
    enum err err = sql_next(q, &row, why);
    if (err)
        return err;
    *ret = row ? sql_i64(q, 0, otherwise) : otherwise;
    sql_reset(q);
    return OK;
}

enum err sql_none(const char *what, int64_t id, struct why *why)
{
    why_set(why, "%s %lld does not exist", what, (long long)id);
    return ERR_NOTFOUND;
}

enum err sql_row_by_id(struct sql *s, const char *text, const char *what, int64_t id,
                       struct sql_query **ret, struct why *why)
{
    bool row = false;
    enum err err = sql_query(s, text, ret, why);
    if (err)
        return err;
    sql_bind_i64(*ret, 1, id);
    err = sql_next(*ret, &row, why);
    return err || row ? err : sql_none(what, id, why);
}

enum err sql_row_by_text(struct sql *s, const char *text, const char *what, const char *value,
                         struct sql_query **ret, struct why *why)
{
    bool row = false;
    enum err err = sql_query(s, text, ret, why);
    if (err)
        return err;
    sql_bind_text(*ret, 1, value);
    err = sql_next(*ret, &row, why);
    if (err || row)
        return err;
    why_set(why, "no such %s", what);
    return ERR_NOTFOUND;
}

enum err sql_rows(struct sql_query *q, sql_lend_fn *lend, void *fn, void *ctx, struct why *why)
{
    for (bool more = true; more;) {
        enum err err = sql_next(q, &more, why);
        if (err || !more)
            return err;
        more = lend(q, fn, ctx);
    }
    sql_reset(q);
    return OK;
}

/* ---- columns --------------------------------------------------------------------------------- */

int64_t sql_i64(struct sql_query *q, int i, int64_t otherwise)
{
    const struct sql_driver *d = q->s->driver;
    return d->is_null(q->stmt, i) ? otherwise : d->i64(q->stmt, i);
}

int sql_int(struct sql_query *q, int i, int otherwise)
{
    int64_t v = sql_i64(q, i, otherwise);
    return v < INT32_MIN || v > INT32_MAX ? otherwise : (int)v;
}

double sql_real(struct sql_query *q, int i, double otherwise)
{
    const struct sql_driver *d = q->s->driver;
    return d->is_null(q->stmt, i) ? otherwise : d->real(q->stmt, i);
}

char *sql_text(struct sql_query *q, int i)
{
    size_t size;
    const char *text = q->s->driver->text(q->stmt, i, &size);
    if (!text)
        return NULL;
    size_t n = strnlen(text, size);
    return mem_dupn(text, utf8_cut(text, n, TEXT_MAX));
}

void sql_text_copy(struct sql_query *q, int i, char *to, size_t size)
{
    size_t n;
    const char *text = q->s->driver->text(q->stmt, i, &n);
    text_copy(to, size, slice_of(text ? text : "", text ? strnlen(text, n) : 0));
}

struct slice sql_blob(struct sql_query *q, int i)
{
    return q->s->driver->blob(q->stmt, i);
}
