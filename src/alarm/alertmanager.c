/* SPDX-License-Identifier: Apache-2.0 */
/* alertmanager.c - alerts of Prometheus' Alertmanager, API version 2. Labels are what it knows an
 * alert by, so they hold nothing that differs between an alarm's begin and its end. An alert
 * without an end resolves itself there after a few minutes: one of an alarm that is open has an end
 * far ahead, and the message that the alarm is over brings the real one. */
#include <string.h>
#include "alarm/chat.h"
#include "alarm/hook.h"
#include "base/jsonw.h"
#include "cron/rfc3339.h"

#define PATH "/api/v2/alerts"
#define TEXT_MAX 15000
#define OPEN_MS (INT64_C(7) * 86400000) /* no rule repeats more rarely */

static const struct channel_field fields[] = {
    { "url", CHANNEL_URL, true, true, 2000 },
    { "headers", CHANNEL_HEADERS, false, true, 4000 },
};

static enum err check(const struct channel_values *v, const char **field, struct why *why)
{
    *field = "headers";
    return hook_headers_check(v->v[CHANNEL_HEADERS], why);
}

static void labels(struct jsonw *w, const struct alarm_message *m)
{
    jsonw_object(w, "labels");
    jsonw_text(w, "alertname", "PealAlarm");
    jsonw_text(w, "alarm", m->key);
    jsonw_text(w, "severity", m->level);
    if (m->rule[0])
        jsonw_text(w, "rule", m->rule);
    if (m->app[0])
        jsonw_text(w, "app", m->app);
    jsonw_object_end(w);
}

static void annotations(struct jsonw *w, const struct alarm_message *m)
{
    struct buf text = BUF_INIT(TEXT_MAX + 1);
    chat_text(&text, m, TEXT_MAX);
    jsonw_object(w, "annotations");
    jsonw_text(w, "summary", m->title);
    jsonw_text(w, "description", buf_str(&text));
    jsonw_text(w, "event", m->event);
    jsonw_object_end(w);
    buf_done(&text);
}

/* -1: it is told once. */
static int64_t ends_ms(const struct alarm_message *m, int64_t now_ms)
{
    if (strcmp(m->state, "closed") == 0)
        return m->closed_ms >= 0 ? m->closed_ms : now_ms;
    return m->state[0] ? now_ms + OPEN_MS : -1;
}

static void compose(const struct channel_values *v, const struct alarm_message *m, int64_t now_ms,
                    struct kind_request *r)
{
    struct jsonw w = jsonw_on(&r->body);
    char time[RFC3339_SIZE];
    while (r->url.len && r->url.data[r->url.len - 1] == '/')
        r->url.len--;
    buf_text(&r->url, PATH);
    buf_text(&r->headers, CHAT_JSON);
    if (v->v[CHANNEL_HEADERS])
        buf_printf(&r->headers, "%s\n", v->v[CHANNEL_HEADERS]);
    jsonw_array(&w, NULL);
    jsonw_object(&w, NULL);
    labels(&w, m);
    annotations(&w, m);
    jsonw_text(&w, "startsAt", rfc3339_format(m->since_ms, zone_utc(), time));
    if (ends_ms(m, now_ms) >= 0)
        jsonw_text(&w, "endsAt", rfc3339_format(ends_ms(m, now_ms), zone_utc(), time));
    jsonw_object_end(&w);
    jsonw_array_end(&w);
}

const struct channel_kind kind_alertmanager = {
    .name = "alertmanager",
    .fields = fields,
    .nfields = countof(fields),
    .check = check,
    .compose = compose,
};
