/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_http.h - read a stream of messages whole, in random pieces, and dropping bodies as a
 * streaming reader does; abort when the accounts differ. */
#ifndef PEAL_TESTS_FUZZ_HTTP_H
#define PEAL_TESTS_FUZZ_HTTP_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/dice.h"
#include "fuzz.h"
#include "net/http.h"

enum { FUZZ_BODY_MAX = 5000, FUZZ_MESSAGES = 20 };

/* One message as text: target or status, headers, body, framing. */
static inline void fuzz_account(struct buf *out, struct http_reader *r, struct buf *in,
                                struct slice body)
{
    if (r->side == HTTP_REQUEST) {
        buf_slice(out, http_method(r, in));
        buf_char(out, ' ');
        buf_slice(out, http_target(r, in));
    } else {
        buf_i64(out, r->status);
        buf_i64(out, r->keep_alive_s);
    }
    for (int i = 0; i < r->nfields; i++) {
        const struct http_field *f = &r->fields[i];
        buf_char(out, '|');
        buf_add(out, in->data + r->at + f->name, f->name_len);
        buf_char(out, '=');
        buf_add(out, in->data + r->at + f->value, f->value_len);
    }
    buf_printf(out, "|%d%d%d%d|%zu|", r->keep_alive, r->chunked, r->to_eof, r->expect_continue,
               body.n);
    buf_slice(out, body);
    buf_char(out, '\n');
    if (r->body_total != body.n || body.n > FUZZ_BODY_MAX)
        abort();
}

/* dice NULL: everything at once. streaming: bodies are taken piece by piece and dropped. */
static inline void fuzz_stream(enum http_side side, struct dice *dice, bool streaming,
                               const char *data, size_t size, struct buf *out)
{
    struct buf in = BUF_INIT(1 << 22), body = BUF_INIT(1 << 20);
    struct http_reader r;
    size_t fed = 0;
    int messages = 0;
    http_begin(&r, side, 0, FUZZ_BODY_MAX);
    for (;;) {
        enum http_event e = in.len ? http_read(&r, &in) : HTTP_MORE;
        if (e == HTTP_MORE && fed == size && side == HTTP_RESPONSE)
            e = http_eof(&r);
        if (e == HTTP_BAD) {
            buf_printf(out, "bad %d %s %d", r.status, r.why, r.not_http);
            break;
        }
        if (streaming && r.phase >= HTTP_IN_BODY) {
            buf_slice(&body, http_body(&r, &in));
            http_drop_body(&r, &in);
        }
        if (e == HTTP_DONE) {
            fuzz_account(out, &r, &in,
                         streaming ? slice_of(buf_str(&body), body.len) : http_body(&r, &in));
            buf_reset(&body);
            buf_eat(&in, http_rest(&r));
            http_begin(&r, side, 0, FUZZ_BODY_MAX);
            if (++messages == FUZZ_MESSAGES)
                break;
            continue;
        }
        if (fed == size) {
            buf_printf(out, "more %d", r.phase);
            break;
        }
        size_t n = dice ? 1 + dice_below(dice, dice_below(dice, 4) ? 8 : 3000) : size;
        if (n > size - fed)
            n = size - fed;
        buf_add(&in, data + fed, n);
        fed += n;
    }
    buf_done(&in);
    buf_done(&body);
}

static inline void fuzz_both_ways(enum http_side side, uint64_t seed, const char *data, size_t size)
{
    struct buf whole = BUF_INIT(1 << 22);
    fuzz_stream(side, NULL, false, data, size, &whole);
    for (int way = 0; way < 3; way++) {
        struct buf pieces = BUF_INIT(1 << 22);
        struct dice d = { seed * 3 + (uint64_t)way };
        fuzz_stream(side, &d, way == 2, data, size, &pieces);
        if (pieces.len != whole.len ||
            (whole.len && memcmp(pieces.data, whole.data, whole.len) != 0))
            abort();
        buf_done(&pieces);
    }
    buf_done(&whole);
}

#endif
