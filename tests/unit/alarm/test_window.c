/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a sender tries, and when: one try at a time for a target, back-off, the end of the hour. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "alarm/window.h"

static struct window_alarm *add(struct window *w, int64_t id, const char *targets, int64_t since_ms)
{
    const struct alarm_record row = { .id = id, .channel = "mail", .targets = (char *)targets };
    return window_add(w, &row, since_ms);
}

/* Takes the next try, which must be of this alarm and target. */
static int take(struct window *w, int64_t now_ms, struct window_alarm *a, const char *target)
{
    struct window_alarm *got = NULL;
    int i = -1;
    assert_true(window_take(w, now_ms, &got, &i));
    assert_ptr_equal(got, a);
    assert_string_equal(a->targets[i].name, target);
    return i;
}

static void take_none(struct window *w, int64_t now_ms)
{
    struct window_alarm *a;
    int i;
    assert_false(window_take(w, now_ms, &a, &i));
}

static bool tried(struct window *w, struct window_alarm *a, int i, enum delivery_outcome outcome,
                  int64_t now_ms, enum delivery_outcome counts)
{
    bool first;
    assert_int_equal(window_tried(w, a, i, outcome, now_ms, &first), counts);
    return first;
}

static void each_target_of_a_list_is_told_once(void **state)
{
    (void)state;
    struct window w;
    window_init(&w);
    struct window_alarm *a = add(&w, 1, " a@b ,, c@d,a@b,", 0);
    assert_int_equal(a->n, 2);
    int x = take(&w, 0, a, "a@b"), y = take(&w, 0, a, "c@d");
    take_none(&w, 0);
    tried(&w, a, x, DELIVERY_SENT, 0, DELIVERY_SENT);
    assert_int_equal(a->left, 1);
    tried(&w, a, y, DELIVERY_NEVER, 0, DELIVERY_NEVER);
    assert_int_equal(a->left, 0);
    assert_true(a->failed);
    take_none(&w, 0);
    window_done(&w);
}

static void a_channel_with_a_target_of_its_own_has_one(void **state)
{
    (void)state;
    struct window w;
    window_init(&w);
    struct window_alarm *a = add(&w, 1, NULL, 0);
    int x = take(&w, 0, a, "");
    tried(&w, a, x, DELIVERY_SENT, 0, DELIVERY_SENT);
    assert_int_equal(a->left, 0);
    assert_false(a->failed);
    window_done(&w);
}

static void a_target_has_one_try_at_a_time(void **state)
{
    (void)state;
    struct window w;
    window_init(&w);
    struct window_alarm *a = add(&w, 1, "a@b", 0), *b = add(&w, 2, "a@b", 0);
    struct window_alarm *c = add(&w, 3, "c@d", 0);
    int x = take(&w, 0, a, "a@b");
    int z = take(&w, 0, c, "c@d"); /* the second alarm waits, the third does not */
    take_none(&w, 0);
    tried(&w, a, x, DELIVERY_SENT, 0, DELIVERY_SENT);
    tried(&w, c, z, DELIVERY_SENT, 0, DELIVERY_SENT);
    window_drop(&w, a);
    take(&w, 0, b, "a@b");
    assert_int_equal(w.n, 2);
    window_done(&w);
}

static void a_target_that_fails_waits_longer_each_time(void **state)
{
    (void)state;
    struct window w;
    window_init(&w);
    struct window_alarm *a = add(&w, 1, "a@b", 0), *b = add(&w, 2, "a@b", 0);
    int64_t now_ms = 1000, waits[12];
    assert_int_equal(window_next_ms(&w, now_ms), INT64_MAX);
    for (int k = 0; k < 12; k++) {
        int x = take(&w, now_ms, a, "a@b"); /* the oldest again */
        assert_int_equal(a->targets[0].tries, k + 1);
        bool first = tried(&w, a, x, DELIVERY_AGAIN, now_ms, DELIVERY_AGAIN);
        assert_int_equal(first, k == 0);
        int64_t next_ms = window_next_ms(&w, now_ms);
        waits[k] = next_ms - now_ms;
        take_none(&w, next_ms - 1);
        now_ms = next_ms;
    }
    assert_int_equal(waits[0], WINDOW_WAIT_MS);
    assert_int_equal(waits[1], 2 * WINDOW_WAIT_MS);
    assert_int_equal(waits[11], WINDOW_WAIT_MAX_MS);
    int x = take(&w, now_ms, a, "a@b");
    assert_true(tried(&w, a, x, DELIVERY_SENT, now_ms, DELIVERY_SENT)); /* it is well again */
    x = take(&w, now_ms, b, "a@b");
    assert_false(tried(&w, b, x, DELIVERY_SENT, now_ms, DELIVERY_SENT));
    window_done(&w);
}

static void an_alarm_is_given_up_after_its_hour(void **state)
{
    (void)state;
    struct window w;
    window_init(&w);
    struct window_alarm *a = add(&w, 1, "a@b", 0), *b = add(&w, 2, "a@b", 10);
    struct window_alarm *young = add(&w, 3, "a@b", WINDOW_HOUR_MS), *other = add(&w, 4, "c@d", 0);
    int64_t now_ms = WINDOW_HOUR_MS + 20;
    int i, x = take(&w, now_ms, a, "a@b");
    tried(&w, a, x, DELIVERY_AGAIN, now_ms, DELIVERY_NEVER);
    assert_int_equal(a->left, 0);
    assert_ptr_equal(window_overdue(&w, "a@b", now_ms, &i), b); /* it waited along */
    assert_int_equal(b->left, 0);
    assert_true(b->failed);
    assert_null(window_overdue(&w, "a@b", now_ms, &i));
    assert_int_equal(young->left, 1);
    take(&w, now_ms, other, "c@d"); /* has not failed: has its try, however late */
    window_done(&w);
}

static void what_an_earlier_life_logged_is_not_done_again(void **state)
{
    (void)state;
    struct window w;
    window_init(&w);
    struct window_alarm *a = add(&w, 1, "a@b,c@d,e@f", 0);
    const struct delivery_record log[] = {
        { 1, "a@b", 1, 0, 0, DELIVERY_SENT, NULL },
        { 1, "c@d", 1, 0, 0, DELIVERY_AGAIN, NULL },
        { 1, "c@d", 2, 0, 0, DELIVERY_AGAIN, NULL },
        { 1, "x@y", 1, 0, 0, DELIVERY_NEVER, NULL },
    };
    for (size_t k = 0; k < sizeof(log) / sizeof(*log); k++)
        window_logged(a, &log[k]);
    int x = take(&w, 0, a, "c@d");
    assert_int_equal(a->targets[x].tries, 3);
    take(&w, 0, a, "e@f");
    take_none(&w, 0);
    assert_false(a->failed);
    window_done(&w);
}

static void what_is_sent_again_is_done_again(void **state)
{
    (void)state;
    struct window w;
    window_init(&w);
    const struct alarm_record row = {
        .id = 1, .channel = "mail", .targets = "a@b,c@d", .resent_ms = 50
    };
    const struct delivery_record log[] = {
        { 1, "a@b", 1, 40, 0, DELIVERY_SENT, NULL },
        { 1, "c@d", 1, 40, 0, DELIVERY_NEVER, NULL },
        { 1, "a@b", 2, 60, 0, DELIVERY_SENT, NULL },
    };
    struct window_alarm *a = window_add(&w, &row, 0);
    for (size_t k = 0; k < sizeof(log) / sizeof(*log); k++)
        window_logged(a, &log[k]);
    assert_true(window_has(&w, 1));
    assert_false(window_has(&w, 2));
    int x = take(&w, 0, a, "c@d");
    assert_int_equal(a->targets[x].tries, 2);
    take_none(&w, 0);
    window_done(&w);
}

static void what_is_kept_back_is_done_and_ends_no_trouble(void **state)
{
    (void)state;
    struct window w;
    window_init(&w);
    struct window_alarm *a = add(&w, 1, "a@b", 0), *b = add(&w, 2, "a@b", 0);
    int x = take(&w, 0, a, "a@b");
    assert_true(tried(&w, a, x, DELIVERY_AGAIN, 0, DELIVERY_AGAIN));
    x = take(&w, WINDOW_WAIT_MS, a, "a@b");
    assert_false(tried(&w, a, x, DELIVERY_HELD, WINDOW_WAIT_MS, DELIVERY_HELD));
    assert_true(a->held && !a->failed && !a->left);
    x = take(&w, WINDOW_WAIT_MS, b, "a@b");
    assert_false(tried(&w, b, x, DELIVERY_AGAIN, WINDOW_WAIT_MS, DELIVERY_AGAIN));
    assert_int_equal(window_next_ms(&w, WINDOW_WAIT_MS), 3 * WINDOW_WAIT_MS); /* the second wait */
    window_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_target_of_a_list_is_told_once),
        cmocka_unit_test(a_channel_with_a_target_of_its_own_has_one),
        cmocka_unit_test(a_target_has_one_try_at_a_time),
        cmocka_unit_test(a_target_that_fails_waits_longer_each_time),
        cmocka_unit_test(an_alarm_is_given_up_after_its_hour),
        cmocka_unit_test(what_an_earlier_life_logged_is_not_done_again),
        cmocka_unit_test(what_is_sent_again_is_done_again),
        cmocka_unit_test(what_is_kept_back_is_done_and_ends_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
