/* SPDX-License-Identifier: Apache-2.0 */
/* A backup takes a database's place. The copy is made beside it, checked, and given a new life; the
 * old file gets a second name in a folder of its own; then the copy is renamed over it. Whatever
 * ends this before the rename leaves the old database in its place, afterwards the new one is.
 *
 * What a restored state means. The backup does not know what happened after it, so every row of it
 * that stands as planned may have been sent meanwhile: the watermark is put to now, by which the
 * server reconciles those runs instead of sending them; one that has no address cannot be
 * reconciled, and ends as lost. It has no flight recorder, whose id is drawn anew: the old one is
 * younger than the rows. Ids that were given since are left out. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/secret.h"
#include "store/backup_name.h"
#include "store/sqlite/sqlite_copy.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART_BYTES (1 << 20)
#define SPARE_BYTES (1 << 20)
#define SUM_DIGITS 64

struct restore {
    const char *path, *from;
    char *to;        /* the copy, until it takes the place */
    struct stat old; /* of the database; of its folder if there is none */
    bool replaces;   /* there is one */
    store_step_fn *step;
    void *ctx;
};

/* ---- the file -------------------------------------------------------------------------------- */

static enum err look_at_source(const struct restore *r, struct stat *ret, struct why *why)
{
    struct stat log;
    if (stat(r->from, ret))
        return file_failed("open", r->from, why);
    if (!S_ISREG(ret->st_mode)) {
        why_set(why, "%s is not a file", r->from);
        return ERR_INVALID;
    }
    if (r->replaces && ret->st_dev == r->old.st_dev && ret->st_ino == r->old.st_ino) {
        why_set(why, "%s is the database itself", r->from);
        return ERR_INVALID;
    }
    char *path = mem_join(r->from, "-wal");
    bool running = stat(path, &log) == 0 && log.st_size > 0;
    free(path);
    if (!running)
        return OK;
    why_set(why,
            "%s-wal lies beside it: this is a database in use, not a backup; make one with peal "
            "backup",
            r->from);
    return ERR_INVALID;
}

/* The sum that FILE.sha256 names; false: there is no such file. */
static bool sum_read(const char *from, char hex[SUM_DIGITS + 1], struct why *why)
{
    char *path = mem_join(from, ".sha256"), text[PATH_MAX];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool there = fd >= 0 || errno != ENOENT;
    size_t n = fd >= 0 ? file_read(fd, 0, text, sizeof(text)) : 0;
    hex[0] = '\0';
    if (n > SUM_DIGITS && (text[SUM_DIGITS] == ' ' || text[SUM_DIGITS] == '\n'))
        text_copy(hex, SUM_DIGITS + 1, slice_of(text, SUM_DIGITS));
    else if (there)
        why_set(why, "%s cannot be read, or has no line of sha256sum", path);
    if (fd >= 0)
        close(fd);
    free(path);
    return there;
}

static enum err sum_check(const struct restore *r, int fd, bool *ret_summed, struct why *why)
{
    char said[SUM_DIGITS + 1], is[SUM_DIGITS + 1];
    *ret_summed = sum_read(r->from, said, why);
    if (!*ret_summed)
        return OK;
    if (!said[0])
        return ERR_INVALID;
    enum err err = file_sum(fd, r->to, is, why);
    if (err || slice_eq_nocase(slice_text(said), is))
        return err;
    why_set(why, "%s has been changed: its SHA-256 is %.16s…, and %s.sha256 says %.16s…", r->from,
            is, r->from, said);
    return ERR_CORRUPT;
}

static enum err copy_bytes(const struct restore *r, int in, int out, int64_t all, struct why *why)
{
    char *part = mem_new(PART_BYTES);
    enum err err = OK;
    size_t n = PART_BYTES;
    for (int64_t at = 0; !err && n == PART_BYTES; at += PART_BYTES) {
        n = file_read(in, at, part, PART_BYTES);
        if (n < PART_BYTES && errno)
            err = file_failed("read", r->from, why);
        else if (!file_write(out, slice_of(part, n)))
            err = file_failed("write", r->to, why);
        else if (!r->step(r->ctx, at + (int64_t)n, all ? all : 1))
            err = ERR_STOPPING;
    }
    free(part);
    return err;
}

static enum err copy(const struct restore *r, bool *ret_summed, struct why *why)
{
    struct stat st;
    enum err err = look_at_source(r, &st, why);
    if (!err)
        err = file_has_room(r->path, st.st_size + SPARE_BYTES, why);
    if (err)
        return err;
    int in = open(r->from, O_RDONLY | O_CLOEXEC), out = -1;
    if (in < 0)
        return file_failed("open", r->from, why);
    out = open(r->to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    err = out < 0 ? file_failed("make", r->to, why) : copy_bytes(r, in, out, st.st_size, why);
    if (!err)
        err = sum_check(r, out, ret_summed, why);
    close(in);
    if (out >= 0)
        close(out);
    return err;
}

/* ---- a new life ------------------------------------------------------------------------------ */

struct unaddressed {
    struct run_change *items;
    size_t n;
    int64_t now_ms;
};

/* A planned run without an address gets one when it is due, so it may have been sent meanwhile and
 * no executor can be asked: it ends as lost, and does not run again. */
static bool add_unaddressed(void *ctx, const struct run_row *row)
{
    static const char text[] = "lost: a backup was restored that does not know whether, and where, "
                               "this run was sent";
    struct unaddressed *u = ctx;
    if (row->phase != PHASE_PLANNED || row->address || row->due_ms > u->now_ms)
        return true;
    u->items = mem_resize(u->items, (u->n + 1) * sizeof(*u->items));
    u->items[u->n++] = (struct run_change){
        .log_id = row->log_id,
        .what = CHANGE_PHASE | CHANGE_FINISH | CHANGE_CLOSE,
        .phase = PHASE_LOST,
        .doubted = true,
        .handle_code = 500,
        .handle_ms = u->now_ms,
        .handle_msg = mem_dup(text),
    };
    return true;
}

static enum err close_unaddressed(struct store *store, struct commit *c, struct why *why)
{
    struct unaddressed u = { .now_ms = c->watermark.until_ms };
    int64_t missed = 0;
    enum err err = store->ops->runs->runs_each(store, add_unaddressed, &u, why);
    if (!err && u.n)
        err = store->ops->runs->runs_change(store, u.items, (int)u.n, &missed, why);
    c->totals.n[TOTAL_LOST] = (int64_t)u.n - missed;
    for (size_t i = 0; i < u.n; i++)
        run_change_done(&u.items[i]);
    free(u.items);
    return err;
}

static enum err begin_life(struct store *store, struct why *why)
{
    unsigned char random[(RECORDER_ID_SIZE - 1) / 2];
    struct commit c = { .watermark = { .until_ms = clock_wall_ms() } };
    secret_random(random, sizeof(random));
    hex_text(random, sizeof(random), c.watermark.recorder);
    enum err err = store->ops->txn->begin(store, why);
    if (!err)
        err = store_sqlite_jump_ids(store, why);
    if (!err)
        err = close_unaddressed(store, &c, why);
    if (!err)
        err = store->ops->txn->commit(store, &c, why);
    if (err)
        store->ops->txn->rollback(store);
    return err;
}

static enum err number(struct sqlite *s, const char *text, int64_t *ret, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s, text, &q, why);
    return err ? err : sql_number(s, q, 0, ret, why);
}

static enum err count_jobs(struct sqlite *s, struct store_restored *ret, struct why *why)
{
    enum err err =
        number(s, "SELECT count(*) FROM xxl_job_info WHERE trigger_status = 1", &ret->jobs, why);
    if (!err)
        err = number(s,
                     "SELECT count(*) FROM xxl_job_info WHERE trigger_status = 1 AND "
                     "misfire_strategy IN ('FIRE_ONCE_NOW', 'FIRE_ALL')",
                     &ret->jobs_again, why);
    return err;
}

static enum err revive(const struct restore *r, struct store_restored *ret, struct why *why)
{
    struct store *store;
    struct watermark w;
    char *lock = mem_join(r->to, ".lock");
    enum err err = sqlite_open(r->to, NULL, &store, why); /* brings an older one up to date */
    if (!err) {
        err = store->ops->txn->watermark_get(store, &w, why);
        if (!err)
            ret->until_ms = w.until_ms;
        if (!err)
            err = sqlite_facts_check(sqlite_of(store), &ret->last_id, &ret->open, &ret->odd, why);
        if (!err)
            err = count_jobs(sqlite_of(store), ret, why);
        if (!err)
            err = begin_life(store, why);
        if (!err)
            err = store->ops->txn->watermark_get(store, &w, why);
        ret->last_id = err ? 0 : w.last_id;
        store->ops->close(store);
    }
    (void)!unlink(lock);
    free(lock);
    return err;
}

/* ---- the exchange ---------------------------------------------------------------------------- */

/* With the rights and the owner of the database; of its folder, if it is the first. */
static enum err sync_copy(const struct restore *r, struct why *why)
{
    int fd = open(r->to, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return file_failed("open", r->to, why);
    mode_t mode = r->replaces ? r->old.st_mode & 0777 : 0640;
    bool good = fchmod(fd, mode) == 0;
    if (good && (r->old.st_uid != geteuid() || r->old.st_gid != getegid()))
        good = fchown(fd, r->old.st_uid, r->old.st_gid) == 0;
    enum err err = good && fsync(fd) == 0 ? OK : file_failed("sync", r->to, why);
    close(fd);
    return err;
}

/* What the old log holds goes into the old file, if that can be read at all: a damaged database is
 * a reason for a restore. */
static enum err settle_old(const struct restore *r, struct why *why)
{
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(r->path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (!rc)
        rc = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_close(db);
    if (rc != SQLITE_BUSY)
        return OK;
    why_set(why, "another program has %s open; close it first", r->path);
    return ERR_BUSY;
}

/* A second name for one of the old files in the folder; one that is not there is fine. */
static enum err keep_one(const struct restore *r, const char *folder, const char *behind,
                         struct why *why)
{
    char *name = mem_join(r->path, behind), *base = mem_dup(name), *slash = mem_join(folder, "/");
    char *to = mem_join(slash, basename(base));
    enum err err = OK;
    if (link(name, to) && errno != ENOENT && rename(name, to)) /* not every file system links */
        err = file_failed("keep", name, why);
    free(name);
    free(base);
    free(slash);
    free(to);
    return err;
}

/* DIR/replaced-TIME. */
static enum err keep_folder(const struct restore *r, char *to, size_t size, struct why *why)
{
    char *copy = mem_dup(r->path), name[BACKUP_NAME_SIZE];
    backup_name(clock_wall_ms(), name);
    int n = snprintf(to, size, "%s/replaced-%.20s", dirname(copy), name + 5);
    free(copy);
    if (n >= (int)size || mkdir(to, 0750))
        return file_failed("make the folder", to, why);
    if ((r->old.st_uid != geteuid() || r->old.st_gid != getegid()) &&
        chown(to, r->old.st_uid, r->old.st_gid))
        return file_failed("give away the folder", to, why);
    return OK;
}

static enum err keep_old(const struct restore *r, struct store_restored *ret, struct why *why)
{
    static const char *const files[] = { "", "-wal", "-shm" };
    enum err err = settle_old(r, why);
    if (!err)
        err = keep_folder(r, ret->kept, sizeof(ret->kept), why);
    for (size_t i = 0; !err && i < countof(files); i++)
        err = keep_one(r, ret->kept, files[i], why);
    char *inside = mem_join(ret->kept, "/.");
    if (!err && !file_sync_folder(inside))
        err = file_failed("sync the folder", ret->kept, why);
    free(inside);
    return err;
}

/* A log beside the new file would be read as its own. */
static enum err exchange(const struct restore *r, struct why *why)
{
    char *log = mem_join(r->path, "-wal"), *index = mem_join(r->path, "-shm");
    enum err err = OK;
    if ((unlink(log) && errno != ENOENT) || (unlink(index) && errno != ENOENT))
        err = file_failed("remove", log, why);
    else if (rename(r->to, r->path) || !file_sync_folder(r->path))
        err = file_failed("rename", r->to, why);
    free(log);
    free(index);
    return err;
}

static enum err prepare(const struct restore *r, struct store_restored *ret, struct why *why)
{
    enum err err = copy(r, &ret->summed, why);
    if (!err)
        err = sqlite_whole(r->to, r->step, r->ctx, why);
    if (!err)
        err = revive(r, ret, why);
    return err ? err : sync_copy(r, why);
}

static enum err look_at_old(struct restore *r, struct why *why)
{
    r->replaces = stat(r->path, &r->old) == 0;
    if (r->replaces)
        return OK;
    char *copy = mem_dup(r->path), *folder = dirname(copy);
    enum err err = stat(folder, &r->old) ? file_failed("open the folder", folder, why) : OK;
    free(copy);
    return err;
}

enum err store_sqlite_restore(const char *path, const char *from, store_step_fn *step, void *ctx,
                              struct store_restored *ret, struct why *why)
{
    struct restore r = { .path = path, .from = from, .step = step, .ctx = ctx };
    int lock = -1, file = -1;
    *ret = (struct store_restored){ 0 };
    enum err err = look_at_old(&r, why);
    if (!err)
        err = sqlite_lock(path, &lock, why);
    if (err)
        return err;
    err = sqlite_lock_file(path, &file, why);
    if (err) {
        close(lock);
        return err;
    }
    r.to = mem_join(path, ".restore");
    err = prepare(&r, ret, why);
    if (!err && r.replaces)
        err = keep_old(&r, ret, why);
    if (!err)
        err = exchange(&r, why);
    if (err)
        (void)!unlink(r.to);
    if (file >= 0)
        close(file);
    close(lock);
    free(r.to);
    return err;
}
