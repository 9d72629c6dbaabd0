/* SPDX-License-Identifier: Apache-2.0 */
/* The matcher: which row is whose, and what is left over. Seconds below are counted from a start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "shadow/match.h"

#define START_S INT64_C(1700000000)
#define GRACE_MS 20000

static struct matcher *m;
static struct group_view *three;
static char found[1024]; /* "missing 5;late 6>9;" */
static int64_t next_id;

static void on_finding(void *ctx, const struct finding *f)
{
    (void)ctx;
    size_t n = strlen(found);
    snprintf(found + n, sizeof(found) - n, "%s", difference_text(f->what));
    n = strlen(found);
    if (f->scheduled_ms)
        snprintf(found + n, sizeof(found) - n, " %d", (int)(f->scheduled_ms / 1000 - START_S));
    n = strlen(found);
    if (f->fired_ms)
        snprintf(found + n, sizeof(found) - n, ">%d", (int)(f->fired_ms / 1000 - START_S));
    n = strlen(found);
    if (f->shard >= 0)
        snprintf(found + n, sizeof(found) - n, " shard %d", f->shard);
    n = strlen(found);
    if (f->what == DIFFERENCE_EXECUTOR)
        snprintf(found + n, sizeof(found) - n, " %s %s", f->wanted ? f->wanted : "-",
                 f->found ? f->found : "-");
    n = strlen(found);
    snprintf(found + n, sizeof(found) - n, ";");
}

static int begin(void **state)
{
    (void)state;
    static const char *const addresses[] = { "a", "b", "c" };
    found[0] = '\0';
    next_id = 0;
    three = group_view_new(1, 1, addresses, 3);
    m = matcher_new(START_S * 1000, GRACE_MS, on_finding, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    matcher_free(m);
    group_view_unref(three);
    return 0;
}

static void firing_by(enum route route, int second)
{
    struct match_firing f = { 7, (START_S + second) * 1000, false, route, { three, three } };
    matcher_firing(m, &f);
}

static void firings(int from, int until, int every)
{
    for (int second = from; second <= until; second += every)
        firing_by(ROUTE_RANDOM, second);
}

static void row_of(enum match_kind kind, int second, int shard, int shards, const char *address)
{
    struct match_row r = { ++next_id, 7, START_S + second, kind, true, shard, shards, address };
    matcher_row(m, &r);
}

static void row(int second)
{
    row_of(MATCH_SCHEDULE, second, 0, 0, "a");
}

static void rows(int from, int until, int every)
{
    for (int second = from; second <= until; second += every)
        row(second);
}

static void expect(const char *text)
{
    matcher_close(m, (START_S + 500) * 1000);
    assert_string_equal(found, text);
}

static void rows_of_the_second_or_the_next_are_on_time(void **state)
{
    (void)state;
    firings(5, 50, 5);
    rows(5, 25, 5);
    rows(31, 51, 5);
    expect("");
    assert_int_equal(matcher_counts(m)->firings, 10);
    assert_int_equal(matcher_counts(m)->matched, 10);
}

static void a_firing_without_a_row_is_missing_and_takes_none_of_the_others(void **state)
{
    (void)state;
    firings(1, 30, 1);
    rows(1, 9, 1);
    rows(11, 30, 1);
    expect("missing 10;");
}

static void a_late_row_is_given_to_its_firing(void **state)
{
    (void)state;
    firings(5, 50, 5);
    rows(5, 15, 5);
    row(23);
    rows(25, 50, 5);
    expect("late 20>23;");
}

static void a_row_in_the_second_before_is_early(void **state)
{
    (void)state;
    firings(5, 50, 5);
    rows(5, 15, 5);
    row(19);
    rows(25, 50, 5);
    expect("early 20>19;");
}

static void second_rows_are_doubled_far_ones_unexpected(void **state)
{
    (void)state;
    firings(10, 40, 10);
    rows(10, 40, 10);
    row(20);
    row(37);
    expect("doubled>20;unexpected>37;");
}

static void doubles_of_a_job_of_each_second_are_told_apart(void **state)
{
    (void)state;
    firings(1, 60, 1);
    rows(1, 60, 1);
    row(30);
    for (int now = 0; now < 100; now += 10) /* as looks come */
        matcher_close(m, (START_S + now) * 1000);
    expect("doubled>30;");
}

static void manual_runs_and_unread_rows_are_no_difference(void **state)
{
    (void)state;
    firings(10, 30, 10);
    rows(10, 30, 10);
    row_of(MATCH_OTHER, 20, 0, 0, "b");
    row_of(MATCH_UNKNOWN, 20, 0, 0, "b");
    expect("");
    assert_int_equal(matcher_counts(m)->others, 1);
    assert_int_equal(matcher_counts(m)->unread, 1);
}

static void a_row_that_is_finished_later_counts_as_it_is_then(void **state)
{
    (void)state;
    firings(10, 10, 10);
    struct match_row r = { 1, 7, START_S + 10, MATCH_UNKNOWN, false, 0, 0, NULL };
    matcher_row(m, &r);
    r.kind = MATCH_OTHER;
    r.told = true;
    matcher_row(m, &r);
    expect("missing 10;");
}

static void a_misfire_makes_up_for_the_newest_missed(void **state)
{
    (void)state;
    firings(10, 60, 10);
    rows(10, 20, 10);
    row_of(MATCH_MISFIRE, 46, 0, 0, "a");
    rows(50, 60, 10);
    expect("missing 30;late 40>46;");
}

static void shards_are_one_firing(void **state)
{
    (void)state;
    static const char *const addresses[] = { "a", "b", "c" };
    for (int second = 10; second <= 40; second += 10)
        firing_by(ROUTE_BROADCAST, second);
    for (int shard = 0; shard < 3; shard++) {
        row_of(MATCH_SCHEDULE, 10, shard, 3, addresses[shard]);
        if (shard != 1)
            row_of(MATCH_SCHEDULE, 20, shard, 3, addresses[shard]);
        row_of(MATCH_SCHEDULE, 40, shard, 3, shard == 2 ? "a" : addresses[shard]);
    }
    row_of(MATCH_SCHEDULE, 10, 2, 3, "c");
    expect("doubled>10 shard 2;missing 20 shard 1;missing 30;executor 40>40 shard 2 c a;");
}

static void a_route_that_admits_one_address_is_held_to_it(void **state)
{
    (void)state;
    firing_by(ROUTE_FIRST, 10);
    firing_by(ROUTE_LAST, 20);
    firing_by(ROUTE_ROUND, 30);
    firing_by(ROUTE_ROUND, 40);
    row(10);
    row(20);
    row(30);
    row_of(MATCH_SCHEDULE, 40, 0, 0, "x");
    expect("executor 20>20 c a;executor 40>40 - x;");
}

static void seconds_of_an_edit_are_not_held_against_anybody(void **state)
{
    (void)state;
    firings(5, 50, 5);
    rows(5, 10, 5);
    row(22);
    rows(40, 50, 5);
    matcher_loosen(m, 7, (START_S + 14) * 1000, (START_S + 31) * 1000);
    expect("missing 35;");
    assert_int_equal(matcher_counts(m)->optional, 4);
    assert_int_equal(matcher_counts(m)->loose, 1);
}

static void a_double_behind_an_edit_is_not_taken_by_its_firings(void **state)
{
    (void)state;
    matcher_loosen(m, 7, START_S * 1000, (START_S + 7) * 1000);
    firings(3, 30, 3);
    rows(9, 30, 3);
    row(12);
    expect("doubled>12;");
}

static void rows_of_before_the_start_and_of_what_is_judged_do_not_count(void **state)
{
    (void)state;
    row(-5);
    firings(10, 20, 10);
    rows(10, 20, 10);
    matcher_close(m, (START_S + 100) * 1000);
    next_id = 0;
    rows(10, 20, 10); /* read once more */
    expect("");
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        CASE(rows_of_the_second_or_the_next_are_on_time),
        CASE(a_firing_without_a_row_is_missing_and_takes_none_of_the_others),
        CASE(a_late_row_is_given_to_its_firing),
        CASE(a_row_in_the_second_before_is_early),
        CASE(second_rows_are_doubled_far_ones_unexpected),
        CASE(doubles_of_a_job_of_each_second_are_told_apart),
        CASE(manual_runs_and_unread_rows_are_no_difference),
        CASE(a_row_that_is_finished_later_counts_as_it_is_then),
        CASE(a_misfire_makes_up_for_the_newest_missed),
        CASE(shards_are_one_firing),
        CASE(a_route_that_admits_one_address_is_held_to_it),
        CASE(seconds_of_an_edit_are_not_held_against_anybody),
        CASE(a_double_behind_an_edit_is_not_taken_by_its_firings),
        CASE(rows_of_before_the_start_and_of_what_is_judged_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
