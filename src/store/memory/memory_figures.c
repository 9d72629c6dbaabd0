/* SPDX-License-Identifier: Apache-2.0 */
/* Figures in memory, and XXL-JOB's report. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include "store/shared.h"
#include <stdlib.h>
#include <string.h>

static enum err delta_add(struct store *s, struct slice ends, int64_t *ret_n, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    struct mem_delta *d = mem_new(sizeof(*d));
    d->n = mem_commit_no(m);
    d->ends = mem_dupn(ends.p, ends.n);
    d->size = ends.n;
    *ret_n = d->n;
    mem_put(m, T_DELTA, d->n, d);
    return OK;
}

static enum err deltas_each(struct store *s, delta_row_fn *fn, void *ctx, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_DELTA, &n);
    bool more = true;
    for (size_t i = 0; i < n && more; i++) {
        const struct mem_delta *d = mem_find(m, T_DELTA, keys[i]);
        more = fn(ctx, d->n, slice_of(d->ends, d->size));
    }
    free(keys);
    return OK;
}

static enum err deltas_drop(struct store *s, int64_t through, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_DELTA, &n);
    for (size_t i = 0; i < n && keys[i] <= through; i++)
        mem_put(m, T_DELTA, keys[i], NULL);
    free(keys);
    return OK;
}

static int64_t figure_key(int64_t slot, int64_t group_id, int64_t job_id)
{
    uint64_t h = hash_u64((uint64_t)slot);
    h = hash_u64(h ^ (uint64_t)group_id);
    return (int64_t)hash_u64(h + (uint64_t)job_id);
}

static enum err figures_add(struct store *s, const struct figure_row *rows, int n, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++) {
        int64_t key = figure_key(rows[i].slot, rows[i].group_id, rows[i].job_id);
        const struct mem_figure *old = mem_find(m, T_FIGURE, key);
        if (old && old->row.through >= rows[i].through)
            continue;
        struct mem_figure *f = mem_new(sizeof(*f));
        f->key = key;
        f->row = rows[i];
        f->row.node = m->at->node;
        f->row.durations = NULL;
        for (int k = 0; k < DURATION_BUCKETS; k++)
            f->durations[k] =
                (rows[i].durations ? rows[i].durations[k] : 0) + (old ? old->durations[k] : 0);
        if (old)
            figure_add(&f->row.figure, &old->row.figure);
        mem_put(m, T_FIGURE, key, f);
    }
    return OK;
}

static enum err figure_get(struct store *s, int64_t slot, int64_t group_id, int64_t job_id,
                           struct figure_row *ret, uint32_t *durations, struct why *why)
{
    (void)why;
    const struct mem_figure *f =
        mem_find(memory_of(s), T_FIGURE, figure_key(slot, group_id, job_id));
    if (durations)
        memset(durations, 0, DURATION_BUCKETS * sizeof(*durations));
    *ret = (struct figure_row){ .slot = slot, .group_id = group_id, .job_id = job_id };
    if (!f)
        return ERR_NOTFOUND;
    *ret = f->row;
    if (durations)
        memcpy(durations, f->durations, sizeof(f->durations));
    return OK;
}

static int by_slot(const void *a, const void *b)
{
    int64_t x = (*(const struct mem_figure *const *)a)->row.slot;
    int64_t y = (*(const struct mem_figure *const *)b)->row.slot;
    return (x > y) - (x < y);
}

static enum err figures_each(struct store *s, int64_t from, int64_t until, figure_row_fn *fn,
                             void *ctx, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n, found = 0;
    int64_t *keys = mem_keys(m, T_FIGURE, &n);
    const struct mem_figure **rows = mem_new((n + 1) * sizeof(*rows));
    for (size_t i = 0; i < n; i++) {
        const struct mem_figure *f = mem_find(m, T_FIGURE, keys[i]);
        if (f->row.slot >= from && f->row.slot < until && !f->row.job_id)
            rows[found++] = f;
    }
    qsort(rows, found, sizeof(*rows), by_slot);
    for (size_t i = 0; i < found && fn(ctx, &rows[i]->row); i++)
        ;
    free(rows);
    free(keys);
    return OK;
}

static enum err figures_expire(struct store *s, int64_t from, int64_t until, int max,
                               bool *ret_more, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    size_t n;
    int gone = 0;
    int64_t *keys = mem_keys(m, T_FIGURE, &n);
    for (size_t i = 0; i < n && gone < max; i++) {
        const struct mem_figure *f = mem_find(m, T_FIGURE, keys[i]);
        if (f->row.slot < from || f->row.slot >= until)
            continue;
        mem_put(m, T_FIGURE, keys[i], NULL);
        gone++;
    }
    free(keys);
    *ret_more = gone >= max;
    return OK;
}

static enum err job_stats_put(struct store *s, const struct job_stat_row *rows, int n,
                              struct why *why)
{
    (void)why;
    for (int i = 0; i < n; i++) {
        struct mem_stat *stat = mem_new(sizeof(*stat));
        *stat = (struct mem_stat){ rows[i].job_id, rows[i].through, *rows[i].stat };
        mem_put(memory_of(s), T_STAT, stat->job_id, stat);
    }
    return OK;
}

static enum err job_stats_each(struct store *s, job_stat_row_fn *fn, void *ctx, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_STAT, &n);
    bool more = true;
    for (size_t i = 0; i < n && more; i++) {
        const struct mem_stat *stat = mem_find(m, T_STAT, keys[i]);
        const struct job_stat_row r = { stat->job_id, m->at->node, stat->through, &stat->stat };
        more = fn(ctx, &r);
    }
    free(keys);
    return OK;
}

static enum err reports_put(struct store *s, const struct report_row *rows, int n, struct why *why)
{
    (void)why;
    for (int i = 0; i < n; i++) {
        struct report_row *r = mem_new(sizeof(*r));
        *r = rows[i];
        mem_put(memory_of(s), T_REPORT, r->day_ms, r);
    }
    return OK;
}

static enum err reports_each(struct store *s, int64_t from_ms, int64_t to_ms, report_row_fn *fn,
                             void *ctx, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_REPORT, &n);
    bool more = true;
    for (size_t i = 0; i < n && more; i++)
        if (keys[i] >= from_ms && keys[i] <= to_ms)
            more = fn(ctx, mem_find(m, T_REPORT, keys[i]));
    free(keys);
    return OK;
}

static enum err runs_running(struct store *s, const struct scope *scope, const int64_t *days, int n,
                             int64_t now_ms, int64_t *ret_counts, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    void *row;
    memset(ret_counts, 0, (size_t)n * sizeof(*ret_counts));
    for (size_t at = 0; map_next(&m->tables[T_RUN], &at, &row);) {
        const struct run_row *r = &((struct mem_run *)row)->row;
        bool waits = r->phase == PHASE_PLANNED && r->due_ms > now_ms;
        int64_t ms = r->kind == KIND_RETRY ? r->due_ms : r->scheduled_ms;
        int i = 0;
        while (i < n && ms < days[i])
            i++;
        if (i < n && phase_open(r->phase) && !waits &&
            (scope_is_all(scope) || scope_has(scope, r->group_id)))
            ret_counts[i]++;
    }
    return OK;
}

const struct store_figures memory_figures = STORE_FIGURES;
