/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules of all types in words. What follows a wall clock names the zone; an interval has none.
 */
#include "base/mem.h"
#include "cron/civil.h"
#include "cron/cron_internal.h"
#include "cron/phrases.h"
#include "cron/rfc3339.h"
#include <stdio.h>
#include <string.h>

enum { NUMBER_SIZE = 24, SPAN_MAX = 200 };

static void put_count(int64_t n, enum phrase p, bool bare_one, enum language lang, struct buf *out)
{
    char number[NUMBER_SIZE];
    struct buf text = BUF_INIT(SPAN_MAX);
    snprintf(number, sizeof(number), "%lld", (long long)n);
    phrase_put(&text, lang, p, (struct parts){ .a = number, .one = n == 1 });
    /* "every hour", not "every 1 hour" */
    buf_text(out, buf_str(&text) + (bare_one && n == 1 && lang == LANGUAGE_EN ? 2 : 0));
    buf_done(&text);
}

/* "1 hour 30 minutes" */
static void put_span(int64_t ms, bool bare_one, enum language lang, struct buf *out)
{
    static const struct {
        int64_t ms;
        enum phrase p;
    } units[] = {
        { 86400000, P_SPAN_DAYS }, { 3600000, P_SPAN_HOURS }, { 60000, P_SPAN_MINUTES },
        { 1000, P_SPAN_SECONDS },  { 1, P_SPAN_MS },
    };
    size_t start = out->len;
    for (size_t i = 0; i < countof(units); i++) {
        int64_t n = ms / units[i].ms;
        ms %= units[i].ms;
        if (!n)
            continue;
        if (out->len > start)
            buf_char(out, ' ');
        put_count(n, units[i].p, bare_one && out->len == start && !ms, lang, out);
    }
}

static void put_interval(const struct schedule *s, enum language lang, struct buf *out)
{
    bool rate = s->type == SCHEDULE_FIX_RATE;
    struct buf span = BUF_INIT(SPAN_MAX);
    put_span(s->interval_ms, rate, lang, &span);
    phrase_put(out, lang, rate ? P_RATE : P_DELAY, (struct parts){ .a = buf_str(&span) });
    buf_done(&span);
}

static void put_date(const struct civil *date, enum language lang, char *to, size_t size)
{
    if (lang == LANGUAGE_EN)
        snprintf(to, size, "%d %s %d", date->day, month_word(lang, date->month), date->year);
    else
        snprintf(to, size, "%d 年 %d 月 %d 日", date->year, date->month, date->day);
}

static void put_once(const struct schedule *s, enum language lang, struct buf *out)
{
    char wall[RFC3339_SIZE], date[64];
    int64_t local_s = s->once_ms / 1000 + zone_offset_at(s->zone, s->once_ms / 1000);
    struct civil day = civil_from_days(floor_div(local_s, 86400));
    walltime_format(s->once_ms, s->zone, wall);
    put_date(&day, lang, date, sizeof(date));
    phrase_put(out, lang, P_ONCE, (struct parts){ .a = date, .b = wall + 11 });
}

void schedule_explain(const struct schedule *s, enum language lang, struct buf *out)
{
    bool wall = s->type == SCHEDULE_CRON || s->type == SCHEDULE_ONCE;
    size_t start = out->len;
    switch (s->type) {
    case SCHEDULE_NONE:
        phrase_put(out, lang, P_NONE, (struct parts){ 0 });
        break;
    case SCHEDULE_CRON:
        cron_sentence(&s->cron, lang, out);
        break;
    case SCHEDULE_FIX_RATE:
    case SCHEDULE_FIX_DELAY:
        put_interval(s, lang, out);
        break;
    case SCHEDULE_ONCE:
        put_once(s, lang, out);
        break;
    }
    if (wall)
        phrase_put(out, lang, P_ZONE, (struct parts){ .a = zone_name(s->zone) });
    phrase_put(out, lang, P_STOP, (struct parts){ 0 });
    phrase_limit(out, start, EXPLAIN_UNITS);
}
