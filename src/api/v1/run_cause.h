/* SPDX-License-Identifier: Apache-2.0 */
/* run_cause.h - others that fail like a run. Private to src/api; blocks on the store. */
#ifndef PEAL_API_V1_RUN_CAUSE_H
#define PEAL_API_V1_RUN_CAUSE_H

#include "api/front.h"
#include "base/jsonw.h"

/* The member sameCause of a run that has failed: other jobs that the asker may see, that fail now
 * for the same cause, and their failures in a row. */
void run_same_cause_write(struct web_call *call, struct jsonw *w, const struct log_record *r);

#endif
