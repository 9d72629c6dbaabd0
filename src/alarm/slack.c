/* SPDX-License-Identifier: Apache-2.0 */
/* slack.c - an incoming webhook of Slack. In its texts &, < and > begin something unless they are
 * escaped. */
#include "alarm/chat.h"
#include "base/jsonw.h"

#define TEXT_MAX 7000 /* bytes; the service cuts at 40,000 characters */

static const struct channel_field fields[] = {
    { "url", CHANNEL_URL, true, true, 2000 },
};

static void plain(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '&')
            buf_text(out, "&amp;");
        else if (*text == '<')
            buf_text(out, "&lt;");
        else if (*text == '>')
            buf_text(out, "&gt;");
        else
            buf_char(out, *text);
    }
}

static void compose(const struct channel_values *v, const struct alarm_message *m, int64_t now_ms,
                    struct kind_request *r)
{
    (void)v, (void)now_ms;
    struct buf text = BUF_INIT(TEXT_MAX + 1), shown = BUF_INIT(5 * TEXT_MAX + 1);
    struct jsonw w = jsonw_on(&r->body);
    buf_text(&r->headers, CHAT_JSON);
    chat_text(&text, m, TEXT_MAX);
    plain(&shown, buf_str(&text));
    jsonw_object(&w, NULL);
    jsonw_text(&w, "text", buf_str(&shown));
    jsonw_bool(&w, "mrkdwn", false);
    jsonw_object_end(&w);
    buf_done(&text);
    buf_done(&shown);
}

const struct channel_kind kind_slack = {
    .name = "slack",
    .fields = fields,
    .nfields = countof(fields),
    .compose = compose,
};
