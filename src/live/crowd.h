/* SPDX-License-Identifier: Apache-2.0 */
/* crowd.h - many changes of runs, told as one event: how many had which outcome, of which jobs.
 * Private to src/live; one thread. */
#ifndef PEAL_LIVE_CROWD_H
#define PEAL_LIVE_CROWD_H

#include "base/buf.h"
#include "model/log_outcome.h"
#include "model/scope.h"

struct crowd_change {
    int64_t job_id, group_id;
    enum log_outcome outcome;
};

struct crowd;

/* Sorts the changes. */
struct crowd *crowd_new(struct crowd_change *changes, size_t n, int64_t from_ms);
void crowd_free(struct crowd *c);
size_t crowd_bytes(const struct crowd *c); /* that it takes */
/* The JSON of `runs`, of the groups of the scope and of the jobs (ascending; 0 of them: all).
 * Names at most max_jobs. False: none of the changes was of these, and nothing is written. */
bool crowd_write(const struct crowd *c, const struct scope *scope, const int64_t *jobs,
                 size_t njobs, size_t max_jobs, struct buf *to);

#endif
