/* SPDX-License-Identifier: Apache-2.0 */
/* Results that another server has taken: what the run makes of them, and what the batch says of
 * their rows. */
#include "support_core.h"
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

static const struct inbox_row row = { .id = 41, .at_ms = 5000, .code = 200, .msg = (char *)"done" };

static void inbox(struct core *c, int64_t log_id)
{
    struct inbox_row r = row;
    r.log_id = log_id;
    sched_inbox(c->s, c->now, &r);
}

/* An accepted run. */
static int64_t accepted(struct core *c)
{
    core_register(c, "app", "http://10.0.0.1:9999/");
    int64_t id = core_trigger(c, core_simple_job(c, "NONE", ""), NULL);
    core_run(c, 1000);
    core_answer(c, core_call_of(c, CALL_RUN, id), 200, LOG_NONE);
    core_run(c, 1000);
    assert_int_equal(core_row(c, id)->phase, PHASE_ACCEPTED);
    return id;
}

static void a_run_ends_with_it(void **state)
{
    struct core *c = *state;
    struct log_record l;
    int64_t id = accepted(c);
    inbox(c, id);
    inbox(c, id); /* it is read again before the batch is written */
    core_take_next(c);
    assert_int_equal(c->batch->nchanges, 1);
    assert_int_equal(c->batch->nlate, 2);
    for (int i = 0; i < 2; i++) { /* in the same transaction */
        assert_int_equal(c->batch->late[i].inbox_id, 41);
        assert_int_equal(c->batch->late[i].log_id, id);
        assert_true(c->batch->late[i].settled);
    }
    core_write(c);
    core_done(c);
    assert_null(core_row(c, id));
    assert_true(core_log(c, id, &l));
    assert_int_equal(l.handle_code, 200);
    assert_string_equal(l.handle_msg, "done");
    log_record_done(&l);
}

static void one_for_a_run_that_is_over_is_left_to_the_transaction(void **state)
{
    struct core *c = *state;
    inbox(c, 4711);
    core_take_next(c);
    assert_int_equal(c->batch->nlate, 1);
    const struct late_result *l = &c->batch->late[0];
    assert_int_equal(l->inbox_id, 41);
    assert_int_equal(l->log_id, 4711);
    assert_int_equal(l->at_ms, 5000); /* when it came to the other server */
    assert_int_equal(l->code, 200);
    assert_string_equal(l->msg, "done");
    assert_false(l->settled);
    core_write(c);
    core_done(c);
}

/* A run of which the core knows nothing, and which may have left. */
static struct run_row others_run(struct core *c)
{
    struct commit one = { .totals.n[TOTAL_PLANNED] = 1 };
    struct why why = { "" };
    struct run_row r = { .job_id = 900,
                         .kind = KIND_MANUAL,
                         .phase = PHASE_UNKNOWN,
                         .doubted = true,
                         .scheduled_ms = CORE_NOW_MS,
                         .due_ms = CORE_NOW_MS,
                         .log_ms = -1,
                         .shard_total = 1,
                         .group_id = 1,
                         .address = (char *)"http://10.0.0.1:9999/" };
    assert_int_equal(c->store->ops->txn->begin(c->store, &why), OK);
    assert_int_equal(c->store->ops->runs->runs_add(c->store, &r, 1, &why), OK);
    assert_int_equal(c->store->ops->txn->commit(c->store, &one, &why), OK);
    return r;
}

/* A batch as if it had taken the run over, and what had come for it. */
static void adopted(struct core *c, const struct run_row *row_taken, bool in_inbox)
{
    struct job_record r = core_record("NONE", "");
    r.id = 900;
    r.retries = 1;
    struct batch *b = c->batch;
    b->adopted = mem_new(sizeof(*b->adopted));
    b->adopted[b->nadopted++] =
        (struct planned){ .row = *row_taken, .job = job_ref(planner_keep(c->planner, &r)) };
    b->adopted[0].row.address = mem_dup("http://10.0.0.1:9999/");
    if (in_inbox) {
        b->inbox = mem_new(sizeof(*b->inbox));
        b->inbox[b->ninbox++] = (struct inbox_row){ .id = 41,
                                                    .log_id = row_taken->log_id,
                                                    .at_ms = 5000,
                                                    .code = 200,
                                                    .msg = mem_dup("done") };
    }
    job_record_done(&r);
}

/* The result has come into the inbox, or to this server while it took the run over. */
static void adopted_run_ends(struct core *c, bool in_inbox)
{
    core_register(c, "app", "http://10.0.0.1:9999/");
    core_settle(c);
    const struct run_row r = others_run(c);
    sched_want_batch(c->s);
    core_take_next(c);
    core_write(c);
    adopted(c, &r, in_inbox);
    if (!in_inbox)
        sched_result(c->s, c->now, r.log_id, 200, slice_text("done"));
    core_done(c);
    core_take_next(c);
    assert_int_equal(c->batch->nchanges, 1);
    assert_int_equal(c->batch->changes[0].log_id, r.log_id);
    assert_int_equal(c->batch->changes[0].handle_code, 200);
    assert_true(c->batch->changes[0].what & CHANGE_CLOSE);
    assert_int_equal(c->batch->nlate, in_inbox);
    core_write(c);
    core_done(c);
    core_run(c, 5000);
    assert_int_equal(core_calls(c, CALL_IDLE) + core_calls(c, CALL_LOG), 0); /* nobody was asked */
}

/* Another program, or an older release, has written another trigger_time than the schedule gives.
 */
static void fails_with_a_log_time_of_its_own(struct core *c, enum kind kind)
{
    core_register(c, "app", "http://10.0.0.1:9999/");
    core_settle(c);
    struct run_row r = others_run(c);
    r.kind = kind;
    r.log_ms = r.scheduled_ms - 3600000;
    r.retries_left = 1;
    sched_want_batch(c->s);
    core_take_next(c);
    core_write(c);
    adopted(c, &r, false);
    sched_result(c->s, c->now, r.log_id, 500, slice_text("no disk"));
    core_done(c);
    core_take_next(c);
    assert_int_equal(c->batch->nchanges, 1);
    assert_true(c->batch->changes[0].what & CHANGE_ALARM);
    assert_int_equal(c->batch->nspawns, 1); /* its retry */
    core_write(c);
    core_done(c);
}

static void a_retry_with_a_log_time_of_its_own_fails_as_any_other(void **state)
{
    fails_with_a_log_time_of_its_own(*state, KIND_RETRY);
}

static void a_run_with_a_log_time_of_its_own_fails_as_any_other(void **state)
{
    fails_with_a_log_time_of_its_own(*state, KIND_MANUAL);
}

/* How often it was asked for shortly before 2 s have passed, and when they have. */
static void asked_for(struct core *c, bool clean, int before, int after)
{
    core_register(c, "app", "http://10.0.0.1:9999/");
    core_settle(c);
    const struct run_row r = others_run(c);
    sched_want_batch(c->s);
    core_take_next(c);
    core_write(c);
    c->batch->adopt.clean = clean;
    adopted(c, &r, false);
    core_done(c);
    core_run(c, 1900);
    assert_int_equal(core_calls(c, CALL_IDLE), before);
    core_run(c, 200);
    assert_int_equal(core_calls(c, CALL_IDLE), after);
    sched_result(c->s, c->now, r.log_id, 200, slice_text("done"));
    core_run(c, 100);
}

/* A process that was ended while it lives may have a call open for as long as calls take. */
static void an_adopted_run_is_asked_for_when_no_call_of_its_owner_is_open(void **state)
{
    asked_for(*state, false, 0, 1);
}

static void a_run_that_was_handed_over_is_asked_for_at_once(void **state)
{
    asked_for(*state, true, 1, 1);
}

static void what_waits_for_an_adopted_run_ends_it(void **state)
{
    adopted_run_ends(*state, true);
}

static void what_comes_during_an_adoption_ends_the_run(void **state)
{
    adopted_run_ends(*state, false);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, core_setup, core_teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_run_ends_with_it),
        CASE(one_for_a_run_that_is_over_is_left_to_the_transaction),
        CASE(an_adopted_run_is_asked_for_when_no_call_of_its_owner_is_open),
        CASE(a_run_that_was_handed_over_is_asked_for_at_once),
        CASE(what_waits_for_an_adopted_run_ends_it),
        CASE(what_comes_during_an_adoption_ends_the_run),
        CASE(a_retry_with_a_log_time_of_its_own_fails_as_any_other),
        CASE(a_run_with_a_log_time_of_its_own_fails_as_any_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
