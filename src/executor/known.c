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

enum known_state known_find(const struct known *k, int64_t id)
{
    const void *mark = map_find(&k->ids, (uint64_t)id);
    if (!mark)
        return KNOWN_NOT;
    return mark == &live_mark ? KNOWN_LIVE : KNOWN_FINISHED;
}

void known_begin(struct known *k, int64_t id)
{
    if (id != 0)
        map_set(&k->ids, (uint64_t)id, &live_mark);
}

void known_drop(struct known *k, int64_t id)
{
    map_take(&k->ids, (uint64_t)id);
}

static void forget_oldest(struct known *k)
{
    map_take(&k->ids, (uint64_t)k->entries[k->first].id);
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

void known_finish(struct known *k, int64_t id, int64_t now_ms)
{
    if (id == 0)
        return;
    while (k->len &&
           (k->len >= k->keep || k->entries[k->first].finished_ms < now_ms - KNOWN_FOR_MS))
        forget_oldest(k);
    if (k->keep == 0) {
        known_drop(k, id);
        return;
    }
    if (k->len == k->cap)
        grow(k);
    k->entries[(k->first + k->len++) % k->cap] = (struct known_entry){ id, now_ms };
    map_set(&k->ids, (uint64_t)id, &finished_mark);
}
