/* SPDX-License-Identifier: Apache-2.0 */
/* Edits of one job that share a batch, on both engines: what becomes of its open runs. */
#include "base/mem.h"
#include "support_ledger.h"
#include <stdlib.h>
#include <string.h>

static int64_t job_of_version_1(struct bench *b)
{
    struct job_record job;
    job_record_init(&job);
    job.group_id = 1;
    job.enabled = true;
    job.version = 1;
    job.schedule_type = mem_dup("CRON");
    job.schedule_conf = mem_dup("0 0 3 * * ?");
    assert_int_equal(b->engine->txn->begin(b->s, NULL), OK);
    assert_int_equal(b->engine->catalog->job_insert(b->s, &job, NULL), OK);
    assert_int_equal(b->engine->txn->commit(b->s, NULL, NULL), OK);
    int64_t id = job.id;
    job_record_done(&job);
    return id;
}

/* A run of the job that waits, as of version 1. */
static int64_t run_new(struct bench *b, int64_t job_id, enum kind kind)
{
    struct run_row r = { .job_id = job_id,
                         .group_id = 1,
                         .kind = kind,
                         .scheduled_ms = BENCH_NOW_MS,
                         .due_ms = BENCH_NOW_MS + 60000,
                         .version = 1,
                         .shard_total = 1,
                         .phase = PHASE_PLANNED };
    assert_int_equal(b->engine->txn->begin(b->s, NULL), OK);
    assert_int_equal(b->engine->runs->runs_add(b->s, &r, 1, NULL), OK);
    assert_int_equal(b->engine->txn->commit(b->s, NULL, NULL), OK);
    return r.log_id;
}

/* An edit of the job, as the scheduler takes it up: with its view of the run. */
static struct edit *edit_of(enum edit_kind kind, int64_t job_id, const struct edit_run *run)
{
    struct edit *e = edit_new(kind);
    e->id = job_id;
    e->version = -1;
    e->runs = mem_new(sizeof(*run));
    e->runs[e->nruns++] = *run;
    return e;
}

struct found {
    int64_t log_id, version;
    int n;
};

static bool look(void *ctx, const struct run_row *r)
{
    struct found *f = ctx;
    if (r->log_id == f->log_id) {
        f->version = r->version;
        f->n++;
    }
    return true;
}

/* Of a stop and a start in one batch, each saw the run before the other was written. */
static void a_retry_by_hand_follows_each_edit_of_its_job_in_a_batch(void **state)
{
    struct bench *b = *state;
    int64_t job_id = job_of_version_1(b);
    struct found f = { .log_id = run_new(b, job_id, KIND_RETRY) };
    struct edit_run run = { .change = { .log_id = f.log_id,
                                        .what = CHANGE_PHASE | CHANGE_TRIGGER,
                                        .phase = PHASE_WITHDRAWN },
                            .log_id = f.log_id,
                            .scheduled_ms = BENCH_NOW_MS,
                            .version = 1,
                            .kind = KIND_RETRY,
                            .by_hand = true };
    struct batch *batch = bench_batch();
    batch->edits = mem_new(2 * sizeof(struct edit *));
    batch->edits[batch->nedits++] = edit_of(EDIT_JOB_STOP, job_id, &run);
    batch->edits[batch->nedits++] = edit_of(EDIT_JOB_START, job_id, &run);
    assert_int_equal(bench_run(b, batch), OK);
    assert_int_equal(batch->edits[0]->err, OK);
    assert_int_equal(batch->edits[1]->err, OK);
    assert_true(batch->edits[1]->runs[0].stays);
    assert_int_equal(b->engine->runs->runs_each(b->s, look, &f, NULL), OK);
    assert_int_equal(f.n, 1);
    assert_int_equal(f.version, 3);
    batch_free(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_retry_by_hand_follows_each_edit_of_its_job_in_a_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
