/* SPDX-License-Identifier: Apache-2.0 */
/* Which traces runs belong to, on any engine that speaks SQL: a row for each run that does not have
 * one of its own, so retries, children, and runs that a traced request asked for. A batch may have
 * hundreds of them and each statement may be a round trip, so they go in few statements; only
 * numbers stand in their text. */
#include "store/sql/tables.h"

enum { AT_ONCE = 200, TEXT_MAX = 32768 };

/* What an id had before: ids of rows that another program has deleted may come again. */
static void write_delete(struct buf *text, const struct run_trace *traces, int n)
{
    buf_text(text, "DELETE FROM peal_trace WHERE log_id IN (");
    for (int i = 0; i < n; i++)
        buf_printf(text, "%s%lld", i ? "," : "", (long long)traces[i].log_id);
    buf_char(text, ')');
}

static void write_insert(struct buf *text, const struct run_trace *traces, int n)
{
    buf_text(text, "INSERT INTO peal_trace (log_id, kind, high, low) VALUES ");
    for (int i = 0; i < n; i++) {
        const struct trace_root *r = &traces[i].root;
        buf_printf(text, "%s(%lld,%d,%lld,%lld)", i ? "," : "", (long long)traces[i].log_id,
                   (int)r->kind, (long long)r->id[0], (long long)r->id[1]);
    }
}

static enum err run(struct sql *s, struct buf *text, struct why *why)
{
    struct sql_query *q = NULL;
    enum err err = sql_query_once(s, buf_str(text), &q, why);
    if (!err)
        err = sql_do(q, why);
    sql_query_end(q);
    buf_done(text);
    return err;
}

enum err sql_traces_put(struct store *store, const struct run_trace *traces, int n, struct why *why)
{
    struct sql *s = sql_of(store);
    enum err err = OK;
    for (int i = 0; !err && i < n; i += AT_ONCE) {
        int some = n - i < AT_ONCE ? n - i : AT_ONCE;
        struct buf text = BUF_INIT(TEXT_MAX);
        write_delete(&text, traces + i, some);
        err = run(s, &text, why);
        if (err)
            break;
        buf_init(&text, TEXT_MAX);
        write_insert(&text, traces + i, some);
        err = run(s, &text, why);
    }
    return err;
}

enum err sql_trace_get(struct store *store, int64_t log_id, struct trace_root *ret, struct why *why)
{
    struct sql_query *q;
    bool row;
    *ret = (struct trace_root){ .kind = TRACE_OWN };
    enum err err = sql_query(sql_of(store),
                             "SELECT kind, high, low FROM peal_trace WHERE log_id = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, log_id);
    err = sql_next(q, &row, why);
    if (err || !row)
        return err;
    *ret = trace_kept(sql_i64(q, 0, 0), sql_i64(q, 1, 0), sql_i64(q, 2, 0));
    sql_reset(q);
    return OK;
}
