/* SPDX-License-Identifier: Apache-2.0 */
/* What store.h promises of runs, the watermark, counters and transactions, against every engine. */
#include "support_store.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

static int64_t missed; /* by the last runs_change */

/* ---- the ledger ------------------------------------------------------------------------------ */

static void a_live_run_exists_once(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct run_row rows[8];
    for (int i = 0; i < 8; i++)
        rows[i] = sample_run(5, 1000);
    rows[2].scheduled_ms = 1001; /* each differs from the first in one part of the key */
    rows[3].job_id = 6;
    rows[4].kind = KIND_MISFIRE;
    rows[5].shard = 1;
    rows[6].attempt = 1;
    rows[7].cause = 9;
    OP(s, txn->begin);
    OP(s, runs->runs_add, rows, 8);
    assert_true(rows[0].log_id > 0);
    assert_int_equal(rows[1].log_id, -1);
    for (int i = 2; i < 8; i++) /* a server's counter leaves the one out that was given in vain */
        assert_true(rows[i].log_id > rows[i == 2 ? 0 : i - 1].log_id);
    OP(s, txn->commit, NULL);
    struct run_row again = sample_run(5, 1000);
    OP(s, txn->begin);
    OP(s, runs->runs_add, &again, 1);
    assert_int_equal(again.log_id, -1);
    struct run_change c = { .log_id = rows[0].log_id, .what = CHANGE_CLOSE };
    OP(s, runs->runs_change, &c, 1, &missed);
    OP(s, runs->runs_add, &again, 1); /* planned_until guards the scheduled time from here on */
    assert_true(again.log_id > rows[7].log_id);
    OP(s, txn->commit, NULL);
}

static void log_ids_grow_over_rollback_and_reopen(void **state)
{
    struct engine *e = *state;
    int64_t last = 0;
    for (int round = 0; round < 5; round++) {
        struct run_row r = sample_run(1, 1000 + round);
        OP(e->s, txn->begin);
        OP(e->s, runs->runs_add, &r, 1);
        assert_true(r.log_id > last);
        last = r.log_id;
        struct run_change drop = { .log_id = r.log_id, .what = CHANGE_DROP };
        OP(e->s, runs->runs_change, &drop, 1,
           &missed); /* an id is gone for good, even if its rows go */
        OP(e->s, txn->commit, NULL);
        struct run_row lost = sample_run(1, 5000);
        OP(e->s, txn->begin);
        OP(e->s, runs->runs_add, &lost, 1);
        assert_true(lost.log_id > last);
        e->s->ops->txn->rollback(e->s);
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

/* An edit leaves a run: it belongs to the job's new version, and nothing else of it changes. */
static void a_run_that_an_edit_leaves_gets_its_version(void **state)
{
    struct engine *e = *state;
    struct run_row row = sample_run(1, 1999);
    row.version = 3;
    OP(e->s, txn->begin);
    OP(e->s, runs->runs_add, &row, 1);
    struct run_change changes[] = {
        { .log_id = row.log_id, .what = CHANGE_VERSION, .version = 4 },
        { .log_id = row.log_id,
          .what = CHANGE_VERSION | CHANGE_PHASE | CHANGE_ADDRESS,
          .version = 5,
          .phase = PHASE_ACCEPTED,
          .address = "http://z" },
        { .log_id = row.log_id + 1, .what = CHANGE_VERSION, .version = 9 },
    };
    for (int i = 0; i < 2; i++) {
        OP(e->s, runs->runs_change, &changes[i], 1, &missed);
        OP(e->s, runs->runs_change, &changes[2], 1, &missed);
        OP(e->s, txn->commit, NULL);
        struct runs got = { 0 };
        OP(e->s, runs->runs_each, keep_run, &got);
        assert_int_equal(got.n, 1);
        assert_int_equal(got.row[0].version, 4 + i);
        assert_int_equal(got.row[0].phase, i ? PHASE_ACCEPTED : row.phase);
        assert_string_equal(got.row[0].address, i ? "http://z" : row.address);
        runs_done(&got);
        OP(e->s, txn->begin);
    }
    OP(e->s, txn->commit, NULL);
}

/* It leaves by the job as it was changed: its log row says what it is called with. */
static void a_run_that_leaves_by_an_edit_is_logged_so(void **state)
{
    struct engine *e = *state;
    struct run_row row[2] = { sample_run(1, 1999), sample_run(1, 3999) };
    OP(e->s, txn->begin);
    OP(e->s, runs->runs_add, row, 2);
    struct run_change changes[] = {
        { .log_id = row[0].log_id,
          .what = CHANGE_TASK | CHANGE_PHASE,
          .phase = PHASE_PLANNED,
          .handler = "other",
          .param = "b=2" },
        { .log_id = row[1].log_id + 1, .what = CHANGE_TASK, .handler = "x", .param = "x" },
        { .log_id = row[1].log_id,
          .what = CHANGE_TASK | CHANGE_FINISH | CHANGE_CLOSE,
          .handle_code = 200,
          .handler = "last",
          .param = "" },
    };
    OP(e->s, runs->runs_change, changes, 3, &missed);
    OP(e->s, txn->commit, NULL);
    assert_int_equal(missed, 1);
    assert_true(changes[1].missing);
    engine_reopen(e);
    struct runs got = { 0 };
    OP(e->s, runs->runs_each, keep_run, &got);
    assert_int_equal(got.n, 1);
    assert_string_equal(got.row[0].handler, "other");
    assert_string_equal(got.row[0].param, "b=2");
    runs_done(&got);
    struct log_record l = { 0 };
    OP(e->s, pages->log_get, row[1].log_id, &l);
    assert_string_equal(l.handler, "last");
    assert_string_equal(l.param, "");
    assert_int_equal(l.handle_code, 200);
    log_record_done(&l);
}

/* Another program has removed the live row: the change is said to be missing, and a result for it
 * ends the log row, once. */
static void a_result_ends_a_row_whose_live_row_was_removed(void **state)
{
    struct engine *e = *state;
    struct run_row row = sample_run(1, 1999);
    OP(e->s, txn->begin);
    OP(e->s, runs->runs_add, &row, 1);
    struct run_change changes[] = {
        { .log_id = row.log_id, .what = CHANGE_CLOSE },
        { .log_id = row.log_id, .what = CHANGE_FINISH, .handle_code = 500, .handle_msg = "no" },
    };
    OP(e->s, runs->runs_change, changes, 2, &missed);
    assert_false(changes[0].missing);
    assert_true(changes[1].missing);
    struct late_result late = { .log_id = row.log_id, .at_ms = 5000, .code = 200, .msg = "done" };
    int noted = 0;
    OP(e->s, runs->late_add, &late, 1, &noted);
    assert_int_equal(noted, 1);
    late.code = 500;
    OP(e->s, runs->late_add, &late, 1, &noted); /* it has its end now */
    assert_int_equal(noted, 0);
    OP(e->s, txn->commit, NULL);
    struct log_record l = { 0 };
    OP(e->s, pages->log_get, row.log_id, &l);
    assert_int_equal(l.handle_code, 200);
    assert_int_equal(l.handle_ms, 5000);
    assert_non_null(strstr(l.handle_msg, "removed"));
    assert_non_null(strstr(l.handle_msg, "done"));
    log_record_done(&l);
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
    OP(e->s, txn->begin);
    OP(e->s, runs->runs_add, rows, 2);
    OP(e->s, txn->commit, NULL);
    engine_reopen(e);
    struct runs got = { 0 };
    OP(e->s, runs->runs_each, keep_run, &got);
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
    assert_int_equal(got.row[0].log_ms, 1000);
    assert_int_equal(got.row[1].log_ms, 9000); /* a retry's own */
    assert_int_equal(got.row[1].version, 3);
    assert_int_equal(got.row[1].retries_left, 2);
    assert_true(got.row[1].doubted);
    runs_done(&got);
    struct log_record l;
    OP(e->s, pages->log_get, rows[0].log_id, &l);
    assert_int_equal(l.trigger_ms, 1000); /* the whole second */
    assert_string_equal(l.sharding, "2/3");
    assert_int_equal(l.phase, PHASE_PLANNED);
    assert_int_equal(l.scheduled_ms, 1999);
    assert_int_equal(l.handle_ms, -1);
    assert_null(l.trigger_msg);
    log_record_done(&l);
}

static void a_run_goes_its_way_in_one_change_or_in_many(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct run_row r[2] = { sample_run(1, 1000), sample_run(1, 2000) };
    OP(s, txn->begin);
    OP(s, runs->runs_add, r, 2);
    OP(s, txn->commit, NULL);
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
    OP(s, txn->begin);
    OP(s, runs->runs_change, steps, 6, &missed);
    assert_int_equal(missed, 0);
    OP(s, txn->commit, NULL);
    struct log_record l;
    OP(s, pages->log_get, r[0].log_id, &l);
    assert_string_equal(l.address, "http://b:1/");
    assert_int_equal(l.trigger_code, 200);
    assert_string_equal(l.trigger_msg, "route"); /* NULL left it */
    assert_int_equal(l.handle_code, 500);
    assert_int_equal(l.handle_ms, 4000);
    assert_string_equal(l.handle_msg, "boom");
    assert_int_equal(l.alarm_status, -1);
    assert_int_equal(l.phase, 0);
    log_record_done(&l);
    OP(s, pages->log_get, r[1].log_id, &l);
    assert_string_equal(l.address, "http://c:1/");
    assert_int_equal(l.handle_code, 200);
    assert_null(l.handle_msg);
    assert_int_equal(l.alarm_status, 0);
    log_record_done(&l);
    struct run_change closed = {
        .log_id = r[1].log_id, .what = CHANGE_FINISH, .handle_code = 500, .handle_ms = 1
    };
    OP(s, txn->begin);
    OP(s, runs->runs_change, &closed, 1, &missed); /* not live any more: nothing happens */
    assert_int_equal(missed, 1);
    assert_true(closed.missing);
    OP(s, txn->commit, NULL);
    OP(s, pages->log_get, r[1].log_id, &l);
    assert_int_equal(l.handle_code, 200);
    log_record_done(&l);
}

static void a_closed_run_still_says_why_it_was(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        struct run_row r[2] = { sample_run(1, 1000 + kind), sample_run(2, 1000 + kind) };
        r[0].kind = r[1].kind = (enum kind)kind;
        OP(s, txn->begin);
        OP(s, runs->runs_add, r, 2);
        struct run_change ends[] = {
            { .log_id = r[0].log_id, .what = CHANGE_TRIGGER | CHANGE_CLOSE, .trigger_code = 200 },
            { .log_id = r[1].log_id,
              .what = CHANGE_TRIGGER | CHANGE_CLOSE,
              .kind = (enum kind)kind,
              .trigger_code = 500,
              .trigger_msg = "retry: is what the executor said" },
        };
        OP(s, runs->runs_change, ends, 2, &missed);
        OP(s, txn->commit, NULL);
        struct log_record l;
        OP(s, pages->log_get, r[0].log_id, &l);
        assert_int_equal(l.phase, 0);
        assert_int_equal(l.kind, kind);
        assert_null(l.trigger_msg);
        log_record_done(&l);
        OP(s, pages->log_get, r[1].log_id, &l);
        assert_int_equal(l.kind, kind);
        assert_string_equal(l.trigger_msg, "retry: is what the executor said");
        log_record_done(&l);
    }
}

static void a_dropped_run_leaves_nothing(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct run_row r = sample_run(1, 1000);
    OP(s, txn->begin);
    OP(s, runs->runs_add, &r, 1);
    OP(s, txn->commit, NULL);
    struct run_change c = { .log_id = r.log_id, .what = CHANGE_DROP };
    OP(s, txn->begin);
    OP(s, runs->runs_change, &c, 1, &missed);
    OP(s, txn->commit, NULL);
    struct log_record l;
    OP_FAILS(ERR_NOTFOUND, s, pages->log_get, r.log_id, &l);
    struct runs got = { 0 };
    OP(s, runs->runs_each, keep_run, &got);
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
    OP(e->s, txn->begin);
    OP(e->s, runs->skips_add, rows, 5);
    OP(e->s, txn->commit, NULL);
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
    OP(s, txn->begin);
    OP(s, runs->runs_add, r, 6);
    for (int i = 0; i < 6; i++) {
        struct run_change c = { .log_id = r[i].log_id,
                                .what = CHANGE_FINISH | (i == 5 ? 0 : CHANGE_CLOSE),
                                .handle_code = 500,
                                .handle_ms = 9,
                                .handle_msg = (char *)messages[i] };
        OP(s, runs->runs_change, &c, 1, &missed);
        late[i] = (struct late_result){
            .log_id = r[i].log_id, .at_ms = 1700000000123, .code = 200, .msg = "done"
        };
    }
    late[6] = (struct late_result){ .log_id = 999999, .at_ms = 1, .code = 200 };
    int noted;
    OP(s, runs->late_add, late, 7, &noted);
    OP(s, txn->commit, NULL);
    assert_int_equal(noted, 3);
    OP(s, txn->begin);
    for (int i = 0; i < 7; i++) /* sent again, later */
        late[i].at_ms += 5000;
    OP(s, runs->late_add, late, 7, &noted);
    OP(s, txn->commit, NULL);
    assert_int_equal(noted, 0);
    struct log_record l;
    OP(s, pages->log_get, r[0].log_id, &l);
    assert_string_equal(l.handle_msg,
                        "lost: no answer\nlate result, 2023-11-14T22:13:20.123Z, code 200: done");
    log_record_done(&l);
    OP(s, pages->log_get, r[5].log_id, &l);
    assert_string_equal(l.handle_msg, messages[5]);
    log_record_done(&l);
    char *big = mem_new(40001);
    memset(big, 'x', 40000);
    struct late_result flood = { .log_id = r[0].log_id, .at_ms = 1, .code = 500, .msg = big };
    OP(s, txn->begin);
    for (int i = 0, total = 0; i < 50; i++, total += noted)
        OP(s, runs->late_add, &flood, 1, &noted);
    OP(s, txn->commit, NULL);
    assert_int_equal(noted, 0); /* the message is full */
    OP(s, pages->log_get, r[0].log_id, &l);
    assert_true(strlen(l.handle_msg) < 16000);
    log_record_done(&l);
    free(big);
}

static void commit_watermark(struct store *s, int64_t until_ms, const char *recorder,
                             int64_t renewals, bool clean)
{
    struct commit c = { .watermark = { .until_ms = until_ms, .renewals = renewals } };
    text_copy(c.watermark.recorder, sizeof(c.watermark.recorder), slice_text(recorder));
    c.watermark.clean = !clean; /* not looked at */
    c.clean = clean;
    OP(s, txn->commit, &c);
}

static void the_watermark_never_goes_back(void **state)
{
    struct engine *e = *state;
    struct watermark watermark;
    OP(e->s, txn->watermark_get, &watermark);
    assert_int_equal(watermark.until_ms, 0);
    assert_false(watermark.clean);
    OP(e->s, txn->begin);
    commit_watermark(e->s, 5000, "", 0, false);
    OP(e->s, txn->begin);
    commit_watermark(e->s, 4000, "", 0, false);
    engine_reopen(e);
    OP(e->s, txn->watermark_get, &watermark);
    assert_int_equal(watermark.until_ms, 5000);
    assert_false(watermark.clean);
}

static void a_clean_watermark_is_clean_until_it_is_put_again(void **state)
{
    struct engine *e = *state;
    struct watermark watermark;
    OP(e->s, txn->begin);
    commit_watermark(e->s, 5000, "", 0, true);
    engine_reopen(e);
    OP(e->s, txn->watermark_get, &watermark);
    assert_int_equal(watermark.until_ms, 5000);
    assert_true(watermark.clean);
    OP(e->s, txn->begin);
    OP(e->s, txn->commit, NULL); /* says nothing about it */
    OP(e->s, txn->watermark_get, &watermark);
    assert_true(watermark.clean);
    OP(e->s, txn->begin);
    commit_watermark(e->s, 4000, "", 0, false); /* goes nowhere, but a send is meant */
    OP(e->s, txn->watermark_get, &watermark);
    assert_int_equal(watermark.until_ms, 5000);
    assert_false(watermark.clean);
}

/* Whatever the watermark does, the recorder and its renewals are those of the last renewal. */
static void the_recorder_goes_with_the_watermark(void **state)
{
    struct engine *e = *state;
    const char *first = "00112233445566778899aabbccddeeff",
               *next = "ffeeddccbbaa99887766554433221100";
    struct watermark watermark;
    OP(e->s, txn->watermark_get, &watermark);
    assert_string_equal(watermark.recorder, "");
    assert_int_equal(watermark.renewals, 0);
    assert_int_equal(watermark.last_id, 0);
    struct run_row r = sample_run(1, 1);
    OP(e->s, txn->begin);
    OP(e->s, runs->runs_add, &r, 1);
    commit_watermark(e->s, 5000, first, 7, false);
    engine_reopen(e);
    OP(e->s, txn->watermark_get, &watermark);
    assert_string_equal(watermark.recorder, first);
    assert_int_equal(watermark.renewals, 7);
    assert_int_equal(watermark.last_id, r.log_id);
    OP(e->s, txn->begin);
    OP(e->s, txn->commit, NULL);
    OP(e->s, txn->watermark_get, &watermark);
    assert_string_equal(watermark.recorder, first);
    OP(e->s, txn->begin);
    commit_watermark(e->s, 4000, next, 1, true); /* a new life counts anew */
    OP(e->s, txn->watermark_get, &watermark);
    assert_int_equal(watermark.until_ms, 5000);
    assert_string_equal(watermark.recorder, next);
    assert_int_equal(watermark.renewals, 1);
    OP(e->s, txn->begin);
    commit_watermark(e->s, 4000, "", 2, false); /* and one without a recorder says so */
    engine_reopen(e);
    OP(e->s, txn->watermark_get, &watermark);
    assert_string_equal(watermark.recorder, "");
    assert_int_equal(watermark.renewals, 2);
}

static void named_counters_count_apart(void **state)
{
    struct engine *e = *state;
    int64_t a, b;
    OP(e->s, txn->begin);
    OP(e->s, txn->seq_next, "request", 1, &a);
    assert_int_equal(a, 1);
    OP(e->s, txn->seq_next, "request", 3, &a);
    OP(e->s, txn->seq_next, "epoch", 2, &b);
    OP(e->s, txn->commit, NULL);
    assert_int_equal(a, 2);
    assert_int_equal(b, 1);
    engine_reopen(e);
    OP(e->s, txn->begin);
    OP(e->s, txn->seq_next, "request", 1, &a);
    OP(e->s, txn->seq_next, "epoch", 1, &b);
    OP(e->s, txn->commit, NULL);
    assert_int_equal(a, 5);
    assert_int_equal(b, 3);
}

static void totals_add_up_and_open_counts_the_open_phases(void **state)
{
    struct engine *e = *state;
    struct run_row r[3] = { sample_run(1, 1), sample_run(1, 2), sample_run(1, 3) };
    const struct commit added = { .totals = { { [TOTAL_PLANNED] = 3, [TOTAL_LOST] = 1 } } };
    const struct commit more = { .totals = { { [TOTAL_LOST] = -1, [TOTAL_FINISHED] = 1 } } };
    struct totals got;
    OP(e->s, txn->begin);
    OP(e->s, runs->runs_add, r, 3);
    struct run_change c = { .log_id = r[1].log_id, .what = CHANGE_PHASE, .phase = PHASE_LOST };
    OP(e->s, runs->runs_change, &c, 1, &missed);
    OP(e->s, txn->commit, &added);
    OP(e->s, txn->begin);
    OP(e->s, txn->commit, &more);
    engine_reopen(e);
    int64_t open;
    OP(e->s, txn->totals_get, &got, &open);
    assert_int_equal(open, 2);
    assert_int_equal(got.n[TOTAL_PLANNED], 3);
    assert_int_equal(got.n[TOTAL_LOST], 0);
    assert_int_equal(got.n[TOTAL_FINISHED], 1);
}

static int64_t batch_of(struct engine *e)
{
    struct watermark m;
    OP(e->s, txn->watermark_get, &m);
    return m.batch - e->opening;
}

/* Whatever is in it, and nothing else counts: not what is put as a watermark, no rollback. */
static void each_commit_has_the_next_number(void **state)
{
    struct engine *e = *state;
    for (int64_t n = 0; n < 6; n++) {
        struct run_row r = sample_run(1, n);
        assert_int_equal(batch_of(e), n);
        OP(e->s, txn->begin);
        if (n % 2)
            OP(e->s, runs->runs_add, &r, 1);
        e->s->ops->txn->rollback(e->s);
        assert_int_equal(batch_of(e), n);
        OP(e->s, txn->begin);
        if (n % 2)
            OP(e->s, runs->runs_add, &r, 1);
        const struct commit c = { .watermark = { .until_ms = n, .batch = 700 } };
        OP(e->s, txn->commit, n % 3 ? NULL : &c);
        if (n == 3)
            engine_reopen(e);
    }
    assert_int_equal(batch_of(e), 6);
}

/* ---- transactions ---------------------------------------------------------------------------- */

static void a_rollback_leaves_no_trace(void **state)
{
    struct engine *e = *state;
    struct store *s = e->s;
    OP(s, txn->begin);
    int64_t id = sample_job_add(s, "kept", 1000);
    struct run_row r = sample_run(id, 1000);
    OP(s, runs->runs_add, &r, 1);
    struct group_record g = { .app = "a", .title = "t" };
    OP(s, catalog->group_insert, &g);
    OP(s, txn->commit, NULL);
    char *before = engine_dump(e);
    OP(s, txn->begin);
    sample_job_add(s, "not kept", 500);
    struct due_row d = { id, 5000, 4000, 4000, 0, 0 };
    OP(s, runs->due_put, &d, 1);
    struct run_row more[3] = { sample_run(id, 2000), sample_run(id, 3000), sample_run(id, 2000) };
    OP(s, runs->runs_add, more, 3);
    struct run_change c[] = {
        { .log_id = r.log_id, .what = CHANGE_PHASE, .phase = PHASE_SENT },
        { .log_id = r.log_id, .what = CHANGE_FINISH | CHANGE_CLOSE, .handle_code = 200 },
        { .log_id = more[0].log_id, .what = CHANGE_DROP },
    };
    OP(s, runs->runs_change, c, 3, &missed);
    OP(s, catalog->group_delete, g.id);
    OP(s, catalog->job_delete, id);
    struct registry_record reg = { "EXECUTOR", "a", "b", 1 };
    OP(s, catalog->registry_put, &reg, 1);
    struct user_record u = { .username = "u" };
    OP(s, users->user_insert, &u);
    struct skip_row k = { id, 1, 2, 3, MISFIRE_FIRE_ALL, false };
    OP(s, runs->skips_add, &k, 1);
    s->ops->txn->rollback(s);
    char *after = engine_dump(e);
    assert_string_equal(before, after);
    OP(s, txn->begin); /* the key of the run that was closed and rolled back is taken still */
    OP(s, runs->runs_add, &r, 1);
    assert_int_equal(r.log_id, -1);
    s->ops->txn->rollback(s);
    free(before);
    free(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_live_run_exists_once),
        BOTH(log_ids_grow_over_rollback_and_reopen),
        BOTH(a_run_that_an_edit_leaves_gets_its_version),
        BOTH(a_run_that_leaves_by_an_edit_is_logged_so),
        BOTH(a_result_ends_a_row_whose_live_row_was_removed),
        BOTH(live_runs_come_back_whole),
        BOTH(a_run_goes_its_way_in_one_change_or_in_many),
        BOTH(a_closed_run_still_says_why_it_was),
        BOTH(a_dropped_run_leaves_nothing),
        BOTH(a_skip_goes_on_in_the_latest_row_of_its_job),
        BOTH(late_results_are_noted_where_a_run_was_given_up),
        BOTH(the_watermark_never_goes_back),
        BOTH(a_clean_watermark_is_clean_until_it_is_put_again),
        BOTH(the_recorder_goes_with_the_watermark),
        BOTH(named_counters_count_apart),
        BOTH(totals_add_up_and_open_counts_the_open_phases),
        BOTH(each_commit_has_the_next_number),
        BOTH(a_rollback_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
