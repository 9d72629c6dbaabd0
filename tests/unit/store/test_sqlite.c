/* SPDX-License-Identifier: Apache-2.0 */
/* What only the embedded database has: its lock, its migrations, handles for pages, checkpoints,
 * ids after a restore, and rows that another program has written. */
#include "support_store.h"
#include "base/mem.h"
#include "store/sqlite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int setup(void **state)
{
    *state = engine_new(ENGINE_SQLITE);
    return 0;
}

static int teardown(void **state)
{
    engine_free(*state);
    return 0;
}

static struct store *open_reader(struct engine *e)
{
    const struct store_options options = { .read_only = true };
    struct store *s = NULL;
    EXPECT(store_open(e->url, &options, &s, &why), OK);
    return s;
}

/* ---- opening --------------------------------------------------------------------------------- */

static void a_second_server_is_refused_and_told_by_whom(void **state)
{
    struct engine *e = *state;
    struct store *s = NULL;
    struct why reason = { "" };
    char pid[32];
    assert_int_equal(store_open(e->url, NULL, &s, &reason), ERR_BUSY);
    assert_null(s);
    snprintf(pid, sizeof(pid), "process %ld", (long)getpid());
    assert_non_null(strstr(reason.text, pid));
    assert_non_null(strstr(reason.text, "--data"));
    engine_reopen(e); /* the lock goes with its handle, the file may stay */
}

static void only_urls_of_sqlite_are_opened(void **state)
{
    (void)state;
    static const char *const urls[] = { "", "sqlite:", "mysql://root:secret@h/db", "/tmp/x.db" };
    for (size_t i = 0; i < countof(urls); i++) {
        struct store *s = NULL;
        struct why reason = { "" };
        assert_int_equal(store_open(urls[i], NULL, &s, &reason), ERR_INVALID);
        assert_non_null(strstr(reason.text, "sqlite:FILE"));
        assert_null(strstr(reason.text, "secret"));
    }
    struct store *s = NULL;
    struct why reason = { "" };
    assert_int_equal(store_open("sqlite:/nonexistent/peal.db", NULL, &s, &reason), ERR_IO);
    assert_non_null(strstr(reason.text, "/nonexistent/peal.db"));
}

static void refused(struct engine *e, const char *sql, const char *says)
{
    store_close(e->s);
    e->s = NULL;
    engine_sql(e, sql);
    for (int reader = 0; reader < 2; reader++) {
        const struct store_options options = { .read_only = reader == 1 };
        struct why reason = { "" };
        assert_int_equal(store_open(e->url, &options, &e->s, &reason), ERR_INVALID);
        if (!strstr(reason.text, says))
            fail_msg("\"%s\" does not say \"%s\"", reason.text, says);
    }
}

static void a_migration_with_another_text_is_refused(void **state)
{
    refused(*state, "UPDATE peal_migration SET sha256 = 'abc' WHERE n = 1",
            "migration 1 was applied with another text");
}

static void a_newer_schema_is_refused(void **state)
{
    refused(*state, "INSERT INTO peal_migration VALUES (999, 'abc', 1)", "newer release");
}

static void a_foreign_database_is_left_alone(void **state)
{
    struct engine *e = *state;
    store_close(e->s);
    e->s = NULL;
    unlink(e->path);
    FILE *f = fopen(e->path, "w");
    fclose(f);
    engine_sql(e, "CREATE TABLE customers (id INTEGER)");
    struct why reason = { "" };
    assert_int_equal(store_open(e->url, NULL, &e->s, &reason), ERR_INVALID);
    assert_non_null(strstr(reason.text, "another program"));
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM sqlite_schema"), 1);
}

static void a_fresh_database_has_the_lock_row_and_no_jobs(void **state)
{
    struct engine *e = *state;
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM xxl_job_lock WHERE lock_name = "
                                          "'schedule_lock'"),
                     1);
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM xxl_job_info"), 0);
    engine_reopen(e); /* migrations run once */
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM peal_migration"), 3);
}

static void a_reader_sees_commits_and_can_change_nothing(void **state)
{
    struct engine *e = *state;
    struct store *reader = open_reader(e);
    struct job_record r = sample_job("j", 1000), got;
    OP(e->s, begin);
    OP(e->s, job_insert, &r);
    struct why reason = { "" };
    assert_int_equal(reader->ops->job_get(reader, r.id, &got, &reason), ERR_NOTFOUND);
    OP(e->s, commit);
    OP(reader, job_get, r.id, &got);
    job_record_done(&got);
    why_clear(&reason);
    assert_int_equal(reader->ops->job_stop(reader, r.id, "x", 1, &reason), ERR_READONLY);
    store_close(reader);
}

/* ---- the log of the database ------------------------------------------------------------------
 */

static long file_size(const char *path, const char *ending)
{
    char name[160];
    struct stat st;
    snprintf(name, sizeof(name), "%s%s", path, ending);
    return stat(name, &st) ? 0 : (long)st.st_size;
}

static void commit_many(struct store *s, int from, int to)
{
    for (int i = from; i < to; i++) {
        struct run_row r = sample_run(1 + i % 100, 1000 + i);
        OP(s, begin);
        OP(s, runs_add, &r, 1);
        struct run_change c = { .log_id = r.log_id, .what = CHANGE_CLOSE };
        OP(s, runs_change, &c, 1);
        OP(s, commit);
    }
}

static void checkpoints_keep_the_log_small(void **state)
{
    struct engine *e = *state;
    struct store *reader = open_reader(e);
    long largest = 0;
    for (int i = 0; i < 20; i++) {
        int64_t left = -1;
        commit_many(e->s, i * 50, i * 50 + 50);
        EXPECT(store_sqlite_checkpoint(reader, &left, &why), OK);
        assert_int_equal(left, 0);
        if (i == 1)
            largest = file_size(e->path, "-wal");
    }
    /* the file is used again from its beginning, not appended to */
    assert_true(file_size(e->path, "-wal") < 3 * largest);
    store_close(reader);
}

static void without_a_checkpointer_the_log_is_bounded_too(void **state)
{
    struct engine *e = *state;
    long bound = 80L * 1024 * 1024;
    char *big = mem_new(1024 * 1024 + 1);
    memset(big, 'x', 1024 * 1024);
    for (int i = 0; i < 200; i++) { /* 200 MiB */
        struct run_row r = sample_run(1, i);
        r.param = big;
        OP(e->s, begin);
        OP(e->s, runs_add, &r, 1);
        struct run_change c = { .log_id = r.log_id, .what = CHANGE_DROP };
        OP(e->s, commit);
        OP(e->s, begin);
        OP(e->s, runs_change, &c, 1);
        OP(e->s, commit);
        assert_true(file_size(e->path, "-wal") < bound);
    }
    free(big);
}

/* ---- ids ------------------------------------------------------------------------------------- */

static int64_t add_one(struct store *s, int64_t moment_ms)
{
    struct run_row r = sample_run(1, moment_ms);
    OP(s, begin);
    OP(s, runs_add, &r, 1);
    OP(s, commit);
    return r.log_id;
}

static void a_restored_backup_jumps_over_ids_it_cannot_know(void **state)
{
    struct engine *e = *state;
    int64_t before = add_one(e->s, 1);
    OP(e->s, begin);
    EXPECT(store_sqlite_jump_ids(e->s, &why), OK);
    OP(e->s, commit);
    engine_reopen(e);
    assert_int_equal(add_one(e->s, 2), before + 1 + (1 << 24));
}

static void ids_that_another_program_took_are_stepped_over(void **state)
{
    struct engine *e = *state;
    int64_t id = add_one(e->s, 1);
    char sql[256];
    snprintf(sql, sizeof(sql),
             "INSERT INTO xxl_job_log (id, job_group, job_id, trigger_code, handle_code) "
             "VALUES (%lld, 1, 1, 0, 0), (%lld, 1, 1, 0, 0), (9223372036854775807, 1, 1, 0, 0)",
             (long long)id + 1, (long long)id + 40);
    engine_sql(e, sql);
    assert_int_equal(add_one(e->s, 2), id + 41); /* met while running */
    engine_sql(e, "INSERT INTO xxl_job_log (id, job_group, job_id, trigger_code, handle_code) "
                  "VALUES (5000, 1, 1, 0, 0)");
    engine_reopen(e); /* met at start */
    assert_int_equal(add_one(e->s, 3), 5001);
}

struct walk {
    int n;
    int64_t last;
    bool descending;
};

static bool walk_log(void *ctx, const struct log_record *r)
{
    struct walk *w = ctx;
    w->descending &= (w->n++ == 0 || r->id < w->last) && r->job_id == 2;
    w->last = r->id;
    return true;
}

static void one_jobs_log_is_found_across_chunks_and_gaps(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    int wanted = 0, in_span = 0;
    for (int round = 0; round < 12; round++) {
        struct run_row r[1000];
        OP(s, begin);
        for (int i = 0; i < 1000; i++) {
            r[i] = sample_run(1 + (i * 7 + round) % 3, 1700000000000 + round * 600000 + i);
            wanted += r[i].job_id == 2;
            in_span += r[i].job_id == 2 && round >= 3 && round <= 8;
        }
        OP(s, runs_add, r, 1000);
        if (round == 5)
            EXPECT(store_sqlite_jump_ids(s, &why), OK);
        OP(s, commit);
    }
    engine_sql(*state,
               "INSERT INTO xxl_job_log (id, job_group, job_id, trigger_code, handle_code) "
               "VALUES (9223372036854775807, 1, 2, 0, 0), (-9223372036854775808, 1, 2, 0, 0)");
    struct walk w = { .descending = true };
    struct logs_filter f = { .job_id = 2, .from_ms = -1, .to_ms = -1, .limit = 100000 };
    int64_t total;
    OP(s, logs_page, &f, walk_log, &w, &total);
    assert_int_equal(w.n, wanted + 2);
    assert_int_equal(total, wanted + 2);
    assert_true(w.descending);
    w = (struct walk){ .descending = true };
    f.from_ms = 1700000000000 + 3 * 600000 - 1000;
    f.to_ms = 1700000000000 + 8 * 600000 + 2000;
    f.offset = 10;
    OP(s, logs_page, &f, walk_log, &w, &total);
    assert_int_equal(w.n, in_span - 10);
    assert_int_equal(total, in_span);
    assert_true(w.descending);
}

/* ---- foreign rows ---------------------------------------------------------------------------- */

static bool count_job(void *ctx, const struct job_record *r)
{
    (void)r;
    ++*(int *)ctx;
    return true;
}

static bool check_run(void *ctx, const struct run_row *r)
{
    ++*(int *)ctx;
    assert_int_equal(r->phase, PHASE_UNKNOWN);
    assert_true(r->doubted);
    assert_int_equal(r->kind, KIND_MANUAL);
    assert_null(r->handler);
    return true;
}

static void spoiled_rows_read_as_defaults(void **state)
{
    struct engine *e = *state;
    engine_sql(e, "INSERT INTO xxl_job_info (id, job_group, job_desc, glue_type, schedule_conf, "
                  "executor_timeout, executor_fail_retry_count, trigger_status) VALUES "
                  "(7, -9223372036854775808, CAST(x'ff00fe' AS TEXT), '', CAST(x'c080' AS TEXT), "
                  "9223372036854775807, -9223372036854775808, 77);"
                  "INSERT INTO peal_run VALUES (9, 7, 99, -5, 0, 1, 0, 0, 1000, 0, 0, "
                  "9223372036854775807, 0, 0, 0, 0, NULL, NULL);"
                  "INSERT INTO peal_total VALUES (0, 'nonsense', 5)");
    struct job_record j;
    OP(e->s, job_get, 7, &j);
    assert_int_equal(j.timeout_s, 0);
    assert_int_equal(j.retries, 0);
    assert_false(j.enabled);
    assert_null(j.zone);
    assert_int_equal(j.misfire_max, JOB_MISFIRE_MAX);
    assert_int_equal(j.start_deadline_ms, JOB_START_DEADLINE_MS);
    assert_true(j.next_ms == NEVER_MS);
    job_record_done(&j);
    int n = 0;
    OP(e->s, runs_each, check_run, &n);
    assert_int_equal(n, 1);
    struct totals t;
    int64_t open, total;
    OP(e->s, totals_get, &t, &open);
    assert_int_equal(open, 0);
    const struct jobs_filter f = { .status = 0, .limit = 10 };
    n = 0;
    OP(e->s, jobs_page, &f, count_job, &n, &total);
    assert_int_equal(n, 1);
    OP(e->s, begin); /* a job without its side rows gets them when it is saved */
    OP(e->s, job_get, 7, &j);
    j.next_ms = 500;
    OP(e->s, job_update, &j);
    job_record_done(&j);
    OP(e->s, commit);
    OP(e->s, job_get, 7, &j);
    assert_int_equal(j.next_ms, 500);
    job_record_done(&j);
}

static void a_spoiled_counter_refuses_and_says_what_to_set(void **state)
{
    struct engine *e = *state;
    engine_sql(e, "UPDATE peal_seq SET value = 9223372036854775807 WHERE name = 'log'");
    struct run_row r = sample_run(1, 1);
    struct why reason = { "" };
    OP(e->s, begin);
    assert_int_equal(e->s->ops->runs_add(e->s, &r, 1, &reason), ERR_CORRUPT);
    assert_non_null(strstr(reason.text, "peal_seq"));
    assert_int_equal(e->s->ops->commit(e->s, NULL), ERR_CORRUPT);
    e->s->ops->rollback(e->s);
    engine_sql(e, "UPDATE peal_seq SET value = 10 WHERE name = 'log'");
    assert_int_equal(add_one(e->s, 1), 11);
}

static void a_password_changed_by_another_program_wins(void **state)
{
    struct engine *e = *state;
    struct user_record u = { .username = "ann", .password = "old", .argon2 = "$argon2id$of-old" };
    OP(e->s, begin);
    OP(e->s, user_insert, &u);
    OP(e->s, commit);
    engine_sql(e, "UPDATE xxl_job_user SET password = 'new'");
    struct user_record got;
    OP(e->s, user_find, "ann", &got);
    assert_null(got.argon2);
    assert_string_equal(got.password, "new");
    user_record_done(&got);
}

/* ---- what planning touches ---------------------------------------------------------------------
 */

static int64_t steps_of_planning(struct store *s, int jobs_before, int jobs)
{
    OP(s, begin);
    for (int i = jobs_before; i < jobs; i++) {
        struct job_record r = sample_job("j", 1000000 + i);
        OP(s, job_insert, &r);
    }
    OP(s, commit);
    struct due_row rows[50];
    int n;
    int64_t next_ms, before = store_sqlite_steps(s);
    OP(s, begin);
    OP(s, due_take, NEVER_MS - 1, 50, rows, &n, &next_ms);
    assert_int_equal(n, 50);
    OP(s, due_put, rows, n);
    OP(s, commit);
    return store_sqlite_steps(s) - before;
}

static void planning_costs_what_is_due_and_not_what_is_stored(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    int64_t few = steps_of_planning(s, 0, 100), many = steps_of_planning(s, 100, 10000);
    assert_true(few > 0);
    assert_int_equal(few, many);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_second_server_is_refused_and_told_by_whom),
        CASE(only_urls_of_sqlite_are_opened),
        CASE(a_migration_with_another_text_is_refused),
        CASE(a_newer_schema_is_refused),
        CASE(a_foreign_database_is_left_alone),
        CASE(a_fresh_database_has_the_lock_row_and_no_jobs),
        CASE(a_reader_sees_commits_and_can_change_nothing),
        CASE(checkpoints_keep_the_log_small),
        CASE(without_a_checkpointer_the_log_is_bounded_too),
        CASE(a_restored_backup_jumps_over_ids_it_cannot_know),
        CASE(ids_that_another_program_took_are_stepped_over),
        CASE(one_jobs_log_is_found_across_chunks_and_gaps),
        CASE(spoiled_rows_read_as_defaults),
        CASE(a_spoiled_counter_refuses_and_says_what_to_set),
        CASE(a_password_changed_by_another_program_wins),
        CASE(planning_costs_what_is_due_and_not_what_is_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
