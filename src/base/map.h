/* SPDX-License-Identifier: Apache-2.0 */
/* map.h - hash tables by 64-bit number and by text, open addressing with linear probing.
 *
 * Values are borrowed pointers, never NULL. Deleting shifts back, so no tombstones pile up.
 * Iteration order is unspecified but the same for the same history: the simulation relies on it.
 * Pure; owned by one thread at a time. */
#ifndef PEAL_BASE_MAP_H
#define PEAL_BASE_MAP_H

#include "base/str.h"

struct map { /* number -> pointer */
    struct map_slot {
        uint64_t key;
        void *value; /* NULL marks a free slot */
    } * slots;       /* key and value side by side: in a large map each look is one cache miss */
    size_t cap, len;
};

void map_init(struct map *m);
void map_done(struct map *m);
void *map_find(const struct map *m, uint64_t key); /* NULL if absent */
/* Adds or replaces; returns the value that was there before, or NULL. */
void *map_set(struct map *m, uint64_t key, void *value);
void *map_take(struct map *m, uint64_t key); /* removes; NULL if absent */
/* Walk: for (size_t i = 0; map_next(&m, &i, &value);) – do not change the map meanwhile. */
bool map_next(const struct map *m, size_t *i, void **ret_value);
/* Some value; NULL when there is none. To empty a map in linear time, take each before the next
 * call: for (size_t i = 0; (v = map_any(&m, &i));). *i is where to look: 0 at first. */
void *map_any(const struct map *m, size_t *i);

struct textmap { /* text -> pointer; keys are copied */
    struct textmap_slot *slots;
    size_t cap, len;
};

void textmap_init(struct textmap *m);
void textmap_done(struct textmap *m);
void *textmap_find(const struct textmap *m, struct slice key);
void *textmap_set(struct textmap *m, struct slice key, void *value);
void *textmap_take(struct textmap *m, struct slice key);
bool textmap_next(const struct textmap *m, size_t *i, void **ret_value);

/* The hash that both use (Stafford's mix 13 of splitmix64; FNV-1a mixed for text). */
uint64_t hash_u64(uint64_t x);
uint64_t hash_text(struct slice s);

#endif
