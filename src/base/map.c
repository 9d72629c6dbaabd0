/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing; a table grows at three quarters. Deletion shifts the
 * following entries back, so that a search ends at the first free slot. */
#include "base/map.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

uint64_t hash_u64(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t hash_text(struct slice s)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3u;
    return hash_u64(h);
}

void map_init(struct map *m)
{
    memset(m, 0, sizeof(*m));
}

void map_done(struct map *m)
{
    free(m->slots);
    map_init(m);
}

/* Slot of the key, or of the free place where it would go. The table is never full. */
static struct map_slot *map_slot(const struct map *m, uint64_t key)
{
    size_t i = hash_u64(key) & (m->cap - 1);
    while (m->slots[i].value && m->slots[i].key != key)
        i = (i + 1) & (m->cap - 1);
    return &m->slots[i];
}

static void map_grow(struct map *m)
{
    struct map old = *m;
    m->cap = old.cap ? old.cap * 2 : 16;
    m->slots = mem_new(m->cap * sizeof(*m->slots));
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].value)
            *map_slot(m, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

void *map_find(const struct map *m, uint64_t key)
{
    return m->cap ? map_slot(m, key)->value : NULL;
}

void *map_set(struct map *m, uint64_t key, void *value)
{
    if ((m->len + 1) * 4 > m->cap * 3)
        map_grow(m);
    struct map_slot *s = map_slot(m, key);
    void *old = s->value;
    *s = (struct map_slot){ key, value };
    m->len += !old;
    return old;
}

void *map_take(struct map *m, uint64_t key)
{
    if (!m->cap)
        return NULL;
    size_t mask = m->cap - 1, hole = (size_t)(map_slot(m, key) - m->slots);
    void *value = m->slots[hole].value;
    if (!value)
        return NULL;
    m->len--;
    for (size_t i = (hole + 1) & mask; m->slots[i].value; i = (i + 1) & mask) {
        size_t home = hash_u64(m->slots[i].key) & mask;
        if (((i - home) & mask) < ((i - hole) & mask))
            continue; /* its home lies behind the hole: it must stay */
        m->slots[hole] = m->slots[i];
        hole = i;
    }
    m->slots[hole].value = NULL;
    return value;
}

bool map_next(const struct map *m, size_t *i, void **ret_value)
{
    while (*i < m->cap) {
        void *value = m->slots[(*i)++].value;
        if (value) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}

void *map_any(const struct map *m, size_t *i)
{
    if (!m->len)
        return NULL;
    while (!m->slots[*i & (m->cap - 1)].value) /* what was taken may have shifted others there */
        ++*i;
    return m->slots[*i & (m->cap - 1)].value;
}

struct textmap_slot {
    char *key; /* owned, terminated */
    size_t n;
    uint64_t hash;
    void *value; /* NULL marks a free slot */
};

void textmap_init(struct textmap *m)
{
    memset(m, 0, sizeof(*m));
}

void textmap_done(struct textmap *m)
{
    for (size_t i = 0; i < m->cap; i++)
        free(m->slots[i].key);
    free(m->slots);
    textmap_init(m);
}

static size_t textmap_slot(const struct textmap *m, struct slice key, uint64_t hash)
{
    size_t i = hash & (m->cap - 1);
    while (m->slots[i].value) {
        const struct textmap_slot *s = &m->slots[i];
        if (s->hash == hash && s->n == key.n && memcmp(s->key, key.p, key.n) == 0)
            break;
        i = (i + 1) & (m->cap - 1);
    }
    return i;
}

static void textmap_grow(struct textmap *m)
{
    struct textmap old = *m;
    m->cap = old.cap ? old.cap * 2 : 16;
    m->slots = mem_new(m->cap * sizeof(*m->slots));
    for (size_t i = 0; i < old.cap; i++) {
        struct textmap_slot *s = &old.slots[i];
        if (s->value)
            m->slots[textmap_slot(m, slice_of(s->key, s->n), s->hash)] = *s;
    }
    free(old.slots);
}

void *textmap_find(const struct textmap *m, struct slice key)
{
    return m->cap ? m->slots[textmap_slot(m, key, hash_text(key))].value : NULL;
}

void *textmap_set(struct textmap *m, struct slice key, void *value)
{
    if ((m->len + 1) * 4 > m->cap * 3)
        textmap_grow(m);
    uint64_t hash = hash_text(key);
    struct textmap_slot *s = &m->slots[textmap_slot(m, key, hash)];
    void *old = s->value;
    if (!old) {
        *s = (struct textmap_slot){ mem_dupn(key.p ? key.p : "", key.n), key.n, hash, NULL };
        m->len++;
    }
    s->value = value;
    return old;
}

void *textmap_take(struct textmap *m, struct slice key)
{
    if (!m->cap)
        return NULL;
    size_t mask = m->cap - 1, hole = textmap_slot(m, key, hash_text(key));
    void *value = m->slots[hole].value;
    if (!value)
        return NULL;
    free(m->slots[hole].key);
    m->len--;
    for (size_t i = (hole + 1) & mask; m->slots[i].value; i = (i + 1) & mask) {
        size_t home = m->slots[i].hash & mask;
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        m->slots[hole] = m->slots[i];
        hole = i;
    }
    memset(&m->slots[hole], 0, sizeof(m->slots[hole]));
    return value;
}

bool textmap_next(const struct textmap *m, size_t *i, void **ret_value)
{
    while (*i < m->cap) {
        void *value = m->slots[(*i)++].value;
        if (value) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}
