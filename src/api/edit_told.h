/* SPDX-License-Identifier: Apache-2.0 */
/* edit_told.h - waits until all servers that share the database know an edit of a job. */
#ifndef PEAL_API_EDIT_TOLD_H
#define PEAL_API_EDIT_TOLD_H

#include "api/front.h"

/* The edit is on disk. A worker's thread; returns at once where no other server had runs of the job
 * that may leave. ERR_TIMEOUT after 1 s: why names the servers that have not heard of it. */
MUST_CHECK enum err edit_told(struct web_call *call, const struct edit *done, struct why *why);
/* The same of each of n edits that one transaction has made; all of them are looked at within that
 * second. The first that fails. */
MUST_CHECK enum err edits_told(struct web_call *call, struct edit *const *done, int n,
                               struct why *why);

#endif
