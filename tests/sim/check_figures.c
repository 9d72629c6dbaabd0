/* SPDX-License-Identifier: Apache-2.0 */
/* check_figures.c - the figures, counted again: from the log where its codes tell what became of a
 * run, else from the checker's own account.
 *
 * Nothing of src/ledger or src/model counts here. Each end is put into its quarter hour, hour and
 * day by arithmetic of its own, and then the figures are asked for that slot. */
#include "check.h"
#include "ledger/figures.h"
#include <stdlib.h>
#include <string.h>

#define EVERY 2000   /* commits */
#define ROWS_EACH 25 /* runs that a commit may look at: a crowd has hundreds of thousands */

struct expected { /* one slot of the whole, a group or a job */
    enum figure_level level;
    int64_t group_id, job_id, at_ms; /* some instant in it */
    int64_t counts[OUTCOME_COUNT];
};

static const enum figure_level levels[] = { FIGURE_QUARTER, FIGURE_HOUR, FIGURE_DAY };
static const enum figure_level job_levels[] = { FIGURE_JOB_HOUR, FIGURE_JOB_DAY };

static int64_t down(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return a % b < 0 ? q - 1 : q;
}

/* An hour that comes twice, when clocks are put back, is two hours. */
static uint64_t place(struct sim *s, enum figure_level level, int64_t ms)
{
    int64_t second = down(ms, 1000), offset = zone_offset_at(s->figures_zone, second);
    if (level == FIGURE_QUARTER)
        return mix(1, down(second, 900));
    if (level == FIGURE_HOUR || level == FIGURE_JOB_HOUR)
        return mix(mix(2, down(second + offset, 3600)), offset);
    return mix(3, down(second + offset, 86400));
}

static struct expected *expected_of(struct sim *s, struct map *all, enum figure_level level,
                                    int64_t group_id, int64_t job_id, int64_t ms)
{
    uint64_t key = mix(mix(place(s, level, ms), group_id), job_id ? job_id + 1000 : 0);
    struct expected *x = map_find(all, key);
    if (x)
        return x;
    x = mem_new(sizeof(*x));
    *x = (struct expected){ .level = level, .group_id = group_id, .job_id = job_id, .at_ms = ms };
    map_set(all, key, x);
    return x;
}

/* What the columns tell, else what the checker has seen. */
static enum outcome outcome_of(const struct ghost *g, const struct log_record *l)
{
    static const enum outcome seen[PHASE_COUNT] = {
        [PHASE_LOST] = OUTCOME_LOST,           [PHASE_SUCCEEDED] = OUTCOME_SUCCEEDED,
        [PHASE_FAILED] = OUTCOME_FAILED,       [PHASE_TIMED_OUT] = OUTCOME_TIMED_OUT,
        [PHASE_KILLED] = OUTCOME_KILLED,       [PHASE_REJECTED] = OUTCOME_REJECTED,
        [PHASE_UNROUTABLE] = OUTCOME_REJECTED, [PHASE_SKIPPED] = OUTCOME_SKIPPED,
        [PHASE_WITHDRAWN] = OUTCOME_WITHDRAWN,
    };
    if (l && l->handle_code == 200)
        return OUTCOME_SUCCEEDED;
    if (l && l->handle_code == 502)
        return OUTCOME_TIMED_OUT;
    if (l && l->handle_code == 0 && l->trigger_code == 500)
        return OUTCOME_REJECTED;
    return seen[g->end];
}

static void expect(struct sim *s, struct map *all, int64_t id, const struct ghost *g)
{
    const struct log_record *l = log_row(s, id);
    enum outcome o = outcome_of(g, l);
    int64_t own = g->kind == KIND_RETRY ? g->due_ms : g->scheduled_ms;
    int64_t ms = l ? l->trigger_ms : down(own, 1000) * 1000;
    if (o == OUTCOME_NONE)
        sim_fail(s, "figures", "run %lld is %s, and nobody knows what its row says", (long long)id,
                 phase_text(g->end));
    for (size_t i = 0; i < countof(levels); i++) {
        expected_of(s, all, levels[i], 0, 0, ms)->counts[o]++;
        expected_of(s, all, levels[i], g->group_id, 0, ms)->counts[o]++;
    }
    for (size_t i = 0; i < countof(job_levels); i++)
        expected_of(s, all, job_levels[i], 0, g->job_id, ms)->counts[o]++;
}

static bool job_there(struct sim *s, int64_t id)
{
    return mem_find(memory_of(s->store), T_JOB, id) != NULL;
}

static void compare(struct sim *s, const struct expected *x)
{
    struct figure f;
    struct why why = { "" };
    uint32_t durations[DURATION_BUCKETS];
    int64_t results = 0, measured = 0;
    if (x->job_id && !job_there(s, x->job_id))
        return; /* nobody can ask */
    sim_must(s,
             figures_read(s->figures, s->store, x->level, x->group_id, x->job_id, x->at_ms, &f,
                          durations, &why),
             &why);
    for (int o = OUTCOME_SUCCEEDED; o < OUTCOME_COUNT; o++)
        if (f.counts[o] != x->counts[o])
            sim_fail(s, "figures",
                     "level %d of group %lld, job %lld at %lld: %s is %lld and was counted %lld",
                     (int)x->level, (long long)x->group_id, (long long)x->job_id,
                     (long long)x->at_ms, outcome_text((enum outcome)o), (long long)f.counts[o],
                     (long long)x->counts[o]);
    for (int i = 0; i < DURATION_BUCKETS; i++)
        measured += durations[i];
    for (int o = OUTCOME_SUCCEEDED; o <= OUTCOME_KILLED; o++)
        results += x->counts[o];
    if (!x->job_id && measured != results)
        sim_fail(s, "figures", "%lld durations of %lld results at %lld", (long long)measured,
                 (long long)results, (long long)x->at_ms);
}

/* Is there a row in whose slot nothing ended? */
static void verify_rows(struct sim *s, struct map *all)
{
    void *row;
    for (size_t i = 0; map_next(&memory_of(s->store)->tables[T_FIGURE], &i, &row);) {
        const struct figure_row *r = &((struct mem_figure *)row)->row;
        size_t before = all->len;
        struct expected *x = expected_of(s, all, figure_slot_level(r->slot), r->group_id, r->job_id,
                                         figure_slot_ms(r->slot));
        if (all->len != before && (!r->job_id || job_there(s, r->job_id)))
            sim_fail(s, "figures", "a row of level %d, group %lld, job %lld at %lld counts nothing",
                     (int)x->level, (long long)r->group_id, (long long)r->job_id,
                     (long long)x->at_ms);
    }
}

static void verify_streak(struct sim *s, const struct shadow *j)
{
    struct job_stat stat;
    int streak = 0;
    while (streak < j->nends && !j->ends[j->nends - 1 - streak].succeeded)
        streak++;
    if (streak >= STAT_LAST || !job_there(s, j->id)) /* of more the figures know the number only */
        return;
    uint32_t told = figures_job(s->figures, j->id, &stat) ? stat.streak : 0;
    if (told != (uint32_t)streak)
        sim_fail(s, "figures", "job %lld has failed %d times in a row, and the figures say %u",
                 (long long)j->id, streak, told);
}

void check_figures(struct sim *s)
{
    struct map all;
    void *x;
    map_init(&all);
    for (int64_t id = 1; id <= s->last_id; id++) {
        const struct ghost *g = &s->ghosts[id];
        if (g->born && g->end)
            expect(s, &all, id, g);
    }
    for (size_t i = 0; map_next(&all, &i, &x);)
        compare(s, x);
    verify_rows(s, &all);
    for (size_t i = 0; i < countof(s->shadows); i++)
        if (s->shadows[i].id)
            verify_streak(s, &s->shadows[i]);
    for (size_t i = 0; (x = map_any(&all, &i));) {
        struct expected *e = x;
        uint64_t key =
            mix(mix(place(s, e->level, e->at_ms), e->group_id), e->job_id ? e->job_id + 1000 : 0);
        map_take(&all, key);
        free(e);
    }
    map_done(&all);
}

void check_figures_commit(struct sim *s)
{
    if (s->commits < s->figures_next)
        return;
    check_figures(s);
    s->figures_next = s->commits + EVERY + s->last_id / ROWS_EACH;
}

void check_figures_end(struct sim *s, int64_t id, const struct ghost *g, enum phase to)
{
    struct shadow *j = shadow_of(s, g->job_id);
    bool succeeded = to == PHASE_SUCCEEDED;
    if (to == PHASE_SKIPPED || to == PHASE_WITHDRAWN)
        return;
    if (g->end == PHASE_LOST) {
        for (int i = j->nends - 1; i >= 0; i--)
            if (j->ends[i].log_id == id)
                j->ends[i].succeeded = succeeded;
        return;
    }
    if ((j->nends & (j->nends - 1)) == 0)
        j->ends = mem_resize(j->ends, (size_t)(j->nends ? j->nends * 2 : 1) * sizeof(*j->ends));
    j->ends[j->nends++] = (struct shadow_end){ id, succeeded };
}
