/* SPDX-License-Identifier: Apache-2.0 */
/* An index saves counting and changes no answer: whatever it holds, a page is what counting from
 * line 1 gives. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/mem.h"
#include "executor/log/runlog.h"
#include "base/file.h"
#include "executor/log/runlog_file.h"
#include "executor/log/runlog_index.h"
#include "executor/log/runlog_read.h"
#include "support_logs.h"

#define NLINES 5500

static int number_at(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

static int open_log(const char *folder, int64_t id, const char *suffix)
{
    char day[RUNLOG_DAY], path[RUNLOG_PATH];
    runlog_day(DATE, day);
    assert_true(runlog_path(folder, day, id, suffix, path));
    return open(path, O_RDWR | O_CLOEXEC);
}

/* Lines of different lengths whose text is their number in the file (the start line is the first),
 * some as lines, some as raw bytes in pieces that end anywhere. */
static void make_log(const char *folder, int64_t id)
{
    struct buf b = BUF_INIT(1 << 20);
    for (int i = 2; i < NLINES; i++)
        buf_printf(&b, "%d %.*s\n", i, i % 60,
                   "............................................................");
    struct runlog l;
    runlog_init(&l, folder, DATE, id, false);
    runlog_start(&l, "t", slice_text("start"));
    size_t piece = 1;
    for (size_t at = 0; at < b.len; at += piece) {
        piece = (at * 7 + 13) % 20000;
        piece = piece < b.len - at ? piece : b.len - at;
        piece = piece ? piece : 1;
        runlog_raw(&l, b.data + at, piece);
    }
    runlog_end(&l, "t", slice_text("end"));
    runlog_done(&l);
    buf_done(&b);
}

/* The first line of a page from here on has this number. */
static void check_line(const char *folder, int64_t id, int line)
{
    struct runlog_page p;
    runlog_read(folder, DATE, id, line, true, NULL, &p);
    assert_true(p.found);
    assert_int_equal(number_at(buf_str(&p.content)), line);
    assert_int_equal(p.to_line, NLINES);
    buf_done(&p.content);
}

static void check_all(const char *folder, int64_t id)
{
    static const int lines[] = { 2,    999,  1000, 1001, 1002, 1999, 2000,
                                 2001, 2002, 3500, 4999, 5000, 5001, 5499 };
    for (size_t i = 0; i < countof(lines); i++)
        check_line(folder, id, lines[i]);
    logs_check(folder, id, NLINES + 1, true, 0, "");
    logs_check(folder, id, 2147483647, true, 0, "");
}

static void each_thousandth_line_is_found_without_counting(void **state)
{
    make_log(*state, 1);
    check_all(*state, 1);
    int log = open_log(*state, 1, ".log"), index = open_log(*state, 1, ".idx");
    assert_int_equal(lseek(index, 0, SEEK_END), 5 * RUNLOG_INDEX_ENTRY);
    for (int k = 0; k <= 5; k++) {
        struct runlog_place at = runlog_index_find(index, log, 1, k * 1000 + 1);
        assert_int_equal(at.line, k * 1000 + 1);
        char text[16] = "";
        assert_true(file_read(log, at.offset, text, 4) == 4);
        if (k) /* the first line begins with a year */
            assert_int_equal(number_at(text), k * 1000 + 1);
        assert_int_equal(runlog_index_find(index, log, 1, k * 1000 + 1000).offset, at.offset);
    }
    assert_int_equal(runlog_index_find(index, log, 1, 2147483647).line, 5001);
    assert_int_equal(runlog_index_find(index, log, 2, 3001).line, 1); /* of another run */
    close(log);
    close(index);
}

static void a_small_log_has_no_index(void **state)
{
    logs_run(*state, 2, "a\nb\n", 4);
    assert_null(logs_file(*state, "2.idx", NULL));
}

/* Their lines come between each other, so no index can say which line an offset is. */
static void runs_without_an_id_have_no_index(void **state)
{
    struct runlog l[2];
    for (int i = 0; i < 2; i++) {
        runlog_init(&l[i], *state, DATE, 0, false);
        runlog_start(&l[i], "t", slice_text("start"));
    }
    for (int i = 0; i < 4000; i++)
        runlog_raw(&l[i % 2], "line\n", 5);
    for (int i = 0; i < 2; i++) {
        runlog_end(&l[i], "t", slice_text("end"));
        runlog_done(&l[i]);
    }
    assert_null(logs_file(*state, "0.idx", NULL));
}

static void lines_that_follow_the_thousandth_at_once_are_counted(void **state)
{
    char *text = mem_new(3000);
    memset(text, '\n', 3000);
    logs_run(*state, 3, text, 3000); /* one write, three entries */
    free(text);
    size_t n;
    free(logs_file(*state, "3.idx", &n));
    assert_int_equal(n, 3 * RUNLOG_INDEX_ENTRY);
    struct runlog_page p;
    runlog_read(*state, DATE, 3, 3000, false, NULL, &p);
    assert_int_equal(p.to_line, 3002);
    assert_int_equal(strncmp(buf_str(&p.content), "\n\n2", 2), 0);
    buf_done(&p.content);
}

static void a_damaged_index_changes_no_answer(void **state)
{
    make_log(*state, 4);
    size_t n;
    char *index = logs_file(*state, "4.idx", &n);
    for (size_t cut = 0; cut <= n; cut += 5) { /* truncated anywhere */
        logs_plant(*state, "4.idx", index, cut);
        check_line(*state, 4, 3500);
    }
    for (size_t i = 0; i < n; i++) { /* one byte is wrong */
        index[i] ^= 0x41;
        logs_plant(*state, "4.idx", index, n);
        check_line(*state, 4, 1001 + (int)(i % 4) * 1000);
        check_line(*state, 4, 5001);
        index[i] ^= 0x41;
    }
    char *twice = mem_new(2 * n); /* entries in the wrong place */
    memcpy(twice, index + RUNLOG_INDEX_ENTRY, n - RUNLOG_INDEX_ENTRY);
    memcpy(twice + n, index, n);
    logs_plant(*state, "4.idx", twice, 2 * n);
    check_all(*state, 4);
    memset(twice, 0xff, 2 * n);
    logs_plant(*state, "4.idx", twice, 2 * n);
    check_all(*state, 4);
    free(twice);
    free(index);
}

static void the_index_of_another_log_changes_no_answer(void **state)
{
    size_t n;
    make_log(*state, 5);
    char *index = logs_file(*state, "5.idx", &n), *log = logs_file(*state, "5.log", NULL);
    logs_plant(*state, "6.log", "a\nb\n", 4); /* shorter than the index says */
    logs_plant(*state, "6.idx", index, n);
    logs_check(*state, 6, 1001, false, 0, "");
    logs_plant(*state, "5.log", log + 100, strlen(log) - 100); /* the log was changed */
    struct runlog_page with, without;
    runlog_read(*state, DATE, 5, 4001, false, NULL, &with);
    logs_plant(*state, "5.idx", "", 0);
    runlog_read(*state, DATE, 5, 4001, false, NULL, &without);
    assert_string_equal(buf_str(&with.content), buf_str(&without.content));
    assert_int_equal(with.to_line, without.to_line);
    buf_done(&with.content);
    buf_done(&without.content);
    free(index);
    free(log);
}

static void a_log_that_goes_on_keeps_its_index(void **state)
{
    make_log(*state, 7);
    struct runlog l;
    runlog_init(&l, *state, DATE, 7, true);
    runlog_start(&l, "t", slice_text("again"));
    for (int i = 0; i < 3000; i++)
        runlog_raw(&l, "x\n", 2);
    runlog_end(&l, "t", slice_text("end"));
    runlog_done(&l);
    struct runlog_page p;
    runlog_read(*state, DATE, 7, 5499, false, NULL, &p);
    assert_int_equal(p.to_line, NLINES + 3002);
    assert_int_equal(number_at(buf_str(&p.content)), 5499);
    buf_done(&p.content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thousandth_line_is_found_without_counting),
        cmocka_unit_test(a_small_log_has_no_index),
        cmocka_unit_test(runs_without_an_id_have_no_index),
        cmocka_unit_test(lines_that_follow_the_thousandth_at_once_are_counted),
        cmocka_unit_test(a_damaged_index_changes_no_answer),
        cmocka_unit_test(the_index_of_another_log_changes_no_answer),
        cmocka_unit_test(a_log_that_goes_on_keeps_its_index),
    };
    setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests(tests, logs_folder, logs_remove);
}
