/* SPDX-License-Identifier: Apache-2.0 */
/* The journal's rows: changes in transactions, what is read at start, and what SQLite's errors mean
 * for this file.
 *
 * Each change is one prepared statement or two. The numbers that would otherwise cost a query each
 * (the ends of `told`, how far the numbers are reserved) are kept in memory and go back with a
 * transaction that fails. */
#include "base/log.h"
#include "executor/journal/run_journal_db.h"
#include "sql/sqlerr.h"
#include <errno.h>
#include <string.h>

static const char *const statements[RDB_STATEMENTS] = {
    [RDB_BEGIN] = "BEGIN IMMEDIATE",
    [RDB_COMMIT] = "COMMIT",
    [RDB_ROLLBACK] = "ROLLBACK",
    [RDB_ACCEPT] = "INSERT INTO run (seq, state, log_id, log_date_ms, moment_ms, accepted_ms, "
                   "attempt, request) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [RDB_START] = "UPDATE run SET state = 3 WHERE seq = ?1 AND state = 2",
    [RDB_RESULT] = "UPDATE run SET state = 4, ended_ms = ?2, code = ?3, has_log = ?4, msg = ?5, "
                   "request = NULL WHERE seq = ?1",
    [RDB_FORGET] = "DELETE FROM run WHERE seq = ?1",
    [RDB_REMEMBER] =
        "INSERT INTO told (n, seq, log_id, ended_ms, log_date_ms) SELECT seq + ?3, seq, "
        "log_id, coalesce(ended_ms, accepted_ms), log_date_ms FROM run WHERE seq BETWEEN ?1 AND ?2",
    [RDB_FORGET_ALL] = "DELETE FROM run WHERE seq BETWEEN ?1 AND ?2",
    [RDB_RESERVE] = "UPDATE mark SET seq_limit = ?1",
    [RDB_OLDEST] = "SELECT n, ended_ms FROM told ORDER BY n",
    [RDB_PRUNE] = "DELETE FROM told WHERE n <= ?1",
};

/* ---- errors ---------------------------------------------------------------------------------- */

/* What this file alone makes of some codes. */
static enum err map_rc(sqlite3 *db, int rc)
{
    if (rc == SQLITE_IOERR_SHORT_READ) /* it ends before its own header says so */
        rc = SQLITE_CORRUPT;
    if ((rc & 0xff) == SQLITE_ERROR) /* our statements are right: so the tables are not */
        rc = SQLITE_CORRUPT;
    if ((rc & 0xff) == SQLITE_CONSTRAINT)
        return ERR_EXISTS;
    enum err err = sqlerr_of(db, rc);
    return err == ERR_STORE ? ERR_IO : err;
}

const char *rdb_advice(enum err err)
{
    switch (err) {
    case ERR_CORRUPT:
        return "it is kept aside, and what can be read of it goes on";
    case ERR_BUSY:
        return "another program has it open; close that one";
    case ERR_TOOBIG:
        return "a run larger than 64 MiB cannot be kept";
    case ERR_EXISTS:
        return "its number was used before";
    default:
        return sqlerr_advice(err);
    }
}

enum err rdb_fail(struct rdb *s, int rc, struct why *why)
{
    enum err err = map_rc(s->db, rc);
    why_set(why, "the journal %s: %s (%d); %s", s->path, sqlerr_text(s->db, rc), rc,
            rdb_advice(err));
    return err;
}

enum err rdb_fail_errno(const struct rdb *s, const char *what, struct why *why)
{
    int e = errno;
    enum err err = sqlerr_no_room(e)                         ? ERR_FULL
                   : e == EACCES || e == EPERM || e == EROFS ? ERR_READONLY
                                                             : ERR_IO;
    why_set(why, "the journal %s: cannot %s: %s; %s", s->path, what, strerror(e), rdb_advice(err));
    return err;
}

enum err rdb_exec(struct rdb *s, const char *text, struct why *why)
{
    int rc = sqlite3_exec(s->db, text, NULL, NULL, NULL);
    return rc ? rdb_fail(s, rc, why) : OK;
}

enum err rdb_prepare(struct rdb *s, struct why *why)
{
    for (size_t i = 0; i < RDB_STATEMENTS; i++) {
        int rc =
            sqlite3_prepare_v3(s->db, statements[i], -1, SQLITE_PREPARE_PERSISTENT, &s->q[i], NULL);
        if (rc)
            return rdb_fail(s, rc, why);
    }
    return OK;
}

void rdb_finalize(struct rdb *s)
{
    for (size_t i = 0; i < RDB_STATEMENTS; i++) {
        sqlite3_finalize(s->q[i]);
        s->q[i] = NULL;
    }
}

/* ---- changes --------------------------------------------------------------------------------- */

static enum err run(struct rdb *s, enum rdb_statement i, struct why *why)
{
    if (!s->db) {
        why_set(why, "the journal %s is closed, because it is damaged", s->path);
        return ERR_CORRUPT;
    }
    int rc = sqlite3_step(s->q[i]);
    enum err err = rc == SQLITE_DONE ? OK : rdb_fail(s, rc, why);
    sqlite3_reset(s->q[i]);
    return err;
}

enum err rdb_begin(struct rdb *s, struct why *why)
{
    s->told_first_was = s->told_first;
    s->told_last_was = s->told_last;
    s->seq_limit_was = s->seq_limit;
    return run(s, RDB_BEGIN, why);
}

enum err rdb_commit(struct rdb *s, struct why *why)
{
    return run(s, RDB_COMMIT, why);
}

void rdb_rollback(struct rdb *s)
{
    s->told_first = s->told_first_was;
    s->told_last = s->told_last_was;
    s->seq_limit = s->seq_limit_was;
    struct why why = { "" };
    /* SQLite has rolled back by itself after a full disk and the like */
    if (s->db && !sqlite3_get_autocommit(s->db) && run(s, RDB_ROLLBACK, &why))
        log_error("journal", "a transaction cannot be undone: %s", why.text);
}

static int bind_slice(sqlite3_stmt *q, int i, struct slice text)
{
    return sqlite3_bind_blob64(q, i, text.n ? text.p : "", text.n, SQLITE_STATIC);
}

static enum err reserve(struct rdb *s, int64_t limit, struct why *why)
{
    sqlite3_bind_int64(s->q[RDB_RESERVE], 1, limit);
    enum err err = run(s, RDB_RESERVE, why);
    if (!err)
        s->seq_limit = limit;
    return err;
}

static enum err accept(struct rdb *s, const struct run_journal_row *row, struct why *why)
{
    sqlite3_stmt *q = s->q[RDB_ACCEPT];
    if (row->seq < 1 || row->seq >= RUN_JOURNAL_SEQ_MAX) {
        why_set(why, "%lld cannot be a run's number", (long long)row->seq);
        return ERR_INVALID;
    }
    if (row->seq >= s->seq_limit) {
        int64_t limit = row->seq + RDB_SEQ_BLOCK;
        enum err err = reserve(s, limit < RUN_JOURNAL_SEQ_MAX ? limit : RUN_JOURNAL_SEQ_MAX, why);
        if (err)
            return err;
    }
    sqlite3_bind_int64(q, 1, row->seq);
    sqlite3_bind_int(
        q, 2, row->state == RUN_JOURNAL_STARTED ? RUN_JOURNAL_STARTED : RUN_JOURNAL_ACCEPTED);
    sqlite3_bind_int64(q, 3, row->log_id);
    sqlite3_bind_int64(q, 4, row->log_date_ms);
    sqlite3_bind_int64(q, 5, row->scheduled_ms);
    sqlite3_bind_int64(q, 6, row->accepted_ms);
    sqlite3_bind_int(q, 7, row->attempt);
    int rc = bind_slice(q, 8, row->request);
    return rc ? rdb_fail(s, rc, why) : run(s, RDB_ACCEPT, why);
}

static enum err result(struct rdb *s, const struct run_journal_row *row, struct why *why)
{
    sqlite3_stmt *q = s->q[RDB_RESULT];
    sqlite3_bind_int64(q, 1, row->seq);
    sqlite3_bind_int64(q, 2, row->ended_ms);
    sqlite3_bind_int(q, 3, row->code);
    sqlite3_bind_int(q, 4, row->has_log);
    int rc = bind_slice(q, 5, row->msg);
    return rc ? rdb_fail(s, rc, why) : run(s, RDB_RESULT, why);
}

static enum err by_seq(struct rdb *s, enum rdb_statement i, int64_t seq, struct why *why)
{
    sqlite3_bind_int64(s->q[i], 1, seq);
    return run(s, i, why);
}

static enum err by_range(struct rdb *s, enum rdb_statement i, int64_t first, int64_t last,
                         struct why *why)
{
    sqlite3_bind_int64(s->q[i], 1, first);
    sqlite3_bind_int64(s->q[i], 2, last);
    return run(s, i, why);
}

/* What was told before is not there any more and leaves a gap in the numbers of `told`. */
static enum err tell(struct rdb *s, int64_t first, int64_t last, struct why *why)
{
    sqlite3_bind_int64(s->q[RDB_REMEMBER], 3, s->told_last + 1 - first);
    enum err err = by_range(s, RDB_REMEMBER, first, last, why);
    if (err || !sqlite3_changes(s->db))
        return err;
    s->told_last += last - first + 1;
    return by_range(s, RDB_FORGET_ALL, first, last, why);
}

/* Neighbours together: the trees are searched once for all of them. */
static enum err tell_all(struct rdb *s, const struct run_journal_op *op, struct why *why)
{
    enum err err = OK;
    for (size_t i = 0, n; i < op->nseqs && !err; i += n) {
        for (n = 1; i + n < op->nseqs && op->seqs[i + n] == op->seqs[i] + (int64_t)n;)
            n++;
        err = tell(s, op->seqs[i], op->seqs[i] + (int64_t)n - 1, why);
    }
    return err;
}

enum err rdb_apply(struct rdb *s, const struct run_journal_op *op, struct why *why)
{
    switch (op->what) {
    case RUN_JOURNAL_ACCEPT:
        return accept(s, &op->row, why);
    case RUN_JOURNAL_START:
        return by_seq(s, RDB_START, op->row.seq, why);
    case RUN_JOURNAL_RESULT:
        return result(s, &op->row, why);
    case RUN_JOURNAL_FORGET:
        return by_seq(s, RDB_FORGET, op->row.seq, why);
    case RUN_JOURNAL_TELL:
        return tell_all(s, op, why);
    }
    why_set(why, "%d is no change of the journal", (int)op->what);
    return ERR_INVALID;
}

/* How far the rows at the front ended before before_ms. */
static enum err old_until(struct rdb *s, int64_t before_ms, int most, int64_t *until,
                          struct why *why)
{
    sqlite3_stmt *q = s->q[RDB_OLDEST];
    int rc = SQLITE_ROW;
    while (most-- && (rc = sqlite3_step(q)) == SQLITE_ROW && sqlite3_column_int64(q, 1) < before_ms)
        *until = sqlite3_column_int64(q, 0);
    sqlite3_reset(q);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? OK : rdb_fail(s, rc, why);
}

enum err rdb_prune(struct rdb *s, int64_t keep, int64_t before_ms, int most, int *ret_pruned,
                   struct why *why)
{
    int64_t until = s->told_last - keep;
    if (until > s->told_first + most - 1)
        until = s->told_first + most - 1;
    enum err err = OK;
    if (until < s->told_first && before_ms > INT64_MIN)
        err = old_until(s, before_ms, most, &until, why);
    *ret_pruned = 0;
    if (err || until < s->told_first)
        return err;
    sqlite3_bind_int64(s->q[RDB_PRUNE], 1, until);
    err = run(s, RDB_PRUNE, why);
    if (err)
        return err;
    *ret_pruned = sqlite3_changes(s->db);
    s->told_first = until + 1;
    return OK;
}

enum err rdb_probe(struct rdb *s, struct why *why)
{
    enum err err = rdb_begin(s, why);
    if (!err)
        err = reserve(s, s->seq_limit, why);
    if (!err)
        err = rdb_commit(s, why);
    if (err)
        rdb_rollback(s);
    return err;
}

enum err rdb_checkpoint(struct rdb *s, struct why *why)
{
    if (!s->db)
        return OK;
    int rc = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (rc)
        return rdb_fail(s, rc, why);
    s->wal_frames = 0;
    return OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

static struct slice column_slice(sqlite3_stmt *q, int i)
{
    const char *p = sqlite3_column_blob(q, i);
    return slice_of(p ? p : "", p ? (size_t)sqlite3_column_bytes(q, i) : 0);
}

static void told_row(sqlite3_stmt *q, struct run_journal_row *row)
{
    *row = (struct run_journal_row){
        .state = RUN_JOURNAL_TOLD,
        .seq = sqlite3_column_int64(q, 1),
        .log_id = sqlite3_column_int64(q, 2),
        .ended_ms = sqlite3_column_int64(q, 3),
        .log_date_ms = sqlite3_column_int64(q, 4),
        .request = slice_of("", 0),
        .msg = slice_of("", 0),
    };
}

static void run_row(sqlite3_stmt *q, struct run_journal_row *row)
{
    *row = (struct run_journal_row){
        .seq = sqlite3_column_int64(q, 0),
        .state = (enum run_journal_state)sqlite3_column_int(q, 1),
        .log_id = sqlite3_column_int64(q, 2),
        .log_date_ms = sqlite3_column_int64(q, 3),
        .scheduled_ms = sqlite3_column_int64(q, 4),
        .accepted_ms = sqlite3_column_int64(q, 5),
        .attempt = sqlite3_column_int(q, 6),
        .ended_ms = sqlite3_column_int64(q, 7),
        .code = sqlite3_column_int(q, 8),
        .has_log = sqlite3_column_int(q, 9) != 0,
        .request = column_slice(q, 10),
        .msg = column_slice(q, 11),
    };
}

typedef void row_fn(sqlite3_stmt *q, struct run_journal_row *row);

/* Keys that do not grow are a tree that leads in circles. */
static enum err read_table(struct rdb *s, const char *text, row_fn *read, run_journal_each_fn *each,
                           void *arg, struct why *why)
{
    sqlite3_stmt *q = NULL;
    int64_t last = 0;
    int rc = sqlite3_prepare_v2(s->db, text, -1, &q, NULL);
    while (!rc && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        struct run_journal_row row;
        int64_t key = sqlite3_column_int64(q, 0);
        rc = key > last ? SQLITE_OK : SQLITE_CORRUPT;
        last = key;
        read(q, &row);
        if (!rc)
            each(arg, &row);
    }
    enum err err = rc == SQLITE_DONE ? OK : rdb_fail(s, rc, why);
    sqlite3_finalize(q);
    return err;
}

enum err rdb_each(struct rdb *s, run_journal_each_fn *each, void *arg, struct why *why)
{
    enum err err =
        read_table(s, "SELECT n, seq, log_id, ended_ms, log_date_ms FROM told ORDER BY n", told_row,
                   each, arg, why);
    if (err)
        return err;
    return read_table(s,
                      "SELECT seq, state, log_id, log_date_ms, moment_ms, accepted_ms, attempt, "
                      "ended_ms, code, has_log, request, msg FROM run ORDER BY seq",
                      run_row, each, arg, why);
}
