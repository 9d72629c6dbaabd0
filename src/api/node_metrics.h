/* SPDX-License-Identifier: Apache-2.0 */
/* node_metrics.h - the servers of the database, as each of them sees all, for /metrics. Private to
 * src/api; on a worker. */
#ifndef PEAL_API_NODE_METRICS_H
#define PEAL_API_NODE_METRICS_H

#include "api/front.h"
#include "store/store.h"

#define NODE_LEASE_MS 2000 /* for so long from a beat on a server may send (docs/clusters.md) */

/* How old the last beat is, by the database's clock, with which each server compares its own. -1:
 * this life has sent none yet. own: of this server. */
int64_t node_beat_age_ms(const struct node_record *r, const struct metrics *own);
/* "up", "draining", "stopped" or "dead". */
const char *node_state(const struct node_record *r);
/* Nothing where the database is a file. ERR: what the store said. */
MUST_CHECK enum err node_metrics_write(struct web_call *call, struct buf *out, struct why *why);

#endif
