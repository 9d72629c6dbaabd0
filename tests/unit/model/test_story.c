/* SPDX-License-Identifier: Apache-2.0 */
/* A story comes back from its bytes as it was, bytes of others are refused, and which runs keep
 * theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "model/story.h"

#define DUE 1800000000123

static struct story sample(void)
{
    return (struct story){ .due_ms = DUE,
                           .scheduled_ms = DUE - 30000,
                           .cause = 77,
                           .attempt = 2,
                           .at_us = { -4000000, 250, 1300, 2400, STORY_UNKNOWN, 90000000 },
                           .reroutes = 1,
                           .doubts = 3,
                           .queries = 255,
                           .resent = true };
}

static bool back(const struct story *s, struct story *ret)
{
    struct buf b = BUF_INIT(STORY_BYTES_MAX);
    story_put(&b, s);
    bool good = !b.failed && story_get(slice_of(b.data, b.len), ret);
    buf_done(&b);
    return good;
}

static void assert_same(const struct story *a, const struct story *b)
{
    assert_int_equal(a->due_ms, b->due_ms);
    assert_int_equal(a->scheduled_ms, b->scheduled_ms);
    assert_int_equal(a->cause, b->cause);
    assert_int_equal(a->attempt, b->attempt);
    assert_int_equal(a->reroutes, b->reroutes);
    assert_int_equal(a->doubts, b->doubts);
    assert_int_equal(a->queries, b->queries);
    assert_int_equal(a->resent, b->resent);
    assert_memory_equal(a->at_us, b->at_us, sizeof(a->at_us));
}

static void it_comes_back_as_it_was(void **state)
{
    (void)state;
    struct story s = sample(), got;
    assert_true(back(&s, &got));
    assert_same(&s, &got);
    for (int i = 0; i < STORY_TIMES; i++)
        s.at_us[i] = STORY_UNKNOWN;
    s.resent = false;
    assert_true(back(&s, &got));
    assert_same(&s, &got);
}

static void the_largest_fits(void **state)
{
    (void)state;
    struct story s = { .due_ms = INT64_C(1) << 47,
                       .scheduled_ms = 0,
                       .cause = INT64_C(1) << 53,
                       .attempt = 1000000,
                       .reroutes = 255,
                       .doubts = 255,
                       .queries = 255,
                       .resent = true },
                 got;
    for (int i = 0; i < STORY_TIMES; i++)
        s.at_us[i] = i % 2 ? INT32_MAX : INT32_MIN + 1;
    assert_true(back(&s, &got));
    assert_same(&s, &got);
}

static void other_bytes_are_refused(void **state)
{
    (void)state;
    struct story s = sample(), got;
    struct buf b = BUF_INIT(STORY_BYTES_MAX);
    story_put(&b, &s);
    for (size_t n = 0; n < b.len; n++)
        assert_false(story_get(slice_of(b.data, n), &got));
    buf_char(&b, 0);
    assert_false(story_get(slice_of(b.data, b.len), &got));
    b.data[0] = 2; /* another format */
    assert_false(story_get(slice_of(b.data, b.len - 1), &got));
    b.data[0] = 1;
    b.data[1] = (char)0xff; /* times that there are not */
    assert_false(story_get(slice_of(b.data, b.len - 1), &got));
    assert_false(story_get(slice_of("", 0), &got));
    buf_done(&b);
}

static void distances_out_of_range_are_unknown(void **state)
{
    (void)state;
    assert_int_equal(story_us(0), 0);
    assert_int_equal(story_us(INT32_MAX), INT32_MAX);
    assert_int_equal(story_us(INT64_C(1) << 31), STORY_UNKNOWN);
    assert_int_equal(story_us(-(INT64_C(1) << 31)), STORY_UNKNOWN);
    struct story s = sample();
    assert_int_equal(story_at(&s, STORY_SENT), DUE * 1000 + 1300);
    assert_int_equal(story_at(&s, STORY_ENDED), -1);
}

static void whole_milliseconds_do_not_go_before_microseconds(void **state)
{
    (void)state;
    struct story s = sample(); /* answered after 2400 us */
    story_note_ms(&s, STORY_ENDED, DUE + 2);
    assert_int_equal(s.at_us[STORY_ENDED], 2400);
    story_note_ms(&s, STORY_ENDED, DUE + 3);
    assert_int_equal(s.at_us[STORY_ENDED], 3000);
    story_note_ms(&s, STORY_ENDED, DUE + 1); /* after sent; the clock was set back then */
    assert_int_equal(s.at_us[STORY_ENDED], 1300);
    story_note_ms(&s, STORY_ENDED, DUE - 60000);
    assert_int_equal(s.at_us[STORY_ENDED], -60000000);
    story_note_ms(&s, STORY_ENDED, DUE + 3600000);
    assert_int_equal(s.at_us[STORY_ENDED], STORY_UNKNOWN);
}

static void who_keeps_a_story(void **state)
{
    (void)state;
    static const struct {
        int32_t sent_us;
        uint8_t doubts;
        enum phase end;
        enum kind kind;
        int64_t log_id;
        bool kept;
    } rows[] = {
        { 1300, 0, PHASE_SUCCEEDED, KIND_CRON, 101, false },
        { 1300, 0, PHASE_SUCCEEDED, KIND_PARENT, 101, true }, /* its parent finds it */
        { 1300, 0, PHASE_SUCCEEDED, KIND_CRON, 300, true },   /* one in a hundred */
        { 1300, 0, PHASE_FAILED, KIND_CRON, 101, true },
        { STORY_UNKNOWN, 0, PHASE_UNROUTABLE, KIND_CRON, 101, true },
        { STORY_LATE_US, 0, PHASE_SUCCEEDED, KIND_CRON, 101, false },
        { STORY_LATE_US + 1, 0, PHASE_SUCCEEDED, KIND_CRON, 101, true },
        { 1300, 1, PHASE_SUCCEEDED, KIND_CRON, 101, true },
        { 1300, 0, PHASE_SUCCEEDED, KIND_MANUAL, 101, true },
        { 1300, 0, PHASE_SUCCEEDED, KIND_API, 101, true },
        { 1300, 0, PHASE_SUCCEEDED, KIND_RETRY, 101, true },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct story s = { .due_ms = DUE, .doubts = rows[i].doubts };
        s.at_us[STORY_SENT] = rows[i].sent_us;
        assert_int_equal(story_kept(&s, rows[i].end, rows[i].kind, rows[i].log_id), rows[i].kept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_comes_back_as_it_was),
        cmocka_unit_test(the_largest_fits),
        cmocka_unit_test(other_bytes_are_refused),
        cmocka_unit_test(distances_out_of_range_are_unknown),
        cmocka_unit_test(whole_milliseconds_do_not_go_before_microseconds),
        cmocka_unit_test(who_keeps_a_story),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
