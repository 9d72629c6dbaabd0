/* SPDX-License-Identifier: Apache-2.0 */
/* edit.c - what a user's edit does to runs that are planned but have not left.
 *
 * Memory knows what is unsent, not the disk: the runs are held out of the ring first, go in the
 * edit's own transaction, and only then the user is answered. If the edit is refused they come
 * back. */
#include "sched/state.h"
#include <stdlib.h>
#include <string.h>

static bool of_schedule(const struct run *r)
{
    return r->kind == KIND_CRON || r->kind == KIND_MISFIRE;
}

/* Stop takes planned firings and waiting retries; an update what the new definition plans anew;
 * deletion everything. */
static bool taken_by(const struct edit *e, const struct run *r)
{
    switch (e->kind) {
    case EDIT_JOB_DELETE:
        return true;
    case EDIT_JOB_STOP:
        return of_schedule(r) || (r->kind == KIND_RETRY && r->flags & RUN_SCHEDULED);
    case EDIT_JOB_UPDATE:
    case EDIT_JOB_START:
        return of_schedule(r);
    default:
        return false;
    }
}

static bool unsent(const struct run *r)
{
    return r->phase == PHASE_PLANNED && !(r->flags & (RUN_CALLING | RUN_CLOSED));
}

static void hold(struct sched *s, struct moment_now now, struct edit *e, struct run *r)
{
    run_unlink(s, r);
    r->flags |= RUN_HELD;
    r->flags &= ~(uint32_t)RUN_PROBING;
    struct run_change c = { 0 };
    const char *reason = e->kind == EDIT_JOB_DELETE ? "the job was deleted"
                         : e->kind == EDIT_JOB_STOP ? "the job was stopped"
                                                    : "the job was changed";
    array_push(e->withdraw, e->nwithdraw,
               *change_withdrawn(&c, r, now.wall_ms, PHASE_WITHDRAWN, reason));
    if (r->kind == KIND_CRON && !(r->flags & RUN_DOUBTED) && r->moment_ms < e->withdrawn_from_ms)
        e->withdrawn_from_ms = r->moment_ms;
}

/* A deleted job's runs that are out: they count as finished, their log rows go with the job. LOST
 * ones have been counted already. */
static void end_with_job(struct sched *s, struct moment_now now, struct edit *e, struct run *r)
{
    if (r->pending) /* what it went through until now is written with the edit, not dropped with it
                     */
        run_urgent(s, r);
    struct run_change c = { .log_id = r->log_id,
                            .sent = r->phase == PHASE_SENT || r->phase == PHASE_UNKNOWN,
                            .what = CHANGE_PHASE | CHANGE_FINISH | CHANGE_CLOSE | CHANGE_ALARM,
                            .phase = r->phase == PHASE_LOST ? PHASE_LOST : PHASE_KILLED,
                            .handle_code = 500,
                            .handle_ms = now.wall_ms,
                            .handle_msg = mem_dup("the job was deleted") };
    if (r->phase == PHASE_LOST) { /* has ended, and is counted */
        free(c.handle_msg);
        c = (struct run_change){ .log_id = r->log_id,
                                 .what = CHANGE_PHASE | CHANGE_CLOSE,
                                 .phase = PHASE_LOST };
    }
    r->flags |= RUN_HELD;
    array_push(e->withdraw, e->nwithdraw, c);
}

/* The latest moment of the job that was not withdrawn. Of runs that are gone already it is only
 * known that none served a later moment than any run of this center has, nor one behind those that
 * are withdrawn now. Not simply "before the withdrawn ones": what the new schedule wants between
 * now and them would be lost. */
static int64_t served_until(const struct sched *s, const struct live_job *j, int64_t withdrawn_ms)
{
    int64_t gone = withdrawn_ms - 1 < s->served_until_ms ? withdrawn_ms - 1 : s->served_until_ms;
    return gone > j->served_until_ms ? gone : j->served_until_ms;
}

void edit_prepare(struct sched *s, struct moment_now now, struct edit *e)
{
    struct live_job *j = job_live(s, e->id);
    if (!j || e->kind > EDIT_JOB_DELETE || e->kind == EDIT_JOB_INSERT)
        return;
    list_each(&j->runs, n, tmp)
    {
        struct run *r = container_of(n, struct run, of_job);
        if (r->flags & (RUN_CLOSED | RUN_HELD))
            continue;
        if (unsent(r) && taken_by(e, r))
            hold(s, now, e, r);
        else if (e->kind == EDIT_JOB_DELETE)
            end_with_job(s, now, e, r);
        if (r->phase == PHASE_SENT && run_binds(r) && r->moment_ms > j->served_until_ms)
            j->served_until_ms = r->moment_ms;
    }
    for (int i = 0; i < s->next->nspawns;
         i++) { /* a broadcast being laid anew is planned as well */
        const struct spawn *again = &s->next->spawns[i];
        if (again->job_id == e->id && again->kind == KIND_CRON &&
            again->moment_ms < e->withdrawn_from_ms)
            e->withdrawn_from_ms = again->moment_ms;
    }
    e->served_until_ms = served_until(s, j, e->withdrawn_from_ms);
}

static void release(struct sched *s, struct moment_now now, struct run *r)
{
    r->flags &= ~(uint32_t)RUN_HELD;
    kill_settle(s, now, r);
    if (r->flags & RUN_CLOSED)
        return;
    if (r->phase == PHASE_PLANNED)
        fire_plan(s, r);
    else if (phase_open(r->phase) && !(r->flags & RUN_CALLING))
        ask_soon(s, now, r, 0);
    results_again(s, now, r->log_id);
}

static void drop_held(struct sched *s, struct moment_now now, struct run *r)
{
    int64_t cause = r->kind == KIND_RETRY ? r->cause : 0;
    flight_told(&s->flight, r->place_of_word, r->log_id, s->seq); /* the edit wrote its end */
    run_release_cause(s, now, r);
    r->flags |= RUN_CLOSED;
    run_unlink(s, r);
    ask_stop(s, r);
    r->flags |= RUN_WRITTEN;
    if (!(r->flags & RUN_CALLING)) /* else it goes when the call ends */
        run_free(s, r);
    if (cause)
        results_again(s, now, cause);
}

static void edit_runs(struct sched *s, struct moment_now now, struct edit *e)
{
    struct live_job *j = job_live(s, e->id);
    if (!j)
        return;
    j->deleted |= !e->err && e->kind == EDIT_JOB_DELETE;
    int64_t before = j->def->version;
    if (!e->err && e->now && e->now->version > j->def->version) {
        job_unref(j->def);
        j->def = job_ref(e->now);
    }
    j->nruns++; /* keeps it through the loop */
    list_each(&j->runs, n, tmp)
    {
        struct run *r = container_of(n, struct run, of_job);
        if (r->flags & RUN_HELD) {
            if (e->err)
                release(s, now, r);
            else
                drop_held(s, now, r);
        } else if (!e->err && e->now && !taken_by(e, r) && r->version == before) {
            r->version = e->now->version; /* asked for by hand or by a run: stays wanted */
        }
    }
    j->nruns--;
    if (!e->err) /* withdrawn in doubt, its moment is not planned again */
        job_delay(s, now, j);
    job_settle(s, j);
}

void edit_done(struct sched *s, struct moment_now now, struct edit *e)
{
    switch (e->kind) {
    case EDIT_JOB_UPDATE:
    case EDIT_JOB_START:
    case EDIT_JOB_STOP:
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
            directory_group(s, &e->group);
        directory_refresh(s, now);
        break;
    case EDIT_GROUP_DELETE:
        if (!e->err)
            directory_group_gone(s, e->id);
        break;
    default:
        break;
    }
    struct action *a = action_new(s, ACTION_EDITED);
    a->edit = e;
}
