/* SPDX-License-Identifier: Apache-2.0 */
/* Taking the journal: the lock, the file, and what happens to one that is damaged.
 *
 * PATH.lock comes before the file and covers what SQLite's lock cannot: the time in which a damaged
 * file is moved aside. */
#include "base/log.h"
#include "base/mem.h"
#include "executor/journal/run_journal_db.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

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
                strerror(errno), rdb_advice(err));
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
    rdb_rescue_finish(s->path);
    enum err err = rdb_connect(s, &how);
    if (err == ERR_CORRUPT) {
        log_error("journal", "%s", how.text);
        why_clear(&how);
        err = rdb_rescue(s, &how);
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
