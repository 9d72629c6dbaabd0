/* SPDX-License-Identifier: Apache-2.0 */
/* forecast.h - how many firings lie in each minute of the next 24 hours, and which seconds are the
 * fullest.
 *
 * A thread of its own reads all scheduled jobs in slices of a few milliseconds, rests as long after
 * each, and begins anew every ten minutes; a job that is edited meanwhile is taken out and put in
 * again. What is asked is added up for the asker's groups. A job costs some 60 bytes, a schedule
 * that several jobs have is kept once. */
#ifndef PEAL_LIVE_FORECAST_H
#define PEAL_LIVE_FORECAST_H

#include "base/err.h"
#include "base/why.h"
#include "model/scope.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct center;
struct forecast;

enum { FORECAST_MINUTES = 1440, FORECAST_PEAKS = 10, FORECAST_PEAK_JOBS = 10, FORECAST_TIMES = 64 };

struct forecast_peak { /* a full second */
    int64_t at_ms, count;
    int64_t jobs[FORECAST_PEAK_JOBS]; /* some of them, the smallest ids */
    int njobs;
};

struct forecast_view {
    int64_t from_ms;     /* the minute that goes on */
    int64_t computed_ms; /* when the last pass ended; of the first when it began */
    bool partial;        /* the first pass goes on */
    int64_t counts[FORECAST_MINUTES];
    struct forecast_peak peaks[FORECAST_PEAKS]; /* at least two jobs each; the fullest first */
    int npeaks;
};

/* Starts the thread. Aborts if the system has none left. */
MUST_CHECK enum err forecast_new(struct center *c, struct forecast **ret, struct why *why);
void forecast_free(struct forecast *f); /* NULL is fine */

/* Any thread, does not wait for the database: the job was edited, or is gone. */
void forecast_changed(struct forecast *f, int64_t job_id);

/* Any thread. The next `minutes` of them, of groups that are in the scope and in only (NULL: any).
 */
void forecast_look(struct forecast *f, const struct scope *scope, const struct scope *only,
                   int64_t now_ms, int minutes, struct forecast_view *ret);

/* Any thread. How many jobs in the scope, but for one, fire in each of n <= FORECAST_TIMES seconds.
 * False: it is not known yet. */
bool forecast_crowd(struct forecast *f, const struct scope *scope, int64_t but_job,
                    const int64_t *times_ms, int n, int64_t *ret_counts);

#endif
