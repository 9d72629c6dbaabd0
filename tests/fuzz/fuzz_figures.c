/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of the figures' columns as another program may have left them. What is read is within its
 * bounds, and written again it is the same. The first byte picks the column. */
#include "fuzz.h"
#include "model/job_stat.h"
#include <string.h>

static void check_ends(struct slice bytes)
{
    struct ends_reader r = ends_read(bytes);
    struct run_end e, back;
    struct figure f = { .took_ms = 0 };
    struct job_stat stat = { .nlast = 0 };
    while (ends_next(&r, &e)) {
        CHECK(e.log_id > 0 && e.job_id > 0 && e.group_id >= 0 && e.log_ms >= 0);
        CHECK(e.now > OUTCOME_NONE && e.now < OUTCOME_COUNT && e.was < OUTCOME_COUNT);
        struct buf b = BUF_INIT(200);
        struct ends_writer w = ends_begin(&b, r.at_ms);
        ends_add(&w, &e);
        struct ends_reader again = ends_read(slice_of(b.data, b.len));
        CHECK(ends_next(&again, &back) && again.at_ms == r.at_ms);
        CHECK(e.log_id == back.log_id && e.job_id == back.job_id && e.group_id == back.group_id);
        CHECK(e.log_ms == back.log_ms && e.took_ms == back.took_ms && e.late_ms == back.late_ms);
        CHECK(e.shard == back.shard && e.attempt == back.attempt && e.now == back.now);
        buf_done(&b);
        figure_end(&f, &e);
        job_stat_end(&stat, &e, r.at_ms);
        (void)figure_slot(FIGURE_DAY, zone_utc(), e.log_ms);
    }
}

static void check_stat(struct slice bytes)
{
    struct job_stat s, back;
    struct run_end e = { .log_id = 9, .job_id = 1, .took_ms = 100, .now = OUTCOME_SUCCEEDED };
    uint32_t durations[DURATION_BUCKETS];
    struct buf b = BUF_INIT(STAT_BYTES_MAX);
    if (!job_stat_get(bytes, &s)) {
        CHECK(s.nlast == 0 && s.streak == 0);
        return;
    }
    CHECK(s.nlast >= 0 && s.nlast <= STAT_LAST);
    for (int i = 0; i < s.nlast; i++)
        CHECK(job_stat_last(&s, i).outcome < OUTCOME_COUNT);
    job_stat_put(&b, &s);
    CHECK(!b.failed && job_stat_get(slice_of(b.data, b.len), &back));
    CHECK(memcmp(&s, &back, sizeof(s)) == 0);
    for (int i = 0; i < 300; i++)
        job_stat_end(&s, &e, 5);
    (void)duration_at(durations, job_stat_durations(&s, durations) % 1000);
    buf_done(&b);
}

static void check_durations(struct slice bytes)
{
    uint32_t counts[DURATION_BUCKETS] = { 0 }, back[DURATION_BUCKETS] = { 0 };
    if (!durations_add(counts, bytes))
        return;
    struct buf b = BUF_INIT(1000);
    durations_put(&b, counts);
    CHECK(durations_add(back, slice_of(b.data, b.len)));
    CHECK(memcmp(counts, back, sizeof(counts)) == 0);
    CHECK(duration_at(counts, 950) >= -1);
    (void)durations_add(counts, bytes);
    buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct slice bytes = slice_of((const char *)data + 1, size - 1);
    if (data[0] % 3 == 0)
        check_ends(bytes);
    else if (data[0] % 3 == 1)
        check_stat(bytes);
    else
        check_durations(bytes);
    return 0;
}
