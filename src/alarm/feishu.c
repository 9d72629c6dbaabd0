/* SPDX-License-Identifier: Apache-2.0 */
/* feishu.c - a robot of a Feishu (Lark) group. With a secret, the body carries the time in seconds
 * and the base64 of the HMAC-SHA256 of nothing, by the time, a line feed and the secret as key. */
#include <stdio.h>
#include "alarm/chat.h"
#include "base/jsonw.h"

#define TEXT_MAX 15000 /* bytes; the service takes 20 KB of the body */

static const struct channel_field fields[] = {
    { "url", CHANNEL_URL, true, true, 2000 },
    { "secret", CHANNEL_SECRET, false, true, 512 },
};

static void sign(const char *secret, int64_t now_ms, struct jsonw *w)
{
    char key[600], mac[45], time[24];
    snprintf(time, sizeof(time), "%lld", (long long)(now_ms / 1000));
    int n = snprintf(key, sizeof(key), "%s\n%s", time, secret);
    chat_sign(slice_of(key, (size_t)n), slice_text(""), mac);
    jsonw_text(w, "timestamp", time);
    jsonw_text(w, "sign", mac);
}

/* In a text, <at user_id="all"> calls everybody: no text of a job may. */
static void plain(struct buf *out, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            buf_text(out, "＜");
        else
            buf_char(out, *text);
}

static void compose(const struct channel_values *v, const struct alarm_message *m, int64_t now_ms,
                    struct kind_request *r)
{
    struct buf text = BUF_INIT(TEXT_MAX + 1), shown = BUF_INIT(3 * TEXT_MAX + 1);
    struct jsonw w = jsonw_on(&r->body);
    buf_text(&r->headers, CHAT_JSON);
    chat_text(&text, m, TEXT_MAX / 3);
    plain(&shown, buf_str(&text));
    jsonw_object(&w, NULL);
    if (v->v[CHANNEL_SECRET])
        sign(v->v[CHANNEL_SECRET], now_ms, &w);
    jsonw_text(&w, "msg_type", "text");
    jsonw_object(&w, "content");
    jsonw_text(&w, "text", buf_str(&shown));
    jsonw_object_end(&w);
    jsonw_object_end(&w);
    buf_done(&text);
    buf_done(&shown);
}

const struct channel_kind kind_feishu = {
    .name = "feishu",
    .fields = fields,
    .nfields = countof(fields),
    .compose = compose,
    .code = "code",
    .text = "msg",
};
