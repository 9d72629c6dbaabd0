/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - text that lives as long as one parsed object: given out piece by piece, freed at once.
 * A zeroed struct is empty. Sized by input, so it refuses instead of aborting. One thread. */
#ifndef PEAL_WIRE_ARENA_H
#define PEAL_WIRE_ARENA_H

#include "base/str.h"

struct wire_arena_block;

struct wire_arena {
    struct wire_arena_block *blocks; /* owned */
    size_t used, cap;                /* of the first block */
};

/* n bytes, not cleared; NULL without memory. */
char *wire_arena_room(struct wire_arena *a, size_t n);
/* Give back the last n bytes of the latest room. */
static inline void wire_arena_shrink(struct wire_arena *a, size_t n)
{
    a->used -= n;
}
/* A terminated copy. */
char *wire_arena_copy(struct wire_arena *a, struct slice s);
void wire_arena_done(struct wire_arena *a);

#endif
