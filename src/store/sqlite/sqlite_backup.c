/* SPDX-License-Identifier: Apache-2.0 */
/* A backup is written as FILE.part, checked, synced, and renamed last: whatever ends this before
 * leaves no file with the final name. FILE.part is locked while it is written, so that what a kill
 * has left is told from what another backup writes now. The sum gets its name first: a sum without
 * a file misleads nobody, a backup without its sum could not be told from a changed one. */
#include "base/file.h"
#include "base/mem.h"
#include "store/sqlite/sqlite_copy.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPARE_BYTES (1 << 20)

struct names {
    char *to, *part, *sum, *sum_part;
};

static void names_make(struct names *n, const char *to)
{
    n->to = mem_dup(to);
    n->part = mem_join(to, ".part");
    n->sum = mem_join(to, ".sha256");
    n->sum_part = mem_join(n->sum, ".part");
}

static void names_done(struct names *n)
{
    free(n->to);
    free(n->part);
    free(n->sum);
    free(n->sum_part);
}

static enum err exists(const char *path, struct why *why)
{
    why_set(why, "%s exists already; name another file, or a folder", path);
    return ERR_EXISTS;
}

/* FILE.part, empty and ours. */
static enum err part_open(const struct names *n, int *ret_fd, struct why *why)
{
    struct stat st;
    if (lstat(n->to, &st) == 0)
        return exists(n->to, why);
    int fd = open(n->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return file_failed("make", n->part, why);
    enum err err = file_lock(fd);
    if (err == ERR_BUSY)
        why_set(why, "another backup writes %s now", n->to);
    else if (err)
        err = file_failed("lock", n->part, why);
    else if (ftruncate(fd, 0) || fchmod(fd, 0600))
        err = file_failed("empty", n->part, why);
    if (err)
        close(fd);
    else
        *ret_fd = fd;
    return err;
}

static enum err sum_write(const struct names *n, const char hex[65], struct why *why)
{
    const char *slash = strrchr(n->to, '/');
    int fd = open(n->sum_part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return file_failed("make", n->sum_part, why);
    bool good = dprintf(fd, "%s  %s\n", hex, slash ? slash + 1 : n->to) > 0 && fsync(fd) == 0;
    enum err err = good ? OK : file_failed("write", n->sum_part, why);
    close(fd);
    if (!err && rename(n->sum_part, n->sum))
        err = file_failed("rename", n->sum_part, why);
    return err;
}

static enum err publish(const struct names *n, int fd, const char hex[65], struct why *why)
{
    if (fsync(fd))
        return file_failed("sync", n->part, why);
    enum err err = sum_write(n, hex, why);
    if (err)
        return err;
    int rc = renameat2(AT_FDCWD, n->part, AT_FDCWD, n->to, RENAME_NOREPLACE);
    if (rc && errno == EINVAL) /* a file system that cannot promise it: it was looked at before */
        rc = rename(n->part, n->to);
    if (rc)
        return errno == EEXIST ? exists(n->to, why) : file_failed("rename", n->part, why);
    return file_sync_folder(n->to) ? OK : file_failed("sync the folder of", n->to, why);
}

static enum err source_open(const char *path, struct store **ret, struct why *why)
{
    const struct store_options options = { .read_only = true };
    struct stat st;
    if (stat(path, &st))
        return file_failed("open", path, why);
    return sqlite_open(path, &options, ret, why);
}

static enum err copy(const char *path, const struct names *n, int fd, store_step_fn *step,
                     void *ctx, struct store_backup *ret, struct why *why)
{
    struct store *store = NULL;
    struct stat st;
    enum err err = source_open(path, &store, why);
    if (err || !store)
        return err;
    if (stat(path, &st) == 0)
        err = file_has_room(n->part, st.st_size + SPARE_BYTES, why);
    if (!err)
        err = sqlite_copy(sqlite_of(store), n->part, fd, step, ctx, &ret->at_ms, why);
    store->ops->close(store);
    return err;
}

static enum err look(const struct names *n, int fd, store_step_fn *step, void *ctx,
                     struct store_backup *ret, struct why *why)
{
    struct store *store = NULL;
    struct stat st;
    enum err err = sqlite_whole(n->part, step, ctx, why);
    if (!err)
        err = source_open(n->part, &store, why);
    if (err || !store)
        return err;
    err = sqlite_facts_check(sqlite_of(store), &ret->last_id, &ret->open, &ret->odd, why);
    store->ops->close(store);
    if (!err)
        err = file_sum(fd, n->part, ret->sha256, why);
    ret->bytes = fstat(fd, &st) == 0 ? st.st_size : 0;
    return err;
}

enum err store_sqlite_backup(const char *path, const char *to, store_step_fn *step, void *ctx,
                             struct store_backup *ret, struct why *why)
{
    struct names n;
    int fd = -1;
    *ret = (struct store_backup){ 0 };
    names_make(&n, to);
    enum err err = part_open(&n, &fd, why);
    if (!err) {
        err = copy(path, &n, fd, step, ctx, ret, why);
        if (!err)
            err = look(&n, fd, step, ctx, ret, why);
        if (!err)
            err = publish(&n, fd, ret->sha256, why);
        if (err) {
            (void)!unlink(n.part);
            (void)!unlink(n.sum_part);
        }
        close(fd);
    }
    text_copy(ret->path, sizeof(ret->path), slice_text(to));
    names_done(&n);
    return err;
}
