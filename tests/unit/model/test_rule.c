/* SPDX-License-Identifier: Apache-2.0 */
/* When a rule keeps quiet, and when an alarm is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "model/incident.h"

static void quiet_hours_may_cross_midnight(void **state)
{
    (void)state;
    struct rule_record r = { .quiet_from = 22 * 60, .quiet_to = 6 * 60 };
    assert_int_equal(rule_quiet_left(&r, 22 * 60), 8 * 60);
    assert_int_equal(rule_quiet_left(&r, 0), 6 * 60);
    assert_int_equal(rule_quiet_left(&r, 6 * 60 - 1), 1);
    assert_int_equal(rule_quiet_left(&r, 6 * 60), 0);
    assert_int_equal(rule_quiet_left(&r, 22 * 60 - 1), 0);
    r = (struct rule_record){ .quiet_from = 60, .quiet_to = 120 };
    assert_int_equal(rule_quiet_left(&r, 59), 0);
    assert_int_equal(rule_quiet_left(&r, 60), 60);
    assert_int_equal(rule_quiet_left(&r, 120), 0);
    r.quiet_from = r.quiet_to = -1;
    assert_int_equal(rule_quiet_left(&r, 60), 0);
}

static void a_rule_is_of_all_of_a_group_or_of_a_job(void **state)
{
    (void)state;
    const struct rule_record all = { 0 }, group = { .group_id = 2 }, job = { .job_id = 5 };
    assert_true(rule_is_of(&all, 2, 5));
    assert_true(rule_is_of(&group, 2, 5) && !rule_is_of(&group, 3, 5));
    assert_true(rule_is_of(&job, 2, 5) && !rule_is_of(&job, 2, 6));
}

static void an_alarm_is_told_after_its_burst_again_and_when_it_is_over(void **state)
{
    (void)state;
    enum tell_state s;
    struct rule_record r = { .repeat_ms = 60000 };
    struct incident_record i = {
        .kind = RULE_FAILED, .since_ms = 1000, .told_ms = -1, .closed_ms = -1, .acknowledged_ms = -1
    };
    assert_int_equal(incident_due_ms(&i, &r, &s), 1000 + RULE_BURST_MS);
    assert_int_equal(s, TELL_OPENED);
    i.closed_ms = 1500; /* a short failure is one */
    assert_int_equal(incident_due_ms(&i, &r, &s), 1000 + RULE_BURST_MS);
    assert_int_equal(s, TELL_OPENED);
    i.closed_ms = -1;
    i.told_ms = 20000;
    assert_int_equal(incident_due_ms(&i, &r, &s), 80000);
    assert_int_equal(s, TELL_AGAIN);
    i.acknowledged_ms = 30000;
    assert_true(incident_due_ms(&i, &r, &s) == INT64_MAX);
    i.acknowledged_ms = -1;
    r.repeat_ms = 0;
    assert_true(incident_due_ms(&i, &r, &s) == INT64_MAX);
    i.closed_ms = 40000;
    assert_int_equal(incident_due_ms(&i, &r, &s), 40000);
    assert_int_equal(s, TELL_CLOSED);
    i.settled = true;
    assert_true(incident_due_ms(&i, &r, &s) == INT64_MAX);
}

static void what_is_over_at_once_waits_for_more_of_the_same(void **state)
{
    (void)state;
    enum tell_state s;
    const struct rule_record r = { .repeat_ms = 60000 };
    struct incident_record i = {
        .kind = RULE_SLOW, .told_ms = 20000, .closed_ms = -1, .acknowledged_ms = -1
    };
    assert_int_equal(incident_due_ms(&i, &r, &s), 80000);
    assert_int_equal(s, TELL_NOTHING);
    i.untold = 1;
    assert_int_equal(incident_due_ms(&i, &r, &s), 80000);
    assert_int_equal(s, TELL_AGAIN);
}

static void a_silence_is_of_its_group_its_rule_and_its_time(void **state)
{
    (void)state;
    const struct silence_record s = { .group_id = 2, .from_ms = 10, .until_ms = 20 };
    assert_true(silence_holds(&s, 2, 7, 10) && silence_holds(&s, 2, 8, 19));
    assert_false(silence_holds(&s, 3, 7, 10));
    assert_false(silence_holds(&s, 2, 7, 9));
    assert_false(silence_holds(&s, 2, 7, 20));
    const struct silence_record of_rule = { .rule_id = 7, .until_ms = 20 };
    assert_true(silence_holds(&of_rule, 3, 7, 0));
    assert_false(silence_holds(&of_rule, 3, 8, 0));
    const struct silence_record of_job = {
        .group_id = 2, .job_id = 5, .rule_id = 7, .from_ms = 10, .until_ms = 20
    };
    assert_false(silence_holds(&of_job, 2, 7, 10)); /* its group is only who may see it */
    assert_true(silence_holds_job(&of_job, 5, 7, 10) && silence_holds_job(&of_job, 5, 7, 19));
    assert_false(silence_holds_job(&of_job, 6, 7, 10));
    assert_false(silence_holds_job(&of_job, 5, 8, 10));
    assert_false(silence_holds_job(&of_job, 5, 7, 9) || silence_holds_job(&of_job, 5, 7, 20));
    assert_false(silence_holds_job(&s, 0, 7, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quiet_hours_may_cross_midnight),
        cmocka_unit_test(a_rule_is_of_all_of_a_group_or_of_a_job),
        cmocka_unit_test(an_alarm_is_told_after_its_burst_again_and_when_it_is_over),
        cmocka_unit_test(a_silence_is_of_its_group_its_rule_and_its_time),
        cmocka_unit_test(what_is_over_at_once_waits_for_more_of_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
