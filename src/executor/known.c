/* SPDX-License-Identifier: Apache-2.0 */
#include "executor/known.h"
#include <stdlib.h>
#include "base/mem.h"

static char live_mark, finished_mark;

void known_init(struct known *k, size_t keep)
{
    *k = (struct known){ .keep = keep };
    map_init(&k->ids);
}

void known_done(struct known *k)
{
    map_done(&k->ids);
    free(k->entries);
}

uint64_t known_key(int64_t id, int64_t date_ms)
{
    return hash_u64(hash_u64((uint64_t)id) + (uint64_t)date_ms);
}

enum known_state known_find(const struct known *k, int64_t id, int64_t date_ms)
{
    if (id == 0)
        return KNOWN_NOT;
    const void *mark = map_find(&k->ids, known_key(id, date_ms));
    if (!mark)
        mark = map_find(&k->ids, known_key(id, 0));
    if (!mark)
        return KNOWN_NOT;
    return mark == &live_mark ? KNOWN_LIVE : KNOWN_FINISHED;
}

void known_begin(struct known *k, int64_t id, int64_t date_ms)
{
    if (id != 0)
        map_set(&k->ids, known_key(id, date_ms), &live_mark);
}

void known_drop(struct known *k, int64_t id, int64_t date_ms)
{
    if (id != 0)
        map_take(&k->ids, known_key(id, date_ms));
}

static void forget_oldest(struct known *k)
{
    map_take(&k->ids, k->entries[k->first].key);
    k->first = (k->first + 1) % k->cap;
    k->len--;
}

/* Twice the room, the entries in order from 0 on. */
static void grow(struct known *k)
{
    size_t cap = k->cap ? k->cap * 2 : 64;
    struct known_entry *to = mem_new(cap * sizeof(*to));
    for (size_t i = 0; i < k->len; i++)
        to[i] = k->entries[(k->first + i) % k->cap];
    free(k->entries);
    k->entries = to;
    k->cap = cap;
    k->first = 0;
}

void known_finish(struct known *k, int64_t id, int64_t date_ms, int64_t now_ms)
{
    if (id == 0)
        return;
    while (k->len &&
           (k->len >= k->keep || k->entries[k->first].finished_ms < now_ms - KNOWN_FOR_MS))
        forget_oldest(k);
    if (k->keep == 0) {
        known_drop(k, id, date_ms);
        return;
    }
    if (k->len == k->cap)
        grow(k);
    uint64_t key = known_key(id, date_ms);
    k->entries[(k->first + k->len++) % k->cap] = (struct known_entry){ key, now_ms };
    map_set(&k->ids, key, &finished_mark);
}
