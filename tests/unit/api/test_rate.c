/* SPDX-License-Identifier: Apache-2.0 */
/* Buckets: they empty, fill with time, and in a crowded table those of the known stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/rate.h"

#define QUOTA 60

static struct rate_table *table(void)
{
    struct rate_table *t = calloc(1, sizeof(*t));
    assert_non_null(t);
    t->secret = 42;
    return t;
}

static uint64_t key(const struct rate_table *t, const char *text)
{
    return rate_key(t, 't', slice_text(text));
}

static void a_bucket_empties_and_fills(void **state)
{
    (void)state;
    struct rate_table *t = table();
    struct rate_state x;
    uint64_t one = key(t, "one"), other = key(t, "other");
    for (int i = 1; i <= QUOTA; i++) {
        assert_true(rate_take(t, one, QUOTA, 1000, &x));
        assert_int_equal(x.left, QUOTA - i);
        assert_int_equal(x.full_ms, i * 1000);
    }
    assert_false(rate_take(t, one, QUOTA, 1000, &x));
    assert_int_equal(x.left, 0);
    assert_int_equal(x.wait_ms, 1000);
    assert_false(rate_take(t, one, QUOTA, 1999, &x));
    assert_int_equal(x.wait_ms, 1);
    assert_true(rate_take(t, one, QUOTA, 2000, &x));
    assert_false(rate_take(t, one, QUOTA, 1500, &x)); /* the clock gives nothing back */
    assert_true(rate_take(t, other, QUOTA, 2000, &x));
    x = rate_look(t, one, QUOTA, 2000 + 60000);
    assert_int_equal(x.left, QUOTA);
    assert_int_equal(x.full_ms, 0);
    x = rate_look(t, key(t, "third"), QUOTA, 2000);
    assert_int_equal(x.left, QUOTA);
    free(t);
}

static void slow_refusals_lose_nothing(void **state)
{
    (void)state;
    struct rate_table *t = table();
    struct rate_state x;
    uint64_t one = key(t, "one");
    int taken = 0;
    for (int64_t ms = 0; ms < 600000; ms += 7) /* asks far too often, for ten minutes */
        taken += rate_take(t, one, QUOTA, ms, &x);
    assert_in_range(taken, 10 * QUOTA + QUOTA - 60, 10 * QUOTA + QUOTA);
    free(t);
}

static void a_flood_of_strangers_does_not_free_the_known(void **state)
{
    (void)state;
    struct rate_table *t = table();
    struct rate_state x;
    uint64_t one = key(t, "one");
    rate_keep(t, one, QUOTA, 0);
    assert_true(rate_known(t, one));
    for (int i = 0; i < QUOTA; i++)
        assert_true(rate_take(t, one, QUOTA, 0, &x));
    for (int i = 0; i < 100000; i++) {
        char text[32];
        snprintf(text, sizeof(text), "stranger %d", i);
        (void)rate_take(t, key(t, text), QUOTA, 0, &x);
    }
    assert_true(rate_known(t, one));
    assert_false(rate_take(t, one, QUOTA, 0, &x));
    free(t);
}

static void kinds_and_quotas_are_apart(void **state)
{
    (void)state;
    struct rate_table *t = table();
    struct rate_state x;
    assert_true(rate_key(t, 'a', slice_text("x")) != rate_key(t, 's', slice_text("x")));
    uint64_t one = key(t, "one");
    for (int i = 0; i < QUOTA; i++)
        (void)rate_take(t, one, QUOTA, 0, &x);
    assert_true(rate_take(t, one, 2 * QUOTA, 0, &x)); /* another policy */
    assert_int_equal(x.left, 2 * QUOTA - 1);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bucket_empties_and_fills),
        cmocka_unit_test(slow_refusals_lose_nothing),
        cmocka_unit_test(a_flood_of_strangers_does_not_free_the_known),
        cmocka_unit_test(kinds_and_quotas_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
