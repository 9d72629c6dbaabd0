/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes: what a strict reader takes is not touched, what was mended needs no more mending, and
 * a result keeps its code, whatever bytes its text is made of. */
#include <jansson.h>
#include <string.h>
#include "fuzz.h"
#include "wire/json.h"
#include "wire/json_mend.h"

#define ROOM (1u << 24)

static void mend_twice(struct slice text)
{
    struct buf once = BUF_INIT(ROOM), again = BUF_INIT(ROOM);
    size_t mended = json_mend(text, &once);
    CHECK(!once.failed && once.len <= 6 * text.n);
    CHECK(mended || (once.len == text.n && (!text.n || memcmp(once.data, text.p, text.n) == 0)));
    json_t *strict = json_loadb(text.n ? text.p : "", text.n, JSON_DECODE_ANY, NULL);
    CHECK(!strict || mended == 0);
    json_decref(strict);
    CHECK(json_mend(slice_of(once.data, once.len), &again) == 0 && again.len == once.len);
    buf_done(&once);
    buf_done(&again);
}

/* The bytes as a result's text. A quotation mark would end it, and a point behind the last byte
 * keeps a backslash from the one that does. */
static void as_message(struct slice text)
{
    struct buf b = BUF_INIT(ROOM);
    struct json_t *doc = NULL;
    struct slice msg = { NULL, 0 };
    int code = 0;
    buf_text(&b, "{\"handleMsg\":\"");
    for (size_t i = 0; i < text.n; i++)
        buf_add(&b, text.p[i] == '"' ? "'" : text.p + i, 1);
    buf_text(&b, ".\",\"handleCode\":200}");
    CHECK(wire_json_parse_mended(slice_of(b.data, b.len), ROOM, "fuzz", &doc, NULL) == OK);
    CHECK(wire_json_int(doc, "handleCode", &code, NULL) == OK && code == 200);
    CHECK(wire_json_text(doc, "handleMsg", &msg, NULL) == OK && utf8_valid(msg.p, msg.n));
    CHECK(msg.n && msg.p[msg.n - 1] == '.' && !memchr(msg.p, 0, msg.n));
    wire_json_free(doc);
    buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of((const char *)data, size);
    if (size > ROOM / 8)
        return 0;
    mend_twice(text);
    as_message(text);
    return 0;
}
