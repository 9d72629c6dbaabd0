/* SPDX-License-Identifier: Apache-2.0 */
/* Findings are counted without a bound; those listed in the document have one. */
#include "cli/shadow_report.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "cron/rfc3339.h"
#include <stdio.h>
#include <stdlib.h>

enum { LISTED_MAX = 10000, WARNINGS_MAX = 32 };

struct shadow_report {
    bool json;
    const struct zone *zone;
    int64_t counts[DIFFERENCE_COUNT], all;
    struct buf found; /* objects of the JSON list */
    struct jsonw list;
    char *warnings[WARNINGS_MAX];
    int nwarnings;
};

struct shadow_report *shadow_report_new(bool json, const struct zone *zone)
{
    struct shadow_report *r = mem_new(sizeof(*r));
    r->json = json;
    r->zone = zone;
    buf_init(&r->found, (size_t)LISTED_MAX * 2048);
    r->list = jsonw_on(&r->found);
    return r;
}

void shadow_report_free(struct shadow_report *r)
{
    for (int i = 0; i < r->nwarnings; i++)
        free(r->warnings[i]);
    buf_done(&r->found);
    free(r);
}

void shadow_report_warning(void *report, const char *text)
{
    struct shadow_report *r = report;
    if (r->nwarnings < WARNINGS_MAX)
        r->warnings[r->nwarnings++] = mem_dup(text);
    if (!r->json)
        printf("warning: %s\n", text);
}

/* ---- findings ---------------------------------------------------------------------------------
 */

static void time_member(struct jsonw *w, const char *key, int64_t ms)
{
    if (ms)
        jsonw_i64(w, key, ms);
    else
        jsonw_null(w, key);
}

static void list(struct shadow_report *r, const struct finding *f, const char *job)
{
    if (r->all > LISTED_MAX)
        return;
    struct jsonw *w = &r->list;
    jsonw_object(w, NULL);
    jsonw_text(w, "kind", difference_text(f->what));
    jsonw_i64(w, "jobId", f->job_id);
    jsonw_text(w, "job", job);
    time_member(w, "scheduledMs", f->scheduled_ms);
    time_member(w, "firedMs", f->fired_ms);
    time_member(w, "logId", f->log_id);
    if (f->shard >= 0)
        jsonw_i64(w, "shard", f->shard);
    else
        jsonw_null(w, "shard");
    jsonw_text(w, "wanted", f->wanted);
    jsonw_text(w, "found", f->found);
    jsonw_object_end(w);
}

static void line(const struct shadow_report *r, const struct finding *f, const char *job)
{
    char ours[RFC3339_SIZE] = "never", theirs[RFC3339_SIZE] = "none";
    if (f->scheduled_ms)
        rfc3339_format(f->scheduled_ms, r->zone, ours);
    if (f->fired_ms)
        rfc3339_format(f->fired_ms, r->zone, theirs);
    printf("%-10s job %lld (%s)", difference_text(f->what), (long long)f->job_id, job);
    if (f->shard >= 0)
        printf(", shard %d", f->shard);
    switch (f->what) {
    case DIFFERENCE_MISSING:
        printf(": due %s, not in the log\n", ours);
        break;
    case DIFFERENCE_DOUBLED:
        printf(": log %lld of %s is a second one\n", (long long)f->log_id, theirs);
        break;
    case DIFFERENCE_UNEXPECTED:
        printf(": log %lld of %s, when Peal would not fire\n", (long long)f->log_id, theirs);
        break;
    case DIFFERENCE_EXECUTOR:
        printf(": due %s, log %lld went to %s in place of %s\n", ours, (long long)f->log_id,
               f->found ? f->found : "no address", f->wanted ? f->wanted : "one of its group");
        break;
    case DIFFERENCE_NEXT:
        printf(": next is %s, XXL-JOB's is %s\n", ours, theirs);
        break;
    case DIFFERENCE_REFUSED:
        printf(": Peal cannot schedule it: %s\n", f->wanted);
        break;
    default:
        printf(": due %s, fired %s (log %lld)\n", ours, theirs, (long long)f->log_id);
        break;
    }
    fflush(stdout);
}

void shadow_report_finding(void *report, const struct finding *f, const char *job)
{
    struct shadow_report *r = report;
    r->counts[f->what]++;
    r->all++;
    list(r, f, job);
    if (!r->json)
        line(r, f, job);
}

int64_t shadow_report_findings(const struct shadow_report *r)
{
    return r->all;
}

/* ---- the end ----------------------------------------------------------------------------------
 */

static void end_text(const struct shadow_report *r, const struct shadow *s)
{
    const struct match_counts *c = shadow_counts(s);
    struct shadow_state state = shadow_state(s);
    printf("\n%lld firings compared, %lld of them in the log; %lld jobs, %lld running\n",
           (long long)c->firings, (long long)c->matched, (long long)state.jobs,
           (long long)state.running);
    printf("not compared: %lld rows of manual runs, retries and children; around edits and the "
           "start %lld firings and %lld rows; %lld rows whose reason cannot be read\n",
           (long long)c->others, (long long)c->optional, (long long)c->loose, (long long)c->unread);
    if (state.failures)
        printf("the database did not answer %lld of %lld times\n", (long long)state.failures,
               (long long)state.looks);
    for (int i = 0; i < DIFFERENCE_COUNT; i++)
        if (r->counts[i])
            printf("%-10s %lld\n", difference_text((enum difference)i), (long long)r->counts[i]);
    if (!r->all)
        puts(c->firings ? "no difference" : "nothing was due, so nothing was compared");
}

static void end_counts(struct jsonw *w, const struct shadow_report *r, const struct shadow *s)
{
    const struct match_counts *c = shadow_counts(s);
    struct shadow_state state = shadow_state(s);
    jsonw_i64(w, "jobs", state.jobs);
    jsonw_i64(w, "running", state.running);
    jsonw_i64(w, "looks", state.looks);
    jsonw_i64(w, "failures", state.failures);
    jsonw_i64(w, "shifts", state.shifts);
    jsonw_i64(w, "firings", c->firings);
    jsonw_i64(w, "matched", c->matched);
    jsonw_i64(w, "uncertainFirings", c->optional);
    jsonw_i64(w, "uncertainRows", c->loose);
    jsonw_i64(w, "otherRows", c->others);
    jsonw_i64(w, "misfireRows", c->misfires);
    jsonw_i64(w, "unreadRows", c->unread);
    jsonw_object(w, "differences");
    for (int i = 0; i < DIFFERENCE_COUNT; i++)
        jsonw_i64(w, difference_text((enum difference)i), r->counts[i]);
    jsonw_object_end(w);
}

static void end_json(const struct shadow_report *r, const struct shadow *s,
                     const struct shadow_config *config, int64_t ended_ms)
{
    struct buf out = BUF_INIT((size_t)LISTED_MAX * 2048 + 65536);
    struct jsonw w = jsonw_on(&out);
    struct shadow_state state = shadow_state(s);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "layout", layout_text(state.layout));
    jsonw_text(&w, "zone", zone_name(config->zone));
    jsonw_text(&w, "logZone", zone_name(config->log_zone));
    jsonw_i64(&w, "startedMs", state.started_ms);
    jsonw_i64(&w, "endedMs", ended_ms);
    jsonw_i64(&w, "graceMs", config->grace_ms);
    end_counts(&w, r, s);
    jsonw_array(&w, "warnings");
    for (int i = 0; i < r->nwarnings; i++)
        jsonw_text(&w, NULL, r->warnings[i]);
    jsonw_array_end(&w);
    struct buf all = BUF_INIT(r->found.len + 16);
    buf_char(&all, '[');
    buf_add(&all, buf_str(&r->found), r->found.len);
    buf_char(&all, ']');
    jsonw_raw(&w, "found", slice_of(buf_str(&all), all.len));
    jsonw_object_end(&w);
    puts(buf_str(&out));
    buf_done(&all);
    buf_done(&out);
}

bool shadow_report_end(struct shadow_report *r, const struct shadow *s,
                       const struct shadow_config *config, int64_t ended_ms)
{
    if (r->json)
        end_json(r, s, config, ended_ms);
    else
        end_text(r, s);
    return !fflush(stdout) && !ferror(stdout);
}
