/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: jobs, groups and the registry. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include "store/shared.h"
#include <stdlib.h>
#include <string.h>

static bool text_same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static void text_default(char **text, const char *otherwise)
{
    if (!*text)
        *text = mem_dup(otherwise);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static void job_put(struct memory *m, const struct job_record *r)
{
    struct job_record *j = mem_new(sizeof(*j));
    job_record_copy(j, r);
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        if (c->not_null && c->type >= JOB_TEXT)
            text_default(job_text(j, c), c->text);
    mem_put(m, T_JOB, j->id, j);

    struct due_row *d = mem_new(sizeof(*d));
    *d = job_due(r);
    mem_put(m, T_DUE, d->job_id, d);
}

enum err memory_job_get(struct store *s, int64_t id, struct job_record *ret, struct why *why)
{
    const struct memory *m = memory_of(s);
    const struct job_record *j = mem_find(m, T_JOB, id);
    const struct due_row *d = mem_find(m, T_DUE, id);
    if (!j) {
        why_set(why, "job %lld does not exist", (long long)id);
        return ERR_NOTFOUND;
    }
    job_record_copy(ret, j);
    job_due_set(ret, d);
    return OK;
}

enum err memory_jobs_get(struct store *s, const int64_t *ids, int n, job_row_fn *fn, void *ctx,
                         struct why *why)
{
    (void)why;
    bool more = true;
    for (int i = 0; more && i < n; i++) {
        struct job_record r;
        if (memory_job_get(s, ids[i], &r, NULL))
            continue;
        more = fn(ctx, &r);
        job_record_done(&r);
    }
    return OK;
}

enum err memory_jobs_stop(struct store *s, const struct job_stop *stops, int n, int64_t now_ms,
                          struct why *why)
{
    (void)why;
    for (int i = 0; i < n; i++) {
        struct job_record r;
        if (memory_job_get(s, stops[i].job_id, &r, NULL))
            continue;
        r.enabled = false;
        r.next_ms = NEVER_MS;
        r.updated_ms = now_ms;
        free(r.stop_reason);
        r.stop_reason = mem_dup(stops[i].reason);
        job_put(memory_of(s), &r);
        job_record_done(&r);
    }
    return OK;
}

enum err memory_job_insert(struct store *s, struct job_record *r, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    r->id = mem_next_id(m, T_JOB);
    job_put(m, r);
    return OK;
}

enum err memory_job_update(struct store *s, const struct job_record *r, struct why *why)
{
    struct memory *m = memory_of(s);
    if (!mem_find(m, T_JOB, r->id)) {
        why_set(why, "job %lld does not exist", (long long)r->id);
        return ERR_NOTFOUND;
    }
    job_put(m, r);
    return OK;
}

enum err memory_job_delete(struct store *s, int64_t id, struct why *why)
{
    struct memory *m = memory_of(s);
    if (!mem_find(m, T_JOB, id)) {
        why_set(why, "job %lld does not exist", (long long)id);
        return ERR_NOTFOUND;
    }
    mem_put(m, T_JOB, id, NULL);
    mem_put(m, T_DUE, id, NULL);
    mem_put(m, T_STAT, id, NULL);
    mem_scripts_trim(m, id, 0);
    size_t n;
    int64_t *keys = mem_keys(m, T_SKIP, &n);
    for (size_t i = 0; i < n; i++)
        if (((struct mem_skip *)mem_find(m, T_SKIP, keys[i]))->row.job_id == id)
            mem_put(m, T_SKIP, keys[i], NULL);
    free(keys);
    int64_t *gone = mem_new(sizeof(*gone));
    *gone = id;
    mem_put(m, T_PURGE, id, gone);
    return OK;
}

enum err memory_purge(struct store *s, int max, bool *ret_more, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    size_t njobs, nlogs;
    int64_t *jobs = mem_keys(m, T_PURGE, &njobs);
    int left = max;
    for (size_t i = 0; i < njobs && left > 0; i++) {
        bool kept = false;
        int64_t *logs = mem_keys(m, T_LOG, &nlogs);
        for (size_t k = 0; k < nlogs; k++) {
            const struct log_record *l = mem_find(m, T_LOG, logs[k]);
            if (l->job_id != jobs[i])
                continue;
            if (left > 0 && !mem_find(m, T_RUN, l->id)) {
                mem_log_gone(m, l->id);
                left--;
            } else {
                kept = true;
            }
        }
        free(logs);
        if (!kept)
            mem_put(m, T_PURGE, jobs[i], NULL);
    }
    free(jobs);
    *ret_more = left <= 0;
    return OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void group_put(struct memory *m, const struct group_record *r)
{
    struct group_record *g = mem_new(sizeof(*g));
    group_record_copy(g, r);
    text_default(&g->app, "");
    text_default(&g->title, "");
    mem_put(m, T_GROUP, g->id, g);
}

enum err memory_group_insert(struct store *s, struct group_record *r, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    r->id = mem_next_id(m, T_GROUP);
    group_put(m, r);
    return OK;
}

enum err memory_group_update(struct store *s, const struct group_record *r, struct why *why)
{
    struct memory *m = memory_of(s);
    if (!mem_find(m, T_GROUP, r->id)) {
        why_set(why, "group %lld does not exist", (long long)r->id);
        return ERR_NOTFOUND;
    }
    group_put(m, r);
    return OK;
}

static void moved_drop(struct memory *m, int64_t group_id)
{
    size_t n;
    int64_t *keys = mem_keys(m, T_GROUP_MOVED, &n);
    for (size_t i = 0; i < n; i++)
        if (((struct mem_moved *)mem_find(m, T_GROUP_MOVED, keys[i]))->group_id == group_id)
            mem_put(m, T_GROUP_MOVED, keys[i], NULL);
    free(keys);
}

enum err memory_group_delete(struct store *s, int64_t id, struct why *why)
{
    struct memory *m = memory_of(s);
    if (!mem_find(m, T_GROUP, id)) {
        why_set(why, "group %lld does not exist", (long long)id);
        return ERR_NOTFOUND;
    }
    mem_put(m, T_GROUP, id, NULL);
    if (mem_find(m, T_GROUP_TOKEN, id))
        mem_put(m, T_GROUP_TOKEN, id, NULL);
    moved_drop(m, id);
    return OK;
}

enum err memory_group_token_get(struct store *s, int64_t group_id, struct group_token *ret,
                                struct why *why)
{
    (void)why;
    const struct group_token *t = mem_find(memory_of(s), T_GROUP_TOKEN, group_id);
    if (!t)
        return ERR_NOTFOUND;
    group_token_copy(ret, t);
    return OK;
}

enum err memory_group_token_put(struct store *s, const struct group_token *t, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    struct group_token *row = NULL;
    if (t->next || !t->token)
        moved_drop(m, t->group_id);
    if (t->token || t->next) {
        row = mem_new(sizeof(*row));
        group_token_copy(row, t);
    }
    if (row || mem_find(m, T_GROUP_TOKEN, t->group_id))
        mem_put(m, T_GROUP_TOKEN, t->group_id, row);
    return OK;
}

static int by_address(const void *a, const void *b)
{
    const struct mem_moved *x = *(struct mem_moved *const *)a, *y = *(struct mem_moved *const *)b;
    int order = (x->group_id > y->group_id) - (x->group_id < y->group_id);
    return order ? order : strcmp(x->address, y->address);
}

/* By group and address; owned by the caller: free(). */
static struct mem_moved **moved_sorted(const struct memory *m, size_t *ret_n)
{
    int64_t *keys = mem_keys(m, T_GROUP_MOVED, ret_n);
    struct mem_moved **rows = mem_new((*ret_n + 1) * sizeof(*rows));
    for (size_t i = 0; i < *ret_n; i++)
        rows[i] = mem_find(m, T_GROUP_MOVED, keys[i]);
    free(keys);
    if (*ret_n)
        qsort(rows, *ret_n, sizeof(struct mem_moved *), by_address);
    return rows;
}

enum err memory_group_moved_each(struct store *s, group_moved_row_fn *fn, void *ctx,
                                 struct why *why)
{
    (void)why;
    size_t n;
    struct mem_moved **rows = moved_sorted(memory_of(s), &n);
    bool more = true;
    for (size_t i = 0; i < n && more; i++)
        more = fn(ctx, rows[i]->group_id, rows[i]->address);
    free(rows);
    return OK;
}

enum err memory_group_moved_put(struct store *s, int64_t group_id, const char *address,
                                struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    size_t n;
    struct mem_moved **rows = moved_sorted(m, &n);
    bool there = false;
    for (size_t i = 0; i < n; i++)
        there |= rows[i]->group_id == group_id && strcmp(rows[i]->address, address) == 0;
    free(rows);
    if (there)
        return OK;
    struct mem_moved *row = mem_new(sizeof(*row));
    *row = (struct mem_moved){ mem_next_id(m, T_GROUP_MOVED), group_id, mem_dup(address) };
    mem_put(m, T_GROUP_MOVED, row->id, row);
    return OK;
}

enum err memory_group_tokens_each(struct store *s, group_token_row_fn *fn, void *ctx,
                                  struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_GROUP_TOKEN, &n);
    bool more = true;
    for (size_t i = 0; i < n && more; i++)
        more = fn(ctx, mem_find(m, T_GROUP_TOKEN, keys[i]));
    free(keys);
    return OK;
}

enum err memory_groups_each(struct store *s, group_row_fn *fn, void *ctx, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_GROUP, &n);
    bool more = true;
    for (size_t i = 0; i < n && more; i++)
        more = fn(ctx, mem_find(m, T_GROUP, keys[i]));
    free(keys);
    return OK;
}

/* ---- the registry ---------------------------------------------------------------------------- */

enum err memory_registry_each(struct store *s, registry_row_fn *fn, void *ctx, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_REGISTRY, &n);
    bool more = true;
    for (size_t i = 0; i < n && more; i++)
        more = fn(ctx, &((struct mem_registry *)mem_find(m, T_REGISTRY, keys[i]))->row);
    free(keys);
    return OK;
}

static bool registry_same(const void *row, const void *arg)
{
    const struct registry_record *a = &((const struct mem_registry *)row)->row, *b = arg;
    return text_same(a->group, b->group) && text_same(a->key, b->key) &&
           text_same(a->value, b->value);
}

static int64_t registry_id(const struct memory *m, const struct registry_record *r)
{
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_REGISTRY], &i, &row);) {
        if (registry_same(row, r))
            return ((const struct mem_registry *)row)->id;
    }
    return 0;
}

enum err memory_registry_put(struct store *s, const struct registry_record *rows, int n,
                             struct why *why)
{
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++) {
        int64_t id = registry_id(m, &rows[i]);
        if (!id && mem_lifted(m, T_REGISTRY, registry_same, &rows[i]))
            return mem_busy(m, why);
        m->at->changed |= !id;
        struct mem_registry *g = mem_new(sizeof(*g));
        g->id = id ? id : mem_next_id(m, T_REGISTRY);
        g->row.group = mem_dup(rows[i].group ? rows[i].group : "");
        g->row.key = mem_dup(rows[i].key ? rows[i].key : "");
        g->row.value = mem_dup(rows[i].value ? rows[i].value : "");
        g->row.updated_ms = rows[i].updated_ms;
        mem_put(m, T_REGISTRY, g->id, g);
    }
    return OK;
}

enum err memory_registry_delete(struct store *s, const struct registry_record *rows, int n,
                                struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++) {
        int64_t id = registry_id(m, &rows[i]), until_ms = rows[i].updated_ms;
        const struct mem_registry *there = id ? mem_find(m, T_REGISTRY, id) : NULL;
        if (!there || (until_ms && there->row.updated_ms > until_ms))
            continue;
        mem_put(m, T_REGISTRY, id, NULL);
        m->at->changed = true;
    }
    return OK;
}
