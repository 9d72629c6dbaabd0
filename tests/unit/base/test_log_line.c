/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the log: their exact bytes, and what holds for any text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/dice.h"
#include "base/log_line.h"

static const struct log_event event = {
    .level = LOG_WARN, .module = "api", .text = "it \"went\" on", .at_ms = 1795334400123
};

static void check(enum log_format format, const struct log_event *e, const char *line)
{
    struct buf b = BUF_INIT(LOG_LINE_MAX);
    log_line_write(&b, format, e);
    assert_string_equal(buf_str(&b), line);
    buf_done(&b);
}

static void each_format_has_its_line(void **state)
{
    (void)state;
    check(LOG_LOGFMT, &event,
          "ts=2026-11-22T08:00:00.123Z level=warn module=api msg=\"it \\\"went\\\" on\"\n");
    check(LOG_TEXT, &event, "2026-11-22T08:00:00.123Z warn  api: it \"went\" on\n");
    check(LOG_JSON, &event,
          "{\"ts\":\"2026-11-22T08:00:00.123Z\",\"level\":\"warn\",\"module\":\"api\","
          "\"msg\":\"it \\\"went\\\" on\"}\n");
}

static void what_was_left_out_is_counted(void **state)
{
    (void)state;
    struct log_event e = event;
    e.text = "x";
    e.repeated = 7;
    check(LOG_LOGFMT, &e,
          "ts=2026-11-22T08:00:00.123Z level=warn module=api msg=\"x\" repeated=7\n");
    check(LOG_TEXT, &e, "2026-11-22T08:00:00.123Z warn  api: x (and 7 more)\n");
    check(
        LOG_JSON, &e,
        "{\"ts\":\"2026-11-22T08:00:00.123Z\",\"level\":\"warn\",\"module\":\"api\",\"msg\":\"x\","
        "\"repeated\":7}\n");
}

static void hostile_bytes_are_escaped(void **state)
{
    (void)state;
    struct log_event e = event;
    e.text = "a\nb\r\x1b[2J\x7f \xc2\x9b \xff \xe4\xb8\xad \\";
    check(LOG_LOGFMT, &e,
          "ts=2026-11-22T08:00:00.123Z level=warn module=api "
          "msg=\"a\\nb\\x0d\\x1b[2J\\x7f \xc2\x9b \xff \xe4\xb8\xad \\\\\"\n");
    check(LOG_TEXT, &e,
          "2026-11-22T08:00:00.123Z warn  api: "
          "a\\nb\\x0d\\x1b[2J\\x7f \\xc2\\x9b \\xff \xe4\xb8\xad \\\n");
    check(LOG_JSON, &e,
          "{\"ts\":\"2026-11-22T08:00:00.123Z\",\"level\":\"warn\",\"module\":\"api\","
          "\"msg\":\"a\\nb\\r\\u001b[2J\\u007f \xc2\x9b \xef\xbf\xbd \xe4\xb8\xad \\\\\"}\n");
}

static void holds_for(enum log_format format, const struct log_event *e)
{
    struct buf b = BUF_INIT(LOG_LINE_MAX);
    log_line_write(&b, format, e);
    assert_false(b.failed);
    assert_int_equal(b.data[b.len - 1], '\n');
    for (size_t i = 0; i + 1 < b.len; i++)
        assert_true((unsigned char)b.data[i] >= 0x20 && b.data[i] != 0x7f);
    assert_true(format == LOG_LOGFMT || utf8_valid(b.data, b.len));
    buf_done(&b);
}

static void any_text_is_one_whole_line(void **state)
{
    (void)state;
    struct dice d = { 11 };
    char text[LOG_TEXT_MAX];
    struct log_event e = event;
    e.text = text;
    e.repeated = INT32_MAX;
    for (int round = 0; round < 3000; round++) {
        /* some rounds of the bytes that take the most room, at the greatest length */
        size_t n = round % 8 ? dice_below(&d, LOG_TEXT_MAX) : LOG_TEXT_MAX - 1;
        unsigned upto = round % 3 ? 255 : 31;
        for (size_t i = 0; i < n; i++)
            text[i] = (char)(1 + dice_below(&d, upto));
        text[n] = '\0';
        for (int format = LOG_LOGFMT; format <= LOG_JSON; format++)
            holds_for((enum log_format)format, &e);
    }
}

static void formats_have_names(void **state)
{
    (void)state;
    enum log_format f = LOG_TEXT;
    assert_true(log_format_of("json", &f) && f == LOG_JSON);
    assert_true(log_format_of("text", &f) && f == LOG_TEXT);
    assert_true(log_format_of("logfmt", &f) && f == LOG_LOGFMT);
    assert_false(log_format_of("JSON", &f) || log_format_of("", &f));
    assert_int_equal(f, LOG_LOGFMT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_format_has_its_line),  cmocka_unit_test(what_was_left_out_is_counted),
        cmocka_unit_test(hostile_bytes_are_escaped), cmocka_unit_test(any_text_is_one_whole_line),
        cmocka_unit_test(formats_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
