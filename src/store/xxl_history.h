/* SPDX-License-Identifier: Apache-2.0 */
/* xxl_history.h - the log of an XXL-JOB into a database of ours, in slices of rows by id, each with
 * a transaction of its own; cut off at any place, the same call goes on.
 *
 * Marks in the target (bulk_mark_put) say which source the rows come from and since when they are
 * taken; the rows themselves say how far it came. What is there is compared with the source slice
 * by slice, and a slice that the source has changed since (a result that came, rows that were
 * deleted) is written anew: afterwards the target has what the source's snapshot has. Private to
 * src/store. One thread. */
#ifndef PEAL_STORE_XXL_HISTORY_H
#define PEAL_STORE_XXL_HISTORY_H

#include "store/xxl_rows.h"

struct xxl_history {
    const struct xxl_import *import; /* borrowed, as the rest is */
    const struct xxl_rows *rows;
    struct store *to;
    void (*progress)(void *ctx, const char *what, int64_t rows); /* NULL: none */
    void *ctx;
    bool begun;          /* by an earlier call; of xxl_history_look */
    int64_t since_ms;    /* rows from then on */
    int64_t there;       /* rows that were there and are as in the source */
    struct bulk_sum sum; /* of the source's rows */
};

/* Has an import into the target begun? Sets begun and since_ms. ERR_INVALID: yes, but from another
 * source, or of another number of days, or with another zone, or this call wants no log;
 * ERR_EXISTS: yes, and this one is a dry run. */
MUST_CHECK enum err xxl_history_look(struct xxl_history *h, struct why *why);
/* Sets the marks, where they are not there. The target is empty then. */
MUST_CHECK enum err xxl_history_begin(const struct xxl_history *h, struct why *why);
/* Rows; dry: each slice is written and undone. Sets there and sum. ERR_INVALID: a value that the
 * target cannot hold; a row is there under whose id the source has another run. */
MUST_CHECK enum err xxl_history_copy(struct xxl_history *h, struct why *why);
/* Within the transaction that ends the import: takes the marks away. */
MUST_CHECK enum err xxl_history_end(const struct xxl_history *h, struct why *why);

#endif
