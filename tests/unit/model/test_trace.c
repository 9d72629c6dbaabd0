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
    const struct trace small = { .id = { 1, 2 }, .span = 3 };
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

static void a_trace_that_is_given_goes_on(void **state)
{
    (void)state;
    char text[TRACE_PARENT_SIZE];
    struct trace_root r = trace_given("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    struct trace t = trace_in(&r, 42, 1000001);
    trace_parent_text(&t, text); /* the span is the run's */
    assert_string_equal(text, "00-0af7651916cd43dd8448eb211c80319c-d301a4a68a2ec9c2-01");
    r = trace_given("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02"); /* no sampled bit */
    t = trace_in(&r, 42, 1000001);
    trace_parent_text(&t, text);
    assert_string_equal(text, "00-0af7651916cd43dd8448eb211c80319c-d301a4a68a2ec9c2-00");
    const struct trace_root next = trace_from(&r, 1000001);
    assert_true(next.kind == r.kind && next.id[0] == r.id[0] && next.id[1] == r.id[1]);
}

static void what_a_run_causes_has_its_trace(void **state)
{
    (void)state;
    const struct trace_root own = { .kind = TRACE_OWN };
    const struct trace first = trace_in(&own, 42, 1000001), plain = trace_of(42, 1000001);
    assert_memory_equal(first.id, plain.id, sizeof(plain.id));
    const struct trace_root child = trace_from(&own, 1000001), grandchild = trace_from(&child, 7);
    const struct trace a = trace_in(&child, 42, 7), b = trace_in(&grandchild, 42, 8);
    assert_memory_equal(a.id, first.id, sizeof(a.id));
    assert_memory_equal(b.id, first.id, sizeof(b.id));
    assert_true(a.span != first.span && b.span != a.span && !a.unsampled);
}

static void what_was_kept_is_read_again(void **state)
{
    (void)state;
    const struct trace_root r = trace_kept(TRACE_UNSAMPLED, -1, 5);
    assert_true(r.kind == TRACE_UNSAMPLED && r.id[0] == UINT64_MAX && r.id[1] == 5);
    for (int kind = -1; kind <= 9; kind++) {
        bool known = kind >= TRACE_GIVEN && kind <= TRACE_OF_RUN;
        assert_int_equal(trace_kept(kind, 1, 0).kind, known ? kind : TRACE_OWN);
        assert_int_equal(trace_kept(kind, 0, 0).kind, TRACE_OWN); /* an id of zeros is none */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_those_of_every_release),
        cmocka_unit_test(zeros_are_no_ids),
        cmocka_unit_test(every_run_has_its_own),
        cmocka_unit_test(a_trace_that_is_given_goes_on),
        cmocka_unit_test(what_a_run_causes_has_its_trace),
        cmocka_unit_test(what_was_kept_is_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
