/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded database: opening, the lock, transactions, checkpoints.
 *
 * WAL with synchronous=FULL: a commit is on the disk when it returns. One writing handle per file,
 * kept by flock on FILE.lock and on the file itself, which the kernel gives back however the
 * process ends; the file's text is only for people. Handles for pages are opened for writing too
 * where the file allows it, because a checkpoint needs that, and forbidden to change anything by
 * query_only. */
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "sql/sqlerr.h"
#include "store/shared.h"
#include "store/sqlite/sqlite_db.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUSY_MS = 5000,
    ROW_MAX = 64 * 1024 * 1024,   /* bytes of a row that we are ready to look at */
    WRITER_CACHE_KIB = 64 * 1024, /* grows only as pages are used */
    BULK_CACHE_KIB = 8 * 1024,    /* rows come in the order of their keys, and are not read again */
    READER_CACHE_KIB = 4 * 1024,
    WAL_OWN_FRAMES = 16 * 1024, /* 64 MiB: the writer checkpoints itself beyond */
    WAL_OWN_STEP = 1024,
    WAL_KEEP_BYTES = 64 * 1024 * 1024, /* the file is cut to this when it starts anew */
};

/* ---- transactions ---------------------------------------------------------------------------- */

static enum err sqlite_begin(struct store *store, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    assert(!s->in_transaction);
    sqlite3_stmt *q;
    enum err err = sql_get(s, "BEGIN IMMEDIATE", &q, why);
    if (!err)
        err = sql_run(s, q, why);
    if (err)
        return err;
    s->in_transaction = true;
    s->saved.on = false;
    s->lost = OK;
    s->log_id = s->log_id_read = 0;
    s->nspans = 0;
    return OK;
}

/* The log must not grow for ever when no other handle checkpoints, or never catches up. */
static void checkpoint_own(struct sqlite *s)
{
    if (s->wal_frames < s->wal_tried)
        s->wal_tried = 0; /* the log has started anew */
    if (s->wal_frames < WAL_OWN_FRAMES || s->wal_frames < s->wal_tried + WAL_OWN_STEP)
        return;
    s->wal_tried = s->wal_frames;
    int rc = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (rc && rc != SQLITE_BUSY)
        log_warn("store", "checkpoint of %s failed: %s; the log goes on growing", s->path,
                 sqlite3_errmsg(s->db));
}

static enum err still_there(const struct sqlite *s, struct why *why);

static enum err sqlite_commit(struct store *store, const struct commit *c, struct why *why)
{
    static const struct commit nothing;
    struct sqlite *s = sqlite_of(store);
    assert(s->in_transaction);
    enum err err = s->lost ? s->lost : OK;
    if (!err && !s->sql.bulk)
        err = sqlite_ledger_flush(s, c ? c : &nothing, why);
    if (err) {
        why_set(why, "%s", s->lost_text);
        return err;
    }
    sqlite3_stmt *q;
    err = sql_get(s, "COMMIT", &q, why);
    if (!err)
        err = sql_run(s, q, why);
    if (err)
        return err;
    s->in_transaction = false;
    err = still_there(s, why);
    if (!err)
        checkpoint_own(s);
    return err;
}

static void sqlite_rollback(struct store *store)
{
    struct sqlite *s = sqlite_of(store);
    if (!s->in_transaction)
        return;
    s->in_transaction = false;
    s->lost = OK;
    /* SQLite has rolled back by itself after a full disk and the like */
    if (!sqlite3_get_autocommit(s->db) && sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL))
        log_error("store", "rollback of %s failed: %s", s->path, sqlite3_errmsg(s->db));
}

static enum err run_text(struct sqlite *s, const char *text, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s, text, &q, why);
    return err ? err : sql_run(s, q, why);
}

static enum err sqlite_savepoint(struct store *store, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    assert(s->in_transaction && !s->saved.on);
    if (s->lost) {
        why_set(why, "%s", s->lost_text);
        return s->lost;
    }
    enum err err = run_text(s, "SAVEPOINT one", why);
    if (err)
        return err;
    s->saved.on = true;
    s->saved.log_id = s->log_id;
    s->saved.log_id_read = s->log_id_read;
    memcpy(s->saved.spans, s->spans, sizeof(s->spans));
    s->saved.nspans = s->nspans;
    return OK;
}

static enum err sqlite_savepoint_keep(struct store *store, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    assert(s->saved.on);
    s->saved.on = false;
    return run_text(s, "RELEASE one", why);
}

static enum err sqlite_savepoint_undo(struct store *store, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    assert(s->saved.on);
    s->saved.on = false;
    enum err err = run_text(s, "ROLLBACK TO one", why); /* fails if SQLite has rolled back by
                                                         * itself, and s->lost stays */
    if (!err)
        err = run_text(s, "RELEASE one", why);
    if (err)
        return err;
    s->lost = OK;
    s->log_id = s->saved.log_id;
    s->log_id_read = s->saved.log_id_read;
    memcpy(s->spans, s->saved.spans, sizeof(s->spans));
    s->nspans = s->saved.nspans;
    return OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool in_memory(const struct sqlite *s)
{
    return strcmp(s->path, ":memory:") == 0;
}

static void in_use(const char *db, int fd, struct why *why)
{
    char holder[24];
    holder[file_read(fd, 0, holder, sizeof(holder) - 1)] = '\0';
    holder[strspn(holder, "0123456789")] = '\0';
    why_set(why,
            "database %s is in use by another server (process %s); stop that one, or give "
            "this one another --data or --db",
            db, holder[0] ? holder : "unknown");
}

enum err sqlite_lock(const char *db, int *ret_fd, struct why *why)
{
    char *path = mem_join(db, ".lock");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    enum err err = OK;
    char pid[24];
    if (fd < 0) {
        bool permission = errno == EACCES || errno == EPERM || errno == EROFS;
        err = permission ? ERR_READONLY : errno == ENOSPC ? ERR_FULL : ERR_IO;
        why_set(why, "cannot open the lock file %s: %s; %s", path, strerror(errno),
                sqlite_advice(err));
    } else if ((err = file_lock(fd))) {
        if (err == ERR_BUSY)
            in_use(db, fd, why);
        else
            why_set(why, "cannot lock %s: %s", path, strerror(errno));
        close(fd);
    } else {
        int n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
        if (ftruncate(fd, 0) || pwrite(fd, pid, (size_t)n, 0) != n)
            log_warn("store", "cannot write the process number into %s: %s", path,
                     strerror(errno)); /* the lock itself stands */
        *ret_fd = fd;
    }
    free(path);
    return err;
}

enum err sqlite_lock_file(const char *db, int *ret_fd, struct why *why)
{
    struct stat st;
    int fd = open(db, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return OK; /* there is none yet, or SQLite says what is wrong with it */
    enum err err = file_lock(fd);
    if (err) {
        if (err == ERR_BUSY)
            why_set(why,
                    "database %s is in use by another server, under another name (a link); stop "
                    "that one, or give this one another --data or --db",
                    db);
        else
            why_set(why, "cannot lock %s: %s", db, strerror(errno));
        close(fd);
        return err;
    }
    if (fstat(fd, &st) == 0 && st.st_nlink > 1)
        log_warn("store", "%s has %lu names (hard links); a copy of it is made by peal backup", db,
                 (unsigned long)st.st_nlink);
    *ret_fd = fd;
    return OK;
}

/* Does the name still lead to the file that is open? Else what is committed goes where nobody will
 * find it, and may not be acknowledged. Two calls of the kernel, without the disk. */
static enum err still_there(const struct sqlite *s, struct why *why)
{
    struct stat open_one, named;
    if (s->file_fd < 0 || fstat(s->file_fd, &open_one))
        return OK;
    if (stat(s->path, &named)) {
        if (errno != ENOENT && errno != ENOTDIR)
            return OK; /* nothing is known */
        why_set(why,
                "database %s was removed or moved away under this server; what was done since "
                "is not in it",
                s->path);
        return ERR_FENCED;
    }
    if (named.st_ino == open_one.st_ino && named.st_dev == open_one.st_dev)
        return OK;
    why_set(why,
            "another file was put in the place of database %s under this server; stop the "
            "server before that, or use peal restore",
            s->path);
    return ERR_FENCED;
}

static int wal_hook(void *ctx, sqlite3 *db, const char *name, int frames)
{
    (void)db;
    (void)name;
    ((struct sqlite *)ctx)->wal_frames = frames;
    return SQLITE_OK;
}

static int page_progress(void *ctx)
{
    const struct sqlite *s = ctx;
    return s->deadline_ms && clock_boot_ms() > s->deadline_ms;
}

static enum err configure(struct sqlite *s, struct why *why)
{
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_timeout(s->db, BUSY_MS);
    sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, ROW_MAX);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_progress_handler(s->db, 10000, page_progress, s);
    char pragmas[256];
    snprintf(pragmas, sizeof(pragmas),
             "PRAGMA cache_size=-%d; PRAGMA temp_store=MEMORY; PRAGMA mmap_size=0; "
             "PRAGMA cell_size_check=ON; PRAGMA recursive_triggers=OFF",
             s->read_only  ? READER_CACHE_KIB
             : s->sql.bulk ? BULK_CACHE_KIB
                           : WRITER_CACHE_KIB);
    enum err err = sql_exec(s, pragmas, why);
    if (err || s->read_only)
        return err ? err : sql_exec(s, "PRAGMA query_only=ON", why);
    snprintf(pragmas, sizeof(pragmas),
             "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA journal_size_limit=%d",
             WAL_KEEP_BYTES);
    err = sql_exec(s, pragmas, why);
    sqlite3_wal_hook(s->db, wal_hook, s);
    return err;
}

static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void library_init(void)
{
    /* statistics cost a global lock at each allocation; refused if SQLite runs already: fine */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_initialize();
}

static enum err open_file(struct sqlite *s, struct why *why)
{
    pthread_once(&library_once, library_init);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (!s->read_only)
        flags |= SQLITE_OPEN_CREATE;
    int rc = sqlite3_open_v2(s->path, &s->db, flags, NULL);
    if (!rc)
        rc = sqlite_functions_add(s->db);
    if (rc)
        return sql_fail(s, rc, why);
    if (!s->read_only && sqlite3_db_readonly(s->db, "main") == 1) {
        why_set(why, "database %s cannot be written; %s", s->path, sqlite_advice(ERR_READONLY));
        return ERR_READONLY;
    }
    return configure(s, why);
}

static void sqlite_close(struct store *store)
{
    struct sqlite *s = sqlite_of(store);
    sqlite_rollback(store);
    void *q;
    for (size_t i = 0; map_next(&s->statements, &i, &q);)
        sqlite3_finalize(q);
    map_done(&s->statements);
    for (size_t i = 0; i < countof(s->change); i++)
        sqlite3_finalize(s->change[i]);
    sql_done(&s->sql);
    sqlite3_close(s->db);
    if (s->file_fd >= 0)
        close(s->file_fd); /* not before SQLite: it takes SQLite's own locks (fcntl) along */
    if (s->lock_fd >= 0)
        close(s->lock_fd); /* last: the file is at rest now */
    free(s->path);
    free(s);
}

extern const struct store_ops store_sqlite_ops;

enum err sqlite_open(const char *path, const struct store_options *options, struct store **ret,
                     struct why *why)
{
    struct sqlite *s = mem_new(sizeof(*s));
    s->path = mem_dup(path);
    s->lock_fd = s->file_fd = -1;
    s->read_only = options && (options->read_only || options->bulk == STORE_BULK_READ);
    map_init(&s->statements);
    enum err err = sql_init(&s->sql, &store_sqlite_ops, &sqlite_driver, options, why);
    if (!err && (!s->read_only || s->sql.bulk) && !in_memory(s))
        err = sqlite_lock(s->path, &s->lock_fd, why);
    bool alone = s->lock_fd >= 0;
    if (!err && alone)
        err = sqlite_lock_file(s->path, &s->file_fd, why);
    if (!err)
        err = open_file(s, why);
    if (!err && alone && s->file_fd < 0) /* SQLite has made it */
        err = sqlite_lock_file(s->path, &s->file_fd, why);
    if (!err)
        err = s->read_only ? sqlite_schema_check(s, why) : sqlite_migrate(s, why);
    if (!err && !s->read_only && !s->sql.bulk)
        err = sqlite_ledger_open(s, why);
    if (err) {
        sqlite_close(&s->sql.store);
        return err;
    }
    *ret = &s->sql.store;
    return OK;
}

/* ---- beyond the interface -------------------------------------------------------------------- */

enum err store_sqlite_checkpoint(struct store *store, int64_t *ret_left, struct why *why)
{
    assert(store->ops == &store_sqlite_ops);
    struct sqlite *s = sqlite_of(store);
    int frames = 0, done = 0;
    int rc = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &frames, &done);
    if (rc == SQLITE_BUSY) /* another handle is at it: just as well */
        rc = SQLITE_OK;
    if (rc)
        return sql_fail(s, rc, why);
    if (ret_left)
        *ret_left = frames > done ? frames - done : 0;
    return OK;
}

int64_t store_sqlite_steps(struct store *store)
{
    assert(store->ops == &store_sqlite_ops);
    struct sqlite *s = sqlite_of(store);
    void *q;
    for (size_t i = 0; map_next(&s->statements, &i, &q);)
        sql_count_steps(s, q);
    for (size_t i = 0; map_next(&s->sql.queries, &i, &q);)
        sql_count_steps(s, ((struct sql_query *)q)->stmt);
    for (size_t i = 0; i < countof(s->change); i++)
        if (s->change[i])
            sql_count_steps(s, s->change[i]);
    return s->steps;
}

static const struct store_txn txn = {
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .outcome = store_outcome_known,
    .savepoint = sqlite_savepoint,
    .savepoint_keep = sqlite_savepoint_keep,
    .savepoint_undo = sqlite_savepoint_undo,
    .seq_next = sql_seq_next,
    .watermark_get = sql_watermark_get,
    .totals_get = sql_totals_get,
};

static const struct store_runs runs = {
    .due_take = sqlite_due_take,
    .due_put = sqlite_due_put,
    .due_each = sql_due_each,
    .runs_add = sqlite_runs_add,
    .runs_change = sqlite_runs_change,
    .runs_each = sql_runs_each,
    .skips_add = sql_skips_add,
    .late_add = sql_late_add,
    .story_put = sql_story_put,
    .traces_put = sql_traces_put,
    .purge = sql_purge,
    .log_clean = sql_log_clean,
    .log_before = sql_log_before,
    .log_counts = sql_log_counts,
    .clean_add = sql_clean_add,
    .clean_first = sql_clean_first,
    .clean_put = sql_clean_put,
};

static const struct store_pages pages = {
    .jobs_page = sql_jobs_page,
    .logs_page = sqlite_logs_page,
    .runs_page = sql_runs_page,
    .groups_page = sql_groups_page,
    .log_get = sql_log_get,
    .story_get = sql_story_get,
    .trace_get = sql_trace_get,
    .retries_of = sql_retries_of,
    .children_of = sql_children_of,
    .facts = sqlite_facts,
};

const struct store_ops store_sqlite_ops = {
    .name = "sqlite",
    .close = sqlite_close,
    .txn = &txn,
    .runs = &runs,
    .catalog = &sql_catalog,
    .users = &sql_users,
    .pages = &pages,
    .figures = &sql_figures,
    .alarms = &sql_alarms,
    .rules = &sql_rules,
};
