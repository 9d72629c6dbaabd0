/* SPDX-License-Identifier: Apache-2.0 */
/* Next scheduled times against the naive reading (support_naive.h), and the promises of the
 * policies. */
#include "cron/civil.h"
#include "cron/rfc3339.h"
#include "support_naive.h"
#include "support_vectors.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

static const char *const zone_names[] = {
    "UTC",           "America/New_York",     "Europe/London",     "Australia/Lord_Howe",
    "Pacific/Apia",  "Asia/Kathmandu",       "America/Sao_Paulo", "Africa/Casablanca",
    "Europe/Dublin", "Antarctica/Troll",     "Asia/Shanghai",     "Africa/Cairo",
    "Asia/Gaza",     "America/Scoresbysund", "Pacific/Kwajalein", "Africa/Monrovia",
};
enum { ZONES = sizeof(zone_names) / sizeof(*zone_names) };

static uint64_t first_seed(void)
{
    const char *text = getenv("PEAL_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : 20240229;
    print_message("PEAL_SEED=%" PRIu64 "\n", seed);
    return seed;
}

static struct zone *zone(const char *name)
{
    return vector_zone(slice_text(name));
}

static struct cron parse(const char *text)
{
    struct cron c;
    struct why why = { { 0 } };
    if (cron_parse(slice_text(text), 2126, &c, &why))
        fail_msg("%s: %s", text, why.text);
    return c;
}

/* An instant near one of the zone's changes between 1970 and 2040, or any if it has none. */
static int64_t near_change(uint64_t *seed, const struct zone *z)
{
    int64_t at = (int64_t)(random_u64(seed) % 2208988800u);
    struct zone_span span = zone_span_at(z, at);
    if (span.end_s == INT64_MAX && span.begin_s > 0)
        span.end_s = span.begin_s;
    if (span.end_s == INT64_MAX || span.end_s < 200000)
        return at;
    return span.end_s - 86400 - 7200 + random_below(seed, 2 * 86400);
}

static void check(const char *text, const char *name, enum dst_policy dst, int64_t after_s,
                  int days_max)
{
    struct cron c = parse(text);
    struct zone *z = zone(name);
    int64_t want = 0, got_ms = 0;
    enum err want_err = naive_next(&c, z, dst, after_s, days_max, &want);
    enum err got_err = cron_next(&c, z, dst, after_s * 1000 + 999, &got_ms);
    bool beyond = want_err && !got_err && got_ms / 1000 > after_s + (int64_t)days_max * 86400;
    if (beyond || (want_err == got_err && (want_err || want * 1000 == got_ms)))
        return;
    char from[RFC3339_SIZE], a[RFC3339_SIZE], b[RFC3339_SIZE];
    fail_msg("%s in %s, %s, after %s: want %s, got %s", text, name, dst_policy_name(dst),
             rfc3339_format(after_s * 1000, z, from),
             want_err ? "never" : rfc3339_format(want * 1000, z, a),
             got_err ? "never" : rfc3339_format(got_ms, z, b));
}

static void agrees_with_the_naive_reading_around_changes(void **state)
{
    (void)state;
    uint64_t seed = first_seed();
    for (int i = 0; i < 3000; i++) {
        char text[256];
        random_expression(&seed, text, sizeof(text));
        const char *name = zone_names[random_below(&seed, ZONES)];
        int64_t after = near_change(&seed, zone(name));
        check(text, name, DST_XXL, after, 5);
        check(text, name, DST_SMART, after, 5);
    }
}

static void agrees_with_the_naive_reading_over_years(void **state)
{
    (void)state;
    uint64_t seed = first_seed() + 1;
    for (int i = 0; i < 400; i++) {
        char text[256];
        random_expression(&seed, text, sizeof(text));
        const char *name = zone_names[random_below(&seed, ZONES)];
        int64_t after = (int64_t)(random_u64(&seed) % 3000000000u);
        check(text, name, i % 2 ? DST_XXL : DST_SMART, after, 1500);
    }
}

/* Chained searches see what one search over each instant sees: nothing is lost in between. */
static void chains_lose_nothing(void **state)
{
    (void)state;
    uint64_t seed = first_seed() + 2;
    for (int i = 0; i < 60; i++) {
        char text[256];
        random_expression(&seed, text, sizeof(text));
        struct cron c = parse(text);
        struct zone *z = zone(zone_names[random_below(&seed, ZONES)]);
        enum dst_policy dst = i % 2 ? DST_XXL : DST_SMART;
        int64_t from = near_change(&seed, z), ms = from * 1000;
        int64_t next = cron_next(&c, z, dst, ms, &ms) ? INT64_MAX : ms / 1000;
        for (int64_t s = from + 1; s < from + 2 * 86400; s++) {
            if (naive_fires(&c, z, dst, s, from + 1)) {
                assert_int_equal(next, s);
                next = cron_next(&c, z, dst, ms, &ms) ? INT64_MAX : ms / 1000;
            }
        }
        assert_true(next >= from + 2 * 86400);
    }
}

static int64_t count_between(const char *text, const char *name, enum dst_policy dst, int64_t from,
                             int64_t to)
{
    struct cron c = parse(text);
    int64_t n = 0, ms = (from - 1) * 1000;
    while (!cron_next(&c, zone(name), dst, ms, &ms) && ms < to * 1000)
        n++;
    return n;
}

/* A job at one time of day fires as often as there are days, whatever the clock does, in years
 * whose gaps are shorter than a day. */
static void smart_fires_a_fixed_time_once_a_day(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZONES; i++) {
        struct zone *z = zone(zone_names[i]);
        for (int year = 2012; year < 2042; year += 7) {
            int64_t from = zone_from_local(z, civil_to_days(year, 1, 1) * 86400).first_s;
            int64_t to = zone_from_local(z, civil_to_days(year + 1, 1, 1) * 86400).first_s;
            int64_t days = civil_to_days(year + 1, 1, 1) - civil_to_days(year, 1, 1);
            for (int minute = 0; minute < 1440; minute += 15) {
                char text[64];
                snprintf(text, sizeof(text), "0 %d %d * * ?", minute % 60, minute / 60);
                if (count_between(text, zone_names[i], DST_SMART, from, to) != days)
                    fail_msg("%s in %s, %d", text, zone_names[i], year);
            }
        }
    }
}

static void smart_keeps_repeating_jobs_ticking(void **state)
{
    (void)state;
    struct cron c = parse("0 0/15 * * * ?");
    for (size_t i = 0; i < ZONES; i++) {
        /* from 1990 on these zones' offsets are whole quarters of an hour */
        int64_t ms = civil_to_days(1990, 1, 1) * 86400000, last = ms;
        for (int k = 0; k < 200000; k++) {
            assert_int_equal(cron_next(&c, zone(zone_names[i]), DST_SMART, ms, &ms), OK);
            assert_int_equal(ms - last, 900000);
            last = ms;
        }
    }
}

struct example {
    const char *text, *zone;
    enum dst_policy dst;
    const char *from, *want[4]; /* as RFC 3339 on the zone's wall */
};

static const struct example examples[] = {
    /* the gap of New York, 02:00 to 03:00 */
    { "0 30 2 * * ?",
      "America/New_York",
      DST_SMART,
      "2024-03-09T12:00:00-05:00",
      { "2024-03-10T03:00:00-04:00", "2024-03-11T02:30:00-04:00" } },
    { "0 30 2 * * ?",
      "America/New_York",
      DST_XXL,
      "2024-03-09T12:00:00-05:00",
      { "2024-03-11T02:30:00-04:00" } },
    { "0 0/20 2 * * ?",
      "America/New_York",
      DST_SMART,
      "2024-03-09T12:00:00-05:00",
      { "2024-03-10T03:00:00-04:00", "2024-03-11T02:00:00-04:00", "2024-03-11T02:20:00-04:00" } },
    { "0 0 2,3 * * ?",
      "America/New_York",
      DST_SMART,
      "2024-03-10T01:00:00-05:00",
      { "2024-03-10T03:00:00-04:00", "2024-03-11T02:00:00-04:00" } },
    { "0 0/30 * * * ?",
      "America/New_York",
      DST_SMART,
      "2024-03-10T01:15:00-05:00",
      { "2024-03-10T01:30:00-05:00", "2024-03-10T03:00:00-04:00" } },
    { "0 30 2 * * ?",
      "America/New_York",
      DST_SMART,
      "2024-03-10T03:00:00-04:00",
      { "2024-03-11T02:30:00-04:00" } },
    { "0 30 2 * * ?",
      "America/New_York",
      DST_SMART,
      "2024-03-10T01:59:59-05:00",
      { "2024-03-10T03:00:00-04:00" } },
    /* its overlap, 01:00 to 02:00 twice */
    { "0 30 1 * * ?",
      "America/New_York",
      DST_SMART,
      "2024-11-02T12:00:00-04:00",
      { "2024-11-03T01:30:00-04:00", "2024-11-04T01:30:00-05:00" } },
    { "0 30 1 * * ?",
      "America/New_York",
      DST_XXL,
      "2024-11-02T12:00:00-04:00",
      { "2024-11-03T01:30:00-05:00", "2024-11-04T01:30:00-05:00" } },
    { "0 30 1 * * ?",
      "America/New_York",
      DST_SMART,
      "2024-11-03T01:10:00-05:00",
      { "2024-11-04T01:30:00-05:00" } },
    { "0 0/30 * * * ?",
      "America/New_York",
      DST_SMART,
      "2024-11-03T01:15:00-04:00",
      { "2024-11-03T01:30:00-04:00", "2024-11-03T01:00:00-05:00", "2024-11-03T01:30:00-05:00" } },
    { "0 0/30 * * * ?",
      "America/New_York",
      DST_XXL,
      "2024-11-03T01:15:00-04:00",
      { "2024-11-03T01:30:00-05:00", "2024-11-03T02:00:00-05:00" } },
    /* half an hour */
    { "0 15 2 * * ?",
      "Australia/Lord_Howe",
      DST_SMART,
      "2024-10-05T12:00:00+10:30",
      { "2024-10-06T02:30:00+11:00", "2024-10-07T02:15:00+11:00" } },
    { "0 45 1 * * ?",
      "Australia/Lord_Howe",
      DST_SMART,
      "2024-04-06T12:00:00+11:00",
      { "2024-04-07T01:45:00+11:00", "2024-04-08T01:45:00+10:30" } },
    /* a midnight that does not exist, and a day that does not */
    { "0 0 0 * * ?",
      "America/Sao_Paulo",
      DST_SMART,
      "2018-11-03T12:00:00-03:00",
      { "2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00" } },
    { "0 0 0 * * ?",
      "America/Sao_Paulo",
      DST_XXL,
      "2018-11-03T12:00:00-03:00",
      { "2018-11-05T00:00:00-02:00" } },
    { "0 0 9 * * ?",
      "Pacific/Apia",
      DST_SMART,
      "2011-12-29T12:00:00-10:00",
      { "2011-12-31T00:00:00+14:00", "2011-12-31T09:00:00+14:00" } },
    { "0 0 9 * * ?",
      "Pacific/Apia",
      DST_XXL,
      "2011-12-29T12:00:00-10:00",
      { "2011-12-31T09:00:00+14:00" } },
    { "0 0 0 30 12 ? 2011",
      "Pacific/Apia",
      DST_SMART,
      "2011-12-01T12:00:00-10:00",
      { "2011-12-31T00:00:00+14:00" } },
    /* 23:00 to 24:00 twice, and the last match of all in the second pass */
    { "0 30 * 17 2 ? 2018",
      "America/Sao_Paulo",
      DST_SMART,
      "2018-02-17T23:00:00-02:00",
      { "2018-02-17T23:30:00-02:00", "2018-02-17T23:30:00-03:00" } },
    { "0 30 * 17 2 ? 2018",
      "America/Sao_Paulo",
      DST_XXL,
      "2018-02-17T23:00:00-02:00",
      { "2018-02-17T23:30:00-03:00" } },
    /* saving of zero, or less, in other places: only offsets count */
    { "0 30 1 * * ?",
      "Europe/Dublin",
      DST_SMART,
      "2024-03-30T12:00:00Z",
      { "2024-03-31T02:00:00+01:00", "2024-04-01T01:30:00+01:00" } },
    { "0 30 2 * * ?",
      "Africa/Casablanca",
      DST_SMART,
      "2024-03-09T12:00:00+01:00",
      { "2024-03-10T02:30:00+01:00", "2024-03-11T02:30:00+00:00" } },
    { "0 30 2 * * ?",
      "Africa/Casablanca",
      DST_SMART,
      "2024-04-13T12:00:00+00:00",
      { "2024-04-14T03:00:00+01:00", "2024-04-15T02:30:00+01:00" } },
};

static void examples_of_the_policies(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
        const struct example *e = &examples[i];
        struct cron c = parse(e->text);
        int64_t ms = vector_ms(slice_text(e->from));
        for (int k = 0; k < 4 && e->want[k]; k++) {
            char got[RFC3339_SIZE];
            assert_int_equal(cron_next(&c, zone(e->zone), e->dst, ms, &ms), OK);
            rfc3339_format(ms, zone(e->zone), got);
            if (strcmp(got, e->want[k]) != 0)
                fail_msg("example %zu: %s, %s: want %s, got %s", i, e->text,
                         dst_policy_name(e->dst), e->want[k], got);
        }
    }
}

static void milliseconds_are_floored(void **state)
{
    (void)state;
    struct cron c = parse("* * * * * ?");
    int64_t ms;
    assert_int_equal(cron_next(&c, zone_utc(), DST_XXL, 5999, &ms), OK);
    assert_int_equal(ms, 6000);
    assert_int_equal(cron_next(&c, zone_utc(), DST_XXL, 6000, &ms), OK);
    assert_int_equal(ms, 7000);
    assert_int_equal(cron_next(&c, zone_utc(), DST_XXL, -1, &ms), OK);
    assert_int_equal(ms, 0);
}

static void the_ends_of_time_are_never(void **state)
{
    (void)state;
    int64_t ms = 77;
    struct cron c = parse("* * * * * ?"), impossible = parse("0 0 0 30 2 ?");
    for (int dst = DST_XXL; dst <= DST_SMART; dst++) {
        for (size_t i = 0; i < ZONES; i++) {
            struct zone *z = zone(zone_names[i]);
            assert_int_equal(cron_next(&c, z, dst, INT64_MAX, &ms), ERR_NEVER);
            assert_int_equal(cron_next(&c, z, dst, 4955212800000, &ms), ERR_NEVER); /* 2127-01-10 */
            assert_int_equal(cron_next(&impossible, z, dst, 0, &ms), ERR_NEVER);
        }
        assert_int_equal(ms, 77);
        assert_int_equal(cron_next(&c, zone_utc(), dst, INT64_MIN, &ms), OK);
        assert_int_equal(ms, 0);
        ms = 77;
    }
    struct cron early;
    assert_int_equal(cron_parse(slice_text("* * * * * ?"), 1900, &early, NULL), OK);
    assert_int_equal(cron_next(&early, zone_utc(), DST_XXL, 0, &ms), ERR_NEVER);
    struct cron late;
    assert_int_equal(cron_parse(slice_text("59 59 23 31 12 ?"), 9999, &late, NULL), OK);
    assert_int_equal(cron_next(&late, zone_utc(), DST_SMART, 10382256000000, &ms), OK);
    assert_int_equal(cron_next(&late, zone_utc(), DST_SMART, ms, &ms), ERR_NEVER);
    assert_int_equal(ms, 10413791999000); /* 2299-12-31T23:59:59Z */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_naive_reading_around_changes),
        cmocka_unit_test(agrees_with_the_naive_reading_over_years),
        cmocka_unit_test(chains_lose_nothing),
        cmocka_unit_test(smart_fires_a_fixed_time_once_a_day),
        cmocka_unit_test(smart_keeps_repeating_jobs_ticking),
        cmocka_unit_test(examples_of_the_policies),
        cmocka_unit_test(milliseconds_are_floored),
        cmocka_unit_test(the_ends_of_time_are_never),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
