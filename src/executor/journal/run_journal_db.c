/* SPDX-License-Identifier: Apache-2.0 */
/* The file: WAL with synchronous=FULL, one connection that keeps SQLite's exclusive lock (so there
 * is no -shm, and no lock calls for each transaction). PATH.lock comes before it and covers what
 * SQLite's lock cannot: the moment in which a damaged file is moved aside.
 *
 * CHECK constraints say what a row may hold. Writing ignores them, because what is written has been
 * judged; opening looks at all of them (quick_check), because a file can hold anything. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "executor/journal/run_journal_db.h"
#include "sql/sqlerr.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    APPLICATION = 0x5065616c, /* "Peal" */
    BUSY_MS = 2000,           /* somebody looks into the file while we start */
    ROW_MAX = 64 * 1024 * 1024,
    CACHE_KIB = 16 * 1024,
    WAL_KEEP_BYTES = 16 * 1024 * 1024,
};

/* One text a row of sqlite_schema, exactly as it stands there: TOLD_MORE as ALTER TABLE leaves it.
 */
#define TOLD_MORE ", log_date_ms INTEGER NOT NULL DEFAULT 0"
const char *const rdb_schema[RDB_TABLES] = {
    [RDB_MARK] =
        "CREATE TABLE mark (id INTEGER PRIMARY KEY CHECK (id = 1), seq_limit INTEGER NOT NULL "
        "CHECK (seq_limit BETWEEN 1 AND 4611686018427387904)) STRICT",
    [RDB_RUN] =
        "CREATE TABLE run (seq INTEGER PRIMARY KEY CHECK (seq BETWEEN 1 AND 4611686018427387903), "
        "state INTEGER NOT NULL CHECK (state BETWEEN 2 AND 4), log_id INTEGER NOT NULL, "
        "log_date_ms INTEGER NOT NULL, moment_ms INTEGER NOT NULL, accepted_ms INTEGER NOT NULL, "
        "attempt INTEGER NOT NULL CHECK (attempt BETWEEN -2147483648 AND 2147483647), "
        "ended_ms INTEGER, code INTEGER CHECK (code BETWEEN -2147483648 AND 2147483647), "
        "has_log INTEGER, request BLOB, msg BLOB, "
        "CHECK ((state = 4) = (code IS NOT NULL AND ended_ms IS NOT NULL))) STRICT",
    [RDB_TOLD] =
        "CREATE TABLE told (n INTEGER PRIMARY KEY CHECK (n BETWEEN 1 AND 4611686018427387903), "
        "seq INTEGER NOT NULL, log_id INTEGER NOT NULL, ended_ms INTEGER NOT NULL" TOLD_MORE
        ") STRICT",
};

/* 0 in place of the dates stands for any. */
const char rdb_told_1[] =
    "CREATE TABLE told (n INTEGER PRIMARY KEY CHECK (n BETWEEN 1 AND 4611686018427387903), "
    "seq INTEGER NOT NULL, log_id INTEGER NOT NULL, ended_ms INTEGER NOT NULL) STRICT";
static const char from_1[] =
    "BEGIN IMMEDIATE; ALTER TABLE told ADD COLUMN log_date_ms INTEGER NOT NULL DEFAULT 0; "
    "PRAGMA user_version = 2; COMMIT";

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

static const char *advice(enum err err)
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
    why_set(why, "the journal %s: %s (%d); %s", s->path, sqlerr_text(s->db, rc), rc, advice(err));
    return err;
}

enum err rdb_fail_errno(const struct rdb *s, const char *what, struct why *why)
{
    int e = errno;
    enum err err = sqlerr_no_room(e)                         ? ERR_FULL
                   : e == EACCES || e == EPERM || e == EROFS ? ERR_READONLY
                                                             : ERR_IO;
    why_set(why, "the journal %s: cannot %s: %s; %s", s->path, what, strerror(e), advice(err));
    return err;
}

enum err rdb_exec(struct rdb *s, const char *text, struct why *why)
{
    int rc = sqlite3_exec(s->db, text, NULL, NULL, NULL);
    return rc ? rdb_fail(s, rc, why) : OK;
}

/* The first column of the first row. */
static enum err number(struct rdb *s, const char *text, int64_t *ret, struct why *why)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(s->db, text, -1, &q, NULL);
    if (!rc)
        rc = sqlite3_step(q);
    if (rc == SQLITE_ROW)
        *ret = sqlite3_column_int64(q, 0);
    enum err err =
        rc == SQLITE_ROW ? OK : rdb_fail(s, rc == SQLITE_DONE ? SQLITE_CORRUPT : rc, why);
    sqlite3_finalize(q);
    return err;
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

/* ---- opening --------------------------------------------------------------------------------- */

static int wal_hook(void *ctx, sqlite3 *db, const char *name, int frames)
{
    (void)db;
    (void)name;
    ((struct rdb *)ctx)->wal_frames = frames;
    return SQLITE_OK;
}

int64_t rdb_size(const char *path, const char *ending)
{
    struct stat st;
    char *name = mem_join(path, ending);
    int64_t size = stat(name, &st) ? 0 : (int64_t)st.st_size;
    free(name);
    return size;
}

/* Pages that were given back in the transaction that took them are never written, so there may be
 * more than stand in file and log; 256 MiB more is beyond any of our transactions. */
int64_t rdb_pages_max(const char *path)
{
    return 65536 + 4 * (rdb_size(path, "") + rdb_size(path, "-wal")) / 4096;
}

bool rdb_sync_folder(const char *path)
{
    char *copy = mem_dup(path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* The file is there, is a file, and nobody else's: requests hold what is not everybody's business.
 * Closed again before SQLite opens it, because closing gives back the locks on it. */
static enum err make_file(const struct rdb *s, struct why *why)
{
    struct stat st;
    if (stat(s->path, &st) == 0 && !S_ISREG(st.st_mode)) {
        why_set(why, "the journal %s is %s; name a file that may be made there", s->path,
                S_ISDIR(st.st_mode) ? "a directory" : "not a file");
        return ERR_IO;
    }
    int fd = open(s->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
    if (fd < 0)
        return rdb_fail_errno(s, "open it", why);
    if (fchmod(fd, 0600))
        log_warn("journal", "%s: cannot make it private: %s", s->path, strerror(errno));
    close(fd);
    return rdb_sync_folder(s->path) ? OK : rdb_fail_errno(s, "sync its folder", why);
}

static enum err newer(const struct rdb *s, int64_t version, struct why *why)
{
    why_set(why,
            "the journal %s was written by a newer version (format %lld, this one knows %d); start "
            "that version, or name another file",
            s->path, (long long)version, RUN_JOURNAL_FORMAT);
    return ERR_INVALID;
}

static enum err create(struct rdb *s, struct why *why)
{
    char pragmas[160];
    enum err err = rdb_exec(s, "BEGIN IMMEDIATE", why);
    for (size_t i = 0; i < RDB_TABLES && !err; i++)
        err = rdb_exec(s, rdb_schema[i], why);
    snprintf(pragmas, sizeof(pragmas),
             "INSERT INTO mark VALUES (1, 1); PRAGMA application_id = %d; "
             "PRAGMA user_version = %d; COMMIT",
             APPLICATION, RUN_JOURNAL_FORMAT);
    return err ? err : rdb_exec(s, pragmas, why);
}

static enum err count_ours(struct rdb *s, int64_t version, int64_t *ret_all, int64_t *ret_ours,
                           struct why *why)
{
    sqlite3_stmt *q = NULL;
    *ret_ours = 0;
    enum err err = number(s, "SELECT count(*) FROM sqlite_schema", ret_all, why);
    for (size_t i = 0; i < RDB_TABLES && !err; i++) {
        int rc = sqlite3_prepare_v2(
            s->db, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND sql = ?1", -1, &q, NULL);
        const char *text = version == 1 && i == RDB_TOLD ? rdb_told_1 : rdb_schema[i];
        if (!rc)
            rc = sqlite3_bind_text(q, 1, text, -1, SQLITE_STATIC);
        if (!rc)
            rc = sqlite3_step(q);
        *ret_ours += rc == SQLITE_ROW;
        if (rc != SQLITE_ROW && rc != SQLITE_DONE)
            err = rdb_fail(s, rc, why);
        sqlite3_finalize(q);
    }
    return err;
}

static enum err damaged(const struct rdb *s, const char *how, struct why *why)
{
    why_set(why, "the journal %s is damaged: %s", s->path, how);
    return ERR_CORRUPT;
}

/* Is every page and every row as it must be? A number of pages that cannot be would cost the check
 * the memory for them. */
static enum err check_all(struct rdb *s, struct why *why)
{
    sqlite3_stmt *q = NULL;
    int64_t pages = 0;
    enum err counted = number(s, "PRAGMA page_count", &pages, why);
    if (counted)
        return counted;
    if (pages > rdb_pages_max(s->path))
        return damaged(s, "it claims more pages than there are", why);
    int rc = sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &q, NULL);
    if (!rc)
        rc = sqlite3_step(q);
    const char *text = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(q, 0) : NULL;
    enum err err = OK;
    if (rc != SQLITE_ROW)
        err = rdb_fail(s, rc == SQLITE_DONE ? SQLITE_CORRUPT : rc, why);
    else if (!text || strcmp(text, "ok") != 0) /* the check goes on where it cannot read */
        err = sqlerr_unreadable(s->db) ? rdb_fail(s, SQLITE_IOERR_READ, why)
                                       : damaged(s, text ? text : "it cannot be checked", why);
    sqlite3_finalize(q);
    return err;
}

/* An empty database is made ours; one of another program and one of a newer version stay as they
 * are. */
static enum err check(struct rdb *s, struct why *why)
{
    int64_t version = 0, application = 0, all = 0, ours = 0;
    enum err err = number(s, "PRAGMA user_version", &version, why);
    if (!err)
        err = number(s, "PRAGMA application_id", &application, why);
    if (!err)
        err = count_ours(s, version, &all, &ours, why);
    if (err)
        return err;
    if (all == 0 && version == 0)
        return create(s, why);
    if (ours == 0 && application != APPLICATION) {
        why_set(why, "%s is a database of another program; name another file for the journal",
                s->path);
        return ERR_INVALID;
    }
    if (version > RUN_JOURNAL_FORMAT)
        return newer(s, version, why);
    if (all != RDB_TABLES || ours != all || version < 1)
        return damaged(s, "its tables are not what they should be", why);
    err = check_all(s, why);
    if (!err && version < RUN_JOURNAL_FORMAT)
        err = rdb_exec(s, from_1, why);
    return err;
}

static enum err prepare_all(struct rdb *s, struct why *why)
{
    for (size_t i = 0; i < RDB_STATEMENTS; i++) {
        int rc =
            sqlite3_prepare_v3(s->db, statements[i], -1, SQLITE_PREPARE_PERSISTENT, &s->q[i], NULL);
        if (rc)
            return rdb_fail(s, rc, why);
    }
    return OK;
}

static enum err read_marks(struct rdb *s, struct why *why)
{
    int64_t last = 0;
    enum err err = number(s, "SELECT seq_limit FROM mark", &s->seq_limit, why);
    if (!err)
        err = number(s, "SELECT coalesce(max(seq), 0) FROM run", &last, why);
    if (!err)
        err = number(s, "SELECT coalesce(min(n), 1) FROM told", &s->told_first, why);
    if (!err)
        err = number(s, "SELECT coalesce(max(n), 0) FROM told", &s->told_last, why);
    if (last >= s->seq_limit)
        s->seq_limit = last + 1;
    return err;
}

static enum err configure(struct rdb *s, struct why *why)
{
    char pragmas[400];
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_timeout(s->db, BUSY_MS);
    sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, ROW_MAX);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL); /* until it is judged */
    snprintf(pragmas, sizeof(pragmas),
             "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-%d; PRAGMA temp_store=MEMORY; "
             "PRAGMA mmap_size=0; PRAGMA cell_size_check=ON; PRAGMA synchronous=FULL; "
             "PRAGMA journal_size_limit=%d",
             CACHE_KIB, WAL_KEEP_BYTES);
    return rdb_exec(s, pragmas, why);
}

void rdb_disconnect(struct rdb *s)
{
    for (size_t i = 0; i < RDB_STATEMENTS; i++) {
        sqlite3_finalize(s->q[i]);
        s->q[i] = NULL;
    }
    sqlite3_close(s->db);
    s->db = NULL;
}

static enum err settle(struct rdb *s, struct why *why)
{
    enum err err = rdb_exec(s,
                            "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; "
                            "PRAGMA ignore_check_constraints=ON",
                            why);
    if (err)
        return err;
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    sqlite3_wal_hook(s->db, wal_hook, s);
    err = read_marks(s, why);
    return err ? err : prepare_all(s, why);
}

enum err rdb_connect(struct rdb *s, struct why *why)
{
    bool orphan = rdb_size(s->path, "") <= 1 && rdb_size(s->path, "-wal") > 0;
    enum err err = make_file(s, why);
    if (err)
        return err;
    if (orphan) /* SQLite would delete the log */
        return damaged(s, "the file is empty or gone, but not its log", why);
    err = rdb_log_check(s->path);
    if (err)
        return err == ERR_CORRUPT ? damaged(s, "changes in its log are torn", why)
                                  : rdb_fail_errno(s, "read its log", why);
    int rc = sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    err = rc ? rdb_fail(s, rc, why) : configure(s, why);
    if (!err && sqlite3_db_readonly(s->db, "main") == 1)
        err = damaged(s, "its header says that it must not be written", why);
    if (!err)
        err = check(s, why);
    if (!err)
        err = settle(s, why);
    /* Rows that claim to be so large: we write none, and SQLite calls one in the schema a lack of
     * memory. Should memory really lack, then mending will too, and nothing is changed. */
    if (err == ERR_TOOBIG || err == ERR_NOMEM)
        err = ERR_CORRUPT;
    if (err)
        rdb_disconnect(s);
    return err;
}

static enum err lock(struct rdb *s, struct why *why)
{
    int64_t holder = 0;
    char *name = mem_join(s->path, ".lock");
    enum err err = filelock_take(name, &s->lock, &holder);
    if (err == ERR_BUSY)
        why_set(why,
                "the journal %s is in use by another executor (process %lld); stop that one, or "
                "give this one a folder of its own",
                s->path, (long long)holder);
    else if (err)
        why_set(why, "the journal %s: cannot open its lock file %s: %s; %s", s->path, name,
                strerror(errno), advice(err));
    free(name);
    return err;
}

static char *resolved(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : mem_dup(path);
}

enum err rdb_reopen(struct rdb *s, struct why *why)
{
    struct why how = { "" };
    rdb_disconnect(s);
    rdb_mend_finish(s->path);
    enum err err = rdb_connect(s, &how);
    if (err == ERR_CORRUPT) {
        log_error("journal", "%s", how.text);
        why_clear(&how);
        err = rdb_mend(s, &how);
        if (!err)
            err = rdb_connect(s, &how);
    }
    if (err)
        why_set(why, "%s", how.text);
    return err;
}

enum err rdb_open(const char *path, struct rdb **ret, struct why *why)
{
    struct rdb *s = mem_new(sizeof(*s));
    s->path = resolved(path);
    enum err err = lock(s, why);
    if (!err)
        err = rdb_reopen(s, why);
    if (err) {
        rdb_close(s);
        return err;
    }
    *ret = s;
    return OK;
}

void rdb_close(struct rdb *s)
{
    if (!s)
        return;
    rdb_disconnect(s);
    filelock_free(s->lock); /* last: the file is at rest now */
    free(s->path);
    free(s);
}
