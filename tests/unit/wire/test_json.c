/* SPDX-License-Identifier: Apache-2.0 */
/* The door for foreign JSON: limits before parsing, Gson's leniency after it. */
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
#include "wire/json.h"

static struct json_t *doc_of(const char *text)
{
    struct json_t *doc = NULL;
    assert_int_equal(wire_json_parse(slice_text(text), 1 << 20, "body", &doc, NULL), OK);
    return doc;
}

static void what_is_not_json_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        " ",
        "\xEF\xBB\xBF",
        "{",
        "{\"a\":1}x",
        "{\"a\":1}{}",
        "{'a':1}",
        "{a:1}",
        "[1,]",
        "[01]",
        "[\"\xff\"]",
        "[\"\xC0\x80\"]",
        "[\"\xED\xA0\x80\"]",
        "[\"\\ud800\"]",
        "[\"\\x\"]",
        "[\"a\nb\"]",
        "[1e999]",
        "[18446744073709551616]",
        "nul",
        "[\"",
        "/* c */1",
    };
    for (size_t i = 0; i < countof(texts); i++) {
        struct json_t *doc = NULL;
        struct why why = { "" };
        if (wire_json_parse(slice_text(texts[i]), 100, "body", &doc, &why) != ERR_INVALID)
            fail_msg("%s", texts[i]);
        assert_null(doc);
        assert_int_equal(strncmp(why.text, "body is ", 8), 0);
    }
}

static enum err strictly(const char *text, int depth)
{
    const struct wire_json_rules rules = { .max = 1000, .depth = depth, .strict = true };
    struct json_t *doc = NULL;
    struct why why = { "" };
    enum err err = wire_json_read(slice_text(text), &rules, "body", &doc, &why);
    assert_true((err == OK) == (doc != NULL) && (err == OK) == (why.text[0] == '\0'));
    wire_json_free(doc);
    return err;
}

static void strict_rules_refuse_what_peers_may_write(void **state)
{
    (void)state;
    assert_int_equal(strictly("{\"a\":1,\"b\":{\"a\":2}}", 2), OK);
    assert_int_equal(strictly("{\"a\":1,\"a\":1}", 2), ERR_INVALID);
    assert_int_equal(strictly("{\"b\":{\"a\":1,\"\\u0061\":1}}", 2), ERR_INVALID);
    assert_int_equal(strictly("{\"a\":\"x\\u0000\"}", 2), ERR_INVALID);
    assert_int_equal(strictly("{\"a\\u0000\":1}", 2), ERR_INVALID);
    assert_int_equal(strictly("[[1]]", 2), OK);
    assert_int_equal(strictly("[[[1]]]", 2), ERR_TOOBIG);
}

static void limits_come_before_the_parser(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(1 << 20);
    struct json_t *doc = NULL;
    struct why why = { "" };
    assert_int_equal(wire_json_parse(slice_text("[1]"), 2, "body", &doc, &why), ERR_TOOBIG);
    assert_string_equal(why.text, "body is longer than 2 bytes");
    for (int depth = WIRE_JSON_DEPTH; depth <= WIRE_JSON_DEPTH + 1; depth++) {
        buf_reset(&b);
        for (int i = 0; i < depth; i++)
            buf_char(&b, '[');
        for (int i = 0; i < depth; i++)
            buf_char(&b, ']');
        enum err err = wire_json_parse(slice_of(b.data, b.len), 1 << 20, "body", &doc, NULL);
        assert_int_equal(err, depth > WIRE_JSON_DEPTH ? ERR_TOOBIG : OK);
        if (!err)
            wire_json_free(doc);
    }
    buf_reset(&b);
    buf_char(&b, '[');
    for (int i = 0; i < WIRE_JSON_VALUES; i++)
        buf_text(&b, "1,");
    buf_text(&b, "1]");
    assert_int_equal(wire_json_parse(slice_of(b.data, b.len), 1 << 20, "body", &doc, NULL),
                     ERR_TOOBIG);
    buf_done(&b);
    /* brackets inside a text are text */
    wire_json_free(doc_of("\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[[\""));
}

static void numbers_come_in_every_dress(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        int64_t want;
    } cases[] = {
        { "5", true, 5 },
        { "\"5\"", true, 5 },
        { "\" 5 \"", true, 5 },
        { "\"+5\"", true, 5 },
        { "5.0", true, 5 },
        { "\"5.00\"", true, 5 },
        { "5e2", true, 500 },
        { "-7", true, -7 },
        { "null", true, 99 },
        { "9223372036854775807", true, INT64_MAX },
        { "-9223372036854775808", true, INT64_MIN },
        { "\"9223372036854775807\"", true, INT64_MAX },
        { "9007199254740993", true, 9007199254740993 },
        { "5.5", false, 0 },
        { "\"5.5\"", false, 0 },
        { "\"5.\"", false, 0 },
        { "1e17", false, 0 }, /* a double may have lost digits */
        { "\"\"", false, 0 },
        { "\"5x\"", false, 0 },
        { "\"9223372036854775808\"", false, 0 },
        { "true", false, 0 },
        { "{}", false, 0 },
        { "[5]", false, 0 },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        char text[100];
        snprintf(text, sizeof(text), "{\"n\":%s}", cases[i].text);
        struct json_t *doc = doc_of(text);
        int64_t v = 99;
        struct why why = { "" };
        enum err err = wire_json_i64(doc, "n", &v, &why);
        if (err != (cases[i].ok ? OK : ERR_INVALID) || v != (cases[i].ok ? cases[i].want : 99))
            fail_msg("%s: %lld", text, (long long)v);
        if (err)
            assert_string_equal(why.text, "n: must be a whole number of at most 64 bits");
        wire_json_free(doc);
    }
    struct json_t *doc = doc_of("{\"n\":2147483648,\"b\":1}");
    int small = 3;
    bool yes = true;
    assert_int_equal(wire_json_int(doc, "n", &small, NULL), ERR_INVALID);
    assert_int_equal(wire_json_bool(doc, "b", &yes, NULL), ERR_INVALID);
    assert_int_equal(wire_json_int(doc, "N", &small, NULL), OK);
    assert_int_equal(small, 3);
    wire_json_free(doc);
}

static void text_comes_from_scalars(void **state)
{
    (void)state;
    struct json_t *doc = doc_of("{\"s\":\"a\\u0000b\",\"n\":12,\"r\":1.5,\"t\":true,\"z\":null,"
                                "\"o\":{\"a\":[1,null]},\"s\":\"last\\u0000\"}");
    static const struct {
        const char *name, *want;
        size_t n;
    } cases[] = { { "s", "last\0", 5 }, { "n", "12", 2 }, { "r", "1.5", 3 },
                  { "t", "true", 4 },   { "z", "", 0 },   { "none", "", 0 } };
    for (size_t i = 0; i < countof(cases); i++) {
        struct slice s = { NULL, 0 };
        assert_int_equal(wire_json_text(doc, cases[i].name, &s, NULL), OK);
        assert_int_equal(s.n, cases[i].n);
        if (s.n)
            assert_memory_equal(s.p, cases[i].want, s.n);
    }
    struct slice s = { NULL, 0 };
    struct why why = { "" };
    assert_int_equal(wire_json_text(doc, "o", &s, &why), ERR_INVALID);
    assert_string_equal(why.text, "o: must be text");
    assert_int_equal(wire_json_any(doc, "o", &s, NULL), OK);
    assert_true(slice_eq(s, "{\"a\":[1,null]}"));
    wire_json_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_json_is_refused),
        cmocka_unit_test(strict_rules_refuse_what_peers_may_write),
        cmocka_unit_test(limits_come_before_the_parser),
        cmocka_unit_test(numbers_come_in_every_dress),
        cmocka_unit_test(text_comes_from_scalars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
