/* SPDX-License-Identifier: Apache-2.0 */
/* Equal causes compare equal, and different ones do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "model/cause.h"

static const char *fold(const char *message)
{
    static char to[CAUSE_TEXT_MAX + 1];
    cause_fold(slice_text(message), to, sizeof(to));
    return to;
}

static void what_differs_from_run_to_run_is_folded(void **state)
{
    (void)state;
    static const struct {
        const char *message, *folded;
    } rows[] = {
        { "", "" },
        { "no rows", "no rows" },
        { "order 17 not found", "order # not found" },
        { "took 1,250.75 ms, limit 1000", "took # ms, limit #" },
        { "java.lang.RuntimeException: id=42", "java.lang.RuntimeException: id=#" },
        { "at Foo.java:123 in v2", "at Foo.java:# in v#" },
        { "2026-11-22 08:47:41.123 late", "#-#-# #:#:# late" },
        { "2026-11-22T08:47:41Z late", "#-#-#:#:#Z late" },
        { "cannot reach http://10.0.0.3:9999/run?x=1, gave up", "cannot reach @, gave up" },
        { "see https://example.org/a.", "see @." },
        { "10.0.0.3:9999: connection refused", "@: connection refused" },
        { "10.0.0.3 refused", "@ refused" },
        { "[::1]:80 and fe80::1 and 2001:db8:0:1:2:3:4:5 refused", "[@]:# and @ and @ refused" },
        { "executor-3:9999 refused", "executor-#:# refused" },
        { "trace 550e8400-e29b-41d4-a716-446655440000 ended", "trace # ended" },
        { "commit deadbeef01 at 0x7fff12 by X7k2Qp9", "commit # at # by #" },
        { "defaced facade", "defaced facade" },
        { "a \t b\x01"
          "c",
          "a b c" },
        { "订单 17 不存在", "订单 # 不存在" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_string_equal(fold(rows[i].message), rows[i].folded);
}

static void the_first_line_that_says_something_counts(void **state)
{
    (void)state;
    assert_string_equal(fold("\n  \r\n\tboom\nat line 3"), "boom");
    assert_string_equal(fold("<br><br>refused<br>again"), "refused");
    assert_string_equal(fold("<br"), "");
    assert_string_equal(fold("<br/"), "");
    assert_string_equal(fold("a < b"), "a < b");
}

static void a_long_message_is_cut_between_characters(void **state)
{
    (void)state;
    char message[5000], to[CAUSE_TEXT_MAX + 1];
    memset(message, 'x', sizeof(message));
    for (size_t i = 1; i + 1 < sizeof(message); i += 2)
        memcpy(message + i, "\xc3\xa9", 2);
    cause_fold(slice_of(message, sizeof(message) - 1), to, sizeof(to));
    assert_int_equal(strlen(to), CAUSE_TEXT_MAX - 1);
    assert_true(utf8_valid(to, strlen(to)));
    cause_fold(slice_text("abcdef"), to, 4);
    assert_string_equal(to, "abc");
}

static struct cause cause(int trigger, const char *trigger_msg, int handle, const char *handle_msg)
{
    const struct failure f = { trigger, handle, trigger_msg, handle_msg, NULL };
    struct cause c;
    cause_of(&f, &c);
    return c;
}

static void the_message_is_that_of_the_step_that_failed(void **state)
{
    (void)state;
    struct cause refused = cause(500, "no executor", 0, "");
    assert_int_equal(refused.code, 500);
    assert_string_equal(refused.text, "no executor");
    struct cause failed = cause(200, "accepted", 500, "boom 7");
    assert_int_equal(failed.code, 500);
    assert_string_equal(failed.text, "boom #");
    struct cause lost = cause(500, "refused", 500, "lost: no answer");
    assert_string_equal(lost.text, "lost: no answer");
    struct cause silent = cause(200, NULL, 502, NULL);
    assert_int_equal(silent.code, 502);
    assert_string_equal(silent.text, "");
    assert_string_equal(silent.address, "");
}

static void equal_causes_have_one_fingerprint(void **state)
{
    (void)state;
    uint64_t a = cause(200, "", 500, "order 17 not found").fingerprint;
    assert_true(a == cause(200, "", 500, "order 99 not found").fingerprint);
    assert_true(a != cause(200, "", 500, "order 17 not paid").fingerprint);
    assert_true(a != cause(200, "", 502, "order 17 not found").fingerprint);
    assert_true(a == cause(500, "", 500, "order 1 not found\nsecond line").fingerprint);
}

/* It stands in databases: another value would part the failures before an upgrade from those
 * behind it. */
static void the_fingerprint_is_the_same_in_every_release(void **state)
{
    (void)state;
    assert_true(cause(200, "", 500, "order 17 not found").fingerprint == 0xbc798da563c4df05u);
    assert_true(cause(200, "", 502, "").fingerprint == 0x4912c3329c5a9005u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_differs_from_run_to_run_is_folded),
        cmocka_unit_test(the_first_line_that_says_something_counts),
        cmocka_unit_test(a_long_message_is_cut_between_characters),
        cmocka_unit_test(the_message_is_that_of_the_step_that_failed),
        cmocka_unit_test(equal_causes_have_one_fingerprint),
        cmocka_unit_test(the_fingerprint_is_the_same_in_every_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
