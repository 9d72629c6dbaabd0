/* SPDX-License-Identifier: Apache-2.0 */
/* dedup.h - the dedup set: the runs that this executor has seen, so that each runs once.
 *
 * A run is its log id and its logDateTime together: a center that was set up anew counts its ids
 * from 1 again. Dates of 0 (of a request without one, or of a journal that did not keep them) match
 * any. Live runs (queued or running) are all in it; of the finished ones the last "keep" or those
 * of one day, whichever are fewer. Id 0 is what a request without an id has: it is never in the
 * set. Pure; one thread at a time. */
#ifndef PEAL_EXECUTOR_CORE_DEDUP_H
#define PEAL_EXECUTOR_CORE_DEDUP_H

#include "base/map.h"

#define DEDUP_FOR_MS 86400000

struct dedup {
    struct map ids; /* by dedup_key; values: two marks, live and finished */
    struct dedup_entry {
        uint64_t key;
        int64_t finished_ms;
    } * entries; /* the finished ones, a ring in order of time; owned */
    size_t cap, first, len, keep;
};

void dedup_init(struct dedup *d, size_t keep);
void dedup_done(struct dedup *d);
enum dedup_state { DEDUP_NOT, DEDUP_LIVE, DEDUP_FINISHED };
enum dedup_state dedup_find(const struct dedup *d, int64_t id, int64_t date_ms);
/* A run that is DEDUP_NOT becomes live. */
void dedup_begin(struct dedup *d, int64_t id, int64_t date_ms);
/* A live run is finished; now_ms never goes back. */
void dedup_finish(struct dedup *d, int64_t id, int64_t date_ms, int64_t now_ms);
/* A live run was not taken after all: forget it. */
void dedup_drop(struct dedup *d, int64_t id, int64_t date_ms);
/* Both in one number. Two runs of a million have the same once in 10^13 times: then the second is
 * taken for a repeat of the first. */
uint64_t dedup_key(int64_t id, int64_t date_ms);

#endif
