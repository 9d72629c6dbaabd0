/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules that are no job's yet: what an expression means, when it would fire, what its author
 * should know. All of it is computed by the code that also fires. A request that breaks the
 * contract is refused; an expression or a zone that is refused is an answer. */
#include "api/body.h"
#include "api/v1/fire_json.h"
#include "api/v1/job_json.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cron/civil.h"
#include "cron/explain.h"
#include "cron/outlook.h"
#include "cron/rfc3339.h"
#include "live/forecast.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { DAY_S = 86400, MS = 1000, COUNT_DEFAULT = 10, COUNT_MAX = 100, DAYS_MAX = 400 };
enum { CROWDED = 20 }; /* other jobs in one second that are worth a word */
#define ID_MAX ((int64_t)9007199254740991)
#define YEAR_MS (366 * (int64_t)DAY_S * MS) /* how far remarks look ahead */

struct preview {
    const json_t *schedule;
    int64_t from_ms, count, days, job_id;
    struct body_word language;
    enum language lang;
};

static const struct body_field fields[] = {
    { "schedule", FIELD_OBJECT, offsetof(struct preview, schedule), true, 0, 0 },
    { "fromMs", FIELD_I64, offsetof(struct preview, from_ms), false, INT64_MIN, INT64_MAX },
    { "count", FIELD_I64, offsetof(struct preview, count), false, 1, COUNT_MAX },
    { "days", FIELD_I64, offsetof(struct preview, days), false, 0, DAYS_MAX },
    { "language", FIELD_WORD, offsetof(struct preview, language), false, 0, 0 },
    { "jobId", FIELD_I64_OR_NULL, offsetof(struct preview, job_id), false, 1, ID_MAX },
};

/* ---- words -------------------------------------------------------------------------------------
 */

static void write_sentence(struct jsonw *w, const struct schedule *s, enum language lang)
{
    struct buf text = BUF_INIT(EXPLAIN_MAX);
    schedule_explain(s, lang, &text);
    jsonw_text(w, "sentence", buf_str(&text));
    buf_done(&text);
}

static void write_field(struct jsonw *w, const struct cron *c, enum cron_field field,
                        struct slice text, enum language lang)
{
    struct buf meaning = BUF_INIT(EXPLAIN_MAX);
    cron_explain_field(c, field, lang, &meaning);
    jsonw_object(w, NULL);
    jsonw_text(w, "name", cron_field_name(field));
    jsonw_slice(w, "text", text);
    jsonw_text(w, "meaning", buf_str(&meaning));
    jsonw_object_end(w);
    buf_done(&meaning);
}

static void write_fields(struct jsonw *w, const struct schedule *s, const char *conf,
                         enum language lang)
{
    struct slice texts[CRON_FIELDS];
    size_t n = s->type == SCHEDULE_CRON ? cron_split(slice_text(conf), texts) : 0;
    jsonw_array(w, "fields");
    for (size_t i = 0; i < n && i < CRON_FIELDS; i++)
        write_field(w, &s->cron, (enum cron_field)i, texts[i], lang);
    jsonw_array_end(w);
}

/* ---- warnings ----------------------------------------------------------------------------------
 */

struct warning {
    const char *code;
    const char *remedy; /* what the author may do; a stable word */
    int64_t at_ms;      /* 0: nowhere in particular */
};

static void warning_begin(struct jsonw *w, struct warning warning, const char *detail)
{
    jsonw_object(w, NULL);
    jsonw_text(w, "code", warning.code);
    jsonw_text(w, "detail", detail);
    v1_instant_or_null(w, "when", warning.at_ms);
    jsonw_object(w, "params");
    jsonw_text(w, "remedy", warning.remedy);
}

static void warning_end(struct jsonw *w)
{
    jsonw_object_end(w);
    jsonw_object_end(w);
}

static void warning_plain(struct jsonw *w, struct warning warning, const char *detail)
{
    warning_begin(w, warning, detail);
    warning_end(w);
}

struct wall { /* a wall time as text */
    char day[16], time[16];
};

static struct wall wall_of(int64_t wall_s)
{
    struct wall to;
    char text[RFC3339_SIZE];
    walltime_format(wall_s * MS, zone_utc(), text);
    snprintf(to.day, sizeof(to.day), "%.10s", text);
    snprintf(to.time, sizeof(to.time), wall_s % 60 ? "%.8s" : "%.5s", text + 11);
    return to;
}

static void warn_gap(struct jsonw *w, const struct remark *r)
{
    char detail[160];
    struct wall missing = wall_of(r->wall_s), fires = wall_of(r->fires_s < 0 ? 0 : r->fires_s);
    if (r->fires_s < 0)
        snprintf(detail, sizeof(detail), "%s has no %s: it does not fire then", missing.day,
                 missing.time);
    else
        snprintf(detail, sizeof(detail), "%s has no %s: it fires at %s", missing.day, missing.time,
                 fires.time);
    warning_begin(w, (struct warning){ "gap", "choose_another_time", r->at_ms }, detail);
    jsonw_text(w, "day", missing.day);
    jsonw_text(w, "time", missing.time);
    jsonw_text(w, "fires", r->fires_s < 0 ? NULL : fires.time);
    warning_end(w);
}

static void warn_overlap(struct jsonw *w, const struct remark *r)
{
    char detail[160];
    struct wall twice = wall_of(r->wall_s);
    snprintf(detail, sizeof(detail), "%s has %s twice: it fires the %s time only", twice.day,
             twice.time, r->first ? "first" : "second");
    warning_begin(w, (struct warning){ "overlap", "choose_another_time", r->at_ms }, detail);
    jsonw_text(w, "day", twice.day);
    jsonw_text(w, "time", twice.time);
    jsonw_bool(w, "first", r->first);
    warning_end(w);
}

static void warn_dense(struct jsonw *w, const struct remark *r)
{
    char detail[160];
    snprintf(detail, sizeof(detail), "it fires %lld times in the next 24 hours, each with a row",
             (long long)r->count);
    warning_begin(w, (struct warning){ "dense", "fire_less_often", 0 }, detail);
    jsonw_i64(w, "count", r->count);
    warning_end(w);
}

static void write_remark(void *ctx, const struct remark *r)
{
    struct jsonw *w = ctx;
    switch (r->kind) {
    case REMARK_NEVER:
        warning_plain(w, (struct warning){ "never_fires", "change_date", 0 },
                      "it never fires: no such date lies ahead");
        break;
    case REMARK_LEAP_DAY:
        warning_plain(w, (struct warning){ "leap_day_only", "use_last_day", r->at_ms },
                      "it fires on 29 February only, in leap years; L is the last day of a month");
        break;
    case REMARK_RARE:
        warning_plain(w, (struct warning){ "rare", "check_dates", r->at_ms },
                      "it fires less than once a year");
        break;
    case REMARK_DENSE:
        warn_dense(w, r);
        break;
    case REMARK_GAP:
        warn_gap(w, r);
        break;
    case REMARK_OVERLAP:
        warn_overlap(w, r);
        break;
    }
}

/* The offset that ONCE was written with; false: none is there. */
static bool written_offset(const char *conf, char to[OFFSET_SIZE])
{
    struct slice s = slice_trim(slice_text(conf));
    if (s.n && (s.p[s.n - 1] == 'Z' || s.p[s.n - 1] == 'z'))
        snprintf(to, OFFSET_SIZE, "+00:00");
    else if (s.n > 6 && (s.p[s.n - 6] == '+' || s.p[s.n - 6] == '-'))
        snprintf(to, OFFSET_SIZE, "%.6s", s.p + s.n - 6);
    else
        return false;
    return true;
}

static void warn_zone(struct jsonw *w, const struct schedule *s, const char *conf)
{
    char written[OFFSET_SIZE], there[OFFSET_SIZE], detail[200];
    if (s->type != SCHEDULE_ONCE || !written_offset(conf, written))
        return;
    offset_text(zone_offset_at(s->zone, s->once_ms / MS), there);
    if (strcmp(written, there) == 0)
        return;
    snprintf(detail, sizeof(detail), "the moment is written with %s, %s has %s then", written,
             zone_name(s->zone), there);
    warning_begin(w, (struct warning){ "zone_differs", "check_zone", s->once_ms }, detail);
    jsonw_text(w, "written", written);
    jsonw_text(w, "zone", there);
    warning_end(w);
}

struct ahead { /* the next firings */
    int n;
    int64_t ms[COUNT_MAX], crowd[COUNT_MAX]; /* crowd < 0: not known */
};

/* The fullest second, if it is full. */
static void warn_crowd(struct jsonw *w, const struct ahead *a)
{
    char detail[160];
    int at = 0;
    for (int i = 1; i < a->n; i++)
        at = a->crowd[i] > a->crowd[at] ? i : at;
    if (!a->n || a->crowd[at] < CROWDED)
        return;
    snprintf(detail, sizeof(detail), "%lld other jobs fire in the same second",
             (long long)a->crowd[at]);
    warning_begin(w, (struct warning){ "crowded", "choose_another_second", a->ms[at] }, detail);
    jsonw_i64(w, "jobs", a->crowd[at]);
    warning_end(w);
}

static void write_warnings(struct jsonw *w, const struct schedule *s, const char *conf,
                           int64_t from_ms, const struct ahead *a)
{
    jsonw_array(w, "warnings");
    schedule_remarks(s, from_ms, from_ms + YEAR_MS, write_remark, w);
    warn_zone(w, s, conf);
    warn_crowd(w, a);
    jsonw_array_end(w);
}

/* ---- firings and calendar ----------------------------------------------------------------------
 */

static void find_ahead(struct web_call *call, const struct schedule *s, const struct preview *in,
                       struct ahead *ret)
{
    int64_t ms = in->from_ms;
    int counted;
    enum err err = schedule_next(s, ms, &ms);
    for (ret->n = 0; !err && ret->n < in->count; ret->n++) {
        ret->ms[ret->n] = ms;
        ret->crowd[ret->n] = -1;
        /* when a run with a fixed delay ends nobody knows */
        err = s->type == SCHEDULE_FIX_DELAY ? ERR_NEVER : schedule_next(s, ms, &ms);
    }
    counted = ret->n < FORECAST_TIMES ? ret->n : FORECAST_TIMES;
    int64_t crowd[FORECAST_TIMES];
    if (forecast_crowd(call->forecast, actor_scope(call->actor, PERM_READ), in->job_id, ret->ms,
                       counted, crowd))
        memcpy(ret->crowd, crowd, (size_t)counted * sizeof(crowd[0]));
}

static void write_fires(struct jsonw *w, const struct schedule *s, const struct ahead *a)
{
    jsonw_array(w, "fires");
    for (int i = 0; i < a->n; i++)
        fire_write(w, s, (struct fire){ .ms = a->ms[i], .crowd = a->crowd[i] });
    jsonw_array_end(w);
}

/* Changes of the clock between two instants: bit 0 a gap, bit 1 an overlap. */
static unsigned clock_changes(const struct zone *z, int64_t from_s, int64_t until_s)
{
    unsigned found = 0;
    struct zone_span span = zone_span_at(z, from_s - 1);
    while (span.end_s < until_s) {
        struct zone_span next = zone_span_at(z, span.end_s);
        if (next.offset != span.offset)
            found |= next.offset > span.offset ? 1U : 2U;
        span = next;
    }
    return found;
}

static void write_day(struct jsonw *w, int64_t day, int64_t count, unsigned changes)
{
    struct wall wall = wall_of(day * DAY_S);
    jsonw_object(w, NULL);
    jsonw_text(w, "day", wall.day);
    jsonw_i64(w, "count", count);
    if (changes) {
        jsonw_array(w, "marks");
        if (changes & 1U)
            jsonw_text(w, NULL, "gap");
        if (changes & 2U)
            jsonw_text(w, NULL, "overlap");
        jsonw_array_end(w);
    }
    jsonw_object_end(w);
}

/* One day after the other in the schedule's zone. Days without a firing cost a comparison. */
static void write_calendar(struct jsonw *w, const struct schedule *s, int64_t from_ms, int64_t days)
{
    int64_t from_s = floor_div(from_ms, MS), next_ms = from_ms;
    int64_t day = floor_div(from_s + zone_offset_at(s->zone, from_s), DAY_S);
    bool more = s->type != SCHEDULE_FIX_DELAY && !schedule_next(s, from_ms, &next_ms);
    int64_t begin_s = from_s + 1, first_ms = next_ms;
    jsonw_array(w, "calendar");
    for (; days > 0; days--, day++) {
        int64_t end_s = zone_from_local(s->zone, (day + 1) * DAY_S).first_s, count = 0;
        if (more && next_ms < end_s * MS) {
            count = schedule_count(s, first_ms, begin_s * MS, end_s * MS);
            more = !schedule_next(s, end_s * MS - 1, &next_ms);
        }
        write_day(w, day, count, clock_changes(s->zone, begin_s, end_s));
        begin_s = end_s;
    }
    jsonw_array_end(w);
}

/* ---- the answer --------------------------------------------------------------------------------
 */

static void write_refused(struct jsonw *w, const struct job_record *r, int last_year,
                          const struct problem_errors *refused)
{
    char form[CRON_TEXT_MAX + 1];
    struct slice conf = slice_text(r->schedule_conf);
    bool cron = r->schedule_type && strcmp(r->schedule_type, "CRON") == 0;
    struct cron c;
    bool guess = cron && cron_parse(conf, last_year, &c, NULL) && cron_guess(conf, last_year, form);
    jsonw_bool(w, "valid", false);
    jsonw_null(w, "sentence");
    static const char *const empty[] = { "fields", "fires", "calendar", NULL };
    for (const char *const *name = empty; *name; name++) {
        jsonw_array(w, *name);
        jsonw_array_end(w);
    }
    jsonw_array(w, "warnings");
    if (cron && cron_both_days(conf, last_year))
        warning_plain(w, (struct warning){ "both_days", "use_two_jobs", 0 },
                      "it names days of the month and weekdays: two jobs can do that, each with ? "
                      "in the other field");
    jsonw_array_end(w);
    jsonw_array(w, "errors");
    jsonw_array_end(w);
    w->out->len--; /* "]" */
    buf_slice(w->out, slice_of(refused->list.data, refused->list.len));
    buf_char(w->out, ']');
    jsonw_text(w, "suggestion", guess ? form : NULL);
}

static void write_valid(struct web_call *call, struct jsonw *w, const struct schedule *s,
                        const char *conf, const struct preview *in)
{
    struct ahead ahead;
    find_ahead(call, s, in, &ahead);
    jsonw_bool(w, "valid", true);
    write_sentence(w, s, in->lang);
    write_fields(w, s, conf, in->lang);
    write_fires(w, s, &ahead);
    write_warnings(w, s, conf, in->from_ms, &ahead);
    write_calendar(w, s, in->from_ms, s->type == SCHEDULE_NONE ? 0 : in->days);
    jsonw_array(w, "errors");
    jsonw_array_end(w);
    jsonw_null(w, "suggestion");
}

static void answer(struct web_call *call, const struct preview *in, const struct job_record *r,
                   const struct problem_errors *refused)
{
    int last_year = center_last_year(call->center);
    const char *conf = r->schedule_conf ? r->schedule_conf : "";
    struct zone *zone = NULL;
    struct schedule s = { 0 };
    struct why why = { "" };
    enum err err = OK;
    if (!refused->n)
        err = zones_get(center_zones(call->center),
                        r->zone && r->zone[0] ? r->zone : center_zone_name(call->center), &zone,
                        &why);
    enum dst_policy dst = DST_SMART;
    (void)dst_policy_find(slice_text(r->dst), &dst);
    if (!err && !refused->n)
        err = schedule_parse(slice_text(r->schedule_type), slice_text(conf), zone, dst, last_year,
                             &s, &why);
    if (err) { /* a zone that went away since the rules looked */
        problem_err(call, err, &why);
    } else {
        struct jsonw w = jsonw_on(&call->output);
        jsonw_object(&w, NULL);
        if (refused->n)
            write_refused(&w, r, last_year, refused);
        else
            write_valid(call, &w, &s, conf, in);
        jsonw_object_end(&w);
    }
    schedule_done(&s);
    zone_unref(zone);
}

void v1_schedule_preview(struct web_call *call)
{
    const struct job_rules rules = {
        .db = call->db,
        .zones = center_zones(call->center),
        .zone = center_zone_name(call->center),
        .last_year = center_last_year(call->center),
    };
    struct preview in = { .from_ms = clock_wall_ms(),
                          .count = COUNT_DEFAULT,
                          .language = { .words = "en,zh-CN,zh-TW" } };
    struct problem_errors errors, refused;
    struct job_record r;
    struct why why = { "" };
    enum err err = OK;
    job_record_init(&r);
    problem_errors_init(&errors);
    problem_errors_init(&refused);
    body_fields(call->json, fields, countof(fields), &in, &errors);
    if (in.schedule)
        err = job_json_schedule(in.schedule, &rules, &r, &errors, &refused, &why);
    in.from_ms = in.from_ms < 0 ? 0 : in.from_ms > FIRES_FROM_MAX ? FIRES_FROM_MAX : in.from_ms;
    (void)language_find(in.language.text, &in.lang);
    if (errors.n)
        problem_fields(call, PROBLEM_INVALID, &errors);
    else if (err)
        problem_err(call, err, &why);
    else
        answer(call, &in, &r, &refused);
    problem_errors_done(&errors);
    problem_errors_done(&refused);
    job_record_done(&r);
}

/* ---- zones -------------------------------------------------------------------------------------
 */

static void write_zone(void *ctx, const char *name, int east_s)
{
    struct jsonw *w = ctx;
    char offset[OFFSET_SIZE];
    jsonw_object(w, NULL);
    jsonw_text(w, "name", name);
    jsonw_text(w, "offset", offset_text(east_s, offset));
    jsonw_object_end(w);
}

void v1_zones_list(struct web_call *call)
{
    struct query q;
    query_begin(&q, call);
    if (!query_end(&q))
        return;
    struct jsonw w = jsonw_on(&call->output);
    jsonw_object(&w, NULL);
    jsonw_array(&w, "items");
    zones_each(center_zones(call->center), clock_wall_ms() / MS, write_zone, &w);
    jsonw_array_end(&w);
    jsonw_text(&w, "server", center_zone_name(call->center));
    jsonw_object_end(&w);
}
