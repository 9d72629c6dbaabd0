/* SPDX-License-Identifier: Apache-2.0 */
/* end.c - the end of a run: its columns and totals, and what follows from it: a retry, children,
 * FIX_DELAY's next scheduled time. */
#include "sched/end.h"
#include "sched/job.h"
#include "sched/run.h"
#include "sched/state.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- what follows ---------------------------------------------------------------------------- */

void spawn_add(struct sched *s, struct now now, const struct spawn *spawn)
{
    array_push(s->next->spawns, s->next->nspawns, *spawn);
    want_batch_soon(s);
    if (spawn->due_ms - now.wall_ms < NOT_SOON_MS)
        want_batch(s);
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

/* Of what it causes. */
static struct trace_root root_from(const struct run *r)
{
    const struct trace_root own = run_root(r);
    return trace_from(&own, r->log_id);
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
        .trace = root_from(r),
    };
    if (r->flags & RUN_BROADCAST && r->shard_total > 0) {
        again.shard = r->shard;
        again.shard_total = r->shard_total;
    }
    spawn_add(s, now, &again);
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
            .trace = root_from(r),
        };
        spawn_add(s, now, &spawn);
    }
}

static void settle_delay(struct sched *s, struct now now, const struct run *r)
{
    if (r->flags & RUN_SCHEDULED)
        job_delay(s, now, r->job);
}

/* ---- ends ------------------------------------------------------------------------------------ */

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

/* For the figures. An end that the disk has not seen yet counts as if it had not been. */
static void note_end(struct run_change *c, const struct run *r, enum phase to, int64_t took_ms,
                     int64_t late_ms)
{
    enum outcome was = r->phase == PHASE_LOST ? OUTCOME_LOST : OUTCOME_NONE;
    c->end = (struct run_end){ .log_id = r->log_id,
                               .job_id = r->job->id,
                               .group_id = run_group(r),
                               .log_ms = run_log_time(r),
                               .took_ms = took_ms > 0 ? took_ms : 0,
                               .late_ms = late_ms > 0 ? late_ms : 0,
                               .shard = r->shard,
                               .attempt = r->attempt,
                               .was = c->end.now ? c->end.was : was,
                               .now = phase_outcome(to) };
}

/* Boot time at which it left; 0: it has not, or another life of the center has sent it. */
static int64_t left_ms(const struct run *r)
{
    return r->phase == PHASE_PLANNED ? 0 : r->sent_ms;
}

void run_note_end(struct now now, struct run_change *c, const struct run *r, enum phase to)
{
    int64_t left = left_ms(r), waited = now.wall_ms - r->due_ms;
    int64_t took = left ? now.boot_ms - left : waited;
    bool ran = outcome_has_result(phase_outcome(to));
    note_end(c, r, to, ran ? took : 0, left ? waited - took : ran ? 0 : waited);
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

/* In the update that makes it a failure: no other admin may find it unclaimed. */
static void claim_alarm(struct run_change *c, const struct run *r)
{
    c->what |= CHANGE_ALARM;
    if (!c->job && !r->job->deleted)
        c->job = job_ref(r->job->def);
}

static void note_story(struct now now, struct run_change *c, const struct run *r, enum phase to)
{
    struct story story = run_story(r);
    if (!story_kept(&story, to, (enum kind)r->kind, r->log_id))
        return;
    if (!c->story)
        c->story = mem_new(sizeof(*c->story));
    story_note_ms(&story, STORY_ENDED, now.wall_ms);
    *c->story = story;
}

static void close_row(struct sched *s, struct run *r)
{
    run_leave(s, r);
    run_reconciled(r);
    r->flags |= RUN_CLOSED;
    run_soon(s, r)->what |= CHANGE_CLOSE;
}

static bool by_hand(const struct run *r)
{
    return r->kind == KIND_MANUAL || r->kind == KIND_API;
}

void run_finish(struct sched *s, struct now now, struct run *r, enum phase to, int code,
                const char *msg)
{
    bool was_lost = r->phase == PHASE_LOST;
    int64_t took_ms = now.boot_ms - r->since_ms;
    bool rejected = to == PHASE_REJECTED || to == PHASE_UNROUTABLE;
    bool ours = !(r->flags & RUN_ELSEWHERE);
    run_leave(s, r);
    run_note_end(now, run_dirty(s, r), r, to);
    run_move(s, now, r, to);
    if (rejected)
        run_note_trigger(s, r, code, msg);
    else
        note_finish(s, now, r, code, msg, took_ms);
    if (!rejected && !was_lost) /* a result proves that it was accepted */
        run_note_trigger(s, r, 200, NULL);
    note_story(now, run_dirty(s, r), r, to);
    if (failed(to) && ours)
        claim_alarm(run_dirty(s, r), r);
    else
        run_dirty(s, r)->what &= ~(unsigned)CHANGE_ALARM;
    s->next->totals.n[total_of(to)]++;
    s->next->totals.n[TOTAL_FOUND] += was_lost;
    bool again = failed(to) && !was_lost && ours && wants_retry(r);
    if (again) {
        spawn_retry(s, now, r);
        r->flags |= RUN_RETRYING;
    }
    if (to == PHASE_SUCCEEDED && ours)
        spawn_children(s, now, r);
    if (!again)
        settle_delay(s, now, r);
    run_release_cause(s, now, r);
    if (by_hand(r)) /* a user looks on */
        want_batch(s);
    if (to != PHASE_LOST) {
        close_row(s, r);
        return;
    }
    run_reconciled(r);
    run_soon(s, r);
    if (!again)
        run_wait_ms(s, now, r, s->config.lost_keep_ms);
}

void run_refuse(struct sched *s, struct now now, struct run *r, enum phase to, const char *why)
{
    s->stats.refused++;
    run_finish(s, now, r, to, 500, why);
}

void run_release_cause(struct sched *s, struct now now, const struct run *retry)
{
    struct run *cause = run_retried(s, (enum kind)retry->kind, retry->cause);
    if (cause && cause->phase == PHASE_LOST && !(cause->flags & RUN_CLOSED))
        run_wait_ms(s, now, cause, s->config.lost_keep_ms);
}

void run_close_lost(struct sched *s, struct run *r)
{
    if (!(r->flags & RUN_CLOSED))
        close_row(s, r);
}

/* ---- never ran ------------------------------------------------------------------------------- */

struct run_change *change_withdrawn(struct run_change *c, const struct run *r, int64_t now_ms,
                                    enum phase to, const char *reason)
{
    note_end(c, r, to, 0, 0);
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
    run_leave(s, r);
    run_move(s, now, r, to);
    run_reconciled(r);
    struct run_change *c = run_soon(s, r);
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

bool run_withdraw_outdated(struct sched *s, struct now now, struct run *r)
{
    if (!run_outdated(r))
        return false;
    run_withdraw(s, now, r, PHASE_WITHDRAWN, "the job was changed");
    return true;
}
