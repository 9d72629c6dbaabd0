/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of addresses that change while something that depends on them is being written. */
#include "support_core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "cron/rfc3339.h"

#define A "http://10.0.0.1:9999/"
#define B "http://10.0.0.2:9999/"
#define ROWS 64

static int64_t broadcast_job(struct core *c, const char *type, const char *conf)
{
    struct job_record r = core_record(type, conf);
    core_text(&r.route, "SHARDING_BROADCAST");
    int64_t job = core_job(c, &r);
    job_record_done(&r);
    return job;
}

/* Each firing has one row for each of the addresses, in their order. */
static void assert_shards(struct core *c, int64_t job, const char *const *addresses, int n)
{
    struct run_row *rows[ROWS];
    int found = core_rows(c, job, rows, ROWS);
    assert_true(found > 0 && found % n == 0);
    for (int i = 0; i < found; i++) {
        assert_int_equal(rows[i]->shard_total, n);
        assert_int_equal(rows[i]->shard, i % n);
        assert_string_equal(rows[i]->address, addresses[i % n]);
        assert_int_equal(rows[i]->scheduled_ms, rows[i - i % n]->scheduled_ms);
    }
}

/* A batch is with the writer that plans firings of the job. */
static void take_planning(struct core *c)
{
    for (int i = 0; i < 100; i++) {
        core_take_next(c);
        if (c->batch->plan_until_ms)
            return;
        core_write(c);
        core_done(c);
    }
    fail_msg("nothing is planned");
}

static void a_list_that_grows_while_rows_are_written(void **state)
{
    struct core *c = *state;
    static const char *const both[] = { A, B };
    core_register(c, "app", A);
    core_settle(c);
    struct job_record r = core_record("CRON", "* * * * * ?");
    struct edit *e = edit_new(EDIT_JOB_INSERT);
    core_text(&r.route, "SHARDING_BROADCAST");
    job_record_done(&e->job);
    e->job = r;
    sched_edit(c->s, c->now, e);
    while (c->ntold < 2) { /* the group, and the job: what it plans comes later */
        core_take_next(c);
        core_write(c);
        core_done(c);
    }
    int64_t job = c->told[1].id;
    take_planning(c);
    core_register(c, "app", B);
    core_write(c);
    assert_true(c->batch->nplanned > 0);
    assert_int_equal(c->batch->planned[0].row.shard_total, 1);
    core_done(c);
    core_settle(c);
    assert_shards(c, job, both, 2);
}

static void a_list_that_shrinks_while_rows_are_written(void **state)
{
    struct core *c = *state;
    static const char *const one[] = { B };
    core_register(c, "app", A);
    core_register(c, "app", B);
    core_settle(c);
    int64_t job = broadcast_job(c, "CRON", "* * * * * ?");
    core_run(c, 2400);
    take_planning(c);
    core_unregister(c, "app", A);
    core_write(c);
    core_done(c);
    core_settle(c);
    struct run_row *rows[ROWS];
    int n = core_rows(c, job, rows, ROWS), planned = 0;
    for (int i = 0; i < n; i++) {
        if (rows[i]->scheduled_ms <= c->now.wall_ms)
            continue; /* has left */
        planned++;
        assert_int_equal(rows[i]->shard_total, 1);
        assert_string_equal(rows[i]->address, one[0]);
    }
    assert_true(planned > 0);
}

static void a_list_that_changes_while_an_edit_holds_the_rows(void **state)
{
    struct core *c = *state;
    static const char *const both[] = { A, B };
    core_register(c, "app", A);
    core_settle(c);
    int64_t job = broadcast_job(c, "CRON", "0/10 * * * * ?");
    core_run(c, 7000);
    struct edit *e = edit_new(EDIT_JOB_UPDATE);
    e->id = job;
    job_record_done(&e->job);
    e->job = core_job_row(c, job);
    core_text(&e->job.description, "touched");
    sched_edit(c->s, c->now, e);
    core_take_next(c);
    core_register(c, "app", B);
    core_write(c);
    core_done(c);
    core_settle(c);
    assert_shards(c, job, both, 2);
}

/* One firing of two shards is out, and its end sets the next scheduled time. */
/* The new list is heard of while the rows by the old one are there and those before them as well.
 */
static void a_list_by_hand_and_a_start_in_one_batch(void **state)
{
    struct core *c = *state;
    static const char *const both[] = { A, B };
    core_register(c, "app", A);
    core_settle(c);
    int64_t job = broadcast_job(c, "CRON", "0/10 * * * * ?");
    core_run(c, 6000); /* a firing is planned */
    struct edit *group = edit_new(EDIT_GROUP_UPDATE), *start = edit_new(EDIT_JOB_START);
    group->id = group->group.id = 1;
    group->group.app = mem_dup("app");
    group->group.title = mem_dup("app");
    group->group.address_type = 1;
    group->group.address_list = mem_dup(A "," B);
    start->id = job;
    sched_edit(c->s, c->now, group);
    sched_edit(c->s, c->now, start);
    core_settle(c);
    assert_shards(c, job, both, 2);
}

static void assert_waits(struct core *c, int64_t job)
{
    struct run_row *rows[ROWS];
    static const char *const both[] = { A, B };
    assert_int_equal(core_rows(c, job, rows, ROWS), 2);
    assert_shards(c, job, both, 2);
    struct job_record r = core_job_row(c, job);
    assert_int_equal(r.next_ms, NEVER_MS);
    job_record_done(&r);
}

/* An executor that is idle and has no log of anything. */
static bool forgets(struct core *c, const struct core_call *call, struct call_result *answer)
{
    (void)c;
    answer->outcome = CALL_ANSWERED;
    answer->code = 200;
    answer->log = LOG_NONE;
    return call->kind != CALL_RUN;
}

/* A FIX_DELAY firing is planned again with the same batch that would set the next scheduled time:
 * its end does that, and no end before. */
static void a_firing_that_is_planned_again_is_out(void **state)
{
    struct core *c = *state;
    struct run_row *rows[ROWS];
    core_register(c, "app", A);
    int64_t job = broadcast_job(c, "FIX_DELAY", "20");
    core_run(c, 21000);
    assert_int_equal(core_rows(c, job, rows, ROWS), 1);
    int64_t lost = rows[0]->log_id;
    core_answer(c, core_call_of(c, CALL_RUN, lost), 200, LOG_NONE);
    c->executor = forgets;
    while (core_row(c, lost)->phase != PHASE_LOST)
        core_run(c, 100);
    for (bool planned = false; !planned;) {
        core_take_next(c);
        core_write(c);
        for (int i = 0; i < c->batch->nplanned; i++)
            planned |= c->batch->planned[i].row.job_id == job;
        if (planned) { /* it succeeds late, and the list grows */
            sched_result(c->s, c->now, lost, 200, slice_text(""));
            core_register(c, "app", B);
        }
        core_done(c);
    }
    core_settle(c);
    assert_null(core_row(c, lost));
    assert_waits(c, job);
}

/* A firing whose connection is still opened when its job is edited comes back from the gate and is
 * withdrawn. The list may have changed by then: planned again for that, it would be dropped as a
 * firing of the old version, and nothing set the next scheduled time. */
static void a_firing_of_an_older_version_is_not_planned_again(void **state)
{
    struct core *c = *state;
    struct run_row *rows[ROWS];
    core_register(c, "app", A);
    int64_t job = broadcast_job(c, "FIX_DELAY", "20");
    c->opening = true;
    core_run(c, 21000);
    assert_int_equal(core_rows(c, job, rows, ROWS), 1);
    int64_t old = rows[0]->log_id;
    struct job_record r = core_job_row(c, job);
    core_text(&r.schedule_conf, "30");
    assert_int_equal(core_update(c, job, &r), OK);
    core_register(c, "app", B);
    assert_false(core_leaves(c, core_call_of(c, CALL_RUN, old)));
    c->now.wall_ms += 5;
    c->now.boot_ms += 5;
    while (!core_commit(c)) { /* before it looks at what is due */
        c->now.wall_ms++;
        c->now.boot_ms++;
    }
    core_run(c, 29000);
    assert_null(core_row(c, old));
    assert_int_equal(core_rows(c, job, rows, ROWS), 2);
    assert_in_range(rows[0]->scheduled_ms, CORE_NOW_MS + 50000, CORE_NOW_MS + 53000);
}

/* The same of a missed one, which an edit of the interval leaves. */
static void a_missed_firing_that_is_planned_again_is_out(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    struct job_record r = core_record("FIX_DELAY", "20");
    core_text(&r.route, "SHARDING_BROADCAST");
    core_text(&r.misfire, "FIRE_ONCE_NOW");
    int64_t job = core_job(c, &r);
    job_record_done(&r);
    core_stop(c);
    c->now.wall_ms += 40000;
    c->now.boot_ms += 40000;
    core_start(c);
    core_settle(c);
    take_planning(c);
    core_write(c);
    assert_int_equal(c->batch->nplanned, 1);
    assert_int_equal(c->batch->planned[0].row.kind, KIND_MISFIRE);
    core_register(c, "app", B);
    struct edit *e = edit_new(EDIT_JOB_UPDATE);
    e->id = job;
    job_record_done(&e->job);
    e->job = core_job_row(c, job);
    core_text(&e->job.schedule_conf, "2");
    sched_edit(c->s, c->now, e);
    core_done(c);
    core_settle(c);
    assert_waits(c, job);
}

/* The job's one scheduled time is planned, so it is stopped; it goes on by another schedule while
 * that has not left, though its row is being planned again. */
static void a_schedule_that_changes_while_its_last_row_is_planned_again(void **state)
{
    struct core *c = *state;
    char once[RFC3339_SIZE];
    core_register(c, "app", A);
    core_settle(c);
    int64_t scheduled_ms = CORE_NOW_MS + 4000;
    int64_t job = broadcast_job(c, "ONCE", rfc3339_format(scheduled_ms, zone_utc(), once));
    core_run(c, 1000);
    struct job_record r = core_job_row(c, job);
    assert_false(r.enabled);
    core_text(&r.schedule_type, "CRON");
    core_text(&r.schedule_conf, "* * * * * ?");
    core_register(c, "app", B); /* with the same batch */
    assert_int_equal(core_update(c, job, &r), OK);
    r = core_job_row(c, job);
    assert_true(r.enabled);
    job_record_done(&r);
    c->executor = core_accepts;
    core_run(c, 6000);
    for (int i = 2; i < 6; i++)
        assert_int_equal(core_times_sent(c, job, CORE_NOW_MS + i * 1000), 2);
}

/* While a shard is called it may be leaving, and nothing can be planned again. It does not leave,
 * because the clock was set back: then it goes by the list that there is by now. */
static void a_list_that_grows_while_a_shard_is_called(void **state)
{
    struct core *c = *state;
    static const char *const both[] = { A, B };
    core_register(c, "app", A);
    core_settle(c);
    int64_t job = broadcast_job(c, "CRON", "0 * * * * ?");
    c->opening = true;
    for (int i = 0; i < 7000 && !core_calls(c, CALL_RUN); i++)
        core_run(c, 10);
    assert_int_equal(core_calls(c, CALL_RUN), 1);
    core_step_clock(c, -1500);
    core_register(c, "app", B);
    core_run(c, 100);
    assert_false(core_leaves(c, &c->calls[0]));
    c->opening = false;
    c->executor = core_accepts;
    core_run(c, 1490);
    assert_shards(c, job, both, 2);
    assert_int_equal(c->nsent, 2);
}

/* Without a reason rows stay: each has its log id, and a commit is not for nothing. */
static void rows_that_fit_the_list_stay(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    core_register(c, "app", B);
    core_settle(c);
    int64_t job = broadcast_job(c, "CRON", "0/10 * * * * ?");
    core_run(c, 6000);
    struct run_row *rows[ROWS];
    assert_int_equal(core_rows(c, job, rows, ROWS), 2);
    int64_t id = rows[0]->log_id;
    core_stop(c);
    core_start(c);
    core_settle(c);
    assert_int_equal(core_rows(c, job, rows, ROWS), 2);
    assert_int_equal(rows[0]->log_id, id);
}

static bool count_registry(void *ctx, const struct registry_record *r)
{
    (void)r;
    ++*(int *)ctx;
    return true;
}

static int registered(struct core *c)
{
    int n = 0;
    struct why why = { "" };
    assert_int_equal(c->store->ops->catalog->registry_each(c->store, count_registry, &n, &why), OK);
    return n;
}

static void leaving_and_coming_back_within_a_batch(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    core_settle(c);
    assert_int_equal(registered(c), 1);
    core_unregister(c, "app", A);
    core_register(c, "app", A);
    core_settle(c);
    assert_int_equal(registered(c), 1);
    core_register(c, "app", B);
    core_unregister(c, "app", B);
    core_settle(c);
    assert_int_equal(registered(c), 1);
}

static void more_addresses_by_hand_than_a_run_may_have(void **state)
{
    struct core *c = *state;
    struct buf list = BUF_INIT(8192);
    struct run_row *rows[PLAN_CHOICES_MAX + 1];
    int64_t job = broadcast_job(c, "NONE", "");
    for (int i = 0; i < PLAN_CHOICES_MAX; i++)
        buf_printf(&list, "%shttp://10.1.0.%d:1/", i ? "," : "", i);
    assert_true(core_trigger(c, job, buf_str(&list)) > 0);
    assert_int_equal(core_rows(c, job, rows, PLAN_CHOICES_MAX + 1), PLAN_CHOICES_MAX);
    buf_text(&list, ",http://10.2.0.1:1/");
    assert_int_equal(core_trigger(c, job, buf_str(&list)), 0);
    assert_int_equal(c->told[c->ntold - 1].err, ERR_TOOBIG);
    buf_done(&list);
}

/* An edit moves the job while its shards wait for their connections, and these are refused: nothing
 * has left, so the firing goes to the new group. */
static void a_broadcast_that_comes_back_goes_to_the_new_group(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    core_register(c, "app", B);
    core_settle(c);
    int64_t job = broadcast_job(c, "NONE", "");
    core_trigger(c, job, NULL);
    assert_int_equal(core_calls(c, CALL_RUN), 2);
    struct job_record r = core_job_row(c, job);
    r.group_id = core_group(c, "other", "http://10.2.0.1:1/");
    assert_int_equal(core_update(c, job, &r), OK);
    while (c->ncalls > 0)
        core_fails(c, &c->calls[0], CALL_NOT_SENT);
    core_settle(c);
    assert_int_equal(core_calls(c, CALL_RUN), 1);
    assert_string_equal(c->calls[0].address, "http://10.2.0.1:1/");
    assert_int_equal(c->calls[0].shard_total, 1);
}

/* ---- a large group ---- */

#define MANY 120

static const char *address_of(int i)
{
    static char address[64];
    snprintf(address, sizeof(address), "http://10.1.0.%d:9999/", i);
    return address;
}

static int64_t large_group(struct core *c, const char *conf)
{
    for (int i = 0; i < MANY; i++)
        core_register(c, "app", address_of(i));
    core_settle(c);
    return broadcast_job(c, "CRON", conf);
}

static int64_t last_id(struct core *c, int64_t job)
{
    struct run_row *rows[MANY];
    int n = core_rows(c, job, rows, MANY);
    assert_true(n > 0);
    return rows[n - 1]->log_id;
}

/* Its addresses go one by one, and each time there would be a hundred rows to write. */
static void many_changes_of_a_large_list_are_few_layings(void **state)
{
    struct core *c = *state;
    int64_t job = large_group(c, "0/10 * * * * ?");
    core_run(c, 6000);
    int64_t before = last_id(c, job);
    for (int i = 0; i < 50; i++) {
        core_unregister(c, "app", address_of(i));
        core_run(c, 20);
    }
    core_run(c, 2000);
    assert_true(last_id(c, job) - before <= 4 * MANY);
    c->executor = core_accepts;
    core_run(c, CORE_NOW_MS + 10100 - c->now.wall_ms);
    assert_int_equal(c->nsent, MANY - 50);
    for (int i = 0; i < c->nsent; i++)
        assert_int_equal(c->sent[i].shard_total, MANY - 50);
}

/* While they go on leaving, a firing leaves all the same. */
static void a_list_that_keeps_changing_holds_nothing_up(void **state)
{
    struct core *c = *state;
    large_group(c, "0/10 * * * * ?");
    c->executor = core_accepts;
    core_run(c, 9500);
    assert_int_equal(c->nsent, 0);
    for (int i = 0; i < 50; i++) {
        core_unregister(c, "app", address_of(i));
        core_run(c, 12);
    }
    assert_true(c->nsent >= MANY - 50);
    int total = c->sent[0].shard_total;
    assert_int_equal(c->nsent, total);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, core_setup, core_teardown)
    const struct CMUnitTest tests[] = {
        T(a_list_that_grows_while_rows_are_written),
        T(a_list_that_shrinks_while_rows_are_written),
        T(a_list_that_changes_while_an_edit_holds_the_rows),
        T(a_list_by_hand_and_a_start_in_one_batch),
        T(a_firing_of_an_older_version_is_not_planned_again),
        T(a_firing_that_is_planned_again_is_out),
        T(a_missed_firing_that_is_planned_again_is_out),
        T(a_schedule_that_changes_while_its_last_row_is_planned_again),
        T(a_list_that_grows_while_a_shard_is_called),
        T(rows_that_fit_the_list_stay),
        T(leaving_and_coming_back_within_a_batch),
        T(more_addresses_by_hand_than_a_run_may_have),
        T(a_broadcast_that_comes_back_goes_to_the_new_group),
        T(many_changes_of_a_large_list_are_few_layings),
        T(a_list_that_keeps_changing_holds_nothing_up),
    };
    return cmocka_run_group_tests_name("sched.lists", tests, NULL, NULL);
}
