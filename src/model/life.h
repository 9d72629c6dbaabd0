/* SPDX-License-Identifier: Apache-2.0 */
/* life.h - whether a server that shares a database with this one is still alive.
 *
 * A server writes numbers into the database that only it moves: its beat, its commits. A watcher
 * reads them again and again. No clock is compared with another: what counts is how long, by the
 * watcher's own boot clock, the watcher has seen the same numbers. Time between two reads counts
 * for LIFE_GAP_MS at most, so while the database does not answer, or the watcher is paused, no
 * server grows silent: afterwards each has the whole time to write again. Pure; one thread. */
#ifndef PEAL_MODEL_LIFE_H
#define PEAL_MODEL_LIFE_H

#include <stdint.h>

#define LIFE_LEASE_MS 3000 /* numbers that stood still for so long are those of a dead server */
#define LIFE_LOOK_MS 200   /* a watcher reads this often */
#define LIFE_GAP_MS 600    /* so much of the time between two reads counts */

enum life_sign { LIFE_MOVES, LIFE_QUIET, LIFE_OVER };

struct life_watch {        /* all zero: nothing was read yet */
    int64_t epoch;         /* the life; 0: none */
    int64_t beat, commits; /* its numbers at the last read */
    int64_t read_ms;       /* boot clock: the last read */
    int64_t quiet_ms;      /* how long they have been seen unchanged */
};

/* A read at boot_ms gave these numbers. LIFE_MOVES: it is the first, or the life or a number is
 * another than before. LIFE_OVER: unchanged for lease_ms. */
enum life_sign life_look(struct life_watch *w, int64_t boot_ms, int64_t lease_ms, int64_t epoch,
                         int64_t beat, int64_t commits);

#endif
