/* SPDX-License-Identifier: Apache-2.0 */
/* A client that is full: what the core still tries, and that all leave when there is room. */
#include "support_core.h"
#include <stdio.h>
#include <stdlib.h>

#define LANES 3000

static int64_t broadcast(struct core *c, int lanes)
{
    for (int i = 0; i < lanes; i++) {
        char address[64];
        snprintf(address, sizeof(address), "http://10.1.%d.%d:9999/", i / 250, i % 250);
        core_register(c, "app", address);
    }
    core_settle(c);
    struct job_record r = core_record("NONE", "");
    core_text(&r.route, "SHARDING_BROADCAST");
    int64_t job = core_job(c, &r);
    job_record_done(&r);
    return job;
}

static bool is_full(struct core *c, const struct core_call *call, struct call_result *r)
{
    (void)c;
    (void)call;
    r->outcome = CALL_FULL;
    return true;
}

/* A client with so many places; what it takes waits for its answer. */
static bool has_places(struct core *c, const struct core_call *call, struct call_result *r)
{
    int taken = (int)(call - c->calls); /* those before it were taken */
    r->outcome = CALL_FULL;
    return taken >= *(int *)c->ctx;
}

static void answer_first(struct core *c, int n)
{
    for (; n > 0 && c->ncalls > 0; n--)
        core_answer(c, &c->calls[0], 200, LOG_NONE);
}

static int in_phase(struct core *c, enum phase phase)
{
    struct run_row *rows[LANES];
    int n = 0;
    for (int i = core_rows(c, 0, rows, LANES); i-- > 0;)
        n += rows[i]->phase == phase;
    return n;
}

static void many_lanes_cost_few_tries(void **state)
{
    struct core *c = *state;
    int64_t job = broadcast(c, LANES);
    c->executor = is_full;
    core_trigger(c, job, NULL);
    core_run(c, 100);
    assert_true(c->nsent >= LANES); /* each has tried once */
    int before = c->nsent;
    core_run(c, 1000);
    assert_true(c->nsent > before);
    assert_true(c->nsent - before <= 500);
    c->executor = core_accepts;
    before = c->nsent;
    core_run(c, 2500);
    assert_int_equal(c->nsent - before, LANES);
    assert_int_equal(in_phase(c, PHASE_ACCEPTED), LANES);
}

static bool doubts_then_full(struct core *c, const struct core_call *call, struct call_result *r)
{
    (void)c;
    r->outcome = call->kind == CALL_RUN ? CALL_IN_DOUBT : CALL_FULL;
    return true;
}

static uint64_t queries(struct core *c)
{
    struct sched_stats st;
    sched_stats(c->s, &st);
    return st.queries;
}

static void asks_wait_with_the_others(void **state)
{
    struct core *c = *state;
    int64_t job = broadcast(c, LANES);
    c->executor = doubts_then_full;
    core_trigger(c, job, NULL);
    core_run(c, 4000);
    assert_int_equal(in_phase(c, PHASE_UNKNOWN), LANES);
    uint64_t before = queries(c);
    core_run(c, 4000);
    assert_true(queries(c) > before);
    assert_true(queries(c) - before <= 2000);
}

/* Whoever was turned away goes to the end: each gets its turn. */
static void what_room_there_is_goes_round(void **state)
{
    struct core *c = *state;
    int places = 10;
    int64_t job = broadcast(c, 300);
    c->executor = has_places;
    c->ctx = &places;
    core_trigger(c, job, NULL);
    core_trigger(c, job, NULL);
    for (int i = 0; i < 150 && in_phase(c, PHASE_ACCEPTED) < 600; i++) {
        core_run(c, 20);
        answer_first(c, places);
    }
    core_run(c, 1100);
    assert_int_equal(in_phase(c, PHASE_ACCEPTED), 600);
    assert_true(c->nsent <= 3 * 600);
}

/* An answer leaves its connection to the lane's next run at once. */
static void a_connection_is_passed_on(void **state)
{
    struct core *c = *state;
    int places = 3;
    int64_t job = broadcast(c, 1);
    c->executor = has_places;
    c->ctx = &places;
    for (int i = 0; i < 60; i++)
        core_trigger(c, job, NULL);
    assert_int_equal(core_calls(c, CALL_RUN), 3);
    int64_t since_ms = c->now.boot_ms;
    for (int i = 0; i < 57; i++) {
        core_answer(c, &c->calls[0], 200, LOG_NONE);
        core_pump(c);
        assert_int_equal(core_calls(c, CALL_RUN), 3);
    }
    assert_int_equal(c->now.boot_ms, since_ms);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, core_setup, core_teardown)
    const struct CMUnitTest tests[] = {
        T(many_lanes_cost_few_tries),
        T(asks_wait_with_the_others),
        T(what_room_there_is_goes_round),
        T(a_connection_is_passed_on),
    };
    return cmocka_run_group_tests_name("sched.room", tests, NULL, NULL);
}
