/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of a log row: complete, harmless, and never longer than their column's readers expect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "wire/trigger_text.h"

static struct wire_trigger_note note(void)
{
    return (struct wire_trigger_note){
        .kind = slice_text("manual"),
        .center = slice_text("10.0.0.1:8080"),
        .registered = true,
        .address_list = slice_text("http://a:1/,http://b:2/"),
        .route = slice_text("SHARDING_BROADCAST"),
        .sharded = true,
        .shard = 1,
        .shard_total = 2,
        .block = slice_text("COVER_EARLY"),
        .timeout_s = 30,
        .retries = 3,
        .address = slice_text("http://b:2/"),
        .handler = slice_text("demo"),
        .code = 500,
        .msg = slice_text("<b>no</b>"),
        .scheduled_ms = 1700000000123,
    };
}

/* The row's time is the last line. */
static bool ends_with_moment(struct buf *message)
{
    static const char last[] = "<br>moment：1700000000123";
    size_t n = strlen(last);
    return message->len > n && strcmp(buf_str(message) + message->len - n, last) == 0;
}

static void every_fact_has_its_line(void **state)
{
    (void)state;
    struct wire_trigger_note n = note();
    struct buf en = BUF_INIT(1 << 20), zh = BUF_INIT(1 << 20);
    wire_trigger_message(&en, WIRE_LANG_EN, &n);
    wire_trigger_message(&zh, WIRE_LANG_ZH_CN, &n);
    static const char *const facts[] = { "：by hand<br>",
                                         "：10.0.0.1:8080<br>",
                                         "：registry<br>",
                                         "：[http://a:1/, http://b:2/]<br>",
                                         "：sharding broadcast(1/2)<br>",
                                         "：replace the earlier<br>",
                                         "：30<br>",
                                         "：3<br>",
                                         "：http://b:2/<br>",
                                         "：demo<br>",
                                         "：500<br>",
                                         "：&lt;b&gt;no&lt;/b&gt;<br>" };
    const char *at = buf_str(&en);
    for (size_t i = 0; i < countof(facts); i++) {
        at = strstr(at, facts[i]);
        if (!at)
            fail_msg("%s is missing in %s", facts[i], buf_str(&en));
    }
    assert_non_null(strstr(buf_str(&zh), "触发类型：手动触发<br>"));
    assert_non_null(strstr(buf_str(&zh), "分片广播(1/2)<br>"));
    assert_true(ends_with_moment(&en));
    assert_true(ends_with_moment(&zh));
    buf_done(&en);
    buf_done(&zh);
}

static void names_nobody_knows_are_shown_escaped(void **state)
{
    (void)state;
    struct wire_trigger_note n = { .kind = slice_text("<kind>"),
                                   .route = slice_text("R&D"),
                                   .block = slice_text("'") };
    struct buf b = BUF_INIT(1 << 20);
    wire_trigger_message(&b, WIRE_LANG_EN, &n);
    assert_non_null(strstr(buf_str(&b), "：&lt;kind&gt;<br>"));
    assert_non_null(strstr(buf_str(&b), "：R&amp;D<br>"));
    assert_non_null(strstr(buf_str(&b), "：&#39;<br>"));
    assert_non_null(strstr(buf_str(&b), "：null<br>"));
    buf_done(&b);
}

/* No "<" without ">" and no "&" without ";" at the end of what was kept. */
static void assert_whole(struct slice html)
{
    size_t open = 0;
    for (size_t i = 0; i < html.n; i++) {
        if (html.p[i] == '<' || html.p[i] == '&')
            open = i + 1;
        if (html.p[i] == '>' || html.p[i] == ';')
            open = 0;
    }
    assert_int_equal(open, 0);
}

static void a_long_message_is_cut_and_keeps_its_scheduled_time(void **state)
{
    (void)state;
    static char big[200000];
    static const char *const fills[] = { "<", "x", "\n", "中", "😀" };
    for (size_t f = 0; f < countof(fills); f++) {
        size_t len = strlen(fills[f]);
        for (size_t i = 0; i + len <= sizeof(big); i += len)
            memcpy(big + i, fills[f], len);
        struct slice all = slice_of(big, sizeof(big) / len * len);
        for (size_t more = 0; more < 8; more++) {
            struct wire_trigger_note n = note();
            n.handler = slice_of("aaaaaaaa", more);
            n.address_list = n.report = n.msg = all;
            struct buf b = BUF_INIT(4 << 20);
            wire_trigger_message(&b, WIRE_LANG_EN, &n);
            assert_true(utf8_units(b.data, b.len) <= WIRE_MESSAGE_UNITS);
            assert_true(utf8_units(b.data, b.len) > WIRE_MESSAGE_UNITS - 60);
            assert_true(utf8_valid(b.data, b.len));
            assert_whole(slice_of(b.data, b.len));
            assert_true(ends_with_moment(&b));
            buf_done(&b);
        }
    }
}

static void handle_messages_are_merged_and_cut(void **state)
{
    (void)state;
    static char big[WIRE_MESSAGE_UNITS * 4];
    static const struct {
        const char *old, *add, *want;
    } cases[] = {
        { "", "", "" },
        { "a", "", "a" },
        { "", "b", "b" },
        { "a", "b", "a<br>b" },
        { "a<br>b", "<i>", "a<br>b<br><i>" },
    };
    struct buf b = BUF_INIT(1 << 20);
    for (size_t i = 0; i < countof(cases); i++) {
        buf_reset(&b);
        wire_handle_message(&b, slice_text(cases[i].old), slice_text(cases[i].add));
        assert_string_equal(buf_str(&b), cases[i].want);
    }
    buf_reset(&b);
    wire_handle_message(&b, slice_of("\0a", 2), slice_of("b\0", 2));
    assert_string_equal(buf_str(&b), "\xEF\xBF\xBD"
                                     "a<br>b\xEF\xBF\xBD");
    for (size_t i = 0; i < sizeof(big); i += 4)
        memcpy(big + i, "😀", 4);
    for (size_t odd = 0; odd < 2; odd++) {
        buf_reset(&b);
        wire_handle_message(&b, slice_of("x", odd), slice_of(big, sizeof(big)));
        assert_true(utf8_units(b.data, b.len) <= WIRE_MESSAGE_UNITS);
        assert_true(utf8_units(b.data, b.len) >= WIRE_MESSAGE_UNITS - 1);
        assert_true(utf8_valid(b.data, b.len));
    }
    buf_done(&b);
}

static void text_of_strangers_becomes_harmless(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(4096);
    wire_html(&b, slice_of("<a href='x'>\"&\r\n\0\xff\xC3\xA9", 20));
    assert_string_equal(buf_str(&b), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;<br>\xEF\xBF\xBD"
                                     "\xEF\xBF\xBD\xC3\xA9");
    buf_done(&b);
    enum wire_lang lang = WIRE_LANG_EN;
    assert_true(wire_lang_of(slice_text("zh_CN"), &lang) && lang == WIRE_LANG_ZH_CN);
    assert_true(wire_lang_of(slice_text("en"), &lang) && lang == WIRE_LANG_EN);
    assert_false(wire_lang_of(slice_text("fr"), &lang));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fact_has_its_line),
        cmocka_unit_test(names_nobody_knows_are_shown_escaped),
        cmocka_unit_test(a_long_message_is_cut_and_keeps_its_scheduled_time),
        cmocka_unit_test(handle_messages_are_merged_and_cut),
        cmocka_unit_test(text_of_strangers_becomes_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
