/* SPDX-License-Identifier: Apache-2.0 */
/* The next firings of a job, computed by the schedule that also fires. A stopped job shows when it
 * would fire if it were started now. */
#include "api/gate.h"
#include "api/v1/fire_json.h"
#include "api/v1/job_page.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"
#include <string.h>

#define COUNT_MAX 1000
#define COUNT_DEFAULT 10

static enum err zone_of(void *ctx, const char *name, struct zone **ret, struct why *why)
{
    const struct web_call *call = ctx;
    if (!name[0])
        name = center_zone_name(call->center);
    return zones_get(center_zones(call->center), name, ret, why);
}

/* The first firing from then on. A rate counts from where planning stands, a calendar from any
 * time. */
static enum err first(const struct job_record *r, const struct schedule *s, int64_t from_ms,
                      int64_t *ret)
{
    bool rate = s->type == SCHEDULE_FIX_RATE || s->type == SCHEDULE_FIX_DELAY;
    if (!rate)
        return schedule_next(s, from_ms - 1, ret);
    if (!r->enabled)
        return schedule_next(s, from_ms, ret);
    if (r->next_ms == NEVER_MS)
        return ERR_NEVER; /* FIX_DELAY while a run is out: its end decides */
    int64_t behind = from_ms > r->next_ms ? from_ms - r->next_ms : 0;
    *ret = r->next_ms + (behind + s->interval_ms - 1) / s->interval_ms * s->interval_ms;
    return *ret < FIRES_FROM_MAX ? OK : ERR_NEVER;
}

static void write_fires(struct jsonw *w, const struct job_record *r, const struct schedule *s,
                        int64_t from_ms, int64_t count)
{
    int64_t ms, now_ms = clock_wall_ms();
    enum err err = first(r, s, from_ms, &ms);
    for (; !err && count > 0; count--) {
        bool planned = r->enabled && ms > now_ms && ms <= r->planned_until_ms;
        fire_write(w, s, (struct fire){ .ms = ms, .planned = planned, .crowd = -1 });
        /* when a run with a fixed delay ends nobody knows */
        err = s->type == SCHEDULE_FIX_DELAY ? ERR_NEVER : schedule_next(s, ms, &ms);
    }
}

static void fires(struct web_call *call, const struct job_record *r, int64_t from_ms, int64_t count)
{
    struct job *job = job_new(r, zone_of, call, center_last_year(call->center));
    struct jsonw w = jsonw_on(&call->output);
    jsonw_object(&w, NULL);
    jsonw_array(&w, "items");
    if (!job->fault && job->schedule.type != SCHEDULE_NONE)
        write_fires(&w, r, &job->schedule, from_ms, count);
    jsonw_array_end(&w);
    jsonw_object_end(&w);
    job_unref(job);
}

void v1_job_fires(struct web_call *call)
{
    int64_t id = call->params.items[0].number;
    struct job_record r;
    struct query q;
    struct why why = { "" };
    query_begin(&q, call);
    int64_t from_ms = query_instant(&q, "from", clock_wall_ms());
    if (from_ms > FIRES_FROM_MAX)
        from_ms = FIRES_FROM_MAX;
    int64_t count = query_i64(&q, "count", 1, COUNT_MAX, COUNT_DEFAULT);
    if (!query_end(&q))
        return;
    enum err err = job_read(call, id, &r, &why);
    if (err == ERR_NOTFOUND)
        problem(call, PROBLEM_NOT_FOUND, "job %lld does not exist, or you may not see it",
                (long long)id);
    else if (err)
        problem_err(call, err, &why);
    else if (gate_group(call, r.group_id, "job", id))
        fires(call, &r, from_ms, count);
    job_record_done(&r);
}
