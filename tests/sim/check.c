/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - the promises of docs/architecture.md, held against what the world and the disk show.
 *
 * The checker sees every commit, every send, every start of a run, every acknowledgement. It
 * enumerates scheduled times itself, from the definitions, and believes no counter but compares
 * them. This file has its memory and what it looks at in a commit; the others one promise each. */
#include "check.h"
#include <stdlib.h>
#include <string.h>

#define COUNT_LOOKS 300 /* rows that a commit may look at to count what is open */

/* ---- what it remembers ----------------------------------------------------------------------- */

struct ghost *ghost_of(struct sim *s, int64_t log_id)
{
    if (log_id >= s->nghosts) {
        int64_t n = s->nghosts ? s->nghosts * 2 : 4096;
        while (n <= log_id)
            n *= 2;
        s->ghosts = mem_resize(s->ghosts, (size_t)n * sizeof(*s->ghosts));
        memset(&s->ghosts[s->nghosts], 0, (size_t)(n - s->nghosts) * sizeof(*s->ghosts));
        s->nghosts = n;
    }
    if (log_id > s->last_id)
        s->last_id = log_id;
    return &s->ghosts[log_id];
}

struct shadow *shadow_of(struct sim *s, int64_t job_id)
{
    if (job_id <= 0 || job_id >= (int64_t)countof(s->shadows))
        sim_fail(s, "the simulation", "job %lld has no shadow", (long long)job_id);
    return &s->shadows[job_id];
}

const struct mem_run *live_row(struct sim *s, int64_t log_id)
{
    return mem_find(memory_of(s->store), T_RUN, log_id);
}

const struct log_record *log_row(struct sim *s, int64_t log_id)
{
    return mem_find(memory_of(s->store), T_LOG, log_id);
}

bool never_ran(enum phase p)
{
    return p == PHASE_REJECTED || p == PHASE_UNROUTABLE || p == PHASE_SKIPPED ||
           p == PHASE_WITHDRAWN;
}

bool ended(enum phase p)
{
    return p >= PHASE_LOST;
}

bool of_schedule(enum kind k)
{
    return k == KIND_CRON || k == KIND_MISFIRE;
}

uint64_t mix(uint64_t h, int64_t v)
{
    return hash_u64(h ^ (uint64_t)v) + 0x9e3779b97f4a7c15u;
}

/* ---- a commit -------------------------------------------------------------------------------- */

static void check_falls(struct sim *s)
{
    const struct totals *t = &memory_of(s->store)->now.totals;
    for (int i = 0; i < TOTAL_COUNT; i++)
        if (t->n[i] < s->totals.n[i])
            sim_fail(s, "the counters", "%s falls from %lld to %lld", total_name((enum total)i),
                     (long long)s->totals.n[i], (long long)t->n[i]);
    s->totals = *t;
}

/* To count them looks at all open rows: with each commit, but of tens of thousands with every so
 * many. What is unaccounted for stays so, and at the end there are few. */
static void check_totals(struct sim *s)
{
    s->looks += COUNT_LOOKS;
    if (s->looks < memory_of(s->store)->tables[T_RUN].cap)
        return;
    s->looks = 0;
    struct totals t;
    int64_t open;
    struct why why = { "" };
    sim_must(s, store_memory_ops.txn->totals_get(s->store, &t, &open, &why), &why);
    int64_t rest = t.n[TOTAL_PLANNED] - t.n[TOTAL_FINISHED] - t.n[TOTAL_REJECTED] -
                   (t.n[TOTAL_LOST] - t.n[TOTAL_FOUND]) - t.n[TOTAL_SKIPPED] -
                   t.n[TOTAL_WITHDRAWN] - open;
    if (rest)
        sim_fail(s, "P1", "%lld firings are unaccounted for (planned %lld, open %lld)",
                 (long long)rest, (long long)t.n[TOTAL_PLANNED], (long long)open);
}

static void note_job_edit(struct sim *s, int64_t id)
{
    choices_forget(s, id);
    if (id <= 0)
        return;
    struct shadow *j = shadow_of(s, id);
    j->edit_boot_ms = s->boot_ms;
    j->edit_commit = s->commits;
}

/* One batch is written at a time, and takes all that was decided since the one before was taken: an
 * edit of the one before was heard of in that time. However long the disk keeps both waiting. */
bool check_edit_unheard(const struct sim *s, const struct shadow *j)
{
    return j->edit_boot_ms && s->commits - j->edit_commit <= 1;
}

/* What edits leave open to the routes. */
static void note_edits(struct sim *s, const struct batch *b)
{
    for (int i = 0; i < b->nedits; i++) {
        enum edit_kind kind = b->edits[i]->kind;
        if (kind <= EDIT_JOB_DELETE)
            note_job_edit(s, b->edits[i]->id);
    }
}

void check_edit_open(struct sim *s, const struct edit *e, int by)
{
    if (e->err)
        return;
    if (e->kind >= EDIT_GROUP_INSERT && e->kind <= EDIT_GROUP_DELETE) {
        s->group_edits += by;
        s->group_heard_ms = s->boot_ms;
    } else if (e->kind <= EDIT_JOB_DELETE) {
        shadow_of(s, e->id)->edits += by;
        shadow_of(s, e->id)->heard_ms = s->boot_ms;
    }
}

bool edit_open(struct sim *s, int64_t job_id)
{
    return s->group_edits > 0 || shadow_of(s, job_id)->edits > 0;
}

void check_commit(struct sim *s, struct batch *b)
{
    note_edits(s, b);
    for (int i = 0; i < b->nedits; i++)
        check_edit_open(s, b->edits[i], 1);
    s->rebased +=
        b->sweep == SWEEP_REBASE; /* from here on rate jobs may meet a scheduled time again */
    for (int i = 0; i < b->nchanges; i++)
        check_change(s, &b->changes[i]);
    for (int i = 0; i < b->nchanges; i++)
        check_flight_change(s, &b->changes[i]);
    for (int i = 0; i < b->nedits; i++)
        for (int k = 0; !b->edits[i]->err && k < b->edits[i]->nruns; k++)
            if (check_takes(&b->edits[i]->runs[k]))
                check_change(s, &b->edits[i]->runs[k].change);
    for (int i = 0; i < b->nplanned; i++)
        check_birth(s, &b->planned[i]);
    check_planned_whole(s);
    for (int i = 0; i < b->nedits; i++)
        check_edit_schedules(s, b, b->edits[i]);
    for (int i = 0; i < b->nchanges; i++) {
        check_kept(s, &b->changes[i]);
        alarms_check(s, &b->changes[i]);
        check_retried(s, b->changes[i].log_id);
        check_followed(s, b->changes[i].log_id);
    }
    for (int i = 0; i < b->nedits; i++)
        for (int k = 0; !b->edits[i]->err && k < b->edits[i]->nruns; k++) {
            if (!check_takes(&b->edits[i]->runs[k]))
                continue;
            check_kept(s, &b->edits[i]->runs[k].change);
            ghost_of(s, b->edits[i]->runs[k].log_id)->wants_retry = false;
        }
    if (b->plan_until_ms || b->nedits || b->sweep || b->ndelays) {
        void *row;
        for (size_t i = 0; map_next(&memory_of(s->store)->tables[T_DUE], &i, &row);) {
            check_delay(s, b, row);
            check_schedules(s, b, row);
        }
    }
    for (int i = 0; i < b->nplanned; i++)
        ghost_of(s, b->planned[i].row.log_id)->fresh = false;
    note_edits(s, b);
    check_falls(s);
    check_totals(s);
}

void check_free(struct sim *s)
{
    alarms_free(s);
    free(s->ghosts);
    map_done(&s->keys);
    map_done(&s->scheduled_times);
    map_done(&s->parents);
    map_done(&s->shards);
    check_wire_free(s);
    check_routes_free(s);
    for (size_t i = 0; i < countof(s->shadows); i++) {
        schedule_done(&s->shadows[i].schedule);
        free(s->shadows[i].ends);
    }
}
