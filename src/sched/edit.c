/* SPDX-License-Identifier: Apache-2.0 */
/* edit.c - what a user's edit does to runs that are planned but have not left.
 *
 * Memory knows what is unsent, the disk knows what the job was: so the runs that an edit may take
 * are held out of the timer heap first, the edit's own transaction decides which of them go and
 * plans what the new definition wants in their place (ledger), and only then the user is
 * answered. The others, and all if the edit is refused, come back.
 *
 * An edit that another server has made comes the same way (EDIT_JOB_SYNC, asked for in share.c). It
 * takes whatever the schedule wanted and has not left; the transaction reads what the job is now.
 */
#include "sched/edit.h"
#include "sched/broadcast.h"
#include "sched/dispatch.h"
#include "sched/end.h"
#include "sched/group.h"
#include "sched/job.h"
#include "sched/kill.h"
#include "sched/outbox.h"
#include "sched/result.h"
#include "sched/run.h"
#include "sched/state.h"
#include <stdlib.h>

/* Stop takes planned firings and waiting retries, deletion everything. What an update takes is
 * planned again: a firing of the schedule can be, what a missed one became cannot. */
static bool may_take(enum edit_kind kind, const struct run *r)
{
    switch (kind) {
    case EDIT_JOB_DELETE:
        return true;
    case EDIT_JOB_STOP:
    case EDIT_JOB_SYNC:
        return r->flags & RUN_SCHEDULED;
    case EDIT_JOB_UPDATE:
    case EDIT_JOB_START:
        return r->kind == KIND_CRON;
    default:
        return false;
    }
}

static bool unsent(const struct run *r)
{
    return r->phase == PHASE_PLANNED && !(r->flags & RUN_CLOSED);
}

static struct run_change taken(struct now now, const struct edit *e, const struct run *r)
{
    struct run_change c = { 0 };
    const char *reason = e->kind == EDIT_JOB_DELETE ? "the job was deleted"
                         : e->kind == EDIT_JOB_STOP ? "the job was stopped"
                         : e->kind == EDIT_JOB_SYNC ? "the job was changed at another server"
                                                    : "the job was changed";
    return *change_withdrawn(&c, r, now.wall_ms, PHASE_WITHDRAWN, reason);
}

/* A deleted job's runs that are out: they count as finished, their log rows go with the job. LOST
 * ones have been counted already. */
static struct run_change ended_with_job(struct sched *s, struct now now, struct run *r)
{
    if (r->pending) /* what it went through until now is written with the edit, not dropped with it
                     */
        run_urgent(s, r);
    if (r->phase == PHASE_LOST) /* has ended, and is counted */
        return (struct run_change){ .log_id = r->log_id,
                                    .what = CHANGE_PHASE | CHANGE_CLOSE,
                                    .phase = PHASE_LOST };
    struct run_change c = { .log_id = r->log_id,
                            .sent = r->phase == PHASE_SENT || r->phase == PHASE_UNKNOWN,
                            .what = CHANGE_PHASE | CHANGE_FINISH | CHANGE_CLOSE | CHANGE_ALARM,
                            .phase = PHASE_KILLED,
                            .handle_code = 500,
                            .handle_ms = now.wall_ms,
                            .handle_msg = mem_dup("the job was deleted") };
    run_note_end(now, &c, r, PHASE_KILLED);
    return c;
}

static void hold(struct sched *s, struct run *r)
{
    if (unsent(r))
        run_wait_for(s, r, WAIT_EDIT);
    else
        r->flags |= RUN_ENDING;
}

/* Runs of which the edit's transaction must know: those that it takes, and those of the schedule,
 * which belong to the new version if it leaves them. */
static void note(struct sched *s, struct now now, struct edit *e, struct run *r)
{
    struct edit_run x = { .log_id = r->log_id,
                          .scheduled_ms = r->scheduled_ms,
                          .version = r->version,
                          .kind = (enum kind)r->kind };
    if (unsent(r) && may_take(e->kind, r))
        x.change = taken(now, e, r);
    else if (e->kind == EDIT_JOB_DELETE)
        x.change = ended_with_job(s, now, r);
    else if (!phase_open(r->phase) || !(r->flags & RUN_SCHEDULED || r->kind == KIND_RETRY))
        return;
    else
        e->waits |= r->flags & RUN_SCHEDULED;
    if (r->kind == KIND_MISFIRE && r->scheduled_ms > e->sent_until_ms)
        e->sent_until_ms = r->scheduled_ms;
    x.by_hand = !(r->flags & RUN_SCHEDULED);
    if (x.change.what)
        hold(s, r);
    x.whole = x.change.what == CHANGE_DROP;
    array_push(e->runs, e->nruns, x);
}

static int by_scheduled(const void *a, const void *b)
{
    const struct edit_run *x = a, *y = b;
    if (x->scheduled_ms != y->scheduled_ms)
        return x->scheduled_ms < y->scheduled_ms ? -1 : 1;
    return x->log_id < y->log_id ? -1 : x->log_id > y->log_id;
}

/* A firing of several shards can be planned again only if all of them are there and none has left:
 * shards that are gone from memory have left and ended. */
static void find_whole(struct sched *s, struct edit *e)
{
    for (int i = 0, end; i < e->nruns; i = end) {
        int unsent_shards = 0;
        for (end = i; end < e->nruns && e->runs[end].scheduled_ms == e->runs[i].scheduled_ms; end++)
            unsent_shards += e->runs[end].kind == KIND_CRON && e->runs[end].whole;
        for (int k = i; k < end; k++) {
            const struct run *r = run_find(s, e->runs[k].log_id);
            e->runs[k].whole &= r->kind == KIND_CRON && r->shard_total == unsent_shards;
        }
    }
}

/* A missed firing is planned again with the edit's own batch, and no update takes it. */
static bool missed_anew(const struct sched *s, const struct live_job *j)
{
    const struct batch *b = s->next;
    for (int i = 0; j->anew_seq == s->seq && i < b->nspawns; i++)
        if (b->spawns[i].job_id == j->id && b->spawns[i].kind == KIND_MISFIRE)
            return true;
    return false;
}

void edit_prepare(struct sched *s, struct now now, struct edit *e)
{
    if (e->kind > EDIT_JOB_DELETE || e->kind == EDIT_JOB_INSERT)
        return;
    e->sent_until_ms = now.wall_ms > s->sent_until_ms ? now.wall_ms : s->sent_until_ms;
    e->plan_until_ms = now.wall_ms + s->config.horizon_ms;
    struct live_job *j = job_live(s, e->id);
    if (!j)
        return;
    e->waits = missed_anew(s, j);
    list_each(&j->runs, n, tmp)
    {
        struct run *r = container_of(n, struct run, of_job);
        e->waits |= run_retries(r);
        if (!(r->flags & RUN_CLOSED) && !run_held(r))
            note(s, now, e, r);
    }
    if (e->nruns)
        qsort(e->runs, (size_t)e->nruns, sizeof(*e->runs), by_scheduled);
    find_whole(s, e);
}

static void release(struct sched *s, struct now now, struct run *r)
{
    if (r->wait == WAIT_EDIT)
        run_leave(s, r);
    r->flags &= ~(uint32_t)RUN_ENDING;
    kill_settle(s, now, r);
    if (r->flags & RUN_CLOSED)
        return;
    if (r->phase == PHASE_PLANNED)
        run_wait_due(s, r);
    else if (phase_open(r->phase) && r->wait != WAIT_CALL && r->wait != WAIT_ROUND)
        run_wait_ms(s, now, r, 0);
    results_again(s, now, r->log_id);
}

static void drop_held(struct sched *s, struct now now, struct run *r)
{
    int64_t cause = r->kind == KIND_RETRY ? r->cause : 0;
    flight_told(&s->flight, r->place_of_word, r->log_id, s->seq); /* the edit wrote its end */
    run_release_cause(s, now, r);
    r->flags |= RUN_CLOSED;
    run_leave(s, r);
    run_reconciled(r);
    r->flags |= RUN_WRITTEN;
    if (r->wait != WAIT_CALL) /* else it goes when the call ends */
        run_free(s, r);
    if (cause)
        results_again(s, now, cause);
}

static void edit_run_done(struct sched *s, struct now now, const struct edit *e,
                          const struct edit_run *x)
{
    struct run *r = run_find(s, x->log_id);
    if (!r)
        return;
    if (!e->err && e->now && x->stays)
        r->version = e->now->version;
    if (!run_held(r))
        return;
    if (e->err || x->stays)
        release(s, now, r);
    else
        drop_held(s, now, r);
}

/* What an update leaves goes where the job's group and route say now: none of these runs was held.
 * Shards keep their addresses once one has left; before that the firing is planned again. */
static void move_runs(struct sched *s, const struct edit *e, struct live_job *j)
{
    list_each(&j->runs, node, tmp)
    {
        struct run *r = container_of(node, struct run, of_job);
        if (run_open(r) && r->version < e->now->version)
            dispatch_moved(s, r);
    }
}

/* While runs were held nothing of their firings was planned again, and what the edit has planned
 * in their place is by the lists that the batch began with. */
static void look_at_broadcasts(struct sched *s, struct now now, const struct live_job *j)
{
    struct run **shards = NULL;
    int n = 0;
    list_each(&j->runs, node, tmp)
    {
        struct run *r = container_of(node, struct run, of_job);
        if (r->flags & RUN_BROADCAST && r->shard == 0)
            array_push(shards, n, r);
    }
    for (int i = 0; i < n; i++)
        broadcast_check(s, now, shards[i]);
    free(shards);
}

/* The other server has deleted the job: all that is left of it ends with the next batch. Until then
 * nothing leaves. */
static void end_all(struct sched *s, const struct live_job *j)
{
    struct edit *e = edit_new(EDIT_JOB_DELETE);
    e->id = j->id;
    e->version = -1;
    e->gone = true;
    array_push(s->next->edits, s->next->nedits, e);
    want_batch(s);
}

/* What is in memory belongs to this version now. */
static void told(struct sched *s, const struct edit *e, struct live_job *j)
{
    if (e->kind == EDIT_JOB_SYNC && e->err == ERR_NOTFOUND) {
        end_all(s, j);
        return;
    }
    if (e->kind == EDIT_JOB_SYNC || e->gone)
        j->syncing = false;
    if (e->err)
        return;
    j->told = e->now ? e->now->version : VERSION_DELETED;
    if (e->kind == EDIT_JOB_SYNC && j->news > j->told) /* what was said is not older than the row */
        j->news = j->told;
}

/* What could not leave meanwhile. */
static void let_go(struct sched *s, const struct live_job *j)
{
    list_each(&j->runs, node, tmp)
    {
        struct run *r = container_of(node, struct run, of_job);
        if (r->wait != WAIT_WATERMARK)
            continue;
        run_leave(s, r);
        run_wait_due(s, r);
    }
}

static void edit_runs(struct sched *s, struct now now, struct edit *e)
{
    struct live_job *j = job_live(s, e->id);
    if (!j)
        return;
    j->deleted |= !e->err && e->kind == EDIT_JOB_DELETE;
    if (!e->err && e->now)
        job_define(j, e->now);
    told(s, e, j);
    j->nruns++; /* keeps it through the loop */
    if (!e->err && e->now && e->moved)
        move_runs(s, e, j);
    for (int i = 0; i < e->nruns; i++)
        edit_run_done(s, now, e, &e->runs[i]);
    look_at_broadcasts(s, now, j);
    if (e->kind == EDIT_JOB_SYNC)
        let_go(s, j);
    j->nruns--;
    if (!e->err) /* withdrawn, and its scheduled time is not planned again */
        job_delay(s, now, j);
    job_settle(s, j);
}

void edit_done(struct sched *s, struct now now, struct edit *e)
{
    switch (e->kind) {
    case EDIT_JOB_UPDATE:
    case EDIT_JOB_START:
    case EDIT_JOB_STOP:
    case EDIT_JOB_SYNC:
    case EDIT_JOB_DELETE:
        edit_runs(s, now, e);
        s->replan = true;
        break;
    case EDIT_JOB_INSERT:
        s->replan = true;
        break;
    case EDIT_GROUP_INSERT:
    case EDIT_GROUP_UPDATE:
        if (!e->err)
            group_set(s, &e->group);
        groups_refresh(s, now);
        break;
    case EDIT_GROUP_DELETE:
        if (!e->err)
            group_gone(s, e->id);
        break;
    }
    e->done_boot_ms = now.boot_ms;
    struct action *a = action_new(s, ACTION_EDITED);
    a->edit = e;
}

/* ---- asked before ----------------------------------------------------------------------------
 */

void sched_withdrawn(const struct sched *s, int64_t job_id, enum edit_kind kind,
                     struct sched_withdrawn *ret)
{
    const struct live_job *j = map_find(&s->jobs, (uint64_t)job_id);
    *ret = (struct sched_withdrawn){ 0 };
    if (!j)
        return;
    list_each(&j->runs, n, tmp)
    {
        const struct run *r = container_of(n, struct run, of_job);
        if (!unsent(r))
            ret->open += phase_open(r->phase) && r->phase != PHASE_PLANNED;
        else if (may_take(kind, r) && r->kind == KIND_RETRY)
            ret->retries++;
        else
            ret->firings += may_take(kind, r);
    }
}
