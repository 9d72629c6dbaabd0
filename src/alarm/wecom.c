/* SPDX-License-Identifier: Apache-2.0 */
/* wecom.c - a robot of a WeCom group; the key in its URL is its only secret. */
#include "alarm/chat.h"
#include "base/jsonw.h"

#define TEXT_MAX 2000 /* bytes; the service takes 2,048 */

static const struct channel_field fields[] = {
    { "url", CHANNEL_URL, true, true, 2000 },
};

static void compose(const struct channel_values *v, const struct alarm_message *m, int64_t now_ms,
                    struct kind_request *r)
{
    (void)v, (void)now_ms;
    struct buf text = BUF_INIT(TEXT_MAX + 1);
    struct jsonw w = jsonw_on(&r->body);
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

const struct channel_kind kind_wecom = {
    .name = "wecom",
    .fields = fields,
    .nfields = countof(fields),
    .compose = compose,
    .code = "errcode",
    .text = "errmsg",
};
