/* SPDX-License-Identifier: Apache-2.0 */
/* heap.h - the timer heap: what is due next, to the millisecond.
 *
 * A 4-ary heap over (scheduled time, order of insertion): with the keys beside the pointers one
 * level costs one cache line, and removal of any entry is as cheap as taking the first. It knows no
 * clock; the scheduler keeps one timer heap in wall time for scheduled times and one in boot time
 * for waits, a loop one in boot time for its timers. (d-ary heaps: D. B. Johnson, Information
 * Processing Letters 4, 1975.) One thread. */
#ifndef PEAL_BASE_HEAP_H
#define PEAL_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_entry { /* embed it; the timer heap never allocates one */
    uint32_t place; /* private: index + 1, 0 while not linked */
};

struct heap {
    struct heap_slot *slots;
    uint32_t len, cap;
    uint64_t order;
};

void heap_init(struct heap *r);
void heap_done(struct heap *r);
/* Link e (moves it if it is linked already). */
void heap_add(struct heap *r, struct heap_entry *e, int64_t at_ms);
void heap_remove(struct heap *r, struct heap_entry *e); /* harmless when not linked */
/* The first entry if it is due at now_ms, unlinked; else NULL. Entries of one scheduled time come
 * in the order in which they were added. */
struct heap_entry *heap_pop(struct heap *r, int64_t now_ms);
/* Calls fn for each entry with from_ms <= scheduled time < until_ms, in no order. fn must not
 * change r. */
void heap_each(const struct heap *r, int64_t from_ms, int64_t until_ms,
               void (*fn)(void *ctx, struct heap_entry *e, int64_t at_ms), void *ctx);
/* When the first entry is due; INT64_MAX if there is none. */
int64_t heap_next(const struct heap *r);
/* The first entry, due or not, which stays linked; NULL if there is none. */
struct heap_entry *heap_first(const struct heap *r);

static inline bool heap_linked(const struct heap_entry *e)
{
    return e->place != 0;
}

#endif
