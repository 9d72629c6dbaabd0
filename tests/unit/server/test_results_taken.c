/* SPDX-License-Identifier: Apache-2.0 */
/* Results that other nodes bring, and what a callback's answer waits for: when the asker is
 * answered, and what it is told. The core is the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/mem.h"
#include "server/state.h"
#include <stdlib.h>
#include <string.h>

static struct {
    bool leased, trouble, full;
    int64_t live_from, live_to; /* runs that are here */
    int64_t foreign;            /* a result for it is of an older run */
    int64_t got[8];             /* log ids that went into the core */
    int ngot, batches, nfull;
    struct ack *ack;
    int status; /* of the answer; 0: none yet */
    char said[100];
} at;

static struct {
    int answered, refused, released, dropped;
} replies;

static struct center center;

/* ---- what it asks of others ---- */

bool node_leased(const struct node *n)
{
    (void)n;
    return at.leased;
}

bool writer_in_trouble(const struct writer *w)
{
    (void)w;
    return at.trouble;
}

bool sched_result_group(const struct sched *s, int64_t log_id, int64_t *ret_group_id)
{
    (void)s;
    *ret_group_id = 1;
    return log_id >= at.live_from && log_id <= at.live_to;
}

size_t results_leave_foreign(struct center *c, struct center_result *results, size_t n)
{
    size_t own = 0;
    (void)c;
    for (size_t i = 0; i < n; i++)
        if (results[i].log_id != at.foreign)
            results[own++] = results[i];
    return own;
}

bool sched_result(struct sched *s, struct now now, int64_t log_id, int code, struct slice msg)
{
    (void)s;
    (void)now;
    assert_int_equal(code, 200);
    assert_true(slice_eq(msg, "done"));
    assert_true((size_t)at.ngot < countof(at.got));
    at.got[at.ngot++] = log_id;
    return !at.full;
}

void results_full(struct center *c)
{
    (void)c;
    at.nfull++;
}

void sched_ack_after(struct sched *s, struct now now, struct ack *ack)
{
    (void)s;
    (void)now;
    assert_null(at.ack);
    at.ack = ack;
}

void sched_want_batch(struct sched *s)
{
    (void)s;
    at.batches++;
}

void peer_answer(struct peer_asked *a, struct slice body)
{
    (void)a;
    assert_int_equal(at.status, 0);
    at.status = 200;
    text_copy(at.said, sizeof(at.said), body);
}

void peer_refuse(struct peer_asked *a, int status)
{
    (void)a;
    assert_int_equal(at.status, 0);
    at.status = status;
}

void results_refuse(struct reply *r)
{
    (void)r;
    replies.refused++;
}

void results_answer(struct reply *r)
{
    (void)r;
    replies.answered++;
}

void results_drop(struct reply *r)
{
    (void)r;
    replies.dropped++;
}

void journalling_release(struct center *c, struct reply *r)
{
    (void)c;
    (void)r;
    replies.released++;
}

/* ---- the bench ---- */

static void begin(void)
{
    memset(&at, 0, sizeof(at));
    at.leased = true;
    at.live_from = 10;
    at.live_to = 19;
}

static int set_up(void **state)
{
    (void)state;
    begin();
    memset(&replies, 0, sizeof(replies));
    memset(&center, 0, sizeof(center));
    list_init(&center.taken);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    taken_free(&center);
    return 0;
}

#define ONE(id) "{\"logId\":" id ",\"handleCode\":200,\"handleMsg\":\"done\"}"

static void asks(struct peer_asked *a, const char *body)
{
    *a = (struct peer_asked){ .body = slice_text(body), .from = 7 };
    results_peer(&center, a);
}

static void commit(void)
{
    assert_non_null(at.ack);
    struct waiter *k = container_of(at.ack, struct waiter, ack);
    at.ack = NULL;
    k->done(&center, k);
}

/* ---- cases ---- */

static void the_answer_comes_with_the_commit_and_names_what_is_not_here(void **state)
{
    (void)state;
    struct peer_asked a;
    asks(&a, "[" ONE("5") "," ONE("10") "," ONE("20") "," ONE("11") "]");
    assert_int_equal(at.ngot, 2);
    assert_int_equal(at.got[0], 10);
    assert_int_equal(at.got[1], 11);
    assert_int_equal(at.status, 0);
    assert_int_equal(at.batches, 1); /* no journal has them */
    assert_int_equal(center.metrics.received, 2);
    commit();
    assert_int_equal(at.status, 200);
    assert_string_equal(at.said, "0 2");
}

static void where_none_is_here_the_answer_comes_at_once(void **state)
{
    (void)state;
    struct peer_asked a;
    asks(&a, "[" ONE("5") "," ONE("20") "]");
    assert_int_equal(at.status, 200);
    assert_string_equal(at.said, "0 1");
    assert_int_equal(at.batches, 0);
    assert_null(at.ack);
}

static void one_that_cannot_be_read_is_not_taken(void **state)
{
    (void)state;
    struct peer_asked a;
    asks(&a, "[" ONE("10") ",{\"logId\":11,\"handleCode\":\"no number\"}]");
    commit();
    assert_int_equal(at.ngot, 1);
    assert_string_equal(at.said, "1");
    begin();
    asks(&a, "[{");
    assert_int_equal(at.status, 400);
}

static void one_of_an_older_run_is_done_with(void **state)
{
    (void)state;
    struct peer_asked a;
    at.foreign = 10;
    asks(&a, "[" ONE("10") "," ONE("11") "]");
    assert_int_equal(at.ngot, 1);
    assert_int_equal(at.got[0], 11);
    commit();
    assert_int_equal(at.status, 200);
    assert_string_equal(at.said, ""); /* nobody else is to be asked */
}

static void what_found_no_room_is_not_answered_as_taken(void **state)
{
    (void)state;
    struct peer_asked a;
    at.full = true;
    asks(&a, "[" ONE("10") "]");
    assert_int_equal(at.nfull, 1);
    commit();
    assert_int_equal(at.status, 503);
}

static void who_cannot_commit_says_so_at_once(void **state)
{
    (void)state;
    struct peer_asked a;
    for (int i = 0; i < 5; i++) {
        begin();
        center.draining = i == 0;
        center.fenced = i == 1;
        at.leased = i != 2;
        at.trouble = i == 3;
        asks(&a, "[" ONE("10") "]");
        assert_int_equal(at.status, i < 4 ? 503 : 0);
        assert_int_equal(at.ngot, i < 4 ? 0 : 1);
    }
}

/* ---- what a callback's answer waits for ---- */

static void a_callback_is_answered_with_its_last_result(void **state)
{
    (void)state;
    struct reply r = { .waits = 1, .n = 2 }; /* one is on its way */
    results_wait(&center, center_now(), &r);
    assert_int_equal(r.waits, 2);
    commit();
    assert_int_equal(replies.answered + replies.dropped + replies.released, 0);
    results_less(&center, &r);
    assert_int_equal(replies.answered, 1);
    assert_int_equal(replies.released, 1); /* the journal may forget it */
    assert_int_equal(replies.dropped, 1);
    assert_int_equal(replies.refused, 0);
}

static void who_may_speak_for_none_is_refused(void **state)
{
    (void)state;
    struct claim claim = { .refused = 1 };
    struct reply r = { .waits = 1, .n = 2, .claim = &claim };
    results_less(&center, &r); /* for one it may */
    assert_int_equal(replies.answered, 1);
    claim.refused = 2;
    r.waits = 1;
    results_less(&center, &r);
    assert_int_equal(replies.answered, 1);
    assert_int_equal(replies.refused, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CASE(the_answer_comes_with_the_commit_and_names_what_is_not_here),
        CASE(where_none_is_here_the_answer_comes_at_once),
        CASE(one_that_cannot_be_read_is_not_taken),
        CASE(one_of_an_older_run_is_done_with),
        CASE(what_found_no_room_is_not_answered_as_taken),
        CASE(who_cannot_commit_says_so_at_once),
        CASE(a_callback_is_answered_with_its_last_result),
        CASE(who_may_speak_for_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
