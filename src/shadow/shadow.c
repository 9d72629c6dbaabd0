/* SPDX-License-Identifier: Apache-2.0 */
/* From one look to the next a job that stands unchanged in both was the same job all the time, so
 * its scheduled times between them are certain. A job that has changed (edited, started, stopped,
 * deleted) changed at a moment that nobody knows, and XXL-JOB reads its jobs 5 seconds ahead: from
 * the look before until some seconds after this one, its firings may have a row and need none.
 *
 * A rate has no times of its own but counts from a moment that only XXL-JOB knows; so its next time
 * is taken over. When an admin serves one late it counts on from there: the moment is taken over
 * again, and the delay is a finding if it is more than a second. */
#include "shadow/shadow.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "plan/plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOSE_MS = 7000, /* behind a look that finds a change: XXL-JOB's reading ahead, and some */
    NEXT_MS = 10000, /* a next time must lie so far ahead to be certain */
    APART_MS = 5000, /* clocks further apart are refused */
    APART_WARN_MS = 1500,
    SLICE = 1000,   /* rows planned in one call */
    FUTURE_S = 120, /* a registration further ahead than that is of another zone */
    QUARTER_S = 900,
};

struct watched {
    int64_t id, group_id, look; /* the look that has seen it last */
    char *name, *type, *conf, *misfire, *route, *updated;
    int retries;
    bool running;
    struct due_row due;
};

struct addresses { /* of a group, at the last two looks */
    int64_t look;
    struct group_view *before, *now; /* counted */
};

struct shadow {
    struct shadow_config config;
    shadow_fn *fn;
    void *ctx;
    struct source *source;
    struct matcher *matcher;
    struct planner *planner;
    struct map jobs, groups; /* id -> struct watched, struct addresses; owned */
    struct shadow_state state;
    int64_t last_ms, now_ms; /* of the look before, and of this one */
    int64_t nversions;
};

static enum err find_zone(void *ctx, const char *name, struct zone **ret, struct why *why)
{
    (void)name;
    (void)why;
    *ret = zone_ref(((struct shadow *)ctx)->config.zone);
    return OK;
}

static void on_finding(void *ctx, const struct finding *f)
{
    struct shadow *s = ctx;
    const struct watched *w = map_find(&s->jobs, (uint64_t)f->job_id);
    s->fn(s->ctx, f, w ? w->name : "");
}

struct shadow *shadow_new(const struct shadow_config *config, shadow_fn *fn, void *ctx)
{
    struct shadow *s = mem_new(sizeof(*s));
    s->config = *config;
    zone_ref(config->zone);
    zone_ref(config->log_zone);
    s->fn = fn;
    s->ctx = ctx;
    s->source = source_new(&config->url, config->log_zone);
    struct planner_config planner = { .zone_find = find_zone,
                                      .zone_ctx = s,
                                      .last_year = config->last_year,
                                      .misfire_threshold_ms = PLAN_MISFIRE_THRESHOLD_S * 1000 };
    s->planner = planner_new(&planner);
    map_init(&s->jobs);
    map_init(&s->groups);
    return s;
}

static void watched_free(struct watched *w)
{
    free(w->name);
    free(w->type);
    free(w->conf);
    free(w->misfire);
    free(w->route);
    free(w->updated);
    free(w);
}

void shadow_free(struct shadow *s)
{
    if (!s)
        return;
    void *value;
    for (size_t i = 0; map_next(&s->jobs, &i, &value);)
        watched_free(value);
    for (size_t i = 0; map_next(&s->groups, &i, &value);) {
        struct addresses *a = value;
        group_view_unref(a->before);
        group_view_unref(a->now);
        free(a);
    }
    map_done(&s->jobs);
    map_done(&s->groups);
    planner_free(s->planner);
    matcher_free(s->matcher);
    source_free(s->source);
    zone_unref(s->config.zone);
    zone_unref(s->config.log_zone);
    free(s);
}

/* ---- groups -----------------------------------------------------------------------------------
 */

static struct group_view *view_of(struct shadow *s, int64_t id, struct slice list)
{
    const char **texts = NULL;
    char *text = mem_dupn(list.n ? list.p : "", list.n);
    int n = 0;
    struct slice rest = slice_text(text);
    for (struct slice one; slice_item(&rest, &one);) {
        texts = mem_resize(texts, ((size_t)n + 1) * sizeof(*texts));
        texts[n++] = mem_dupn(one.p, one.n);
    }
    struct group_view *v = group_view_new(id, (uint64_t)++s->nversions, texts, n);
    for (int i = 0; i < n; i++)
        free((char *)texts[i]);
    free(texts);
    free(text);
    return v;
}

static bool same_view(const struct group_view *a, const struct group_view *b)
{
    if (!a || a->n != b->n)
        return false;
    for (int i = 0; i < a->n; i++)
        if (strcmp(a->addresses[i], b->addresses[i]) != 0)
            return false;
    return true;
}

static void on_group(void *ctx, int64_t id, struct slice list)
{
    struct shadow *s = ctx;
    struct addresses *a = map_find(&s->groups, (uint64_t)id);
    if (!a) {
        a = mem_new(sizeof(*a));
        map_set(&s->groups, (uint64_t)id, a);
    }
    struct group_view *v = view_of(s, id, list);
    group_view_unref(a->before);
    a->before = a->now;
    if (same_view(a->now, v)) {
        a->now = group_view_ref(a->now);
        group_view_unref(v);
    } else {
        a->now = v;
        planner_set_view(s->planner, group_view_ref(v));
    }
    if (!a->before)
        a->before = group_view_ref(a->now);
    a->look = s->state.looks;
}

/* ---- planning ---------------------------------------------------------------------------------
 */

static struct job *parsed(struct shadow *s, const struct watched *w)
{
    struct job *j = planner_find(s->planner, w->id, w->due.version);
    if (j)
        return j;
    struct job_record r;
    job_record_init(&r);
    r.id = w->id;
    r.group_id = w->group_id;
    r.version = w->due.version;
    r.schedule_type = mem_dup(w->type);
    r.schedule_conf = mem_dup(w->conf);
    r.misfire = mem_dup(w->misfire);
    r.route = mem_dup(w->route);
    r.retries = w->retries;
    r.enabled = w->running;
    j = planner_keep(s->planner, &r);
    job_record_done(&r);
    return j;
}

static void take_firings(struct shadow *s, const struct watched *w, const struct job *j,
                         const struct plan_rows *rows, bool optional)
{
    const struct addresses *a = map_find(&s->groups, (uint64_t)w->group_id);
    int64_t last_ms = INT64_MIN;
    for (int i = 0; i < rows->n; i++) {
        if (rows->rows[i].scheduled_ms == last_ms)
            continue; /* another shard */
        last_ms = rows->rows[i].scheduled_ms;
        struct match_firing f = {
            w->id, last_ms, optional, j->route, { a ? a->before : NULL, a ? a->now : NULL }
        };
        matcher_firing(s->matcher, &f);
    }
}

/* What Peal would fire of the job up to until_ms, as it stood at the look before. */
static void plan(struct shadow *s, struct watched *w, int64_t until_ms, bool optional)
{
    struct job *j = parsed(s, w);
    struct plan_result result = { .more = true };
    while (w->running && result.more) {
        struct plan_rows rows = { NULL, 0, 0 };
        planner_slice(s->planner);
        plan_job(s->planner, j, &w->due, s->last_ms, until_ms, SLICE, &rows, &result);
        take_firings(s, w, j, &rows, optional);
        plan_rows_done(&rows);
        w->due = result.due;
    }
}

static void tell(struct shadow *s, const struct watched *w, enum difference what, int64_t ours_ms,
                 int64_t theirs_ms, const char *wanted)
{
    struct finding f = { what, w->id, ours_ms, theirs_ms, 0, -1, wanted, NULL };
    s->fn(s->ctx, &f, w->name);
}

/* ---- jobs -------------------------------------------------------------------------------------
 */

static bool is_rate(const struct watched *w)
{
    return strcmp(w->type, "FIX_RATE") == 0;
}

static int64_t whole_second(int64_t ms)
{
    return ms - ms % 1000;
}

/* The next time of a rate that XXL-JOB counts from, behind the look before. */
static int64_t rate_next(const struct shadow *s, const struct job *j, int64_t theirs_ms)
{
    int64_t every = j->schedule.interval_ms, next = whole_second(theirs_ms);
    if (theirs_ms <= 0 || every <= 0)
        return NEVER_MS;
    if (next > s->last_ms)
        return next - (next - s->last_ms - 1) / every * every;
    return next + ((s->last_ms - next) / every + 1) * every;
}

/* A cron job's next time can be told right away: both must name the same one. */
static void compare_next(struct shadow *s, const struct watched *w, const struct job *j,
                         int64_t theirs_ms)
{
    int64_t ours_ms;
    if (j->schedule.type != SCHEDULE_CRON || theirs_ms <= s->now_ms + NEXT_MS)
        return;
    if (schedule_next(&j->schedule, s->now_ms + NEXT_MS, &ours_ms))
        ours_ms = 0;
    if (ours_ms != theirs_ms)
        tell(s, w, DIFFERENCE_NEXT, ours_ms, theirs_ms, NULL);
}

/* The job as it stands from this look on. */
static void begin(struct shadow *s, struct watched *w, int64_t theirs_ms)
{
    w->due = (struct due_row){ .job_id = w->id, .version = ++s->nversions };
    matcher_loosen(s->matcher, w->id, s->last_ms - 1000, s->now_ms + LOOSE_MS);
    if (!w->running)
        return;
    struct job *j = parsed(s, w);
    if (j->fault) { /* said once; its rows are no surprise */
        tell(s, w, DIFFERENCE_REFUSED, 0, 0, j->fault);
        matcher_loosen(s->matcher, w->id, s->last_ms - 1000, NEVER_MS);
        return;
    }
    w->due.planned_until_ms = s->last_ms;
    if (j->schedule.type == SCHEDULE_FIX_RATE)
        w->due.next_ms = rate_next(s, j, theirs_ms);
    else
        w->due.next_ms = plan_first(j, s->last_ms);
    if (w->due.next_ms == NEVER_MS)
        return;
    compare_next(s, w, j, theirs_ms);
    plan(s, w, s->now_ms + LOOSE_MS, true);
}

/* By how much XXL-JOB has moved a rate, ms. */
static int64_t moved(struct shadow *s, const struct watched *w, int64_t theirs_ms)
{
    const struct job *j = parsed(s, w);
    int64_t every = j->schedule.interval_ms;
    if (!is_rate(w) || theirs_ms <= 0 || every <= 0)
        return 0;
    if (w->due.next_ms == NEVER_MS || w->due.next_ms == 0)
        return every; /* it had no next time yet */
    return ((whole_second(theirs_ms) - w->due.next_ms) % every + every) % every;
}

static void go_on(struct shadow *s, struct watched *w, int64_t theirs_ms)
{
    int64_t by = moved(s, w, theirs_ms);
    if (by == 0) {
        plan(s, w, s->now_ms, false);
        return;
    }
    s->state.shifts++;
    if (by >= 2000 && w->due.last_ms > 0)
        tell(s, w, DIFFERENCE_LATE, theirs_ms - by, theirs_ms, "the rate goes on from there");
    plan(s, w, s->now_ms + LOOSE_MS, true);
    begin(s, w, theirs_ms);
}

static void take_text(char **to, struct slice from)
{
    free(*to);
    *to = mem_dupn(from.n ? from.p : "", from.n);
}

static bool same_job(const struct watched *w, const struct source_job *j)
{
    return w->group_id == j->group_id && w->running == j->running && w->retries == j->retries &&
           slice_eq(j->type, w->type) && slice_eq(j->conf, w->conf) &&
           slice_eq(j->misfire, w->misfire) && slice_eq(j->route, w->route) &&
           slice_eq(j->updated, w->updated);
}

static void take_job(struct watched *w, const struct source_job *j)
{
    w->group_id = j->group_id;
    w->running = j->running;
    w->retries = j->retries;
    take_text(&w->name, j->name);
    take_text(&w->type, j->type);
    take_text(&w->conf, j->conf);
    take_text(&w->misfire, j->misfire);
    take_text(&w->route, j->route);
    take_text(&w->updated, j->updated);
}

static void on_job(void *ctx, const struct source_job *j)
{
    struct shadow *s = ctx;
    struct watched *w = map_find(&s->jobs, (uint64_t)j->id);
    s->state.jobs++;
    s->state.running += j->running;
    if (w && same_job(w, j)) {
        if (w->running)
            go_on(s, w, j->next_ms);
    } else {
        if (w) {
            plan(s, w, s->now_ms + LOOSE_MS, true);
        } else {
            w = mem_new(sizeof(*w));
            w->id = j->id;
            map_set(&s->jobs, (uint64_t)j->id, w);
        }
        take_job(w, j);
        begin(s, w, j->next_ms);
    }
    w->look = s->state.looks;
}

/* Jobs that were there at the look before and are gone. */
static void end_deleted(struct shadow *s)
{
    void *value;
    for (size_t i = 0; map_next(&s->jobs, &i, &value);) {
        struct watched *w = value;
        if (w->look == s->state.looks || !w->running)
            continue;
        plan(s, w, s->now_ms + LOOSE_MS, true);
        w->running = false;
        matcher_loosen(s->matcher, w->id, s->last_ms - 1000, s->now_ms + LOOSE_MS);
    }
}

/* ---- looks ------------------------------------------------------------------------------------
 */

static int retries_of(void *ctx, int64_t job_id)
{
    const struct watched *w = map_find(&((struct shadow *)ctx)->jobs, (uint64_t)job_id);
    return w ? w->retries : -1;
}

static void on_row(void *ctx, const struct match_row *r)
{
    matcher_row(((struct shadow *)ctx)->matcher, r);
}

/* Read what there is; what failed in its middle is read again at the next look. */
static enum err look(struct shadow *s, struct why *why)
{
    s->state.looks++;
    s->state.jobs = s->state.running = 0;
    enum err err = source_groups(s->source, on_group, s, why);
    if (err)
        return err;
    s->now_ms = clock_wall_ms();
    return source_jobs(s->source, on_job, s, why);
}

enum err shadow_look(struct shadow *s, struct why *why)
{
    const struct layout *layout;
    enum err err = source_open(s->source, &layout, why);
    if (!err)
        err = look(s, why);
    if (!err) {
        end_deleted(s);
        s->last_ms = s->now_ms;
        err = source_log(s->source, retries_of, on_row, s, why);
    }
    if (!err)
        matcher_close(s->matcher, s->now_ms);
    s->state.failures += err != OK;
    return err;
}

/* Are our clock and zones such that anything can be compared? */
static enum err clocks(struct shadow *s, void (*warn)(void *ctx, const char *text), void *ctx,
                       struct why *why)
{
    int64_t apart_ms, beat_s;
    char text[512];
    enum err err = source_clock(s->source, &apart_ms, &beat_s, why);
    if (err)
        return err;
    if (llabs(apart_ms) > APART_MS) {
        why_set(why, "the clock of the database is %lld s %s this machine's: set both by NTP",
                (long long)llabs(apart_ms) / 1000, apart_ms > 0 ? "ahead of" : "behind");
        return ERR_INVALID;
    }
    if (llabs(apart_ms) > APART_WARN_MS)
        warn(ctx, "the clock of the database is more than a second from this machine's");
    if (beat_s == INT64_MIN)
        return OK;
    if (beat_s > FUTURE_S) {
        why_set(why,
                "the newest registration lies %lld minutes ahead if datetimes are read in %s: "
                "name the zone in which the admins write them (serverTimezone of their JDBC "
                "URL) with --log-zone",
                ((long long)beat_s + 30) / 60, zone_name(s->config.log_zone));
        return ERR_INVALID;
    }
    if (-beat_s > QUARTER_S - FUTURE_S) {
        snprintf(
            text, sizeof(text),
            "the newest registration is %lld minutes old if datetimes are read in %s: either no "
            "executor is up, or the admins write them in another zone (--log-zone)",
            (long long)-beat_s / 60, zone_name(s->config.log_zone));
        warn(ctx, text);
    }
    return OK;
}

enum err shadow_start(struct shadow *s, void (*warn)(void *ctx, const char *text), void *ctx,
                      struct why *why)
{
    enum err err = source_open(s->source, &s->state.layout, why);
    if (!err)
        err = clocks(s, warn, ctx, why);
    if (!err)
        err = source_log_begin(s->source, why);
    if (err)
        return err;
    layout_warnings(s->state.layout, warn, ctx);
    s->state.started_ms = s->last_ms = clock_wall_ms();
    s->matcher = matcher_new(s->last_ms, s->config.grace_ms, on_finding, s);
    err = look(s, why);
    s->last_ms = s->now_ms;
    return err;
}

struct shadow_state shadow_state(const struct shadow *s)
{
    return s->state;
}

const struct match_counts *shadow_counts(const struct shadow *s)
{
    return matcher_counts(s->matcher);
}
