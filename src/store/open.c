/* SPDX-License-Identifier: Apache-2.0 */
/* Which engine a URL means. This file knows all of them, and none of them knows it. */
#include "store/sqlite/sqlite_db.h"
#include <string.h>

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

void store_close(struct store *s)
{
    if (s)
        s->ops->close(s);
}

enum err store_tend(struct store *s, struct why *why)
{
    return s->ops == &store_sqlite_ops ? store_sqlite_checkpoint(s, NULL, why) : OK;
}
