/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever an executor answers: a code that is never 0, words for every refusal that is not clear,
 * no "repeat" without a clear refusal, and the short cut agrees with the parser. The first byte
 * chooses the HTTP status. */
#include <string.h>
#include "fuzz.h"
#include "wire/executor_api.h"
#include "wire/trigger_text.h"
#include "wire/open_api.h"

/* A member more takes the same answer past the table of common bodies. */
static void without_short_cut(const struct wire_reply *r, struct slice body)
{
    struct buf b = BUF_INIT(1 << 20);
    body = slice_trim(body);
    if (!r->clear || r->array || body.n < 3 || body.n > 200 || body.p[0] != '{')
        return;
    struct wire_reply slow;
    buf_text(&b, "{\"unknown\":1,");
    buf_add(&b, body.p + 1, body.n - 1);
    wire_reply_parse(200, slice_of(b.data, b.len), &slow);
    CHECK(slow.code == r->code && slow.clear && slow.msg.n == r->msg.n);
    CHECK(r->msg.n == 0 || memcmp(slow.msg.p, r->msg.p, r->msg.n) == 0);
    wire_reply_done(&slow);
    buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int statuses[] = { 200, 200, 200, 400, 401, 500, 502, 204 };
    if (size == 0)
        return 0;
    int status = statuses[data[0] & 7];
    struct slice body = slice_of((const char *)data + 1, size - 1);
    struct wire_reply r;
    struct wire_log_page p;
    struct why why = { "" };
    wire_reply_parse(status, body, &r);
    CHECK(r.code != 0 && (r.clear || (r.code == 500 && r.msg.n)));
    CHECK(r.code != 200 || status < 300);
    CHECK(!r.repeat || (r.clear && r.code != 200));
    CHECK(wire_admin_accepts(status, body, &why) || why.text[0]);
    if (status == 200)
        without_short_cut(&r, body);
    struct wire_trigger_note note = { .msg = r.msg, .report = body, .scheduled_ms = 17 };
    struct buf b = BUF_INIT(16 << 20);
    wire_trigger_message(&b, WIRE_LANG_ZH_CN, &note);
    CHECK(utf8_valid(b.data, b.len) && utf8_units(b.data, b.len) <= WIRE_MESSAGE_UNITS);
    CHECK(b.len > 2 && memcmp(b.data + b.len - 2, "17", 2) == 0);
    buf_done(&b);
    wire_reply_done(&r);
    wire_log_page_parse(status, body, 1 << 20, &p);
    CHECK(!p.present || p.reply.doc);
    wire_log_page_done(&p);
    return 0;
}
