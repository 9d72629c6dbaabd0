/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of traces: fixed for ever, of the form that W3C Trace Context wants, and all different. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/map.h"
#include "model/trace.h"

static void texts_are_those_of_every_release(void **state)
{
    (void)state;
    struct trace t = trace_of(42, 1000001);
    char id[TRACE_ID_SIZE], parent[TRACE_PARENT_SIZE];
    trace_id_text(&t, id);
    trace_parent_text(&t, parent);
    assert_string_equal(id, "1eae5c9f712a11ad561559d44a23a1c7");
    assert_string_equal(parent, "00-1eae5c9f712a11ad561559d44a23a1c7-d301a4a68a2ec9c2-01");
}

static void zeros_are_no_ids(void **state)
{
    (void)state;
    struct trace t = trace_of(0, 0);
    assert_true((t.id[0] || t.id[1]) && t.span);
    const struct trace small = { { 1, 2 }, 3 };
    char parent[TRACE_PARENT_SIZE];
    trace_parent_text(&small, parent);
    assert_string_equal(parent, "00-00000000000000010000000000000002-0000000000000003-01");
}

static void every_run_has_its_own(void **state)
{
    (void)state;
    struct map seen;
    map_init(&seen);
    for (int64_t key = -2; key <= 2; key++)
        for (int64_t id = 1; id <= 20000; id++) {
            struct trace t = trace_of(key, id);
            assert_null(map_find(&seen, t.id[0] ^ t.id[1] << 1));
            map_set(&seen, t.id[0] ^ t.id[1] << 1, &seen);
            assert_null(map_find(&seen, t.span));
            map_set(&seen, t.span, &seen);
        }
    map_done(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_those_of_every_release),
        cmocka_unit_test(zeros_are_no_ids),
        cmocka_unit_test(every_run_has_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
