/* SPDX-License-Identifier: Apache-2.0 */
/* Finding scheduled times. On the wall everything is a search in bitmaps, from the second upwards;
 * real time comes in only afterwards. Away from a zone's changes - further than wall and UTC can
 * ever be apart - one subtraction maps back, and only there policies differ. */
#include "cron/cron.h"
#include "cron/civil.h"

enum { DAY_S = 86400, MS = 1000, SLACK_S = 26 * 3600 };

/* No wall time of an expression lies outside 1970-2299; searches are cut to a little more. */
static const int64_t from_min_s = -2 * DAY_S, from_max_s = 10413792000 + 2 * DAY_S;

static uint64_t bits_from(uint64_t bits, int from) /* those >= from, 0 <= from <= 64 */
{
    return from < 64 ? bits >> from << from : 0;
}

static int lowest(uint64_t bits)
{
    return __builtin_ctzll(bits);
}

/* --- the day ------------------------------------------------------------------------------- */

static uint32_t day_mask(int length) /* bits 1..length */
{
    return (uint32_t)((((uint64_t)1 << length) - 1) << 1);
}

/* The weekday (Monday to Friday) nearest to a day, inside its month. first: weekday of day 1. */
static int nearest(int day, int first, int length)
{
    int weekday = (first + day - 1) % 7;
    if (weekday == 6)
        return day > 1 ? day - 1 : day + 2;
    if (weekday == 0)
        return day < length ? day + 1 : day - 2;
    return day;
}

static uint32_t special_days(const struct cron *c, int first, int length)
{
    uint32_t set = 0;
    for (uint64_t bits = c->last_minus; bits; bits &= bits - 1)
        if (lowest(bits) < length)
            set |= (uint32_t)1 << (length - lowest(bits));
    for (uint64_t bits = c->near & day_mask(length); bits; bits &= bits - 1)
        set |= (uint32_t)1 << nearest(lowest(bits), first, length);
    for (uint64_t bits = c->near_last; bits; bits &= bits - 1)
        if (lowest(bits) < length)
            set |= (uint32_t)1 << nearest(length - lowest(bits), first, length);
    return set;
}

/* The days of a month that match, bits 1-31. first_day: its first, as days since 1970. */
static uint32_t days_of_month(const struct cron *c, int64_t first_day, int length)
{
    uint32_t mask = day_mask(length);
    if (c->kind == CRON_DAYS_OF_MONTH) {
        uint32_t set = c->days & mask;
        if (c->last_minus | c->near | c->near_last)
            set |= special_days(c, civil_weekday(first_day), length);
        return set;
    }
    if (c->kind == CRON_DAYS_OF_WEEK && c->weekdays == 0x7f)
        return mask;
    int first = civil_weekday(first_day);
    if (c->kind == CRON_DAYS_OF_WEEK) {
        uint64_t week = ((c->weekdays >> first) | (c->weekdays << (7 - first))) & 0x7f;
        return (uint32_t)(week * 0x10204081u << 1) & mask; /* five copies of the week */
    }
    int day = 1 + (c->weekday - first + 7) % 7;
    if (c->kind == CRON_DAYS_NTH_WEEK)
        return (uint32_t)((uint64_t)1 << (day + 7 * (c->nth - 1))) & mask;
    return (uint32_t)1 << (day + 28 <= length ? day + 28 : day + 21);
}

static bool has_year(const struct cron *c, int year)
{
    int bit = year - CRON_YEAR_MIN;
    return c->years[bit / 64] >> (bit % 64) & 1;
}

/* The first year >= year in the set; beyond last_year if there is none. */
static int next_year(const struct cron *c, int year)
{
    while (year <= c->last_year) {
        int bit = year - CRON_YEAR_MIN;
        uint64_t bits = bits_from(c->years[bit / 64], bit % 64);
        if (bits)
            return CRON_YEAR_MIN + bit / 64 * 64 + lowest(bits);
        year += 64 - bit % 64;
    }
    return year;
}

/* --- the wall ------------------------------------------------------------------------------ */

static int first_of_day(const struct cron *c)
{
    return lowest(c->hours) * 3600 + lowest(c->minutes) * 60 + lowest(c->seconds);
}

/* The first match of a day at or after second of day s; -1 if the day has none left. */
static int next_of_day(const struct cron *c, int s)
{
    int hour = s / 3600, minute = s / 60 % 60, second = s % 60;
    if (c->hours >> hour & 1) {
        uint64_t seconds = c->minutes >> minute & 1 ? bits_from(c->seconds, second) : 0;
        if (seconds)
            return hour * 3600 + minute * 60 + lowest(seconds);
        uint64_t minutes = bits_from(c->minutes, minute + 1);
        if (minutes)
            return hour * 3600 + lowest(minutes) * 60 + lowest(c->seconds);
    }
    uint64_t hours = bits_from(c->hours, hour + 1);
    if (!hours)
        return -1;
    return lowest(hours) * 3600 + lowest(c->minutes) * 60 + lowest(c->seconds);
}

/* The first matching wall time >= from_s; false if there is none. */
static bool next_wall(const struct cron *c, int64_t from_s, int64_t *ret_s)
{
    if (from_s < 0)
        from_s = 0;
    int64_t today = from_s / DAY_S;
    struct civil at = civil_from_days(today);
    if (at.year > c->last_year)
        return false;
    int64_t first_day = today - at.day + 1;
    uint32_t days = 0;
    if (has_year(c, at.year) && c->months >> at.month & 1)
        days = days_of_month(c, first_day, civil_month_days(at.year, at.month));
    if (days >> at.day & 1) {
        int s = next_of_day(c, (int)(from_s - today * DAY_S));
        if (s >= 0) {
            *ret_s = today * DAY_S + s;
            return true;
        }
    }
    days = (uint32_t)bits_from(days, at.day + 1);
    if (!has_year(c, at.year))
        at.month = 12;
    while (!days) { /* at most once a month of the years left */
        uint64_t months = bits_from(c->months, at.month + 1);
        if (!months) {
            at.year = next_year(c, at.year + 1);
            if (at.year > c->last_year)
                return false;
            months = c->months;
        }
        at.month = lowest(months);
        first_day = civil_to_days(at.year, at.month, 1);
        days = days_of_month(c, first_day, civil_month_days(at.year, at.month));
    }
    *ret_s = (first_day + lowest(days) - 1) * DAY_S + first_of_day(c);
    return true;
}

bool cron_matches(const struct cron *c, int64_t local_s)
{
    int64_t ret;
    return local_s >= 0 && next_wall(c, local_s, &ret) && ret == local_s;
}

bool cron_repeats(const struct cron *c)
{
    return c->hours == 0xffffff;
}

/* --- real time ----------------------------------------------------------------------------- */

/* Each wall time counts once: its last pass under xxl, its first under smart. One in a gap is
 * skipped under xxl; under smart it means the gap's end. */
static enum err next_once(const struct cron *c, const struct zone *z, bool smart, int64_t from_s,
                          int64_t *ret_s)
{
    struct zone_span span = zone_span_at(z, from_s);
    int64_t wall = from_s + span.offset;
    if (smart && from_s == span.begin_s) {
        int64_t before = from_s + zone_offset_at(z, from_s - 1);
        if (before < wall)
            wall = before; /* the gap's scheduled times fire right here */
    }
    int64_t at;
    while (next_wall(c, wall, &at)) {
        if (at >= span.begin_s + SLACK_S && at < span.end_s - SLACK_S) {
            *ret_s = at - span.offset;
            return OK;
        }
        struct zone_local l = zone_from_local(z, at);
        int64_t s = smart ? l.first_s : l.last_s;
        if (s >= from_s && (l.count || smart)) {
            *ret_s = s;
            return OK;
        }
        wall = l.until_s; /* over the gap; or over what the first pass had already */
    }
    return ERR_NEVER;
}

/* Every instant whose wall reading matches: span after span, so both passes of an overlap. */
static enum err next_ticking(const struct cron *c, const struct zone *z, int64_t from_s,
                             int64_t *ret_s)
{
    int64_t searched = INT64_MAX, at = INT64_MIN; /* at: first match >= searched */
    for (int64_t s = from_s;;) {
        struct zone_span span = zone_span_at(z, s);
        int64_t wall = s + span.offset;
        if (wall < searched || wall > at) {
            searched = wall;
            if (!next_wall(c, wall, &at))
                at = INT64_MAX;
        }
        if (at != INT64_MAX && at - span.offset < span.end_s) {
            *ret_s = at - span.offset;
            return OK;
        }
        /* nothing ahead on the wall: only a clock turned back right now can bring a match */
        if (span.end_s == INT64_MAX || (at == INT64_MAX && span.end_s > from_s + 2 * SLACK_S))
            return ERR_NEVER;
        s = span.end_s;
    }
}

enum err cron_next(const struct cron *c, const struct zone *z, enum dst_policy dst,
                   int64_t after_ms, int64_t *ret_ms)
{
    int64_t from_s = floor_div(after_ms, MS) + 1;
    if (from_s > from_max_s)
        return ERR_NEVER;
    if (from_s < from_min_s)
        from_s = from_min_s;
    int64_t s;
    enum err err = dst == DST_SMART && cron_repeats(c)
                       ? next_ticking(c, z, from_s, &s)
                       : next_once(c, z, dst == DST_SMART, from_s, &s);
    if (!err)
        *ret_ms = s * MS;
    return err;
}

/* --- many at once -------------------------------------------------------------------------- */

static int highest(uint64_t bits)
{
    return 63 - __builtin_clzll(bits);
}

static int size(uint64_t bits)
{
    return __builtin_popcountll(bits);
}

int cron_leap(const struct cron *c, const struct zone *z, int64_t first_ms, int64_t until_ms,
              int least, int64_t *ret_last_ms)
{
    int64_t from_s = floor_div(first_ms, MS);
    if (first_ms % MS || from_s < 0)
        return 0;
    struct zone_span span = zone_span_at(z, from_s);
    int64_t wall = from_s + span.offset;
    int64_t day = wall - wall % DAY_S, hour = wall - wall % 3600;
    int in_hour = size(c->minutes) * size(c->seconds), in_day = size(c->hours) * in_hour;
    int last_of_hour = highest(c->minutes) * 60 + highest(c->seconds);
    bool whole_day = wall - day == first_of_day(c) && in_day >= least &&
                     day + DAY_S - span.offset <= floor_div(until_ms, MS);
    int64_t end = whole_day ? day + DAY_S : hour + 3600;
    int n = whole_day ? in_day : in_hour;
    int64_t last = whole_day ? day + highest(c->hours) * 3600 + last_of_hour : hour + last_of_hour;
    bool first = whole_day || wall - hour == lowest(c->minutes) * 60 + lowest(c->seconds);
    if (!first || n < 2 || n < least || end - span.offset > floor_div(until_ms, MS) ||
        !cron_matches(c, wall))
        return 0;
    if (wall < span.begin_s + SLACK_S || end >= span.end_s - SLACK_S)
        return 0;
    *ret_last_ms = (last - span.offset) * MS;
    return n;
}

const char *dst_policy_name(enum dst_policy dst)
{
    return dst == DST_SMART ? "smart" : "xxl";
}

bool dst_policy_find(struct slice name, enum dst_policy *ret)
{
    for (int i = DST_XXL; i <= DST_SMART; i++) {
        if (slice_eq(name, dst_policy_name((enum dst_policy)i))) {
            *ret = (enum dst_policy)i;
            return true;
        }
    }
    return false;
}
