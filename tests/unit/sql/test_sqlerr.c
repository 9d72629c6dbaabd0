/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite's result codes on real files: what is a full disk, a disk that cannot be read, a damaged
 * file. */
#include "sql/sqlerr.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

/* These stand before libc's, for SQLite too. */
static int cannot_read; /* errno; 0: all is well */
static off_t cannot_read_from;
static int cannot_write;

__attribute__((visibility("default"))) ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    if (cannot_read && at >= cannot_read_from) {
        errno = cannot_read;
        return -1;
    }
    return syscall(SYS_pread64, fd, to, n, at);
}

__attribute__((visibility("default"))) ssize_t pread64(int fd, void *to, size_t n, off_t at)
{
    return pread(fd, to, n, at);
}

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
    if (cannot_write) {
        errno = cannot_write;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, from, n, at);
}

__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void *from, size_t n,
                                                        off_t at)
{
    return pwrite(fd, from, n, at);
}

static char path[64];

static int set_up(void **state)
{
    sqlite3 *db = NULL;
    (void)state;
    strcpy(path, "/tmp/peal-sqlerr-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    close(fd);
    int rc = sqlite3_open(path, &db);
    if (!rc)
        rc = sqlite3_exec(db, "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, zeroblob(100000))",
                          NULL, NULL, NULL);
    sqlite3_close(db);
    return rc;
}

static int tear_down(void **state)
{
    (void)state;
    cannot_read = 0;
    cannot_read_from = 0;
    return unlink(path);
}

static sqlite3 *open_it(void)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_extended_result_codes(db, 1);
    return db;
}

static int read_all(sqlite3 *db)
{
    return sqlite3_exec(db, "SELECT count(*), max(hex(b)) FROM t", NULL, NULL, NULL);
}

static void what_cannot_be_read_is_not_damaged(void **state)
{
    static const int errors[] = { EIO, ENXIO, ESTALE };
    (void)state;
    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
        for (off_t from = 0; from <= 8192; from += 4096) {
            sqlite3 *db = open_it();
            cannot_read = errors[i];
            cannot_read_from = from;
            int rc = read_all(db);
            assert_int_not_equal(rc, SQLITE_OK);
            assert_int_equal(sqlerr_of(db, rc), ERR_IO);
            if (errors[i] != ESTALE) { /* SQLite calls that one by its name */
                assert_true(sqlerr_unreadable(db));
                assert_string_equal(sqlerr_text(db, rc), strerror(errors[i]));
            }
            assert_non_null(strstr(sqlerr_advice(ERR_IO), "system's log"));
            cannot_read = 0;
            assert_int_equal(read_all(db), SQLITE_OK);
            sqlite3_close(db);
        }
    }
}

static void what_is_damaged_is(void **state)
{
    char junk[4096];
    (void)state;
    memset(junk, 0xa5, sizeof(junk));
    for (int page = 1; page >= 0; page--) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        assert_int_equal(pwrite(fd, junk, sizeof(junk), page * 4096), sizeof(junk));
        close(fd);
        sqlite3 *db = open_it();
        int rc = read_all(db);
        assert_int_equal(sqlerr_of(db, rc), ERR_CORRUPT);
        assert_false(sqlerr_unreadable(db));
        assert_string_equal(sqlerr_text(db, rc), sqlite3_errmsg(db));
        sqlite3_close(db);
    }
}

/* The kernel lets nothing be written any more: SQLite calls that an I/O error. */
static void a_file_system_that_became_read_only_is_called_so(void **state)
{
    (void)state;
    sqlite3 *db = open_it();
    cannot_write = EROFS;
    int rc = sqlite3_exec(db, "INSERT INTO t VALUES (2, zeroblob(100))", NULL, NULL, NULL);
    assert_int_equal(rc & 0xff, SQLITE_IOERR);
    assert_int_equal(sqlerr_of(db, rc), ERR_READONLY);
    assert_string_equal(sqlerr_text(db, rc), strerror(EROFS));
    assert_non_null(strstr(sqlerr_advice(ERR_READONLY), "file system"));
    cannot_write = 0;
    sqlite3_close(db);
}

/* A limit on the size of files, as a quota, is no ENOSPC. */
static void no_room_of_any_sort_is_a_full_disk(void **state)
{
    struct rlimit l;
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    sqlite3 *db = open_it();
    getrlimit(RLIMIT_FSIZE, &l);
    struct rlimit small = { 8192, l.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int rc = sqlite3_exec(db, "INSERT INTO t VALUES (2, zeroblob(1000000))", NULL, NULL, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
    assert_int_equal(rc & 0xff, SQLITE_IOERR);
    assert_int_equal(sqlerr_of(db, rc), ERR_FULL);
    assert_int_equal(sqlerr_of(db, SQLITE_FULL), ERR_FULL);
    sqlite3_close(db);
    assert_true(sqlerr_no_room(EDQUOT) && sqlerr_no_room(ENOSPC) && !sqlerr_no_room(EIO));
}

static void without_a_handle_the_code_alone_speaks(void **state)
{
    (void)state;
    assert_int_equal(sqlerr_of(NULL, SQLITE_CORRUPT), ERR_CORRUPT);
    assert_int_equal(sqlerr_of(NULL, SQLITE_IOERR_WRITE), ERR_IO);
    assert_int_equal(sqlerr_of(NULL, SQLITE_BUSY_SNAPSHOT), ERR_BUSY);
    assert_int_equal(sqlerr_of(NULL, SQLITE_MISUSE), ERR_STORE);
    assert_string_equal(sqlerr_text(NULL, SQLITE_CANTOPEN), sqlite3_errstr(SQLITE_CANTOPEN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        T(what_cannot_be_read_is_not_damaged),
        T(what_is_damaged_is),
        T(a_file_system_that_became_read_only_is_called_so),
        T(no_room_of_any_sort_is_a_full_disk),
        T(without_a_handle_the_code_alone_speaks),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
