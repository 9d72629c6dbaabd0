/* SPDX-License-Identifier: Apache-2.0 */
/* Results: what a callback does to a run in each phase. */
#include "support_core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "model/claim.h"
#include "store/memory/memory.h"

static void a_firing_goes_through_its_life(void **state)
{
    struct core *c = *state;
    core_register(c, "app", "http://10.0.0.1:9999/");
    int64_t job = core_simple_job(c, "CRON", "0/10 * * * * ?");
    core_run(c, 6000);
    struct run_row *rows[4];
    assert_int_equal(core_rows(c, job, rows, 4), 1);
    int64_t id = rows[0]->log_id;
    assert_int_equal(rows[0]->scheduled_ms, CORE_NOW_MS + 10000);
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
    assert_int_equal(c->store->ops->txn->totals_get(c->store, &totals, &open, &why), OK);
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
    assert_int_equal(total(c, TOTAL_SENT),
                     total(c, TOTAL_FINISHED) + total(c, TOTAL_LOST) - total(c, TOTAL_FOUND));
}

/* Two shards of a FIX_DELAY job come back in one request, one with a failure: the next firing waits
 * for that shard's retry, which is no row yet when the other one ends. */
static void the_next_delay_waits_for_a_retry_of_the_same_callback(void **state)
{
    struct core *c = *state;
    struct run_row *rows[8];
    core_register(c, "app", "http://10.0.0.1:9999/");
    core_register(c, "app", "http://10.0.0.2:9999/");
    struct job_record r = core_record("FIX_DELAY", "2");
    core_text(&r.route, "SHARDING_BROADCAST");
    r.retries = 1;
    r.retry_delay_ms = 15000;
    int64_t job = core_job(c, &r);
    job_record_done(&r);
    c->executor = core_accepts;
    core_run(c, 3000);
    assert_int_equal(core_rows(c, job, rows, 8), 2);
    int64_t first = rows[0]->log_id, second = rows[1]->log_id;
    sched_result(c->s, c->now, first, 500, slice_text("failed"));
    sched_result(c->s, c->now, second, 200, slice_text(""));
    core_run(c, 10000);
    assert_int_equal(core_rows(c, job, rows, 8), 1);
    assert_int_equal(rows[0]->kind, KIND_RETRY);
    int64_t retry = rows[0]->log_id;
    core_run(c, 9000);
    core_result(c, retry, 200);
    int64_t end_ms = c->now.wall_ms;
    core_run(c, 1500);
    assert_int_equal(core_rows(c, job, rows, 8), 2);
    assert_in_range(rows[0]->scheduled_ms, end_ms + 1900, end_ms + 2100);
}

/* ---- result x phase x retry -------------------------------------------------------------------
 */

/* What a result comes upon. Of a LOST run: where its retry is. */
enum upon {
    PLANNED,
    SENT,
    UNKNOWN,
    ACCEPTED,
    LOST_ALONE,
    RETRY_GATHERS,
    RETRY_IS_WRITTEN,
    RETRY_PLANNED,
    RETRY_SENT,
    RETRY_ENDED
};

struct result_row {
    enum upon upon;
    int retries;
    int code;
    int handle_code; /* of the run's log row, then */
    int open;        /* rows of the job: the run, or its retry */
    int lost, late;  /* what stays lost; the total */
    int ignored;
};

static const struct result_row results[] = {
    /* not sent: an unknown id */
    { PLANNED, 1, 200, 0, 1, 0, 0, 1 },
    { PLANNED, 1, 500, 0, 1, 0, 0, 1 },
    { PLANNED, 1, 502, 0, 1, 0, 0, 1 },
    { PLANNED, 1, 0, 0, 1, 0, 0, 1 },
    /* each open phase ends */
    { SENT, 1, 200, 200, 0, 0, 0, 0 },
    { SENT, 1, 500, 500, 1, 0, 0, 0 },
    { SENT, 0, 500, 500, 0, 0, 0, 0 },
    { SENT, 1, 502, 502, 1, 0, 0, 0 },
    { SENT, 1, 0, 0, 1, 0, 0, 1 },
    { UNKNOWN, 1, 200, 200, 0, 0, 0, 0 },
    { UNKNOWN, 1, 500, 500, 1, 0, 0, 0 },
    { UNKNOWN, 0, 500, 500, 0, 0, 0, 0 },
    { UNKNOWN, 1, 502, 502, 1, 0, 0, 0 },
    { UNKNOWN, 1, 0, 0, 1, 0, 0, 1 },
    { ACCEPTED, 1, 200, 200, 0, 0, 0, 0 },
    { ACCEPTED, 1, 500, 500, 1, 0, 0, 0 },
    { ACCEPTED, 0, 500, 500, 0, 0, 0, 0 },
    { ACCEPTED, 1, 502, 502, 1, 0, 0, 0 },
    { ACCEPTED, 1, 0, 0, 1, 0, 0, 1 },
    /* a loss is taken back */
    { LOST_ALONE, 0, 200, 200, 0, 0, 0, 0 },
    { LOST_ALONE, 0, 500, 500, 0, 0, 0, 0 },
    { LOST_ALONE, 0, 502, 502, 0, 0, 0, 0 },
    { LOST_ALONE, 0, 0, 500, 1, 1, 0, 1 },
    /* after a success its retry goes, after a failure it stays */
    { RETRY_GATHERS, 1, 200, 200, 0, 0, 0, 0 },
    { RETRY_GATHERS, 1, 500, 500, 1, 0, 0, 0 },
    { RETRY_GATHERS, 1, 502, 502, 1, 0, 0, 0 },
    { RETRY_GATHERS, 1, 0, 500, 2, 1, 0, 1 },
    { RETRY_IS_WRITTEN, 1, 200, 200, 0, 0, 0, 0 },
    { RETRY_IS_WRITTEN, 1, 500, 500, 1, 0, 0, 0 },
    { RETRY_IS_WRITTEN, 1, 502, 502, 1, 0, 0, 0 },
    { RETRY_IS_WRITTEN, 1, 0, 500, 2, 1, 0, 1 },
    { RETRY_PLANNED, 1, 200, 200, 0, 0, 0, 0 },
    { RETRY_PLANNED, 1, 500, 500, 1, 0, 0, 0 },
    { RETRY_PLANNED, 1, 502, 502, 1, 0, 0, 0 },
    { RETRY_PLANNED, 1, 0, 500, 2, 1, 0, 1 },
    /* too late: it is noted, and counted */
    { RETRY_SENT, 1, 200, 500, 1, 1, 1, 0 },
    { RETRY_SENT, 1, 500, 500, 1, 1, 1, 0 },
    { RETRY_SENT, 1, 502, 500, 1, 1, 1, 0 },
    { RETRY_SENT, 1, 0, 500, 1, 1, 0, 1 },
    { RETRY_ENDED, 1, 200, 500, 0, 1, 1, 0 },
    { RETRY_ENDED, 1, 500, 500, 0, 1, 1, 0 },
};

/* Two rounds of asks find the executor idle, without a log of a run that it had accepted. */
static void lose(struct core *c, int64_t id)
{
    for (int round = 0; round < 2; round++) {
        struct core_call *idle;
        while (!(idle = core_call_of(c, CALL_IDLE, id)))
            core_run(c, 100);
        core_answer(c, idle, 200, LOG_NONE);
        core_answer(c, core_call_of(c, CALL_LOG, id), 200, LOG_NONE);
    }
}

static int64_t bring_to(struct core *c, int64_t job, enum upon upon)
{
    struct run_row *rows[4];
    if (upon == PLANNED) {
        core_run(c, 6000);
        assert_int_equal(core_rows(c, job, rows, 4), 1);
        return rows[0]->log_id;
    }
    int64_t id = core_trigger(c, job, NULL);
    core_run(c, 100);
    struct core_call *run = core_call_of(c, CALL_RUN, id);
    if (upon == UNKNOWN)
        core_fails(c, run, CALL_IN_DOUBT);
    if (upon >= ACCEPTED)
        core_answer(c, run, 200, LOG_NONE);
    if (upon >= LOST_ALONE)
        lose(c, id);
    if (upon == RETRY_IS_WRITTEN) {
        core_take_next(c);
        core_write(c);
    } else if (upon != RETRY_GATHERS) {
        core_settle(c);
    }
    if (upon < RETRY_SENT)
        return id;
    core_run(c, 7000);
    assert_int_equal(core_rows(c, job, rows, 4), 1); /* the lost one is closed */
    int64_t retry = rows[0]->log_id;
    assert_non_null(core_call_of(c, CALL_RUN, retry));
    if (upon == RETRY_ENDED) {
        core_answer(c, core_call_of(c, CALL_RUN, retry), 200, LOG_NONE);
        core_result(c, retry, 200);
    }
    return id;
}

static void one_result(const struct result_row *row)
{
    struct core *c = core_new();
    struct sched_stats st;
    struct run_row *rows[4];
    core_register(c, "app", "http://10.0.0.1:9999/");
    struct job_record r = core_record(row->upon == PLANNED ? "CRON" : "NONE",
                                      row->upon == PLANNED ? "0/10 * * * * ?" : "");
    r.retries = row->retries;
    int64_t job = core_job(c, &r);
    job_record_done(&r);
    int64_t id = bring_to(c, job, row->upon);
    sched_result(c->s, c->now, id, row->code, slice_text("its words"));
    if (c->batch)
        core_done(c);
    core_settle(c);
    struct log_record l;
    assert_true(core_log(c, id, &l));
    assert_int_equal(l.handle_code, row->handle_code);
    assert_int_equal(l.handle_msg && strstr(l.handle_msg, "its words"), row->code && !row->ignored);
    log_record_done(&l);
    assert_int_equal(core_rows(c, job, rows, 4), row->open);
    assert_int_equal(total(c, TOTAL_LOST), row->upon >= LOST_ALONE); /* a counter never falls */
    assert_int_equal(total(c, TOTAL_LOST) - total(c, TOTAL_FOUND), row->lost);
    assert_int_equal(total(c, TOTAL_LATE), row->late);
    sched_stats(c->s, &st);
    assert_int_equal(st.ignored_results, row->ignored);
    assert_int_equal(core_unaccounted(c), 0);
    core_free(c);
}

static void what_a_result_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(results); i++) {
        print_message("           row %d: %d upon %d\n", (int)i, results[i].code, results[i].upon);
        one_result(&results[i]);
    }
}

/* ---- FIX_DELAY --------------------------------------------------------------------------------
 */

/* A FIX_DELAY job of 20 s whose firing is lost, its next scheduled time set; the log id. */
static int64_t lose_one(struct core *c, int64_t *ret_job)
{
    struct run_row *rows[4];
    core_register(c, "app", "http://10.0.0.1:9999/");
    *ret_job = core_simple_job(c, "FIX_DELAY", "20");
    core_run(c, 21000);
    assert_int_equal(core_rows(c, *ret_job, rows, 4), 1);
    int64_t lost = rows[0]->log_id;
    core_answer(c, core_call_of(c, CALL_RUN, lost), 200, LOG_NONE);
    c->executor = forgets; /* idle, and no log: it is lost */
    while (core_row(c, lost)->phase != PHASE_LOST)
        core_run(c, 100);
    return lost;
}

/* A LOST firing succeeds late, while the next one is being planned: that one's end sets the
 * scheduled time after it, and no other end. */
static void a_late_success_does_not_start_a_second_chain(void **state)
{
    struct core *c = *state;
    struct run_row *rows[4];
    int64_t job, lost = lose_one(c, &job);
    for (bool planned = false; !planned;) {
        core_take_next(c);
        core_write(c);
        for (int i = 0; i < c->batch->nplanned; i++)
            planned |= c->batch->planned[i].row.job_id == job;
        if (planned)
            sched_result(c->s, c->now, lost, 200, slice_text(""));
        core_done(c);
    }
    core_run(c, 100);
    assert_null(core_row(c, lost));
    assert_int_equal(core_rows(c, job, rows, 4), 1);
    struct job_record r = core_job_row(c, job);
    assert_int_equal(r.next_ms, NEVER_MS);
    job_record_done(&r);
}

/* Two ends that are written together, each the last one when it came. */
static void a_delay_counts_from_the_last_of_several_ends(void **state)
{
    struct core *c = *state;
    struct run_row *rows[4];
    int64_t job, lost = lose_one(c, &job);
    core_run(c, 21000);
    assert_int_equal(core_rows(c, job, rows, 4), 2);
    core_settle(c);
    sched_result(c->s, c->now, rows[1]->log_id, 200, slice_text(""));
    c->now.wall_ms += 300;
    c->now.boot_ms += 300;
    sched_result(c->s, c->now, lost, 200, slice_text(""));
    int64_t end_ms = c->now.wall_ms;
    core_settle(c);
    struct job_record r = core_job_row(c, job);
    assert_int_equal(r.next_ms, end_ms + 20000);
    job_record_done(&r);
}

/* ---- the time by which log and executor know a run --------------------------------------------
 */

static int64_t trigger_time(struct core *c, int64_t id)
{
    struct log_record l;
    assert_true(core_log(c, id, &l));
    int64_t ms = l.trigger_ms;
    log_record_done(&l);
    return ms;
}

/* A retry has its own, the second in which it is due; one that a release before has planned keeps
 * the first attempt's. In either case /run and /log say what the log row says. */
static void a_retry_has_its_own_log_time(void **state)
{
    struct core *c = *state;
    core_register(c, "app", "http://10.0.0.1:9999/");
    struct job_record r = core_record("NONE", "");
    r.retries = 2;
    r.retry_delay_ms = 5700;
    int64_t job = core_job(c, &r);
    job_record_done(&r);
    for (int old = 0; old < 2; old++) {
        struct run_row *rows[2];
        core_run(c, 250);
        int64_t id = core_trigger(c, job, NULL), first_ms = c->now.wall_ms;
        core_run(c, 100);
        core_answer(c, core_call_of(c, CALL_RUN, id), 200, LOG_NONE);
        core_result(c, id, 500);
        assert_int_equal(core_rows(c, job, rows, 2), 1);
        int64_t retry = rows[0]->log_id, want_ms = rows[0]->due_ms / 1000 * 1000;
        assert_int_equal(trigger_time(c, retry), want_ms);
        assert_int_equal(trigger_time(c, id), first_ms / 1000 * 1000);
        if (old) {
            want_ms = first_ms / 1000 * 1000;
            struct log_record *l = mem_find(memory_of(c->store), T_LOG, retry);
            l->trigger_ms = want_ms;
            core_crash(c);
            core_start(c);
            core_register(c, "app", "http://10.0.0.1:9999/");
        }
        core_run(c, 8000);
        struct core_call *run = core_call_of(c, CALL_RUN, retry);
        assert_int_equal(run->log_time_ms, want_ms);
        core_fails(c, run, CALL_IN_DOUBT);
        core_run(c, 4000);
        core_answer(c, core_call_of(c, CALL_IDLE, retry), 200, LOG_NONE);
        assert_int_equal(core_call_of(c, CALL_LOG, retry)->log_time_ms, want_ms);
        core_result(c, retry, 200);
    }
}

/* The result came first; then the answer says that the executor refused, a second copy perhaps. */
static void an_answer_after_the_result_changes_nothing(void **state)
{
    struct core *c = *state;
    core_register(c, "app", "http://10.0.0.1:9999/");
    int64_t job = core_simple_job(c, "NONE", "");
    for (int written = 0; written < 2; written++) {
        int64_t id = core_trigger(c, job, NULL);
        core_run(c, 100);
        sched_result(c->s, c->now, id, 200, slice_text(""));
        if (written)
            core_run(c, 2000);
        core_answer(c, core_call_of(c, CALL_RUN, id), 500, LOG_NONE);
        core_run(c, 2000);
        struct log_record l;
        assert_true(core_log(c, id, &l));
        assert_int_equal(l.trigger_code, 200);
        assert_int_equal(l.handle_code, 200);
        log_record_done(&l);
    }
}

/* The live row is removed behind the center's back: the result is noted in the log row. */
static void a_result_of_a_run_without_a_live_row_is_noted(void **state)
{
    struct core *c = *state;
    core_register(c, "app", "http://10.0.0.1:9999/");
    int64_t job = core_simple_job(c, "NONE", "");
    c->executor = core_accepts;
    int64_t id = core_trigger(c, job, NULL);
    core_run(c, 2000);
    assert_int_equal(core_row(c, id)->phase, PHASE_ACCEPTED);
    struct why why = { "" };
    struct run_change gone = { .log_id = id, .what = CHANGE_CLOSE };
    int64_t missed;
    assert_int_equal(c->store->ops->txn->begin(c->store, &why), OK);
    assert_int_equal(c->store->ops->runs->runs_change(c->store, &gone, 1, &missed, &why), OK);
    assert_int_equal(c->store->ops->txn->commit(c->store, NULL, &why), OK);
    sched_result(c->s, c->now, id, 500, slice_text("the disk was full"));
    core_take_next(c);
    txn_run(c->store, c->planner, NULL, c->batch, NULL);
    assert_int_equal(c->batch->err, OK);
    assert_int_equal(c->batch->written.n[TOTAL_LATE], 1);
    c->written = true;
    core_done(c);
    struct log_record l;
    assert_true(core_log(c, id, &l));
    assert_int_equal(l.handle_code, 500);
    assert_non_null(strstr(l.handle_msg, "the disk was full"));
    log_record_done(&l);
}

static struct claim *claim_of(bool others, int64_t group)
{
    int64_t *ids = mem_new(sizeof(*ids));
    *ids = group;
    return claim_new(others, ids, 1);
}

/* A run of group 1 that was given up, and that the core does not know any more; its log id. */
static int64_t given_up(struct core *c, int64_t job)
{
    struct run_row *rows[4];
    struct why why = { "" };
    int64_t missed;
    core_trigger(c, job, NULL);
    assert_int_equal(core_rows(c, job, rows, 4), 1);
    struct run_row gone = *rows[0];
    gone.scheduled_ms -= 5000;
    const struct store_ops *ops = c->store->ops;
    assert_int_equal(ops->txn->begin(c->store, &why), OK);
    assert_int_equal(ops->runs->runs_add(c->store, &gone, 1, &why), OK);
    struct run_change end = { .log_id = gone.log_id,
                              .what = CHANGE_FINISH | CHANGE_CLOSE,
                              .handle_code = 500,
                              .handle_msg = (char *)"lost: no answer" };
    assert_int_equal(ops->runs->runs_change(c->store, &end, 1, &missed, &why), OK);
    assert_int_equal(ops->txn->commit(c->store, NULL, &why), OK);
    return gone.log_id;
}

/* Told with another group's token: the row is left as it is, and the sender can be told. */
static void a_late_result_counts_only_for_groups_of_its_sender(void **state)
{
    struct core *c = *state;
    core_register(c, "app", "http://10.0.0.1:9999/");
    int64_t lost = given_up(c, core_simple_job(c, "NONE", "")), group;
    assert_false(sched_result_group(c->s, lost, &group));
    struct claim *wrong[] = { claim_of(false, 2), claim_of(true, 1) }, *right = claim_of(false, 1);
    for (size_t i = 0; i < countof(wrong); i++)
        sched_result_claimed(c->s, c->now, lost, 200, slice_text("not theirs"), wrong[i]);
    sched_result_claimed(c->s, c->now, lost, 200, slice_text("theirs"), right);
    sched_result_claimed(c->s, c->now, 424242, 200, slice_text("of no run"), wrong[0]);
    core_take_next(c);
    core_write(c);
    int refused = 0;
    for (int i = 0; i < c->batch->nlate; i++)
        refused += c->batch->late[i].refused;
    assert_int_equal(refused, 2);
    core_done(c);
    struct log_record l;
    assert_true(core_log(c, lost, &l));
    assert_non_null(strstr(l.handle_msg, "theirs"));
    assert_null(strstr(l.handle_msg, "not theirs"));
    log_record_done(&l);
    for (size_t i = 0; i < countof(wrong); i++) {
        assert_int_equal(wrong[i]->refs, 1);
        claim_unref(wrong[i]);
    }
    claim_unref(right);
}

static void a_result_of_a_live_run_counts_only_for_groups_of_its_sender(void **state)
{
    struct core *c = *state;
    core_register(c, "app", "http://10.0.0.1:9999/");
    int64_t job = core_simple_job(c, "NONE", ""), group = 0;
    c->executor = core_accepts;
    int64_t id = core_trigger(c, job, NULL);
    core_run(c, 2000);
    assert_true(sched_result_group(c->s, id, &group));
    assert_int_equal(group, 1);
    struct claim *wrong = claim_of(false, 2), *right = claim_of(true, 2);
    sched_result_claimed(c->s, c->now, id, 500, slice_text("not theirs"), wrong);
    core_settle(c);
    assert_int_equal(core_row(c, id)->phase, PHASE_ACCEPTED);
    sched_result_claimed(c->s, c->now, id, 200, slice_text("theirs"), right);
    core_settle(c);
    assert_null(core_row(c, id));
    claim_unref(wrong);
    claim_unref(right);
}

/* An executor answers the kill and reports the end on two connections. */
static void the_end_of_a_killed_run_may_come_before_the_answer_to_the_kill(void **state)
{
    struct core *c = *state;
    static const struct {
        int code;
        const char *says;
    } ends[] = { { 500, "killed by a user: stopped" }, { 200, "stopped" }, { 502, "stopped" } };
    core_register(c, "app", "http://10.0.0.1:9999/");
    for (size_t i = 0; i < countof(ends); i++) {
        c->executor = core_accepts;
        int64_t id = core_trigger(c, core_simple_job(c, "NONE", ""), NULL);
        core_run(c, 2000);
        c->executor = NULL;
        sched_kill(c->s, c->now, id, c);
        core_settle(c);
        sched_result(c->s, c->now, id, ends[i].code, slice_text("stopped"));
        core_settle(c);
        core_answer(c, core_call_of(c, CALL_KILL, id), 200, LOG_NONE);
        core_settle(c);
        struct log_record l;
        assert_null(core_row(c, id));
        assert_true(core_log(c, id, &l));
        assert_string_equal(l.handle_msg, ends[i].says);
        assert_int_equal(l.handle_code, ends[i].code);
        log_record_done(&l);
    }
}

/* While no batch can be written, results for unknown ids gather: their text is bounded. One without
 * room is refused, so that it is not acknowledged; one that was acknowledged has room.
 */
static void late_results_are_bounded_by_their_text(void **state)
{
    struct core *c = *state;
    size_t n = 1 << 20;
    char *text = mem_new(n + 1);
    memset(text, 'x', n);
    struct sched_stats st;
    for (int i = 0; i < 64; i++)
        assert_true(sched_result(c->s, c->now, 1000 + i, 500, slice_of(text, n)));
    assert_false(sched_result(c->s, c->now, 2000, 500, slice_of(text, n)));
    sched_result_again(c->s, c->now, 2001, 500, slice_of(text, n));
    sched_stats(c->s, &st);
    assert_int_equal(st.refused_results, 1);
    assert_int_equal(st.ignored_results, 0);
    free(text);
    core_settle(c);
    assert_true(sched_result(c->s, c->now, 3000, 500, slice_text("again there is room")));
    sched_stats(c->s, &st);
    assert_int_equal(st.refused_results, 1);
}

/* ---- results of a database that was replaced ------------------------------------------------- */

#define OLDER 61000

static int64_t sent_run(struct core *c, int64_t job, int64_t *ret_date_ms)
{
    int64_t id = core_trigger(c, job, NULL);
    core_run(c, 1000);
    for (int i = 0; i < c->nsent; i++)
        if (c->sent[i].log_id == id)
            *ret_date_ms = c->sent[i].log_time_ms;
    assert_true(*ret_date_ms > 0);
    return id;
}

static void an_old_result_is_known_by_its_date_where_dates_come_back(void **state)
{
    struct core *c = *state;
    core_register(c, "app", "http://10.0.0.1:9999/");
    c->executor = core_accepts;
    int64_t job = core_simple_job(c, "NONE", ""), date_ms = 0;
    int64_t first = sent_run(c, job, &date_ms);
    assert_false(sched_result_foreign(c->s, first, date_ms - OLDER)); /* nothing is known yet */
    assert_false(sched_result_foreign(c->s, first, date_ms));
    core_result(c, first, 200);
    int64_t id = sent_run(c, job, &date_ms);
    const struct {
        int64_t id, date_ms;
        bool foreign;
    } rows[] = {
        { id, date_ms - OLDER, true },
        { id, date_ms - OLDER + 1000, false },
        { id, date_ms - OLDER - 1, false },
        { id, 0, false },
        { id, -1000, false },
        { id, date_ms, false },
        { id + 7, date_ms - OLDER, false },
        { id, 1000, true },
        { id, date_ms + 5000, false },
        { id, date_ms - OLDER, false }, /* its own times */
    };
    for (size_t i = 0; i < countof(rows); i++)
        assert_int_equal(sched_result_foreign(c->s, rows[i].id, rows[i].date_ms), rows[i].foreign);
    assert_int_equal(core_row(c, id)->phase, PHASE_ACCEPTED);
}

/* Time of the callback in whole seconds: may be just the run's date, and then later ones. */
static void an_executor_with_dates_of_its_own_is_believed(void **state)
{
    struct core *c = *state;
    core_register(c, "app", "http://10.0.0.1:9999/");
    c->executor = core_accepts;
    int64_t job = core_simple_job(c, "NONE", ""), date_ms = 0;
    for (int i = 0; i < 4; i++) {
        int64_t id = sent_run(c, job, &date_ms);
        assert_false(sched_result_foreign(c->s, id, date_ms + i * 1000));
        core_result(c, id, 200);
    }
    int64_t id = sent_run(c, job, &date_ms);
    assert_false(sched_result_foreign(c->s, id, date_ms - 2 * OLDER)); /* its clock was put back */
}

/* Ends a run here or elsewhere; how many runs follow from it: retries and children. */
static int what_follows(struct core *c, int64_t job, int64_t child, int code, bool elsewhere)
{
    struct run_row *rows[4];
    int64_t id = core_trigger(c, job, NULL);
    core_run(c, 1000);
    assert_int_equal(core_row(c, id)->phase, PHASE_ACCEPTED);
    if (elsewhere)
        sched_result_elsewhere(c->s, c->now, id, code, slice_text(""));
    else
        core_result(c, id, code);
    core_run(c, 500);
    assert_null(core_row(c, id));
    struct log_record l;
    assert_true(core_log(c, id, &l));
    assert_int_equal(l.handle_code, code);
    assert_int_equal(l.alarm_status != 0, code != 200 && !elsewhere);
    log_record_done(&l);
    return core_rows(c, job, rows, 4) + core_rows(c, child, rows, 4);
}

static void what_another_program_has_ended_is_followed_up_by_it(void **state)
{
    struct core *c = *state;
    core_register(c, "app", "http://10.0.0.1:9999/");
    c->executor = core_accepts;
    char children[24];
    int64_t child = core_simple_job(c, "NONE", "");
    struct job_record r = core_record("NONE", "");
    snprintf(children, sizeof(children), "%lld", (long long)child);
    r.retries = 1;
    r.retry_delay_ms = 3600000;
    r.children = mem_dup(children);
    int64_t job = core_job(c, &r);
    job_record_done(&r);
    assert_int_equal(what_follows(c, job, child, 200, true), 0);
    assert_int_equal(what_follows(c, job, child, 500, true), 0);
    assert_int_equal(what_follows(c, job, child, 200, false), 1);
    assert_int_equal(what_follows(c, job, child, 500, false), 2);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, core_setup, core_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_result_does),
        T(a_firing_goes_through_its_life),
        T(a_center_that_starts_again_asks_and_plans),
        T(the_next_delay_waits_for_a_retry_of_the_same_callback),
        T(a_late_success_does_not_start_a_second_chain),
        T(a_delay_counts_from_the_last_of_several_ends),
        T(a_retry_has_its_own_log_time),
        T(an_answer_after_the_result_changes_nothing),
        T(a_result_of_a_run_without_a_live_row_is_noted),
        T(a_late_result_counts_only_for_groups_of_its_sender),
        T(the_end_of_a_killed_run_may_come_before_the_answer_to_the_kill),
        T(a_result_of_a_live_run_counts_only_for_groups_of_its_sender),
        T(late_results_are_bounded_by_their_text),
        T(what_left_is_counted_once_whatever_is_killed),
        T(an_old_result_is_known_by_its_date_where_dates_come_back),
        T(an_executor_with_dates_of_its_own_is_believed),
        T(what_another_program_has_ended_is_followed_up_by_it),
    };
    return cmocka_run_group_tests_name("sched.complete", tests, NULL, NULL);
}
