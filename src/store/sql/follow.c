/* SPDX-License-Identifier: Apache-2.0 */
/* The server that ids were left out for last is a number in peal_seq, under SERVER. That row is
 * locked while they are left out, so that one of several servers of Peal does it. */
#include "store/sql/follow.h"
#include "base/crc32c.h"
#include "base/log.h"
#include <string.h>

#define SERVER "server" /* of peal_seq */

void sql_follow_connected(struct sql *s, const char *server)
{
    s->server = server && *server ? (INT64_C(1) << 32) + crc32c(0, server, strlen(server)) : 0;
}

static enum err server_read(struct sql *s, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(s, "SELECT value FROM peal_seq WHERE name = '" SERVER "' FOR UPDATE", &q, why);
    return err ? err : sql_one(q, 0, ret, why);
}

static enum err server_put(struct sql *s, bool known, struct why *why)
{
    return sql_change_by_id(s,
                            known ? "UPDATE peal_seq SET value = ?1 WHERE name = '" SERVER "'"
                                  : "INSERT INTO peal_seq (name, value) VALUES ('" SERVER "', ?1)",
                            s->server, NULL, why);
}

static enum err skip(struct sql *s, const char *because, struct why *why)
{
    log_warn("store", "%s: log ids go on %lld later, behind those that were given there", because,
             (long long)SQL_IDS_LOST);
    return s->driver->ids_skip(s, false, why);
}

/* lost: ids have been given in commits that are not there, whichever server this is. */
static enum err follow(struct sql *s, bool lost, struct why *why)
{
    int64_t last = 0;
    enum err err = s->driver->ids_skip ? server_read(s, &last, why) : OK;
    if (err || !s->driver->ids_skip)
        return err;
    if (lost)
        err = skip(s, "the database had lost commits", why);
    else if (last && s->server && last != s->server)
        err = skip(s, "the database is another server than before", why);
    else if (last && s->joined)
        err = s->driver->ids_skip(s, true, why);
    if (!err && s->server && last != s->server)
        err = server_put(s, last != 0, why);
    s->following = s->server;
    return err;
}

enum err sql_follow_begin(struct sql *s, struct why *why)
{
    return follow(s, s->lost_commits, why);
}

enum err sql_follow(struct sql *s, struct why *why)
{
    if (!s->joined || s->asks || !s->server || s->server == s->followed)
        return OK;
    s->store.moved = true;
    return follow(s, false, why);
}
