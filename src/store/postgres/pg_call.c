/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of the hot path: arrays in, one round trip for all rows of a kind, in binary form both
 * ways. */
#include "base/mem.h"
#include "store/postgres/pg.h"
#include <assert.h>
#include <endian.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER 20                               /* dimensions, nulls, type, length, first index */
#define BYTES_MAX ((size_t)512 * 1024 * 1024)   /* of an array */
#define EPOCH_US (INT64_C(946684800) * 1000000) /* 2000-01-01, where PostgreSQL begins */

/* ---- arrays ---------------------------------------------------------------------------------- */

static void put_u32(struct buf *b, uint32_t v)
{
    v = htobe32(v);
    buf_add(b, &v, sizeof(v));
}

struct pg_array *pg_array(struct pg *s, int n, unsigned type)
{
    static const char header[HEADER];
    struct pg_array *a = &s->arrays[n];
    if (!a->bytes.max)
        buf_init(&a->bytes, BYTES_MAX);
    buf_reset(&a->bytes);
    buf_add(&a->bytes, header, HEADER);
    a->type = type;
    a->n = 0;
    a->nulls = false;
    return a;
}

void pg_add_i64(struct pg_array *a, int64_t v)
{
    char *to = buf_room(&a->bytes, 12);
    if (!to)
        return;
    uint32_t n = htobe32(8);
    uint64_t big = htobe64((uint64_t)v);
    memcpy(to, &n, 4);
    memcpy(to + 4, &big, 8);
    a->bytes.len += 12;
    a->n++;
}

void pg_add_i32(struct pg_array *a, int32_t v)
{
    put_u32(&a->bytes, 4);
    put_u32(&a->bytes, (uint32_t)v);
    a->n++;
}

void pg_add_i16(struct pg_array *a, int v)
{
    uint16_t big = htobe16((uint16_t)v);
    put_u32(&a->bytes, 2);
    buf_add(&a->bytes, &big, 2);
    a->n++;
}

void pg_add_time(struct pg_array *a, int64_t ms)
{
    const int64_t first = INT64_C(-62135596800000),
                  last = INT64_C(253402300799999); /* years 1..9999 */
    ms = ms < first ? first : ms > last ? last : ms;
    pg_add_i64(a, ms * 1000 - EPOCH_US);
}

void pg_add_null(struct pg_array *a)
{
    put_u32(&a->bytes, UINT32_MAX);
    a->nulls = true;
    a->n++;
}

const char *pg_text(const char *text, char **ret_copy)
{
    size_t n = text ? strlen(text) : 0;
    *ret_copy = NULL;
    if (!text || utf8_valid(text, n))
        return text;
    char *copy = mem_dupn(text, n);
    for (size_t i = 0; i < n;) {
        size_t one = utf8_char(copy + i, n - i);
        if (!one)
            copy[i++] = '?';
        i += one;
    }
    *ret_copy = copy;
    return copy;
}

void pg_add_text(struct pg_array *a, const char *text)
{
    char *copy;
    text = pg_text(text, &copy);
    if (!text) {
        pg_add_null(a);
        return;
    }
    size_t n = strlen(text);
    put_u32(&a->bytes, (uint32_t)n);
    buf_add(&a->bytes, text, n);
    a->n++;
    free(copy);
}

static void array_end(struct pg_array *a)
{
    const uint32_t header[] = { htobe32(1), htobe32(a->nulls), htobe32(a->type),
                                htobe32((uint32_t)a->n), htobe32(1) };
    static_assert(sizeof(header) == HEADER, "they are written in one");
    if (!a->bytes.failed)
        memcpy(a->bytes.data, header, HEADER);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static struct pg_prepared *prepared_of(struct pg *s, const char *text)
{
    uint64_t key = (uint64_t)(uintptr_t)text;
    struct pg_prepared *p = map_find(&s->prepared, key);
    if (!p) {
        p = mem_new(sizeof(*p));
        snprintf(p->name, sizeof(p->name), "h%u", s->nprepared++);
        map_set(&s->prepared, key, p);
    }
    return p;
}

/* The only result that counts, the caller's. */
static enum err answer(struct pg *s, PGresult **ret, struct why *why)
{
    PGresult *r, *kept = NULL;
    enum err err;
    while (!(err = pg_next(s, &r, why)) && r) {
        PQclear(kept);
        kept = r;
    }
    if (!err && !kept)
        err = pg_fail(s, NULL, why);
    ExecStatusType status = kept ? PQresultStatus(kept) : PGRES_FATAL_ERROR;
    if (!err && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        err = pg_fail(s, kept, why);
    if (!err) {
        s->changes = strtoll(PQcmdTuples(kept), NULL, 10);
        *ret = kept;
    } else {
        PQclear(kept);
    }
    return err;
}

static enum err broken(struct pg *s, struct why *why)
{
    enum err err = pg_fail(s, NULL, why);
    pg_hang_up(s);
    return err;
}

enum err pg_call(struct pg *s, const char *text, int n, PGresult **ret, struct why *why)
{
    const char *values[PG_ARRAYS];
    int lengths[PG_ARRAYS], formats[PG_ARRAYS];
    struct pg_prepared *p = prepared_of(s, text);
    PGresult *r = NULL;
    enum err err = pg_ready(s, why);
    if (!err)
        err = pg_quiet(s, why);
    for (int i = 0; !err && i < n; i++) {
        struct pg_array *a = &s->arrays[i];
        array_end(a);
        if (a->bytes.failed)
            err = pg_fail_as(s, ERR_TOOBIG, "the rows of one statement have no room", why);
        values[i] = a->bytes.data;
        lengths[i] = (int)a->bytes.len;
        formats[i] = 1;
    }
    if (!err && p->life != s->life) {
        if (!PQsendPrepare(s->db, p->name, text, 0, NULL))
            return broken(s, why);
        err = answer(s, &r, why);
        if (!err)
            p->life = s->life;
        PQclear(r);
        r = NULL;
    }
    if (err)
        return err;
    if (!PQsendQueryPrepared(s->db, p->name, n, values, lengths, formats, 1))
        return broken(s, why);
    err = answer(s, &r, why);
    if (err)
        return err;
    if (ret)
        *ret = r;
    else
        PQclear(r);
    return OK;
}

int64_t pg_get_i64(const PGresult *r, int row, int column, int64_t otherwise)
{
    uint64_t v;
    if (PQgetisnull(r, row, column) || PQgetlength(r, row, column) != 8)
        return otherwise;
    memcpy(&v, PQgetvalue(r, row, column), 8);
    return (int64_t)be64toh(v);
}
