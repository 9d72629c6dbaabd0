/* SPDX-License-Identifier: Apache-2.0 */
/* ring.h - the timer: what is due next, to the millisecond.
 *
 * A 4-ary heap over (moment, order of insertion): with the keys beside the pointers one level costs
 * one cache line, and removal of any entry is as cheap as taking the first. It knows no clock; the
 * scheduler keeps one ring in wall time for moments and one in boot time for waits.
 * (d-ary heaps: D. B. Johnson, Information Processing Letters 4, 1975.) One thread. */
#ifndef PEAL_SCHED_RING_H
#define PEAL_SCHED_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_entry { /* embed it; the ring never allocates one */
    uint32_t place; /* private: index + 1, 0 while not linked */
};

struct ring {
    struct ring_slot *slots;
    uint32_t len, cap;
    uint64_t order;
};

void ring_init(struct ring *r);
void ring_done(struct ring *r);
/* Link e (moves it if it is linked already). */
void ring_add(struct ring *r, struct ring_entry *e, int64_t at_ms);
void ring_remove(struct ring *r, struct ring_entry *e); /* harmless when not linked */
/* The first entry if it is due at now_ms, unlinked; else NULL. Entries of one moment come in the
 * order in which they were added. */
struct ring_entry *ring_pop(struct ring *r, int64_t now_ms);
/* Calls fn for each entry with from_ms <= moment < until_ms, in no order. fn must not change r. */
void ring_each(const struct ring *r, int64_t from_ms, int64_t until_ms,
               void (*fn)(void *ctx, struct ring_entry *e, int64_t at_ms), void *ctx);
/* When the first entry is due; INT64_MAX if there is none. */
int64_t ring_next(const struct ring *r);

static inline bool ring_linked(const struct ring_entry *e)
{
    return e->place != 0;
}

#endif
