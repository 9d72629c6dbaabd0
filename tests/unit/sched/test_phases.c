/* SPDX-License-Identifier: Apache-2.0 */
/* The table of allowed moves is the drawing above enum phase, the one of what a run waits for goes
 * with it; the words go there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/mem.h"
#include "sched/run.h"

static bool ended(int p)
{
    return p >= PHASE_SUCCEEDED && p <= PHASE_KILLED;
}

static void nothing_leaves_an_end(void **state)
{
    (void)state;
    for (int from = PHASE_SUCCEEDED; from < PHASE_COUNT; from++)
        for (int to = 0; to < PHASE_COUNT; to++)
            assert_false(phase_may((enum phase)from, (enum phase)to));
    assert_false(phase_may(PHASE_COUNT, PHASE_SENT));
}

static void a_result_finishes_every_open_phase_and_lost(void **state)
{
    (void)state;
    for (int from = PHASE_PLANNED; from <= PHASE_LOST; from++)
        for (int to = PHASE_SUCCEEDED; to < PHASE_COUNT; to++)
            if (ended(to))
                assert_true(phase_may((enum phase)from, (enum phase)to));
}

static void only_what_surely_has_not_left_counts_as_never_run(void **state)
{
    (void)state;
    assert_true(phase_may(PHASE_PLANNED, PHASE_SKIPPED));
    assert_true(phase_may(PHASE_PLANNED, PHASE_WITHDRAWN));
    assert_true(phase_may(PHASE_UNKNOWN, PHASE_WITHDRAWN)); /* proven unsent, and edited */
    for (int to = PHASE_SKIPPED; to <= PHASE_WITHDRAWN; to++) {
        assert_false(phase_may(PHASE_SENT, (enum phase)to));
        assert_false(phase_may(PHASE_ACCEPTED, (enum phase)to));
        assert_false(phase_may(PHASE_LOST, (enum phase)to));
    }
    assert_true(phase_may(PHASE_SENT, PHASE_REJECTED));
    assert_false(
        phase_may(PHASE_UNKNOWN, PHASE_REJECTED)); /* after doubt a refusal proves nothing */
    assert_false(phase_may(PHASE_ACCEPTED, PHASE_REJECTED));
}

static void lost_needs_a_proof_about_something_that_left(void **state)
{
    (void)state;
    assert_false(phase_may(PHASE_PLANNED, PHASE_LOST));
    assert_false(phase_may(PHASE_SENT, PHASE_LOST));
    assert_true(phase_may(PHASE_UNKNOWN, PHASE_LOST));
    assert_true(phase_may(PHASE_ACCEPTED, PHASE_LOST));
}

static void only_a_planned_run_waits_to_be_sent(void **state)
{
    (void)state;
    for (int p = PHASE_PLANNED; p < PHASE_COUNT; p++)
        for (int w = WAIT_DUE; w <= WAIT_EDIT; w++)
            assert_int_equal(wait_fits((enum wait)w, (enum phase)p), p == PHASE_PLANNED);
    assert_false(wait_fits(WAIT_TIMER, PHASE_PLANNED));
    assert_false(wait_fits(WAIT_TIMER, PHASE_SENT));    /* its call ends first */
    assert_false(wait_fits(WAIT_ROUND, PHASE_LOST));    /* nothing is asked about it any more */
    assert_true(wait_fits(WAIT_CALL, PHASE_SUCCEEDED)); /* its callback was faster */
}

static void only_the_end_of_its_call_ends_the_wait_for_it(void **state)
{
    (void)state;
    for (int to = WAIT_DUE; to < WAIT_COUNT; to++) {
        assert_false(wait_may(WAIT_CALL, (enum wait)to));
        assert_false(wait_may(WAIT_EDIT, (enum wait)to)); /* given back, it begins anew */
    }
    assert_false(wait_may(WAIT_COUNT, WAIT_NOTHING));
}

static void words_of_the_databases_are_read_back(void **state)
{
    (void)state;
    for (int i = 0; i < ROUTE_COUNT; i++) {
        enum route route = ROUTE_COUNT;
        assert_true(route_parse(slice_text(route_text((enum route)i)), &route));
        assert_int_equal(route, i);
    }
    enum block block = BLOCK_COVER;
    assert_false(block_parse(slice_text("serial_execution"), &block));
    assert_int_equal(block, BLOCK_COVER);
    enum misfire misfire = MISFIRE_DO_NOTHING;
    assert_true(misfire_parse(slice_text("FIRE_ALL"), &misfire));
    assert_int_equal(misfire, MISFIRE_FIRE_ALL);
    for (int i = PHASE_PLANNED; i < PHASE_COUNT; i++)
        assert_string_not_equal(phase_text((enum phase)i), "?");
}

static void a_live_run_stays_small(void **state)
{
    (void)state;
    assert_true(sizeof(struct run) <= 232);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_leaves_an_end),
        cmocka_unit_test(a_result_finishes_every_open_phase_and_lost),
        cmocka_unit_test(only_what_surely_has_not_left_counts_as_never_run),
        cmocka_unit_test(lost_needs_a_proof_about_something_that_left),
        cmocka_unit_test(only_a_planned_run_waits_to_be_sent),
        cmocka_unit_test(only_the_end_of_its_call_ends_the_wait_for_it),
        cmocka_unit_test(words_of_the_databases_are_read_back),
        cmocka_unit_test(a_live_run_stays_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
