/* SPDX-License-Identifier: Apache-2.0 */
/* A job's definition is parsed once a version and kept in a cache with a bound. Planning a job is a
 * walk over its next times, and what it writes is rows: the caller's transaction decides whether
 * they hold. */
#include "plan/plan.h"
#include "base/map.h"
#include "base/mem.h"
#include "plan/route.h"
#include <stdlib.h>
#include <string.h>

#define CACHE_MAX 65536                  /* parsed jobs kept */
#define MISSED_BUDGET 20000              /* steps of counting missed scheduled times in one slice */
#define COUNT_BACK_MS (400LL * 86400000) /* an outage longer than this is not counted out */

struct planner {
    struct planner_config config;
    struct map jobs;  /* id -> struct job, counted */
    struct map views; /* group id -> struct group_view, counted */
    struct router *router;
    size_t evict;    /* where the next eviction looks */
    int missed_left; /* steps of counting in this slice */
};

struct planner *planner_new(const struct planner_config *config)
{
    struct planner *p = mem_new(sizeof(*p));
    p->config = *config;
    map_init(&p->jobs);
    map_init(&p->views);
    p->router = router_new(config->seed);
    planner_slice(p);
    return p;
}

void planner_slice(struct planner *p)
{
    p->missed_left = MISSED_BUDGET;
}

int64_t planner_behind(const struct planner *p, int64_t now_ms)
{
    return now_ms - p->config.misfire_threshold_ms;
}

void planner_free(struct planner *p)
{
    if (!p)
        return;
    void *value;
    for (size_t i = 0; map_next(&p->jobs, &i, &value);)
        job_unref(value);
    for (size_t i = 0; map_next(&p->views, &i, &value);)
        group_view_unref(value);
    map_done(&p->jobs);
    map_done(&p->views);
    router_free(p->router);
    free(p);
}

void planner_set_view(struct planner *p, struct group_view *v)
{
    group_view_unref(map_set(&p->views, (uint64_t)v->group_id, v));
}

struct job *planner_find(struct planner *p, int64_t job_id, int64_t version)
{
    struct job *j = map_find(&p->jobs, (uint64_t)job_id);
    return j && j->version == version ? j : NULL;
}

static void evict_one(struct planner *p)
{
    void *value;
    if (!map_next(&p->jobs, &p->evict, &value)) {
        p->evict = 0;
        if (!map_next(&p->jobs, &p->evict, &value))
            return;
    }
    planner_forget(p, ((struct job *)value)->id);
}

struct job *planner_keep(struct planner *p, const struct job_record *r)
{
    while (p->jobs.len >= CACHE_MAX)
        evict_one(p);
    struct job *j = job_new(r, p->config.zone_find, p->config.zone_ctx, p->config.last_year);
    job_unref(map_set(&p->jobs, (uint64_t)j->id, j));
    return j;
}

void planner_forget(struct planner *p, int64_t job_id)
{
    job_unref(map_take(&p->jobs, (uint64_t)job_id));
}

void planner_forget_all(struct planner *p)
{
    void *value;
    for (size_t i = 0; map_next(&p->jobs, &i, &value);)
        job_unref(value);
    map_done(&p->jobs);
}

void plan_rows_done(struct plan_rows *out)
{
    for (int i = 0; i < out->n; i++)
        run_row_done(&out->rows[i]);
    free(out->rows);
    memset(out, 0, sizeof(*out));
}

void spawn_done(struct spawn *s)
{
    if (s->companion)
        s->companion->done(s->companion_arg);
    free(s->param);
    free(s->choices);
    memset(s, 0, sizeof(*s));
}

static struct run_row *row_new(struct plan_rows *out)
{
    if (out->n == out->cap) {
        out->cap = out->cap ? out->cap * 2 : 16;
        out->rows = mem_resize(out->rows, (size_t)out->cap * sizeof(*out->rows));
    }
    struct run_row *row = &out->rows[out->n++];
    memset(row, 0, sizeof(*row));
    return row;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static struct run_row row_of(const struct job *j, enum kind kind, int64_t scheduled_ms,
                             int64_t due_ms)
{
    struct run_row row = {
        .job_id = j->id,
        .group_id = j->group_id,
        .scheduled_ms = scheduled_ms,
        .due_ms = due_ms,
        .version = j->version,
        .shard_total = 1,
        .retries_left = j->retries,
        .kind = kind,
        .phase = PHASE_PLANNED,
    };
    return row;
}

int plan_choices(const char *choices)
{
    int n = 0;
    struct slice rest = slice_text(choices ? choices : "");
    for (struct slice one; slice_item(&rest, &one);)
        n++;
    return n;
}

/* A view made of addresses given by hand for one run. */
static struct group_view *view_of_choices(int64_t group_id, const char *choices)
{
    const char *list[PLAN_CHOICES_MAX];
    char *text = mem_dup(choices);
    int n = 0;
    struct slice rest = slice_text(text);
    for (struct slice one; n < PLAN_CHOICES_MAX && slice_item(&rest, &one);) {
        text[one.p - text + (ptrdiff_t)one.n] = '\0'; /* on the comma, or a blank before it */
        list[n++] = one.p;
    }
    struct group_view *v = group_view_new(group_id, 0, list, n);
    free(text);
    return v;
}

static void add_row(struct plan_rows *out, const struct run_row *like, const struct job *j,
                    const char *address, const char *param, const char *choices)
{
    struct run_row *row = row_new(out);
    *row = *like;
    row->address = mem_dup(address);
    row->handler = mem_dup(j->handler);
    row->param = mem_dup(param ? param : j->param);
    row->choices = mem_dup(choices);
}

/* The rows of one firing: one, or one per address for a broadcast. A broadcast to no address is one
 * row without an address, planned again when an executor appears (scheduler). */
static void plan_rows(struct planner *p, const struct job *j, struct run_row like,
                      const struct spawn *s, int64_t now_ms, struct plan_rows *out)
{
    const char *param = s ? s->param : NULL, *choices = s ? s->choices : NULL;
    struct group_view *own = choices ? view_of_choices(j->group_id, choices) : NULL;
    const struct group_view *v = own ? own : map_find(&p->views, (uint64_t)j->group_id);
    int n = v ? v->n : 0;
    if (s && s->shard_total > 0) { /* the retry of one shard: by index from the current list */
        like.shard = s->shard;
        like.shard_total = s->shard_total;
        like.broadcast = true;
        int i = s->shard < n ? s->shard : 0;
        add_row(out, &like, j, n ? v->addresses[i] : NULL, param, choices);
    } else if (j->route == ROUTE_BROADCAST && n > 0 && !(s && s->kind == KIND_RETRY)) {
        like.broadcast = true;
        like.shard_total = n;
        for (like.shard = 0; like.shard < n; like.shard++)
            add_row(out, &like, j, v->addresses[like.shard], param, choices);
    } else {
        like.broadcast = j->route == ROUTE_BROADCAST && !(s && s->kind == KIND_RETRY);
        int i = router_pick(p->router, j->route, j->id, v, now_ms);
        add_row(out, &like, j, v && i >= 0 ? v->addresses[i] : NULL, param, choices);
    }
    group_view_unref(own);
}

/* ---- scheduled times
 * ----------------------------------------------------------------------------------
 */

int64_t plan_first(const struct job *j, int64_t now_ms)
{
    int64_t next;
    return schedule_next(&j->schedule, now_ms, &next) == OK ? next : NEVER_MS;
}

/* The scheduled time after this one. FIX_DELAY and ONCE have none: completion sets the former's
 * next. */
static int64_t next_after(const struct job *j, int64_t scheduled_ms)
{
    int64_t next;
    if (j->schedule.type == SCHEDULE_FIX_DELAY || j->schedule.type == SCHEDULE_ONCE)
        return NEVER_MS;
    return schedule_next(&j->schedule, scheduled_ms, &next) == OK ? next : NEVER_MS;
}

struct missed { /* scheduled times too old to fire as planned */
    int64_t from_ms, to_ms, count;
    int64_t *last; /* the newest of them, a circle of max */
    int max, n, at;
    int64_t leapt_ms; /* first of those that were last counted without looking at each, 0 = none */
};

static void missed_keep(struct missed *m, int64_t scheduled_ms)
{
    if (m->max == 0)
        return;
    m->last[m->at] = scheduled_ms;
    m->at = (m->at + 1) % m->max;
    m->n += m->n < m->max;
}

static void missed_add(struct missed *m, int64_t scheduled_ms)
{
    if (m->count++ == 0)
        m->from_ms = scheduled_ms;
    m->to_ms = scheduled_ms;
    missed_keep(m, scheduled_ms);
}

static void missed_leap(struct missed *m, int64_t first_ms, int64_t last_ms, int64_t n)
{
    if (m->count == 0)
        m->from_ms = first_ms;
    m->count += n;
    m->to_ms = last_ms;
    m->leapt_ms = first_ms;
    m->n = m->at = 0;
}

/* The newest ones are not all known: some are among those that were not looked at. */
static void missed_look_back(const struct job *j, struct missed *m, int64_t limit_ms)
{
    if (m->n == m->max || !m->leapt_ms)
        return;
    m->n = m->at = 0;
    for (int64_t next = m->leapt_ms; next < limit_ms; next = next_after(j, next))
        missed_keep(m, next);
}

/* Runs from the newest missed scheduled times that the policy still wants; the rest counts as
 * skipped. */
static void missed_fire(struct planner *p, const struct job *j, struct missed *m, int64_t now_ms,
                        struct plan_rows *out)
{
    int circle = m->max ? m->max : 1;
    int first = (m->at - m->n + circle) % circle;
    for (int i = 0; i < m->n; i++) {
        int64_t scheduled_ms = m->last[(first + i) % circle];
        plan_rows(p, j, row_of(j, KIND_MISFIRE, scheduled_ms, now_ms), NULL, now_ms, out);
    }
    m->count -= m->n;
    if (m->n && m->count > 0)
        m->to_ms = m->last[first] - 1;
}

static int policy_max(const struct job *j)
{
    switch (j->misfire) {
    case MISFIRE_FIRE_ONCE:
        return 1;
    case MISFIRE_FIRE_ALL:
        return j->misfire_max;
    default:
        return 0;
    }
}

/* Count the scheduled times before limit_ms out, in bounded steps: one for each, or for all of an
 * hour, a day, or an interval. Returns the first scheduled time at or after it. */
static int64_t count_missed(struct planner *p, const struct job *j, int64_t next, int64_t limit_ms,
                            struct missed *m, bool *ret_more)
{
    if (next < limit_ms - COUNT_BACK_MS) { /* too long ago to count: go on 400 days back */
        int64_t later = next_after(j, limit_ms - COUNT_BACK_MS);
        missed_add(m, next);
        next = later;
    }
    while (next < limit_ms) {
        if (p->missed_left == 0) {
            *ret_more = true;
            return next;
        }
        p->missed_left--;
        int64_t last = next, n = schedule_leap(&j->schedule, next, limit_ms, m->max, &last);
        if (n)
            missed_leap(m, next, last, n);
        else
            missed_add(m, next);
        next = next_after(j, last);
    }
    missed_look_back(j, m, limit_ms);
    return next;
}

static int64_t take_missed(struct planner *p, const struct job *j, int64_t next, int64_t limit_ms,
                           int64_t now_ms, struct plan_rows *out, struct plan_result *ret)
{
    struct missed m = { .max = policy_max(j) };
    m.last = m.max ? mem_new((size_t)m.max * sizeof(*m.last)) : NULL;
    bool extend = ret->due.planned_until_ms > ret->due.last_ms; /* the last decision was a skip */
    next = count_missed(p, j, next, limit_ms, &m, &ret->more);
    int64_t newest = m.to_ms;
    if (!ret->more) /* in the middle of an outage nothing fires yet: what comes may be newer */
        missed_fire(p, j, &m, now_ms, out);
    if (m.count > 0)
        ret->skip = (struct skip_row){ .job_id = j->id,
                                       .from_ms = m.from_ms,
                                       .to_ms = m.to_ms,
                                       .count = m.count,
                                       .policy = j->misfire,
                                       .extend = extend };
    if (newest > ret->due.planned_until_ms)
        ret->due.planned_until_ms = newest;
    free(m.last);
    return next;
}

static const char *stop_reason(const struct job *j)
{
    if (j->fault)
        return j->fault;
    if (j->schedule.type == SCHEDULE_ONCE)
        return "its one scheduled time has been planned";
    return "the schedule has no further scheduled time";
}

void plan_job(struct planner *p, const struct job *j, const struct due_row *due, int64_t now_ms,
              int64_t until_ms, int max_rows, struct plan_rows *out, struct plan_result *ret)
{
    *ret = (struct plan_result){ .due = *due };
    const int64_t limit = now_ms - p->config.misfire_threshold_ms;
    int64_t next = due->next_ms <= DUE_UNSAID_MS ? limit - 1 : due->next_ms;
    if (!j->enabled || j->fault || j->schedule.type == SCHEDULE_NONE) {
        ret->due.next_ms = NEVER_MS;
        ret->stop = j->enabled ? stop_reason(j) : NULL;
        return;
    }
    if (next <= due->planned_until_ms) /* served already: clock stepped back, or a foreign write */
        next = j->schedule.type == SCHEDULE_FIX_DELAY ? due->planned_until_ms + 1
                                                      : next_after(j, due->planned_until_ms);
    int start0 = out->n;
    if (next < limit)
        next = take_missed(p, j, next, limit, now_ms, out, ret);
    int start = out->n;
    while (!ret->more && next <= until_ms && next != NEVER_MS) {
        if (out->n - start >= max_rows) {
            ret->more = true;
            break;
        }
        plan_rows(p, j, row_of(j, KIND_CRON, next, next), NULL, now_ms, out);
        ret->due.last_ms = next;
        if (next > ret->due.planned_until_ms)
            ret->due.planned_until_ms = next;
        next = next_after(j, next);
    }
    if (next == NEVER_MS && j->schedule.type == SCHEDULE_FIX_DELAY && out->n == start0)
        next = plan_first(
            j, now_ms); /* its scheduled time was missed: no run whose end would set it */
    ret->due.next_ms = next;
    if (next == NEVER_MS && j->schedule.type != SCHEDULE_FIX_DELAY)
        ret->stop = stop_reason(j);
}

void plan_spawn(struct planner *p, const struct job *j, const struct spawn *s, int64_t now_ms,
                struct plan_rows *out)
{
    struct run_row like = row_of(j, s->kind, s->scheduled_ms, s->due_ms);
    like.cause = s->cause;
    like.trace = s->trace;
    like.attempt = s->attempt;
    if (s->retries_left >= 0)
        like.retries_left = s->retries_left;
    plan_rows(p, j, like, s, now_ms, out);
}

void plan_scheduled(struct planner *p, const struct job *j, int64_t scheduled_ms, int64_t now_ms,
                    struct plan_rows *out)
{
    plan_rows(p, j, row_of(j, KIND_CRON, scheduled_ms, scheduled_ms), NULL, now_ms, out);
}
