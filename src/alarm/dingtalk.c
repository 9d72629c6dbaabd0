/* SPDX-License-Identifier: Apache-2.0 */
/* dingtalk.c - a robot of a DingTalk group. With a secret, the URL carries the time in milliseconds
 * and the base64 of the HMAC-SHA256, by the secret, of the time, a line feed and the secret. */
#include <stdio.h>
#include <string.h>
#include "alarm/chat.h"
#include "base/jsonw.h"

#define TEXT_MAX 15000 /* bytes; the service takes 20,000 of the body */

static const struct channel_field fields[] = {
    { "url", CHANNEL_URL, true, true, 2000 },
    { "secret", CHANNEL_SECRET, false, true, 512 },
};

static void sign(const char *secret, int64_t now_ms, struct buf *url)
{
    char text[600], mac[45];
    int n = snprintf(text, sizeof(text), "%lld\n%s", (long long)now_ms, secret);
    chat_sign(slice_text(secret), slice_of(text, (size_t)n), mac);
    buf_printf(url, "%ctimestamp=%lld&sign=", strchr(buf_str(url), '?') ? '&' : '?',
               (long long)now_ms);
    for (const char *p = mac; *p; p++) /* these of base64 mean something in a query */
        if (*p == '+' || *p == '/' || *p == '=')
            buf_printf(url, "%%%02X", (unsigned char)*p);
        else
            buf_char(url, *p);
}

static void compose(const struct channel_values *v, const struct alarm_message *m, int64_t now_ms,
                    struct kind_request *r)
{
    struct buf text = BUF_INIT(TEXT_MAX + 1);
    struct jsonw w = jsonw_on(&r->body);
    if (v->v[CHANNEL_SECRET])
        sign(v->v[CHANNEL_SECRET], now_ms, &r->url);
    buf_text(&r->headers, CHAT_JSON);
    chat_text(&text, m, TEXT_MAX);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "msgtype", "text");
    jsonw_object(&w, "text");
    jsonw_text(&w, "content", buf_str(&text));
    jsonw_object_end(&w);
    jsonw_object_end(&w);
    buf_done(&text);
}

const struct channel_kind kind_dingtalk = {
    .name = "dingtalk",
    .fields = fields,
    .nfields = countof(fields),
    .compose = compose,
    .code = "errcode",
    .text = "errmsg",
};
