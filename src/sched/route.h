/* SPDX-License-Identifier: Apache-2.0 */
/* route.h - which address of a group a run goes to: XXL-JOB's strategies.
 *
 * Stateless ones read the view; ROUND, LFU and LRU keep a little state per job, forgotten every
 * 24 hours as the original does; CONSISTENT_HASH keeps the hash ring of each view. FAILOVER and
 * BUSYOVER begin with the first address: they choose by probing when the run is due.
 * Pure: dice come in as the seed. One thread per router. */
#ifndef PEAL_SCHED_ROUTE_H
#define PEAL_SCHED_ROUTE_H

#include "sched/model.h"

struct router;

struct router *router_new(uint64_t seed);
void router_free(struct router *r);

/* Index into v->addresses for one run of the job; -1 if the view is empty. BROADCAST gives 0: its
 * shards are laid out by the planner. now_ms is only used for the 24 hours. */
int router_pick(struct router *r, enum route route, int64_t job_id, const struct group_view *v,
                int64_t now_ms);

/* Position on the hash ring: the first four bytes of MD5, little-endian (XXL-JOB 2.2 to 3.4). */
uint32_t route_hash(struct slice text);

#endif
