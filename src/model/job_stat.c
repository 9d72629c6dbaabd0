/* SPDX-License-Identifier: Apache-2.0 */
/* job_stat.c - a job's last runs. Two small numbers a run are kept: outcome with duration, and the
 * low half of the log id, whose other half is that of the largest. */
#include "model/job_stat.h"
#include <stdlib.h>
#include <string.h>

#define VERSION 1
#define OUTCOME_SHIFT 28
#define TOOK_MAX ((1u << OUTCOME_SHIFT) - 1)
#define HALVE_AT 200 /* results among the durations: then each bucket loses a half */
#define ID_MAX (INT64_C(1) << 53)

struct last_run job_stat_last(const struct job_stat *s, int i)
{
    uint32_t behind = (uint32_t)s->newest_id - s->last_ids[i];
    return (struct last_run){ .log_id = s->newest_id - behind,
                              .outcome = (enum outcome)(s->last[i] >> OUTCOME_SHIFT),
                              .took_ms = s->last[i] & TOOK_MAX };
}

static uint32_t packed(const struct run_end *e)
{
    int64_t took = !outcome_has_result(e->now) ? 0 : e->took_ms > TOOK_MAX ? TOOK_MAX : e->took_ms;
    return (uint32_t)e->now << OUTCOME_SHIFT | (uint32_t)(took > 0 ? took : 0);
}

static void durations_note(struct job_stat *s, int64_t took_ms)
{
    s->took[duration_bucket(took_ms)]++; /* at most HALVE_AT: no byte overflows */
    if (++s->ntook < HALVE_AT)
        return;
    s->ntook = 0;
    for (int i = 0; i < DURATION_BUCKETS; i++)
        s->ntook += s->took[i] /= 2;
}

int job_stat_durations(const struct job_stat *s, uint32_t ret[DURATION_BUCKETS])
{
    int sum = 0;
    for (int i = 0; i < DURATION_BUCKETS; i++) {
        ret[i] = s->took[i];
        sum += s->took[i];
    }
    return sum;
}

static void push(struct job_stat *s, const struct run_end *e)
{
    if (s->nlast < STAT_LAST)
        s->nlast++;
    memmove(s->last + 1, s->last, (size_t)(s->nlast - 1) * sizeof(*s->last));
    memmove(s->last_ids + 1, s->last_ids, (size_t)(s->nlast - 1) * sizeof(*s->last_ids));
    s->last[0] = packed(e);
    s->last_ids[0] = (uint32_t)e->log_id;
    if (e->log_id > s->newest_id)
        s->newest_id = e->log_id;
}

/* The failures in a row end here, and begin anew behind a success among the last ones. */
static void succeeded_at(struct job_stat *s, int i)
{
    for (int newer = 0; newer < i; newer++)
        if (job_stat_last(s, newer).outcome == OUTCOME_SUCCEEDED)
            return;
    s->streak = (uint32_t)i;
    s->failed_id = i ? job_stat_last(s, i - 1).log_id : 0;
    if (!i)
        s->failed_ms = 0;
}

/* What was LOST, and counted as a failure then, has a result after all. One that is not among the
 * last ones is too old to say how the job is doing. */
static void change(struct job_stat *s, const struct run_end *e)
{
    for (int i = 0; i < s->nlast; i++) {
        if (job_stat_last(s, i).log_id != e->log_id)
            continue;
        s->last[i] = packed(e);
        if (e->now == OUTCOME_SUCCEEDED)
            succeeded_at(s, i);
        return;
    }
}

static void note(struct job_stat *s, const struct run_end *e, int64_t at_ms)
{
    s->ends[e->now]++;
    push(s, e);
    if (e->now == OUTCOME_SUCCEEDED) {
        s->streak = 0;
        s->failed_id = s->failed_ms = 0;
    } else if (s->streak++ == 0) {
        s->failed_id = e->log_id;
        s->failed_ms = at_ms;
    }
}

void job_stat_end(struct job_stat *s, const struct run_end *e, int64_t at_ms)
{
    if (outcome_never_ran(e->now))
        return;
    if (e->was == OUTCOME_NONE)
        note(s, e, at_ms);
    else
        change(s, e);
    if (outcome_has_result(e->now))
        durations_note(s, e->took_ms);
    if (e->now == OUTCOME_SUCCEEDED && at_ms > s->success_ms)
        s->success_ms = at_ms;
}

struct kept {
    int64_t log_id;
    uint32_t run;
};

static int newest_first(const void *a, const void *b)
{
    int64_t x = ((const struct kept *)a)->log_id, y = ((const struct kept *)b)->log_id;
    return (x < y) - (x > y);
}

static int keep(const struct job_stat *s, struct kept *to)
{
    for (int i = 0; i < s->nlast; i++)
        to[i] = (struct kept){ job_stat_last(s, i).log_id, s->last[i] };
    return s->nlast;
}

static void last_join(struct job_stat *s, const struct job_stat *a, const struct job_stat *b)
{
    struct kept all[2 * STAT_LAST];
    int n = keep(a, all);
    n += keep(b, all + n);
    qsort(all, (size_t)n, sizeof(*all), newest_first);
    s->nlast = n < STAT_LAST ? n : STAT_LAST;
    for (int i = 0; i < s->nlast; i++) {
        s->last[i] = all[i].run;
        s->last_ids[i] = (uint32_t)all[i].log_id;
    }
    s->newest_id = a->newest_id > b->newest_id ? a->newest_id : b->newest_id;
}

/* Failures in a row of the runs of both. */
static void streak_join(struct job_stat *s, const struct job_stat *a, const struct job_stat *b)
{
    const struct job_stat *first = a->success_ms >= b->success_ms ? a : b;
    const struct job_stat *more = first == a ? b : a;
    int i = 0;
    while (i < s->nlast && job_stat_last(s, i).outcome != OUTCOME_SUCCEEDED)
        i++;
    bool both = more->streak && more->failed_ms > first->success_ms;
    const struct job_stat *began =
        both && (!first->streak || more->failed_ms < first->failed_ms) ? more : first;
    s->streak = i < s->nlast ? (uint32_t)i : first->streak + (both ? more->streak : 0);
    if (!s->streak)
        s->failed_id = s->failed_ms = 0;
    else {
        s->failed_id = began->streak ? began->failed_id : job_stat_last(s, i - 1).log_id;
        s->failed_ms = began->streak ? began->failed_ms : first->success_ms;
    }
}

void job_stat_join(struct job_stat *s, const struct job_stat *other)
{
    const struct job_stat own = *s;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        s->ends[i] += other->ends[i];
    last_join(s, &own, other);
    streak_join(s, &own, other);
    s->success_ms = own.success_ms > other->success_ms ? own.success_ms : other->success_ms;
    int by = own.ntook + other->ntook < HALVE_AT ? 1 : 2;
    s->ntook = 0;
    for (int i = 0; i < DURATION_BUCKETS; i++) {
        s->took[i] = (uint8_t)((own.took[i] + other->took[i]) / by);
        s->ntook += s->took[i];
    }
}

/* Where the run stands among the last ones; STAT_LAST: it is older than all of them. */
static int place_of(const struct job_stat *s, int64_t log_id)
{
    int i = 0;
    while (i < s->nlast && job_stat_last(s, i).log_id > log_id)
        i++;
    return i;
}

static void put_at(struct job_stat *s, int i, const struct run_end *e)
{
    if (s->nlast < STAT_LAST)
        s->nlast++;
    memmove(s->last + i + 1, s->last + i, (size_t)(s->nlast - 1 - i) * sizeof(*s->last));
    memmove(s->last_ids + i + 1, s->last_ids + i,
            (size_t)(s->nlast - 1 - i) * sizeof(*s->last_ids));
    s->last[i] = packed(e);
    s->last_ids[i] = (uint32_t)e->log_id;
    if (e->log_id > s->newest_id)
        s->newest_id = e->log_id;
}

/* When the first of the failures in a row ended is known of the one that it was so far, and of this
 * end; else a success lies between, which is as old. */
static void streak_anew(struct job_stat *s, const struct run_end *e, int64_t at_ms)
{
    int i = 0;
    while (i < s->nlast && job_stat_last(s, i).outcome != OUTCOME_SUCCEEDED)
        i++;
    int64_t first = i ? job_stat_last(s, i - 1).log_id : 0;
    if (i == s->nlast) {
        s->streak += e->now != OUTCOME_SUCCEEDED;
        first = s->streak > 1 && s->failed_id < e->log_id ? s->failed_id : e->log_id;
    } else {
        s->streak = (uint32_t)i;
    }
    if (first != s->failed_id)
        s->failed_ms = first ? at_ms : 0;
    s->failed_id = first;
}

void job_stat_end_by_id(struct job_stat *s, const struct run_end *e, int64_t at_ms)
{
    int i = place_of(s, e->log_id);
    if (outcome_never_ran(e->now) || e->was != OUTCOME_NONE) {
        job_stat_end(s, e, at_ms);
        return;
    }
    s->ends[e->now]++;
    if (i < STAT_LAST) {
        put_at(s, i, e);
        streak_anew(s, e, at_ms);
    }
    if (outcome_has_result(e->now))
        durations_note(s, e->took_ms);
    if (e->now == OUTCOME_SUCCEEDED && at_ms > s->success_ms)
        s->success_ms = at_ms;
}

#define STUCK_RESULTS 5
#define STUCK_TIMES 3

int64_t job_stat_stuck_ms(const struct job_stat *s)
{
    uint32_t counts[DURATION_BUCKETS];
    if (job_stat_durations(s, counts) < STUCK_RESULTS)
        return -1;
    int64_t ms = STUCK_TIMES * duration_at(counts, 950);
    return ms > STUCK_MIN_MS ? ms : STUCK_MIN_MS;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

void job_stat_put(struct buf *to, const struct job_stat *s)
{
    uint32_t took[DURATION_BUCKETS];
    buf_char(to, VERSION);
    for (int i = 1; i < OUTCOME_COUNT; i++)
        number_put(to, (uint64_t)s->ends[i]);
    number_put(to, (uint64_t)s->success_ms);
    number_put(to, s->streak);
    number_put(to, (uint64_t)s->failed_id);
    number_put(to, (uint64_t)s->failed_ms);
    number_put(to, (uint64_t)s->newest_id);
    number_put(to, (uint64_t)s->nlast);
    for (int i = 0; i < s->nlast; i++) {
        number_put(to, (uint32_t)s->newest_id - s->last_ids[i]);
        buf_char(to, (char)(s->last[i] >> OUTCOME_SHIFT));
        number_put(to, s->last[i] & TOOK_MAX);
    }
    job_stat_durations(s, took);
    durations_put(to, took);
}

struct bytes {
    const uint8_t *p, *end;
    bool bad;
};

static uint64_t take(struct bytes *b, uint64_t most)
{
    uint64_t v = 0;
    if (b->bad || !number_get(&b->p, b->end, &v) || v > most)
        b->bad = true;
    return b->bad ? 0 : v;
}

static void take_last(struct bytes *b, struct job_stat *s)
{
    s->nlast = (int)take(b, STAT_LAST);
    for (int i = 0; i < s->nlast; i++) {
        s->last_ids[i] = (uint32_t)s->newest_id - (uint32_t)take(b, UINT32_MAX);
        uint32_t outcome = (uint32_t)take(b, OUTCOME_COUNT - 1);
        b->bad |= outcome == OUTCOME_NONE;
        s->last[i] = outcome << OUTCOME_SHIFT | (uint32_t)take(b, TOOK_MAX);
    }
}

static void take_durations(struct bytes *b, struct job_stat *s)
{
    uint32_t took[DURATION_BUCKETS] = { 0 }, sum = 0;
    if (b->bad || !durations_add(took, slice_of((const char *)b->p, (size_t)(b->end - b->p)))) {
        b->bad = true;
        return;
    }
    for (int i = 0; i < DURATION_BUCKETS; i++) {
        b->bad |= took[i] >= HALVE_AT || (sum += took[i]) >= HALVE_AT;
        s->took[i] = (uint8_t)took[i];
    }
    s->ntook = sum;
}

bool job_stat_get(struct slice bytes, struct job_stat *ret)
{
    struct bytes b = { (const uint8_t *)bytes.p, NULL, !bytes.n };
    struct job_stat s = { .nlast = 0 };
    b.end = b.bad ? b.p : b.p + bytes.n;
    if (!b.bad)
        b.bad = *b.p++ != VERSION;
    for (int i = 1; i < OUTCOME_COUNT; i++)
        s.ends[i] = (int64_t)take(&b, INT64_MAX / 2);
    s.success_ms = (int64_t)take(&b, INT64_MAX);
    s.streak = (uint32_t)take(&b, UINT32_MAX);
    s.failed_id = (int64_t)take(&b, ID_MAX);
    s.failed_ms = (int64_t)take(&b, INT64_MAX);
    s.newest_id = (int64_t)take(&b, ID_MAX);
    take_last(&b, &s);
    take_durations(&b, &s);
    *ret = b.bad ? (struct job_stat){ .nlast = 0 } : s;
    return !b.bad;
}
