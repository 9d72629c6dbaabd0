/* SPDX-License-Identifier: Apache-2.0 */
/* A database that several servers have open, each with a handle of its own: in memory, and on the
 * server that PEAL_TEST_DB names. What one engine takes for right the other one confirms. */
#include "support_store.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { A, B, SERVERS };
static const char *const names[SERVERS] = { "a", "b" };

struct place {
    struct engine *e;
    struct store *s[SERVERS], *beats[SERVERS];
    int64_t node[SERVERS], epoch[SERVERS];
    int64_t job;
};

static struct store *opened(struct place *p, const struct store_options *o)
{
    struct store *s;
    if (p->e->kind != ENGINE_MEMORY)
        EXPECT(store_open(p->e->url, o, &s, &why), OK);
    else if (p->s[A])
        EXPECT(store_memory_open(p->s[A], o, &s, &why), OK);
    else
        s = store_memory_new(o);
    return s;
}

static void join(struct place *p, int i)
{
    const struct store_options o = { .shared = true, .node_name = names[i] };
    p->s[i] = opened(p, &o);
    p->s[i]->ops->cluster->life(p->s[i], &p->node[i], &p->epoch[i]);
    const struct store_options life = {
        .shared = true, .node = p->node[i], .epoch = p->epoch[i], .life = p->epoch[i]
    };
    p->beats[i] = opened(p, &life);
}

static struct place *place_new(struct engine *e)
{
    struct place *p = mem_new(sizeof(*p));
    p->e = e;
    if (e->kind != ENGINE_MEMORY && !e->server)
        return p; /* a file is one server's */
    store_close(e->s);
    e->s = NULL;
    join(p, A);
    join(p, B);
    OP(p->s[A], txn->begin);
    p->job = sample_job_add(p->s[A], "job", 1000);
    OP(p->s[A], txn->commit, NULL);
    return p;
}

static int setup_of(void **state, enum engine_kind kind)
{
    *state = place_new(engine_new(kind));
    return 0;
}

static int setup_cluster_memory(void **state)
{
    return setup_of(state, ENGINE_MEMORY);
}

static int setup_cluster_sql(void **state)
{
    return setup_of(state, ENGINE_SQL);
}

/* The last handle empties a server. */
static int teardown(void **state)
{
    struct place *p = *state;
    for (int i = 0; i < SERVERS; i++)
        store_close(p->beats[i]);
    if (p->s[A]) {
        store_close(p->s[B]);
        p->e->s = p->s[A];
    }
    engine_free(p->e);
    free(p);
    return 0;
}

static struct place *place(void **state)
{
    struct place *p = *state;
    if (!p->s[A])
        skip();
    return p;
}

static int64_t run_add(struct place *p, int i, int64_t scheduled_ms, enum phase phase,
                       const char *address)
{
    struct run_row row = sample_run(p->job, scheduled_ms);
    row.phase = phase;
    row.address = (char *)address;
    OP(p->s[i], txn->begin);
    OP(p->s[i], runs->runs_add, &row, 1);
    OP(p->s[i], txn->commit, NULL);
    return row.log_id;
}

static bool beat(struct place *p, int i, int64_t n, int64_t watermark_ms)
{
    const struct node_beat b = { .n = n,
                                 .last = n - 1,
                                 .watermark_ms = watermark_ms,
                                 .wall_ms = 1,
                                 .shared = true,
                                 .address = "x" };
    bool ours = false;
    int64_t clock_ms;
    OP(p->beats[i], cluster->beat, &b, &ours, &clock_ms);
    return ours;
}

static bool declared(struct place *p, int by, int of, int64_t beat_no)
{
    bool done = false;
    OP(p->beats[by], cluster->declare, p->node[of], p->epoch[of], beat_no, &done);
    return done;
}

struct runs {
    int n;
    struct run_row rows[8];
};

static bool take_run(void *ctx, const struct run_row *r)
{
    struct runs *f = ctx;
    assert_true(f->n < 8);
    f->rows[f->n++] = *r;
    return true;
}

struct lives {
    int n;
    struct life_record rows[8];
};

static bool take_life(void *ctx, const struct life_record *r)
{
    struct lives *f = ctx;
    assert_true(f->n < 8);
    f->rows[f->n++] = *r;
    return true;
}

static void each_life_has_a_number_and_its_own_runs(void **state)
{
    struct place *p = place(state);
    struct lives l = { 0 };
    assert_true(p->epoch[A] < p->epoch[B]);
    assert_true(p->node[A] != p->node[B]);
    OP(p->s[A], cluster->lives_each, 8, take_life, &l);
    assert_int_equal(l.rows[0].epoch, p->epoch[B]); /* the newest first */
    assert_int_equal(l.rows[1].epoch, p->epoch[A]);
    assert_true(!l.rows[0].ended && !l.rows[1].ended);
    int64_t first = run_add(p, A, 2000, PHASE_PLANNED, NULL);
    run_add(p, B, 3000, PHASE_PLANNED, NULL);
    struct runs r = { 0 };
    OP(p->s[A], runs->runs_each, take_run, &r);
    assert_int_equal(r.n, 1);
    assert_int_equal(r.rows[0].log_id, first);
}

static void totals_are_of_all_lives(void **state)
{
    struct place *p = place(state);
    struct commit c = { .totals.n[TOTAL_PLANNED] = 3 };
    struct totals t;
    int64_t open;
    for (int i = 0; i < SERVERS; i++) {
        OP(p->s[i], txn->begin);
        OP(p->s[i], txn->commit, &c);
    }
    OP(p->s[B], txn->totals_get, &t, &open);
    assert_int_equal(t.n[TOTAL_PLANNED], 6);
    assert_int_equal(open, 0);
}

static void what_is_not_committed_is_seen_by_none(void **state)
{
    struct place *p = place(state);
    struct run_row row = sample_run(p->job, 2000);
    bool live[1];
    OP(p->s[A], txn->begin);
    OP(p->s[A], runs->runs_add, &row, 1);
    OP(p->s[B], cluster->runs_live, &row.log_id, 1, live);
    assert_false(live[0]);
    OP(p->s[A], cluster->runs_live, &row.log_id, 1, live);
    assert_true(live[0]);
    OP(p->s[A], txn->commit, NULL);
    OP(p->s[B], cluster->runs_live, &row.log_id, 1, live);
    assert_true(live[0]);
}

static void a_life_is_ended_by_one_who_knows_its_beat(void **state)
{
    struct place *p = place(state);
    struct lives l = { 0 };
    assert_true(beat(p, A, 1, 5000));
    assert_false(declared(p, B, A, 0)); /* it has beaten since */
    assert_true(declared(p, B, A, 1));
    assert_false(declared(p, B, A, 1)); /* it is over */
    assert_false(beat(p, A, 2, 6000));
    OP(p->s[A], txn->begin);
    OP_FAILS(ERR_FENCED, p->s[A], txn->commit, NULL);
    p->s[A]->ops->txn->rollback(p->s[A]);
    OP(p->s[B], cluster->lives_each, 8, take_life, &l);
    assert_true(l.rows[1].ended);
    assert_int_equal(l.rows[1].heir, p->epoch[B]);
    assert_int_equal(l.rows[1].watermark_ms, 5000);
}

static void orphans_are_lives_that_have_ended_and_own_runs(void **state)
{
    struct place *p = place(state);
    struct lives l = { 0 };
    run_add(p, A, 2000, PHASE_PLANNED, NULL);
    assert_true(beat(p, A, 1, 0));
    OP(p->s[B], cluster->orphans_each, 8, take_life, &l);
    assert_int_equal(l.n, 0);
    assert_true(declared(p, B, A, 1));
    OP(p->s[B], cluster->orphans_each, 8, take_life, &l);
    assert_int_equal(l.n, 1);
    assert_int_equal(l.rows[0].epoch, p->epoch[A]);
}

static void what_may_have_left_is_in_doubt_at_the_next_owner(void **state)
{
    struct place *p = place(state);
    static const struct {
        int64_t scheduled_ms;
        enum phase phase;
        const char *address;
        enum phase then;
    } cases[] = {
        { 2000, PHASE_PLANNED, "http://x/", PHASE_UNKNOWN },
        { 5000, PHASE_PLANNED, "http://x/", PHASE_UNKNOWN },
        { 5001, PHASE_PLANNED, "http://x/", PHASE_PLANNED }, /* beyond the watermark */
        { 2001, PHASE_PLANNED, NULL, PHASE_PLANNED },        /* it has no address to leave for */
        { 6000, PHASE_SENT, "http://x/", PHASE_UNKNOWN },
        { 6001, PHASE_ACCEPTED, "http://x/", PHASE_ACCEPTED },
        { 6002, PHASE_LOST, "http://x/", PHASE_LOST },
    };
    for (size_t i = 0; i < countof(cases); i++)
        run_add(p, A, cases[i].scheduled_ms, cases[i].phase, cases[i].address);
    assert_true(beat(p, A, 1, 5000));
    assert_true(declared(p, B, A, 1));
    const struct adoption a = { .epoch = p->epoch[A], .watermark_ms = 5000, .max = 5 };
    struct runs first = { 0 }, rest = { 0 }, ours = { 0 };
    bool left = false;
    OP(p->s[B], txn->begin);
    OP(p->s[B], cluster->runs_adopt, &a, take_run, &first, &left);
    assert_true(left);
    assert_int_equal(first.n, 5);
    OP(p->s[B], cluster->runs_adopt, &a, take_run, &rest, &left);
    assert_false(left);
    assert_int_equal(rest.n, 2);
    OP(p->s[B], txn->commit, NULL);
    OP(p->s[B], runs->runs_each, take_run, &ours);
    assert_int_equal(ours.n, countof(cases));
    for (size_t i = 0; i < countof(cases); i++) {
        assert_int_equal(ours.rows[i].phase, cases[i].then);
        assert_int_equal(ours.rows[i].doubted, cases[i].then == PHASE_UNKNOWN);
    }
}

static void what_a_clean_stop_has_planned_has_not_left(void **state)
{
    struct place *p = place(state);
    run_add(p, A, 2000, PHASE_PLANNED, "http://x/");
    assert_true(beat(p, A, 1, 5000));
    assert_true(declared(p, B, A, 1));
    const struct adoption a = {
        .epoch = p->epoch[A], .watermark_ms = 5000, .clean = true, .max = 5
    };
    struct runs r = { 0 };
    bool left;
    OP(p->s[B], txn->begin);
    OP(p->s[B], cluster->runs_adopt, &a, take_run, &r, &left);
    OP(p->s[B], txn->commit, NULL);
    assert_int_equal(r.n, 1);
    assert_int_equal(r.rows[0].phase, PHASE_PLANNED);
}

/* As a third server would: the beat's handle of b adopts for nobody, but its transaction holds. */
static void rows_that_are_held_are_passed_over(void **state)
{
    struct place *p = place(state);
    int64_t id = run_add(p, A, 2000, PHASE_PLANNED, NULL);
    const struct inbox_row in = { .log_id = id, .code = 200, .msg = (char *)"m" };
    OP(p->s[A], txn->begin);
    OP(p->s[A], cluster->inbox_put, &in, 1);
    OP(p->s[A], txn->commit, NULL);
    struct run_change c = { .log_id = id, .what = CHANGE_PHASE, .phase = PHASE_ACCEPTED };
    int64_t missed, next_ms, inbox_id = 1;
    struct due_row due[2];
    int n;
    bool taken[1], left;
    OP(p->s[A], txn->begin);
    OP(p->s[A], runs->runs_change, &c, 1, &missed);
    OP(p->s[A], runs->due_take, INT64_MIN, 5000, 2, due, &n, &next_ms);
    assert_int_equal(n, 1);
    OP(p->s[A], cluster->inbox_take, &inbox_id, 1, taken);
    assert_true(taken[0]);
    struct runs r = { 0 };
    const struct adoption a = { .epoch = p->epoch[A], .max = 5 };
    OP(p->s[B], txn->begin);
    OP(p->s[B], runs->due_take, INT64_MIN, 5000, 2, due, &n, &next_ms);
    assert_int_equal(n, 0);
    OP(p->s[B], cluster->inbox_take, &inbox_id, 1, taken);
    assert_false(taken[0]);
    OP(p->s[B], cluster->runs_adopt, &a, take_run, &r, &left);
    assert_int_equal(r.n, 0);
    assert_true(left); /* and is looked at again */
    OP(p->s[B], txn->commit, NULL);
    p->s[A]->ops->txn->rollback(p->s[A]);
    OP(p->s[B], txn->begin);
    OP(p->s[B], runs->due_take, INT64_MIN, 5000, 2, due, &n, &next_ms);
    assert_int_equal(n, 1);
    OP(p->s[B], cluster->inbox_take, &inbox_id, 1, taken);
    assert_true(taken[0]);
    OP(p->s[B], txn->commit, NULL);
}

static void a_job_that_is_held_is_waited_for(void **state)
{
    struct place *p = place(state);
    OP(p->s[A], txn->begin);
    OP(p->s[A], cluster->jobs_hold, &p->job, 1);
    OP(p->s[B], txn->begin);
    OP_FAILS(ERR_BUSY, p->s[B], cluster->jobs_hold, &p->job, 1);
    p->s[B]->ops->txn->rollback(p->s[B]);
    OP(p->s[A], txn->commit, NULL);
    OP(p->s[B], txn->begin);
    OP(p->s[B], cluster->jobs_hold, &p->job, 1);
    OP(p->s[B], txn->commit, NULL);
}

static void a_job_is_planned_where_it_belongs_until_shortly_before_its_time(void **state)
{
    struct place *p = place(state);
    int64_t mine, theirs, epoch, next_ms;
    struct due_row due[2];
    int n;
    p->s[A]->ops->cluster->life(p->s[A], &mine, &epoch);
    p->s[B]->ops->cluster->life(p->s[B], &theirs, &epoch);
    OP(p->s[A], txn->begin);
    p->s[A]->ops->cluster->home(p->s[A], mine, INT64_MIN);
    OP(p->s[A], cluster->homes_put, &p->job, &mine, 1);
    OP(p->s[A], txn->commit, NULL);
    OP(p->s[B], txn->begin);
    p->s[B]->ops->cluster->home(p->s[B], theirs, 999);
    OP(p->s[B], runs->due_take, INT64_MIN, 5000, 2, due, &n, &next_ms);
    assert_int_equal(n, 0);
    p->s[B]->ops->cluster->home(p->s[B], theirs, 1000);
    OP(p->s[B], runs->due_take, INT64_MIN, 5000, 2, due, &n, &next_ms);
    assert_int_equal(n, 1);
    p->s[B]->ops->txn->rollback(p->s[B]);
}

struct untolds {
    int n;
    int64_t epoch, unsent;
    char name[16];
};

static bool take_untold(void *ctx, const struct untold *u)
{
    struct untolds *f = ctx;
    f->n++;
    f->epoch = u->epoch;
    f->unsent = u->unsent;
    text_copy(f->name, sizeof(f->name), slice_text(u->node));
    return true;
}

static void the_owner_of_a_run_says_that_it_knows_an_edit(void **state)
{
    struct place *p = place(state);
    struct untolds u = { 0 };
    run_add(p, A, 2000, PHASE_PLANNED, NULL);
    run_add(p, A, 3000, PHASE_UNKNOWN, "http://x/");
    run_add(p, A, 4000, PHASE_ACCEPTED, "http://x/");
    OP(p->s[B], cluster->runs_untold, p->job, 4, p->epoch[B], take_untold, &u);
    assert_int_equal(u.n, 1);
    assert_int_equal(u.epoch, p->epoch[A]);
    assert_int_equal(u.unsent, 2);
    assert_string_equal(u.name, "a");
    OP(p->s[B], txn->begin);
    OP(p->s[B], cluster->runs_told, p->job, 4); /* b has none of them */
    OP(p->s[B], txn->commit, NULL);
    u.n = 0;
    OP(p->s[B], cluster->runs_untold, p->job, 4, p->epoch[B], take_untold, &u);
    assert_int_equal(u.n, 1);
    OP(p->s[A], txn->begin);
    OP(p->s[A], cluster->runs_told, p->job, 4);
    OP(p->s[A], txn->commit, NULL);
    u.n = 0;
    OP(p->s[B], cluster->runs_untold, p->job, 4, p->epoch[B], take_untold, &u);
    assert_int_equal(u.n, 0);
}

static void groups_and_registrations_count_as_changes(void **state)
{
    struct place *p = place(state);
    struct registry_record r = { .group = "EXECUTOR", .key = "app", .value = "http://x/" };
    struct lives l = { 0 };
    for (int i = 1; i <= 3; i++) {
        r.updated_ms = 1000 * i;
        OP(p->s[A], txn->begin);
        OP(p->s[A], catalog->registry_put, &r, 1);
        OP(p->s[A], txn->commit, NULL);
    }
    OP(p->s[B], cluster->lives_each, 8, take_life, &l);
    assert_int_equal(l.rows[1].changes, 1); /* a beat that only touches the row is none */
}

static void a_name_that_begins_again_has_what_it_had(void **state)
{
    struct place *p = place(state);
    struct lives l = { 0 };
    struct runs r = { 0 };
    struct store *old = p->s[A];
    int64_t id = run_add(p, A, 2000, PHASE_PLANNED, "http://x/");
    const struct store_options o = { .shared = true,
                                     .node_name = names[A],
                                     .gone_epoch = p->epoch[A] };
    struct store *again = opened(p, &o);
    OP(again, runs->runs_each, take_run, &r);
    assert_int_equal(r.n, 1);
    assert_int_equal(r.rows[0].log_id, id);
    OP(p->s[B], cluster->lives_each, 8, take_life, &l);
    assert_int_equal(l.rows[0].node, p->node[A]);
    assert_true(l.rows[0].epoch > p->epoch[B]);
    OP(old, txn->begin);
    OP_FAILS(ERR_FENCED, old, txn->commit, NULL);
    old->ops->txn->rollback(old);
    store_close(again);
}

/* ---- in memory alone ------------------------------------------------------------------------- */

static struct store *prepared(struct place *p, bool heard)
{
    struct run_row row = sample_run(p->job, 2000);
    struct store *rest;
    OP(p->s[A], txn->begin);
    OP(p->s[A], runs->runs_add, &row, 1);
    EXPECT(store_memory_prepare(p->s[A], NULL, heard, &rest, &why), OK);
    return rest;
}

static int live_of(struct place *p)
{
    struct runs r = { 0 };
    OP(p->s[A], runs->runs_each, take_run, &r);
    return r.n;
}

static void a_commit_may_take_its_time(void **state)
{
    struct place *p = place(state);
    bool done;
    struct store *rest = prepared(p, false);
    assert_int_equal(live_of(p), 0);
    OP_FAILS(ERR_BUSY, p->s[A], txn->outcome, &done); /* it holds the row of the life */
    store_memory_settle(rest, true);
    OP(p->s[A], txn->outcome, &done);
    assert_true(done);
    assert_int_equal(live_of(p), 1);
    OP(p->s[A], txn->begin);
    OP(p->s[A], txn->commit, NULL);
}

static void its_session_may_die(void **state)
{
    struct place *p = place(state);
    bool done;
    store_memory_settle(prepared(p, false), false);
    OP(p->s[A], txn->outcome, &done);
    assert_false(done);
    assert_int_equal(live_of(p), 0);
    OP(p->s[A], txn->begin);
    OP(p->s[A], txn->commit, NULL);
}

static void a_life_is_not_ended_while_its_commit_is_under_way(void **state)
{
    struct place *p = place(state);
    bool done;
    assert_true(beat(p, A, 1, 0));
    struct store *rest = prepared(p, true);
    OP_FAILS(ERR_BUSY, p->beats[B], cluster->declare, p->node[A], p->epoch[A], 1, &done);
    assert_false(beat(p, A, 2, 0)); /* but it is dead from then on */
    store_memory_settle(rest, true);
    assert_true(declared(p, B, A, 1));
    assert_int_equal(live_of(p), 1);
}

#define EACH(f)                                                                                    \
    { "memory: " #f, f, setup_cluster_memory, teardown, NULL },                                    \
    {                                                                                              \
        "sql: " #f, f, setup_cluster_sql, teardown, NULL                                           \
    }
#define MEMORY(f) cmocka_unit_test_setup_teardown(f, setup_cluster_memory, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH(each_life_has_a_number_and_its_own_runs),
        EACH(totals_are_of_all_lives),
        EACH(what_is_not_committed_is_seen_by_none),
        EACH(a_life_is_ended_by_one_who_knows_its_beat),
        EACH(orphans_are_lives_that_have_ended_and_own_runs),
        EACH(what_may_have_left_is_in_doubt_at_the_next_owner),
        EACH(what_a_clean_stop_has_planned_has_not_left),
        EACH(rows_that_are_held_are_passed_over),
        EACH(a_job_that_is_held_is_waited_for),
        EACH(a_job_is_planned_where_it_belongs_until_shortly_before_its_time),
        EACH(the_owner_of_a_run_says_that_it_knows_an_edit),
        EACH(groups_and_registrations_count_as_changes),
        EACH(a_name_that_begins_again_has_what_it_had),
        MEMORY(a_commit_may_take_its_time),
        MEMORY(its_session_may_die),
        MEMORY(a_life_is_not_ended_while_its_commit_is_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
