/* SPDX-License-Identifier: Apache-2.0 */
/* told.c - a message as JSON for programs, and as lines for people. */
#include "alarm/told.h"
#include <stdio.h>
#include <string.h>
#include "base/jsonw.h"

#define MESSAGE_MAX 20000 /* bytes of a message in the body */
#define LINE_MAX 300      /* bytes of a text in a line for people */

/* ---- for programs ---------------------------------------------------------------------------- */

static void text_member(struct jsonw *w, const char *key, const char *text)
{
    jsonw_slice(w, key, slice_of(text, utf8_cut(text, strlen(text), MESSAGE_MAX)));
}

static void body_of_run(struct jsonw *w, const struct alarm_message *m)
{
    jsonw_i64(w, "runId", m->log_id);
    jsonw_i64(w, "jobId", m->job_id);
    text_member(w, "job", m->job);
    text_member(w, "handler", m->handler);
    jsonw_i64(w, "groupId", m->group_id);
    text_member(w, "group", m->group);
    text_member(w, "app", m->app);
    jsonw_text(w, "outcome", m->outcome);
    jsonw_text(w, "scheduledFor", m->when);
    text_member(w, "executor", m->address);
    jsonw_i64(w, "code", m->code);
    text_member(w, "cause", m->cause);
    text_member(w, "triggerMsg", m->trigger_msg);
    text_member(w, "handleMsg", m->handle_msg);
}

static void item(struct jsonw *w, const struct alarm_item *i)
{
    jsonw_object(w, NULL);
    jsonw_i64(w, "jobId", i->job_id);
    text_member(w, "job", i->job);
    jsonw_i64(w, "runId", i->log_id);
    jsonw_text(w, "since", i->since);
    jsonw_i64(w, "failures", i->failures);
    jsonw_i64(w, "tookMs", i->took_ms);
    text_member(w, "cause", i->cause);
    jsonw_bool(w, "open", i->open);
    jsonw_object_end(w);
}

/* What a rule has found, or the center. */
static void body_of_alarm(struct jsonw *w, const struct alarm_message *m)
{
    jsonw_text(w, "key", m->key);
    jsonw_text(w, "level", m->level);
    jsonw_text(w, "state", m->state);
    text_member(w, "title", m->title);
    jsonw_i64(w, "alarmId", m->alarm_id);
    jsonw_i64(w, "ruleId", m->rule_id);
    text_member(w, "rule", m->rule);
    jsonw_i64(w, "groupId", m->group_id);
    text_member(w, "group", m->group);
    text_member(w, "app", m->app);
    text_member(w, "executor", m->address);
    text_member(w, "cause", m->cause);
    jsonw_i64(w, "sinceMs", m->since_ms);
    jsonw_i64(w, "closedMs", m->closed_ms);
    jsonw_i64(w, "jobs", m->jobs);
    jsonw_i64(w, "open", m->open);
    jsonw_i64(w, "held", m->held);
    jsonw_array(w, "items");
    for (int i = 0; i < m->nitems; i++)
        item(w, &m->items[i]);
    jsonw_array_end(w);
}

void told_json(struct buf *out, const struct alarm_message *m)
{
    struct jsonw w = jsonw_on(out);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "event", m->event);
    jsonw_text(&w, "id", m->id);
    if (strcmp(m->event, ALARM_RUN_FAILED) == 0)
        body_of_run(&w, m);
    else
        body_of_alarm(&w, m);
    jsonw_object_end(&w);
}

/* ---- for people ------------------------------------------------------------------------------ */

enum word { W_GROUP, W_JOB, W_KIND, W_WHEN, W_WHERE, W_CODE, W_CAUSE, W_MORE, W_HELD };

static const char *const words[2][9] = {
    { "Executor group", "Job", "Result", "Scheduled for", "Executor", "Code", "Cause",
      "and so many others", "Alarms held back before this" },
    { "执行器", "任务", "结果", "调度时间", "执行器地址", "结果码", "原因", "其他任务数",
      "此前被限流的告警数" },
};

static void line(struct buf *out, const struct alarm_message *m, enum word w, const char *text)
{
    struct slice s = slice_of(text, utf8_cut(text, strlen(text), LINE_MAX));
    if (!s.n)
        return;
    buf_printf(out, "%s: ", words[m->lang == WIRE_LANG_ZH_CN][w]);
    buf_slice(out, s);
    buf_char(out, '\n');
}

static void line_i64(struct buf *out, const struct alarm_message *m, enum word w, int64_t v)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)v);
    line(out, m, w, v ? text : "");
}

static void item_line(struct buf *out, const struct alarm_item *i)
{
    buf_printf(out, "- %.*s (%lld)", (int)utf8_cut(i->job, strlen(i->job), LINE_MAX), i->job,
               (long long)i->job_id);
    if (i->failures)
        buf_printf(out, " %lldx", (long long)i->failures);
    if (i->took_ms)
        buf_printf(out, " %lld ms", (long long)i->took_ms);
    if (i->cause[0])
        buf_printf(out, ": %.*s", (int)utf8_cut(i->cause, strlen(i->cause), LINE_MAX), i->cause);
    buf_char(out, '\n');
}

void told_text(struct buf *out, const struct alarm_message *m)
{
    bool run = strcmp(m->event, ALARM_RUN_FAILED) == 0;
    buf_printf(out, "%s\n", m->title);
    line(out, m, W_GROUP, m->group);
    line(out, m, W_KIND, run ? m->outcome : "");
    line(out, m, W_WHEN, run ? m->when : "");
    line(out, m, W_WHERE, m->address);
    line_i64(out, m, W_CODE, run ? m->code : 0);
    line(out, m, W_CAUSE, m->cause);
    for (int i = 0; i < m->nitems; i++)
        item_line(out, &m->items[i]);
    line_i64(out, m, W_MORE, m->jobs > m->nitems ? m->jobs - m->nitems : 0);
    line_i64(out, m, W_HELD, m->held);
}
