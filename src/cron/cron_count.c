/* SPDX-License-Identifier: Apache-2.0 */
/* How often it fires between two instants, without a look at each: whole days are products of what
 * the fields hold, and only the two ends of a stretch of constant offset need more. */
#include "cron/cron.h"
#include "cron/civil.h"

enum { DAY_S = 86400 };

static int size(uint64_t bits)
{
    return __builtin_popcountll(bits);
}

static uint64_t below(uint64_t bits, int n) /* n < 64 */
{
    return bits & (((uint64_t)1 << n) - 1);
}

/* Matches of a matching day before its second s. */
static int64_t before(const struct cron *c, int64_t s)
{
    int hour = (int)(s / 3600), minute = (int)(s / 60 % 60), second = (int)(s % 60);
    int in_minute = size(c->seconds), in_hour = size(c->minutes) * in_minute;
    int64_t n = (int64_t)size(below(c->hours, hour)) * in_hour;
    if (hour > 23 || !(c->hours >> hour & 1))
        return n;
    n += (int64_t)size(below(c->minutes, minute)) * in_minute;
    return c->minutes >> minute & 1 ? n + size(below(c->seconds, second)) : n;
}

/* Matches of the wall clock from a up to b. */
static int64_t on_wall(const struct cron *c, int64_t a, int64_t b)
{
    int64_t n = 0, at_ms;
    while (a < b && !cron_next(c, zone_utc(), DST_XXL, a * 1000 - 1, &at_ms) && at_ms < b * 1000) {
        int64_t first = at_ms / 1000, day = first - first % DAY_S;
        int64_t end = b < day + DAY_S ? b - day : DAY_S;
        n += before(c, end) - before(c, first - day);
        a = day + DAY_S;
    }
    return n;
}

/* In a stretch of constant offset, the wall times that fire there, if each fires once. */
static int64_t once(const struct cron *c, const struct zone *z, bool smart, struct zone_span span,
                    int64_t a, int64_t b)
{
    int64_t from = a + span.offset, until = b + span.offset, n = 0;
    if (!smart && span.end_s != INT64_MAX) {
        int64_t again = span.end_s + zone_offset_at(z, span.end_s);
        until = again < until ? again : until; /* the rest comes again, and fires then */
    }
    if (smart && span.begin_s != INT64_MIN) {
        int64_t seen = span.begin_s + zone_offset_at(z, span.begin_s - 1);
        int64_t wall = span.begin_s + span.offset;
        if (a == span.begin_s && seen < wall && on_wall(c, seen, wall) && !cron_matches(c, wall))
            n = 1; /* all that the gap has left out */
        from = seen > from ? seen : from;
    }
    return n + on_wall(c, from, until);
}

int64_t cron_count(const struct cron *c, const struct zone *z, enum dst_policy dst, int64_t from_ms,
                   int64_t until_ms)
{
    int64_t a = -floor_div(-from_ms, 1000), b = -floor_div(-until_ms, 1000), n = 0;
    bool smart = dst == DST_SMART, ticks = smart && cron_repeats(c);
    while (a < b) {
        struct zone_span span = zone_span_at(z, a);
        int64_t end = span.end_s < b ? span.end_s : b;
        n += ticks ? on_wall(c, a + span.offset, end + span.offset)
                   : once(c, z, smart, span, a, end);
        a = end;
    }
    return n;
}
