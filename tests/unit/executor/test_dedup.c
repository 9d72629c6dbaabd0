/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "executor/core/dedup.h"

enum { DATE = 77 };

static void ids_are_live_then_finished(void **state)
{
    (void)state;
    struct dedup k;
    dedup_init(&k, 10);
    assert_int_equal(dedup_find(&k, 7, DATE), DEDUP_NOT);
    dedup_begin(&k, 7, DATE);
    assert_int_equal(dedup_find(&k, 7, DATE), DEDUP_LIVE);
    dedup_finish(&k, 7, DATE, 1000);
    assert_int_equal(dedup_find(&k, 7, DATE), DEDUP_FINISHED);
    dedup_done(&k);
}

static void the_oldest_finished_ids_are_forgotten_beyond_the_limit(void **state)
{
    (void)state;
    struct dedup k;
    dedup_init(&k, 100);
    dedup_begin(&k, 5000, DATE); /* live: never forgotten */
    for (int64_t id = 1; id <= 1000; id++) {
        dedup_begin(&k, id, DATE);
        dedup_finish(&k, id, DATE, id);
    }
    for (int64_t id = 1; id <= 1000; id++)
        assert_int_equal(dedup_find(&k, id, DATE), id <= 900 ? DEDUP_NOT : DEDUP_FINISHED);
    assert_int_equal(dedup_find(&k, 5000, DATE), DEDUP_LIVE);
    assert_true(k.cap <= 128);
    dedup_done(&k);
}

static void finished_ids_are_forgotten_after_a_day(void **state)
{
    (void)state;
    struct dedup k;
    dedup_init(&k, 100);
    dedup_begin(&k, 1, DATE);
    dedup_finish(&k, 1, DATE, 0);
    dedup_begin(&k, 2, DATE);
    dedup_finish(&k, 2, DATE, DEDUP_FOR_MS);
    assert_int_equal(dedup_find(&k, 1, DATE), DEDUP_FINISHED);
    dedup_begin(&k, 3, DATE);
    dedup_finish(&k, 3, DATE, DEDUP_FOR_MS + 1);
    assert_int_equal(dedup_find(&k, 1, DATE), DEDUP_NOT);
    assert_int_equal(dedup_find(&k, 2, DATE), DEDUP_FINISHED);
    dedup_done(&k);
}

static void with_nothing_to_keep_only_live_ids_are_known(void **state)
{
    (void)state;
    struct dedup k;
    dedup_init(&k, 0);
    dedup_begin(&k, 1, DATE);
    assert_int_equal(dedup_find(&k, 1, DATE), DEDUP_LIVE);
    dedup_finish(&k, 1, DATE, 5);
    assert_int_equal(dedup_find(&k, 1, DATE), DEDUP_NOT);
    dedup_done(&k);
}

static void a_request_without_an_id_is_never_known(void **state)
{
    (void)state;
    struct dedup k;
    dedup_init(&k, 10);
    dedup_begin(&k, 0, DATE);
    assert_int_equal(dedup_find(&k, 0, DATE), DEDUP_NOT);
    dedup_finish(&k, 0, DATE, 5);
    assert_int_equal(dedup_find(&k, 0, DATE), DEDUP_NOT);
    dedup_done(&k);
}

static void a_run_is_its_id_and_its_date(void **state)
{
    (void)state;
    struct dedup k;
    dedup_init(&k, 10);
    dedup_begin(&k, 7, DATE);
    dedup_finish(&k, 7, DATE, 1000);
    assert_int_equal(dedup_find(&k, 7, DATE + 1), DEDUP_NOT);
    dedup_begin(&k, 7, DATE + 1);
    assert_int_equal(dedup_find(&k, 7, DATE), DEDUP_FINISHED);
    assert_int_equal(dedup_find(&k, 7, DATE + 1), DEDUP_LIVE);
    dedup_drop(&k, 7, DATE + 1);
    assert_int_equal(dedup_find(&k, 7, DATE), DEDUP_FINISHED);
    assert_int_equal(dedup_find(&k, 7, DATE + 1), DEDUP_NOT);
    dedup_done(&k);
}

static void without_a_date_a_known_id_matches_any(void **state)
{
    (void)state;
    struct dedup k;
    dedup_init(&k, 10);
    dedup_begin(&k, 7, 0);
    assert_int_equal(dedup_find(&k, 7, DATE), DEDUP_LIVE);
    dedup_finish(&k, 7, 0, 1000);
    assert_int_equal(dedup_find(&k, 7, DATE), DEDUP_FINISHED);
    assert_int_equal(dedup_find(&k, 8, DATE), DEDUP_NOT);
    dedup_done(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_its_id_and_its_date),
        cmocka_unit_test(without_a_date_a_known_id_matches_any),
        cmocka_unit_test(ids_are_live_then_finished),
        cmocka_unit_test(the_oldest_finished_ids_are_forgotten_beyond_the_limit),
        cmocka_unit_test(finished_ids_are_forgotten_after_a_day),
        cmocka_unit_test(with_nothing_to_keep_only_live_ids_are_known),
        cmocka_unit_test(a_request_without_an_id_is_never_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
