/* SPDX-License-Identifier: Apache-2.0 */
/* What a server tells the others of edits: its own, once each. */
#include "base/mem.h"
#include "support_ledger.h"

struct said {
    int n;
    int64_t version; /* of the last one */
};

static bool add(void *ctx, const struct job_news *c)
{
    struct said *s = ctx;
    s->n++;
    s->version = c->version;
    return true;
}

static struct said said(struct bench *b)
{
    struct said s = { 0, 0 };
    assert_int_equal(b->engine->cluster->changes_each(b->s, 0, 100, add, &s, NULL), OK);
    return s;
}

static void edit(struct bench *b, enum edit_kind kind, int64_t id, bool gone)
{
    struct edit *e = edit_new(kind);
    e->id = id;
    e->version = -1;
    e->gone = gone;
    struct batch *batch = bench_edit(e);
    assert_int_equal(bench_run(b, batch), OK);
    assert_int_equal(e->err, OK);
    batch_free(batch);
}

static int64_t job_made(struct bench *b)
{
    const struct commit nothing = { .clean = false };
    struct job_record r;
    job_record_init(&r);
    r.group_id = 1;
    r.schedule_type = mem_dup("CRON");
    r.schedule_conf = mem_dup("0 0 0 1 1 ? 2090");
    r.misfire = mem_dup("DO_NOTHING");
    r.route = mem_dup("FIRST");
    r.block = mem_dup("SERIAL_EXECUTION");
    r.glue_type = mem_dup("BEAN");
    r.handler = mem_dup("h");
    r.version = 1;
    r.next_ms = NEVER_MS;
    assert_int_equal(b->engine->txn->begin(b->s, NULL), OK);
    assert_int_equal(b->engine->catalog->job_insert(b->s, &r, NULL), OK);
    assert_int_equal(b->engine->txn->commit(b->s, &nothing, NULL), OK);
    int64_t id = r.id;
    job_record_done(&r);
    return id;
}

static void an_edit_is_told_by_the_server_that_made_it(void **state)
{
    struct bench *b = *state;
    int64_t job = job_made(b);
    edit(b, EDIT_JOB_START, job, false);
    assert_int_equal(said(b).n, 1);
    assert_int_equal(said(b).version, 2);
    edit(b, EDIT_JOB_SYNC, job, false); /* heard of here */
    assert_int_equal(said(b).n, 1);
    edit(b, EDIT_JOB_DELETE, job, false);
    assert_int_equal(said(b).n, 2);
    assert_true(said(b).version == VERSION_DELETED);
    edit(b, EDIT_JOB_DELETE, job, true); /* heard of here: what is left of it ends */
    assert_int_equal(said(b).n, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_edit_is_told_by_the_server_that_made_it, shared_new,
                                        bench_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
