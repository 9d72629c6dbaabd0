/* SPDX-License-Identifier: Apache-2.0 */
/* The core's calls over a transport of the test's: which function is called before a byte leaves,
 * and that none is left open when the center stops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "server/state.h"

enum { OPEN_MAX = 8 };

struct toy {
    struct transport base;
    struct transport_call *open[OPEN_MAX];
    struct call what[OPEN_MAX];
    char address[64]; /* of the last one */
    int n, aborted;
};

static struct toy *toy; /* the only one */

static void toy_call(struct transport *t, const struct call *what, struct transport_call *c)
{
    assert_ptr_equal(t, &toy->base);
    assert_true(toy->n < OPEN_MAX);
    toy->what[toy->n] = *what;
    text_copy(toy->address, sizeof(toy->address), slice_text(what->address));
    toy->open[toy->n++] = c;
}

static enum call_outcome toy_abort(struct transport_call *c)
{
    for (int i = 0; i < toy->n; i++)
        if (toy->open[i] == c)
            toy->open[i] = NULL;
    toy->aborted++;
    return CALL_IN_DOUBT;
}

static enum err toy_make(struct loop *l, const struct transport_config *config,
                         struct transport **ret, struct why *why);

static void toy_free(struct transport *t)
{
    assert_ptr_equal(t, &toy->base);
    free(toy);
}

static const struct transport_ops toy_ops = {
    .make = toy_make, .free = toy_free, .call = toy_call, .abort = toy_abort
};

static enum err toy_make(struct loop *l, const struct transport_config *config,
                         struct transport **ret, struct why *why)
{
    (void)l;
    (void)config;
    (void)why;
    toy = mem_new(sizeof(*toy));
    toy->base.ops = &toy_ops;
    *ret = &toy->base;
    return OK;
}

static int set_up(void **state)
{
    static const struct transport_row rows[] = { { "toy", &toy_ops }, { NULL, NULL } };
    struct center *c = mem_new(sizeof(*c));
    struct sched_config config;
    sched_config_default(&config);
    list_init(&c->calls);
    c->sched = sched_new(&config);
    c->keys = keys_new("server's");
    assert_int_equal(transports_new(rows, NULL, NULL, &c->transports, NULL), OK);
    *state = c;
    return 0;
}

static int tear_down(void **state)
{
    struct center *c = *state;
    assert_true(list_empty(&c->calls));
    transports_free(c->transports);
    sched_free(c->sched);
    keys_free(c->keys);
    free(c);
    return 0;
}

static void start(struct center *c, enum call_kind kind)
{
    char address[] = "toy://somewhere";
    struct call call = {
        .kind = kind, .address = address, .log_id = 7, .ticket = 3, .group_id = 1
    };
    calls_start(c, &call);
    memset(address, 'x', sizeof(address) - 1); /* it was borrowed */
}

/* The core knows of no such run: it must not leave. */
static void the_core_is_asked_for_a_run(void **state)
{
    struct center *c = *state;
    start(c, CALL_RUN);
    struct transport_call *call = toy->open[0];
    assert_non_null(call->leaving);
    assert_false(call->leaving(call->arg));
    struct call_result r = { .outcome = CALL_AGAIN };
    call->done(call, &r);
    assert_int_equal(r.kind, CALL_RUN);
    assert_int_equal(r.log_id, 7);
    assert_int_equal(r.ticket, 3);
    assert_true(list_empty(&c->calls));
}

static void other_calls_may_always_leave(void **state)
{
    struct center *c = *state;
    static const enum call_kind kinds[] = { CALL_BEAT, CALL_IDLE, CALL_LOG, CALL_KILL };
    for (size_t i = 0; i < countof(kinds); i++) {
        start(c, kinds[i]);
        assert_int_equal(toy->what[i].kind, kinds[i]);
        assert_null(toy->open[i]->leaving);
        assert_null(toy->open[i]->page);
    }
    calls_abort(c);
}

static void all_are_reset_when_the_center_stops(void **state)
{
    struct center *c = *state;
    for (int i = 0; i < 3; i++)
        start(c, CALL_BEAT);
    struct call_result r = { .outcome = CALL_ANSWERED, .code = 200 };
    toy->open[1]->done(toy->open[1], &r);
    calls_abort(c);
    assert_int_equal(toy->aborted, 2);
    assert_null(toy->open[0]);
    assert_null(toy->open[2]);
}

static void answer(int i, int code, const char *msg)
{
    struct call_result r = { .outcome = CALL_ANSWERED, .code = code, .msg = slice_text(msg) };
    toy->open[i]->done(toy->open[i], &r);
}

static const struct group_token own = { 1, (char *)"old", NULL, 1 };
static const struct group_token change = { 1, (char *)"old", (char *)"new", 1 };

static void each_call_carries_the_token_of_its_group(void **state)
{
    struct center *c = *state;
    start(c, CALL_BEAT);
    assert_null(toy->what[0].token);
    keys_put(c->keys, &own);
    start(c, CALL_KILL);
    assert_string_equal(toy->what[1].token, "old");
    answer(1, 500, "The access token is wrong."); /* there is no other: that is its answer */
    assert_int_equal(toy->n, 2);
    calls_abort(c);
}

/* In a change of the token the other one is tried, and then no third time. */
static void a_refused_token_is_followed_by_the_other(void **state)
{
    struct center *c = *state;
    keys_put(c->keys, &change);
    keys_moved(c->keys, 1, "toy://somewhere");
    start(c, CALL_KILL);
    assert_string_equal(toy->what[0].token, "new");
    answer(0, 500, " The access token is wrong.");
    assert_int_equal(toy->n, 2);
    assert_string_equal(toy->what[1].token, "old");
    assert_string_equal(toy->address, "toy://somewhere");
    assert_int_equal(toy->what[1].log_id, 7);
    assert_int_equal(toy->what[1].ticket, 3);
    answer(1, 500, "The access token is wrong.");
    assert_int_equal(toy->n, 2);
    assert_true(list_empty(&c->calls));
}

static void a_run_whose_token_was_refused_is_decided_anew(void **state)
{
    struct center *c = *state;
    keys_put(c->keys, &change);
    keys_moved(c->keys, 1, "toy://somewhere");
    start(c, CALL_RUN);
    struct call_result r = { .outcome = CALL_ANSWERED,
                             .code = 500,
                             .msg = slice_text("The access token is wrong.") };
    toy->open[0]->done(toy->open[0], &r);
    assert_int_equal(r.outcome, CALL_AGAIN);
    assert_int_equal(r.log_id, 7);
    assert_int_equal(toy->n, 1); /* the core asks for the call again */
    start(c, CALL_RUN);
    assert_string_equal(toy->what[1].token, "old");
    answer(1, 200, "");
    start(c, CALL_RUN);
    assert_string_equal(toy->what[2].token, "old");
    r = (struct call_result){ .outcome = CALL_ANSWERED, .code = 500, .msg = slice_text("no") };
    toy->open[2]->done(toy->open[2], &r);
    assert_int_equal(r.outcome, CALL_ANSWERED);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(the_core_is_asked_for_a_run),
        T(other_calls_may_always_leave),
        T(all_are_reset_when_the_center_stops),
        T(each_call_carries_the_token_of_its_group),
        T(a_refused_token_is_followed_by_the_other),
        T(a_run_whose_token_was_refused_is_decided_anew),
    };
    return cmocka_run_group_tests_name("server.calls", tests, NULL, NULL);
}
