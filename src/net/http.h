/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - one HTTP/1.1 reader for both directions (RFC 9110, RFC 9112).
 *
 * It reads one message at a time out of a buffer that its owner fills, and keeps offsets, not
 * pointers, so the buffer may move between calls. Whole lines are judged as they become complete;
 * the result does not depend on how the bytes were cut into reads (fuzzed). Chunked bodies are
 * decoded in place: head and body are always contiguous.
 *
 * Strict where it is a server (what two readers could understand differently is refused, with
 * the rule in "why"), lenient where real executors need it as a client: lines ending in LF alone,
 * no reason phrase, bodies that end with the connection. It does not do: content codings,
 * upgrades, HTTP/2. Pure. */
#ifndef PEAL_NET_HTTP_H
#define PEAL_NET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/str.h"

enum { HTTP_HEAD_MAX = 16384, HTTP_HEADERS_MAX = 100, HTTP_CHUNK_LINE_MAX = 256 };

enum http_side { HTTP_REQUEST, HTTP_RESPONSE };

enum http_event {
    HTTP_MORE, /* the bytes so far are good; there must be more */
    HTTP_DONE, /* the message is complete: http_rest() is where the next one begins */
    HTTP_BAD,  /* refused: status and why say what to answer; stays so */
};

enum http_phase { HTTP_IN_START, HTTP_IN_HEADERS, HTTP_IN_BODY, HTTP_IN_END, HTTP_IN_ERROR };

struct http_field { /* offsets from the beginning of the message */
    uint16_t name, name_len, value, value_len;
};

struct http_reader {
    /* read-only for the owner */
    enum http_side side;
    enum http_phase phase;
    int status;      /* response: its status; after HTTP_BAD on a request: what to answer */
    const char *why; /* after HTTP_BAD: the rule that was broken; static text */
    bool not_http;   /* response: the first bytes are not HTTP at all */
    bool keep_alive; /* after this message the connection may carry another */
    bool expect_continue;
    bool minor_0;         /* HTTP/1.0 */
    bool chunked, to_eof; /* how the body is framed; neither: length */
    int keep_alive_s;     /* response: Keep-Alive: timeout, -1 if none */
    uint64_t length;      /* Content-Length */
    uint64_t body_total;  /* body bytes read so far, dropped ones included */
    size_t body_len;      /* of them, in the buffer now */
    /* private */
    uint64_t body_max, chunk_left;
    size_t at;      /* where the message begins in the buffer */
    size_t pos;     /* next byte to judge; in a body also the end of its decoded bytes */
    size_t seen;    /* bytes after pos known to hold no LF */
    size_t body_at; /* first byte of the body */
    size_t trailer; /* bytes of trailer lines so far */
    uint8_t chunk_step;
    bool has_length, has_coding, has_host, has_close, has_keep_alive, skipped_line;
    uint16_t method_len, target, target_len; /* offsets from at */
    uint16_t interim;                        /* 1xx answers skipped */
    uint16_t nfields;
    struct http_field fields[HTTP_HEADERS_MAX];
};

/* Start on the message at offset "at" of the buffer. body_max: more is HTTP_BAD 413. */
void http_begin(struct http_reader *r, enum http_side side, size_t at, uint64_t body_max);
/* Look at what came since the last call. May move bytes within b (chunks are decoded in place). */
enum http_event http_read(struct http_reader *r, struct buf *b);
/* Inside a body: it may have max bytes only. False: it has, or will have, more. */
bool http_limit_body(struct http_reader *r, uint64_t max);
/* The peer has ended its stream: HTTP_DONE if that ends this message, else HTTP_BAD. */
enum http_event http_eof(struct http_reader *r);
/* Forget the body bytes in the buffer (a stream's reader has used them). */
void http_drop_body(struct http_reader *r, struct buf *b);

/* --- the message, once phase >= HTTP_IN_BODY; slices into b, valid until b changes --- */
struct slice http_method(const struct http_reader *r, const struct buf *b);
/* As sent, or of an absolute-form target the part from its path on ("/" if it has none). */
struct slice http_target(const struct http_reader *r, const struct buf *b);
/* The first header of that name (case does not matter); p is NULL if there is none. */
struct slice http_header(const struct http_reader *r, const struct buf *b, const char *name);
/* The same, counted from the last of that name: 0 the last, 1 the one before it. */
struct slice http_header_back(const struct http_reader *r, const struct buf *b, const char *name,
                              int nth);
struct slice http_body(const struct http_reader *r, const struct buf *b);
/* After HTTP_DONE: offset of the first byte that is not part of the message. */
size_t http_rest(const struct http_reader *r);

/* "Not Found" of 404; "Unknown" if it has no name. Static text. */
const char *http_reason(int status);

#endif
