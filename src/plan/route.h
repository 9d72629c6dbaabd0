/* SPDX-License-Identifier: Apache-2.0 */
/* route.h - which address of a group a run goes to: XXL-JOB's strategies.
 *
 * Stateless ones read the view; ROUND, LFU and LRU keep a little state per job, forgotten every
 * 24 hours as the original does; CONSISTENT_HASH keeps one hash ring a group. FAILOVER and
 * BUSYOVER begin with the first address: they choose by probing when the run is due.
 * Pure: dice come in as the seed. One thread per router. */
#ifndef PEAL_PLAN_ROUTE_H
#define PEAL_PLAN_ROUTE_H

#include "model/model.h"

struct router;

struct router *router_new(uint64_t seed);
void router_free(struct router *r);

/* Index into v->addresses for one run of the job; -1 if the view is empty. BROADCAST gives 0: its
 * shards are planned by the planner. now_ms is only used for the 24 hours. */
int router_pick(struct router *r, enum route route, int64_t job_id, const struct group_view *v,
                int64_t now_ms);

/* How many MD5 all picks have cost so far, for tests and benches. */
uint64_t router_hashes(const struct router *r);

#endif
