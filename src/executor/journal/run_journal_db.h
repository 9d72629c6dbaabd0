/* SPDX-License-Identifier: Apache-2.0 */
/* run_journal_db.h - the file of the executor's run journal. Private to run_journal*.c; one thread
 * at a time.
 *
 * Two tables. `run` has what is still owed, keyed by seq; `told` the ids of what a center has, in
 * the order in which it got them. A row that moves on leaves `run`, so that its pages are used
 * again at once and a million remembered ids are 30 MB and not the pages that their requests once
 * filled.
 *
 * From the ground up: run_journal_db.c (rows), run_journal_connect.c (the file),
 * run_journal_rescue.c (a damaged one), run_journal_open.c (the lock, and which of these it takes),
 * run_journal.c. */
#ifndef PEAL_EXECUTOR_RUN_JOURNAL_DB_H
#define PEAL_EXECUTOR_RUN_JOURNAL_DB_H

#include <sqlite3.h>
#include "base/filelock.h"
#include "executor/journal/run_journal.h"

#define RUN_JOURNAL_FORMAT 2    /* PRAGMA user_version */
#define RDB_SEQ_BLOCK (1 << 20) /* numbers are reserved in blocks */
#define RUN_JOURNAL_SEQ_MAX ((int64_t)1 << 62)

enum rdb_statement {
    RDB_BEGIN,
    RDB_COMMIT,
    RDB_ROLLBACK,
    RDB_ACCEPT,
    RDB_START,
    RDB_RESULT,
    RDB_FORGET,
    RDB_REMEMBER, /* TELL, its first half */
    RDB_FORGET_ALL,
    RDB_RESERVE,
    RDB_OLDEST,
    RDB_PRUNE,
    RDB_STATEMENTS
};

struct rdb {
    sqlite3 *db;
    char *path; /* owned; symbolic links resolved */
    struct filelock *lock;
    sqlite3_stmt *q[RDB_STATEMENTS];
    int64_t seq_limit;             /* numbers below it may have been used */
    int64_t told_first, told_last; /* of `told`, as committed or later; empty: first > last */
    int64_t told_first_was, told_last_was, seq_limit_was; /* before this transaction */
    int wal_frames;                                       /* after the last commit */
};

/* ---- run_journal_db.c: reading and changing rows ---- */

/* TOLD rows in the order in which they were told, then the others in order of seq. */
MUST_CHECK enum err rdb_each(struct rdb *s, run_journal_each_fn *each, void *arg, struct why *why);

/* Changes: begin, any number of them, commit; after an error that is the disk's: rollback. */
MUST_CHECK enum err rdb_begin(struct rdb *s, struct why *why);
MUST_CHECK enum err rdb_commit(struct rdb *s, struct why *why);
void rdb_rollback(struct rdb *s);
MUST_CHECK enum err rdb_apply(struct rdb *s, const struct run_journal_op *op, struct why *why);
/* At most `most` TOLD rows: those beyond `keep`, and those that ended before before_ms. */
MUST_CHECK enum err rdb_prune(struct rdb *s, int64_t keep, int64_t before_ms, int most,
                              int *ret_pruned, struct why *why);
/* Something is written, though nothing is changed: does the disk take it? */
MUST_CHECK enum err rdb_probe(struct rdb *s, struct why *why);
/* The log's pages into the file. An error costs nothing but a longer log. */
MUST_CHECK enum err rdb_checkpoint(struct rdb *s, struct why *why);

/* Is this one for the whole transaction, or only for the change that met it? */
static inline bool rdb_is_trouble(enum err err)
{
    return err && err != ERR_EXISTS && err != ERR_TOOBIG && err != ERR_INVALID;
}

/* ---- run_journal_db.c: what the next three need of it ---- */

enum err rdb_fail(struct rdb *s, int rc, struct why *why);
enum err rdb_fail_errno(const struct rdb *s, const char *what, struct why *why);
const char *rdb_advice(enum err err); /* what to do about it */
MUST_CHECK enum err rdb_exec(struct rdb *s, const char *text, struct why *why);
MUST_CHECK enum err rdb_prepare(struct rdb *s, struct why *why); /* the statements */
void rdb_finalize(struct rdb *s);

/* ---- run_journal_connect.c ---- */

enum { RDB_MARK, RDB_RUN, RDB_TOLD, RDB_TABLES };
extern const char *const rdb_schema[RDB_TABLES]; /* each as it stands in sqlite_schema */
extern const char rdb_told_1[];                  /* `told` of format 1: without dates */

/* Open the file, which is there and locked or is made; ERR_CORRUPT: it is damaged. */
MUST_CHECK enum err rdb_connect(struct rdb *s, struct why *why);
void rdb_disconnect(struct rdb *s);
int64_t rdb_size(const char *path, const char *ending); /* bytes; 0 if it is not there */
bool rdb_is_empty(const char *path);                    /* to SQLite: it deletes the log of such */

/* ---- run_journal_rescue.c ---- */

/* Keep the damaged file aside and put one in its place that has what SQLite can read of it.
 * ERR_INVALID: it is nothing of ours. After any error the file is as it was. */
MUST_CHECK enum err rdb_rescue(struct rdb *s, struct why *why);
/* A rescue that a crash interrupted after its last decision. */
void rdb_rescue_finish(const char *path);

/* ---- run_journal_open.c ---- */

/* See run_journal_open. */
MUST_CHECK enum err rdb_open(const char *path, struct rdb **ret, struct why *why);
void rdb_close(struct rdb *s); /* NULL is fine */
/* A file that turned out to be damaged while in use: close, rescue, open again. Until it succeeds
 * everything fails. */
MUST_CHECK enum err rdb_reopen(struct rdb *s, struct why *why);

#endif
