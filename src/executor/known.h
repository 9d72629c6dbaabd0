/* SPDX-License-Identifier: Apache-2.0 */
/* known.h - the log ids that this executor has seen: what makes a run run once.
 *
 * Live ids (queued or running) are all known; of the finished ones the last "keep" or those of one
 * day, whichever are fewer. Id 0 is what a request without an id has: it is never known. Pure; one
 * thread at a time. */
#ifndef PEAL_EXECUTOR_KNOWN_H
#define PEAL_EXECUTOR_KNOWN_H

#include "base/map.h"

#define KNOWN_FOR_MS 86400000

struct known {
    struct map ids; /* values: two marks, live and finished */
    struct known_entry {
        int64_t id, finished_ms;
    } * entries; /* the finished ones, a ring in order of time; owned */
    size_t cap, first, len, keep;
};

void known_init(struct known *k, size_t keep);
void known_done(struct known *k);
enum known_state { KNOWN_NOT, KNOWN_LIVE, KNOWN_FINISHED };
enum known_state known_find(const struct known *k, int64_t id);
/* An id that is KNOWN_NOT becomes live. */
void known_begin(struct known *k, int64_t id);
/* A live id is finished; now_ms never goes back. */
void known_finish(struct known *k, int64_t id, int64_t now_ms);
/* A live id was not taken after all: forget it. */
void known_drop(struct known *k, int64_t id);

#endif
