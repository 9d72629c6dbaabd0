/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are made once a second: who makes one, and who gets which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "api/answers.h"

static struct answers *answers;

static int setup(void **state)
{
    (void)state;
    answers = answers_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    answers_free(answers);
    return 0;
}

/* NULL: it is to be made. */
static const char *take(const char *key, int64_t at_ms)
{
    static char text[64];
    struct buf out = BUF_INIT(64);
    bool got = answers_take(answers, slice_text(key), at_ms, &out);
    snprintf(text, sizeof(text), "%s", buf_str(&out));
    buf_done(&out);
    return got ? text : NULL;
}

static void put(const char *key, int64_t at_ms, const char *text)
{
    answers_put(answers, slice_text(key), at_ms, slice_text(text));
}

static void test_made_once_a_second(void **state)
{
    (void)state;
    assert_null(take("a", 10000));
    put("a", 10000, "one");
    assert_string_equal(take("a", 10999), "one");
    assert_null(take("b", 10999));
    assert_null(take("a", 11000));
    assert_string_equal(take("a", 11000), "one"); /* another one makes it: nobody waits */
    put("a", 11001, "two");
    assert_string_equal(take("a", 11002), "two");
}

static void test_one_that_cannot_be_made(void **state)
{
    (void)state;
    assert_null(take("a", 10000));
    assert_null(take("a", 10000)); /* none is there: both make it */
    answers_not(answers, slice_text("a"));
    put("a", 10001, "one");
    assert_null(take("a", 20000));
    answers_not(answers, slice_text("a"));
    assert_null(take("a", 20001));
    answers_not(answers, slice_text("unknown"));
}

static void test_the_one_asked_for_longest_ago_goes(void **state)
{
    (void)state;
    char key[16];
    for (int i = 0; i <= ANSWERS_MAX; i++) {
        snprintf(key, sizeof(key), "key %d", i);
        assert_null(take(key, 10000 + i));
        put(key, 10000 + i, key);
        assert_string_equal(take("key 0", 10000 + i), "key 0");
    }
    assert_null(take("key 1", 10100));
    assert_string_equal(take("key 64", 10100), "key 64");
}

static void test_a_key_that_is_too_long_is_not_kept(void **state)
{
    (void)state;
    char key[ANSWERS_KEY_MAX + 2];
    memset(key, 'k', sizeof(key));
    key[sizeof(key) - 1] = '\0';
    put(key, 10000, "one");
    assert_null(take(key, 10000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_made_once_a_second, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_that_cannot_be_made, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_one_asked_for_longest_ago_goes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_key_that_is_too_long_is_not_kept, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
