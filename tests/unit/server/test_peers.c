/* SPDX-License-Identifier: Apache-2.0 */
/* Two nodes on one loop that call each other, and what is no call of a node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/clock.h"
#include "base/mem.h"
#include "net/httpc.h"
#include "net/httpd.h"
#include "net/loop.h"
#include "server/peers.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 20000
#define BODY_MAX 100000

struct node { /* in the place of a center */
    struct peers *peers;
    struct httpd *front;
    struct metrics metrics;
    struct live_nodes known;
};

struct asked { /* what has come, kept by a row's function */
    struct peer_asked *call;
    int n;
    char body[100], rest[40];
    int64_t from;
} asked;

static struct loop *loop;
static int timeout_ms = WAIT_MS; /* a loaded machine is no failure */
static struct node a, b;

/* ---- rows ---- */

static void echo(struct center *c, struct peer_asked *q)
{
    (void)c;
    peer_answer(q, q->body);
}

static void keep(struct center *c, struct peer_asked *q)
{
    (void)c;
    asked.call = q;
    asked.n++;
    asked.from = q->from;
    text_copy(asked.rest, sizeof(asked.rest), q->rest);
}

static void look(struct center *c, struct peer_asked *q)
{
    (void)c;
    asked.n++;
    peer_answer(q, slice_of(NULL, 0));
}

static void busy(struct center *c, struct peer_asked *q)
{
    (void)c;
    peer_refuse(q, 503);
}

static const struct peer_row rows[] = { { "echo", BODY_MAX, echo },
                                        { "run/", 0, keep },
                                        { "look", 0, look },
                                        { "busy", 0, busy },
                                        { NULL, 0, NULL } };

/* ---- nodes ---- */

static void on_request(struct httpd_request *q, void *arg)
{
    assert_true(peers_path(q->path));
    peers_serve(((struct node *)arg)->peers, q);
}

static size_t on_head(struct httpd_request *q, void *arg)
{
    return peers_head(((struct node *)arg)->peers, q);
}

static void begin(struct node *n, int64_t epoch, const char *token)
{
    struct httpd_config front = { .on_request = on_request, .on_head = on_head, .arg = n };
    struct addr_listen at = { .host = "127.0.0.1" };
    struct why why = { "" };
    const struct peers_config config = { .rows = rows,
                                         .token = token,
                                         .ca = "any",
                                         .epoch = epoch,
                                         .timeout_ms = timeout_ms,
                                         .metrics = &n->metrics };
    n->front = httpd_new(loop, &front);
    assert_int_equal(httpd_listen(n->front, &at, &why), OK);
    assert_int_equal(peers_new(loop, &config, &n->peers, &why), OK);
}

static void know(struct node *n, int64_t epoch, uint16_t port)
{
    char address[40];
    (void)snprintf(address, sizeof(address), "127.0.0.1:%u", port);
    live_nodes_done(&n->known);
    live_nodes_add(&n->known, epoch / 10, epoch, address);
    peers_heard(n->peers, &n->known);
}

static void end(struct node *n)
{
    peers_free(n->peers);
    httpd_free(n->front);
    live_nodes_done(&n->known);
    memset(n, 0, sizeof(*n));
}

static int set_up(void **state)
{
    (void)state;
    loop = loop_new();
    memset(&asked, 0, sizeof(asked));
    begin(&a, 10, "a token");
    begin(&b, 20, "a token");
    know(&a, 20, httpd_port(b.front));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    end(&a);
    end(&b);
    loop_free(loop);
    return 0;
}

/* ---- calls ---- */

struct made {
    struct peer_call call;
    bool ended, answered;
    struct slice body; /* owned */
    char why[200];
};

static void on_done(struct peer_call *call)
{
    struct made *m = container_of(call, struct made, call);
    assert_false(m->ended);
    m->ended = true;
    m->answered = call->answered;
    if (call->answered)
        m->body = slice_of(mem_dupn(call->body.n ? call->body.p : "", call->body.n), call->body.n);
    else
        (void)snprintf(m->why, sizeof(m->why), "%s", call->why);
}

static bool make(struct made *m, int64_t epoch, const char *path, struct slice body)
{
    *m = (struct made){ .call = { .done = on_done } };
    return peers_call(a.peers, epoch, path, body, &m->call);
}

static void turn_until(const bool *done)
{
    int64_t end_ms = clock_boot_ms() + WAIT_MS;
    while (!*done && clock_boot_ms() < end_ms)
        loop_iterate(loop, 50);
    assert_true(*done);
}

static void ended(struct made *m)
{
    turn_until(&m->ended);
}

static void drop(struct made *m)
{
    free((char *)m->body.p);
}

static void fails(int64_t epoch, const char *path, const char *why)
{
    struct made m;
    assert_true(make(&m, epoch, path, slice_of(NULL, 0)));
    ended(&m);
    assert_false(m.answered);
    assert_non_null(strstr(m.why, why));
}

static void a_call_is_answered(void **state)
{
    (void)state;
    struct made m;
    char large[BODY_MAX];
    memset(large, 'x', sizeof(large));
    assert_true(make(&m, 20, "echo", slice_text("hello")));
    ended(&m);
    assert_true(m.answered && slice_eq(m.body, "hello"));
    drop(&m);
    assert_true(make(&m, 20, "echo", slice_of(large, sizeof(large))));
    ended(&m);
    assert_true(m.answered && m.body.n == sizeof(large) && m.body.p[BODY_MAX - 1] == 'x');
    drop(&m);
    assert_false(peers_busy(a.peers));
    assert_int_equal(b.metrics.peer_refused, 0);
}

static void a_call_is_answered_later_and_by_its_path(void **state)
{
    (void)state;
    struct made m;
    assert_true(make(&m, 20, "run/17", slice_of(NULL, 0)));
    int64_t end_ms = clock_boot_ms() + WAIT_MS;
    while (!asked.call && !m.ended && clock_boot_ms() < end_ms)
        loop_iterate(loop, 50);
    assert_non_null(asked.call);
    assert_string_equal(asked.rest, "17");
    assert_int_equal(asked.from, 10);
    assert_true(peers_busy(a.peers));
    peer_answer(asked.call, slice_text("phase 3"));
    ended(&m);
    assert_true(m.answered && slice_eq(m.body, "phase 3"));
    drop(&m);
}

static void what_is_for_no_row_or_life_is_refused_alike(void **state)
{
    (void)state;
    static const char *const paths[] = { "nothing", "", "looks", "ech", "run" };
    for (size_t i = 0; i < countof(paths); i++) {
        know(&a, 10, httpd_port(b.front)); /* as if it were unknown before */
        know(&a, 20, httpd_port(b.front));
        fails(20, paths[i], "refuses the call");
    }
    know(&a, 21, httpd_port(b.front)); /* a life that is over */
    fails(21, "echo", "refuses the call");
    assert_int_equal(b.metrics.peer_refused, countof(paths) + 1);
    end(&b);
    begin(&b, 20, "another token");
    know(&a, 20, httpd_port(b.front));
    fails(20, "echo", "refuses the call");
    assert_int_equal(asked.n, 0);
}

static void a_body_that_is_too_large_is_not_taken(void **state)
{
    (void)state;
    struct made m;
    char large[BODY_MAX + 1];
    memset(large, 'x', sizeof(large));
    assert_true(make(&m, 20, "echo", slice_of(large, sizeof(large))));
    ended(&m);
    assert_false(m.answered);
    know(&a, 10, 1);
    know(&a, 20, httpd_port(b.front));
    assert_true(make(&m, 20, "look", slice_text("a byte")));
    ended(&m);
    assert_false(m.answered);
    assert_int_equal(asked.n, 0);
}

static void one_that_fails_is_left_alone_until_it_has_a_new_life(void **state)
{
    (void)state;
    struct made m;
    int64_t epochs[4];
    assert_int_equal(peers_ready(a.peers, epochs, 4), 1);
    assert_int_equal(epochs[0], 20);
    assert_int_equal(peers_epoch(a.peers, 2), 20);
    fails(20, "busy", "cannot answer now");
    assert_int_equal(a.metrics.peer_failures, 1);
    assert_false(make(&m, 20, "echo", slice_of(NULL, 0)));
    assert_int_equal(peers_ready(a.peers, epochs, 4), 0);
    assert_int_equal(peers_epoch(a.peers, 2), 0);
    assert_false(make(&m, 30, "echo", slice_of(NULL, 0))); /* one that is not known */
    end(&b);
    begin(&b, 21, "a token");
    know(&a, 21, httpd_port(b.front));
    assert_true(make(&m, 21, "echo", slice_of(NULL, 0)));
    ended(&m);
    assert_true(m.answered);
    drop(&m);
}

/* It keeps the call, or nothing listens there. */
static void what_does_not_answer_ends_the_call(void **state)
{
    (void)state;
    uint16_t port = httpd_port(b.front);
    struct made m;
    end(&a);
    timeout_ms = 100;
    begin(&a, 10, "a token");
    timeout_ms = WAIT_MS;
    know(&a, 20, port);
    assert_true(make(&m, 20, "run/1", slice_of(NULL, 0))); /* kept */
    ended(&m);
    assert_false(m.answered);
    end(&b);
    asked.call = NULL;
    know(&a, 30, port);
    assert_true(make(&m, 30, "echo", slice_of(NULL, 0)));
    ended(&m);
    assert_false(m.answered);
    begin(&b, 20, "a token");
}

static void on_other(struct httpd_request *q, void *arg)
{
    (void)arg;
    httpd_reply(q, 200, "text/plain", slice_of(NULL, 0), slice_text("yes"));
}

static void what_another_program_says_is_no_answer(void **state)
{
    (void)state;
    struct httpd_config config = { .on_request = on_other };
    struct addr_listen at = { .host = "127.0.0.1" };
    struct httpd *other = httpd_new(loop, &config);
    assert_int_equal(httpd_listen(other, &at, NULL), OK);
    know(&a, 20, httpd_port(other));
    fails(20, "echo", "not one of a node");
    httpd_free(other);
}

static void nudges_are_one_under_way_and_one_that_waits(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++)
        peers_nudge(a.peers);
    int64_t end_ms = clock_boot_ms() + WAIT_MS;
    while ((asked.n < 2 || peers_busy(a.peers)) && clock_boot_ms() < end_ms)
        loop_iterate(loop, 50);
    assert_int_equal(asked.n, 2);
    peers_nudge(a.peers);
    know(&a, 40, 1); /* the peer goes with its nudge */
    assert_false(peers_busy(a.peers));
}

static void calls_that_are_open_at_the_end_end_quietly(void **state)
{
    (void)state;
    struct made m, n;
    assert_true(make(&m, 20, "run/1", slice_of(NULL, 0)));
    assert_true(make(&n, 20, "run/2", slice_of(NULL, 0)));
    peers_abort(&n.call);
    int64_t end_ms = clock_boot_ms() + WAIT_MS;
    while (!asked.call && clock_boot_ms() < end_ms)
        loop_iterate(loop, 50);
    end(&a);
    assert_false(m.ended || n.ended);
    begin(&a, 10, "a token");
}

static void only_so_many_calls_to_one_node_are_under_way(void **state)
{
    (void)state;
    struct made m[PEER_CALLS + 1];
    for (int i = 0; i < PEER_CALLS; i++)
        assert_true(make(&m[i], 20, "echo", slice_of(NULL, 0)));
    assert_false(make(&m[PEER_CALLS], 20, "echo", slice_of(NULL, 0)));
    for (int i = 0; i < PEER_CALLS; i++) {
        ended(&m[i]);
        drop(&m[i]);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_call_is_answered),
        TEST(a_call_is_answered_later_and_by_its_path),
        TEST(what_is_for_no_row_or_life_is_refused_alike),
        TEST(a_body_that_is_too_large_is_not_taken),
        TEST(one_that_fails_is_left_alone_until_it_has_a_new_life),
        TEST(what_does_not_answer_ends_the_call),
        TEST(what_another_program_says_is_no_answer),
        TEST(nudges_are_one_under_way_and_one_that_waits),
        TEST(calls_that_are_open_at_the_end_end_quietly),
        TEST(only_so_many_calls_to_one_node_are_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
