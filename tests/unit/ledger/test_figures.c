/* SPDX-License-Identifier: Apache-2.0 */
/* Figures: what is counted where, that it survives any end of the process, and what goes. */
#include "base/mem.h"
#include "support_ledger.h"
#include <stdlib.h>
#include <string.h>

#define MINUTE_MS 60000
#define DAY_MS INT64_C(86400000)

static const struct commit nothing;

struct scene {
    struct bench *b;
    struct figures *f;
    int64_t job_id, group_id;
    int64_t now_ms, minute; /* of the batches; of the runs' scheduled times */
};

static void load(struct scene *c)
{
    struct why why = { "" };
    figures_free(c->f);
    c->f = figures_new(zone_utc());
    assert_int_equal(figures_load(c->f, c->b->s, &why), OK);
}

static void scene_begin(struct scene *c, void **state)
{
    struct job_record job;
    *c = (struct scene){ .b = *state, .group_id = 4, .now_ms = BENCH_NOW_MS / DAY_MS * DAY_MS };
    const struct store_ops *ops = c->b->s->ops;
    job_record_init(&job);
    job.group_id = c->group_id;
    assert_int_equal(ops->txn->begin(c->b->s, NULL), OK);
    assert_int_equal(ops->catalog->job_insert(c->b->s, &job, NULL), OK);
    assert_int_equal(ops->txn->commit(c->b->s, &nothing, NULL), OK);
    c->job_id = job.id;
    job_record_done(&job);
    load(c);
}

static void scene_end(struct scene *c)
{
    figures_free(c->f);
}

/* A live run of the next minute. */
static int64_t run_new(struct scene *c)
{
    const struct store_ops *ops = c->b->s->ops;
    struct run_row r = { .job_id = c->job_id,
                         .group_id = c->group_id,
                         .scheduled_ms = c->now_ms + c->minute++ * MINUTE_MS,
                         .shard_total = 1,
                         .phase = PHASE_ACCEPTED };
    r.due_ms = r.scheduled_ms;
    assert_int_equal(ops->txn->begin(c->b->s, NULL), OK);
    assert_int_equal(ops->runs->runs_add(c->b->s, &r, 1, NULL), OK);
    assert_int_equal(ops->txn->commit(c->b->s, &nothing, NULL), OK);
    return r.log_id;
}

static struct run_change end_of(struct scene *c, int64_t id, enum outcome was, enum outcome now)
{
    bool closes = now != OUTCOME_LOST;
    return (struct run_change){ .log_id = id,
                                .what = CHANGE_PHASE | (closes ? CHANGE_CLOSE : 0),
                                .phase = closes ? PHASE_SUCCEEDED : PHASE_LOST,
                                .end = { .log_id = id,
                                         .job_id = c->job_id,
                                         .group_id = c->group_id,
                                         .log_ms = c->now_ms + (c->minute - 1) * MINUTE_MS,
                                         .took_ms = 100,
                                         .late_ms = 3,
                                         .was = was,
                                         .now = now } };
}

static struct batch *batch_at(struct scene *c, int64_t after_ms)
{
    struct batch *b = bench_batch();
    b->now_ms = c->now_ms + after_ms;
    return b;
}

static enum err run(struct scene *c, struct batch *b)
{
    txn_run(c->b->s, c->b->planner, c->f, b, &c->b->writes);
    return b->err;
}

static struct batch *ends(struct scene *c, int64_t after_ms, const struct run_change *changes,
                          int n)
{
    struct batch *b = batch_at(c, after_ms);
    b->changes = mem_new((size_t)n * sizeof(*changes));
    memcpy(b->changes, changes, (size_t)n * sizeof(*changes));
    b->nchanges = n;
    return b;
}

static void end(struct scene *c, int64_t id, enum outcome was, enum outcome now)
{
    struct run_change change = end_of(c, id, was, now);
    struct batch *b = ends(c, 1000, &change, 1);
    assert_int_equal(run(c, b), OK);
    batch_free(b);
}

/* A batch that is late enough for all that memory has counted to become rows. */
static void fold(struct scene *c, int64_t after_ms)
{
    struct batch *b = batch_at(c, after_ms);
    assert_int_equal(run(c, b), OK);
    batch_free(b);
}

static struct figure read_at(struct scene *c, enum figure_level level, int64_t group_id,
                             int64_t job_id, int64_t at_ms)
{
    struct figure f;
    struct why why = { "" };
    assert_int_equal(figures_read(c->f, c->b->s, level, group_id, job_id, at_ms, &f, NULL, &why),
                     OK);
    return f;
}

static void assert_everywhere(struct scene *c, enum outcome o, int n)
{
    static const enum figure_level levels[] = { FIGURE_QUARTER, FIGURE_HOUR, FIGURE_DAY };
    for (size_t i = 0; i < countof(levels); i++) {
        assert_int_equal(read_at(c, levels[i], 0, 0, c->now_ms).counts[o], n);
        assert_int_equal(read_at(c, levels[i], c->group_id, 0, c->now_ms).counts[o], n);
        assert_int_equal(read_at(c, levels[i], c->group_id + 1, 0, c->now_ms).counts[o], 0);
        assert_int_equal(read_at(c, levels[i], 0, 0, c->now_ms - 1).counts[o], 0);
    }
    assert_int_equal(read_at(c, FIGURE_JOB_HOUR, 0, c->job_id, c->now_ms).counts[o], n);
    assert_int_equal(read_at(c, FIGURE_JOB_DAY, 0, c->job_id, c->now_ms).counts[o], n);
}

static void an_end_counts_in_every_slot_of_its_scheduled_time(void **state)
{
    struct scene c;
    struct job_stat stat;
    uint32_t durations[DURATION_BUCKETS];
    scene_begin(&c, state);
    assert_false(figures_job(c.f, c.job_id, &stat));
    end(&c, run_new(&c), OUTCOME_NONE, OUTCOME_SUCCEEDED);
    int64_t lost = run_new(&c);
    end(&c, lost, OUTCOME_NONE, OUTCOME_LOST);
    assert_everywhere(&c, OUTCOME_SUCCEEDED, 1);
    assert_everywhere(&c, OUTCOME_LOST, 1);
    end(&c, lost, OUTCOME_LOST, OUTCOME_SUCCEEDED); /* moves */
    assert_everywhere(&c, OUTCOME_SUCCEEDED, 2);
    assert_everywhere(&c, OUTCOME_LOST, 0);
    assert_true(figures_job(c.f, c.job_id, &stat));
    assert_int_equal(stat.nlast, 2);
    assert_int_equal(stat.success_ms, c.now_ms + 1000);

    struct figure day;
    assert_int_equal(figures_read(c.f, c.b->s, FIGURE_DAY, 0, 0, c.now_ms, &day, durations, NULL),
                     OK);
    assert_int_equal(day.took_ms, 200);
    assert_int_equal(day.took_max_ms, 100);
    assert_int_equal(day.late_ms, 6); /* once a run */
    assert_int_equal(durations[duration_bucket(100)], 2);
    scene_end(&c);
}

static void what_is_counted_survives_with_and_without_rows(void **state)
{
    struct scene c;
    scene_begin(&c, state);
    for (int i = 1; i <= 5; i++) {
        end(&c, run_new(&c), OUTCOME_NONE, OUTCOME_FAILED);
        load(&c); /* from bytes alone */
        assert_everywhere(&c, OUTCOME_FAILED, i);
    }
    fold(&c, 400000);
    assert_everywhere(&c, OUTCOME_FAILED, 5);
    load(&c); /* from rows that include all the bytes */
    assert_everywhere(&c, OUTCOME_FAILED, 5);
    end(&c, run_new(&c), OUTCOME_NONE, OUTCOME_FAILED);
    load(&c); /* from both */
    assert_everywhere(&c, OUTCOME_FAILED, 6);
    fold(&c, 800000);
    fold(&c, 1200000); /* again: nothing is added twice */
    load(&c);
    assert_everywhere(&c, OUTCOME_FAILED, 6);
    struct job_stat stat;
    assert_true(figures_job(c.f, c.job_id, &stat));
    assert_int_equal(stat.streak, 6);
    scene_end(&c);
}

static bool count_delta(void *ctx, int64_t n, struct slice bytes)
{
    (void)n;
    (void)bytes;
    ++*(int *)ctx;
    return true;
}

static int deltas(struct scene *c)
{
    int n = 0;
    assert_int_equal(c->b->s->ops->figures->deltas_each(c->b->s, count_delta, &n, NULL), OK);
    return n;
}

static void bytes_go_when_rows_include_them(void **state)
{
    struct scene c;
    scene_begin(&c, state);
    for (int i = 0; i < 20; i++)
        end(&c, run_new(&c), OUTCOME_NONE, OUTCOME_SUCCEEDED);
    assert_int_equal(deltas(&c), 20);
    fold(&c, 400000);
    fold(&c, 400001);
    assert_int_equal(deltas(&c), 0);
    load(&c);
    assert_int_equal(read_at(&c, FIGURE_DAY, 0, 0, c.now_ms).counts[OUTCOME_SUCCEEDED], 20);
    scene_end(&c);
}

static int64_t another_job(struct scene *c)
{
    const struct store_ops *ops = c->b->s->ops;
    struct job_record job;
    job_record_init(&job);
    job.group_id = c->group_id;
    assert_int_equal(ops->txn->begin(c->b->s, NULL), OK);
    assert_int_equal(ops->catalog->job_insert(c->b->s, &job, NULL), OK);
    assert_int_equal(ops->txn->commit(c->b->s, &nothing, NULL), OK);
    int64_t id = job.id;
    job_record_done(&job);
    return id;
}

/* Rows of two jobs, and of the whole, that are too many for one transaction: each life ends after
 * one of them, and bytes may not go before the last. */
static void a_fold_of_many_rows_may_be_cut_anywhere(void **state)
{
    enum { BATCHES = 20, A_BATCH = 13, HOURS = BATCHES * A_BATCH };
    struct scene c;
    struct run_change changes[2 * A_BATCH];
    scene_begin(&c, state);
    int64_t jobs[2] = { c.job_id, another_job(&c) };
    while (jobs[1] < jobs[0] + 64) /* their rows are not folded together */
        jobs[1] = another_job(&c);
    for (int k = 0; k < BATCHES; k++) {
        for (int i = 0; i < 2 * A_BATCH; i++) {
            c.job_id = jobs[i % 2];
            changes[i] = end_of(&c, run_new(&c), OUTCOME_NONE, OUTCOME_KILLED);
            changes[i].end.log_ms = c.now_ms - (k * A_BATCH + i / 2) * 60 * MINUTE_MS;
        }
        struct batch *b = ends(&c, 1000, changes, 2 * A_BATCH);
        assert_int_equal(run(&c, b), OK);
        batch_free(b);
    }
    for (int life = 0; life < 8; life++) {
        fold(&c, 400000 + life);
        load(&c);
        for (int i = 0; i < 2; i++) {
            int64_t n = 0, all = 0;
            for (int day = 0; day <= HOURS / 24 + 1; day++) {
                int64_t at = c.now_ms - day * DAY_MS;
                n += read_at(&c, FIGURE_JOB_DAY, 0, jobs[i], at).counts[OUTCOME_KILLED];
                all += read_at(&c, FIGURE_DAY, 0, 0, at).counts[OUTCOME_KILLED];
            }
            assert_int_equal(n, HOURS);
            assert_int_equal(all, 2 * HOURS);
        }
    }
    assert_int_equal(deltas(&c), 0);
    scene_end(&c);
}

static void a_commit_that_fails_counts_nothing(void **state)
{
    struct scene c;
    scene_begin(&c, state);
    int64_t id = run_new(&c);
    struct run_change change = end_of(&c, id, OUTCOME_NONE, OUTCOME_FAILED);
    struct batch *b = ends(&c, 1000, &change, 1);
    bench_commits_fail(c.b, 2);
    assert_int_equal(run(&c, b), ERR_FULL);
    assert_everywhere(&c, OUTCOME_FAILED, 0);
    assert_int_equal(b->nends, 0);
    assert_int_equal(run(&c, b), ERR_FULL);
    assert_int_equal(run(&c, b), OK);
    assert_int_equal(b->nends, 1);
    assert_everywhere(&c, OUTCOME_FAILED, 1);
    batch_free(b);
    bench_commits_fail(c.b, 1); /* and one that was to write rows */
    b = batch_at(&c, 400000);
    assert_int_equal(run(&c, b), ERR_FULL);
    assert_everywhere(&c, OUTCOME_FAILED, 1);
    assert_int_equal(run(&c, b), OK);
    batch_free(b);
    assert_everywhere(&c, OUTCOME_FAILED, 1);
    load(&c);
    assert_everywhere(&c, OUTCOME_FAILED, 1);
    scene_end(&c);
}

static void the_batch_says_how_each_end_changed_the_streak(void **state)
{
    static const enum outcome outcomes[] = { OUTCOME_FAILED, OUTCOME_TIMED_OUT, OUTCOME_SUCCEEDED,
                                             OUTCOME_REJECTED };
    static const uint32_t was[] = { 0, 1, 2, 0 }, now[] = { 1, 2, 0, 1 };
    struct scene c;
    struct run_change changes[4];
    scene_begin(&c, state);
    for (int i = 0; i < 4; i++)
        changes[i] = end_of(&c, run_new(&c), OUTCOME_NONE, outcomes[i]);
    struct batch *b = ends(&c, 1000, changes, 4);
    assert_int_equal(run(&c, b), OK);
    assert_int_equal(b->nends, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(b->ends[i].streak_was, was[i]);
        assert_int_equal(b->ends[i].streak, now[i]);
    }
    batch_free(b);
    scene_end(&c);
}

/* The row was not there any more: nothing was written, nothing counts. */
static void a_change_of_a_run_that_is_gone_counts_nothing(void **state)
{
    struct scene c;
    scene_begin(&c, state);
    int64_t id = run_new(&c);
    end(&c, id, OUTCOME_NONE, OUTCOME_SUCCEEDED);
    end(&c, id, OUTCOME_NONE, OUTCOME_FAILED);
    assert_everywhere(&c, OUTCOME_SUCCEEDED, 1);
    assert_everywhere(&c, OUTCOME_FAILED, 0);
    scene_end(&c);
}

static enum err refusing_run(struct store *s, void *arg, const struct edit_rows *rows,
                             struct why *why)
{
    (void)s;
    (void)arg;
    (void)rows;
    why_set(why, "no");
    return ERR_INVALID;
}

static void refusing_done(void *arg, enum err err, const struct why *why)
{
    (void)arg;
    (void)err;
    (void)why;
}

static void a_refused_edit_ends_nothing(void **state)
{
    static const struct edit_companion refusing = { .run = refusing_run, .done = refusing_done };
    struct scene c;
    scene_begin(&c, state);
    int64_t id = run_new(&c);
    struct edit *e = edit_new(EDIT_JOB_DELETE);
    e->id = c.job_id;
    e->companion = &refusing;
    e->runs = mem_new(sizeof(*e->runs));
    e->runs[e->nruns++] =
        (struct edit_run){ .change = end_of(&c, id, OUTCOME_NONE, OUTCOME_KILLED), .log_id = id };
    struct batch *b = bench_edit(e);
    assert_int_equal(run(&c, b), OK);
    assert_int_equal(e->err, ERR_INVALID);
    assert_int_equal(b->nends, 0);
    assert_everywhere(&c, OUTCOME_KILLED, 0);
    batch_free(b);
    load(&c);
    assert_everywhere(&c, OUTCOME_KILLED, 0);
    scene_end(&c);
}

static void a_deleted_job_does_not_come_back(void **state)
{
    struct scene c;
    struct job_stat stat;
    scene_begin(&c, state);
    end(&c, run_new(&c), OUTCOME_NONE, OUTCOME_FAILED);
    struct edit *e = edit_new(EDIT_JOB_DELETE);
    e->id = c.job_id;
    struct batch *b = bench_edit(e);
    assert_int_equal(run(&c, b), OK);
    batch_free(b);
    assert_false(figures_job(c.f, c.job_id, &stat));
    load(&c);
    assert_false(figures_job(c.f, c.job_id, &stat));
    assert_int_equal(read_at(&c, FIGURE_DAY, 0, 0, c.now_ms).counts[OUTCOME_FAILED], 1);
    scene_end(&c);
}

static void old_slots_go(void **state)
{
    struct scene c;
    scene_begin(&c, state);
    end(&c, run_new(&c), OUTCOME_NONE, OUTCOME_SUCCEEDED);
    fold(&c, 400000);
    for (int i = 0; i < 6; i++) /* a level a batch */
        fold(&c, 9 * DAY_MS + i);
    assert_int_equal(read_at(&c, FIGURE_QUARTER, 0, 0, c.now_ms).counts[OUTCOME_SUCCEEDED], 0);
    assert_int_equal(read_at(&c, FIGURE_HOUR, 0, 0, c.now_ms).counts[OUTCOME_SUCCEEDED], 1);
    assert_int_equal(read_at(&c, FIGURE_JOB_HOUR, 0, c.job_id, c.now_ms).counts[OUTCOME_SUCCEEDED],
                     0);
    assert_int_equal(read_at(&c, FIGURE_JOB_DAY, 0, c.job_id, c.now_ms).counts[OUTCOME_SUCCEEDED],
                     1);
    for (int i = 0; i < 6; i++)
        fold(&c, 402 * DAY_MS + i);
    assert_int_equal(read_at(&c, FIGURE_HOUR, 0, 0, c.now_ms).counts[OUTCOME_SUCCEEDED], 0);
    assert_int_equal(read_at(&c, FIGURE_JOB_DAY, 0, c.job_id, c.now_ms).counts[OUTCOME_SUCCEEDED],
                     0);
    assert_int_equal(read_at(&c, FIGURE_DAY, c.group_id, 0, c.now_ms).counts[OUTCOME_SUCCEEDED], 1);
    scene_end(&c);
}

static bool keep_report(void *ctx, const struct report_row *r)
{
    *(struct report_row *)ctx = *r;
    return true;
}

static void a_report_has_a_row_a_day(void **state)
{
    struct scene c;
    struct report_row days[FIGURES_REPORT_DAYS], row = { 0 };
    scene_begin(&c, state);
    end(&c, run_new(&c), OUTCOME_NONE, OUTCOME_SUCCEEDED);
    end(&c, run_new(&c), OUTCOME_NONE, OUTCOME_TIMED_OUT);
    run_new(&c); /* goes on */
    assert_int_equal(figures_report(c.f, c.b->s, NULL, c.now_ms + 600000, days, NULL), OK);
    assert_int_equal(days[0].day_ms, c.now_ms);
    assert_int_equal(days[0].succeeded, 1);
    assert_int_equal(days[0].failed, 1);
    assert_int_equal(days[0].running, 1);
    assert_int_equal(days[1].day_ms, c.now_ms - DAY_MS);
    assert_int_equal(days[1].succeeded, 0);
    const int64_t others[] = { c.group_id + 1 }, own[] = { c.group_id };
    const struct scope none = { .ids = others, .n = 1 }, some = { .ids = own, .n = 1 };
    assert_int_equal(figures_report(c.f, c.b->s, &none, c.now_ms + 600000, days, NULL), OK);
    assert_int_equal(days[0].succeeded + days[0].failed + days[0].running, 0);
    assert_int_equal(figures_report(c.f, c.b->s, &some, c.now_ms + 600000, days, NULL), OK);
    assert_int_equal(days[0].succeeded + days[0].failed + days[0].running, 3);
    fold(&c, 400000);
    const struct store_ops *ops = c.b->s->ops;
    assert_int_equal(ops->figures->reports_each(c.b->s, 0, c.now_ms, keep_report, &row, NULL), OK);
    assert_int_equal(row.day_ms, c.now_ms);
    assert_int_equal(row.succeeded, 1);
    assert_int_equal(row.failed, 1);
    assert_int_equal(row.running, 1);
    scene_end(&c);
}

#define TESTS(new)                                                                                 \
    cmocka_unit_test_setup_teardown(an_end_counts_in_every_slot_of_its_scheduled_time, new,        \
                                    bench_free),                                                   \
        cmocka_unit_test_setup_teardown(what_is_counted_survives_with_and_without_rows, new,       \
                                        bench_free),                                               \
        cmocka_unit_test_setup_teardown(bytes_go_when_rows_include_them, new, bench_free),         \
        cmocka_unit_test_setup_teardown(a_fold_of_many_rows_may_be_cut_anywhere, new, bench_free), \
        cmocka_unit_test_setup_teardown(a_commit_that_fails_counts_nothing, new, bench_free),      \
        cmocka_unit_test_setup_teardown(the_batch_says_how_each_end_changed_the_streak, new,       \
                                        bench_free),                                               \
        cmocka_unit_test_setup_teardown(a_change_of_a_run_that_is_gone_counts_nothing, new,        \
                                        bench_free),                                               \
        cmocka_unit_test_setup_teardown(a_refused_edit_ends_nothing, new, bench_free),             \
        cmocka_unit_test_setup_teardown(a_deleted_job_does_not_come_back, new, bench_free),        \
        cmocka_unit_test_setup_teardown(old_slots_go, new, bench_free),                            \
        cmocka_unit_test_setup_teardown(a_report_has_a_row_a_day, new, bench_free)

int main(void)
{
    const struct CMUnitTest tests[] = { TESTS(memory_new), TESTS(sqlite_new) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
