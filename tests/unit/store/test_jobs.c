/* SPDX-License-Identifier: Apache-2.0 */
/* What store.h promises of jobs, groups, the registry and users, against every engine. */
#include "support_store.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t missed; /* by the last runs_change */

/* ---- planning -------------------------------------------------------------------------------- */
static void due_jobs_come_earliest_first_and_by_id(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, txn->begin);
    int64_t late = sample_job_add(s, "late", 3000), first = sample_job_add(s, "first", 1000);
    int64_t tie_a = sample_job_add(s, "a", 2000), tie_b = sample_job_add(s, "b", 2000);
    sample_job_add(s, "unset", NEVER_MS);
    struct due_row rows[8];
    int n;
    int64_t next_ms;
    OP(s, runs->due_take, INT64_MIN, 2500, 8, rows, &n, &next_ms);
    assert_int_equal(n, 3);
    assert_int_equal(rows[0].job_id, first);
    assert_int_equal(rows[1].job_id, tie_a);
    assert_int_equal(rows[2].job_id, tie_b);
    assert_int_equal(next_ms, 3000);
    OP(s, runs->due_take, INT64_MIN, 5000, 2, rows, &n, &next_ms);
    assert_int_equal(n, 2);
    assert_int_equal(next_ms, 2000);
    OP(s, runs->due_take, INT64_MIN, 5000, 8, rows, &n, &next_ms);
    assert_int_equal(n, 4);
    assert_int_equal(rows[3].job_id, late);
    assert_true(next_ms == NEVER_MS);
    OP(s, runs->due_take, INT64_MIN, 999, 8, rows, &n, &next_ms);
    assert_int_equal(n, 0);
    assert_int_equal(next_ms, 1000);
    OP(s, runs->due_take, 1001, 2500, 8, rows, &n, &next_ms); /* what was missed is another's */
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].job_id, tie_a);
    assert_int_equal(next_ms, 3000);
    OP(s, txn->commit, NULL);
}

static void advancing_writes_the_scheduled_times_and_not_the_version(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, txn->begin);
    struct job_record r = sample_job("j", 1000);
    r.version = 7;
    OP(s, catalog->job_insert, &r);
    struct due_row rows[] = { { r.id, 2000, 1000, 1500, 99, 0 }, { 424242, 1, 1, 1, 1, 0 } };
    OP(s, runs->due_put, rows, 2);
    OP(s, txn->commit, NULL);
    struct job_record got;
    OP(s, catalog->job_get, r.id, &got);
    assert_int_equal(got.next_ms, 2000);
    assert_int_equal(got.last_ms, 1000);
    assert_int_equal(got.planned_until_ms, 1500);
    assert_int_equal(got.version, 7);
    job_record_done(&got);
    OP(s, txn->begin);
    rows[0].next_ms = NEVER_MS;
    OP(s, runs->due_put, rows, 1);
    int n;
    int64_t next_ms;
    OP(s, runs->due_take, INT64_MIN, NEVER_MS - 1, 2, rows, &n, &next_ms);
    assert_int_equal(n, 0);
    assert_true(next_ms == NEVER_MS);
    OP(s, txn->commit, NULL);
}

static void sweeps_find_jobs_by_type_in_order_of_id(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    static const char *const types[] = { "CRON", "FIX_RATE", "FIX_DELAY", "ONCE", "FIX_RATE" };
    static const int64_t nexts[] = { 9000, 9000, 8000, 9000, 5000 };
    int64_t ids[5];
    OP(s, txn->begin);
    for (int i = 0; i < 5; i++) {
        struct job_record r = sample_job("j", nexts[i]);
        r.schedule_type = (char *)types[i];
        OP(s, catalog->job_insert, &r);
        ids[i] = r.id;
    }
    struct due_row rows[5];
    int n;
    OP(s, runs->due_each, true, 0, 5, rows, &n);
    assert_int_equal(n, 3);
    assert_int_equal(rows[0].job_id, ids[1]);
    assert_int_equal(rows[1].job_id, ids[2]);
    assert_int_equal(rows[2].job_id, ids[4]);
    OP(s, runs->due_each, true, ids[1], 1, rows, &n);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].job_id, ids[2]);
    OP(s, runs->due_each, false, 0, 5, rows, &n);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].job_id, ids[0]);
    OP(s, txn->commit, NULL);
}

static void a_job_comes_back_as_it_was_written(void **state)
{
    struct engine *e = *state;
    struct job_record r = sample_job("nightly \"x\"; DROP TABLE", 1234);
    r.alarm_email = "a@b";
    r.glue_source = "echo 1\n";
    r.glue_remark = "first";
    r.glue_updated_ms = 5;
    r.children = "1,2";
    r.zone = "Europe/Berlin";
    r.on_doubt = "resend";
    r.misfire_max = 3;
    r.retry_delay_ms = 10;
    r.retry_backoff = 1.5;
    r.start_deadline_ms = 77;
    r.timeout_s = 9;
    r.retries = 4;
    r.last_ms = 1;
    r.planned_until_ms = 2;
    r.version = 3;
    OP(e->s, txn->begin);
    OP(e->s, catalog->job_insert, &r);
    r.author = NULL;
    r.version = 4;
    OP(e->s, catalog->job_update, &r);
    OP(e->s, txn->commit, NULL);
    engine_reopen(e);
    struct job_record got;
    OP(e->s, catalog->job_get, r.id, &got);
    assert_string_equal(got.description, r.description);
    assert_null(got.author);
    assert_string_equal(got.param, r.param);
    assert_string_equal(got.zone, r.zone);
    assert_string_equal(got.on_doubt, "resend");
    assert_string_equal(got.children, "1,2");
    assert_string_equal(got.glue_source, "echo 1\n");
    assert_true(got.retry_backoff == 1.5);
    assert_int_equal(got.version, 4);
    assert_int_equal(got.misfire_max, 3);
    assert_int_equal(got.start_deadline_ms, 77);
    assert_true(got.enabled);
    job_record_done(&got);
    struct why reason = { "" };
    assert_int_equal(e->s->ops->catalog->job_get(e->s, 555, &got, &reason), ERR_NOTFOUND);
    assert_non_null(strstr(reason.text, "555"));
}

/* A value for each column that no other column has; every second one differs. */
static void fill(struct job_record *r, char texts[JOB_COLUMNS][32], int first)
{
    for (int i = 0; i < JOB_COLUMNS; i++) {
        const struct job_column *c = &job_columns[i];
        if (c->type == JOB_REAL) {
            *job_real(r, c) = first + i + 0.5;
        } else if (c->type == JOB_BOOL) {
            job_number_set(r, c, (first + i) % 2);
        } else if (c->type < JOB_TEXT) {
            job_number_set(r, c, first + i);
        } else {
            snprintf(texts[i], sizeof(texts[i]), "%s %d", c->name, first + i);
            *job_text(r, c) = texts[i];
        }
    }
}

static void same_columns(struct job_record *a, struct job_record *b)
{
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        if (c->type >= JOB_TEXT)
            assert_string_equal(*job_text(a, c), *job_text(b, c));
        else if (c->type == JOB_REAL)
            assert_true(*job_real(a, c) == *job_real(b, c));
        else
            assert_int_equal(job_number(a, c), job_number(b, c));
    }
}

static bool is_same(void *ctx, const struct job_record *r)
{
    struct job_record listed = *r;
    same_columns(ctx, &listed);
    return true;
}

static void each_column_keeps_its_value(void **state)
{
    struct engine *e = *state;
    static char texts[JOB_COLUMNS][32];
    struct job_record r, got;
    job_record_init(&r);
    for (int round = 0; round < 2; round++) {
        fill(&r, texts, 1000 * round + round);
        OP(e->s, txn->begin);
        if (round == 0)
            OP(e->s, catalog->job_insert, &r);
        else
            OP(e->s, catalog->job_update, &r);
        OP(e->s, txn->commit, NULL);
        engine_reopen(e);
        OP(e->s, catalog->job_get, r.id, &got);
        assert_int_equal(got.id, r.id);
        same_columns(&r, &got);
        job_record_done(&got);
        const struct jobs_filter all = { .status = -1, .limit = 2 };
        int64_t total;
        OP(e->s, pages->jobs_page, &all, is_same, &r, &total);
        assert_int_equal(total, 1);
    }
}

static void a_text_that_must_be_there_is_the_columns_default(void **state)
{
    struct engine *e = *state;
    struct job_record r, got;
    job_record_init(&r);
    OP(e->s, txn->begin);
    OP(e->s, catalog->job_insert, &r);
    OP(e->s, txn->commit, NULL);
    engine_reopen(e);
    OP(e->s, catalog->job_get, r.id, &got);
    assert_string_equal(got.description, "");
    assert_string_equal(got.schedule_type, "NONE");
    assert_string_equal(got.misfire, "DO_NOTHING");
    assert_string_equal(got.glue_type, "");
    assert_null(got.route);
    assert_null(got.zone);
    assert_null(got.dst);
    job_record_done(&got);
}

struct seen {
    int n, most;
    int64_t sum;
};

static bool see(void *ctx, const struct job_record *r)
{
    struct seen *seen = ctx;
    seen->sum += r->id;
    assert_int_equal(r->next_ms, 1000 + r->id);
    return ++seen->n < seen->most;
}

static bool see_group(void *ctx, const struct group_record *g)
{
    struct seen *seen = ctx;
    seen->sum += g->id;
    return ++seen->n < seen->most;
}

static void groups_are_read_many_at_a_time(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    int64_t ids[3] = { 0, 999, 0 };
    struct group_record g = { .app = "a", .title = "t" };
    OP(s, txn->begin);
    OP(s, catalog->group_insert, &g);
    ids[0] = g.id;
    OP(s, catalog->group_insert, &g);
    OP(s, catalog->group_insert, &g);
    ids[2] = g.id;
    OP(s, txn->commit, NULL);
    struct seen all = { .most = 100 }, one = { .most = 1 };
    OP(s, catalog->groups_get, ids, 3, see_group, &all);
    assert_int_equal(all.n, 2); /* without the one that is not there, or not asked for */
    assert_int_equal(all.sum, ids[0] + ids[2]);
    OP(s, catalog->groups_get, ids, 3, see_group, &one);
    assert_int_equal(one.n, 1);
}

static void jobs_are_read_many_at_a_time(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    int64_t ids[4] = { 0, 999, 0, 0 };
    OP(s, txn->begin);
    for (int i = 0; i < 4; i++) {
        int64_t id = sample_job_add(s, "j", 1000);
        struct due_row d = { id, 1000 + id, 0, 0, 0, 0 };
        OP(s, runs->due_put, &d, 1);
        if (i != 1)
            ids[i] = id;
    }
    OP(s, txn->commit, NULL);
    struct seen all = { .most = 100 }, two = { .most = 2 }, none = { .most = 100 };
    OP(s, catalog->jobs_get, ids, 4, see, &all);
    assert_int_equal(all.n, 3); /* without the one that is not there */
    assert_int_equal(all.sum, ids[0] + ids[2] + ids[3]);
    OP(s, catalog->jobs_get, ids, 4, see, &two);
    assert_int_equal(two.n, 2);
    OP(s, catalog->jobs_get, ids, 0, see, &none);
    assert_int_equal(none.n, 0);
}

static void a_stopped_job_is_not_due_and_says_why(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, txn->begin);
    int64_t id = sample_job_add(s, "j", 1000);
    const struct job_stop stops[] = { { 999, "x" }, { id, "no next scheduled time" } };
    OP(s, catalog->jobs_stop, stops, 2, 4321); /* one that is not there keeps no other */
    OP(s, txn->commit, NULL); /* a row that is not there does not spoil the transaction */
    struct job_record r;
    OP(s, catalog->job_get, id, &r);
    assert_false(r.enabled);
    assert_true(r.next_ms == NEVER_MS);
    assert_string_equal(r.stop_reason, "no next scheduled time");
    assert_int_equal(r.updated_ms, 4321);
    job_record_done(&r);
}

/* ---- definitions ----------------------------------------------------------------------------- */

static void a_deleted_job_goes_at_once_and_its_log_in_steps(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, txn->begin);
    int64_t id = sample_job_add(s, "gone", 1000), other = sample_job_add(s, "stays", 1000);
    struct run_row r[6];
    for (int i = 0; i < 6; i++)
        r[i] = sample_run(i < 5 ? id : other, 1000 * i);
    OP(s, runs->runs_add, r, 6);
    for (int i = 0; i < 4; i++) { /* the fifth is still running */
        struct run_change c = { .log_id = r[i].log_id, .what = CHANGE_CLOSE };
        OP(s, runs->runs_change, &c, 1, &missed);
    }
    OP(s, catalog->job_delete, id);
    OP_FAILS(ERR_NOTFOUND, s, catalog->job_delete, id);
    OP(s, txn->commit, NULL);
    struct job_record j;
    OP_FAILS(ERR_NOTFOUND, s, catalog->job_get, id, &j);
    struct due_row due[4];
    int n;
    int64_t next_ms, total;
    bool more;
    OP(s, txn->begin);
    OP(s, runs->due_take, INT64_MIN, 9999, 4, due, &n, &next_ms);
    assert_int_equal(n, 1);
    OP(s, runs->purge, 3, &more);
    assert_true(more);
    OP(s, runs->purge, 3, &more);
    assert_false(more);
    const struct logs_filter f = { .job_id = id, .from_ms = -1, .to_ms = -1 };
    OP(s, pages->logs_page, &f, NULL, NULL, &total);
    assert_int_equal(total, 1);
    struct run_change c = { .log_id = r[4].log_id, .what = CHANGE_CLOSE };
    OP(s, runs->runs_change, &c, 1, &missed);
    OP(s, runs->purge, 3, &more);
    OP(s, pages->logs_page, &f, NULL, NULL, &total);
    assert_int_equal(total, 0);
    OP(s, runs->purge, 3, &more);
    assert_false(more);
    OP(s, txn->commit, NULL);
    struct log_record l;
    OP(s, pages->log_get, r[5].log_id, &l);
    log_record_done(&l);
    OP(s, txn->begin);
    assert_true(sample_job_add(s, "new", 1) > other); /* ids of jobs are not used again either */
    OP(s, txn->commit, NULL);
}

/* In a transaction. */
static void parent_add(struct store *s, const char *children)
{
    struct job_record r = sample_job("parent", NEVER_MS);
    r.children = (char *)children;
    OP(s, catalog->job_insert, &r);
}

static void parents_of_a_job_are_counted(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    static const char *const lists[] = { "7", "17,7", "7, 8", " 7 ", "70,77", "" };
    int64_t count;
    OP(s, txn->begin);
    for (size_t i = 0; i < countof(lists); i++)
        parent_add(s, lists[i]);
    OP(s, txn->commit, NULL);
    OP(s, catalog->job_parents, 7, &count);
    assert_int_equal(count, 4);
    OP(s, catalog->job_parents, 8, &count);
    assert_int_equal(count, 1);
    OP(s, catalog->job_parents, 9, &count);
    assert_int_equal(count, 0);
}

static void groups_and_registry_keep_what_they_are_told(void **state)
{
    struct engine *e = *state;
    struct group_record g = { .app = "app-one", .title = "One", .address_list = "http://a" };
    struct group_record h = { .app = "app-two", .title = "Two", .address_type = 1 };
    OP(e->s, txn->begin);
    OP(e->s, catalog->group_insert, &g);
    OP(e->s, catalog->group_insert, &h);
    g.address_list = NULL;
    g.updated_ms = 9;
    OP(e->s, catalog->group_update, &g);
    sample_job_add(e->s, "j", 1);
    struct registry_record r[] = { { "EXECUTOR", "app-one", "http://a", 1 },
                                   { "EXECUTOR", "app-one", "http://b", 2 },
                                   { "EXECUTOR", "app-one", "http://a", 3 } };
    struct registry_record young = { "EXECUTOR", "app-one", "http://young", 1800000060000 };
    struct registry_record old = { "EXECUTOR", "app-one", "http://old", 1800000060000 };
    OP(e->s, catalog->registry_put, r, 3);
    r[1].updated_ms = 0;
    OP(e->s, catalog->registry_delete, &r[1], 1);
    OP(e->s, catalog->registry_delete, &r[1], 1);
    OP(e->s, catalog->registry_put, &young, 1);
    young.updated_ms -= 1000; /* one that was touched later stays */
    OP(e->s, catalog->registry_delete, &young, 1);
    OP(e->s, catalog->registry_put, &old, 1);
    OP(e->s, catalog->registry_delete, &old, 1);
    OP(e->s, txn->commit, NULL);
    engine_reopen(e);
    char *dump = engine_dump(e);
    assert_non_null(strstr(dump, "registry|3|EXECUTOR|app-one|http://a\n"));
    assert_null(strstr(dump, "http://b"));
    assert_null(strstr(dump, "http://old"));
    assert_non_null(strstr(dump, "http://young"));
    free(dump);
    struct group_record got;
    OP(e->s, catalog->group_get, g.id, &got);
    assert_null(got.address_list);
    assert_int_equal(got.updated_ms, 9);
    group_record_done(&got);
    int64_t count;
    OP(e->s, catalog->group_jobs, g.id, &count);
    assert_int_equal(count, 1);
    OP(e->s, catalog->group_jobs, h.id, &count);
    assert_int_equal(count, 0);
    OP(e->s, txn->begin);
    OP(e->s, catalog->group_delete, h.id);
    OP_FAILS(ERR_NOTFOUND, e->s, catalog->group_delete, h.id);
    OP_FAILS(ERR_NOTFOUND, e->s, catalog->group_update, &h);
    OP(e->s, txn->commit, NULL);
    OP_FAILS(ERR_NOTFOUND, e->s, catalog->group_get, h.id, &got);
}

static void a_group_has_a_token_until_it_has_none_or_goes(void **state)
{
    struct engine *e = *state;
    struct group_record g = { .app = "app-one", .title = "One" }, h = g;
    struct group_token t, none;
    OP(e->s, txn->begin);
    OP(e->s, catalog->group_insert, &g);
    OP(e->s, catalog->group_insert, &h);
    t = (struct group_token){ g.id, NULL, "new", 5 };
    none = (struct group_token){ g.id, NULL, NULL, 9 };
    OP_FAILS(ERR_NOTFOUND, e->s, catalog->group_token_get, g.id, &t);
    OP(e->s, catalog->group_token_put, &t);
    t.token = "old";
    t.since_ms = 6;
    OP(e->s, catalog->group_token_put, &t);
    t.group_id = h.id;
    OP(e->s, catalog->group_token_put, &t);
    OP(e->s, txn->commit, NULL);
    engine_reopen(e);
    OP(e->s, catalog->group_token_get, g.id, &t);
    assert_string_equal(t.token, "old");
    assert_string_equal(t.next, "new");
    assert_int_equal(t.since_ms, 6);
    group_token_done(&t);
    OP(e->s, txn->begin);
    for (int i = 0; i < 2; i++) {
        OP(e->s, catalog->group_moved_put, g.id, "http://a");
        OP(e->s, catalog->group_moved_put, h.id, "http://a");
    }
    char *dump = engine_dump(e);
    const char *moved = strstr(dump, "moved|");
    assert_non_null(moved);
    assert_non_null(strstr(moved + 1, "moved|"));
    assert_null(strstr(strstr(moved + 1, "moved|") + 1, "moved|"));
    free(dump);
    t = (struct group_token){ g.id, "new", NULL, 8 }; /* the change has ended */
    OP(e->s, catalog->group_token_put, &t);
    t = (struct group_token){ h.id, "old", "newer", 8 }; /* another one begins */
    OP(e->s, catalog->group_token_put, &t);
    dump = engine_dump(e);
    moved = strstr(dump, "moved|");
    assert_non_null(moved);
    assert_null(strstr(moved + 1, "moved|"));
    free(dump);
    OP(e->s, catalog->group_token_put, &none);
    OP(e->s, catalog->group_delete, h.id);
    OP(e->s, txn->commit, NULL);
    OP_FAILS(ERR_NOTFOUND, e->s, catalog->group_token_get, g.id, &t);
    OP_FAILS(ERR_NOTFOUND, e->s, catalog->group_token_get, h.id, &t);
    dump = engine_dump(e);
    assert_null(strstr(dump, "moved|"));
    free(dump);
}

static void users_have_our_hash_beside_theirs(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    int64_t n;
    OP(s, users->user_count, false, &n);
    assert_int_equal(n, 0);
    struct user_record ann = { .username = "ann", .password = "e10adc", .permission = "1,2" };
    struct user_record bob = { .username = "bob", .argon2 = "$argon2id$x", .role = 1 };
    OP(s, txn->begin);
    OP(s, users->user_insert, &ann);
    OP(s, users->user_insert, &bob);
    OP_FAILS(ERR_EXISTS, s, users->user_insert, &ann);
    OP_FAILS(ERR_NOTFOUND, s, users->user_upgrade, 99, "x");
    OP(s, txn->commit, NULL);
    struct user_record got;
    OP(s, users->user_find, "ann", &got);
    assert_string_equal(got.password, "e10adc");
    assert_null(got.argon2);
    assert_string_equal(got.permission, "1,2");
    int64_t id = got.id;
    user_record_done(&got);
    OP(s, txn->begin);
    OP(s, users->user_upgrade, id, "$argon2id$y");
    OP(s, txn->commit, NULL);
    OP(s, users->user_get, id, &got);
    assert_string_equal(got.password, "e10adc"); /* theirs is never rewritten */
    assert_string_equal(got.argon2, "$argon2id$y");
    user_record_done(&got);
    OP(s, users->user_find, "bob", &got);
    assert_string_equal(got.password, "");
    assert_string_equal(got.argon2, "$argon2id$x");
    assert_int_equal(got.role, 1);
    user_record_done(&got);
    OP_FAILS(ERR_NOTFOUND, s, users->user_find, "Ann", &got);
}

static void sessions_come_and_expire(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct session_record a = { "aa", 1, 10, 100, 10, "127.0.0.1" };
    struct session_record b = { "bb", 2, 10, 200, 10, "" }, got;
    OP(s, txn->begin);
    OP(s, users->session_put, &a);
    OP(s, users->session_put, &b);
    a.expires_ms = 150;
    OP(s, users->session_put, &a);
    OP(s, txn->commit, NULL);
    OP(s, users->session_find, "aa", &got);
    assert_int_equal(got.expires_ms, 150);
    assert_string_equal(got.address, "127.0.0.1");
    OP(s, txn->begin);
    OP(s, users->sessions_expire, 150);
    OP(s, txn->commit, NULL);
    OP_FAILS(ERR_NOTFOUND, s, users->session_find, "aa", &got);
    OP(s, users->session_find, "bb", &got);
    OP(s, txn->begin);
    OP(s, users->session_delete, "bb");
    OP(s, users->session_delete, "bb");
    OP(s, txn->commit, NULL);
    OP_FAILS(ERR_NOTFOUND, s, users->session_find, "bb", &got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(due_jobs_come_earliest_first_and_by_id),
        BOTH(advancing_writes_the_scheduled_times_and_not_the_version),
        BOTH(sweeps_find_jobs_by_type_in_order_of_id),
        BOTH(a_job_comes_back_as_it_was_written),
        BOTH(each_column_keeps_its_value),
        BOTH(a_text_that_must_be_there_is_the_columns_default),
        BOTH(jobs_are_read_many_at_a_time),
        BOTH(a_stopped_job_is_not_due_and_says_why),
        BOTH(a_deleted_job_goes_at_once_and_its_log_in_steps),
        BOTH(parents_of_a_job_are_counted),
        BOTH(groups_and_registry_keep_what_they_are_told),
        BOTH(a_group_has_a_token_until_it_has_none_or_goes),
        BOTH(groups_are_read_many_at_a_time),
        BOTH(users_have_our_hash_beside_theirs),
        BOTH(sessions_come_and_expire),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
