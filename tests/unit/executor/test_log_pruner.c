/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/mem.h"
#include "executor/log/log_pruner.h"
#include "executor/log/runlog_file.h"
#include "support_logs.h"

#define NOW (DATE + 40 * RUNLOG_DAY_MS)

static char *in(const char *folder, const char *name)
{
    static char path[3][256];
    static int turn;
    char *to = path[turn++ % 3];
    snprintf(to, sizeof(path[0]), "%s/%s", folder, name);
    return to;
}

static void plant_folder(const char *folder, const char *name)
{
    assert_int_equal(mkdir(in(folder, name), 0755), 0);
}

static void plant_file(const char *folder, const char *name)
{
    int fd = open(in(folder, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    close(fd);
}

static bool is_there(const char *folder, const char *name)
{
    struct stat st;
    return lstat(in(folder, name), &st) == 0;
}

/* A whole round; how many steps it took. */
static int clean(const char *folder, int days)
{
    struct log_pruner c;
    int steps = 1;
    log_pruner_init(&c, folder, days);
    while (log_pruner_step(&c, NOW) == LOG_PRUNER_PAUSE_MS)
        assert_true(++steps < 1000);
    log_pruner_done(&c);
    return steps;
}

/* A day with a file in it, so many days before NOW. */
static void plant_day(const char *folder, int age, char day[RUNLOG_DAY])
{
    runlog_day(NOW - age * RUNLOG_DAY_MS, day);
    plant_folder(folder, day);
    char name[64];
    snprintf(name, sizeof(name), "%s/1.log", day);
    plant_file(folder, name);
}

static void days_beyond_the_bound_go_and_no_others(void **state)
{
    char d[5][RUNLOG_DAY];
    static const int ages[] = { 5, 4, 3, 0, -2 };
    plant_folder(*state, "a");
    for (int i = 0; i < 5; i++)
        plant_day(in(*state, "a"), ages[i], d[i]);
    clean(in(*state, "a"), 2);
    assert_true(is_there(in(*state, "a"), d[0])); /* fewer than three days: never */
    clean(in(*state, "a"), -1);
    assert_true(is_there(in(*state, "a"), d[0]));
    clean(in(*state, "a"), 3);
    for (int i = 0; i < 5; i++)
        assert_int_equal(is_there(in(*state, "a"), d[i]), ages[i] <= 3);
}

static void only_real_dates_are_days(void **state)
{
    static const char *const not_days[] = {
        "gluesource",  "2001-02-29", "2001-13-01",  "2001-00-10",  "2001-01-00", "2001-04-31",
        "2001-1-1",    "2001-01-1x", "2001-01-01x", "x2001-01-01", "20010101",   "2001/01",
        "2001-01-01 ", "-001-01-01", "0000-01-01",  "2001-+1-01",  "2100-02-29",
    };
    char base[256];
    snprintf(base, sizeof(base), "%s", in(*state, "b"));
    plant_folder(*state, "b");
    int64_t day;
    for (size_t i = 0; i < countof(not_days); i++) {
        assert_false(log_pruner_date(not_days[i], &day));
        if (!strchr(not_days[i], '/'))
            plant_folder(base, not_days[i]);
    }
    plant_folder(base, "2000-02-29");
    plant_file(base, "2001-01-02"); /* a file is no day */
    clean(base, 30);
    for (size_t i = 0; i < countof(not_days); i++)
        assert_true(strchr(not_days[i], '/') || is_there(base, not_days[i]));
    assert_true(is_there(base, "2001-01-02"));
    assert_false(is_there(base, "2000-02-29"));
    assert_true(log_pruner_date("1970-01-01", &day) && day == 0);
    assert_true(log_pruner_date("2000-03-01", &day) && day == 11017);
    assert_true(log_pruner_date("9999-12-31", &day) && day == 2932896);
}

static void links_are_never_followed(void **state)
{
    char base[256];
    snprintf(base, sizeof(base), "%s", in(*state, "c"));
    plant_folder(*state, "c");
    plant_folder(*state, "precious");
    plant_file(*state, "precious/file");
    plant_folder(base, "2001-01-01");
    assert_int_equal(symlink("../../precious", in(base, "2001-01-01/link")), 0);
    assert_int_equal(symlink("../../precious/file", in(base, "2001-01-01/2.log")), 0);
    assert_int_equal(symlink("../precious", in(base, "2001-01-02")), 0);
    clean(base, 30);
    assert_false(is_there(base, "2001-01-01")); /* the links in it went with it */
    assert_true(is_there(base, "2001-01-02"));
    assert_true(is_there(*state, "precious/file"));
}

static void a_folder_within_a_day_is_not_ours(void **state)
{
    char base[256];
    snprintf(base, sizeof(base), "%s", in(*state, "d"));
    plant_folder(*state, "d");
    plant_folder(base, "2001-01-01");
    plant_folder(base, "2001-01-01/inner");
    plant_file(base, "2001-01-01/inner/file");
    plant_file(base, "2001-01-01/1.log");
    plant_folder(base, "2001-01-02");
    clean(base, 30);
    assert_true(is_there(base, "2001-01-01/inner/file"));
    assert_false(is_there(base, "2001-01-01/1.log"));
    assert_false(is_there(base, "2001-01-02"));
}

static void a_large_day_goes_in_small_steps(void **state)
{
    char base[256], name[64];
    snprintf(base, sizeof(base), "%s", in(*state, "e"));
    plant_folder(*state, "e");
    plant_folder(base, "2001-01-01");
    for (int i = 0; i < 5 * LOG_PRUNER_STEP; i++) {
        snprintf(name, sizeof(name), "2001-01-01/%d.log", i);
        plant_file(base, name);
    }
    assert_true(clean(base, 30) > 5);
    assert_false(is_there(base, "2001-01-01"));
}

static void a_folder_that_is_gone_is_looked_for_again_the_next_day(void **state)
{
    struct log_pruner c;
    log_pruner_init(&c, in(*state, "nowhere"), 30);
    assert_int_equal(log_pruner_step(&c, NOW), RUNLOG_DAY_MS);
    plant_folder(*state, "nowhere");
    plant_folder(*state, "nowhere/2001-01-01");
    char base[256];
    snprintf(base, sizeof(base), "%s", in(*state, "nowhere"));
    c.logpath = base;
    assert_int_equal(log_pruner_step(&c, NOW), LOG_PRUNER_PAUSE_MS);
    assert_false(is_there(base, "2001-01-01"));
    log_pruner_done(&c); /* in the middle of a round */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_beyond_the_bound_go_and_no_others),
        cmocka_unit_test(only_real_dates_are_days),
        cmocka_unit_test(links_are_never_followed),
        cmocka_unit_test(a_folder_within_a_day_is_not_ours),
        cmocka_unit_test(a_large_day_goes_in_small_steps),
        cmocka_unit_test(a_folder_that_is_gone_is_looked_for_again_the_next_day),
    };
    return cmocka_run_group_tests(tests, logs_folder, logs_remove);
}
