/* SPDX-License-Identifier: Apache-2.0 */
/* The rules are those of rivals.c and migration.c. This only says what they would find, and does
 * not wait for a node that may have died: what has not ended counts as alive. */
#include "store/sql/releases.h"
#include "store/release.h"
#include "store/sql/selftest.h"
#include <stdio.h>
#include <string.h>

struct said {
    char *to;
    size_t size;
    struct why *why;
    bool apart; /* a node cannot run beside this release */
};

static enum err known(struct sql *s, bool *ret, struct why *why)
{
    char text[256];
    struct sql_query *q;
    int64_t n = 0;
    snprintf(text, sizeof(text),
             "SELECT count(*) FROM information_schema.columns WHERE table_schema = %s AND "
             "table_name = 'peal_node' AND column_name = 'protocol'",
             s->driver->selftest->schema);
    enum err err = sql_query_once(s, text, &q, why);
    if (err)
        return err;
    err = sql_one(q, 0, &n, why);
    sql_query_end(q);
    *ret = n > 0;
    return err;
}

static enum err migrations(struct sql *s, struct said *t)
{
    struct sql_query *q;
    bool row = false;
    int64_t oldest = 0;
    enum err err = sql_query(s, "SELECT max(n), max(oldest) FROM peal_migration", &q, t->why);
    if (!err)
        err = sql_next(q, &row, t->why);
    if (err || !row)
        return err;
    oldest = sql_i64(q, 1, 0);
    snprintf(t->to, t->size, "migration %lld; this release is %s, protocol %d",
             (long long)sql_i64(q, 0, 0), store_release.version, store_release.protocol);
    sql_reset(q);
    if (oldest <= store_release.protocol)
        return OK;
    why_set(t->why, "the tables want protocol %lld, and this release, %s, speaks %d",
            (long long)oldest, store_release.version, store_release.protocol);
    return ERR_INVALID;
}

static bool on_node(struct sql_query *q, void *unused, void *ctx)
{
    struct said *t = ctx;
    char name[129], version[33];
    int64_t protocol = sql_i64(q, 2, 1), oldest = sql_i64(q, 3, 1);
    size_t used = strlen(t->to);
    (void)unused;
    sql_text_copy(q, 0, name, sizeof(name));
    sql_text_copy(q, 1, version, sizeof(version));
    snprintf(t->to + used, t->size - used, "; %s: %s, protocol %lld", name, version,
             (long long)protocol);
    if (!t->apart && (protocol < store_release.oldest || oldest > store_release.protocol)) {
        t->apart = true;
        why_set(t->why,
                "node %s has release %s with protocols %lld to %lld, and this release, %s, has %d "
                "to %d: stop all nodes of %s before this one starts",
                name, version, (long long)oldest, (long long)protocol, store_release.version,
                store_release.oldest, store_release.protocol, version);
    }
    return true;
}

enum err sql_releases_check(struct sql *s, char *remark, size_t size, struct why *why)
{
    struct said t = { .to = remark, .size = size, .why = why };
    struct sql_query *q;
    bool there = false;
    remark[0] = '\0';
    enum err err = known(s, &there, why);
    if (!err && there)
        err = migrations(s, &t);
    if (err || !there)
        return err;
    err = sql_query(s,
                    "SELECT n.name, n.version, n.protocol, n.oldest FROM peal_node n JOIN "
                    "peal_epoch e ON e.epoch = n.epoch WHERE e.ended = 0 ORDER BY n.epoch LIMIT 20",
                    &q, why);
    if (!err)
        err = sql_rows(q, on_node, NULL, &t, why);
    return err ? err : t.apart ? ERR_INVALID : OK;
}
