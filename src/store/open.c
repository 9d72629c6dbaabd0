/* SPDX-License-Identifier: Apache-2.0 */
/* Which engine a URL means. This file knows all of them, and none of them knows it. */
#include "base/clock.h"
#include "store/backup.h"
#include "store/backup_name.h"
#include "store/sqlite/sqlite_db.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The file of an SQLite URL; NULL for another one. */
static const char *sqlite_path(const char *url, struct why *why)
{
    static const char prefix[] = "sqlite:";
    if (strncmp(url, prefix, sizeof(prefix) - 1) == 0 && url[sizeof(prefix) - 1])
        return url + sizeof(prefix) - 1;
    /* a URL may carry a password: it is not repeated */
    why_set(why, "db: this release opens sqlite:FILE only");
    return NULL;
}

enum err store_open(const char *url, const struct store_options *options, struct store **ret,
                    struct why *why)
{
    const char *path = sqlite_path(url, why);
    return path ? sqlite_open(path, options, ret, why) : ERR_INVALID;
}

enum err store_compact(const char *url, store_progress_fn *progress, void *ctx,
                       struct store_compacted *ret, struct why *why)
{
    const char *path = sqlite_path(url, why);
    return path ? store_sqlite_compact(path, progress, ctx, ret, why) : ERR_INVALID;
}

enum err store_backup(const char *url, const char *to, store_step_fn *step, void *ctx,
                      struct store_backup *ret, struct why *why)
{
    char file[PATH_MAX], name[BACKUP_NAME_SIZE];
    struct stat st;
    size_t n = strlen(to);
    bool ends = n && to[n - 1] == '/';
    bool folder = ends || (stat(to, &st) == 0 && S_ISDIR(st.st_mode));
    backup_name(clock_wall_ms(), name);
    const char *between = folder && !ends ? "/" : "";
    int size = snprintf(file, sizeof(file), "%s%s%s", to, between, folder ? name : "");
    if (size >= (int)sizeof(file) - 16) {
        why_set(why, "the name of the file is too long");
        return ERR_TOOBIG;
    }
    const char *path = sqlite_path(url, why);
    return path ? store_sqlite_backup(path, file, step, ctx, ret, why) : ERR_INVALID;
}

enum err store_restore(const char *url, const char *from, store_step_fn *step, void *ctx,
                       struct store_restored *ret, struct why *why)
{
    const char *path = sqlite_path(url, why);
    return path ? store_sqlite_restore(path, from, step, ctx, ret, why) : ERR_INVALID;
}

void store_close(struct store *s)
{
    if (s)
        s->ops->close(s);
}

enum err store_tend(struct store *s, struct why *why)
{
    return s->ops == &store_sqlite_ops ? store_sqlite_checkpoint(s, NULL, why) : OK;
}
