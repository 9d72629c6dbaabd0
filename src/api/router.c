/* SPDX-License-Identifier: Apache-2.0 */
/* A table has some tens of rows, and most differ from a path in their first segment: a walk along
 * all of them costs less than reading the request did. Rows that fit are compared by a score, one
 * bit a segment, the first segment's the highest, set where the row has a literal. Rows with the
 * same score that fit the same path have the same literals. */
#include "api/router.h"
#include "api/percent.h"
#include "base/buf.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned bit;
} methods[] = {
    { "GET", METHOD_GET }, { "HEAD", METHOD_GET },    { "POST", METHOD_POST },
    { "PUT", METHOD_PUT }, { "PATCH", METHOD_PATCH }, { "DELETE", METHOD_DELETE },
};

unsigned router_method(struct slice method)
{
    for (size_t i = 0; i < countof(methods); i++)
        if (slice_eq(method, methods[i].name))
            return methods[i].bit;
    return 0;
}

void router_allow(unsigned bits, char *to, size_t size)
{
    struct buf b = BUF_INIT(256);
    for (size_t i = 0; i < countof(methods); i++)
        if (bits & methods[i].bit)
            buf_printf(&b, "%s%s", b.len ? ", " : "", methods[i].name);
    snprintf(to, size, "%s", buf_str(&b));
    buf_done(&b);
}

/* ---- paths --------------------------------------------------------------------------------------
 */

/* Take "/segment" off *rest. False at the end. */
static bool segment(struct slice *rest, struct slice *ret)
{
    if (rest->n == 0 || rest->p[0] != '/')
        return false;
    const char *end = memchr(rest->p + 1, '/', rest->n - 1);
    size_t n = end ? (size_t)(end - rest->p) : rest->n;
    *ret = slice_of(rest->p + 1, n - 1);
    *rest = slice_of(rest->p + n, rest->n - n);
    return true;
}

static bool is_param(struct slice want)
{
    return want.n > 2 && want.p[0] == '{';
}

static struct slice param_name(struct slice want)
{
    return slice_of(want.p + 1, want.n - 2);
}

static bool same(struct slice a, struct slice b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static bool fits(const struct web_route *row, struct slice path, unsigned *ret_score)
{
    struct slice rest = slice_text(row->path), want, got;
    unsigned score = 0;
    while (segment(&rest, &want)) {
        if (!segment(&path, &got))
            return false;
        bool param = is_param(want);
        if (param ? got.n == 0 : !same(want, got))
            return false;
        score = score << 1 | !param;
    }
    *ret_score = score;
    return path.n == 0;
}

static struct slice behind_prefix(const struct router_table *table, struct slice path)
{
    size_t n = strlen(table->prefix);
    return slice_of(path.p + n, path.n - n);
}

bool router_under(const struct router_table *table, struct slice path)
{
    size_t n = strlen(table->prefix);
    return path.n > n && memcmp(path.p, table->prefix, n) == 0 && path.p[n] == '/';
}

struct router_match router_find(const struct router_table *table, struct slice method,
                                struct slice path)
{
    struct router_match m = { .table = table };
    unsigned wanted = router_method(method), best = 0, score;
    if (!router_under(table, path))
        return m;
    path = behind_prefix(table, path);
    for (const struct web_route *row = table->rows; row < table->rows + table->n; row++) {
        if (!fits(row, path, &score) || (m.near && score < best))
            continue;
        if (!m.near || score > best)
            m = (struct router_match){ .table = table, .near = row };
        best = score;
        m.methods |= row->methods;
        if (row->methods & wanted)
            m.row = m.near = row;
    }
    return m;
}

/* ---- parameters ---------------------------------------------------------------------------------
 */

/* Decode s to *at, terminated. An encoded slash stays as it was written: it separates nothing, and
 * shall not look as if it did. */
static bool decode(struct slice s, char **at, const char *end)
{
    char *start = *at, *to = start;
    for (size_t i = 0; i < s.n; i++) {
        int c = (unsigned char)s.p[i];
        if (c == '%') {
            c = percent_byte(s, i);
            if (c < 0)
                return false;
            if (c != '/')
                i += 2;
            else
                c = '%';
        }
        if (c == '\0' || to + 1 >= end)
            return false;
        *to++ = (char)c;
    }
    *to = '\0';
    *at = to + 1;
    return utf8_valid(start, (size_t)(to - start));
}

static bool id_read(struct router_param *p)
{
    int64_t v;
    bool digits = p->text[0] >= '1' && p->text[0] <= '9';
    if (!digits || !parse_i64(slice_text(p->text), &v) || v > ROUTER_ID_MAX)
        return false;
    p->number = v;
    return true;
}

static enum err param_read(struct router_params *ret, char **at, struct slice name,
                           struct slice got, struct why *why)
{
    struct router_param *p = &ret->items[ret->n];
    p->name = name;
    p->text = *at;
    ret->bad_name = name;
    if (!decode(got, at, ret->bytes + sizeof(ret->bytes))) {
        ret->bad_rule = "text.encoding";
        why_set(why, "%.*s: must be percent-encoded UTF-8 of at most %d bytes", (int)name.n, name.p,
                ROUTER_PARAM_BYTES);
        return ERR_INVALID;
    }
    if (slice_eq(name, "id") && !id_read(p)) {
        ret->bad_rule = "number.range";
        why_set(why, "id: must be a whole number from 1 to %lld", (long long)ROUTER_ID_MAX);
        return ERR_INVALID;
    }
    ret->n++;
    return OK;
}

enum err router_params(const struct router_table *table, const struct web_route *row,
                       struct slice path, struct router_params *ret, struct why *why)
{
    struct slice rest = slice_text(row->path), want, got;
    char *at = ret->bytes;
    enum err err = OK;
    path = behind_prefix(table, path);
    ret->n = 0;
    while (!err && segment(&rest, &want) && segment(&path, &got) && ret->n < ROUTER_PARAMS)
        if (is_param(want))
            err = param_read(ret, &at, param_name(want), got, why);
    return err;
}
