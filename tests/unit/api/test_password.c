/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of three ages, and what guessing costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "api/password.h"

#define MD5_123456 "e10adc3949ba59abbe56e057f20f883e"
#define SHA_123456 "8d969eef6ecad3c29a3a629280e686cf0c3f5d5a86aff3ca12020c923adc6c92"

static bool matches(const char *legacy, const char *argon2, const char *password, bool *upgrade)
{
    struct user_record u = { .password = (char *)legacy, .argon2 = (char *)argon2 };
    return password_matches(&u, slice_text(password), upgrade);
}

static void our_hash_matches_its_password_only(void **state)
{
    (void)state;
    char hash[PASSWORD_HASH_SIZE], other[PASSWORD_HASH_SIZE];
    bool upgrade = true;
    assert_int_equal(password_hash(slice_text("correct horse"), hash), OK);
    assert_int_equal(password_hash(slice_text("correct horse"), other), OK);
    assert_string_not_equal(hash, other); /* salted */
    assert_int_equal(strncmp(hash, "$argon2id$", 10), 0);
    assert_true(matches("", hash, "correct horse", &upgrade));
    assert_false(upgrade);
    assert_false(matches("", hash, "correct hors", &upgrade));
    assert_false(matches("", hash, "", &upgrade));
}

static void columns_of_the_original_match_and_ask_for_an_upgrade(void **state)
{
    (void)state;
    bool upgrade = false;
    char md5_column[] = MD5_123456, sha_column[] = SHA_123456;
    assert_true(matches(md5_column, NULL, "123456", &upgrade));
    assert_true(upgrade);
    assert_true(matches(sha_column, NULL, "123456", &upgrade));
    assert_true(upgrade);
    assert_false(matches(md5_column, NULL, "123457", &upgrade));
    assert_false(upgrade);
    assert_false(matches("123456", NULL, "123456", &upgrade)); /* a plain text is no hash */
    assert_false(matches("", NULL, "", &upgrade));
}

static void the_new_hash_counts_once_it_is_there(void **state)
{
    (void)state;
    char hash[PASSWORD_HASH_SIZE], md5_column[] = MD5_123456;
    bool upgrade;
    assert_int_equal(password_hash(slice_text("another"), hash), OK);
    assert_false(matches(md5_column, hash, "123456", &upgrade));
    assert_true(matches(md5_column, hash, "another", &upgrade));
}

static void a_hash_that_would_take_all_memory_is_not_computed(void **state)
{
    (void)state;
    bool upgrade;
    assert_false(
        matches("", "$argon2id$v=19$m=4294967295,t=2,p=1$c2FsdHNhbHQ$aGFzaA", "x", &upgrade));
    assert_false(
        matches("", "$argon2id$v=19$m=1024,t=4294967295,p=1$c2FsdHNhbHQ$aGFzaA", "x", &upgrade));
    assert_false(matches("", "not a hash", "x", &upgrade));
}

static void nobody_has_no_password(void **state)
{
    (void)state;
    bool upgrade = true;
    assert_false(password_matches(NULL, slice_text("123456"), &upgrade));
    assert_false(upgrade);
}

static void new_passwords_have_4_to_20_characters(void **state)
{
    (void)state;
    struct why why = { "" };
    assert_int_equal(password_check(slice_text("abcd"), PASSWORD_MAX, &why), OK);
    assert_int_equal(password_check(slice_text("12345678901234567890"), PASSWORD_MAX, &why), OK);
    assert_int_equal(password_check(slice_text("abc"), PASSWORD_MAX, &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "4-20"));
    assert_int_equal(password_check(slice_text("123456789012345678901"), PASSWORD_MAX, NULL),
                     ERR_INVALID);
    assert_int_equal(password_check(slice_text(" abcd"), PASSWORD_MAX, NULL), ERR_INVALID);
    assert_int_equal(password_check(slice_text("ab\xff"
                                               "cd"),
                                    PASSWORD_MAX, NULL),
                     ERR_INVALID);
    char a[17], b[17];
    password_random(a);
    password_random(b);
    assert_int_equal(strlen(a), 16);
    assert_string_not_equal(a, b);
    assert_int_equal(password_check(slice_text(a), PASSWORD_MAX, &why), OK);
}

static void after_five_failures_each_try_waits_twice_as_long(void **state)
{
    (void)state;
    static struct throttle t;
    struct slice bob = { "bob", 3 };
    int64_t now = 1000000;
    for (int i = 0; i < 4; i++) {
        throttle_failed(&t, bob, "10.0.0.1", now);
        assert_int_equal(throttle_wait(&t, bob, "10.0.0.1", now), 0);
    }
    static const int64_t waits[] = { 1000, 2000, 4000, 8000, 16000 };
    for (int i = 0; i < 5; i++) {
        throttle_failed(&t, bob, "10.0.0.1", now);
        assert_int_equal(throttle_wait(&t, bob, "10.0.0.1", now), waits[i]);
        assert_int_equal(throttle_wait(&t, bob, "10.0.0.2", now), 0);
        assert_int_equal(throttle_wait(&t, slice_text("eve"), "10.0.0.1", now), 0);
        now += waits[i];
        assert_int_equal(throttle_wait(&t, bob, "10.0.0.1", now), 0);
    }
    for (int i = 0; i < 20; i++)
        throttle_failed(&t, bob, "10.0.0.1", now);
    assert_int_equal(throttle_wait(&t, bob, "10.0.0.1", now), 300000);
    now += 11 * 60 * 1000;
    throttle_failed(&t, bob, "10.0.0.1", now); /* forgotten: the first one again */
    assert_int_equal(throttle_wait(&t, bob, "10.0.0.1", now), 0);
    for (int i = 0; i < 5; i++)
        throttle_failed(&t, bob, "10.0.0.1", now);
    throttle_clear(&t, bob, "10.0.0.1");
    assert_int_equal(throttle_wait(&t, bob, "10.0.0.1", now), 0);
}

static void a_flood_of_names_does_not_free_the_one_that_goes_on(void **state)
{
    (void)state;
    static struct throttle t;
    struct slice bob = { "bob", 3 };
    int64_t now = 5000000;
    for (int i = 0; i < 200000; i++) {
        char name[32];
        snprintf(name, sizeof(name), "user%d", i);
        if (i % 20 == 0)
            throttle_failed(&t, bob, "10.0.0.1", now);
        throttle_failed(&t, slice_text(name), "10.0.0.9", now++);
    }
    assert_true(throttle_wait(&t, bob, "10.0.0.1", now) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_hash_matches_its_password_only),
        cmocka_unit_test(columns_of_the_original_match_and_ask_for_an_upgrade),
        cmocka_unit_test(the_new_hash_counts_once_it_is_there),
        cmocka_unit_test(a_hash_that_would_take_all_memory_is_not_computed),
        cmocka_unit_test(nobody_has_no_password),
        cmocka_unit_test(new_passwords_have_4_to_20_characters),
        cmocka_unit_test(after_five_failures_each_try_waits_twice_as_long),
        cmocka_unit_test(a_flood_of_names_does_not_free_the_one_that_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
