/* SPDX-License-Identifier: Apache-2.0 */
/* Firings that misfire strategies have skipped: what is new is found by comparing, and counts for a
 * minute from when the rule's time has passed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "alarm/skips.h"
#include "store/memory/memory.h"

#define NOW 1800000000000

static void add(struct store *s, int64_t job, int64_t to_ms, bool extend)
{
    struct why why = { "" };
    const struct skip_row r = { job, to_ms - 10, to_ms, 2, MISFIRE_DO_NOTHING, extend };
    assert_int_equal(s->ops->txn->begin(s, &why), OK);
    assert_int_equal(s->ops->runs->skips_add(s, &r, 1, &why), OK);
    assert_int_equal(s->ops->txn->commit(s, NULL, &why), OK);
}

static int64_t seen_of(const struct skips *k, int64_t job)
{
    for (int i = 0; i < k->n; i++)
        if (k->rows[i].job_id == job)
            return k->rows[i].seen_ms;
    return -1;
}

static void what_is_new_is_seen_once(void **state)
{
    (void)state;
    static struct skips k;
    struct why why = { "" };
    struct store *s = store_memory_new(NULL);
    add(s, 1, NOW - 5000, false);
    assert_int_equal(skips_look(&k, s, NOW, &why), OK);
    assert_int_equal(seen_of(&k, 1), 0); /* it was there before the watch */
    add(s, 2, NOW - 9000, false);
    assert_int_equal(skips_look(&k, s, NOW + 1, &why), OK);
    assert_int_equal(seen_of(&k, 1), 0);
    assert_int_equal(seen_of(&k, 2), NOW + 1);
    add(s, 1, NOW, true); /* another outage, with nothing fired in between */
    assert_int_equal(skips_look(&k, s, NOW + 2, &why), OK);
    assert_int_equal(seen_of(&k, 1), NOW + 2);
    assert_int_equal(seen_of(&k, 2), NOW + 1);
    store_close(s);
}

static void it_counts_for_a_minute(void **state)
{
    (void)state;
    const struct skip_seen s = { .to_ms = NOW - 5000, .seen_ms = NOW }, old = { .to_ms = NOW };
    assert_true(skips_late(&s, 1000, 0, NOW));
    assert_true(skips_late(&s, 1000, 0, NOW + SKIPS_HOLD_MS - 1));
    assert_false(skips_late(&s, 1000, 0, NOW + SKIPS_HOLD_MS));
    assert_false(skips_late(&s, 6000, 0, NOW + 999)); /* it might still have run in time */
    assert_true(skips_late(&s, 6000, 0, NOW + 1000));
    assert_false(skips_late(&s, 1000, NOW + 1, NOW + 2)); /* the rule is younger */
    assert_false(skips_late(&old, 1000, 0, NOW + 2000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_new_is_seen_once),
        cmocka_unit_test(it_counts_for_a_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
