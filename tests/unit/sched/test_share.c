/* SPDX-License-Identifier: Apache-2.0 */
/* One of several centers on a database: what it plans of jobs that others have made, and what its
 * place among them lets it plan. */
#include "support_core.h"

/* An enabled job that another center writes, next due in so many ms. */
static int64_t others_job(struct core *c, int64_t in_ms)
{
    struct job_record r = core_record("CRON", "* * * * * ?");
    struct due_row due = { .next_ms = c->now.wall_ms + in_ms, .version = 1 };
    struct commit one = { 0 };
    struct why why = { "" };
    assert_int_equal(c->store->ops->txn->begin(c->store, &why), OK);
    assert_int_equal(c->store->ops->catalog->job_insert(c->store, &r, &why), OK);
    due.job_id = r.id;
    assert_int_equal(c->store->ops->runs->due_put(c->store, &due, 1, &why), OK);
    assert_int_equal(c->store->ops->txn->commit(c->store, &one, &why), OK);
    job_record_done(&r);
    return due.job_id;
}

/* The latest scheduled time that is planned, from now. */
static int64_t ahead_ms(struct core *c, int64_t job_id)
{
    struct run_row *rows[64];
    int n = core_rows(c, job_id, rows, 64);
    return n ? rows[n - 1]->scheduled_ms - c->now.wall_ms : 0;
}

static void a_job_that_another_has_made_is_planned_ahead(void **state)
{
    struct core *c = *state;
    core_run(c, 10000); /* there is no job: the last look has found nothing */
    int64_t job = others_job(c, 3000);
    core_run(c, 500);
    assert_int_equal(ahead_ms(c, job), 0); /* a center that is alone need not look */
    sched_claim(c->s);
    core_run(c, 100);
    assert_in_range(ahead_ms(c, job), 3001, 5000);
}

/* Time goes on for so long, or until a batch plans. */
static bool plans(struct core *c, int64_t ms)
{
    bool planned = false;
    for (int64_t end_ms = c->now.wall_ms + ms; !planned && c->now.wall_ms < end_ms;) {
        c->now.wall_ms++;
        c->now.boot_ms++;
        sched_tick(c->s, c->now);
        core_pump(c);
        if (!core_take(c))
            continue;
        planned = c->batch->plan_until_ms != 0;
        core_write(c);
        core_done(c);
    }
    return planned;
}

/* One that drains or stops, or has not seen the others yet. */
static void a_center_without_homes_plans_nothing(void **state)
{
    struct core *c = *state;
    core_simple_job(c, "CRON", "* * * * * ?");
    static const struct share none = { .node = 1, .homes = { { 2, 4 } }, .n = 1, .living = 2 },
                              two = { .node = 1, .homes = { { 1, 4 }, { 2, 4 } }, .n = 2 };
    sched_share(c->s, &none);
    assert_false(plans(c, 20000));
    sched_claim(c->s);
    assert_false(plans(c, 2000));
    assert_true(sched_next_boot(c->s) > c->now.boot_ms); /* nor does it ask to be called for that */
    sched_share(c->s, &two);
    assert_true(plans(c, 100));
}

/* ---- the bound of calls to one address ------------------------------------------------------- */

#define ADDRESS "http://10.0.0.1:9999/"

static void share_among(struct core *c, int living)
{
    struct share share = core_alone;
    share.living = living;
    sched_share(c->s, &share);
}

static struct core_call *any_run(struct core *c)
{
    int i = 0;
    while (i < c->ncalls && c->calls[i].kind != CALL_RUN)
        i++;
    return i < c->ncalls ? &c->calls[i] : NULL;
}

static struct core *busy_core(int connections, int living, int runs)
{
    struct core *c = core_new();
    core_stop(c);
    c->config.lane_connections = connections;
    core_start(c);
    share_among(c, living);
    core_register(c, "app", ADDRESS);
    int64_t job = core_simple_job(c, "NONE", "");
    for (int i = 0; i < runs; i++)
        core_trigger(c, job, NULL);
    core_run(c, 200);
    return c;
}

static void several_centers_share_the_calls_of_an_address(void **state)
{
    (void)state;
    static const struct {
        int connections, living, want;
    } cases[] = { { 256, 0, 256 }, { 256, 1, 256 }, { 256, 3, 86 }, { 64, 3, 22 },
                  { 64, 64, 4 },   { 2, 3, 2 },     { 10, 2, 5 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct core *c = busy_core(cases[i].connections, cases[i].living, 300);
        assert_int_equal(core_calls(c, CALL_RUN), cases[i].want);
        core_free(c);
    }
}

static void a_center_that_comes_takes_its_part_of_the_calls(void **state)
{
    (void)state;
    struct core *c = busy_core(256, 1, 600);
    assert_int_equal(core_calls(c, CALL_RUN), 256);
    share_among(c, 4);
    for (int left = 256; left > 64; left--) { /* what is out is waited for */
        core_answer(c, any_run(c), 200, LOG_NONE);
        assert_int_equal(core_calls(c, CALL_RUN), left - 1);
    }
    core_answer(c, any_run(c), 200, LOG_NONE);
    assert_int_equal(core_calls(c, CALL_RUN), 64);
    share_among(c, 2); /* others go: the next answer shows that there is room */
    core_answer(c, any_run(c), 200, LOG_NONE);
    core_run(c, 200);
    assert_int_equal(core_calls(c, CALL_RUN), 128);
    core_free(c);
}

/* ---- lease, homes ---------------------------------------------------------------------------- */

static void what_waited_for_the_lease_leaves_with_it(void **state)
{
    struct core *c = *state;
    sched_share(c->s, &core_alone);
    sched_lease(c->s, c->now, INT64_MIN, INT64_MIN);
    core_register(c, "app", ADDRESS);
    core_simple_job(c, "CRON", "* * * * * ?");
    core_run(c, 3000);
    assert_int_equal(core_calls(c, CALL_RUN), 0);
    sched_lease(c->s, c->now, INT64_MAX, INT64_MAX);
    core_pump(c);
    assert_true(core_calls(c, CALL_RUN) > 0);
}

/* There may be no other reason for a transaction in this second. */
static void a_walk_through_homes_asks_for_its_batch(void **state)
{
    struct core *c = *state;
    const struct home_row first = { 0, INT64_MIN, INT64_MIN };
    core_run(c, 5000);
    while (core_take(c)) {
        core_write(c);
        core_done(c);
    }
    int64_t from_ms = c->now.boot_ms;
    sched_homes(c->s, &first);
    core_take_next(c);
    assert_in_range(c->now.boot_ms - from_ms, 0, 100);
    assert_true(c->batch->homes.wanted);
    c->batch->homes.wanted = false; /* this store has no homes */
    core_write(c);
    core_done(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_center_without_homes_plans_nothing, core_setup,
                                        core_teardown),
        cmocka_unit_test(several_centers_share_the_calls_of_an_address),
        cmocka_unit_test(a_center_that_comes_takes_its_part_of_the_calls),
        cmocka_unit_test_setup_teardown(what_waited_for_the_lease_leaves_with_it, core_setup,
                                        core_teardown),
        cmocka_unit_test_setup_teardown(a_walk_through_homes_asks_for_its_batch, core_setup,
                                        core_teardown),
        cmocka_unit_test_setup_teardown(a_job_that_another_has_made_is_planned_ahead, core_setup,
                                        core_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
