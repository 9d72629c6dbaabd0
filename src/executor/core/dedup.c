/* SPDX-License-Identifier: Apache-2.0 */
#include "executor/core/dedup.h"
#include <stdlib.h>
#include "base/mem.h"

static char live_mark, finished_mark;

void dedup_init(struct dedup *k, size_t keep)
{
    *k = (struct dedup){ .keep = keep };
    map_init(&k->ids);
}

void dedup_done(struct dedup *k)
{
    map_done(&k->ids);
    free(k->entries);
}

uint64_t dedup_key(int64_t id, int64_t date_ms)
{
    return hash_u64(hash_u64((uint64_t)id) + (uint64_t)date_ms);
}

enum dedup_state dedup_find(const struct dedup *k, int64_t id, int64_t date_ms)
{
    if (id == 0)
        return DEDUP_NOT;
    const void *mark = map_find(&k->ids, dedup_key(id, date_ms));
    if (!mark)
        mark = map_find(&k->ids, dedup_key(id, 0));
    if (!mark)
        return DEDUP_NOT;
    return mark == &live_mark ? DEDUP_LIVE : DEDUP_FINISHED;
}

void dedup_begin(struct dedup *k, int64_t id, int64_t date_ms)
{
    if (id != 0)
        map_set(&k->ids, dedup_key(id, date_ms), &live_mark);
}

void dedup_drop(struct dedup *k, int64_t id, int64_t date_ms)
{
    if (id != 0)
        map_take(&k->ids, dedup_key(id, date_ms));
}

static void forget_oldest(struct dedup *k)
{
    map_take(&k->ids, k->entries[k->first].key);
    k->first = (k->first + 1) % k->cap;
    k->len--;
}

/* Twice the room, the entries in order from 0 on. */
static void grow(struct dedup *k)
{
    size_t cap = k->cap ? k->cap * 2 : 64;
    struct dedup_entry *to = mem_new(cap * sizeof(*to));
    for (size_t i = 0; i < k->len; i++)
        to[i] = k->entries[(k->first + i) % k->cap];
    free(k->entries);
    k->entries = to;
    k->cap = cap;
    k->first = 0;
}

void dedup_finish(struct dedup *k, int64_t id, int64_t date_ms, int64_t now_ms)
{
    if (id == 0)
        return;
    while (k->len &&
           (k->len >= k->keep || k->entries[k->first].finished_ms < now_ms - DEDUP_FOR_MS))
        forget_oldest(k);
    if (k->keep == 0) {
        dedup_drop(k, id, date_ms);
        return;
    }
    if (k->len == k->cap)
        grow(k);
    uint64_t key = dedup_key(id, date_ms);
    k->entries[(k->first + k->len++) % k->cap] = (struct dedup_entry){ key, now_ms };
    map_set(&k->ids, key, &finished_mark);
}
