/* SPDX-License-Identifier: Apache-2.0 */
/* What only the embedded database has: its lock, its migrations, handles for pages, checkpoints,
 * ids after a restore, and rows that another program has written. */
#include "support_store.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/str.h"
#include "store/sqlite/sqlite.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t missed; /* by the last runs_change */

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

static void commit_many(struct store *s, int from, int to)
{
    for (int i = from; i < to; i++) {
        struct run_row r = sample_run(1 + i % 100, 1000 + i);
        OP(s, txn->begin);
        OP(s, runs->runs_add, &r, 1);
        struct run_change c = { .log_id = r.log_id, .what = CHANGE_CLOSE };
        OP(s, runs->runs_change, &c, 1, &missed);
        OP(s, txn->commit, NULL);
    }
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
    static const char *const urls[] = { "", "sqlite:", "oracle://root:secret@h/db", "/tmp/x.db" };
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

/* The files of the schema that lie in the tree. */
static int64_t migrations(void)
{
    glob_t found;
    assert_int_equal(glob(PEAL_SOURCE_DIR "/src/store/sqlite/schema/*", 0, NULL, &found), 0);
    int64_t n = (int64_t)found.gl_pathc;
    globfree(&found);
    return n;
}

static void a_fresh_database_has_the_lock_row_and_no_jobs(void **state)
{
    struct engine *e = *state;
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM xxl_job_lock WHERE lock_name = "
                                          "'schedule_lock'"),
                     1);
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM xxl_job_info"), 0);
    engine_reopen(e); /* migrations run once */
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM peal_migration"), migrations());
    assert_int_equal(engine_sql_number(e, "SELECT max(n) FROM peal_migration"), migrations());
}

/* ---- upgrades ---------------------------------------------------------------------------------
 */

/* The text of a migration as it stands in the tree; owned by the caller. */
static char *schema_text(int n)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/src/store/sqlite/schema/sqlite-%03d.sql", PEAL_SOURCE_DIR, n);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = mem_new(64 * 1024);
    size_t size = fread(text, 1, 64 * 1024 - 1, f);
    fclose(f);
    assert_true(size > 0 && size < 64 * 1024 - 1);
    return text;
}

/* The engine's file as a release left it that knew this many migrations. */
static void make_old(struct engine *e, int known)
{
    store_close(e->s);
    e->s = NULL;
    unlink(e->path);
    fclose(fopen(e->path, "w"));
    engine_sql(e, "CREATE TABLE peal_migration (n INTEGER PRIMARY KEY, sha256 TEXT NOT NULL, "
                  "applied_ms INTEGER NOT NULL) STRICT");
    for (int n = 1; n <= known; n++) {
        unsigned char digest[32];
        char sha[65], sql[256];
        char *text = schema_text(n);
        engine_sql(e, text);
        sha256(text, strlen(text), digest);
        hex_text(digest, sizeof(digest), sha);
        snprintf(sql, sizeof(sql), "INSERT INTO peal_migration VALUES (%d, '%s', 1)", n, sha);
        engine_sql(e, sql);
        free(text);
    }
}

static void reopen_upgraded(struct engine *e)
{
    EXPECT(store_open(e->url, NULL, &e->s, &why), OK);
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM peal_migration"), migrations());
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM peal_epoch"), 1);
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM sqlite_schema WHERE name IN "
                                          "('peal_total', 'peal_mark')"),
                     0);
}

/* Totals, watermark and recorder of a release that kept them in tables of their own. */
static void an_upgrade_brings_totals_and_watermark_along(void **state)
{
    struct engine *e = *state;
    char sql[128];
    make_old(e, 4);
    for (int i = 0; i < TOTAL_COUNT; i++) {
        snprintf(sql, sizeof(sql), "INSERT INTO peal_total VALUES (0, '%s', %d)",
                 total_name((enum total)i), 1000 + i);
        engine_sql(e, sql);
    }
    engine_sql(e, "INSERT INTO peal_total VALUES (0, 'nonsense', 5), (7, 'planned', 6);"
                  "INSERT INTO peal_mark VALUES (1, 1700000000000, 1, "
                  "'00112233445566778899aabbccddeeff', 42);"
                  "UPDATE peal_seq SET value = 12 WHERE name = 'log'");
    reopen_upgraded(e);
    struct totals t;
    struct watermark m;
    int64_t open;
    OP(e->s, txn->totals_get, &t, &open);
    for (int i = 0; i < TOTAL_COUNT; i++)
        assert_int_equal(t.n[i], 1000 + i);
    OP(e->s, txn->watermark_get, &m);
    assert_true(m.until_ms == 1700000000000);
    assert_true(m.clean);
    assert_string_equal(m.recorder, "00112233445566778899aabbccddeeff");
    assert_int_equal(m.renewals, 42);
    assert_int_equal(m.last_id, 12);
    assert_int_equal(m.batch, 0); /* commits are numbered from here on */
    commit_many(e->s, 0, 3);
    OP(e->s, txn->watermark_get, &m);
    assert_int_equal(m.batch, 3);
    assert_true(m.clean);
}

static void an_upgrade_of_a_database_that_never_fired(void **state)
{
    struct engine *e = *state;
    for (int from = 1; from <= 4; from++) {
        make_old(e, from);
        reopen_upgraded(e);
        struct totals t;
        struct watermark m;
        int64_t open;
        OP(e->s, txn->totals_get, &t, &open);
        assert_int_equal(totals_unaccounted(&t, open), 0);
        OP(e->s, txn->watermark_get, &m);
        assert_int_equal(m.until_ms, 0);
        assert_false(m.clean);
        assert_string_equal(m.recorder, "");
        commit_many(e->s, 0, 1);
    }
}

/* ---- readers -----------------------------------------------------------------------------------
 */

static void a_reader_sees_commits_and_can_change_nothing(void **state)
{
    struct engine *e = *state;
    struct store *reader = open_reader(e);
    struct job_record r = sample_job("j", 1000), got;
    OP(e->s, txn->begin);
    OP(e->s, catalog->job_insert, &r);
    struct why reason = { "" };
    assert_int_equal(reader->ops->catalog->job_get(reader, r.id, &got, &reason), ERR_NOTFOUND);
    OP(e->s, txn->commit, NULL);
    OP(reader, catalog->job_get, r.id, &got);
    job_record_done(&got);
    why_clear(&reason);
    const struct job_stop stop = { r.id, "x" };
    assert_int_equal(reader->ops->catalog->jobs_stop(reader, &stop, 1, 1, &reason), ERR_READONLY);
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
        OP(e->s, txn->begin);
        OP(e->s, runs->runs_add, &r, 1);
        struct run_change c = { .log_id = r.log_id, .what = CHANGE_DROP };
        OP(e->s, txn->commit, NULL);
        OP(e->s, txn->begin);
        OP(e->s, runs->runs_change, &c, 1, &missed);
        OP(e->s, txn->commit, NULL);
        assert_true(file_size(e->path, "-wal") < bound);
    }
    free(big);
}

/* ---- ids ------------------------------------------------------------------------------------- */

static int64_t add_one(struct store *s, int64_t scheduled_ms)
{
    struct run_row r = sample_run(1, scheduled_ms);
    OP(s, txn->begin);
    OP(s, runs->runs_add, &r, 1);
    OP(s, txn->commit, NULL);
    return r.log_id;
}

static void a_restored_backup_jumps_over_ids_it_cannot_know(void **state)
{
    struct engine *e = *state;
    int64_t before = add_one(e->s, 1);
    OP(e->s, txn->begin);
    EXPECT(store_sqlite_jump_ids(e->s, &why), OK);
    OP(e->s, txn->commit, NULL);
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
        OP(s, txn->begin);
        for (int i = 0; i < 1000; i++) {
            r[i] = sample_run(1 + (i * 7 + round) % 3, 1700000000000 + round * 600000 + i);
            wanted += r[i].job_id == 2;
            in_span += r[i].job_id == 2 && round >= 3 && round <= 8;
        }
        OP(s, runs->runs_add, r, 1000);
        if (round == 5)
            EXPECT(store_sqlite_jump_ids(s, &why), OK);
        OP(s, txn->commit, NULL);
    }
    engine_sql(*state,
               "INSERT INTO xxl_job_log (id, job_group, job_id, trigger_code, handle_code) "
               "VALUES (9223372036854775807, 1, 2, 0, 0), (-9223372036854775808, 1, 2, 0, 0)");
    struct walk w = { .descending = true };
    struct logs_filter f = { .job_id = 2, .from_ms = -1, .to_ms = -1, .limit = 100000 };
    int64_t total;
    OP(s, pages->logs_page, &f, walk_log, &w, &total);
    assert_int_equal(w.n, wanted + 2);
    assert_int_equal(total, wanted + 2);
    assert_true(w.descending);
    w = (struct walk){ .descending = true };
    f.from_ms = 1700000000000 + 3 * 600000 - 1000;
    f.to_ms = 1700000000000 + 8 * 600000 + 2000;
    f.offset = 10;
    OP(s, pages->logs_page, &f, walk_log, &w, &total);
    assert_int_equal(w.n, in_span - 10);
    assert_int_equal(total, in_span);
    assert_true(w.descending);
}

/* ---- columns --------------------------------------------------------------------------------- */

static void the_schema_has_the_columns_of_a_job(void **state)
{
    struct engine *e = *state;
    static const char *const tables[] = { "xxl_job_info", "peal_due", "peal_job" };
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        char sql[256];
        const char *type = c->type >= JOB_TEXT ? "TEXT" : c->type == JOB_REAL ? "REAL" : "INTEGER";
        snprintf(sql, sizeof(sql),
                 "SELECT count(*) FROM pragma_table_info('%s') WHERE name = '%s' AND type = '%s' "
                 "AND \"notnull\" = %d",
                 tables[c->table], c->name, type, c->not_null);
        if (engine_sql_number(e, sql) != 1)
            fail_msg("%s.%s is no %s%s of the schema", tables[c->table], c->name, type,
                     c->not_null ? " NOT NULL" : "");
    }
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
                  "DELETE FROM peal_epoch; INSERT INTO peal_epoch (epoch, planned) VALUES (7, 5)");
    struct job_record j;
    OP(e->s, catalog->job_get, 7, &j);
    assert_int_equal(j.timeout_s, 0);
    assert_int_equal(j.retries, 0);
    assert_false(j.enabled);
    assert_null(j.zone);
    assert_int_equal(j.misfire_max, job_columns[JOB_COLUMN_misfire_max].number);
    assert_int_equal(j.start_deadline_ms, JOB_START_DEADLINE_S * 1000);
    assert_true(j.next_ms == NEVER_MS);
    job_record_done(&j);
    int n = 0;
    OP(e->s, runs->runs_each, check_run, &n);
    assert_int_equal(n, 1);
    struct totals t;
    int64_t open, total;
    OP(e->s, txn->totals_get, &t, &open);
    assert_int_equal(open, 0);
    assert_int_equal(t.n[TOTAL_PLANNED], 0); /* of another epoch */
    const struct jobs_filter f = { .status = 0, .limit = 10 };
    n = 0;
    OP(e->s, pages->jobs_page, &f, count_job, &n, &total);
    assert_int_equal(n, 1);
    OP(e->s, txn->begin); /* a job without its side rows gets them when it is saved */
    OP(e->s, catalog->job_get, 7, &j);
    j.next_ms = 500;
    OP(e->s, catalog->job_update, &j);
    job_record_done(&j);
    const struct commit late = { .totals = { { [TOTAL_LATE] = 3 } } };
    OP(e->s, txn->commit, &late); /* the epoch's row is made anew */
    OP(e->s, txn->totals_get, &t, &open);
    assert_int_equal(t.n[TOTAL_LATE], 3);
    OP(e->s, catalog->job_get, 7, &j);
    assert_int_equal(j.next_ms, 500);
    job_record_done(&j);
}

static void a_spoiled_counter_refuses_and_says_what_to_set(void **state)
{
    struct engine *e = *state;
    engine_sql(e, "UPDATE peal_seq SET value = 9223372036854775807 WHERE name = 'log'");
    struct run_row r = sample_run(1, 1);
    struct why reason = { "" };
    OP(e->s, txn->begin);
    assert_int_equal(e->s->ops->runs->runs_add(e->s, &r, 1, &reason), ERR_CORRUPT);
    assert_non_null(strstr(reason.text, "peal_seq"));
    assert_int_equal(e->s->ops->txn->commit(e->s, NULL, NULL), ERR_CORRUPT);
    e->s->ops->txn->rollback(e->s);
    engine_sql(e, "UPDATE peal_seq SET value = 10 WHERE name = 'log'");
    assert_int_equal(add_one(e->s, 1), 11);
}

static void a_password_changed_by_another_program_wins(void **state)
{
    struct engine *e = *state;
    struct user_record u = { .username = "ann", .password = "old", .argon2 = "$argon2id$of-old" };
    OP(e->s, txn->begin);
    OP(e->s, users->user_insert, &u);
    OP(e->s, txn->commit, NULL);
    engine_sql(e, "UPDATE xxl_job_user SET password = 'new'");
    struct user_record got;
    OP(e->s, users->user_find, "ann", &got);
    assert_null(got.argon2);
    assert_string_equal(got.password, "new");
    user_record_done(&got);
}

/* ---- what planning touches ---------------------------------------------------------------------
 */

static int64_t steps_of_planning(struct store *s, int jobs_before, int jobs)
{
    OP(s, txn->begin);
    for (int i = jobs_before; i < jobs; i++) {
        struct job_record r = sample_job("j", 1000000 + i);
        OP(s, catalog->job_insert, &r);
    }
    OP(s, txn->commit, NULL);
    struct due_row rows[50];
    int n;
    int64_t next_ms, before = store_sqlite_steps(s);
    OP(s, txn->begin);
    OP(s, runs->due_take, 0, NEVER_MS - 1, 50, rows, &n, &next_ms);
    assert_int_equal(n, 50);
    OP(s, runs->due_put, rows, n);
    OP(s, txn->commit, NULL);
    return store_sqlite_steps(s) - before;
}

static void planning_costs_what_is_due_and_not_what_is_stored(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    int64_t few = steps_of_planning(s, 0, 100), many = steps_of_planning(s, 100, 10000);
    assert_true(few > 0);
    assert_int_equal(few, many);
}

/* ---- what pages and the purge touch ------------------------------------------------------------
 * VM steps stand for rows that are touched: they are the same on every machine. */

enum {
    RARE = 1,
    FAILS = 2,
    FINE = 3,
    OTHERS = 4
}; /* jobs; RARE has failed once, at the beginning */

/* The log from id `from` to `to`: three quarters FAILS, the rest shared out. */
static void fill_log(struct engine *e, int from, int to)
{
    char sql[640];
    snprintf(
        sql, sizeof(sql),
        "INSERT INTO xxl_job_log (id, job_group, job_id, trigger_time, trigger_code, "
        "handle_code) WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE "
        "i < %d) SELECT i, 1, iif(i %% 4, %d, iif(i %% 3 = 1, %d, iif(i %% 3, %d, %d))), i * 1000, "
        "200, iif(i %% 4 OR i = 4, 500, 200) FROM n",
        from, to, FAILS, RARE, FINE, OTHERS);
    engine_sql(e, sql);
}

static bool count_log(void *ctx, const struct log_record *r)
{
    (void)r;
    ++*(int *)ctx;
    return true;
}

static struct logs_filter newest(int64_t job, int status)
{
    return (struct logs_filter){
        .job_id = job, .status = status, .from_ms = -1, .to_ms = -1, .limit = 10
    };
}

/* Rows of a page; its total and the steps that it took. A machine that is busy with other things
 * may not give it enough of the second that a page has: then again. */
static int page_of(struct store *s, struct logs_filter f, int64_t *ret_total, int64_t *ret_steps)
{
    struct why why;
    enum err err = ERR_TIMEOUT;
    int rows = 0;
    for (int i = 0; err == ERR_TIMEOUT && i < 20; i++) {
        int64_t before = store_sqlite_steps(s);
        rows = 0;
        err = s->ops->pages->logs_page(s, &f, count_log, &rows, ret_total, &why);
        *ret_steps = store_sqlite_steps(s) - before;
    }
    assert_int_equal(err, OK);
    return rows;
}

enum { SHORT_LOG = 60000, LONG_LOG = 240000, CHUNK = 4096, STEPS_A_CHUNK = 100 };

static void a_newest_page_costs_the_same_however_long_the_log_is(void **state)
{
    struct engine *e = *state;
    const struct {
        struct logs_filter f;
        int rows;
    } pages[] = {
        { newest(0, -1), 10 },    { newest(0, 2), 10 },   { newest(FAILS, -1), 10 },
        { newest(FAILS, 2), 10 }, { newest(RARE, 2), 1 }, { newest(FINE, 2), 0 },
        { newest(FAILS, 3), 0 },
    };
    int64_t few[countof(pages)], total, steps;
    fill_log(e, 1, SHORT_LOG);
    for (size_t i = 0; i < countof(pages); i++)
        assert_int_equal(page_of(e->s, pages[i].f, &total, &few[i]), pages[i].rows);
    fill_log(e, SHORT_LOG + 1, LONG_LOG);
    for (size_t i = 0; i < countof(pages); i++) {
        assert_int_equal(page_of(e->s, pages[i].f, &total, &steps), pages[i].rows);
        if (steps > few[i] + few[i] / 10 + (LONG_LOG - SHORT_LOG) / CHUNK * STEPS_A_CHUNK)
            fail_msg("page %zu: %lld steps, then %lld", i, (long long)few[i], (long long)steps);
    }
}

/* Of a time in which the job has no row that fits: the rows before it are not looked at. */
static void a_page_of_a_time_costs_that_time(void **state)
{
    struct engine *e = *state;
    int64_t total, steps;
    fill_log(e, 1, LONG_LOG);
    engine_sql(e,
               "INSERT INTO peal_log_span (slot, first_id, last_id) SELECT trigger_time / 600000, "
               "min(id), max(id) FROM xxl_job_log GROUP BY 1");
    for (int status = -1; status <= 2; status++) {
        struct logs_filter f = newest(FAILS, status);
        f.from_ms = f.to_ms = (int64_t)LONG_LOG / 2 * 1000; /* another job's second */
        assert_int_equal(page_of(e->s, f, &total, &steps), 0);
        assert_int_equal(total, 0);
        assert_in_range(steps, 1, 250000);
        f.from_ms = f.to_ms = f.to_ms + 1000;
        assert_int_equal(page_of(e->s, f, &total, &steps), status == 1 ? 0 : 1);
    }
}

static void a_total_is_exact_to_ten_thousand_and_never_too_low(void **state)
{
    struct engine *e = *state;
    static const int sizes[] = { 100, 9999, 10000, 10001, 13333, 40000, 50000 };
    int done = 0;
    for (size_t i = 0; i < countof(sizes); i++) {
        fill_log(e, done + 1, sizes[i]);
        done = sizes[i];
        for (int job = 0; job <= OTHERS; job++) {
            for (int status = 0; status <= 2; status++) {
                char sql[200];
                snprintf(sql, sizeof(sql),
                         "SELECT count(*) FROM xxl_job_log WHERE %d IN (0, job_id) AND (%d = 0 OR "
                         "handle_code = iif(%d = 1, 200, 500))",
                         job, status, status);
                int64_t really = engine_sql_number(e, sql), total, steps;
                struct logs_filter f = newest(job, status);
                page_of(e->s, f, &total, &steps);
                if (really <= 10000 ? total != really : total < really || total > sizes[i])
                    fail_msg("job %d, status %d: %lld of %lld", job, status, (long long)total,
                             (long long)really);
                f.offset = really - 5; /* the last page says how many there are */
                if (really > 5) {
                    assert_int_equal(page_of(e->s, f, &total, &steps), 5);
                    assert_int_equal(total, really);
                }
            }
        }
    }
}

static void totals_of_odd_ids_and_offsets_do_not_overflow(void **state)
{
    struct engine *e = *state;
    int64_t total, steps;
    fill_log(e, 1, 20000);
    engine_sql(e,
               "INSERT INTO xxl_job_log (id, job_group, job_id, trigger_code, handle_code) VALUES "
               "(-9223372036854775807, 1, 2, 200, 500), (9223372036854775807, 1, 2, 200, 500)");
    for (int job = 0; job <= FAILS; job += FAILS) {
        struct logs_filter f = newest(job, 2);
        page_of(e->s, f, &total, &steps);
        assert_true(total > 15000);
        f.offset = INT64_MAX;
        assert_int_equal(page_of(e->s, f, &total, &steps), 0);
        assert_true(total > 15000);
    }
    const struct jobs_filter f = { .status = -1, .offset = INT64_MAX, .limit = 10 };
    OP(e->s, pages->jobs_page, &f, NULL, NULL, &total);
    assert_int_equal(total, 0);
}

/* Steps of all purges of 500 rows until the job's rows have gone; the largest into *ret_most. */
static int64_t purge_all(struct engine *e, int64_t job, int64_t *ret_most)
{
    int64_t begin = store_sqlite_steps(e->s);
    char sql[100];
    snprintf(sql, sizeof(sql), "INSERT INTO peal_purge (job_id) VALUES (%d)", (int)job);
    engine_sql(e, sql);
    *ret_most = 0;
    for (bool more = true; more;) {
        int64_t before = store_sqlite_steps(e->s);
        OP(e->s, txn->begin);
        OP(e->s, runs->purge, 500, &more);
        OP(e->s, txn->commit, NULL);
        int64_t steps = store_sqlite_steps(e->s) - before;
        *ret_most = steps > *ret_most ? steps : *ret_most;
    }
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM peal_purge"), 0);
    snprintf(sql, sizeof(sql), "SELECT count(*) FROM xxl_job_log WHERE job_id = %d", (int)job);
    assert_int_equal(engine_sql_number(e, sql), 0);
    return store_sqlite_steps(e->s) - begin;
}

static void a_purge_costs_what_it_deletes_and_a_look_at_each_chunk(void **state)
{
    struct engine *e = *state;
    int64_t most_short, most_long, most;
    fill_log(e, 1, SHORT_LOG);
    int64_t few = purge_all(e, FAILS, &most_short);
    fill_log(e, SHORT_LOG + 1, SHORT_LOG + LONG_LOG);
    int64_t many = purge_all(e, FAILS, &most_long);
    int64_t ratio = LONG_LOG / SHORT_LOG;
    int64_t looks = (SHORT_LOG + LONG_LOG) / CHUNK * STEPS_A_CHUNK;
    if (many > ratio * few + few / 10 + looks || most_long > most_short + most_short / 10 + looks)
        fail_msg("%lld steps, then %lld; in one transaction %lld, then %lld", (long long)few,
                 (long long)many, (long long)most_short, (long long)most_long);
    purge_all(e, RARE, &most);
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM xxl_job_log WHERE job_id > 2"),
                     (SHORT_LOG + LONG_LOG) / 12 * 2);
}

static void a_purge_goes_on_after_a_restart_and_comes_back_to_open_runs(void **state)
{
    struct engine *e = *state;
    bool more;
    fill_log(e, 1, 30000);
    engine_sql(e, "UPDATE peal_seq SET value = 30000 WHERE name = 'log'");
    OP(e->s, txn->begin);
    struct run_row r[2] = { sample_run(FAILS, 1000), sample_run(FAILS, 2000) };
    OP(e->s, runs->runs_add, r, 2);
    OP(e->s, txn->commit, NULL);
    engine_sql(e, "UPDATE peal_run SET log_id = log_id - 29999"); /* rows 2 and 3 are open */
    engine_sql(e, "DELETE FROM xxl_job_log WHERE id > 30000");
    engine_sql(e, "INSERT INTO peal_purge (job_id) VALUES (2)");
    for (int i = 0; i < 100; i++) {
        OP(e->s, txn->begin);
        OP(e->s, runs->purge, 500, &more);
        OP(e->s, txn->commit, NULL);
        if (i % 10 == 0)
            engine_reopen(e);
        if (i == 20) /* one of them ends while the walk is far away */
            engine_sql(e, "DELETE FROM peal_run WHERE log_id = 2");
    }
    assert_false(more);
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM xxl_job_log WHERE job_id = 2"), 1);
    engine_sql(e, "DELETE FROM peal_run");
    OP(e->s, txn->begin);
    OP(e->s, runs->purge, 500, &more);
    OP(e->s, txn->commit, NULL);
    assert_false(more);
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM xxl_job_log WHERE job_id = 2"), 0);
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM peal_purge"), 0);
}

/* Whoever sends alarms (XXL-JOB: 1 none wanted, 2 sent, 3 failed) has had the failure already: a
 * second end of the run does not ask for another mail. */
static void an_alarm_that_was_taken_up_is_not_asked_for_again(void **state)
{
    struct engine *e = *state;
    OP(e->s, txn->begin);
    struct run_row r = sample_run(1, 1000);
    OP(e->s, runs->runs_add, &r, 1);
    OP(e->s, txn->commit, NULL);
    struct run_change lost = { .log_id = r.log_id,
                               .what = CHANGE_PHASE | CHANGE_FINISH | CHANGE_ALARM,
                               .phase = PHASE_LOST,
                               .handle_code = 500,
                               .handle_ms = 4000 };
    OP(e->s, txn->begin);
    OP(e->s, runs->runs_change, &lost, 1, &missed);
    OP(e->s, txn->commit, NULL);
    assert_int_equal(engine_sql_number(e, "SELECT alarm_status FROM xxl_job_log"), -1);
    for (int status = 2; status <= 3; status++) {
        char sql[80];
        snprintf(sql, sizeof(sql), "UPDATE xxl_job_log SET alarm_status = %d", status);
        engine_sql(e, sql);
        OP(e->s, txn->begin);
        OP(e->s, runs->runs_change, &lost, 1, &missed);
        OP(e->s, txn->commit, NULL);
        assert_int_equal(engine_sql_number(e, "SELECT alarm_status FROM xxl_job_log"), status);
    }
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
        CASE(an_upgrade_brings_totals_and_watermark_along),
        CASE(an_upgrade_of_a_database_that_never_fired),
        CASE(a_reader_sees_commits_and_can_change_nothing),
        CASE(checkpoints_keep_the_log_small),
        CASE(without_a_checkpointer_the_log_is_bounded_too),
        CASE(a_restored_backup_jumps_over_ids_it_cannot_know),
        CASE(ids_that_another_program_took_are_stepped_over),
        CASE(one_jobs_log_is_found_across_chunks_and_gaps),
        CASE(spoiled_rows_read_as_defaults),
        CASE(the_schema_has_the_columns_of_a_job),
        CASE(a_spoiled_counter_refuses_and_says_what_to_set),
        CASE(a_password_changed_by_another_program_wins),
        CASE(planning_costs_what_is_due_and_not_what_is_stored),
        CASE(a_newest_page_costs_the_same_however_long_the_log_is),
        CASE(a_page_of_a_time_costs_that_time),
        CASE(a_total_is_exact_to_ten_thousand_and_never_too_low),
        CASE(totals_of_odd_ids_and_offsets_do_not_overflow),
        CASE(a_purge_costs_what_it_deletes_and_a_look_at_each_chunk),
        CASE(an_alarm_that_was_taken_up_is_not_asked_for_again),
        CASE(a_purge_goes_on_after_a_restart_and_comes_back_to_open_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
