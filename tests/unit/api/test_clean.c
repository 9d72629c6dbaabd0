/* SPDX-License-Identifier: Apache-2.0 */
/* What the nine rules of deletion take, months on the server's calendar. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api/clean.h"
#include "cron/rfc3339.h"

static int64_t at(const char *text)
{
    int64_t ms;
    assert_int_equal(rfc3339_parse(slice_text(text), &ms, NULL), OK);
    return ms;
}

static void months_go_back_on_the_calendar(void **state)
{
    (void)state;
    static const struct {
        int rule;
        const char *now, *before;
    } cases[] = {
        { 1, "2026-11-22T10:11:12Z", "2026-10-22T10:11:12Z" },
        { 1, "2026-03-31T00:00:00Z", "2026-02-28T00:00:00Z" },
        { 1, "2024-03-31T23:59:59Z", "2024-02-29T23:59:59Z" },
        { 2, "2026-01-15T08:00:00Z", "2025-10-15T08:00:00Z" },
        { 3, "2026-08-31T08:00:00Z", "2026-02-28T08:00:00Z" },
        { 4, "2028-02-29T08:00:00Z", "2027-02-28T08:00:00Z" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct log_clean w = clean_walk(cases[i].rule, at(cases[i].now), zone_utc());
        assert_true(w.before_ms == at(cases[i].before));
        assert_int_equal(w.keep, 0);
        assert_true(w.scope.all && w.job_id == 0);
    }
}

static void the_others_count(void **state)
{
    (void)state;
    static const int64_t keeps[] = { 1000, 10000, 30000, 100000, 0 };
    for (int rule = 5; rule <= 9; rule++) {
        struct log_clean w = clean_walk(rule, at("2026-11-22T10:11:12Z"), zone_utc());
        assert_true(w.before_ms == NEVER_MS);
        assert_int_equal(w.keep, keeps[rule - 5]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(months_go_back_on_the_calendar),
        cmocka_unit_test(the_others_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
