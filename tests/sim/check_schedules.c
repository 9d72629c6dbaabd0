/* SPDX-License-Identifier: Apache-2.0 */
/* check_schedules.c - every scheduled time of a schedule has a row or is counted as skipped. */
#include "check.h"
#include <stdio.h>
#include <string.h>

static int64_t next_after(const struct shadow *j, int64_t ms)
{
    int64_t next;
    return schedule_next(&j->schedule, ms, &next) ? NEVER_MS : next;
}

bool enumerable(const struct shadow *j)
{
    return j->schedule.type == SCHEDULE_CRON || j->schedule.type == SCHEDULE_FIX_RATE ||
           j->schedule.type == SCHEDULE_ONCE;
}

static void conf_text(const struct job_record *r, char text[128])
{
    snprintf(text, 128, "%s|%s|%s|%s", r->schedule_type, r->schedule_conf ? r->schedule_conf : "",
             r->zone ? r->zone : "", r->dst ? r->dst : "");
}

static void parse(struct sim *s, struct shadow *j, const struct job_record *r)
{
    struct zone *zone = NULL;
    struct why why = { "" };
    enum dst_policy dst = r->dst && strcmp(r->dst, "smart") == 0 ? DST_SMART : DST_XXL;
    schedule_done(&j->schedule);
    if (sim_zone(s, r->zone ? r->zone : "", &zone, &why) ||
        schedule_parse(slice_text(r->schedule_type), slice_text(r->schedule_conf), zone, dst, 2125,
                       &j->schedule, &why))
        memset(&j->schedule, 0, sizeof(j->schedule));
    zone_unref(zone);
}

static int64_t skips_of(struct sim *s, int64_t job_id)
{
    int64_t n = 0;
    void *row;
    const struct memory *m = memory_of(s->store);
    for (size_t i = 0; map_next(&m->tables[T_SKIP], &i, &row);)
        if (((struct mem_skip *)row)->row.job_id == job_id)
            n += ((struct mem_skip *)row)->row.count;
    return n;
}

/* The latest scheduled time of the job that was not withdrawn, as the rows tell. */
static int64_t kept_until(struct sim *s, int64_t job_id)
{
    int64_t kept = 0;
    int64_t epoch = shadow_of(s, job_id)->epoch;
    for (int64_t id = s->last_id; id > 0; id--) {
        const struct ghost *g = &s->ghosts[id];
        if (g->born && g->job_id == job_id && of_schedule(g->kind) && g->scheduled_ms > kept &&
            !(g->end == PHASE_WITHDRAWN && g->dropped) && !g->fresh && g->epoch >= epoch)
            kept = g->scheduled_ms;
    }
    return kept;
}

bool check_takes(const struct edit_run *x)
{
    return x->change.what && !x->stays;
}

/* Has anything of the firing left, or was it killed by a user? Then it is not planned again. */
static bool firing_is_out(struct sim *s, int64_t job_id, int64_t scheduled_ms)
{
    for (int64_t id = s->last_id; id > 0; id--) {
        const struct ghost *g = &s->ghosts[id];
        bool of_it = g->born && g->job_id == job_id && g->kind == KIND_CRON &&
                     g->scheduled_ms == scheduled_ms && !g->fresh;
        if (of_it && (!g->dropped || !g->taken))
            return true;
    }
    return false;
}

/* Scheduled times that an edit leaves: each run that it takes has another in its place. */
static void check_replanned(struct sim *s, const struct edit *e)
{
    for (int i = 0; i < e->nruns; i++) {
        const struct edit_run *x = &e->runs[i];
        if (!check_takes(x) || x->kind != KIND_CRON || x->version + 1 != e->now->version)
            continue;
        uint64_t key = mix(mix(3, e->id), x->scheduled_ms);
        int64_t id = (int64_t)(intptr_t)map_find(&s->scheduled_times, key);
        if (!ghost_of(s, id)->fresh && !firing_is_out(s, e->id, x->scheduled_ms))
            sim_fail(s, "P1", "an edit of job %lld takes scheduled time %lld and leaves nothing",
                     (long long)e->id, (long long)x->scheduled_ms);
    }
}

/* What the edit took back. A scheduled time that a user killed before it left is not among it. */
static void note_taken(struct sim *s, const struct batch *b, const struct edit *e)
{
    for (int i = 0; i < e->nruns; i++) {
        struct ghost *g = ghost_of(s, e->runs[i].log_id);
        g->taken |= check_takes(&e->runs[i]) && g->kind == KIND_CRON && g->dropped;
    }
    for (int i = 0; i < b->nspawns; i++) { /* a broadcast that was to be planned again */
        const struct spawn *again = &b->spawns[i];
        if (again->job_id != e->id || again->kind != KIND_CRON || !again->err)
            continue;
        for (int64_t id = s->last_id; id > 0; id--) {
            struct ghost *g = &s->ghosts[id];
            if (g->job_id == e->id && g->kind == KIND_CRON &&
                g->scheduled_ms == again->scheduled_ms)
                g->taken = g->dropped;
        }
    }
}

/* Has the job had a firing in this second, as its log tells? */
static bool had_second(struct sim *s, int64_t job_id, int64_t scheduled_ms)
{
    for (int64_t id = s->last_id; id > 0; id--) {
        const struct ghost *g = &s->ghosts[id];
        if (g->born && g->job_id == job_id && of_schedule(g->kind) && !g->dropped && !g->fresh &&
            g->scheduled_ms / 1000 == scheduled_ms / 1000)
            return true;
    }
    return false;
}

/* What a missed firing stands for was due already, by whatever clock: also if the edit takes it. */
static int64_t missed_until(struct sim *s, const struct edit *e)
{
    int64_t until = 0;
    for (int i = 0; i < e->nruns; i++) {
        const struct ghost *g = ghost_of(s, e->runs[i].log_id);
        if (g->job_id == e->id && g->kind == KIND_MISFIRE && g->scheduled_ms > until)
            until = g->scheduled_ms;
    }
    return until;
}

/* An edit that leaves the schedule alone leaves its scheduled times alone. Another goes back to the
 * latest scheduled time that any run has served, or to the watermark at the center's start, and not
 * behind it. */
static void after_edit(struct sim *s, const struct batch *b, const struct edit *e, struct shadow *j,
                       bool same, bool on)
{
    note_taken(s, b, e);
    if (e->kind == EDIT_JOB_UPDATE && same) {
        check_replanned(s, e);
        return;
    }
    int64_t bound = s->served_ms > s->start_watermark_ms ? s->served_ms : s->start_watermark_ms;
    int64_t kept = kept_until(s, e->id);
    int64_t missed = missed_until(s, e);
    bound = bound > b->now_ms ? bound : b->now_ms;
    bound = bound > missed ? bound : missed;
    if (on || e->kind == EDIT_JOB_STOP)
        j->cover_ms = kept < j->cover_ms ? kept : j->cover_ms;
    j->lenient_ms = bound > kept ? bound : kept;
    j->from_ms = b->now_ms;
    j->expect_ms = next_after(j, b->now_ms);
    bool once = j->schedule.type == SCHEDULE_ONCE && j->expect_ms != NEVER_MS;
    if (on && once && !had_second(s, e->id, j->expect_ms))
        j->lenient_ms = b->now_ms; /* it has no other scheduled time: no bound hides it */
    else if (j->expect_ms <= j->cover_ms)
        j->expect_ms = next_after(j, j->cover_ms);
}

void check_edit_schedules(struct sim *s, const struct batch *b, const struct edit *e)
{
    if (e->err || e->kind > EDIT_JOB_DELETE)
        return;
    struct shadow *j = shadow_of(s, e->id);
    const struct job_record *r = mem_find(memory_of(s->store), T_JOB, e->id);
    j->id = e->id;
    j->edit_boot_ms = s->boot_ms;
    j->bad_since = 0;
    if (!r)
        return;
    if (e->kind != EDIT_JOB_UPDATE)
        j->on = r->enabled;
    j->was_serial = j->serial;
    j->was_covers = j->covers;
    j->was_resending = j->resends;
    j->serial = !r->block || strcmp(r->block, block_text(BLOCK_SERIAL)) == 0;
    j->covers = r->block && strcmp(r->block, block_text(BLOCK_COVER)) == 0;
    j->resends = r->on_doubt && strcmp(r->on_doubt, "resend") == 0;
    char conf[128];
    conf_text(r, conf);
    bool same = strcmp(conf, j->conf) == 0;
    memcpy(j->conf, conf, sizeof(conf));
    if (!same) {
        parse(s, j, r);
        j->on = r->enabled; /* one that had ended stays off until it is switched on */
    }
    after_edit(s, b, e, j, same, e->now && e->now->enabled);
}

/* What cannot be enumerated is taken as the table has it. */
static void follow(struct sim *s, struct shadow *j, const struct due_row *due, int64_t expect_ms)
{
    j->cover_ms = due->planned_until_ms;
    j->expect_ms = expect_ms;
    j->skipped = skips_of(s, j->id);
}

static bool followed(struct sim *s, const struct batch *b, struct shadow *j,
                     const struct due_row *due)
{
    bool rebased = b->sweep == SWEEP_REBASE && is_rate(j);
    if (!enumerable(j)) {
        j->epoch = rebased ? s->rebased : j->epoch;
        follow(s, j, due, j->expect_ms);
        return true;
    }
    if (is_rate(j) && (j->epoch || s->went_back) && j->edit_boot_ms == s->boot_ms) {
        /* rows by two clocks: where the chain goes on is not known from outside */
        int64_t until = due->planned_until_ms;
        follow(s, j, due, due->next_ms > until ? due->next_ms : next_after(j, until));
        return true;
    }
    if (rebased && (due->planned_until_ms < j->cover_ms || j->expect_ms > b->sweep_ms)) {
        follow(s, j, due, due->next_ms);
        j->epoch = s->rebased;
        return true;
    }
    return false;
}

struct tally {              /* of the scheduled times that a commit has decided */
    int64_t missing, first; /* without a row, and the first of these */
    int64_t maybe;          /* may have none */
    struct missed missed;
};

/* After an edit the chain of a rate begins at either end of the doubt. Two that meet in whole
 * seconds are told apart by nothing that comes later: what lies before the later beginning may be
 * there or not. */
static void begin_chain(struct shadow *j, const struct due_row *due, struct tally *t)
{
    int64_t other = next_after(j, j->lenient_ms);
    int64_t period = next_after(j, other) - other;
    bool goes_on = due->next_ms != NEVER_MS && (due->next_ms - j->expect_ms) % period == 0;
    j->lenient_ms = goes_on ? other - period : 0;
    if (!goes_on && j->expect_ms <= other) {
        j->expect_ms = other;
        t->maybe++; /* the first of the other chain may be among the skipped */
    }
}

static void count_one(struct sim *s, const struct batch *b, const struct shadow *j, struct tally *t)
{
    int64_t ms = j->expect_ms;
    int64_t id = (int64_t)(intptr_t)map_find(&s->scheduled_times, mix(mix(3, j->id), ms));
    const struct ghost *g = id ? ghost_of(s, id) : NULL;
    if (g && g->taken)
        id = 0; /* an edit took it: the scheduled time counts anew */
    t->missed.loose |= ms <= j->lenient_ms || (g && g->epoch < j->epoch);
    check_decided(s, b, &t->missed, ms, id);
    if (id && (g->epoch < j->epoch || (g->end == PHASE_WITHDRAWN && g->dropped))) {
        t->maybe++; /* a row by the old clock may still be live, or may be skipped again */
    } else if (!id && ms <= j->lenient_ms) {
        t->maybe++;
    } else if (!id) {
        t->missing++;
        t->first = t->first ? t->first : ms;
    }
}

void check_schedules(struct sim *s, const struct batch *b, const struct due_row *due)
{
    struct shadow *j = shadow_of(s, due->job_id);
    int64_t until = due->planned_until_ms;
    if (followed(s, b, j, due))
        return;
    if (until < j->cover_ms && b->sweep != SWEEP_REBASE)
        sim_fail(s, "P2", "job %lld (%s): planned_until went back from %lld to %lld",
                 (long long)j->id, j->conf, (long long)j->cover_ms, (long long)until);
    struct tally t = { 0 };
    bool begins = is_rate(j) && j->lenient_ms && j->expect_ms <= until;
    if (begins)
        begin_chain(j, due, &t);
    for (; j->expect_ms <= until; j->expect_ms = next_after(j, j->expect_ms))
        count_one(s, b, j, &t);
    if (begins && j->expect_ms > j->lenient_ms)
        j->lenient_ms = 0;
    int64_t more = skips_of(s, j->id) - j->skipped;
    bool loose = j->meddled || (is_rate(j) && s->went_back); /* two clocks: not enumerable */
    if (!loose && (more < t.missing || more > t.missing + t.maybe))
        sim_fail(s, "P1",
                 "job %lld (%s): %lld scheduled times from %lld on have no row, %lld are skipped",
                 (long long)j->id, j->conf, (long long)t.missing, (long long)t.first,
                 (long long)more);
    j->cover_ms = until;
    j->skipped += more;
    if (!loose)
        check_missed(s, b, j, due, &t.missed);
}
