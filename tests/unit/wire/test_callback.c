/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks of every dialect: what real clients sent, each known quirk, and what must be refused.
 * Each body is read twice, by the quick reader and by jansson alone, and must mean the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "support_wire.h"
#include "wire/open_api.h"

static void assert_slice(struct slice s, const char *want, size_t n)
{
    assert_int_equal(s.n, n);
    if (n)
        assert_memory_equal(s.p, want, n);
}

static void same(const struct wire_callbacks *a, const struct wire_callbacks *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->nfault, b->nfault);
    for (size_t i = 0; i < a->n; i++) {
        const struct wire_callback *x = &a->items[i], *y = &b->items[i];
        assert_int_equal(x->log_id, y->log_id);
        assert_int_equal(x->log_date_ms, y->log_date_ms);
        assert_int_equal(x->code, y->code);
        assert_int_equal(x->has_code, y->has_code);
        assert_slice(x->msg, y->msg.p, y->msg.n);
        assert_string_equal(x->fault ? x->fault : "", y->fault ? y->fault : "");
    }
}

static enum err read_both(struct slice body, struct wire_callbacks *ret, struct why *why)
{
    struct wire_callbacks slow;
    enum err err = wire_callbacks_parse(body, ret, why);
    assert_int_equal(wire_callbacks_parse_slowly(body, &slow, NULL), err);
    if (err)
        return err;
    same(ret, &slow);
    wire_callbacks_done(&slow);
    return OK;
}

static void check_capture(const struct line *line)
{
    struct wire_callbacks c;
    assert_int_equal(line->n, 3);
    assert_int_equal(read_both(line->field[1], &c, NULL), OK);
    json_t *want = json_loadb(line->field[2].p, line->field[2].n, JSON_ALLOW_NUL, NULL);
    assert_non_null(want);
    assert_int_equal(c.n, json_array_size(want));
    assert_int_equal(c.nfault, 0);
    for (size_t i = 0; i < c.n; i++) {
        json_t *w = json_array_get(want, i), *msg = json_array_get(w, 3);
        assert_int_equal(c.items[i].log_id, json_integer_value(json_array_get(w, 0)));
        assert_int_equal(c.items[i].log_date_ms, json_integer_value(json_array_get(w, 1)));
        assert_true(c.items[i].has_code);
        assert_int_equal(c.items[i].code, json_integer_value(json_array_get(w, 2)));
        assert_slice(c.items[i].msg, json_string_value(msg), json_string_length(msg));
    }
    json_decref(want);
    wire_callbacks_done(&c);
}

static void what_real_clients_sent_is_understood(void **state)
{
    (void)state;
    assert_true(each_line("callbacks.tsv", check_capture) >= 50);
}

struct one { /* a body with one element */
    const char *body;
    int64_t log_id;
    int code; /* -1 = has none */
    const char *msg;
    size_t msg_n; /* 0 = length of msg */
};

static void every_quirk_of_one_element(void **state)
{
    (void)state;
    static const struct one cases[] = {
        { "[{\"logId\":\"7\",\"handleCode\":\"200\",\"handleMsg\":\"x\"}]", 7, 200, "x", 0 },
        { "[{\"logId\":7.0,\"handleCode\":2e2}]", 7, 200, "", 0 },
        { "[{\"logId\":\"7.00\",\"handleCode\":200}]", 7, 200, "", 0 },
        { "[{\"logId\":9223372036854775807,\"handleCode\":200}]", INT64_MAX, 200, "", 0 },
        { "[{\"logId\":9007199254740993,\"handleCode\":200}]", 9007199254740993, 200, "", 0 },
        { "[{\"logId\":\"9007199254740993\",\"handleCode\":200}]", 9007199254740993, 200, "", 0 },
        { " \n[ { \"handleMsg\" : \"a\" , \"logId\" : 7 , \"handleCode\" : 500 } ] \r\n", 7, 500,
          "a", 0 },
        { "\xEF\xBB\xBF[{\"logId\":7,\"handleCode\":200}]", 7, 200, "", 0 },
        { "[{\"logId\":7,\"handleCode\":200,\"handleMsg\":null}]", 7, 200, "", 0 },
        { "[{\"logId\":7,\"handleCode\":200,\"handleMsg\":12}]", 7, 200, "12", 0 },
        { "[{\"logId\":7,\"handleCode\":200,\"handleMsg\":1.5}]", 7, 200, "1.5", 0 },
        { "[{\"logId\":7,\"handleCode\":200,\"handleMsg\":true}]", 7, 200, "true", 0 },
        { "[{\"logId\":7,\"handleCode\":200,\"handleMsg\":{\"a\": [1, \"\\u4e2d\"]}}]", 7, 200,
          "{\"a\":[1,\"中\"]}", 0 },
        { "[{\"logId\":7,\"handleCode\":200,\"handleMsg\":[]}]", 7, 200, "[]", 0 },
        { "[{\"logId\":7,\"handleCode\":200,\"handleMsg\":\"a\\u0000b\"}]", 7, 200, "a\uFFFDb", 5 },
        { "[{\"logId\":7,\"handleCode\":200,\"handleMsg\":\"\\ud83d\\ude00\\u003c\\/\"}]", 7, 200,
          "😀</", 0 },
        { "[{\"logId\":7,\"executeResult\":{\"code\":502,\"msg\":\"t \"}}]", 7, 502, "t ", 0 },
        { "[{\"logId\":7,\"executeResult\":{\"code\":200,\"msg\":null,\"content\":null}}]", 7, 200,
          "", 0 },
        { "[{\"executeResult\":{\"msg\":\"old\",\"code\":500},\"handleMsg\":\"new\",\"handleCode\":"
          "200,"
          "\"logId\":7}]",
          7, 200, "new", 0 },
        { "[{\"logId\":7,\"handleCode\":null,\"executeResult\":{\"code\":\"500\",\"msg\":\"m\"}}]",
          7, 500, "m", 0 },
        { "[{\"logId\":7,\"handleCode\":200,\"executeResult\":{\"code\":200,\"msg\":\"only "
          "here\"}}]",
          7, 200, "only here", 0 },
        { "[{\"logId\":7,\"handleCode\":200,\"executeResult\":null}]", 7, 200, "", 0 },
        { "[{\"logId\":7,\"handleMsg\":\"no code\"}]", 7, -1, "no code", 0 },
        { "[{\"logId\":7,\"handleCode\":0}]", 7, 0, "", 0 },
        { "[{\"logId\":7,\"logDateTim\":\"2026-11-20\",\"handleCode\":200}]", 7, 200, "", 0 },
        { "[{\"logId\":7,\"handleCode\":-5}]", 7, -5, "", 0 },
        { "[{\"logId\":7,\"handleCode\":200,\"extra\":{\"deep\":[[1]]},\"x\":\"]}\"}]", 7, 200, "",
          0 },
        { "[{\"logId\":1,\"logId\":7,\"handleCode\":500,\"handleCode\":200}]", 7, 200, "", 0 },
        { "[{\"logID\":1,\"logId\":7,\"HandleCode\":1,\"handleCode\":200}]", 7, 200, "", 0 },
        { "[{\"log\\u0049d\":7,\"handleCode\":200}]", 7, 200, "", 0 },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct wire_callbacks c;
        struct why why = { "" };
        enum err err = read_both(slice_text(cases[i].body), &c, &why);
        if (err || c.n != 1 || c.items[0].fault)
            fail_msg("%s: %s", cases[i].body, err ? why.text : c.items[0].fault);
        assert_int_equal(c.items[0].log_id, cases[i].log_id);
        assert_int_equal(c.items[0].has_code, cases[i].code != -1);
        assert_int_equal(c.items[0].code, cases[i].code == -1 ? 0 : cases[i].code);
        assert_slice(c.items[0].msg, cases[i].msg,
                     cases[i].msg_n ? cases[i].msg_n : strlen(cases[i].msg));
        wire_callbacks_done(&c);
    }
}

/* In each way in which programs damage a text: the code counts. */
static void damaged_text_does_not_lose_the_result(void **state)
{
    (void)state;
    static const struct {
        const char *text, *msg;
    } cases[] = {
        { "half \\ud83d", "half \uFFFD" }, /* an emoji, cut */
        { "\\ude00 half", "\uFFFD half" },
        { "\\ud83d\\u0041", "\uFFFDA" },
        { "half \xF0\x9F\x98", "half \uFFFD\uFFFD\uFFFD" },
        { "\xCA\xA7\xB0\xDC", "ʧ\uFFFD\uFFFD" }, /* GBK */
        { "caf\xE9", "caf\uFFFD" },              /* Latin-1 */
        { "\xED\xA0\xBD\xED\xB8\x80", "😀" },     /* CESU-8 */
        { "\xED\xA0\xBD!", "\uFFFD!" },
        { "a\tb\nc\033[0m", "a\tb\nc\033[0m" }, /* raw control characters */
        { "C:\\x\\data", "C:\\x\\data" },       /* no escapes */
        { "\\u12", "\\u12" },
        { "\xC0\x80", "\uFFFD\uFFFD" },
        { "a \\\"b\\\" \\ud800", "a \"b\" \uFFFD" },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        char body[300];
        struct wire_callbacks c;
        snprintf(body, sizeof(body),
                 "[{\"logId\":7,\"handleCode\":200,\"handleMsg\":\"%s\"},{\"logId\":8,"
                 "\"handleCode\":500}]",
                 cases[i].text);
        assert_int_equal(read_both(slice_text(body), &c, NULL), OK);
        assert_int_equal(c.n, 2);
        if (c.items[0].fault)
            fail_msg("%s: %s", cases[i].text, c.items[0].fault);
        assert_int_equal(c.items[0].code, 200);
        assert_slice(c.items[0].msg, cases[i].msg, strlen(cases[i].msg));
        assert_int_equal(c.items[1].code, 500);
        assert_int_equal(c.nunread, 0);
        wire_callbacks_done(&c);
    }
}

static void a_bad_element_does_not_lose_the_others(void **state)
{
    (void)state;
    static const struct {
        const char *bad, *fault;
    } cases[] = {
        { "{}", "logId: is missing" },
        { "{\"logId\":null,\"handleCode\":200}", "logId: is missing" },
        { "{\"logId\":0,\"handleCode\":200}", "logId: must be above 0" },
        { "{\"logId\":-3,\"handleCode\":200}", "logId: must be above 0" },
        { "{\"logId\":1.5,\"handleCode\":200}", "logId: must be a whole number" },
        { "{\"logId\":\"abc\",\"handleCode\":200}", "logId: must be a whole number" },
        { "{\"logId\":[7],\"handleCode\":200}", "logId: must be a whole number" },
        { "{\"logId\":1e300,\"handleCode\":200}", "logId: must be a whole number" },
        { "{\"logId\":9223372036854775808,\"handleCode\":200}", "too big integer" },
        { "{\"logId\":8,\"handleCode\":99999999999}", "handleCode: must be" },
        { "{\"logId\":8,\"handleCode\":\"ok\"}", "handleCode: must be" },
        { "{\"logId\":8,\"executeResult\":5}", "executeResult: must be an object" },
        { "17", "element must be an object" },
        { "null", "element must be an object" },
        { "\"text, with ] and }\"", "element must be an object" },
        { "[{\"logId\":8}]", "element must be an object" },
        { "{\"logId\":8,}", "not valid JSON" },
        { "{\"logId\":8}{}", "not valid JSON" },
        { "{\"logId\":08}", "not valid JSON" },
        { "{'logId':8}", "not valid JSON" },
        { "{\"logId\":8]", "not valid JSON" },
        { "", "empty" },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct buf body = BUF_INIT(4096);
        buf_printf(&body, "[{\"logId\":1,\"handleCode\":200},%s,{\"logId\":3,\"handleCode\":500}]",
                   cases[i].bad);
        struct wire_callbacks c;
        assert_int_equal(read_both(slice_of(body.data, body.len), &c, NULL), OK);
        assert_int_equal(c.n, 3);
        assert_int_equal(c.nfault, 1);
        bool json = !strstr(cases[i].fault, "JSON") && !strstr(cases[i].fault, "integer") &&
                    strcmp(cases[i].fault, "empty") != 0;
        assert_int_equal(c.nunread, !json);
        assert_int_equal(c.items[0].log_id, 1);
        assert_int_equal(c.items[2].log_id, 3);
        assert_null(c.items[0].fault);
        assert_null(c.items[2].fault);
        if (!c.items[1].fault || !strstr(c.items[1].fault, cases[i].fault))
            fail_msg("%s: %s", cases[i].bad, c.items[1].fault);
        wire_callbacks_done(&c);
        buf_done(&body);
    }
}

static void what_is_no_array_is_refused_with_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *body, *why;
    } cases[] = {
        { "", "must be a JSON array" },
        { "{\"logId\":7,\"handleCode\":200}", "must be a JSON array" },
        { "null", "must be a JSON array" },
        { "[", "does not end" },
        { "[{\"logId\":7,\"handleCode\":200}", "does not end" },
        { "[{\"logId\":7,\"handleCode\":200},", "does not end" },
        { "[17}]", "neither a comma nor the end" },
        { "[{\"logId\":7,\"handleMsg\":\"", "does not end" },
        { "[{\"logId\":7,\"handleCode\":200}]x", "text follows" },
        { "[]]", "text follows" },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct wire_callbacks c;
        struct why why = { "" };
        assert_int_equal(read_both(slice_text(cases[i].body), &c, &why), ERR_INVALID);
        if (!strstr(why.text, cases[i].why))
            fail_msg("%s: %s", cases[i].body, why.text);
    }
    struct wire_callbacks none;
    assert_int_equal(read_both(slice_text("[ ]"), &none, NULL), OK);
    assert_int_equal(none.n, 0);
    wire_callbacks_done(&none);
}

static void limits_hold(void **state)
{
    (void)state;
    struct buf body = BUF_INIT(WIRE_CALLBACK_MAX + 100);
    struct wire_callbacks c;
    struct why why = { "" };
    buf_char(&body, '[');
    for (int i = 0; i < WIRE_CALLBACK_ITEMS_MAX; i++)
        buf_printf(&body, "%s{\"logId\":%d,\"handleCode\":200}", i ? "," : "", i + 1);
    size_t full = body.len;
    buf_char(&body, ']');
    assert_int_equal(wire_callbacks_parse(slice_of(body.data, body.len), &c, &why), OK);
    assert_int_equal(c.n, WIRE_CALLBACK_ITEMS_MAX);
    assert_int_equal(c.items[c.n - 1].log_id, WIRE_CALLBACK_ITEMS_MAX);
    wire_callbacks_done(&c);
    body.len = full;
    buf_text(&body, ",{\"logId\":1}]");
    assert_int_equal(wire_callbacks_parse(slice_of(body.data, body.len), &c, &why), ERR_TOOBIG);
    assert_non_null(strstr(why.text, "more than 100000 elements"));
    while (body.len <= WIRE_CALLBACK_MAX)
        buf_char(&body, ' ');
    why_clear(&why);
    assert_int_equal(wire_callbacks_parse(slice_of(body.data, body.len), &c, &why), ERR_TOOBIG);
    assert_non_null(strstr(why.text, "longer than"));
    buf_reset(&body);
    /* an element nested without end is one faulty element, not a crash */
    buf_text(&body, "[{\"logId\":1,\"x\":");
    for (int i = 0; i < 1000000; i++)
        buf_char(&body, '[');
    for (int i = 0; i < 1000000; i++)
        buf_char(&body, ']');
    buf_text(&body, "}]");
    assert_int_equal(read_both(slice_of(body.data, body.len), &c, &why), OK);
    assert_int_equal(c.nfault, 1);
    assert_non_null(strstr(c.items[0].fault, "nested deeper"));
    wire_callbacks_done(&c);
    buf_done(&body);
}

static void what_our_executor_writes_every_release_can_read(void **state)
{
    (void)state;
    struct wire_callback out[2] = {
        { .log_id = INT64_MAX, .log_date_ms = 1700000000000, .code = 200 },
        { .log_id = 8, .code = 502, .msg = slice_text("job execute timeout ") },
    };
    struct buf body = BUF_INIT(4096);
    wire_callback_body(&body, out, 2);
    json_t *doc = json_loadb(body.data, body.len, 0, NULL);
    for (size_t i = 0; i < 2; i++) { /* the 2.2 shape and the later one say the same */
        json_t *e = json_array_get(doc, i), *old = json_object_get(e, "executeResult");
        assert_true(json_is_string(json_object_get(e, "handleMsg")));
        assert_true(json_equal(json_object_get(e, "handleMsg"), json_object_get(old, "msg")));
        assert_true(json_equal(json_object_get(e, "handleCode"), json_object_get(old, "code")));
    }
    json_decref(doc);
    struct wire_callbacks c;
    assert_int_equal(read_both(slice_of(body.data, body.len), &c, NULL), OK);
    assert_int_equal(c.items[0].log_id, INT64_MAX);
    assert_int_equal(c.items[1].code, 502);
    assert_slice(c.items[1].msg, "job execute timeout ", 20);
    wire_callbacks_done(&c);
    buf_done(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_real_clients_sent_is_understood),
        cmocka_unit_test(every_quirk_of_one_element),
        cmocka_unit_test(damaged_text_does_not_lose_the_result),
        cmocka_unit_test(a_bad_element_does_not_lose_the_others),
        cmocka_unit_test(what_is_no_array_is_refused_with_the_reason),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(what_our_executor_writes_every_release_can_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
