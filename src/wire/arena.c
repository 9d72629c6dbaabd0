/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of blocks, each twice the last up to 1 MiB, freed together. A piece never moves. */
#include "wire/arena.h"
#include <stdlib.h>
#include <string.h>

#define BLOCK 1024

struct wire_arena_block {
    struct wire_arena_block *next;
    char data[];
};

char *wire_arena_room(struct wire_arena *a, size_t n)
{
    if (!a->blocks || n > a->cap - a->used) {
        size_t cap = a->cap < (1u << 20) ? a->cap * 2 : a->cap;
        if (cap < BLOCK)
            cap = BLOCK;
        if (cap < n)
            cap = n;
        struct wire_arena_block *b = malloc(sizeof(*b) + cap);
        if (!b)
            return NULL;
        b->next = a->blocks;
        a->blocks = b;
        a->cap = cap;
        a->used = 0;
    }
    char *p = a->blocks->data + a->used;
    a->used += n;
    return p;
}

char *wire_arena_copy(struct wire_arena *a, struct slice s)
{
    char *p = wire_arena_room(a, s.n + 1);
    if (!p)
        return NULL;
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return p;
}

void wire_arena_done(struct wire_arena *a)
{
    while (a->blocks) {
        struct wire_arena_block *next = a->blocks->next;
        free(a->blocks);
        a->blocks = next;
    }
    a->used = a->cap = 0;
}
