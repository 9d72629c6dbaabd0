/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a log as lines: ends, bytes that are no text, long lines, XXL-JOB's own breaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "wire/log_lines.h"

/* The lines, each in brackets. */
static const char *lines_of(struct slice text)
{
    static struct buf all;
    struct log_lines l;
    struct slice line;
    buf_done(&all);
    buf_init(&all, 1 << 20);
    log_lines_begin(&l, text);
    while (log_lines_next(&l, &line)) {
        buf_char(&all, '[');
        buf_slice(&all, line);
        buf_char(&all, ']');
    }
    log_lines_done(&l);
    return buf_str(&all);
}

static void lines_end_with_lf_or_crlf(void **state)
{
    (void)state;
    assert_string_equal(lines_of(slice_text("")), "");
    assert_string_equal(lines_of(slice_text("a")), "[a]");
    assert_string_equal(lines_of(slice_text("a\n")), "[a]");
    assert_string_equal(lines_of(slice_text("a\r\nb\n\nc")), "[a][b][][c]");
    assert_string_equal(lines_of(slice_text("50 %\r100 %\n")), "[50 %\r100 %]");
    assert_string_equal(lines_of(slice_text("\n\r\n")), "[][]");
}

static void what_is_no_text_is_replaced(void **state)
{
    (void)state;
    assert_string_equal(lines_of(slice_text("a\xff"
                                            "b\n\xe4\xb8\xad\xe4\xb8\n")),
                        "[a\xef\xbf\xbd"
                        "b][\xe4\xb8\xad\xef\xbf\xbd\xef\xbf\xbd]");
    assert_string_equal(lines_of(slice_text("\xed\xa0\x80")), /* half a surrogate pair */
                        "[\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd]");
    assert_string_equal(lines_of(slice_text("\xf0\x9f\x98\x80")), "[\xf0\x9f\x98\x80]");
}

static void xxl_jobs_own_breaks_become_line_feeds_of_one_line(void **state)
{
    (void)state;
    assert_string_equal(
        lines_of(slice_text("12:00 <br>----------- xxl-job job execute start -----------"
                            "<br>----------- Param:x\n<b>a<br>b</b>\n")),
        "[12:00 \n----------- xxl-job job execute start -----------\n----------- Param:x]"
        "[<b>a<br>b</b>]");
}

static void long_lines_are_cut_and_say_so(void **state)
{
    (void)state;
    static char text[3 * LOG_LINE_MAX];
    struct log_lines l;
    struct slice line;
    memset(text, 'x', sizeof(text));
    memcpy(text + LOG_LINE_MAX - 1, "\xc3\xa4", 2); /* stands over the bound */
    text[LOG_LINE_MAX + 10] = '\n';
    text[2 * LOG_LINE_MAX + 11] = '\n'; /* a line of just LOG_LINE_MAX bytes */
    log_lines_begin(&l, slice_of(text, 2 * LOG_LINE_MAX + 13));
    assert_true(log_lines_next(&l, &line));
    const char *rest = "x [cut: this line has 65546 bytes]";
    assert_int_equal(line.n, LOG_LINE_MAX - 2 + strlen(rest));
    assert_memory_equal(line.p + LOG_LINE_MAX - 2, rest, strlen(rest));
    assert_true(log_lines_next(&l, &line));
    assert_int_equal(line.n, LOG_LINE_MAX);
    assert_true(log_lines_next(&l, &line));
    assert_int_equal(line.n, 1);
    assert_false(log_lines_next(&l, &line));
    log_lines_done(&l);
    memset(text, 0xff, sizeof(text)); /* each byte becomes three */
    log_lines_begin(&l, slice_of(text, sizeof(text)));
    assert_true(log_lines_next(&l, &line));
    assert_non_null(memmem(line.p, line.n, "has 196608 bytes]", 17));
    assert_true(utf8_valid(line.p, line.n));
    log_lines_done(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_with_lf_or_crlf),
        cmocka_unit_test(what_is_no_text_is_replaced),
        cmocka_unit_test(xxl_jobs_own_breaks_become_line_feeds_of_one_line),
        cmocka_unit_test(long_lines_are_cut_and_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
