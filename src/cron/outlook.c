/* SPDX-License-Identifier: Apache-2.0 */
/* What is looked for is found by the searches that also fire; a wall time in a gap is one that the
 * same expression has in UTC. */
#include "cron/outlook.h"
#include "cron/civil.h"

enum { MS = 1000, DENSE = 8640 /* a day: every 10 seconds */ };

static const int64_t day_ms = (int64_t)86400 * MS, year_ms = 366 * (int64_t)86400 * MS;

enum fire_note schedule_note(const struct schedule *s, int64_t ms)
{
    int64_t utc_s = floor_div(ms, MS), local_s = utc_s + zone_offset_at(s->zone, utc_s);
    struct zone_local at = zone_from_local(s->zone, local_s);
    if (s->type != SCHEDULE_CRON)
        return NOTE_NONE;
    if (!cron_matches(&s->cron, local_s))
        return NOTE_GAP_MOVED;
    if (at.count < 2)
        return NOTE_NONE;
    return utc_s == at.first_s ? NOTE_OVERLAP_FIRST : NOTE_OVERLAP_SECOND;
}

/* Times of a rate up to until_ms. */
static int64_t rated(const struct schedule *s, int64_t first_ms, int64_t until_ms)
{
    return until_ms > first_ms ? (until_ms - 1 - first_ms) / s->interval_ms + 1 : 0;
}

int64_t schedule_count(const struct schedule *s, int64_t first_ms, int64_t from_ms,
                       int64_t until_ms)
{
    if (first_ms >= until_ms || from_ms >= until_ms)
        return 0;
    if (s->type == SCHEDULE_CRON)
        return cron_count(&s->cron, s->zone, s->dst, from_ms, until_ms);
    if (s->type == SCHEDULE_FIX_RATE)
        return rated(s, first_ms, until_ms) - rated(s, first_ms, from_ms);
    return first_ms >= from_ms;
}

/* ---- remarks -----------------------------------------------------------------------------------
 */

struct telling {
    const struct schedule *s;
    remark_fn *fn;
    void *ctx;
    int n;
};

static void tell(struct telling *t, struct remark remark)
{
    if (t->n++ < REMARKS_MAX)
        t->fn(t->ctx, &remark);
}

static bool only_leap_day(const struct cron *c)
{
    return c->kind == CRON_DAYS_OF_MONTH && c->months == 1 << 2 && c->days == (uint32_t)1 << 29 &&
           !c->last_minus && !c->near && !c->near_last;
}

static void tell_rare(struct telling *t, int64_t from_ms, int64_t first_ms)
{
    int64_t second_ms;
    bool one_more = !schedule_next(t->s, first_ms, &second_ms);
    if (only_leap_day(&t->s->cron))
        tell(t, (struct remark){ .kind = REMARK_LEAP_DAY, .at_ms = first_ms });
    else if (first_ms - from_ms > year_ms || (one_more && second_ms - first_ms > year_ms))
        tell(t, (struct remark){ .kind = REMARK_RARE, .at_ms = first_ms });
}

/* The first wall time of the expression from a up to b; -1: none. */
static int64_t wall_between(const struct cron *c, int64_t a, int64_t b)
{
    int64_t ms;
    if (cron_next(c, zone_utc(), DST_XXL, a * MS - 1, &ms) || ms >= b * MS)
        return -1;
    return ms / MS;
}

/* At at_s the clock goes from one offset to another. */
static void tell_change(struct telling *t, int64_t at_s, int before, int after)
{
    bool smart = t->s->dst == DST_SMART, gap = after > before;
    int64_t a = at_s + (gap ? before : after), b = at_s + (gap ? after : before);
    int64_t wall = wall_between(&t->s->cron, a, b);
    if (wall < 0)
        return;
    tell(t, (struct remark){ .kind = gap ? REMARK_GAP : REMARK_OVERLAP,
                             .at_ms = at_s * MS,
                             .wall_s = wall,
                             .fires_s = gap && smart ? b : -1,
                             .first = smart });
}

/* What fires in every hour keeps ticking, and has no time of day that could be missed. */
static void tell_changes(struct telling *t, int64_t from_ms, int64_t until_ms)
{
    struct zone_span span = zone_span_at(t->s->zone, floor_div(from_ms, MS));
    if (cron_repeats(&t->s->cron))
        return;
    while (span.end_s < until_ms / MS) {
        struct zone_span next = zone_span_at(t->s->zone, span.end_s);
        if (next.offset != span.offset)
            tell_change(t, span.end_s, span.offset, next.offset);
        span = next;
    }
}

void schedule_remarks(const struct schedule *s, int64_t from_ms, int64_t until_ms, remark_fn *fn,
                      void *ctx)
{
    struct telling t = { .s = s, .fn = fn, .ctx = ctx };
    int64_t first_ms, count;
    if (s->type == SCHEDULE_NONE)
        return;
    if (schedule_next(s, from_ms, &first_ms)) {
        tell(&t, (struct remark){ .kind = REMARK_NEVER });
        return;
    }
    if (s->type == SCHEDULE_CRON)
        tell_rare(&t, from_ms, first_ms);
    count = schedule_count(s, first_ms, from_ms, from_ms + day_ms);
    if (count > DENSE)
        tell(&t, (struct remark){ .kind = REMARK_DENSE, .count = count });
    if (s->type == SCHEDULE_CRON)
        tell_changes(&t, from_ms, until_ms);
}
