/* SPDX-License-Identifier: Apache-2.0 */
/* Each type is a parse function and a next function. Rates count from their base, so that no drift
 * adds up; only CRON knows a calendar. */
#include "cron/schedule.h"
#include "base/mem.h"
#include "cron/rfc3339.h"
#include <string.h>

enum { MS = 1000 };
static const int64_t end_ms =
    10413792000 * MS; /* 2300-01-01: no scheduled time lies there or later */

static const char *const type_names[] = {
    [SCHEDULE_NONE] = "NONE",           [SCHEDULE_CRON] = "CRON", [SCHEDULE_FIX_RATE] = "FIX_RATE",
    [SCHEDULE_FIX_DELAY] = "FIX_DELAY", [SCHEDULE_ONCE] = "ONCE",
};

const char *schedule_type_name(enum schedule_type type)
{
    return type_names[type];
}

bool schedule_type_find(struct slice name, enum schedule_type *ret)
{
    for (size_t i = 0; i < countof(type_names); i++) {
        if (slice_eq(name, type_names[i])) {
            *ret = (enum schedule_type)i;
            return true;
        }
    }
    return false;
}

/* `30` or `250ms`, blanks around allowed as Java's readers of this column allow them. */
static enum err parse_interval(struct slice conf, struct schedule *s, struct why *why)
{
    struct slice number = slice_trim(conf);
    bool ms = number.n > 2 && memcmp(number.p + number.n - 2, "ms", 2) == 0;
    if (ms)
        number.n -= 2;
    int64_t v;
    bool digits = number.n && number.p[0] >= '0' && number.p[0] <= '9';
    if (!digits || !parse_i64(number, &v)) {
        why_set(why,
                "schedule_conf: %s wants whole seconds such as 30, or milliseconds such as "
                "250ms",
                type_names[s->type]);
        return ERR_INVALID;
    }
    if (ms ? v < SCHEDULE_INTERVAL_MIN_MS : v < 1) {
        why_set(why, "schedule_conf: %s must be at least %s", type_names[s->type],
                ms ? "100ms" : "1 second");
        return ERR_INVALID;
    }
    if (v > (ms ? end_ms : end_ms / MS)) {
        why_set(why, "schedule_conf: %s is longer than three centuries", type_names[s->type]);
        return ERR_INVALID;
    }
    s->in_seconds = !ms;
    s->interval_ms = ms ? v : v * MS;
    return OK;
}

static enum err parse_once(struct slice conf, struct schedule *s, struct why *why)
{
    struct why rule = { { 0 } };
    enum err err = rfc3339_parse(slice_trim(conf), &s->once_ms, &rule);
    if (!err && (s->once_ms < 0 || s->once_ms >= end_ms)) {
        why_set(&rule, "the year must be 1970-2299");
        err = ERR_INVALID;
    }
    if (err)
        why_set(why, "schedule_conf: ONCE: %s", rule.text);
    return err;
}

enum err schedule_parse(struct slice type, struct slice conf, struct zone *zone,
                        enum dst_policy dst, int last_year, struct schedule *ret, struct why *why)
{
    struct schedule s = { .dst = dst };
    if (!schedule_type_find(type, &s.type)) {
        why_set(why, "schedule_type: must be NONE, CRON, FIX_RATE, FIX_DELAY or ONCE");
        return ERR_INVALID;
    }
    enum err err = OK;
    if (s.type != SCHEDULE_NONE && conf.n > SCHEDULE_CONF_MAX) {
        why_set(why, "schedule_conf: longer than %d bytes", SCHEDULE_CONF_MAX);
        return ERR_TOOBIG;
    }
    switch (s.type) {
    case SCHEDULE_NONE:
        break;
    case SCHEDULE_CRON:
        err = cron_parse(conf, last_year, &s.cron, why);
        break;
    case SCHEDULE_FIX_RATE:
    case SCHEDULE_FIX_DELAY:
        err = parse_interval(conf, &s, why);
        break;
    case SCHEDULE_ONCE:
        err = parse_once(conf, &s, why);
        break;
    }
    if (err)
        return err;
    s.zone = zone_ref(zone ? zone : zone_utc());
    *ret = s;
    return OK;
}

void schedule_done(struct schedule *s)
{
    zone_unref(s->zone);
    *s = (struct schedule){ .type = SCHEDULE_NONE };
}

void schedule_copy(struct schedule *to, const struct schedule *from)
{
    *to = *from;
    zone_ref(to->zone);
}

static enum err next_interval(const struct schedule *s, int64_t base_ms, int64_t *ret_ms)
{
    int64_t next;
    if (__builtin_add_overflow(base_ms, s->interval_ms, &next))
        return ERR_NEVER;
    if (s->type == SCHEDULE_FIX_RATE && s->in_seconds) {
        int64_t over = next % MS;
        if (over)
            next += over > 0 ? MS - over : -over;
    }
    if (next >= end_ms)
        return ERR_NEVER;
    *ret_ms = next;
    return OK;
}

enum err schedule_next(const struct schedule *s, int64_t base_ms, int64_t *ret_ms)
{
    switch (s->type) {
    case SCHEDULE_CRON:
        return cron_next(&s->cron, s->zone, s->dst, base_ms, ret_ms);
    case SCHEDULE_FIX_RATE:
    case SCHEDULE_FIX_DELAY:
        return next_interval(s, base_ms, ret_ms);
    case SCHEDULE_ONCE:
        if (s->once_ms <= base_ms)
            return ERR_NEVER;
        *ret_ms = s->once_ms;
        return OK;
    case SCHEDULE_NONE:
        break;
    }
    return ERR_NEVER;
}

int64_t schedule_leap(const struct schedule *s, int64_t first_ms, int64_t until_ms, int least,
                      int64_t *ret_last_ms)
{
    if (s->type == SCHEDULE_CRON)
        return cron_leap(&s->cron, s->zone, first_ms, until_ms, least, ret_last_ms);
    if (s->type != SCHEDULE_FIX_RATE || first_ms >= until_ms || (s->in_seconds && first_ms % MS))
        return 0;
    int64_t n = (until_ms - 1 - first_ms) / s->interval_ms + 1 - least;
    if (n < 2)
        return 0;
    *ret_last_ms = first_ms + (n - 1) * s->interval_ms;
    return n;
}
