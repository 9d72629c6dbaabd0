/* SPDX-License-Identifier: Apache-2.0 */
/* Is a server alive that this one cannot be beside? Releases are told apart by the rows of
 * peal_node: each life writes its protocols there when it begins, so a release that knows nothing
 * of a later one is judged by the later one. What the other way round would be, an old release that
 * starts beside newer nodes, finds the same rows. */
#include "store/sql/rivals.h"
#include "base/clock.h"
#include "base/log.h"
#include "model/life.h"
#include "store/sql/hold.h"
#include "store/release.h"
#include <string.h>
#include <time.h>

/* ?1: the name; empty: all lives are rivals. ?2, ?3: the protocols of this release. Sums move with
 * each of them. */
#define RIVALS                                                                                     \
    "FROM peal_epoch e LEFT JOIN peal_node n ON n.node = e.node WHERE e.ended = 0 AND "            \
    "(?1 = '' OR n.name = ?1 OR coalesce(n.state, 0) < 2 OR n.protocol < ?2 OR n.oldest > ?3) "

enum err sql_rivals_read(struct sql *s, const char *name, struct sql_life *ret, struct why *why)
{
    struct sql_query *q;
    bool row = false;
    enum err err = sql_query(s,
                             "SELECT e.epoch, n.name, n.address, "
                             "(SELECT count(*) " RIVALS "), (SELECT sum(e.batch) " RIVALS "), "
                             "(SELECT sum(n.beat) " RIVALS
                             "), n.version, n.protocol, n.oldest, n.state " RIVALS
                             "ORDER BY e.epoch DESC LIMIT 1",
                             &q, why);
    if (err)
        return err;
    sql_bind_text(q, 1, name);
    sql_bind_i64(q, 2, store_release.oldest);
    sql_bind_i64(q, 3, store_release.protocol);
    err = sql_next(q, &row, why);
    if (err || !row)
        return err;
    ret->epoch = sql_i64(q, 0, 0);
    sql_text_copy(q, 1, ret->name, sizeof(ret->name));
    sql_text_copy(q, 2, ret->address, sizeof(ret->address));
    ret->count = sql_i64(q, 3, 0);
    ret->batch = sql_i64(q, 4, 0);
    ret->beat = sql_i64(q, 5, 0);
    sql_text_copy(q, 6, ret->version, sizeof(ret->version));
    ret->protocol = sql_i64(q, 7, 1);
    ret->oldest = sql_i64(q, 8, 1);
    ret->shared = sql_i64(q, 9, 0) >= 2;
    sql_reset(q);
    return OK;
}

static const char *text_or(const char *text, const char *otherwise)
{
    return text[0] ? text : otherwise;
}

static void in_use(const struct sql *s, const char *name, const struct sql_life *l, struct why *why)
{
    const char *release = text_or(l->version, "another release");
    if (s->shared && strcmp(l->name, name) == 0)
        why_set(why, "node name %s is in use at %s; give this server another --node.name", name,
                text_or(l->address, "an address that is not known"));
    else if (s->shared && l->shared)
        why_set(why,
                "node %s at %s runs release %s with protocols %lld to %lld, and this release, %s, "
                "has %d to %d: they cannot run beside each other. Stop all nodes of %s first, or "
                "start %s here as well",
                l->name, text_or(l->address, "an unknown address"), release, (long long)l->oldest,
                (long long)l->protocol, store_release.version, store_release.oldest,
                store_release.protocol, release, release);
    else
        why_set(why,
                "the database is in use by another server (%s%s%s); stop that one, or give this "
                "one another --db",
                text_or(l->name, "it does not say its name"), l->address[0] ? " at " : "",
                l->address);
}

static void pause_ms(int ms)
{
    struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
    nanosleep(&t, NULL);
}

static enum life_sign looked(struct life_watch *w, const struct sql_life *l)
{
    return life_look(w, clock_boot_ms(), LIFE_LEASE_MS, l->epoch, l->beat, l->batch);
}

/* The rivals that were read are dead when their numbers have stood still for long enough. *io: as
 * they were read last. *ret_moves: one lives. */
static enum err stand_still(struct sql *s, const char *name, struct sql_life *io, bool *ret_moves,
                            struct why *why)
{
    struct life_watch w = { 0 };
    enum life_sign sign = LIFE_QUIET;
    (void)looked(&w, io);
    log_info("store",
             "the last server on this database has not said that it stops (%s); looking "
             "for %d s whether it is alive",
             text_or(io->name, "no name"), LIFE_LEASE_MS / 1000);
    while (sign == LIFE_QUIET) {
        struct sql_life now = { 0 };
        pause_ms(LIFE_LOOK_MS);
        enum err err = sql_rivals_read(s, name, &now, why);
        if (err)
            return err;
        *io = now;
        if (!now.epoch)
            return OK;
        sign = looked(&w, &now);
    }
    *ret_moves = sign == LIFE_MOVES;
    return OK;
}

enum err sql_epoch_watch(struct sql *s, const char *name, int64_t gone_epoch, struct why *why)
{
    struct sql_life l = { 0 };
    bool moves = false;
    const char *of = s->shared ? name : "";
    enum err err = sql_rivals_read(s, of, &l, why);
    s->watched = l.epoch;
    if (err || !l.epoch || (l.epoch == gone_epoch && l.count == 1))
        return err;
    err = stand_still(s, of, &l, &moves, why);
    if (err || !moves)
        return err;
    in_use(s, name, &l, why);
    return ERR_BUSY;
}

enum err sql_rivals_end(struct sql *s, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s,
                             "UPDATE peal_epoch SET ended = 1, heir = ?1 WHERE ended = 0 AND "
                             "epoch <> ?1 AND (node = ?2 OR node IN (SELECT node FROM peal_node "
                             "WHERE state < 2 OR protocol < ?3 OR oldest > ?4))",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, s->epoch);
    sql_bind_i64(q, 2, s->node);
    sql_bind_i64(q, 3, store_release.oldest);
    sql_bind_i64(q, 4, store_release.protocol);
    err = sql_do(q, why);
    if (!err)
        err = sql_query(s,
                        "UPDATE peal_node SET dead = 1 WHERE node <> ?1 AND epoch IN (SELECT epoch "
                        "FROM peal_epoch WHERE heir = ?2)",
                        &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, s->node);
    sql_bind_i64(q, 2, s->epoch);
    return sql_do(q, why);
}

/* ---- breaking migrations --------------------------------------------------------------------- */

static enum err oldest_put(struct sql *s, int64_t n, int64_t oldest, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s, "UPDATE peal_migration SET oldest = ?1 WHERE n = ?2", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, oldest);
    sql_bind_i64(q, 2, n);
    return sql_do(q, why);
}

static enum err oldest_get(struct sql *s, int64_t n, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s, "SELECT oldest FROM peal_migration WHERE n = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, n);
    return sql_one(q, 0, ret, why);
}

/* Whoever wakes up after this cannot beat, nor commit. */
static enum err all_end(struct sql *s, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s,
                             "UPDATE peal_node SET dead = 1 WHERE epoch IN (SELECT epoch FROM "
                             "peal_epoch WHERE ended = 0)",
                             &q, why);
    if (!err)
        err = sql_do(q, why);
    if (!err)
        err = sql_query(s, "UPDATE peal_epoch SET ended = 1 WHERE ended = 0", &q, why);
    return err ? err : sql_do(q, why);
}

static void lives_still(const struct sql_life *l, struct why *why)
{
    why_set(why,
            "this release, %s, changes the tables so that older ones cannot use them, and node "
            "%s at %s runs release %s: stop all nodes first, then start this one",
            store_release.version, text_or(l->name, "of no name"),
            text_or(l->address, "an unknown address"), text_or(l->version, "that is not known"));
}

/* A life that begins now finds what oldest_put has written; one that has begun before is read here.
 */
static enum err none_came(struct sql *s, const struct sql_life *seen, struct why *why)
{
    struct sql_life now = { 0 };
    enum err err = sql_rivals_read(s, "", &now, why);
    if (err || (now.epoch == seen->epoch && now.beat == seen->beat && now.batch == seen->batch))
        return err;
    lives_still(&now, why);
    return ERR_BUSY;
}

enum err sql_rivals_leave(struct sql *s, int64_t n, int64_t oldest, struct why *why)
{
    struct sql_life l = { 0 };
    int64_t before = 0;
    bool moves = false;
    enum err err = sql_rivals_read(s, "", &l, why);
    if (!err && l.epoch)
        err = stand_still(s, "", &l, &moves, why);
    if (!err && moves) {
        lives_still(&l, why);
        err = ERR_BUSY;
    }
    if (!err)
        err = oldest_get(s, n, &before, why);
    if (!err && before < oldest)
        err = oldest_put(s, n, oldest, why);
    if (err)
        return err;
    err = none_came(s, &l, why);
    if (!err)
        return all_end(s, why);
    struct why ignored = { "" };
    if (oldest_put(s, n, before, &ignored))
        log_warn("store", "older releases are refused from now on: %s", ignored.text);
    return err;
}

/* Held until the end: oldest_put waits for this transaction, or one of the two is refused. */
enum err sql_rivals_allow(struct sql *s, struct why *why)
{
    struct sql_query *q;
    int64_t n = 0, oldest = 0;
    enum err err =
        sql_query(s, "SELECT n FROM peal_migration ORDER BY n DESC LIMIT 1 FOR UPDATE", &q, why);
    if (!err)
        err = sql_one(q, 0, &n, why);
    if (!err)
        err = sql_hold_one(s, "peal_migration", "oldest", "n", n, why);
    if (!err)
        err = sql_query(s, "SELECT max(oldest) FROM peal_migration", &q, why);
    if (!err)
        err = sql_one(q, 0, &oldest, why);
    if (err || oldest <= store_release.protocol)
        return err;
    why_set(why,
            "a newer release has begun to change the tables, and wants protocol %lld; this one, "
            "%s, speaks %d: start the newer one here as well",
            (long long)oldest, store_release.version, store_release.protocol);
    return ERR_INVALID;
}
