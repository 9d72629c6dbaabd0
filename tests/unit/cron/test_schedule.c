/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "cron/rfc3339.h"
#include "cron/schedule.h"
#include "support_vectors.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static enum err parse(const char *type, const char *conf, struct schedule *ret, struct why *why)
{
    return schedule_parse(slice_text(type), slice_text(conf), NULL, DST_XXL, 2126, ret, why);
}

static int64_t next(const char *type, const char *conf, int64_t base_ms)
{
    struct schedule s;
    struct why why = { { 0 } };
    if (parse(type, conf, &s, &why))
        fail_msg("%s %s: %s", type, conf, why.text);
    int64_t ms = -1;
    enum err err = schedule_next(&s, base_ms, &ms);
    assert_true(err == OK || err == ERR_NEVER);
    assert_true((err == ERR_NEVER) == (ms == -1));
    schedule_done(&s);
    return ms;
}

static void each_type_has_its_next_scheduled_time(void **state)
{
    (void)state;
    assert_int_equal(next("NONE", "anything", 0), -1);
    assert_int_equal(next("CRON", "0/5 * * * * ?", 1500), 5000);
    assert_int_equal(next("CRON", "0 0 0 30 2 ?", 0), -1);
    assert_int_equal(next("FIX_RATE", "30", 1000), 31000);
    assert_int_equal(next("FIX_RATE", "30", 1001), 32000); /* up to the full second */
    assert_int_equal(next("FIX_RATE", " 30 ", 1999), 32000);
    assert_int_equal(next("FIX_RATE", "30000ms", 1001), 31001);
    assert_int_equal(next("FIX_RATE", "250ms", 1001), 1251);
    assert_int_equal(next("FIX_RATE", "100ms", 0), 100);
    assert_int_equal(next("FIX_RATE", "2147484", 0), 2147484000); /* more than 32 bits of ms */
    assert_int_equal(next("FIX_RATE", "1", -1500), 0);
    assert_int_equal(next("FIX_DELAY", "30", 1001), 31001);
    assert_int_equal(next("FIX_DELAY", "250ms", 1001), 1251);
    assert_int_equal(next("FIX_DELAY", "250ms", INT64_MAX), -1);
    assert_int_equal(next("FIX_RATE", "10413792000", 1000), -1); /* beyond 2299 */
    assert_int_equal(next("ONCE", "1970-01-01T00:00:10.5Z", 10499), 10500);
    assert_int_equal(next("ONCE", "1970-01-01T00:00:10.5Z", 10500), -1);
    assert_int_equal(next("ONCE", "1970-01-01T08:00:10+08:00", 0), 10000);
}

static void what_cannot_be_read_is_refused_with_the_rule(void **state)
{
    (void)state;
    static const char *const refused[][3] = {
        { "", "30", "schedule_type: must be NONE, CRON, FIX_RATE, FIX_DELAY or ONCE" },
        { "cron", "* * * * * ?", "schedule_type" },
        { "FIX_RATE", "", "FIX_RATE wants whole seconds such as 30" },
        { "FIX_RATE", "0", "at least 1 second" },
        { "FIX_RATE", "-5", "wants whole seconds" },
        { "FIX_RATE", "+5", "wants whole seconds" },
        { "FIX_RATE", "1.5", "wants whole seconds" },
        { "FIX_RATE", "99ms", "at least 100ms" },
        { "FIX_RATE", "ms", "wants whole seconds" },
        { "FIX_RATE", "30s", "wants whole seconds" },
        { "FIX_DELAY", "99999999999999999999", "FIX_DELAY wants whole seconds" },
        { "FIX_DELAY", "99999999999", "three centuries" },
        { "ONCE", "2030-01-01 00:00:00", "ONCE: bad time: RFC 3339 with an offset" },
        { "ONCE", "2300-01-01T00:00:00Z", "the year must be 1970-2299" },
        { "ONCE", "2030-02-30T00:00:00Z", "that month has no such day" },
        { "CRON", "* * * * * *", "exactly one" },
    };
    for (size_t i = 0; i < countof(refused); i++) {
        struct schedule s;
        struct why why = { { 0 } };
        assert_int_equal(parse(refused[i][0], refused[i][1], &s, &why), ERR_INVALID);
        if (!strstr(why.text, refused[i][2]))
            fail_msg("%s %s: %s", refused[i][0], refused[i][1], why.text);
    }
    char *longest = mem_new(SCHEDULE_CONF_MAX + 2);
    memset(longest, '1', SCHEDULE_CONF_MAX + 1);
    struct schedule s;
    assert_int_equal(parse("FIX_RATE", longest, &s, NULL), ERR_TOOBIG);
    assert_int_equal(parse("NONE", longest, &s, NULL), OK);
    schedule_done(&s);
    free(longest);
}

static void a_schedule_counts_its_zone(void **state)
{
    (void)state;
    struct zone *z = zone_ref(vector_zone(slice_text("Asia/Shanghai")));
    struct schedule a, b;
    assert_int_equal(
        schedule_parse(slice_text("CRON"), slice_text("0 0 9 * * ?"), z, DST_SMART, 2126, &a, NULL),
        OK);
    schedule_copy(&b, &a);
    schedule_done(&a);
    schedule_done(&a);
    zone_unref(z);
    int64_t ms;
    assert_int_equal(schedule_next(&b, 0, &ms), OK);
    assert_int_equal(ms, 3600000); /* 09:00 +08:00 */
    schedule_done(&b);
}

static void types_have_names(void **state)
{
    (void)state;
    for (int t = SCHEDULE_NONE; t <= SCHEDULE_ONCE; t++) {
        enum schedule_type found;
        const char *name = schedule_type_name((enum schedule_type)t);
        assert_true(schedule_type_find(slice_text(name), &found));
        assert_int_equal(found, t);
    }
    enum schedule_type found;
    assert_false(schedule_type_find(slice_text("Cron"), &found));
    enum dst_policy dst;
    assert_true(dst_policy_find(slice_text("xxl"), &dst) && dst == DST_XXL);
    assert_true(dst_policy_find(slice_text("smart"), &dst) && dst == DST_SMART);
    assert_false(dst_policy_find(slice_text("SMART"), &dst));
}

/* ---- many scheduled times counted at once, against a look at each
 * ------------------------------------ */

static void check_leaps(const struct schedule *s, int64_t from_ms, int64_t until_ms, int least)
{
    int64_t at, last = 0, counted = 0, looked = 0, leapt = 0, newest = 0;
    if (schedule_next(s, from_ms, &at))
        return;
    for (int64_t ms = at; ms < until_ms && !schedule_next(s, ms, &ms);)
        looked++;
    while (at < until_ms) {
        int64_t n = schedule_leap(s, at, until_ms, least, &last);
        if (n) {
            assert_true(n >= 2 && last > at && last < until_ms);
            assert_true(s->type == SCHEDULE_FIX_RATE || n >= least);
            leapt = at;
            newest = 0;
        } else {
            newest++;
            last = at;
        }
        counted += n ? n : 1;
        if (schedule_next(s, last, &at))
            break;
    }
    assert_int_equal(counted, looked);
    if (leapt && newest < least) /* else the newest could not be told */
        assert_int_equal(s->type, SCHEDULE_CRON);
}

static void leaps_count_what_looking_counts(void **state)
{
    (void)state;
    static const char *const confs[] = {
        "* * * * * ?",      "0/5 * * * * ?",   "0 * * * * ?",         "0/10 3-7 8-18 ? * MON-FRI",
        "30 0/15 * * * ?",  "* * 2 * * ?",     "59 59 23 * * ?",      "0 0 12 L * ?",
        "* 0 0 1 * ?",      "1,2,3 4 5 * * ?", "0-58/2 * 0-23 ? * 1", "* * * 29 2 ?",
        "7 7/7 1/3 * * ? *"
    };
    static const char *const zones[] = { "UTC", "Europe/Berlin", "Australia/Lord_Howe",
                                         "Asia/Shanghai" };
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < countof(confs) * countof(zones) * 2; i++) {
        struct schedule s;
        struct why why = { { 0 } };
        enum dst_policy dst = i % 2 ? DST_SMART : DST_XXL;
        struct zone *z = vector_zone(slice_text(zones[i / 2 % countof(zones)]));
        const char *conf = confs[i / 2 / countof(zones)];
        assert_int_equal(
            schedule_parse(slice_text("CRON"), slice_text(conf), z, dst, 2126, &s, &why), OK);
        for (int k = 0; k < 6; k++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            int64_t from = 1740700800000 + (int64_t)(x % 40000000) * 1000;
            if (k < 2) /* across a change of the clocks in Berlin and Lord Howe */
                from = 1743200000000 + k * 450000000;
            static const int leasts[] = { 0, 1, 7, 100 };
            check_leaps(&s, from, from + 3 * 86400000 + (int64_t)(x % 7777777), leasts[k % 4]);
        }
        schedule_done(&s);
    }
    static const char *const rates[] = { "1", "30", "100ms", "250ms", "999", "86400" };
    for (size_t i = 0; i < countof(rates); i++) {
        struct schedule s;
        struct why why = { { 0 } };
        assert_int_equal(parse("FIX_RATE", rates[i], &s, &why), OK);
        for (int64_t from = 1740700800000; from < 1740700803000; from += 317)
            for (int least = 0; least <= 100; least += 50)
                check_leaps(&s, from, from + 40000000 + from % 977, least);
        schedule_done(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_has_its_next_scheduled_time),
        cmocka_unit_test(leaps_count_what_looking_counts),
        cmocka_unit_test(what_cannot_be_read_is_refused_with_the_rule),
        cmocka_unit_test(a_schedule_counts_its_zone),
        cmocka_unit_test(types_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
