/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's journal: files that are not ours, not of this version, or cannot be had: refused
 * by name and left alone. */
#include "support_journal.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void assert_left_alone(enum err want, const char *word)
{
    size_t n, m;
    struct why why;
    char *before = journal_file("", &n);
    assert_int_equal(journal_refused(&why), want);
    assert_non_null(strstr(why.text, journal_path));
    assert_non_null(strstr(why.text, word));
    char *after = journal_file("", &m);
    assert_int_equal(m, n);
    assert_memory_equal(after, before, n);
    assert_int_equal(journal_damaged(false), 0);
    free(before);
    free(after);
}

static void change(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(journal_path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void what_is_not_ours_is_left_alone(void **state)
{
    (void)state;
    some_write(NULL);
    change("PRAGMA user_version = 3");
    assert_left_alone(ERR_INVALID, "newer version");
    journal_clear();
    change("CREATE TABLE run (seq INTEGER PRIMARY KEY)");
    assert_left_alone(ERR_INVALID, "another program");
    journal_clear();
    char text[5 * PAGE];
    memset(text, 'a', sizeof(text));
    journal_put("", text, sizeof(text));
    assert_left_alone(ERR_INVALID, "no journal");
    journal_put("", "hello", 5);
    assert_left_alone(ERR_INVALID, "no journal");
}

/* As the version before wrote it: told ids without dates. */
static void make_old(void)
{
    change("CREATE TABLE mark (id INTEGER PRIMARY KEY CHECK (id = 1), seq_limit INTEGER NOT NULL "
           "CHECK (seq_limit BETWEEN 1 AND 4611686018427387904)) STRICT");
    change("CREATE TABLE run (seq INTEGER PRIMARY KEY CHECK (seq BETWEEN 1 AND "
           "4611686018427387903), "
           "state INTEGER NOT NULL CHECK (state BETWEEN 2 AND 4), log_id INTEGER NOT NULL, "
           "log_date_ms INTEGER NOT NULL, moment_ms INTEGER NOT NULL, accepted_ms INTEGER NOT "
           "NULL, "
           "attempt INTEGER NOT NULL CHECK (attempt BETWEEN -2147483648 AND 2147483647), "
           "ended_ms INTEGER, code INTEGER CHECK (code BETWEEN -2147483648 AND 2147483647), "
           "has_log INTEGER, request BLOB, msg BLOB, "
           "CHECK ((state = 4) = (code IS NOT NULL AND ended_ms IS NOT NULL))) STRICT");
    change("CREATE TABLE told (n INTEGER PRIMARY KEY CHECK (n BETWEEN 1 AND 4611686018427387903), "
           "seq INTEGER NOT NULL, log_id INTEGER NOT NULL, ended_ms INTEGER NOT NULL) STRICT");
    change("INSERT INTO mark VALUES (1, 1048577); "
           "INSERT INTO told VALUES (1, 1, 11, 4000000000000), (2, 2, 12, 4000000000000); "
           "INSERT INTO run (seq, state, log_id, log_date_ms, moment_ms, accepted_ms, attempt, "
           "request) VALUES (3, 2, 13, 1700000000000, 0, 0, 0, x'7b7d'); "
           "PRAGMA application_id = 1348821356; PRAGMA user_version = 1");
}

/* Both told rows, without a date, and what is told from now on with its own. */
static void check_upgraded(void)
{
    struct journal j;
    int64_t seq = 3;
    journal_open(&j);
    assert_int_equal(seen.n, 3);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(seen.row[i].state, RUN_JOURNAL_TOLD);
        assert_int_equal(seen.row[i].log_id, 11 + i);
        assert_int_equal(seen.row[i].log_date_ms, 0);
    }
    journal_send_one(&j, tell_op(&seq, 1));
    journal_close(&j);
    journal_open(&j);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.row[2].state, RUN_JOURNAL_TOLD);
    assert_int_equal(seen.row[2].log_date_ms, 1700000000000);
    journal_close(&j);
    assert_int_equal(journal_damaged(false), 0);
}

static void a_journal_of_the_format_before_goes_on(void **state)
{
    (void)state;
    make_old();
    check_upgraded();
}

static void a_damaged_one_of_the_format_before_is_rescued(void **state)
{
    (void)state;
    struct journal j;
    make_old();
    change("INSERT INTO run (seq, state, log_id, log_date_ms, moment_ms, accepted_ms, attempt) "
           "VALUES (4, 2, 14, 0, 0, 0, 0)");
    change("PRAGMA ignore_check_constraints = ON; UPDATE run SET state = 9 WHERE seq = 4");
    journal_open(&j);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.row[1].log_id, 12);
    assert_int_equal(seen.row[1].log_date_ms, 0);
    journal_close(&j);
    assert_int_equal(journal_damaged(false), 1);
}

static void newer_changes_in_the_log_are_seen_and_left(void **state)
{
    (void)state;
    size_t n, nlog, m;
    some_write(NULL);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(journal_path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 7", NULL, NULL, NULL), SQLITE_OK);
    char *file = journal_file("", &n), *log = journal_file("-wal", &nlog);
    sqlite3_close(db);
    journal_clear();
    journal_put("", file, n);
    journal_put("-wal", log, nlog);
    assert_left_alone(ERR_INVALID, "newer version");
    char *after = journal_file("-wal", &m);
    assert_int_equal(m, nlog);
    assert_memory_equal(after, log, m);
    free(after);
    free(file);
    free(log);
}

static void rows_that_make_no_sense_are_left_out(void **state)
{
    (void)state;
    some_write(NULL);
    change("PRAGMA ignore_check_constraints = ON; UPDATE run SET state = 9 WHERE seq = 400; "
           "UPDATE run SET code = NULL WHERE state = 4 AND seq < 420");
    int n = some_open_damaged();
    assert_true(n < SOME && n > SOME - 50);
    assert_int_equal(journal_damaged(false), 1);
}

static void a_place_where_no_file_can_be_is_named(void **state)
{
    (void)state;
    struct why why;
    assert_int_equal(mkdir(journal_path, 0700), 0);
    assert_int_equal(journal_refused(&why), ERR_IO);
    assert_non_null(strstr(why.text, journal_path));
    assert_non_null(strstr(why.text, "a directory"));
    journal_clear();
    char good[96];
    strcpy(good, journal_path);
    snprintf(journal_path, sizeof(journal_path), "%s/missing/runs.db", journal_dir);
    assert_int_equal(journal_refused(&why), ERR_IO);
    assert_non_null(strstr(why.text, "No such file"));
    strcpy(journal_path, good);
}

/* As a user who may read and not write: in a child, because that is for good. */
static void a_file_that_may_not_be_written_is_named(void **state)
{
    (void)state;
    some_write(NULL);
    assert_int_equal(chmod(journal_path, 0444), 0);
    assert_int_equal(chmod(journal_dir, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        struct why why;
        if (getuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(2);
        bool ok = journal_refused(&why) == ERR_READONLY && strstr(why.text, journal_path) &&
                  strstr(why.text, "write permission");
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(chmod(journal_dir, 0755), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, journal_setup, journal_teardown)
        T(what_is_not_ours_is_left_alone),
        T(newer_changes_in_the_log_are_seen_and_left),
        T(rows_that_make_no_sense_are_left_out),
        T(a_place_where_no_file_can_be_is_named),
        T(a_file_that_may_not_be_written_is_named),
        T(a_journal_of_the_format_before_goes_on),
        T(a_damaged_one_of_the_format_before_is_rescued),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
