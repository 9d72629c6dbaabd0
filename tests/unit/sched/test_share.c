/* SPDX-License-Identifier: Apache-2.0 */
/* One of several centers on a database: what it plans of jobs that others have made. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_job_that_another_has_made_is_planned_ahead, core_setup,
                                        core_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
