/* SPDX-License-Identifier: Apache-2.0 */
/* Between the call that the core asks for and the first byte of it lies the opening of a
 * connection. What changes meanwhile decides at the gate: sched_leaving says yes once, with the
 * recorder's word written, or no, and the run is decided anew. */
#include "support_core.h"
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

#define A "http://10.0.0.1:9999/"

/* A per-second job whose first firing waits for its connection. */
static int64_t one_opens(struct core *c, int64_t *ret_job)
{
    core_crash(c);
    c->slots = 64;
    core_start(c);
    core_settle(c);
    core_register(c, "app", A);
    c->opening = true;
    struct job_record r = core_record("CRON", "0/10 * * * * ?");
    r.retries = 1;
    *ret_job = core_job(c, &r);
    job_record_done(&r);
    core_run(c, 10000);
    assert_int_equal(core_calls(c, CALL_RUN), 1);
    assert_int_equal(c->nsent, 0);
    return c->calls[0].log_id;
}

static struct core_call *call_of(struct core *c, int64_t id)
{
    return core_call_of(c, CALL_RUN, id);
}

static int words(const struct core *c)
{
    struct sched_stats st;
    sched_stats(c->s, &st);
    return st.words;
}

static enum phase phase_of(struct core *c, int64_t log_id)
{
    const struct run_row *r = core_row(c, log_id);
    return r ? r->phase : 0;
}

static void the_word_is_written_at_the_gate(void **state)
{
    struct core *c = *state;
    int64_t job, id = one_opens(c, &job);
    assert_int_equal(words(c), 0);
    assert_true(core_leaves(c, call_of(c, id)));
    assert_int_equal(words(c), 1);
    core_crash(c);
    core_start(c);
    core_settle(c);
    assert_int_equal(phase_of(c, id), PHASE_UNKNOWN);
}

/* Killed while the connection was being opened: it has not left, and fires. */
static void what_did_not_reach_the_gate_is_planned(void **state)
{
    struct core *c = *state;
    int64_t job, id = one_opens(c, &job);
    core_crash(c);
    c->opening = false;
    core_start(c);
    core_settle(c);
    struct sched_stats st;
    sched_stats(c->s, &st);
    assert_int_equal(st.in_doubt, 0);
    core_run(c, 100);
    assert_int_equal(c->nsent, 1);
    assert_int_equal(c->sent[0].log_id, id);
}

/* What an update leaves goes on under the new version; the old one never leaves. */
static void an_edit_that_leaves_the_firing_lets_it_go(void **state)
{
    struct core *c = *state;
    int64_t job, id = one_opens(c, &job);
    struct job_record r = core_job_row(c, job);
    core_text(&r.description, "touched");
    assert_int_equal(core_update(c, job, &r), OK);
    assert_true(core_leaves(c, call_of(c, id)));
}

/* Of a center among others: its lease ended while the connection was being opened. The run waits,
 * and is not tried again and again, until there is another one. */
static void without_a_lease_nothing_leaves(void **state)
{
    struct core *c = *state;
    int64_t job, id = one_opens(c, &job);
    sched_lease(c->s, c->now, c->now.boot_ms, INT64_MAX);
    assert_false(core_leaves(c, call_of(c, id)));
    core_run(c, 1000);
    assert_int_equal(core_calls(c, CALL_RUN), 0);
    sched_lease(c->s, c->now, c->now.boot_ms + 2000, INT64_MAX);
    core_pump(c);
    assert_true(core_leaves(c, call_of(c, id)));
}

static void what_is_due_behind_a_beat_waits_for_the_next(void **state)
{
    struct core *c = *state;
    int64_t job, id = one_opens(c, &job);
    int64_t due_ms = core_row(c, id)->due_ms;
    sched_lease(c->s, c->now, INT64_MAX, due_ms - 1);
    assert_false(core_leaves(c, call_of(c, id)));
    core_run(c, 1000);
    assert_int_equal(core_calls(c, CALL_RUN), 0);
    sched_lease(c->s, c->now, INT64_MAX, due_ms);
    core_pump(c);
    assert_true(core_leaves(c, call_of(c, id)));
}

static void a_stopped_job_does_not_leave(void **state)
{
    struct core *c = *state;
    int64_t job, id = one_opens(c, &job);
    assert_int_equal(core_switch(c, job, EDIT_JOB_STOP), OK);
    assert_false(core_leaves(c, call_of(c, id)));
    core_run(c, 3000);
    assert_int_equal(core_row(c, id) != NULL, false);
    assert_int_equal(core_times_sent(c, job, CORE_NOW_MS + 10000), 0);
    assert_int_equal(words(c), 0);
    assert_int_equal(core_unaccounted(c), 0);
}

/* Before the deletion is committed, and behind it. */
static void a_deleted_job_does_not_leave(void **state)
{
    (void)state;
    for (int written = 0; written < 3; written++) {
        struct core *c = core_new();
        int64_t job, id = one_opens(c, &job);
        struct edit *e = edit_new(EDIT_JOB_DELETE);
        e->id = job;
        sched_edit(c->s, c->now, e);
        core_take_next(c);
        if (written >= 1)
            core_write(c);
        if (written == 2)
            core_done(c);
        assert_false(core_leaves(c, call_of(c, id)));
        while (c->batch || core_row(c, id))
            core_run(c, 100);
        core_run(c, 3000);
        assert_int_equal(c->nsent, 0);
        assert_int_equal(words(c), 0);
        struct sched_stats st;
        sched_stats(c->s, &st);
        assert_int_equal(st.live, 0);
        assert_int_equal(core_unaccounted(c), 0);
        core_free(c);
    }
}

enum back { AT_THE_GATE, REFUSED, NEVER };

/* The job is stopped while its retry's connection opens, then the center is, and the retry comes
 * back, or the center is killed before that: the next life has only the row, and must not send
 * it. */
static void stopped_retry(enum back back, bool after_drain)
{
    struct core *c = core_new();
    int64_t job, id = one_opens(c, &job);
    core_register(c, "app", "http://10.0.0.2:9999/");
    assert_true(core_leaves(c, call_of(c, id)));
    core_answer(c, call_of(c, id), 200, LOG_NONE);
    core_result(c, id, 500);
    for (int i = 0; i < 100 && !core_calls(c, CALL_RUN); i++)
        core_run(c, 100);
    assert_int_equal(core_calls(c, CALL_RUN), 1);
    int64_t retry = c->calls[0].log_id;
    assert_int_equal(core_row(c, retry)->kind, KIND_RETRY);
    assert_int_equal(core_switch(c, job, EDIT_JOB_STOP), OK);
    if (after_drain)
        sched_drain(c->s);
    if (back == REFUSED)
        core_fails(c, call_of(c, retry), CALL_NOT_SENT);
    else if (back == AT_THE_GATE)
        assert_false(core_leaves(c, call_of(c, retry)));
    if (back == NEVER)
        core_crash(c);
    else
        core_stop(c);
    assert_int_equal(core_row(c, retry) != NULL, back == NEVER);
    c->opening = false;
    core_start(c);
    core_run(c, 5000);
    assert_int_equal(c->nsent, 1);
    assert_null(core_row(c, retry));
    assert_int_equal(core_unaccounted(c), 0);
    core_free(c);
}

static void a_retry_of_a_stopped_job_does_not_wait_for_the_next_life(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++)
        stopped_retry((enum back)(i % 3), i >= 3);
}

static void a_clock_that_goes_back_keeps_it(void **state)
{
    struct core *c = *state;
    int64_t job, id = one_opens(c, &job);
    core_step_clock(c, -4000);
    assert_false(core_leaves(c, call_of(c, id)));
    core_run(c, 3990);
    assert_null(call_of(c, id));
    core_run(c, 20);
    assert_true(core_leaves(c, call_of(c, id)));
    assert_true(c->sent[0].sent_wall_ms >= CORE_NOW_MS + 10000);
}

/* A result has ended it: whichever executor sent that, the call is not made any more. */
static void what_has_ended_does_not_leave(void **state)
{
    struct core *c = *state;
    int64_t job, id = one_opens(c, &job);
    core_result(c, id, 200);
    assert_false(core_leaves(c, call_of(c, id)));
    core_run(c, 3000);
    assert_null(core_row(c, id));
    assert_int_equal(words(c), 0);
}

static void an_old_ticket_opens_nothing(void **state)
{
    struct core *c = *state;
    int64_t job, id = one_opens(c, &job);
    uint32_t ticket = call_of(c, id)->ticket;
    assert_false(sched_leaving(c->s, c->now, id, ticket + 1));
    assert_false(sched_leaving(c->s, c->now, id + 1000, ticket));
    core_fails(c, call_of(c, id), CALL_FULL);
    assert_false(sched_leaving(c->s, c->now, id, ticket));
    assert_int_equal(words(c), 0);
    core_run(c, 100);
    assert_true(core_leaves(c, call_of(c, id)));
}

/* The connection broke right after the yes: the word is taken back with the call. */
static void a_call_that_broke_at_the_gate_is_made_again(void **state)
{
    struct core *c = *state;
    int64_t job, id = one_opens(c, &job);
    assert_true(core_leaves(c, call_of(c, id)));
    core_fails(c, call_of(c, id), CALL_AGAIN);
    assert_int_equal(words(c), 0);
    struct sched_stats st;
    sched_stats(c->s, &st);
    assert_int_equal(st.dead, 0);
    core_run(c, 10);
    assert_true(core_leaves(c, call_of(c, id)));
    core_answer(c, call_of(c, id), 200, LOG_NONE);
    core_result(c, id, 200);
    assert_null(core_row(c, id));
}

/* A LOST run can be finished until its retry leaves, not until a connection for that is opened. */
static void a_lost_run_is_closed_when_its_retry_leaves(void **state)
{
    (void)state;
    for (int leaves = 0; leaves < 2; leaves++) {
        struct core *c = core_new();
        core_register(c, "app", A);
        struct job_record r = core_record("CRON", "0 * * * * ?");
        r.retries = 1;
        int64_t job = core_job(c, &r);
        job_record_done(&r);
        core_run(c, 60000);
        struct core_call *call = NULL;
        for (int i = 0; i < c->ncalls; i++)
            call = c->calls[i].kind == CALL_RUN ? &c->calls[i] : call;
        assert_non_null(call);
        int64_t lost = call->log_id;
        core_answer(c, call, 200, LOG_NONE);
        while (!core_row(c, lost) || phase_of(c, lost) != PHASE_LOST) {
            while ((call = core_call_of(c, CALL_IDLE, lost)))
                core_answer(c, call, 200, LOG_NONE);
            while ((call = core_call_of(c, CALL_LOG, lost)))
                core_answer(c, call, 200, LOG_NONE);
            core_run(c, 100);
        }
        c->opening = true;
        while (!core_calls(c, CALL_RUN))
            core_run(c, 100);
        int64_t retry = lost;
        for (int i = 0; i < c->ncalls; i++)
            retry = c->calls[i].kind == CALL_RUN ? c->calls[i].log_id : retry;
        assert_int_not_equal(retry, lost);
        assert_int_equal(core_row(c, retry)->kind, KIND_RETRY);
        if (!leaves)
            assert_int_equal(core_switch(c, job, EDIT_JOB_STOP), OK);
        assert_int_equal(core_leaves(c, call_of(c, retry)), leaves);
        core_run(c, 3000);
        assert_int_equal(phase_of(c, lost), leaves ? 0 : PHASE_LOST);
        core_free(c);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, core_setup, core_teardown)
    const struct CMUnitTest tests[] = {
        T(the_word_is_written_at_the_gate),
        T(without_a_lease_nothing_leaves),
        T(what_is_due_behind_a_beat_waits_for_the_next),
        T(what_did_not_reach_the_gate_is_planned),
        T(an_edit_that_leaves_the_firing_lets_it_go),
        T(a_stopped_job_does_not_leave),
        cmocka_unit_test(a_deleted_job_does_not_leave),
        cmocka_unit_test(a_retry_of_a_stopped_job_does_not_wait_for_the_next_life),
        T(a_clock_that_goes_back_keeps_it),
        T(what_has_ended_does_not_leave),
        T(an_old_ticket_opens_nothing),
        T(a_call_that_broke_at_the_gate_is_made_again),
        cmocka_unit_test(a_lost_run_is_closed_when_its_retry_leaves),
    };
    return cmocka_run_group_tests_name("sched.leaving", tests, NULL, NULL);
}
