/* SPDX-License-Identifier: Apache-2.0 */
/* When a batch begins: what nothing waits for gathers, what somebody waits for does not. */
#include "support_core.h"
#include <stdlib.h>

enum { JOBS = 6, WAIT_MS = 100, ROWS = 8, SOON_MS = 10 };

struct out { /* runs that were accepted */
    int64_t job[JOBS], id[JOBS];
};

/* Jobs that fire each minute: their runs are out, and nothing is to be planned for long. */
static void fire(struct core *c, struct out *ret)
{
    core_crash(c);
    c->config.batch_wait_ms = WAIT_MS;
    c->config.batch_rows = ROWS;
    core_start(c);
    core_register(c, "app", "http://10.0.0.1:9999/");
    c->executor = core_accepts;
    for (int i = 0; i < JOBS; i++)
        ret->job[i] = core_simple_job(c, "CRON", "0 * * * * ?");
    core_run(c, 61500);
    for (int i = 0; i < JOBS; i++) {
        struct run_row *row[1];
        assert_int_equal(core_rows(c, ret->job[i], row, 1), 1);
        ret->id[i] = row[0]->log_id;
    }
}

/* The watermark was renewed just now: for a while no batch begins unless one is wanted. */
static void renew(struct core *c)
{
    for (bool renewed = false; !renewed;) {
        core_take_next(c);
        renewed = c->batch->watermark.until_ms > 0;
        core_write(c);
        core_done(c);
    }
}

/* A result, and the request that brought it. */
static void result(struct core *c, int64_t id)
{
    struct ack *ack = calloc(1, sizeof(*ack));
    assert_non_null(ack);
    sched_result(c->s, c->now, id, 200, slice_text(""));
    sched_ack_after(c->s, c->now, ack);
    core_pump(c);
}

/* How long it takes until a batch begins; it is done then. */
static int64_t next_batch(struct core *c)
{
    int64_t began_ms = c->now.boot_ms;
    core_take_next(c);
    int64_t took_ms = c->now.boot_ms - began_ms;
    core_write(c);
    core_done(c);
    return took_ms;
}

static void results_gather_for_a_while(void **state)
{
    struct core *c = *state;
    struct out out;
    fire(c, &out);
    renew(c);
    int64_t left_ms = sched_batch_in(c->s, c->now);
    assert_in_range(left_ms, WAIT_MS - SOON_MS, WAIT_MS);
    result(c, out.id[0]);
    assert_int_equal(next_batch(c), left_ms);
    assert_null(core_row(c, out.id[0]));
    core_run(c, WAIT_MS);
    assert_int_equal(sched_batch_in(c->s, c->now), 0);
    result(c, out.id[1]); /* the last batch began long ago */
    assert_int_equal(next_batch(c), 0);
    assert_null(core_row(c, out.id[1]));
}

static void many_results_do_not_wait(void **state)
{
    struct core *c = *state;
    struct out out;
    fire(c, &out);
    renew(c);
    for (int i = 0; i < ROWS / 2; i++) /* the run's end, and the request */
        result(c, out.id[i]);
    assert_in_range(next_batch(c), 0, SOON_MS);
    for (int i = 0; i < ROWS / 2; i++)
        assert_null(core_row(c, out.id[i]));
    result(c, out.id[ROWS / 2]); /* they are counted anew */
    assert_in_range(next_batch(c), WAIT_MS - SOON_MS, WAIT_MS);
}

/* What a user does takes along what has gathered. */
static void users_do_not_wait(void **state)
{
    struct core *c = *state;
    struct out out;
    fire(c, &out);
    renew(c);
    result(c, out.id[0]);
    int64_t at_ms = c->now.boot_ms;
    int64_t by_hand = core_trigger(c, out.job[1], NULL);
    assert_in_range(c->now.boot_ms - at_ms, 0, SOON_MS);
    assert_null(core_row(c, out.id[0]));
    core_run(c, SOON_MS);
    result(c, by_hand); /* its user looks on */
    assert_in_range(next_batch(c), 0, SOON_MS);
    result(c, out.id[1]);
    at_ms = c->now.boot_ms;
    assert_int_equal(core_switch(c, out.job[2], EDIT_JOB_STOP), OK);
    assert_in_range(c->now.boot_ms - at_ms, 0, SOON_MS);
    assert_null(core_row(c, out.id[1]));
    result(c, out.id[2]);
    sched_want_batch(c->s); /* the driver's own write, or an answer that the journal cannot keep */
    assert_int_equal(sched_batch_in(c->s, c->now), 0);
    assert_in_range(next_batch(c), 0, SOON_MS);
}

/* A retry or child that is due at once is planned at once. */
static void what_is_due_soon_does_not_wait(void **state)
{
    struct core *c = *state;
    struct out out;
    fire(c, &out);
    struct job_record r = core_record("CRON", "0 * * * * ?");
    r.retries = 1;
    r.retry_delay_ms = 0;
    int64_t job = core_job(c, &r);
    job_record_done(&r);
    core_register(c, "app", "http://10.0.0.1:9999/"); /* once more: it lives */
    core_run(c, 60000);
    struct run_row *row[1];
    assert_int_equal(core_rows(c, job, row, 1), 1);
    int64_t id = row[0]->log_id;
    renew(c);
    sched_result(c->s, c->now, id, 500, slice_text(""));
    core_pump(c);
    assert_in_range(next_batch(c), 0, SOON_MS);
}

/* From the start of an urgent batch until the next begins that is wanted at once. */
static int64_t gap(struct core *c)
{
    renew(c);
    core_run(c, WAIT_MS);
    sched_want_batch(c->s);
    next_batch(c);
    sched_want_batch(c->s);
    return next_batch(c);
}

/* So all together begin no more transactions than one alone. */
static void centers_begin_batches_in_turn(void **state)
{
    struct core *c = *state;
    struct out out;
    c->shared = true;
    fire(c, &out);
    struct share share = core_alone;
    assert_int_equal(gap(c), c->config.batch_gap_ms);
    for (share.living = 2; share.living <= 4; share.living++) {
        sched_share(c->s, &share);
        assert_int_equal(gap(c), share.living * c->config.batch_gap_ms);
    }
    share.living = 20;
    sched_share(c->s, &share);
    assert_int_equal(gap(c), 4 * c->config.batch_gap_ms);
    sched_want_batch(c->s);
    int64_t at_ms = c->now.boot_ms;
    sched_drain(c->s); /* one that stops leaves at once */
    core_take_next(c);
    assert_int_equal(c->now.boot_ms, at_ms);
    core_write(c);
    core_done(c);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, core_setup, core_teardown)
    const struct CMUnitTest tests[] = {
        T(results_gather_for_a_while),     T(many_results_do_not_wait),      T(users_do_not_wait),
        T(what_is_due_soon_does_not_wait), T(centers_begin_batches_in_turn),
    };
    return cmocka_run_group_tests_name("sched.gather", tests, NULL, NULL);
}
