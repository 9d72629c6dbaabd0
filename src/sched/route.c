/* SPDX-License-Identifier: Apache-2.0 */
/* The strategies that keep state hold it in one small record per job: a counter for ROUND; for LFU
 * and LRU one use per address, keyed by the address's hash so that a changed list keeps what it
 * knows about those that stayed. */
#include "sched/route.h"
#include "base/dice.h"
#include "base/map.h"
#include "base/md5.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_MS (24 * 3600 * 1000LL)
#define COUNT_MAX 1000000 /* after this a counter starts anew (compatibility 7.5) */
#define NODES 100         /* virtual nodes an address */

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

struct point {
    uint32_t at;
    int index;
};

struct hash_ring { /* of one group's view */
    uint64_t version;
    int n;
    struct point *points; /* by position, one per position */
};

struct router {
    struct dice dice;
    int64_t reset_ms; /* when the memories are forgotten */
    struct map memories, rings;
};

struct router *router_new(uint64_t seed)
{
    struct router *r = mem_new(sizeof(*r));
    r->dice.state = seed;
    map_init(&r->memories);
    map_init(&r->rings);
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

void router_free(struct router *r)
{
    if (!r)
        return;
    forget(r);
    void *value;
    for (size_t i = 0; map_next(&r->rings, &i, &value);) {
        free(((struct hash_ring *)value)->points);
        free(value);
    }
    map_done(&r->rings);
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

uint32_t route_hash(struct slice text)
{
    unsigned char d[16];
    md5(text.p, text.n, d);
    return (uint32_t)d[0] | (uint32_t)d[1] << 8 | (uint32_t)d[2] << 16 | (uint32_t)d[3] << 24;
}

static int by_position(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->index - y->index;
}

static void ring_build(struct hash_ring *ring, const struct group_view *v)
{
    ring->version = v->version;
    ring->points = mem_resize(ring->points, (size_t)v->n * NODES * sizeof(*ring->points));
    struct buf key = BUF_INIT(1024);
    int n = 0;
    for (int i = 0; i < v->n; i++) {
        for (int k = 0; k < NODES; k++) {
            buf_reset(&key);
            buf_printf(&key, "SHARD-%s-NODE-%d", v->addresses[i], k);
            ring->points[n++] = (struct point){ route_hash(slice_of(key.data, key.len)), i };
        }
    }
    buf_done(&key);
    qsort(ring->points, (size_t)n, sizeof(*ring->points), by_position);
    ring->n = 0;
    for (int i = 0; i < n; i++) /* at equal positions the address later in the list wins */
        if (i + 1 == n || ring->points[i].at != ring->points[i + 1].at)
            ring->points[ring->n++] = ring->points[i];
}

static int pick_hash(struct router *r, int64_t job_id, const struct group_view *v)
{
    struct hash_ring *ring = map_find(&r->rings, (uint64_t)v->group_id);
    if (!ring) {
        ring = mem_new(sizeof(*ring));
        map_set(&r->rings, (uint64_t)v->group_id, ring);
    }
    if (!ring->points || ring->version != v->version || v->version == 0) /* 0: made for one run */
        ring_build(ring, v);
    char text[24];
    int n = snprintf(text, sizeof(text), "%lld", (long long)job_id);
    uint32_t at = route_hash(slice_of(text, (size_t)n));
    int low = 0, high = ring->n; /* first point at or behind the job's position */
    while (low < high) {
        int middle = (low + high) / 2;
        if (ring->points[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return ring->points[low < ring->n ? low : 0].index;
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
