/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_copy.h - a copy of a database file and whether it is whole. Private to src/store. */
#ifndef PEAL_STORE_SQLITE_SQLITE_COPY_H
#define PEAL_STORE_SQLITE_SQLITE_COPY_H

#include "store/backup.h"
#include "store/sqlite/sqlite_db.h"

/* errno as an error: "cannot WHAT PATH: …". */
enum err file_failed(const char *what, const char *path, struct why *why);
/* Is there room for so many bytes beside path? */
enum err file_has_room(const char *path, int64_t bytes, struct why *why);
/* SHA-256 of all that the descriptor's file holds. */
enum err file_sum(int fd, const char *path, char hex[65], struct why *why);

/* Copy what the database holds now to the empty file `to`, which is open as fd. The copy is a file
 * of its own, without a write-ahead log. *ret_ms: the time of the snapshot. */
enum err sqlite_copy(struct sqlite *s, const char *to, int fd, store_step_fn *step, void *ctx,
                     int64_t *ret_ms, struct why *why);
/* Does SQLite find the file whole? ERR_CORRUPT names its first complaint, ERR_INVALID: not a
 * database of this program. */
enum err sqlite_whole(const char *path, store_step_fn *step, void *ctx, struct why *why);
/* What the server relies on beyond that; ret_odd says what does not fit. */
enum err sqlite_facts_check(struct sqlite *s, int64_t *ret_last_id, int64_t *ret_open,
                            struct why *ret_odd, struct why *why);

#endif
