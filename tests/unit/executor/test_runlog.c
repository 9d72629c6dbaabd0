/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/mem.h"
#include "executor/runlog.h"

#define DATE 1700000000000ll /* 2023-11-14 */

static int make_folder(void **state)
{
    char name[] = "/tmp/peal-runlog-XXXXXX";
    *state = mem_dup(mkdtemp(name));
    return *state ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -r %s", (char *)*state);
    free(*state);
    return system(command);
}

static void write_log(const char *folder, int64_t id, const char *p, size_t n)
{
    struct runlog l = { .fd = -1 };
    assert_int_equal(runlog_open(&l, folder, DATE, id, NULL), OK);
    runlog_raw(&l, p, n);
    runlog_close(&l);
}

static void check_page(const char *folder, int64_t id, int from, bool whole, int to_line,
                       const char *content)
{
    struct runlog_page p;
    runlog_read(folder, DATE, id, from, whole, &p);
    assert_true(p.found);
    assert_int_equal(p.to_line, to_line);
    assert_string_equal(buf_str(&p.content), content);
    buf_done(&p.content);
}

static void lines_are_read_by_number(void **state)
{
    write_log(*state, 1, "a\nb\n\nd\n", 7);
    check_page(*state, 1, 1, true, 4, "a\nb\n\nd\n");
    check_page(*state, 1, 3, true, 4, "\nd\n");
    check_page(*state, 1, 4, true, 4, "d\n");
    check_page(*state, 1, 5, true, 0, "");
    check_page(*state, 1, -7, true, 4, "a\nb\n\nd\n");
    check_page(*state, 1, 2147483647, true, 0, "");
}

static void a_half_line_is_shown_only_when_nobody_writes_to_it(void **state)
{
    write_log(*state, 2, "a\nhalf", 6);
    check_page(*state, 2, 1, true, 1, "a\n");
    check_page(*state, 2, 2, true, 0, "");
    check_page(*state, 2, 1, false, 2, "a\nhalf\n");
    check_page(*state, 2, 2, false, 2, "half\n");
    write_log(*state, 3, "", 0);
    check_page(*state, 3, 1, false, 0, "");
}

static void own_lines_begin_on_a_line_of_their_own(void **state)
{
    struct runlog l = { .fd = -1 };
    assert_int_equal(runlog_open(&l, *state, DATE, 4, NULL), OK);
    runlog_raw(&l, "no end", 6);
    runlog_line(&l, "where", "function", 12, "worker-1", slice_text("text"), false);
    runlog_close(&l);
    struct runlog_page p;
    runlog_read(*state, DATE, 4, 2, true, &p);
    assert_int_equal(p.to_line, 2);
    assert_non_null(strstr(buf_str(&p.content), " [where#function]-[12]-[worker-1] text\n"));
    buf_done(&p.content);
}

static void pages_are_bounded_and_continue_at_the_next_line(void **state)
{
    enum { LINE = 1000, LINES = 20000 };
    char *text = mem_new((size_t)LINE * LINES);
    memset(text, 'x', (size_t)LINE * LINES);
    for (size_t i = 1; i <= LINES; i++)
        text[i * LINE - 1] = '\n';
    write_log(*state, 5, text, (size_t)LINE * LINES);
    free(text);
    int at = 1, pages = 0;
    size_t bytes = 0;
    for (struct runlog_page p; pages < 10; pages++) {
        runlog_read(*state, DATE, 5, at, true, &p);
        bytes += p.content.len;
        assert_true(p.content.len <= RUNLOG_PAGE);
        assert_int_equal(p.content.len % LINE, 0);
        buf_done(&p.content);
        if (p.to_line < at)
            break;
        at = p.to_line + 1;
    }
    assert_int_equal(at, LINES + 1);
    assert_int_equal(bytes, (size_t)LINE * LINES);
    assert_int_equal(pages, 3);
}

static void a_line_longer_than_a_page_is_cut_and_passed(void **state)
{
    size_t n = RUNLOG_PAGE + 100000;
    char *text = mem_new(n + 3);
    memset(text, 'x', n);
    memcpy(text + n, "\nb\n", 3);
    write_log(*state, 6, text, n + 3);
    free(text);
    struct runlog_page p;
    runlog_read(*state, DATE, 6, 1, true, &p);
    assert_int_equal(p.to_line, 1);
    assert_true(p.content.len > RUNLOG_PAGE / 2);
    buf_done(&p.content);
    check_page(*state, 6, 2, true, 2, "b\n");
}

static void a_log_ends_at_its_limit_but_the_executors_last_lines_fit(void **state)
{
    struct runlog l = { .fd = -1 };
    assert_int_equal(runlog_open(&l, *state, DATE, 7, NULL), OK);
    l.size = RUNLOG_MAX - 1; /* as if so much had been written */
    runlog_raw(&l, "too much", 8);
    runlog_raw(&l, "x", 1);
    runlog_line(&l, "w", "f", 1, "t", slice_text("handler"), false);
    runlog_line(&l, "w", "f", 1, "t", slice_text("end"), true);
    runlog_close(&l);
    struct runlog_page p;
    runlog_read(*state, DATE, 7, 1, true, &p);
    assert_null(strstr(buf_str(&p.content), "too much"));
    assert_null(strstr(buf_str(&p.content), "handler"));
    assert_non_null(strstr(buf_str(&p.content), "the log ends here"));
    assert_non_null(strstr(buf_str(&p.content), "] end\n"));
    buf_done(&p.content);
}

static void neighbouring_days_are_looked_at_and_no_others(void **state)
{
    const int64_t day = 86400000;
    struct runlog_page p;
    write_log(*state, 8, "x\n", 2);
    for (int64_t shift = -2; shift <= 2; shift++) {
        runlog_read(*state, DATE + shift * day, 8, 1, true, &p);
        assert_int_equal(p.found, shift >= -1 && shift <= 1);
        buf_done(&p.content);
    }
    runlog_read(*state, INT64_MAX, 8, 1, true, &p);
    assert_false(p.found);
    runlog_read(*state, INT64_MIN, 8, 1, true, &p);
    assert_false(p.found);
}

static void a_full_disk_is_remembered(void **state)
{
    (void)state;
    struct runlog l = { .fd = open("/dev/full", O_WRONLY | O_CLOEXEC) };
    runlog_line(&l, "w", "f", 1, "t", slice_text("text"), false);
    assert_int_equal(l.failed, ENOSPC);
    assert_int_equal(l.size, 0);
    runlog_close(&l);
}

static void a_folder_that_cannot_be_made_is_named(void **state)
{
    (void)state;
    struct runlog l = { .fd = -1 };
    struct why why = { { 0 } };
    assert_int_equal(runlog_open(&l, "/proc/nowhere", DATE, 1, &why), ERR_IO);
    assert_non_null(strstr(why.text, "/proc/nowhere"));
    assert_int_equal(l.fd, -1);
    runlog_raw(&l, "x", 1); /* harmless */
    runlog_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read_by_number),
        cmocka_unit_test(a_half_line_is_shown_only_when_nobody_writes_to_it),
        cmocka_unit_test(own_lines_begin_on_a_line_of_their_own),
        cmocka_unit_test(pages_are_bounded_and_continue_at_the_next_line),
        cmocka_unit_test(a_line_longer_than_a_page_is_cut_and_passed),
        cmocka_unit_test(a_log_ends_at_its_limit_but_the_executors_last_lines_fit),
        cmocka_unit_test(neighbouring_days_are_looked_at_and_no_others),
        cmocka_unit_test(a_full_disk_is_remembered),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
