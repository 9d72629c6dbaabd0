/* SPDX-License-Identifier: Apache-2.0 */
/* backup.h - a database copied while a server uses it, and a copy put in a database's place.
 *
 * A backup is one file with the rights 0600, and beside it FILE.sha256 in the format of sha256sum.
 * It is written as FILE.part, checked, and gets its name only then. Everything here waits for the
 * disk; any thread, never the scheduler's or the writer's. */
#ifndef PEAL_STORE_BACKUP_H
#define PEAL_STORE_BACKUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/why.h"

/* Bytes done of all; all is 0 while the copy is checked, which takes a time that is not known.
 * false: stop, and the call ends with ERR_STOPPING. */
typedef bool store_step_fn(void *ctx, int64_t done, int64_t all);

struct store_backup {
    char path[PATH_MAX]; /* of the file */
    int64_t bytes;
    char sha256[65];
    int64_t at_ms;   /* all commits until then are in it */
    int64_t last_id; /* the last log id that it knows */
    int64_t open;    /* runs that had not ended */
    struct why odd;  /* what does not fit together in the database, although it is whole; or "" */
};

/* Copy the database as it is now to the file `to`, which must not exist; a folder, or a
 * name that ends with a slash, gets a file named by the time. ERR_EXISTS; ERR_BUSY: another backup
 * writes that file; ERR_FULL; ERR_NOTFOUND: there is no such database or folder; ERR_INVALID: not a
 * database of this release; ERR_CORRUPT. On any error no file with that name is made. */
MUST_CHECK enum err store_backup(const char *url, const char *to, store_step_fn *step, void *ctx,
                                 struct store_backup *ret, struct why *why);
/* Of the backups in a folder that store_backup has named, remove all but the newest keep >= 1, and
 * what killed backups have left. The file `made` stays in any case. */
MUST_CHECK enum err store_backup_keep(const char *folder, int keep, const char *made,
                                      struct why *why);
/* When the newest of these backups was made; 0: there is none. */
int64_t store_backup_newest_ms(const char *folder);

struct store_restored {
    char kept[PATH_MAX]; /* the folder that has the database which was replaced; "": there was none
                          */
    bool summed;         /* FILE.sha256 was there, and agrees */
    int64_t until_ms;    /* what happened later is not in it, within some seconds */
    int64_t last_id;     /* log ids go on behind this one */
    int64_t open;        /* runs that had not ended */
    int64_t jobs;        /* that are started */
    int64_t jobs_again;  /* of these, jobs that fire for scheduled times which they missed */
    struct why odd;      /* as above */
};

/* Put a checked copy of the file in the place of the database, which is kept. The copy begins a new
 * life: log ids are left out, no flight recorder or journal is believed, and every run that may
 * have been sent since the backup is reconciled. ERR_BUSY: a server, or another program, uses the
 * database. On any error the database is as it was. */
MUST_CHECK enum err store_restore(const char *url, const char *from, store_step_fn *step, void *ctx,
                                  struct store_restored *ret, struct why *why);

#endif
