/* SPDX-License-Identifier: Apache-2.0 */
/* Single rules: what is overdue at a start, failures of stopped jobs, chains of children, the
 * watermark, clocks that go back, addresses that are dead or have left. */
#include "support_core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

#define A "http://10.0.0.1:9999/"
#define B "http://10.0.0.2:9999/"
#define ROWS 64

static struct core_call *run_of(struct core *c, int64_t job)
{
    for (int i = 0; i < c->ncalls; i++)
        if (c->calls[i].kind == CALL_RUN && c->calls[i].job_id == job)
            return &c->calls[i];
    return NULL;
}

/* ---- what is overdue ------------------------------------------------------------------------- */

/* Three rows are planned, and the center is away until their start deadlines have passed. */
static void a_misfire_policy_decides_about_overdue_rows(void **state)
{
    (void)state;
    static const struct {
        const char *policy;
        int sent[3]; /* of the scheduled times */
    } table[] = { { "DO_NOTHING", { 0, 0, 0 } },
                  { "FIRE_ONCE_NOW", { 0, 0, 1 } },
                  { "FIRE_ALL", { 1, 1, 1 } } };
    for (size_t i = 0; i < countof(table); i++) {
        struct core *c = core_new();
        core_register(c, "app", A);
        struct job_record r = core_record("CRON", "1,2,3 0 8 * * ?"); /* CORE_NOW_MS is 8:00:00 */
        core_text(&r.misfire, table[i].policy);
        r.start_deadline_ms = 10000;
        int64_t job = core_job(c, &r);
        job_record_done(&r);
        core_run(c, 500);
        struct run_row *rows[ROWS];
        assert_int_equal(core_rows(c, job, rows, ROWS), 3);
        core_stop(c);
        c->now.wall_ms += 60000;
        c->now.boot_ms += 60000;
        core_start(c);
        core_register(c, "app", A);
        c->executor = core_accepts;
        core_run(c, 5000);
        for (int k = 0; k < 3; k++)
            assert_int_equal(core_times_sent(c, job, CORE_NOW_MS + 1000 * (k + 1)),
                             table[i].sent[k]);
        core_free(c);
    }
}

/* Of a broadcast's overdue firings the newest runs, with all its shards, however many of them one
 * look at what is due takes up. Twice: what was overdue once says nothing about the next time. */
static void of_overdue_broadcasts_the_newest_is_run_whole(void **state)
{
    (void)state;
    static const int parts[] = { 1, 2, 4, 1000 };
    for (size_t i = 0; i < countof(parts); i++) {
        struct core *c = core_new();
        core_stop(c);
        c->config.dispatch_at_once = parts[i];
        core_start(c);
        c->executor = core_accepts;
        struct job_record r = core_record("CRON", "1,2,3 0/2 8 * * ?"); /* CORE_NOW_MS is 8:00:00 */
        core_text(&r.misfire, "FIRE_ONCE_NOW");
        core_text(&r.route, "SHARDING_BROADCAST");
        r.start_deadline_ms = 10000;
        core_register(c, "app", A);
        core_register(c, "app", B);
        int64_t job = core_job(c, &r);
        job_record_done(&r);
        for (int64_t from = CORE_NOW_MS; from <= CORE_NOW_MS + 120000; from += 120000) {
            core_run(c, from - c->now.wall_ms);
            core_register(c, "app", A);
            core_register(c, "app", B);
            core_run(c, 500);
            c->now.wall_ms += 60000; /* the process stood still */
            c->now.boot_ms += 60000;
            core_run(c, 5000);
            for (int k = 1; k <= 3; k++)
                assert_int_equal(core_times_sent(c, job, from + 1000 * k), k == 3 ? 2 : 0);
        }
        core_free(c);
    }
}

/* ---- failures -------------------------------------------------------------------------------- */

enum off { STAYS_ON, STOPPED, NEVER_ON };

/* A run of a job with a retry fails; is there a retry? */
static bool tried_again(const char *type, const char *conf, enum off off)
{
    struct core *c = core_new();
    core_register(c, "app", A);
    struct job_record r = core_record(type, conf);
    r.retries = 1;
    r.retry_delay_ms = 60000;
    int64_t job = core_job(c, &r);
    job_record_done(&r);
    if (off == NEVER_ON)
        core_trigger(c, job, NULL);
    core_run(c, 10500);
    struct core_call *run = run_of(c, job);
    assert_non_null(run);
    int64_t id = run->log_id;
    core_answer(c, run, 200, LOG_NONE);
    if (off == STOPPED)
        assert_int_equal(core_switch(c, job, EDIT_JOB_STOP), OK);
    core_result(c, id, 500);
    core_settle(c);
    struct run_row *rows[ROWS];
    bool found = false;
    for (int n = core_rows(c, job, rows, ROWS); n > 0; n--)
        found |= rows[n - 1]->kind == KIND_RETRY;
    core_free(c);
    return found;
}

static void a_failure_of_a_stopped_job_is_not_tried_again(void **state)
{
    (void)state;
    assert_true(tried_again("CRON", "10 0 8 * * ?", STAYS_ON));
    assert_false(tried_again("CRON", "10 0 8 * * ?", STOPPED));
    assert_true(tried_again("ONCE", "2027-01-15T08:00:10Z", STAYS_ON)); /* off by itself */
    assert_false(tried_again("ONCE", "2027-01-15T08:00:10Z", STOPPED));
    assert_true(tried_again("NONE", "", NEVER_ON)); /* a user triggered it nevertheless */
}

/* The failure and the stop come in one batch: the retry is no row yet when the stop looks for it.
 */
static void a_stop_takes_the_retry_of_the_same_batch(void **state)
{
    (void)state;
    for (int by_hand = 0; by_hand <= 1; by_hand++) { /* what a user triggered is tried again */
        struct core *c = core_new();
        core_register(c, "app", A);
        struct job_record r = core_record("CRON", "10 0 8 * * ?");
        r.retries = 1;
        r.retry_delay_ms = 3000;
        int64_t job = core_job(c, &r);
        job_record_done(&r);
        if (by_hand)
            core_trigger(c, job, NULL);
        else
            core_run(c, 10500);
        core_settle(c);
        int64_t id = run_of(c, job)->log_id;
        core_answer(c, run_of(c, job), 200, LOG_NONE);
        core_settle(c);
        sched_result(c->s, c->now, id, 500, slice_text("failed"));
        assert_int_equal(core_switch(c, job, EDIT_JOB_STOP), OK);
        int before = c->nsent;
        c->executor = core_accepts;
        core_run(c, 10000);
        assert_int_equal(c->nsent, before + by_hand);
        core_free(c);
    }
}

static void a_retry_has_the_parameter_of_its_run(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    struct job_record r = core_record("NONE", "");
    r.retries = 1;
    r.retry_delay_ms = 1000;
    int64_t job = core_job(c, &r);
    job_record_done(&r);
    struct spawn spawn = { .job_id = job,
                           .kind = KIND_MANUAL,
                           .scheduled_ms = c->now.wall_ms,
                           .due_ms = c->now.wall_ms,
                           .retries_left = -1,
                           .param = mem_dup("of this run alone") };
    sched_trigger(c->s, c->now, &spawn);
    core_settle(c);
    int64_t id = run_of(c, job)->log_id;
    core_answer(c, run_of(c, job), 200, LOG_NONE);
    core_result(c, id, 500);
    core_run(c, 2000);
    assert_string_equal(run_of(c, job)->param, "of this run alone");
}

static void same_root(const struct trace_root *a, const struct trace_root *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_true(a->id[0] == b->id[0] && a->id[1] == b->id[1]);
}

/* The first attempt fails, then the retry succeeds and calls the child. How it is asked: with that
 * root. *ret: what its retry and the child belong to. The center is killed before the child ends.
 */
static int64_t causes(struct core *c, const struct trace_root *asked, struct trace_root ret[2])
{
    int64_t child = core_simple_job(c, "NONE", "");
    struct job_record r = core_record("NONE", "");
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)child);
    core_text(&r.children, text);
    r.retries = 1;
    r.retry_delay_ms = 10000; /* beyond the watermark: it cannot have left before the crash */
    int64_t job = core_job(c, &r);
    job_record_done(&r);
    struct spawn spawn = { .job_id = job,
                           .kind = KIND_MANUAL,
                           .scheduled_ms = c->now.wall_ms,
                           .due_ms = c->now.wall_ms,
                           .retries_left = -1,
                           .trace = *asked };
    sched_trigger(c->s, c->now, &spawn);
    core_settle(c);
    int64_t first = run_of(c, job)->log_id;
    same_root(&run_of(c, job)->root, asked);
    core_answer(c, run_of(c, job), 200, LOG_NONE);
    core_result(c, first, 500);
    core_run(c, 500);
    core_crash(c); /* the retry is planned: it is read from the disk */
    core_start(c);
    core_register(c, "app", A);
    core_run(c, 15000);
    ret[0] = run_of(c, job)->root;
    int64_t retry = run_of(c, job)->log_id;
    core_answer(c, run_of(c, job), 200, LOG_NONE);
    core_result(c, retry, 200);
    core_run(c, 100);
    ret[1] = run_of(c, child)->root;
    return first;
}

static void what_a_run_causes_belongs_to_its_trace(void **state)
{
    struct core *c = *state;
    struct trace_root found[2];
    const struct trace_root given = { { 1, 2 }, TRACE_UNSAMPLED }, own = { .kind = TRACE_OWN };
    core_register(c, "app", A);
    causes(c, &given, found);
    same_root(&found[0], &given);
    same_root(&found[1], &given);
    int64_t first = causes(c, &own, found);
    const struct trace_root of_first = { { 0, (uint64_t)first }, TRACE_OF_RUN };
    same_root(&found[0], &of_first);
    same_root(&found[1], &of_first);
}

/* A firing keeps nothing of a trace. */
static void a_firing_has_a_trace_of_its_own(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    int64_t job = core_simple_job(c, "CRON", "* * * * * ?");
    core_run(c, 1500);
    assert_int_equal(run_of(c, job)->root.kind, TRACE_OWN);
    struct trace_root kept;
    struct why why = { "" };
    assert_int_equal(c->store->ops->pages->trace_get(c->store, run_of(c, job)->log_id, &kept, &why),
                     OK);
    assert_int_equal(kept.kind, TRACE_OWN);
}

/* Two jobs that are each other's child. */
static void a_chain_of_children_ends(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    int64_t first = core_simple_job(c, "NONE", ""), second = core_simple_job(c, "NONE", "");
    struct job_record r = core_job_row(c, first);
    core_text(&r.children, "2");
    assert_int_equal(second, 2);
    assert_int_equal(core_update(c, first, &r), OK);
    r = core_job_row(c, second);
    core_text(&r.children, "1");
    assert_int_equal(first, 1);
    assert_int_equal(core_update(c, second, &r), OK);
    core_trigger(c, first, NULL);
    core_run(c, 100);
    for (int i = 0; i < 200 && c->ncalls; i++) {
        int64_t id = c->calls[0].log_id;
        assert_int_equal(c->calls[0].kind, CALL_RUN);
        core_answer(c, &c->calls[0], 200, LOG_NONE);
        core_result(c, id, 200);
        core_run(c, 100);
    }
    assert_int_equal(c->nsent, 101);
    assert_int_equal(core_rows(c, 0, NULL, 0), 0);
}

/* ---- the watermark and the clock
 * ------------------------------------------------------------------ */

/* A row that is due in the very millisecond of the watermark may have left, one behind it cannot.
 */
static void a_row_due_at_the_watermark_may_have_left(void **state)
{
    (void)state;
    for (int behind = 0; behind <= 1; behind++) {
        struct core *c = core_new();
        core_register(c, "app", A);
        int64_t job = core_simple_job(c, "CRON", "10 0 8 * * ?");
        core_run(c, 6000);
        struct run_row *rows[ROWS];
        assert_int_equal(core_rows(c, job, rows, ROWS), 1);
        int64_t id = rows[0]->log_id;
        struct watermark watermark;
        struct why why = { "" };
        assert_int_equal(c->store->ops->txn->watermark_get(c->store, &watermark, &why), OK);
        core_crash(c);
        core_row(c, id)->due_ms = watermark.until_ms + behind;
        core_start(c);
        core_run(c, 10);
        assert_int_equal(core_call_of(c, CALL_IDLE, id) != NULL, !behind);
        core_run(c, 10000);
        assert_int_equal(core_times_sent(c, job, CORE_NOW_MS + 10000), behind);
        core_free(c);
    }
}

/* The scheduled time left, and has ended, by a clock that went back: a new schedule has it, too. */
static void a_scheduled_time_that_has_left_is_not_planned_again_by_an_edit(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    int64_t job = core_simple_job(c, "CRON", "0/10 * * * * ?");
    core_run(c, 10100);
    int64_t id = run_of(c, job)->log_id;
    core_answer(c, run_of(c, job), 200, LOG_NONE);
    core_result(c, id, 200);
    c->executor = core_accepts;
    core_step_clock(c, -8000);
    struct job_record r = core_job_row(c, job);
    core_text(&r.schedule_conf, "0/5 * * * * ?");
    assert_int_equal(core_update(c, job, &r), OK);
    core_run(c, 14000);
    assert_int_equal(core_times_sent(c, job, CORE_NOW_MS + 10000), 1);
    assert_int_equal(core_times_sent(c, job, CORE_NOW_MS + 15000), 1);
}

/* ---- addresses ------------------------------------------------------------------------------- */

static void rows_are_planned_for_the_living(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    core_register(c, "app", B);
    struct job_record r = core_record("CRON", "20-40 0 8 * * ?");
    core_text(&r.route, "ROUND");
    int64_t job = core_job(c, &r), other = core_simple_job(c, "NONE", "");
    job_record_done(&r);
    core_trigger(c, other, A);
    core_run(c, 10);
    core_fails(c, run_of(c, other), CALL_NOT_SENT);
    core_run(c, 19000);
    struct run_row *rows[ROWS];
    int n = core_rows(c, job, rows, ROWS);
    assert_true(n > 2);
    for (int i = 0; i < n; i++)
        assert_string_equal(rows[i]->address, B);
}

static bool count_row(void *ctx, const struct registry_record *r)
{
    (void)r;
    ++*(int *)ctx;
    return true;
}

static int registered(struct core *c)
{
    int n = 0;
    struct why why = { "" };
    assert_int_equal(c->store->ops->catalog->registry_each(c->store, count_row, &n, &why), OK);
    return n;
}

static void an_address_that_has_left_has_no_row(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    core_register(c, "app", B);
    core_settle(c);
    assert_int_equal(registered(c), 2);
    core_unregister(c, "app", A);
    core_settle(c);
    assert_int_equal(registered(c), 1);
    core_run(c, 120000); /* and B does not beat */
    assert_int_equal(registered(c), 0);
}

static bool takes(struct core *c, const char *app, int address)
{
    char text[32];
    snprintf(text, sizeof(text), "http://h%d:1/", address);
    return sched_register(c->s, c->now, slice_text(app), slice_text(text), false);
}

/* Any holder of the token may make up names and addresses. */
static void registrations_have_bounds(void **state)
{
    struct core *c = *state;
    char app[16];
    for (int i = 0; i < 1000; i++) {
        snprintf(app, sizeof(app), "app-%d", i);
        assert_true(takes(c, app, 0));
    }
    assert_false(takes(c, "one more", 0));
    assert_true(takes(c, "app-7", 0)); /* a beat */
    assert_true(takes(c, "app", 0));   /* a group's */
    for (int i = 1001; i < 100000; i++) {
        snprintf(app, sizeof(app), "app-%d", i % 1000);
        assert_true(takes(c, app, i));
    }
    assert_false(takes(c, "app", 100000));
    assert_true(takes(c, "app", 0));
    sched_unregister(c->s, c->now, slice_text("app-7"), slice_text("http://h0:1/"));
    assert_true(takes(c, "app", 100000));
}

static bool knows(struct core *c, const char *address)
{
    return sched_address_known(c->s, 1, slice_text(address));
}

/* What another center has written, younger by that. */
static bool hears(struct core *c, const char *address, int64_t age_ms, uint64_t seq)
{
    const struct registry_record r = { (char *)"EXECUTOR", (char *)"app", (char *)address,
                                       c->now.wall_ms - age_ms };
    bool heard = sched_heard_registry(c->s, c->now, &r, address != NULL, seq);
    core_pump(c);
    return heard;
}

static void what_registers_at_another_center_is_known_by_its_row(void **state)
{
    struct core *c = *state;
    core_settle(c);
    assert_true(hears(c, A, 30000, sched_committed(c->s)));
    assert_true(knows(c, A));
    core_settle(c);
    assert_int_equal(registered(c), 0); /* the other one's row is not written here */
    core_run(c, 70000);                 /* 90 s after its last beat */
    assert_false(knows(c, A));
    assert_true(hears(c, A, 100000, sched_committed(c->s)));
    assert_false(knows(c, A));
    assert_true(hears(c, A, -100000, sched_committed(c->s)));
    assert_false(knows(c, A));
    assert_true(hears(c, A, 0, sched_committed(c->s)));
    assert_true(hears(c, NULL, 0, sched_committed(c->s)));
    assert_false(knows(c, A));
}

static void what_is_newer_here_than_the_look_stays(void **state)
{
    struct core *c = *state;
    core_settle(c);
    uint64_t before = sched_committed(c->s);
    core_register(c, "app", A);
    assert_true(hears(c, NULL, 0, before));
    assert_true(knows(c, A));
    core_settle(c);
    assert_true(hears(c, NULL, 0, before)); /* read before that was written */
    assert_true(knows(c, A));
    core_unregister(c, "app", A);
    before = sched_committed(c->s);
    assert_false(hears(c, A, 0, before));
    core_settle(c);
    assert_false(hears(c, A, 0, before));
    assert_false(knows(c, A));
    assert_int_equal(registered(c), 0);
    core_register(c, "app", A);
    core_settle(c);
    assert_true(hears(c, NULL, 0, sched_committed(c->s)));
    assert_false(knows(c, A)); /* it has left at another one */
}

static void put_row(struct core *c, const char *address)
{
    const struct registry_record r = { (char *)"EXECUTOR", (char *)"app", (char *)address,
                                       c->now.wall_ms };
    struct why why = { "" };
    const struct store_ops *ops = c->store->ops;
    assert_int_equal(ops->txn->begin(c->store, &why), OK);
    assert_int_equal(ops->catalog->registry_put(c->store, &r, 1, &why), OK);
    assert_int_equal(ops->txn->commit(c->store, NULL, &why), OK);
}

static void a_row_that_another_center_keeps_stays(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    core_register(c, "app", B);
    core_run(c, 60000);
    put_row(c, A); /* it beats there by now */
    core_run(c, 60000);
    assert_false(knows(c, A));
    assert_int_equal(registered(c), 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, core_setup, core_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_misfire_policy_decides_about_overdue_rows),
        cmocka_unit_test(of_overdue_broadcasts_the_newest_is_run_whole),
        cmocka_unit_test(a_failure_of_a_stopped_job_is_not_tried_again),
        cmocka_unit_test(a_stop_takes_the_retry_of_the_same_batch),
        T(a_retry_has_the_parameter_of_its_run),
        T(what_a_run_causes_belongs_to_its_trace),
        T(a_firing_has_a_trace_of_its_own),
        T(a_chain_of_children_ends),
        cmocka_unit_test(a_row_due_at_the_watermark_may_have_left),
        T(a_scheduled_time_that_has_left_is_not_planned_again_by_an_edit),
        T(rows_are_planned_for_the_living),
        T(registrations_have_bounds),
        T(an_address_that_has_left_has_no_row),
        T(what_registers_at_another_center_is_known_by_its_row),
        T(what_is_newer_here_than_the_look_stays),
        T(a_row_that_another_center_keeps_stays),
    };
    return cmocka_run_group_tests_name("sched.rules", tests, NULL, NULL);
}
