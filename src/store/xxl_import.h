/* SPDX-License-Identifier: Apache-2.0 */
/* xxl_import.h - groups, jobs, scripts, users and registrations of an XXL-JOB database, into an
 * empty one of ours.
 *
 * Ids stay, so children, permissions and bookmarks keep their meaning. All of it is one
 * transaction: it is there, compared row by row, or nothing is. The log goes first, in slices, and
 * an import of it that was cut off goes on when it is called again; no server starts on the target
 * before. The source is only read. One thread. */
#ifndef PEAL_STORE_XXL_IMPORT_H
#define PEAL_STORE_XXL_IMPORT_H

#include "cron/zone.h"
#include "store/mysql/reader.h"
#include "store/store.h"

struct xxl_import {
    struct reader *from; /* borrowed, as the rest is */
    const struct layout *layout;
    struct zone *zone; /* of the source's datetimes */
    uint64_t place;    /* which source it is, by its URL; the same for each call */
    int days;          /* of the log, 0: without it */
    int64_t since_ms;  /* so many days before now; an import that had begun keeps its own */
    bool stopped;      /* jobs come stopped, whatever they were */
    bool dry;          /* look, and undo it */
};

enum { XXL_IMPORT_TABLES = 7 };

struct xxl_import_count {
    const char *what; /* "groups", ...; static */
    int64_t rows;
};

struct xxl_imported {
    struct xxl_import_count counts[XXL_IMPORT_TABLES];
    uint64_t sum;  /* over all rows, of both databases */
    bool resumed;  /* an import that had begun before */
    int64_t there; /* rows of the log that were there, as they are in the source */
};

/* to: opened with STORE_BULK_WRITE. progress: told before each table, and of each 1,000 rows; rows
 * so far. May be NULL. ERR_EXISTS: the target is not empty; ERR_INVALID: a value that it cannot
 * hold, named; another import has begun there; ERR_CORRUPT: what was written reads otherwise. */
MUST_CHECK enum err xxl_import_run(const struct xxl_import *m, struct store *to,
                                   void (*progress)(void *ctx, const char *what, int64_t rows),
                                   void *ctx, struct xxl_imported *ret, struct why *why);

/* Does a Java admin work on the source right now? Waits some seconds if a job is about to be due;
 * false also where nothing is due. */
MUST_CHECK enum err xxl_import_live(struct reader *from, bool *ret, struct why *why);

#endif
