/* SPDX-License-Identifier: Apache-2.0 */
/* One schedule in another's place: what vanishes, appears, moves in 24 hours, by rows. */
#include "support_vectors.h"
#include "base/buf.h"
#include "base/mem.h"
#include "cron/rfc3339.h"
#include "cron/schedule_diff.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define DAY_MS ((int64_t)86400000)

struct row {
    const char *before, *after; /* "ZONE TYPE CONF"; "": none */
    int vanish, appear, move;
    const char *first; /* change that is told */
};

/* From Saturday 2026-11-21, noon in UTC. */
static const struct row rows[] = {
    { "UTC CRON 0 30 2 * * ?", "", 1, 0, 0, "vanish 02:30" },
    { "", "UTC CRON 0 30 2 * * ?", 0, 1, 0, "appear 02:30" },
    { "UTC CRON 0 30 2 * * ?", "UTC CRON 0 30 2 ? * SUN", 0, 0, 0, "" },
    { "UTC CRON 0 30 2 * * ?", "UTC CRON 0 30 2 ? * MON", 1, 0, 0, "vanish 02:30" },
    { "UTC CRON 0 30 2 * * ?", "UTC CRON 0 30 3 * * ?", 0, 0, 1, "move 02:30 to 03:30" },
    { "UTC CRON 0 30 2 * * ?", "Asia/Shanghai CRON 0 30 2 * * ?", 0, 0, 1, "move 02:30 to 18:30" },
    { "UTC CRON 0 0/5 * * * ?", "UTC CRON 0 0/10 * * * ?", 144, 0, 0, "vanish 12:05" },
    { "UTC CRON 0 0/10 * * * ?", "UTC CRON 0 0/5 * * * ?", 0, 144, 0, "appear 12:05" },
    { "UTC CRON 0 0/15 * * * ?", "UTC CRON 0 1/15 * * * ?", 0, 1, 95, "move 12:15 to 12:01" },
    { "UTC FIX_RATE 3600", "UTC FIX_RATE 7200", 12, 0, 0, "vanish 13:00" },
    { "UTC NONE", "UTC FIX_RATE 43200", 0, 1, 0, "appear 00:00" },
    { "UTC ONCE 2026-11-21T15:00:00Z", "UTC ONCE 2026-11-21T16:00:00Z", 0, 0, 1,
      "move 15:00 to 16:00" },
    { "UTC ONCE 2026-11-21T15:00:00Z", "UTC ONCE 2020-11-21T16:00:00Z", 1, 0, 0, "vanish 15:00" },
};

static bool parse(const char *text, int64_t now_ms, struct schedule *ret,
                  struct schedule_side *side)
{
    struct slice rest = slice_text(text), zone, type;
    *side = (struct schedule_side){ NULL, 0 };
    if (!slice_cut(&rest, ' ', &zone))
        return false;
    (void)slice_cut(&rest, ' ', &type);
    assert_int_equal(schedule_parse(type, rest, vector_zone(zone), DST_SMART, 2126, ret, NULL), OK);
    if (!schedule_next(ret, now_ms, &side->first_ms))
        side->schedule = ret;
    return true;
}

struct heard {
    char first[64];
    int64_t n[CHANGE_MOVE + 1];
};

static const char *clock_of(int64_t ms, char to[RFC3339_SIZE])
{
    walltime_format(ms, zone_utc(), to);
    to[16] = '\0';
    return to + 11;
}

static void hear(void *ctx, enum schedule_change change, int64_t from_ms, int64_t to_ms)
{
    static const char *const names[] = { "vanish", "appear", "move" };
    struct heard *h = ctx;
    char from[RFC3339_SIZE], to[RFC3339_SIZE];
    h->n[change]++;
    if (h->first[0])
        return;
    clock_of(from_ms, from);
    clock_of(to_ms, to);
    snprintf(h->first, sizeof(h->first), "%s %s%s%s", names[change],
             change == CHANGE_APPEAR ? to + 11 : from + 11, change == CHANGE_MOVE ? " to " : "",
             change == CHANGE_MOVE ? to + 11 : "");
}

static void what_vanishes_appears_and_moves(void **state)
{
    (void)state;
    int64_t now = vector_ms(slice_text("2026-11-21T12:00:00.000Z"));
    for (size_t i = 0; i < countof(rows); i++) {
        const struct row *r = &rows[i];
        struct schedule before = { 0 }, after = { 0 };
        struct schedule_side a, b;
        struct schedule_diff diff;
        struct heard h = { .first = "" };
        (void)parse(r->before, now, &before, &a);
        (void)parse(r->after, now, &after, &b);
        schedule_diff(a, b, now + DAY_MS, hear, &h, &diff);
        if (diff.n[CHANGE_VANISH] != r->vanish || diff.n[CHANGE_APPEAR] != r->appear ||
            diff.n[CHANGE_MOVE] != r->move || strcmp(h.first, r->first) != 0)
            fail_msg("%s, then %s: %lld, %lld, %lld, %s", r->before, r->after,
                     (long long)diff.n[CHANGE_VANISH], (long long)diff.n[CHANGE_APPEAR],
                     (long long)diff.n[CHANGE_MOVE], h.first);
        assert_memory_equal(h.n, diff.n, sizeof(h.n));
        assert_int_equal(diff.until_ms, now + DAY_MS);
        schedule_done(&before);
        schedule_done(&after);
    }
}

static void a_dense_schedule_is_looked_at_in_part(void **state)
{
    (void)state;
    int64_t now = vector_ms(slice_text("2026-11-21T12:00:00.000Z"));
    struct schedule before = { 0 };
    struct schedule_side a;
    struct schedule_diff diff;
    struct heard h = { .first = "" };
    (void)parse("UTC CRON * * * * * ?", now, &before, &a);
    schedule_diff(a, (struct schedule_side){ NULL, 0 }, now + DAY_MS, hear, &h, &diff);
    assert_int_equal(diff.n[CHANGE_VANISH], SCHEDULE_DIFF_LOOK);
    assert_int_equal(diff.until_ms, now + (SCHEDULE_DIFF_LOOK + 1) * (int64_t)1000);
    schedule_done(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_vanishes_appears_and_moves),
        cmocka_unit_test(a_dense_schedule_is_looked_at_in_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
