/* SPDX-License-Identifier: Apache-2.0 */
/* Edits of jobs on a database that several servers can open: who has heard of them. Without
 * PEAL_TEST_DB there is no such database, and nothing is tried. */
#include "support_store.h"
#include <stdio.h>
#include <string.h>

static struct engine *shared_engine(void **state)
{
    struct engine *e = *state;
    if (!e->server)
        skip();
    return e;
}

static int64_t epoch_of(struct engine *e)
{
    int64_t node, epoch;
    e->s->ops->cluster->life(e->s, &node, &epoch);
    return epoch;
}

struct found {
    int n;
    struct untold last;
};

static bool take(void *ctx, const struct untold *u)
{
    struct found *f = ctx;
    f->n++;
    f->last = *u;
    return true;
}

static struct found untold(struct engine *e, int64_t job, int64_t version, int64_t but_epoch)
{
    struct found f = { .n = 0 };
    OP(e->s, cluster->runs_untold, job, version, but_epoch, take, &f);
    return f;
}

static void a_row_says_which_version_its_owner_knew(void **state)
{
    struct engine *e = shared_engine(state);
    int64_t epoch = epoch_of(e);
    OP(e->s, txn->begin);
    int64_t job = sample_job_add(e->s, "job", 1000);
    struct run_row rows[3];
    for (int i = 0; i < 3; i++) {
        rows[i] = sample_run(job, 2000 + i);
        rows[i].version = 7;
    }
    OP(e->s, runs->runs_add, rows, 3);
    OP(e->s, txn->commit, NULL);
    assert_int_equal(untold(e, job, 8, epoch).n, 0); /* those of this life know */
    assert_int_equal(untold(e, job, 7, epoch + 1).n, 0);
    struct found f = untold(e, job, 8, epoch + 1);
    assert_int_equal(f.n, 1);
    assert_int_equal(f.last.epoch, epoch);
    assert_int_equal(f.last.unsent, 3);
    /* one that is in doubt may be planned again; an accepted one may not, but is out */
    char sql[128];
    snprintf(sql, sizeof(sql), "UPDATE peal_run SET phase = 3 WHERE log_id = %lld",
             (long long)rows[0].log_id);
    engine_sql(e, sql);
    snprintf(sql, sizeof(sql), "UPDATE peal_run SET phase = 4 WHERE log_id = %lld",
             (long long)rows[1].log_id);
    engine_sql(e, sql);
    f = untold(e, job, 8, epoch + 1);
    assert_int_equal(f.last.unsent, 2);
    assert_int_equal(f.last.out, 3);
    /* a change of the version says it as well */
    struct run_change c = { .log_id = rows[0].log_id, .what = CHANGE_VERSION, .version = 8 };
    int64_t missed;
    OP(e->s, txn->begin);
    OP(e->s, runs->runs_change, &c, 1, &missed);
    OP(e->s, txn->commit, NULL);
    assert_int_equal(untold(e, job, 8, epoch + 1).last.unsent, 1);
    OP(e->s, txn->begin);
    OP(e->s, cluster->jobs_hold, &job, 1);
    OP(e->s, cluster->runs_told, job, 8);
    OP(e->s, txn->commit, NULL);
    assert_int_equal(untold(e, job, 8, epoch + 1).n, 0);
    assert_int_equal(untold(e, job, VERSION_DELETED, epoch + 1).n, 1);
}

struct elsewhere {
    int64_t planned, doubted;
};

static bool take_elsewhere(void *ctx, enum kind kind, enum phase phase, int64_t n)
{
    struct elsewhere *x = ctx;
    assert_int_equal(kind, KIND_CRON);
    *(phase == PHASE_PLANNED ? &x->planned : &x->doubted) += n;
    return true;
}

static struct elsewhere elsewhere(struct engine *e, int64_t job, int64_t but_epoch)
{
    struct elsewhere x = { 0, 0 };
    OP(e->s, cluster->runs_elsewhere, job, but_epoch, take_elsewhere, &x);
    return x;
}

static void runs_of_other_lives_are_counted_by_phase(void **state)
{
    struct engine *e = shared_engine(state);
    struct run_row rows[3];
    char sql[128];
    OP(e->s, txn->begin);
    int64_t job = sample_job_add(e->s, "job", 1000);
    for (int i = 0; i < 3; i++)
        rows[i] = sample_run(job, 2000 + i);
    OP(e->s, runs->runs_add, rows, 3);
    OP(e->s, txn->commit, NULL);
    snprintf(sql, sizeof(sql), "UPDATE peal_run SET phase = %d WHERE log_id = %lld", PHASE_UNKNOWN,
             (long long)rows[0].log_id);
    engine_sql(e, sql);
    assert_int_equal(elsewhere(e, job, epoch_of(e)).planned, 0);
    struct elsewhere x = elsewhere(e, job, epoch_of(e) + 1);
    assert_int_equal(x.planned, 2);
    assert_int_equal(x.doubted, 1);
    assert_int_equal(elsewhere(e, job + 1, epoch_of(e) + 1).planned, 0);
}

static bool count(void *ctx, const struct job_news *c)
{
    struct job_news *last = ctx;
    *last = *c;
    last->at_ms = last->id;
    return true;
}

static bool anew(struct engine *e, int64_t from, int64_t to)
{
    bool ret = false;
    OP(e->s, cluster->changes_anew, 5, from, to, &ret);
    return ret;
}

static void what_is_said_is_heard_until_it_is_old(void **state)
{
    struct engine *e = shared_engine(state);
    const struct job_news said[] = {
        { .job_id = 5, .version = 2, .at_ms = 1000 },
        { .job_id = 5, .version = 3, .at_ms = 2000, .anew = true },
        { .job_id = 5, .version = 4, .at_ms = 3000 },
        { .job_id = 6, .version = VERSION_DELETED, .at_ms = 3000 },
    };
    OP(e->s, txn->begin);
    OP(e->s, cluster->changes_put, said, 4, 0);
    OP(e->s, txn->commit, NULL);
    struct job_news last = { .id = 0 };
    OP(e->s, cluster->changes_each, 0, 10, count, &last);
    assert_int_equal(last.job_id, 6);
    assert_true(last.version == VERSION_DELETED);
    OP(e->s, cluster->changes_each, last.id - 1, 10, count, &last);
    assert_false(anew(e, 1, 2));
    assert_true(anew(e, 1, 3));
    assert_true(anew(e, 2, 3));
    assert_false(anew(e, 3, 4));
    assert_false(anew(e, 4, 4));
    assert_true(anew(e, 3, 5)); /* not all of them are known */
    OP(e->s, txn->begin);
    OP(e->s, cluster->changes_put, said + 3, 1, 2500);
    OP(e->s, txn->commit, NULL);
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM peal_change"), 3);
    assert_true(anew(e, 1, 2));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup_sql, teardown_engine)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_row_says_which_version_its_owner_knew),
        CASE(runs_of_other_lives_are_counted_by_phase),
        CASE(what_is_said_is_heard_until_it_is_old),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
