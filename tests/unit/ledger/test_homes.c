/* SPDX-License-Identifier: Apache-2.0 */
/* What one of several servers plans, and where it puts the jobs that it writes. */
#include "base/mem.h"
#include "support_ledger.h"
#include <stdlib.h>

#define ME 1
#define OTHER 2
#define DEAD 7

static const struct share both = {
    .node = ME, .homes = { { ME, 4 }, { OTHER, 4 } }, .n = 2, .living = 2
};
static const struct share other_plans = {
    .node = ME, .homes = { { OTHER, 4 } }, .n = 1, .living = 2
};

static struct job_record record(const char *type, const char *conf)
{
    struct job_record r;
    job_record_init(&r);
    r.group_id = 1;
    r.enabled = true;
    r.schedule_type = mem_dup(type);
    r.schedule_conf = mem_dup(conf);
    r.misfire = mem_dup("DO_NOTHING");
    r.route = mem_dup("FIRST");
    r.block = mem_dup("SERIAL_EXECUTION");
    r.glue_type = mem_dup("BEAN");
    r.handler = mem_dup("h");
    r.version = 1;
    return r;
}

/* A job that is due in so many milliseconds, in that home. */
static int64_t job_in(struct bench *b, int64_t home, const char *type, int64_t in_ms)
{
    struct job_record r = record(type, type[0] == 'C' ? "* * * * * ?" : "1");
    const struct commit nothing = { .clean = false };
    r.next_ms = in_ms == NEVER_MS ? NEVER_MS : BENCH_NOW_MS + in_ms;
    assert_int_equal(b->engine->txn->begin(b->s, NULL), OK);
    assert_int_equal(b->engine->catalog->job_insert(b->s, &r, NULL), OK);
    assert_int_equal(b->engine->cluster->homes_put(b->s, &r.id, &home, 1, NULL), OK);
    assert_int_equal(b->engine->txn->commit(b->s, &nothing, NULL), OK);
    int64_t id = r.id;
    job_record_done(&r);
    return id;
}

static int64_t count(struct bench *b, int64_t home)
{
    int64_t n = 0;
    assert_int_equal(b->engine->cluster->homes_count(b->s, home, &n, NULL), OK);
    return n;
}

/* How many jobs a batch plans. */
static int plan(struct bench *b, const struct share *share, bool claims, int64_t ahead_ms)
{
    struct batch *batch = bench_batch();
    batch->share = *share;
    batch->claims = claims;
    batch->plan_until_ms = BENCH_NOW_MS + ahead_ms;
    assert_int_equal(bench_run(b, batch), OK);
    int planned = batch->njobs_planned;
    batch_free(batch);
    return planned;
}

static void others_jobs_are_planned_shortly_before_their_time(void **state)
{
    struct bench *b = *state;
    (void)job_in(b, OTHER, "CRON", 1000);
    (void)job_in(b, 0, "CRON", 1000);
    (void)job_in(b, OTHER, "CRON", 3000);
    assert_int_equal(plan(b, &other_plans, false, 5000), 0);
    assert_int_equal(plan(b, &other_plans, true, 5000), 2);
    assert_int_equal(count(b, OTHER), 3); /* where they belong, also the one that was nowhere */
    assert_int_equal(plan(b, &other_plans, true, 5000), 0);
    (void)job_in(b, ME, "CRON", 4000);
    assert_int_equal(plan(b, &other_plans, false, 5000), 1); /* its own, at any time */
    assert_int_equal(count(b, ME), 0);
}

static void an_edit_puts_the_job_into_its_home(void **state)
{
    struct bench *b = *state;
    struct group_record g = { .app = (char *)"app", .title = (char *)"title" };
    const struct commit nothing = { .clean = false };
    assert_int_equal(b->engine->txn->begin(b->s, NULL), OK);
    assert_int_equal(b->engine->catalog->group_insert(b->s, &g, NULL), OK);
    assert_int_equal(b->engine->txn->commit(b->s, &nothing, NULL), OK);
    for (int i = 0; i < 20; i++) {
        struct edit *e = edit_new(EDIT_JOB_INSERT);
        e->job = record("CRON", "0 0 0 1 1 ? 2090");
        e->job.enabled = false;
        struct batch *batch = bench_edit(e);
        batch->share = both;
        assert_int_equal(bench_run(b, batch), OK);
        assert_int_equal(e->err, OK);
        int64_t id = e->id;
        batch_free(batch);
        e = edit_new(EDIT_JOB_START);
        e->id = id;
        e->plan_until_ms = BENCH_NOW_MS + 5000;
        batch = bench_edit(e);
        batch->share = both;
        assert_int_equal(bench_run(b, batch), OK);
        assert_int_equal(e->err, OK);
        batch_free(batch);
        struct home_row last = { home_of(id, both.homes, both.n), INT64_MIN, INT64_MIN }, rows[32];
        int n;
        assert_int_equal(b->engine->cluster->homes_take(b->s, &last, 32, rows, &n, NULL), OK);
        assert_true(n > 0);
        assert_int_equal(rows[n - 1].job_id, id); /* the newest of them has the largest id */
    }
    assert_int_equal(count(b, ME) + count(b, OTHER), 20);
}

static void a_walk_moves_own_jobs_and_those_of_the_dead(void **state)
{
    struct bench *b = *state;
    enum { MANY = 620 }; /* more than a slice */
    int64_t wrong = 0;
    for (int i = 0; i < 60; i++) {
        wrong += home_of(job_in(b, OTHER, "CRON", 900000), both.homes, both.n) == ME;
        (void)job_in(b, i % 2 ? 0 : ME, "CRON", 900000);
    }
    for (int i = 0; i < MANY; i++)
        (void)job_in(b, DEAD, "CRON", 900000 + i / 2);
    (void)job_in(b, DEAD, "CRON", NEVER_MS);
    struct home_row from = { 0, INT64_MIN, INT64_MIN };
    int slices = 0, moved = 0;
    for (bool left = true; left; slices++) {
        struct batch *batch = bench_batch();
        batch->share = both;
        batch->homes = (struct homes_slice){ .wanted = true, .from = from };
        assert_int_equal(bench_run(b, batch), OK);
        left = batch->homes.left;
        from = batch->homes.next;
        moved += batch->homes.moved;
        batch_free(batch);
        assert_true(slices < 10);
    }
    assert_int_equal(slices, 4); /* home 0, ME, and DEAD in two */
    assert_true(wrong > 0);
    assert_int_equal(count(b, DEAD) + count(b, 0), 0);
    assert_in_range(moved, MANY + 30, MANY + 60);
    assert_int_equal(count(b, ME) + count(b, OTHER), 120 + MANY);
    /* those of a node that plans are its own business */
    int64_t right = 0;
    struct home_row rows[800], first = { OTHER, INT64_MIN, INT64_MIN };
    int n;
    assert_int_equal(b->engine->cluster->homes_take(b->s, &first, 800, rows, &n, NULL), OK);
    for (int i = 0; i < n; i++)
        right += home_of(rows[i].job_id, both.homes, both.n) == OTHER;
    assert_int_equal(n - right, wrong);
}

static void the_next_time_of_a_fixed_delay_waits_for_the_home(void **state)
{
    static const struct {
        int64_t home, end_ms; /* the interval is a second */
        int planned;
    } cases[] = { { OTHER, 0, 1 }, { OTHER, 2000, 0 }, { ME, 0, 0 } };
    struct bench *b = *state;
    for (size_t i = 0; i < countof(cases); i++) {
        int64_t id = job_in(b, cases[i].home, "FIX_DELAY", NEVER_MS);
        struct batch *batch = bench_batch();
        batch->share = cases[i].home == OTHER ? other_plans : both;
        if (cases[i].home == ME)
            batch->share = (struct share){ .node = ME, .homes = { { ME, 4 } }, .n = 1 };
        batch->delays = mem_new(sizeof(*batch->delays));
        batch->delays[batch->ndelays++] = (struct delay){ id, BENCH_NOW_MS + cases[i].end_ms };
        assert_int_equal(bench_run(b, batch), OK);
        assert_int_equal(batch->nplanned, cases[i].planned);
        batch_free(batch);
        struct job_record r;
        assert_int_equal(b->engine->catalog->job_get(b->s, id, &r, NULL), OK);
        assert_int_equal(r.next_ms,
                         cases[i].planned ? NEVER_MS : BENCH_NOW_MS + cases[i].end_ms + 1000);
        job_record_done(&r);
    }
    assert_int_equal(count(b, OTHER), 1);
    assert_int_equal(count(b, ME), 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, shared_new, bench_free)
    const struct CMUnitTest tests[] = {
        T(others_jobs_are_planned_shortly_before_their_time),
        T(an_edit_puts_the_job_into_its_home),
        T(a_walk_moves_own_jobs_and_those_of_the_dead),
        T(the_next_time_of_a_fixed_delay_waits_for_the_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
