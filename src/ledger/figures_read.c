/* SPDX-License-Identifier: Apache-2.0 */
/* figures_read.c - what the figures say, to any thread: how jobs are doing, and what has become of
 * runs in a slot, over all servers that have the database. */
#include "ledger/figures_internal.h"
#include <stdlib.h>
#include <string.h>

bool figures_job(struct figures *f, int64_t job_id, struct job_stat *ret)
{
    return f->others ? others_job(f->others, job_id, ret) : figures_job_here(f, job_id, ret);
}

bool figures_job_here(struct figures *f, int64_t job_id, struct job_stat *ret)
{
    pthread_mutex_lock(&f->lock);
    const struct job_tally *j = tallies_find_job(&f->all, job_id);
    bool any = j && (j->stat.nlast || j->stat.success_ms);
    if (any)
        *ret = j->stat;
    pthread_mutex_unlock(&f->lock);
    return any;
}

size_t figures_jobs(struct figures *f)
{
    if (f->others)
        return others_jobs(f->others);
    pthread_mutex_lock(&f->lock);
    size_t n = f->all.njobs;
    pthread_mutex_unlock(&f->lock);
    return n;
}

/* All jobs of which something is known, over all servers. */
static void jobs_each(struct figures *f,
                      void (*fn)(void *ctx, int64_t id, const struct job_stat *s), void *ctx)
{
    const struct job_tally *j;
    if (f->others) {
        others_each(f->others, fn, ctx);
        return;
    }
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0, k = 0; (j = tallies_next_job(&f->all, &i, &k));)
        fn(ctx, j->tally.id, &j->stat);
    pthread_mutex_unlock(&f->lock);
}

struct ids {
    int64_t *items;
    int n, room;
    bool failing;
};

static void add_id(void *ctx, int64_t id, const struct job_stat *s)
{
    struct ids *x = ctx;
    if (s->nlast && (!x->failing || s->streak))
        append(x->items, x->n, x->room, id);
}

int64_t *figures_job_ids(struct figures *f, bool failing, size_t max, size_t *ret_n)
{
    struct ids ids = { .room = 64, .failing = failing };
    ids.items = mem_new((size_t)ids.room * sizeof(*ids.items));
    jobs_each(f, add_id, &ids);
    qsort(ids.items, (size_t)ids.n, sizeof(*ids.items), compare_ids);
    *ret_n = (size_t)ids.n < max ? (size_t)ids.n : max;
    return ids.items;
}

struct reading {
    struct others_part *parts; /* of each server what memory has; n 0: it counts no more */
    size_t n;
    struct figure *to;
    uint32_t *durations; /* NULL: not wanted */
};

static void add_durations(uint32_t *to, const uint32_t *by)
{
    for (int i = 0; to && by && i < DURATION_BUCKETS; i++)
        to[i] = UINT32_MAX - to[i] < by[i] ? UINT32_MAX : to[i] + by[i];
}

static bool read_row(void *ctx, const struct figure_row *r)
{
    struct reading *x = ctx;
    figure_add(x->to, &r->figure);
    add_durations(x->durations, r->durations);
    for (size_t i = 0; i < x->n; i++)
        if (x->parts[i].node == r->node && r->through >= x->parts[i].n)
            x->parts[i].n = 0;
    return true;
}

/* The same as figures_read, of each server. */
static enum err read_all(struct figures *f, struct store *reader, int64_t slot, int64_t group_id,
                         int64_t job_id, const struct others_part *own, struct figure *ret,
                         uint32_t *durations, struct why *why)
{
    struct reading x = { .to = ret, .durations = durations };
    x.parts = others_parts(f->others, slot, group_id, job_id, &x.n);
    x.parts[x.n++] = *own;
    *ret = (struct figure){ .took_ms = 0 };
    enum err err =
        reader->ops->cluster->figure_nodes(reader, slot, group_id, job_id, read_row, &x, why);
    for (size_t i = 0; !err && i < x.n; i++) {
        if (!x.parts[i].n)
            continue;
        figure_add(ret, &x.parts[i].figure);
        add_durations(durations, x.parts[i].durations);
    }
    free(x.parts);
    return err;
}

/* What memory has, first; then the row. If that says that it includes all that memory had, it was
 * folded in between. */
enum err figures_read(struct figures *f, struct store *reader, enum figure_level level,
                      int64_t group_id, int64_t job_id, int64_t at_ms, struct figure *ret,
                      uint32_t *durations, struct why *why)
{
    struct figure more = { .took_ms = 0 };
    uint32_t more_durations[DURATION_BUCKETS] = { 0 };
    struct figure_row row = { .through = -1 };
    int64_t slot = figure_slot(level, f->all.zone, at_ms);
    if (durations)
        memset(durations, 0, DURATION_BUCKETS * sizeof(*durations));
    pthread_mutex_lock(&f->lock);
    struct job_tally *j = job_id ? tallies_find_job(&f->all, job_id) : NULL;
    const struct tally *t = !job_id ? tallies_find_group(&f->all, group_id) : j ? &j->tally : NULL;
    if (t)
        tally_sum(&f->all, t, slot, &more, more_durations);
    int64_t n = f->n;
    pthread_mutex_unlock(&f->lock);
    if (f->others) {
        struct others_part own = { .node = others_node(f->others), .n = n, .figure = more };
        memcpy(own.durations, more_durations, sizeof(own.durations));
        return read_all(f, reader, slot, group_id, job_id, &own, ret, durations, why);
    }
    enum err err =
        reader->ops->figures->figure_get(reader, slot, group_id, job_id, &row, durations, why);
    if (err && err != ERR_NOTFOUND)
        return err;
    if (err)
        row = (struct figure_row){ .through = -1 };
    *ret = row.figure;
    if (row.through >= n && n > 0)
        return OK;
    figure_add(ret, &more);
    for (int i = 0; durations && i < DURATION_BUCKETS; i++)
        durations[i] += more_durations[i];
    return OK;
}
