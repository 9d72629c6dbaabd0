/* SPDX-License-Identifier: Apache-2.0 */
/* JSON bodies by a table of fields, and the problems that tell what is wrong with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "api/body.h"
#include "api/front.h"
#include "base/mem.h"
#include "wire/json.h"

struct thing {
    struct slice name;
    int64_t count;
    bool on;
};

static const struct body_field fields[] = {
    { "name", FIELD_TEXT, offsetof(struct thing, name), true, 1, 5 },
    { "count", FIELD_I64, offsetof(struct thing, count), false, 0, 100 },
    { "on", FIELD_BOOL, offsetof(struct thing, on), false, 0, 0 },
};

static void bodies_are_objects_within_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum err err;
        const char *reason;
    } cases[] = {
        { "{}", OK, "" },
        { " {\"a\":[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]} ", OK, "" },
        { "{\"a\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}", ERR_TOOBIG, "deeper than 16" },
        { "", ERR_INVALID, "empty" },
        { "[]", ERR_INVALID, "must be a JSON object" },
        { "1", ERR_INVALID, "must be a JSON object" },
        { "null", ERR_INVALID, "must be a JSON object" },
        { "{\"a\":1,\"a\":1}", ERR_INVALID, "duplicate" },
        { "{\"a\":\"\\u0000\"}", ERR_INVALID, "not valid JSON" },
        { "{}{}", ERR_INVALID, "not valid JSON" },
        { "{\"a\":\"\xff\"}", ERR_INVALID, "not valid JSON" },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct json_t *doc = NULL;
        struct why why = { "" };
        enum err err = body_parse(slice_text(cases[i].text), &doc, &why);
        if (err != cases[i].err || !strstr(why.text, cases[i].reason))
            fail_msg("%s: %s", cases[i].text, why.text);
        wire_json_free(doc);
    }
}

/* The fields' errors as they stand in a problem; *ret keeps what was read. */
static int read_thing(const char *text, struct thing *to, struct buf *ret_errors)
{
    struct json_t *doc;
    struct problem_errors errors;
    struct slice name = to->name;
    assert_int_equal(body_parse(slice_text(text), &doc, NULL), OK);
    problem_errors_init(&errors);
    body_fields(doc, fields, countof(fields), to, &errors);
    int n = errors.n;
    buf_reset(ret_errors);
    buf_slice(ret_errors, slice_of(errors.list.data, errors.list.len));
    problem_errors_done(&errors);
    to->name = to->name.n ? slice_text("read") : name; /* the text goes with the document */
    wire_json_free(doc);
    return n;
}

static void members_go_where_the_table_says(void **state)
{
    (void)state;
    struct buf errors = BUF_INIT(10000);
    struct thing t = { .count = 7, .on = true };
    assert_int_equal(read_thing("{\"name\":\"\xE4\xB8\xAD"
                                "2345\"}",
                                &t, &errors),
                     0);
    assert_true(slice_eq(t.name, "read"));
    assert_int_equal(t.count, 7); /* absent: stays */
    assert_true(t.on);
    assert_int_equal(read_thing("{\"on\":false,\"count\":100,\"name\":\"x\"}", &t, &errors), 0);
    assert_int_equal(t.count, 100);
    assert_false(t.on);
    buf_done(&errors);
}

static void every_bad_member_is_told_at_once(void **state)
{
    (void)state;
    struct buf errors = BUF_INIT(10000);
    struct thing t = { .count = 7 };
    assert_int_equal(
        read_thing("{\"count\":101,\"on\":\"true\",\"a/b~\":1,\"name\":\"123456\"}", &t, &errors),
        4);
    assert_string_equal(
        buf_str(&errors),
        "{\"field\":\"/name\",\"rule\":\"text.length\",\"detail\":\"name: must have 1 to 5 "
        "characters\",\"params\":{\"min\":1,\"max\":5}},"
        "{\"field\":\"/count\",\"rule\":\"number.range\",\"detail\":\"count: must be from 0 to "
        "100\",\"params\":{\"min\":0,\"max\":100}},"
        "{\"field\":\"/on\",\"rule\":\"type.boolean\",\"detail\":\"on: must be true or false\"},"
        "{\"field\":\"/a~1b~0\",\"rule\":\"unknown\",\"detail\":\"a~1b~0: there is no such "
        "member\"}");
    assert_int_equal(t.count, 7);
    assert_int_equal(t.name.n, 0);
    static const struct {
        const char *text, *rule;
    } cases[] = {
        { "{}", "\"required\"" },
        { "{\"name\":\"\"}", "\"text.length\"" },
        { "{\"name\":null}", "\"type.text\"" },
        { "{\"name\":1}", "\"type.text\"" },
        { "{\"name\":[\"x\"]}", "\"type.text\"" },
        { "{\"name\":\"x\",\"count\":-1}", "\"number.range\"" },
        { "{\"name\":\"x\",\"count\":1.0}", "\"type.integer\"" },
        { "{\"name\":\"x\",\"count\":\"1\"}", "\"type.integer\"" },
        { "{\"name\":\"x\",\"on\":1}", "\"type.boolean\"" },
        { "{\"name\":\"x\",\"Name\":\"x\"}", "\"unknown\"" },
    };
    for (size_t i = 0; i < countof(cases); i++)
        if (read_thing(cases[i].text, &t, &errors) != 1 || !strstr(buf_str(&errors), cases[i].rule))
            fail_msg("%s: %s", cases[i].text, buf_str(&errors));
    buf_done(&errors);
}

static void a_flood_of_bad_members_is_counted_and_cut(void **state)
{
    (void)state;
    struct buf text = BUF_INIT(4 << 20), errors = BUF_INIT(1 << 20);
    struct thing t = { .count = 7 };
    buf_text(&text, "{\"name\":\"x\"");
    for (int i = 0; i < 1000; i++)
        buf_printf(&text,
                   ",\"%d~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"
                   "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\":1",
                   i);
    buf_text(&text, "}");
    assert_int_equal(read_thing(buf_str(&text), &t, &errors), 1000);
    int objects = 0;
    for (const char *p = buf_str(&errors); (p = strstr(p, "\"field\":\"")); p++) {
        const char *end = strchr(p + 9, '"');
        assert_true(end && end - (p + 9) <= 300);
        objects++;
    }
    assert_int_equal(objects, PROBLEM_ERRORS_MAX);
    buf_done(&text);
    buf_done(&errors);
}

static void a_problem_is_a_document_of_its_own(void **state)
{
    (void)state;
    struct buf out = BUF_INIT(10000);
    struct problem_errors errors;
    problem_errors_init(&errors);
    problem_write(&out, PROBLEM_TOO_LARGE, NULL, "", &errors, -1);
    assert_string_equal(buf_str(&out),
                        "{\"type\":\"/problems/too-large\",\"title\":\"The body is too large\","
                        "\"status\":413,\"code\":\"too_large\"}");
    buf_reset(&out);
    problem_error(&errors, "id", "number.range", NULL, "id: %s", "no \"number\"");
    problem_write(&out, PROBLEM_MALFORMED, "ABC", "that", &errors, 1500);
    assert_string_equal(
        buf_str(&out),
        "{\"type\":\"/problems/malformed\",\"title\":\"The request cannot be read\","
        "\"status\":400,\"code\":\"malformed\",\"detail\":\"that\",\"errors\":[{\"field\":\"id\","
        "\"rule\":\"number.range\",\"detail\":\"id: no \\\"number\\\"\"}],\"retryAfterMs\":1500,"
        "\"requestId\":\"ABC\"}");
    problem_errors_done(&errors);
    buf_done(&out);
}

static void errors_of_lower_layers_have_a_status(void **state)
{
    (void)state;
    static const struct {
        enum err err;
        int status;
    } cases[] = {
        { ERR_INVALID, 422 }, { ERR_NOTFOUND, 404 }, { ERR_TOOBIG, 413 },  { ERR_STORE, 503 },
        { ERR_FULL, 503 },    { ERR_TIMEOUT, 503 },  { ERR_CORRUPT, 500 }, { ERR_NET, 500 },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct web_call call = { .request_id = "ABC" };
        struct why why = { "" };
        buf_init(&call.headers, 1000);
        buf_init(&call.output, 1000);
        buf_text(&call.output, "half an answer");
        problem_err(&call, cases[i].err, &why);
        assert_int_equal(call.status, cases[i].status);
        assert_string_equal(call.content_type, "application/problem+json");
        assert_int_equal(buf_str(&call.output)[0], '{');
        assert_non_null(strstr(buf_str(&call.output), err_text(cases[i].err)));
        assert_true((call.status == 503) ==
                    (strstr(buf_str(&call.headers), "Retry-After: 1\r\n") != NULL));
        buf_done(&call.headers);
        buf_done(&call.output);
    }
}

static void request_ids_are_thirteen_letters_and_differ(void **state)
{
    (void)state;
    char a[REQUEST_ID_SIZE], b[REQUEST_ID_SIZE];
    request_id_new(a);
    request_id_new(b);
    assert_int_equal(strspn(a, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"), 13);
    assert_int_equal(strlen(a), 13);
    assert_string_not_equal(a, b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_objects_within_bounds),
        cmocka_unit_test(members_go_where_the_table_says),
        cmocka_unit_test(every_bad_member_is_told_at_once),
        cmocka_unit_test(a_flood_of_bad_members_is_counted_and_cut),
        cmocka_unit_test(a_problem_is_a_document_of_its_own),
        cmocka_unit_test(errors_of_lower_layers_have_a_status),
        cmocka_unit_test(request_ids_are_thirteen_letters_and_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
