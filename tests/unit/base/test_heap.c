/* SPDX-License-Identifier: Apache-2.0 */
/* The ring gives entries in order of scheduled time, equal scheduled times in order of insertion.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/dice.h"
#include "base/mem.h"
#include "base/heap.h"

struct thing {
    struct heap_entry entry;
    int64_t at_ms;
    uint64_t order;
};

static void it_behaves_like_a_sorted_list(void **state)
{
    (void)state;
    static struct thing things[300];
    struct dice dice = { 42 };
    struct heap r;
    heap_init(&r);
    uint64_t order = 0;
    for (int step = 0; step < 20000; step++) {
        struct thing *t = &things[dice_below(&dice, countof(things))];
        uint32_t what = dice_below(&dice, 10);
        if (what < 5) {
            t->at_ms = dice_below(&dice, 50);
            t->order = ++order;
            heap_add(&r, &t->entry, t->at_ms);
        } else if (what < 7) {
            heap_remove(&r, &t->entry);
            assert_false(heap_linked(&t->entry));
        } else {
            int64_t now = dice_below(&dice, 50);
            struct thing *first = NULL;
            for (size_t i = 0; i < countof(things); i++) {
                struct thing *o = &things[i];
                if (heap_linked(&o->entry) &&
                    (!first || o->at_ms < first->at_ms ||
                     (o->at_ms == first->at_ms && o->order < first->order)))
                    first = o;
            }
            assert_int_equal(heap_next(&r), first ? first->at_ms : INT64_MAX);
            assert_ptr_equal(heap_first(&r), first ? &first->entry : NULL);
            struct heap_entry *e = heap_pop(&r, now);
            if (!first || first->at_ms > now)
                assert_null(e);
            else
                assert_ptr_equal(e, &first->entry);
        }
    }
    heap_done(&r);
}

static void a_scheduled_time_already_past_fires_at_once(void **state)
{
    (void)state;
    struct heap r;
    struct heap_entry e = { 0 };
    heap_init(&r);
    heap_add(&r, &e, -5);
    assert_ptr_equal(heap_pop(&r, 1000), &e);
    assert_null(heap_pop(&r, 1000));
    heap_remove(&r, &e); /* harmless */
    heap_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_behaves_like_a_sorted_list),
        cmocka_unit_test(a_scheduled_time_already_past_fires_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
