/* SPDX-License-Identifier: Apache-2.0 */
/* job_metrics.c - metrics of single jobs. The label is the job's number alone: what it is called
 * can change, and stands in one metric to be joined with. */
#include "api/job_metrics.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "ledger/figures.h"
#include <stdlib.h>
#include <string.h>

#define ALL_UP_TO 2000 /* jobs, when nothing is set */
#define JOBS_MAX 100000
#define SLICE 500

struct shown { /* one job; text owned */
    int64_t id, group_id;
    char *name, *owner;
    struct job_stat stat;
};

struct gathering {
    struct figures *figures;
    struct shown *jobs;
    size_t n;
    struct map apps; /* group id -> text, owned */
};

static bool add_app(void *ctx, const struct group_record *g)
{
    struct gathering *x = ctx;
    char *before = map_set(&x->apps, (uint64_t)g->id, mem_dup(g->app ? g->app : ""));
    free(before);
    return true;
}

static bool add_job(void *ctx, const struct job_record *r)
{
    struct gathering *x = ctx;
    struct shown *j = &x->jobs[x->n];
    *j = (struct shown){ .id = r->id, .group_id = r->group_id };
    if (!figures_job(x->figures, r->id, &j->stat))
        return true;
    j->name = mem_dup(r->description ? r->description : "");
    j->owner = mem_dup(r->author ? r->author : "");
    x->n++;
    return true;
}

static int by_id(const void *a, const void *b)
{
    const struct shown *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static enum err gather(struct gathering *x, struct store *db, bool failing, struct why *why)
{
    size_t n;
    int64_t *ids = figures_job_ids(x->figures, failing, JOBS_MAX, &n);
    x->jobs = mem_new((n + 1) * sizeof(*x->jobs));
    enum err err = db->ops->catalog->groups_each(db, add_app, x, why);
    for (size_t i = 0; !err && i < n; i += SLICE)
        err = db->ops->catalog->jobs_get(db, ids + i, (int)(n - i < SLICE ? n - i : SLICE), add_job,
                                         x, why);
    free(ids);
    qsort(x->jobs, x->n, sizeof(*x->jobs), by_id);
    return err;
}

static void gathering_done(struct gathering *x)
{
    void *text;
    for (size_t i = 0; i < x->n; i++) {
        free(x->jobs[i].name);
        free(x->jobs[i].owner);
    }
    for (size_t i = 0; map_next(&x->apps, &i, &text);)
        free(text);
    map_done(&x->apps);
    free(x->jobs);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Of a label: backslash, quote and line feed are escaped; what is no UTF-8 ends it. */
static void label(struct buf *out, const char *text)
{
    size_t n = utf8_valid(text, strlen(text)) ? strlen(text) : 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\\' || text[i] == '"')
            buf_char(out, '\\');
        if (text[i] == '\n')
            buf_text(out, "\\n");
        else
            buf_char(out, text[i]);
    }
}

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_info(const struct gathering *x, struct buf *out)
{
    head(out, "peal_job_info", "gauge", "What a job is called; to be joined by its number.");
    for (size_t i = 0; i < x->n; i++) {
        const struct shown *j = &x->jobs[i];
        const char *app = map_find(&x->apps, (uint64_t)j->group_id);
        buf_printf(out, "peal_job_info{job=\"%lld\",name=\"", (long long)j->id);
        label(out, j->name);
        buf_text(out, "\",app=\"");
        label(out, app ? app : "");
        buf_text(out, "\",owner=\"");
        label(out, j->owner);
        buf_text(out, "\"} 1\n");
    }
}

static void write_runs(const struct gathering *x, struct buf *out)
{
    head(out, "peal_job_runs_total", "counter",
         "Runs that have ended, by what became of them at first.");
    for (size_t i = 0; i < x->n; i++)
        for (int o = OUTCOME_SUCCEEDED; o <= OUTCOME_REJECTED; o++)
            if (o == OUTCOME_SUCCEEDED || o == OUTCOME_FAILED || x->jobs[i].stat.ends[o])
                buf_printf(out, "peal_job_runs_total{job=\"%lld\",result=\"%s\"} %lld\n",
                           (long long)x->jobs[i].id, outcome_text((enum outcome)o),
                           (long long)x->jobs[i].stat.ends[o]);
}

static void gauge_of(struct buf *out, const char *name, int64_t id, double value)
{
    buf_printf(out, "%s{job=\"%lld\"} %.17g\n", name, (long long)id, value);
}

static void write_last(const struct gathering *x, struct buf *out)
{
    head(out, "peal_job_last_duration_seconds", "gauge", "Of its last run that had a result.");
    for (size_t i = 0; i < x->n; i++) {
        const struct job_stat *s = &x->jobs[i].stat;
        int k = 0;
        while (k < s->nlast && !outcome_has_result(job_stat_last(s, k).outcome))
            k++;
        if (k < s->nlast)
            gauge_of(out, "peal_job_last_duration_seconds", x->jobs[i].id,
                     (double)job_stat_last(s, k).took_ms / 1000);
    }
    head(out, "peal_job_last_success_timestamp_seconds", "gauge", "When a run last succeeded.");
    for (size_t i = 0; i < x->n; i++)
        if (x->jobs[i].stat.success_ms)
            gauge_of(out, "peal_job_last_success_timestamp_seconds", x->jobs[i].id,
                     (double)x->jobs[i].stat.success_ms / 1000);
    head(out, "peal_job_last_run_result", "gauge", "1: its last run succeeded.");
    for (size_t i = 0; i < x->n; i++)
        if (x->jobs[i].stat.nlast)
            gauge_of(out, "peal_job_last_run_result", x->jobs[i].id,
                     job_stat_last(&x->jobs[i].stat, 0).outcome == OUTCOME_SUCCEEDED);
    head(out, "peal_job_failures", "gauge", "How many runs have failed since the last success.");
    for (size_t i = 0; i < x->n; i++)
        gauge_of(out, "peal_job_failures", x->jobs[i].id, x->jobs[i].stat.streak);
}

/* ---- which jobs ------------------------------------------------------------------------------ */

static enum api_per_job chosen(const struct web_call *call, struct figures *f)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    enum api_per_job per_job = call->config->per_job;
    if (per_job != API_PER_JOB_AUTO)
        return per_job;
    if (figures_jobs(f) <= ALL_UP_TO)
        return API_PER_JOB_ALL;
    if (!atomic_flag_test_and_set(&told))
        log_info("api",
                 "more than %d jobs: metrics of single jobs are of those that fail "
                 "(metrics.per_job=all: of all)",
                 ALL_UP_TO);
    return API_PER_JOB_FAILING;
}

enum err job_metrics_write(struct web_call *call, struct buf *out, struct why *why)
{
    struct gathering x = { .figures = center_figures(call->center) };
    enum api_per_job per_job = chosen(call, x.figures);
    if (per_job == API_PER_JOB_OFF)
        return OK;
    map_init(&x.apps);
    enum err err = gather(&x, call->db, per_job == API_PER_JOB_FAILING, why);
    if (!err) {
        write_info(&x, out);
        write_runs(&x, out);
        write_last(&x, out);
    }
    gathering_done(&x);
    return err;
}
