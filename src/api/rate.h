/* SPDX-License-Identifier: Apache-2.0 */
/* rate.h - how often somebody may ask: token buckets in a table of fixed size. Private to src/api;
 * pure, not thread-safe.
 *
 * A bucket holds as many requests as a minute allows, and fills at that rate. One that is full is
 * as good as one that is not there, so what has not asked for a minute needs no place. Where there
 * is no place left, the bucket that is the fullest gives up its own: nobody gains much by that, and
 * one of somebody who is known (rate_keep) stays before those of strangers. */
#ifndef PEAL_API_RATE_H
#define PEAL_API_RATE_H

#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

#define RATE_SLOTS 4096
#define RATE_WINDOW_S 60

struct rate_slot {
    uint64_t key;  /* 0: free */
    int64_t at_ms; /* when level was so */
    int64_t level; /* thousandths of a request */
    int quota;     /* requests a minute */
    bool kept;
};

struct rate_table {
    uint64_t secret; /* so that no one can choose slots; random, from the caller */
    struct rate_slot slots[RATE_SLOTS];
};

struct rate_state {
    int left;        /* requests that may follow at once */
    int64_t full_ms; /* until it is full again */
    int64_t wait_ms; /* until one may follow; 0: now */
};

/* The key of a text; what: one character a kind of key. Never 0. */
uint64_t rate_key(const struct rate_table *t, char what, struct slice text);
/* Is there a bucket that was kept? */
bool rate_known(const struct rate_table *t, uint64_t key);
/* How the bucket is. */
struct rate_state rate_look(const struct rate_table *t, uint64_t key, int quota, int64_t now_ms);
/* Take one. False: there is none left, and nothing was taken. */
bool rate_take(struct rate_table *t, uint64_t key, int quota, int64_t now_ms,
               struct rate_state *ret);
/* Keep the bucket of somebody who is known now; a new one is full. */
void rate_keep(struct rate_table *t, uint64_t key, int quota, int64_t now_ms);

#endif
