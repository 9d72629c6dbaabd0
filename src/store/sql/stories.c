/* SPDX-License-Identifier: Apache-2.0 */
/* Stories of runs on any engine that speaks SQL: a row of bytes a run, and what it retries or is a
 * child of. */
#include "model/story.h"
#include "store/sql/tables.h"

enum err sql_story_put(struct store *store, int64_t log_id, const struct story *story,
                       struct why *why)
{
    static const char *const texts[] = {
        "UPDATE peal_story SET cause = ?2, steps = ?3 WHERE log_id = ?1",
        "INSERT INTO peal_story (log_id, cause, steps) VALUES (?1, ?2, ?3)",
    };
    struct buf steps = BUF_INIT(STORY_BYTES_MAX);
    int64_t rows = 0;
    enum err err = OK;
    story_put(&steps, story);
    for (int i = 0; !err && rows == 0 && i < 2; i++) {
        struct sql_query *q;
        err = sql_query(sql_of(store), texts[i], &q, why);
        if (err)
            break;
        sql_bind_i64(q, 1, log_id);
        sql_bind_i64(q, 2, story->cause);
        sql_bind_blob(q, 3, slice_of(steps.data, steps.len));
        err = sql_change(q, &rows, why);
    }
    buf_done(&steps);
    return err;
}

enum err sql_story_get(struct store *store, int64_t log_id, struct story *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_row_by_id(sql_of(store), "SELECT steps FROM peal_story WHERE log_id = ?1",
                                 "story", log_id, &q, why);
    if (err)
        return err;
    bool good = story_get(sql_blob(q, 0), ret);
    sql_reset(q);
    return good ? OK : sql_none("story", log_id, why); /* another program's bytes */
}

enum err sql_retries_of(struct store *store, int64_t job_id, int64_t log_id, int64_t *ids, int max,
                        int *ret_n, struct why *why)
{
    struct sql_query *q;
    bool row;
    enum err err = sql_query(sql_of(store),
                             "SELECT s.log_id FROM peal_story s "
                             "JOIN xxl_job_log l ON l.id = s.log_id AND l.job_id = ?1 "
                             "WHERE s.cause = ?2 AND s.cause > 0 "
                             "UNION SELECT log_id FROM peal_run "
                             "WHERE job_id = ?1 AND kind = ?3 AND cause = ?2 ORDER BY 1 LIMIT ?4",
                             &q, why);
    *ret_n = 0;
    if (err)
        return err;
    sql_bind_i64(q, 1, job_id);
    sql_bind_i64(q, 2, log_id);
    sql_bind_i64(q, 3, KIND_RETRY);
    sql_bind_i64(q, 4, max);
    while (!(err = sql_next(q, &row, why)) && row)
        ids[(*ret_n)++] = sql_i64(q, 0, 0);
    return err;
}

enum err sql_children_of(struct store *store, const struct scope *scope, int64_t job_id,
                         int64_t log_id, int64_t *ids, int max, int *ret_n, struct why *why)
{
    struct sql_query *q;
    bool row;
    enum err err = sql_query(sql_of(store),
                             "SELECT s.log_id, l.job_group FROM peal_story s "
                             "JOIN xxl_job_log l ON l.id = s.log_id AND l.job_id <> ?1 "
                             "WHERE s.cause = ?2 AND s.cause > 0 "
                             "UNION SELECT r.log_id, l.job_group FROM peal_run r "
                             "JOIN xxl_job_log l ON l.id = r.log_id "
                             "WHERE r.cause = ?2 AND r.cause > 0 AND r.kind = ?3 ORDER BY 1",
                             &q, why);
    *ret_n = 0;
    if (err)
        return err;
    sql_bind_i64(q, 1, job_id);
    sql_bind_i64(q, 2, log_id);
    sql_bind_i64(q, 3, KIND_PARENT);
    while (*ret_n < max && !(err = sql_next(q, &row, why)) && row)
        if (scope_has(scope, sql_i64(q, 1, 0)))
            ids[(*ret_n)++] = sql_i64(q, 0, 0);
    if (!err)
        sql_reset(q);
    return err;
}
