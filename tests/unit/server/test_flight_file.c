/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder's file over the lives of a center: the old one stays until the first commit
 * of the next life says that it is not needed any more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/mem.h"
#include "base/str.h"
#include "server/flight_file.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DB "sqlite:/nowhere/peal.db"

static char dir[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(dir, "/dev/shm/peal-flight-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

/* Its files; removed if so asked. */
static int files(bool removed)
{
    int n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        n++;
        if (removed)
            unlinkat(dirfd(d), e->d_name, 0);
    }
    closedir(d);
    return n;
}

static int tear_down(void **state)
{
    (void)state;
    files(true);
    return rmdir(dir);
}

static bool believed(struct flight_file *f, const char *id)
{
    struct watermark watermark = { .renewals = 0 };
    struct flight_said said;
    struct why why = { "" };
    text_copy(watermark.recorder, sizeof(watermark.recorder), slice_text(id));
    bool yes = flight_file_read(f, &watermark, &said, &why);
    flight_said_done(&said);
    return yes;
}

static struct flight_file *life(const char *id, bool believes, char new_id[RECORDER_ID_SIZE])
{
    struct why why = { "" };
    struct flight_file *f = flight_file_new(dir, DB);
    assert_int_equal(believed(f, id), believes);
    struct flight_head *h = flight_file_make(f, &why);
    assert_string_equal(why.text, "");
    assert_non_null(h);
    if (new_id)
        text_copy(new_id, RECORDER_ID_SIZE, slice_text(h->id));
    return f;
}

static void the_old_one_stays_until_the_first_commit(void **state)
{
    (void)state;
    char first[RECORDER_ID_SIZE], second[RECORDER_ID_SIZE];
    flight_file_free(life("", false, first), false); /* killed */
    assert_int_equal(files(false), 1);
    for (int i = 0; i < 3; i++) { /* killed again and again before a commit */
        flight_file_free(life(first, true, second), false);
        assert_int_equal(files(false), 2);
    }
    struct flight_file *f = life(first, true, second);
    flight_file_settle(f);
    assert_int_equal(files(false), 1);
    flight_file_free(f, false);
    f = flight_file_new(dir, DB);
    assert_false(believed(f, first));
    assert_true(believed(f, second));
    flight_file_free(f, false);
    f = life(second, true, NULL);
    flight_file_settle(f);
    flight_file_free(f, true); /* stopped in order */
    assert_int_equal(files(false), 0);
}

/* ---- recorders whose process is gone ---------------------------------------------------- */

#define DAY_S (24 * 3600)

static struct flight_file *begun(const char *db)
{
    struct why why = { "" };
    struct flight_file *f = flight_file_new(dir, db);
    assert_non_null(flight_file_make(f, &why));
    return f;
}

/* The name of the one file that is not of this list; "" if there is none. */
static void name_beside(const char *const *known, int n, char name[256])
{
    DIR *d = opendir(dir);
    assert_non_null(d);
    name[0] = 0;
    for (struct dirent *e; (e = readdir(d));) {
        bool one = e->d_name[0] != '.';
        for (int i = 0; i < n; i++)
            one &= strcmp(e->d_name, known[i]) != 0;
        if (one)
            snprintf(name, 256, "%s", e->d_name);
    }
    closedir(d);
}

static void make_older(const char *name, int seconds)
{
    char path[400];
    struct timespec times[2];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static bool there(const char *name)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

static void an_old_one_that_nobody_holds_is_swept(void **state)
{
    (void)state;
    char own[256], other[256];
    struct flight_file *f = begun(DB);
    name_beside(NULL, 0, own);
    struct flight_file *killed = begun("sqlite:/nowhere/else.db");
    name_beside((const char *[]){ own }, 1, other);
    make_older(own, 8 * DAY_S);
    make_older(other, 8 * DAY_S);
    assert_int_equal(flight_file_sweep(f), 0); /* both are held */
    flight_file_free(killed, false);
    make_older(other, 6 * DAY_S);
    assert_int_equal(flight_file_sweep(f), 0); /* its process may come back */
    assert_true(there(other));
    make_older(other, 8 * DAY_S);
    assert_int_equal(flight_file_sweep(f), 1);
    assert_false(there(other));
    assert_true(there(own));
    flight_file_free(f, true);
}

static void copy_as(const char *from, const char *to, mode_t mode)
{
    char path[400], bytes[4096];
    snprintf(path, sizeof(path), "%s/%s", dir, from);
    int in = open(path, O_RDONLY);
    snprintf(path, sizeof(path), "%s/%s", dir, to);
    int out = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(in >= 0 && out >= 0);
    for (ssize_t n; (n = read(in, bytes, sizeof(bytes))) > 0;)
        assert_int_equal(write(out, bytes, (size_t)n), n);
    assert_int_equal(fchmod(out, mode), 0);
    close(in);
    close(out);
    make_older(to, 8 * DAY_S);
}

static void what_is_no_recorder_of_this_user_stays(void **state)
{
    (void)state;
    char own[256], name[256], path[400];
    struct flight_file *f = begun(DB);
    name_beside(NULL, 0, own);
    size_t key = (size_t)(strrchr(own, '-') + 1 - own);
    static const char *const tails[] = { "0123456789abcde.a", "0123456789abcdeg.a",
                                         "0123456789abcdef.c", "0123456789abcdef.a2" };
    int n = 1;
    for (size_t i = 0; i < countof(tails); i++, n++) {
        snprintf(name, sizeof(name), "%.*s%s", (int)key, own, tails[i]);
        copy_as(own, name, 0600);
    }
    snprintf(name, sizeof(name), "peal-%lu7-0123456789abcdef.a", (unsigned long)geteuid());
    copy_as(own, name, 0600); /* another user's, by its name */
    snprintf(name, sizeof(name), "%.*s0123456789abcdef.a", (int)key, own);
    copy_as(own, name, 0640);
    snprintf(path, sizeof(path), "%s/%.*s0123456789abcdef.b", dir, (int)key, own);
    assert_int_equal(symlink(own, path), 0);
    n += 3;
    assert_int_equal(flight_file_sweep(f), 0);
    assert_int_equal(files(false), n);
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(truncate(path, 4096), 0);
    make_older(name, 8 * DAY_S);
    assert_int_equal(flight_file_sweep(f), 0); /* nor one of another size */
    if (geteuid() == 0) {
        assert_int_equal(unlink(path), 0);
        copy_as(own, name, 0600);
        assert_int_equal(chown(path, 65534, 65534), 0);
        assert_int_equal(flight_file_sweep(f), 0);
        assert_int_equal(chown(path, 0, 0), 0);
        assert_int_equal(flight_file_sweep(f), 1); /* it was only that */
    }
    flight_file_free(f, true);
}

static void a_life_that_goes_on_is_not_old(void **state)
{
    (void)state;
    char own[256];
    struct stat st;
    char path[400];
    struct flight_file *f = begun(DB);
    name_beside(NULL, 0, own);
    make_older(own, 8 * DAY_S);
    snprintf(path, sizeof(path), "%s/%s", dir, own);
    flight_file_alive(f, 4000 * 1000);
    assert_int_equal(stat(path, &st), 0);
    assert_true(time(NULL) - st.st_mtime < DAY_S);
    make_older(own, 8 * DAY_S);
    flight_file_alive(f, 4000 * 1000 + 1000); /* not each second */
    assert_int_equal(stat(path, &st), 0);
    assert_true(time(NULL) - st.st_mtime > DAY_S);
    flight_file_free(f, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_old_one_stays_until_the_first_commit, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_old_one_that_nobody_holds_is_swept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_recorder_of_this_user_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_life_that_goes_on_is_not_old, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("server.flight_file", tests, NULL, NULL);
}
