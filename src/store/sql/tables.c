/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine that speaks SQL begins with: its handle, and the tables that it takes whole. */
#include "store/sql/tables.h"
#include "store/sql/job_row.h"

enum err sql_init(struct sql *s, const struct store_ops *ops, const struct sql_driver *driver,
                  const struct store_options *options, struct why *why)
{
    s->store.ops = ops;
    s->driver = driver;
    s->start_deadline_ms = options && options->start_deadline_ms > 0
                               ? options->start_deadline_ms
                               : job_columns[JOB_COLUMN_start_deadline_ms].number;
    s->bulk = options ? options->bulk : STORE_SERVED;
    s->node = options ? options->node : 0;
    s->epoch = options ? options->epoch : 0;
    s->shared = s->store.shared = options && options->shared;
    s->lost_commits = options && options->lost_commits;
    map_init(&s->queries);
    return sql_job_texts_new(s, why);
}

void sql_done(struct sql *s)
{
    void *q;
    for (size_t i = 0; map_next(&s->queries, &i, &q);)
        sql_query_end(q);
    map_done(&s->queries);
    sql_job_texts_free(s);
}

const struct store_catalog sql_catalog = {
    .job_get = sql_job_get,
    .jobs_get = sql_jobs_get,
    .jobs_stop = sql_jobs_stop,
    .job_insert = sql_job_insert,
    .job_update = sql_job_update,
    .job_delete = sql_job_delete,
    .scripts_each = sql_scripts_each,
    .script_get = sql_script_get,
    .script_add = sql_script_add,
    .group_get = sql_group_get,
    .groups_get = sql_groups_get,
    .group_jobs = sql_group_jobs,
    .job_parents = sql_job_parents,
    .groups_each = sql_groups_each,
    .group_insert = sql_group_insert,
    .group_update = sql_group_update,
    .group_delete = sql_group_delete,
    .group_token_get = sql_group_token_get,
    .group_token_put = sql_group_token_put,
    .group_tokens_each = sql_group_tokens_each,
    .group_moved_put = sql_group_moved_put,
    .group_moved_each = sql_group_moved_each,
    .registry_each = sql_registry_each,
    .registry_put = sql_registry_put,
    .registry_delete = sql_registry_delete,
};
