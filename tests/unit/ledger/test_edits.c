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

/* ---- among other servers ---------------------------------------------------------------------
 */

#define OTHERS_MS (BENCH_NOW_MS + 3000)
#define LATER_MS (BENCH_NOW_MS + 5000)
#define REACH_MS (BENCH_NOW_MS + 9000)

static int looks_until_later = 1000; /* at the watermarks; after them the others say LATER_MS */
static int64_t others_ms = OTHERS_MS;
static int64_t told; /* the version that this server's runs know */

static void life(struct store *s, int64_t *ret_node, int64_t *ret_epoch)
{
    (void)s;
    *ret_node = *ret_epoch = 1;
}

/* This server's life, and one that is over. */
static enum err lives_each(struct store *s, int64_t limit, life_row_fn *fn, void *ctx,
                           struct why *why)
{
    const struct life_record lives[] = {
        { .node = 1, .epoch = 1, .watermark_ms = BENCH_NOW_MS + 1000 },
        { .node = 2, .epoch = 2, .watermark_ms = others_ms, .ended = true },
        { .node = 3, .epoch = 3, .watermark_ms = BENCH_NOW_MS },
    };
    const struct life_record later = { .node = 3, .epoch = 3, .watermark_ms = LATER_MS };
    (void)s;
    (void)limit;
    (void)why;
    if (looks_until_later-- <= 0)
        (void)fn(ctx, &later);
    for (size_t i = 0; i < countof(lives); i++)
        if (!fn(ctx, &lives[i]))
            break;
    return OK;
}

static enum err changes_put(struct store *s, const struct job_news *changes, int n,
                            int64_t before_ms, struct why *why)
{
    (void)s;
    (void)changes;
    (void)before_ms;
    (void)why;
    assert_int_equal(n, 1);
    return OK;
}

static enum err runs_untold(struct store *s, int64_t job_id, int64_t version, int64_t but_epoch,
                            untold_fn *fn, void *ctx, struct why *why)
{
    const struct untold u = { .node = "two", .unsent = 4 };
    (void)s;
    (void)job_id;
    (void)why;
    assert_int_equal(version, 2);
    assert_int_equal(but_epoch, 1);
    (void)fn(ctx, &u);
    return OK;
}

static enum err runs_told(struct store *s, int64_t job_id, int64_t version, struct why *why)
{
    (void)s;
    (void)job_id;
    (void)why;
    told = version;
    return OK;
}

static void home(struct store *s, int64_t node, int64_t claim_ms)
{
    (void)s;
    (void)node;
    (void)claim_ms;
}

static enum err homes_put(struct store *s, const int64_t *ids, const int64_t *homes, int n,
                          struct why *why)
{
    (void)s;
    (void)ids;
    (void)homes;
    (void)n;
    (void)why;
    return OK;
}

static int64_t held[8]; /* ids, in the order in which they were asked for */
static int nheld;

static enum err jobs_hold(struct store *s, const int64_t *ids, int n, struct why *why)
{
    (void)s;
    (void)why;
    for (int i = 0; i < n && nheld < (int)countof(held); i++)
        held[nheld++] = ids[i];
    return OK;
}

static enum err record_hold(struct store *s, enum store_record kind, int64_t id, struct why *why)
{
    (void)s;
    (void)kind;
    (void)why;
    held[nheld++ % (int)countof(held)] = id;
    return OK;
}

static const struct store_cluster cluster = { .life = life,
                                              .jobs_hold = jobs_hold,
                                              .record_hold = record_hold,
                                              .lives_each = lives_each,
                                              .changes_put = changes_put,
                                              .runs_told = runs_told,
                                              .runs_untold = runs_untold,
                                              .home = home,
                                              .homes_put = homes_put };

static int64_t planned_until(struct bench *b, int64_t job_id)
{
    struct job_record r;
    job_record_init(&r);
    assert_int_equal(b->engine->catalog->job_get(b->s, job_id, &r, NULL), OK);
    int64_t until_ms = r.planned_until_ms;
    job_record_done(&r);
    return until_ms;
}

/* The edit of a job that is planned up to until_ms; this server looks ahead to LATER_MS. The batch
 * has waited so long for the database. */
static struct batch *edit_after(struct bench *b, int64_t job_id, enum edit_kind kind, bool shared,
                                int64_t until_ms, enum err wanted, int64_t waited_ms)
{
    struct due_row due = {
        .job_id = job_id, .next_ms = until_ms + 1000, .planned_until_ms = until_ms, .version = 1
    };
    assert_int_equal(b->engine->txn->begin(b->s, NULL), OK);
    assert_int_equal(b->engine->runs->due_put(b->s, &due, 1, NULL), OK);
    assert_int_equal(b->engine->txn->commit(b->s, NULL, NULL), OK);
    struct edit *e = edit_new(kind);
    e->id = job_id;
    e->version = -1;
    e->sent_until_ms = BENCH_NOW_MS + 1000;
    e->plan_until_ms = LATER_MS;
    b->ops.cluster = shared ? &cluster : b->engine->cluster;
    b->s->ops = &b->ops;
    b->s->shared = shared;
    struct batch *batch = bench_edit(e);
    batch->plan_max_rows = 3;
    batch->waited_ms = waited_ms;
    nheld = 0;
    assert_int_equal(bench_run(b, batch), wanted);
    assert_int_equal(nheld, shared); /* the row that it changes, and where there are others alone */
    assert_true(!shared || held[0] == job_id);
    assert_int_equal(batch->edits[0]->err, OK);
    b->s->ops = b->engine;
    b->s->shared = false;
    return batch;
}

static struct batch *edit_beside(struct bench *b, int64_t job_id, enum edit_kind kind, bool shared,
                                 int64_t until_ms, enum err wanted)
{
    return edit_after(b, job_id, kind, shared, until_ms, wanted, 0);
}

static int64_t stop(struct bench *b, bool shared, int64_t *ret_untold)
{
    int64_t job_id = job_of_version_1(b);
    struct batch *batch = edit_beside(b, job_id, EDIT_JOB_STOP, shared, LATER_MS, OK);
    *ret_untold = batch->edits[0]->untold;
    batch_free(batch);
    return planned_until(b, job_id);
}

/* What another server may have sent, or may still send, is not planned again, whoever stops and
 * starts the job. */
static void a_stop_forgets_nothing_that_any_server_may_have_sent(void **state)
{
    int64_t untold = -1;
    assert_int_equal(stop(*state, false, &untold), BENCH_NOW_MS + 1000);
    assert_int_equal(untold, 0);
    assert_int_equal(stop(*state, true, &untold), LATER_MS);
    assert_int_equal(untold, 4);
}

static int64_t job_with(struct bench *b, const char *type, const char *conf)
{
    int64_t id = job_of_version_1(b);
    struct job_record r;
    job_record_init(&r);
    assert_int_equal(b->engine->txn->begin(b->s, NULL), OK);
    assert_int_equal(b->engine->catalog->job_get(b->s, id, &r, NULL), OK);
    free(r.schedule_type);
    free(r.schedule_conf);
    r.schedule_type = mem_dup(type);
    r.schedule_conf = mem_dup(conf);
    assert_int_equal(b->engine->catalog->job_update(b->s, &r, NULL), OK);
    assert_int_equal(b->engine->txn->commit(b->s, NULL, NULL), OK);
    job_record_done(&r);
    return id;
}

static int64_t job_of_each_second(struct bench *b)
{
    return job_with(b, "CRON", "* * * * * ?");
}

/* Another server, whose clock is ahead, has rows beyond what this one looks ahead to, and knows
 * nothing of the edit. When they have been sent and have ended nothing is in the way of others. */
static void an_edit_plans_all_that_others_may_still_send(void **state)
{
    struct bench *b = *state;
    int64_t id = job_of_each_second(b);
    struct batch *batch = edit_beside(b, id, EDIT_JOB_START, true, REACH_MS, OK);
    assert_int_equal(batch->nplanned, 6); /* though a batch is to have three */
    assert_int_equal(batch->planned[0].row.scheduled_ms, OTHERS_MS + 1000);
    assert_int_equal(batch->planned[5].row.scheduled_ms, REACH_MS);
    assert_int_equal(planned_until(b, id), REACH_MS);
    batch_free(batch);
}

/* Another server may have changed the job shortly before, and waits for what is here to know that:
 * an edit here comes after it, and nothing else says it. */
static void an_edit_is_known_where_it_was_made(void **state)
{
    struct bench *b = *state;
    int64_t untold;
    told = 0;
    stop(b, false, &untold);
    assert_int_equal(told, 0); /* a server alone has nobody to tell */
    stop(b, true, &untold);
    assert_int_equal(told, 2);
}

/* The database did not answer while this edit waited, and others have gone on: what they may have
 * sent is not planned again. */
static void a_rate_that_waited_takes_no_clock_for_gone_back(void **state)
{
    struct bench *b = *state;
    int64_t id = job_with(b, "FIX_RATE", "1");
    others_ms = LATER_MS + 3000;
    struct batch *batch = edit_after(b, id, EDIT_JOB_START, true, LATER_MS + 3000, OK, 10000);
    assert_int_equal(batch->nplanned, 0);
    batch_free(batch);
    id = job_with(b, "FIX_RATE", "1");
    batch = edit_after(b, id, EDIT_JOB_START, true, LATER_MS + 3000, OK, 0); /* it has gone back */
    others_ms = OTHERS_MS;
    assert_int_equal(batch->nplanned, 3);
    assert_int_equal(batch->planned[0].row.scheduled_ms, BENCH_NOW_MS + 1000);
    batch_free(batch);
}

/* What stands far ahead is of a clock that has gone back. */
static void an_edit_plans_no_more_than_others_look_ahead(void **state)
{
    struct bench *b = *state;
    int64_t id = job_of_each_second(b);
    batch_free(edit_beside(b, id, EDIT_JOB_START, true, BENCH_NOW_MS + 3600000, OK));
    assert_int_equal(planned_until(b, id), LATER_MS);
}

/* A run of a scheduled time, which has ended. */
static void ended_add(struct bench *b, int64_t job_id, int64_t scheduled_ms)
{
    struct run_row r = { .job_id = job_id,
                         .group_id = 1,
                         .kind = KIND_CRON,
                         .phase = PHASE_PLANNED,
                         .scheduled_ms = scheduled_ms,
                         .due_ms = scheduled_ms,
                         .log_ms = -1,
                         .shard_total = 1 };
    int64_t missed;
    assert_int_equal(b->engine->txn->begin(b->s, NULL), OK);
    assert_int_equal(b->engine->runs->runs_add(b->s, &r, 1, NULL), OK);
    struct run_change c = { .log_id = r.log_id,
                            .what = CHANGE_PHASE | CHANGE_CLOSE,
                            .phase = PHASE_SUCCEEDED };
    assert_int_equal(b->engine->runs->runs_change(b->s, &c, 1, &missed, NULL), OK);
    assert_int_equal(b->engine->txn->commit(b->s, NULL, NULL), OK);
}

/* While the edit's transaction is under way another server writes a later watermark, sends a run,
 * and its end. */
static void what_was_sent_during_an_edit_is_not_planned_again(void **state)
{
    struct bench *b = *state;
    int64_t id = job_of_each_second(b);
    looks_until_later = 1;
    struct batch *batch = edit_beside(b, id, EDIT_JOB_START, true, LATER_MS, OK);
    assert_int_equal(batch->nplanned, 2); /* nothing was sent: both stand */
    batch_free(batch);
    id = job_of_each_second(b);
    ended_add(b, id, LATER_MS);
    looks_until_later = 1;
    batch_free(edit_beside(b, id, EDIT_JOB_START, true, LATER_MS, ERR_CONFLICT));
    batch = edit_beside(b, id, EDIT_JOB_START, true, LATER_MS, OK); /* the same again */
    assert_int_equal(batch->nplanned, 0);
    assert_int_equal(batch->edits[0]->sent_until_ms, LATER_MS);
    batch_free(batch);
    looks_until_later = 1000;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_retry_by_hand_follows_each_edit_of_its_job_in_a_batch),
        BOTH(a_stop_forgets_nothing_that_any_server_may_have_sent),
        BOTH(an_edit_plans_all_that_others_may_still_send),
        BOTH(an_edit_is_known_where_it_was_made),
        BOTH(a_rate_that_waited_takes_no_clock_for_gone_back),
        BOTH(an_edit_plans_no_more_than_others_look_ahead),
        BOTH(what_was_sent_during_an_edit_is_not_planned_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
