/* SPDX-License-Identifier: Apache-2.0 */
/* Results: what a callback does to a run in each phase. */
#include "support_core.h"
#include "base/mem.h"

static void a_firing_goes_through_its_life(void **state)
{
    struct core *c = *state;
    core_register(c, "app", "http://10.0.0.1:9999/");
    int64_t job = core_simple_job(c, "CRON", "0/10 * * * * ?");
    core_run(c, 6000);
    struct run_row *rows[4];
    assert_int_equal(core_rows(c, job, rows, 4), 1);
    int64_t id = rows[0]->log_id;
    assert_int_equal(rows[0]->moment_ms, CORE_NOW_MS + 10000);
    assert_int_equal(core_calls(c, CALL_RUN), 0);
    core_run(c, 4000);
    struct core_call *run = core_call_of(c, CALL_RUN, id);
    assert_non_null(run);
    assert_int_equal(run->sent_wall_ms, CORE_NOW_MS + 10000);
    core_answer(c, run, 200, LOG_NONE);
    core_run(c, 1500);
    assert_int_equal(core_row(c, id)->phase, PHASE_ACCEPTED);
    core_result(c, id, 200);
    assert_null(core_row(c, id));
    struct log_record l;
    assert_true(core_log(c, id, &l));
    assert_int_equal(l.handle_code, 200);
    log_record_done(&l);
}

static void a_center_that_starts_again_asks_and_plans(void **state)
{
    struct core *c = *state;
    core_register(c, "app", "http://10.0.0.1:9999/");
    int64_t job = core_simple_job(c, "CRON", "* * * * * ?");
    c->executor = core_accepts;
    core_run(c, 3000);
    assert_int_equal(core_times_sent(c, job, CORE_NOW_MS + 2000), 1);
    core_crash(c);
    core_start(c);
    core_run(c, 1000);
    assert_true(core_calls(c, CALL_IDLE) > 0);
    assert_int_equal(core_times_sent(c, job, CORE_NOW_MS + 2000), 1);
}

/* ---- what left is counted -------------------------------------------------------------------- */

static int64_t total(struct core *c, enum total t)
{
    struct totals totals;
    struct why why = { "" };
    int64_t open;
    assert_int_equal(c->store->ops->totals_get(c->store, &totals, &open, &why), OK);
    return totals.n[t];
}

static bool forgets(struct core *c, const struct core_call *call, struct call_result *r)
{
    (void)c;
    r->outcome = CALL_ANSWERED;
    r->code = 200;
    r->log = LOG_NONE;
    return call->kind != CALL_RUN;
}

/* Rows that a kill leaves in doubt and that never left are sent once more: what left is counted
 * neither twice nor too little, and never goes back. */
static void what_left_is_counted_once_whatever_is_killed(void **state)
{
    struct core *c = *state;
    core_register(c, "app", "http://10.0.0.1:9999/");
    int64_t job = core_simple_job(c, "CRON", "* * * * * ?");
    c->executor = forgets;
    int64_t before = 0;
    for (int round = 0; round < 60; round++) {
        core_run(c, 700);
        for (int i = 0; i < c->ncalls;) /* every other one is killed before its answer */
            if (c->calls[i].kind == CALL_RUN && round % 2) {
                int64_t id = c->calls[i].log_id;
                core_answer(c, &c->calls[i], 200, LOG_NONE);
                core_result(c, id, 200);
                i = 0;
            } else {
                i++;
            }
        if (round % 10 == 9) {
            core_crash(c);
            core_start(c);
        }
        assert_true(total(c, TOTAL_SENT) >= before);
        before = total(c, TOTAL_SENT);
    }
    assert_int_equal(core_switch(c, job, EDIT_JOB_STOP), OK);
    core_run(c, 200000);
    assert_true(total(c, TOTAL_FINISHED) > 10);
    assert_int_equal(total(c, TOTAL_SENT), total(c, TOTAL_FINISHED) + total(c, TOTAL_LOST));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, core_setup, core_teardown)
    const struct CMUnitTest tests[] = {
        T(a_firing_goes_through_its_life),
        T(a_center_that_starts_again_asks_and_plans),
        T(what_left_is_counted_once_whatever_is_killed),
    };
    return cmocka_run_group_tests_name("sched.complete", tests, NULL, NULL);
}
