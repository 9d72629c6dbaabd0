/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of an epoch that has ended get a new owner, a slice a transaction. Several nodes may take
 * slices of one epoch at once: each takes what no other transaction holds. What may have left in
 * that life is in doubt from the same transaction on, because no later life of this node may take
 * it as not sent. */
#include "base/buf.h"
#include "store/sql/tables.h"

#define LIST_BYTES (1 << 16)
#define DOUBT                                                                                      \
    "phase = 2 OR phase = 3 OR (phase = 1 AND ?4 = 0 AND address IS NOT NULL AND due_ms <= ?5)"

/* The ids, with commas. */
static enum err slice_take(struct sql *s, int64_t epoch, int max, struct buf *ids, int *ret_n,
                           struct why *why)
{
    struct sql_query *q;
    bool row = true;
    *ret_n = 0;
    enum err err = sql_query(s,
                             "SELECT log_id FROM peal_run WHERE epoch = ?1 ORDER BY log_id "
                             "LIMIT ?2 FOR UPDATE SKIP LOCKED",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, epoch);
    sql_bind_i64(q, 2, max);
    while (!(err = sql_next(q, &row, why)) && row)
        buf_printf(ids, "%s%lld", (*ret_n)++ ? "," : "", (long long)sql_i64(q, 0, 0));
    return err;
}

static enum err slice_own(struct sql *s, const struct adoption *a, const char *ids, struct why *why)
{
    struct buf text = BUF_INIT(LIST_BYTES);
    struct sql_query *q;
    buf_printf(&text,
               "UPDATE peal_run SET node = ?1, epoch = ?2, "
               "doubted = CASE WHEN " DOUBT " THEN 1 ELSE doubted END, "
               "phase = CASE WHEN " DOUBT " THEN 3 ELSE phase END "
               "WHERE epoch = ?3 AND log_id IN (%s)",
               ids);
    enum err err = sql_query_once(s, buf_str(&text), &q, why);
    buf_done(&text);
    if (err)
        return err;
    sql_bind_i64(q, 1, s->node);
    sql_bind_i64(q, 2, s->epoch);
    sql_bind_i64(q, 3, a->epoch);
    sql_bind_i64(q, 4, a->clean);
    sql_bind_i64(q, 5, a->watermark_ms);
    err = sql_do(q, why);
    sql_query_end(q);
    return err;
}

static enum err rest_look(struct sql *s, int64_t epoch, bool *ret_left, struct why *why)
{
    struct sql_query *q;
    int64_t n = 0;
    enum err err = sql_query(s, "SELECT 1 FROM peal_run WHERE epoch = ?1 LIMIT 1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, epoch);
    err = sql_one(q, 0, &n, why);
    *ret_left = n != 0;
    return err;
}

enum err sql_runs_adopt(struct store *store, const struct adoption *a, run_row_fn *fn, void *ctx,
                        bool *ret_left, struct why *why)
{
    struct sql *s = sql_of(store);
    struct buf ids = BUF_INIT(LIST_BYTES);
    int n = 0;
    enum err err = slice_take(s, a->epoch, a->max, &ids, &n, why);
    if (!err && n)
        err = slice_own(s, a, buf_str(&ids), why);
    if (!err && n)
        err = sql_runs_listed(s, buf_str(&ids), fn, ctx, why);
    if (!err)
        err = rest_look(s, a->epoch, ret_left, why);
    buf_done(&ids);
    return err;
}
