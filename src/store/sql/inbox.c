/* SPDX-License-Identifier: Apache-2.0 */
/* peal_inbox: results and kills that came to another server than the owner of their run, on engines
 * that several servers can open. Nothing is written about who shall have a row: a run may get
 * another owner meanwhile, so that is looked up when it is read. */
#include "base/buf.h"
#include "base/map.h"
#include "store/sql/tables.h"
#include <stdlib.h>

#define LIST_BYTES (1 << 16)
#define PUT_ROWS 50   /* in one statement, with a parameter each */
#define LIST_IDS 1000 /* the same */
#define OLD_ROWS 100

/* The numbers that a statement gives, of a list that it names. found: a set. */
static enum err listed(struct sql *s, const char *before, const int64_t *ids, int n,
                       const char *behind, struct map *found, struct why *why)
{
    static char there;
    struct buf text = BUF_INIT(LIST_BYTES);
    struct sql_query *q = NULL;
    bool row = true;
    buf_text(&text, before);
    for (int i = 0; i < n; i++)
        buf_printf(&text, "%s%lld", i ? "," : "", (long long)ids[i]);
    buf_text(&text, behind);
    enum err err = sql_query_once(s, buf_str(&text), &q, why);
    while (!err && !(err = sql_next(q, &row, why)) && row)
        map_set(found, (uint64_t)sql_i64(q, 0, 0), &there);
    sql_query_end(q);
    buf_done(&text);
    return err;
}

static int piece(int left, int max)
{
    return left < max ? left : max;
}

enum err sql_runs_live(struct store *store, const int64_t *log_ids, int n, bool *live,
                       struct why *why)
{
    struct map found;
    enum err err = OK;
    map_init(&found);
    for (int at = 0; !err && at < n; at += LIST_IDS)
        err = listed(sql_of(store), "SELECT log_id FROM peal_run WHERE log_id IN (", log_ids + at,
                     piece(n - at, LIST_IDS), ")", &found, why);
    for (int i = 0; !err && i < n; i++)
        live[i] = map_find(&found, (uint64_t)log_ids[i]) != NULL;
    map_done(&found);
    return err;
}

static enum err put_some(struct sql *s, const struct inbox_row *rows, int n, struct why *why)
{
    struct buf text = BUF_INIT(LIST_BYTES);
    struct sql_query *q;
    buf_text(&text, "INSERT INTO peal_inbox (what, log_id, at_ms, code, msg, from_epoch) VALUES ");
    for (int i = 0; i < n; i++)
        buf_printf(&text, "%s(%d, %lld, %lld, %d, ?%d, %lld)", i ? ", " : "", INBOX_RESULT,
                   (long long)rows[i].log_id, (long long)rows[i].at_ms, rows[i].code, i + 1,
                   (long long)s->epoch);
    enum err err = sql_query_once(s, buf_str(&text), &q, why);
    buf_done(&text);
    if (err)
        return err;
    for (int i = 0; i < n; i++)
        sql_bind_text_or(q, i + 1, rows[i].msg, "");
    err = sql_do(q, why);
    sql_query_end(q);
    return err;
}

enum err sql_inbox_put(struct store *store, const struct inbox_row *rows, int n, struct why *why)
{
    enum err err = OK;
    for (int at = 0; !err && at < n; at += PUT_ROWS)
        err = put_some(sql_of(store), rows + at, piece(n - at, PUT_ROWS), why);
    return err;
}

static struct inbox_row row_read(struct sql_query *q)
{
    int what = sql_int(q, 5, INBOX_RESULT);
    return (struct inbox_row){ .id = sql_i64(q, 0, 0),
                               .log_id = sql_i64(q, 1, 0),
                               .at_ms = sql_i64(q, 2, 0),
                               .code = sql_int(q, 3, 0),
                               .msg = sql_text(q, 4),
                               .what = what == INBOX_KILL || what == INBOX_ANSWERED
                                           ? (enum inbox_what)what
                                           : INBOX_RESULT };
}

static bool row_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct inbox_row r = row_read(q);
    bool more = (*(inbox_row_fn **)fn)(ctx, &r);
    free(r.msg);
    return more;
}

#define ROW "SELECT i.id, i.log_id, i.at_ms, i.code, i.msg, i.what FROM peal_inbox i "

/* A kill of a run that is over is its asker's to find. */
enum err sql_inbox_each(struct store *store, int64_t after_id, int max, inbox_row_fn *fn, void *ctx,
                        struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s,
                             ROW "LEFT JOIN peal_run r ON r.log_id = i.log_id WHERE i.id > ?1 "
                                 "AND ((i.what = 1 AND r.log_id IS NULL) OR "
                                 "(i.what < 3 AND r.epoch = ?2)) ORDER BY i.id LIMIT ?3",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, after_id);
    sql_bind_i64(q, 2, s->epoch);
    sql_bind_i64(q, 3, max);
    return sql_rows(q, row_lend, &fn, ctx, why);
}

/* Of these, the ones that were found. */
static enum err gone(struct sql *s, const int64_t *ids, int n, const struct map *found,
                     struct why *why)
{
    struct buf text = BUF_INIT(LIST_BYTES);
    struct sql_query *q;
    int held = 0;
    buf_text(&text, "DELETE FROM peal_inbox WHERE id IN (");
    for (int i = 0; i < n; i++)
        if (map_find(found, (uint64_t)ids[i]))
            buf_printf(&text, "%s%lld", held++ ? "," : "", (long long)ids[i]);
    buf_char(&text, ')');
    enum err err = held ? sql_query_once(s, buf_str(&text), &q, why) : OK;
    buf_done(&text);
    if (err || !held)
        return err;
    err = sql_do(q, why);
    sql_query_end(q);
    return err;
}

/* Which of them no other transaction holds, and then these go. */
static enum err take_some(struct sql *s, const int64_t *ids, int n, struct map *found,
                          struct why *why)
{
    enum err err = listed(s, "SELECT id FROM peal_inbox WHERE id IN (", ids, n,
                          ") ORDER BY id FOR UPDATE SKIP LOCKED", found, why);
    return err ? err : gone(s, ids, n, found, why);
}

enum err sql_inbox_take(struct store *store, const int64_t *ids, int n, bool *taken,
                        struct why *why)
{
    struct map found;
    enum err err = OK;
    map_init(&found);
    for (int at = 0; !err && at < n; at += LIST_IDS)
        err = take_some(sql_of(store), ids + at, piece(n - at, LIST_IDS), &found, why);
    for (int i = 0; !err && i < n; i++)
        taken[i] = map_take(&found, (uint64_t)ids[i]) != NULL; /* a second time: no */
    map_done(&found);
    return err;
}

/* ---- kills ----------------------------------------------------------------------------------- */

enum err sql_inbox_ask(struct store *store, int64_t log_id, int64_t at_ms, int64_t *ret_id,
                       struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s,
                             "INSERT INTO peal_inbox (what, log_id, at_ms, code, msg, from_epoch) "
                             "VALUES (2, ?1, ?2, 0, '', ?3)",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, log_id);
    sql_bind_i64(q, 2, at_ms);
    sql_bind_i64(q, 3, s->epoch);
    return sql_insert(q, ret_id, why);
}

/* Those that nobody waits for any more. */
static enum err old_drop(struct store *store, int64_t before_ms, struct why *why)
{
    struct sql_query *q;
    int64_t ids[OLD_ROWS];
    bool taken[OLD_ROWS], row = true;
    int n = 0;
    enum err err = sql_query(
        sql_of(store), "SELECT id FROM peal_inbox WHERE what > 1 AND at_ms < ?1 LIMIT ?2", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, before_ms);
    sql_bind_i64(q, 2, OLD_ROWS);
    while (!(err = sql_next(q, &row, why)) && row)
        ids[n++] = sql_i64(q, 0, 0);
    return err || !n ? err : sql_inbox_take(store, ids, n, taken, why);
}

enum err sql_inbox_answer(struct store *store, int64_t id, enum inbox_answer code, const char *msg,
                          int64_t before_ms, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s,
                             "UPDATE peal_inbox SET what = 3, code = ?2, msg = ?3 "
                             "WHERE id = ?1 AND what = 2",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    sql_bind_i64(q, 2, code);
    sql_bind_text(q, 3, msg);
    err = sql_do(q, why);
    return err ? err : old_drop(store, before_ms, why);
}

enum err sql_inbox_get(struct store *store, int64_t id, struct inbox_row *ret, struct why *why)
{
    struct sql_query *q;
    bool row = false;
    enum err err = sql_query(sql_of(store), ROW "WHERE i.id = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    err = sql_next(q, &row, why);
    if (err || !row)
        return err ? err : ERR_NOTFOUND;
    *ret = row_read(q);
    sql_reset(q);
    return OK;
}
