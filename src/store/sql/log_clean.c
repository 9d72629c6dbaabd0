/* SPDX-License-Identifier: Apache-2.0 */
/* Log rows that go: by age, by number, because a user asks for it.
 *
 * A walk goes downwards, one chunk of 4,096 ids a step: the chunks of i_log_jobid. The rows of one
 * job are found by that index; else the rows of the chunk are read one after the other. A chunk in
 * which more rows match than one step may delete is looked at again by the next step.
 *
 * Rows are found first and deleted by their ids then. In one statement, with the search as a
 * subquery, MariaDB would read the whole log for it. */
#include "base/mem.h"
#include "store/shared.h"
#include "store/sql/tables.h"
#include <stdlib.h>

#define CHUNK 4096
#define DELETE_MAX 1000 /* ids in one statement: its text is bounded */

/* Word for word the opposite of the indexes over failures. */
#define NOT_FAILED "(l.trigger_code IN (0, 200) AND l.handle_code IN (0, 200))"

struct range { /* of ids, both ends included */
    int64_t low, high;
};

/* The rest of the chunk of the newest row below c->below_id. Empty (low > high): there is none. */
static enum err next_range(struct sql *s, const struct log_clean *c, struct range *ret,
                           struct why *why)
{
    struct sql_query *q;
    int64_t newest = -1;
    *ret = (struct range){ 1, 0 };
    enum err err =
        sql_query(s, "SELECT max(id) FROM xxl_job_log WHERE id < ?1 AND id >= ?2", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, c->below_id);
    sql_bind_i64(q, 2, c->from_id);
    err = sql_one(q, INT64_MIN, &newest, why);
    if (err || newest == INT64_MIN)
        return err;
    int64_t first = newest & ~(int64_t)(CHUNK - 1);
    ret->low = first > c->from_id ? first : c->from_id;
    ret->high = newest;
    return OK;
}

/* " FROM … WHERE …" of what matches in the range and is not live. Only numbers go into the text. */
static void write_match(struct buf *text, const struct log_clean *c, struct range range)
{
    buf_text(text, " FROM xxl_job_log l");
    if (c->job_id > 0)
        buf_printf(text, "{by i_log_jobid} WHERE l.id >> 12 = %lld AND l.job_id = %lld AND",
                   (long long)(range.low >> 12), (long long)c->job_id);
    else
        buf_text(text, " WHERE");
    buf_printf(text, " l.id BETWEEN %lld AND %lld", (long long)range.low, (long long)range.high);
    if (!c->scope.all) {
        buf_text(text, " AND l.job_group IN (");
        for (size_t i = 0; i < c->scope.n; i++)
            buf_printf(text, "%s%lld", i ? "," : "", (long long)c->scope.ids[i]);
        buf_char(text, ')');
    }
    if (c->before_ms != NEVER_MS)
        buf_printf(text, " AND coalesce({ms l.trigger_time}, 0) < %lld", (long long)c->before_ms);
    if (c->failures_stay)
        buf_text(text, " AND " NOT_FAILED);
    buf_text(text, " AND NOT EXISTS (SELECT 1 FROM peal_run r WHERE r.log_id = l.id)");
}

static enum err matching(struct sql *s, const struct log_clean *c, struct range range, int64_t *ret,
                         struct why *why)
{
    struct buf text = BUF_INIT(65536);
    struct sql_query *q = NULL;
    buf_text(&text, "SELECT count(*)");
    write_match(&text, c, range);
    enum err err = sql_query_once(s, buf_str(&text), &q, why);
    if (!err)
        err = sql_one(q, 0, ret, why);
    sql_query_end(q);
    buf_done(&text);
    return err;
}

static enum err delete_ids(struct sql *s, const int64_t *ids, int n, int *ret_gone, struct why *why)
{
    struct buf text = BUF_INIT(65536);
    struct sql_query *q = NULL;
    int64_t gone = 0;
    buf_text(&text, "DELETE FROM xxl_job_log WHERE id IN (");
    for (int i = 0; i < n; i++)
        buf_printf(&text, "%s%lld", i ? "," : "", (long long)ids[i]);
    buf_char(&text, ')');
    enum err err = sql_query_once(s, buf_str(&text), &q, why);
    if (!err)
        err = sql_change(q, &gone, why);
    sql_query_end(q);
    buf_done(&text);
    *ret_gone += (int)gone;
    return err;
}

enum err sql_log_delete(struct sql *s, struct sql_query *q, int max, int *ret_gone, struct why *why)
{
    int64_t *ids = mem_new((size_t)max * sizeof(*ids));
    int n = 0;
    bool row = true;
    enum err err = OK;
    *ret_gone = 0;
    while (n < max && !(err = sql_next(q, &row, why)) && row)
        ids[n++] = sql_i64(q, 0, 0);
    if (!err && row)
        sql_reset(q);
    for (int i = 0; !err && i < n; i += DELETE_MAX)
        err = delete_ids(s, ids + i, n - i < DELETE_MAX ? n - i : DELETE_MAX, ret_gone, why);
    free(ids);
    return err;
}

static enum err delete_some(struct sql *s, const struct log_clean *c, struct range range,
                            int64_t keep, int max, int *ret_gone, struct why *why)
{
    struct buf text = BUF_INIT(65536);
    struct sql_query *q = NULL;
    buf_text(&text, "SELECT l.id");
    write_match(&text, c, range);
    buf_printf(&text, " ORDER BY l.id DESC LIMIT %d OFFSET %lld", max, (long long)keep);
    enum err err = sql_query_once(s, buf_str(&text), &q, why);
    if (!err)
        err = sql_log_delete(s, q, max, ret_gone, why);
    sql_query_end(q);
    buf_done(&text);
    return err;
}

/* Spans of time all of whose rows have gone. */
static enum err spans_trim(struct sql *s, int64_t before_ms, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s,
                             "DELETE FROM peal_log_span WHERE slot < ?1 AND last_id < "
                             "coalesce((SELECT min(id) FROM xxl_job_log), 9223372036854775807)",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, sql_span_slot(before_ms));
    return sql_do(q, why);
}

static enum err drop_in(struct sql *s, const char *text, int64_t id, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s, text, &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id & ~(int64_t)(CHUNK - 1));
    sql_bind_i64(q, 2, id | (CHUNK - 1));
    return sql_do(q, why);
}

/* Once a chunk, so that rows without a story or a trace pay nothing. */
enum err sql_stories_drop(struct sql *s, int64_t id, struct why *why)
{
    enum err err = drop_in(s,
                           "DELETE FROM peal_story WHERE log_id BETWEEN ?1 AND ?2 AND NOT EXISTS "
                           "(SELECT 1 FROM xxl_job_log l WHERE l.id = log_id)",
                           id, why);
    if (!err)
        err = drop_in(s,
                      "DELETE FROM peal_trace WHERE log_id BETWEEN ?1 AND ?2 AND NOT EXISTS "
                      "(SELECT 1 FROM xxl_job_log l WHERE l.id = log_id)",
                      id, why);
    return err;
}

/* Nothing that matches is left in it, but for what stays. */
static enum err chunk_done(struct sql *s, struct log_clean *c, struct range range, int64_t kept,
                           struct why *why)
{
    c->kept += kept;
    c->below_id = range.low;
    return c->gone > 0 ? sql_stories_drop(s, range.low, why) : OK;
}

enum err sql_log_clean(struct store *store, struct log_clean *c, int max, bool *ret_end,
                       struct why *why)
{
    struct sql *s = sql_of(store);
    struct range range;
    int64_t found = 0, keep = c->keep - c->kept;
    int gone = 0;
    enum err err = next_range(s, c, &range, why);
    *ret_end = range.low > range.high;
    if (err)
        return err;
    if (*ret_end)
        return c->before_ms == NEVER_MS ? OK : spans_trim(s, c->before_ms, why);
    if (keep > 0)
        err = matching(s, c, range, &found, why);
    if (!err && keep > 0 && found <= keep)
        return chunk_done(s, c, range, found, why);
    if (!err)
        err = delete_some(s, c, range, keep > 0 ? keep : 0, max, &gone, why);
    if (err)
        return err;
    c->gone += gone;
    if (gone == max)
        return OK;
    return chunk_done(s, c, range, keep > 0 ? keep : 0, why);
}

/* Everything below the smallest id of a row that is not older; retries and misfires make the order
 * of ids and times differ, so a few older rows stay until that row is old itself. */
enum err sql_log_before(struct store *store, int64_t ms, int64_t *ret_id, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err =
        sql_query(s, "SELECT min(first_id) FROM peal_log_span WHERE slot >= ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, sql_span_slot(ms));
    return sql_one(q, INT64_MAX, ret_id, why);
}

enum err sql_log_counts(struct store *store, int64_t below_id, log_count_fn *fn, void *ctx,
                        int64_t *ret_from_id, struct why *why)
{
    struct sql *s = sql_of(store);
    const struct log_clean all = { .below_id = below_id, .from_id = INT64_MIN };
    struct range range;
    bool row = true;
    struct sql_query *q;
    enum err err = next_range(s, &all, &range, why);
    *ret_from_id = range.low;
    if (err || range.low > range.high) {
        *ret_from_id = INT64_MAX;
        return err;
    }
    err = sql_query(s,
                    "SELECT job_id, count(*) FROM xxl_job_log{by i_log_jobid} "
                    "WHERE id >> 12 = ?1 AND id >= ?3 AND id < ?2 GROUP BY job_id",
                    &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, range.low >> 12);
    sql_bind_i64(q, 2, below_id);
    sql_bind_i64(q, 3, range.low);
    while (!(err = sql_next(q, &row, why)) && row)
        fn(ctx, sql_i64(q, 0, 0), sql_i64(q, 1, 0));
    return err;
}
