/* SPDX-License-Identifier: Apache-2.0 */
/* figure.c - counts, slots and durations by size. What comes from rows is added with bounds,
 * because another program may have written it. */
#include "model/figure.h"
#include "cron/civil.h"

/* ---- durations ------------------------------------------------------------------------------- */

int duration_bucket(int64_t ms)
{
    uint64_t v = ms > 0 ? (uint64_t)ms + 1 : 1;
    int k = 63 - __builtin_clzll(v);
    int half = k > 0 ? (int)(v >> (k - 1)) & 1 : 0;
    int bucket = 2 * k + half;
    return bucket < DURATION_BUCKETS ? bucket : DURATION_BUCKETS - 1;
}

int64_t duration_from_ms(int bucket)
{
    int k = bucket / 2, half = bucket % 2;
    int64_t v = k > 0 ? (INT64_C(2) + half) << (k - 1) : 1 + half; /* bucket 1 is empty */
    return v - 1;
}

int64_t duration_at(const uint32_t counts[DURATION_BUCKETS], int per_mille)
{
    uint64_t sum = 0, before = 0;
    for (int i = 0; i < DURATION_BUCKETS; i++)
        sum += counts[i];
    double wanted = (double)sum * per_mille / 1000;
    for (int i = 0; i < DURATION_BUCKETS; i++) {
        if (!counts[i] || (double)(before + counts[i]) < wanted) {
            before += counts[i];
            continue;
        }
        int64_t from = duration_from_ms(i), to = duration_from_ms(i + 1);
        double part = (wanted - (double)before) / counts[i];
        return from + (int64_t)(part * (double)(to - from));
    }
    return -1;
}

void durations_put(struct buf *to, const uint32_t counts[DURATION_BUCKETS])
{
    for (int i = 0; i < DURATION_BUCKETS; i++) {
        if (!counts[i])
            continue;
        buf_char(to, (char)i);
        number_put(to, counts[i]);
    }
}

bool durations_add(uint32_t counts[DURATION_BUCKETS], struct slice bytes)
{
    const uint8_t *p = (const uint8_t *)bytes.p, *end = bytes.n ? p + bytes.n : p;
    uint32_t sums[DURATION_BUCKETS];
    for (int i = 0; i < DURATION_BUCKETS; i++)
        sums[i] = counts[i];
    for (int last = -1; p < end;) {
        int bucket = *p++;
        uint64_t n;
        if (bucket <= last || bucket >= DURATION_BUCKETS || !number_get(&p, end, &n) ||
            n > UINT32_MAX)
            return false;
        sums[bucket] = UINT32_MAX - sums[bucket] < n ? UINT32_MAX : sums[bucket] + (uint32_t)n;
        last = bucket;
    }
    for (int i = 0; i < DURATION_BUCKETS; i++)
        counts[i] = sums[i];
    return true;
}

/* ---- figures --------------------------------------------------------------------------------- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void figure_end(struct figure *f, const struct run_end *e)
{
    if (e->was != OUTCOME_NONE)
        f->counts[e->was]--;
    f->counts[e->now]++;
    if (outcome_has_result(e->now)) {
        f->took_ms += e->took_ms;
        f->took_max_ms = larger(f->took_max_ms, e->took_ms);
    }
    if (e->was == OUTCOME_NONE) {
        f->late_ms += e->late_ms;
        f->late_max_ms = larger(f->late_max_ms, e->late_ms);
    }
}

/* Sums of rows that another program has written may be anything. */
static int64_t sum(int64_t a, int64_t b)
{
    int64_t r;
    return __builtin_add_overflow(a, b, &r) ? (b > 0 ? INT64_MAX : INT64_MIN) : r;
}

void figure_add(struct figure *to, const struct figure *by)
{
    for (int i = 0; i < OUTCOME_COUNT; i++)
        to->counts[i] = sum(to->counts[i], by->counts[i]);
    to->took_ms = sum(to->took_ms, by->took_ms);
    to->late_ms = sum(to->late_ms, by->late_ms);
    to->took_max_ms = larger(to->took_max_ms, by->took_max_ms);
    to->late_max_ms = larger(to->late_max_ms, by->late_max_ms);
}

int64_t figure_failed(const struct figure *f)
{
    static const enum outcome failures[] = { OUTCOME_FAILED, OUTCOME_TIMED_OUT, OUTCOME_KILLED,
                                             OUTCOME_LOST, OUTCOME_REJECTED };
    int64_t n = 0;
    for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++)
        n = sum(n, f->counts[failures[i]]);
    return n;
}

/* ---- slots ----------------------------------------------------------------------------------- */

#define QUARTER_S 900
#define HOUR_S 3600
#define DAY_S 86400
#define LEVEL_SHIFT 40

static int64_t begin_s(enum figure_level level, const struct zone *zone, int64_t s)
{
    int offset;
    switch (level) {
    case FIGURE_HOUR:
    case FIGURE_JOB_HOUR:
        offset = zone_offset_at(zone, s);
        return floor_div(s + offset, HOUR_S) * HOUR_S - offset;
    case FIGURE_DAY:
    case FIGURE_JOB_DAY:
        offset = zone_offset_at(zone, s);
        return zone_from_local(zone, floor_div(s + offset, DAY_S) * DAY_S).first_s;
    default:
        return floor_div(s, QUARTER_S) * QUARTER_S;
    }
}

int64_t figure_slot_at(enum figure_level level, int64_t begin_ms)
{
    int64_t minute = begin_ms > 0 ? begin_ms / 60000 : 0;
    return (int64_t)level << LEVEL_SHIFT | minute;
}

int64_t figure_slot(enum figure_level level, const struct zone *zone, int64_t ms)
{
    return figure_slot_at(level, begin_s(level, zone, ms > 0 ? ms / 1000 : 0) * 1000);
}

int64_t figure_slot_ms(int64_t slot)
{
    return (slot & ((INT64_C(1) << LEVEL_SHIFT) - 1)) * 60000;
}

enum figure_level figure_slot_level(int64_t slot)
{
    return (enum figure_level)(slot >> LEVEL_SHIFT);
}
