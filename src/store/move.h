/* SPDX-License-Identifier: Apache-2.0 */
/* move.h - a database of Peal into an empty one, on any engine: peal db move.
 *
 * The target remembers that a move has begun, and which database it comes from; no server starts on
 * it until the move has ended. A move that was cut off goes on where it stands when it is called
 * again. The source is only read. */
#ifndef PEAL_STORE_MOVE_H
#define PEAL_STORE_MOVE_H

#include "store/store.h"

enum move_step { MOVE_COPY, MOVE_COMPARE };

struct store_move {
    const char *from, *to; /* URLs */
    bool dry;              /* write each slice of rows, and undo it */
    /* After each slice; rows: of that table in this step, by this call. May be NULL. */
    void (*progress)(void *ctx, enum move_step step, const char *table, int64_t rows);
    void *ctx;
};

struct store_moved {
    int tables;
    int64_t rows;   /* of the source; dry: that were tried */
    uint64_t sum;   /* over all of them, of both databases */
    int64_t copied; /* rows that this call has written */
    bool resumed;   /* a move that had begun before */
    int64_t next_log_id;
};

/* One thread. ERR_BUSY: a server uses one of them. ERR_EXISTS: the target is not empty.
 * ERR_INVALID: no URL; the source was not stopped cleanly, or is not this release's, or was used
 * since the move began; the move had begun from another one; a value that the target cannot hold,
 * with its table and key. ERR_CORRUPT: what was written reads otherwise. Else the engines' errors.
 */
MUST_CHECK enum err store_move(const struct store_move *m, struct store_moved *ret,
                               struct why *why);

#endif
