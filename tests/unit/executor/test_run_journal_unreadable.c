/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's journal on a disk that cannot be read, for a moment or for good: that is no
 * damage. It is refused, or waited for, with the disk's own words; the files stay as they are, and
 * when the disk reads again, all is there. */
#include "support_journal.h"
#include "base/mem.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

/* --- the disk: these stand before libc's, for SQLite as well --- */

static struct {
    const char *ending; /* of the file's name; NULL: all is well */
    off_t from, to;     /* bytes that cannot be read */
    int skip, times;    /* reads that go well first; failures, -1: for ever */
    int failed;
} bad;

static bool hits(int fd, size_t n, off_t at)
{
    char link[64], name[256];
    if (!bad.ending || at >= bad.to || at + (off_t)n <= bad.from)
        return false;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, name, sizeof(name) - 1);
    size_t tail = strlen(bad.ending);
    if (len < (ssize_t)tail || memcmp(name + len - tail, bad.ending, tail) != 0 || bad.skip-- > 0 ||
        bad.times == 0)
        return false;
    bad.times -= bad.times > 0;
    bad.failed++;
    return true;
}

__attribute__((visibility("default"))) ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    if (hits(fd, n, at)) {
        errno = EIO;
        return -1;
    }
    return syscall(SYS_pread64, fd, to, n, at);
}

__attribute__((visibility("default"))) ssize_t pread64(int fd, void *to, size_t n, off_t at)
{
    return pread(fd, to, n, at);
}

static void make_bad(const char *ending, off_t from, off_t to, int skip, int times)
{
    bad.ending = ending;
    bad.from = from;
    bad.to = to;
    bad.skip = skip;
    bad.times = times;
    bad.failed = 0;
}

static void make_good(void)
{
    bad.ending = NULL;
}

static int tear_down(void **state)
{
    make_good();
    return journal_teardown(state);
}

/* --- what is refused, and what comes back --- */

/* Refused, with the reason; nothing was moved or made. */
static void assert_unreadable(const char *file, size_t n, const char *log, size_t nlog)
{
    struct why why;
    size_t m;
    assert_int_equal(journal_refused(&why), ERR_IO);
    assert_true(bad.failed > 0);
    assert_non_null(strstr(why.text, journal_path));
    assert_non_null(strstr(why.text, "Input/output error"));
    assert_int_equal(journal_damaged(false) + journal_damaged(true), 0);
    char *after = journal_file("", &m);
    assert_int_equal(m, n);
    assert_memory_equal(after, file, n);
    free(after);
    if (!log)
        return;
    after = journal_file("-wal", &m);
    assert_int_equal(m, nlog);
    assert_memory_equal(after, log, nlog);
    free(after);
}

static void assert_all_there(void)
{
    struct journal j;
    make_good();
    journal_open(&j);
    assert_int_equal(some_check(), SOME);
    journal_close(&j);
    assert_int_equal(journal_damaged(false), 0);
}

static void a_page_that_cannot_be_read_is_not_taken_for_a_damaged_one(void **state)
{
    (void)state;
    size_t n;
    some_write(NULL);
    char *file = journal_file("", &n);
    for (size_t page = 0; page < n / PAGE; page++) {
        off_t at = (off_t)(page * PAGE);
        make_bad("runs.db", at, at + PAGE, 0, -1);
        assert_unreadable(file, n, NULL, 0);
        make_good();
    }
    free(file);
    assert_all_there();
}

static void a_log_that_cannot_be_read_is_not_taken_for_a_damaged_one(void **state)
{
    (void)state;
    size_t n, nlog;
    char *file, *log;
    some_crash(&file, &n, &log, &nlog);
    for (size_t at = 0; at < nlog; at += nlog / 20) {
        journal_clear();
        journal_put("", file, n);
        journal_put("-wal", log, nlog);
        make_bad("-wal", (off_t)at, (off_t)at + 1, 0, -1);
        assert_unreadable(file, n, log, nlog);
        make_good();
    }
    assert_all_there();
    free(file);
    free(log);
}

/* The n-th read fails and no other. */
static void a_read_that_fails_once_costs_nothing(void **state)
{
    (void)state;
    static const char *const endings[] = { "runs.db", "-wal" };
    size_t n, nlog;
    char *file, *log;
    some_crash(&file, &n, &log, &nlog);
    int refused = 0;
    for (size_t i = 0; i < countof(endings); i++)
        for (int skip = 0;; skip += 1 + skip / 8) {
            struct journal j;
            struct why why = { "" };
            journal_clear();
            journal_put("", file, n);
            journal_put("-wal", log, nlog);
            make_bad(endings[i], 0, 1 << 30, skip, 1);
            enum err err = journal_try(&j, 1000000, DAY_MS, &why);
            if (!err)
                journal_close(&j);
            bool failed = bad.failed;
            make_good();
            assert_true(err == OK || (err == ERR_IO && failed));
            refused += err != OK;
            assert_all_there();
            if (!failed)
                break;
        }
    assert_true(refused > 3);
    free(file);
    free(log);
}

/* Once it is open: SQLite is made to forget what it has read. */
static void a_disk_that_cannot_be_read_for_a_while_is_waited_for(void **state)
{
    (void)state;
    struct rdb *s;
    struct why why = { "" };
    some_write(NULL);
    assert_int_equal(rdb_open(journal_path, &s, &why), OK);
    sqlite3_db_release_memory(s->db);
    make_bad("runs.db", 0, 1 << 30, 0, -1);
    struct run_journal_op op = result_op(SOME - 1, "ended");
    enum err err = rdb_begin(s, &why);
    if (!err)
        err = rdb_apply(s, &op, &why);
    assert_int_equal(err, ERR_IO);
    assert_non_null(strstr(why.text, "Input/output error"));
    rdb_rollback(s);
    make_good();
    assert_int_equal(rdb_probe(s, &why), OK);
    assert_int_equal(rdb_begin(s, &why), OK);
    assert_int_equal(rdb_apply(s, &op, &why), OK);
    assert_int_equal(rdb_commit(s, &why), OK);
    memset(&seen, 0, sizeof(seen));
    assert_int_equal(rdb_each(s, journal_see, &seen, &why), OK);
    assert_int_equal(seen.n, SOME);
    assert_int_equal(journal_damaged(false), 0);
    rdb_close(s);
}

/* The log's pages come from the disk when they are carried over: until then it only grows. */
static void a_checkpoint_that_cannot_read_is_made_later(void **state)
{
    (void)state;
    struct rdb *s;
    struct why why = { "" };
    some_write(&s);
    sqlite3_db_release_memory(s->db);
    make_bad("-wal", 0, 1 << 30, 0, -1);
    assert_int_equal(rdb_checkpoint(s, &why), ERR_IO);
    assert_non_null(strstr(why.text, "Input/output error"));
    assert_int_equal(journal_damaged(false), 0);
    make_good();
    assert_int_equal(rdb_checkpoint(s, &why), OK);
    rdb_close(s);
    assert_all_there();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, journal_setup, tear_down)
        T(a_page_that_cannot_be_read_is_not_taken_for_a_damaged_one),
        T(a_log_that_cannot_be_read_is_not_taken_for_a_damaged_one),
        T(a_read_that_fails_once_costs_nothing),
        T(a_disk_that_cannot_be_read_for_a_while_is_waited_for),
        T(a_checkpoint_that_cannot_read_is_made_later),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
