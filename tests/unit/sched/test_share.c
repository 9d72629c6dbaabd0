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
static void a_center_without_a_place_plans_nothing(void **state)
{
    struct core *c = *state;
    core_simple_job(c, "CRON", "* * * * * ?");
    sched_share(c->s, &(struct share){ .nodes = 1, .place = -1 });
    assert_false(plans(c, 20000));
    sched_claim(c->s);
    assert_false(plans(c, 2000));
    assert_true(sched_next_boot(c->s) > c->now.boot_ms); /* nor does it ask to be called for that */
    sched_share(c->s, &(struct share){ .nodes = 2, .place = 1 });
    assert_true(plans(c, 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_center_without_a_place_plans_nothing, core_setup,
                                        core_teardown),
        cmocka_unit_test_setup_teardown(a_job_that_another_has_made_is_planned_ahead, core_setup,
                                        core_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
