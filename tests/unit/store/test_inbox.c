/* SPDX-License-Identifier: Apache-2.0 */
/* The inbox of a database that several servers can open: which rows are for whom, and who deletes
 * them. Without PEAL_TEST_DB there is no such database, and nothing is tried. */
#include "support_store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 1500 /* more than one statement names */

static struct engine *shared_engine(void **state)
{
    struct engine *e = *state;
    if (!e->server)
        skip();
    return e;
}

/* A live run of this handle's epoch. */
static int64_t run_add(struct engine *e, int64_t scheduled_ms)
{
    OP(e->s, txn->begin);
    struct run_row row = sample_run(sample_job_add(e->s, "job", 1000), scheduled_ms);
    OP(e->s, runs->runs_add, &row, 1);
    OP(e->s, txn->commit, NULL);
    return row.log_id;
}

static void put(struct engine *e, int64_t log_id, int code)
{
    const struct inbox_row row = {
        .log_id = log_id, .at_ms = 1000 + code, .code = code, .msg = (char *)"wörd"
    };
    OP(e->s, txn->begin);
    OP(e->s, cluster->inbox_put, &row, 1);
    OP(e->s, txn->commit, NULL);
}

struct found {
    int n;
    int64_t ids[8], log_ids[8];
    int codes[8];
};

static bool take(void *ctx, const struct inbox_row *r)
{
    struct found *f = ctx;
    assert_true(f->n < 8);
    f->ids[f->n] = r->id;
    f->log_ids[f->n] = r->log_id;
    f->codes[f->n++] = r->code;
    assert_int_equal(r->at_ms, 1000 + r->code);
    assert_string_equal(r->msg, "wörd");
    return true;
}

static struct found each(struct engine *e, int64_t after_id, int max)
{
    struct found f = { .n = 0 };
    OP(e->s, cluster->inbox_each, after_id, max, take, &f);
    return f;
}

static void what_is_there_is_for_the_owner_of_the_run(void **state)
{
    struct engine *e = shared_engine(state);
    char sql[128];
    int64_t ours = run_add(e, 2000), theirs = run_add(e, 3000), over = theirs + 1000;
    snprintf(sql, sizeof(sql), "UPDATE peal_run SET epoch = epoch + 1 WHERE log_id = %lld",
             (long long)theirs);
    engine_sql(e, sql);
    put(e, theirs, 1);
    put(e, ours, 2);
    put(e, over, 3);
    put(e, ours, 4);
    engine_sql(e, "UPDATE peal_inbox SET what = 3 WHERE code = 4"); /* an answer: its asker's */
    struct found f = each(e, 0, 8);
    assert_int_equal(f.n, 2);
    assert_int_equal(f.log_ids[0], ours);
    assert_int_equal(f.log_ids[1], over);
    assert_int_equal(f.codes[1], 3);
    assert_true(f.ids[0] > 0 && f.ids[0] < f.ids[1]);
    assert_int_equal(each(e, f.ids[0], 8).log_ids[0], over);
    assert_int_equal(each(e, 0, 1).n, 1);
    engine_sql(e, "UPDATE peal_run SET epoch = epoch - 1 WHERE epoch > (SELECT max(epoch) FROM "
                  "peal_epoch)"); /* it has been taken over */
    assert_int_equal(each(e, 0, 8).n, 3);
}

static void a_row_is_deleted_by_one(void **state)
{
    struct engine *e = shared_engine(state);
    struct store *other;
    int64_t node, epoch;
    put(e, 11, 1);
    put(e, 12, 2);
    struct found f = each(e, 0, 8);
    assert_int_equal(f.n, 2);
    e->s->ops->cluster->life(e->s, &node, &epoch);
    const struct store_options options = { .node = node, .epoch = epoch, .life = epoch };
    EXPECT(store_open(e->url, &options, &other, &why), OK);
    bool taken[4] = { false };
    OP(other, txn->begin);
    OP(other, cluster->inbox_take, f.ids, 1, taken);
    assert_true(taken[0]);
    const int64_t ids[4] = { f.ids[0], f.ids[1], f.ids[1], f.ids[1] + 1000 };
    OP(e->s, txn->begin);
    OP(e->s, cluster->inbox_take, ids, 4, taken);
    assert_false(taken[0]); /* it is the other's, and is not waited for */
    assert_true(taken[1]);
    assert_false(taken[2]);
    assert_false(taken[3]);
    OP(e->s, txn->commit, NULL);
    other->ops->txn->rollback(other);
    store_close(other);
    f = each(e, 0, 8);
    assert_int_equal(f.n, 1);
    assert_int_equal(f.log_ids[0], 11);
}

static bool take_one(void *ctx, const struct inbox_row *r)
{
    *(struct inbox_row *)ctx = *r;
    return true;
}

static void answer(struct engine *e, int64_t id, enum inbox_answer code, int64_t before_ms)
{
    OP(e->s, txn->begin);
    OP(e->s, cluster->inbox_answer, id, code, "said", before_ms);
    OP(e->s, txn->commit, NULL);
}

static void a_kill_is_answered_once(void **state)
{
    struct engine *e = shared_engine(state);
    struct inbox_row r = { .id = 0 };
    int64_t log_id = run_add(e, 2000), id = 0;
    OP(e->s, txn->begin);
    OP(e->s, cluster->inbox_ask, log_id, 7000, &id);
    OP(e->s, txn->commit, NULL);
    OP(e->s, cluster->inbox_each, 0, 8, take_one, &r);
    assert_int_equal(r.id, id);
    assert_int_equal(r.what, INBOX_KILL);
    assert_int_equal(r.log_id, log_id);
    assert_int_equal(r.at_ms, 7000);
    answer(e, id, INBOX_REFUSED, 7000);
    answer(e, id, INBOX_DONE, 7000);
    r.id = 0;
    OP(e->s, cluster->inbox_each, 0, 8, take_one, &r);
    assert_int_equal(r.id, 0); /* its asker reads it */
    OP(e->s, cluster->inbox_get, id, &r);
    assert_int_equal(r.what, INBOX_ANSWERED);
    assert_int_equal(r.code, INBOX_REFUSED);
    assert_string_equal(r.msg, "said");
    free(r.msg);
    put(e, log_id, 1);
    answer(e, id, INBOX_DONE, 7001);
    OP_FAILS(ERR_NOTFOUND, e->s, cluster->inbox_get, id, &r); /* nobody has taken it */
    assert_int_equal(each(e, 0, 8).n, 1);                     /* a result stays, however old */
}

static void a_kill_of_a_run_that_is_over_is_for_nobody(void **state)
{
    struct engine *e = shared_engine(state);
    struct inbox_row r = { .id = 0 };
    int64_t id = 0;
    OP(e->s, txn->begin);
    OP(e->s, cluster->inbox_ask, 4711, 7000, &id);
    OP(e->s, txn->commit, NULL);
    OP(e->s, cluster->inbox_each, 0, 8, take_one, &r);
    assert_int_equal(r.id, 0);
}

static void of_many_runs_the_live_ones_are_told(void **state)
{
    struct engine *e = shared_engine(state);
    static int64_t ids[MANY];
    static struct inbox_row rows[MANY];
    static bool live[MANY];
    int64_t first = run_add(e, 2000), last = run_add(e, 3000);
    for (int i = 0; i < MANY; i++)
        ids[i] = last + 1 + i;
    ids[0] = first;
    ids[MANY - 1] = last;
    OP(e->s, cluster->runs_live, ids, MANY, live);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(live[i], i == 0 || i == MANY - 1);
        rows[i] = (struct inbox_row){ .log_id = ids[i], .code = 1 };
    }
    OP(e->s, txn->begin);
    OP(e->s, cluster->inbox_put, rows, MANY);
    OP(e->s, txn->commit, NULL);
    assert_int_equal(engine_sql_number(e, "SELECT count(DISTINCT log_id) FROM peal_inbox"), MANY);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup_sql, teardown_engine)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_is_there_is_for_the_owner_of_the_run),
        CASE(a_row_is_deleted_by_one),
        CASE(a_kill_is_answered_once),
        CASE(a_kill_of_a_run_that_is_over_is_for_nobody),
        CASE(of_many_runs_the_live_ones_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
