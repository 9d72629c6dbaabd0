/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.c - the table of kinds of channels, one row each, and the try that all of them make alike.
 */
#include <string.h>
#include "alarm/http.h"
#include "alarm/kind.h"
#include "wire/json.h"

#define TABLE(ROW)                                                                                 \
    ROW(kind_webhook)                                                                              \
    ROW(kind_dingtalk)                                                                             \
    ROW(kind_wecom)                                                                                \
    ROW(kind_feishu)                                                                               \
    ROW(kind_slack)                                                                                \
    ROW(kind_teams)                                                                                \
    ROW(kind_pagerduty)                                                                            \
    ROW(kind_alertmanager)                                                                         \
    ROW(kind_mail)

#define DECLARED(kind) extern const struct channel_kind kind;
TABLE(DECLARED)

#define IN_THE_TABLE(kind) &kind,
const struct channel_kind *const kind_table[] = { TABLE(IN_THE_TABLE) NULL };

const struct channel_kind *kind_of(struct slice name)
{
    for (int i = 0; kind_table[i]; i++)
        if (slice_eq(name, kind_table[i]->name))
            return kind_table[i];
    return NULL;
}

/* Some services answer 200 to what they refuse, and say so in the body. */
static enum delivery_outcome answer_judge(const struct channel_kind *k, const struct buf *answer,
                                          struct why *said)
{
    struct json_t *doc;
    struct why why = { "" };
    int64_t code = 0;
    struct slice text = { "", 0 };
    why_clear(said);
    if (wire_json_parse(slice_of(buf_str(answer), answer->len), HTTP_ANSWER_MAX, "answer", &doc,
                        &why)) {
        why_set(said, "HTTP 200, and an answer that is not the service's");
        return DELIVERY_AGAIN;
    }
    bool read = wire_json_is_object(doc) && !wire_json_i64(doc, k->code, &code, &why);
    if (read && code)
        (void)!wire_json_text(doc, k->text, &text, &why);
    if (!read)
        why_set(said, "HTTP 200, and an answer that is not the service's");
    else if (!code)
        why_set(said, "HTTP 200, %s 0", k->code);
    else
        why_set(said, "%s %lld: %.*s", k->code, (long long)code, (int)utf8_cut(text.p, text.n, 200),
                text.p);
    wire_json_free(doc);
    return read && !code ? DELIVERY_SENT : DELIVERY_AGAIN;
}

static enum delivery_outcome perform(const struct channel_kind *k, const struct kind_try *t,
                                     const struct kind_request *r, struct why *said)
{
    struct buf answer = BUF_INIT(HTTP_ANSWER_MAX);
    const char *method = t->values->v[CHANNEL_METHOD];
    const struct http_call call = {
        .method = method ? method : "POST",
        .url = buf_str(&r->url),
        .headers = buf_str(&r->headers),
        .body = slice_of(buf_str(&r->body), r->body.len),
        .ca = t->ca,
        .private_too = t->private_too,
        .targets = t->targets,
        .refused = t->refused,
        .try_ms = t->try_ms,
        .stop = t->stop,
    };
    enum delivery_outcome outcome = http_send(&call, k->code ? &answer : NULL, said);
    if (outcome == DELIVERY_SENT && k->code)
        outcome = answer_judge(k, &answer, said);
    buf_done(&answer);
    return outcome;
}

enum delivery_outcome kind_send(const struct channel_kind *k, const struct kind_try *t,
                                const struct alarm_message *m, int64_t now_ms, struct why *said)
{
    struct kind_request r = { BUF_INIT(16384), BUF_INIT(65536), BUF_INIT(HTTP_BODY_MAX) };
    const char *url = t->values->v[CHANNEL_URL];
    enum delivery_outcome outcome = DELIVERY_NEVER;
    buf_text(&r.url, url ? url : k->url ? k->url : "");
    k->compose(t->values, m, now_ms, &r);
    if (r.url.failed || r.headers.failed || r.body.failed)
        why_set(said, "the message is too long");
    else
        outcome = perform(k, t, &r, said);
    buf_done(&r.url);
    buf_done(&r.headers);
    buf_done(&r.body);
    return outcome;
}
