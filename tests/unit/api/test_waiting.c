/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that wait: turns by address, a bound, and which yields when it is reached. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api/waiting.h"
#include "base/mem.h"

enum { MAX = 8 };

static struct waiting_call calls[2000];
static int used;

static struct waiting_call *call_of(uint64_t source)
{
    struct waiting_call *call = &calls[used++];
    *call = (struct waiting_call){ .source = source };
    return call;
}

static void open_queue(struct waiting *w)
{
    used = 0;
    waiting_init(w, MAX);
}

static void put(struct waiting *w, uint64_t source)
{
    assert_null(waiting_put(w, call_of(source)));
}

static void take(struct waiting *w, uint64_t source)
{
    struct waiting_call *call = waiting_take(w);
    assert_non_null(call);
    assert_int_equal(call->source, source);
}

static void sources_take_turns(void **state)
{
    (void)state;
    struct waiting w;
    open_queue(&w);
    assert_null(waiting_take(&w));
    for (int i = 0; i < 4; i++)
        put(&w, 1);
    put(&w, 2);
    put(&w, 3);
    put(&w, 2);
    static const uint64_t turns[] = { 1, 2, 3, 1, 2, 1, 1 };
    for (size_t i = 0; i < countof(turns); i++)
        take(&w, turns[i]);
    assert_null(waiting_take(&w));
    assert_int_equal(w.n, 0);
}

static void of_one_source_the_oldest_goes_first_and_the_newest_is_refused(void **state)
{
    (void)state;
    struct waiting w;
    open_queue(&w);
    for (int i = 0; i < MAX; i++)
        put(&w, 1);
    struct waiting_call *late = call_of(1);
    assert_ptr_equal(waiting_put(&w, late), late);
    for (int i = 0; i < MAX; i++)
        assert_ptr_equal(waiting_take(&w), &calls[i]);
}

static void a_flood_yields_to_whoever_has_less(void **state)
{
    (void)state;
    struct waiting w;
    open_queue(&w);
    for (int i = 0; i < 1000; i++)
        waiting_put(&w, call_of(1 + (uint64_t)i % 3));
    assert_int_equal(w.n, MAX);
    struct waiting_call *newest = waiting_put(&w, call_of(7));
    assert_non_null(newest);
    assert_true(newest->source >= 1 && newest->source <= 3);
    int until = 1;
    while (waiting_take(&w)->source != 7)
        until++;
    assert_true(until <= 4); /* one of each other source at most */
    while (waiting_take(&w))
        ;
}

static void equal_shares_are_kept(void **state)
{
    (void)state;
    struct waiting w;
    open_queue(&w);
    for (uint64_t i = 0; i < MAX; i++)
        put(&w, i);
    struct waiting_call *late = call_of(99);
    assert_ptr_equal(waiting_put(&w, late), late); /* one for one helps no call */
    take(&w, 0);
    put(&w, 99);
    late = call_of(1);
    assert_ptr_equal(waiting_put(&w, late), late);
    while (waiting_take(&w))
        ;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_take_turns),
        cmocka_unit_test(of_one_source_the_oldest_goes_first_and_the_newest_is_refused),
        cmocka_unit_test(a_flood_yields_to_whoever_has_less),
        cmocka_unit_test(equal_shares_are_kept),
    };
    return cmocka_run_group_tests_name("api.waiting", tests, NULL, NULL);
}
