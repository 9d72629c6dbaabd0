/* SPDX-License-Identifier: Apache-2.0 */
/* failing.h - the jobs whose last run failed, by cause (model/cause.h), and how many each group
 * has. */
#ifndef PEAL_LIVE_FAILING_H
#define PEAL_LIVE_FAILING_H

#include "base/map.h"
#include "base/list.h"
#include "model/cause.h"
#include "model/log_outcome.h"
#include "model/scope.h"

struct failing {
    struct map jobs;   /* by id */
    struct map causes; /* by fingerprint */
};

struct failing_now { /* what is known of a job when a run of it fails */
    int64_t job_id, group_id;
    int64_t last_id;  /* log id of that run */
    int64_t since_ms; /* when the first of its failures in a row ended; 0: not known */
    uint32_t streak;
    const struct failure *failure; /* of that run; NULL: not known */
};

void failing_init(struct failing *f);
void failing_done(struct failing *f);
/* Its last run failed. What is not known stays as it was, and begins at at_ms. */
void failing_set(struct failing *f, const struct failing_now *now, int64_t at_ms);
/* Its last run succeeded, or it is gone. Harmless if it is not there. */
void failing_clear(struct failing *f, int64_t job_id);
void failing_move(struct failing *f, int64_t job_id, int64_t group_id);
/* Of the groups in scope. */
int64_t failing_count(const struct failing *f, const struct scope *scope);

/* Of each of these groups (ascending ids). */
void failing_by_group(const struct failing *f, const int64_t *groups, size_t n, int64_t *counts);

#define FAILING_CAUSES 20
#define FAILING_JOBS 8

struct failing_cause {
    char text[CAUSE_TEXT_MAX + 1]; /* folded; "" if the run said nothing */
    enum log_outcome outcome;      /* of one of them */
    char address[256];             /* of the executor, if it is the same for all; "" */
    int64_t group_id;              /* of all; 0: they are of several */
    int64_t since_ms;              /* the first of them */
    int64_t count;                 /* jobs */
    int n;                         /* jobs below: those that fail for longest */
    struct failing_job_now {
        int64_t id, last_id;
        uint32_t streak;
    } jobs[FAILING_JOBS];
};

/* Causes of the groups in scope, the one with most jobs first; how many. */
int failing_top(const struct failing *f, const struct scope *scope,
                struct failing_cause ret[FAILING_CAUSES]);
/* Ids of failing jobs, ascending, in scope; owned by the caller. */
struct failing_streak {
    int64_t job_id;
    uint32_t streak;
};
struct failing_streak *failing_streaks(const struct failing *f, const struct scope *scope,
                                       size_t *ret_n);

#endif
