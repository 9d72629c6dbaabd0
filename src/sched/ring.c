/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/ring.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

struct ring_slot {
    int64_t at_ms;
    uint64_t order;
    struct ring_entry *entry;
};

void ring_init(struct ring *r)
{
    memset(r, 0, sizeof(*r));
}

void ring_done(struct ring *r)
{
    free(r->slots);
    ring_init(r);
}

static bool before(const struct ring_slot *a, const struct ring_slot *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->order < b->order;
}

static void put(struct ring *r, uint32_t i, struct ring_slot s)
{
    r->slots[i] = s;
    s.entry->place = i + 1;
}

static void sift_up(struct ring *r, uint32_t i, struct ring_slot s)
{
    while (i > 0) {
        uint32_t parent = (i - 1) / 4;
        if (!before(&s, &r->slots[parent]))
            break;
        put(r, i, r->slots[parent]);
        i = parent;
    }
    put(r, i, s);
}

static void sift_down(struct ring *r, uint32_t i, struct ring_slot s)
{
    for (;;) {
        uint32_t first = i * 4 + 1, best = first;
        if (first >= r->len)
            break;
        for (uint32_t child = first + 1; child < first + 4 && child < r->len; child++)
            if (before(&r->slots[child], &r->slots[best]))
                best = child;
        if (!before(&r->slots[best], &s))
            break;
        put(r, i, r->slots[best]);
        i = best;
    }
    put(r, i, s);
}

void ring_add(struct ring *r, struct ring_entry *e, int64_t at_ms)
{
    ring_remove(r, e);
    if (r->len == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 64;
        r->slots = mem_resize(r->slots, r->cap * sizeof(*r->slots));
    }
    sift_up(r, r->len++, (struct ring_slot){ at_ms, r->order++, e });
}

void ring_remove(struct ring *r, struct ring_entry *e)
{
    if (!e->place)
        return;
    uint32_t i = e->place - 1;
    e->place = 0;
    struct ring_slot last = r->slots[--r->len];
    if (i == r->len)
        return;
    if (i > 0 && before(&last, &r->slots[(i - 1) / 4]))
        sift_up(r, i, last);
    else
        sift_down(r, i, last);
}

struct ring_entry *ring_pop(struct ring *r, int64_t now_ms)
{
    if (r->len == 0 || r->slots[0].at_ms > now_ms)
        return NULL;
    struct ring_entry *e = r->slots[0].entry;
    ring_remove(r, e);
    return e;
}

void ring_each(const struct ring *r, int64_t from_ms, int64_t until_ms,
               void (*fn)(void *ctx, struct ring_entry *e, int64_t at_ms), void *ctx)
{
    for (uint32_t i = 0; i < r->len; i++)
        if (r->slots[i].at_ms >= from_ms && r->slots[i].at_ms < until_ms)
            fn(ctx, r->slots[i].entry, r->slots[i].at_ms);
}

int64_t ring_next(const struct ring *r)
{
    return r->len ? r->slots[0].at_ms : INT64_MAX;
}
