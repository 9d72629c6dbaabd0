/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that come by and by: their framing, clients that read slowly, vanish or wait for nothing,
 * bounds, and what a front that drains does with them. */
#include "support_net.h"
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "base/mem.h"
#include "net/httpd.h"

#define STREAMS 4
#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

struct fixture;

struct viewer {
    struct fixture *f;
    struct httpd_stream *s; /* NULL: there was none, or it has gone */
    int ready, gone;
};

struct fixture {
    struct loop *l;
    struct httpd *h;
    struct viewer viewers[STREAMS];
    int n;
    struct httpd_request *kept; /* of the path /keep */
    bool drained;
};

static void on_ready(void *arg)
{
    ((struct viewer *)arg)->ready++;
}

static void on_gone(void *arg)
{
    struct viewer *v = arg;
    v->gone++;
    v->s = NULL;
}

static void on_request(struct httpd_request *q, void *arg)
{
    struct fixture *f = arg;
    if (slice_eq(q->path, "/plain")) {
        httpd_reply(q, 200, "text/plain", slice_text(""), slice_text("<plain>"));
    } else if (slice_eq(q->path, "/keep")) {
        f->kept = q;
    } else {
        struct viewer *v = &f->viewers[f->n++];
        v->f = f;
        v->s = httpd_stream(q, 200, "text/event-stream", slice_text("X-Test: 1\r\n"), on_ready,
                            on_gone, v);
    }
}

static void on_drained(void *arg)
{
    ((struct fixture *)arg)->drained = true;
}

static struct fixture *open_front(struct httpd_config cf)
{
    struct fixture *f = mem_new(sizeof(*f));
    f->l = loop_new();
    cf.on_request = on_request;
    cf.on_drained = on_drained;
    cf.arg = f;
    f->h = httpd_new(f->l, &cf);
    listen_quietly(f->h);
    return f;
}

static void close_front(struct fixture *f)
{
    httpd_free(f->h);
    loop_free(f->l);
    free(f);
}

static int streams(const struct fixture *f)
{
    struct httpd_stats st;
    httpd_stats(f->h, &st);
    return st.streams;
}

static void watch(struct fixture *f, struct raw *r, const char *request)
{
    raw_open(r, httpd_port(f->h));
    raw_send(r, f->l, request);
    raw_until(r, f->l, "X-Test: 1\r\n\r\n");
}

static void say(struct viewer *v, const char *text)
{
    struct shared_buf *b = shared_buf_new(slice_text(text));
    assert_true(httpd_stream_write(v->s, b));
    shared_buf_drop(b);
}

/* ---- framing -----------------------------------------------------------------------------------
 */

static void pieces_leave_as_chunks_and_the_connection_ends_with_them(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct raw r;
    watch(f, &r, GET("/s"));
    assert_non_null(strstr(buf_str(&r.got), "Transfer-Encoding: chunked\r\n"));
    assert_null(strstr(buf_str(&r.got), "Content-Length"));
    say(&f->viewers[0], "one");
    raw_until(&r, f->l, "3\r\none\r\n");
    say(&f->viewers[0], "twenty characters...");
    say(&f->viewers[0], "x");
    httpd_stream_end(f->viewers[0].s);
    raw_until_end(&r, f->l);
    assert_non_null(strstr(buf_str(&r.got), "\r\n\r\n3\r\none\r\n14\r\ntwenty characters...\r\n"
                                            "1\r\nx\r\n0\r\n\r\n"));
    assert_true(r.eof);
    assert_int_equal(f->viewers[0].gone, 0);
    raw_close(&r);
    close_front(f);
}

static void a_client_of_http_1_0_gets_the_bytes_alone(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct raw r;
    watch(f, &r, "GET /s HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_null(strstr(buf_str(&r.got), "chunked"));
    assert_non_null(strstr(buf_str(&r.got), "Connection: close\r\n"));
    say(&f->viewers[0], "one");
    say(&f->viewers[0], "two");
    httpd_stream_end(f->viewers[0].s);
    raw_until_end(&r, f->l);
    assert_non_null(strstr(buf_str(&r.got), "X-Test: 1\r\n\r\nonetwo"));
    assert_string_equal(buf_str(&r.got) + r.got.len - 6, "onetwo");
    raw_close(&r);
    close_front(f);
}

static void head_gets_the_head_and_no_stream(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct raw r;
    watch(f, &r, "HEAD /s HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_null(f->viewers[0].s);
    assert_int_equal(streams(f), 0);
    raw_send(&r, f->l, GET("/plain")); /* the connection goes on */
    raw_until(&r, f->l, "<plain>");
    raw_close(&r);
    close_front(f);
}

/* ---- clients -----------------------------------------------------------------------------------
 */

static bool first_is_gone(void *arg)
{
    return ((struct fixture *)arg)->viewers[0].gone == 1;
}

static void a_client_that_vanishes_is_noticed_with_nothing_to_send(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct raw r;
    watch(f, &r, GET("/s"));
    assert_int_equal(streams(f), 1);
    raw_close(&r);
    iterate_until(f->l, first_is_gone, f);
    assert_int_equal(streams(f), 0);
    close_front(f);
}

/* Writes until the queue takes no more. */
static int fill(struct fixture *f, struct viewer *v, struct shared_buf *b)
{
    int n = 0;
    for (int still = 0; still < 20; still++) { /* turns in which the kernel took nothing */
        while (httpd_stream_write(v->s, b)) {
            n++;
            still = 0;
        }
        loop_iterate(f->l, 0);
        assert_non_null(v->s);
    }
    return n;
}

static void a_full_queue_says_so_and_lets_go_of_what_it_held(void **state)
{
    (void)state;
    static char text[1000];
    memset(text, 'x', sizeof(text));
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct shared_buf *b = shared_buf_new(slice_of(text, sizeof(text)));
    struct raw r;
    watch(f, &r, GET("/s"));
    struct viewer *v = &f->viewers[0];
    assert_true(fill(f, v, b) >= 256);
    assert_int_equal(b->refs, 257);
    assert_true(httpd_stream_unsent(v->s) <= 256 * 1007);
    raw_close(&r);
    iterate_until(f->l, first_is_gone, f);
    assert_int_equal(b->refs, 1);
    shared_buf_drop(b);
    close_front(f);
}

static void a_slow_reader_gets_everything_in_the_end(void **state)
{
    (void)state;
    static char text[1000];
    memset(text, 'x', sizeof(text));
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct shared_buf *b = shared_buf_new(slice_of(text, sizeof(text)));
    struct raw slow, quick;
    watch(f, &slow, GET("/slow"));
    size_t head = slow.got.len;
    int n = fill(f, &f->viewers[0], b);
    watch(f, &quick, GET("/quick")); /* is not held up */
    say(&f->viewers[1], "at once");
    raw_until(&quick, f->l, "at once");
    httpd_stream_end(f->viewers[0].s);
    int64_t came = 0;
    for (char one; came < 2000; came++) /* a byte at a time, then the rest */
        assert_int_equal(recv(slow.fd, &one, 1, 0), 1);
    buf_reset(&slow.got);
    slow.got.max = (size_t)n * 1100 + (1 << 20);
    raw_until_end(&slow, f->l);
    assert_true(slow.eof && head > 0);
    assert_int_equal(came + (int64_t)slow.got.len, (int64_t)n * 1007 + 5);
    assert_int_equal(b->refs, 1);
    shared_buf_drop(b);
    raw_close(&slow);
    raw_close(&quick);
    close_front(f);
}

static void a_client_that_takes_nothing_is_cut_off(void **state)
{
    (void)state;
    static char text[1000];
    memset(text, 'x', sizeof(text));
    struct fixture *f = open_front((struct httpd_config){ .write_timeout_ms = 50 });
    struct shared_buf *b = shared_buf_new(slice_of(text, sizeof(text)));
    struct raw r;
    watch(f, &r, GET("/s"));
    for (bool full = false; !full && !f->viewers[0].gone;) {
        full = !httpd_stream_write(f->viewers[0].s, b);
        loop_iterate(f->l, 0);
    }
    iterate_until(f->l, first_is_gone, f);
    assert_int_equal(b->refs, 1);
    shared_buf_drop(b);
    raw_close(&r);
    close_front(f);
}

static void silence_is_no_fault(void **state)
{
    (void)state;
    struct fixture *f =
        open_front((struct httpd_config){ .idle_timeout_ms = 20, .write_timeout_ms = 20 });
    struct raw r, idle;
    watch(f, &r, GET("/s"));
    for (int i = 0; i < 3; i++) { /* others are closed for it */
        raw_open(&idle, httpd_port(f->h));
        raw_until_end(&idle, f->l);
        raw_close(&idle);
    }
    say(&f->viewers[0], "still here");
    raw_until(&r, f->l, "still here");
    raw_close(&r);
    close_front(f);
}

static void what_the_client_sends_is_thrown_away_up_to_a_bound(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct raw r;
    watch(f, &r, GET("/s"));
    raw_send(&r, f->l, GET("/plain"));
    say(&f->viewers[0], "on");
    raw_until(&r, f->l, "on");
    assert_null(strstr(buf_str(&r.got), "<plain>"));
    static char much[70001];
    memset(much, 'x', sizeof(much) - 1);
    raw_send(&r, f->l, much);
    iterate_until(f->l, first_is_gone, f);
    raw_close(&r);
    close_front(f);
}

/* ---- bounds ------------------------------------------------------------------------------------
 */

static void streams_have_places_of_their_own(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ .max_connections = 1, .max_streams = 2 });
    struct raw a, b, c;
    watch(f, &a, GET("/a"));
    watch(f, &b, GET("/b")); /* the first does not stand in the one place of connections */
    assert_false(httpd_stream_room(f->h));
    raw_open(&c, httpd_port(f->h));
    raw_send(&c, f->l, GET("/c"));
    raw_until(&c, f->l, "HTTP/1.1 503 ");
    raw_until(&c, f->l, "Retry-After: 5\r\n");
    assert_null(f->viewers[2].s);
    raw_close(&c);
    for (int i = 0; i < 5; i++) { /* and new connections take none of theirs */
        raw_open(&c, httpd_port(f->h));
        raw_send(&c, f->l, GET("/plain"));
        raw_until(&c, f->l, "<plain>");
        raw_close(&c);
        loop_iterate(f->l, 0);
    }
    say(&f->viewers[0], "a is here");
    say(&f->viewers[1], "b is here");
    raw_until(&a, f->l, "a is here");
    raw_until(&b, f->l, "b is here");
    raw_close(&a);
    iterate_until(f->l, first_is_gone, f);
    assert_true(httpd_stream_room(f->h));
    raw_close(&b);
    close_front(f);
}

/* ---- draining ----------------------------------------------------------------------------------
 */

static bool is_kept(void *arg)
{
    return ((struct fixture *)arg)->kept != NULL;
}

static void draining_takes_no_new_streams_and_waits_for_the_old(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct raw r, late;
    watch(f, &r, GET("/s"));
    raw_open(&late, httpd_port(f->h));
    raw_send(&late, f->l, GET("/keep"));
    iterate_until(f->l, is_kept, f);
    httpd_drain(f->h);
    assert_null(httpd_stream(f->kept, 200, NULL, slice_text(""), on_ready, on_gone, f));
    raw_until_end(&late, f->l);
    assert_non_null(strstr(buf_str(&late.got), "HTTP/1.1 503 "));
    assert_false(f->drained);
    assert_false(httpd_empty(f->h));
    say(&f->viewers[0], "bye");
    httpd_stream_end(f->viewers[0].s);
    raw_until_end(&r, f->l);
    assert_non_null(strstr(buf_str(&r.got), "3\r\nbye\r\n0\r\n\r\n"));
    raw_close(&r);
    raw_close(&late);
    iterate_while_false(f->l, &f->drained);
    assert_true(httpd_empty(f->h));
    close_front(f);
}

static void a_front_is_freed_with_streams_open(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct shared_buf *b = shared_buf_new(slice_text("x"));
    struct raw r;
    watch(f, &r, GET("/s"));
    assert_true(httpd_stream_write(f->viewers[0].s, b));
    close_front(f);
    assert_int_equal(b->refs, 1);
    shared_buf_drop(b);
    raw_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_leave_as_chunks_and_the_connection_ends_with_them),
        cmocka_unit_test(a_client_of_http_1_0_gets_the_bytes_alone),
        cmocka_unit_test(head_gets_the_head_and_no_stream),
        cmocka_unit_test(a_client_that_vanishes_is_noticed_with_nothing_to_send),
        cmocka_unit_test(a_full_queue_says_so_and_lets_go_of_what_it_held),
        cmocka_unit_test(a_slow_reader_gets_everything_in_the_end),
        cmocka_unit_test(a_client_that_takes_nothing_is_cut_off),
        cmocka_unit_test(silence_is_no_fault),
        cmocka_unit_test(what_the_client_sends_is_thrown_away_up_to_a_bound),
        cmocka_unit_test(streams_have_places_of_their_own),
        cmocka_unit_test(draining_takes_no_new_streams_and_waits_for_the_old),
        cmocka_unit_test(a_front_is_freed_with_streams_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
