/* SPDX-License-Identifier: Apache-2.0 */
/* A slice that may be there already is read twice: first its ids, what its rows are of, and its
 * sum, which is compared with that of the target's rows in the same range; then, if the two differ,
 * its rows, which take the others' place. So no more than one row is in memory. A row of XXL-JOB's
 * log changes with its result, never its job or its time: under an id with another of the two, the
 * source is not the one that the rows came from. */
#include "store/xxl_history.h"
#include "base/map.h"
#include "base/mem.h"
#include "cron/rfc3339.h"
#include <stdlib.h>

enum { SLICE_ROWS = 1000 };
#define SQL_MAX 4096
#define MARK_SINCE "import-since"
#define MARK_DAYS "import-days"
#define MARK_ZONE "import-zone"

/* ---- marks ----------------------------------------------------------------------------------- */

static int64_t zone_mark(const struct xxl_history *h)
{
    return (int64_t)hash_text(slice_text(zone_name(h->import->zone)));
}

static enum err refuse(const struct xxl_import *m, bool source, bool zone, int64_t days,
                       struct why *why)
{
    const char *other = source ? "from another database than this (the URL's hosts and database)"
                        : zone ? "with another zone of the datetimes (--log-zone, or --zone)"
                               : NULL;
    if (m->dry)
        why_set(why, "an import into the target has begun already: there is nothing to try");
    else if (other)
        why_set(why,
                "an import into the target has begun already, %s: go on with the command that it "
                "began with, or name a new database",
                other);
    else
        why_set(why,
                "an import into the target has begun already, with --history %lld: go on with "
                "that, or name a new database",
                (long long)days);
    return m->dry ? ERR_EXISTS : ERR_INVALID;
}

enum err xxl_history_look(struct xxl_history *h, struct why *why)
{
    const struct xxl_import *m = h->import;
    int64_t source = 0, days = -1, zone = 0;
    enum err err = bulk_mark_get(h->to, MARK_DAYS, -1, &days, why);
    h->since_ms = m->since_ms;
    h->begun = days >= 0;
    if (err || !h->begun)
        return err;
    err = bulk_mark_get(h->to, BULK_MARK_IMPORT, 0, &source, why);
    if (!err)
        err = bulk_mark_get(h->to, MARK_ZONE, 0, &zone, why);
    if (!err)
        err = bulk_mark_get(h->to, MARK_SINCE, 0, &h->since_ms, why);
    if (err)
        return err;
    bool other = source != (int64_t)m->place, elsewhere = zone != zone_mark(h);
    return m->dry || other || elsewhere || days != m->days ? refuse(m, other, elsewhere, days, why)
                                                           : OK;
}

static enum err marks_put(const struct xxl_history *h, struct why *why)
{
    enum err err = bulk_mark_put(h->to, BULK_MARK_IMPORT, (int64_t)h->import->place, why);
    if (!err)
        err = bulk_mark_put(h->to, MARK_SINCE, h->since_ms, why);
    if (!err)
        err = bulk_mark_put(h->to, MARK_DAYS, h->import->days, why);
    return err ? err : bulk_mark_put(h->to, MARK_ZONE, zone_mark(h), why);
}

static enum err end(const struct xxl_history *h, enum err err, struct why *why)
{
    bool undo = h->import->dry;
    if (!err && !undo)
        err = h->to->ops->txn->commit(h->to, NULL, why);
    if (err || undo)
        h->to->ops->txn->rollback(h->to);
    return err;
}

enum err xxl_history_begin(const struct xxl_history *h, struct why *why)
{
    if (h->begun || h->import->dry)
        return OK;
    enum err err = h->to->ops->txn->begin(h->to, why);
    return err ? err : end(h, marks_put(h, why), why);
}

enum err xxl_history_end(const struct xxl_history *h, struct why *why)
{
    static const char *const names[] = { BULK_MARK_IMPORT, MARK_SINCE, MARK_DAYS, MARK_ZONE };
    enum err err = OK;
    for (size_t i = 0; !err && i < countof(names); i++)
        err = bulk_mark_drop(h->to, names[i], why);
    return err;
}

/* ---- a slice --------------------------------------------------------------------------------- */

struct known { /* of a row of the source */
    int64_t id;
    uint64_t of; /* its job and its time */
};

struct part { /* of the log: rows behind an id, up to another one */
    struct xxl_history *h;
    int64_t after, upto; /* upto: the slice's last, INT64_MAX where the source has none behind it */
    struct bulk_put *put; /* NULL: only look */
    struct bulk_sum from, to;
    struct known known[SLICE_ROWS];
    int n;        /* rows of the source */
    int64_t last; /* of their ids */
    bool beyond;  /* a row of the target lies behind upto */
    struct why *why;
    enum err err; /* of the first row that failed; what follows is not looked at */
};

static uint64_t of_row(const struct bulk_value *values)
{
    return hash_u64((uint64_t)values[XXL_LOG_JOB].number ^
                    hash_u64((uint64_t)values[XXL_LOG_TIME].number));
}

static const struct bulk_table *table_of(const struct xxl_history *h)
{
    return &h->rows->tables[XXL_LOG];
}

static void on_source_row(void *ctx, const struct slice *from)
{
    struct part *p = ctx;
    struct xxl_row row;
    if (p->err || p->n == SLICE_ROWS)
        return;
    p->err = xxl_row_take(p->h->rows, XXL_LOG, p->h->import->zone, from, &row, p->why);
    if (!p->err && p->put)
        p->err = bulk_row(p->put, row.values, p->why);
    if (!p->err) {
        bulk_sum_add(&p->from, table_of(p->h), row.values);
        p->last = row.values[XXL_LOG_ID].number;
        p->known[p->n++] = (struct known){ p->last, of_row(row.values) };
    }
    xxl_row_done(&row);
}

/* By the primary key: a slice costs what it has, however long the log is. */
static enum err source_read(struct part *p)
{
    const struct xxl_history *h = p->h;
    struct buf sql = BUF_INIT(SQL_MAX);
    char since[RFC3339_SIZE];
    p->n = 0;
    p->last = p->after;
    p->from = (struct bulk_sum){ 0, 0 };
    xxl_rows_select(&sql, h->rows, h->import->layout, XXL_LOG);
    buf_printf(&sql,
               " FORCE INDEX (PRIMARY) WHERE id > %lld AND trigger_time >= '%s' ORDER BY id LIMIT "
               "%d",
               (long long)p->after, walltime_format(h->since_ms, h->import->zone, since),
               SLICE_ROWS);
    enum err err = reader_query(h->import->from, buf_str(&sql), on_source_row, p, p->why);
    buf_done(&sql);
    p->upto = p->n == SLICE_ROWS ? p->last : INT64_MAX;
    return err ? err : p->err;
}

static int by_id(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = ((const struct known *)b)->id;
    return (x > y) - (x < y);
}

static enum err on_target_row(void *ctx, const struct bulk_value *values, struct why *why)
{
    struct part *p = ctx;
    int64_t id = values[XXL_LOG_ID].number;
    p->beyond |= id > p->upto;
    if (p->beyond)
        return OK;
    bulk_sum_add(&p->to, table_of(p->h), values);
    const struct known *at = bsearch(&id, p->known, (size_t)p->n, sizeof(*p->known), by_id);
    if (!at || at->of == of_row(values))
        return OK;
    why_set(why,
            "an import into the target has begun already, and the source has been changed since: "
            "its log has another run under the id %lld; begin with a new database",
            (long long)id);
    return ERR_INVALID;
}

static enum err target_read(struct part *p)
{
    struct bulk_place at = { .set = true, .key = { { .number = p->after } } };
    int n = SLICE_ROWS;
    enum err err = OK;
    while (!err && n == SLICE_ROWS && !p->beyond)
        err = bulk_slice(p->h->to, table_of(p->h), &at, SLICE_ROWS, on_target_row, p, &n, p->why);
    bulk_place_done(&at);
    return err;
}

/* Of the source, in the place of what is there. */
static enum err write_part(struct part *p, bool replace)
{
    struct xxl_history *h = p->h;
    enum err err = h->to->ops->txn->begin(h->to, p->why);
    if (err)
        return err;
    if (replace)
        err = bulk_remove(h->to, table_of(h), p->after, p->upto, p->why);
    if (!err)
        err = source_read(p);
    return end(h, err, p->why);
}

static enum err mend_part(struct part *p, struct bulk_put *put)
{
    enum err err = source_read(p);
    if (!err)
        err = target_read(p);
    bool equal = p->from.rows == p->to.rows && p->from.hash == p->to.hash;
    if (!err && equal)
        p->h->there += p->to.rows;
    if (err || equal)
        return err;
    p->put = put;
    return write_part(p, true);
}

/* ---- the log --------------------------------------------------------------------------------- */

static void on_number(void *ctx, const struct slice *v)
{
    int64_t n;
    if (v[0].p && parse_i64(v[0], &n))
        *(int64_t *)ctx = n;
}

/* Behind which id the rows begin: a walk along the index of their times, and none over rows that
 * are older. */
static enum err first_after(const struct xxl_history *h, int64_t *ret, struct why *why)
{
    struct buf sql = BUF_INIT(SQL_MAX);
    char since[RFC3339_SIZE];
    int64_t first = 0;
    buf_printf(&sql, "SELECT MIN(id) FROM xxl_job_log WHERE trigger_time >= '%s'",
               walltime_format(h->since_ms, h->import->zone, since));
    enum err err = reader_query(h->import->from, buf_str(&sql), on_number, &first, why);
    buf_done(&sql);
    *ret = first - 1;
    return err;
}

static enum err copy_all(struct xxl_history *h, struct bulk_put *put, int64_t there, struct part *p,
                         struct why *why)
{
    enum err err = OK;
    for (bool more = true; !err && more; more = p->upto != INT64_MAX) {
        int64_t after = p->last;
        bool compare = after < there;
        *p = (struct part){ .h = h, .after = after, .why = why, .put = compare ? NULL : put };
        err = compare ? mend_part(p, put) : write_part(p, false);
        h->sum.rows += p->from.rows;
        h->sum.hash += p->from.hash;
        if (!err && h->progress)
            h->progress(h->ctx, xxl_table_names[XXL_LOG], h->sum.rows);
    }
    return err;
}

/* Rows before the source's first one, which have been deleted there since. */
static enum err remove_before(const struct xxl_history *h, int64_t first_after, struct why *why)
{
    enum err err = h->to->ops->txn->begin(h->to, why);
    if (err)
        return err;
    return end(h, bulk_remove(h->to, table_of(h), INT64_MIN, first_after, why), why);
}

enum err xxl_history_copy(struct xxl_history *h, struct why *why)
{
    struct bulk_put *put = NULL;
    int64_t there = INT64_MIN;
    struct part *p = mem_new(sizeof(*p));
    enum err err = first_after(h, &p->last, why);
    if (!err && h->begun)
        err = remove_before(h, p->last, why);
    if (!err && h->begun)
        err = bulk_last(h->to, table_of(h), &there, why);
    if (!err)
        err = bulk_begin(h->to, table_of(h), &put, why);
    if (!err)
        err = copy_all(h, put, there, p, why);
    bulk_end(put);
    free(p);
    return err;
}
