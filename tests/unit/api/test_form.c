/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters as browsers and scripts send them, and what is refused of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "api/form.h"
#include "base/buf.h"

static enum err parse(const char *query, const char *body, struct form *f, struct why *why)
{
    why_clear(why);
    return form_parse(slice_text(query), slice_text(body), f, why);
}

static void blanks_percent_and_unicode_are_decoded(void **state)
{
    (void)state;
    struct form f;
    struct why why = { "" };
    assert_int_equal(parse("a=1&b=x%20y+z", "c=%E4%B8%AD&d&=e&ids%5B%5D=5&a=2", &f, &why), OK);
    assert_string_equal(form_get(&f, "a"), "1"); /* the query's comes first */
    assert_string_equal(form_get(&f, "b"), "x y z");
    assert_string_equal(form_get(&f, "c"), "\xE4\xB8\xAD");
    assert_string_equal(form_get(&f, "d"), "");
    assert_string_equal(form_get(&f, ""), "e");
    assert_string_equal(form_get(&f, "ids[]"), "5");
    assert_null(form_get(&f, "z"));
    assert_int_equal(f.n, 7);
    form_done(&f);
}

static void what_cannot_be_text_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *body, *reason;
    } bad[] = {
        { "a=%4", "parameter a: % must be" },
        { "a=%", "parameter a: % must be" },
        { "a=%zz", "parameter a: % must be" },
        { "%=1", "parameter name" },
        { "ok=1&text=%ff", "parameter text: must be UTF-8" },
        { "text=a%00b", "parameter text: must be UTF-8" },
        { "text=%ed%a0%80", "parameter text: must be UTF-8" },
        { "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg=1", "parameter name" },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct form f;
        struct why why;
        assert_int_not_equal(parse("", bad[i].body, &f, &why), OK);
        assert_non_null(strstr(why.text, bad[i].reason));
        assert_null(f.items);
        assert_null(f.text);
    }
}

static void two_hundred_parameters_are_the_most(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(10000);
    struct form f;
    struct why why;
    for (int i = 0; i < FORM_ITEMS_MAX; i++)
        buf_text(&b, i ? "&a=1" : "a=1");
    assert_int_equal(parse("", buf_str(&b), &f, &why), OK);
    assert_int_equal(f.n, FORM_ITEMS_MAX);
    form_done(&f);
    assert_int_equal(parse("b=1", buf_str(&b), &f, &why), ERR_TOOBIG);
    assert_non_null(strstr(why.text, "more than 200"));
    buf_done(&b);
}

static void numbers_are_whole_and_named_when_not(void **state)
{
    (void)state;
    struct form f;
    struct why why = { "" };
    int64_t v = 7;
    int n = 8;
    assert_int_equal(parse("a=-12&b=&c=1.5&d=3000000000&e=99999999999999999999", "", &f, &why), OK);
    assert_int_equal(form_i64(&f, "a", &v, &why), OK);
    assert_int_equal(v, -12);
    assert_int_equal(form_i64(&f, "b", &v, &why), OK); /* blank: as it was */
    assert_int_equal(form_i64(&f, "absent", &v, &why), OK);
    assert_int_equal(v, -12);
    assert_int_equal(form_i64(&f, "c", &v, &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "c: must be a whole number"));
    assert_int_equal(form_i64(&f, "e", &v, &why), ERR_INVALID);
    assert_int_equal(form_int(&f, "d", &n, &why), ERR_INVALID);
    assert_int_equal(n, 8);
    form_done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_percent_and_unicode_are_decoded),
        cmocka_unit_test(what_cannot_be_text_is_refused_by_name),
        cmocka_unit_test(two_hundred_parameters_are_the_most),
        cmocka_unit_test(numbers_are_whole_and_named_when_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
