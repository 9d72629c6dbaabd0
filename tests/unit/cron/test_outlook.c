/* SPDX-License-Identifier: Apache-2.0 */
/* Counting against firing one by one, around every kind of clock change; remarks by rows. */
#include "support_vectors.h"
#include "base/buf.h"
#include "base/mem.h"
#include "cron/outlook.h"
#include "cron/rfc3339.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct schedule made(const char *type, const char *conf, const char *zone, const char *dst)
{
    struct schedule s;
    struct why why = { { 0 } };
    enum dst_policy policy;
    assert_true(dst_policy_find(slice_text(dst), &policy));
    if (schedule_parse(slice_text(type), slice_text(conf), vector_zone(slice_text(zone)), policy,
                       2126, &s, &why))
        fail_msg("%s %s: %s", type, conf, why.text);
    return s;
}

static int64_t one_by_one(const struct schedule *s, int64_t from_ms, int64_t until_ms)
{
    int64_t n = 0;
    for (int64_t ms = from_ms - 1; !schedule_next(s, ms, &ms) && ms < until_ms;)
        n++;
    return n;
}

static void count_days(const char *conf, const char *zone, const char *dst, const char *from)
{
    struct schedule s = made("CRON", conf, zone, dst);
    int64_t begin = vector_ms(slice_text(from)), first;
    for (int i = 0; i < 4 * 24; i++) { /* four days, cut where the hours begin */
        int64_t a = begin + i * (int64_t)3600000, b = a + (i % 5 + 1) * (int64_t)7200000 + 1;
        if (schedule_next(&s, a - 1, &first))
            first = b;
        if (schedule_count(&s, first, a, b) != one_by_one(&s, a, b))
            fail_msg("%s in %s under %s from %lld to %lld: %lld, one by one %lld", conf, zone, dst,
                     (long long)a, (long long)b, (long long)schedule_count(&s, first, a, b),
                     (long long)one_by_one(&s, a, b));
    }
    schedule_done(&s);
}

static void counts_are_those_of_firing_one_by_one(void **state)
{
    (void)state;
    static const char *const expressions[] = {
        "0 30 2 * * ?",   "0 0/7 * * * ?", "0 0/20 2 * * ?", "0 0 2,3 * * ?",     "17 5 0-3 * * ?",
        "0 30 1,2 * * ?", "0 0 0 * * ?",   "0 0 9 ? * MON",  "0/30 15 1-3 * * ?", "0 0 3 * * ?",
    };
    static const char *const changes[][2] = {
        { "America/New_York", "2024-03-08T12:00:00.000Z" },
        { "America/New_York", "2024-11-01T12:00:00.000Z" },
        { "Europe/Berlin", "2027-03-26T12:00:00.000Z" },
        { "Europe/Berlin", "2027-10-29T12:00:00.000Z" },
        { "Australia/Lord_Howe", "2027-04-02T00:00:00.000Z" },
        { "Australia/Lord_Howe", "2027-10-01T00:00:00.000Z" },
        { "Pacific/Apia", "2011-12-28T12:00:00.000Z" },
        { "Asia/Shanghai", "2026-02-27T12:00:00.000Z" },
    };
    for (size_t i = 0; i < countof(changes); i++)
        for (size_t k = 0; k < countof(expressions); k++) {
            count_days(expressions[k], changes[i][0], "smart", changes[i][1]);
            count_days(expressions[k], changes[i][0], "xxl", changes[i][1]);
        }
}

static void rates_are_counted_by_division(void **state)
{
    (void)state;
    struct schedule s = made("FIX_RATE", "250ms", "UTC", "smart");
    int64_t first;
    assert_int_equal(schedule_next(&s, 1000000000130, &first), OK);
    assert_int_equal(schedule_count(&s, first, 1000000000130, 1000000000130 + 86400000),
                     345600 - 1);
    assert_int_equal(schedule_count(&s, first, 1000000010000, 1000000011000), 4);
    schedule_done(&s);
    s = made("ONCE", "2030-01-31T08:30:00Z", "UTC", "smart");
    assert_int_equal(schedule_count(&s, s.once_ms, s.once_ms, s.once_ms + 1), 1);
    assert_int_equal(schedule_count(&s, s.once_ms, s.once_ms - 5, s.once_ms), 0);
    schedule_done(&s);
}

struct remark_row {
    const char *type, *conf, *zone, *dst;
    const char *said; /* from 2026-11-22, one year */
};

static const struct remark_row rows[] = {
    { "CRON", "0 0 9 * * ?", "Europe/Berlin", "smart", "" },
    { "CRON", "0 30 2 ? * SUN-FRI", "Europe/Berlin", "smart",
      "gap 2027-03-28 02:30:00 at 03:00:00; overlap 2027-10-31 02:30:00 first; " },
    { "CRON", "0 30 2 * * ?", "Europe/Berlin", "xxl",
      "gap 2027-03-28 02:30:00; overlap 2027-10-31 02:30:00 second; " },
    { "CRON", "0 0/5 * * * ?", "Europe/Berlin", "smart", "" },
    { "CRON", "0 30 2 * * ?", "Asia/Shanghai", "smart", "" },
    { "CRON", "0 0 0 30 2 ?", "UTC", "smart", "never; " },
    { "CRON", "0 0 0 29 2 ?", "UTC", "smart", "leap day; " },
    { "CRON", "0 0 0 29 2 ? 2028", "UTC", "smart", "leap day; " },
    { "CRON", "0 0 0 1 1 ? 2030", "UTC", "smart", "rare; " },
    { "CRON", "0 0 0 1 1 ? */2", "UTC", "smart", "rare; " },
    { "CRON", "0 0 0 1 1 ?", "UTC", "smart", "" },
    { "CRON", "* * * * * ?", "UTC", "smart", "dense 86400; " },
    { "CRON", "0/10 * * * * ?", "UTC", "smart", "" },
    { "FIX_RATE", "1", "UTC", "smart", "dense 86399; " },
    { "FIX_RATE", "10", "UTC", "smart", "" },
    { "FIX_DELAY", "1", "UTC", "smart", "" },
    { "ONCE", "2020-01-31T08:30:00Z", "UTC", "smart", "never; " },
    { "ONCE", "2030-01-31T08:30:00Z", "UTC", "smart", "" },
    { "NONE", "", "UTC", "smart", "" },
};

static void put_wall(struct buf *out, int64_t wall_s, size_t skip)
{
    char text[RFC3339_SIZE];
    walltime_format(wall_s * 1000, zone_utc(), text);
    buf_printf(out, " %s%s", skip ? "at " : "", text + skip);
}

static void put_remark(void *ctx, const struct remark *r)
{
    static const char *const names[] = { "never", "leap day", "rare", "dense", "gap", "overlap" };
    struct buf *out = ctx;
    buf_text(out, names[r->kind]);
    if (r->kind == REMARK_DENSE)
        buf_printf(out, " %lld", (long long)r->count);
    if (r->kind == REMARK_GAP || r->kind == REMARK_OVERLAP) {
        put_wall(out, r->wall_s, 0);
        assert_true(r->at_ms > 0);
    }
    if (r->kind == REMARK_GAP && r->fires_s >= 0)
        put_wall(out, r->fires_s, 11);
    if (r->kind == REMARK_OVERLAP)
        buf_text(out, r->first ? " first" : " second");
    buf_text(out, "; ");
}

static void remarks_name_what_is_unexpected(void **state)
{
    (void)state;
    int64_t from = vector_ms(slice_text("2026-11-22T12:00:00.000Z"));
    for (size_t i = 0; i < countof(rows); i++) {
        struct schedule s = made(rows[i].type, rows[i].conf, rows[i].zone, rows[i].dst);
        struct buf said = BUF_INIT(4096);
        schedule_remarks(&s, from, from + 366 * (int64_t)86400000, put_remark, &said);
        if (strcmp(buf_str(&said), rows[i].said) != 0)
            fail_msg("%s %s: %s", rows[i].type, rows[i].conf, buf_str(&said));
        buf_done(&said);
        schedule_done(&s);
    }
}

static void guesses_can_be_used(void **state)
{
    (void)state;
    static const char *const guesses[][2] = {
        { "*/5 9 * * 1-5", "0 */5 9 ? * 2-6" },
        { "@daily", "0 0 0 * * ?" },
        { "* * * * * *", "* * * * * ?" },
        { "0 0 9 1 * MON", NULL },
        { "@every 5s", NULL },
        { "hello", NULL },
    };
    char to[CRON_TEXT_MAX + 1];
    for (size_t i = 0; i < countof(guesses); i++) {
        bool found = cron_guess(slice_text(guesses[i][0]), 2126, to);
        assert_int_equal(found, guesses[i][1] != NULL);
        if (found)
            assert_string_equal(to, guesses[i][1]);
    }
    assert_true(cron_both_days(slice_text("0 0 9 1 * MON"), 2126));
    assert_false(cron_both_days(slice_text("* * * * * *"), 2126));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_firing_one_by_one),
        cmocka_unit_test(rates_are_counted_by_division),
        cmocka_unit_test(remarks_name_what_is_unexpected),
        cmocka_unit_test(guesses_can_be_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
