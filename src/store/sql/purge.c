/* SPDX-License-Identifier: Apache-2.0 */
/* The log rows of deleted jobs go, a few at a time, on engines whose index by job has chunks.
 *
 * A walk goes upwards through the chunks of i_log_jobid and remembers where it stands, so each
 * chunk is looked at once a walk. Rows of runs that were open when it began are passed over; no new
 * ones come to a deleted job, so the next walk begins at the first of these. */
#include "base/mem.h"
#include "store/sql/tables.h"
#include <stdlib.h>

#define PURGE_JOBS 1000   /* looked at in one step */
#define PURGE_CHUNKS 1000 /* of all jobs in one step: a millisecond or two */

struct purging {
    int64_t job_id, from_id;
    int64_t open_id; /* 0: no run is open; -1: the walk has not begun */
};

struct purge_budget { /* of one step */
    int rows, chunks;
};

/* A walk that has not begun anew comes last: it may be one that waits for an open run. */
static enum err purge_list(struct sql *s, struct purging *list, size_t *ret_n, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s,
                             "SELECT job_id, from_id, coalesce(open_id, -1) FROM peal_purge "
                             "ORDER BY open_id IS NULL AND from_id > 0, job_id LIMIT ?1",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, PURGE_JOBS);
    size_t n = 0;
    bool row = true;
    while (!(err = sql_next(q, &row, why)) && row)
        list[n++] = (struct purging){ sql_i64(q, 0, 0), sql_i64(q, 1, 0), sql_i64(q, 2, -1) };
    *ret_n = n;
    return err;
}

static enum err purge_begin(struct sql *s, struct purging *p, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s, "SELECT min(log_id) FROM peal_run WHERE job_id = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, p->job_id);
    return sql_one(q, 0, &p->open_id, why);
}

/* The chunk of the next row of any job; -1: there is none. */
static enum err purge_chunk(struct sql *s, const struct purging *p, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s, "SELECT min(id) >> 12 FROM xxl_job_log WHERE id >= ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, p->from_id);
    return sql_one(q, -1, ret, why);
}

static enum err purge_rows(struct sql *s, const struct purging *p, int64_t chunk, int max,
                           int *ret_gone, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(s,
                  "SELECT l.id FROM "
                  "xxl_job_log l {by i_log_jobid} WHERE l.id >> 12 = ?1 AND l.job_id = ?2 "
                  "AND l.id >= ?3 AND l.id <= ?5 AND NOT EXISTS "
                  "(SELECT 1 FROM peal_run r WHERE r.log_id = l.id) "
                  "ORDER BY l.id LIMIT ?4",
                  &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, chunk);
    sql_bind_i64(q, 2, p->job_id);
    sql_bind_i64(q, 3, p->from_id);
    sql_bind_i64(q, 4, max);
    sql_bind_i64(q, 5, chunk << 12 | 4095);
    err = sql_log_delete(s, q, max, ret_gone, why);
    return !err && *ret_gone ? sql_stories_drop(s, chunk << 12, why) : err;
}

static enum err purge_keep(struct sql *s, const struct purging *p, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(s, "UPDATE peal_purge SET from_id = ?2, open_id = ?3 WHERE job_id = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, p->job_id);
    sql_bind_i64(q, 2, p->from_id);
    sql_bind_unless(q, 3, p->open_id, -1);
    return sql_do(q, why);
}

/* Walks on as far as the budget goes. *ret_end: no more rows. */
static enum err purge_walk(struct sql *s, struct purging *p, struct purge_budget *left,
                           bool *ret_end, struct why *why)
{
    enum err err = p->open_id < 0 ? purge_begin(s, p, why) : OK;
    *ret_end = false;
    while (!err && left->rows > 0 && left->chunks > 0 && !*ret_end) {
        int64_t chunk = -1;
        int gone = 0;
        err = purge_chunk(s, p, &chunk, why);
        *ret_end = chunk < 0;
        if (err || *ret_end)
            break;
        err = purge_rows(s, p, chunk, left->rows, &gone, why);
        left->rows -= gone;
        left->chunks--;
        if (left->rows > 0 && chunk < INT64_MAX >> 12)
            p->from_id = (chunk + 1) << 12;
        else
            *ret_end = left->rows > 0; /* the last chunk that there can be */
    }
    return err;
}

static enum err purge_forget(struct sql *s, int64_t job_id, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s, "DELETE FROM peal_purge WHERE job_id = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, job_id);
    return sql_do(q, why);
}

/* The job leaves the list with its last row. */
static enum err purge_job(struct sql *s, struct purging *p, struct purge_budget *left,
                          struct why *why)
{
    bool end;
    enum err err = purge_walk(s, p, left, &end, why);
    if (!err && end && p->open_id == 0)
        return purge_forget(s, p->job_id, why);
    if (end) {
        p->from_id = p->open_id;
        p->open_id = -1;
    }
    return err ? err : purge_keep(s, p, why);
}

enum err sql_purge(struct store *store, int max, bool *ret_more, struct why *why)
{
    struct sql *s = sql_of(store);
    struct purging *list = mem_new(PURGE_JOBS * sizeof(*list));
    struct purge_budget left = { max, PURGE_CHUNKS };
    size_t n = 0;
    enum err err = purge_list(s, list, &n, why);
    for (size_t i = 0; !err && i < n && left.rows > 0 && left.chunks > 0; i++)
        err = purge_job(s, &list[i], &left, why);
    free(list);
    if (!err)
        *ret_more = left.rows <= 0 || left.chunks <= 0;
    return err;
}
