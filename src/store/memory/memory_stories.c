/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: stories of runs, and the traces that they belong to. */
#include "base/mem.h"
#include "model/story.h"
#include "store/memory/memory.h"
#include <stdlib.h>

void mem_log_gone(struct memory *m, int64_t log_id)
{
    mem_put(m, T_LOG, log_id, NULL);
    if (mem_find(m, T_STORY, log_id))
        mem_put(m, T_STORY, log_id, NULL);
    if (mem_find(m, T_TRACE, log_id))
        mem_put(m, T_TRACE, log_id, NULL);
}

enum err memory_traces_put(struct store *s, const struct run_trace *traces, int n, struct why *why)
{
    (void)why;
    for (int i = 0; i < n; i++) {
        struct trace_root *row = mem_new(sizeof(*row));
        *row = traces[i].root;
        mem_put(memory_of(s), T_TRACE, traces[i].log_id, row);
    }
    return OK;
}

enum err memory_trace_get(struct store *s, int64_t log_id, struct trace_root *ret, struct why *why)
{
    (void)why;
    const struct trace_root *row = mem_find(memory_of(s), T_TRACE, log_id);
    *ret = row ? *row : (struct trace_root){ .kind = TRACE_OWN };
    return OK;
}

enum err memory_story_put(struct store *s, int64_t log_id, const struct story *story,
                          struct why *why)
{
    (void)why;
    struct story *row = mem_new(sizeof(*row));
    *row = *story;
    mem_put(memory_of(s), T_STORY, log_id, row);
    return OK;
}

enum err memory_story_get(struct store *s, int64_t log_id, struct story *ret, struct why *why)
{
    const struct story *row = mem_find(memory_of(s), T_STORY, log_id);
    if (row)
        *ret = *row;
    else
        why_set(why, "there is no story %lld", (long long)log_id);
    return row ? OK : ERR_NOTFOUND;
}

static bool retries(const struct memory *m, int64_t id, int64_t job_id, int64_t of)
{
    const struct mem_run *live = mem_find(m, T_RUN, id);
    const struct story *kept = mem_find(m, T_STORY, id);
    const struct log_record *l = mem_find(m, T_LOG, id);
    if (live && live->row.job_id == job_id && live->row.kind == KIND_RETRY && live->row.cause == of)
        return true;
    return kept && of > 0 && kept->cause == of && l && l->job_id == job_id;
}

enum err memory_retries_of(struct store *s, int64_t job_id, int64_t log_id, int64_t *ids, int max,
                           int *ret_n, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_LOG, &n);
    *ret_n = 0;
    for (size_t i = 0; i < n && *ret_n < max; i++)
        if (retries(m, keys[i], job_id, log_id))
            ids[(*ret_n)++] = keys[i];
    free(keys);
    return OK;
}

static bool is_child(const struct memory *m, int64_t id, int64_t job_id, int64_t of)
{
    const struct mem_run *live = mem_find(m, T_RUN, id);
    const struct story *kept = mem_find(m, T_STORY, id);
    const struct log_record *l = mem_find(m, T_LOG, id);
    if (of <= 0)
        return false;
    if (live && live->row.kind == KIND_PARENT && live->row.cause == of)
        return true;
    return kept && kept->cause == of && l && l->job_id != job_id;
}

enum err memory_children_of(struct store *s, const struct scope *scope, int64_t job_id,
                            int64_t log_id, int64_t *ids, int max, int *ret_n, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_LOG, &n);
    *ret_n = 0;
    for (size_t i = 0; i < n && *ret_n < max; i++) {
        const struct log_record *l = mem_find(m, T_LOG, keys[i]);
        if (scope_has(scope, l->group_id) && is_child(m, keys[i], job_id, log_id))
            ids[(*ret_n)++] = keys[i];
    }
    free(keys);
    return OK;
}
