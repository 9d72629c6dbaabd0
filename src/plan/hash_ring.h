/* SPDX-License-Identifier: Apache-2.0 */
/* hash_ring.h - the ring of CONSISTENT_HASH: 100 points an address, shared by all jobs of a group.
 *
 * The points of an address are computed once. One that leaves the list stays on the ring, marked as
 * away, so that it costs nothing when it comes back; those that are away are dropped when they are
 * more than the longest list since the last drop, and 64. An address takes about 1 KB.
 * Pure; owned by its router. */
#ifndef PEAL_PLAN_HASH_RING_H
#define PEAL_PLAN_HASH_RING_H

#include "base/map.h"
#include "model/model.h"

struct hash_ring {
    struct textmap members;    /* address -> its number + 1 */
    int nmembers, longest;     /* the longest list since those that are away were dropped */
    int *index;                /* by number: the last place in the list, -1 = away */
    int npoints;               /* 100 a member */
    struct hash_point *points; /* by position */
    uint64_t version;          /* of the view that index tells of */
    int64_t group_id;          /* the router's, as the next one */
    uint64_t used;             /* when it was looked at last */
};

void hash_ring_init(struct hash_ring *ring);
void hash_ring_done(struct hash_ring *ring);

/* Bring the ring in line with the list. Costs a look at each address, and 100 MD5 for one that it
 * does not know. Returns how many MD5 that were. */
int hash_ring_set(struct hash_ring *ring, const struct group_view *v);

/* Index into the list of the address at this position or behind it. The list is not empty. */
int hash_ring_pick(const struct hash_ring *ring, uint32_t at);

/* Position on the ring: the first four bytes of MD5, little-endian (XXL-JOB 2.2 to 3.4). */
uint32_t route_hash(struct slice text);

#endif
