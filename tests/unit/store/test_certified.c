/* SPDX-License-Identifier: Apache-2.0 */
/* Two lives at two servers of a Galera cluster, which lock rows each for itself: what must exclude
 * the other one is refused by its commit. Without PEAL_TEST_DB, the URL of one of these servers,
 * and PEAL_TEST_OTHER, the port of the other, nothing is tried. */
#include "store/sql/epoch.h"
#include "store/url.h"
#include "support_store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    struct engine *e; /* opens and empties the database */
    struct store *one, *two;
    int64_t job_id;
};

static struct store *opened(const char *url, const char *name)
{
    const struct store_options options = { .node_name = name, .shared = true };
    struct store *s = NULL;
    EXPECT(store_open(url, &options, &s, &why), OK);
    return s;
}

static void url_of_other(const char *url, char *text, size_t size)
{
    struct db_url u;
    char from[16];
    EXPECT(db_url_parse(url, &u, &why), OK);
    snprintf(from, sizeof(from), ":%u/", u.hosts[0].port);
    const char *at = strstr(url, from);
    assert_non_null(at);
    snprintf(text, size, "%.*s:%s/%s", (int)(at - url), url, getenv("PEAL_TEST_OTHER"),
             at + strlen(from));
    db_url_wipe(&u);
}

static int set_up(void **state)
{
    static struct pair p;
    char url[512];
    p.e = engine_new(ENGINE_SQL);
    store_close(p.e->s);
    url_of_other(p.e->url, url, sizeof(url));
    p.one = opened(p.e->url, "one");
    p.two = opened(url, "two");
    OP(p.one, txn->begin);
    p.job_id = sample_job_add(p.one, "a", 1000);
    OP(p.one, txn->commit, NULL);
    *state = &p;
    return 0;
}

static int tear_down(void **state)
{
    struct pair *p = *state;
    store_close(p->one);
    store_close(p->two);
    EXPECT(store_open(p->e->url, NULL, &p->e->s, &why), OK);
    engine_free(p->e);
    return 0;
}

/* Wherever it is noticed. */
static enum err committed(struct store *s, enum err err)
{
    struct why why = { "" };
    if (!err)
        err = s->ops->txn->commit(s, NULL, &why);
    if (err)
        s->ops->txn->rollback(s);
    return err;
}

static enum err hold(const struct pair *p, struct store *s)
{
    struct why why = { "" };
    return s->ops->cluster->jobs_hold(s, &p->job_id, 1, &why);
}

static void a_job_is_held_by_one_of_two(void **state)
{
    struct pair *p = *state;
    OP(p->one, txn->begin);
    OP(p->two, txn->begin);
    OP(p->one, cluster->jobs_hold, &p->job_id, 1);
    OP(p->two, cluster->jobs_hold, &p->job_id, 1);
    assert_int_equal(committed(p->one, OK), OK);
    assert_int_equal(committed(p->two, OK), ERR_CONFLICT);
    OP(p->two, txn->begin); /* again: nothing is in its way */
    assert_int_equal(committed(p->two, hold(p, p->two)), OK);
}

static void what_holds_a_job_is_refused_by_an_edit(void **state)
{
    struct pair *p = *state;
    struct job_record r;
    job_record_init(&r);
    OP(p->one, txn->begin);
    OP(p->one, catalog->job_get, p->job_id, &r);
    OP(p->two, txn->begin);
    OP(p->two, cluster->jobs_hold, &p->job_id, 1);
    r.version++;
    OP(p->one, catalog->job_update, &r);
    assert_int_equal(committed(p->one, OK), OK);
    assert_int_equal(committed(p->two, OK), ERR_CONFLICT);
    int64_t version = r.version;
    OP(p->two, txn->begin); /* which sees the edit now */
    assert_int_equal(hold(p, p->two), OK);
    job_record_done(&r);
    job_record_init(&r);
    OP(p->two, catalog->job_get, p->job_id, &r);
    assert_int_equal(r.version, version); /* written, and back as it was */
    assert_int_equal(committed(p->two, OK), OK);
    job_record_done(&r);
}

static void log_ids_are_of_one_run_each(void **state)
{
    struct pair *p = *state;
    int64_t ids[2][120];
    for (int k = 0; k < 2; k++) { /* the first ones say which ids there are in these minutes */
        struct store *s = k ? p->two : p->one;
        struct run_row row = sample_run(p->job_id, 4000 + k);
        OP(s, txn->begin);
        OP(s, runs->runs_add, &row, 1);
        assert_int_equal(committed(s, OK), OK);
    }
    for (int k = 0; k < 2; k++) {
        struct store *s = k ? p->two : p->one;
        struct run_row rows[120];
        for (int i = 0; i < 120; i++)
            rows[i] = sample_run(p->job_id, 5000 + 1000 * i + k);
        OP(s, txn->begin);
        OP(s, runs->runs_add, rows, 120);
        for (int i = 0; i < 120; i++)
            ids[k][i] = rows[i].log_id;
    }
    assert_int_equal(committed(p->one, OK), OK);
    assert_int_equal(committed(p->two, OK), OK);
    for (int i = 0; i < 120; i++) {
        assert_true(ids[0][i] > 0 && (!i || ids[0][i] > ids[0][i - 1]));
        for (int j = 0; j < 120; j++)
            assert_int_not_equal(ids[0][i], ids[1][j]);
    }
    struct engine e = *p->e;
    e.s = p->two; /* which has committed last: it has both */
    assert_int_equal(engine_sql_number(&e, "SELECT count(*) FROM peal_run r JOIN xxl_job_log l ON "
                                           "l.id = r.log_id AND l.job_id = r.job_id"),
                     242);
    /* the row that both write says more than there is, so that it is seldom written */
    assert_int_equal(
        engine_sql_number(&e, "SELECT count(*) FROM peal_log_span WHERE last_id % 4096 <> 4095"),
        0);
}

static void one_of_two_takes_what_has_come(void **state)
{
    struct pair *p = *state;
    const struct inbox_row row = { .log_id = 7, .at_ms = 1000, .code = 200, .msg = "done" };
    OP(p->one, txn->begin);
    OP(p->one, cluster->inbox_put, &row, 1);
    assert_int_equal(committed(p->one, OK), OK);
    struct engine e = *p->e;
    e.s = p->two;
    int64_t id = engine_sql_number(&e, "SELECT id FROM peal_inbox");
    bool taken = false;
    OP(p->one, txn->begin);
    OP(p->two, txn->begin);
    OP(p->one, cluster->inbox_take, &id, 1, &taken);
    assert_true(taken);
    taken = false;
    OP(p->two, cluster->inbox_take, &id, 1, &taken);
    assert_true(taken); /* it believes so */
    assert_int_equal(committed(p->one, OK), OK);
    assert_int_equal(committed(p->two, OK), ERR_CONFLICT);
    OP(p->two, txn->begin);
    OP(p->two, cluster->inbox_take, &id, 1, &taken);
    assert_false(taken);
    assert_int_equal(committed(p->two, OK), OK);
}

static enum err late_commit(struct sql *s)
{
    struct sql_query *q;
    struct why why = { "" };
    enum err err = sql_query(s, "COMMIT", &q, &why);
    if (!err)
        err = sql_do(q, &why);
    s->store.ops->txn->rollback(&s->store);
    return err;
}

/* The connection to one server is lost while the COMMIT is on its way to it, all but that has been
 * done there, and the other server is asked. */
static void a_commit_that_was_given_up_is_refused(void **state)
{
    struct pair *p = *state;
    struct sql *asker = (struct sql *)p->two, *lost = (struct sql *)p->one;
    const struct sql own = *asker;
    bool done = true;
    OP(p->one, txn->begin);
    OP(p->one, cluster->jobs_hold, &p->job_id, 1);
    EXPECT(sql_epoch_flush(lost, NULL, &why), OK);
    asker->epoch = lost->epoch;
    asker->batch = lost->batch;
    OP(p->two, txn->outcome, &done);
    assert_false(done);
    assert_int_equal(late_commit(lost), ERR_CONFLICT);
    OP(p->one, txn->begin);
    assert_int_equal(committed(p->one, OK), OK);
    OP(p->two, txn->outcome, &done);
    assert_true(done);
    asker->epoch = own.epoch;
    asker->batch = own.batch;
}

static void what_was_committed_at_one_is_read_at_the_other(void **state)
{
    struct pair *p = *state;
    struct engine e = *p->e;
    e.s = p->two;
    for (int i = 1; i <= 200; i++) {
        char sql[64];
        snprintf(sql, sizeof(sql), "UPDATE xxl_job_info SET author = '%d'", i);
        struct engine first = *p->e;
        first.s = p->one;
        engine_sql(&first, sql);
        assert_int_equal(engine_sql_number(&e, "SELECT author FROM xxl_job_info"), i);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_job_is_held_by_one_of_two),
        CASE(what_holds_a_job_is_refused_by_an_edit),
        CASE(log_ids_are_of_one_run_each),
        CASE(one_of_two_takes_what_has_come),
        CASE(a_commit_that_was_given_up_is_refused),
        CASE(what_was_committed_at_one_is_read_at_the_other),
    };
    if (!getenv("PEAL_TEST_DB") || !getenv("PEAL_TEST_OTHER"))
        return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
