/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "executor/known.h"

static void ids_are_live_then_finished(void **state)
{
    (void)state;
    struct known k;
    known_init(&k, 10);
    assert_int_equal(known_find(&k, 7), KNOWN_NOT);
    known_begin(&k, 7);
    assert_int_equal(known_find(&k, 7), KNOWN_LIVE);
    known_finish(&k, 7, 1000);
    assert_int_equal(known_find(&k, 7), KNOWN_FINISHED);
    known_done(&k);
}

static void the_oldest_finished_ids_are_forgotten_beyond_the_limit(void **state)
{
    (void)state;
    struct known k;
    known_init(&k, 100);
    known_begin(&k, 5000); /* live: never forgotten */
    for (int64_t id = 1; id <= 1000; id++) {
        known_begin(&k, id);
        known_finish(&k, id, id);
    }
    for (int64_t id = 1; id <= 1000; id++)
        assert_int_equal(known_find(&k, id), id <= 900 ? KNOWN_NOT : KNOWN_FINISHED);
    assert_int_equal(known_find(&k, 5000), KNOWN_LIVE);
    assert_true(k.cap <= 128);
    known_done(&k);
}

static void finished_ids_are_forgotten_after_a_day(void **state)
{
    (void)state;
    struct known k;
    known_init(&k, 100);
    known_begin(&k, 1);
    known_finish(&k, 1, 0);
    known_begin(&k, 2);
    known_finish(&k, 2, KNOWN_FOR_MS);
    assert_int_equal(known_find(&k, 1), KNOWN_FINISHED);
    known_begin(&k, 3);
    known_finish(&k, 3, KNOWN_FOR_MS + 1);
    assert_int_equal(known_find(&k, 1), KNOWN_NOT);
    assert_int_equal(known_find(&k, 2), KNOWN_FINISHED);
    known_done(&k);
}

static void with_nothing_to_keep_only_live_ids_are_known(void **state)
{
    (void)state;
    struct known k;
    known_init(&k, 0);
    known_begin(&k, 1);
    assert_int_equal(known_find(&k, 1), KNOWN_LIVE);
    known_finish(&k, 1, 5);
    assert_int_equal(known_find(&k, 1), KNOWN_NOT);
    known_done(&k);
}

static void a_request_without_an_id_is_never_known(void **state)
{
    (void)state;
    struct known k;
    known_init(&k, 10);
    known_begin(&k, 0);
    assert_int_equal(known_find(&k, 0), KNOWN_NOT);
    known_finish(&k, 0, 5);
    assert_int_equal(known_find(&k, 0), KNOWN_NOT);
    known_done(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_live_then_finished),
        cmocka_unit_test(the_oldest_finished_ids_are_forgotten_beyond_the_limit),
        cmocka_unit_test(finished_ids_are_forgotten_after_a_day),
        cmocka_unit_test(with_nothing_to_keep_only_live_ids_are_known),
        cmocka_unit_test(a_request_without_an_id_is_never_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
