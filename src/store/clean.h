/* SPDX-License-Identifier: Apache-2.0 */
/* clean.h - log rows that go: which ones, and how far it has come. Part of store.h. */
#ifndef PEAL_STORE_CLEAN_H
#define PEAL_STORE_CLEAN_H

#include "model/scope.h"

#define CLEAN_GROUPS_MAX 1000 /* of a scope that is kept */

/* A walk over the log from the newest row to the oldest. Rows of live runs neither go nor count. */
struct log_clean {
    struct scope scope; /* of these groups */
    int64_t job_id;     /* of this job; 0: of any */
    int64_t before_ms;  /* with an earlier trigger_time; NEVER_MS: with any */
    bool failures_stay;
    int64_t keep;    /* the newest of them stay, so many */
    int64_t from_id; /* smaller ids are not looked at */
    /* how far it has come */
    int64_t below_id;   /* rows from this id on have been looked at */
    int64_t kept, gone; /* so many of them match */
};

/* What a user has asked for: a row of peal_clean, until it has been done. */
struct clean_request {
    int64_t id, made_ms;
    struct log_clean walk; /* its scope's ids are owned, failures_stay and from_id are not kept */
};

void clean_request_done(struct clean_request *r);

/* How many rows of a job there are in a chunk of the log. */
typedef void log_count_fn(void *ctx, int64_t job_id, int64_t n);

#endif
