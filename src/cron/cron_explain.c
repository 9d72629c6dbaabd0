/* SPDX-License-Identifier: Apache-2.0 */
/* A sentence has up to four clauses: time of day, days, months, years. Each is found from the
 * bitmaps and worded by a phrase of the language; only how clauses are put together is written
 * twice, because English says the time first and Chinese last. */
#include "base/mem.h"
#include "cron/bitset.h"
#include "cron/cron_internal.h"
#include "cron/phrases.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES_MAX = 6, STRETCHES_MAX = 3, YEARS_MAX = 12, WORDS_MAX = 2000, CLOCK_SIZE = 16 };

struct saying { /* one expression in one language */
    const struct cron *c;
    enum language lang;
    struct bitset seconds, minutes, hours;
    bool every_day; /* of every month and year */
};

static bool days_full(const struct cron *c)
{
    return c->kind == CRON_DAYS_OF_MONTH ? c->days == 0xfffffffe
                                         : c->kind == CRON_DAYS_OF_WEEK && c->weekdays == 0x7f;
}

static struct bitset months_of(const struct cron *c)
{
    return bitset_of(c->months, 1, 12);
}

static bool months_full(const struct cron *c)
{
    return c->months == 0x1ffe;
}

static bool years_full(const struct cron *c)
{
    for (int y = CRON_YEAR_MIN; y <= CRON_YEAR_MAX; y++)
        if (!(c->years[(y - CRON_YEAR_MIN) / 64] >> ((y - CRON_YEAR_MIN) % 64) & 1))
            return false;
    return true;
}

static void say(const struct saying *x, struct buf *out, enum phrase p, const char *a,
                const char *b, const char *c)
{
    phrase_put(out, x->lang, p, (struct parts){ a, b, c, false });
}

/* ---- the time of a day -------------------------------------------------------------------------
 */

static char *clock_text(const struct saying *x, int hour, int minute, int second,
                        char to[CLOCK_SIZE])
{
    if (bitset_one(&x->seconds) && bitset_has(&x->seconds, 0))
        snprintf(to, CLOCK_SIZE, "%02d:%02d", hour, minute);
    else
        snprintf(to, CLOCK_SIZE, "%02d:%02d:%02d", hour, minute, second);
    return to;
}

static char *first_in(const struct saying *x, int hour, char to[CLOCK_SIZE])
{
    return clock_text(x, hour, bitset_first(&x->minutes), bitset_first(&x->seconds), to);
}

static char *last_in(const struct saying *x, int hour, char to[CLOCK_SIZE])
{
    return clock_text(x, hour, bitset_last(&x->minutes), bitset_last(&x->seconds), to);
}

/* Each time alone: "At 09:00, 09:30 and 17:00". */
static void say_times(const struct saying *x, struct buf *out)
{
    struct buf list = BUF_INIT(WORDS_MAX);
    char clock[CLOCK_SIZE];
    int left = bitset_count(&x->hours) * bitset_count(&x->minutes);
    for (int at = 0; at < 24 * 60; at++) {
        if (!bitset_has(&x->hours, at / 60) || !bitset_has(&x->minutes, at % 60))
            continue;
        left--;
        buf_text(&list, clock_text(x, at / 60, at % 60, bitset_first(&x->seconds), clock));
        if (left)
            say(x, &list, left > 1 ? P_COMMA : P_AND_NUMBER, NULL, NULL, NULL);
    }
    say(x, out, P_AT_TIMES, buf_str(&list), NULL, NULL);
    buf_done(&list);
}

/* Do the hours go on over midnight, in one stretch or more? */
static bool over_midnight(const struct saying *x)
{
    return x->every_day && bitset_has(&x->hours, 0) && bitset_has(&x->hours, 23) &&
           !bitset_full(&x->hours);
}

/* Once an hour, over midnight: "Every hour from 22:00 to 05:00 of the next day". */
static void say_night(const struct saying *x, struct buf *out)
{
    char from[CLOCK_SIZE], to[CLOCK_SIZE];
    int begin = 23;
    while (bitset_has(&x->hours, begin - 1))
        begin--;
    first_in(x, begin, from);
    first_in(x, bitset_run_end(&x->hours, 0), to);
    say(x, out, P_HOURLY_NIGHT, NULL, from, to);
}

/* Once in some hours, in equal steps: "Every 2 hours from 08:15 to 22:15". */
static void say_hour_steps(const struct saying *x, int step, struct buf *out)
{
    char n[CLOCK_SIZE], from[CLOCK_SIZE], to[CLOCK_SIZE];
    snprintf(n, sizeof(n), "%d", step);
    first_in(x, bitset_first(&x->hours), from);
    first_in(x, bitset_last(&x->hours), to);
    say(x, out, step == 1 ? P_HOURLY_BETWEEN : P_N_HOURS_BETWEEN, n, from, to);
}

static void say_second(const struct saying *x, struct buf *out)
{
    char n[CLOCK_SIZE];
    if (bitset_has(&x->seconds, 0))
        return;
    snprintf(n, sizeof(n), "%d", bitset_first(&x->seconds));
    say(x, out, P_SECOND, n, NULL, NULL);
}

static void say_hourly(const struct saying *x, struct buf *out)
{
    char n[CLOCK_SIZE];
    snprintf(n, sizeof(n), "%d", bitset_first(&x->minutes));
    if (bitset_has(&x->minutes, 0) && bitset_has(&x->seconds, 0))
        say(x, out, P_ON_THE_HOUR, NULL, NULL, NULL);
    else
        say(x, out, P_HOURLY_AT, n, NULL, NULL);
    say_second(x, out);
}

/* One phrase about a list of numbers, in the number that it has. */
static void say_list(const struct saying *x, enum phrase p, const struct bitset *s, const char *b,
                     const char *c, struct buf *out)
{
    struct buf list = BUF_INIT(WORDS_MAX);
    bitset_list(s, x->lang, &list);
    phrase_put(out, x->lang, p, (struct parts){ buf_str(&list), b, c, bitset_one(s) });
    buf_done(&list);
}

/* Hours that follow each other, while they are few stretches: "from 09:00 to 11:45 and …". */
static bool say_stretches(const struct saying *x, struct buf *out)
{
    char from[CLOCK_SIZE], to[CLOCK_SIZE];
    bool night = over_midnight(x);
    int left = bitset_runs(&x->hours) - night;
    if (left > STRETCHES_MAX)
        return false;
    int begin = night ? bitset_run_end(&x->hours, 0) + 1 : 0;
    for (int h = begin; left > 0; h++) {
        if (!bitset_has(&x->hours, h))
            continue;
        int end = bitset_run_end(&x->hours, h);
        bool over = night && end == 23;
        first_in(x, h, from);
        last_in(x, over ? begin - 1 : end, to);
        say(x, out, over ? P_OVERNIGHT : P_BETWEEN, from, to, NULL);
        h = end;
        if (--left)
            say(x, out, left > 1 ? P_COMMA : P_AND_NUMBER, NULL, NULL, NULL);
    }
    return true;
}

/* What goes on all day is limited to the hours. */
static void say_within_hours(const struct saying *x, const char *what, struct buf *out)
{
    struct buf list = BUF_INIT(WORDS_MAX);
    if (bitset_full(&x->hours)) {
        buf_text(out, what);
    } else if (say_stretches(x, &list)) {
        say(x, out, P_DURING, buf_str(&list), what, NULL);
    } else {
        say_list(x, P_HOURS, &x->hours, NULL, NULL, &list);
        say(x, out, P_IN_HOURS, buf_str(&list), what, NULL);
    }
    buf_done(&list);
}

/* "Every 5 minutes": a step that goes on in the next minute or hour. False: a list. placed: the
 * first one is said elsewhere. */
static bool say_step(const struct saying *x, const struct bitset *s, enum phrase all,
                     enum phrase some, enum phrase some_from, bool placed, struct buf *out)
{
    char n[CLOCK_SIZE], from[CLOCK_SIZE];
    int step = bitset_step(s), first = bitset_first(s);
    if (bitset_full(s)) {
        say(x, out, all, NULL, NULL, NULL);
        return true;
    }
    if (!step || 60 % step != 0 || first >= step || bitset_last(s) + step < 60)
        return false;
    snprintf(n, sizeof(n), "%d", step);
    snprintf(from, sizeof(from), "%d", first);
    say(x, out, first && !placed ? some_from : some, n, from, NULL);
    return true;
}

/* Minutes that are a list: of every hour, or of some. */
static void say_minute_list(const struct saying *x, struct buf *out)
{
    struct buf hours = BUF_INIT(WORDS_MAX);
    say_list(x, P_HOURS, &x->hours, NULL, NULL, &hours);
    say_list(x, bitset_full(&x->hours) ? P_AT_MINUTES : P_AT_MINUTES_OF, &x->minutes,
             buf_str(&hours), NULL, out);
    say_second(x, out);
    buf_done(&hours);
}

static void say_minutes(const struct saying *x, struct buf *out)
{
    struct buf what = BUF_INIT(WORDS_MAX);
    bool placed = !bitset_full(&x->hours) && bitset_runs(&x->hours) <= STRETCHES_MAX;
    if (say_step(x, &x->minutes, P_EVERY_MINUTE, P_N_MINUTES, P_N_MINUTES_FROM, placed, &what)) {
        if (bitset_full(&x->hours))
            say_second(x, &what);
        say_within_hours(x, buf_str(&what), out);
    } else {
        say_minute_list(x, out);
    }
    buf_done(&what);
}

static void say_seconds(const struct saying *x, struct buf *out)
{
    struct buf what = BUF_INIT(WORDS_MAX), hours = BUF_INIT(WORDS_MAX);
    bool any_minute = bitset_full(&x->minutes);
    if (!say_step(x, &x->seconds, P_EVERY_SECOND, P_N_SECONDS, P_N_SECONDS_FROM, false, &what))
        say_list(x, any_minute ? P_AT_SECONDS : P_AT_SECONDS_OF, &x->seconds, NULL, NULL, &what);
    if (any_minute) {
        say_within_hours(x, buf_str(&what), out);
    } else {
        say_list(x, P_HOURS, &x->hours, NULL, NULL, &hours);
        say_list(x, bitset_full(&x->hours) ? P_IN_MINUTES : P_IN_MINUTES_OF, &x->minutes,
                 buf_str(&what), buf_str(&hours), out);
    }
    buf_done(&what);
    buf_done(&hours);
}

static void say_time_of_day(const struct saying *x, struct buf *out)
{
    int hours = bitset_count(&x->hours), minutes = bitset_count(&x->minutes);
    int step = bitset_step(&x->hours);
    if (!bitset_one(&x->seconds))
        say_seconds(x, out);
    else if (hours * minutes <= TIMES_MAX)
        say_times(x, out);
    else if (minutes > 1)
        say_minutes(x, out);
    else if (hours == 24)
        say_hourly(x, out);
    else if (over_midnight(x) && bitset_runs(&x->hours) == 2)
        say_night(x, out);
    else if (step)
        say_hour_steps(x, step, out);
    else
        say_times(x, out);
}

/* ---- days --------------------------------------------------------------------------------------
 */

static void say_weekdays(const struct saying *x, struct buf *out)
{
    struct bitset s = bitset_of((uint64_t)x->c->weekdays << 1 | x->c->weekdays << 8, 1, 14);
    int n = __builtin_popcount(x->c->weekdays), first = 2; /* Monday; bit 1 + weekday, twice */
    enum language lang = x->lang;
    while (!bitset_has(&s, first) || bitset_has(&s, first - 1))
        first++;
    if (n == 6) {
        while (bitset_has(&s, first))
            first++;
        say(x, out, P_EXCEPT, weekday_word(lang, (first - 1) % 7), NULL, NULL);
        return;
    }
    if (n > 2 && bitset_run_end(&s, first) == first + n - 1) {
        say(x, out, P_WEEKDAY_RANGE, weekday_word(lang, (first - 1) % 7),
            weekday_word(lang, (first + n - 2) % 7), NULL);
        return;
    }
    struct buf list = BUF_INIT(WORDS_MAX);
    for (int i = 1; n > 0; i++) { /* Monday first */
        if (!(x->c->weekdays >> i % 7 & 1))
            continue;
        buf_text(&list, weekdays_word(lang, i % 7));
        if (--n)
            say(x, &list, n > 1 ? P_COMMA : P_AND, NULL, NULL, NULL);
    }
    say(x, out, P_WEEKDAYS, buf_str(&list), NULL, NULL);
    buf_done(&list);
}

struct day_items { /* of one month */
    char *items[5];
    int n;
};

static void item_add(struct day_items *d, struct buf *item)
{
    d->items[d->n++] = buf_take(item);
}

static void item_list(const struct saying *x, struct day_items *d, enum phrase p, uint32_t bits,
                      void (*list)(const struct bitset *s, enum language lang, struct buf *out),
                      int offset)
{
    struct bitset s = bitset_of((uint64_t)bits << offset, 0, 40);
    struct buf text = BUF_INIT(WORDS_MAX), item = BUF_INIT(WORDS_MAX);
    list(&s, x->lang, &text);
    phrase_put(&item, x->lang, p, (struct parts){ buf_str(&text), NULL, NULL, bitset_one(&s) });
    item_add(d, &item);
    buf_done(&text);
}

static char *day_text(enum language lang, int day, char to[CLOCK_SIZE])
{
    const char *end = day / 10 == 1   ? "th"
                      : day % 10 == 1 ? "st"
                      : day % 10 == 2 ? "nd"
                      : day % 10 == 3 ? "rd"
                                      : "th";
    snprintf(to, CLOCK_SIZE, "%d%s", day, lang == LANGUAGE_EN ? end : " 日");
    return to;
}

/* Days of the month by number: "1st, 10th and 20th". */
static void list_days(const struct bitset *s, enum language lang, struct buf *out)
{
    char day[CLOCK_SIZE];
    int left = bitset_count(s);
    for (int i = s->min; left > 0; i++) {
        if (!bitset_has(s, i))
            continue;
        buf_text(out, day_text(lang, i, day));
        if (--left)
            phrase_put(out, lang, left > 1 ? P_COMMA : P_AND_DATE, (struct parts){ 0 });
    }
}

/* Days before the last one: English says how many days lie between, Chinese counts from behind. */
static void list_before(const struct bitset *s, enum language lang, struct buf *out)
{
    struct buf list = BUF_INIT(WORDS_MAX);
    bitset_list(s, lang, &list);
    if (lang != LANGUAGE_EN)
        buf_text(out, buf_str(&list));
    else if (!bitset_one(s) || !bitset_has(s, 1)) /* else "the day before" */
        buf_printf(out, "%s days ", buf_str(&list));
    buf_done(&list);
}

static void add_days(const struct saying *x, struct day_items *d)
{
    struct bitset s = bitset_of(x->c->days, 1, 31);
    int step = bitset_step(&s), n = bitset_count(&s);
    char from[CLOCK_SIZE], to[CLOCK_SIZE], steps[CLOCK_SIZE];
    struct buf item = BUF_INIT(WORDS_MAX);
    if (!n)
        return;
    if (n < 3 || !step || (step > 1 && n < 5)) {
        item_list(x, d, P_DAYS, x->c->days, list_days, 0);
        return;
    }
    day_text(x->lang, bitset_first(&s), from);
    day_text(x->lang, bitset_last(&s), to);
    snprintf(steps, sizeof(steps), "%d", step);
    if (step == 1)
        say(x, &item, P_DAY_RANGE, from, to, NULL);
    else
        say(x, &item, P_DAY_STEP, steps, from, to);
    item_add(d, &item);
}

static void add_last(const struct saying *x, struct day_items *d, uint32_t bits, enum phrase last,
                     enum phrase before)
{
    struct buf item = BUF_INIT(WORDS_MAX);
    if (bits & 1) {
        say(x, &item, last, NULL, NULL, NULL);
        item_add(d, &item);
    }
    if (bits & ~(uint32_t)1)
        item_list(x, d, before, bits & ~(uint32_t)1, list_before, x->lang == LANGUAGE_EN ? 0 : 1);
}

/* Which days of a month: "the 1st and 15th", "the last Friday". */
static void say_month_days(const struct saying *x, struct day_items *d, struct buf *out)
{
    const struct cron *c = x->c;
    const char *weekday = weekday_of_month(x->lang, c->weekday);
    if (c->kind == CRON_DAYS_LAST_WEEK) {
        say(x, out, P_LAST_WEEKDAY, weekday, NULL, NULL);
        return;
    }
    if (c->kind == CRON_DAYS_NTH_WEEK) {
        say(x, out, P_NTH_WEEKDAY, weekday, nth_word(x->lang, c->nth), NULL);
        return;
    }
    add_days(x, d);
    add_last(x, d, c->last_minus, P_LAST_DAY, P_BEFORE_LAST);
    if (c->near)
        item_list(x, d, P_NEAR, c->near, list_days, 0);
    add_last(x, d, c->near_last, P_LAST_WORKDAY, P_NEAR_BEFORE_LAST);
    for (int i = 0; i < d->n; i++) {
        buf_text(out, d->items[i]);
        if (i + 1 < d->n)
            say(x, out, i + 2 < d->n ? P_COMMA : P_AND, NULL, NULL, NULL);
    }
    for (int i = 0; i < d->n; i++)
        free(d->items[i]);
}

/* ---- months and years --------------------------------------------------------------------------
 */

static void list_months(const struct saying *x, struct buf *out)
{
    struct bitset s = months_of(x->c);
    int left = bitset_count(&s);
    for (int m = 1; left > 0; m++) {
        if (!bitset_has(&s, m))
            continue;
        buf_text(out, month_word(x->lang, m));
        if (--left)
            say(x, out, left > 1 ? P_COMMA : P_AND_DATE, NULL, NULL, NULL);
    }
}

static bool months_range(const struct cron *c)
{
    struct bitset s = months_of(c);
    return bitset_step(&s) == 1 && bitset_count(&s) > 2;
}

static void say_months(const struct saying *x, struct buf *out)
{
    struct bitset s = months_of(x->c);
    struct buf list = BUF_INIT(WORDS_MAX);
    list_months(x, &list);
    if (months_range(x->c))
        say(x, out, P_MONTH_RANGE, month_word(x->lang, bitset_first(&s)),
            month_word(x->lang, bitset_last(&s)), NULL);
    else
        say(x, out, P_MONTHS, buf_str(&list), NULL, NULL);
    buf_done(&list);
}

static bool has_year(const struct cron *c, int year)
{
    int bit = year - CRON_YEAR_MIN;
    return year <= CRON_YEAR_MAX && (c->years[bit / 64] >> (bit % 64) & 1);
}

struct year_set {
    int first, last, n, step; /* step 0: none */
};

static struct year_set years_of(const struct cron *c)
{
    struct year_set y = { 0, 0, 0, 0 };
    bool even = true;
    for (int year = CRON_YEAR_MIN; year <= CRON_YEAR_MAX; year++) {
        if (!has_year(c, year))
            continue;
        if (y.n == 0)
            y.first = year;
        else if (y.n == 1)
            y.step = year - y.last;
        else
            even = even && year - y.last == y.step;
        y.last = year;
        y.n++;
    }
    if (!even || y.n < 3)
        y.step = 0;
    return y;
}

/* Some of them, and how many there are, when they are many. */
static void say_year_list(const struct saying *x, const struct year_set *y, struct buf *out)
{
    bool many = y->n > YEARS_MAX;
    int left = many ? YEARS_MAX : y->n;
    char rest[CLOCK_SIZE], all[CLOCK_SIZE];
    struct buf list = BUF_INIT(WORDS_MAX);
    for (int year = y->first; left > 0; year++) {
        if (!has_year(x->c, year))
            continue;
        buf_i64(&list, year);
        if (--left)
            say(x, &list, left > 1 || many ? P_COMMA : P_AND_NUMBER, NULL, NULL, NULL);
    }
    snprintf(rest, sizeof(rest), "%d", y->n - YEARS_MAX);
    snprintf(all, sizeof(all), "%d", y->n);
    say(x, out, many ? P_YEARS_MORE : P_YEARS, buf_str(&list), rest, all);
    buf_done(&list);
}

static void say_years(const struct saying *x, struct buf *out)
{
    struct year_set y = years_of(x->c);
    bool endless = y.last + y.step > x->c->last_year;
    char first[CLOCK_SIZE], last[CLOCK_SIZE], step[CLOCK_SIZE];
    snprintf(first, sizeof(first), "%d", y.first);
    snprintf(last, sizeof(last), "%d", y.last);
    snprintf(step, sizeof(step), "%d", y.step);
    if (y.step == 1 && endless)
        say(x, out, P_YEARS_ON, first, NULL, NULL);
    else if (y.step == 1)
        say(x, out, P_YEAR_RANGE, first, last, NULL);
    else if (y.step && endless)
        say(x, out, P_YEAR_STEP, step, first, NULL);
    else
        say_year_list(x, &y, out);
}

/* ---- one field alone ---------------------------------------------------------------------------
 */

static void field_values(const struct saying *x, const struct bitset *s, enum phrase all,
                         enum phrase span, enum phrase list, struct buf *out)
{
    char n[CLOCK_SIZE], from[CLOCK_SIZE], to[CLOCK_SIZE];
    struct buf each = BUF_INIT(WORDS_MAX);
    int step = bitset_step(s);
    bool hours = s->max == 23;
    snprintf(n, sizeof(n), "%d", step);
    snprintf(from, sizeof(from), hours ? "%02d" : "%d", bitset_first(s));
    snprintf(to, sizeof(to), hours ? "%02d" : "%d", bitset_last(s));
    if (bitset_full(s)) {
        say(x, out, all, NULL, NULL, NULL);
    } else if (step > 1 && bitset_count(s) > 2) {
        say(x, &each, span, n, NULL, NULL);
        say(x, out, P_F_STEP, buf_str(&each), from, to);
    } else if (hours && bitset_one(s)) {
        say(x, out, list, from, NULL, NULL);
    } else {
        say_list(x, list, s, NULL, NULL, out);
    }
    buf_done(&each);
}

static void field_day(const struct saying *x, struct buf *out)
{
    struct day_items d = { .n = 0 };
    if (x->c->kind != CRON_DAYS_OF_MONTH)
        say(x, out, P_F_DAY_FREE, NULL, NULL, NULL);
    else if (days_full(x->c))
        say(x, out, P_EVERY_DAY, NULL, NULL, NULL);
    else
        say_month_days(x, &d, out);
}

static void field_weekday(const struct saying *x, struct buf *out)
{
    struct day_items d = { .n = 0 };
    if (x->c->kind == CRON_DAYS_OF_MONTH)
        say(x, out, P_F_WEEKDAY_FREE, NULL, NULL, NULL);
    else if (days_full(x->c))
        say(x, out, P_EVERY_DAY, NULL, NULL, NULL);
    else if (x->c->kind == CRON_DAYS_OF_WEEK)
        say_weekdays(x, out);
    else
        say_month_days(x, &d, out);
}

static void field_month(const struct saying *x, struct buf *out)
{
    if (months_full(x->c))
        say(x, out, P_F_EVERY_MONTH, NULL, NULL, NULL);
    else
        say_months(x, out);
}

static void field_year(const struct saying *x, struct buf *out)
{
    if (years_full(x->c))
        say(x, out, P_F_EVERY_YEAR, NULL, NULL, NULL);
    else
        say_years(x, out);
}

/* ---- sentences ---------------------------------------------------------------------------------
 */

static bool is_of_month(const struct cron *c)
{
    return !days_full(c) && c->kind != CRON_DAYS_OF_WEEK;
}

/* " of the month", " of January and July" */
static void of_months(const struct saying *x, struct buf *out)
{
    struct bitset s = months_of(x->c);
    bool range = months_range(x->c) && bitset_count(&s) > 3;
    if (months_full(x->c))
        say(x, out, P_EACH_MONTH, NULL, NULL, NULL);
    else
        say(x, out, range ? P_OF_RANGE : P_OF, month_word(x->lang, bitset_first(&s)),
            month_word(x->lang, bitset_last(&s)), NULL);
    if (!months_full(x->c) && !range)
        list_months(x, out);
}

static void english_days(const struct saying *x, struct buf *out)
{
    struct day_items d = { .n = 0 };
    bool all = months_full(x->c);
    if (x->c->kind == CRON_DAYS_OF_WEEK && !days_full(x->c)) {
        say(x, out, P_PAUSE, NULL, NULL, NULL);
        say_weekdays(x, out);
    } else if (is_of_month(x->c)) {
        struct buf days = BUF_INIT(WORDS_MAX);
        say_month_days(x, &d, &days);
        buf_text(out, strncmp(buf_str(&days), "every ", 6) == 0 ? ", " : ", on ");
        buf_text(out, buf_str(&days));
        of_months(x, out);
        buf_done(&days);
    } else if (!bitset_full(&x->hours)) {
        say(x, out, P_PAUSE, NULL, NULL, NULL);
        say(x, out, P_EVERY_DAY, NULL, NULL, NULL);
    }
    if (all || is_of_month(x->c))
        return;
    say(x, out, P_PAUSE, NULL, NULL, NULL);
    say_months(x, out);
}

static void english(const struct saying *x, struct buf *out)
{
    say_time_of_day(x, out);
    english_days(x, out);
    if (years_full(x->c))
        return;
    say(x, out, P_PAUSE, NULL, NULL, NULL);
    say_years(x, out);
}

static bool is_ascii(const char *text)
{
    return (unsigned char)*text < 0x80;
}

/* Chinese puts a blank between a character and a number, but none behind a full-width mark, whose
 * three bytes begin with 0xEF. */
static void join_chinese(struct buf *out, const char *next)
{
    if (!*next)
        return;
    bool mark = out->len >= 3 && (unsigned char)out->data[out->len - 3] == 0xEF;
    if (out->len && !mark && is_ascii(next))
        buf_char(out, ' ');
    buf_text(out, next);
}

static void chinese_days(const struct saying *x, struct buf *out)
{
    struct day_items d = { .n = 0 };
    struct buf days = BUF_INIT(WORDS_MAX);
    bool all = months_full(x->c);
    if (is_of_month(x->c)) {
        say_month_days(x, &d, &days);
        if (all)
            say(x, out, P_EACH_MONTH, NULL, NULL, NULL);
        else if (__builtin_popcount(x->c->months) > 1 || !is_ascii(buf_str(&days)))
            say(x, out, P_OF, NULL, NULL, NULL);
    } else if (!days_full(x->c)) {
        say_weekdays(x, &days);
    } else if (!bitset_full(&x->hours)) {
        say(x, &days, P_EVERY_DAY, NULL, NULL, NULL);
    }
    join_chinese(out, buf_str(&days));
    buf_done(&days);
}

static void chinese_months(const struct saying *x, struct buf *out)
{
    struct buf months = BUF_INIT(WORDS_MAX), years = BUF_INIT(WORDS_MAX);
    bool all = months_full(x->c);
    if (!years_full(x->c)) {
        struct year_set y = years_of(x->c);
        say_years(x, &years);
        buf_text(out, buf_str(&years));
        if (y.step || y.n > YEARS_MAX)
            say(x, out, P_PAUSE, NULL, NULL, NULL);
    } else if (!all) {
        say(x, out, P_EACH_YEAR, NULL, NULL, NULL);
    }
    if (!all) {
        say_months(x, &months);
        join_chinese(out, buf_str(&months));
    }
    buf_done(&months);
    buf_done(&years);
}

static void chinese(const struct saying *x, struct buf *out)
{
    struct buf when = BUF_INIT(WORDS_MAX), time = BUF_INIT(WORDS_MAX);
    chinese_months(x, &when);
    chinese_days(x, &when);
    say_time_of_day(x, &time);
    buf_text(out, buf_str(&when));
    if (when.len && !is_ascii(buf_str(&time)))
        say(x, out, P_PAUSE, NULL, NULL, NULL);
    join_chinese(out, buf_str(&time));
    buf_done(&when);
    buf_done(&time);
}

static struct saying saying_of(const struct cron *c, enum language lang)
{
    return (struct saying){
        .c = c,
        .lang = lang,
        .seconds = bitset_of(c->seconds, 0, 59),
        .minutes = bitset_of(c->minutes, 0, 59),
        .hours = bitset_of(c->hours, 0, 23),
        .every_day = days_full(c) && months_full(c) && years_full(c),
    };
}

void cron_sentence(const struct cron *c, enum language lang, struct buf *out)
{
    struct saying x = saying_of(c, lang);
    if (lang == LANGUAGE_EN)
        english(&x, out);
    else
        chinese(&x, out);
}

void cron_explain(const struct cron *c, enum language lang, struct buf *out)
{
    size_t start = out->len;
    cron_sentence(c, lang, out);
    phrase_put(out, lang, P_STOP, (struct parts){ 0 });
    phrase_limit(out, start, EXPLAIN_UNITS);
}

static const char *const field_names[CRON_FIELDS] = { "second", "minute",  "hour", "day",
                                                      "month",  "weekday", "year" };

const char *cron_field_name(enum cron_field field)
{
    return field_names[field];
}

void cron_explain_field(const struct cron *c, enum cron_field field, enum language lang,
                        struct buf *out)
{
    struct saying x = saying_of(c, lang);
    size_t start = out->len;
    switch (field) {
    case FIELD_SECOND:
        field_values(&x, &x.seconds, P_F_EVERY_SECOND, P_SPAN_SECONDS, P_F_SECONDS, out);
        break;
    case FIELD_MINUTE:
        field_values(&x, &x.minutes, P_F_EVERY_MINUTE, P_SPAN_MINUTES, P_F_MINUTES, out);
        break;
    case FIELD_HOUR:
        field_values(&x, &x.hours, P_F_EVERY_HOUR, P_SPAN_HOURS, P_F_HOURS, out);
        break;
    case FIELD_DAY:
        field_day(&x, out);
        break;
    case FIELD_MONTH:
        field_month(&x, out);
        break;
    case FIELD_WEEKDAY:
        field_weekday(&x, out);
        break;
    case FIELD_YEAR:
        field_year(&x, out);
        break;
    case CRON_FIELDS:
        break;
    }
    phrase_limit(out, start, EXPLAIN_FIELD_UNITS);
}
