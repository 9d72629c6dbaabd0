/* SPDX-License-Identifier: Apache-2.0 */
/* What comes with the runs of a server that is gone. */
#include "base/mem.h"
#include "support_ledger.h"
#include <stdlib.h>

/* A job's run, planned by this server, and its id. */
static int64_t planned_run(struct bench *b)
{
    const struct commit nothing = { .clean = false };
    const struct share alone = { .node = 1, .homes = { { 1, 4 } }, .n = 1, .living = 1 };
    struct job_record r;
    job_record_init(&r);
    r.group_id = 1;
    r.enabled = true;
    r.schedule_type = mem_dup("CRON");
    r.schedule_conf = mem_dup("0 0 0 * * ?");
    r.misfire = mem_dup("DO_NOTHING");
    r.route = mem_dup("FIRST");
    r.block = mem_dup("SERIAL_EXECUTION");
    r.glue_type = mem_dup("BEAN");
    r.handler = mem_dup("h");
    r.version = 1;
    r.next_ms = BENCH_NOW_MS + 1000;
    assert_int_equal(b->engine->txn->begin(b->s, NULL), OK);
    assert_int_equal(b->engine->catalog->job_insert(b->s, &r, NULL), OK);
    assert_int_equal(b->engine->txn->commit(b->s, &nothing, NULL), OK);
    job_record_done(&r);
    struct batch *batch = bench_batch();
    batch->share = alone;
    batch->claims = true;
    batch->plan_until_ms = BENCH_NOW_MS + 5000;
    assert_int_equal(bench_run(b, batch), OK);
    assert_int_equal(batch->nplanned, 1);
    int64_t id = batch->planned[0].row.log_id;
    batch_free(batch);
    return id;
}

/* A kill is answered by the owner: taken as a result it would be gone without an answer. */
static void results_come_with_a_run_and_kills_do_not(void **state)
{
    struct bench *b = *state;
    const struct store_cluster *cluster = b->engine->cluster;
    const struct commit nothing = { .clean = false };
    int64_t run = planned_run(b), kill, node, epoch;
    const struct inbox_row result = {
        .log_id = run, .at_ms = BENCH_NOW_MS, .code = 200, .what = INBOX_RESULT, .msg = (char *)"m"
    };
    assert_int_equal(b->engine->txn->begin(b->s, NULL), OK);
    assert_int_equal(cluster->inbox_ask(b->s, run, BENCH_NOW_MS, &kill, NULL), OK);
    assert_int_equal(cluster->inbox_put(b->s, &result, 1, NULL), OK);
    assert_int_equal(b->engine->txn->commit(b->s, &nothing, NULL), OK);
    cluster->life(b->s, &node, &epoch);
    struct batch *batch = bench_batch();
    batch->adopt = (struct adoption){ .epoch = epoch, .watermark_ms = INT64_MIN, .max = 10 };
    assert_int_equal(bench_run(b, batch), OK);
    assert_int_equal(batch->nadopted, 1);
    assert_int_equal(batch->adopted[0].row.log_id, run);
    assert_int_equal(batch->ninbox, 1);
    assert_int_equal(batch->inbox[0].what, INBOX_RESULT);
    assert_int_equal(batch->inbox[0].code, 200);
    assert_string_equal(batch->inbox[0].msg, "m");
    batch_free(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(results_come_with_a_run_and_kills_do_not, shared_new,
                                        bench_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
