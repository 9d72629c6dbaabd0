/* SPDX-License-Identifier: Apache-2.0 */
/* health.h - probes and metrics. Private to src/api.
 *
 * Probes are answered on the scheduler's loop: that /livez answers at all says that it turns. They
 * never look at the database themselves, and tell nothing but yes or no unless asked from this
 * machine. */
#ifndef PEAL_API_HEALTH_H
#define PEAL_API_HEALTH_H

#include "api/front.h"

bool health_path(struct slice path); /* without context path */
/* Scheduler's thread. started: the first user is there. */
void health_serve(struct center *c, bool started, struct httpd_request *q);
/* Worker: /metrics, text format 0.0.4. */
void health_metrics(struct web_call *call);

#endif
