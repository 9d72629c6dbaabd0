/* SPDX-License-Identifier: Apache-2.0 */
/* figure.h - what is counted in one slot of time: of the whole center, of a group, of a job.
 *
 * A run counts in the slot of its trigger_time. A figure is added to another by adding, its maxima
 * apart, so hours are sums of quarters and days of hours. Plain data; pure. */
#ifndef PEAL_MODEL_FIGURE_H
#define PEAL_MODEL_FIGURE_H

#include "cron/zone.h"
#include "model/end.h"

/* ---- durations by size --------------------------------------------------------------------------
 * Two buckets for each doubling: a percentile is right to a sixth or so. */

#define DURATION_BUCKETS 64

int duration_bucket(int64_t ms);      /* 0 to 63; the last one has no end */
int64_t duration_from_ms(int bucket); /* its first millisecond; of 64: where the last one ends */
/* The duration below which per_mille of those counted lie, interpolated; -1 if there is none. */
int64_t duration_at(const uint32_t counts[DURATION_BUCKETS], int per_mille);

/* Sparse bytes: those buckets that are not 0. */
void durations_put(struct buf *to, const uint32_t counts[DURATION_BUCKETS]);
/* Add what stands there (bytes of unknown origin) to counts, which stop at UINT32_MAX. False: not
 * what durations_put writes; then counts are as they were. */
bool durations_add(uint32_t counts[DURATION_BUCKETS], struct slice bytes);

/* ---- figures --------------------------------------------------------------------------------- */

struct figure {
    int64_t counts[OUTCOME_COUNT]; /* that of OUTCOME_NONE is not used */
    int64_t took_ms, late_ms;      /* sums */
    int64_t took_max_ms, late_max_ms;
};

void figure_end(struct figure *f, const struct run_end *e); /* count an end */
void figure_add(struct figure *to, const struct figure *by);
/* With a log row that says how it failed: as XXL-JOB's report counts. */
int64_t figure_failed(const struct figure *f);

/* ---- slots -----------------------------------------------------------------------------------
 * The number of a slot is its level and its first minute. Quarter hours are those of UTC, which
 * every zone shares; hours and days are those of the server's zone. */

enum figure_level {
    FIGURE_QUARTER = 1, /* of the whole and of groups, as the next two */
    FIGURE_HOUR,
    FIGURE_DAY,
    FIGURE_JOB_HOUR,
    FIGURE_JOB_DAY,
    FIGURE_LEVELS
};

/* Of an instant, epoch milliseconds; below 1970 counts as 1970. */
int64_t figure_slot(enum figure_level level, const struct zone *zone, int64_t ms);
int64_t figure_slot_ms(int64_t slot); /* when it begins */
enum figure_level figure_slot_level(int64_t slot);
/* A slot of the level that begins then: a bound for ranges of slots. */
int64_t figure_slot_at(enum figure_level level, int64_t begin_ms);

/* One row of peal_figure. */
struct figure_row {
    int64_t slot;
    int64_t group_id; /* 0: the whole, or a job */
    int64_t job_id;   /* 0: a group, or the whole */
    int64_t node;
    int64_t through; /* number of the last commit that it includes */
    struct figure figure;
    const uint32_t *durations; /* DURATION_BUCKETS; NULL: none are kept (jobs) */
};

#endif
