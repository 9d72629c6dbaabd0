/* SPDX-License-Identifier: Apache-2.0 */
/* job_stat.h - how a job is doing: its last runs, its failures in a row, how long it takes.
 *
 * Ends come in the order in which they were written, which need not be that of the scheduled times.
 * What never ran (skipped, withdrawn) is no end here. Plain data; pure. */
#ifndef PEAL_MODEL_JOB_STAT_H
#define PEAL_MODEL_JOB_STAT_H

#include "model/figure.h"

#define STAT_LAST 20
#define STAT_BYTES_MAX 1024 /* of job_stat_put */

struct job_stat {
    int64_t ends[OUTCOME_COUNT];  /* ever, by their first outcome: none of them falls */
    int64_t success_ms;           /* when the last one succeeded; 0: none yet */
    int64_t failed_id, failed_ms; /* the first of the failures in a row: log id, when it ended */
    int64_t newest_id;            /* the largest log id among the last ones */
    uint32_t streak;              /* failures in a row; 0: the last run succeeded, or none ended */
    int nlast;
    uint32_t last[STAT_LAST];       /* newest first: outcome and duration, see job_stat_last */
    uint32_t last_ids[STAT_LAST];   /* the low 32 bits of their log ids */
    uint8_t took[DURATION_BUCKETS]; /* of about the last 100 to 200 results */
    int64_t ntook;                  /* their number */
};

struct last_run {
    int64_t log_id;
    enum outcome outcome;
    int64_t took_ms; /* at most 74 hours are kept */
};

/* i from 0 (newest) to nlast - 1. */
struct last_run job_stat_last(const struct job_stat *s, int i);
/* Count an end at that time (epoch ms, not before 1970). */
void job_stat_end(struct job_stat *s, const struct run_end *e, int64_t at_ms);
/* The same, with the last runs in the order of their log ids, whatever the order in which their
 * ends come: servers that hear of each other's ends at different times come to the same. */
void job_stat_end_by_id(struct job_stat *s, const struct run_end *e, int64_t at_ms);
/* What *s knows, and what another server that ends runs of the same job knows: as if one had
 * counted both, their runs in the order of their log ids. Which failures beyond the last ones are
 * in a row is taken from the one whose success is the later. */
void job_stat_join(struct job_stat *s, const struct job_stat *other);
/* Durations as duration_at wants them; how many there are. */
int job_stat_durations(const struct job_stat *s, uint32_t ret[DURATION_BUCKETS]);

#define STUCK_MIN_MS 10000 /* no run is stuck before */
/* So long a run of the job may be open before it counts as stuck: three times as long as 95 of 100
 * of the last ones have taken, STUCK_MIN_MS at least. -1: there are too few results to say. */
int64_t job_stat_stuck_ms(const struct job_stat *s);

/* The bytes of peal_job_stat.state; about 150. */
void job_stat_put(struct buf *to, const struct job_stat *s);
/* Bytes of unknown origin. False: they are not what job_stat_put writes, *ret is empty. */
bool job_stat_get(struct slice bytes, struct job_stat *ret);

/* One row of peal_job_stat. */
struct job_stat_row {
    int64_t job_id, node;
    int64_t through;             /* as that of struct figure_row */
    const struct job_stat *stat; /* borrowed */
};

#endif
