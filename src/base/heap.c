/* SPDX-License-Identifier: Apache-2.0 */
/* Slots hold key and order beside the entry, so that comparisons stay within the array. An entry
 * knows its slot, which makes removal one sift. */
#include "base/heap.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

struct heap_slot {
    int64_t at_ms;
    uint64_t order;
    struct heap_entry *entry;
};

void heap_init(struct heap *r)
{
    memset(r, 0, sizeof(*r));
}

void heap_done(struct heap *r)
{
    free(r->slots);
    heap_init(r);
}

static bool before(const struct heap_slot *a, const struct heap_slot *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->order < b->order;
}

static void put(struct heap *r, uint32_t i, struct heap_slot s)
{
    r->slots[i] = s;
    s.entry->place = i + 1;
}

static void sift_up(struct heap *r, uint32_t i, struct heap_slot s)
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

static void sift_down(struct heap *r, uint32_t i, struct heap_slot s)
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

void heap_add(struct heap *r, struct heap_entry *e, int64_t at_ms)
{
    heap_remove(r, e);
    if (r->len == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 64;
        r->slots = mem_resize(r->slots, r->cap * sizeof(*r->slots));
    }
    sift_up(r, r->len++, (struct heap_slot){ at_ms, r->order++, e });
}

void heap_remove(struct heap *r, struct heap_entry *e)
{
    if (!e->place)
        return;
    uint32_t i = e->place - 1;
    e->place = 0;
    struct heap_slot last = r->slots[--r->len];
    if (i == r->len)
        return;
    if (i > 0 && before(&last, &r->slots[(i - 1) / 4]))
        sift_up(r, i, last);
    else
        sift_down(r, i, last);
}

struct heap_entry *heap_pop(struct heap *r, int64_t now_ms)
{
    if (r->len == 0 || r->slots[0].at_ms > now_ms)
        return NULL;
    struct heap_entry *e = r->slots[0].entry;
    heap_remove(r, e);
    return e;
}

void heap_each(const struct heap *r, int64_t from_ms, int64_t until_ms,
               void (*fn)(void *ctx, struct heap_entry *e, int64_t at_ms), void *ctx)
{
    for (uint32_t i = 0; i < r->len; i++)
        if (r->slots[i].at_ms >= from_ms && r->slots[i].at_ms < until_ms)
            fn(ctx, r->slots[i].entry, r->slots[i].at_ms);
}

int64_t heap_next(const struct heap *r)
{
    return r->len ? r->slots[0].at_ms : INT64_MAX;
}

struct heap_entry *heap_first(const struct heap *r)
{
    return r->len ? r->slots[0].entry : NULL;
}
