/* SPDX-License-Identifier: Apache-2.0 */
/* A cursor that remembers its first failure reads the text once; each part is range-checked where
 * it is read. */
#include "cron/rfc3339.h"
#include "cron/civil.h"
#include <string.h>

enum { DAY_S = 86400, MS = 1000 };
/* 0000-01-01 and 9999-12-31T23:59:59.999 in epoch ms: what four digits of a year can say. */
static const int64_t text_min_ms = -62167219200000, text_max_ms = 253402300799999;

/* A cursor over text that must be digits in fixed places. */
struct reader {
    const char *p, *end;
    bool bad;
};

static int read_digits(struct reader *r, int count)
{
    int v = 0;
    for (int i = 0; i < count; i++) {
        if (r->p == r->end || *r->p < '0' || *r->p > '9') {
            r->bad = true;
            return 0;
        }
        v = v * 10 + (*r->p++ - '0');
    }
    return v;
}

static void read_char(struct reader *r, const char *any_of)
{
    if (r->p == r->end || !*r->p || !strchr(any_of, *r->p)) {
        r->bad = true;
        return;
    }
    r->p++;
}

/* `yyyy-MM-dd?HH:mm:ss`, ? one of separators. *ret_s counts as if it stood in UTC. */
static enum err read_wall(struct reader *r, const char *separators, int second_max, int64_t *ret_s,
                          struct why *why)
{
    int year = read_digits(r, 4);
    read_char(r, "-");
    int month = read_digits(r, 2);
    read_char(r, "-");
    int day = read_digits(r, 2);
    read_char(r, separators);
    int hour = read_digits(r, 2);
    read_char(r, ":");
    int minute = read_digits(r, 2);
    read_char(r, ":");
    int second = read_digits(r, 2);
    if (r->bad)
        return ERR_INVALID; /* the caller shows the whole form */
    const char *what = NULL;
    if (month < 1 || month > 12)
        what = "month must be 01-12";
    else if (day < 1 || day > civil_month_days(year, month))
        what = "that month has no such day";
    else if (hour > 23)
        what = "hour must be 00-23";
    else if (minute > 59)
        what = "minute must be 00-59";
    else if (second > second_max)
        what = "second must be 00-59";
    if (what) {
        why_set(why, "bad time: %s", what);
        return ERR_INVALID;
    }
    *ret_s = civil_to_days(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second;
    return OK;
}

static int read_fraction_ms(struct reader *r)
{
    if (r->p == r->end || *r->p != '.')
        return 0;
    r->p++;
    int ms = 0, count = 0;
    for (; r->p != r->end && *r->p >= '0' && *r->p <= '9'; r->p++, count++)
        if (count < 3)
            ms = ms * 10 + (*r->p - '0');
    if (count == 0 || count > 9)
        r->bad = true;
    for (; count < 3; count++)
        ms *= 10;
    return ms;
}

static int read_offset(struct reader *r)
{
    if (r->p != r->end && (*r->p == 'Z' || *r->p == 'z')) {
        r->p++;
        return 0;
    }
    int sign = r->p != r->end && *r->p == '-' ? -1 : 1;
    read_char(r, "+-");
    int hours = read_digits(r, 2);
    read_char(r, ":");
    int minutes = read_digits(r, 2);
    if (hours > 23 || minutes > 59)
        r->bad = true;
    return sign * (hours * 3600 + minutes * 60);
}

enum err rfc3339_parse(struct slice text, int64_t *ret_ms, struct why *why)
{
    struct reader r = { text.p, text.p + text.n, false };
    int64_t wall;
    enum err err = read_wall(&r, "Tt ", 60, &wall, why);
    if (!err) {
        int ms = read_fraction_ms(&r);
        int offset = read_offset(&r);
        if (!r.bad && r.p == r.end) {
            *ret_ms = (wall - offset) * MS + ms;
            return OK;
        }
    }
    why_set(why, "bad time: RFC 3339 with an offset is wanted, such as "
                 "2030-01-31T08:30:00+08:00 or 2030-01-31T00:30:00Z");
    return ERR_INVALID;
}

static char *put_digits(char *p, int v, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        p[i] = (char)('0' + v % 10);
        v /= 10;
    }
    return p + count;
}

static char *put_wall(char *p, int64_t wall_s, char separator)
{
    int64_t days = floor_div(wall_s, DAY_S);
    int s = (int)(wall_s - days * DAY_S);
    struct civil c = civil_from_days(days);
    p = put_digits(p, c.year, 4);
    *p++ = '-';
    p = put_digits(p, c.month, 2);
    *p++ = '-';
    p = put_digits(p, c.day, 2);
    *p++ = separator;
    p = put_digits(p, s / 3600, 2);
    *p++ = ':';
    p = put_digits(p, s / 60 % 60, 2);
    *p++ = ':';
    return put_digits(p, s % 60, 2);
}

/* Keeps time and wall time within what four digits can say. */
static int64_t clamp_ms(int64_t ms, int offset)
{
    int64_t low = text_min_ms, high = text_max_ms;
    if (offset < 0)
        low -= (int64_t)offset * MS;
    else
        high -= (int64_t)offset * MS;
    return ms < low ? low : ms > high ? high : ms;
}

char *rfc3339_format(int64_t ms, const struct zone *z, char text[RFC3339_SIZE])
{
    int offset = zone_offset_at(z, floor_div(ms, MS));
    offset = (int)floor_div(offset, 60) * 60;
    ms = clamp_ms(ms, offset);
    int64_t s = floor_div(ms, MS);
    int fraction = (int)(ms - s * MS);
    char *p = put_wall(text, s + offset, 'T');
    if (fraction) {
        *p++ = '.';
        p = put_digits(p, fraction, 3);
    }
    if (z == zone_utc()) {
        *p++ = 'Z';
    } else {
        *p++ = offset < 0 ? '-' : '+';
        int minutes = (offset < 0 ? -offset : offset) / 60;
        p = put_digits(p, minutes / 60, 2);
        *p++ = ':';
        p = put_digits(p, minutes % 60, 2);
    }
    *p = '\0';
    return text;
}

enum err walltime_parse(struct slice text, const struct zone *z, int64_t *ret_ms, struct why *why)
{
    struct reader r = { text.p, text.p + text.n, false };
    int64_t wall;
    enum err err = read_wall(&r, " ", 59, &wall, why);
    if (err || r.p != r.end) {
        why_set(why, "bad time: yyyy-MM-dd HH:mm:ss is wanted, such as 2030-01-31 08:30:00");
        return ERR_INVALID;
    }
    *ret_ms = zone_from_local(z, wall).first_s * MS;
    return OK;
}

char *walltime_format(int64_t ms, const struct zone *z, char text[RFC3339_SIZE])
{
    int offset = zone_offset_at(z, floor_div(ms, MS));
    *put_wall(text, floor_div(clamp_ms(ms, offset), MS) + offset, ' ') = '\0';
    return text;
}

int wall_year(int64_t ms, const struct zone *z)
{
    int offset = zone_offset_at(z, floor_div(ms, MS));
    int64_t s = floor_div(clamp_ms(ms, offset), MS);
    return civil_from_days(floor_div(s + offset, DAY_S)).year;
}
