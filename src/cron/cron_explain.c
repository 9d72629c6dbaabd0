/* SPDX-License-Identifier: Apache-2.0 */
/* Says in English when an expression fires. Works from the bitmaps, so that what it says is what
 * the search does, however oddly the expression was written. */
#include "cron/cron.h"
#include "base/mem.h"
#include <string.h>

static const char *const weekday_words[] = { "Sunday",   "Monday", "Tuesday", "Wednesday",
                                             "Thursday", "Friday", "Saturday" };
static const char *const month_words[] = { "",        "January",  "February", "March",  "April",
                                           "May",     "June",     "July",     "August", "September",
                                           "October", "November", "December" };
static const char *const nth_words[] = { "", "first", "second", "third", "fourth", "fifth" };

struct set {
    const uint64_t *words;
    int min, max;             /* the field's bounds, as bit numbers */
    int base;                 /* added to a bit for its number */
    const char *const *names; /* or NULL for numbers */
};

static bool has(const struct set *s, int bit)
{
    return bit <= s->max && (s->words[bit / 64] >> (bit % 64) & 1);
}

static int count(const struct set *s)
{
    int n = 0;
    for (int i = s->min; i <= s->max; i++)
        n += has(s, i);
    return n;
}

static bool full(const struct set *s)
{
    return count(s) == s->max - s->min + 1;
}

/* If the members are min, min + n, … as far as the field goes (two at least): n, else 0. */
static int step_of(const struct set *s)
{
    if (!has(s, s->min) || count(s) < 2)
        return 0;
    int n = 1;
    while (!has(s, s->min + n))
        n++;
    for (int i = s->min; i <= s->max; i++)
        if (has(s, i) != ((i - s->min) % n == 0))
            return 0;
    return n;
}

static void put_member(const struct set *s, int bit, struct buf *out)
{
    if (s->names)
        buf_text(out, s->names[bit]);
    else
        buf_i64(out, s->base + bit);
}

/* "1, 5 to 9 and 15" */
static void put_list(const struct set *s, struct buf *out)
{
    bool first = true;
    for (int i = s->min; i <= s->max;) {
        if (!has(s, i)) {
            i++;
            continue;
        }
        int last = i;
        while (has(s, last + 1))
            last++;
        if (last == i + 1)
            last = i; /* two in a row read better apart */
        bool more = false;
        for (int k = last + 1; k <= s->max; k++)
            more = more || has(s, k);
        if (!first)
            buf_text(out, more ? ", " : " and ");
        first = false;
        put_member(s, i, out);
        if (last > i) {
            buf_text(out, " to ");
            put_member(s, last, out);
        }
        i = last + 1;
    }
}

static void put_list_after(const char *before, const struct set *s, struct buf *out)
{
    buf_text(out, before);
    put_list(s, out);
}

static void put_noun_list(const struct set *s, const char *before, const char *noun,
                          struct buf *out)
{
    buf_printf(out, "%s %s%s ", before, noun, count(s) > 1 ? "s" : "");
    put_list(s, out);
}

/* "at 09:00:00, 12:30:00 and 18:00:00", where the times are few. */
static void put_times(const struct cron *c, const struct set *hours, struct buf *out)
{
    int left = count(hours);
    int minute = __builtin_ctzll(c->minutes), second = __builtin_ctzll(c->seconds);
    buf_text(out, "at ");
    for (int h = 0; h < 24; h++) {
        if (!has(hours, h))
            continue;
        left--;
        buf_printf(out, "%02d:%02d:%02d%s", h, minute, second,
                   left > 1    ? ", "
                   : left == 1 ? " and "
                               : "");
    }
}

/* A unit that repeats: "every second", "every 5 minutes", "at minutes 1 to 7". */
static void put_unit(const struct set *s, const char *noun, struct buf *out)
{
    int step = step_of(s);
    if (full(s))
        buf_printf(out, "every %s", noun);
    else if (step && (s->max + 1) % step == 0)
        buf_printf(out, "every %d %ss", step, noun);
    else
        put_noun_list(s, "at", noun, out);
}

static void put_time_of_day(const struct cron *c, struct buf *out)
{
    uint64_t hour_bits = c->hours;
    struct set seconds = { &c->seconds, 0, 59, 0, NULL }, minutes = { &c->minutes, 0, 59, 0, NULL };
    struct set hours = { &hour_bits, 0, 23, 0, NULL };
    bool one_second = count(&seconds) == 1, one_minute = count(&minutes) == 1;
    if (one_second && one_minute && count(&hours) <= 6) {
        put_times(c, &hours, out);
        return;
    }
    if (one_second) {
        put_unit(&minutes, "minute", out);
        if (!has(&seconds, 0)) {
            buf_text(out, ", ");
            put_noun_list(&seconds, "at", "second", out);
        }
    } else {
        put_unit(&seconds, "second", out);
        if (!full(&minutes))
            put_noun_list(&minutes, " during", "minute", out);
    }
    if (!full(&hours))
        put_noun_list(&hours, one_second && one_minute ? " of" : " during", "hour", out);
    else if (one_second && one_minute)
        buf_text(out, " of every hour");
}

static void put_near(uint32_t bits, bool from_last, bool *first, struct buf *out)
{
    for (uint64_t b = bits; b; b &= b - 1) {
        int n = __builtin_ctzll(b);
        buf_text(out, *first ? "on the weekday nearest to " : " and on the weekday nearest to ");
        if (!from_last)
            buf_printf(out, "day %d of the month", n);
        else if (n)
            buf_printf(out, "the day %d before the last of the month", n);
        else
            buf_text(out, "the last day of the month");
        *first = false;
    }
}

static void put_days_of_month(const struct cron *c, struct buf *out)
{
    uint64_t bits = c->days;
    struct set days = { &bits, 1, 31, 0, NULL };
    bool first = true;
    if (full(&days)) {
        buf_text(out, "every day");
        return;
    }
    if (bits) {
        put_noun_list(&days, "on", "day", out);
        buf_text(out, " of the month");
        first = false;
    }
    for (uint64_t b = c->last_minus; b; b &= b - 1) {
        int n = __builtin_ctzll(b);
        buf_text(out, first ? "on " : " and on ");
        if (n)
            buf_printf(out, "the day %d before the last of the month", n);
        else
            buf_text(out, "the last day of the month");
        first = false;
    }
    put_near(c->near, false, &first, out);
    put_near(c->near_last, true, &first, out);
}

static void put_days(const struct cron *c, struct buf *out)
{
    uint64_t bits = c->weekdays;
    struct set weekdays = { &bits, 0, 6, 0, weekday_words };
    switch ((enum cron_days)c->kind) {
    case CRON_DAYS_OF_MONTH:
        put_days_of_month(c, out);
        break;
    case CRON_DAYS_OF_WEEK:
        if (full(&weekdays)) {
            buf_text(out, "every day");
            break;
        }
        buf_text(out, "on ");
        put_list(&weekdays, out);
        break;
    case CRON_DAYS_LAST_WEEK:
        buf_printf(out, "on the last %s of the month", weekday_words[c->weekday]);
        break;
    case CRON_DAYS_NTH_WEEK:
        buf_printf(out, "on the %s %s of the month", nth_words[c->nth], weekday_words[c->weekday]);
        break;
    }
}

void cron_explain(const struct cron *c, struct buf *out)
{
    size_t start = out->len;
    put_time_of_day(c, out);
    if (out->len > start)
        out->data[start] = out->data[start] == 'a' ? 'A' : 'E'; /* "at", "every" */
    buf_text(out, ", ");
    put_days(c, out);
    uint64_t bits = c->months;
    struct set months = { &bits, 1, 12, 0, month_words };
    if (!full(&months)) {
        put_list_after(", in ", &months, out);
    }
    struct set years = { c->years, 0, CRON_YEAR_MAX - CRON_YEAR_MIN, CRON_YEAR_MIN, NULL };
    if (!full(&years)) {
        int step = step_of(&years);
        if (step)
            buf_printf(out, ", every %d years from %d", step, CRON_YEAR_MIN);
        else
            put_list_after(", in ", &years, out);
    }
    buf_char(out, '.');
}
