/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - the life of a run: one function changes the phase, one ends it.
 *
 * What a run goes through is merged into its pending change until the writer takes it; so a short
 * run costs one update, however many phases it passed. */
#include "sched/state.h"
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

/* ---- birth and death --------------------------------------------------------------------------
 */

struct live_job *job_live(struct sched *s, int64_t id)
{
    return map_find(&s->jobs, (uint64_t)id);
}

void job_define(struct live_job *j, struct job *def)
{
    bool same = strcmp(def->param, j->def->param) == 0;
    list_each(&j->runs, n, tmp)
    {
        struct run *r = container_of(n, struct run, of_job);
        if (same || (r->text && r->text->param))
            continue;
        if (!r->text)
            r->text = mem_new(sizeof(*r->text));
        r->text->param = mem_dup(j->def->param);
    }
    job_ref(def);
    job_unref(j->def);
    j->def = def;
}

static struct live_job *job_enter(struct sched *s, struct job *def)
{
    struct live_job *j = job_live(s, def->id);
    if (!j) {
        j = mem_new(sizeof(*j));
        j->id = def->id;
        j->def = job_ref(def);
        list_init(&j->runs);
        list_init(&j->probes);
        map_set(&s->jobs, (uint64_t)j->id, j);
    } else if (def->version > j->def->version) {
        job_define(j, def);
    }
    return j;
}

void job_settle(struct sched *s, struct live_job *j)
{
    if (j->nruns)
        return;
    probes_orphan(j);
    list_remove(&j->broadcast);
    map_take(&s->jobs, (uint64_t)j->id);
    job_unref(j->def);
    free(j);
}

static struct run_text *text_of(const struct run_row *row, const struct job *def)
{
    bool own = row->param && strcmp(row->param, def->param) != 0;
    if (!own && !row->choices)
        return NULL;
    struct run_text *t = mem_new(sizeof(*t));
    t->param = own ? mem_dup(row->param) : NULL;
    t->choices = mem_dup(row->choices);
    return t;
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
    r->text = text_of(row, def);
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
    }
    list_push(&r->job->runs, &r->of_job);
    r->job->nruns++;
    s->nphase[r->phase]++;
    s->stats.live++;
    map_set(&s->runs, (uint64_t)r->log_id, r);
    return r;
}

void run_free(struct sched *s, struct run *r)
{
    run_unlink(s, r);
    kill_forget(s, r);
    list_remove(&r->dirty);
    list_remove(&r->of_job);
    list_remove(&r->of_lane);
    map_take(&s->runs, (uint64_t)r->log_id);
    s->nphase[r->phase]--;
    s->stats.live--;
    if (r->lane)
        lane_put(s, r->lane);
    if (r->text) {
        free(r->text->param);
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

/* ---- moves ------------------------------------------------------------------------------------
 */

void run_unlink(struct sched *s, struct run *r)
{
    heap_remove(r->flags & RUN_IN_WAITS ? &s->waits : &s->due, &r->timer.entry);
    r->flags &= ~(uint32_t)(RUN_IN_WAITS | RUN_PROBING);
    if (!list_linked(&r->place))
        return;
    list_remove(&r->place);
    if (r->flags & RUN_QUEUED)
        r->lane->nqueue--;
    r->flags &= ~(uint32_t)RUN_QUEUED;
}

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
    if (!phase_may(r->phase, to))
        __builtin_trap(); /* our bug: better a restart and recovery than a false ledger */
    enum phase from = r->phase;
    s->nphase[from]--;
    s->nphase[to]++;
    r->phase = (uint8_t)to;
    r->since_ms = now.boot_ms;
    if (proves_sent(from, to))
        run_dirty(s, r)->sent = true;
    bool of_schedule = r->kind == KIND_CRON || r->kind == KIND_MISFIRE;
    if (to != PHASE_PLANNED && to != PHASE_WITHDRAWN && of_schedule &&
        r->scheduled_ms > s->sent_until_ms)
        s->sent_until_ms = r->scheduled_ms; /* sent, or rejected or skipped in place of that */
}

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

struct run_change *run_urgent(struct sched *s, struct run *r)
{
    struct run_change *c = run_dirty(s, r);
    list_remove(&r->dirty);
    list_push(&s->dirty, &r->dirty);
    s->wanted = true;
    return c;
}

void run_set_lane(struct sched *s, struct run *r, struct lane *lane)
{
    lane->refs++;
    list_remove(&r->of_lane);
    if (r->lane)
        lane_put(s, r->lane);
    r->lane = lane;
    list_push(&lane->runs, &r->of_lane);
    struct run_change *c = run_urgent(s, r);
    free(c->address);
    c->address = mem_dup(lane->address);
    c->what |= CHANGE_ADDRESS;
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

static void note_finish(struct sched *s, struct now now, struct run *r, int code, const char *msg,
                        int64_t took_ms)
{
    struct run_change *c = run_dirty(s, r);
    c->what |= CHANGE_FINISH;
    c->handle_code = code;
    c->handle_ms = now.wall_ms;
    c->took_ms = took_ms;
    free(c->handle_msg);
    c->handle_msg = mem_dup(msg ? msg : "");
}

static void close_row(struct sched *s, struct run *r)
{
    run_unlink(s, r);
    reconcile_stop(s, r);
    r->flags |= RUN_CLOSED;
    run_urgent(s, r)->what |= CHANGE_CLOSE;
}

/* ---- ends -------------------------------------------------------------------------------------
 */

void job_started(struct run *r)
{
    struct live_job *j = r->job;
    if (r->sent_ms <= j->started_sent_ms || !r->lane)
        return; /* log ids are no order: a retry's is older than its send */
    j->started_sent_ms = r->sent_ms;
    j->started_lane = r->lane->id;
}

struct run *retry_of(const struct run *r)
{
    list_each(&r->job->runs, n, tmp)
    {
        struct run *other = container_of(n, struct run, of_job);
        if (other->kind == KIND_RETRY && other->cause == r->log_id)
            return other;
    }
    return NULL;
}

void spawn_add(struct sched *s, const struct spawn *spawn)
{
    array_push(s->next->spawns, s->next->nspawns, *spawn);
    s->wanted = true;
}

/* delay x backoff^attempt, at most a day, with a fifth of jitter so that a storm spreads. */
static int64_t retry_delay(struct sched *s, const struct run *r)
{
    double delay = (double)r->job->def->retry_delay_ms;
    for (int i = 0; i < r->attempt && delay < 86400000; i++)
        delay *= r->job->def->retry_backoff;
    if (delay > 86400000)
        delay = 86400000;
    int64_t ms = (int64_t)delay;
    return ms + dice_below(&s->dice, (uint32_t)(ms / 5 + 1));
}

/* Is the job still one whose failures are tried again? Stop takes waiting retries along. */
static bool wants_retry(const struct run *r)
{
    const struct live_job *j = r->job;
    bool stopped = j->deleted || (r->flags & RUN_SCHEDULED && !j->def->enabled && !j->def->ended);
    return r->retries_left > 0 && !stopped;
}

static void spawn_retry(struct sched *s, struct now now, struct run *r)
{
    struct spawn again = {
        .job_id = r->job->id,
        .kind = KIND_RETRY,
        .scheduled_ms = r->scheduled_ms,
        .due_ms = now.wall_ms + retry_delay(s, r),
        .cause = r->log_id,
        .version = r->job->def->version,
        .attempt = r->attempt + 1,
        .retries_left = r->retries_left - 1,
        .param = mem_dup(run_param(r)),
        .hops = r->hops,
        .scheduled = r->flags & RUN_SCHEDULED,
    };
    if (r->flags & RUN_BROADCAST && r->shard_total > 0) {
        again.shard = r->shard;
        again.shard_total = r->shard_total;
    }
    spawn_add(s, &again);
}

static void spawn_children(struct sched *s, struct now now, const struct run *r)
{
    for (int i = 0; i < r->job->def->nchildren; i++) {
        int64_t child = r->job->def->children[i];
        if (child == r->job->id)
            continue; /* as the original since 2.5 */
        struct spawn spawn = {
            .job_id = child,
            .kind = KIND_PARENT,
            .scheduled_ms = now.wall_ms,
            .due_ms = now.wall_ms,
            .cause = r->log_id,
            .retries_left = -1,
            .hops = r->hops + 1,
        };
        spawn_add(s, &spawn);
    }
}

bool run_retries(const struct run *r)
{
    return r->flags & RUN_RETRYING && r->flags & RUN_SCHEDULED && !(r->flags & RUN_WRITTEN);
}

bool job_is_out(const struct sched *s, const struct live_job *j)
{
    if (j->anew_seq == s->seq)
        return true;
    list_each(&j->runs, n, tmp)
    {
        const struct run *r = container_of(n, struct run, of_job);
        bool open = !(r->flags & RUN_CLOSED) && phase_open(r->phase);
        if (run_retries(r) || (open && r->flags & RUN_SCHEDULED))
            return true;
    }
    return false;
}

void job_delay(struct sched *s, struct now now, const struct live_job *j)
{
    if (j->def->schedule.type != SCHEDULE_FIX_DELAY || j->deleted || job_is_out(s, j))
        return;
    struct delay d = { j->id, now.wall_ms };
    array_push(s->next->delays, s->next->ndelays, d);
    s->wanted = true;
}

static void settle_delay(struct sched *s, struct now now, const struct run *r)
{
    if (r->flags & RUN_SCHEDULED)
        job_delay(s, now, r->job);
}

static enum total total_of(enum phase p)
{
    switch (p) {
    case PHASE_REJECTED:
    case PHASE_UNROUTABLE:
        return TOTAL_REJECTED;
    case PHASE_LOST:
        return TOTAL_LOST;
    case PHASE_SKIPPED:
        return TOTAL_SKIPPED;
    case PHASE_WITHDRAWN:
        return TOTAL_WITHDRAWN;
    default:
        return TOTAL_FINISHED;
    }
}

static bool failed(enum phase p)
{
    return p != PHASE_SUCCEEDED;
}

void run_finish(struct sched *s, struct now now, struct run *r, enum phase to, int code,
                const char *msg)
{
    bool was_lost = r->phase == PHASE_LOST;
    int64_t took_ms = now.boot_ms - r->since_ms;
    bool rejected = to == PHASE_REJECTED || to == PHASE_UNROUTABLE;
    run_unlink(s, r);
    run_move(s, now, r, to);
    if (rejected)
        run_note_trigger(s, r, code, msg);
    else
        note_finish(s, now, r, code, msg, took_ms);
    if (!rejected && !was_lost) /* a result proves that it was accepted */
        run_note_trigger(s, r, 200, NULL);
    if (failed(
            to)) /* in the update that makes it a failure: no other admin may find it unclaimed */
        run_dirty(s, r)->what |= CHANGE_ALARM;
    else
        run_dirty(s, r)->what &= ~(unsigned)CHANGE_ALARM;
    s->next->totals.n[total_of(to)]++;
    s->next->totals.n[TOTAL_FOUND] += was_lost;
    bool again = failed(to) && !was_lost && wants_retry(r);
    if (again) {
        spawn_retry(s, now, r);
        r->flags |= RUN_RETRYING;
    }
    if (to == PHASE_SUCCEEDED)
        spawn_children(s, now, r);
    if (!again)
        settle_delay(s, now, r);
    run_release_cause(s, now, r);
    if (to != PHASE_LOST) {
        close_row(s, r);
        return;
    }
    reconcile_stop(s, r);
    run_urgent(s, r);
    if (!again)
        wait_until(s, r, now.boot_ms + s->config.lost_keep_ms);
}

void run_release_cause(struct sched *s, struct now now, const struct run *retry)
{
    struct run *cause =
        retry->kind == KIND_RETRY ? map_find(&s->runs, (uint64_t)retry->cause) : NULL;
    if (cause && cause->phase == PHASE_LOST && !(cause->flags & RUN_CLOSED))
        wait_until(s, cause, now.boot_ms + s->config.lost_keep_ms);
}

void run_close_lost(struct sched *s, struct run *r)
{
    if (!(r->flags & RUN_CLOSED))
        close_row(s, r);
}

struct run_change *change_withdrawn(struct run_change *c, const struct run *r, int64_t now_ms,
                                    enum phase to, const char *reason)
{
    c->log_id = r->log_id;
    c->phase = to;
    c->doubted = r->flags & RUN_DOUBTED;
    if (!c->doubted) {
        c->what = CHANGE_DROP;
        return c;
    }
    char text[160];
    snprintf(text, sizeof(text), "%s: %s", phase_text(to), reason);
    c->what = CHANGE_PHASE | CHANGE_TRIGGER | CHANGE_FINISH | CHANGE_CLOSE | CHANGE_ALARM;
    c->trigger_code = 500;
    c->handle_code = 500;
    c->handle_ms = now_ms;
    c->handle_msg = mem_dup(text);
    return c;
}

void run_forget(struct sched *s, struct now now, struct run *r, enum phase to, const char *reason)
{
    run_unlink(s, r);
    run_move(s, now, r, to);
    reconcile_stop(s, r);
    struct run_change *c = run_urgent(s, r);
    run_change_done(c);
    change_withdrawn(c, r, now.wall_ms, to, reason);
    r->flags |= RUN_CLOSED;
    s->next->totals.n[total_of(to)]++;
    run_release_cause(s, now, r);
}

void run_withdraw(struct sched *s, struct now now, struct run *r, enum phase to, const char *reason)
{
    run_forget(s, now, r, to, reason);
    settle_delay(s, now, r);
}
