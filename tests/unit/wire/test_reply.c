/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of executors and admins: all recorded ones, and each shape that some client is known for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/mem.h"
#include "support_wire.h"
#include "wire/executor_api.h"
#include "wire/open_api.h"

static void check_capture(const struct line *line)
{
    int status, code;
    struct wire_reply r;
    assert_int_equal(line->n, 8);
    assert_true(parse_int(line->field[3], &status) && parse_int(line->field[5], &code));
    wire_reply_parse(status, line->field[4], &r);
    if (r.code != code || r.clear != slice_eq(line->field[7], "clear"))
        fail_msg("%.*s: code %d", (int)line->field[4].n, line->field[4].p, r.code);
    json_t *msg = json_loadb(line->field[6].p, line->field[6].n, JSON_DECODE_ANY, NULL);
    if (strcmp(json_string_value(msg), "*") == 0)
        assert_true(r.msg.n > 0);
    else
        assert_true(slice_eq(r.msg, json_string_value(msg)));
    assert_false(r.repeat);
    assert_int_equal(r.array, line->field[4].n && line->field[4].p[0] == '[');
    json_decref(msg);
    wire_reply_done(&r);
}

static void what_real_executors_answered_is_understood(void **state)
{
    (void)state;
    assert_true(each_line("exchanges.tsv", check_capture) >= 150);
}

static void each_known_shape(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *body;
        int code;
        bool clear, repeat;
        const char *msg; /* NULL = some words of ours */
    } cases[] = {
        { 200, "{\"code\":200}\n", 200, true, false, "" },
        { 200, " {\"code\":200,\"msg\":\"Success\"}\r\n", 200, true, false, "Success" },
        { 200, "{\"msg\":\"Success\",\"code\":200,\"success\":true,\"data\":null}", 200, true,
          false, "Success" },
        { 200, "{\"code\":\"200\",\"msg\":5}", 200, true, false, "5" },
        { 200, "{\"code\":200.0,\"content\":{}}", 200, true, false, "" },
        { 200, "{\"code\":500,\"msg\":null}", 500, true, false, "" },
        { 200, "{\"code\":500}", 500, true, false, "" },
        { 200, "{\"code\":500,\"msg\":\"repeate trigger job, logId:7\"}", 500, true, true,
          "repeate trigger job, logId:7" },
        { 200, "{\"code\":500,\"msg\":\"repeat trigger job, logId:7\"}", 500, true, true,
          "repeat trigger job, logId:7" },
        { 200, "{\"code\":500,\"msg\":\"no repeat\"}", 500, true, false, "no repeat" },
        { 200, "{\"code\":200,\"msg\":\"repeat\"}", 200, true, false, "repeat" },
        { 401, "{\"code\":401,\"msg\":\"token\"}", 401, true, false, "token" },
        { 400, "{\"code\":400,\"msg\":\"bad\"}", 400, true, false, "bad" },
        { 500, "{\"code\":500,\"msg\":\"repeat x\"}", 500, true, true, "repeat x" },
        { 500, "{\"code\":200}", 500, true, false, NULL },
        { 201, "{\"code\":200}", 200, true, false, "" },
        { 302, "", 500, false, false, NULL },
        { 200, "", 500, false, false, NULL },
        { 200, " \n", 500, false, false, NULL },
        { 200, "{}", 500, false, false, NULL },
        { 200, "{\"msg\":\"without code\"}", 500, false, false, "without code" },
        { 200, "{\"msg\":\"repeat without code\"}", 500, false, false, "repeat without code" },
        { 200, "{\"code\":null}", 500, false, false, NULL },
        { 200, "{\"code\":0,\"msg\":\"\"}", 500, false, false, NULL },
        { 200, "{\"code\":{}}", 500, false, false, NULL },
        { 200, "{\"code\":200", 500, false, false, NULL },
        { 200, "{\"code\":200}{\"code\":200}", 500, false, false, NULL },
        { 200, "ok", 500, false, false, NULL },
        { 200, "\"ok\"", 500, false, false, NULL },
        { 502, "<html>Bad Gateway</html>", 500, false, false, NULL },
        { 200, "[]", 500, false, false, NULL },
        { 200, "[{\"logId\":1}]", 500, false, false, NULL },
        { 200, "[{\"executeResult\":{\"code\":500,\"msg\":\"old\"}}]", 500, true, false, "old" },
        { 200, "[{\"handleCode\":500,\"handleMsg\":\"Task not registered\"}]\n", 500, true, false,
          "Task not registered" },
        { 200, "\xEF\xBB\xBF{\"code\":200}", 200, true, false, "" },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct wire_reply r;
        wire_reply_parse(cases[i].status, slice_text(cases[i].body), &r);
        if (r.code != cases[i].code || r.clear != cases[i].clear || r.repeat != cases[i].repeat ||
            !(cases[i].msg ? slice_eq(r.msg, cases[i].msg) : r.msg.n > 0))
            fail_msg("%s: %d %d %d %.*s", cases[i].body, r.code, r.clear, r.repeat, (int)r.msg.n,
                     r.msg.n ? r.msg.p : "");
        wire_reply_done(&r);
    }
}

static void the_words_of_a_kill_are_found_wherever_they_are(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{\"code\":200,\"content\":\"job thread already killed.\"}",
        "{\"code\":200,\"msg\":\"Success\",\"data\":\"job thread already killed.\"}",
    };
    for (size_t i = 0; i < countof(bodies); i++) {
        struct wire_reply r;
        wire_reply_parse(200, slice_text(bodies[i]), &r);
        assert_int_equal(r.code, 200);
        assert_true(slice_eq(r.note, "job thread already killed."));
        wire_reply_done(&r);
    }
}

static void log_pages_of_each_dialect(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool present, is_end;
        int from, to;
        const char *content;
    } cases[] = {
        { "{\"code\":200,\"content\":{\"fromLineNum\":1,\"toLineNum\":6,\"logContent\":"
          "\"\\u003cbr\\u003e\","
          "\"isEnd\":false}}",
          true, false, 1, 6, "<br>" },
        { "{\"code\":200,\"msg\":\"Success\",\"data\":{\"fromLineNum\":99,\"toLineNum\":0,"
          "\"logContent\":\"\","
          "\"isEnd\":false}}",
          true, false, 99, 0, "" },
        { "{\"code\":200,\"content\":null,\"data\":{\"logContent\":\"d\",\"isEnd\":true}}", true,
          true, 0, 0, "d" },
        { "{\"code\":200,\"content\":{\"logContent\":\"c\"},\"data\":{\"logContent\":\"d\"}}", true,
          false, 0, 0, "c" },
        { "{\"code\":200,\"content\":{\"fromLineNum\":\"2\",\"toLineNum\":3.0,\"logContent\":null,"
          "\"isEnd\":\"true\"}}\n",
          true, true, 2, 3, "" },
        { "{\"code\":200,\"content\":{\"fromLineNum\":[],\"toLineNum\":3,\"logContent\":\"x\"}}",
          true, false, 0, 3, "x" },
        { "{\"code\":200,\"content\":null}", false, false, 0, 0, "" },
        { "{\"code\":500,\"msg\":\"Log not found, logId: 999\"}", false, false, 0, 0, "" },
        { "<html>", false, false, 0, 0, "" },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct wire_log_page p;
        wire_log_page_parse(200, slice_text(cases[i].body), 1 << 20, &p);
        if (p.present != cases[i].present || p.is_end != cases[i].is_end ||
            p.from_line != cases[i].from || p.to_line != cases[i].to ||
            !slice_eq(p.content, cases[i].content))
            fail_msg("%s", cases[i].body);
        wire_log_page_done(&p);
    }
    struct wire_log_page p;
    wire_log_page_parse(200, slice_text(cases[0].body), 20, &p);
    assert_false(p.present);
    assert_int_equal(p.reply.code, 500);
    assert_false(p.reply.clear);
    wire_log_page_done(&p);
}

static void an_admin_accepts_only_with_status_and_code_200(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *body;
        bool yes;
    } cases[] = {
        { 200, "{\"code\":200,\"msg\":null,\"content\":null}", true },
        { 200, "{\"code\":200,\"msg\":\"Success\",\"data\":null,\"success\":true}", true },
        { 200, "{\n  \"content\" : null,\n  \"code\" : 200 }", true },
        { 200, "{\"code\":200}", true },
        { 200, WIRE_REPLY_OK, true },
        { 200, "{\"code\":500,\"msg\":\"The access token is wrong.\",\"content\":null}", false },
        { 500, "{\"code\":200}", false },
        { 401, "{\"code\":401}", false },
        { 404, "", false },
        { 200, "<html>login</html>", false },
        { 200, "[{\"handleCode\":200}]", false },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct why why = { "" };
        if (wire_admin_accepts(cases[i].status, slice_text(cases[i].body), &why) != cases[i].yes)
            fail_msg("%s", cases[i].body);
        assert_int_equal(why.text[0] != '\0', !cases[i].yes);
    }
    struct why why = { "" };
    assert_false(wire_admin_accepts(200, slice_text(cases[5].body), &why));
    assert_non_null(strstr(why.text, "The access token is wrong."));
}

static void an_error_carries_any_text(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(1024);
    wire_reply_error(&b, 500, slice_text("a \"b\"\n\xff"));
    struct wire_reply r;
    wire_reply_parse(200, slice_of(b.data, b.len), &r);
    assert_int_equal(r.code, 500);
    assert_true(slice_eq(r.msg, "a \"b\"\n\xEF\xBF\xBD"));
    wire_reply_done(&r);
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_real_executors_answered_is_understood),
        cmocka_unit_test(each_known_shape),
        cmocka_unit_test(the_words_of_a_kill_are_found_wherever_they_are),
        cmocka_unit_test(log_pages_of_each_dialect),
        cmocka_unit_test(an_admin_accepts_only_with_status_and_code_200),
        cmocka_unit_test(an_error_carries_any_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
