/* SPDX-License-Identifier: Apache-2.0 */
/* The question right before the first byte: it is asked once, nothing is on the wire before it or
 * after a no, and a yes is never older than the write that it is for. */
#include "support_net.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/mem.h"
#include "net/httpc.h"

#define OK_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/* Stands before libc's. Of the loop's thread: what it has written, and the sends that fail. */
static _Thread_local bool counted;
static size_t written;
static int failures, failure;

ssize_t send(int fd, const void *p, size_t n, int flags)
{
    if (counted && failures > 0) {
        failures--;
        errno = failure;
        return -1;
    }
    ssize_t sent = syscall(SYS_sendto, fd, p, n, flags, NULL, 0);
    if (counted && sent > 0)
        written += (size_t)sent;
    return sent;
}

struct fixture {
    struct loop *l;
    struct httpc *c;
    struct httpc_peer *p;
    struct script s;
};

struct asker {
    struct httpc_call call;
    bool yes, ended;
    int asked;
    size_t written_before; /* when it was asked */
};

static void serve_ok(struct script *s, int fd, int nth)
{
    (void)nth;
    while (script_read_request(s, fd))
        script_write(fd, OK_ANSWER);
}

static int set_up(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    counted = true;
    written = 0;
    failures = 0;
    f->l = loop_new();
    struct httpc_config cf = { .token = "t", .connections = 4 };
    assert_int_equal(httpc_new(f->l, &cf, &f->c, NULL), OK);
    *state = f;
    return 0;
}

static void begin(struct fixture *f, int connections)
{
    char address[64];
    struct why why = { "" };
    f->s = (struct script){ .serve = serve_ok, .connections = connections };
    script_start(&f->s);
    snprintf(address, sizeof(address), "http://127.0.0.1:%u/", f->s.port);
    assert_int_equal(httpc_peer_new(f->c, slice_text(address), &f->p, &why), OK);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    httpc_free(f->c);
    if (f->p) {
        script_join(&f->s);
        buf_done(&f->s.got);
    }
    loop_free(f->l);
    free(f);
    return 0;
}

static void on_done(struct httpc_call *call)
{
    struct asker *a = container_of(call, struct asker, call);
    assert_false(a->ended);
    a->ended = true;
}

static bool on_leaving(struct httpc_call *call)
{
    struct asker *a = container_of(call, struct asker, call);
    a->asked++;
    a->written_before = written;
    return a->yes;
}

static enum err ask(struct fixture *f, struct asker *a, bool yes)
{
    struct slice body = slice_text("{}");
    struct httpc_post post = {
        .action = "run", .pieces = &body, .npieces = 1, .timeout_ms = PATIENCE_MS
    };
    *a = (struct asker){ .yes = yes, .call = { .done = on_done, .leaving = on_leaving } };
    return httpc_call(f->p, &post, &a->call);
}

/* A call that is let go, and answered. */
static void goes(struct fixture *f, struct asker *a)
{
    size_t before = written;
    assert_int_equal(ask(f, a, true), OK);
    iterate_while_false(f->l, &a->ended);
    assert_int_equal(a->call.outcome, HTTPC_ANSWERED);
    assert_int_equal(a->asked, 1);
    assert_int_equal(a->written_before, before);
    assert_true(written > before);
}

static void once_before_the_first_byte(void **state)
{
    struct fixture *f = *state;
    struct asker a;
    begin(f, 1);
    goes(f, &a); /* over a new connection */
    goes(f, &a); /* and a kept one */
}

static bool one_idle(void *arg)
{
    return httpc_peer_idle(arg) == 1;
}

static void over_a_connection_that_was_opened_ahead(void **state)
{
    struct fixture *f = *state;
    struct asker a;
    begin(f, 1);
    httpc_warm(f->p, 1);
    goes(f, &a); /* takes it over while it is being opened */
    httpc_warm(f->p, 1);
    iterate_until(f->l, one_idle, f->p);
    goes(f, &a);
}

static void a_no_leaves_nothing_on_a_new_connection(void **state)
{
    struct fixture *f = *state;
    struct asker a;
    begin(f, 2);
    assert_int_equal(ask(f, &a, false), OK);
    assert_int_equal(a.asked, 0); /* not before it stands */
    iterate_while_false(f->l, &a.ended);
    assert_int_equal(a.asked, 1);
    assert_int_equal(a.call.outcome, HTTPC_NOT_SENT);
    assert_int_equal(a.call.err, ERR_OVERTAKEN);
    assert_int_equal(a.call.sent_us, 0);
    assert_int_equal(written, 0);
    assert_int_equal(httpc_peer_connections(f->p), 0);
    goes(f, &a);
}

static void a_no_leaves_nothing_on_a_kept_connection(void **state)
{
    struct fixture *f = *state;
    struct asker a;
    begin(f, 2);
    goes(f, &a);
    size_t before = written;
    assert_int_equal(ask(f, &a, false), ERR_OVERTAKEN);
    assert_int_equal(a.asked, 1);
    assert_false(a.ended);
    assert_int_equal(written, before);
    assert_int_equal(httpc_peer_connections(f->p), 0);
    goes(f, &a);
}

/* The kept connection is dead: a new one would come too late for the yes. */
static void a_yes_does_not_wait_for_a_new_connection(void **state)
{
    struct fixture *f = *state;
    struct asker a;
    begin(f, 2);
    goes(f, &a);
    failures = 1;
    failure = EPIPE;
    assert_int_equal(ask(f, &a, true), ERR_OVERTAKEN);
    assert_int_equal(a.asked, 1);
    assert_int_equal(httpc_peer_connections(f->p), 0);
    goes(f, &a);
}

static bool two_idle(void *arg)
{
    return httpc_peer_idle(arg) == 2;
}

static void another_kept_connection_carries_it(void **state)
{
    struct fixture *f = *state;
    struct asker a;
    begin(f, 2);
    httpc_warm(f->p, 2);
    iterate_until(f->l, two_idle, f->p);
    failures = 1;
    failure = ECONNRESET;
    assert_int_equal(ask(f, &a, true), OK);
    assert_int_equal(a.asked, 1);
    assert_int_equal(httpc_peer_connections(f->p), 1);
    /* the script serves its connections one after the other: the first has been given up */
    iterate_while_false(f->l, &a.ended);
    assert_int_equal(a.call.outcome, HTTPC_ANSWERED);
}

/* A new connection that breaks at the first write, and one whose socket takes nothing. */
static void a_new_connection_that_takes_nothing(void **state)
{
    struct fixture *f = *state;
    static const struct {
        int failure;
        enum err err;
    } rows[] = { { EPIPE, ERR_NET }, { EAGAIN, ERR_FULL } };
    begin(f, (int)countof(rows));
    for (size_t i = 0; i < countof(rows); i++) {
        struct asker a;
        failures = 1;
        failure = rows[i].failure;
        assert_int_equal(ask(f, &a, true), OK);
        iterate_while_false(f->l, &a.ended);
        assert_int_equal(a.asked, 1);
        assert_int_equal(a.call.outcome, HTTPC_NOT_SENT);
        assert_int_equal(a.call.err, rows[i].err);
        assert_int_equal(written, 0);
    }
}

static void who_gives_up_before_is_not_asked(void **state)
{
    struct fixture *f = *state;
    struct asker a;
    uint16_t port;
    int listener = listen_somewhere(1, &port);
    char address[64];
    struct why why = { "" };
    struct httpc_peer *p;
    snprintf(address, sizeof(address), "http://127.0.0.1:%u/", port);
    assert_int_equal(httpc_peer_new(f->c, slice_text(address), &p, &why), OK);
    f->p = p;
    assert_int_equal(ask(f, &a, true), OK);
    assert_int_equal(httpc_abort(&a.call), HTTPC_NOT_SENT);
    assert_int_equal(a.asked, 0);
    f->p = NULL;
    close(listener);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(once_before_the_first_byte),
        T(over_a_connection_that_was_opened_ahead),
        T(a_no_leaves_nothing_on_a_new_connection),
        T(a_no_leaves_nothing_on_a_kept_connection),
        T(a_yes_does_not_wait_for_a_new_connection),
        T(another_kept_connection_carries_it),
        T(a_new_connection_that_takes_nothing),
        T(who_gives_up_before_is_not_asked),
    };
    return cmocka_run_group_tests_name("net.httpc_leaving", tests, NULL, NULL);
}
