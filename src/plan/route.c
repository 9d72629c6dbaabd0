/* SPDX-License-Identifier: Apache-2.0 */
/* The strategies that keep state hold it in one small record per job: a counter for ROUND; for LFU
 * and LRU one use per address, keyed by the address's hash so that a changed list keeps what it
 * knows about those that stayed. */
#include "plan/route.h"
#include "base/dice.h"
#include "base/map.h"
#include "base/mem.h"
#include "plan/hash_ring.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_MS (24 * 3600 * 1000LL)
#define COUNT_MAX 1000000  /* after this a counter starts anew (compatibility 7.5) */
#define MEMBERS_MAX 100000 /* addresses on all rings, about 1 KB each */

struct use { /* of one address by one job */
    uint64_t address;
    uint64_t n; /* LFU: how often; LRU: when, by the job's own tick */
};

struct memory {    /* of one job */
    int64_t count; /* ROUND; -1 = not yet */
    uint64_t tick; /* LRU */
    enum route of; /* LFU and LRU count different things: a changed route starts anew */
    int nuses;
    struct use *uses;
    int64_t group_id; /* of the view that uses are in line with */
    uint64_t version;
};

struct router {
    struct dice dice;
    int64_t reset_ms; /* when the memories are forgotten */
    struct map memories;
    struct map rings;         /* group id -> struct hash_ring: all jobs of a group share one */
    struct hash_ring by_hand; /* of lists made for one run */
    int members;              /* of all rings */
    uint64_t looks, hashes;
};

struct router *router_new(uint64_t seed)
{
    struct router *r = mem_new(sizeof(*r));
    r->dice.state = seed;
    map_init(&r->memories);
    map_init(&r->rings);
    hash_ring_init(&r->by_hand);
    return r;
}

static void forget(struct router *r)
{
    void *value;
    for (size_t i = 0; map_next(&r->memories, &i, &value);) {
        free(((struct memory *)value)->uses);
        free(value);
    }
    map_done(&r->memories);
}

static void ring_free(struct router *r, struct hash_ring *ring)
{
    r->members -= ring->nmembers;
    hash_ring_done(ring);
    free(ring);
}

void router_free(struct router *r)
{
    if (!r)
        return;
    forget(r);
    void *value;
    for (size_t i = 0; map_next(&r->rings, &i, &value);)
        ring_free(r, value);
    map_done(&r->rings);
    hash_ring_done(&r->by_hand);
    free(r);
}

static struct memory *memory_of(struct router *r, int64_t job_id)
{
    struct memory *m = map_find(&r->memories, (uint64_t)job_id);
    if (!m) {
        m = mem_new(sizeof(*m));
        m->count = -1;
        map_set(&r->memories, (uint64_t)job_id, m);
    }
    return m;
}

static int pick_round(struct router *r, int64_t job_id, int n)
{
    struct memory *m = memory_of(r, job_id);
    if (m->count < 0 || m->count > COUNT_MAX)
        m->count = dice_below(&r->dice, 100);
    else
        m->count++;
    return (int)(m->count % n);
}

static struct memory *memory_for(struct router *r, int64_t job_id, enum route route)
{
    struct memory *m = memory_of(r, job_id);
    if (m->of != route) {
        m->of = route;
        m->nuses = 0;
        m->tick = 0;
    }
    return m;
}

/* Lists are sorted or change little: what is looked for stands right behind what was found last. */
static const struct use *use_of(const struct memory *m, uint64_t address, int *at)
{
    for (int i = 0; i < m->nuses; i++) {
        int k = (*at + i) % m->nuses;
        if (m->uses[k].address == address) {
            *at = k + 1;
            return &m->uses[k];
        }
    }
    return NULL;
}

/* Lines the uses up with the view: uses[i] belongs to address i; unseen ones have n = UINT64_MAX.
 */
static void align_uses(struct memory *m, const struct group_view *v)
{
    bool same = v->version && v->version == m->version && v->group_id == m->group_id;
    if (same && m->nuses == v->n)
        return;
    m->version = v->version;
    m->group_id = v->group_id;
    struct use *uses = mem_new((size_t)v->n * sizeof(*uses));
    for (int i = 0, at = 0; i < v->n; i++) {
        uint64_t address = hash_text(slice_text(v->addresses[i]));
        const struct use *old = use_of(m, address, &at);
        uses[i] = (struct use){ address, old ? old->n : UINT64_MAX };
    }
    free(m->uses);
    m->uses = uses;
    m->nuses = v->n;
}

static int least(const struct memory *m)
{
    int best = 0;
    for (int i = 1; i < m->nuses; i++)
        if (m->uses[i].n < m->uses[best].n)
            best = i;
    return best;
}

static int pick_lfu(struct router *r, int64_t job_id, const struct group_view *v)
{
    struct memory *m = memory_for(r, job_id, ROUTE_LFU);
    align_uses(m, v);
    for (int i = 0; i < v->n; i++)
        if (m->uses[i].n > COUNT_MAX) /* unseen or worn out */
            m->uses[i].n = dice_below(&r->dice, (uint32_t)v->n);
    int best = least(m);
    m->uses[best].n++;
    return best;
}

static int pick_lru(struct router *r, int64_t job_id, const struct group_view *v)
{
    struct memory *m = memory_for(r, job_id, ROUTE_LRU);
    align_uses(m, v);
    for (int i = 0; i < v->n; i++)
        if (m->uses[i].n == UINT64_MAX) /* appended in list order, behind all that were used */
            m->uses[i].n = ++m->tick;
    int best = least(m);
    m->uses[best].n = ++m->tick;
    return best;
}

static struct hash_ring *ring_of(struct router *r, int64_t group_id)
{
    struct hash_ring *ring = map_find(&r->rings, (uint64_t)group_id);
    if (!ring) {
        ring = mem_new(sizeof(*ring));
        hash_ring_init(ring);
        ring->group_id = group_id;
        map_set(&r->rings, (uint64_t)group_id, ring);
    }
    ring->used = ++r->looks;
    return ring;
}

static struct hash_ring *oldest_ring(const struct router *r)
{
    struct hash_ring *oldest = NULL;
    void *value;
    for (size_t i = 0; map_next(&r->rings, &i, &value);) {
        struct hash_ring *ring = value;
        if (!oldest || ring->used < oldest->used)
            oldest = ring;
    }
    return oldest;
}

/* The others' rings go, the one that was looked at longest ago first; also those of groups that are
 * no more. */
static void bound_rings(struct router *r)
{
    while (r->members > MEMBERS_MAX && r->rings.len > 1) {
        struct hash_ring *oldest = oldest_ring(r);
        map_take(&r->rings, (uint64_t)oldest->group_id);
        ring_free(r, oldest);
    }
}

static const struct hash_ring *ring_for(struct router *r, const struct group_view *v)
{
    if (v->version == 0) { /* made for one run: it leaves the group's alone */
        r->hashes += (uint64_t)hash_ring_set(&r->by_hand, v);
        return &r->by_hand;
    }
    struct hash_ring *ring = ring_of(r, v->group_id);
    if (ring->version != v->version) {
        r->members -= ring->nmembers;
        r->hashes += (uint64_t)hash_ring_set(ring, v);
        r->members += ring->nmembers;
        bound_rings(r);
    }
    return ring;
}

static int pick_hash(struct router *r, int64_t job_id, const struct group_view *v)
{
    char text[24];
    int n = snprintf(text, sizeof(text), "%lld", (long long)job_id);
    r->hashes++;
    return hash_ring_pick(ring_for(r, v), route_hash(slice_of(text, (size_t)n)));
}

uint64_t router_hashes(const struct router *r)
{
    return r->hashes;
}

int router_pick(struct router *r, enum route route, int64_t job_id, const struct group_view *v,
                int64_t now_ms)
{
    if (!v || v->n == 0)
        return -1;
    if (now_ms > r->reset_ms) {
        forget(r);
        r->reset_ms = now_ms + DAY_MS;
    }
    switch (route) {
    case ROUTE_LAST:
        return v->n - 1;
    case ROUTE_ROUND:
        return pick_round(r, job_id, v->n);
    case ROUTE_RANDOM:
        return (int)dice_below(&r->dice, (uint32_t)v->n);
    case ROUTE_CONSISTENT_HASH:
        return pick_hash(r, job_id, v);
    case ROUTE_LFU:
        return pick_lfu(r, job_id, v);
    case ROUTE_LRU:
        return pick_lru(r, job_id, v);
    default:
        return 0;
    }
}
