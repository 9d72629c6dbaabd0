/* SPDX-License-Identifier: Apache-2.0 */
/* job_stats.c - how long a job takes, and what became of its runs on the last days. */
#include "api/gate.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cron/civil.h"
#include "cron/rfc3339.h"
#include "ledger/figures.h"

#define DAYS 30
#define HEAT_HOURS (8 * 24)
#define HOUR_MS INT64_C(3600000)

struct job_days { /* ascending; only those on which something ended */
    int64_t at_ms[DAYS];
    struct figure figures[DAYS];
    int n;
    int64_t took_max_ms;
};

static enum err read_days(struct web_call *call, int64_t id, int64_t now_ms, struct job_days *ret,
                          struct why *why)
{
    struct figures *f = center_figures(call->center);
    int64_t ms = now_ms, days[DAYS];
    enum err err = OK;
    for (int i = DAYS - 1; i >= 0; i--) {
        days[i] = figure_slot_ms(figure_slot(FIGURE_JOB_DAY, figures_zone(f), ms));
        ms = days[i] - 1;
    }
    for (int i = 0; !err && i < DAYS; i++) {
        struct figure *day = &ret->figures[ret->n];
        err = figures_read(f, call->db, FIGURE_JOB_DAY, 0, id, days[i], day, NULL, why);
        if (err || (!day->counts[OUTCOME_SUCCEEDED] && !figure_failed(day)))
            continue;
        ret->at_ms[ret->n++] = days[i];
        if (day->took_max_ms > ret->took_max_ms)
            ret->took_max_ms = day->took_max_ms;
    }
    return err;
}

/* An hour that comes twice is asked for twice: its two slots differ. */
static enum err read_heat(struct web_call *call, int64_t id, int64_t now_ms, int64_t heat[24],
                          struct why *why)
{
    struct figures *f = center_figures(call->center);
    const struct zone *zone = figures_zone(f);
    int64_t last = 0;
    enum err err = OK;
    for (int i = HEAT_HOURS - 1; !err && i >= 0; i--) {
        int64_t ms = now_ms - i * HOUR_MS, slot = figure_slot(FIGURE_JOB_HOUR, zone, ms);
        struct figure hour;
        if (slot == last)
            continue;
        last = slot;
        err = figures_read(f, call->db, FIGURE_JOB_HOUR, 0, id, ms, &hour, NULL, why);
        int64_t local = floor_div(ms / 1000 + zone_offset_at(zone, ms / 1000), 3600);
        if (!err)
            heat[local % 24] += hour.counts[OUTCOME_SUCCEEDED] + figure_failed(&hour);
    }
    return err;
}

static void write_durations(struct jsonw *w, const struct job_stat *stat, int64_t max_ms)
{
    uint32_t counts[DURATION_BUCKETS];
    int n = job_stat_durations(stat, counts);
    int64_t p50 = duration_at(counts, 500), p95 = duration_at(counts, 950);
    for (int i = 0; i < stat->nlast; i++) {
        struct last_run r = job_stat_last(stat, i);
        if (r.took_ms > max_ms)
            max_ms = r.took_ms;
    }
    jsonw_i64(w, "window", n);
    if (!n) {
        jsonw_null(w, "durations");
        return;
    }
    jsonw_object(w, "durations");
    jsonw_i64(w, "p50Ms", p50 < max_ms ? p50 : max_ms); /* interpolated */
    jsonw_i64(w, "p95Ms", p95 < max_ms ? p95 : max_ms);
    jsonw_i64(w, "maxMs", max_ms);
    jsonw_object_end(w);
}

static void write_stats(struct web_call *call, const struct job_stat *stat,
                        const struct job_days *days, const int64_t heat[24])
{
    const struct zone *zone = figures_zone(center_figures(call->center));
    struct jsonw w = jsonw_on(&call->output);
    char text[RFC3339_SIZE];
    jsonw_object(&w, NULL);
    write_durations(&w, stat, days->took_max_ms);
    jsonw_array(&w, "days");
    for (int i = 0; i < days->n; i++) {
        jsonw_object(&w, NULL);
        jsonw_slice(&w, "day", slice_of(walltime_format(days->at_ms[i], zone, text), 10));
        jsonw_i64(&w, "succeeded", days->figures[i].counts[OUTCOME_SUCCEEDED]);
        jsonw_i64(&w, "failed", figure_failed(&days->figures[i]));
        jsonw_object_end(&w);
    }
    jsonw_array_end(&w);
    jsonw_array(&w, "heat");
    for (int i = 0; i < 24; i++)
        jsonw_i64(&w, NULL, heat[i]);
    jsonw_array_end(&w);
    jsonw_object_end(&w);
}

/* False: answered. */
static bool may_see(struct web_call *call, int64_t id)
{
    struct job_record r;
    struct why why = { "" };
    job_record_init(&r);
    enum err err = call->db->ops->catalog->job_get(call->db, id, &r, &why);
    if (err == ERR_NOTFOUND)
        problem(call, PROBLEM_NOT_FOUND, "job %lld does not exist, or you may not see it",
                (long long)id);
    else if (err)
        problem_err(call, err, &why);
    bool yes = !err && gate_group(call, r.group_id, "job", id);
    job_record_done(&r);
    return yes;
}

void v1_job_stats(struct web_call *call)
{
    int64_t id = call->params.items[0].number, now_ms = clock_wall_ms(), heat[24] = { 0 };
    struct job_stat stat = { .nlast = 0 };
    struct job_days days = { .n = 0 };
    struct why why = { "" };
    if (!may_see(call, id))
        return;
    (void)!figures_job(center_figures(call->center), id, &stat);
    enum err err = read_days(call, id, now_ms, &days, &why);
    if (!err)
        err = read_heat(call, id, now_ms, heat, &why);
    if (err)
        problem_err(call, err, &why);
    else
        write_stats(call, &stat, &days, heat);
}
