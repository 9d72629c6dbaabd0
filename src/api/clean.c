/* SPDX-License-Identifier: Apache-2.0 */
/* A rule becomes a walk over the log (store/clean.h); who asks for it writes it down, and the
 * writer's housekeeping does it. */
#include "api/clean.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cron/civil.h"
#include "ledger/retention.h"
#include <stdlib.h>
#include <string.h>

#define DAY_S 86400

const char *const clean_rule_names[CLEAN_RULE_MAX] = {
    "older_1_month",   "older_3_months", "older_6_months",
    "older_12_months", "keep_1000",      "keep_10000",
    "keep_30000",      "keep_100000",    "all",
};

static int64_t months_before(int64_t ms, int months, const struct zone *zone)
{
    int64_t utc_s = floor_div(ms, 1000);
    int64_t wall_s = utc_s + zone_offset_at(zone, utc_s);
    int64_t days = floor_div(wall_s, DAY_S);
    struct civil date = civil_from_days(days);
    int month = date.year * 12 + date.month - 1 - months;
    date.year = month / 12;
    date.month = month % 12 + 1;
    if (date.day > civil_month_days(date.year, date.month))
        date.day = civil_month_days(date.year, date.month);
    int64_t then = civil_to_days(date.year, date.month, date.day) * DAY_S + (wall_s - days * DAY_S);
    return zone_from_local(zone, then).first_s * 1000;
}

struct log_clean clean_walk(int rule, int64_t now_ms, const struct zone *zone)
{
    static const struct {
        int months;
        int64_t keep;
    } rules[CLEAN_RULE_MAX] = {
        { 1, 0 },     { 3, 0 },     { 6, 0 },      { 12, 0 }, { 0, 1000 },
        { 0, 10000 }, { 0, 30000 }, { 0, 100000 }, { 0, 0 },
    };
    int months = rules[rule - 1].months;
    return (struct log_clean){ .scope = SCOPE_ALL,
                               .before_ms = months ? months_before(now_ms, months, zone) : NEVER_MS,
                               .keep = rules[rule - 1].keep };
}

struct log_clean clean_walk_now(const struct web_call *call, int rule)
{
    struct zone *zone;
    if (zones_get(center_zones(call->center), center_zone_name(call->center), &zone, NULL))
        zone = zone_ref(zone_utc());
    struct log_clean walk = clean_walk(rule, clock_wall_ms(), zone);
    zone_unref(zone);
    return walk;
}

static enum err ask_run(struct store *s, void *arg, struct why *why)
{
    return retention_ask(s, arg, why);
}

static void ask_done(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    clean_request_done(arg);
    free(arg);
}

enum err clean_ask(struct web_call *call, const struct log_clean *walk, struct why *why)
{
    static const struct ledger_write write = { ask_run, ask_done };
    struct clean_request *r = mem_new(sizeof(*r));
    size_t n = walk->scope.n < CLEAN_GROUPS_MAX ? walk->scope.n : CLEAN_GROUPS_MAX;
    int64_t *ids = mem_new((n + 1) * sizeof(*ids));
    if (n)
        memcpy(ids, walk->scope.ids, n * sizeof(*ids));
    *r = (struct clean_request){ .made_ms = clock_wall_ms(), .walk = *walk };
    r->walk.scope = (struct scope){ .all = walk->scope.all, .ids = ids, .n = n };
    return center_write(call->center, &write, r, why);
}
