/* SPDX-License-Identifier: Apache-2.0 */
/* end.c - a batch's ends as bytes: each number is written as the difference from the end before,
 * because runs that end together were planned together. */
#include "model/end.h"
#include <string.h>

#define VERSION 1
#define ID_MAX (INT64_C(1) << 53)
#define SECOND_MAX INT64_C(253402300799) /* the year 9999 */
#define TOOK_MAX (INT64_C(366) * 86400000)
/* First bytes of a fold: no end has them, because OUTCOME_NONE is none. */
#define FOLD_GROUP (1 << 4 | OUTCOME_NONE)
#define FOLD_SHELF (2 << 4 | OUTCOME_NONE)

static const char *const outcomes[OUTCOME_COUNT] = { "open",      "succeeded", "failed",
                                                     "timed_out", "killed",    "lost",
                                                     "rejected",  "skipped",   "withdrawn" };

const char *outcome_text(enum outcome o)
{
    return o < OUTCOME_COUNT ? outcomes[o] : "?";
}

/* ---- numbers --------------------------------------------------------------------------------- */

void number_put(struct buf *to, uint64_t v)
{
    char bytes[10];
    size_t n = 0;
    for (; v >= 128; v >>= 7)
        bytes[n++] = (char)(v | 128);
    bytes[n++] = (char)v;
    buf_add(to, bytes, n);
}

void number_put_signed(struct buf *to, int64_t v)
{
    number_put(to, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

bool number_get(const uint8_t **p, const uint8_t *end, uint64_t *ret)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 64 && *p < end; shift += 7) {
        uint8_t byte = *(*p)++;
        if (shift == 63 && byte > 1)
            return false;
        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *ret = v;
            return true;
        }
    }
    return false;
}

bool number_get_signed(const uint8_t **p, const uint8_t *end, int64_t *ret)
{
    uint64_t v;
    if (!number_get(p, end, &v))
        return false;
    *ret = (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int64_t within(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

static int64_t second_of(int64_t ms)
{
    return within(ms / 1000, 0, SECOND_MAX);
}

struct ends_writer ends_begin(struct buf *to, int64_t at_ms)
{
    struct ends_writer w = { .to = to };
    int64_t at = within(at_ms, 0, SECOND_MAX * 1000);
    w.last.log_ms = second_of(at) * 1000;
    buf_char(to, VERSION);
    number_put(to, (uint64_t)at);
    return w;
}

void ends_add_fold(struct ends_writer *w, const struct ends_fold *f)
{
    buf_char(w->to, f->of_shelf ? FOLD_SHELF : FOLD_GROUP);
    number_put(w->to, (uint64_t)within(f->id, 0, ID_MAX));
}

void ends_add(struct ends_writer *w, const struct run_end *e)
{
    struct run_end *last = &w->last;
    const struct run_end now = { .log_id = within(e->log_id, 1, ID_MAX),
                                 .job_id = within(e->job_id, 1, ID_MAX),
                                 .group_id = within(e->group_id, 0, ID_MAX),
                                 .log_ms = second_of(e->log_ms) * 1000 };
    buf_char(w->to, (char)(e->now | e->was << 4));
    number_put_signed(w->to, now.log_id - last->log_id);
    number_put_signed(w->to, now.job_id - last->job_id);
    number_put_signed(w->to, now.group_id - last->group_id);
    number_put_signed(w->to, (now.log_ms - last->log_ms) / 1000);
    number_put(w->to, (uint64_t)within(e->took_ms, 0, TOOK_MAX));
    number_put(w->to, (uint64_t)within(e->late_ms, 0, TOOK_MAX));
    number_put(w->to, (uint64_t)within(e->shard, 0, INT32_MAX));
    number_put(w->to, (uint64_t)within(e->attempt, 0, INT32_MAX));
    *last = now;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct ends_reader ends_read(struct slice bytes)
{
    struct ends_reader r = { .p = (const uint8_t *)bytes.p };
    uint64_t at = 0;
    if (!bytes.n) {
        r.bad = true;
        return r;
    }
    r.end = r.p + bytes.n;
    r.bad = *r.p++ != VERSION || !number_get(&r.p, r.end, &at) || at > (uint64_t)SECOND_MAX * 1000;
    if (r.bad)
        return r;
    r.at_ms = (int64_t)at;
    r.last.log_ms = second_of(r.at_ms) * 1000;
    return r;
}

/* The number before it changed by a difference that may be anything. */
static bool moved(struct ends_reader *r, int64_t from, int64_t low, int64_t high, int64_t *ret)
{
    int64_t by;
    if (!number_get_signed(&r->p, r->end, &by) || by < -ID_MAX || by > ID_MAX)
        return false;
    *ret = from + by;
    return *ret >= low && *ret <= high;
}

static bool bounded(struct ends_reader *r, int64_t high, int64_t *ret)
{
    uint64_t v;
    if (!number_get(&r->p, r->end, &v) || v > (uint64_t)high)
        return false;
    *ret = (int64_t)v;
    return true;
}

static bool read_one(struct ends_reader *r, struct run_end *e)
{
    const struct run_end *last = &r->last;
    uint8_t outcomes_byte = *r->p++;
    int64_t second, shard, attempt;
    e->now = (enum outcome)(outcomes_byte & 15);
    e->was = (enum outcome)(outcomes_byte >> 4);
    if (e->now == OUTCOME_NONE || e->now >= OUTCOME_COUNT || e->was >= OUTCOME_COUNT)
        return false;
    if (!moved(r, last->log_id, 1, ID_MAX, &e->log_id) ||
        !moved(r, last->job_id, 1, ID_MAX, &e->job_id) ||
        !moved(r, last->group_id, 0, ID_MAX, &e->group_id) ||
        !moved(r, last->log_ms / 1000, 0, SECOND_MAX, &second) ||
        !bounded(r, TOOK_MAX, &e->took_ms) || !bounded(r, TOOK_MAX, &e->late_ms) ||
        !bounded(r, INT32_MAX, &shard) || !bounded(r, INT32_MAX, &attempt))
        return false;
    e->log_ms = second * 1000;
    e->shard = (int32_t)shard;
    e->attempt = (int32_t)attempt;
    return true;
}

bool ends_next_fold(struct ends_reader *r, struct ends_fold *ret)
{
    if (r->bad || r->p == r->end || (*r->p != FOLD_GROUP && *r->p != FOLD_SHELF))
        return false;
    ret->of_shelf = *r->p++ == FOLD_SHELF;
    r->bad = !bounded(r, ID_MAX, &ret->id);
    return !r->bad;
}

bool ends_next(struct ends_reader *r, struct run_end *ret)
{
    struct run_end e = { 0 };
    struct ends_fold passed;
    while (ends_next_fold(r, &passed))
        ;
    if (r->bad || r->p == r->end)
        return false;
    if (!read_one(r, &e)) {
        r->bad = true;
        return false;
    }
    r->last = *ret = e;
    return true;
}
