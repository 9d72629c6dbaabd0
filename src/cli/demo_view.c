/* SPDX-License-Identifier: Apache-2.0 */
/* The log list has whole seconds only, as XXL-JOB's has, so "late" comes from the center's metric:
 * the mean over what left in the second of the run's scheduled time. */
#include "cli/demo_view.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/mem.h"

#define SUM_EVERY_MS 10000
#define HEAD                                                                                       \
    "time          job                  scheduled    late ms  executor             run  result\n"

static const char green[] = "\033[32m", red[] = "\033[31m", yellow[] = "\033[33m",
                  grey[] = "\033[90m", plain[] = "\033[0m";

static bool wants_colours(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

void view_init(struct view *v, const struct view_job *jobs, int njobs)
{
    memset(v, 0, sizeof(*v));
    v->jobs = jobs;
    v->njobs = njobs;
    v->colours = wants_colours();
    map_init(&v->shown);
}

void view_done(struct view *v)
{
    map_done(&v->shown);
}

/* ---- /metrics ---------------------------------------------------------------------------------
 */

/* The number behind "\nNAME "; false if there is no such line. */
static bool sample(struct slice text, const char *name, double *ret)
{
    size_t n = strlen(name);
    const char *end = text.p + text.n;
    for (const char *p = text.p; p && p < end;) {
        if ((size_t)(end - p) > n && memcmp(p, name, n) == 0 && p[n] == ' ') {
            char number[48];
            text_copy(number, sizeof(number), slice_of(p + n + 1, (size_t)(end - p) - n - 1));
            *ret = strtod(number, NULL);
            return true;
        }
        p = memchr(p, '\n', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }
    return false;
}

static struct view_late *late_at(struct view *v, int64_t second)
{
    return &v->late[(uint64_t)second % countof(v->late)];
}

void view_metrics(struct view *v, struct slice text, int64_t now_ms)
{
    double sum, runs;
    sample(text, "peal_firings_unaccounted", &v->unaccounted);
    if (!sample(text, "peal_lateness_seconds_sum", &sum) ||
        !sample(text, "peal_lateness_seconds_count", &runs) || runs <= v->late_runs)
        return;
    struct view_late *late = late_at(v, now_ms / 1000);
    if (late->second != now_ms / 1000)
        *late = (struct view_late){ .second = now_ms / 1000 };
    late->sum_s += sum - v->late_sum_s;
    late->runs += runs - v->late_runs;
    v->late_sum_s = sum;
    v->late_runs = runs;
}

/* ---- lines ------------------------------------------------------------------------------------
 */

static const char *colour(const struct view *v, const char *code)
{
    return v->colours ? code : "";
}

static const char *text_of(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));
    return text ? text : "";
}

static int64_t number_of(const json_t *row, const char *name)
{
    return json_integer_value(json_object_get(row, name));
}

/* What an executor wrote, made fit for a terminal: one line, no tags, no control characters. */
static void tidy(char *to, size_t size, const char *from)
{
    struct slice s = slice_text(from);
    size_t n = 0, cut = utf8_cut(s.p, s.n, size - 1);
    bool tag = false;
    for (size_t i = 0; i < cut; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '<')
            tag = true;
        if (!tag)
            to[n++] = c < 0x20 || c == 0x7f ? ' ' : (char)c;
        if (c == '>')
            tag = false;
    }
    to[n] = '\0';
}

static const struct view_job *job_of(const struct view *v, int64_t id)
{
    for (int i = 0; i < v->njobs; i++)
        if (v->jobs[i].id == id)
            return &v->jobs[i];
    return NULL;
}

/* "2026-01-31 09:00:00" of the center's zone, which is ours. */
static int64_t second_of(const char *date)
{
    struct tm tm = { .tm_isdst = -1 };
    return strptime(date, "%Y-%m-%d %H:%M:%S", &tm) ? (int64_t)mktime(&tm) : 0;
}

static void clock_text(char to[16], int64_t wall_ms)
{
    struct tm tm;
    time_t second = (time_t)(wall_ms / 1000);
    localtime_r(&second, &tm);
    snprintf(to, 16, "%02d:%02d:%02d.%03d", tm.tm_hour, tm.tm_min, tm.tm_sec,
             (int)(wall_ms % 1000));
}

static const char *without_scheme(const char *address, char to[32])
{
    struct slice s = slice_text(address);
    const char *host = strstr(address, "://");
    if (host)
        s = slice_text(host + 3);
    if (s.n && s.p[s.n - 1] == '/')
        s.n--;
    text_copy(to, 32, s);
    return to;
}

static bool ended(const json_t *row)
{
    int64_t trigger = number_of(row, "triggerCode");
    return trigger != 0 && (trigger != 200 || number_of(row, "handleCode") != 0);
}

static void result(struct view *v, const json_t *row, const struct view_job *job)
{
    bool taken = number_of(row, "triggerCode") == 200;
    int64_t code = number_of(row, "handleCode"), left = number_of(row, "executorFailRetryCount");
    const char *shard = text_of(row, "executorShardingParam");
    char msg[80];
    tidy(msg, sizeof(msg), text_of(row, taken ? "handleMsg" : "triggerMsg"));
    if (taken && code == 200) {
        v->succeeded++;
        printf("%ssucceeded%s", colour(v, green), colour(v, plain));
    } else {
        *(taken ? &v->failed : &v->refused) += 1;
        const char *word = !taken ? "rejected" : code == 502 ? "timed out" : "failed";
        printf("%s%s%s: %s", colour(v, red), word, colour(v, plain), msg);
    }
    if (*shard)
        printf(" (shard %s)", shard);
    if (job && job->retries && left < job->retries)
        printf(", was retry %lld of %d", (long long)(job->retries - left), job->retries);
    if (!(taken && code == 200) && left > 0)
        printf(", %swill be tried again%s", colour(v, yellow), colour(v, plain));
    printf("\n");
}

static void line(struct view *v, const json_t *row, int64_t now_ms)
{
    const struct view_job *job = job_of(v, number_of(row, "jobId"));
    const char *date = text_of(row, "triggerTime");
    int64_t second = second_of(date);
    const struct view_late *late = late_at(v, second);
    char now[16], ms[16] = "-", address[32];
    if (late->second == second && late->runs > 0)
        snprintf(ms, sizeof(ms), "%.2f", late->sum_s / late->runs * 1000);
    if (job && job->retries && number_of(row, "executorFailRetryCount") < job->retries)
        snprintf(ms, sizeof(ms),
                 "-"); /* a retry leaves later than its scheduled time, as it should */
    clock_text(now, now_ms);
    printf("%s%s%s  %-22.22s  %-8.8s  %7s  %-19s  %4lld  ", colour(v, grey), now, colour(v, plain),
           job ? job->name : "?", strlen(date) > 11 ? date + 11 : "", ms,
           without_scheme(text_of(row, "executorAddress"), address),
           (long long)number_of(row, "id"));
    result(v, row, job);
    v->since_sum++;
}

void view_sum(struct view *v)
{
    printf("%s--%s %d succeeded, %d failed, %d rejected; a run left %.2f ms after its scheduled "
           "time on "
           "average; firings unaccounted for: %.0f\n",
           colour(v, grey), colour(v, plain), v->succeeded, v->failed, v->refused,
           v->late_runs > 0 ? v->late_sum_s / v->late_runs * 1000 : 0.0, v->unaccounted);
    v->since_sum = 0;
}

void view_page(struct view *v, const struct json_t *page, int64_t now_ms, int64_t boot_ms)
{
    const json_t *rows = json_object_get(page, "data");
    if (!v->sum_at_ms) {
        printf("%s", HEAD);
        v->sum_at_ms = boot_ms + SUM_EVERY_MS;
    }
    for (size_t i = json_array_size(rows); i-- > 0;) {
        const json_t *row = json_array_get(rows, i);
        uint64_t id = (uint64_t)number_of(row, "id");
        if (!ended(row) || map_find(&v->shown, id))
            continue;
        map_set(&v->shown, id, v);
        line(v, row, now_ms);
    }
    if (boot_ms >= v->sum_at_ms && v->since_sum) {
        view_sum(v);
        v->sum_at_ms = boot_ms + SUM_EVERY_MS;
    }
}
