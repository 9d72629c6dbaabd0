/* SPDX-License-Identifier: Apache-2.0 */
/* The ground: buffers with a maximum, maps that delete without tombstones, strict numbers, UTF-8
 * boundaries, and a JSON writer that cannot produce invalid JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/dice.h"
#include "base/jsonw.h"
#include "base/map.h"
#include "base/mem.h"

static void a_buffer_refuses_to_pass_its_maximum(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(10);
    buf_text(&b, "12345");
    buf_text(&b, "678901");
    assert_true(b.failed);
    assert_string_equal(buf_str(&b), "12345");
    buf_reset(&b);
    buf_text(&b, "1234567890");
    assert_false(b.failed);
    buf_eat(&b, 9);
    assert_string_equal(buf_str(&b), "0");
    buf_i64(&b, INT64_MIN);
    assert_true(b.failed);
    buf_done(&b);
}

static void a_map_behaves_like_a_plain_array(void **state)
{
    (void)state;
    static char model[512];
    struct map m;
    map_init(&m);
    struct dice d = { 7 };
    memset(model, 0, sizeof(model));
    for (int step = 0; step < 200000; step++) {
        uint64_t key = dice_below(&d, 512);
        if (dice_below(&d, 2)) {
            map_set(&m, key, &model[key]);
            model[key] = 1;
        } else {
            void *v = map_take(&m, key);
            assert_ptr_equal(v, model[key] ? &model[key] : NULL);
            model[key] = 0;
        }
    }
    size_t n = 0;
    for (size_t i = 0; i < 512; i++) {
        assert_ptr_equal(map_find(&m, i), model[i] ? &model[i] : NULL);
        n += (size_t)model[i];
    }
    assert_int_equal(n, m.len);
    map_done(&m);
}

static void a_textmap_copies_its_keys(void **state)
{
    (void)state;
    struct textmap m;
    textmap_init(&m);
    char key[16];
    static int values[1000];
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        assert_null(textmap_set(&m, slice_text(key), &values[i]));
    }
    for (int i = 0; i < 1000; i += 2) {
        snprintf(key, sizeof(key), "k%d", i);
        assert_ptr_equal(textmap_take(&m, slice_text(key)), &values[i]);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        assert_ptr_equal(textmap_find(&m, slice_text(key)), i % 2 ? &values[i] : NULL);
    }
    textmap_done(&m);
}

static void numbers_are_whole_or_refused(void **state)
{
    (void)state;
    int64_t v = 0;
    assert_true(parse_i64(slice_text("-9223372036854775808"), &v) && v == INT64_MIN);
    assert_true(parse_i64(slice_text("9223372036854775807"), &v) && v == INT64_MAX);
    const char *bad[] = { "", "-", "+1", " 1", "1 ", "9223372036854775808", "0x1", "1.0" };
    for (size_t i = 0; i < countof(bad); i++)
        assert_false(parse_i64(slice_text(bad[i]), &v));
}

static void text_is_cut_between_characters(void **state)
{
    (void)state;
    const char *t = "a\xE4\xB8\xAD\xF0\x9F\x98\x80";
    const size_t want[] = { 0, 1, 1, 1, 4, 4, 4, 4, 8 };
    for (size_t max = 0; max <= 8; max++)
        assert_int_equal(utf8_cut(t, 8, max), want[max]);
    assert_int_equal(utf8_units(t, 8), 4);
    assert_true(slice_eq(slice_of(NULL, 0), "") && slice_eq_nocase(slice_of(NULL, 0), ""));
    static const char four[] = "a\xF0\x9F\x98\x80\xE4\xB8\xAD"; /* 1 + 2 + 1 code units */
    static const size_t bytes[] = { 0, 1, 1, 5, 8, 8 };
    for (size_t units = 0; units < 6; units++)
        assert_int_equal(utf8_cut_units(four, 8, units), bytes[units]);
    assert_true(utf8_valid(t, 8));
    assert_false(utf8_valid("\xED\xA0\x80", 3));
    assert_false(utf8_valid("\xC0\x80", 2));
}

/* The pieces between commas and the items of a list, each in angle brackets. */
static void cut_all(struct slice rest, struct buf *pieces, struct buf *items)
{
    struct slice one, list = rest;
    buf_reset(pieces);
    buf_reset(items);
    while (slice_cut(&rest, ',', &one))
        buf_printf(pieces, "<%.*s>", (int)one.n, one.p);
    while (slice_item(&list, &one))
        buf_printf(items, "<%.*s>", (int)one.n, one.p);
}

static void lists_are_cut_at_commas(void **state)
{
    (void)state;
    static const struct {
        const char *text, *pieces, *items;
    } rows[] = {
        { "a", "<a>", "<a>" },  { "a, b ,,c", "<a>< b ><><c>", "<a><b><c>" },
        { "a,", "<a>", "<a>" }, { ", ,", "<>< >", "" },
        { "", "", "" },
    };
    struct buf pieces = BUF_INIT(100), items = BUF_INIT(100);
    for (size_t i = 0; i < countof(rows); i++) {
        cut_all(slice_text(rows[i].text), &pieces, &items);
        assert_string_equal(buf_str(&pieces), rows[i].pieces);
        assert_string_equal(buf_str(&items), rows[i].items);
    }
    cut_all(slice_text(NULL), &pieces, &items);
    assert_true(pieces.len == 0 && items.len == 0);
    buf_done(&pieces);
    buf_done(&items);
    assert_true(slice_has_item(slice_text("a, b ,,c"), slice_text("b")));
    assert_true(slice_has_item(slice_text("a, b ,,c"), slice_text("c")));
    assert_false(slice_has_item(slice_text("a, b ,,c"), slice_text("")));
    assert_false(slice_has_item(slice_text("ab"), slice_text("a")));
    assert_false(slice_has_item(slice_text(NULL), slice_text("a")));
}

static void json_is_valid_whatever_the_bytes(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(4096);
    struct jsonw w = jsonw_on(&b);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "a", "q\"\\\n\t\x01\xFF\xE4\xB8\xAD");
    jsonw_array(&w, "l");
    jsonw_i64(&w, NULL, -5);
    jsonw_bool(&w, NULL, true);
    jsonw_array_end(&w);
    jsonw_null(&w, "n");
    jsonw_object_end(&w);
    assert_string_equal(buf_str(&b), "{\"a\":\"q\\\"\\\\\\n\\t\\u0001\xEF\xBF\xBD\xE4\xB8\xAD\","
                                     "\"l\":[-5,true],\"n\":null}");
    buf_done(&b);
}

static void a_map_is_emptied_by_taking_any(void **state)
{
    (void)state;
    struct map m;
    int values[500], *v;
    map_init(&m);
    for (int i = 0; i < 500; i++) {
        values[i] = i;
        map_set(&m, (uint64_t)i * 7919, &values[i]);
    }
    int taken = 0;
    for (size_t i = 0; (v = map_any(&m, &i)); taken++)
        assert_ptr_equal(map_take(&m, (uint64_t)*v * 7919), v);
    assert_int_equal(taken, 500);
    assert_int_equal(m.len, 0);
    map_done(&m);
}

static void hexadecimal_digits_of_either_case(void **state)
{
    (void)state;
    unsigned char bytes[256];
    char text[513];
    for (int i = 0; i < 256; i++)
        bytes[i] = (unsigned char)i;
    hex_text(bytes, sizeof(bytes), text);
    assert_int_equal(strlen(text), 512);
    for (int i = 0; i < 256; i++)
        assert_int_equal(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]), i);
    int digits = 0;
    for (int c = -128; c < 128; c++)
        digits += hex_digit((char)c) >= 0;
    assert_int_equal(digits, 22);
    assert_int_equal(hex_digit('F'), 15);
}

/* Each code point as UTF-8, and read again by the strict reader. */
static void every_character_is_written_as_it_is_read(void **state)
{
    (void)state;
    char bytes[5] = "";
    for (unsigned code = 0; code < 0x110000; code++) {
        if (code == 0xD800)
            code = 0xE000;
        size_t n = utf8_put(bytes, code);
        assert_int_equal(n, code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
        assert_int_equal(utf8_char(bytes, n), n);
        for (size_t less = 1; less < n; less++)
            assert_int_equal(utf8_char(bytes, less), 0);
    }
    assert_int_equal(utf8_put(bytes, 0x20AC), 3);
    assert_memory_equal(bytes, "\xE2\x82\xAC", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_refuses_to_pass_its_maximum),
        cmocka_unit_test(a_map_behaves_like_a_plain_array),
        cmocka_unit_test(a_map_is_emptied_by_taking_any),
        cmocka_unit_test(a_textmap_copies_its_keys),
        cmocka_unit_test(numbers_are_whole_or_refused),
        cmocka_unit_test(text_is_cut_between_characters),
        cmocka_unit_test(hexadecimal_digits_of_either_case),
        cmocka_unit_test(every_character_is_written_as_it_is_read),
        cmocka_unit_test(lists_are_cut_at_commas),
        cmocka_unit_test(json_is_valid_whatever_the_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
