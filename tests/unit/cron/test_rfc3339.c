/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "cron/civil.h"
#include "cron/rfc3339.h"
#include "support_vectors.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

static void good_times_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {
        { "1970-01-01T00:00:00Z", 0 },
        { "1970-01-01t00:00:00z", 0 },
        { "1970-01-01 00:00:00+00:00", 0 },
        { "1970-01-01T00:00:00-00:00", 0 },
        { "1970-01-01T08:30:00+08:30", 0 },
        { "1969-12-31T23:59:59.999Z", -1 },
        { "1970-01-01T00:00:00.1Z", 100 },
        { "1970-01-01T00:00:00.123456789Z", 123 },
        { "2016-12-31T23:59:60Z", 1483228800000 },
        { "2024-02-29T12:00:00-05:00", 1709226000000 },
        { "0000-01-01T00:00:00Z", -62167219200000 },
        { "9999-12-31T23:59:59Z", 253402300799000 },
    };
    for (size_t i = 0; i < countof(good); i++) {
        int64_t ms;
        struct why why = { { 0 } };
        if (rfc3339_parse(slice_text(good[i].text), &ms, &why) || ms != good[i].ms)
            fail_msg("%s: %s", good[i].text, why.text);
    }
}

static void bad_times_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "2024",
        "2024-02-29",
        "2024-02-29T12:00:00",
        "2024-02-29T12:00Z",
        "2024-02-29T12:00:00Zx",
        "2024-02-29T12:00:00 Z",
        "2023-02-29T12:00:00Z",
        "2024-00-10T12:00:00Z",
        "2024-13-10T12:00:00Z",
        "2024-01-00T12:00:00Z",
        "2024-01-01T24:00:00Z",
        "2024-01-01T00:60:00Z",
        "2024-01-01T00:00:61Z",
        "2024-01-01T00:00:00.Z",
        "2024-01-01T00:00:00.1234567890Z",
        "2024-01-01T00:00:00+24:00",
        "2024-01-01T00:00:00+08:60",
        "2024-01-01T00:00:00+0800",
        "2024-1-1T00:00:00Z",
        "+2024-01-01T00:00:00Z",
        "20240101T000000Z",
    };
    for (size_t i = 0; i < countof(bad); i++) {
        int64_t ms = 7;
        struct why why = { { 0 } };
        if (rfc3339_parse(slice_text(bad[i]), &ms, &why) != ERR_INVALID || ms != 7 || !*why.text)
            fail_msg("%s is read", bad[i]);
    }
}

static void scheduled_times_are_written_with_the_zones_offset(void **state)
{
    (void)state;
    char text[RFC3339_SIZE];
    struct zone *ny = vector_zone(slice_text("America/New_York"));
    struct zone *kathmandu = vector_zone(slice_text("Asia/Kathmandu"));
    struct zone *monrovia = vector_zone(slice_text("Africa/Monrovia"));
    assert_string_equal(rfc3339_format(0, zone_utc(), text), "1970-01-01T00:00:00Z");
    assert_string_equal(rfc3339_format(-1, zone_utc(), text), "1969-12-31T23:59:59.999Z");
    assert_string_equal(rfc3339_format(1710054000000, ny, text), "2024-03-10T03:00:00-04:00");
    assert_string_equal(rfc3339_format(1710053999050, ny, text), "2024-03-10T01:59:59.050-05:00");
    assert_string_equal(rfc3339_format(1710054000000, kathmandu, text),
                        "2024-03-10T12:45:00+05:45");
    /* -00:44:30 then: the offset is written as -00:45, and means the same time */
    int64_t ms;
    assert_int_equal(rfc3339_parse(slice_text(rfc3339_format(1000, monrovia, text)), &ms, NULL),
                     OK);
    assert_int_equal(ms, 1000);
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    static const char *const names[] = { "UTC", "America/New_York", "Pacific/Apia",
                                         "Australia/Lord_Howe" };
    for (size_t i = 0; i < countof(names); i++) {
        struct zone *z = vector_zone(slice_text(names[i]));
        for (int64_t ms = -62000000000000; ms < 253000000000000; ms += 77777777777) {
            char text[RFC3339_SIZE];
            int64_t back;
            assert_int_equal(rfc3339_parse(slice_text(rfc3339_format(ms, z, text)), &back, NULL),
                             OK);
            assert_int_equal(back, ms);
        }
        char text[RFC3339_SIZE];
        assert_true(strlen(rfc3339_format(INT64_MAX, z, text)) < RFC3339_SIZE);
        assert_true(strlen(rfc3339_format(INT64_MIN, z, text)) < RFC3339_SIZE);
        assert_true(strlen(walltime_format(INT64_MAX, z, text)) < RFC3339_SIZE);
        assert_true(strlen(walltime_format(INT64_MIN, z, text)) < RFC3339_SIZE);
    }
}

static void wall_times_are_read_and_written_in_a_zone(void **state)
{
    (void)state;
    char text[RFC3339_SIZE];
    struct zone *ny = vector_zone(slice_text("America/New_York"));
    int64_t ms;
    assert_int_equal(walltime_parse(slice_text("2024-03-10 03:00:00"), ny, &ms, NULL), OK);
    assert_int_equal(ms, 1710054000000);
    assert_string_equal(walltime_format(ms, ny, text), "2024-03-10 03:00:00");
    assert_string_equal(walltime_format(ms - 1, ny, text), "2024-03-10 01:59:59");
    /* in the gap: its end; twice: the first pass */
    assert_int_equal(walltime_parse(slice_text("2024-03-10 02:30:00"), ny, &ms, NULL), OK);
    assert_int_equal(ms, 1710054000000);
    assert_int_equal(walltime_parse(slice_text("2024-11-03 01:30:00"), ny, &ms, NULL), OK);
    assert_int_equal(ms, 1730611800000);
    assert_int_equal(walltime_parse(slice_text("2024-11-03T01:30:00"), ny, &ms, NULL), ERR_INVALID);
    assert_int_equal(walltime_parse(slice_text("2024-11-03 01:30:60"), ny, &ms, NULL), ERR_INVALID);
    assert_int_equal(walltime_parse(slice_text("2024-11-03 01:30:00 "), ny, &ms, NULL),
                     ERR_INVALID);
    assert_int_equal(walltime_parse(slice_text("2024-11-03"), ny, &ms, NULL), ERR_INVALID);
    assert_int_equal(wall_year(1704067200000, zone_utc()), 2024);
    assert_int_equal(wall_year(1704067200000, ny), 2023);
}

static void days_and_dates_agree_with_libc_and_each_other(void **state)
{
    (void)state;
    for (int64_t day = -800000; day <= 4000000; day += 1) {
        struct civil c = civil_from_days(day);
        if (civil_to_days(c.year, c.month, c.day) != day || c.month < 1 || c.month > 12 ||
            c.day < 1 || c.day > civil_month_days(c.year, c.month))
            fail_msg("day %lld", (long long)day);
        if (day % 97)
            continue;
        struct tm tm;
        time_t t = (time_t)(day * 86400);
        gmtime_r(&t, &tm);
        if (tm.tm_year + 1900 != c.year || tm.tm_mon + 1 != c.month || tm.tm_mday != c.day ||
            tm.tm_wday != civil_weekday(day))
            fail_msg("day %lld", (long long)day);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_times_are_read),
        cmocka_unit_test(bad_times_are_refused),
        cmocka_unit_test(scheduled_times_are_written_with_the_zones_offset),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(wall_times_are_read_and_written_in_a_zone),
        cmocka_unit_test(days_and_dates_agree_with_libc_and_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
