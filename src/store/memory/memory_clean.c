/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: log rows that go. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include <stdlib.h>
#include <string.h>

#define CHUNK 4096

struct chunk { /* ids of the rest of the chunk of the newest row below an id, descending */
    int64_t *ids, low;
    size_t n;
};

static struct chunk chunk_below(const struct memory *m, int64_t below_id, int64_t from_id)
{
    struct chunk c = { 0 };
    size_t n;
    int64_t *keys = mem_keys(m, T_LOG, &n), *ids = mem_new((n + 1) * sizeof(*ids));
    while (n-- > 0) {
        if (keys[n] >= below_id || keys[n] < from_id)
            continue;
        if (c.n == 0)
            c.low = keys[n] & ~(int64_t)(CHUNK - 1);
        if (keys[n] >= c.low)
            ids[c.n++] = keys[n];
    }
    free(keys);
    c.ids = ids;
    if (c.low < from_id)
        c.low = from_id;
    return c;
}

static bool matches(const struct memory *m, const struct log_clean *c, const struct log_record *l)
{
    bool good = (l->trigger_code == 0 || l->trigger_code == 200) &&
                (l->handle_code == 0 || l->handle_code == 200);
    return scope_has(&c->scope, l->group_id) && (c->job_id <= 0 || c->job_id == l->job_id) &&
           l->trigger_ms < c->before_ms && (!c->failures_stay || good) &&
           !mem_find(m, T_RUN, l->id);
}

enum err memory_log_clean(struct store *s, struct log_clean *c, int max, bool *ret_end,
                          struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    struct chunk chunk = chunk_below(m, c->below_id, c->from_id);
    int64_t keep = c->keep > c->kept ? c->keep - c->kept : 0, seen = 0;
    int gone = 0;
    for (size_t i = 0; i < chunk.n && gone < max; i++) {
        const struct log_record *l = mem_find(m, T_LOG, chunk.ids[i]);
        if (!matches(m, c, l) || seen++ < keep)
            continue;
        mem_log_gone(m, l->id);
        gone++;
    }
    *ret_end = chunk.n == 0;
    c->gone += gone;
    if (chunk.n && gone < max) {
        c->kept += seen < keep ? seen : keep;
        c->below_id = chunk.low;
    }
    free(chunk.ids);
    return OK;
}

/* Which ids are older is known row by row. */
enum err memory_log_before(struct store *s, int64_t ms, int64_t *ret_id, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    void *row;
    *ret_id = INT64_MAX;
    for (size_t i = 0; map_next(&m->tables[T_LOG], &i, &row);) {
        const struct log_record *l = row;
        if (l->trigger_ms >= ms && l->id < *ret_id)
            *ret_id = l->id;
    }
    return OK;
}

enum err memory_log_counts(struct store *s, int64_t below_id, log_count_fn *fn, void *ctx,
                           int64_t *ret_from_id, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    struct chunk chunk = chunk_below(m, below_id, INT64_MIN);
    for (size_t i = 0; i < chunk.n; i++) {
        int64_t job = ((struct log_record *)mem_find(m, T_LOG, chunk.ids[i]))->job_id, n = 0;
        bool first = true;
        for (size_t k = 0; k < chunk.n; k++) {
            bool same = ((struct log_record *)mem_find(m, T_LOG, chunk.ids[k]))->job_id == job;
            first = first && !(same && k < i);
            n += same;
        }
        if (first)
            fn(ctx, job, n);
    }
    *ret_from_id = chunk.n ? chunk.low : INT64_MAX;
    free(chunk.ids);
    return OK;
}

/* ---- what users ask for ---------------------------------------------------------------------- */

static void request_copy(struct clean_request *to, const struct clean_request *r)
{
    *to = *r;
    int64_t *ids = mem_new((r->walk.scope.n + 1) * sizeof(*ids));
    if (r->walk.scope.n)
        memcpy(ids, r->walk.scope.ids, r->walk.scope.n * sizeof(*ids));
    to->walk.scope.ids = ids;
}

enum err memory_clean_add(struct store *s, struct clean_request *r, struct why *why)
{
    struct memory *m = memory_of(s);
    struct clean_request *row = mem_new(sizeof(*row));
    struct chunk newest = chunk_below(m, INT64_MAX, INT64_MIN);
    int64_t below = newest.n ? newest.ids[0] + 1 : 0, old = INT64_MAX;
    free(newest.ids);
    if (r->walk.before_ms != NEVER_MS)
        (void)!memory_log_before(s, r->walk.before_ms, &old, why);
    r->id = mem_next_id(m, T_CLEAN);
    request_copy(row, r);
    row->walk.below_id = old < below ? old : below;
    row->walk.from_id = INT64_MIN;
    row->walk.kept = row->walk.gone = 0;
    mem_put(m, T_CLEAN, r->id, row);
    return OK;
}

enum err memory_clean_first(struct store *s, struct clean_request *ret, bool *ret_any,
                            struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_CLEAN, &n);
    *ret_any = n > 0;
    if (n > 0)
        request_copy(ret, mem_find(m, T_CLEAN, keys[0]));
    free(keys);
    return OK;
}

enum err memory_clean_put(struct store *s, const struct clean_request *r, bool end, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    struct clean_request *row = NULL;
    if (!end) {
        row = mem_new(sizeof(*row));
        request_copy(row, r);
    }
    mem_put(m, T_CLEAN, r->id, row);
    return OK;
}
