/* SPDX-License-Identifier: Apache-2.0 */
/* The client against peers that behave as real ones do, well and badly: each outcome is provoked
 * on a real socket, and the peer's side of a reset is looked at too. */
#include "support_net.h"
#include <errno.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "net/httpc.h"

#define ANSWER "{\"code\":200,\"msg\":null}"
#define OK_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 23\r\n\r\n{\"code\":200,\"msg\":null}"

/* Stands before libc's: gives the client's end the address that it connects to, as the kernel does
 * now and then when no socket listens there. */
static bool to_itself;
static int self_connected;

int connect(int fd, const struct sockaddr *to, socklen_t len)
{
    if (to_itself) {
        assert_int_equal(bind(fd, to, len), 0);
        self_connected++;
    }
    return (int)syscall(SYS_connect, fd, to, len);
}

struct fixture {
    struct loop *l;
    struct httpc *c;
};

static int set_up(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    f->l = loop_new();
    struct httpc_config cf = { .token = "default_token", .connections = 2 };
    assert_int_equal(httpc_new(f->l, &cf, &f->c, NULL), OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    httpc_free(f->c);
    loop_free(f->l);
    free(f);
    return 0;
}

struct test_call {
    struct httpc_call call;
    bool ended;
    char *body, *why;
    size_t streamed, stop_at;
    struct test_call *then; /* called from within done, on the same peer */
    const char *token;
    struct httpc_peer *peer;
};

static void start_call(struct httpc_peer *p, struct test_call *t, int timeout_ms);

static void on_done(struct httpc_call *call)
{
    struct test_call *t = container_of(call, struct test_call, call);
    assert_false(t->ended);
    if (t->then)
        start_call(t->peer, t->then, PATIENCE_MS);
    t->body = mem_dupn(call->body.p ? call->body.p : "", call->body.n);
    t->why = mem_dup(call->why ? call->why : "");
    t->ended = true;
}

static void start_call(struct httpc_peer *p, struct test_call *t, int timeout_ms)
{
    struct slice pieces[] = { slice_text("{\"jobId\":1,"), slice_text("\"x\":2}") };
    struct httpc_post post = { .action = "run",
                               .headers = slice_text("Peal-Attempt: 0\r\n"),
                               .pieces = pieces,
                               .npieces = 2,
                               .timeout_ms = timeout_ms,
                               .token = t->token };
    t->call.done = on_done;
    t->peer = p;
    assert_int_equal(httpc_call(p, &post, &t->call), OK);
    assert_false(t->ended);
}

static void done_with(struct test_call *t)
{
    free(t->body);
    free(t->why);
    memset(t, 0, sizeof(*t));
}

static struct httpc_peer *peer_at(struct fixture *f, const char *format, uint16_t port)
{
    char address[100];
    struct httpc_peer *p;
    struct why why = { "" };
    snprintf(address, sizeof(address), format, port);
    if (httpc_peer_new(f->c, slice_text(address), &p, &why))
        fail_msg("%s", why.text);
    return p;
}

static void run_call(struct fixture *f, struct httpc_peer *p, struct test_call *t, int timeout_ms)
{
    start_call(p, t, timeout_ms);
    iterate_while_false(f->l, &t->ended);
}

static bool is_sent(void *arg)
{
    return ((struct test_call *)arg)->call.sent_us != 0;
}

/* Its connection stands, so the script gets it: a connection that is given up before the peer's
 * kernel has looked at it never comes. */
static void abort_sent(struct fixture *f, struct test_call *t)
{
    iterate_until(f->l, is_sent, t);
    assert_int_equal(httpc_abort(&t->call), HTTPC_IN_DOUBT);
}

/* One call to a fresh script; the outcome. */
static void one_call(struct fixture *f, struct script *s, struct test_call *t, int timeout_ms)
{
    s->connections = 1;
    script_start(s);
    struct httpc_peer *p = peer_at(f, "127.0.0.1:%u", s->port);
    run_call(f, p, t, timeout_ms);
    assert_int_equal(httpc_peer_connections(p), httpc_peer_idle(p));
    httpc_peer_free(p);
    script_join(s);
}

/* --- answered --- */

static int reads_of_request;

static void serve_ok(struct script *s, int fd, int nth)
{
    (void)nth;
    reads_of_request = script_read_request(s, fd);
    script_write(fd, s->arg ? s->arg : OK_ANSWER);
    script_wait_end(s, fd);
}

static void the_request_leaves_in_one_write_spelled_as_old_parsers_want(void **state)
{
    struct fixture *f = *state;
    struct script s = { .serve = serve_ok, .connections = 1 };
    struct test_call t = { .ended = false };
    script_start(&s);
    struct httpc_peer *p = peer_at(f, "http://127.0.0.1:%u/job", s.port);
    int64_t before = clock_wall_us();
    run_call(f, p, &t, PATIENCE_MS);
    assert_int_equal(t.call.outcome, HTTPC_ANSWERED);
    assert_int_equal(t.call.status, 200);
    assert_string_equal(t.body, ANSWER);
    assert_true(t.call.sent_us >= before && t.call.sent_us <= clock_wall_us());
    httpc_peer_free(p);
    script_join(&s);
    char want[400];
    snprintf(want, sizeof(want),
             "POST /job/run HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
             "Content-Type: application/json;charset=UTF-8\r\n"
             "XXL-JOB-ACCESS-TOKEN: default_token\r\nContent-Length: 17\r\n"
             "Peal-Attempt: 0\r\n\r\n{\"jobId\":1,\"x\":2}",
             s.port);
    assert_string_equal(buf_str(&s.got), want);
    assert_int_equal(reads_of_request, 1);
    assert_int_equal(s.end, 0); /* a clean idle connection ends with FIN, not with a reset */
    buf_done(&s.got);
    done_with(&t);
}

static void answers_of_every_framing_are_taken(void **state)
{
    struct fixture *f = *state;
    static char *const framings[] = {
        OK_ANSWER,
        "HTTP/1.1 200 OK\nContent-Length: 23\n\n" ANSWER, /* LF alone */
        "HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n17\r\n" ANSWER "\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n" OK_ANSWER,
        "HTTP/1.1 200 OK\r\nContent-Length: 23\r\nConnection: close\r\n\r\n" ANSWER,
        "HTTP/1.1 200 OK\r\nContent-Length: 23\r\nKeep-Alive: timeout=1\r\n\r\n" ANSWER,
    };
    for (size_t i = 0; i < countof(framings); i++) {
        struct script s = { .serve = serve_ok, .arg = framings[i] };
        struct test_call t = { .ended = false };
        one_call(f, &s, &t, PATIENCE_MS);
        assert_int_equal(t.call.outcome, HTTPC_ANSWERED);
        assert_string_equal(t.body, ANSWER);
        buf_done(&s.got);
        done_with(&t);
    }
}

static void serve_twice(struct script *s, int fd, int nth)
{
    (void)nth;
    const char *const tokens[] = { "TOKEN: of-one\r\nContent-Length: ",
                                   "TOKEN: default_token\r\n" };
    for (size_t i = 0; i < countof(tokens); i++) {
        script_read_request(s, fd);
        bool right = strstr(buf_str(&s->got), tokens[i]);
        script_write(fd, right ? OK_ANSWER : "HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n");
    }
    script_wait_end(s, fd);
}

static void each_request_has_its_own_token_on_one_connection(void **state)
{
    struct fixture *f = *state;
    struct script s = { .serve = serve_twice, .connections = 1 };
    struct test_call one = { .token = "of-one" }, other = { .ended = false };
    script_start(&s);
    struct httpc_peer *p = peer_at(f, "127.0.0.1:%u", s.port);
    run_call(f, p, &one, PATIENCE_MS);
    run_call(f, p, &other, PATIENCE_MS);
    assert_int_equal(httpc_peer_connections(p), 1);
    httpc_peer_free(p);
    script_join(&s);
    assert_int_equal(one.call.status, 200);
    assert_int_equal(other.call.status, 200);
    buf_done(&s.got);
    done_with(&one);
    done_with(&other);
}

static void serve_to_eof(struct script *s, int fd, int nth)
{
    (void)nth;
    script_read_request(s, fd);
    script_write(fd, "HTTP/1.0 500 Oops\r\n\r\n" ANSWER);
}

static void an_answer_may_end_with_its_connection(void **state)
{
    struct script s = { .serve = serve_to_eof };
    struct test_call t = { .ended = false };
    one_call(*state, &s, &t, PATIENCE_MS);
    assert_int_equal(t.call.outcome, HTTPC_ANSWERED);
    assert_int_equal(t.call.status, 500);
    assert_string_equal(t.body, ANSWER);
    buf_done(&s.got);
    done_with(&t);
}

static void serve_drip(struct script *s, int fd, int nth)
{
    (void)nth;
    script_read_request(s, fd);
    for (const char *p = OK_ANSWER; *p; p++) {
        char byte[2] = { *p, '\0' };
        script_write(fd, byte);
        sched_yield();
    }
    script_wait_end(s, fd);
}

static void an_answer_may_drip(void **state)
{
    struct script s = { .serve = serve_drip };
    struct test_call t = { .ended = false };
    one_call(*state, &s, &t, PATIENCE_MS);
    assert_int_equal(t.call.outcome, HTTPC_ANSWERED);
    assert_string_equal(t.body, ANSWER);
    buf_done(&s.got);
    done_with(&t);
}

/* --- keep-alive --- */

static bool has_none(void *arg)
{
    return httpc_peer_connections(arg) == 0;
}

static void serve_two(struct script *s, int fd, int nth)
{
    (void)nth;
    while (script_read_request(s, fd))
        script_write(fd, OK_ANSWER);
}

static void a_connection_is_used_again_also_from_within_done(void **state)
{
    struct fixture *f = *state;
    struct script s = { .serve = serve_two, .connections = 1 }; /* a second would not be served */
    struct test_call a = { .ended = false }, b = { .ended = false };
    script_start(&s);
    struct httpc_peer *p = peer_at(f, "127.0.0.1:%u/", s.port);
    a.then = &b;
    run_call(f, p, &a, PATIENCE_MS);
    iterate_while_false(f->l, &b.ended);
    assert_string_equal(a.body, ANSWER);
    assert_string_equal(b.body, ANSWER);
    assert_int_equal(httpc_peer_connections(p), 1);
    httpc_peer_free(p);
    script_join(&s);
    buf_done(&s.got);
    done_with(&a);
    done_with(&b);
}

static void serve_one(struct script *s, int fd, int nth)
{
    (void)nth;
    script_read_request(s, fd);
    script_write(fd, OK_ANSWER);
}

static void a_connection_closed_between_calls_is_replaced_not_doubted(void **state)
{
    struct fixture *f = *state;
    struct script s = { .serve = serve_one, .connections = 3 };
    script_start(&s);
    struct httpc_peer *p = peer_at(f, "127.0.0.1:%u/", s.port);
    for (int i = 0; i < 3; i++) {
        struct test_call t = { .ended = false };
        run_call(f, p, &t, PATIENCE_MS);
        assert_int_equal(t.call.outcome, HTTPC_ANSWERED);
        script_wait_closed(&s, i + 1); /* the look before reuse must see it */
        if (i == 1)                    /* or the loop sees it, when it turns */
            iterate_until(f->l, has_none, p);
        done_with(&t);
    }
    httpc_peer_free(p);
    script_join(&s);
    buf_done(&s.got);
}

static void an_idle_connection_is_closed_in_time(void **state)
{
    struct loop *l = loop_new();
    struct httpc_config cf = { .idle_ms = 20 };
    struct fixture f = { .l = l };
    (void)state;
    assert_int_equal(httpc_new(l, &cf, &f.c, NULL), OK);
    struct script s = { .serve = serve_ok, .connections = 1 };
    struct test_call t = { .ended = false };
    script_start(&s);
    struct httpc_peer *p = peer_at(&f, "127.0.0.1:%u/", s.port);
    run_call(&f, p, &t, PATIENCE_MS);
    iterate_until(l, has_none, p);
    script_join(&s);
    assert_int_equal(s.end, 0);
    buf_done(&s.got);
    done_with(&t);
    httpc_free(f.c);
    loop_free(l);
}

/* --- opened ahead --- */

static void serve_silence(struct script *s, int fd, int nth)
{
    (void)nth;
    script_read_request(s, fd);
    script_wait_end(s, fd);
}

static bool one_idle(void *arg)
{
    return httpc_peer_idle(arg) == 1;
}

static void connections_may_be_opened_ahead_of_calls(void **state)
{
    struct fixture *f = *state;
    struct script s = { .serve = serve_two, .connections = 1 };
    struct test_call a = { .ended = false }, b = { .ended = false };
    script_start(&s);
    struct httpc_peer *p = peer_at(f, "127.0.0.1:%u/", s.port);
    httpc_warm(p, 1);
    iterate_until(f->l, one_idle, p);
    run_call(f, p, &a, PATIENCE_MS);
    httpc_warm(p, 1); /* there is one already */
    run_call(f, p, &b, PATIENCE_MS);
    assert_string_equal(a.body, ANSWER);
    assert_string_equal(b.body, ANSWER);
    assert_int_equal(httpc_peer_connections(p), 1);
    httpc_peer_free(p);
    script_join(&s);
    buf_done(&s.got);
    done_with(&a);
    done_with(&b);
}

static void calls_take_over_what_is_being_opened(void **state)
{
    struct fixture *f = *state;
    struct script s = { .serve = serve_silence, .connections = 2 };
    struct test_call a = { .ended = false }, b = { .ended = false };
    script_start(&s);
    struct httpc_peer *p = peer_at(f, "127.0.0.1:%u", s.port);
    httpc_warm(p, 10);
    assert_int_equal(httpc_peer_connections(p), 2); /* the bound of this client */
    assert_int_equal(httpc_peer_idle(p), 0);
    start_call(p, &a, PATIENCE_MS);
    start_call(p, &b, PATIENCE_MS);
    assert_int_equal(httpc_peer_connections(p), 2);
    abort_sent(f, &a);
    abort_sent(f, &b);
    script_join(&s);
    buf_done(&s.got);
}

static void what_cannot_be_opened_ahead_is_given_up_quietly(void **state)
{
    struct fixture *f = *state;
    uint16_t port;
    int closed = refuse_somewhere(&port);
    struct httpc_peer *p = peer_at(f, "127.0.0.1:%u", port);
    httpc_warm(p, 2);
    iterate_until(f->l, has_none, p);
    struct test_call t = { .ended = false };
    run_call(f, p, &t, PATIENCE_MS);
    assert_int_equal(t.call.outcome, HTTPC_NOT_SENT);
    done_with(&t);
    close(closed);
}

static void a_peer_may_go_while_its_connections_are_opened(void **state)
{
    struct fixture *f = *state;
    uint16_t port;
    int listener = listen_somewhere(2, &port);
    struct httpc_peer *p = peer_at(f, "127.0.0.1:%u", port);
    httpc_warm(p, 2);
    httpc_peer_free(p);
    loop_iterate(f->l, 0);
    struct httpc_peer *named = peer_at(f, "localhost:%u", port);
    httpc_warm(named, 2); /* its address is asked for first */
    assert_int_equal(httpc_peer_connections(named), 0);
    close(listener);
}

/* The tear-down frees the client before an iteration could; the sanitizer tells what was left. */
static void a_client_may_end_right_after_a_connection_failed(void **state)
{
    struct httpc_peer *p = peer_at(*state, "255.255.255.255:%u", 9);
    httpc_warm(p, 2); /* TCP knows no broadcasts: refused at once */
    assert_int_equal(httpc_peer_connections(p), 0);
}

/* --- not sent --- */

static void a_closed_port_means_not_sent(void **state)
{
    struct fixture *f = *state;
    uint16_t port;
    int closed = refuse_somewhere(&port);
    struct httpc_peer *p = peer_at(f, "127.0.0.1:%u", port);
    struct test_call t = { .ended = false };
    run_call(f, p, &t, PATIENCE_MS);
    assert_int_equal(t.call.outcome, HTTPC_NOT_SENT);
    assert_int_equal(t.call.err, ERR_NET);
    assert_int_equal(t.call.sent_us, 0);
    assert_non_null(strstr(t.why, "refused"));
    assert_int_equal(httpc_peer_connections(p), 0);
    done_with(&t);
    close(closed);
}

/* The port of one that is away, given by the kernel to the client's own end. */
static void a_connection_to_itself_is_a_closed_port(void **state)
{
    static const char *const forms[] = { "127.0.0.1:%u", "[::1]:%u", "0.0.0.0:%u" };
    struct fixture *f = *state;
    for (size_t i = 0; i < countof(forms); i++) {
        uint16_t port = quiet_port();
        if (strchr(forms[i], '[') && access("/proc/net/if_inet6", F_OK) != 0)
            continue; /* a machine without IPv6 */
        struct httpc_peer *p = peer_at(f, forms[i], port);
        struct test_call t = { .ended = false };
        self_connected = 0;
        to_itself = true;
        run_call(f, p, &t, PATIENCE_MS);
        to_itself = false;
        assert_int_equal(self_connected, 1);
        assert_int_equal(t.call.outcome, HTTPC_NOT_SENT);
        assert_int_equal(t.call.err, ERR_NET);
        assert_int_equal(t.call.sent_us, 0);
        assert_non_null(strstr(t.why, "refused"));
        assert_int_equal(httpc_peer_connections(p), 0);
        assert_true(can_listen(port)); /* a server that comes back gets its port */
        done_with(&t);
    }
}

static void a_port_that_does_not_answer_means_not_sent(void **state)
{
    struct loop *l = loop_new();
    struct httpc_config cf = { .connect_timeout_ms = 50 };
    struct fixture f = { .l = l };
    (void)state;
    uint16_t port;
    int full = listen_somewhere(0, &port), filler[8];
    struct pollfd full_when[countof(filler)];
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    for (size_t i = 0; i < countof(filler); i++) {
        filler[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)!connect(filler[i], (struct sockaddr *)&a, sizeof(a));
        full_when[i] = (struct pollfd){ .fd = filler[i], .events = POLLOUT };
    }
    assert_true(poll(full_when, countof(full_when), WAIT_MS) > 0); /* there is room for one */
    assert_int_equal(httpc_new(l, &cf, &f.c, NULL), OK);
    struct httpc_peer *p = peer_at(&f, "127.0.0.1:%u", port);
    struct test_call t = { .ended = false };
    run_call(&f, p, &t, PATIENCE_MS);
    assert_int_equal(t.call.outcome, HTTPC_NOT_SENT);
    assert_int_equal(t.call.err, ERR_TIMEOUT);
    done_with(&t);
    for (size_t i = 0; i < countof(filler); i++)
        close(filler[i]);
    close(full);
    httpc_free(f.c);
    loop_free(l);
}

static void a_name_without_address_means_not_sent(void **state)
{
    struct fixture *f = *state;
    struct httpc_peer *p = peer_at(f, "http://no-such-host.invalid:%u", 9999);
    struct test_call t = { .ended = false };
    run_call(f, p, &t, PATIENCE_MS);
    assert_int_equal(t.call.outcome, HTTPC_NOT_SENT);
    assert_non_null(strstr(t.why, "no-such-host.invalid"));
    done_with(&t);
}

/* Nobody else can listen at this port of ::1; -1 on a machine without IPv6. */
static int refuse_v6(uint16_t port)
{
    struct sockaddr_in6 a = { .sin6_family = AF_INET6,
                              .sin6_port = htons(port),
                              .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof(a)) != 0 && errno == EADDRINUSE)
        fail_msg("port %u of ::1 belongs to another program", port);
    return fd;
}

static void names_are_resolved_off_the_loop(void **state)
{
    struct fixture *f = *state;
    struct script s = { .serve = serve_ok, .connections = 1 };
    struct test_call t = { .ended = false };
    script_start(&s);
    int v6 = refuse_v6(s.port);
    struct httpc_peer *p = peer_at(f, "localhost:%u", s.port); /* ::1 refuses, 127.0.0.1 answers */
    run_call(f, p, &t, PATIENCE_MS);
    assert_int_equal(t.call.outcome, HTTPC_ANSWERED);
    httpc_peer_free(p);
    script_join(&s);
    if (v6 >= 0)
        close(v6);
    assert_non_null(strstr(buf_str(&s.got), "Host: localhost:"));
    buf_done(&s.got);
    done_with(&t);
}

static void a_client_may_end_while_a_name_is_being_asked(void **state)
{
    struct fixture *f = *state;
    struct httpc_peer *p = peer_at(f, "no-such-host.invalid:%u", 1);
    struct test_call t = { .ended = false };
    start_call(p, &t, PATIENCE_MS);
    assert_int_equal(httpc_abort(&t.call), HTTPC_NOT_SENT);
}

/* --- in doubt --- */

static void serve_nothing(struct script *s, int fd, int nth)
{
    (void)s;
    (void)fd;
    (void)nth;
}

static void serve_close_after_reading(struct script *s, int fd, int nth)
{
    (void)nth;
    script_read_request(s, fd);
}

static void serve_half(struct script *s, int fd, int nth)
{
    (void)nth;
    script_read_request(s, fd);
    script_write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 23\r\n\r\n{\"co");
}

static void once_a_byte_has_left_no_answer_means_in_doubt(void **state)
{
    static void (*const peers[])(struct script *, int,
                                 int) = { serve_nothing, serve_close_after_reading, serve_half };
    for (size_t i = 0; i < countof(peers); i++) {
        struct script s = { .serve = peers[i] };
        struct test_call t = { .ended = false };
        one_call(*state, &s, &t, PATIENCE_MS);
        assert_int_equal(t.call.outcome, HTTPC_IN_DOUBT);
        assert_int_equal(t.call.err, ERR_NET);
        assert_true(t.call.sent_us > 0);
        buf_done(&s.got);
        done_with(&t);
    }
}

static void a_timeout_is_in_doubt_and_resets_the_connection(void **state)
{
    struct script s = { .serve = serve_silence };
    struct test_call t = { .ended = false };
    one_call(*state, &s, &t, 50);
    assert_int_equal(t.call.outcome, HTTPC_IN_DOUBT);
    assert_int_equal(t.call.err, ERR_TIMEOUT);
    assert_int_equal(s.end, ECONNRESET);
    buf_done(&s.got);
    done_with(&t);
}

static void an_aborted_call_resets_the_connection_and_says_nothing_more(void **state)
{
    struct fixture *f = *state;
    struct script s = { .serve = serve_silence, .connections = 1 };
    struct test_call t = { .ended = false };
    script_start(&s);
    struct httpc_peer *p = peer_at(f, "127.0.0.1:%u", s.port);
    start_call(p, &t, PATIENCE_MS);
    abort_sent(f, &t);
    script_join(&s);
    assert_false(t.ended);
    assert_int_equal(s.end, ECONNRESET);
    buf_done(&s.got);
}

/* What a process does that dies in the middle of a call. */
static void die_in_a_call(uint16_t port)
{
    struct fixture f = { .l = loop_new() };
    struct httpc_config cf = { .token = "" };
    struct test_call t = { .ended = false };
    if (httpc_new(f.l, &cf, &f.c, NULL))
        _exit(1);
    struct httpc_peer *p = peer_at(&f, "127.0.0.1:%u", port);
    start_call(p, &t, 60000);
    while (!t.call.sent_us && !t.ended)
        loop_iterate(f.l, 1000);
    raise(t.ended ? SIGTERM : SIGKILL);
}

static void the_death_of_the_process_resets_the_connection(void **state)
{
    (void)state;
    struct script s = { .end = 0 };
    uint16_t port;
    int listener = listen_somewhere(4, &port), status;
    buf_init(&s.got, 1 << 20);
    pid_t child = fork();
    if (child == 0)
        die_in_a_call(port);
    int fd = accept(listener, NULL, NULL); /* waits for WAIT_MS */
    assert_true(fd >= 0);
    assert_int_equal(script_read_request(&s, fd), 1);
    script_wait_end(&s, fd);
    assert_int_equal(s.end, ECONNRESET);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    close(fd);
    close(listener);
    buf_done(&s.got);
}

static void an_answer_above_its_limit_is_in_doubt(void **state)
{
    struct script s = { .serve = serve_ok };
    struct test_call t = { .call.body_max = 22 };
    one_call(*state, &s, &t, PATIENCE_MS);
    assert_int_equal(t.call.outcome, HTTPC_IN_DOUBT);
    assert_int_equal(t.call.err, ERR_TOOBIG);
    buf_done(&s.got);
    done_with(&t);
}

static void a_malformed_answer_is_in_doubt(void **state)
{
    struct script s = { .serve = serve_ok, .arg = "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n" };
    struct test_call t = { .ended = false };
    one_call(*state, &s, &t, PATIENCE_MS);
    assert_int_equal(t.call.outcome, HTTPC_IN_DOUBT);
    assert_int_equal(t.call.err, ERR_INVALID);
    buf_done(&s.got);
    done_with(&t);
}

static void what_does_not_speak_http_is_said_so(void **state)
{
    struct script s = { .serve = serve_ok, .arg = "\x01\x02\x05Rabc" };
    struct test_call t = { .ended = false };
    one_call(*state, &s, &t, PATIENCE_MS);
    assert_int_equal(t.call.outcome, HTTPC_NOT_HTTP);
    buf_done(&s.got);
    done_with(&t);
}

/* --- bounds, streams --- */

static void above_the_cap_a_call_is_refused_at_once(void **state)
{
    struct fixture *f = *state;
    struct script s = { .serve = serve_silence, .connections = 2 };
    struct test_call a = { .ended = false }, b = { .ended = false }, c = { .ended = false };
    script_start(&s);
    struct httpc_peer *p = peer_at(f, "127.0.0.1:%u", s.port);
    start_call(p, &a, PATIENCE_MS);
    start_call(p, &b, PATIENCE_MS);
    struct httpc_post post = { .action = "beat", .timeout_ms = 1000 };
    c.call.done = on_done;
    assert_int_equal(httpc_call(p, &post, &c.call), ERR_FULL);
    abort_sent(f, &a);
    abort_sent(f, &b);
    script_join(&s);
    buf_done(&s.got);
}

/* It says nothing about the peer: a caller must not think that it refused. */
static void without_a_descriptor_there_is_no_room(void **state)
{
    struct fixture *f = *state;
    struct test_call t = { .ended = false };
    struct httpc_peer *p = peer_at(f, "127.0.0.1:%u", 9);
    struct rlimit before, none;
    int lowest = dup(0);
    assert_true(lowest >= 0);
    close(lowest);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = (rlim_t)lowest;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    run_call(f, p, &t, PATIENCE_MS);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(t.call.outcome, HTTPC_NOT_SENT);
    assert_int_equal(t.call.err, ERR_FULL);
    httpc_peer_free(p);
    done_with(&t);
}

enum { LARGE_CHUNKS = 3000 };

static void serve_large(struct script *s, int fd, int nth)
{
    (void)nth;
    char chunk[1100];
    script_read_request(s, fd);
    script_write(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    memcpy(chunk, "400\r\n", 5);
    memset(chunk + 5, 'x', 1024);
    memcpy(chunk + 1029, "\r\n", 3);
    for (int i = 0; i < LARGE_CHUNKS; i++)
        script_write(fd, chunk);
    script_write(fd, "0\r\n\r\n");
    script_wait_end(s, fd);
}

static bool on_piece(struct httpc_call *call, struct slice piece)
{
    struct test_call *t = container_of(call, struct test_call, call);
    assert_int_equal(call->status, 200);
    t->streamed += piece.n;
    return !t->stop_at || t->streamed < t->stop_at;
}

static void a_large_answer_is_streamed(void **state)
{
    struct script s = { .serve = serve_large };
    struct test_call t = { .call = { .on_body = on_piece, .body_max = 64 << 20 } };
    one_call(*state, &s, &t, PATIENCE_MS);
    assert_int_equal(t.call.outcome, HTTPC_ANSWERED);
    assert_int_equal(t.streamed, LARGE_CHUNKS * 1024);
    assert_string_equal(t.body, "");
    buf_done(&s.got);
    done_with(&t);
}

static void a_large_answer_is_kept_whole_if_allowed(void **state)
{
    struct script s = { .serve = serve_large };
    struct test_call t = { .call = { .body_max = LARGE_CHUNKS * 1024 } };
    one_call(*state, &s, &t, PATIENCE_MS);
    assert_int_equal(t.call.outcome, HTTPC_ANSWERED);
    assert_int_equal(strspn(t.body, "x"), LARGE_CHUNKS * 1024);
    buf_done(&s.got);
    done_with(&t);
}

static void a_stream_may_be_ended_by_its_reader(void **state)
{
    struct script s = { .serve = serve_large };
    struct test_call t = { .call = { .on_body = on_piece, .body_max = 64 << 20 }, .stop_at = 5000 };
    one_call(*state, &s, &t, PATIENCE_MS);
    assert_int_equal(t.call.outcome, HTTPC_IN_DOUBT);
    assert_true(t.streamed >= 5000 && t.streamed < LARGE_CHUNKS * 1024);
    buf_done(&s.got);
    done_with(&t);
}

static void serve_early(struct script *s, int fd, int nth)
{
    (void)nth;
    char waste[1000];
    (void)!recv(fd, waste, sizeof(waste), 0);
    script_write(fd, "HTTP/1.1 413 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    script_wait_end(s, fd);
}

static void an_answer_may_come_before_the_request_is_written(void **state)
{
    struct fixture *f = *state;
    struct script s = { .serve = serve_early, .connections = 1 };
    struct test_call t = { .call.done = on_done };
    struct buf body = BUF_INIT(40 << 20);
    memset(buf_room(&body, 32 << 20), 'x', 32 << 20);
    struct slice piece = slice_of(body.data, 32 << 20);
    struct httpc_post post = {
        .action = "run", .pieces = &piece, .npieces = 1, .timeout_ms = PATIENCE_MS
    };
    script_start(&s);
    struct httpc_peer *p = peer_at(f, "127.0.0.1:%u", s.port);
    assert_int_equal(httpc_call(p, &post, &t.call), OK);
    iterate_while_false(f->l, &t.ended);
    assert_int_equal(t.call.outcome, HTTPC_ANSWERED);
    assert_int_equal(t.call.status, 413);
    assert_int_equal(httpc_peer_connections(p), 0);
    script_join(&s);
    buf_done(&s.got);
    buf_done(&body);
    done_with(&t);
}

/* --- TLS --- */

static SSL_CTX *self_signed(void)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    X509_gmtime_adj(X509_getm_notBefore(x), -7200);
    X509_gmtime_adj(X509_getm_notAfter(x), -3600); /* expired as well */
    X509_set_pubkey(x, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                               (const unsigned char *)"another.name", -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    assert_true(X509_sign(x, key, EVP_sha256()) > 0);
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    assert_int_equal(SSL_CTX_use_certificate(ctx, x), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(ctx, key), 1);
    X509_free(x);
    EVP_PKEY_free(key);
    return ctx;
}

static void serve_tls(struct script *s, int fd, int nth)
{
    (void)nth;
    SSL *ssl = SSL_new(s->arg);
    SSL_set_fd(ssl, fd);
    if (SSL_accept(ssl) == 1) {
        char got[4096];
        int n;
        while ((n = SSL_read(ssl, got, sizeof(got) - 1)) > 0) {
            buf_add(&s->got, got, (size_t)n);
            if (got[n - 1] == '}' && SSL_write(ssl, OK_ANSWER, sizeof(OK_ANSWER) - 1) <= 0)
                break;
        }
        s->end = SSL_get_error(ssl, n);
    }
    SSL_free(ssl);
}

static void https_works_with_any_certificate_and_keeps_its_connection(void **state)
{
    struct fixture *f = *state;
    SSL_CTX *ctx = self_signed();
    struct script s = { .serve = serve_tls, .connections = 1, .arg = ctx };
    script_start(&s);
    struct httpc_peer *p = peer_at(f, "https://127.0.0.1:%u/", s.port);
    for (int i = 0; i < 3; i++) {
        struct test_call t = { .ended = false };
        run_call(f, p, &t, PATIENCE_MS);
        if (t.call.outcome != HTTPC_ANSWERED)
            fail_msg("%s", t.why);
        assert_string_equal(t.body, ANSWER);
        assert_true(t.call.sent_us > 0);
        done_with(&t);
    }
    assert_int_equal(httpc_peer_connections(p), 1);
    httpc_peer_free(p);
    script_join(&s);
    assert_int_equal(s.end, SSL_ERROR_ZERO_RETURN); /* a polite goodbye */
    assert_non_null(strstr(buf_str(&s.got), "POST /run HTTP/1.1\r\n"));
    buf_done(&s.got);
    SSL_CTX_free(ctx);
}

static void a_peer_without_tls_means_not_sent(void **state)
{
    struct fixture *f = *state;
    struct script s = { .serve = serve_one, .connections = 1 };
    s.serve = serve_nothing;
    script_start(&s);
    struct httpc_peer *p = peer_at(f, "https://127.0.0.1:%u/", s.port);
    struct test_call t = { .ended = false };
    run_call(f, p, &t, PATIENCE_MS);
    assert_int_equal(t.call.outcome, HTTPC_NOT_SENT);
    assert_non_null(strstr(t.why, "TLS"));
    script_join(&s);
    buf_done(&s.got);
    done_with(&t);
}

static void a_token_may_not_break_the_head(void **state)
{
    struct fixture *f = *state;
    struct httpc_config cf = { .token = "a\r\nX: y" };
    struct httpc *c = NULL;
    struct why why = { "" };
    assert_int_equal(httpc_new(f->l, &cf, &c, &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "token"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        /* first: it forks, and threads of others might hold a lock that the child needs */
        T(the_death_of_the_process_resets_the_connection),
        T(the_request_leaves_in_one_write_spelled_as_old_parsers_want),
        T(answers_of_every_framing_are_taken),
        T(an_answer_may_end_with_its_connection),
        T(an_answer_may_drip),
        T(a_connection_is_used_again_also_from_within_done),
        T(a_connection_closed_between_calls_is_replaced_not_doubted),
        T(an_idle_connection_is_closed_in_time),
        T(connections_may_be_opened_ahead_of_calls),
        T(calls_take_over_what_is_being_opened),
        T(what_cannot_be_opened_ahead_is_given_up_quietly),
        T(a_peer_may_go_while_its_connections_are_opened),
        T(a_client_may_end_right_after_a_connection_failed),
        T(a_closed_port_means_not_sent),
        T(a_connection_to_itself_is_a_closed_port),
        T(a_port_that_does_not_answer_means_not_sent),
        T(a_name_without_address_means_not_sent),
        T(names_are_resolved_off_the_loop),
        T(a_client_may_end_while_a_name_is_being_asked),
        T(once_a_byte_has_left_no_answer_means_in_doubt),
        T(a_timeout_is_in_doubt_and_resets_the_connection),
        T(an_aborted_call_resets_the_connection_and_says_nothing_more),
        T(an_answer_above_its_limit_is_in_doubt),
        T(a_malformed_answer_is_in_doubt),
        T(what_does_not_speak_http_is_said_so),
        T(above_the_cap_a_call_is_refused_at_once),
        T(without_a_descriptor_there_is_no_room),
        T(a_large_answer_is_streamed),
        T(a_large_answer_is_kept_whole_if_allowed),
        T(a_stream_may_be_ended_by_its_reader),
        T(an_answer_may_come_before_the_request_is_written),
        T(https_works_with_any_certificate_and_keeps_its_connection),
        T(a_peer_without_tls_means_not_sent),
        T(a_token_may_not_break_the_head),
        T(each_request_has_its_own_token_on_one_connection),
    };
    return cmocka_run_group_tests_name("net.httpc", tests, NULL, NULL);
}
