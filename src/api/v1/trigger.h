/* SPDX-License-Identifier: Apache-2.0 */
/* trigger.h - the body {"param","addresses"} by which a job is run now: /jobs/{id}/trigger and
 * /runs/{id}/rerun. Private to src/api; blocks. */
#ifndef PEAL_API_V1_TRIGGER_H
#define PEAL_API_V1_TRIGGER_H

#include "api/front.h"

/* Run the job as the call's body says, and answer the call: 201 with the run's id. param: where the
 * body has none; NULL: the job's own. */
void v1_trigger(struct web_call *call, const struct job_record *job, const char *param);

#endif
