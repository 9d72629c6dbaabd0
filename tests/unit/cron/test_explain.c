/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules in words: 200 expressions in three languages (tests/vectors/cron-explain.tsv), the
 * other types, and single fields. */
#include "support_vectors.h"
#include "base/mem.h"
#include "cron/explain.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static int failures;

static struct cron parsed(struct slice text)
{
    struct cron c;
    struct why why = { { 0 } };
    if (cron_parse(text, 2126, &c, &why))
        fail_msg("%.*s: %s", (int)text.n, text.p, why.text);
    return c;
}

static void same_words(struct vector *v)
{
    struct cron c = parsed(v->column[0]);
    for (int lang = 0; lang < LANGUAGES; lang++) {
        struct buf out = BUF_INIT(EXPLAIN_MAX);
        cron_explain(&c, (enum language)lang, &out);
        if (!slice_eq(v->column[1 + lang], buf_str(&out)) && failures++ < 20)
            print_error("line %d: want %.*s\n  got  %s\n", v->line, (int)v->column[1 + lang].n,
                        v->column[1 + lang].p, buf_str(&out));
        assert_true(utf8_valid(out.data, out.len) && !out.failed);
        buf_done(&out);
    }
}

static void expressions_read_in_three_languages(void **state)
{
    (void)state;
    failures = 0;
    vectors_each("cron-explain.tsv", 200, same_words);
    assert_int_equal(failures, 0);
}

struct typed {
    const char *type, *conf, *words[LANGUAGES];
};

static const struct typed types[] = {
    { "NONE",
      "",
      { "Never by itself: runs are started by hand, by another job or through the API.",
        "不会自动触发：由人工、其他任务或 API 启动。",
        "不會自動觸發：由人工、其他工作或 API 啟動。" } },
    { "CRON",
      "0 30 2 ? * SUN-FRI",
      { "At 02:30, every day except Saturday, in Europe/Berlin.",
        "每天（周六除外）02:30 触发（Europe/Berlin 时间）。",
        "每天（週六除外）02:30 觸發（Europe/Berlin 時間）。" } },
    { "FIX_RATE", "30", { "Every 30 seconds.", "每 30 秒触发一次。", "每 30 秒觸發一次。" } },
    { "FIX_RATE", "3600", { "Every hour.", "每 1 小时触发一次。", "每 1 小時觸發一次。" } },
    { "FIX_RATE",
      "250ms",
      { "Every 250 milliseconds.", "每 250 毫秒触发一次。", "每 250 毫秒觸發一次。" } },
    { "FIX_RATE",
      "90061",
      { "Every 1 day 1 hour 1 minute 1 second.", "每 1 天 1 小时 1 分钟 1 秒触发一次。",
        "每 1 天 1 小時 1 分鐘 1 秒觸發一次。" } },
    { "FIX_DELAY",
      "60",
      { "1 minute after the end of each run.", "每次运行结束 1 分钟后触发。",
        "每次執行結束 1 分鐘後觸發。" } },
    { "ONCE",
      "2030-01-31T08:30:05+08:00",
      { "Once, on 31 January 2030 at 01:30:05, in Europe/Berlin.",
        "只在 2030 年 1 月 31 日 01:30:05 触发一次（Europe/Berlin 时间）。",
        "只在 2030 年 1 月 31 日 01:30:05 觸發一次（Europe/Berlin 時間）。" } },
};

static void types_read_in_three_languages(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(types); i++) {
        struct schedule s;
        struct why why = { { 0 } };
        struct zone *zone = vector_zone(slice_text("Europe/Berlin"));
        assert_int_equal(schedule_parse(slice_text(types[i].type), slice_text(types[i].conf), zone,
                                        DST_SMART, 2126, &s, &why),
                         OK);
        for (int lang = 0; lang < LANGUAGES; lang++) {
            struct buf out = BUF_INIT(EXPLAIN_MAX);
            schedule_explain(&s, (enum language)lang, &out);
            assert_string_equal(buf_str(&out), types[i].words[lang]);
            buf_done(&out);
        }
        schedule_done(&s);
    }
}

struct field_case {
    const char *text;
    enum cron_field field;
    const char *words[LANGUAGES];
};

static const struct field_case fields[] = {
    { "0 30 2 ? * SUN-FRI", FIELD_SECOND, { "at second 0", "第 0 秒", "第 0 秒" } },
    { "0 30 2 ? * SUN-FRI", FIELD_HOUR, { "at 02", "02 点", "02 點" } },
    { "0 30 2 ? * SUN-FRI",
      FIELD_DAY,
      { "any, the weekday decides", "不限，由星期决定", "不限，由星期決定" } },
    { "0 30 2 ? * SUN-FRI",
      FIELD_WEEKDAY,
      { "every day except Saturday", "每天（周六除外）", "每天（週六除外）" } },
    { "0 0/15 9-17 1,L 6 ? 2027",
      FIELD_MINUTE,
      { "every 15 minutes from 0 to 45", "从 0 到 45，每 15 分钟", "從 0 到 45，每 15 分鐘" } },
    { "0 0/15 9-17 1,L 6 ? 2027", FIELD_HOUR, { "at 9 to 17", "9 至 17 点", "9 到 17 點" } },
    { "0 0/15 9-17 1,L 6 ? 2027",
      FIELD_DAY,
      { "the 1st and the last day", "1 日和最后一天", "1 日和最後一天" } },
    { "0 0/15 9-17 1,L 6 ? 2027", FIELD_MONTH, { "in June", "6 月", "6 月" } },
    { "0 0/15 9-17 1,L 6 ? 2027",
      FIELD_WEEKDAY,
      { "any, the day of the month decides", "不限，由日期决定", "不限，由日期決定" } },
    { "0 0/15 9-17 1,L 6 ? 2027", FIELD_YEAR, { "in 2027", "2027 年", "2027 年" } },
    { "* * * ? * 6#3", FIELD_SECOND, { "every second", "每秒", "每秒" } },
    { "* * * ? * 6#3", FIELD_WEEKDAY, { "the third Friday", "第三个星期五", "第三個星期五" } },
};

static void fields_read_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(fields); i++) {
        struct cron c = parsed(slice_text(fields[i].text));
        for (int lang = 0; lang < LANGUAGES; lang++) {
            struct buf out = BUF_INIT(EXPLAIN_MAX);
            cron_explain_field(&c, fields[i].field, (enum language)lang, &out);
            assert_string_equal(buf_str(&out), fields[i].words[lang]);
            buf_done(&out);
        }
    }
}

static void languages_have_names(void **state)
{
    (void)state;
    enum language lang = LANGUAGE_EN;
    assert_true(language_find(slice_text("zh-TW"), &lang));
    assert_int_equal(lang, LANGUAGE_ZH_TW);
    assert_string_equal(language_name(lang), "zh-TW");
    assert_false(language_find(slice_text("fr"), &lang));
    assert_int_equal(lang, LANGUAGE_ZH_TW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_read_in_three_languages),
        cmocka_unit_test(types_read_in_three_languages),
        cmocka_unit_test(fields_read_alone),
        cmocka_unit_test(languages_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
