/* SPDX-License-Identifier: Apache-2.0 */
/* Points stand in one array sorted by position, and a point names its member, not its place in the
 * list: a list that changes moves no points. New points are sorted alone and then moved in between
 * the others, block by block, so a change of one address among thousands costs one pass of memmove.
 */
#include "plan/hash_ring.h"
#include "base/md5.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define NODES 100    /* points an address */
#define AWAY_FREE 64 /* addresses that may be away besides as many as the list had */

struct hash_point {
    uint32_t at;
    int member;
};

uint32_t route_hash(struct slice text)
{
    unsigned char d[16];
    md5(text.p, text.n, d);
    return (uint32_t)d[0] | (uint32_t)d[1] << 8 | (uint32_t)d[2] << 16 | (uint32_t)d[3] << 24;
}

void hash_ring_init(struct hash_ring *ring)
{
    memset(ring, 0, sizeof(*ring));
    textmap_init(&ring->members);
}

void hash_ring_done(struct hash_ring *ring)
{
    textmap_done(&ring->members);
    free(ring->index);
    free(ring->points);
    hash_ring_init(ring);
}

static void add_points(const struct hash_ring *ring, const char *address, struct hash_point *to)
{
    struct buf key = BUF_INIT(64 + strlen(address));
    for (int k = 0; k < NODES; k++) {
        buf_reset(&key);
        buf_printf(&key, "SHARD-%s-NODE-%d", address, k);
        to[k] = (struct hash_point){ route_hash(slice_of(key.data, key.len)), ring->nmembers };
    }
    buf_done(&key);
}

static int member_of(const struct hash_ring *ring, const char *address)
{
    return (int)(intptr_t)textmap_find(&ring->members, slice_text(address)) - 1;
}

static int by_position(const void *a, const void *b)
{
    const struct hash_point *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->member - y->member;
}

/* The first point at or behind the position; npoints = none. */
static int first_at(const struct hash_ring *ring, int npoints, uint32_t at)
{
    int low = 0, high = npoints;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (ring->points[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* From behind: each block of old points moves once, straight to its place. */
static void merge(struct hash_ring *ring, struct hash_point *fresh, int n)
{
    qsort(fresh, (size_t)n, sizeof(*fresh), by_position);
    size_t size = sizeof(*ring->points);
    ring->points = mem_resize(ring->points, (size_t)(ring->npoints + n) * size);
    int end = ring->npoints;
    for (int left = n; left > 0; left--) {
        int from = first_at(ring, end, fresh[left - 1].at);
        memmove(&ring->points[from + left], &ring->points[from], (size_t)(end - from) * size);
        ring->points[from + left - 1] = fresh[left - 1];
        end = from;
    }
    ring->npoints += n;
}

static void *value_of(int number) /* nothing is ever read through it */
{
    return (void *)(intptr_t)number; /* NOLINT(performance-no-int-to-ptr) the map holds numbers */
}

/* Those that the ring does not know become members. Returns how many points they have. */
static int learn(struct hash_ring *ring, const struct group_view *v)
{
    int n = 0;
    for (int i = 0; i < v->n; i++)
        n += member_of(ring, v->addresses[i]) < 0;
    if (n == 0)
        return 0;
    struct hash_point *fresh = mem_new((size_t)n * NODES * sizeof(*fresh));
    n = 0; /* counted anew: an address may stand in the list twice */
    for (int i = 0; i < v->n; i++) {
        if (member_of(ring, v->addresses[i]) >= 0)
            continue;
        add_points(ring, v->addresses[i], &fresh[n]);
        n += NODES;
        textmap_set(&ring->members, slice_text(v->addresses[i]), value_of(++ring->nmembers));
    }
    merge(ring, fresh, n);
    free(fresh);
    ring->index = mem_resize(ring->index, (size_t)ring->nmembers * sizeof(*ring->index));
    return n;
}

/* Keeps what the list has; the members get new numbers. */
static void drop_away(struct hash_ring *ring, const struct group_view *v)
{
    int *number = mem_new((size_t)ring->nmembers * sizeof(*number)), n = 0;
    struct textmap members;
    textmap_init(&members);
    for (int i = 0; i < v->n; i++) {
        int m = member_of(ring, v->addresses[i]);
        if (number[m])
            continue; /* in the list twice */
        number[m] = ++n;
        textmap_set(&members, slice_text(v->addresses[i]), value_of(n));
    }
    textmap_done(&ring->members);
    ring->members = members;
    ring->nmembers = n;
    int kept = 0;
    for (int i = 0; i < ring->npoints; i++) {
        struct hash_point p = ring->points[i];
        if (number[p.member])
            ring->points[kept++] = (struct hash_point){ p.at, number[p.member] - 1 };
    }
    free(number);
    ring->npoints = kept;
    ring->points = mem_resize(ring->points, (size_t)kept * sizeof(*ring->points));
    ring->longest = v->n;
}

int hash_ring_set(struct hash_ring *ring, const struct group_view *v)
{
    int hashes = learn(ring, v);
    if (v->n > ring->longest)
        ring->longest = v->n;
    if (ring->nmembers > v->n + ring->longest + AWAY_FREE)
        drop_away(ring, v);
    for (int i = 0; i < ring->nmembers; i++)
        ring->index[i] = -1;
    for (int i = 0; i < v->n; i++)
        ring->index[member_of(ring, v->addresses[i])] = i;
    ring->version = v->version;
    return hashes;
}

/* At equal positions the address later in the list wins. */
static int latest_at(const struct hash_ring *ring, int from)
{
    int best = -1;
    for (int i = from; i < ring->npoints && ring->points[i].at == ring->points[from].at; i++)
        if (ring->index[ring->points[i].member] > best)
            best = ring->index[ring->points[i].member];
    return best;
}

int hash_ring_pick(const struct hash_ring *ring, uint32_t at)
{
    int from = first_at(ring, ring->npoints, at);
    for (int i = 0; i < ring->npoints; i++) {
        int best = latest_at(ring, (from + i) % ring->npoints);
        if (best >= 0)
            return best;
    }
    return -1;
}
