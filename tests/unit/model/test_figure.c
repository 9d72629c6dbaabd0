/* SPDX-License-Identifier: Apache-2.0 */
/* A batch's ends as bytes, durations by size, and slots of time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "cron/rfc3339.h"
#include "model/job_stat.h"

#define AT_MS INT64_C(1760000000123)

static struct run_end end_of(int64_t log_id, enum outcome now)
{
    return (struct run_end){ .log_id = log_id,
                             .job_id = 7,
                             .group_id = 3,
                             .log_ms = AT_MS / 1000 * 1000 - log_id * 1000,
                             .took_ms = log_id * 10,
                             .late_ms = 2,
                             .now = now };
}

static void assert_same(const struct run_end *a, const struct run_end *b)
{
    assert_int_equal(a->log_id, b->log_id);
    assert_int_equal(a->job_id, b->job_id);
    assert_int_equal(a->group_id, b->group_id);
    assert_int_equal(a->log_ms, b->log_ms);
    assert_int_equal(a->took_ms, b->took_ms);
    assert_int_equal(a->late_ms, b->late_ms);
    assert_int_equal(a->shard, b->shard);
    assert_int_equal(a->attempt, b->attempt);
    assert_int_equal(a->was, b->was);
    assert_int_equal(a->now, b->now);
}

static void ends_come_back_from_their_bytes(void **state)
{
    (void)state;
    struct run_end ends[] = {
        end_of(5, OUTCOME_SUCCEEDED),
        end_of(6, OUTCOME_FAILED),
        { .log_id = 1, .job_id = 1, .now = OUTCOME_WITHDRAWN },
        { .log_id = INT64_C(1) << 53,
          .job_id = INT64_C(1) << 53,
          .group_id = INT64_C(1) << 53,
          .log_ms = INT64_C(253402300799000),
          .took_ms = 31622400000,
          .late_ms = 31622400000,
          .shard = INT32_MAX,
          .attempt = INT32_MAX,
          .was = OUTCOME_LOST,
          .now = OUTCOME_SUCCEEDED },
        end_of(2, OUTCOME_LOST),
    };
    struct buf b = BUF_INIT(10000);
    struct run_end e;
    struct ends_writer w = ends_begin(&b, AT_MS);
    for (size_t i = 0; i < countof(ends); i++)
        ends_add(&w, &ends[i]);
    struct ends_reader r = ends_read(slice_of(b.data, b.len));
    assert_int_equal(r.at_ms, AT_MS);
    for (size_t i = 0; i < countof(ends); i++) {
        assert_true(ends_next(&r, &e));
        assert_same(&ends[i], &e);
    }
    assert_false(ends_next(&r, &e));
    assert_false(r.bad);
    buf_done(&b);
}

static void an_end_takes_about_fourteen_bytes(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(100000);
    struct ends_writer w = ends_begin(&b, AT_MS);
    for (int i = 0; i < 1000; i++) {
        struct run_end e = end_of(100000 + i, OUTCOME_SUCCEEDED);
        e.job_id = 1 + i * 37 % 10000;
        e.took_ms = 1500;
        e.log_ms = AT_MS;
        ends_add(&w, &e);
    }
    assert_true(b.len < 16 * 1000);
    buf_done(&b);
}

/* Whatever is cut off or changed, what is read is within its bounds, and the end is told. */
static void damaged_bytes_are_noticed(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(1000);
    struct run_end e, first = end_of(5, OUTCOME_SUCCEEDED), second = end_of(6, OUTCOME_FAILED);
    struct ends_writer w = ends_begin(&b, AT_MS);
    size_t head = b.len;
    ends_add(&w, &first);
    size_t whole = b.len;
    ends_add(&w, &second);
    for (size_t n = 0; n < b.len; n++) {
        struct ends_reader r = ends_read(slice_of(b.data, n));
        int seen = 0;
        while (ends_next(&r, &e))
            seen++;
        assert_int_equal(seen, n >= whole);
        assert_int_equal(r.bad, n != head && n != whole);
    }
    b.data[0] = 9;
    struct ends_reader r = ends_read(slice_of(b.data, b.len));
    assert_false(ends_next(&r, &e));
    assert_true(r.bad);
    buf_done(&b);
}

static void a_duration_lies_in_its_bucket(void **state)
{
    (void)state;
    assert_int_equal(duration_bucket(-5), 0);
    assert_int_equal(duration_bucket(INT64_MAX), DURATION_BUCKETS - 1);
    for (int64_t ms = 0; ms < 100000000; ms += 1 + ms / 7) {
        int bucket = duration_bucket(ms);
        assert_true(duration_from_ms(bucket) <= ms && ms < duration_from_ms(bucket + 1));
    }
    uint32_t counts[DURATION_BUCKETS] = { 0 }, back[DURATION_BUCKETS] = { 0 };
    assert_int_equal(duration_at(counts, 500), -1);
    for (int ms = 1; ms <= 1000; ms++)
        counts[duration_bucket(ms)]++;
    assert_in_range(duration_at(counts, 500), 400, 600);
    assert_in_range(duration_at(counts, 950), 800, 1030);

    struct buf b = BUF_INIT(1000);
    durations_put(&b, counts);
    assert_true(durations_add(back, slice_of(b.data, b.len)));
    assert_memory_equal(counts, back, sizeof(counts));
    assert_false(durations_add(back, slice_of(b.data, b.len - 1)));
    assert_memory_equal(counts, back, sizeof(counts));
    buf_done(&b);
}

static int64_t at(const char *text)
{
    int64_t ms;
    assert_int_equal(rfc3339_parse(slice_text(text), &ms, NULL), OK);
    return ms;
}

static struct zone *zone_of(const char *name)
{
    char path[256];
    static char bytes[ZONE_FILE_MAX];
    struct zone *z;
    snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(bytes, 1, sizeof(bytes), f);
    fclose(f);
    assert_int_equal(zone_parse(bytes, n, name, &z, NULL), OK);
    return z;
}

static void slots_are_cut_by_the_zone(void **state)
{
    (void)state;
    static const struct {
        const char *zone;
        enum figure_level level;
        const char *when, *begins;
    } cases[] = {
        { "UTC", FIGURE_QUARTER, "2026-01-01T10:29:59Z", "2026-01-01T10:15:00Z" },
        { "Asia/Kolkata", FIGURE_HOUR, "2026-01-01T10:29:59Z", "2026-01-01T09:30:00Z" },
        { "Asia/Kolkata", FIGURE_DAY, "2026-01-01T18:29:59Z", "2025-12-31T18:30:00Z" },
        { "Asia/Kolkata", FIGURE_JOB_DAY, "2026-01-01T18:30:00Z", "2026-01-01T18:30:00Z" },
        /* 01:30 comes twice: two hours, one day of 25 */
        { "America/New_York", FIGURE_HOUR, "2026-11-01T05:30:00Z", "2026-11-01T05:00:00Z" },
        { "America/New_York", FIGURE_JOB_HOUR, "2026-11-01T06:30:00Z", "2026-11-01T06:00:00Z" },
        { "America/New_York", FIGURE_DAY, "2026-11-02T04:59:59Z", "2026-11-01T04:00:00Z" },
        { "America/New_York", FIGURE_DAY, "2026-11-02T05:00:00Z", "2026-11-02T05:00:00Z" },
        /* midnight does not exist: the day begins when the clocks have gone forward */
        { "America/Asuncion", FIGURE_DAY, "2023-10-01T12:00:00Z", "2023-10-01T04:00:00Z" },
        { "UTC", FIGURE_DAY, "1969-12-31T00:00:00Z", "1970-01-01T00:00:00Z" },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct zone *z = zone_of(cases[i].zone);
        int64_t slot = figure_slot(cases[i].level, z, at(cases[i].when));
        assert_int_equal(figure_slot_ms(slot), at(cases[i].begins));
        assert_int_equal(figure_slot_level(slot), cases[i].level);
        zone_unref(z);
    }
}

static void a_jobs_last_runs_tell_how_it_is_doing(void **state)
{
    (void)state;
    struct job_stat s = { .nlast = 0 };
    struct run_end e = end_of(1, OUTCOME_SUCCEEDED);
    job_stat_end(&s, &e, 1000);
    e = end_of(2, OUTCOME_FAILED);
    job_stat_end(&s, &e, 2000);
    e = end_of(3, OUTCOME_LOST);
    job_stat_end(&s, &e, 3000);
    e = end_of(9, OUTCOME_SKIPPED); /* no end */
    job_stat_end(&s, &e, 3500);
    assert_int_equal(s.streak, 2);
    assert_int_equal(s.failed_id, 2);
    assert_int_equal(s.failed_ms, 2000);
    assert_int_equal(s.success_ms, 1000);
    assert_int_equal(s.nlast, 3);
    assert_int_equal(job_stat_last(&s, 0).log_id, 3);
    assert_int_equal(job_stat_last(&s, 2).log_id, 1);
    assert_int_equal(job_stat_last(&s, 2).took_ms, 10);

    e = end_of(4, OUTCOME_REJECTED);
    job_stat_end(&s, &e, 4000);
    e = end_of(3, OUTCOME_SUCCEEDED); /* the lost one, after all: behind it one has failed */
    e.was = OUTCOME_LOST;
    job_stat_end(&s, &e, 5000);
    assert_int_equal(s.nlast, 4);
    assert_int_equal(s.streak, 1);
    assert_int_equal(s.failed_id, 4);
    assert_int_equal(s.success_ms, 5000);
    assert_int_equal(s.ends[OUTCOME_LOST], 1); /* counted by what it was at first */
    assert_int_equal(s.ends[OUTCOME_SUCCEEDED], 1);

    for (int i = 10; i < 400; i++) {
        e = end_of(i, i % 3 ? OUTCOME_SUCCEEDED : OUTCOME_KILLED);
        job_stat_end(&s, &e, 6000 + i);
    }
    uint32_t durations[DURATION_BUCKETS];
    assert_int_equal(s.nlast, STAT_LAST);
    assert_int_equal(job_stat_last(&s, STAT_LAST - 1).log_id, 380);
    assert_in_range(job_stat_durations(&s, durations), 80, 200);
    assert_int_equal(job_stat_stuck_ms(&(struct job_stat){ .nlast = 0 }), -1);
    int64_t usual_ms = duration_at(durations, 950), stuck_ms = job_stat_stuck_ms(&s);
    assert_int_equal(stuck_ms, 3 * usual_ms > 10000 ? 3 * usual_ms : 10000);

    struct buf b = BUF_INIT(STAT_BYTES_MAX);
    struct job_stat back;
    job_stat_put(&b, &s);
    assert_false(b.failed);
    assert_true(job_stat_get(slice_of(b.data, b.len), &back));
    assert_memory_equal(&s, &back, sizeof(s));
    for (size_t n = 0; n + 1 < b.len; n++) /* nothing is read beyond them */
        if (job_stat_get(slice_of(b.data, n), &back))
            assert_int_equal(back.nlast, STAT_LAST);
    buf_done(&b);
}

static void folds_stand_before_ends(void **state)
{
    (void)state;
    const struct ends_fold folds[] = { { false, 0 }, { false, 7 }, { true, 300 } };
    struct run_end e = end_of(5, OUTCOME_FAILED), back;
    struct ends_fold f;
    struct buf b = BUF_INIT(1000);
    struct ends_writer w = ends_begin(&b, AT_MS);
    for (size_t i = 0; i < countof(folds); i++)
        ends_add_fold(&w, &folds[i]);
    ends_add(&w, &e);
    struct ends_reader r = ends_read(slice_of(b.data, b.len));
    for (size_t i = 0; i < countof(folds); i++) {
        assert_true(ends_next_fold(&r, &f));
        assert_int_equal(f.of_shelf, folds[i].of_shelf);
        assert_int_equal(f.id, folds[i].id);
    }
    assert_false(ends_next_fold(&r, &f));
    assert_true(ends_next(&r, &back));
    assert_same(&e, &back);
    assert_false(ends_next(&r, &back));
    assert_false(r.bad);
    r = ends_read(slice_of(b.data, b.len)); /* who wants ends alone */
    assert_true(ends_next(&r, &back));
    assert_same(&e, &back);
    buf_done(&b);
}

static void note(struct job_stat *s, int64_t id, enum outcome o, int64_t at_ms)
{
    struct run_end e = end_of(id, o);
    job_stat_end(s, &e, at_ms);
}

static void two_servers_ends_are_joined(void **state)
{
    (void)state;
    struct job_stat a = { .nlast = 0 }, b = { .nlast = 0 }, none = { .nlast = 0 };
    note(&a, 1, OUTCOME_FAILED, 1000);
    note(&b, 2, OUTCOME_SUCCEEDED, 2000);
    note(&a, 3, OUTCOME_FAILED, 3000);
    note(&b, 4, OUTCOME_FAILED, 4000);
    note(&a, 5, OUTCOME_TIMED_OUT, 5000);
    struct job_stat both = a;
    job_stat_join(&both, &b);
    assert_int_equal(both.nlast, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(job_stat_last(&both, i).log_id, 5 - i);
    assert_int_equal(both.streak, 3); /* 3, 4 and 5 */
    assert_int_equal(both.success_ms, 2000);
    assert_int_equal(both.ends[OUTCOME_FAILED], 3);
    assert_int_equal(both.ends[OUTCOME_SUCCEEDED], 1);
    struct job_stat turned = b;
    job_stat_join(&turned, &a);
    assert_int_equal(turned.streak, 3);
    assert_int_equal(job_stat_last(&turned, 0).log_id, 5);
    struct job_stat alone = a;
    job_stat_join(&alone, &none);
    assert_memory_equal(&alone, &a, sizeof(a));
    note(&b, 6, OUTCOME_SUCCEEDED, 6000);
    both = a;
    job_stat_join(&both, &b);
    assert_int_equal(both.streak, 0);
    assert_int_equal(both.failed_id, 0);
    /* of more than are kept, one after the other */
    struct job_stat x = { .nlast = 0 }, y = { .nlast = 0 };
    for (int i = 0; i < 30; i++)
        note(i % 2 ? &x : &y, 100 + i, OUTCOME_FAILED, 100 + i);
    job_stat_join(&x, &y);
    assert_int_equal(x.nlast, STAT_LAST);
    assert_int_equal(x.streak, 30);
    assert_int_equal(x.failed_id, 100);
    assert_int_equal(job_stat_last(&x, STAT_LAST - 1).log_id, 110);
}

/* In any order in which ends are heard the same is known. */
static void ends_are_ordered_by_their_log_ids(void **state)
{
    (void)state;
    static const enum outcome outcomes[] = { OUTCOME_FAILED, OUTCOME_SUCCEEDED, OUTCOME_FAILED,
                                             OUTCOME_TIMED_OUT };
    static const int orders[][4] = {
        { 0, 1, 2, 3 }, { 2, 1, 0, 3 }, { 3, 2, 1, 0 }, { 1, 3, 0, 2 }
    };
    for (size_t k = 0; k < countof(orders); k++) {
        struct job_stat s = { .nlast = 0 };
        for (int i = 0; i < 4; i++) {
            struct run_end e = end_of(10 + orders[k][i], outcomes[orders[k][i]]);
            job_stat_end_by_id(&s, &e, 1000 + orders[k][i]);
        }
        assert_int_equal(s.nlast, 4);
        for (int i = 0; i < 4; i++)
            assert_int_equal(job_stat_last(&s, i).log_id, 13 - i);
        assert_int_equal(s.streak, 2);
        assert_int_equal(s.failed_id, 12);
        assert_int_equal(s.success_ms, 1001);
    }
    struct job_stat s = { .nlast = 0 };
    for (int i = 1; i <= 30; i++) {
        struct run_end e = end_of(100 + i, OUTCOME_FAILED);
        job_stat_end_by_id(&s, &e, 5000 + i);
    }
    assert_int_equal(s.streak, 30);
    assert_int_equal(s.failed_id, 101);
    assert_int_equal(s.failed_ms, 5001);
    struct run_end old = end_of(90, OUTCOME_SUCCEEDED); /* older than all that are kept */
    job_stat_end_by_id(&s, &old, 6000);
    assert_int_equal(s.streak, 30);
    assert_int_equal(s.nlast, STAT_LAST);
    struct run_end good = end_of(200, OUTCOME_SUCCEEDED);
    job_stat_end_by_id(&s, &good, 7000);
    assert_int_equal(s.streak, 0);
    assert_int_equal(s.failed_id, 0);
    assert_int_equal(s.failed_ms, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_come_back_from_their_bytes),
        cmocka_unit_test(an_end_takes_about_fourteen_bytes),
        cmocka_unit_test(damaged_bytes_are_noticed),
        cmocka_unit_test(a_duration_lies_in_its_bucket),
        cmocka_unit_test(slots_are_cut_by_the_zone),
        cmocka_unit_test(a_jobs_last_runs_tell_how_it_is_doing),
        cmocka_unit_test(folds_stand_before_ends),
        cmocka_unit_test(two_servers_ends_are_joined),
        cmocka_unit_test(ends_are_ordered_by_their_log_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
