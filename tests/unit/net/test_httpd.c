/* SPDX-License-Identifier: Apache-2.0 */
/* The server front against raw sockets: order, framing as real clients do it, refusals that arrive,
 * limits, draining, and connections that move between the loops of two threads. */
#include "support_net.h"
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "net/httpc.h"
#include "net/httpd.h"

struct fixture {
    struct loop *l;
    struct httpd *h;
    struct httpd_request *kept[8]; /* of paths that begin with /keep */
    int nkept;
    bool drained;
    struct buf log; /* what the handler saw */
    size_t reply_size;
};

static void on_request(struct httpd_request *q, void *arg)
{
    struct fixture *f = arg;
    char peer[64], body[256];
    httpd_peer(q, peer, sizeof(peer));
    assert_string_equal(peer, "127.0.0.1");
    buf_printf(&f->log, "%.*s %.*s ?%.*s %zu;", (int)q->method.n, q->method.p, (int)q->path.n,
               q->path.p, (int)q->query.n, q->query.p, q->body.n);
    if (q->path.n >= 5 && memcmp(q->path.p, "/keep", 5) == 0) {
        f->kept[f->nkept++] = q;
        return;
    }
    if (slice_eq(q->path, "/large")) {
        char *large = mem_new(f->reply_size + 1);
        memset(large, 'x', f->reply_size);
        httpd_reply(q, 200, "text/plain", slice_text(""), slice_of(large, f->reply_size));
        free(large);
        return;
    }
    if (slice_eq(httpd_header(q, "X-Proof"), "1"))
        httpd_proved(q);
    int n = snprintf(body, sizeof(body), "<%.*s>", (int)q->path.n, q->path.p);
    httpd_reply(q, 200, "text/plain", slice_text("X-Test: 1\r\n"), slice_of(body, (size_t)n));
}

static void on_drained(void *arg)
{
    ((struct fixture *)arg)->drained = true;
}

static struct fixture *open_front(struct httpd_config cf)
{
    struct fixture *f = mem_new(sizeof(*f));
    f->l = loop_new();
    buf_init(&f->log, 1 << 20);
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
    buf_done(&f->log);
    free(f);
}

/* Opens a connection, sends, and takes everything until the server ends it. */
static void exchange(struct fixture *f, const char *text, struct raw *r)
{
    raw_open(r, httpd_port(f->h));
    raw_send(r, f->l, text);
    raw_until_end(r, f->l);
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define PROVED(path) "GET " path " HTTP/1.1\r\nHost: a\r\nX-Proof: 1\r\n\r\n"
#define LAST(path) "GET " path " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

static int answers_in(const char *text)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, "HTTP/1.1 200 OK\r\n")); p++)
        n++;
    return n;
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct raw r;
    raw_open(&r, httpd_port(f->h));
    raw_send(&r, f->l, GET("/1") GET("/2") GET("/keep") GET("/4") LAST("/5"));
    raw_until(&r, f->l, "</2>");
    assert_int_equal(f->nkept, 1);
    assert_null(strstr(buf_str(&r.got), "</4>")); /* waits for its turn */
    httpd_reply(f->kept[0], 200, NULL, slice_text(""), slice_text("<kept>"));
    raw_until_end(&r, f->l);
    const char *got = buf_str(&r.got);
    assert_int_equal(answers_in(got), 5);
    assert_true(strstr(got, "</1>") < strstr(got, "</2>"));
    assert_true(strstr(got, "</2>") < strstr(got, "<kept>"));
    assert_true(strstr(got, "<kept>") < strstr(got, "</4>"));
    assert_true(strstr(got, "</4>") < strstr(got, "</5>"));
    assert_true(r.eof);
    struct httpd_stats st;
    httpd_stats(f->h, &st);
    assert_int_equal(st.requests, 5);
    assert_int_equal(st.connections, 0);
    assert_int_equal(st.open_requests, 0);
    raw_close(&r);
    close_front(f);
}

static void a_thousand_pipelined_requests_get_a_thousand_answers(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct raw r;
    struct buf all = BUF_INIT(1 << 20);
    for (int i = 0; i < 999; i++)
        buf_text(&all, "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "3\r\nabc\r\n0\r\n\r\n");
    buf_text(&all, LAST("/end"));
    exchange(f, buf_str(&all), &r);
    assert_int_equal(answers_in(buf_str(&r.got)), 1000);
    buf_done(&all);
    raw_close(&r);
    close_front(f);
}

static void heads_and_bodies_come_in_any_pieces(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct raw r;
    raw_open(&r, httpd_port(f->h));
    static const char *const pieces[] = { "PO",
                                          "ST /a/b?c=d HTTP/1.1\r\nhost: a\r\n",
                                          "content-length: 5\r\nExpect: 100-continue\r\n\r\n",
                                          "he",
                                          "llo",
                                          "POST /e HTTP/1.1\r\nHost: a\r\n\r\n" };
    for (size_t i = 0; i < countof(pieces); i++) {
        raw_send(&r, f->l, pieces[i]);
        loop_iterate(f->l, 100);
        loop_iterate(f->l, 0);
        if (i == 2)
            raw_until(&r, f->l, "HTTP/1.1 100 Continue\r\n\r\n");
    }
    raw_until(&r, f->l, "</e>");
    assert_string_equal(buf_str(&f->log), "POST /a/b ?c=d 5;POST /e ? 0;");
    assert_non_null(strstr(buf_str(&r.got), "X-Test: 1\r\n"));
    raw_close(&r);
    close_front(f);
}

static void old_clients_and_head_requests_are_served(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct raw r;
    exchange(f, "GET /old HTTP/1.0\r\n\r\n", &r);
    assert_non_null(strstr(buf_str(&r.got), "Connection: close\r\n"));
    assert_non_null(strstr(buf_str(&r.got), "</old>"));
    raw_close(&r);
    exchange(f, "HEAD /h HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", &r);
    assert_non_null(strstr(buf_str(&r.got), "Content-Length: 4\r\n"));
    assert_null(strstr(buf_str(&r.got), "</h>"));
    raw_close(&r);
    raw_open(&r, httpd_port(f->h));
    raw_send(&r, f->l, "GET /k HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    raw_until(&r, f->l, "Connection: keep-alive\r\n");
    raw_close(&r);
    close_front(f);
}

static void a_refusal_arrives_even_while_the_client_is_sending(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ .body_max = 1000 });
    struct raw r;
    struct buf huge = BUF_INIT(8 << 20);
    buf_text(&huge, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 600000\r\n\r\n");
    for (int i = 0; i < 60000; i++)
        buf_text(&huge, "0123456789");
    exchange(f, buf_str(&huge), &r);
    assert_false(r.reset);
    assert_non_null(strstr(buf_str(&r.got), "HTTP/1.1 413 Content Too Large\r\n"));
    assert_non_null(strstr(buf_str(&r.got), "Connection: close\r\n"));
    assert_non_null(strstr(buf_str(&r.got), "{\"code\":413,\"msg\":\"the body is larger than"));
    raw_close(&r);
    buf_done(&huge);

    exchange(f, "GET / HTTP/1.1\r\nHost : a\r\n\r\n" GET("/smuggled"), &r);
    assert_non_null(strstr(buf_str(&r.got), "HTTP/1.1 400 Bad Request\r\n"));
    assert_non_null(strstr(buf_str(&r.got), "colon"));
    assert_null(strstr(buf_str(&f->log), "smuggled"));
    raw_close(&r);
    close_front(f);
}

static bool one_has_ended(void *arg)
{
    struct raw **both = arg;
    return raw_has_ended(both[0]) || raw_has_ended(both[1]);
}

static void large_bodies_together_have_a_limit(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ .bodies_max = 1500000 });
    struct raw a, b;
    struct buf part = BUF_INIT(2 << 20);
    buf_text(&part, "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
    for (int i = 0; i < 90000; i++)
        buf_text(&part, "0123456789");
    raw_open(&a, httpd_port(f->h));
    raw_open(&b, httpd_port(f->h));
    raw_send(&a, f->l, buf_str(&part));
    raw_send(&b, f->l, buf_str(&part));
    struct raw *both[] = { &a, &b };
    iterate_until(f->l, one_has_ended, both);
    struct raw *refused = a.eof ? &a : &b, *other = a.eof ? &b : &a;
    assert_non_null(strstr(buf_str(&refused->got), "HTTP/1.1 503 "));
    assert_non_null(strstr(buf_str(&refused->got), "too many large bodies at once"));
    raw_close(refused);
    buf_reset(&part);
    for (int i = 0; i < 10000; i++)
        buf_text(&part, "0123456789");
    raw_send(other, f->l, buf_str(&part));
    raw_until(other, f->l, "</a>");
    raw_close(other);
    buf_done(&part);
    /* and what they took is given back */
    buf_text(&part, "POST /b HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 900000\r\n"
                    "\r\n");
    for (int i = 0; i < 90000; i++)
        buf_text(&part, "0123456789");
    for (int i = 0; i < 3; i++) {
        exchange(f, buf_str(&part), &a);
        assert_non_null(strstr(buf_str(&a.got), "</b>"));
        raw_close(&a);
    }
    buf_done(&part);
    close_front(f);
}

static void slow_clients_are_told_and_idle_ones_closed(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){
        .head_timeout_ms = 20, .body_timeout_ms = 20, .idle_timeout_ms = 20 });
    struct raw r;
    exchange(f, "GET / HT", &r);
    assert_non_null(strstr(buf_str(&r.got), "HTTP/1.1 408 "));
    assert_non_null(strstr(buf_str(&r.got), "the head did not come in time"));
    raw_close(&r);
    exchange(f, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab", &r);
    assert_non_null(strstr(buf_str(&r.got), "the body did not come in time"));
    raw_close(&r);
    exchange(f, "", &r);
    assert_int_equal(r.got.len, 0);
    raw_close(&r);
    exchange(f, GET("/a"), &r);
    assert_int_equal(answers_in(buf_str(&r.got)), 1);
    raw_close(&r);
    close_front(f);
}

static bool one_kept(void *arg)
{
    return ((struct fixture *)arg)->nkept == 1;
}

static void a_server_full_of_work_says_so(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ .max_connections = 1 });
    struct raw a, b;
    raw_open(&a, httpd_port(f->h));
    raw_send(&a, f->l, LAST("/keep"));
    iterate_until(f->l, one_kept, f);
    exchange(f, "", &b);
    assert_non_null(strstr(buf_str(&b.got), "HTTP/1.1 503 Service Unavailable\r\n"));
    raw_close(&b);
    httpd_reply(f->kept[0], 200, "text/plain", slice_text(""), slice_text("<kept>"));
    raw_until_end(&a, f->l); /* the first is served on */
    assert_non_null(strstr(buf_str(&a.got), "<kept>"));
    raw_close(&a);
    close_front(f);
}

static void the_longest_idle_connection_yields_to_a_new_one(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ .max_connections = 2 });
    struct raw old, young, next;
    raw_open(&old, httpd_port(f->h));
    raw_open(&young, httpd_port(f->h));
    raw_send(&young, f->l, PROVED("/young"));
    raw_until(&young, f->l, "</young>");
    raw_send(&old, f->l, PROVED("/old"));
    raw_until(&old, f->l, "</old>");
    raw_send(&young, f->l, PROVED("/again"));
    raw_until(&young, f->l, "</again>");
    bool served = false;
    int64_t end = clock_boot_ms() + WAIT_MS;
    while (!served) { /* refused until the others have been idle for a while */
        exchange(f, LAST("/next"), &next);
        served = strstr(buf_str(&next.got), "</next>") != NULL;
        assert_true(served || strstr(buf_str(&next.got), " 503 "));
        assert_true(clock_boot_ms() < end);
        raw_close(&next);
    }
    raw_until_end(&old, f->l);
    raw_send(&young, f->l, LAST("/young2"));
    raw_until_end(&young, f->l);
    assert_non_null(strstr(buf_str(&young.got), "</young2>"));
    raw_close(&old);
    raw_close(&young);
    close_front(f);
}

static bool fd_is_gone(void *arg)
{
    struct fixture *f = arg;
    struct httpd_stats st;
    httpd_stats(f->h, &st);
    return st.connections == 0;
}

static void a_reply_to_a_client_that_has_gone_is_dropped(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct raw r;
    raw_open(&r, httpd_port(f->h));
    raw_send(&r, f->l, GET("/keep") GET("/next"));
    iterate_until(f->l, one_kept, f);
    struct linger reset = { 1, 0 };
    setsockopt(r.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    raw_close(&r);
    loop_iterate(f->l, 100);
    assert_true(slice_eq(f->kept[0]->path, "/keep")); /* the request is still whole */
    httpd_reply(f->kept[0], 200, NULL, slice_text(""), slice_text("late"));
    iterate_until(f->l, fd_is_gone, f);
    assert_string_equal(buf_str(&f->log), "GET /keep ? 0;");
    close_front(f);
}

static void a_half_closed_client_still_gets_its_answer(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct raw r;
    raw_open(&r, httpd_port(f->h));
    raw_send(&r, f->l, GET("/keep"));
    shutdown(r.fd, SHUT_WR);
    iterate_until(f->l, one_kept, f);
    loop_iterate(f->l, 20);
    httpd_reply(f->kept[0], 200, NULL, slice_text(""), slice_text("<kept>"));
    raw_until_end(&r, f->l);
    assert_non_null(strstr(buf_str(&r.got), "<kept>"));
    raw_close(&r);
    iterate_until(f->l, fd_is_gone, f);
    close_front(f);
}

static void a_large_answer_reaches_a_slow_reader_whole(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    f->reply_size = 20 << 20;
    struct raw r;
    exchange(f, GET("/large") GET("/large") LAST("/end"), &r);
    assert_int_equal(answers_in(buf_str(&r.got)), 3);
    assert_true(r.got.len > 2 * f->reply_size);
    assert_non_null(strstr(buf_str(&r.got) + r.got.len - 6, "</end>"));
    raw_close(&r);
    close_front(f);
}

static void draining_finishes_what_is_open(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct raw idle, busy, half;
    uint16_t port = httpd_port(f->h);
    raw_open(&idle, port);
    raw_open(&busy, port);
    raw_open(&half, port);
    raw_send(&idle, f->l, GET("/a"));
    raw_until(&idle, f->l, "</a>");
    raw_send(&half, f->l, "GET /half HTTP/1.1\r\n");
    raw_send(&busy, f->l, GET("/keep"));
    iterate_until(f->l, one_kept, f);
    loop_iterate(f->l, 20);
    httpd_drain(f->h);
    raw_until_end(&idle, f->l);
    assert_false(f->drained);
    httpd_reply(f->kept[0], 200, NULL, slice_text(""), slice_text("<kept>"));
    raw_until_end(&busy, f->l);
    assert_non_null(strstr(buf_str(&busy.got), "Connection: close\r\n"));
    assert_non_null(strstr(buf_str(&busy.got), "<kept>"));
    raw_send(&half, f->l, "Host: a\r\n\r\n");
    raw_until_end(&half, f->l);
    assert_non_null(strstr(buf_str(&half.got), "</half>"));
    raw_close(&idle);
    raw_close(&busy);
    raw_close(&half);
    iterate_while_false(f->l, &f->drained);
    close_front(f);
}

static void several_addresses_and_ipv6_can_be_listened_on(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct addr_listen any = { "", 0 }, taken = { "127.0.0.1", httpd_port(f->h) },
                       bad = { "no-such-host.invalid", 1 };
    struct why why = { "" };
    assert_int_equal(httpd_listen(f->h, &any, &why), OK);
    assert_int_equal(httpd_listen(f->h, &taken, &why), ERR_NET);
    assert_non_null(strstr(why.text, "Address already in use"));
    why_clear(&why);
    assert_int_equal(httpd_listen(f->h, &bad, &why), ERR_NET);
    assert_non_null(strstr(why.text, "no-such-host.invalid"));
    close_front(f);
}

/* --- moving between threads --- */

enum { MOVE_CLIENTS = 8, MOVE_ROUNDS = 40 };

struct side { /* a loop with a front in a thread; serves its own paths, moves the others */
    struct loop *l;
    struct httpd *h;
    struct mailbox *box;
    struct loop_mailbox incoming;
    struct side *other;
    const char *mine;
    pthread_t thread;
    int served, moved;
};

static void side_request(struct httpd_request *q, void *arg)
{
    struct side *s = arg;
    size_t n = strlen(s->mine);
    if (q->path.n >= n && memcmp(q->path.p, s->mine, n) == 0) {
        s->served++;
        httpd_reply(q, 200, "text/plain", slice_text(""), q->body);
        return;
    }
    s->moved++;
    struct httpd_moved *m = httpd_detach(q);
    mailbox_send(s->other->box, &m->message);
}

static void side_message(struct loop_mailbox *m, struct message *l)
{
    struct side *s = container_of(m, struct side, incoming);
    httpd_attach(s->h, container_of(l, struct httpd_moved, message));
}

static void side_open(struct side *s, struct side *other, const char *mine)
{
    struct httpd_config cf = { .on_request = side_request, .arg = s };
    s->l = loop_new();
    s->box = mailbox_new();
    s->incoming = (struct loop_mailbox){ .mailbox = s->box, .message = side_message };
    assert_int_equal(loop_mailbox_add(s->l, &s->incoming), OK);
    s->h = httpd_new(s->l, &cf);
    s->other = other;
    s->mine = mine;
}

static void side_close(struct side *s)
{
    struct list left;
    list_init(&left);
    mailbox_take(s->box, &left);
    for (struct list_node *n; (n = list_pop(&left));)
        httpd_moved_free(
            container_of(container_of(n, struct message, node), struct httpd_moved, message));
    loop_mailbox_remove(s->l, &s->incoming);
    httpd_free(s->h);
    mailbox_free(s->box);
    loop_free(s->l);
}

static void *side_thread(void *arg)
{
    loop_run(((struct side *)arg)->l);
    return NULL;
}

static void connections_move_between_the_loops_of_two_threads(void **state)
{
    (void)state;
    struct side a = { .l = NULL }, b = { .l = NULL };
    side_open(&a, &b, "/api");
    side_open(&b, &a, "/web");
    listen_quietly(a.h);
    uint16_t port = httpd_port(a.h);
    pthread_create(&a.thread, NULL, side_thread, &a);
    pthread_create(&b.thread, NULL, side_thread, &b);

    struct loop *l = loop_new(); /* turned only by the helpers, while they wait */
    struct raw r[MOVE_CLIENTS];
    for (int i = 0; i < MOVE_CLIENTS; i++)
        raw_open(&r[i], port);
    for (int round = 0; round < MOVE_ROUNDS; round++) {
        char text[600], want[40];
        /* three requests at once: stays, moves, and comes back */
        snprintf(text, sizeof(text),
                 "POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
                 "POST /web HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\ndef"
                 "POST /api HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "8\r\n<%06d>\r\n0\r\n\r\n",
                 round);
        snprintf(want, sizeof(want), "<%06d>", round);
        for (int i = 0; i < MOVE_CLIENTS; i++)
            raw_send(&r[i], l, text);
        for (int i = 0; i < MOVE_CLIENTS; i++)
            raw_until(&r[i], l, want);
    }
    for (int i = 0; i < MOVE_CLIENTS; i++) {
        assert_int_equal(answers_in(buf_str(&r[i].got)), 3 * MOVE_ROUNDS);
        raw_send(&r[i], l, i % 2 ? GET("/web") : GET("/api"));
        raw_close(&r[i]); /* some go away on the move */
    }
    loop_stop(a.l);
    loop_stop(b.l);
    pthread_join(a.thread, NULL);
    pthread_join(b.thread, NULL);
    assert_true(a.served >= 2 * MOVE_ROUNDS * MOVE_CLIENTS);
    assert_true(b.served >= MOVE_ROUNDS * MOVE_CLIENTS);
    assert_true(b.moved >= MOVE_ROUNDS * MOVE_CLIENTS);
    side_close(&a);
    side_close(&b);
    loop_free(l);
}

/* --- our own client against it --- */

struct echo_call {
    struct httpc_call call;
    struct httpc_peer *peer;
    int left;
    int *open;
};

static void echo_next(struct echo_call *e);

static void echo_done(struct httpc_call *call)
{
    struct echo_call *e = container_of(call, struct echo_call, call);
    assert_int_equal(call->outcome, HTTPC_ANSWERED);
    assert_true(slice_eq(call->body, "</run>"));
    echo_next(e);
}

static void echo_next(struct echo_call *e)
{
    struct slice piece = slice_text("{}");
    struct httpc_post post = {
        .action = "run", .pieces = &piece, .npieces = 1, .timeout_ms = PATIENCE_MS
    };
    e->call.done = echo_done;
    if (e->left-- > 0)
        assert_int_equal(httpc_call(e->peer, &post, &e->call), OK);
    else
        (*e->open)--;
}

static bool is_zero(void *arg)
{
    return *(int *)arg == 0;
}

static void client_and_server_share_a_loop(void **state)
{
    (void)state;
    struct fixture *f = open_front((struct httpd_config){ 0 });
    struct httpc *c;
    struct httpc_peer *p;
    struct httpc_config cf = { .token = "t", .connections = 16 };
    char address[64];
    assert_int_equal(httpc_new(f->l, &cf, &c, NULL), OK);
    snprintf(address, sizeof(address), "127.0.0.1:%u", httpd_port(f->h));
    assert_int_equal(httpc_peer_new(c, slice_text(address), &p, NULL), OK);
    struct echo_call calls[16];
    int open = 16;
    for (int i = 0; i < 16; i++) {
        calls[i] = (struct echo_call){ .peer = p, .left = 100, .open = &open };
        echo_next(&calls[i]);
    }
    iterate_until(f->l, is_zero, &open);
    struct httpd_stats st;
    httpd_stats(f->h, &st);
    assert_int_equal(st.requests, 1600);
    assert_int_equal(st.accepted, 16);
    httpc_free(c);
    close_front(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipelined_requests_are_answered_in_order),
        cmocka_unit_test(a_thousand_pipelined_requests_get_a_thousand_answers),
        cmocka_unit_test(heads_and_bodies_come_in_any_pieces),
        cmocka_unit_test(old_clients_and_head_requests_are_served),
        cmocka_unit_test(a_refusal_arrives_even_while_the_client_is_sending),
        cmocka_unit_test(large_bodies_together_have_a_limit),
        cmocka_unit_test(slow_clients_are_told_and_idle_ones_closed),
        cmocka_unit_test(a_server_full_of_work_says_so),
        cmocka_unit_test(the_longest_idle_connection_yields_to_a_new_one),
        cmocka_unit_test(a_reply_to_a_client_that_has_gone_is_dropped),
        cmocka_unit_test(a_half_closed_client_still_gets_its_answer),
        cmocka_unit_test(a_large_answer_reaches_a_slow_reader_whole),
        cmocka_unit_test(draining_finishes_what_is_open),
        cmocka_unit_test(several_addresses_and_ipv6_can_be_listened_on),
        cmocka_unit_test(connections_move_between_the_loops_of_two_threads),
        cmocka_unit_test(client_and_server_share_a_loop),
    };
    return cmocka_run_group_tests_name("net.httpd", tests, NULL, NULL);
}
