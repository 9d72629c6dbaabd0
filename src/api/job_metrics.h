/* SPDX-License-Identifier: Apache-2.0 */
/* job_metrics.h - metrics of single jobs, for /metrics. Private to src/api; on a worker. */
#ifndef PEAL_API_JOB_METRICS_H
#define PEAL_API_JOB_METRICS_H

#include "api/front.h"

/* Of the jobs that the setting says, and of which a run has ended. ERR: what the store said. */
MUST_CHECK enum err job_metrics_write(struct web_call *call, struct buf *out, struct why *why);

#endif
