/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the file: WAL with synchronous=FULL, one connection that keeps SQLite's exclusive lock
 * (so there is no -shm, and no lock calls for each transaction).
 *
 * CHECK constraints say what a row may hold. Writing ignores them, because what is written has been
 * judged; opening looks at all of them (quick_check), because a file can hold anything. What SQLite
 * finds wrong is ERR_CORRUPT; nothing is written to a file before it has been judged. */
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "executor/journal/run_journal_db.h"
#include "sql/sqlerr.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    APPLICATION = 0x5065616c, /* "Peal" */
    BUSY_MS = 2000,           /* another program looks into the file while we start */
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

bool rdb_is_empty(const char *path)
{
    return rdb_size(path, "") <= 1;
}

/* Pages that were given back in the transaction that took them are never written, so there may be
 * more than stand in file and log; 256 MiB more is beyond any of our transactions. */
static int64_t pages_max(const char *path)
{
    return 65536 + 4 * (rdb_size(path, "") + rdb_size(path, "-wal")) / 4096;
}

/* The file is there, is a file, and private: requests hold secrets.
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
    return file_sync_folder(s->path) ? OK : rdb_fail_errno(s, "sync its folder", why);
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
    if (pages > pages_max(s->path))
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
    rdb_finalize(s);
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
    return err ? err : rdb_prepare(s, why);
}

enum err rdb_connect(struct rdb *s, struct why *why)
{
    bool orphan = rdb_is_empty(s->path) && rdb_size(s->path, "-wal") > 0;
    enum err err = make_file(s, why);
    if (err)
        return err;
    if (orphan) /* SQLite would delete the log */
        return damaged(s, "the file is empty or gone, but not its log", why);
    int rc = sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    err = rc ? rdb_fail(s, rc, why) : configure(s, why);
    if (!err && sqlite3_db_readonly(s->db, "main") == 1)
        err = damaged(s, "its header says that it must not be written", why);
    if (!err)
        err = check(s, why);
    if (!err)
        err = settle(s, why);
    /* Rows that claim to be so large: we write none, and SQLite calls one in the schema a lack of
     * memory. Should memory really lack, then the rescue will too, and nothing is changed. */
    if (err == ERR_TOOBIG || err == ERR_NOMEM)
        err = ERR_CORRUPT;
    if (err)
        rdb_disconnect(s);
    return err;
}
