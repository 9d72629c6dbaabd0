/* SPDX-License-Identifier: Apache-2.0 */
/* A map from key to one of two marks, live and finished, and a ring of the finished keys in the
 * order in which they ended. Only the front of the ring is ever forgotten: by count, or by age,
 * when the next run ends. */
#include "executor/core/dedup.h"
#include <stdlib.h>
#include "base/mem.h"

static char live_mark, finished_mark;

void dedup_init(struct dedup *d, size_t keep)
{
    *d = (struct dedup){ .keep = keep };
    map_init(&d->ids);
}

void dedup_done(struct dedup *d)
{
    map_done(&d->ids);
    free(d->entries);
}

uint64_t dedup_key(int64_t id, int64_t date_ms)
{
    return hash_u64(hash_u64((uint64_t)id) + (uint64_t)date_ms);
}

enum dedup_state dedup_find(const struct dedup *d, int64_t id, int64_t date_ms)
{
    if (id == 0)
        return DEDUP_NOT;
    const void *mark = map_find(&d->ids, dedup_key(id, date_ms));
    if (!mark)
        mark = map_find(&d->ids, dedup_key(id, 0));
    if (!mark)
        return DEDUP_NOT;
    return mark == &live_mark ? DEDUP_LIVE : DEDUP_FINISHED;
}

void dedup_begin(struct dedup *d, int64_t id, int64_t date_ms)
{
    if (id != 0)
        map_set(&d->ids, dedup_key(id, date_ms), &live_mark);
}

void dedup_drop(struct dedup *d, int64_t id, int64_t date_ms)
{
    if (id != 0)
        map_take(&d->ids, dedup_key(id, date_ms));
}

static void forget_oldest(struct dedup *d)
{
    map_take(&d->ids, d->entries[d->first].key);
    d->first = (d->first + 1) % d->cap;
    d->len--;
}

/* Twice the room, the entries in order from 0 on. */
static void grow(struct dedup *d)
{
    size_t cap = d->cap ? d->cap * 2 : 64;
    struct dedup_entry *to = mem_new(cap * sizeof(*to));
    for (size_t i = 0; i < d->len; i++)
        to[i] = d->entries[(d->first + i) % d->cap];
    free(d->entries);
    d->entries = to;
    d->cap = cap;
    d->first = 0;
}

void dedup_finish(struct dedup *d, int64_t id, int64_t date_ms, int64_t now_ms)
{
    if (id == 0)
        return;
    while (d->len &&
           (d->len >= d->keep || d->entries[d->first].finished_ms < now_ms - DEDUP_FOR_MS))
        forget_oldest(d);
    if (d->keep == 0) {
        dedup_drop(d, id, date_ms);
        return;
    }
    if (d->len == d->cap)
        grow(d);
    uint64_t key = dedup_key(id, date_ms);
    d->entries[(d->first + d->len++) % d->cap] = (struct dedup_entry){ key, now_ms };
    map_set(&d->ids, key, &finished_mark);
}
