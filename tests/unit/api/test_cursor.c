/* SPDX-License-Identifier: Apache-2.0 */
/* A cursor comes back as it was, for the list that it was made for, and nothing else is taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "api/cursor.h"
#include "api/form.h"

static const unsigned char key[CURSOR_KEY_SIZE] = "a key of the tests";

static uint64_t filter_of(const char *path, const char *query)
{
    struct form f;
    assert_int_equal(form_parse(slice_text(query), slice_text(""), &f, NULL), OK);
    uint64_t filter = cursor_filter(slice_text(path), &f);
    form_done(&f);
    return filter;
}

static void it_comes_back_as_it_was(void **state)
{
    (void)state;
    static const struct cursor cursors[] = {
        { 0, "", 0 },
        { INT64_MIN, "", INT64_MAX },
        { INT64_MAX, "Nightly \xE4\xB8\xAD", INT64_MIN },
        { -1, "x", 9007199254740991 },
    };
    for (size_t i = 0; i < sizeof(cursors) / sizeof(*cursors); i++) {
        char text[CURSOR_SIZE];
        struct cursor c;
        cursor_write(&cursors[i], 7, key, text);
        assert_int_equal(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789-_"),
                         strlen(text));
        assert_int_equal(cursor_read(slice_text(text), 7, key, &c, NULL), OK);
        assert_int_equal(c.number, cursors[i].number);
        assert_int_equal(c.id, cursors[i].id);
        assert_string_equal(c.text, cursors[i].text);
    }
}

static void the_longest_fits_the_contract(void **state)
{
    (void)state;
    struct cursor c = { .number = 1, .id = 2 }, read;
    char text[CURSOR_SIZE];
    memset(c.text, 'x', CURSOR_TEXT_MAX - 1);
    memcpy(c.text + CURSOR_TEXT_MAX - 2, "\xC3\xA9", 2);
    cursor_write(&c, 7, key, text);
    assert_true(strlen(text) <= 512);
    assert_int_equal(cursor_read(slice_text(text), 7, key, &read, NULL), OK);
    assert_string_equal(read.text, c.text);
}

static void a_changed_character_is_refused(void **state)
{
    (void)state;
    struct cursor c = { 5, "name", 6 };
    char text[CURSOR_SIZE];
    cursor_write(&c, 7, key, text);
    for (size_t i = 0; text[i]; i++) {
        struct why why = { "" };
        char was = text[i];
        text[i] = was == 'A' ? 'B' : 'A';
        assert_int_equal(cursor_read(slice_text(text), 7, key, &c, &why), ERR_INVALID);
        assert_non_null(strstr(why.text, "cursor"));
        text[i] = was;
        assert_int_equal(cursor_read(slice_of(text, i), 7, key, &c, NULL), ERR_INVALID);
    }
    assert_int_equal(cursor_read(slice_text(text), 7, key, &c, NULL), OK);
}

static void another_key_or_list_is_refused(void **state)
{
    (void)state;
    static const unsigned char other[CURSOR_KEY_SIZE] = "another key";
    struct cursor c = { 5, "", 6 };
    struct why why = { "" };
    char text[CURSOR_SIZE];
    cursor_write(&c, 7, key, text);
    assert_int_equal(cursor_read(slice_text(text), 7, other, &c, NULL), ERR_INVALID);
    assert_int_equal(cursor_read(slice_text(text), 8, key, &c, &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "other filters"));
}

static void what_is_no_cursor_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "A", "====", "next", "AAAA\xff", "AAAA AAAA" };
    char longer[2 * CURSOR_SIZE];
    struct cursor c;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(cursor_read(slice_text(bad[i]), 7, key, &c, NULL), ERR_INVALID);
    memset(longer, 'A', sizeof(longer));
    assert_int_equal(cursor_read(slice_of(longer, sizeof(longer)), 7, key, &c, NULL), ERR_INVALID);
}

static void a_list_is_its_path_and_filters(void **state)
{
    (void)state;
    uint64_t one = filter_of("/runs", "job=1&outcome=failed");
    assert_true(one == filter_of("/runs", "outcome=failed&job=1"));
    assert_true(one == filter_of("/runs", "limit=5&outcome=failed&cursor=x&job=1&fields=id"));
    assert_true(one != filter_of("/jobs", "job=1&outcome=failed"));
    assert_true(one != filter_of("/runs", "job=1"));
    assert_true(one != filter_of("/runs", "job=1&outcome=failed&outcome=failed"));
    assert_true(one != filter_of("/runs", "job=1&outcome=faile&d"));
    assert_true(filter_of("/runs", "a=bc") != filter_of("/runs", "ab=c"));
}

static void servers_of_one_database_have_one_key(void **state)
{
    (void)state;
    unsigned char one[CURSOR_KEY_SIZE], other[CURSOR_KEY_SIZE];
    cursor_key("token", 42, one);
    cursor_key("token", 42, other);
    assert_memory_equal(one, other, CURSOR_KEY_SIZE);
    cursor_key("token", 43, other);
    assert_memory_not_equal(one, other, CURSOR_KEY_SIZE);
    cursor_key("tokens", 42, other);
    assert_memory_not_equal(one, other, CURSOR_KEY_SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_comes_back_as_it_was),
        cmocka_unit_test(the_longest_fits_the_contract),
        cmocka_unit_test(a_changed_character_is_refused),
        cmocka_unit_test(another_key_or_list_is_refused),
        cmocka_unit_test(what_is_no_cursor_is_refused),
        cmocka_unit_test(a_list_is_its_path_and_filters),
        cmocka_unit_test(servers_of_one_database_have_one_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
