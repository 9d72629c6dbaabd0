/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - a run: its birth and death, its phase, where it waits, and its pending change.
 *
 * One function changes the phase. What a run goes through is merged into its pending change until
 * the writer takes it; so a short run costs one update, however many phases it passed. */
#include "sched/run.h"
#include "sched/job.h"
#include "sched/lane.h"
#include "sched/outbox.h"
#include "sched/state.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIT(p) (1u << (p))
#define ENDED (BIT(PHASE_SUCCEEDED) | BIT(PHASE_FAILED) | BIT(PHASE_TIMED_OUT) | BIT(PHASE_KILLED))

/* Allowed moves; the drawing stands above enum phase. */
static const unsigned moves[PHASE_COUNT] = {
    [PHASE_PLANNED] = BIT(PHASE_SENT) | BIT(PHASE_REJECTED) | BIT(PHASE_UNROUTABLE) |
                      BIT(PHASE_SKIPPED) | BIT(PHASE_WITHDRAWN) | ENDED, /* ended: after doubt */
    [PHASE_SENT] = BIT(PHASE_ACCEPTED) | BIT(PHASE_UNKNOWN) | BIT(PHASE_REJECTED) |
                   BIT(PHASE_PLANNED) | ENDED, /* planned: the connection was never opened */
    [PHASE_UNKNOWN] = BIT(PHASE_ACCEPTED) | BIT(PHASE_PLANNED) | BIT(PHASE_SENT) | BIT(PHASE_LOST) |
                      BIT(PHASE_WITHDRAWN) | ENDED,
    [PHASE_ACCEPTED] = BIT(PHASE_LOST) | ENDED,
    [PHASE_LOST] = ENDED,
};

bool phase_may(enum phase from, enum phase to)
{
    return from < PHASE_COUNT && to < PHASE_COUNT && moves[from] & BIT(to);
}

const char *run_param(const struct run *r)
{
    return r->text && r->text->param ? r->text->param : r->job->def->param;
}

static bool others(const char *text, const char *of_job)
{
    return text && strcmp(text, of_job) != 0;
}

bool run_outworn(const struct run *r)
{
    const struct run_text *t = r->text;
    const struct job *now = r->job->def;
    return t && (others(t->handler, now->handler) ||
                 (kind_of_schedule((enum kind)r->kind) && others(t->param, now->param)));
}

/* ---- what its lane counts ---------------------------------------------------------------------
 */

static void count_out(struct run *r, int by)
{
    if (!r->lane)
        return;
    r->lane->accepted += r->phase == PHASE_ACCEPTED ? by : 0;
    r->lane->unknown += r->phase == PHASE_UNKNOWN ? by : 0;
}

void run_set_phase(struct sched *s, struct run *r, enum phase to)
{
    count_out(r, -1);
    s->nphase[r->phase]--;
    r->phase = (uint8_t)to;
    s->nphase[r->phase]++;
    count_out(r, 1);
}

/* ---- birth and death ------------------------------------------------------------------------- */

/* What the log row says. It may be gone (log_ms): then nothing is known but the job. */
static const char *said_by(const struct run_row *row, const char *text, const char *of_job)
{
    return text ? text : row->log_ms < 0 ? of_job : "";
}

/* now: the job as the core has it, which may be newer than the row. */
static struct run_text *text_of(const struct run_row *row, const struct job *now)
{
    const char *param = said_by(row, row->param, now->param);
    const char *handler = said_by(row, row->handler, now->handler);
    bool own = strcmp(param, now->param) != 0, older = strcmp(handler, now->handler) != 0;
    bool moved = row->group_id != now->group_id;
    if (!own && !older && !row->choices && !moved && row->trace.kind == TRACE_OWN)
        return NULL;
    struct run_text *t = mem_new(sizeof(*t));
    t->param = own ? mem_dup(param) : NULL;
    t->handler = older ? mem_dup(handler) : NULL;
    t->choices = mem_dup(row->choices);
    t->group_id = moved ? row->group_id : 0;
    t->trace = row->trace;
    return t;
}

void run_see(struct sched *s, const struct run *r, int64_t at_ms)
{
    if (!s->watched)
        return;
    if (s->nseen == s->cseen) {
        s->cseen = s->cseen ? s->cseen * 2 : 64;
        s->seen = mem_resize(s->seen, s->cseen * sizeof(*s->seen));
    }
    s->seen[s->nseen++] = (struct run_seen){ .log_id = r->log_id,
                                             .job_id = r->job->id,
                                             .group_id = run_group(r),
                                             .scheduled_ms = r->scheduled_ms,
                                             .due_ms = r->due_ms,
                                             .at_ms = at_ms,
                                             .shard = r->shard,
                                             .phase = r->phase,
                                             .kind = r->kind };
}

struct run *run_new(struct sched *s, struct now now, const struct run_row *row, struct job *def)
{
    struct run *r = mem_new(sizeof(*r));
    r->job = job_enter(s, def);
    r->timer.kind = TIMER_RUN;
    r->log_id = row->log_id;
    r->scheduled_ms = row->scheduled_ms;
    r->due_ms = row->due_ms;
    r->cause = row->cause;
    r->version = row->version;
    r->shard = row->shard;
    r->shard_total = row->shard_total;
    r->attempt = row->attempt;
    r->retries_left = row->retries_left;
    r->kind = (uint8_t)row->kind;
    r->phase = (uint8_t)row->phase;
    r->since_ms = now.boot_ms;
    for (int i = 0; i < STORY_OF_LIVE; i++)
        r->at_us[i] = STORY_UNKNOWN;
    r->text = text_of(row, r->job->def);
    if (row->broadcast) {
        r->flags |= RUN_BROADCAST;
        if (!list_linked(&r->job->broadcast))
            list_push(&s->broadcasts, &r->job->broadcast);
    }
    if (row->doubted)
        r->flags |= RUN_DOUBTED;
    if (row->kind == KIND_CRON || row->kind == KIND_MISFIRE || row->kind == KIND_RETRY)
        r->flags |= RUN_SCHEDULED;
    if (row->address) {
        r->lane = lane_get(s, slice_text(row->address));
        list_push(&r->lane->runs, &r->of_lane);
        count_out(r, 1);
    }
    list_push(&r->job->runs, &r->of_job);
    r->job->nruns++;
    s->nphase[r->phase]++;
    s->stats.live++;
    map_set(&s->runs, (uint64_t)r->log_id, r);
    run_see(s, r, now.wall_ms);
    return r;
}

/* Many executors send the killed run's result before they answer the kill: the user got what was
 * asked for. */
static void answer_kill(struct sched *s, struct kill *k)
{
    if (!k)
        return;
    if (!k->text[0])
        snprintf(k->text, sizeof(k->text), "the run ended before the executor answered");
    killed_after(s, k);
}

void run_free(struct sched *s, struct run *r)
{
    run_leave(s, r);
    answer_kill(s, r->kill);
    list_remove(&r->dirty);
    list_remove(&r->of_job);
    list_remove(&r->of_lane);
    map_take(&s->runs, (uint64_t)r->log_id);
    s->nphase[r->phase]--;
    s->stats.live--;
    count_out(r, -1);
    if (r->lane)
        lane_put(s, r->lane);
    if (r->text) {
        free(r->text->param);
        free(r->text->handler);
        free(r->text->choices);
        free(r->text);
    }
    if (r->pending) {
        run_change_done(r->pending);
        free(r->pending);
    }
    free(r->reconcile);
    struct live_job *j = r->job;
    j->nruns--;
    free(r);
    job_settle(s, j);
}

/* ---- where it waits -------------------------------------------------------------------------- */

#define PLANNED_ONLY BIT(PHASE_PLANNED)

/* Allowed moves of what a run waits for, and the phases in which it may wait so. */
static const struct {
    unsigned next, phases;
} waits[WAIT_COUNT] = {
    [WAIT_NOTHING] = { BIT(WAIT_COUNT) - 1, BIT(PHASE_COUNT) - 1 },
    [WAIT_DUE] = { BIT(WAIT_NOTHING) | BIT(WAIT_EDIT), PLANNED_ONLY },
    [WAIT_WATERMARK] = { BIT(WAIT_NOTHING) | BIT(WAIT_EDIT), PLANNED_ONLY },
    [WAIT_PROBE] = { BIT(WAIT_NOTHING) | BIT(WAIT_EDIT) | BIT(WAIT_PROBE), PLANNED_ONLY },
    [WAIT_ADDRESS] = { BIT(WAIT_NOTHING) | BIT(WAIT_EDIT), PLANNED_ONLY },
    [WAIT_LANE] = { BIT(WAIT_NOTHING) | BIT(WAIT_EDIT), PLANNED_ONLY },
    [WAIT_EDIT] = { BIT(WAIT_NOTHING), PLANNED_ONLY },
    [WAIT_CALL] = { BIT(WAIT_NOTHING), BIT(PHASE_SENT) | ENDED }, /* ended: by its callback */
    [WAIT_TIMER] = { BIT(WAIT_NOTHING) | BIT(WAIT_TIMER),
                     BIT(PHASE_UNKNOWN) | BIT(PHASE_ACCEPTED) | BIT(PHASE_LOST) },
    [WAIT_ROUND] = { BIT(WAIT_NOTHING), BIT(PHASE_UNKNOWN) | BIT(PHASE_ACCEPTED) },
};

bool wait_may(enum wait from, enum wait to)
{
    return from < WAIT_COUNT && to < WAIT_COUNT && waits[from].next & BIT(to);
}

bool wait_fits(enum wait w, enum phase phase)
{
    return w < WAIT_COUNT && phase < PHASE_COUNT && waits[w].phases & BIT(phase);
}

void run_wait_for(struct sched *s, struct run *r, enum wait to)
{
    enum wait from = (enum wait)r->wait;
    assert(wait_may(from, to) && wait_fits(to, (enum phase)r->phase));
    if (from == WAIT_DUE)
        heap_remove(&s->due, &r->timer.entry);
    else if (from == WAIT_TIMER && to != WAIT_TIMER)
        heap_remove(&s->waits, &r->timer.entry);
    else
        list_remove(&r->place);
    if (from == WAIT_LANE)
        r->lane->nqueue--;
    r->wait = (uint8_t)to;
}

void run_leave(struct sched *s, struct run *r)
{
    if (r->wait != WAIT_CALL)
        run_wait_for(s, r, WAIT_NOTHING);
}

void run_wait_due(struct sched *s, struct run *r)
{
    run_wait_for(s, r, WAIT_DUE);
    heap_add(&s->due, &r->timer.entry, r->due_ms);
}

void run_wait_ms(struct sched *s, struct now now, struct run *r, int64_t ms)
{
    run_wait_for(s, r, WAIT_TIMER);
    heap_add(&s->waits, &r->timer.entry, now.boot_ms + ms);
}

void run_reconciled(struct run *r)
{
    if (r->reconcile && r->reconcile->step == RECONCILE_LOG && r->lane)
        r->lane->querying--;
    free(r->reconcile);
    r->reconcile = NULL;
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* Does this move prove that the run had left? Each run passes exactly one such move that reaches
 * the disk: before it a crash makes the row one in doubt, behind it the phase on disk is another.
 */
static bool proves_sent(enum phase from, enum phase to)
{
    if (from != PHASE_PLANNED && from != PHASE_SENT && from != PHASE_UNKNOWN)
        return false;
    bool refused = from == PHASE_SENT && to == PHASE_REJECTED;
    return to == PHASE_ACCEPTED || to == PHASE_LOST || BIT(to) & ENDED || refused;
}

void run_move(struct sched *s, struct now now, struct run *r, enum phase to)
{
    /* our bug: better a restart and recovery than a false ledger */
    assert(phase_may(r->phase, to) && wait_fits((enum wait)r->wait, to));
    enum phase from = r->phase;
    run_set_phase(s, r, to);
    r->since_ms = now.boot_ms;
    if (phase_open(to))
        run_see(s, r, now.wall_ms);
    if (proves_sent(from, to))
        run_dirty(s, r)->sent = true;
    if (to != PHASE_PLANNED && to != PHASE_WITHDRAWN && kind_of_schedule((enum kind)r->kind) &&
        r->scheduled_ms > s->sent_until_ms)
        s->sent_until_ms = r->scheduled_ms; /* sent, or rejected or skipped in place of that */
}

/* ---- the pending change ---------------------------------------------------------------------- */

struct run_change *run_dirty(struct sched *s, struct run *r)
{
    if (!r->pending) {
        r->pending = mem_new(sizeof(*r->pending));
        r->pending->log_id = r->log_id;
        r->pending->kind = (enum kind)r->kind;
    }
    if (!list_linked(&r->dirty))
        list_push(&s->lazy, &r->dirty);
    r->pending->phase = r->phase;
    r->pending->doubted = r->flags & RUN_DOUBTED;
    r->pending->what |= CHANGE_PHASE;
    return r->pending;
}

struct run_change *run_soon(struct sched *s, struct run *r)
{
    struct run_change *c = run_dirty(s, r);
    list_remove(&r->dirty);
    list_push(&s->dirty, &r->dirty);
    want_batch_soon(s);
    return c;
}

struct run_change *run_urgent(struct sched *s, struct run *r)
{
    struct run_change *c = run_soon(s, r);
    want_batch(s);
    return c;
}

void run_readdress(struct sched *s, struct run *r, struct lane *lane)
{
    lane->refs++;
    list_remove(&r->of_lane);
    count_out(r, -1);
    if (r->lane) {
        r->reroutes = once_more(r->reroutes);
        lane_put(s, r->lane);
    }
    r->lane = lane;
    list_push(&lane->runs, &r->of_lane);
    count_out(r, 1);
    struct run_change *c = run_urgent(s, r);
    free(c->address);
    c->address = mem_dup(lane->address);
    c->what |= CHANGE_ADDRESS;
    run_wait_for(s, r, WAIT_ADDRESS);
}

void run_renew(struct sched *s, struct run *r)
{
    struct run_text *t = r->text;
    struct run_change *c = run_urgent(s, r);
    free(t->handler);
    t->handler = NULL;
    if (kind_of_schedule((enum kind)r->kind)) {
        free(t->param);
        t->param = NULL;
    }
    free(c->handler);
    free(c->param);
    c->handler = mem_dup(r->job->def->handler);
    c->param = mem_dup(run_param(r));
    c->what |= CHANGE_TASK;
    r->flags |= RUN_RENEWING;
}

struct story run_story(const struct run *r)
{
    bool of_run = r->kind == KIND_RETRY || r->kind == KIND_PARENT;
    struct story story = { .due_ms = r->due_ms,
                           .scheduled_ms = r->scheduled_ms,
                           .cause = of_run ? r->cause : 0,
                           .attempt = r->attempt,
                           .reroutes = r->reroutes,
                           .doubts = r->doubts,
                           .queries = r->queries,
                           .resent = r->flags & RUN_RESENT };
    for (int i = 0; i < STORY_TIMES; i++)
        story.at_us[i] = i < STORY_OF_LIVE ? r->at_us[i] : STORY_UNKNOWN;
    return story;
}

int64_t run_group(const struct run *r)
{
    return r->text && r->text->group_id ? r->text->group_id : r->job->def->group_id;
}

int64_t run_log_time(const struct run *r)
{
    return run_log_ms(r->flags & RUN_SCHEDULED_LOG ? KIND_CRON : (enum kind)r->kind,
                      r->scheduled_ms, r->due_ms);
}

void run_note_trigger(struct sched *s, struct run *r, int code, const char *msg)
{
    struct run_change *c = run_dirty(s, r);
    c->what |= CHANGE_TRIGGER;
    c->trigger_code = code;
    if (msg) {
        free(c->trigger_msg);
        c->trigger_msg = mem_dup(msg);
    }
}

bool run_overdue(struct now now, const struct run *r)
{
    int64_t waited = now.boot_ms - r->since_ms, late = now.wall_ms - r->due_ms;
    return (late < waited ? late : waited) > r->job->def->start_deadline_ms;
}
