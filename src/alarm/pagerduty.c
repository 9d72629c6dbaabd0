/* SPDX-License-Identifier: Apache-2.0 */
/* pagerduty.c - events of PagerDuty, version 2: an alarm triggers, its end resolves what has the
 * same key. */
#include <string.h>
#include "alarm/chat.h"
#include "base/jsonw.h"
#include "cron/rfc3339.h"

#define TITLE_MAX 1000 /* bytes; the service takes 1,024 characters */
#define TEXT_MAX 15000

static const struct channel_field fields[] = {
    { "url", CHANNEL_URL, false, true, 2000 },
    { "routingKey", CHANNEL_KEY, true, true, 100 },
};

static void payload(struct jsonw *w, const struct alarm_message *m)
{
    struct buf text = BUF_INIT(TEXT_MAX + 1);
    char time[RFC3339_SIZE];
    chat_text(&text, m, TEXT_MAX);
    jsonw_object(w, "payload");
    jsonw_slice(w, "summary", slice_of(m->title, utf8_cut(m->title, strlen(m->title), TITLE_MAX)));
    jsonw_text(w, "source", m->address[0] ? m->address : m->app[0] ? m->app : "peal");
    jsonw_text(w, "severity", m->level);
    jsonw_text(w, "timestamp", rfc3339_format(m->since_ms, zone_utc(), time));
    jsonw_text(w, "class", m->event);
    jsonw_text(w, "group", m->group);
    jsonw_object(w, "custom_details");
    jsonw_text(w, "text", buf_str(&text));
    jsonw_object_end(w);
    jsonw_object_end(w);
    buf_done(&text);
}

static void compose(const struct channel_values *v, const struct alarm_message *m, int64_t now_ms,
                    struct kind_request *r)
{
    (void)now_ms;
    struct jsonw w = jsonw_on(&r->body);
    bool closed = strcmp(m->state, "closed") == 0;
    buf_text(&r->headers, CHAT_JSON);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "routing_key", v->v[CHANNEL_KEY]);
    jsonw_text(&w, "event_action", closed ? "resolve" : "trigger");
    jsonw_text(&w, "dedup_key", m->key);
    jsonw_text(&w, "client", "Peal");
    if (!closed)
        payload(&w, m);
    jsonw_object_end(&w);
}

const struct channel_kind kind_pagerduty = {
    .name = "pagerduty",
    .url = "https://events.pagerduty.com/v2/enqueue",
    .fields = fields,
    .nfields = countof(fields),
    .compose = compose,
};
