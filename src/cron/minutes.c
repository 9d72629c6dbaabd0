/* SPDX-License-Identifier: Apache-2.0 */
/* An expression is searched with one second a minute, and each find counts for all of its seconds:
 * so what fires every second costs no more than what fires every minute. Rates are divided. */
#include "cron/minutes.h"
#include "cron/civil.h"

static bool is_rate(const struct schedule *s)
{
    return s->type == SCHEDULE_FIX_RATE || s->type == SCHEDULE_FIX_DELAY;
}

/* All that a gap has left out fires once, at its end. */
static bool made_up_for(const struct schedule *s, int64_t ms)
{
    struct zone_span span = zone_span_at(s->zone, ms / 1000);
    return span.begin_s == ms / 1000 && !cron_matches(&s->cron, ms / 1000 + span.offset);
}

static void cron_minutes(const struct schedule *s, int64_t from_ms, int sign, int32_t *counts,
                         int n)
{
    struct cron one = s->cron;
    int64_t ms = from_ms - 1, until_ms = from_ms + n * MINUTE_MS;
    int weight = __builtin_popcountll(one.seconds);
    one.seconds &= -one.seconds; /* the lowest */
    while (!cron_next(&one, s->zone, s->dst, ms, &ms) && ms < until_ms)
        counts[(ms - from_ms) / MINUTE_MS] += made_up_for(s, ms) ? sign : weight * sign;
}

/* Times of a rate before ms. */
static int64_t rate_before(const struct schedule *s, int64_t first_ms, int64_t ms)
{
    return ms > first_ms ? (ms - 1 - first_ms) / s->interval_ms + 1 : 0;
}

static void rate_minutes(const struct schedule *s, int64_t first_ms, int64_t from_ms, int sign,
                         int32_t *counts, int n)
{
    int64_t before = rate_before(s, first_ms, from_ms);
    for (int i = 0; i < n; i++) {
        int64_t after = rate_before(s, first_ms, from_ms + (i + 1) * MINUTE_MS);
        counts[i] += (int32_t)(after - before) * sign;
        before = after;
    }
}

void schedule_minutes(const struct schedule *s, int64_t first_ms, int64_t from_ms, int sign,
                      int32_t *counts, int n)
{
    int64_t end_ms = from_ms + n * MINUTE_MS;
    if (s->type == SCHEDULE_CRON)
        cron_minutes(s, from_ms, sign, counts, n);
    else if (is_rate(s))
        rate_minutes(s, first_ms, from_ms, sign, counts, n);
    else if (s->type == SCHEDULE_ONCE && s->once_ms >= from_ms && s->once_ms < end_ms)
        counts[(s->once_ms - from_ms) / MINUTE_MS] += sign;
}

/* Has the minute none of the expression's times, by the clock on the wall? */
static bool cron_misses(const struct schedule *s, int64_t minute_ms)
{
    int64_t utc_s = minute_ms / 1000;
    struct zone_span span = zone_span_at(s->zone, utc_s);
    int64_t wall = utc_s + span.offset;
    if (span.begin_s == utc_s || wall % 60 != 0 || wall < 0)
        return false; /* what a gap has left out may fire here */
    return !(s->cron.hours >> (wall / 3600 % 24) & 1 && s->cron.minutes >> (wall / 60 % 60) & 1);
}

uint64_t schedule_seconds(const struct schedule *s, int64_t first_ms, int64_t minute_ms)
{
    uint64_t seconds = 0;
    int64_t ms = minute_ms - 1, until_ms = minute_ms + MINUTE_MS;
    if (s->type == SCHEDULE_CRON && cron_misses(s, minute_ms))
        return 0;
    if (is_rate(s)) {
        int64_t before = rate_before(s, first_ms, minute_ms);
        for (ms = first_ms + before * s->interval_ms; ms < until_ms; ms += s->interval_ms)
            seconds |= (uint64_t)1 << ((ms - minute_ms) / 1000);
        return seconds;
    }
    while (!schedule_next(s, ms, &ms) && ms < until_ms)
        seconds |= (uint64_t)1 << ((ms - minute_ms) / 1000);
    return seconds;
}
