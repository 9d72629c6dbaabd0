/* SPDX-License-Identifier: Apache-2.0 */
/* Sources with connections stand in lists by the power of two of their number: a connection that
 * comes or goes moves its source by one list at most, and one of the largest is found at once. */
#include "net/sources.h"
#include <stdlib.h>
#include "base/mem.h"
#include "net/addr.h"

void sources_init(struct sources *t)
{
    *t = (struct sources){ .nknown = 0 };
    map_init(&t->by_key);
    for (int known = 0; known < 2; known++)
        for (int i = 0; i < SOURCE_SIZES; i++)
            list_init(&t->sizes[known][i]);
    list_init(&t->proofs);
}

static void source_free(struct sources *t, struct source *s)
{
    map_take(&t->by_key, s->key);
    list_remove(&s->by_size);
    list_remove(&s->by_proof);
    free(s);
}

/* Into the list of its number, at the end: it has been there for the shortest time. */
static void place(struct sources *t, struct source *s)
{
    list_remove(&s->by_size);
    if (s->n == 0)
        return;
    int size = 31 - __builtin_clz((unsigned)s->n);
    if (size >= SOURCE_SIZES)
        size = SOURCE_SIZES - 1;
    list_push(&t->sizes[s->known][size], &s->by_size);
}

static void forget(struct sources *t, struct source *s)
{
    s->known = false;
    list_remove(&s->by_proof);
    t->nknown--;
    place(t, s);
    if (s->refs == 0)
        source_free(t, s);
}

static void forget_old(struct sources *t, int64_t now_ms)
{
    for (struct list_node *n; (n = list_first(&t->proofs));) {
        struct source *s = container_of(n, struct source, by_proof);
        if (t->nknown <= SOURCES_KNOWN_MAX && now_ms - s->proved_ms < SOURCE_KNOWN_MS)
            return;
        forget(t, s);
    }
}

void sources_done(struct sources *t)
{
    for (struct list_node *n; (n = list_first(&t->proofs));)
        forget(t, container_of(n, struct source, by_proof));
    map_done(&t->by_key);
}

struct source *source_get(struct sources *t, const struct sockaddr_storage *peer, int64_t now_ms)
{
    forget_old(t, now_ms);
    uint64_t key = addr_key(peer);
    struct source *s = map_find(&t->by_key, key);
    if (!s) {
        s = mem_new(sizeof(*s));
        s->key = key;
        list_init(&s->unproved);
        map_set(&t->by_key, key, s);
    }
    s->refs++;
    return s;
}

void source_put(struct sources *t, struct source *s)
{
    if (--s->refs == 0 && !s->known)
        source_free(t, s);
}

void source_add(struct sources *t, struct source *s, struct list_node *connection)
{
    list_push(&s->unproved, connection);
    s->n++;
    place(t, s);
}

void source_drop(struct sources *t, struct source *s, struct list_node *connection)
{
    list_remove(connection);
    s->n--;
    place(t, s);
}

void source_proved(struct sources *t, struct source *s, int64_t now_ms)
{
    s->proved_ms = now_ms;
    list_remove(&s->by_proof);
    list_push(&t->proofs, &s->by_proof);
    if (s->known)
        return;
    s->known = true;
    t->nknown++;
    place(t, s);
    forget_old(t, now_ms);
}

struct source *sources_largest(const struct sources *t, bool known, int n)
{
    for (int i = SOURCE_SIZES - 1; i >= 0; i--)
        list_each(&t->sizes[known][i], node, tmp)
        {
            if (n-- == 0)
                return container_of(node, struct source, by_size);
        }
    return NULL;
}
