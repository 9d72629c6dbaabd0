/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of a database that a server writes meanwhile.
 *
 * One read transaction spans all steps of SQLite's backup. With a snapshot for each step the backup
 * begins anew whenever another handle has written between two steps: under load it never ends. Nor
 * is a limit of restarts with VACUUM INTO behind it better: that reads in one transaction as well,
 * and sorts every row besides. With one snapshot the number of steps is that of the file's pages.
 *
 * The writer is not held: in WAL mode it does not wait for readers. What a snapshot costs is room:
 * while it lives the log is not used again from its start, so it grows by what is written
 * meanwhile. When the database's disk runs short by that, the copy gives up. The copy's own pages
 * go to the disk in portions, because a file system may let another file's sync wait for all that
 * is dirty. */
#include "store/sqlite/sqlite_copy.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/secret.h"
#include "model/totals.h"
#include "sql/sqlerr.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    STEP_PAGES = 64,            /* 256 KiB: less than a millisecond from memory */
    PAUSE_MAX_US = 20000,       /* a pause is as long as its step, and no longer than this */
    SYNC_STEPS = 32,            /* 8 MiB */
    BUSY_TRIES = 1000,          /* of 5 ms */
    CHECK_STEPS = 100000,       /* of SQLite's machine between two looks whether to stop */
    LOG_MAY = 16 * 1024 * 1024, /* the log may grow so far whatever the disk has left */
    LEAST_SHARE = 50,           /* of the disk: 2 % */
};

enum err file_failed(const char *what, const char *path, struct why *why)
{
    enum err err = sqlerr_no_room(errno) ? ERR_FULL : errno == ENOENT ? ERR_NOTFOUND : ERR_IO;
    why_set(why, "cannot %s %s: %s", what, path, strerror(errno));
    return err;
}

static int64_t free_bytes(const char *path, int64_t *ret_all)
{
    struct statvfs fs;
    *ret_all = 0;
    if (statvfs(path, &fs))
        return -1;
    *ret_all = (int64_t)fs.f_blocks * (int64_t)fs.f_frsize;
    return (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
}

enum err file_has_room(const char *path, int64_t bytes, struct why *why)
{
    int64_t all, room = free_bytes(path, &all);
    if (room < 0 || room >= bytes)
        return OK; /* the write says it */
    why_set(why, "no room for %s: it needs %lld KiB, and there are %lld free", path,
            (long long)(bytes >> 10), (long long)(room >> 10));
    return ERR_FULL;
}

enum err file_sum(int fd, const char *path, char hex[65], struct why *why)
{
    unsigned char digest[32];
    if (!sha256_file(fd, digest))
        return file_failed("read", path, why);
    hex_text(digest, sizeof(digest), hex);
    return OK;
}

/* ---- the copy -------------------------------------------------------------------------------- */

struct copy {
    struct sqlite *s;
    sqlite3 *db; /* of the copy */
    sqlite3_backup *backup;
    const char *to;
    int fd;
    int64_t log_bytes; /* of the source's log at the beginning */
    store_step_fn *step;
    void *ctx;
};

static int64_t log_size(const struct sqlite *s)
{
    char *path = mem_join(s->path, "-wal");
    struct stat st;
    int64_t bytes = stat(path, &st) == 0 ? st.st_size : 0;
    free(path);
    return bytes;
}

/* The snapshot keeps the log from being used again: not at the price of a full disk. */
static enum err look_at_disk(const struct copy *c, struct why *why)
{
    int64_t all, left = free_bytes(c->s->path, &all);
    int64_t grown = log_size(c->s) - c->log_bytes;
    if (left < 0 || grown < LOG_MAY || left >= all / LEAST_SHARE)
        return OK;
    why_set(why,
            "given up: %s-wal has grown by %lld MiB during the backup, and its disk has only %lld "
            "MiB left; make room, or back up while less is written",
            c->s->path, (long long)(grown >> 20), (long long)(left >> 20));
    return ERR_FULL;
}

static enum err copy_failed(struct copy *c, int rc, struct why *why)
{
    enum err err = sqlerr_of(c->db, rc);
    if (err == ERR_CORRUPT)
        why_set(why, "database %s: %s; %s", c->s->path, sqlite3_errstr(rc), sqlite_advice(err));
    else
        why_set(why, "cannot copy %s to %s: %s", c->s->path, c->to,
                err == ERR_FULL ? "no room" : sqlite3_errstr(rc));
    return err;
}

static enum err copy_pages(struct copy *c, struct why *why)
{
    int busy = 0;
    for (int n = 1;; n++) {
        int64_t begun_us = clock_boot_us();
        int rc = sqlite3_backup_step(c->backup, STEP_PAGES);
        if (rc == SQLITE_DONE)
            return OK;
        bool again = rc == SQLITE_BUSY || rc == SQLITE_LOCKED;
        if (rc && !(again && ++busy < BUSY_TRIES))
            return copy_failed(c, rc, why);
        int64_t size = sqlite3_backup_pagecount(c->backup); /* 0 if the first step was busy */
        if (!c->step(c->ctx, size - sqlite3_backup_remaining(c->backup), size ? size : 1))
            return ERR_STOPPING;
        enum err err = OK;
        if (n % SYNC_STEPS == 0) {
            err = fdatasync(c->fd) ? file_failed("write", c->to, why) : look_at_disk(c, why);
            if (err)
                return err;
        }
        int64_t pause_us = clock_boot_us() - begun_us;
        usleep(again ? 5000 : (useconds_t)(pause_us < PAUSE_MAX_US ? pause_us : PAUSE_MAX_US));
    }
}

static enum err snapshot(struct sqlite *s, int64_t *ret_ms, struct why *why)
{
    sqlite3_stmt *q;
    int64_t n;
    enum err err = sql_exec(s, "BEGIN", why);
    if (!err)
        err = sql_get(s, "SELECT batch FROM peal_epoch", &q, why);
    if (!err)
        err = sql_number(s, q, 0, &n, why);
    *ret_ms = clock_wall_ms();
    return err;
}

static enum err copy_open(struct copy *c, struct why *why)
{
    int rc = sqlite3_open_v2(c->to, &c->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (!rc) /* it is thrown away if this process ends: nothing of it needs a journal */
        rc = sqlite3_exec(c->db,
                          "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
                          "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-2048",
                          NULL, NULL, NULL);
    if (!rc && !(c->backup = sqlite3_backup_init(c->db, "main", c->s->db, "main")))
        rc = sqlite3_extended_errcode(c->db);
    return rc ? copy_failed(c, rc, why) : OK;
}

/* The header's two bytes for "read and written with a log" become those for "without" (database
 * file format, 1.3.3): whoever opens the copy makes no files beside it, and needs no right to. */
static enum err without_log(const struct copy *c, struct why *why)
{
    return pwrite(c->fd, "\1\1", 2, 18) == 2 ? OK : file_failed("write", c->to, why);
}

enum err sqlite_copy(struct sqlite *s, const char *to, int fd, store_step_fn *step, void *ctx,
                     int64_t *ret_ms, struct why *why)
{
    struct copy c = { .s = s, .to = to, .fd = fd, .step = step, .ctx = ctx };
    c.log_bytes = log_size(s);
    enum err err = snapshot(s, ret_ms, why);
    if (!err)
        err = copy_open(&c, why);
    if (!err)
        err = copy_pages(&c, why);
    int rc = c.backup ? sqlite3_backup_finish(c.backup) : SQLITE_OK;
    if (!err && rc)
        err = copy_failed(&c, rc, why);
    sqlite3_close(c.db);
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return err ? err : without_log(&c, why);
}

/* ---- is it whole? ---------------------------------------------------------------------------- */

struct check {
    store_step_fn *step;
    void *ctx;
    bool stopped;
};

static int check_on(void *arg)
{
    struct check *c = arg;
    c->stopped = c->stopped || !c->step(c->ctx, 0, 0);
    return c->stopped;
}

/* The first row of a question that has one, as text; false: it could not be asked. */
static bool ask(sqlite3 *db, const char *question, char *to, size_t size)
{
    sqlite3_stmt *q = NULL;
    bool row = sqlite3_prepare_v2(db, question, -1, &q, NULL) == SQLITE_OK &&
               sqlite3_step(q) == SQLITE_ROW && sqlite3_column_text(q, 0);
    if (row)
        text_copy(to, size, slice_text((const char *)sqlite3_column_text(q, 0)));
    sqlite3_finalize(q);
    return row;
}

enum err sqlite_whole(const char *path, store_step_fn *step, void *ctx, struct why *why)
{
    struct check c = { .step = step, .ctx = ctx };
    sqlite3 *db = NULL;
    char said[256] = "";
    enum err err = OK;
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (!rc)
        rc = sqlite3_exec(db, "PRAGMA cache_size=-65536", NULL, NULL, NULL);
    sqlite3_progress_handler(db, CHECK_STEPS, check_on, &c);
    if (rc || !ask(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'peal_migration'", said,
                   sizeof(said))) {
        why_set(why, "%s cannot be read as a database: %s", path, sqlite3_errmsg(db));
        err = c.stopped ? ERR_STOPPING : sqlerr_of(db, sqlite3_extended_errcode(db));
    } else if (strcmp(said, "1") != 0) {
        why_set(why, "%s is not a database of Peal: it has no table peal_migration", path);
        err = ERR_INVALID;
    } else if (!ask(db, "PRAGMA integrity_check(1)", said, sizeof(said)) ||
               strcmp(said, "ok") != 0) {
        why_set(why, "%s is not whole: %s", path,
                strcmp(said, "1") != 0 ? said : sqlite3_errmsg(db));
        err = c.stopped ? ERR_STOPPING : ERR_CORRUPT;
    }
    sqlite3_close(db);
    return err;
}

/* ---- do its rows fit together? --------------------------------------------------------------- */

static enum err number(struct sqlite *s, const char *text, int64_t *ret, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s, text, &q, why);
    return err ? err : sql_number(s, q, 0, ret, why);
}

enum err sqlite_facts_check(struct sqlite *s, int64_t *ret_last_id, int64_t *ret_open,
                            struct why *ret_odd, struct why *why)
{
    int64_t largest = 0, orphans = 0;
    struct watermark w = { 0 };
    struct totals totals = { { 0 } };
    enum err err = s->sql.store.ops->txn->watermark_get(&s->sql.store, &w, why);
    if (!err)
        err = s->sql.store.ops->txn->totals_get(&s->sql.store, &totals, ret_open, why);
    if (!err)
        err = number(s,
                     "SELECT max(ifnull((SELECT max(id) FROM xxl_job_log), 0), "
                     "ifnull((SELECT max(log_id) FROM peal_run), 0))",
                     &largest, why);
    if (!err)
        err = number(s,
                     "SELECT count(*) FROM peal_run WHERE log_id NOT IN (SELECT id FROM "
                     "xxl_job_log)",
                     &orphans, why);
    if (err)
        return err;
    int64_t unaccounted = totals_unaccounted(&totals, *ret_open);
    if (largest > w.last_id)
        why_set(ret_odd, "the counter of log ids (%lld) is below an id that was given (%lld)",
                (long long)w.last_id, (long long)largest);
    else if (orphans)
        why_set(ret_odd, "%lld runs that have not ended have no row in the log",
                (long long)orphans);
    else if (unaccounted)
        why_set(ret_odd, "%lld planned firings are not accounted for", (long long)unaccounted);
    *ret_last_id = w.last_id;
    return OK;
}
