/* SPDX-License-Identifier: Apache-2.0 */
/* peal_change and peal_run.told: edits of jobs, on engines that several servers can open. What is
 * said is kept for a while and deleted by whoever says something next; a server that was away for
 * longer is not alive any more, and who has taken its runs over compares versions. */
#include "base/buf.h"
#include <stdio.h>
#include "store/sql/hold.h"
#include "store/sql/tables.h"

#define LIST_BYTES (1 << 16)
#define LIST_IDS 1000 /* of one statement */
#define OLD_ROWS 1000

static int piece(int left, int max)
{
    return left < max ? left : max;
}

/* ---- rows that are edited -------------------------------------------------------------------- */

/* Lock the rows of this statement; their ids into list, "1,2" (NULL: how many is enough). */
static enum err select_held(struct sql *s, const char *text, struct buf *list, int *ret_n,
                            struct why *why)
{
    struct sql_query *q;
    bool row = true;
    enum err err = sql_query_once(s, text, &q, why);
    if (err)
        return err;
    for (*ret_n = 0; !(err = sql_next(q, &row, why)) && row; ++*ret_n)
        if (list)
            buf_printf(list, "%s%lld", *ret_n ? "," : "", (long long)sql_i64(q, 0, 0));
    sql_query_end(q);
    return err;
}

enum err sql_record_hold(struct store *store, enum store_record kind, int64_t id, struct why *why)
{
    static const struct {
        const char *table, *column; /* one that holds a number */
    } tables[STORE_RECORDS] = {
        [STORE_GROUP] = { "xxl_job_group", "address_type" },
        [STORE_USER] = { "xxl_job_user", "role" },
        [STORE_ADMINS] = { "xxl_job_user", "role" },
        [STORE_CHANNEL] = { "peal_channel", "version" },
    };
    struct sql *s = sql_of(store);
    struct buf list = BUF_INIT(LIST_BYTES), rows = BUF_INIT(LIST_BYTES * 2);
    char which[64] = "role = 1", text[200];
    int n;
    if (kind != STORE_ADMINS)
        snprintf(which, sizeof(which), "id = %lld", (long long)id);
    snprintf(text, sizeof(text), "SELECT id FROM %s WHERE %s ORDER BY id FOR UPDATE",
             tables[kind].table, which);
    enum err err = select_held(s, text, &list, &n, why);
    if (!err && n) {
        buf_printf(&rows, "id IN (%s)", buf_str(&list));
        err = sql_hold(s, tables[kind].table, tables[kind].column, buf_str(&rows), why);
    }
    buf_done(&list);
    buf_done(&rows);
    return err;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* Of jobs that have no row of scheduled times, the definition. */
static enum err hold_definitions(struct sql *s, const char *ids, struct why *why)
{
    struct buf text = BUF_INIT(LIST_BYTES), rows = BUF_INIT(LIST_BYTES);
    int n;
    buf_printf(&rows, "id IN (%s) AND id NOT IN (SELECT job_id FROM peal_due)", ids);
    buf_printf(&text, "SELECT id FROM xxl_job_info WHERE %s ORDER BY id FOR UPDATE",
               buf_str(&rows));
    enum err err = select_held(s, buf_str(&text), NULL, &n, why);
    if (!err && n)
        err = sql_hold(s, "xxl_job_info", "job_group", buf_str(&rows), why);
    buf_done(&text);
    buf_done(&rows);
    return err;
}

static enum err hold_some(struct sql *s, const int64_t *ids, int n, struct why *why)
{
    struct buf list = BUF_INIT(LIST_BYTES), rows = BUF_INIT(LIST_BYTES),
               text = BUF_INIT(LIST_BYTES);
    int held = 0;
    for (int i = 0; i < n; i++)
        buf_printf(&list, "%s%lld", i ? "," : "", (long long)ids[i]);
    buf_printf(&rows, "job_id IN (%s)", buf_str(&list));
    buf_printf(&text, "SELECT job_id FROM peal_due WHERE %s ORDER BY job_id FOR UPDATE",
               buf_str(&rows));
    enum err err = select_held(s, buf_str(&text), NULL, &held, why);
    if (!err) /* an edit writes the row as well */
        err = sql_hold(s, "peal_due", "version", buf_str(&rows), why);
    if (!err && held < n)
        err = hold_definitions(s, buf_str(&list), why);
    buf_done(&text);
    buf_done(&rows);
    buf_done(&list);
    return err;
}

enum err sql_jobs_hold(struct store *store, const int64_t *ids, int n, struct why *why)
{
    enum err err = OK;
    for (int at = 0; !err && at < n; at += LIST_IDS)
        err = hold_some(sql_of(store), ids + at, piece(n - at, LIST_IDS), why);
    return err;
}

/* ---- what is said ---------------------------------------------------------------------------- */

static enum err put_some(struct sql *s, const struct job_news *c, int n, struct why *why)
{
    struct buf text = BUF_INIT(LIST_BYTES * 2);
    buf_text(&text, "INSERT INTO peal_change (job_id, version, anew, at_ms) VALUES ");
    for (int i = 0; i < n; i++)
        buf_printf(&text, "%s(%lld, %lld, %d, %lld)", i ? ", " : "", (long long)c[i].job_id,
                   (long long)c[i].version, c[i].anew, (long long)c[i].at_ms);
    enum err err = sql_do_once(s, buf_str(&text), why);
    buf_done(&text);
    return err;
}

/* Those that no other transaction holds. */
static enum err old_find(struct sql *s, int64_t before_ms, struct buf *ids, struct why *why)
{
    struct sql_query *q;
    bool row = true;
    enum err err = sql_query(s,
                             "SELECT id FROM peal_change WHERE at_ms < ?1 ORDER BY id LIMIT ?2 "
                             "FOR UPDATE SKIP LOCKED",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, before_ms);
    sql_bind_i64(q, 2, OLD_ROWS);
    while (!(err = sql_next(q, &row, why)) && row)
        buf_printf(ids, "%s%lld", ids->len ? "," : "", (long long)sql_i64(q, 0, 0));
    return err;
}

static enum err old_drop(struct sql *s, int64_t before_ms, struct why *why)
{
    struct buf ids = BUF_INIT(LIST_BYTES), text = BUF_INIT(LIST_BYTES);
    struct sql_query *q;
    enum err err = old_find(s, before_ms, &ids, why);
    if (!err && ids.len) {
        buf_printf(&text, "DELETE FROM peal_change WHERE id IN (%s)", buf_str(&ids));
        err = sql_query_once(s, buf_str(&text), &q, why);
        if (!err) {
            err = sql_do(q, why);
            sql_query_end(q);
        }
    }
    buf_done(&text);
    buf_done(&ids);
    return err;
}

enum err sql_changes_put(struct store *store, const struct job_news *changes, int n,
                         int64_t before_ms, struct why *why)
{
    struct sql *s = sql_of(store);
    enum err err = OK;
    for (int at = 0; !err && at < n; at += LIST_IDS)
        err = put_some(s, changes + at, piece(n - at, LIST_IDS), why);
    return err ? err : old_drop(s, before_ms, why);
}

static bool change_lend(struct sql_query *q, void *fn, void *ctx)
{
    const struct job_news c = { .id = sql_i64(q, 0, 0),
                                .job_id = sql_i64(q, 1, 0),
                                .version = sql_i64(q, 2, 0),
                                .anew = sql_i64(q, 3, 1) != 0,
                                .at_ms = sql_i64(q, 4, 0) };
    return (*(job_news_fn **)fn)(ctx, &c);
}

enum err sql_changes_each(struct store *store, int64_t after_id, int max, job_news_fn *fn,
                          void *ctx, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT id, job_id, version, anew, at_ms FROM peal_change "
                             "WHERE id > ?1 ORDER BY id LIMIT ?2",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, after_id);
    sql_bind_i64(q, 2, max);
    return sql_rows(q, change_lend, &fn, ctx, why);
}

enum err sql_changes_anew(struct store *store, int64_t job_id, int64_t from, int64_t to,
                          bool *ret_anew, struct why *why)
{
    struct sql_query *q;
    int64_t quiet = 0;
    enum err err = sql_query(sql_of(store),
                             "SELECT count(DISTINCT version) FROM peal_change WHERE job_id = ?1 "
                             "AND version > ?2 AND version <= ?3 AND anew = 0",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, job_id);
    sql_bind_i64(q, 2, from);
    sql_bind_i64(q, 3, to);
    err = sql_one(q, 0, &quiet, why);
    if (!err)
        *ret_anew = quiet < to - from; /* each edit makes one version */
    return err;
}

/* ---- who knows it ---------------------------------------------------------------------------- */

enum err sql_runs_told(struct store *store, int64_t job_id, int64_t version, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s,
                             "UPDATE peal_run SET told = ?1 WHERE job_id = ?2 AND epoch = ?3 "
                             "AND told < ?1",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, version);
    sql_bind_i64(q, 2, job_id);
    sql_bind_i64(q, 3, s->epoch);
    return sql_do(q, why);
}

static bool untold_lend(struct sql_query *q, void *fn, void *ctx)
{
    char node[129];
    const struct untold u = {
        .epoch = sql_i64(q, 0, 0), .node = node, .unsent = sql_i64(q, 2, 0), .out = sql_i64(q, 3, 0)
    };
    sql_text_copy(q, 1, node, sizeof(node));
    return (*(untold_fn **)fn)(ctx, &u);
}

enum err sql_runs_untold(struct store *store, int64_t job_id, int64_t version, int64_t but_epoch,
                         untold_fn *fn, void *ctx, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(sql_of(store),
                  "SELECT r.epoch, n.name, count(CASE WHEN r.phase <= ?4 THEN 1 END), "
                  "count(CASE WHEN r.phase <= ?5 AND r.kind IN (?6, ?7, ?8) THEN 1 END) "
                  "FROM peal_run r LEFT JOIN peal_epoch e ON e.epoch = r.epoch "
                  "LEFT JOIN peal_node n ON n.node = e.node "
                  "WHERE r.job_id = ?1 AND r.told < ?2 AND r.epoch <> ?3 GROUP BY r.epoch, n.name "
                  "ORDER BY r.epoch",
                  &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, job_id);
    sql_bind_i64(q, 2, version);
    sql_bind_i64(q, 3, but_epoch);
    sql_bind_i64(q, 4, PHASE_UNKNOWN);
    sql_bind_i64(q, 5, PHASE_ACCEPTED);
    sql_bind_i64(q, 6, KIND_CRON);
    sql_bind_i64(q, 7, KIND_MISFIRE);
    sql_bind_i64(q, 8, KIND_RETRY);
    return sql_rows(q, untold_lend, &fn, ctx, why);
}

static bool elsewhere_lend(struct sql_query *q, void *fn, void *ctx)
{
    return (*(elsewhere_fn **)fn)(ctx, (enum kind)sql_i64(q, 0, 0), (enum phase)sql_i64(q, 1, 0),
                                  sql_i64(q, 2, 0));
}

enum err sql_runs_elsewhere(struct store *store, int64_t job_id, int64_t but_epoch,
                            elsewhere_fn *fn, void *ctx, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT kind, phase, count(*) FROM peal_run WHERE job_id = ?1 "
                             "AND epoch <> ?2 GROUP BY kind, phase",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, job_id);
    sql_bind_i64(q, 2, but_epoch);
    return sql_rows(q, elsewhere_lend, &fn, ctx, why);
}

enum err sql_due_next(struct store *store, int64_t from_ms, int max, struct due_row *rows,
                      int *ret_n, struct why *why)
{
    struct sql_query *q;
    bool row = true;
    enum err err = sql_query(sql_of(store),
                             "SELECT job_id, next_ms FROM peal_due WHERE next_ms >= ?1 "
                             "ORDER BY next_ms, job_id LIMIT ?2",
                             &q, why);
    *ret_n = 0;
    if (err)
        return err;
    sql_bind_i64(q, 1, from_ms);
    sql_bind_i64(q, 2, max);
    while (!(err = sql_next(q, &row, why)) && row)
        rows[(*ret_n)++] =
            (struct due_row){ .job_id = sql_i64(q, 0, 0), .next_ms = sql_i64(q, 1, 0) };
    return err;
}

enum err sql_run_owner(struct store *store, int64_t log_id, int64_t *ret_node, char *name,
                       size_t size, struct why *why)
{
    struct sql_query *q;
    bool row = false;
    enum err err = sql_query(sql_of(store),
                             "SELECT n.node, n.name FROM peal_run r JOIN peal_epoch e ON "
                             "e.epoch = r.epoch JOIN peal_node n ON n.node = e.node "
                             "WHERE r.log_id = ?1",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, log_id);
    err = sql_next(q, &row, why);
    if (err)
        return err;
    if (row) {
        *ret_node = sql_i64(q, 0, 0);
        sql_text_copy(q, 1, name, size);
    }
    sql_reset(q);
    return row ? OK : ERR_NOTFOUND;
}

enum err sql_planned_elsewhere(struct store *store, int64_t but_epoch, int64_t from_ms, int max,
                               struct due_row *rows, int *ret_n, struct why *why)
{
    struct sql_query *q;
    bool row = true;
    enum err err = sql_query(sql_of(store),
                             "SELECT job_id, moment_ms FROM peal_run WHERE phase = ?1 AND "
                             "kind IN (?2, ?3) AND epoch <> ?4 AND moment_ms >= ?5 "
                             "GROUP BY job_id, moment_ms ORDER BY moment_ms, job_id LIMIT ?6",
                             &q, why);
    *ret_n = 0;
    if (err)
        return err;
    sql_bind_i64(q, 1, PHASE_PLANNED);
    sql_bind_i64(q, 2, KIND_CRON);
    sql_bind_i64(q, 3, KIND_MISFIRE);
    sql_bind_i64(q, 4, but_epoch);
    sql_bind_i64(q, 5, from_ms);
    sql_bind_i64(q, 6, max);
    while (!(err = sql_next(q, &row, why)) && row)
        rows[(*ret_n)++] =
            (struct due_row){ .job_id = sql_i64(q, 0, 0), .next_ms = sql_i64(q, 1, 0) };
    return err;
}
