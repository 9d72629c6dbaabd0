/* SPDX-License-Identifier: Apache-2.0 */
/* Minutes and seconds of a schedule against firing one by one, over changes of the clock too. */
#include "support_vectors.h"
#include "base/mem.h"
#include "cron/minutes.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

enum { MINUTES = 1500 };

struct row {
    const char *type, *conf, *zone;
};

static const struct row rows[] = {
    { "CRON", "0 30 2 * * ?", "Europe/Berlin" },
    { "CRON", "0/10 0/7 * * * ?", "Europe/Berlin" },
    { "CRON", "* * * * * ?", "Europe/Berlin" },
    { "CRON", "7,11 5 1-3 ? * SUN", "Europe/Berlin" },
    { "CRON", "0 0 0 30 2 ?", "UTC" },
    { "FIX_RATE", "7", "UTC" },
    { "FIX_RATE", "3600", "UTC" },
    { "FIX_RATE", "86400", "UTC" },
    { "FIX_DELAY", "90", "UTC" },
    { "ONCE", "2027-03-28T03:04:05Z", "UTC" },
    { "ONCE", "2027-05-28T03:04:05Z", "UTC" },
    { "NONE", "", "UTC" },
};

static void one_by_one(const struct schedule *s, int64_t ms, int64_t from_ms, int32_t *counts,
                       uint64_t *seconds)
{
    while (!schedule_next(s, ms, &ms) && ms < from_ms + MINUTES * MINUTE_MS) {
        counts[(ms - from_ms) / MINUTE_MS]++;
        seconds[(ms - from_ms) / MINUTE_MS] |= (uint64_t)1 << ((ms - from_ms) % MINUTE_MS / 1000);
    }
}

static void check(const struct row *row, const char *from)
{
    struct schedule s;
    int64_t from_ms = vector_ms(slice_text(from)), first_ms;
    static int32_t counts[MINUTES], want[MINUTES];
    static uint64_t seconds[MINUTES];
    memset(counts, 0, sizeof(counts));
    memset(want, 0, sizeof(want));
    memset(seconds, 0, sizeof(seconds));
    assert_int_equal(schedule_parse(slice_text(row->type), slice_text(row->conf),
                                    vector_zone(slice_text(row->zone)), DST_SMART, 2126, &s, NULL),
                     OK);
    if (schedule_next(&s, from_ms - 1, &first_ms))
        first_ms = INT64_MAX / 2;
    one_by_one(&s, from_ms - 1, from_ms, want, seconds);
    schedule_minutes(&s, first_ms, from_ms, 1, counts, MINUTES);
    for (int i = 0; i < MINUTES; i++) {
        if (counts[i] != want[i])
            fail_msg("%s from %s, minute %d: %d, one by one %d", row->conf, from, i, counts[i],
                     want[i]);
        uint64_t got = schedule_seconds(&s, first_ms, from_ms + i * MINUTE_MS);
        if (got != seconds[i])
            fail_msg("%s from %s, minute %d: seconds %llx, one by one %llx", row->conf, from, i,
                     (unsigned long long)got, (unsigned long long)seconds[i]);
    }
    schedule_minutes(&s, first_ms, from_ms, -1, counts, MINUTES); /* taken out again */
    for (int i = 0; i < MINUTES; i++)
        assert_int_equal(counts[i], 0);
    schedule_done(&s);
}

static void minutes_are_those_of_firing_one_by_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(rows); i++) {
        check(&rows[i], "2026-11-22T12:34:00.000Z");
        check(&rows[i], "2027-03-27T20:00:00.000Z");
        check(&rows[i], "2027-10-30T20:00:00.000Z");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minutes_are_those_of_firing_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
