/* SPDX-License-Identifier: Apache-2.0 */
/* memory_changes.c - edits that other nodes are told of, in memory. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include <stdlib.h>
#include <string.h>

/* Only groups are edited where several servers share what is in memory. */
enum err memory_record_hold(struct store *s, enum store_record kind, int64_t id, struct why *why)
{
    struct memory *m = memory_of(s);
    if (kind != STORE_GROUP || !mem_find(m, T_GROUP, id) || mem_lock(m, T_GROUP, id))
        return OK;
    return mem_busy(m, why);
}

enum err memory_jobs_hold(struct store *s, const int64_t *ids, int n, struct why *why)
{
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++)
        if (mem_find(m, T_DUE, ids[i])) {
            if (!mem_lock(m, T_DUE, ids[i]))
                return mem_busy(m, why);
        } else if (mem_find(m, T_JOB, ids[i]) && !mem_lock(m, T_JOB, ids[i])) {
            return mem_busy(m, why);
        }
    return OK;
}

enum err memory_changes_put(struct store *s, const struct job_news *changes, int n,
                            int64_t before_ms, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++) {
        struct job_news *c = mem_new(sizeof(*c));
        *c = changes[i];
        c->id = mem_next_id(m, T_CHANGE);
        mem_put(m, T_CHANGE, c->id, c);
    }
    size_t nkeys;
    int64_t *keys = mem_keys(m, T_CHANGE, &nkeys);
    for (size_t i = 0; i < nkeys; i++) {
        const struct job_news *c = mem_find(m, T_CHANGE, keys[i]);
        if (c->at_ms < before_ms && !mem_held(m, T_CHANGE, keys[i]))
            mem_put(m, T_CHANGE, keys[i], NULL);
    }
    free(keys);
    return OK;
}

enum err memory_changes_each(struct store *s, int64_t after_id, int max, job_news_fn *fn, void *ctx,
                             struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    bool more = true;
    int64_t *keys = mem_keys(m, T_CHANGE, &n);
    for (size_t i = 0; i < n && more && max > 0; i++) {
        if (keys[i] <= after_id)
            continue;
        more = fn(ctx, mem_find(m, T_CHANGE, keys[i]));
        max--;
    }
    free(keys);
    return OK;
}

/* Each edit makes one version, and says it. */
static bool version_is_quiet(const struct memory *m, int64_t job_id, int64_t version)
{
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_CHANGE], &i, &row);) {
        const struct job_news *c = row;
        if (c->job_id == job_id && c->version == version && !c->anew)
            return true;
    }
    return false;
}

enum err memory_changes_anew(struct store *s, int64_t job_id, int64_t from, int64_t to,
                             bool *ret_anew, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    *ret_anew = false;
    for (int64_t version = from + 1; version <= to && !*ret_anew; version++)
        *ret_anew = !version_is_quiet(m, job_id, version);
    return OK;
}

enum err memory_runs_told(struct store *s, int64_t job_id, int64_t version, struct why *why)
{
    struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_RUN, &n);
    for (size_t i = 0; i < n; i++) {
        const struct mem_run *old = mem_find(m, T_RUN, keys[i]);
        if (old->row.job_id != job_id || old->epoch != m->at->epoch || old->told >= version)
            continue;
        struct mem_run *r = mem_run_copy(&old->row, old->node, old->epoch);
        r->told = version;
        mem_put(m, T_RUN, keys[i], r);
    }
    free(keys);
    return m->at->lost ? mem_busy(m, why) : OK;
}

/* The lives' runs of the job are few: each life is counted anew. */
static struct untold untold_of(const struct memory *m, int64_t job_id, int64_t version,
                               int64_t epoch, int *ret_rows)
{
    struct untold u = { .epoch = epoch };
    void *row;
    *ret_rows = 0;
    for (size_t i = 0; map_next(&m->tables[T_RUN], &i, &row);) {
        const struct mem_run *r = row;
        if (r->row.job_id != job_id || r->told >= version || r->epoch != epoch)
            continue;
        bool asked_for =
            r->row.kind == KIND_CRON || r->row.kind == KIND_MISFIRE || r->row.kind == KIND_RETRY;
        u.unsent += r->row.phase <= PHASE_UNKNOWN;
        u.out += asked_for && r->row.phase <= PHASE_ACCEPTED;
        ++*ret_rows;
    }
    return u;
}

enum err memory_runs_untold(struct store *s, int64_t job_id, int64_t version, int64_t but_epoch,
                            untold_fn *fn, void *ctx, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    bool more = true;
    int64_t *keys = mem_keys(m, T_LIFE, &n);
    for (size_t i = 0; i < n && more; i++) {
        int rows = 0;
        struct untold u = untold_of(m, job_id, version, keys[i], &rows);
        const struct mem_life *l = mem_find(m, T_LIFE, keys[i]);
        const struct mem_node *node = mem_find(m, T_NODE, l->node);
        u.node = node ? node->name : "";
        if (rows && keys[i] != but_epoch)
            more = fn(ctx, &u);
    }
    free(keys);
    return OK;
}
