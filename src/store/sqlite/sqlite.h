/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite.h - what only the embedded database needs: checkpoints, compaction, ids after
 * a restore. */
#ifndef PEAL_STORE_SQLITE_SQLITE_H
#define PEAL_STORE_SQLITE_SQLITE_H

#include "store/backup.h"
#include "store/store.h"

/* Move what the write-ahead log holds into the database file. Call on a read-only handle of a
 * thread of its own, about once a second: it waits for the disk only, and neither
 * delays the writer nor readers. Without such calls the writer does it itself once the log has
 * 64 MiB, between two transactions. *ret_left (may be NULL): pages still only in the log. */
MUST_CHECK enum err store_sqlite_checkpoint(struct store *s, int64_t *ret_left, struct why *why);

/* Leave out 2^24 log ids: for a restored backup, whose counter does not know the ids that were
 * given after it was made. Needs a transaction. */
MUST_CHECK enum err store_sqlite_jump_ids(struct store *s, struct why *why);

/* As store_compact, for a file. */
MUST_CHECK enum err store_sqlite_compact(const char *path, store_progress_fn *progress, void *ctx,
                                         struct store_compacted *ret, struct why *why);

/* As store_backup with a file's name, and store_restore. */
MUST_CHECK enum err store_sqlite_backup(const char *path, const char *to, store_step_fn *step,
                                        void *ctx, struct store_backup *ret, struct why *why);
MUST_CHECK enum err store_sqlite_restore(const char *path, const char *from, store_step_fn *step,
                                         void *ctx, struct store_restored *ret, struct why *why);

/* Instructions of SQLite's virtual machine that this handle has executed: what work depends on,
 * without a clock. Tests use it to show that planning does not grow with the stored jobs. */
int64_t store_sqlite_steps(struct store *s);

#endif
