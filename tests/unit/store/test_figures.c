/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of figures in both engines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "support_store.h"

/* A row of group 7 that includes the commits up to `through`, with so many runs of 5 ms. */
static void add(struct store *s, int64_t through, int64_t succeeded)
{
    struct figure_row r = { .slot = figure_slot_at(FIGURE_DAY, 0), .group_id = 7 };
    r.through = through;
    r.figure.counts[OUTCOME_SUCCEEDED] = succeeded;
    r.figure.took_ms = succeeded * 5;
    OP(s, txn->begin);
    OP(s, figures->figures_add, &r, 1);
    OP(s, txn->commit, NULL);
}

static struct figure_row read_back(struct store *s)
{
    struct figure_row r;
    OP(s, figures->figure_get, figure_slot_at(FIGURE_DAY, 0), 7, 0, &r, NULL);
    return r;
}

/* A fold whose answer was lost is made again. */
static void a_commit_is_added_once(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    add(s, 3, 10);
    add(s, 3, 10);
    add(s, 2, 4);
    struct figure_row r = read_back(s);
    assert_int_equal(r.figure.counts[OUTCOME_SUCCEEDED], 10);
    assert_int_equal(r.through, 3);
    add(s, 4, 1);
    r = read_back(s);
    assert_int_equal(r.figure.counts[OUTCOME_SUCCEEDED], 11);
    assert_int_equal(r.figure.took_ms, 55);
    assert_int_equal(r.through, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_commit_is_added_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
