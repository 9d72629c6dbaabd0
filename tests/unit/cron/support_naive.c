/* SPDX-License-Identifier: Apache-2.0 */
#include "support_naive.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

static int month_length(int year, int month) /* month 0-11, as struct tm has it */
{
    struct tm next = { .tm_year = year - 1900, .tm_mon = month + 1, .tm_mday = 0, .tm_hour = 12 };
    timegm(&next);
    return next.tm_mday;
}

static int weekday_of(int year, int month, int day)
{
    struct tm t = { .tm_year = year - 1900, .tm_mon = month, .tm_mday = day, .tm_hour = 12 };
    timegm(&t);
    return t.tm_wday;
}

/* Is `day` the weekday nearest to `target`, in the same month? Nearest by distance, and of two as
 * near there are none: Saturday has Friday, Sunday has Monday, one day away. */
static bool is_nearest(int year, int month, int length, int target, int day)
{
    for (int distance = 0; distance <= 2; distance++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            int d = target + sign * distance;
            if (d < 1 || d > length)
                continue;
            int w = weekday_of(year, month, d);
            if (w != 0 && w != 6)
                return d == day;
        }
    }
    return false;
}

static bool day_matches(const struct cron *c, const struct tm *t)
{
    int year = t->tm_year + 1900, length = month_length(year, t->tm_mon);
    switch ((enum cron_days)c->kind) {
    case CRON_DAYS_OF_WEEK:
        return c->weekdays >> t->tm_wday & 1;
    case CRON_DAYS_LAST_WEEK:
        return t->tm_wday == c->weekday && t->tm_mday + 7 > length;
    case CRON_DAYS_NTH_WEEK:
        return t->tm_wday == c->weekday && (t->tm_mday - 1) / 7 + 1 == c->nth;
    case CRON_DAYS_OF_MONTH:
        break;
    }
    if (c->days >> t->tm_mday & 1)
        return true;
    for (int n = 0; n < 32; n++) {
        if (c->last_minus >> n & 1 && t->tm_mday == length - n)
            return true;
        if (c->near_last >> n & 1 && length - n >= 1 &&
            is_nearest(year, t->tm_mon, length, length - n, t->tm_mday))
            return true;
        if (c->near >> n & 1 && n >= 1 && n <= length &&
            is_nearest(year, t->tm_mon, length, n, t->tm_mday))
            return true;
    }
    return false;
}

bool naive_matches(const struct cron *c, int64_t wall_s)
{
    int64_t second = wall_s % 86400;
    if (wall_s < 0 || !(c->seconds >> second % 60 & 1) || !(c->minutes >> second / 60 % 60 & 1) ||
        !(c->hours >> second / 3600 & 1))
        return false;
    struct tm t;
    time_t s = (time_t)wall_s;
    gmtime_r(&s, &t);
    int year = t.tm_year + 1900;
    if (year > c->last_year || year > CRON_YEAR_MAX)
        return false;
    int bit = year - CRON_YEAR_MIN;
    return c->months >> (t.tm_mon + 1) & 1 && c->years[bit / 64] >> bit % 64 & 1 &&
           day_matches(c, &t);
}

/* Every instant with this wall time lies within 26 hours, so looking at the offsets in force there
 * finds them all. Calls back for each; in ascending order is not needed. */
static bool same_wall(const struct zone *z, int64_t utc_s, bool later)
{
    int64_t wall = utc_s + zone_offset_at(z, utc_s);
    for (int64_t at = utc_s - 30 * 3600; at <= utc_s + 30 * 3600; at += 600) {
        int64_t other = wall - zone_offset_at(z, at);
        if (other + zone_offset_at(z, other) == wall && (later ? other > utc_s : other < utc_s))
            return true;
    }
    return false;
}

static bool gap_ends_with_match(const struct cron *c, const struct zone *z, int64_t utc_s)
{
    int before = zone_offset_at(z, utc_s - 1), after = zone_offset_at(z, utc_s);
    for (int64_t wall = utc_s + before; wall < utc_s + after; wall++)
        if (naive_matches(c, wall))
            return true;
    return false;
}

bool naive_fires(const struct cron *c, const struct zone *z, enum dst_policy dst, int64_t utc_s,
                 int64_t searched_from_s)
{
    int64_t wall = utc_s + zone_offset_at(z, utc_s);
    bool matches = naive_matches(c, wall);
    if (dst == DST_XXL)
        return matches && wall >= searched_from_s + zone_offset_at(z, searched_from_s) &&
               !same_wall(z, utc_s, true);
    if (c->hours == 0xffffff)
        return matches;
    return (matches && !same_wall(z, utc_s, false)) || gap_ends_with_match(c, z, utc_s);
}

/* May anything fire within the 24 hours from here? Looks at the wall dates they touch, by one
 * second of each that matches by time of day. */
static bool day_may_fire(const struct cron *c, const struct zone *z, int64_t utc_s)
{
    int64_t time_of_day = __builtin_ctz(c->hours) * 3600 + __builtin_ctzll(c->minutes) * 60 +
                          __builtin_ctzll(c->seconds);
    int64_t first = (utc_s + zone_offset_at(z, utc_s)) / 86400 - 2;
    for (int64_t day = first; day <= first + 5; day++)
        if (naive_matches(c, day * 86400 + time_of_day))
            return true;
    return false;
}

enum err naive_next(const struct cron *c, const struct zone *z, enum dst_policy dst,
                    int64_t after_s, int days_max, int64_t *ret_s)
{
    int64_t from = after_s + 1;
    for (int day = 0; day < days_max; day++) {
        int64_t start = from + (int64_t)day * 86400;
        if (!day_may_fire(c, z, start))
            continue;
        for (int64_t s = start; s < start + 86400; s++) {
            if (naive_fires(c, z, dst, s, from)) {
                *ret_s = s;
                return OK;
            }
        }
    }
    return ERR_NEVER;
}

/* --- random expressions -------------------------------------------------------------------- */

uint64_t random_u64(uint64_t *seed)
{
    uint64_t x = *seed += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

int random_below(uint64_t *seed, int n)
{
    return (int)(random_u64(seed) % (uint64_t)n);
}

static int between(uint64_t *seed, int min, int max)
{
    return min + random_below(seed, max - min + 1);
}

static void put_item(uint64_t *seed, int min, int max, char *to, size_t size)
{
    int a = between(seed, min, max), b = between(seed, min, max);
    int step = between(seed, 1, max > 31 ? 59 : max);
    switch (random_below(seed, 6)) {
    case 0:
        snprintf(to, size, "%d-%d", a, b);
        break;
    case 1:
        snprintf(to, size, "%d-%d/%d", a, b, step);
        break;
    case 2:
        snprintf(to, size, "%d/%d", a, max == 23 && step > 23 ? 23 : step);
        break;
    case 3:
        snprintf(to, size, "*/%d", max == 23 && step > 23 ? 23 : step);
        break;
    default:
        snprintf(to, size, "%02d", a);
        break;
    }
}

static void put_field(uint64_t *seed, int min, int max, int star_percent, char *to, size_t size)
{
    if (random_below(seed, 100) < star_percent) {
        snprintf(to, size, "*");
        return;
    }
    int items = 1 + (random_below(seed, 4) == 0) + (random_below(seed, 4) == 0);
    for (int i = 0; i < items; i++) {
        size_t used = i ? strlen(to) : 0;
        if (i)
            to[used++] = ',';
        put_item(seed, min, max, to + used, size - used);
    }
}

static void put_day(uint64_t *seed, char *to, size_t size)
{
    int day = between(seed, 1, 31), back = between(seed, 0, 30);
    switch (random_below(seed, 8)) {
    case 0:
        snprintf(to, size, "L");
        break;
    case 1:
        snprintf(to, size, "L-%d", back);
        break;
    case 2:
        snprintf(to, size, "%dW", day);
        break;
    case 3:
        snprintf(to, size, "LW,%d", day);
        break;
    case 4:
        snprintf(to, size, "L-%dW,%dW", back, day);
        break;
    default:
        put_field(seed, 1, 31, 40, to, size);
        break;
    }
}

static void put_weekday(uint64_t *seed, char *to, size_t size)
{
    static const char *const names[] = { "SUN", "mon", "TUE", "Wed", "THU", "FRI", "SAT" };
    const char *a = names[random_below(seed, 7)], *b = names[random_below(seed, 7)];
    switch (random_below(seed, 6)) {
    case 0:
        snprintf(to, size, "%s-%s", a, b);
        break;
    case 1:
        snprintf(to, size, "%d#%d", between(seed, 1, 7), between(seed, 1, 5));
        break;
    case 2:
        snprintf(to, size, "%sL", a);
        break;
    case 3:
        snprintf(to, size, "%s#%d", a, between(seed, 1, 5));
        break;
    default:
        put_field(seed, 1, 7, 30, to, size);
        break;
    }
}

void random_expression(uint64_t *seed, char *text, size_t size)
{
    char f[7][64] = { "", "", "", "?", "", "?", "" };
    put_field(seed, 0, 59, 20, f[0], sizeof(f[0]));
    put_field(seed, 0, 59, 25, f[1], sizeof(f[1]));
    put_field(seed, 0, 23, 45, f[2], sizeof(f[2]));
    if (random_below(seed, 2))
        put_day(seed, f[3], sizeof(f[3]));
    else
        put_weekday(seed, f[5], sizeof(f[5]));
    put_field(seed, 1, 12, 60, f[4], sizeof(f[4]));
    if (random_below(seed, 6) == 0) {
        int year = between(seed, 1970, 2090);
        snprintf(f[6], sizeof(f[6]), " %d-%d", year, year + random_below(seed, 40));
    }
    snprintf(text, size, "%s %s %s %s %s %s%s", f[0], f[1], f[2], f[3], f[4], f[5], f[6]);
}
