/* SPDX-License-Identifier: Apache-2.0 */
/* Results of other nodes' runs: which node is asked, in which order, and what becomes of those that
 * none has taken. The nodes and the core are the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/mem.h"
#include "server/state.h"
#include "wire/open_api.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_MAX 16

struct called {
    struct peer_call *call; /* NULL: it has ended */
    int64_t epoch;
    char *body;
};

static struct {
    int64_t ready[8];
    int nready;
    bool dead; /* no call can be tried */
    struct called calls[CALLS_MAX];
    int ncalls, aborted;
    int64_t kept[8]; /* log ids that went into the core */
    int nkept, nrefused, batches;
    struct ack *ack;
    bool full; /* the core has no room */
} at;

static struct center center;

/* ---- what it asks of others ---- */

int peers_ready(const struct peers *p, int64_t *ret_epochs, int max)
{
    (void)p;
    assert_true(at.nready <= max);
    memcpy(ret_epochs, at.ready, (size_t)at.nready * sizeof(*ret_epochs));
    return at.nready;
}

bool peers_call(struct peers *p, int64_t epoch, const char *path, struct slice body,
                struct peer_call *call)
{
    (void)p;
    assert_string_equal(path, "results");
    if (at.dead)
        return false;
    assert_true(at.ncalls < CALLS_MAX);
    at.calls[at.ncalls++] = (struct called){ call, epoch, mem_dupn(body.p, body.n) };
    return true;
}

void peers_abort(struct peer_call *call)
{
    for (int i = 0; i < at.ncalls; i++)
        at.aborted += at.calls[i].call == call;
}

bool sched_result(struct sched *s, struct now now, int64_t log_id, int code, struct slice msg)
{
    (void)s;
    (void)now;
    assert_int_equal(code, 200);
    assert_true(slice_eq(msg, "done"));
    assert_true((size_t)at.nkept < countof(at.kept));
    at.kept[at.nkept++] = log_id;
    return !at.full;
}

void sched_ack_after(struct sched *s, struct now now, struct ack *ack)
{
    (void)s;
    (void)now;
    at.ack = ack;
}

void sched_want_batch(struct sched *s)
{
    (void)s;
    at.batches++;
}

void results_less(struct center *c, struct reply *r)
{
    assert_ptr_equal(c, &center);
    assert_true(r->waits > 0);
    r->waits--;
}

void results_refuse_full(struct center *c, struct reply *r)
{
    (void)c;
    (void)r;
    at.nrefused++;
}

/* ---- the bench ---- */

static int set_up(void **state)
{
    (void)state;
    memset(&at, 0, sizeof(at));
    at.ready[0] = 20;
    at.ready[1] = 30;
    at.nready = 2;
    memset(&center, 0, sizeof(center));
    list_init(&center.forwards.open);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    forwards_free(&center);
    for (int i = 0; i < at.ncalls; i++)
        free(at.calls[i].body);
    return 0;
}

static bool offer(struct reply *r, int64_t log_id)
{
    const struct center_result result = { .log_id = log_id,
                                          .code = 200,
                                          .msg = slice_text("done") };
    return forward_result(&center, r, &result);
}

/* Calls that have waited for others, or for a moment, go as well. */
static void flush(void)
{
    do
        forwards_flush(&center);
    while (forwards_next(&center) != INT64_MAX);
}

static void ends(int i, const char *said)
{
    struct peer_call *call = at.calls[i].call;
    assert_non_null(call);
    at.calls[i].call = NULL;
    call->answered = said != NULL;
    if (said)
        call->body = slice_text(said);
    call->why = "";
    call->done(call);
}

/* The core's batch is committed. */
static void commit(void)
{
    assert_non_null(at.ack);
    struct waiter *k = container_of(at.ack, struct waiter, ack);
    at.ack = NULL;
    k->done(&center, k);
}

static void is_asked(int i, int64_t epoch, const char *ids)
{
    struct wire_callbacks all;
    struct why why = { "" };
    char found[200] = "";
    assert_true(i < at.ncalls);
    assert_int_equal(at.calls[i].epoch, epoch);
    assert_int_equal(wire_callbacks_parse(slice_text(at.calls[i].body), &all, &why), OK);
    for (size_t k = 0; k < all.n; k++) {
        size_t used = strlen(found);
        (void)snprintf(found + used, sizeof(found) - used, "%s%lld", k ? " " : "",
                       (long long)all.items[k].log_id);
    }
    wire_callbacks_done(&all);
    assert_string_equal(found, ids);
}

/* ---- cases ---- */

static void an_executor_is_answered_when_the_owner_has_it(void **state)
{
    (void)state;
    struct reply r = { .waits = 0 };
    assert_true(offer(&r, 1000));
    assert_int_equal(r.waits, 1);
    flush();
    is_asked(0, 20, "1000");
    assert_int_equal(r.waits, 1);
    ends(0, "");
    assert_int_equal(r.waits, 0);
    assert_int_equal(at.nkept, 0);
    assert_int_equal(center.metrics.forwarded, 1);
}

static void what_ends_no_run_goes_to_no_node(void **state)
{
    (void)state;
    struct reply r = { .waits = 0 };
    const struct center_result result = { .log_id = 7, .code = 0, .msg = slice_text("done") };
    assert_false(forward_result(&center, &r, &result));
    assert_int_equal(r.waits, 0);
}

static void who_had_a_run_close_by_is_asked_first(void **state)
{
    (void)state;
    struct reply r = { .waits = 0 };
    assert_true(offer(&r, 3200)); /* the first of a block of 32 */
    flush();
    is_asked(0, 20, "3200");
    ends(0, "0");
    flush();
    is_asked(1, 30, "3200");
    ends(1, "");
    static const struct {
        int64_t log_id, epoch;
    } next[] = { { 3231, 30 }, { 3240, 30 }, { 3232 + 64, 20 } };
    for (int i = 0; i < 3; i++) { /* of its block, of the one behind it, of a later one */
        char id[21];
        (void)snprintf(id, sizeof(id), "%lld", (long long)next[i].log_id);
        assert_true(offer(&r, next[i].log_id));
        flush();
        is_asked(2 + i, next[i].epoch, id);
        ends(2 + i, NULL);
        commit();
    }
    assert_int_equal(r.waits, 0);
}

static void three_nodes_are_asked_once_each(void **state)
{
    (void)state;
    struct reply r = { .waits = 0 };
    at.ready[2] = 40;
    at.ready[3] = 50;
    at.nready = 4;
    assert_true(offer(&r, 77));
    for (int i = 0; i < 3; i++) {
        flush();
        is_asked(i, 20 + 10 * i, "77");
        ends(i, "0");
    }
    flush();
    assert_int_equal(at.ncalls, 3);
    assert_int_equal(at.nkept, 1); /* here, then */
    assert_int_equal(at.kept[0], 77);
    assert_int_equal(at.batches, 1);
    assert_int_equal(r.waits, 1);
    commit();
    assert_int_equal(r.waits, 0);
}

static void what_one_does_not_have_goes_to_the_next_alone(void **state)
{
    (void)state;
    struct reply a = { .waits = 0 }, b = { .waits = 0 };
    for (int64_t id = 1; id <= 4; id++)
        assert_true(offer(id % 2 ? &a : &b, id));
    flush();
    is_asked(0, 20, "1 2 3 4");
    ends(0, "1 3");
    assert_int_equal(a.waits, 0);
    assert_int_equal(b.waits, 2);
    flush();
    is_asked(1, 30, "2 4");
    ends(1, "1");
    assert_int_equal(b.waits, 1);
    assert_int_equal(at.nkept, 1);
    assert_int_equal(at.kept[0], 4);
    commit();
    assert_int_equal(b.waits, 0);
    assert_int_equal(center.metrics.forwarded, 3);
}

static void what_is_not_answered_goes_into_the_core_at_once(void **state)
{
    (void)state;
    /* no answer, and ones that say nothing */
    static const char *const answers[] = { NULL, "x", "0 0", "1 0", "2", "-1", "0 x" };
    for (size_t i = 0; i < countof(answers); i++) {
        struct reply r = { .waits = 0 };
        at.nkept = 0;
        assert_true(offer(&r, 1) && offer(&r, 2));
        flush();
        ends((int)i, answers[i]);
        flush();
        assert_int_equal(at.ncalls, (int)i + 1);
        assert_int_equal(at.nkept, 2);
        assert_int_equal(r.waits, 2);
        commit();
        assert_int_equal(r.waits, 0);
    }
    assert_int_equal(center.metrics.forwarded, 0);
}

static void what_cannot_be_sent_goes_into_the_core(void **state)
{
    (void)state;
    struct reply r = { .waits = 0 };
    assert_true(offer(&r, 1));
    at.dead = true;
    flush();
    assert_int_equal(at.nkept, 1);
    assert_int_equal(at.nrefused, 0);
    assert_int_equal(at.batches, 1);
    commit();
    assert_int_equal(r.waits, 0);
    at.full = true; /* and where that has no room either, the executor is told */
    assert_true(offer(&r, 2));
    flush();
    assert_int_equal(at.nrefused, 1);
    commit();
    at.nready = 0;
    assert_false(offer(&r, 3));
    assert_int_equal(r.waits, 0);
}

static void four_calls_to_a_node_are_under_way_at_most(void **state)
{
    (void)state;
    struct reply r = { .waits = 0 };
    for (int64_t id = 1; id <= 4; id++) {
        assert_true(offer(&r, id));
        flush();
        assert_int_equal(at.ncalls, id);
    }
    int taken = 0;
    while (offer(&r, 5))
        taken++;
    assert_int_equal(taken, 2000); /* more do not wait */
    assert_int_equal(r.waits, 4 + taken);
    forwards_flush(&center);
    assert_int_equal(at.ncalls, 4);
    assert_true(forwards_next(&center) == INT64_MAX);
    ends(2, "");
    flush();
    assert_int_equal(at.ncalls, 5);
    assert_int_equal(at.calls[4].epoch, 20);
    ends(4, "");
    assert_int_equal(r.waits, 3);
    at.nready = 0;
}

static void what_is_too_large_for_a_call_stays_out_of_it(void **state)
{
    (void)state;
    struct reply r = { .waits = 0 };
    size_t n = PEER_BODY_MAX / 3 * 2;
    char *text = mem_new(n);
    memset(text, 'x', n);
    struct center_result large = { .log_id = 1, .code = 200, .msg = slice_of(text, n) };
    assert_true(forward_result(&center, &r, &large));
    large.log_id = 2;
    assert_false(forward_result(&center, &r, &large));
    assert_true(offer(&r, 3));
    assert_int_equal(r.waits, 2);
    flush();
    is_asked(0, 20, "1 3");
    ends(0, "");
    assert_int_equal(r.waits, 0);
    free(text);
}

static void calls_that_are_open_end_with_the_server(void **state)
{
    (void)state;
    struct reply r = { .waits = 0 };
    assert_true(offer(&r, 1));
    flush();
    assert_true(offer(&r, 2)); /* not sent yet */
    forwards_free(&center);
    assert_int_equal(at.aborted, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CASE(an_executor_is_answered_when_the_owner_has_it),
        CASE(what_ends_no_run_goes_to_no_node),
        CASE(who_had_a_run_close_by_is_asked_first),
        CASE(three_nodes_are_asked_once_each),
        CASE(what_one_does_not_have_goes_to_the_next_alone),
        CASE(what_is_not_answered_goes_into_the_core_at_once),
        CASE(what_cannot_be_sent_goes_into_the_core),
        CASE(four_calls_to_a_node_are_under_way_at_most),
        CASE(what_is_too_large_for_a_call_stays_out_of_it),
        CASE(calls_that_are_open_end_with_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
