/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of peal_node, on a database that several servers can open. A server writes its own only,
 * by a connection that does nothing else, so that a slow batch does not make it look dead. */
#include "store/sql/epoch.h"
#include "store/sql/tables.h"
#include <stdio.h>

static void life_of(struct store *store, int64_t *ret_node, int64_t *ret_epoch)
{
    *ret_node = sql_of(store)->node;
    *ret_epoch = sql_of(store)->epoch;
}

static enum err clock_read(struct sql *s, int64_t *ret_ms, struct why *why)
{
    struct sql_query *q;
    *ret_ms = -1;
    if (!s->driver->clock)
        return OK;
    enum err err = sql_query(s, s->driver->clock, &q, why);
    return err ? err : sql_one(q, -1, ret_ms, why);
}

/* A beat whose answer was lost may have been written or not, so the row may be anywhere between the
 * last one that was answered and this one. A row that is further back is of an older copy. */
static enum err beat_put(struct sql *s, const struct node_beat *b, bool *ret_ours, struct why *why)
{
    struct sql_query *q;
    int64_t rows = 0;
    enum err err =
        sql_query(s,
                  "UPDATE peal_node SET beat = ?1, "
                  "mark_ms = CASE WHEN mark_ms < ?2 THEN ?2 ELSE mark_ms END, "
                  "skew_ms = ?3, wall_ms = ?4, live = ?5, "
                  "state = ?6 + CASE WHEN state < ?12 THEN 0 ELSE ?12 END, address = ?7, "
                  "weight = ?8, jobs = ?13 WHERE node = ?9 AND epoch = ?10 AND dead = 0 "
                  "AND beat >= ?11 AND beat < ?1",
                  &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, b->n);
    sql_bind_i64(q, 2, b->watermark_ms);
    sql_bind_i64(q, 3, b->skew_ms);
    sql_bind_i64(q, 4, b->wall_ms);
    sql_bind_i64(q, 5, b->live);
    sql_bind_i64(q, 6, sql_node_state(b->shared, b->draining));
    sql_bind_text(q, 7, b->address);
    sql_bind_i64(q, 8, b->weight);
    sql_bind_i64(q, 9, s->node);
    sql_bind_i64(q, 10, s->epoch);
    sql_bind_i64(q, 11, b->last);
    sql_bind_i64(q, 12, SQL_NODE_ASKED);
    sql_bind_unless(q, 13, b->jobs, -1);
    err = sql_change(q, &rows, why);
    if (!err)
        *ret_ours = rows > 0;
    return err;
}

struct node_row {
    int64_t epoch, dead, beat;
};

static enum err node_row_read(struct sql *s, struct node_row *ret, struct why *why)
{
    struct sql_query *q;
    bool row = false;
    enum err err = sql_query(s, "SELECT epoch, dead, beat FROM peal_node WHERE node = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, s->node);
    err = sql_next(q, &row, why);
    if (err || !row)
        return err;
    *ret = (struct node_row){ sql_i64(q, 0, 0), sql_i64(q, 1, 0), sql_i64(q, 2, 0) };
    sql_reset(q);
    return OK;
}

static enum err epoch_known(struct sql *s, bool *ret, struct why *why)
{
    struct sql_query *q;
    int64_t n = 0;
    enum err err = sql_query(s, "SELECT count(*) FROM peal_epoch WHERE epoch = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, s->epoch);
    err = sql_one(q, 0, &n, why);
    *ret = n > 0;
    return err;
}

/* Why the row took no beat. That it took none is known, whatever is read now. */
static void beat_lost(struct sql *s, const struct node_beat *b, struct why *why)
{
    struct node_row r = { 0 };
    struct sql_life l = { 0 };
    struct why unread = { "" };
    bool known = false;
    if (node_row_read(s, &r, &unread) || sql_life_read(s, &l, &unread) ||
        epoch_known(s, &known, &unread)) {
        why_set(why, "the database takes no beat of this server any more, and does not say why: %s",
                unread.text);
        return;
    }
    bool same = r.epoch == s->epoch && !r.dead;
    if (!known || (same && r.beat < b->last)) /* a beat is a commit as well */
        s->store.lost_commits = known ? b->last - r.beat : b->last;
    if (!known)
        why_set(why,
                "the database does not know epoch %lld, which began here: it is " SQL_OLDER_COPY,
                (long long)s->epoch);
    else if (same)
        why_set(why,
                "the database holds beat %lld of epoch %lld where %lld was acknowledged: it "
                "is " SQL_OLDER_COPY,
                (long long)r.beat, (long long)s->epoch, (long long)b->last);
    else if (s->shared && r.dead)
        sql_epoch_given_up(s, why);
    else if (l.epoch && l.epoch != s->epoch)
        why_set(why,
                "another server has opened the database and ended this one's epoch %lld: %s%s%s",
                (long long)s->epoch, l.name[0] ? l.name : "it does not say its name",
                l.address[0] ? " at " : "", l.address);
    else
        why_set(why, "this server's row of peal_node has been declared dead, or taken away");
}

static enum err beat(struct store *store, const struct node_beat *b, bool *ret_ours,
                     int64_t *ret_clock_ms, struct why *why)
{
    struct sql *s = sql_of(store);
    bool ours = false;
    enum err err = beat_put(s, b, &ours, why);
    if (!err && !ours)
        beat_lost(s, b, why);
    else if (!err)
        err = clock_read(s, ret_clock_ms, why);
    if (!err)
        *ret_ours = ours;
    return err;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool node_lend(struct sql_query *q, void *fn, void *ctx)
{
    char name[129], address[256], version[33];
    struct node_record r = { .node = sql_i64(q, 0, 0),
                             .epoch = sql_i64(q, 1, 0),
                             .beat = sql_i64(q, 2, 0),
                             .wall_ms = sql_i64(q, 3, 0),
                             .live = sql_i64(q, 4, 0),
                             .skew_ms = sql_i64(q, 5, 0),
                             .draining = sql_i64(q, 6, 0) & 1,
                             .asked = sql_i64(q, 6, 0) >= SQL_NODE_ASKED,
                             .dead = sql_i64(q, 7, 0) != 0,
                             .ended = sql_i64(q, 8, 1) != 0,
                             .began_ms = sql_i64(q, 12, 0),
                             .jobs = sql_i64(q, 13, -1),
                             .protocol = sql_i64(q, 14, 1),
                             .weight = (int)sql_i64(q, 15, 0),
                             .name = name,
                             .address = address,
                             .version = version };
    sql_text_copy(q, 9, name, sizeof(name));
    sql_text_copy(q, 10, address, sizeof(address));
    sql_text_copy(q, 11, version, sizeof(version));
    return (*(node_row_fn **)fn)(ctx, &r);
}

static enum err nodes_count(struct sql *s, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s, "SELECT count(*) FROM peal_node", &q, why);
    return err ? err : sql_one(q, 0, ret, why);
}

static enum err nodes_page(struct store *store, int64_t below_epoch, int64_t limit, node_row_fn *fn,
                           void *ctx, int64_t *ret_total, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = nodes_count(s, ret_total, why);
    if (!err)
        err = sql_query(s,
                        "SELECT n.node, n.epoch, n.beat, n.wall_ms, n.live, n.skew_ms, n.state, "
                        "n.dead, e.ended, n.name, n.address, n.version, e.began_ms, "
                        "n.jobs, n.protocol, n.weight FROM peal_node n "
                        "LEFT JOIN peal_epoch e ON e.epoch = n.epoch WHERE n.epoch < ?1 "
                        "ORDER BY n.epoch DESC LIMIT ?2",
                        &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, below_epoch);
    sql_bind_i64(q, 2, limit);
    return sql_rows(q, node_lend, &fn, ctx, why);
}

/* ---- what the rules of a cluster look at ------------------------------------------------------
 */

static bool life_lend(struct sql_query *q, void *fn, void *ctx)
{
    char address[256];
    const struct life_record r = { .node = sql_i64(q, 0, 0),
                                   .epoch = sql_i64(q, 1, 0),
                                   .beat = sql_i64(q, 2, 0),
                                   .watermark_ms = sql_i64(q, 3, 0) > sql_i64(q, 4, 0)
                                                       ? sql_i64(q, 3, 0)
                                                       : sql_i64(q, 4, 0),
                                   .skew_ms = sql_i64(q, 5, 0),
                                   .draining = sql_i64(q, 6, 0) & 1,
                                   .asked = sql_i64(q, 6, 0) >= SQL_NODE_ASKED,
                                   .ended = sql_i64(q, 7, 1) != 0,
                                   .clean = sql_i64(q, 8, 0) == 1,
                                   .heir = sql_i64(q, 9, 0),
                                   .changes = sql_i64(q, 10, 0),
                                   .address = address,
                                   .weight = (int)sql_i64(q, 12, 0) };
    sql_text_copy(q, 11, address, sizeof(address));
    return (*(life_row_fn **)fn)(ctx, &r);
}

/* A beat says less than the watermark where the life had the database alone. */
#define LIFE                                                                                       \
    "n.beat, n.mark_ms, e.watermark_ms, n.skew_ms, n.state, e.ended, e.clean, e.heir, e.changes, " \
    "n.address, n.weight FROM "

static enum err lives_each(struct store *store, int64_t limit, life_row_fn *fn, void *ctx,
                           struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT n.node, n.epoch, " LIFE "peal_node n LEFT JOIN peal_epoch e "
                             "ON e.epoch = n.epoch ORDER BY n.epoch DESC LIMIT ?1",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, limit);
    return sql_rows(q, life_lend, &fn, ctx, why);
}

static enum err orphans_each(struct store *store, int64_t limit, life_row_fn *fn, void *ctx,
                             struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT e.node, e.epoch, " LIFE "peal_epoch e LEFT JOIN peal_node n "
                             "ON n.node = e.node WHERE e.ended = 1 AND e.epoch IN (SELECT epoch "
                             "FROM peal_run) ORDER BY e.epoch LIMIT ?1",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, limit);
    return sql_rows(q, life_lend, &fn, ctx, why);
}

/* From the first statement on no beat of that life is taken, so the second one may come as much
 * later as it likes, and by whomever. */
static enum err declare(struct store *store, int64_t node, int64_t epoch, int64_t beat,
                        bool *ret_done, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    int64_t rows = 0;
    enum err err = sql_query(
        s, "UPDATE peal_node SET dead = 1 WHERE node = ?1 AND epoch = ?2 AND beat = ?3", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, node);
    sql_bind_i64(q, 2, epoch);
    sql_bind_i64(q, 3, beat);
    err = sql_change(q, &rows, why);
    *ret_done = false;
    if (err || !rows)
        return err;
    err = sql_query(s, "UPDATE peal_epoch SET ended = 1, heir = ?1 WHERE epoch = ?2 AND ended = 0",
                    &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, s->epoch);
    sql_bind_i64(q, 2, epoch);
    err = sql_change(q, &rows, why);
    *ret_done = !err && rows > 0;
    return err;
}

static enum err drain(struct store *store, int64_t node, bool on, struct why *why)
{
    struct sql_query *q;
    int64_t rows = 0;
    enum err err = sql_query(sql_of(store),
                             on ? "UPDATE peal_node SET state = state + ?1 "
                                  "WHERE node = ?2 AND state < ?1"
                                : "UPDATE peal_node SET state = state - ?1 "
                                  "WHERE node = ?2 AND state >= ?1",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, SQL_NODE_ASKED);
    sql_bind_i64(q, 2, node);
    return sql_change(q, &rows, why);
}

const struct store_cluster sql_cluster = { .life = life_of,
                                           .beat = beat,
                                           .nodes_page = nodes_page,
                                           .lives_each = lives_each,
                                           .orphans_each = orphans_each,
                                           .declare = declare,
                                           .drain = drain,
                                           .home = sql_home,
                                           .homes_put = sql_homes_put,
                                           .homes_take = sql_homes_take,
                                           .homes_next = sql_homes_next,
                                           .homes_count = sql_homes_count,
                                           .runs_adopt = sql_runs_adopt,
                                           .runs_live = sql_runs_live,
                                           .inbox_put = sql_inbox_put,
                                           .inbox_each = sql_inbox_each,
                                           .inbox_take = sql_inbox_take,
                                           .inbox_ask = sql_inbox_ask,
                                           .inbox_answer = sql_inbox_answer,
                                           .inbox_get = sql_inbox_get,
                                           .record_hold = sql_record_hold,
                                           .jobs_hold = sql_jobs_hold,
                                           .changes_put = sql_changes_put,
                                           .changes_each = sql_changes_each,
                                           .changes_anew = sql_changes_anew,
                                           .runs_told = sql_runs_told,
                                           .runs_untold = sql_runs_untold,
                                           .runs_elsewhere = sql_runs_elsewhere,
                                           .run_owner = sql_run_owner,
                                           .planned_elsewhere = sql_planned_elsewhere,
                                           .deltas_of = sql_deltas_of,
                                           .due_next = sql_due_next,
                                           .figure_nodes = sql_figure_nodes };
