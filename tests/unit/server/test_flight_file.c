/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder's file over the lives of a center: the old one stays until the first commit
 * of the next life says that it is not needed any more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/str.h"
#include "server/flight_file.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    struct mark mark = { .renewals = 0 };
    struct flight_said said;
    struct why why = { "" };
    text_copy(mark.recorder, sizeof(mark.recorder), slice_text(id));
    bool yes = flight_file_read(f, &mark, &said, &why);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_old_one_stays_until_the_first_commit, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("server.flight_file", tests, NULL, NULL);
}
