/* SPDX-License-Identifier: Apache-2.0 */
/* Planning of one job: which scheduled times become rows, which policy takes the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "plan/plan.h"

#define NOW 1760000000000 /* a whole second: 2025-10-09T08:53:20Z */

static enum err only_utc(void *ctx, const char *name, struct zone **ret, struct why *why)
{
    (void)ctx;
    if (name[0]) {
        why_set(why, "zone: unknown");
        return ERR_NOTFOUND;
    }
    *ret = zone_ref(zone_utc());
    return OK;
}

struct bench {
    struct planner *planner;
    struct job *job;
    struct due_row due;
    struct plan_rows rows;
    struct plan_result result;
};

static void set_up(struct bench *b, const char *type, const char *conf, const char *misfire,
                   const char *route)
{
    struct planner_config c = { .zone_find = only_utc,
                                .last_year = 2125,
                                .misfire_threshold_ms = PLAN_MISFIRE_THRESHOLD_S * 1000,
                                .seed = 1 };
    struct job_record r;
    job_record_init(&r);
    r.id = 5;
    r.group_id = 2;
    r.enabled = true;
    r.version = 3;
    r.misfire_max = 4;
    r.schedule_type = mem_dup(type);
    r.schedule_conf = mem_dup(conf);
    r.misfire = mem_dup(misfire);
    r.route = mem_dup(route);
    memset(b, 0, sizeof(*b));
    b->planner = planner_new(&c);
    b->job = job_ref(planner_keep(b->planner, &r));
    b->due = (struct due_row){ 5, NOW, 0, 0, 3, 0 };
    static const char *const addresses[] = { "a", "b", "c" };
    planner_set_view(b->planner, group_view_new(2, 1, addresses, 3));
    job_record_done(&r);
}

static void plan(struct bench *b, int64_t now_ms, int64_t until_ms, int max_rows)
{
    plan_rows_done(&b->rows);
    plan_job(b->planner, b->job, &b->due, now_ms, until_ms, max_rows, &b->rows, &b->result);
    b->due = b->result.due;
}

static void tear_down(struct bench *b)
{
    plan_rows_done(&b->rows);
    job_unref(b->job);
    planner_free(b->planner);
}

static void all_scheduled_times_of_the_horizon_become_rows(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b, "CRON", "* * * * * ?", "DO_NOTHING", "FIRST");
    plan(&b, NOW, NOW + 5000, 100);
    assert_int_equal(b.rows.n, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(b.rows.rows[i].scheduled_ms, NOW + i * 1000);
    assert_int_equal(b.due.planned_until_ms, NOW + 5000);
    assert_int_equal(b.due.next_ms, NOW + 6000);
    plan(&b, NOW, NOW + 5000, 100);
    assert_int_equal(b.rows.n, 0);
    tear_down(&b);
}

static void a_served_scheduled_time_is_not_planned_again(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b, "CRON", "* * * * * ?", "DO_NOTHING", "FIRST");
    b.due.planned_until_ms = NOW + 2000; /* the column says NOW: another program, or the clock */
    plan(&b, NOW, NOW + 5000, 100);
    assert_int_equal(b.rows.n, 3);
    assert_int_equal(b.rows.rows[0].scheduled_ms, NOW + 3000);
    tear_down(&b);
}

static void a_bound_on_rows_goes_on_where_it_stopped(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b, "FIX_RATE", "250ms", "DO_NOTHING", "FIRST");
    int rows = 0;
    do {
        plan(&b, NOW, NOW + 5000, 7);
        rows += b.rows.n;
        assert_in_range(b.rows.n, 0, 7);
    } while (b.result.more);
    assert_int_equal(rows, 21);
    tear_down(&b);
}

static void a_broadcast_is_one_row_an_address(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b, "CRON", "0/5 * * * * ?", "DO_NOTHING", "SHARDING_BROADCAST");
    plan(&b, NOW, NOW, 100);
    assert_int_equal(b.rows.n, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(b.rows.rows[i].shard, i);
        assert_int_equal(b.rows.rows[i].shard_total, 3);
        assert_true(b.rows.rows[i].broadcast);
    }
    assert_string_equal(b.rows.rows[2].address, "c");
    tear_down(&b);
}

/* An outage of a minute; returns the rows of kind MISFIRE. */
static int after_an_outage(const char *misfire, struct bench *b)
{
    set_up(b, "CRON", "* * * * * ?", misfire, "FIRST");
    plan(b, NOW + 60000, NOW + 59999, 1000);
    int misfires = 0;
    for (int i = 0; i < b->rows.n; i++) {
        misfires += b->rows.rows[i].kind == KIND_MISFIRE;
        if (b->rows.rows[i].kind == KIND_MISFIRE)
            assert_int_equal(b->rows.rows[i].due_ms, NOW + 60000);
    }
    assert_int_equal(b->rows.n - misfires, 5); /* those within the threshold fire as planned */
    return misfires;
}

static void missed_times_go_to_the_policy(void **state)
{
    (void)state;
    struct bench b;
    assert_int_equal(after_an_outage("DO_NOTHING", &b), 0);
    assert_int_equal(b.result.skip.count, 55);
    assert_int_equal(b.result.skip.from_ms, NOW);
    assert_int_equal(b.result.skip.to_ms, NOW + 54000);
    tear_down(&b);
    assert_int_equal(after_an_outage("FIRE_ONCE_NOW", &b), 1);
    assert_int_equal(b.result.skip.count, 54);
    tear_down(&b);
    assert_int_equal(after_an_outage("FIRE_ALL", &b), 4); /* bounded by misfire_max */
    assert_int_equal(b.result.skip.count, 51);
    tear_down(&b);
}

/* XXL-JOB's row says 0, or less: due now by the policy, and no years of missed times. */
static void a_next_time_that_nobody_said_is_now(void **state)
{
    (void)state;
    static const char *const types[][2] = { { "CRON", "* * * * * ?" },
                                            { "CRON", "0 0 3 1 1 ?" },
                                            { "FIX_RATE", "10" },
                                            { "FIX_DELAY", "10" } };
    for (size_t i = 0; i < countof(types); i++) {
        for (int64_t next = -1; next <= DUE_UNSAID_MS; next++) {
            struct bench b;
            set_up(&b, types[i][0], types[i][1], "DO_NOTHING", "FIRST");
            b.due.next_ms = next;
            plan(&b, NOW, NOW, 100);
            assert_int_equal(b.result.skip.count, 1);
            assert_true(b.due.next_ms > NOW && b.due.next_ms != NEVER_MS);
            for (int n = 0; n < b.rows.n; n++)
                assert_true(b.rows.rows[n].scheduled_ms >= NOW - 5000); /* the threshold */
            tear_down(&b);
            set_up(&b, types[i][0], types[i][1], "FIRE_ONCE_NOW", "FIRST");
            b.due.next_ms = next;
            plan(&b, NOW, NOW, 100);
            assert_int_equal(b.rows.rows[0].kind, KIND_MISFIRE);
            assert_int_equal(b.rows.rows[0].due_ms, NOW);
            tear_down(&b);
        }
    }
}

/* Without arithmetic that skips over many: each scheduled time is looked at. */
static void the_newest_of_the_missed_are_made_up_for(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b, "CRON", "0/7 * * * * ?", "FIRE_ALL", "FIRST");
    plan(&b, NOW + 120000, NOW + 119000, 100);
    int64_t newest[4], next = NOW - 1;
    for (int n = 0; schedule_next(&b.job->schedule, next, &next) == OK && next < NOW + 115000; n++)
        newest[n % 4] = next;
    for (int i = 0; i < 4; i++) {
        bool found = false;
        for (int k = 0; k < 4; k++)
            found |= b.rows.rows[k].scheduled_ms == newest[i];
        assert_true(found);
    }
    tear_down(&b);
}

static void a_fix_delay_job_that_missed_its_scheduled_time_goes_on(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b, "FIX_DELAY", "10", "DO_NOTHING", "FIRST");
    plan(&b, NOW + 60000, NOW + 65000, 100);
    assert_int_equal(b.rows.n, 0);
    assert_int_equal(b.result.skip.count, 1);
    assert_int_equal(b.due.next_ms, NOW + 70000);
    assert_null(b.result.stop);
    tear_down(&b);
}

static void a_job_that_can_never_fire_again_is_stopped(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b, "ONCE", "2025-10-09T08:53:20Z", "DO_NOTHING", "FIRST");
    plan(&b, NOW, NOW + 5000, 100);
    assert_int_equal(b.rows.n, 1);
    assert_non_null(b.result.stop);
    assert_int_equal(b.due.next_ms, NEVER_MS);
    tear_down(&b);
    set_up(&b, "CRON", "nonsense", "DO_NOTHING", "FIRST");
    plan(&b, NOW, NOW + 5000, 100);
    assert_int_equal(b.rows.n, 0);
    assert_non_null(b.result.stop);
    tear_down(&b);
}

static void a_retry_of_a_shard_is_one_row(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b, "CRON", "* * * * * ?", "DO_NOTHING", "SHARDING_BROADCAST");
    struct spawn s = { .job_id = 5,
                       .kind = KIND_RETRY,
                       .scheduled_ms = NOW,
                       .due_ms = NOW + 5000,
                       .cause = 77,
                       .attempt = 2,
                       .retries_left = 1,
                       .shard = 2,
                       .shard_total = 3 };
    plan_spawn(b.planner, b.job, &s, NOW, &b.rows);
    assert_int_equal(b.rows.n, 1);
    assert_int_equal(b.rows.rows[0].shard, 2);
    assert_string_equal(b.rows.rows[0].address, "c");
    plan_rows_done(&b.rows);
    s.shard_total = 0; /* its first run was none: the route was changed meanwhile */
    plan_spawn(b.planner, b.job, &s, NOW, &b.rows);
    assert_int_equal(b.rows.n, 1);
    assert_false(b.rows.rows[0].broadcast);
    tear_down(&b);
}

static void addresses_given_by_hand_are_used(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b, "NONE", "", "DO_NOTHING", "LAST");
    struct spawn s = { .job_id = 5,
                       .kind = KIND_MANUAL,
                       .scheduled_ms = NOW,
                       .due_ms = NOW,
                       .retries_left = -1,
                       .param = (char *)"x",
                       .choices = (char *)"m, n ,," };
    plan_spawn(b.planner, b.job, &s, NOW, &b.rows);
    assert_int_equal(b.rows.n, 1);
    assert_string_equal(b.rows.rows[0].address, "n");
    assert_string_equal(b.rows.rows[0].param, "x");
    tear_down(&b);
}

/* Weeks of a job that is due each second: counted to the last one, and the newest are known. */
static void a_long_outage_is_counted_by_arithmetic(void **state)
{
    (void)state;
    static const char *const jobs[][2] = { { "CRON", "* * * * * ?" },
                                           { "FIX_RATE", "1" },
                                           { "CRON", "* * 0-22 * * ?" } };
    int64_t away = 30 * 86400000LL + 1234567;
    for (int i = 0; i < 3; i++) {
        struct bench b;
        set_up(&b, jobs[i][0], jobs[i][1], "FIRE_ALL", "FIRST");
        plan(&b, NOW + away, NOW + away, 100);
        assert_false(b.result.more);
        int64_t limit = NOW + away - 5000, missed = 0, scheduled_ms = NOW;
        for (int64_t next; scheduled_ms < limit; scheduled_ms = next) {
            missed++;
            assert_int_equal(schedule_next(&b.job->schedule, scheduled_ms, &next), OK);
        }
        assert_int_equal(b.result.skip.count, missed - 4); /* misfire_max */
        assert_int_equal(b.result.skip.from_ms, NOW);
        int64_t last = 0;
        for (int k = 0; k < 4; k++) {
            assert_int_equal(b.rows.rows[k].kind, KIND_MISFIRE);
            assert_true(b.rows.rows[k].scheduled_ms > last);
            last = b.rows.rows[k].scheduled_ms;
        }
        assert_int_equal(schedule_next(&b.job->schedule, last, &last), OK);
        assert_int_equal(last, scheduled_ms); /* the first that is no misfire */
        tear_down(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_scheduled_times_of_the_horizon_become_rows),
        cmocka_unit_test(a_served_scheduled_time_is_not_planned_again),
        cmocka_unit_test(a_bound_on_rows_goes_on_where_it_stopped),
        cmocka_unit_test(a_broadcast_is_one_row_an_address),
        cmocka_unit_test(a_long_outage_is_counted_by_arithmetic),
        cmocka_unit_test(missed_times_go_to_the_policy),
        cmocka_unit_test(a_next_time_that_nobody_said_is_now),
        cmocka_unit_test(the_newest_of_the_missed_are_made_up_for),
        cmocka_unit_test(a_fix_delay_job_that_missed_its_scheduled_time_goes_on),
        cmocka_unit_test(a_job_that_can_never_fire_again_is_stopped),
        cmocka_unit_test(a_retry_of_a_shard_is_one_row),
        cmocka_unit_test(addresses_given_by_hand_are_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
