/* SPDX-License-Identifier: Apache-2.0 */
/* consequences.h - what actions on jobs take away, added up. Private to src/api; blocks. */
#ifndef PEAL_API_V1_CONSEQUENCES_H
#define PEAL_API_V1_CONSEQUENCES_H

#include "api/front.h"
#include "base/jsonw.h"

struct consequences {
    int64_t withdrawn, retries, open; /* planned firings, retries; runs that are out */
    int64_t firings;                  /* of the next 24 hours */
    int64_t parents, rows;            /* of deletions: jobs that name them as children; log rows */
};

/* Add those of one job. */
MUST_CHECK enum err consequences_add(struct web_call *call, const struct job_record *r,
                                     enum edit_kind kind, struct consequences *sum,
                                     struct why *why);
/* Is the job to be scheduled while its schedule has no firing from now on? */
bool consequences_over(struct web_call *call, const struct job_record *r);
/* The member key: which firings of the next 24 hours vanish, appear, move when one takes the
 * other's place, and up to 100 of them; null if none does. before or after NULL: there is none. */
void consequences_firings(struct web_call *call, const struct job_record *before,
                          const struct job_record *after, struct jsonw *w, const char *key);
/* The members, into an object that is open. */
void consequences_write(struct jsonw *w, const struct consequences *sum);

#endif
