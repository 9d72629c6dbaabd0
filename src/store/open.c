/* SPDX-License-Identifier: Apache-2.0 */
/* Which engine a URL means. This file knows all of them, and none of them knows it. */
#include "store/sqlite/sqlite_db.h"
#include <string.h>

enum err store_open(const char *url, const struct store_options *options, struct store **ret,
                    struct why *why)
{
    static const char prefix[] = "sqlite:";
    if (strncmp(url, prefix, sizeof(prefix) - 1) == 0 && url[sizeof(prefix) - 1])
        return sqlite_open(url + sizeof(prefix) - 1, options, ret, why);
    /* a URL may carry a password: it is not repeated */
    why_set(why, "db: this release opens sqlite:FILE only");
    return ERR_INVALID;
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
