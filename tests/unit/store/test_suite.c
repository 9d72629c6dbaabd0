/* SPDX-License-Identifier: Apache-2.0 */
/* What store.h promises, case by case, against every engine. */
#include "support_store.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- planning -------------------------------------------------------------------------------- */

static int64_t add_job(struct store *s, const char *name, int64_t next_ms)
{
    struct job_record r = sample_job(name, next_ms);
    OP(s, job_insert, &r);
    return r.id;
}

static void due_jobs_come_earliest_first_and_by_id(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, begin);
    int64_t late = add_job(s, "late", 3000), first = add_job(s, "first", 1000);
    int64_t tie_a = add_job(s, "a", 2000), tie_b = add_job(s, "b", 2000);
    add_job(s, "unset", NEVER_MS);
    struct due_row rows[8];
    int n;
    int64_t next_ms;
    OP(s, due_take, 2500, 8, rows, &n, &next_ms);
    assert_int_equal(n, 3);
    assert_int_equal(rows[0].job_id, first);
    assert_int_equal(rows[1].job_id, tie_a);
    assert_int_equal(rows[2].job_id, tie_b);
    assert_int_equal(next_ms, 3000);
    OP(s, due_take, 5000, 2, rows, &n, &next_ms);
    assert_int_equal(n, 2);
    assert_int_equal(next_ms, 2000);
    OP(s, due_take, 5000, 8, rows, &n, &next_ms);
    assert_int_equal(n, 4);
    assert_int_equal(rows[3].job_id, late);
    assert_true(next_ms == NEVER_MS);
    OP(s, due_take, 999, 8, rows, &n, &next_ms);
    assert_int_equal(n, 0);
    assert_int_equal(next_ms, 1000);
    OP(s, commit);
}

static void advancing_writes_the_moments_and_not_the_version(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, begin);
    struct job_record r = sample_job("j", 1000);
    r.version = 7;
    OP(s, job_insert, &r);
    struct due_row rows[] = { { r.id, 2000, 1000, 1500, 99 }, { 424242, 1, 1, 1, 1 } };
    OP(s, due_put, rows, 2);
    OP(s, commit);
    struct job_record got;
    OP(s, job_get, r.id, &got);
    assert_int_equal(got.next_ms, 2000);
    assert_int_equal(got.last_ms, 1000);
    assert_int_equal(got.planned_until_ms, 1500);
    assert_int_equal(got.version, 7);
    job_record_done(&got);
    OP(s, begin);
    rows[0].next_ms = NEVER_MS;
    OP(s, due_put, rows, 1);
    int n;
    int64_t next_ms;
    OP(s, due_take, NEVER_MS - 1, 2, rows, &n, &next_ms);
    assert_int_equal(n, 0);
    assert_true(next_ms == NEVER_MS);
    OP(s, commit);
}

static void sweeps_find_jobs_by_type_in_order_of_id(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    static const char *const types[] = { "CRON", "FIX_RATE", "FIX_DELAY", "ONCE", "FIX_RATE" };
    static const int64_t nexts[] = { 9000, 9000, 8000, 9000, 5000 };
    int64_t ids[5];
    OP(s, begin);
    for (int i = 0; i < 5; i++) {
        struct job_record r = sample_job("j", nexts[i]);
        r.schedule_type = (char *)types[i];
        OP(s, job_insert, &r);
        ids[i] = r.id;
    }
    struct due_row rows[5];
    int n;
    OP(s, due_each, true, 0, 5, rows, &n);
    assert_int_equal(n, 3);
    assert_int_equal(rows[0].job_id, ids[1]);
    assert_int_equal(rows[1].job_id, ids[2]);
    assert_int_equal(rows[2].job_id, ids[4]);
    OP(s, due_each, true, ids[1], 1, rows, &n);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].job_id, ids[2]);
    OP(s, due_each, false, 0, 5, rows, &n);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].job_id, ids[0]);
    OP(s, commit);
}

static void a_job_comes_back_as_it_was_written(void **state)
{
    struct engine *e = *state;
    struct job_record r = sample_job("nightly \"x\"; DROP TABLE", 1234);
    r.alarm_email = "a@b";
    r.glue_source = "echo 1\n";
    r.glue_remark = "first";
    r.glue_updated_ms = 5;
    r.children = "1,2";
    r.zone = "Europe/Berlin";
    r.on_doubt = "resend";
    r.misfire_max = 3;
    r.retry_delay_ms = 10;
    r.retry_backoff = 1.5;
    r.start_deadline_ms = 77;
    r.timeout_s = 9;
    r.retries = 4;
    r.last_ms = 1;
    r.planned_until_ms = 2;
    r.version = 3;
    OP(e->s, begin);
    OP(e->s, job_insert, &r);
    r.author = NULL;
    r.version = 4;
    OP(e->s, job_update, &r);
    OP(e->s, commit);
    engine_reopen(e);
    struct job_record got;
    OP(e->s, job_get, r.id, &got);
    assert_string_equal(got.description, r.description);
    assert_null(got.author);
    assert_string_equal(got.param, r.param);
    assert_string_equal(got.zone, r.zone);
    assert_string_equal(got.on_doubt, "resend");
    assert_string_equal(got.children, "1,2");
    assert_string_equal(got.glue_source, "echo 1\n");
    assert_true(got.retry_backoff == 1.5);
    assert_int_equal(got.version, 4);
    assert_int_equal(got.misfire_max, 3);
    assert_int_equal(got.start_deadline_ms, 77);
    assert_true(got.enabled);
    job_record_done(&got);
    struct why reason = { "" };
    assert_int_equal(e->s->ops->job_get(e->s, 555, &got, &reason), ERR_NOTFOUND);
    assert_non_null(strstr(reason.text, "555"));
}

static void a_stopped_job_is_not_due_and_says_why(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, begin);
    int64_t id = add_job(s, "j", 1000);
    OP(s, job_stop, id, "no next moment", 4321);
    OP_FAILS(ERR_NOTFOUND, s, job_stop, 999, "x", 1);
    OP(s, commit); /* a row that is not there does not spoil the transaction */
    struct job_record r;
    OP(s, job_get, id, &r);
    assert_false(r.enabled);
    assert_true(r.next_ms == NEVER_MS);
    assert_string_equal(r.stop_reason, "no next moment");
    assert_int_equal(r.updated_ms, 4321);
    job_record_done(&r);
}

/* ---- the ledger ------------------------------------------------------------------------------ */

static void a_live_run_exists_once(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct run_row rows[8];
    for (int i = 0; i < 8; i++)
        rows[i] = sample_run(5, 1000);
    rows[2].moment_ms = 1001; /* each differs from the first in one part of the key */
    rows[3].job_id = 6;
    rows[4].kind = KIND_MISFIRE;
    rows[5].shard = 1;
    rows[6].attempt = 1;
    rows[7].cause = 9;
    OP(s, begin);
    OP(s, runs_add, rows, 8);
    assert_true(rows[0].log_id > 0);
    assert_int_equal(rows[1].log_id, -1);
    for (int i = 2; i < 8; i++)
        assert_int_equal(rows[i].log_id, rows[0].log_id + i - 1);
    OP(s, commit);
    struct run_row again = sample_run(5, 1000);
    OP(s, begin);
    OP(s, runs_add, &again, 1);
    assert_int_equal(again.log_id, -1);
    struct run_change c = { .log_id = rows[0].log_id, .what = CHANGE_CLOSE };
    OP(s, runs_change, &c, 1);
    OP(s, runs_add, &again, 1); /* planned_until guards the moment from here on */
    assert_true(again.log_id > rows[7].log_id);
    OP(s, commit);
}

static void log_ids_grow_over_rollback_and_reopen(void **state)
{
    struct engine *e = *state;
    int64_t last = 0;
    for (int round = 0; round < 5; round++) {
        struct run_row r = sample_run(1, 1000 + round);
        OP(e->s, begin);
        OP(e->s, runs_add, &r, 1);
        assert_true(r.log_id > last);
        last = r.log_id;
        struct run_change drop = { .log_id = r.log_id, .what = CHANGE_DROP };
        OP(e->s, runs_change, &drop, 1); /* an id is gone for good, even if its rows go */
        OP(e->s, commit);
        struct run_row lost = sample_run(1, 5000);
        OP(e->s, begin);
        OP(e->s, runs_add, &lost, 1);
        assert_true(lost.log_id > last);
        e->s->ops->rollback(e->s);
        engine_reopen(e);
    }
}

struct runs {
    int n;
    struct run_row row[16];
};

static bool keep_run(void *ctx, const struct run_row *r)
{
    struct runs *runs = ctx;
    struct run_row *to = &runs->row[runs->n++];
    *to = *r;
    to->address = mem_dup(r->address);
    to->handler = mem_dup(r->handler);
    to->param = mem_dup(r->param);
    to->choices = mem_dup(r->choices);
    return runs->n < 16;
}

static void runs_done(struct runs *runs)
{
    for (int i = 0; i < runs->n; i++)
        run_row_done(&runs->row[i]);
    runs->n = 0;
}

static void live_runs_come_back_whole(void **state)
{
    struct engine *e = *state;
    struct run_row rows[2] = { sample_run(1, 1999), sample_run(2, 3000) };
    rows[0].broadcast = true;
    rows[0].shard = 2;
    rows[0].shard_total = 3;
    rows[0].choices = "http://a,http://b";
    rows[1].address = NULL;
    rows[1].param = NULL;
    rows[1].kind = KIND_RETRY;
    rows[1].attempt = 2;
    rows[1].cause = 77;
    rows[1].due_ms = 9000;
    rows[1].doubted = true;
    OP(e->s, begin);
    OP(e->s, runs_add, rows, 2);
    OP(e->s, commit);
    engine_reopen(e);
    struct runs got = { 0 };
    OP(e->s, runs_each, keep_run, &got);
    assert_int_equal(got.n, 2);
    assert_int_equal(got.row[0].log_id, rows[0].log_id);
    assert_int_equal(got.row[0].shard, 2);
    assert_int_equal(got.row[0].shard_total, 3);
    assert_true(got.row[0].broadcast);
    assert_string_equal(got.row[0].choices, "http://a,http://b");
    assert_string_equal(got.row[0].param, "a=1");
    assert_null(got.row[1].address);
    assert_null(got.row[1].param);
    assert_int_equal(got.row[1].kind, KIND_RETRY);
    assert_int_equal(got.row[1].attempt, 2);
    assert_int_equal(got.row[1].cause, 77);
    assert_int_equal(got.row[1].due_ms, 9000);
    assert_int_equal(got.row[1].version, 3);
    assert_int_equal(got.row[1].retries_left, 2);
    assert_true(got.row[1].doubted);
    runs_done(&got);
    struct log_record l;
    OP(e->s, log_get, rows[0].log_id, &l);
    assert_int_equal(l.trigger_ms, 1000); /* the whole second */
    assert_string_equal(l.sharding, "2/3");
    assert_int_equal(l.phase, PHASE_PLANNED);
    assert_int_equal(l.moment_ms, 1999);
    assert_int_equal(l.handle_ms, -1);
    assert_null(l.trigger_msg);
    log_record_done(&l);
}

static void a_run_goes_its_way_in_one_change_or_in_many(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct run_row r[2] = { sample_run(1, 1000), sample_run(1, 2000) };
    OP(s, begin);
    OP(s, runs_add, r, 2);
    OP(s, commit);
    struct run_change steps[] = {
        { .log_id = r[0].log_id, .what = CHANGE_ADDRESS, .address = "http://b:1/" },
        { .log_id = r[0].log_id, .what = CHANGE_PHASE, .phase = PHASE_UNKNOWN, .doubted = true },
        { .log_id = r[0].log_id,
          .what = CHANGE_PHASE | CHANGE_TRIGGER,
          .phase = PHASE_ACCEPTED,
          .doubted = true,
          .trigger_code = 200,
          .trigger_msg = "route" },
        { .log_id = r[0].log_id, .what = CHANGE_TRIGGER, .trigger_code = 200 },
        { .log_id = r[0].log_id,
          .what = CHANGE_FINISH | CHANGE_CLOSE | CHANGE_ALARM,
          .handle_code = 500,
          .handle_ms = 4000,
          .handle_msg = "boom" },
        { .log_id = r[1].log_id,
          .what = CHANGE_PHASE | CHANGE_ADDRESS | CHANGE_TRIGGER | CHANGE_FINISH | CHANGE_CLOSE,
          .phase = PHASE_SUCCEEDED,
          .address = "http://c:1/",
          .trigger_code = 200,
          .handle_code = 200,
          .handle_ms = 4001 },
    };
    OP(s, begin);
    OP(s, runs_change, steps, 6);
    OP(s, commit);
    struct log_record l;
    OP(s, log_get, r[0].log_id, &l);
    assert_string_equal(l.address, "http://b:1/");
    assert_int_equal(l.trigger_code, 200);
    assert_string_equal(l.trigger_msg, "route"); /* NULL left it */
    assert_int_equal(l.handle_code, 500);
    assert_int_equal(l.handle_ms, 4000);
    assert_string_equal(l.handle_msg, "boom");
    assert_int_equal(l.alarm_status, -1);
    assert_int_equal(l.phase, 0);
    log_record_done(&l);
    OP(s, log_get, r[1].log_id, &l);
    assert_string_equal(l.address, "http://c:1/");
    assert_int_equal(l.handle_code, 200);
    assert_null(l.handle_msg);
    assert_int_equal(l.alarm_status, 0);
    log_record_done(&l);
    struct run_change closed = {
        .log_id = r[1].log_id, .what = CHANGE_FINISH, .handle_code = 500, .handle_ms = 1
    };
    OP(s, begin);
    OP(s, runs_change, &closed, 1); /* not live any more: nothing happens */
    OP(s, commit);
    OP(s, log_get, r[1].log_id, &l);
    assert_int_equal(l.handle_code, 200);
    log_record_done(&l);
}

static void a_closed_run_still_says_why_it_was(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        struct run_row r[2] = { sample_run(1, 1000 + kind), sample_run(2, 1000 + kind) };
        r[0].kind = r[1].kind = (enum kind)kind;
        OP(s, begin);
        OP(s, runs_add, r, 2);
        struct run_change ends[] = {
            { .log_id = r[0].log_id, .what = CHANGE_TRIGGER | CHANGE_CLOSE, .trigger_code = 200 },
            { .log_id = r[1].log_id,
              .what = CHANGE_TRIGGER | CHANGE_CLOSE,
              .kind = (enum kind)kind,
              .trigger_code = 500,
              .trigger_msg = "retry: is what the executor said" },
        };
        OP(s, runs_change, ends, 2);
        OP(s, commit);
        struct log_record l;
        OP(s, log_get, r[0].log_id, &l);
        assert_int_equal(l.phase, 0);
        assert_int_equal(l.kind, kind);
        assert_null(l.trigger_msg);
        log_record_done(&l);
        OP(s, log_get, r[1].log_id, &l);
        assert_int_equal(l.kind, kind);
        assert_string_equal(l.trigger_msg, "retry: is what the executor said");
        log_record_done(&l);
    }
}

static void a_dropped_run_leaves_nothing(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct run_row r = sample_run(1, 1000);
    OP(s, begin);
    OP(s, runs_add, &r, 1);
    OP(s, commit);
    struct run_change c = { .log_id = r.log_id, .what = CHANGE_DROP };
    OP(s, begin);
    OP(s, runs_change, &c, 1);
    OP(s, commit);
    struct log_record l;
    OP_FAILS(ERR_NOTFOUND, s, log_get, r.log_id, &l);
    struct runs got = { 0 };
    OP(s, runs_each, keep_run, &got);
    assert_int_equal(got.n, 0);
}

static void a_skip_goes_on_in_the_latest_row_of_its_job(void **state)
{
    struct engine *e = *state;
    struct skip_row rows[] = {
        { 1, 1000, 2000, 2, MISFIRE_DO_NOTHING, true }, /* nothing to go on with: a new row */
        { 2, 1000, 1000, 1, MISFIRE_FIRE_ONCE, false },
        { 1, 3000, 5000, 3, MISFIRE_DO_NOTHING, true },
        { 1, 9000, 9000, 1, MISFIRE_FIRE_ALL, false },
        { 1, 9500, 9500, 1, MISFIRE_FIRE_ALL, true },
    };
    OP(e->s, begin);
    OP(e->s, skips_add, rows, 5);
    OP(e->s, commit);
    char *dump = engine_dump(e);
    assert_non_null(strstr(dump, "|1|1000|5000|5|DO_NOTHING\n"));
    assert_non_null(strstr(dump, "|2|1000|1000|1|FIRE_ONCE_NOW\n"));
    assert_non_null(strstr(dump, "|1|9000|9500|2|FIRE_ALL\n"));
    free(dump);
}

static void late_results_are_noted_where_a_run_was_given_up(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    static const char *const messages[] = { "lost: no answer",
                                            "withdrawn: stopped by ann",
                                            "skipped: DO_NOTHING",
                                            "fine",
                                            NULL,
                                            "lost: but its retry has not left" };
    struct run_row r[6];
    struct late_result late[7];
    for (int i = 0; i < 6; i++)
        r[i] = sample_run(1, 1000 * i);
    OP(s, begin);
    OP(s, runs_add, r, 6);
    for (int i = 0; i < 6; i++) {
        struct run_change c = { .log_id = r[i].log_id,
                                .what = CHANGE_FINISH | (i == 5 ? 0 : CHANGE_CLOSE),
                                .handle_code = 500,
                                .handle_ms = 9,
                                .handle_msg = (char *)messages[i] };
        OP(s, runs_change, &c, 1);
        late[i] = (struct late_result){ r[i].log_id, 1700000000123, 200, "done" };
    }
    late[6] = (struct late_result){ 999999, 1, 200, NULL };
    int noted;
    OP(s, late_add, late, 7, &noted);
    OP(s, commit);
    assert_int_equal(noted, 3);
    struct log_record l;
    OP(s, log_get, r[0].log_id, &l);
    assert_string_equal(l.handle_msg,
                        "lost: no answer\nlate result, 2023-11-14T22:13:20.123Z, code 200: done");
    log_record_done(&l);
    OP(s, log_get, r[5].log_id, &l);
    assert_string_equal(l.handle_msg, messages[5]);
    log_record_done(&l);
    char *big = mem_new(40001);
    memset(big, 'x', 40000);
    struct late_result flood = { r[0].log_id, 1, 500, big };
    OP(s, begin);
    for (int i = 0, total = 0; i < 50; i++, total += noted)
        OP(s, late_add, &flood, 1, &noted);
    OP(s, commit);
    assert_int_equal(noted, 0); /* the message is full */
    OP(s, log_get, r[0].log_id, &l);
    assert_true(strlen(l.handle_msg) < 16000);
    log_record_done(&l);
    free(big);
}

static void the_mark_never_goes_back(void **state)
{
    struct engine *e = *state;
    int64_t mark;
    bool clean;
    OP(e->s, mark_get, &mark, &clean);
    assert_int_equal(mark, 0);
    assert_false(clean);
    OP(e->s, begin);
    OP(e->s, mark_put, 5000);
    OP(e->s, mark_put, 4000);
    OP(e->s, commit);
    engine_reopen(e);
    OP(e->s, mark_get, &mark, &clean);
    assert_int_equal(mark, 5000);
    assert_false(clean);
}

static void a_clean_mark_is_clean_until_it_is_put_again(void **state)
{
    struct engine *e = *state;
    int64_t mark;
    bool clean;
    OP(e->s, begin);
    OP(e->s, mark_put, 5000);
    OP(e->s, mark_clean);
    OP(e->s, commit);
    engine_reopen(e);
    OP(e->s, mark_get, &mark, &clean);
    assert_int_equal(mark, 5000);
    assert_true(clean);
    OP(e->s, begin);
    OP(e->s, mark_put, 4000); /* goes nowhere, but somebody means to send */
    e->s->ops->rollback(e->s);
    OP(e->s, mark_get, &mark, &clean);
    assert_true(clean);
    OP(e->s, begin);
    OP(e->s, mark_put, 4000);
    OP(e->s, commit);
    OP(e->s, mark_get, &mark, &clean);
    assert_int_equal(mark, 5000);
    assert_false(clean);
}

static void named_counters_count_apart(void **state)
{
    struct engine *e = *state;
    int64_t a, b;
    OP(e->s, begin);
    OP(e->s, seq_next, "request", &a);
    OP(e->s, seq_next, "request", &a);
    OP(e->s, seq_next, "epoch", &b);
    OP(e->s, commit);
    assert_int_equal(a, 2);
    assert_int_equal(b, 1);
    engine_reopen(e);
    OP(e->s, begin);
    OP(e->s, seq_next, "request", &a);
    OP(e->s, commit);
    assert_int_equal(a, 3);
}

static void totals_add_up_and_open_counts_the_open_phases(void **state)
{
    struct engine *e = *state;
    struct run_row r[3] = { sample_run(1, 1), sample_run(1, 2), sample_run(1, 3) };
    struct totals t = { { 0 } }, got;
    t.n[TOTAL_PLANNED] = 3;
    t.n[TOTAL_LOST] = 1;
    OP(e->s, begin);
    OP(e->s, runs_add, r, 3);
    struct run_change c = { .log_id = r[1].log_id, .what = CHANGE_PHASE, .phase = PHASE_LOST };
    OP(e->s, runs_change, &c, 1);
    OP(e->s, totals_add, &t);
    t.n[TOTAL_PLANNED] = 0;
    t.n[TOTAL_LOST] = -1;
    t.n[TOTAL_FINISHED] = 1;
    OP(e->s, totals_add, &t);
    OP(e->s, commit);
    engine_reopen(e);
    int64_t open;
    OP(e->s, totals_get, &got, &open);
    assert_int_equal(open, 2);
    assert_int_equal(got.n[TOTAL_PLANNED], 3);
    assert_int_equal(got.n[TOTAL_LOST], 0);
    assert_int_equal(got.n[TOTAL_FINISHED], 1);
}

/* ---- definitions ----------------------------------------------------------------------------- */

static void a_deleted_job_goes_at_once_and_its_log_in_steps(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, begin);
    int64_t id = add_job(s, "gone", 1000), other = add_job(s, "stays", 1000);
    struct run_row r[6];
    for (int i = 0; i < 6; i++)
        r[i] = sample_run(i < 5 ? id : other, 1000 * i);
    OP(s, runs_add, r, 6);
    for (int i = 0; i < 4; i++) { /* the fifth is still running */
        struct run_change c = { .log_id = r[i].log_id, .what = CHANGE_CLOSE };
        OP(s, runs_change, &c, 1);
    }
    OP(s, job_delete, id);
    OP_FAILS(ERR_NOTFOUND, s, job_delete, id);
    OP(s, commit);
    struct job_record j;
    OP_FAILS(ERR_NOTFOUND, s, job_get, id, &j);
    struct due_row due[4];
    int n;
    int64_t next_ms, total;
    bool more;
    OP(s, begin);
    OP(s, due_take, 9999, 4, due, &n, &next_ms);
    assert_int_equal(n, 1);
    OP(s, purge, 3, &more);
    assert_true(more);
    OP(s, purge, 3, &more);
    assert_false(more);
    const struct logs_filter f = { .job_id = id, .from_ms = -1, .to_ms = -1 };
    OP(s, logs_page, &f, NULL, NULL, &total);
    assert_int_equal(total, 1);
    struct run_change c = { .log_id = r[4].log_id, .what = CHANGE_CLOSE };
    OP(s, runs_change, &c, 1);
    OP(s, purge, 3, &more);
    OP(s, logs_page, &f, NULL, NULL, &total);
    assert_int_equal(total, 0);
    OP(s, purge, 3, &more);
    assert_false(more);
    OP(s, commit);
    struct log_record l;
    OP(s, log_get, r[5].log_id, &l);
    log_record_done(&l);
    OP(s, begin);
    assert_true(add_job(s, "new", 1) > other); /* ids of jobs are not used again either */
    OP(s, commit);
}

static void groups_and_registry_keep_what_they_are_told(void **state)
{
    struct engine *e = *state;
    struct group_record g = { .app = "app-one", .title = "One", .address_list = "http://a" };
    struct group_record h = { .app = "app-two", .title = "Two", .address_type = 1 };
    OP(e->s, begin);
    OP(e->s, group_insert, &g);
    OP(e->s, group_insert, &h);
    g.address_list = NULL;
    g.updated_ms = 9;
    OP(e->s, group_update, &g);
    add_job(e->s, "j", 1);
    struct registry_record r[] = { { "EXECUTOR", "app-one", "http://a", 1 },
                                   { "EXECUTOR", "app-one", "http://b", 2 },
                                   { "EXECUTOR", "app-one", "http://a", 3 } };
    OP(e->s, registry_put, r, 3);
    OP(e->s, registry_delete, &r[1], 1);
    OP(e->s, registry_delete, &r[1], 1);
    OP(e->s, commit);
    engine_reopen(e);
    char *dump = engine_dump(e);
    assert_non_null(strstr(dump, "registry|3|EXECUTOR|app-one|http://a\n"));
    assert_null(strstr(dump, "http://b"));
    free(dump);
    struct group_record got;
    OP(e->s, group_get, g.id, &got);
    assert_null(got.address_list);
    assert_int_equal(got.updated_ms, 9);
    group_record_done(&got);
    int64_t count;
    OP(e->s, group_jobs, g.id, &count);
    assert_int_equal(count, 1);
    OP(e->s, group_jobs, h.id, &count);
    assert_int_equal(count, 0);
    OP(e->s, begin);
    OP(e->s, group_delete, h.id);
    OP_FAILS(ERR_NOTFOUND, e->s, group_delete, h.id);
    OP_FAILS(ERR_NOTFOUND, e->s, group_update, &h);
    OP(e->s, commit);
    OP_FAILS(ERR_NOTFOUND, e->s, group_get, h.id, &got);
}

static void users_have_our_hash_beside_theirs(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    int64_t n;
    OP(s, user_count, &n);
    assert_int_equal(n, 0);
    struct user_record ann = { .username = "ann", .password = "e10adc", .permission = "1,2" };
    struct user_record bob = { .username = "bob", .argon2 = "$argon2id$x", .role = 1 };
    OP(s, begin);
    OP(s, user_insert, &ann);
    OP(s, user_insert, &bob);
    OP_FAILS(ERR_EXISTS, s, user_insert, &ann);
    OP_FAILS(ERR_NOTFOUND, s, user_upgrade, 99, "x");
    OP(s, commit);
    struct user_record got;
    OP(s, user_find, "ann", &got);
    assert_string_equal(got.password, "e10adc");
    assert_null(got.argon2);
    assert_string_equal(got.permission, "1,2");
    int64_t id = got.id;
    user_record_done(&got);
    OP(s, begin);
    OP(s, user_upgrade, id, "$argon2id$y");
    OP(s, commit);
    OP(s, user_get, id, &got);
    assert_string_equal(got.password, "e10adc"); /* theirs is never rewritten */
    assert_string_equal(got.argon2, "$argon2id$y");
    user_record_done(&got);
    OP(s, user_find, "bob", &got);
    assert_string_equal(got.password, "");
    assert_string_equal(got.argon2, "$argon2id$x");
    assert_int_equal(got.role, 1);
    user_record_done(&got);
    OP_FAILS(ERR_NOTFOUND, s, user_find, "Ann", &got);
}

static void sessions_come_and_expire(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct session_record a = { "aa", 1, 10, 100, "127.0.0.1" }, b = { "bb", 2, 10, 200, "" }, got;
    OP(s, begin);
    OP(s, session_put, &a);
    OP(s, session_put, &b);
    a.expires_ms = 150;
    OP(s, session_put, &a);
    OP(s, commit);
    OP(s, session_find, "aa", &got);
    assert_int_equal(got.expires_ms, 150);
    assert_string_equal(got.address, "127.0.0.1");
    OP(s, begin);
    OP(s, sessions_expire, 150);
    OP(s, commit);
    OP_FAILS(ERR_NOTFOUND, s, session_find, "aa", &got);
    OP(s, session_find, "bb", &got);
    OP(s, begin);
    OP(s, session_delete, "bb");
    OP(s, session_delete, "bb");
    OP(s, commit);
    OP_FAILS(ERR_NOTFOUND, s, session_find, "bb", &got);
}

/* ---- pages ----------------------------------------------------------------------------------- */

struct ids {
    int n;
    int64_t id[32], next_ms[32], last_ms[32];
};

static bool job_id(void *ctx, const struct job_record *r)
{
    struct ids *ids = ctx;
    ids->next_ms[ids->n] = r->next_ms;
    ids->last_ms[ids->n] = r->last_ms;
    ids->id[ids->n++] = r->id;
    return ids->n < 32;
}

static bool log_id(void *ctx, const struct log_record *r)
{
    struct ids *ids = ctx;
    ids->id[ids->n++] = r->id;
    return ids->n < 32;
}

static bool group_id(void *ctx, const struct group_record *r)
{
    struct ids *ids = ctx;
    ids->id[ids->n++] = r->id;
    return false; /* one is enough */
}

static void jobs_are_listed_newest_first_through_filters(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    int64_t id[10];
    OP(s, begin);
    for (int i = 0; i < 10; i++) {
        char name[32];
        snprintf(name, sizeof(name), "Report %d%%", i);
        struct job_record r = sample_job(name, 1000);
        r.group_id = 1 + i % 2;
        r.enabled = i < 3;
        r.handler = i == 4 ? NULL : "theHandler";
        r.author = i == 5 ? "Zoe" : "ann";
        OP(s, job_insert, &r);
        id[i] = r.id;
    }
    OP(s, commit);
    struct ids got = { 0 };
    int64_t total;
    struct jobs_filter f = { .status = -1, .offset = 2, .limit = 3 };
    OP(s, jobs_page, &f, job_id, &got, &total);
    assert_int_equal(total, 10);
    assert_int_equal(got.n, 3);
    assert_int_equal(got.id[0], id[7]);
    assert_int_equal(got.id[2], id[5]);
    const struct {
        struct jobs_filter f;
        int total;
    } cases[] = {
        { { .group_id = 2, .status = -1 }, 5 },
        { { .status = 1 }, 3 },
        { { .status = 0 }, 7 },
        { { .status = 2 }, 0 },
        { { .status = -1, .description = "rEPORT" }, 10 },
        { { .status = -1, .description = "7%" }, 1 },
        { { .status = -1, .description = "_" }, 0 },
        { { .status = -1, .handler = "HANDLER" }, 9 },
        { { .status = -1, .author = "oe" }, 1 },
        { { .status = 0, .author = "zoe", .group_id = 1 }, 0 },
        { { .status = -1, .description = "', 'x" }, 0 },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        OP(s, jobs_page, &cases[i].f, job_id, &got, &total);
        if (total != cases[i].total)
            fail_msg("case %zu: %d rows, expected %d", i, (int)total, cases[i].total);
    }
}

static void the_next_moment_shown_is_the_one_that_will_fire(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, begin);
    int64_t a = add_job(s, "a", 9000), b = add_job(s, "b", NEVER_MS);
    struct run_row r[] = { sample_run(a, 4000), sample_run(a, 5000), sample_run(a, 6000),
                           sample_run(a, 100), sample_run(b, 7000) };
    r[3].kind = KIND_MANUAL; /* not of the schedule */
    OP(s, runs_add, r, 5);
    struct run_change sent = { .log_id = r[0].log_id, .what = CHANGE_PHASE, .phase = PHASE_SENT };
    OP(s, runs_change, &sent, 1);
    OP(s, commit);
    struct ids got = { 0 };
    int64_t total;
    const struct jobs_filter f = { .status = -1, .limit = 10 };
    OP(s, jobs_page, &f, job_id, &got, &total);
    assert_int_equal(got.id[1], a);
    assert_int_equal(got.next_ms[1], 5000);
    assert_int_equal(got.next_ms[0], 7000);
    struct job_record j;
    OP(s, job_get, a, &j);
    assert_int_equal(j.next_ms, 9000); /* planning needs its own */
    job_record_done(&j);
}

static void next_and_last_moment_shown_lie_on_either_side_of_now(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, begin);
    int64_t id = add_job(s, "a", 9000);
    struct run_row r[] = { sample_run(id, 3000), sample_run(id, 4000), sample_run(id, 5000),
                           sample_run(id, 6000), sample_run(id, 4500) };
    r[4].kind = KIND_MANUAL;
    OP(s, runs_add, r, 5);
    struct due_row due = { id, 9000, 6000, 6000, 1 };
    OP(s, due_put, &due, 1);
    struct run_change over = { .log_id = r[0].log_id,
                               .what = CHANGE_TRIGGER | CHANGE_FINISH | CHANGE_CLOSE,
                               .trigger_code = 200,
                               .handle_code = 200,
                               .handle_ms = 3100 };
    OP(s, runs_change, &over, 1);
    OP(s, commit);
    static const struct {
        int64_t now_ms, next_ms, last_ms;
    } cases[] = { { 0, 4000, 6000 },    { 2500, 4000, 0 },    { 3999, 4000, 3000 },
                  { 4000, 5000, 4000 }, { 4700, 5000, 4000 }, { 5999, 6000, 5000 },
                  { 6000, 9000, 6000 }, { 8000, 9000, 6000 } };
    for (size_t i = 0; i < countof(cases); i++) {
        struct ids got = { 0 };
        int64_t total;
        const struct jobs_filter f = { .status = -1, .limit = 10, .now_ms = cases[i].now_ms };
        OP(s, jobs_page, &f, job_id, &got, &total);
        assert_int_equal(got.next_ms[0], cases[i].next_ms);
        assert_int_equal(got.last_ms[0], cases[i].last_ms);
    }
}

static void rows_ahead_of_their_time_are_left_out(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct run_row r[4];
    OP(s, begin);
    for (int i = 0; i < 4; i++) {
        r[i] = sample_run(1 + i % 2, 1000 + i * 1000);
        r[i].due_ms = r[i].moment_ms + (i == 0 ? 10000 : 0); /* the first waits to be tried again */
    }
    OP(s, runs_add, r, 4);
    struct run_change sent = { .log_id = r[3].log_id, .what = CHANGE_PHASE, .phase = PHASE_SENT };
    OP(s, runs_change, &sent, 1);
    OP(s, commit);
    static const struct {
        int64_t job_id, now_ms;
        int count; /* of those that are shown */
    } cases[] = { { 0, 0, 4 },     { 0, 1999, 1 }, { 0, 2000, 2 }, { 0, 3000, 3 },
                  { 0, 11000, 4 }, { 1, 2999, 0 }, { 1, 3000, 1 }, { 2, 2000, 2 } };
    for (size_t i = 0; i < countof(cases); i++) {
        struct ids got = { 0 };
        int64_t total;
        const struct logs_filter f = { .job_id = cases[i].job_id,
                                       .from_ms = -1,
                                       .to_ms = -1,
                                       .limit = 10,
                                       .now_ms = cases[i].now_ms };
        OP(s, logs_page, &f, log_id, &got, &total);
        assert_int_equal(got.n, cases[i].count);
        assert_int_equal(total, cases[i].count);
    }
    struct log_record l;
    OP(s, log_get, r[0].log_id, &l); /* who knows the id may ask */
    log_record_done(&l);
}

static void logs_are_listed_newest_first_through_filters(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct run_row r[12];
    OP(s, begin);
    for (int i = 0; i < 12; i++) {
        r[i] = sample_run(1 + i % 3, 1700000000000 + i * 400000);
        r[i].group_id = 1 + i % 2;
    }
    r[11].moment_ms = 1700000000000; /* a retry keeps its first run's moment */
    r[11].attempt = 1;
    r[11].job_id = 1;
    OP(s, runs_add, r, 12);
    for (int i = 0; i < 6; i++) {
        /* 0..2 succeeded, 3 rejected, 4 failed, 5 running */
        struct run_change c = {
            .log_id = r[i].log_id,
            .what = CHANGE_TRIGGER | (i == 5 ? 0 : CHANGE_CLOSE) |
                    (i == 3 || i == 5 ? 0 : CHANGE_FINISH),
            .trigger_code = i == 3 ? 500 : 200,
            .handle_code = i == 4 ? 500 : 200,
        };
        OP(s, runs_change, &c, 1);
    }
    OP(s, commit);
    struct ids got = { 0 };
    int64_t total;
    struct logs_filter f = { .from_ms = -1, .to_ms = -1, .offset = 1, .limit = 2 };
    OP(s, logs_page, &f, log_id, &got, &total);
    assert_int_equal(total, 12);
    assert_int_equal(got.n, 2);
    assert_int_equal(got.id[0], r[10].log_id);
    const struct {
        struct logs_filter f;
        int total;
    } cases[] = {
        { { .from_ms = -1, .to_ms = -1, .job_id = 1 }, 5 },
        { { .from_ms = -1, .to_ms = -1, .group_id = 2, .job_id = 1 }, 3 },
        { { .from_ms = -1, .to_ms = -1, .status = 1 }, 3 },
        { { .from_ms = -1, .to_ms = -1, .status = 2 }, 2 },
        { { .from_ms = -1, .to_ms = -1, .status = 3 }, 1 },
        { { .from_ms = -1, .to_ms = -1, .status = 9 }, 12 },
        { { .from_ms = 1700000000000, .to_ms = 1700000000000 }, 2 },
        { { .from_ms = 1700000000001, .to_ms = 1700000800000 }, 2 },
        { { .from_ms = 1700000800000, .to_ms = -1 }, 9 },
        { { .from_ms = -1, .to_ms = 1699999999999 }, 0 },
        { { .from_ms = 1700000800000, .to_ms = -1, .status = 2 }, 2 },
        { { .from_ms = 1800000000000, .to_ms = -1 }, 0 },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        OP(s, logs_page, &cases[i].f, log_id, &got, &total);
        if (total != cases[i].total)
            fail_msg("case %zu: %d rows, expected %d", i, (int)total, cases[i].total);
    }
}

static void a_page_stops_when_its_reader_has_enough(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, begin);
    struct group_record g = { .app = "AppName", .title = "x" };
    for (int i = 0; i < 3; i++)
        OP(s, group_insert, &g);
    struct ids got = { 0 };
    int64_t total;
    const struct groups_filter f = { .app = "appn", .limit = 10 };
    OP(s, groups_page, &f, group_id, &got, &total);
    assert_int_equal(got.n, 1);
    assert_int_equal(total, 3);
    OP(s, groups_each, group_id, &got);
    assert_int_equal(got.n, 2);
    OP(s, commit);
}

/* ---- transactions ---------------------------------------------------------------------------- */

static void a_rollback_leaves_no_trace(void **state)
{
    struct engine *e = *state;
    struct store *s = e->s;
    OP(s, begin);
    int64_t id = add_job(s, "kept", 1000);
    struct run_row r = sample_run(id, 1000);
    OP(s, runs_add, &r, 1);
    struct group_record g = { .app = "a", .title = "t" };
    OP(s, group_insert, &g);
    OP(s, commit);
    char *before = engine_dump(e);
    OP(s, begin);
    add_job(s, "not kept", 500);
    struct due_row d = { id, 5000, 4000, 4000, 0 };
    OP(s, due_put, &d, 1);
    struct run_row more[3] = { sample_run(id, 2000), sample_run(id, 3000), sample_run(id, 2000) };
    OP(s, runs_add, more, 3);
    struct run_change c[] = {
        { .log_id = r.log_id, .what = CHANGE_PHASE, .phase = PHASE_SENT },
        { .log_id = r.log_id, .what = CHANGE_FINISH | CHANGE_CLOSE, .handle_code = 200 },
        { .log_id = more[0].log_id, .what = CHANGE_DROP },
    };
    OP(s, runs_change, c, 3);
    struct totals t = { { 1, 2, 3, 4, 5, 6, 7, 8, 9 } };
    OP(s, totals_add, &t);
    OP(s, mark_put, 777);
    OP(s, group_delete, g.id);
    OP(s, job_delete, id);
    struct registry_record reg = { "EXECUTOR", "a", "b", 1 };
    OP(s, registry_put, &reg, 1);
    struct user_record u = { .username = "u" };
    OP(s, user_insert, &u);
    struct skip_row k = { id, 1, 2, 3, MISFIRE_FIRE_ALL, false };
    OP(s, skips_add, &k, 1);
    s->ops->rollback(s);
    char *after = engine_dump(e);
    assert_string_equal(before, after);
    OP(s, begin); /* the key of the run that was closed and rolled back is taken still */
    OP(s, runs_add, &r, 1);
    assert_int_equal(r.log_id, -1);
    s->ops->rollback(s);
    free(before);
    free(after);
}

/* ---- both ------------------------------------------------------------------------------------ */

static int setup_memory(void **state)
{
    *state = engine_new(ENGINE_MEMORY);
    return 0;
}

static int setup_sqlite(void **state)
{
    *state = engine_new(ENGINE_SQLITE);
    return 0;
}

static int teardown(void **state)
{
    engine_free(*state);
    return 0;
}

#define BOTH(f)                                                                                    \
    { "memory: " #f, f, setup_memory, teardown, NULL },                                            \
    {                                                                                              \
        "sqlite: " #f, f, setup_sqlite, teardown, NULL                                             \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(due_jobs_come_earliest_first_and_by_id),
        BOTH(advancing_writes_the_moments_and_not_the_version),
        BOTH(sweeps_find_jobs_by_type_in_order_of_id),
        BOTH(a_job_comes_back_as_it_was_written),
        BOTH(a_stopped_job_is_not_due_and_says_why),
        BOTH(a_live_run_exists_once),
        BOTH(log_ids_grow_over_rollback_and_reopen),
        BOTH(live_runs_come_back_whole),
        BOTH(a_run_goes_its_way_in_one_change_or_in_many),
        BOTH(a_closed_run_still_says_why_it_was),
        BOTH(a_dropped_run_leaves_nothing),
        BOTH(a_skip_goes_on_in_the_latest_row_of_its_job),
        BOTH(late_results_are_noted_where_a_run_was_given_up),
        BOTH(the_mark_never_goes_back),
        BOTH(a_clean_mark_is_clean_until_it_is_put_again),
        BOTH(named_counters_count_apart),
        BOTH(totals_add_up_and_open_counts_the_open_phases),
        BOTH(a_deleted_job_goes_at_once_and_its_log_in_steps),
        BOTH(groups_and_registry_keep_what_they_are_told),
        BOTH(users_have_our_hash_beside_theirs),
        BOTH(sessions_come_and_expire),
        BOTH(jobs_are_listed_newest_first_through_filters),
        BOTH(the_next_moment_shown_is_the_one_that_will_fire),
        BOTH(next_and_last_moment_shown_lie_on_either_side_of_now),
        BOTH(rows_ahead_of_their_time_are_left_out),
        BOTH(logs_are_listed_newest_first_through_filters),
        BOTH(a_page_stops_when_its_reader_has_enough),
        BOTH(a_rollback_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
