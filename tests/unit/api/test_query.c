/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a list: read by type, and everything that is wrong with them told at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "api/v1/query.h"

static struct api_config config;

struct fixture {
    struct web_call call;
    struct query q;
};

static struct query *begin(struct fixture *f, const char *text)
{
    *f = (struct fixture){ .call.config = &config };
    f->call.path = slice_text("/api/v1/runs");
    buf_init(&f->call.output, 65536);
    buf_init(&f->call.headers, 65536);
    assert_int_equal(form_parse(slice_text(text), slice_text(""), &f->call.form, NULL), OK);
    query_begin(&f->q, &f->call);
    return &f->q;
}

static void end(struct fixture *f)
{
    form_done(&f->call.form);
    buf_done(&f->call.output);
    buf_done(&f->call.headers);
}

static void good(struct fixture *f)
{
    assert_true(query_end(&f->q));
    end(f);
}

/* It is refused, as 400 that names the parameter and the rule. */
static void refused(struct fixture *f, const char *field, const char *rule)
{
    char wanted[128];
    assert_false(query_end(&f->q));
    assert_int_equal(f->call.status, 400);
    snprintf(wanted, sizeof(wanted), "{\"field\":\"%s\",\"rule\":\"%s\"", field, rule);
    assert_non_null(strstr(buf_str(&f->call.output), wanted));
    end(f);
}

static void what_is_absent_is_the_fallback(void **state)
{
    (void)state;
    struct fixture f;
    int64_t ids[2];
    struct cursor c;
    struct query *q = begin(&f, "");
    assert_null(query_text(q, "a", 10));
    assert_int_equal(query_i64(q, "b", 1, 5, 3), 3);
    assert_int_equal(query_bool(q, "c", -1), -1);
    assert_int_equal(query_instant(q, "d", 77), 77);
    assert_int_equal(query_ids(q, "e", ids, 2), 0);
    assert_int_equal(query_words(q, "f", NULL, 0), 0);
    assert_int_equal(query_limit(q), 50);
    assert_false(query_cursor(q, &c));
    good(&f);
}

static void what_is_there_is_read_by_its_type(void **state)
{
    (void)state;
    static const char *const words[] = { "one", "two", "three" };
    struct fixture f;
    int64_t ids[4];
    struct query *q = begin(&f, "a=x&b=-5&c=true&d=1795224600000&e=3,1,3,2&f=three,one&limit=500&"
                                "g=2026-11-21T01:30:00Z");
    assert_string_equal(query_text(q, "a", 1), "x");
    assert_int_equal(query_i64(q, "b", -5, 5, 3), -5);
    assert_int_equal(query_bool(q, "c", 0), 1);
    assert_int_equal(query_instant(q, "d", 0), 1795224600000);
    assert_int_equal(query_instant(q, "g", 0), 1795224600000);
    assert_int_equal(query_ids(q, "e", ids, 4), 3);
    assert_int_equal(ids[0], 1);
    assert_int_equal(ids[2], 3);
    assert_int_equal(query_words(q, "f", words, 3), 5);
    assert_int_equal(query_limit(q), 500);
    good(&f);
}

static void what_breaks_a_rule_is_named(void **state)
{
    (void)state;
    static const char *const words[] = { "one" };
    struct fixture f;
    int64_t ids[2];
    assert_null(query_text(begin(&f, "a=\xC3\xA9\xC3\xA9"), "a", 1));
    refused(&f, "a", "text.length");
    assert_int_equal(query_i64(begin(&f, "a=x"), "a", 0, 9, 4), 4);
    refused(&f, "a", "type.integer");
    assert_int_equal(query_limit(begin(&f, "limit=501")), 50);
    refused(&f, "limit", "number.range");
    assert_int_equal(query_bool(begin(&f, "a=1"), "a", 0), 0);
    refused(&f, "a", "type.boolean");
    assert_int_equal(query_instant(begin(&f, "a=yesterday"), "a", 5), 5);
    refused(&f, "a", "type.instant");
    assert_int_equal(query_instant(begin(&f, "a=-1"), "a", 5), 5);
    refused(&f, "a", "type.instant");
    assert_int_equal(query_ids(begin(&f, "a=1,0"), "a", ids, 2), 0);
    refused(&f, "a", "type.ids");
    assert_int_equal(query_ids(begin(&f, "a=1,2,3"), "a", ids, 2), 0);
    refused(&f, "a", "list.length");
    assert_int_equal(query_words(begin(&f, "a=one,two"), "a", words, 1), 0);
    refused(&f, "a", "enum");
}

static void all_of_them_at_once(void **state)
{
    (void)state;
    struct fixture f;
    struct query *q = begin(&f, "limit=0&job=x&surprise=1&limit=2");
    int64_t ids[2];
    query_limit(q);
    query_ids(q, "job", ids, 2);
    assert_false(query_end(q));
    const char *out = buf_str(&f.call.output);
    assert_non_null(strstr(out, "\"field\":\"limit\",\"rule\":\"once\""));
    assert_non_null(strstr(out, "\"field\":\"limit\",\"rule\":\"number.range\""));
    assert_non_null(strstr(out, "\"field\":\"job\",\"rule\":\"type.ids\""));
    assert_non_null(strstr(out, "\"field\":\"surprise\",\"rule\":\"unknown\""));
    end(&f);
}

static void a_cursor_is_for_its_list(void **state)
{
    (void)state;
    struct fixture f;
    struct cursor c = { 4, "", 5 };
    char text[CURSOR_SIZE], query[CURSOR_SIZE + 32];
    struct query *q = begin(&f, "job=1");
    cursor_write(&c, cursor_filter(f.call.path, &f.call.form), config.cursor_key, text);
    query_text(q, "job", 9);
    good(&f);
    snprintf(query, sizeof(query), "cursor=%s&job=1", text);
    q = begin(&f, query);
    query_text(q, "job", 9);
    assert_true(query_cursor(q, &c));
    assert_int_equal(c.id, 5);
    good(&f);
    snprintf(query, sizeof(query), "cursor=%s&job=2", text);
    q = begin(&f, query);
    query_text(q, "job", 9);
    assert_false(query_cursor(q, &c));
    refused(&f, "cursor", "cursor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_absent_is_the_fallback),
        cmocka_unit_test(what_is_there_is_read_by_its_type),
        cmocka_unit_test(what_breaks_a_rule_is_named),
        cmocka_unit_test(all_of_them_at_once),
        cmocka_unit_test(a_cursor_is_for_its_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
