/* SPDX-License-Identifier: Apache-2.0 */
/* A damaged file: kept under another name, and what can be read of it goes on living. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "executor/runstore_db.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The log keeps its name beside the file, so that any SQLite can look at both together. */
static enum err move_aside(struct rdb *s, const char *aside, struct why *why)
{
    char *log = mem_join(s->path, "-wal"), *log_aside = mem_join(aside, "-wal");
    enum err err = OK;
    if ((rename(log, log_aside) && errno != ENOENT) || rename(s->path, aside)) {
        why_set(why, "the damaged journal %s cannot be moved to %s: %s", s->path, aside,
                strerror(errno));
        err = ERR_IO;
    }
    free(log);
    free(log_aside);
    return err;
}

enum err rdb_mend(struct rdb *s, struct why *why)
{
    size_t size = strlen(s->path) + 40;
    char *aside = mem_new(size);
    snprintf(aside, size, "%s.damaged-%lld", s->path, (long long)clock_wall_ms());
    enum err err = move_aside(s, aside, why);
    if (!err)
        err = rdb_connect(s, why);
    free(aside);
    return err;
}
