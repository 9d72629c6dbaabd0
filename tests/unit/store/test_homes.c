/* SPDX-License-Identifier: Apache-2.0 */
/* Homes of jobs on a database that several servers have open: whose jobs a server takes, and how
 * they come to another home. In memory, and on the server that PEAL_TEST_DB names. */
#include "support_store.h"
#include <string.h>
#include <time.h>

struct place { /* two servers on one database; the first one is the engine's */
    struct engine *e;
    struct store *a, *b;
    int64_t node[2];
};

static struct store *opened(struct engine *e, const char *name)
{
    const struct store_options options = { .node_name = name, .shared = true };
    struct store *s = NULL;
    if (e->kind != ENGINE_MEMORY)
        EXPECT(store_open(e->url, &options, &s, &why), OK);
    else if (e->s)
        EXPECT(store_memory_open(e->s, &options, &s, &why), OK);
    else
        s = store_memory_new(&options);
    return s;
}

static struct place place_of(void **state)
{
    struct place p = { .e = *state };
    int64_t epoch;
    if (p.e->kind != ENGINE_MEMORY && !p.e->server)
        skip(); /* a file is one server's */
    store_close(p.e->s);
    p.e->s = NULL;
    p.e->s = p.a = opened(p.e, "a");
    p.b = opened(p.e, "b");
    p.a->ops->cluster->life(p.a, &p.node[0], &epoch);
    p.b->ops->cluster->life(p.b, &p.node[1], &epoch);
    return p;
}

/* A job that is due then. */
static int64_t job_in(struct store *s, int64_t home, int64_t next_ms)
{
    int64_t id = sample_job_add(s, "job", 1000);
    struct due_row due = { id, next_ms, 0, 0, 0, home };
    OP(s, runs->due_put, &due, 1);
    OP(s, cluster->homes_put, &id, &home, 1);
    return id;
}

#define ROWS 16

struct taken {
    struct due_row rows[ROWS];
    int n;
    int64_t next_ms;
};

static struct taken take(struct store *s, int64_t from_ms, int64_t until_ms, int max)
{
    struct taken t;
    OP(s, runs->due_take, from_ms, until_ms, max, t.rows, &t.n, &t.next_ms);
    return t;
}

static void a_server_takes_what_its_home_has_and_what_others_have_left(void **state)
{
    struct place p = place_of(state);
    const struct store_cluster *c = p.a->ops->cluster;
    int64_t a = p.node[0], b = p.node[1];
    OP(p.a, txn->begin);
    c->home(p.a, a, INT64_MIN);
    int64_t own = job_in(p.a, a, 5000), near = job_in(p.a, b, 1000), nobody = job_in(p.a, 0, 2000);
    (void)job_in(p.a, b, 3001);
    (void)job_in(p.a, b, 6000);
    (void)job_in(p.a, a, 9000);
    OP(p.a, txn->commit, NULL);

    OP(p.a, txn->begin);
    struct taken t = take(p.a, INT64_MIN, 8000, ROWS);
    assert_int_equal(t.n, 1);
    assert_int_equal(t.rows[0].job_id, own);
    assert_int_equal(t.next_ms, 9000); /* of its own jobs */
    c->home(p.a, a, 3000);
    t = take(p.a, INT64_MIN, 8000, ROWS);
    assert_int_equal(t.n, 3);
    assert_int_equal(t.rows[0].job_id, own);
    assert_int_equal(t.rows[1].job_id, near);
    assert_int_equal(t.rows[2].job_id, nobody);
    assert_int_equal(t.next_ms, 9000);
    assert_int_equal(take(p.a, INT64_MIN, 1500, ROWS).n, 1); /* no further than is asked for */
    assert_int_equal(take(p.a, 1001, 8000, ROWS).n, 2);
    t = take(p.a, INT64_MIN, 8000, 2);
    assert_int_equal(t.n, 2);
    assert_int_equal(t.rows[1].job_id, near);
    assert_int_equal(take(p.a, 6000, 8000, ROWS).next_ms, 9000);
    OP(p.a, txn->commit, NULL);
    store_close(p.b);
}

static void what_one_holds_is_passed_over_by_the_other(void **state)
{
    struct place p = place_of(state);
    OP(p.a, txn->begin);
    p.a->ops->cluster->home(p.a, p.node[0], INT64_MIN);
    int64_t id = job_in(p.a, p.node[0], 1000);
    OP(p.a, txn->commit, NULL);
    OP(p.b, txn->begin);
    p.b->ops->cluster->home(p.b, p.node[1], 3000);
    assert_int_equal(take(p.b, INT64_MIN, 9000, ROWS).n, 1);
    OP(p.a, txn->begin);
    assert_int_equal(take(p.a, INT64_MIN, 9000, ROWS).n, 0);
    struct home_row after = { p.node[0], INT64_MIN, INT64_MIN }, rows[ROWS];
    int n;
    OP(p.a, cluster->homes_take, &after, ROWS, rows, &n);
    assert_int_equal(n, 0);
    OP(p.a, txn->commit, NULL);
    struct due_row due = { id, 20000, 1000, 1000, 0, p.node[0] };
    OP(p.b, runs->due_put, &due, 1);
    OP(p.b, txn->commit, NULL);
    OP(p.a, txn->begin);
    assert_int_equal(take(p.a, INT64_MIN, 30000, ROWS).n, 1);
    OP(p.a, txn->commit, NULL);
    store_close(p.b);
}

/* What was missed in other homes is looked for behind what is due soon there, in the same
 * transaction and in each later one. */
static void a_look_ahead_does_not_hide_what_was_missed(void **state)
{
    struct place p = place_of(state);
    OP(p.a, txn->begin);
    p.a->ops->cluster->home(p.a, p.node[0], INT64_MIN);
    (void)job_in(p.a, p.node[0], 5000);
    (void)job_in(p.a, p.node[1], 6000);
    OP(p.a, txn->commit, NULL);
    for (int i = 0; i < 3; i++) {
        OP(p.b, txn->begin);
        p.b->ops->cluster->home(p.b, p.node[1], INT64_MIN);
        int64_t missed[2] = { job_in(p.b, p.node[1], 100), job_in(p.b, p.node[0], 101) };
        OP(p.b, txn->commit, NULL);
        int got = 0;
        for (int k = 0; k < 200 && got < 2; k++) { /* a second at most */
            struct timespec pause = { 0, 10 * 1000 * 1000 };
            OP(p.a, txn->begin);
            p.a->ops->cluster->home(p.a, p.node[0], 8000);
            struct taken t = take(p.a, 1000, 8000, ROWS);
            for (int j = 0; j < t.n; j++)
                t.rows[j].next_ms = 20000;
            OP(p.a, runs->due_put, t.rows, t.n);
            t = take(p.a, INT64_MIN, 999, ROWS);
            for (int j = 0; j < t.n; j++) {
                got += t.rows[j].job_id == missed[0] || t.rows[j].job_id == missed[1];
                t.rows[j].next_ms = 50000;
                t.rows[j].home = p.node[0];
            }
            OP(p.a, runs->due_put, t.rows, t.n);
            OP(p.a, txn->commit, NULL);
            nanosleep(&pause, NULL);
        }
        assert_int_equal(got, 2);
    }
    store_close(p.b);
}

static void jobs_come_to_another_home_in_slices(void **state)
{
    struct place p = place_of(state);
    int64_t ids[5], homes[5], next, count;
    struct home_row rows[ROWS], after = { 77, INT64_MIN, INT64_MIN };
    int n;
    OP(p.a, txn->begin);
    p.a->ops->cluster->home(p.a, p.node[0], INT64_MIN);
    for (int i = 0; i < 5; i++)
        ids[i] = job_in(p.a, 77, i == 4 ? NEVER_MS : i < 3 ? 1000 : 2000);
    OP(p.a, cluster->homes_take, &after, 2, rows, &n);
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].job_id, ids[0]);
    assert_int_equal(rows[1].job_id, ids[1]);
    assert_int_equal(rows[1].next_ms, 1000);
    assert_int_equal(rows[1].home, 77);
    OP(p.a, cluster->homes_take, &rows[1], ROWS, rows, &n);
    assert_int_equal(n, 2); /* one has no next scheduled time */
    assert_int_equal(rows[0].job_id, ids[2]);
    assert_int_equal(rows[1].job_id, ids[3]);
    OP(p.a, cluster->homes_next, 0, &next);
    assert_int_equal(next, 77);
    OP(p.a, cluster->homes_next, 77, &next);
    assert_int_equal(next, -1);
    for (int i = 0; i < 5; i++)
        homes[i] = i % 2 ? 88 : 99;
    OP(p.a, cluster->homes_put, ids, homes, 5);
    OP(p.a, cluster->homes_put, ids, homes, 0);
    OP(p.a, txn->commit, NULL);
    OP(p.a, cluster->homes_next, 0, &next);
    assert_int_equal(next, 88);
    OP(p.a, cluster->homes_count, 88, &count);
    assert_int_equal(count, 2);
    OP(p.a, cluster->homes_count, 99, &count);
    assert_int_equal(count, 2);
    OP(p.a, cluster->homes_count, 77, &count);
    assert_int_equal(count, 0);
    store_close(p.b);
}

/* The index that only several servers need, and the rows that they leave. */
static void one_server_takes_the_jobs_of_all_homes(void **state)
{
    struct place p = place_of(state);
    struct engine *e = p.e;
    static const char home_of_job[] = "SELECT sum(home) FROM peal_due";
    OP(p.a, txn->begin);
    p.a->ops->cluster->home(p.a, p.node[0], INT64_MIN);
    int64_t ids[3];
    for (int i = 0; i < 3; i++)
        ids[i] = job_in(p.a, i ? p.node[1] : 77, 1000 + i);
    OP(p.a, txn->commit, NULL);
    bool maria = strcmp(e->s->ops->name, "mysql") == 0;
    const char *indexed = maria ? "SELECT count(DISTINCT index_name) FROM "
                                  "information_schema.statistics WHERE table_schema = database() "
                                  "AND index_name = 'i_due_home'"
                                : "SELECT count(*) FROM pg_class WHERE relname = 'i_due_home' AND "
                                  "relnamespace = current_schema()::regnamespace";
    assert_int_equal(engine_sql_number(e, indexed), 1);
    store_close(p.b);
    engine_reopen(e); /* which has the database alone */
    assert_int_equal(engine_sql_number(e, indexed), 0);
    OP(e->s, txn->begin);
    struct taken t = take(e->s, INT64_MIN, 9000, ROWS);
    assert_int_equal(t.n, 3);
    assert_int_equal(t.next_ms, NEVER_MS);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(t.rows[i].job_id, ids[i]);
        t.rows[i].next_ms = 5000;
    }
    OP(e->s, runs->due_put, t.rows, 3);
    OP(e->s, txn->commit, NULL);
    assert_int_equal(engine_sql_number(e, home_of_job), 0);
    /* and several again */
    store_close(e->s);
    e->s = opened(e, "a");
    assert_int_equal(engine_sql_number(e, indexed), 1);
    OP(e->s, txn->begin);
    e->s->ops->cluster->home(e->s, p.node[0], 6000);
    t = take(e->s, INT64_MIN, 9000, ROWS);
    assert_int_equal(t.n, 3);
    for (int i = 0; i < 3; i++)
        t.rows[i].home = 5;
    OP(e->s, runs->due_put, t.rows, 3);
    OP(e->s, txn->commit, NULL);
    assert_int_equal(engine_sql_number(e, home_of_job), 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_server_takes_what_its_home_has_and_what_others_have_left),
        BOTH(what_one_holds_is_passed_over_by_the_other),
        BOTH(a_look_ahead_does_not_hide_what_was_missed),
        BOTH(jobs_come_to_another_home_in_slices),
        cmocka_unit_test_setup_teardown(one_server_takes_the_jobs_of_all_homes, setup_sql,
                                        teardown_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
