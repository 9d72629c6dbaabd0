/* SPDX-License-Identifier: Apache-2.0 */
/* Epochs in texts that server engines share. Numbers of commits go on from one epoch to the next,
 * because bytes of peal_delta and the flight recorder are told apart by them; totals are sums over
 * all epochs; watermark and recorder are those of the newest.
 *
 * Where several servers share the database, a life follows that of its own name, and those that
 * run beside it are left alone. Numbers of its commits begin at a place of their own then. */
#include "store/sql/epoch.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/sql/hold.h"
#include "store/release.h"
#include "store/sql/tables.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define ADOPT_ROWS 20000 /* live rows that get a new owner in one transaction */
#define JOIN_TRIES 20    /* of a transaction that meets another server's */
#define JOIN_PAUSE_MS 50

/* ---- commit ---------------------------------------------------------------------------------- */

struct epoch_row {
    bool there, ended;
    int64_t batch;
};

/* Of the handle's epoch. lock: wait for a transaction that is about to change it. */
static enum err epoch_read(struct sql *s, bool lock, struct epoch_row *ret, struct why *why)
{
    struct sql_query *q;
    bool row = false;
    enum err err =
        sql_query(s,
                  lock ? "SELECT batch, ended FROM peal_epoch WHERE epoch = ?1 FOR UPDATE"
                       : "SELECT batch, ended FROM peal_epoch WHERE epoch = ?1",
                  &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, s->epoch);
    err = sql_next(q, &row, why);
    if (err)
        return err;
    *ret = (struct epoch_row){ .there = row };
    if (!row)
        return OK;
    ret->batch = sql_i64(q, 0, 0);
    ret->ended = sql_i64(q, 1, 1) != 0;
    sql_reset(q);
    return OK;
}

void sql_epoch_given_up(const struct sql *s, struct why *why)
{
    why_set(why,
            "another server has found no beat of this one for 3 s, ended its epoch %lld and taken "
            "its runs over",
            (long long)s->epoch);
}

/* Why the fence let nothing through. */
static enum err epoch_lost(struct sql *s, const struct epoch_row *r, struct why *why)
{
    int64_t had = r->there ? r->batch : s->first_batch;
    if (had < s->batch)
        s->store.lost_commits = s->batch - had;
    if (!r->there)
        why_set(why,
                "the database does not know epoch %lld, which began here: it is " SQL_OLDER_COPY,
                (long long)s->epoch);
    else if (r->ended && s->shared)
        sql_epoch_given_up(s, why);
    else if (r->ended)
        why_set(why,
                "another server has opened the database and ended this one's epoch %lld; only one "
                "may use it",
                (long long)s->epoch);
    else
        why_set(why,
                "the database holds commit %lld of epoch %lld where %lld was acknowledged: it "
                "is " SQL_OLDER_COPY,
                (long long)r->batch, (long long)s->epoch, (long long)s->batch);
    return ERR_FENCED;
}

/* Parameters of the fence that say what the commit says. */
static void bind_commit(struct sql_query *q, const struct commit *c)
{
    bool put = c->watermark.until_ms;
    for (int i = 0; i < TOTAL_COUNT; i++)
        sql_bind_i64(q, 1 + i, c->totals.n[i]);
    sql_bind_i64(q, 11, put ? c->watermark.until_ms : INT64_MIN);
    if (put || c->clean)
        sql_bind_i64(q, 12, c->clean);
    else
        sql_bind_null(q, 12);
    sql_bind_text(q, 13, put ? c->watermark.recorder : NULL);
    if (put)
        sql_bind_i64(q, 14, c->watermark.renewals);
    else
        sql_bind_null(q, 14);
}

/* Other servers look at groups and registrations again. A transaction that was rolled back may have
 * wanted that as well: one look too many. */
static enum err changes_tell(struct sql *s, struct why *why)
{
    if (!s->shared || !s->changed)
        return OK;
    enum err err = sql_change_by_id(
        s, "UPDATE peal_epoch SET changes = changes + 1 WHERE epoch = ?1", s->epoch, NULL, why);
    s->changed = err != OK;
    s->store.told |= err == OK;
    return err;
}

enum err sql_epoch_flush(struct sql *s, const struct commit *c, struct why *why)
{
    static const struct commit nothing;
    static_assert(TOTAL_COUNT == 10, "the statement names them");
    struct sql_query *q;
    struct epoch_row row;
    int64_t rows = 0;
    enum err err = changes_tell(s, why);
    if (err)
        return err;
    err = sql_query(s,
                    "UPDATE peal_epoch SET batch = batch + 1, planned = planned + ?1, "
                    "finished = finished + ?2, rejected = rejected + ?3, lost = lost + ?4, "
                    "skipped = skipped + ?5, withdrawn = withdrawn + ?6, sent = sent + ?7, "
                    "resent = resent + ?8, late = late + ?9, found = found + ?10, "
                    "watermark_ms = CASE WHEN watermark_ms < ?11 THEN ?11 ELSE watermark_ms END, "
                    "clean = coalesce(?12, clean), recorder = coalesce(?13, recorder), "
                    "renewals = coalesce(?14, renewals), ended = ?15 "
                    "WHERE epoch = ?16 AND ended = 0 AND batch = ?17",
                    &q, why);
    if (err)
        return err;
    bind_commit(q, c ? c : &nothing);
    sql_bind_i64(q, 15, s->leaving);
    sql_bind_i64(q, 16, s->epoch);
    sql_bind_i64(q, 17, s->batch);
    err = sql_change(q, &rows, why);
    if (err || rows == 1)
        return err;
    err = epoch_read(s, false, &row, why);
    return err ? err : epoch_lost(s, &row, why);
}

/* A commit that was found is not yet safe: a server that was started again has committed what it
 * had written down, also what its standby had not heard of. An empty commit behind it, whose answer
 * is heard, says that the standby has both. ERR_FENCED: the next commit says so as well. */
static enum err outcome_make_safe(struct sql *s, struct why *why)
{
    enum err err = s->store.ops->txn->commit(&s->store, NULL, why);
    if (err)
        s->store.ops->txn->rollback(&s->store);
    s->found = err && err != ERR_FENCED;
    return err == ERR_FENCED ? OK : err == ERR_UNHEARD ? ERR_STORE : err;
}

enum err sql_outcome(struct store *store, bool *ret_done, struct why *why)
{
    struct sql *s = sql_of(store);
    struct epoch_row row;
    s->asks = true;
    enum err err = store->ops->txn->begin(store, why);
    s->asks = false;
    if (err)
        return err;
    err = sql_hold_one(s, "peal_epoch", "changes", "epoch", s->epoch, why);
    if (!err)
        err = epoch_read(s, true, &row, why);
    bool next = !err && row.there && row.batch == s->batch + 1;
    *ret_done = next || (!err && s->found && row.batch == s->batch);
    if (*ret_done) {
        s->batch = row.batch;
        return outcome_make_safe(s, why);
    }
    if (!err) /* from here on a commit that is still under way at another server is refused */
        err = sql_hold_commit(s, why);
    store->ops->txn->rollback(store);
    if (err || (row.batch == s->batch && !row.ended))
        return err;
    return epoch_lost(s, &row, why);
}

/* ---- the newest ------------------------------------------------------------------------------ */

enum err sql_life_read(struct sql *s, struct sql_life *ret, struct why *why)
{
    struct sql_query *q;
    bool row = false;
    enum err err = sql_query(s,
                             "SELECT e.epoch, e.batch, n.beat, n.name, n.address FROM peal_epoch e "
                             "LEFT JOIN peal_node n ON n.node = e.node WHERE e.ended = 0 "
                             "ORDER BY e.epoch DESC LIMIT 1",
                             &q, why);
    if (!err)
        err = sql_next(q, &row, why);
    if (err || !row)
        return err;
    ret->epoch = sql_i64(q, 0, 0);
    ret->batch = sql_i64(q, 1, 0);
    ret->beat = sql_i64(q, 2, 0);
    sql_text_copy(q, 3, ret->name, sizeof(ret->name));
    sql_text_copy(q, 4, ret->address, sizeof(ret->address));
    sql_reset(q);
    return OK;
}

/* ---- joining --------------------------------------------------------------------------------- */

/* One life of a name begins at a time. */
static enum err node_find(struct sql *s, const char *name, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s, "SELECT node FROM peal_node WHERE name = ?1 FOR UPDATE", &q, why);
    if (err)
        return err;
    sql_bind_text(q, 1, name);
    return sql_one(q, 0, ret, why);
}

/* The number of the node of that name; it gets one with its first life. */
static enum err node_take(struct sql *s, const char *name, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = node_find(s, name, ret, why);
    if (err || *ret)
        return err;
    err = sql_query(s,
                    "INSERT INTO peal_node (name, epoch, dead, beat, mark_ms, wall_ms, skew_ms, "
                    "state, live) VALUES (?1, 0, 0, 0, 0, 0, 0, 0, 0)",
                    &q, why);
    if (err)
        return err;
    sql_bind_text(q, 1, name);
    err = sql_do(q, why);
    return err ? err : node_find(s, name, ret, why);
}

/* The newest life: nothing begins beside this one. ended: it cannot be in the way. */
static enum err newest_lock(struct sql *s, int64_t *ret_epoch, bool *ret_ended, struct why *why)
{
    struct sql_query *q;
    bool row = false;
    enum err err = sql_query(
        s, "SELECT epoch, ended FROM peal_epoch ORDER BY epoch DESC LIMIT 1 FOR UPDATE", &q, why);
    *ret_epoch = 0;
    *ret_ended = true;
    if (!err)
        err = sql_next(q, &row, why);
    if (err || !row)
        return err;
    *ret_epoch = sql_i64(q, 0, 0);
    *ret_ended = sql_i64(q, 1, 0) != 0;
    sql_reset(q);
    return sql_hold_one(s, "peal_epoch", "changes", "epoch", *ret_epoch, why);
}

/* Has a life begun since this one looked that it cannot be beside? */
static enum err moment_check(struct sql *s, const char *name, struct why *why)
{
    struct sql_life now = { 0 };
    int64_t epoch = 0;
    bool ended = true;
    enum err err = newest_lock(s, &epoch, &ended, why);
    if (!err && s->shared) {
        err = sql_rivals_read(s, name, &now, why);
        epoch = now.epoch;
        ended = !now.epoch;
    }
    if (err || ended || epoch == s->watched)
        return err;
    why_set(why, "another server has opened the database at the same moment");
    return ERR_BUSY;
}

/* The last life's number of commits, and how far its runs may have left. */
static enum err last_life(struct sql *s, struct watermark *ret, struct why *why)
{
    struct sql_query *q;
    bool row = false;
    enum err err = sql_query(s,
                             s->shared ? "SELECT watermark_ms, clean, recorder, renewals, batch "
                                         "FROM peal_epoch WHERE node = ?1 ORDER BY epoch DESC "
                                         "LIMIT 1"
                                       : "SELECT watermark_ms, clean, recorder, renewals, batch "
                                         "FROM peal_epoch ORDER BY epoch DESC LIMIT 1",
                             &q, why);
    if (err)
        return err;
    if (s->shared)
        sql_bind_i64(q, 1, s->node);
    err = sql_next(q, &row, why);
    if (err || !row)
        return err;
    ret->until_ms = sql_i64(q, 0, 0);
    ret->clean = sql_i64(q, 1, 0) == 1;
    sql_text_copy(q, 2, ret->recorder, sizeof(ret->recorder));
    ret->renewals = sql_i64(q, 3, 0);
    ret->batch = sql_i64(q, 4, 0);
    sql_reset(q);
    return OK;
}

static enum err epoch_insert(struct sql *s, const struct watermark *last, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s,
                             "INSERT INTO peal_epoch (node, batch, watermark_ms, clean, recorder, "
                             "renewals, began_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, s->node);
    sql_bind_i64(q, 2, last->batch);
    sql_bind_i64(q, 3, last->until_ms);
    sql_bind_i64(q, 4, last->clean);
    sql_bind_text(q, 5, last->recorder);
    sql_bind_i64(q, 6, last->renewals);
    sql_bind_i64(q, 7, clock_wall_ms());
    return sql_insert(q, &s->epoch, why);
}

/* Those that did not say that they stop. Their beats are refused from now on, as their commits are.
 */
static enum err others_end(struct sql *s, struct why *why)
{
    enum err err = sql_change_by_id(s,
                                    "UPDATE peal_node SET dead = 1 WHERE node <> ?1 AND epoch IN "
                                    "(SELECT epoch FROM peal_epoch WHERE ended = 0)",
                                    s->node, NULL, why);
    return err ? err
               : sql_change_by_id(s,
                                  "UPDATE peal_epoch SET ended = 1 WHERE ended = 0 AND epoch <> ?1",
                                  s->epoch, NULL, why);
}

static enum err node_put(struct sql *s, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(s,
                  "UPDATE peal_node SET epoch = ?1, dead = 0, beat = 0, state = ?3, version = ?4, "
                  "protocol = ?5, oldest = ?6 WHERE node = ?2",
                  &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, s->epoch);
    sql_bind_i64(q, 2, s->node);
    sql_bind_i64(q, 3, sql_node_state(s->shared, false));
    sql_bind_text(q, 4, store_release.version);
    sql_bind_i64(q, 5, store_release.protocol);
    sql_bind_i64(q, 6, store_release.oldest);
    return sql_do(q, why);
}

/* No other life has these numbers. */
static enum err batch_place(struct sql *s, struct watermark *last, struct why *why)
{
    struct sql_query *q;
    int64_t from = s->epoch << EPOCH_COMMITS_BITS;
    if (!s->shared || last->batch >= from)
        return OK;
    enum err err = sql_query(s, "UPDATE peal_epoch SET batch = ?2 WHERE epoch = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, s->epoch);
    sql_bind_i64(q, 2, from);
    last->batch = from;
    return sql_do(q, why);
}

static enum err epoch_begin(struct sql *s, const char *name, struct why *why)
{
    struct watermark last = { 0 };
    enum err err = sql_move_ended(s, why);
    if (!err)
        err = node_take(s, name, &s->node, why);
    if (!err)
        err = moment_check(s, name, why);
    if (!err)
        err = sql_rivals_allow(s, why);
    if (!err)
        err = sql_follow_begin(s, why);
    if (!err)
        err = last_life(s, &last, why);
    if (!err)
        err = epoch_insert(s, &last, why);
    if (!err)
        err = batch_place(s, &last, why);
    if (!err)
        err = s->shared ? sql_rivals_end(s, why) : others_end(s, why);
    if (!err)
        err = node_put(s, why);
    s->batch = s->first_batch = last.batch;
    return err;
}

/* Up to which id there are ADOPT_ROWS rows behind after_id; 0: there are none. */
static enum err slice_end(struct sql *s, int64_t after_id, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s,
                             "SELECT max(x.log_id) FROM (SELECT log_id FROM peal_run WHERE "
                             "log_id > ?1 ORDER BY log_id LIMIT ?2) x",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, after_id);
    sql_bind_i64(q, 2, ADOPT_ROWS);
    return sql_one(q, 0, ret, why);
}

static enum err slice_adopt(struct sql *s, int64_t after_id, int64_t end_id, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s,
                             s->shared ? "UPDATE peal_run SET node = ?1, epoch = ?2 "
                                         "WHERE log_id > ?3 AND log_id <= ?4 AND epoch IN (SELECT "
                                         "epoch FROM peal_epoch WHERE node = ?1 AND ended = 1)"
                                       : "UPDATE peal_run SET node = ?1, epoch = ?2 "
                                         "WHERE log_id > ?3 AND log_id <= ?4 AND epoch <> ?2",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, s->node);
    sql_bind_i64(q, 2, s->epoch);
    sql_bind_i64(q, 3, after_id);
    sql_bind_i64(q, 4, end_id);
    return sql_do(q, why);
}

static void pause_ms(int ms)
{
    struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
    nanosleep(&t, NULL);
}

typedef enum err join_step(struct sql *s, const void *arg, int64_t *io, struct why *why);

static enum err step_begin(struct sql *s, const void *arg, int64_t *io, struct why *why)
{
    *io = 0; /* adopting begins with the first row */
    return epoch_begin(s, arg, why);
}

/* *io: the id behind which there are rows to look at; 0 afterwards: there are none. */
static enum err step_adopt(struct sql *s, const void *arg, int64_t *io, struct why *why)
{
    (void)arg;
    int64_t end_id = 0;
    enum err err = slice_end(s, *io, &end_id, why);
    if (!err && end_id)
        err = slice_adopt(s, *io, end_id, why);
    *io = end_id;
    return err;
}

static enum err try_step(struct sql *s, join_step *step, const void *arg, int64_t *io,
                         struct why *why)
{
    const struct store_txn *txn = s->store.ops->txn;
    enum err err = txn->begin(&s->store, why);
    if (!err)
        err = step(s, arg, io, why);
    if (!err)
        err = txn->commit(&s->store, NULL, why);
    if (err)
        txn->rollback(&s->store);
    return err;
}

/* Another server may join at the same moment, and one that lives writes the rows of its own. */
static enum err transact(struct sql *s, join_step *step, const void *arg, int64_t *io,
                         struct why *why)
{
    const int64_t from = *io;
    enum err err = ERR_CONFLICT;
    for (int i = 0; i < JOIN_TRIES && err == ERR_CONFLICT; i++) {
        if (i)
            pause_ms(JOIN_PAUSE_MS);
        why_clear(why);
        *io = from;
        err = try_step(s, step, arg, io, why);
    }
    return err;
}

/* A step that is cut off here leaves an epoch to the next life, which ends it and adopts the rest.
 */
enum err sql_epoch_join(struct sql *s, const char *name, struct why *why)
{
    int64_t after_id = 0;
    enum err err = transact(s, step_begin, name, &after_id, why);
    do {
        if (!err)
            err = transact(s, step_adopt, NULL, &after_id, why);
    } while (!err && after_id);
    s->joined = !err;
    return err;
}

void sql_epoch_leave(struct sql *s)
{
    const struct store_txn *txn = s->store.ops->txn;
    struct why why = { "" };
    if (!s->joined)
        return;
    s->leaving = true;
    enum err err = txn->begin(&s->store, &why);
    if (!err)
        err = txn->commit(&s->store, NULL, &why);
    if (err)
        txn->rollback(&s->store);
    s->joined = false;
}
