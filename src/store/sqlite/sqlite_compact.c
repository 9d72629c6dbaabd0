/* SPDX-License-Identifier: Apache-2.0 */
/* A database file without the room that deleted rows have left. The new file is written beside the
 * old one, checked and synced, and then takes its name: whatever ends this before leaves the old
 * file as it is. The lock is held from before the first read until after the last rename. */
#include "base/file.h"
#include "base/mem.h"
#include "store/sqlite/sqlite_db.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define STEPS 50000 /* of SQLite's machine between two looks at how far it is */
#define SPARE_BYTES (INT64_C(16) << 20)

struct compact {
    struct sqlite *s;
    const char *to; /* the new file */
    int64_t needs;  /* bytes that it will have, about */
    store_progress_fn *progress;
    void *ctx;
    struct stat old;
};

static int look(void *ctx)
{
    struct compact *c = ctx;
    struct stat now;
    int64_t bytes = stat(c->to, &now) == 0 ? now.st_size : 0;
    c->progress(c->ctx, bytes < c->needs ? bytes : c->needs, c->needs);
    return 0;
}

static enum err io_failed(const char *what, const char *path, struct why *why)
{
    enum err err = errno == ENOSPC ? ERR_FULL : ERR_IO;
    why_set(why, "cannot %s %s: %s", what, path, strerror(errno));
    return err;
}

static enum err pragma(struct sqlite *s, const char *text, int64_t *ret, struct why *why)
{
    sqlite3_stmt *q = NULL;
    enum err err = sql_prepare(s, text, &q, why);
    if (!err)
        err = sql_number(s, q, 0, ret, why);
    sql_drop(s, q);
    return err;
}

/* How large the new file will be, and is there room for it? */
static enum err measure(struct compact *c, struct why *why)
{
    int64_t size = 0, pages = 0, unused = 0;
    struct statvfs disk;
    enum err err = pragma(c->s, "PRAGMA page_size", &size, why);
    if (!err)
        err = pragma(c->s, "PRAGMA page_count", &pages, why);
    if (!err)
        err = pragma(c->s, "PRAGMA freelist_count", &unused, why);
    if (err)
        return err;
    c->needs = (pages - unused) * size;
    if (stat(c->s->path, &c->old))
        return io_failed("look at", c->s->path, why);
    if (statvfs(c->s->path, &disk) == 0) {
        int64_t room = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
        if (room < c->needs + SPARE_BYTES) {
            why_set(why, "the new file needs %lld MiB beside the old one, and there are %lld free",
                    (long long)((c->needs + SPARE_BYTES) >> 20), (long long)(room >> 20));
            return ERR_FULL;
        }
    }
    return OK;
}

/* All of it into the file proper; a program that still reads from the log is in the way. */
static enum err settle(struct compact *c, struct why *why)
{
    int rc = sqlite3_wal_checkpoint_v2(c->s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    if (rc == SQLITE_BUSY) {
        why_set(why, "another program has %s open; close it first", c->s->path);
        return ERR_BUSY;
    }
    return rc ? sql_fail(c->s, rc, why) : OK;
}

static enum err copy(struct compact *c, struct why *why)
{
    sqlite3_stmt *q = NULL;
    if (unlink(c->to) && errno != ENOENT)
        return io_failed("remove", c->to, why);
    enum err err = sql_prepare(c->s, "VACUUM INTO ?1", &q, why);
    if (err)
        return err;
    sqlite3_progress_handler(c->s->db, STEPS, look, c);
    bind_text(q, 1, c->to);
    err = sql_run(c->s, q, why);
    sqlite3_progress_handler(c->s->db, 0, NULL, NULL);
    sql_drop(c->s, q);
    return err;
}

/* Does SQLite find the new file whole? */
static enum err check(struct compact *c, struct why *why)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_open_v2(c->to, &db, SQLITE_OPEN_READONLY, NULL);
    if (!rc)
        rc = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &q, NULL);
    bool good = !rc && sqlite3_step(q) == SQLITE_ROW &&
                strcmp((const char *)sqlite3_column_text(q, 0), "ok") == 0;
    sqlite3_finalize(q);
    sqlite3_close(db);
    if (good)
        return OK;
    why_set(why, "the new file %s is not whole; the old one stays as it is", c->to);
    return ERR_CORRUPT;
}

/* On disk, with the old file's owner and rights. */
static enum err sync_new(const struct compact *c, struct why *why)
{
    int fd = open(c->to, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return io_failed("open", c->to, why);
    bool good = fchmod(fd, c->old.st_mode & 07777) == 0 && fsync(fd) == 0;
    if (good && (c->old.st_uid != geteuid() || c->old.st_gid != getegid()))
        good = fchown(fd, c->old.st_uid, c->old.st_gid) == 0;
    enum err err = good ? OK : io_failed("sync", c->to, why);
    close(fd);
    return err;
}

/* With the handle closed and the lock held: the new file takes the old one's name. The last program
 * that closes a file removes its log, so one that is still there says that another has it open. */
static enum err swap(const char *to, const char *path, struct why *why)
{
    char *log = mem_join(path, "-wal");
    struct stat left;
    enum err err = OK;
    if (stat(log, &left) == 0) {
        why_set(why, "another program has %s open; close it first", path);
        err = ERR_BUSY;
    } else if (rename(to, path) || !file_sync_folder(path)) {
        err = io_failed("rename", to, why);
    }
    free(log);
    return err;
}

enum err store_sqlite_compact(const char *path, store_progress_fn *progress, void *ctx,
                              struct store_compacted *ret, struct why *why)
{
    struct store *store;
    struct stat now;
    if (stat(path, &now)) { /* opening would make one */
        why_set(why, "cannot open %s: %s", path, strerror(errno));
        return errno == ENOENT ? ERR_NOTFOUND : ERR_IO;
    }
    enum err err = sqlite_open(path, NULL, &store, why);
    if (err)
        return err;
    char *to = mem_join(path, ".compact");
    struct compact c = { .s = sqlite_of(store), .to = to, .progress = progress, .ctx = ctx };
    int lock = dup(c.s->lock_fd);
    err = settle(&c, why);
    if (!err)
        err = measure(&c, why);
    if (!err)
        err = copy(&c, why);
    if (!err)
        err = check(&c, why);
    if (!err)
        err = sync_new(&c, why);
    store->ops->close(store);
    if (!err)
        err = swap(to, path, why);
    ret->before = c.old.st_size;
    ret->after = !err && stat(path, &now) == 0 ? now.st_size : c.old.st_size;
    if (err)
        (void)!unlink(to);
    close(lock);
    free(to);
    return err;
}
