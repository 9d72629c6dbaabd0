/* SPDX-License-Identifier: Apache-2.0 */
/* Two nodes on one loop that call each other, and what is no call of a node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/clock.h"
#include "base/log.h"
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

/* In the place of a program that is none of these nodes. */
static void stranger(struct center *c, struct peer_asked *q)
{
    (void)c;
    httpd_reply(q->request, 200, "text/plain", slice_of(NULL, 0), slice_text("yes"));
    list_remove(&q->node);
    free(q);
}

static const struct peer_row rows[] = { { "echo", BODY_MAX, echo },  { "run/", 0, keep },
                                        { "look", 0, look },         { "busy", 0, busy },
                                        { "stranger", 0, stranger }, { NULL, 0, NULL } };

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

/* ---- what the log says ---- */

struct said {
    struct log_sink sink;
    int n;
};

static void say(void *arg, enum log_level level, const char *module, const char *text)
{
    (void)level;
    if (strcmp(module, "peers") == 0 && strstr(text, "answer"))
        ((struct said *)arg)->n++;
}

/* ---- calls ---- */

struct made {
    struct peer_call call;
    bool ended, answered;
    int refused;
    struct slice body; /* owned */
    char why[200];
};

static void on_done(struct peer_call *call)
{
    struct made *m = container_of(call, struct made, call);
    assert_false(m->ended);
    m->ended = true;
    m->answered = call->answered;
    m->refused = call->refused;
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

/* refused: the status by which the node says so; 0: it does not. */
static void is_refused(int64_t epoch, const char *path, int refused, const char *why)
{
    struct made m;
    assert_true(make(&m, epoch, path, slice_of(NULL, 0)));
    ended(&m);
    assert_false(m.answered);
    assert_int_equal(m.refused, refused);
    assert_non_null(strstr(m.why, why));
}

static void fails(int64_t epoch, const char *path, const char *why)
{
    is_refused(epoch, path, 0, why);
}

static void succeeds(int64_t epoch)
{
    struct made m;
    assert_true(make(&m, epoch, "echo", slice_of(NULL, 0)));
    ended(&m);
    assert_true(m.answered);
    assert_int_equal(m.refused, 0);
    drop(&m);
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

/* As one of a later release asks. */
static void what_a_node_does_not_know_is_no_failure_of_it(void **state)
{
    (void)state;
    static const char *const paths[] = { "nothing", "", "looks", "ech", "run" };
    struct made m;
    char large[BODY_MAX];
    int64_t epochs[4];
    for (size_t i = 0; i < countof(paths); i++)
        is_refused(20, paths[i], 404, "does not know this question");
    memset(large, 'x', sizeof(large));
    assert_true(make(&m, 20, "nothing", slice_of(large, sizeof(large))));
    ended(&m);
    assert_int_equal(m.refused, 404);
    assert_int_equal(peers_epoch(a.peers, 2), 20);
    assert_int_equal(peers_ready(a.peers, epochs, 4), 1);
    succeeds(20);
    assert_int_equal(a.metrics.peer_failures, 0);
    assert_int_equal(b.metrics.peer_refused, 0);
}

static void what_is_for_no_life_is_refused_alike(void **state)
{
    (void)state;
    know(&a, 21, httpd_port(b.front)); /* a life that is over */
    fails(21, "echo", "refuses the call");
    know(&a, 10, httpd_port(b.front)); /* as if it were unknown before */
    know(&a, 21, httpd_port(b.front));
    fails(21, "nothing", "refuses the call");
    assert_int_equal(b.metrics.peer_refused, 2);
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
    assert_int_equal(m.refused, 413);
    assert_true(make(&m, 20, "look", slice_of(large, sizeof(large))));
    ended(&m);
    assert_int_equal(m.refused, 413);
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
    uint16_t port = httpd_port(b.front);
    end(&b);
    begin(&b, 21, "a token");
    know(&a, 10, port);
    know(&a, 20, httpd_port(b.front));
    fails(20, "echo", "refuses the call");
    assert_int_equal(a.metrics.peer_failures, 1);
    assert_false(make(&m, 20, "echo", slice_of(NULL, 0)));
    assert_int_equal(peers_ready(a.peers, epochs, 4), 0);
    assert_int_equal(peers_epoch(a.peers, 2), 0);
    assert_false(make(&m, 30, "echo", slice_of(NULL, 0))); /* one that is not known */
    know(&a, 21, httpd_port(b.front));
    succeeds(21);
}

/* Others are asked first for a moment, and all else goes on. */
static void one_that_is_busy_is_not_left_alone(void **state)
{
    (void)state;
    int64_t epochs[4];
    is_refused(20, "busy", 503, "cannot answer now");
    assert_int_equal(peers_ready(a.peers, epochs, 4), 0);
    assert_int_equal(peers_epoch(a.peers, 2), 20);
    succeeds(20);
    assert_int_equal(a.metrics.peer_failures, 0);
    int64_t end_ms = clock_boot_ms() + WAIT_MS;
    while (!peers_ready(a.peers, epochs, 4) && clock_boot_ms() < end_ms)
        loop_iterate(loop, 50);
    assert_int_equal(peers_ready(a.peers, epochs, 4), 1);
}

/* Failures count that come in a row: a node that answers between them is not said to be silent. */
static void a_failure_after_a_success_is_the_first_one(void **state)
{
    (void)state;
    struct said said = { .sink = { .say = say, .arg = &said, .lock = PTHREAD_MUTEX_INITIALIZER } };
    int64_t end_ms = clock_boot_ms() + WAIT_MS;
    log_to(&said.sink);
    for (int i = 0; i < 5; i++) {
        fails(20, "stranger", "not one of a node");
        while (!peers_epoch(a.peers, 2) && clock_boot_ms() < end_ms)
            loop_iterate(loop, 50);
        succeeds(20);
    }
    log_to(NULL);
    assert_int_equal(a.metrics.peer_failures, 5);
    assert_int_equal(said.n, 0);
}

static void one_that_fails_again_and_again_is_named_once(void **state)
{
    (void)state;
    struct said said = { .sink = { .say = say, .arg = &said, .lock = PTHREAD_MUTEX_INITIALIZER } };
    int64_t end_ms = clock_boot_ms() + WAIT_MS;
    log_to(&said.sink);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(said.n, 0);
        fails(20, "stranger", "not one of a node");
        while (!peers_epoch(a.peers, 2) && clock_boot_ms() < end_ms)
            loop_iterate(loop, 50);
    }
    assert_int_equal(said.n, 1);
    succeeds(20);
    log_to(NULL);
    assert_int_equal(said.n, 2); /* that it answers again */
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

struct header {
    char first[400];
    int n;
};

static void on_sealed(struct httpd_request *q, void *arg)
{
    struct header *h = arg;
    struct slice value = httpd_header(q, PEER_HEADER);
    if (h->n++)
        assert_false(slice_eq(value, h->first));
    text_copy(h->first, sizeof(h->first), value);
    on_other(q, NULL);
}

/* So the answer to one is none to another. */
static void two_calls_are_not_the_same_to_the_byte(void **state)
{
    (void)state;
    struct header seen = { "", 0 };
    struct httpd_config config = { .on_request = on_sealed, .arg = &seen };
    struct addr_listen at = { .host = "127.0.0.1" };
    struct httpd *other = httpd_new(loop, &config);
    assert_int_equal(httpd_listen(other, &at, NULL), OK);
    know(&a, 20, httpd_port(other));
    struct made m, n;
    assert_true(make(&m, 20, "echo", slice_of(NULL, 0)));
    assert_true(make(&n, 20, "echo", slice_of(NULL, 0)));
    ended(&m);
    ended(&n);
    assert_int_equal(seen.n, 2);
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
        TEST(what_a_node_does_not_know_is_no_failure_of_it),
        TEST(what_is_for_no_life_is_refused_alike),
        TEST(a_body_that_is_too_large_is_not_taken),
        TEST(one_that_fails_is_left_alone_until_it_has_a_new_life),
        TEST(one_that_is_busy_is_not_left_alone),
        TEST(a_failure_after_a_success_is_the_first_one),
        TEST(one_that_fails_again_and_again_is_named_once),
        TEST(what_does_not_answer_ends_the_call),
        TEST(what_another_program_says_is_no_answer),
        TEST(two_calls_are_not_the_same_to_the_byte),
        TEST(nudges_are_one_under_way_and_one_that_waits),
        TEST(calls_that_are_open_at_the_end_end_quietly),
        TEST(only_so_many_calls_to_one_node_are_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
