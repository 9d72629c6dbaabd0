/* SPDX-License-Identifier: Apache-2.0 */
/* waiting.h - calls that wait for a worker: bounded, and shared out by address. Private to src/api.
 *
 * Sources (net/sources.h) take turns: one call of each, so a source that floods waits behind
 * itself. When the queue is full, the source that has the most calls in it gives up its newest for
 * a source that has fewer. Not thread-safe; the caller locks. */
#ifndef PEAL_API_WAITING_H
#define PEAL_API_WAITING_H

#include "base/list.h"
#include <stdbool.h>
#include <stdint.h>

struct waiting_call { /* in its owner */
    struct list_node node;
    uint64_t source;
};

struct waiting {
    struct list shares; /* sources that wait; whose turn is next first */
    int n, max;
};

void waiting_init(struct waiting *w, int max);
/* Puts call in; its source is set. The call that has no place then, which may be this one, or NULL.
 */
struct waiting_call *waiting_put(struct waiting *w, struct waiting_call *call);
/* The next one; NULL if none waits. */
struct waiting_call *waiting_take(struct waiting *w);

#endif
