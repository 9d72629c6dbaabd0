/* SPDX-License-Identifier: Apache-2.0 */
/* A broadcast of which another server has some shards already, by another list of executors. */
#include "base/mem.h"
#include "ledger/internal.h"
#include "support_ledger.h"
#include <stdlib.h>

#define ME 1
#define GROUP 1

static const struct share share = { .node = ME, .homes = { { ME, 4 } }, .n = 1, .living = 2 };
static const struct commit nothing;

static int64_t broadcast_due(struct bench *b)
{
    struct job_record r;
    job_record_init(&r);
    r.group_id = GROUP;
    r.enabled = true;
    r.schedule_type = mem_dup("CRON");
    r.schedule_conf = mem_dup("* * * * * ?");
    r.misfire = mem_dup("DO_NOTHING");
    r.route = mem_dup("SHARDING_BROADCAST");
    r.block = mem_dup("SERIAL_EXECUTION");
    r.glue_type = mem_dup("BEAN");
    r.handler = mem_dup("h");
    r.version = 1;
    r.next_ms = BENCH_NOW_MS + 1000;
    const int64_t home = ME;
    assert_int_equal(b->engine->txn->begin(b->s, NULL), OK);
    assert_int_equal(b->engine->catalog->job_insert(b->s, &r, NULL), OK);
    assert_int_equal(b->engine->cluster->homes_put(b->s, &r.id, &home, 1, NULL), OK);
    assert_int_equal(b->engine->txn->commit(b->s, &nothing, NULL), OK);
    int64_t id = r.id;
    job_record_done(&r);
    return id;
}

static void shard_there(struct bench *b, int64_t job_id, int64_t scheduled_ms, int shard, int of)
{
    struct run_row r = { .job_id = job_id,
                         .group_id = GROUP,
                         .kind = KIND_CRON,
                         .scheduled_ms = scheduled_ms,
                         .due_ms = scheduled_ms,
                         .shard = shard,
                         .shard_total = of,
                         .broadcast = true,
                         .version = 1,
                         .phase = PHASE_PLANNED };
    assert_int_equal(b->engine->txn->begin(b->s, NULL), OK);
    assert_int_equal(b->engine->runs->runs_add(b->s, &r, 1, NULL), OK);
    assert_int_equal(b->engine->txn->commit(b->s, &nothing, NULL), OK);
}

static void plan(struct bench *b, int addresses)
{
    const char *const list[] = { "http://a:1/", "http://b:1/", "http://c:1/" };
    struct batch *batch = bench_batch();
    batch->share = share;
    batch->plan_until_ms = BENCH_NOW_MS + 2000;
    planner_set_view(b->planner, group_view_new(GROUP, 1, list, addresses));
    assert_int_equal(bench_run(b, batch), OK);
    assert_int_equal(batch->njobs_planned, 1);
    batch_free(batch);
}

struct seen {
    int64_t scheduled_ms;
    int n, of;
};

static bool see(void *ctx, const struct run_row *r)
{
    struct seen *x = ctx;
    if (r->scheduled_ms == x->scheduled_ms) {
        x->n++;
        x->of = r->shard_total;
    }
    return true;
}

static void has_shards(struct bench *b, int64_t scheduled_ms, int n, int of)
{
    struct seen x = { .scheduled_ms = scheduled_ms };
    assert_int_equal(b->engine->runs->runs_each(b->s, see, &x, NULL), OK);
    assert_int_equal(x.n, n);
    assert_int_equal(x.of, of);
}

static void a_broadcast_is_laid_down_whole_or_not_at_all(void **state)
{
    struct bench *b = *state;
    int64_t before = bench_unaccounted(b);
    int64_t job = broadcast_due(b);
    shard_there(b, job, BENCH_NOW_MS + 1000, 0, 1);
    plan(b, 3);
    has_shards(b, BENCH_NOW_MS + 1000, 1, 1); /* as the other server has it */
    has_shards(b, BENCH_NOW_MS + 2000, 3, 3);
    assert_int_equal(bench_logs(b), 4);                 /* no log row is left of the others */
    assert_int_equal(bench_unaccounted(b), before - 1); /* the other server counts its own */
}

static void a_later_shard_that_is_there_counts_as_well(void **state)
{
    struct bench *b = *state;
    int64_t job = broadcast_due(b);
    shard_there(b, job, BENCH_NOW_MS + 2000, 1, 2);
    plan(b, 2);
    has_shards(b, BENCH_NOW_MS + 1000, 2, 2);
    has_shards(b, BENCH_NOW_MS + 2000, 1, 2); /* its first one has left, and has ended */
    assert_int_equal(bench_logs(b), 3);
}

static struct run_row row_of(int64_t job_id, int shard)
{
    return (struct run_row){ .job_id = job_id,
                             .group_id = GROUP,
                             .kind = KIND_CRON,
                             .scheduled_ms = BENCH_NOW_MS + 1000,
                             .due_ms = BENCH_NOW_MS + 1000,
                             .shard = shard,
                             .shard_total = 2,
                             .broadcast = true,
                             .version = 1,
                             .phase = PHASE_PLANNED };
}

/* An edit and the planner have come upon the same scheduled time, in one transaction. */
static void what_a_transaction_plans_twice_is_laid_down_once(void **state)
{
    struct bench *b = *state;
    int64_t job = broadcast_due(b);
    struct run_row rows[] = { row_of(job, 0), row_of(job, 1), row_of(job, 0), row_of(job, 1) };
    struct job *jobs[countof(rows)] = { NULL };
    const struct spawn *spawns[countof(rows)] = { NULL };
    struct batch *batch = bench_batch();
    struct txn t = { .store = b->s,
                     .ops = b->engine,
                     .b = batch,
                     .rows = { .rows = rows, .n = countof(rows) },
                     .jobs = jobs,
                     .spawns = spawns,
                     .njobs = countof(rows) };
    assert_int_equal(b->engine->txn->begin(b->s, NULL), OK);
    assert_int_equal(txn_rows_add(&t), OK);
    assert_int_equal(b->engine->txn->commit(b->s, &nothing, NULL), OK);
    assert_int_equal(batch->nplanned, 2);
    has_shards(b, BENCH_NOW_MS + 1000, 2, 2);
    batch_free(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_broadcast_is_laid_down_whole_or_not_at_all, shared_new,
                                        bench_free),
        cmocka_unit_test_setup_teardown(a_later_shard_that_is_there_counts_as_well, shared_new,
                                        bench_free),
        cmocka_unit_test_setup_teardown(what_a_transaction_plans_twice_is_laid_down_once,
                                        shared_new, bench_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
