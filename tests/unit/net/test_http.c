/* SPDX-License-Identifier: Apache-2.0 */
/* The reader: what is refused and with which rule, what real clients send, and that the cut of the
 * bytes never matters. Each case runs whole, byte by byte, and cut in two at every place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "net/http.h"

#define MAX_BODY 1000
#define H "Host: a\r\n"

struct result {
    enum http_event event;
    int status;
    char why[80], target[200], body[1200];
    bool keep_alive, not_http, expect;
    size_t rest; /* bytes after the message */
};

static void look(struct http_reader *r, struct buf *b, enum http_event e, struct result *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->event = e;
    ret->status = r->status;
    ret->not_http = r->not_http;
    if (e == HTTP_BAD) {
        snprintf(ret->why, sizeof(ret->why), "%s", r->why);
        return;
    }
    if (e != HTTP_DONE)
        return;
    ret->keep_alive = r->keep_alive;
    ret->expect = r->expect_continue;
    ret->rest = b->len - http_rest(r);
    if (r->side == HTTP_REQUEST)
        text_copy(ret->target, sizeof(ret->target), http_target(r, b));
    text_copy(ret->body, sizeof(ret->body), http_body(r, b));
}

/* Feed text in pieces: first bytes of it, then step bytes at a time. */
static struct result feed(enum http_side side, struct slice text, size_t first, size_t step,
                          bool eof)
{
    struct buf b = BUF_INIT(1 << 20);
    struct http_reader r;
    enum http_event e = HTTP_MORE;
    http_begin(&r, side, 0, MAX_BODY);
    for (size_t at = 0, n = first; at < text.n && e == HTTP_MORE; at += n, n = step) {
        if (n > text.n - at)
            n = text.n - at;
        buf_add(&b, text.p + at, n);
        e = http_read(&r, &b);
        if (e == HTTP_DONE && at + n < text.n)
            buf_add(&b, text.p + at + n, text.n - at - n);
    }
    if (e == HTTP_MORE && eof)
        e = http_eof(&r);
    struct result res;
    look(&r, &b, e, &res);
    buf_done(&b);
    return res;
}

static bool same(const struct result *a, const struct result *b)
{
    return a->event == b->event && a->status == b->status && strcmp(a->why, b->why) == 0 &&
           strcmp(a->target, b->target) == 0 && strcmp(a->body, b->body) == 0 &&
           a->keep_alive == b->keep_alive && a->not_http == b->not_http && a->expect == b->expect &&
           a->rest == b->rest;
}

static struct result read_all_ways(enum http_side side, struct slice text, bool eof)
{
    struct result whole = feed(side, text, text.n ? text.n : 1, 1, eof);
    for (size_t cut = 1; cut < text.n; cut++) {
        struct result two = feed(side, text, cut, text.n, eof);
        if (!same(&two, &whole))
            fail_msg("cut at %zu changes the result: %.*s", cut, (int)text.n, text.p);
    }
    struct result bytes = feed(side, text, 1, 1, eof);
    if (!same(&bytes, &whole))
        fail_msg("byte by byte changes the result: %.*s", (int)text.n, text.p);
    return whole;
}

struct refused {
    const char *text;
    size_t n; /* 0: strlen */
    int status;
    const char *why; /* a part of it */
};

static const struct refused refused_requests[] = {
    /* what two readers could cut differently: the smuggling set */
    { "POST / HTTP/1.1\r\n" H "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 0, 400,
      "may not stand together" },
    { "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 0, 400,
      "may not stand together" },
    { "POST / HTTP/1.1\r\n" H "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", 0, 400,
      "different values" },
    { "POST / HTTP/1.1\r\n" H "Content-Length: 5, 5\r\n\r\n", 0, 400, "decimal" },
    { "POST / HTTP/1.1\r\n" H "Content-Length: +5\r\n\r\n", 0, 400, "decimal" },
    { "POST / HTTP/1.1\r\n" H "Content-Length: -1\r\n\r\n", 0, 400, "decimal" },
    { "POST / HTTP/1.1\r\n" H "Content-Length: 0x5\r\n\r\n", 0, 400, "decimal" },
    { "POST / HTTP/1.1\r\n" H "Content-Length:\r\n\r\n", 0, 400, "decimal" },
    { "POST / HTTP/1.1\r\n" H "Content-Length: 5 5\r\n\r\n", 0, 400, "decimal" },
    { "POST / HTTP/1.1\r\n" H "Content-Length: 99999999999999999999\r\n\r\n", 0, 400, "decimal" },
    { "POST / HTTP/1.1\r\n" H "Content-Length: 1001\r\n\r\n", 0, 413, "larger" },
    { "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked, chunked\r\n\r\n", 0, 501, "chunked" },
    { "POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip, chunked\r\n\r\n", 0, 501, "chunked" },
    { "POST / HTTP/1.1\r\n" H "Transfer-Encoding: xchunked\r\n\r\n", 0, 501, "chunked" },
    { "POST / HTTP/1.1\r\n" H "Transfer-Encoding: \"chunked\"\r\n\r\n", 0, 501, "chunked" },
    { "POST / HTTP/1.1\r\n" H "Transfer-Encoding: identity\r\n\r\n", 0, 501, "chunked" },
    { "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n", 0, 400,
      "twice" },
    { "POST / HTTP/1.1\r\n" H "Transfer-Encoding\t: chunked\r\n\r\n", 0, 400, "colon" },
    { "POST / HTTP/1.1\r\n" H "Content-Length : 5\r\n\r\n", 0, 400, "colon" },
    { "POST / HTTP/1.1\r\n" H "Transfer-Encoding:\x0b"
      "chunked\r\n\r\n",
      0, 400, "control" },
    { "POST / HTTP/1.1\r\n" H "X: a\r\n Transfer-Encoding: chunked\r\n\r\n", 0, 400, "folded" },
    { "POST / HTTP/1.1\r\n" H "X: a\r\n\tb\r\n\r\n", 0, 400, "folded" },
    { "POST / HTTP/1.1\r\n" H "X: a\rTransfer-Encoding: chunked\r\n\r\n", 0, 400, "control" },
    { "POST / HTTP/1.1\r\n" H "X: a\0b\r\n\r\n", 38 - 4, 400, "control" },
    { "POST / HTTP/1.1\n" H "\r\n", 0, 400, "CRLF" },
    { "POST / HTTP/1.1\r\nHost: a\n\r\n", 0, 400, "CRLF" },
    { "POST / HTTP/1.1\r\n" H "\n", 0, 400, "CRLF" },
    { "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 0, 400, "HTTP/1.0" },
/* chunks */
#define CHUNKED "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n"
    { CHUNKED "g\r\n", 0, 400, "hexadecimal" },
    { CHUNKED "\r\n", 0, 400, "hexadecimal" },
    { CHUNKED "-1\r\n", 0, 400, "hexadecimal" },
    { CHUNKED "0x5\r\n", 0, 400, "hexadecimal" },
    { CHUNKED " 5\r\nabcde\r\n", 0, 400, "hexadecimal" },
    { CHUNKED "5 \r\nabcde\r\n", 0, 400, "hexadecimal" },
    { CHUNKED "5\nabcde\r\n", 0, 400, "CRLF" },
    { CHUNKED "5;a\nabcde\r\n", 0, 400, "CRLF" },
    { CHUNKED "5\r\nabcdefg\r\n", 0, 400, "longer than its size" },
    { CHUNKED "5\r\nabcde\n0\r\n\r\n", 0, 400, "CRLF" },
    { CHUNKED "FFFFFFFFFFFFFFFFF\r\n", 0, 400, "hexadecimal" },
    { CHUNKED "FFFFFFFFFFFFFFF\r\n", 0, 413, "larger" },
    { CHUNKED "3E8\r\n", 0, 0, NULL }, /* exactly the limit: more is awaited */
    { CHUNKED "3E9\r\n", 0, 413, "larger" },
    { CHUNKED "0\r\nX : y\r\n\r\n", 0, 400, "colon" },
    { CHUNKED "0\r\nX: y\n\r\n", 0, 400, "CRLF" },
    /* the request line */
    { "GET  / HTTP/1.1\r\n" H "\r\n", 0, 400, "request line" },
    { "GET /  HTTP/1.1\r\n" H "\r\n", 0, 400, "request line" },
    { "GET / HTTP/1.1 \r\n" H "\r\n", 0, 400, "request line" },
    { "GET /\r\n" H "\r\n", 0, 400, "request line" },
    { "GET\t/ HTTP/1.1\r\n" H "\r\n", 0, 400, "request line" },
    { "G{T / HTTP/1.1\r\n" H "\r\n", 0, 400, "request line" },
    { "GET /a b HTTP/1.1\r\n" H "\r\n", 0, 400, "request line" },
    { "GET /\xc3\xa4 HTTP/1.1\r\n" H "\r\n", 0, 400, "request line" },
    { "GET /#x HTTP/1.1\r\n" H "\r\n", 0, 400, "request line" },
    { "GET * HTTP/1.1\r\n" H "\r\n", 0, 400, "target" },
    { "GET x HTTP/1.1\r\n" H "\r\n", 0, 400, "target" },
    { "CONNECT a:1 HTTP/1.1\r\n" H "\r\n", 0, 400, "target" },
    { "GET ftp://a/ HTTP/1.1\r\n" H "\r\n", 0, 400, "target" },
    { "GET http:/// HTTP/1.1\r\n" H "\r\n", 0, 400, "target" },
    { "GET http://u@a/ HTTP/1.1\r\n" H "\r\n", 0, 400, "target" },
    { "GET / HTTP/2.0\r\n" H "\r\n", 0, 505, "HTTP/1.1" },
    { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0, 505, "HTTP/1.1" },
    { "GET / http/1.1\r\n" H "\r\n", 0, 400, "request line" },
    { "\r\n\r\nGET / HTTP/1.1\r\n" H "\r\n", 0, 400, "request line" },
    { "\x16\x03\x01\x02", 0, 400, "not HTTP" },
    { " GET / HTTP/1.1\r\n" H "\r\n", 0, 400, "not HTTP" },
    /* headers */
    { "GET / HTTP/1.1\r\n\r\n", 0, 400, "Host" },
    { "GET / HTTP/1.1\r\n" H H "\r\n", 0, 400, "Host given twice" },
    { "GET / HTTP/1.1\r\n" H ": x\r\n\r\n", 0, 400, "Name: value" },
    { "GET / HTTP/1.1\r\n" H "novalue\r\n\r\n", 0, 400, "Name: value" },
    { "GET / HTTP/1.1\r\n" H "a(b: x\r\n\r\n", 0, 400, "Name: value" },
    { "GET / HTTP/1.1\r\n" H "X: \x7f\r\n\r\n", 0, 400, "control" },
    { "GET / HTTP/1.1\r\n" H "Expect: 200-ok\r\n\r\n", 0, 417, "Expect" },
};

static void what_can_be_read_two_ways_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(refused_requests); i++) {
        const struct refused *c = &refused_requests[i];
        struct slice text = slice_of(c->text, c->n ? c->n : strlen(c->text));
        struct result r = read_all_ways(HTTP_REQUEST, text, false);
        if (!c->why) {
            assert_int_equal(r.event, HTTP_MORE);
            continue;
        }
        if (r.event != HTTP_BAD || r.status != c->status || !strstr(r.why, c->why))
            fail_msg("case %zu: event %d status %d why \"%s\": %s", i, r.event, r.status, r.why,
                     c->text);
    }
}

struct accepted {
    const char *text, *target, *body;
    bool keep_alive;
    size_t rest;
};

static const struct accepted accepted_requests[] = {
    { "GET / HTTP/1.1\r\nHost:\r\n\r\n", "/", "", true, 0 },
    { "\r\nGET /a?b=c HTTP/1.1\r\nhOsT: a\r\n\r\n", "/a?b=c", "", true, 0 },
    { "GET http://a.b:80/x?y HTTP/1.1\r\n" H "\r\n", "/x?y", "", true, 0 },
    { "GET HTTP://a HTTP/1.1\r\n" H "\r\n", "/", "", true, 0 },
    { "GET / HTTP/1.0\r\n\r\n", "/", "", false, 0 },
    { "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "/", "", true, 0 },
    { "GET / HTTP/1.1\r\n" H "Connection: x , CLOSE\r\n\r\n", "/", "", false, 0 },
    { "POST //api/registry HTTP/1.1\r\n" H "\r\n", "//api/registry", "", true, 0 },
    { "POST / HTTP/1.1\r\n" H "content-length: 003\r\nContent-Length: 003\r\n\r\nabcGET", "/",
      "abc", true, 3 },
    { CHUNKED "3\r\nabc\r\n0a;x=\"y\"\r\n0123456789\r\n00\r\nT: v\r\n\r\nPOST", "/",
      "abc0123456789", true, 4 },
    { CHUNKED "0\r\n\r\n", "/", "", true, 0 },
    { "POST / HTTP/1.1\r\n" H "Token:\r\nX: \xe4\xb8\xad \t \r\n\r\n", "/", "", true, 0 },
    /* bytes of real clients */
    { "POST /xxl-job-admin/api/registry HTTP/1.1\r\n"
      "Host: 127.0.0.1:18081\r\n"
      "User-Agent: Go-http-client/1.1\r\n"
      "Content-Length: 109\r\n"
      "Content-Type: application/json;charset=UTF-8\r\n"
      "Xxl-Job-Access-Token: default_token\r\n"
      "Accept-Encoding: gzip\r\n"
      "\r\n"
      "{\"registryGroup\":\"EXECUTOR\",\"registryKey\":\"xxl-job-executor-sample\","
      "\"registryValue\":\"http://127.0.0.1:19999\"}",
      "/xxl-job-admin/api/registry",
      "{\"registryGroup\":\"EXECUTOR\",\"registryKey\":\"xxl-job-executor-sample\","
      "\"registryValue\":\"http://127.0.0.1:19999\"}",
      true, 0 },
    { "POST /run HTTP/1.1\r\n"
      "Content-Type: application/json;charset=UTF-8\r\n"
      "Accept-Charset: application/json;charset=UTF-8\r\n"
      "XXL-JOB-ACCESS-TOKEN: default_token\r\n"
      "Cache-Control: no-cache\r\n"
      "Pragma: no-cache\r\n"
      "User-Agent: Java/17.0.15\r\n"
      "Host: 127.0.0.1:19998\r\n"
      "Accept: text/html, image/gif, image/jpeg, */*; q=0.2\r\n"
      "Connection: keep-alive\r\n"
      "Content-Length: 9\r\n"
      "\r\n"
      "{\"a\":\"b\"}",
      "/run", "{\"a\":\"b\"}", true, 0 },
};

static void what_real_clients_send_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(accepted_requests); i++) {
        const struct accepted *c = &accepted_requests[i];
        struct result r = read_all_ways(HTTP_REQUEST, slice_text(c->text), false);
        if (r.event != HTTP_DONE)
            fail_msg("case %zu: event %d, %s", i, r.event, r.why);
        assert_string_equal(r.target, c->target);
        assert_string_equal(r.body, c->body);
        assert_int_equal(r.keep_alive, c->keep_alive);
        assert_int_equal(r.rest, c->rest);
    }
}

static void expect_is_noticed_once_the_head_is_read(void **state)
{
    (void)state;
    struct result r = read_all_ways(
        HTTP_REQUEST,
        slice_text("POST / HTTP/1.1\r\n" H "Content-Length: 1\r\nexpect: 100-Continue\r\n\r\nx"),
        false);
    assert_int_equal(r.event, HTTP_DONE);
    assert_true(r.expect);
}

static void a_head_has_a_size_and_a_number_of_lines(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(1 << 20);
    buf_text(&b, "GET / HTTP/1.1\r\n" H "X: ");
    while (b.len < HTTP_HEAD_MAX - 4)
        buf_char(&b, 'x');
    buf_text(&b, "\r\n\r\n"); /* ends at the last byte allowed */
    struct slice text = slice_of(b.data, b.len);
    assert_int_equal(feed(HTTP_REQUEST, text, text.n, 1, false).event, HTTP_DONE);
    assert_int_equal(feed(HTTP_REQUEST, text, 1, 1, false).event, HTTP_DONE);
    b.data[b.len - 4] = 'x';
    b.data[b.len - 3] = '\r';
    b.data[b.len - 2] = '\n';
    b.data[b.len - 1] = '\r';
    buf_char(&b, '\n');
    text = slice_of(b.data, b.len);
    assert_int_equal(feed(HTTP_REQUEST, text, text.n, 1, false).status, 431);
    assert_int_equal(feed(HTTP_REQUEST, text, 1, 1, false).status, 431);

    buf_reset(&b);
    buf_text(&b, "GET / HTTP/1.1\r\n" H);
    for (int i = 0; i < 99; i++)
        buf_text(&b, "a: b\r\n");
    buf_text(&b, "\r\n");
    assert_int_equal(feed(HTTP_REQUEST, slice_of(b.data, b.len), b.len, 1, false).event, HTTP_DONE);
    b.len -= 2;
    buf_text(&b, "a: b\r\n\r\n");
    assert_int_equal(feed(HTTP_REQUEST, slice_of(b.data, b.len), b.len, 1, false).status, 431);
    buf_done(&b);
}

struct answer {
    const char *text;
    bool eof; /* the peer closes afterwards */
    enum http_event event;
    int status;
    const char *body; /* or why */
    bool keep_alive;
};

static const struct answer answers[] = {
    { "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false, HTTP_DONE, 200, "ok", true },
    /* Tomcat without a reason, chunked */
    { "HTTP/1.1 200 \r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nDate: Fri, "
      "20 Nov 2026 08:55:44 GMT\r\nKeep-Alive: timeout=60\r\nConnection: keep-alive\r\n\r\n26\r\n"
      "{\"code\":200,\"msg\":null,\"content\":null}\r\n0\r\n\r\n",
      false, HTTP_DONE, 200, "{\"code\":200,\"msg\":null,\"content\":null}", true },
    { "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", false, HTTP_DONE, 200, "", true },
    /* feixiaobo, goft: LF alone */
    { "HTTP/1.1 200 OK\nContent-Length: 12\n\n{\"code\":200}", false, HTTP_DONE, 200,
      "{\"code\":200}", true },
    { "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3 \nabc\n0\n\n", false, HTTP_DONE, 200, "abc",
      true },
    { "HTTP/1.1 401 No\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx", false, HTTP_DONE, 401,
      "x", false },
    { "HTTP/1.0 200 OK\r\n\r\nuntil the end", true, HTTP_DONE, 200, "until the end", false },
    { "HTTP/1.1 200 OK\r\n\r\nuntil the end", false, HTTP_MORE, 0, "", false },
    { "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nA: b\r\n\r\nHTTP/1.1 200 \r\nContent-Length: "
      "1\r\n\r\nz",
      false, HTTP_DONE, 200, "z", true },
    { "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", false, HTTP_DONE, 204, "", true },
    { "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: "
      "chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
      false, HTTP_DONE, 200, "a", false },
    { "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", true, HTTP_BAD, 400, "inside the body",
      false },
    { "HTTP/1.1 200 OK\r\nContent-Le", true, HTTP_BAD, 400, "inside the head", false },
    { "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", false, HTTP_BAD, 413, "larger", false },
    { "HTTP/1.1 101 Switch\r\n\r\n", false, HTTP_BAD, 400, "another protocol", false },
    { "HTTP/2.0 200 OK\r\n\r\n", false, HTTP_BAD, 505, "HTTP/1.x", false },
    { "HTTP/1.1 99 x\r\n\r\n", false, HTTP_BAD, 400, "status line", false },
    { "HTTP/1.1 2000 x\r\n\r\n", false, HTTP_BAD, 400, "status line", false },
    { "HTTP/1.1  200 x\r\n\r\n", false, HTTP_BAD, 400, "status line", false },
};

static void answers_of_real_executors_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(answers); i++) {
        const struct answer *c = &answers[i];
        struct result r = read_all_ways(HTTP_RESPONSE, slice_text(c->text), c->eof);
        if (r.event != c->event || (r.event != HTTP_MORE && r.status != c->status))
            fail_msg("case %zu: event %d status %d %s", i, r.event, r.status, r.why);
        if (r.event == HTTP_BAD) {
            assert_non_null(strstr(r.why, c->body));
            assert_false(r.not_http);
        }
        if (r.event != HTTP_DONE)
            continue;
        assert_string_equal(r.body, c->body);
        assert_int_equal(r.keep_alive, c->keep_alive);
    }
}

static void a_peer_that_does_not_speak_http_is_told_from_a_broken_one(void **state)
{
    (void)state;
    static const char *const texts[] = { "\x05R\x00\x01", "SSH-2.0-x\r\n", "HTTX/1.1 200 OK\r\n",
                                         "<html>", "http/1.1 200 OK\r\n\r\n" };
    for (size_t i = 0; i < countof(texts); i++) {
        struct result r = read_all_ways(HTTP_RESPONSE, slice_text(texts[i]), false);
        assert_int_equal(r.event, HTTP_BAD);
        assert_true(r.not_http);
    }
}

static void a_stream_can_be_dropped_piece_by_piece(void **state)
{
    (void)state;
    static const char text[] = "HTTP/1.1 200 OK\r\nKeep-Alive: max=5, timeout=7\r\n"
                               "Transfer-Encoding: chunked\r\n\r\n"
                               "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n!";
    struct buf b = BUF_INIT(4096), got = BUF_INIT(4096);
    struct http_reader r;
    enum http_event e = HTTP_MORE;
    http_begin(&r, HTTP_RESPONSE, 0, 100);
    size_t n = 0;
    for (; e == HTTP_MORE; n++) {
        buf_add(&b, text + n, 1);
        e = http_read(&r, &b);
        if (r.phase >= HTTP_IN_BODY) {
            buf_slice(&got, http_body(&r, &b));
            http_drop_body(&r, &b);
        }
    }
    assert_int_equal(e, HTTP_DONE);
    assert_int_equal(n, sizeof(text) - 2);
    assert_string_equal(buf_str(&got), "hello world");
    assert_int_equal(r.body_total, 11);
    assert_int_equal(r.keep_alive_s, 7);
    assert_int_equal(http_rest(&r), b.len);
    buf_done(&b);
    buf_done(&got);
}

static void headers_are_found_in_any_case(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(4096);
    struct http_reader r;
    buf_text(&b, "POST /x HTTP/1.1\r\n" H "xxl-job-access-token: \t secret \t\r\nEmpty:\r\n\r\n");
    http_begin(&r, HTTP_REQUEST, 0, 10);
    assert_int_equal(http_read(&r, &b), HTTP_DONE);
    assert_true(slice_eq(http_header(&r, &b, "XXL-JOB-ACCESS-TOKEN"), "secret"));
    assert_non_null(http_header(&r, &b, "empty").p);
    assert_int_equal(http_header(&r, &b, "empty").n, 0);
    assert_null(http_header(&r, &b, "absent").p);
    assert_true(slice_eq(http_method(&r, &b), "POST"));
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_can_be_read_two_ways_is_refused),
        cmocka_unit_test(what_real_clients_send_is_read),
        cmocka_unit_test(expect_is_noticed_once_the_head_is_read),
        cmocka_unit_test(a_head_has_a_size_and_a_number_of_lines),
        cmocka_unit_test(answers_of_real_executors_are_read),
        cmocka_unit_test(a_peer_that_does_not_speak_http_is_told_from_a_broken_one),
        cmocka_unit_test(a_stream_can_be_dropped_piece_by_piece),
        cmocka_unit_test(headers_are_found_in_any_case),
    };
    return cmocka_run_group_tests_name("net.http", tests, NULL, NULL);
}
