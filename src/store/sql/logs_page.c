/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of the log on engines whose index by job has chunks of 4,096 ids. How the rows of one job
 * are found, newest first, the engine says; filters and totals are the same. */
#include "base/mem.h"
#include "store/sql/log_walk.h"
#include "store/sql/page.h"
#include "store/sql/tables.h"
#include <stdlib.h>

#define LOGS_COUNT_MAX 10001 /* rows of the log that are counted */

int64_t sql_span_slot(int64_t ms)
{
    return ms >= 0 ? ms / SQL_SPAN_MS : -((-(ms + 1)) / SQL_SPAN_MS) - 1;
}

static const struct sql_log_walk *walk_of(const struct sql_log_walk *walks,
                                          const struct logs_filter *f)
{
    if (f->job_id <= 0 || f->status == 3) /* what runs is found by peal_run */
        return &walks[SQL_LOG_ALL];
    return &walks[f->status == 2 ? SQL_LOG_JOB_FAILED : SQL_LOG_JOB];
}

enum err sql_log_span(struct sql *s, int64_t from_ms, int64_t to_ms, int64_t *ret_low,
                      int64_t *ret_high, struct why *why)
{
    struct sql_query *q;
    bool row, timed = from_ms >= 0 || to_ms >= 0;
    enum err err = timed ? sql_query(s,
                                     "SELECT min(first_id), max(last_id) FROM peal_log_span "
                                     "WHERE slot BETWEEN ?1 AND ?2",
                                     &q, why)
                         : sql_query(s,
                                     "SELECT (SELECT min(id) FROM xxl_job_log), "
                                     "(SELECT max(id) FROM xxl_job_log)",
                                     &q, why);
    if (err)
        return err;
    if (timed) {
        sql_bind_i64(q, 1, from_ms >= 0 ? sql_span_slot(from_ms) : INT64_MIN);
        sql_bind_i64(q, 2, to_ms >= 0 ? sql_span_slot(to_ms) : INT64_MAX);
    }
    err = sql_next(q, &row, why);
    if (err)
        return err;
    *ret_low = row ? sql_i64(q, 0, 1) : 1;
    *ret_high = row ? sql_i64(q, 1, 0) : 0;
    sql_reset(q);
    return OK;
}

static void where_logs(struct sql_where *p, const struct logs_filter *f, int64_t low, int64_t high)
{
    if (f->job_id > 0) { /* the first three parameters: JOB_LOG_SELECT names them */
        where_number(p, "l.job_id = ", f->job_id);
        where_number(p, "l.id <= ", high);
        where_number(p, "l.id >= ", low);
    }
    if (f->group_id > 0)
        where_number(p, "l.job_group = ", f->group_id);
    where_scope(p, "l.job_group", f->scope, f->group_id);
    if (f->status == 1)
        where_add(p, "l.handle_code = 200");
    else if (f->status == 2)
        where_add(p, SQL_LOG_FAILED("l"));
    else if (f->status == 3)
        where_add(p, "l.trigger_code = 200 AND l.handle_code = 0 AND "
                     "l.id IN (SELECT log_id FROM peal_run)");
    if (f->now_ms > 0 && (f->status < 1 || f->status > 3)) /* those have codes already */
        where_number(p, "CASE WHEN r.phase = 1 THEN r.due_ms ELSE 0 END <= ", f->now_ms);
    if (f->from_ms >= 0)
        where_number(p, "{ms l.trigger_time} >= ", f->from_ms);
    if (f->to_ms >= 0)
        where_number(p, "{ms l.trigger_time} <= ", f->to_ms);
    if (f->from_ms >= 0 || f->to_ms >= 0) {
        where_number(p, "l.id >= ", low);
        where_number(p, "l.id <= ", high);
    }
}

enum err sql_logs_page(struct store *store, const struct sql_log_walk walks[SQL_LOG_WALKS],
                       const struct logs_filter *f, log_row_fn *fn, void *ctx, int64_t *ret_total,
                       struct why *why)
{
    struct sql *s = sql_of(store);
    int64_t low, high;
    enum err err = sql_log_span(s, f->from_ms, f->to_ms, &low, &high, why);
    if (err)
        return err;
    struct sql_where p;
    where_init(&p, s);
    where_logs(&p, f, low, high);
    const struct sql_log_walk *walk = walk_of(walks, f);
    const struct sql_page page = {
        .select = walk->select,
        .order = walk->order,
        .count = walk->count,
        .count_max = LOGS_COUNT_MAX,
        .low = low,
        .high = high >= low ? high : 0,
        .offset = f->offset,
        .limit = f->limit,
        .lend = sql_log_lend,
        .fn = &fn,
        .ctx = ctx,
    };
    return sql_page_run(s, &page, &p, ret_total, why);
}
