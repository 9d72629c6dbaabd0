/* SPDX-License-Identifier: Apache-2.0 */
/* Failing jobs by cause: what joins, what leaves, which come first, and who sees what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "live/failing.h"

static struct failing failing;
static struct failing_cause top[FAILING_CAUSES];

static int setup(void **state)
{
    (void)state;
    failing_init(&failing);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    failing_done(&failing);
    return 0;
}

static void failed(int64_t job, int64_t group, const char *message, int64_t at_ms)
{
    const struct failure f = {
        .trigger_code = 200, .handle_code = 500, .handle_msg = message, .address = "10.0.0.1:9999"
    };
    const struct failing_now now = { .job_id = job,
                                     .group_id = group,
                                     .last_id = at_ms,
                                     .since_ms = at_ms,
                                     .streak = 1,
                                     .failure = &f };
    failing_set(&failing, &now, at_ms);
}

static void test_equal_causes_are_one(void **state)
{
    (void)state;
    failed(1, 7, "order 17 not found", 100);
    failed(2, 7, "order 18 not found", 50);
    failed(3, 8, "disk full", 60);
    assert_int_equal(failing_top(&failing, NULL, top), 2);
    assert_string_equal(top[0].text, "order # not found");
    assert_int_equal(top[0].count, 2);
    assert_int_equal(top[0].since_ms, 50);
    assert_int_equal(top[0].group_id, 7);
    assert_int_equal(top[0].jobs[0].id, 2); /* fails for longer */
    assert_string_equal(top[0].address, "10.0.0.1:9999");
    assert_int_equal(top[1].outcome, LOG_FAILED);
}

static void test_a_job_has_the_cause_of_its_last_run(void **state)
{
    (void)state;
    failed(1, 7, "first", 100);
    failed(1, 7, "second", 110);
    assert_int_equal(failing_top(&failing, NULL, top), 1);
    assert_string_equal(top[0].text, "second");
    failing_clear(&failing, 1);
    failing_clear(&failing, 1);
    assert_int_equal(failing_top(&failing, NULL, top), 0);
    assert_int_equal(failing_count(&failing, NULL), 0);
}

/* What is not known leaves what was known. */
static void test_a_failure_without_words(void **state)
{
    (void)state;
    const struct failing_now now = { .job_id = 1, .last_id = 9, .streak = 2 };
    failed(1, 7, "known", 100);
    failing_set(&failing, &now, 200);
    failing_set(&failing, &(struct failing_now){ .job_id = 2, .group_id = 7, .streak = 1 }, 300);
    assert_int_equal(failing_top(&failing, NULL, top), 2);
    for (int i = 0; i < 2; i++)
        if (top[i].jobs[0].id == 1) {
            assert_string_equal(top[i].text, "known");
            assert_int_equal(top[i].jobs[0].streak, 2);
            assert_int_equal(top[i].since_ms, 100);
        } else {
            assert_string_equal(top[i].text, "");
            assert_int_equal(top[i].since_ms, 300);
        }
}

static void test_scopes(void **state)
{
    (void)state;
    int64_t ids[] = { 7, 9 }, counts[2];
    const struct scope scope = { .ids = ids, .n = 2 };
    failed(1, 7, "same", 1);
    failed(2, 8, "same", 2);
    failed(3, 8, "other", 3);
    assert_int_equal(failing_count(&failing, &scope), 1);
    assert_int_equal(failing_top(&failing, &scope, top), 1);
    assert_int_equal(top[0].count, 1);
    failing_top(&failing, NULL, top);
    assert_int_equal(top[0].group_id, 0); /* of two groups */
    failing_move(&failing, 2, 9);
    failing_move(&failing, 77, 9);
    failing_by_group(&failing, ids, 2, counts);
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], 1);
    size_t n;
    struct failing_streak *all = failing_streaks(&failing, &scope, &n);
    assert_int_equal(n, 2);
    assert_int_equal(all[0].job_id, 1);
    assert_int_equal(all[1].job_id, 2);
    free(all);
}

/* More causes, and more jobs of one, than an answer has. */
static void test_the_largest_come_first(void **state)
{
    (void)state;
    char words[40];
    for (int cause = 0; cause < 3 * FAILING_CAUSES; cause++)
        for (int k = 0; k <= cause % 40; k++) {
            snprintf(words, sizeof(words), "cause %c%c", 'a' + cause % 26, 'a' + cause / 26);
            failed(1 + cause * 100 + k, 7, words, 1000 - k);
        }
    assert_int_equal(failing_top(&failing, NULL, top), FAILING_CAUSES);
    for (int i = 0; i < FAILING_CAUSES; i++) {
        assert_int_equal(top[i].count, i == 0 ? 40 : top[i].count);
        assert_true(i == 0 || top[i].count <= top[i - 1].count);
        assert_int_equal(top[i].n, FAILING_JOBS);
    }
    assert_int_equal(top[0].since_ms, 1000 - 39);
    assert_int_equal(top[0].jobs[0].last_id, 1000 - 39);
    assert_int_equal(top[0].jobs[1].last_id, 1000 - 38);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_equal_causes_are_one, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_job_has_the_cause_of_its_last_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_failure_without_words, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scopes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_largest_come_first, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
