/* SPDX-License-Identifier: Apache-2.0 */
/* Two weeks of quarter hours in a ring. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "live/slots.h"

#define BEGIN (1000 * SLOT_MS * 4)

static struct slots slots;

static int setup(void **state)
{
    (void)state;
    memset(&slots, 0, sizeof(slots));
    return 0;
}

static void check(int64_t from_ms, int64_t step_ms, int n, const int64_t *succeeded,
                  const int64_t *failed)
{
    int64_t good[8] = { 0 }, bad[8] = { 0 };
    slots_sum(&slots, from_ms, step_ms, n, good, bad);
    assert_memory_equal(good, succeeded, (size_t)n * sizeof(*good));
    assert_memory_equal(bad, failed, (size_t)n * sizeof(*bad));
}

static void test_counts_by_quarter_and_by_hour(void **state)
{
    (void)state;
    slots_add(&slots, BEGIN, 2, 0);
    slots_add(&slots, BEGIN + SLOT_MS - 1, 1, 1);
    slots_add(&slots, BEGIN + SLOT_MS, 5, 0);
    slots_add(&slots, BEGIN + 4 * SLOT_MS, 0, 7);
    check(BEGIN, SLOT_MS, 3, (int64_t[]){ 3, 5, 0 }, (int64_t[]){ 1, 0, 0 });
    check(BEGIN, 4 * SLOT_MS, 2, (int64_t[]){ 8, 0 }, (int64_t[]){ 1, 7 });
}

static void test_takes_off(void **state)
{
    (void)state;
    slots_add(&slots, BEGIN, 0, 1);
    slots_add(&slots, BEGIN, 1, -1);
    slots_add(&slots, BEGIN, 0, -1); /* of a quarter that was not known then */
    check(BEGIN, SLOT_MS, 1, (int64_t[]){ 1 }, (int64_t[]){ 0 });
}

/* What has left the ring neither shows nor disturbs what took its place. */
static void test_forgets_what_is_older_than_two_weeks(void **state)
{
    (void)state;
    int64_t later = BEGIN + SLOTS * SLOT_MS;
    slots_add(&slots, BEGIN, 9, 9);
    slots_add(&slots, later, 1, 0);
    slots_add(&slots, BEGIN, 4, 4);
    check(later, SLOT_MS, 1, (int64_t[]){ 1 }, (int64_t[]){ 0 });
    check(BEGIN, SLOT_MS, 1, (int64_t[]){ 0 }, (int64_t[]){ 0 });
}

static void test_any_time_is_safe(void **state)
{
    (void)state;
    slots_add(&slots, -1, 1, 1);
    slots_add(&slots, INT64_MAX, 1, 1);
    check(-4 * SLOT_MS, SLOT_MS, 2, (int64_t[]){ 0, 0 }, (int64_t[]){ 0, 0 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_counts_by_quarter_and_by_hour, setup),
        cmocka_unit_test_setup(test_takes_off, setup),
        cmocka_unit_test_setup(test_forgets_what_is_older_than_two_weeks, setup),
        cmocka_unit_test_setup(test_any_time_is_safe, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
