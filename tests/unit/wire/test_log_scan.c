/* SPDX-License-Identifier: Apache-2.0 */
/* What a log says about a run, whatever the pieces it came in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/mem.h"
#include "support_wire.h"
#include "wire/log_scan.h"

static enum wire_log_verdict scan(struct slice body, size_t step)
{
    struct wire_log_scan s;
    wire_log_scan_init(&s);
    for (size_t i = 0; i < body.n; i += step)
        wire_log_scan_feed(&s, slice_of(body.p + i, body.n - i < step ? body.n - i : step));
    return wire_log_scan_end(&s, 200, true);
}

static enum wire_log_verdict verdict(struct slice body)
{
    enum wire_log_verdict whole = scan(body, body.n + 1);
    for (size_t step = 1; step < 20; step++)
        assert_int_equal(scan(body, step), whole);
    return whole;
}

#define LOG(code, to, text, end)                                                                   \
    "{\"code\":" code ",\"msg\":null,\"content\":{\"fromLineNum\":1,\"toLineNum\":" to             \
    ",\"logContent\":\"" text "\",\"isEnd\":" end "}}"

static void each_answer_has_its_verdict(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        enum wire_log_verdict want;
    } cases[] = {
        { LOG("200", "6", "x job execute start -- y", "false"), WIRE_LOG_STARTED },
        { LOG("200", "6", "jjob execute start", "false"), WIRE_LOG_STARTED },
        { LOG("200", "6", "job execute job execute start", "false"), WIRE_LOG_STARTED },
        { LOG("200", "6", "job execute end(finish)", "false"), WIRE_LOG_ENDED },
        { LOG("200", "6", "job execute start job execute end(error)", "false"), WIRE_LOG_ENDED },
        { LOG("200", "6", "job execute start job execute end", "false"), WIRE_LOG_STARTED },
        { LOG("200", "6", "job\\u0020execute\\u0020start", "false"), WIRE_LOG_STARTED },
        { LOG("200", "6", "\\\\job execute end(\\\"", "false"), WIRE_LOG_ENDED },
        { LOG("200", "6", "job execute sta\\nrt", "false"), WIRE_LOG_CANNOT_TELL },
        { LOG("200", "0", "whatever", "true"), WIRE_LOG_NONE },
        { LOG("200", "\"0\"", "", "\"true\""), WIRE_LOG_NONE },
        { LOG("200", "0", "readLog fail, logFile not exists", "false"), WIRE_LOG_NONE },
        { LOG("200", "0", "xreadLog fail, logFile not exists", "false"), WIRE_LOG_CANNOT_TELL },
        { LOG("200", "0", "readLog fail, logFile not exists\\u0000", "false"),
          WIRE_LOG_CANNOT_TELL },
        { LOG("200", "1", "No such logid logs.", "false"), WIRE_LOG_NONE },
        { LOG("200", "1", "No such logid logs.", "true"), WIRE_LOG_CANNOT_TELL },
        { LOG("200", "1", "No such logid logs", "false"), WIRE_LOG_CANNOT_TELL },
        { LOG("200", "2", "No such logid logs.\\n", "false"), WIRE_LOG_CANNOT_TELL },
        { "{\"code\":200,\"content\":{\"logContent\":\"No such logid "
          "logs.\",\"logContent\":\"x\",\"toLineNum\":1}}",
          WIRE_LOG_CANNOT_TELL },
        { LOG("200", "0", "", "false"), WIRE_LOG_CANNOT_TELL },
        { LOG("200", "2", "", "true"), WIRE_LOG_CANNOT_TELL },
        { LOG("500", "6", "job execute start", "false"), WIRE_LOG_CANNOT_TELL },
        { LOG("null", "6", "job execute start", "false"), WIRE_LOG_CANNOT_TELL },
        { LOG("\"200\"", "6", "job execute start", "false"), WIRE_LOG_STARTED },
        { "{\"data\":{\"logContent\":\"job execute start\"},\"code\":200}", WIRE_LOG_STARTED },
        { "{\"code\":200,\"content\":null,\"data\":{\"isEnd\":true,\"toLineNum\":0}}",
          WIRE_LOG_NONE },
        { "{\"code\":200,\"data\":{\"logContent\":\"job execute "
          "start\"},\"content\":{\"logContent\":\"\"}}",
          WIRE_LOG_CANNOT_TELL },
        { "{\"code\":200,\"data\":{\"x\":{\"logContent\":\"job execute start\"}}}",
          WIRE_LOG_CANNOT_TELL },
        { "{\"code\":200,\"msg\":\"job execute start\",\"data\":{}}", WIRE_LOG_CANNOT_TELL },
        { "{\"code\":200,\"data\":[{\"logContent\":\"job execute start\"}]}",
          WIRE_LOG_CANNOT_TELL },
        { "{\"code\":200,\"data\":{\"logContent\":\"job execute start\",\"logContent\":\"\"}}",
          WIRE_LOG_CANNOT_TELL },
        { "{\"code\":200,\"content\":null}", WIRE_LOG_CANNOT_TELL },
        { "{\"code\":500,\"msg\":\"Log not found, logId: 999\"}", WIRE_LOG_CANNOT_TELL },
        { "<html>job execute start</html>", WIRE_LOG_CANNOT_TELL },
        { "", WIRE_LOG_CANNOT_TELL },
        { "[]", WIRE_LOG_CANNOT_TELL },
        { LOG("200", "6", "job execute start", "false") "x", WIRE_LOG_CANNOT_TELL },
        { LOG("200", "6", "job execute start", "false") "\r\n", WIRE_LOG_STARTED },
        { "{\"code\":200,\"content\":{\"logContent\":\"job execute start", WIRE_LOG_CANNOT_TELL },
        { "{\"code\":200,\"content\":{\"logContent\":\"job execute start\"}]",
          WIRE_LOG_CANNOT_TELL },
        { "{\"code\":200,\"content\":{\"logContent\":\"job execute start\",}}",
          WIRE_LOG_CANNOT_TELL },
    };
    for (size_t i = 0; i < countof(cases); i++)
        if (verdict(slice_text(cases[i].body)) != cases[i].want)
            fail_msg("%s: %d", cases[i].body, verdict(slice_text(cases[i].body)));
}

static size_t seen[4];

static void count_verdict(const struct line *line)
{
    bool log =
        line->field[1].n >= 4 && memcmp(line->field[1].p + line->field[1].n - 4, "/log", 4) == 0;
    if (!log)
        return;
    enum wire_log_verdict v = verdict(line->field[4]);
    seen[v]++;
    bool java = line->field[0].n > 4 && memcmp(line->field[0].p, "java", 4) == 0;
    if (!java) /* the Go and npm executors have no log that proves anything */
        assert_int_equal(v, WIRE_LOG_CANNOT_TELL);
    if (memmem(line->field[2].p, line->field[2].n, "\"logId\":999", 11) && java)
        assert_int_equal(v, WIRE_LOG_NONE);
}

static void real_logs_are_told_apart(void **state)
{
    (void)state;
    each_line("exchanges.tsv", count_verdict);
    assert_int_equal(seen[WIRE_LOG_NONE], 2);
    assert_int_equal(seen[WIRE_LOG_STARTED], 1);
    assert_int_equal(seen[WIRE_LOG_ENDED], 4);
    assert_true(seen[WIRE_LOG_CANNOT_TELL] > 5);
}

static void a_torn_or_refused_transfer_tells_nothing(void **state)
{
    (void)state;
    struct slice body = slice_text(LOG("200", "6", "job execute start", "false"));
    struct wire_log_scan s;
    wire_log_scan_init(&s);
    wire_log_scan_feed(&s, body);
    assert_int_equal(wire_log_scan_end(&s, 200, true), WIRE_LOG_STARTED);
    assert_int_equal(wire_log_scan_end(&s, 200, false), WIRE_LOG_CANNOT_TELL);
    assert_int_equal(wire_log_scan_end(&s, 500, true), WIRE_LOG_CANNOT_TELL);
}

static enum wire_log_verdict long_log(size_t total)
{
    static char dull[65536];
    memset(dull, 'x', sizeof(dull));
    struct wire_log_scan s;
    wire_log_scan_init(&s);
    struct slice head = slice_text("{\"code\":200,\"content\":{\"logContent\":\"job execute start");
    struct slice tail = slice_text("job execute end(finish)\"}}");
    wire_log_scan_feed(&s, head);
    for (size_t left = total - head.n - tail.n; left;) {
        size_t n = left < sizeof(dull) ? left : sizeof(dull);
        wire_log_scan_feed(&s, slice_of(dull, n));
        left -= n;
    }
    wire_log_scan_feed(&s, tail);
    return wire_log_scan_end(&s, 200, true);
}

static void a_log_of_any_length_is_read_and_beyond_the_limit_not(void **state)
{
    (void)state;
    assert_int_equal(long_log(WIRE_LOG_SCAN_MAX), WIRE_LOG_ENDED);
    assert_int_equal(long_log(WIRE_LOG_SCAN_MAX + 1), WIRE_LOG_CANNOT_TELL);
}

static void depth_is_bounded(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(1 << 20);
    buf_text(&b, "{\"code\":200,\"x\":");
    for (int i = 0; i < 100000; i++)
        buf_char(&b, '[');
    assert_int_equal(scan(slice_of(b.data, b.len), 7), WIRE_LOG_CANNOT_TELL);
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_answer_has_its_verdict),
        cmocka_unit_test(real_logs_are_told_apart),
        cmocka_unit_test(a_torn_or_refused_transfer_tells_nothing),
        cmocka_unit_test(a_log_of_any_length_is_read_and_beyond_the_limit_not),
        cmocka_unit_test(depth_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
