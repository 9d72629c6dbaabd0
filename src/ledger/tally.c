/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - counting in memory, and what a tally adds to its rows. A tally keeps its finest slots
 * alone: what the coarser rows get is added up from them when they are written or asked for. */
#include "ledger/tally.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

void tallies_init(struct tallies *t, struct zone *zone)
{
    memset(t, 0, sizeof(*t));
    t->zone = zone_ref(zone);
    map_init(&t->shelves);
    map_init(&t->groups);
    list_init(&t->dirty_shelves);
    list_init(&t->dirty_groups);
}

static void tally_done(struct tally *t)
{
    list_remove(&t->dirty);
    for (int i = 0; i < t->nparts; i++)
        free(t->parts[i].durations);
    free(t->parts);
}

static void job_free(struct job_tally *j)
{
    tally_done(&j->tally);
    free(j->staged);
    free(j);
}

static void shelf_free(struct shelf *s)
{
    for (int i = 0; i < SHELF_JOBS; i++)
        if (s->jobs[i])
            job_free(s->jobs[i]);
    list_remove(&s->dirty);
    free(s);
}

void tallies_done(struct tallies *t)
{
    void *v;
    for (size_t i = 0; map_next(&t->shelves, &i, &v);)
        shelf_free(v);
    for (size_t i = 0; map_next(&t->groups, &i, &v);) {
        tally_done(v);
        free(v);
    }
    tally_done(&t->whole);
    map_done(&t->shelves);
    map_done(&t->groups);
    zone_unref(t->zone);
}

static uint64_t shelf_key(int64_t id)
{
    return (uint64_t)id / SHELF_JOBS;
}

struct job_tally *tallies_find_job(const struct tallies *t, int64_t id)
{
    const struct shelf *s = map_find(&t->shelves, shelf_key(id));
    return s ? s->jobs[(uint64_t)id % SHELF_JOBS] : NULL;
}

void tallies_ahead(const struct tallies *t, int64_t id)
{
    const struct shelf *s = map_find(&t->shelves, shelf_key(id));
    if (s)
        __builtin_prefetch(&s->jobs[(uint64_t)id % SHELF_JOBS]);
}

struct job_tally *tallies_next_job(const struct tallies *t, size_t *i, size_t *k)
{
    for (; *i < t->shelves.cap; ++*i, *k = 0) {
        const struct shelf *s = t->shelves.slots[*i].value;
        for (; s && *k < SHELF_JOBS; ++*k)
            if (s->jobs[*k])
                return s->jobs[(*k)++];
    }
    return NULL;
}

struct job_tally *tallies_job(struct tallies *t, int64_t id, int64_t through)
{
    struct shelf *s = map_find(&t->shelves, shelf_key(id));
    if (!s) {
        s = mem_new(sizeof(*s));
        map_set(&t->shelves, shelf_key(id), s);
    }
    struct job_tally **at = &s->jobs[(uint64_t)id % SHELF_JOBS];
    if (*at)
        return *at;
    struct job_tally *j = *at = mem_new(sizeof(*j));
    j->shelf = s;
    j->tally.id = id;
    j->tally.of_job = true;
    j->tally.through = through;
    t->njobs++;
    return j;
}

void tallies_drop_job(struct tallies *t, int64_t id)
{
    struct job_tally *j = tallies_find_job(t, id);
    if (!j)
        return;
    j->shelf->jobs[(uint64_t)id % SHELF_JOBS] = NULL;
    t->njobs--;
    job_free(j);
}

int64_t tallies_shelf_of(int64_t job_id)
{
    return (int64_t)shelf_key(job_id);
}

void tallies_drop_shelf(struct tallies *t, int64_t shelf)
{
    struct shelf *s = map_take(&t->shelves, (uint64_t)shelf);
    for (int i = 0; s && i < SHELF_JOBS; i++)
        t->njobs -= s->jobs[i] != NULL;
    if (s)
        shelf_free(s);
}

struct tally *tallies_find_group(struct tallies *t, int64_t id)
{
    return id ? map_find(&t->groups, (uint64_t)id) : &t->whole;
}

struct tally *tallies_group(struct tallies *t, int64_t id)
{
    struct tally *g = tallies_find_group(t, id);
    if (g)
        return g;
    g = mem_new(sizeof(*g));
    g->id = id;
    map_set(&t->groups, (uint64_t)id, g);
    return g;
}

/* ---- counting -------------------------------------------------------------------------------- */

int64_t tallies_quarter(const struct run_end *e)
{
    return figure_slot(FIGURE_QUARTER, NULL, e->log_ms);
}

int64_t tallies_hour(struct tallies *t, const struct run_end *e)
{
    int64_t quarter = tallies_quarter(e);
    size_t i = hash_u64((uint64_t)quarter) % countof(t->hours);
    if (t->hours[i].quarter != quarter) {
        t->hours[i].quarter = quarter;
        t->hours[i].hour = figure_slot(FIGURE_JOB_HOUR, t->zone, figure_slot_ms(quarter));
    }
    return t->hours[i].hour;
}

struct part *tally_part(struct tally *t, int64_t slot, bool *ret_new)
{
    for (int i = t->nparts - 1; i >= 0; i--)
        if (t->parts[i].slot == slot)
            return &t->parts[i];
    if ((t->nparts & (t->nparts - 1)) == 0)
        t->parts =
            mem_resize(t->parts, (size_t)(t->nparts ? t->nparts * 2 : 1) * sizeof(*t->parts));
    struct part *p = &t->parts[t->nparts++];
    *p = (struct part){ .slot = slot };
    if (!t->of_job)
        p->durations = mem_new(DURATION_BUCKETS * sizeof(*p->durations));
    if (ret_new)
        *ret_new = true;
    return p;
}

static void dirty(struct list *all, struct list_node *node, int64_t *since_n, int64_t *since_ms,
                  int64_t n, int64_t at_ms)
{
    if (list_linked(node))
        return;
    *since_n = n;
    *since_ms = at_ms;
    list_push(all, node);
}

void tally_end(struct tallies *all, struct tally *t, struct part *p, const struct run_end *e,
               int64_t n, int64_t at_ms)
{
    struct shelf *s = t->of_job ? container_of(t, struct job_tally, tally)->shelf : NULL;
    if (s)
        dirty(&all->dirty_shelves, &s->dirty, &s->since_n, &s->since_ms, n, at_ms);
    else
        dirty(&all->dirty_groups, &t->dirty, &t->since_n, &t->since_ms, n, at_ms);
    figure_end(&p->figure, e);
    if (p->durations && outcome_has_result(e->now))
        p->durations[duration_bucket(e->took_ms)]++;
}

void tally_clean(struct tally *t, int64_t through)
{
    list_remove(&t->dirty);
    for (int i = 0; i < t->nparts; i++)
        free(t->parts[i].durations);
    t->nparts = 0;
    t->through = through;
    if (!t->of_job) {
        free(t->parts);
        t->parts = NULL;
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int row_of(struct tally_rows *rows, int from, int64_t slot, const struct tally *t,
                  int64_t through)
{
    for (int i = from; i < rows->n; i++)
        if (rows->rows[i].slot == slot)
            return i;
    if (rows->n == rows->cap) {
        rows->cap = rows->cap ? rows->cap * 2 : 64;
        rows->rows = mem_resize(rows->rows, (size_t)rows->cap * sizeof(*rows->rows));
        rows->durations = mem_resize(rows->durations, (size_t)rows->cap * sizeof(*rows->durations));
    }
    rows->rows[rows->n] = (struct figure_row){ .slot = slot,
                                               .group_id = t->of_job ? 0 : t->id,
                                               .job_id = t->of_job ? t->id : 0,
                                               .through = through };
    if (!t->of_job)
        memset(rows->durations[rows->n], 0, sizeof(*rows->durations));
    return rows->n++;
}

static void durations_sum(uint32_t *to, const uint32_t *by)
{
    for (int i = 0; by && i < DURATION_BUCKETS; i++)
        to[i] = UINT32_MAX - to[i] < by[i] ? UINT32_MAX : to[i] + by[i];
}

/* The levels of a tally's rows, the finest first. */
static const enum figure_level group_levels[] = { FIGURE_QUARTER, FIGURE_HOUR, FIGURE_DAY };
static const enum figure_level job_levels[] = { FIGURE_JOB_HOUR, FIGURE_JOB_DAY };

static int64_t part_slot(const struct tallies *all, const struct part *p, enum figure_level level)
{
    bool same = level == FIGURE_QUARTER || level == FIGURE_JOB_HOUR;
    return same ? p->slot : figure_slot(level, all->zone, figure_slot_ms(p->slot));
}

void tally_rows_add(struct tally_rows *rows, const struct tallies *all, const struct tally *t,
                    int64_t through)
{
    const enum figure_level *levels = t->of_job ? job_levels : group_levels;
    int nlevels = t->of_job ? countof(job_levels) : countof(group_levels), from = rows->n;
    for (int i = 0; i < t->nparts; i++)
        for (int l = 0; l < nlevels; l++) {
            const struct part *p = &t->parts[i];
            int at = row_of(rows, from, part_slot(all, p, levels[l]), t, through);
            figure_add(&rows->rows[at].figure, &p->figure);
            durations_sum(rows->durations[at], p->durations);
        }
}

void tally_rows_end(struct tally_rows *rows)
{
    for (int i = 0; i < rows->n; i++)
        rows->rows[i].durations = rows->rows[i].job_id ? NULL : rows->durations[i];
}

void tally_rows_done(struct tally_rows *rows)
{
    free(rows->rows);
    free(rows->durations);
    *rows = (struct tally_rows){ NULL, NULL, 0, 0 };
}

void tally_sum(const struct tallies *all, const struct tally *t, int64_t slot,
               struct figure *figure, uint32_t *durations)
{
    enum figure_level level = figure_slot_level(slot);
    for (int i = 0; i < t->nparts; i++) {
        if (part_slot(all, &t->parts[i], level) != slot)
            continue;
        figure_add(figure, &t->parts[i].figure);
        if (durations)
            durations_sum(durations, t->parts[i].durations);
    }
}
