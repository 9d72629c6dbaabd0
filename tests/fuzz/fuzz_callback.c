/* SPDX-License-Identifier: Apache-2.0 */
/* The quick reader of callbacks against jansson: by element (same result, same fault) and by
 * document (what jansson takes as an array of objects, we take with as many elements); then our own
 * body for the good elements must be read as the same again. */
#include <jansson.h>
#include <string.h>
#include "fuzz.h"
#include "wire/open_api.h"

static void same(const struct wire_callback *x, const struct wire_callback *y)
{
    CHECK(x->log_id == y->log_id && x->log_date_ms == y->log_date_ms);
    CHECK(x->code == y->code && x->has_code == y->has_code && x->msg.n == y->msg.n);
    CHECK(x->msg.n == 0 || memcmp(x->msg.p, y->msg.p, x->msg.n) == 0);
    CHECK(!x->fault == !y->fault && (!x->fault || strcmp(x->fault, y->fault) == 0));
}

static void against_document(const char *data, size_t size, enum err err, size_t n)
{
    json_t *doc = json_loadb(data, size, JSON_ALLOW_NUL, NULL);
    if (json_is_array(doc))
        CHECK(err == OK && json_array_size(doc) == n);
    json_decref(doc);
}

static void round_trip(const struct wire_callbacks *c)
{
    struct wire_callbacks again;
    struct buf body = BUF_INIT(64 << 20);
    wire_callback_body(&body, c->items, c->n);
    CHECK(!body.failed);
    CHECK(wire_callbacks_parse(slice_of(body.data, body.len), &again, NULL) == OK);
    CHECK(again.n == c->n);
    for (size_t i = 0; i < c->n; i++) {
        struct wire_callback want = c->items[i];
        if (want.fault)
            continue;
        want.has_code = true; /* we always write one */
        same(&again.items[i], &want);
    }
    wire_callbacks_done(&again);
    buf_done(&body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice body = slice_of((const char *)data, size);
    struct wire_callbacks quick, slow;
    struct why why = { "" };
    enum err err = wire_callbacks_parse(body, &quick, &why);
    CHECK(wire_callbacks_parse_slowly(body, &slow, NULL) == err);
    CHECK(err == OK || why.text[0]);
    against_document(body.p, size, err, err ? 0 : quick.n);
    if (err)
        return 0;
    CHECK(quick.n == slow.n && quick.nfault == slow.nfault);
    for (size_t i = 0; i < quick.n; i++)
        same(&quick.items[i], &slow.items[i]);
    round_trip(&quick);
    wire_callbacks_done(&quick);
    wire_callbacks_done(&slow);
    return 0;
}
