/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c - the rules of jobs: what an edit makes of the row, and of the runs that are planned.
 *
 * An update that leaves the schedule alone leaves what is planned alone, too. One that changes it
 * goes back to the latest scheduled time that may have left, and plans from there. */
#include "base/mem.h"
#include "ledger/internal.h"
#include <limits.h>
#include <stdlib.h>

#define REACH_MS 30000 /* beyond the watermarks: no server looks so far ahead */

/* Only what recurs waits for what another program may have planned. */
static int64_t begins_ms(const struct txn *t, const struct job *j)
{
    bool recurs = j->schedule.type == SCHEDULE_CRON || j->schedule.type == SCHEDULE_FIX_RATE;
    return t->b->now_ms + (recurs ? t->store->start_ahead_ms : 0);
}

/* First scheduled time by the record's schedule from now on; ERR_INVALID says why there is none. */
static enum err first_scheduled(struct txn *t, struct job_record *r, struct why *why)
{
    struct job *j = planner_keep(t->planner, r);
    int64_t next = j->fault ? NEVER_MS : plan_first(j, begins_ms(t, j));
    enum err err = OK;
    if (j->fault) {
        why_set(why, "%s", j->fault);
        err = ERR_INVALID;
    } else if (j->schedule.type == SCHEDULE_NONE) {
        why_set(why, "schedule type NONE has no scheduled times: the job can only be triggered");
        err = ERR_INVALID;
    } else if (next == NEVER_MS) {
        why_set(why, "the schedule has no scheduled time from now on");
        err = ERR_INVALID;
    } else {
        r->next_ms = next;
    }
    planner_forget(t->planner, r->id);
    return err;
}

static enum err job_insert(struct txn *t, struct edit *e)
{
    e->job.version = 1;
    e->job.added_ms = e->job.updated_ms = e->job.glue_updated_ms = t->b->now_ms;
    e->job.next_ms = NEVER_MS;
    enum err err = groups_there(t, e->job.group_id, &e->why);
    if (!err && e->job.enabled)
        err = first_scheduled(t, &e->job, &e->why);
    if (!err)
        err = t->ops->catalog->job_insert(t->store, &e->job, &e->why);
    if (!err)
        err = homes_written(t, e->job.id, &e->why);
    e->id = e->job.id;
    return err;
}

/* The row as it is, for an edit that changes part of it. */
static enum err job_row(struct txn *t, struct edit *e, struct job_record *ret)
{
    job_record_init(ret);
    return t->ops->catalog->job_get(t->store, e->id, ret, &e->why);
}

/* What an edit changes of that which a planned row was made of. */
struct difference {
    bool when;  /* the scheduled times, or the job is started: planned from now on */
    bool where; /* the executors */
    bool what;  /* anything of the row, its address with it */
};

static struct difference difference(const struct job_record *a, const struct job_record *b)
{
    unsigned changes = job_record_changes(a, b);
    return (struct difference){
        .when = changes & JOB_CHANGES_TIMES,
        .where = changes & JOB_CHANGES_EXECUTORS,
        .what = changes & (JOB_CHANGES_EXECUTORS | JOB_CHANGES_RUN),
    };
}

static bool has_scheduled(const struct job *j, int64_t scheduled_ms)
{
    int64_t next;
    bool calendar = j->schedule.type == SCHEDULE_CRON || j->schedule.type == SCHEDULE_ONCE;
    return calendar && schedule_next(&j->schedule, scheduled_ms - 1, &next) == OK &&
           next == scheduled_ms;
}

/* Beyond the bound the new schedule is planned anew, whether it changed here or at another server
 * (EDIT_JOB_SYNC: the bound is what that one has planned already). */
bool jobs_goes_on(const struct edit *e, int64_t scheduled_ms, bool anew)
{
    return !anew || (scheduled_ms <= e->sent_until_ms && has_scheduled(e->now, scheduled_ms));
}

/* An edit at another server, of which nothing was known here, has planned the new schedule up to
 * there: but for this row, which it found in its place. */
static bool stands(const struct edit *e, const struct job_record *r, int64_t scheduled_ms)
{
    return scheduled_ms <= r->planned_until_ms && has_scheduled(e->now, scheduled_ms);
}

/* Is the scheduled time of the run one of the job as it is now, which this run is for? Where
 * another server may have planned it as well: it is not if that one has caught up on it, which is a
 * run of another kind, that this row was not in the way of. *ret_parted: other shards of the firing
 * are there; they were planned with this row in its place, and it is not planned again. */
static enum err goes_on(struct txn *t, const struct edit *e, const struct job_record *r,
                        const struct edit_run *x, bool unheard, bool anew, bool *ret,
                        bool *ret_parted)
{
    struct firing elsewhere = { .scheduled_ms = x->scheduled_ms, .but = e };
    enum err err = OK;
    *ret = x->kind != KIND_CRON ||
           (unheard ? stands(e, r, x->scheduled_ms) : jobs_goes_on(e, x->scheduled_ms, anew));
    bool shared = unheard || e->kind == EDIT_JOB_SYNC;
    if (*ret && x->kind == KIND_CRON && shared && x->scheduled_ms < t->b->now_ms)
        err = firing_look(t, e->id, &elsewhere);
    *ret = *ret && !elsewhere.caught_up;
    *ret_parted = elsewhere.found;
    return err;
}

/* Which runs an update or start leaves, under the new version; those that it takes although their
 * scheduled times stand are planned again. */
static enum err sort_runs(struct txn *t, struct edit *e, const struct job_record *r, int64_t before,
                          struct difference d)
{
    int64_t planned_ms = INT64_MIN;
    for (int i = 0; i < e->nruns; i++) {
        struct edit_run *x = &e->runs[i];
        bool sync = e->kind == EDIT_JOB_SYNC;
        bool unheard = !sync && t->store->shared && x->version < before;
        if (x->version != before && !x->by_hand && !unheard && !sync)
            continue; /* an earlier edit has overtaken it */
        if (sync && x->version >= e->now->version) {
            x->stays = true;
            continue;
        }
        bool on, parted;
        enum err err = goes_on(t, e, r, x, unheard, d.when, &on, &parted);
        if (err)
            return err;
        bool same = x->kind != KIND_CRON || !(x->whole ? d.what : d.where);
        x->stays = on && (same || parted);
        if (on && !x->stays && x->whole && x->scheduled_ms != planned_ms) {
            planned_ms = x->scheduled_ms; /* once for all shards */
            plan_scheduled(t->planner, e->now, planned_ms, t->b->now_ms, &t->rows);
            txn_rows_of(t, e->now, NULL);
        }
    }
    return OK;
}

static enum err run_leave(struct txn *t, const struct edit *e, const struct edit_run *x)
{
    struct run_change c = { .log_id = x->log_id,
                            .what = CHANGE_VERSION,
                            .version = e->now->version };
    int64_t missed; /* another program has ended it */
    return t->ops->runs->runs_change(t->store, &c, 1, &missed, &t->b->why);
}

static enum err run_take(struct txn *t, struct edit_run *x)
{
    int64_t missed;
    t->totals.n[TOTAL_SENT] += x->change.sent;
    if (x->change.phase == PHASE_WITHDRAWN)
        t->totals.n[TOTAL_WITHDRAWN]++;
    else if (x->change.phase != PHASE_LOST) /* LOST is counted when it is found */
        t->totals.n[TOTAL_FINISHED]++;
    enum err err = alarms_change(t, &x->change, 1, &missed);
    if (!err)
        txn_end(t, &x->change);
    return err;
}

static enum err runs_edit(struct txn *t, struct edit *e)
{
    enum err err = OK;
    for (int i = 0; !err && i < e->nruns; i++) {
        struct edit_run *x = &e->runs[i];
        if (x->stays)
            err = run_leave(t, e, x);
        else if (x->change.what)
            err = run_take(t, x);
    }
    return err;
}

/* Was the latest scheduled time that may have left sent by a clock that has gone back? Other
 * servers have gone on while this batch waited for the database. */
static bool clock_went_back(const struct txn *t, const struct edit *e)
{
    return e->sent_until_ms > e->plan_until_ms + t->b->waited_ms;
}

/* A new schedule counts from the latest scheduled time that may have left: what was decided beyond
 * it is undone. A rate has no calendar: what was sent by a clock that has gone back does not bind
 * it. */
static void unplan(const struct txn *t, struct job_record *r, const struct edit *e, bool rate)
{
    int64_t until = e->sent_until_ms;
    if (rate && clock_went_back(t, e))
        until = t->b->now_ms;
    if (until < r->planned_until_ms)
        r->planned_until_ms = until;
    if (r->last_ms > r->planned_until_ms)
        r->last_ms = r->planned_until_ms;
}

static bool is_rate(const struct job_record *r)
{
    return same_text(r->schedule_type, "FIX_RATE") || same_text(r->schedule_type, "FIX_DELAY");
}

/* Write the row; e->now is the job from here on. */
static enum err job_write(struct txn *t, struct edit *e, struct job_record *r)
{
    r->version++;
    r->updated_ms = t->b->now_ms;
    enum err err = t->ops->catalog->job_update(t->store, r, &e->why);
    if (!err)
        err = homes_written(t, r->id, &e->why);
    planner_forget(t->planner, r->id);
    if (!err)
        e->now = job_ref(planner_keep(t->planner, r));
    return err;
}

static bool is_planned(const struct txn *t, int64_t job_id, int64_t scheduled_ms)
{
    for (int i = 0; i < t->rows.n; i++)
        if (t->rows.rows[i].job_id == job_id && t->rows.rows[i].scheduled_ms == scheduled_ms)
            return true;
    return false;
}

/* ONCE has no other scheduled time. If that lies within what is decided already (the clock has gone
 * back, or the center has just started), the bound would hide it for good, so the log is asked
 * whether the job has had it. */
static enum err hidden_moment(struct txn *t, const struct edit *e, int64_t scheduled_ms)
{
    if (is_planned(t, e->id, scheduled_ms))
        return OK;
    struct firing firing = { .scheduled_ms = scheduled_ms };
    enum err err = firing_look(t, e->id, &firing);
    if (err || firing.found || firing.caught_up)
        return err;
    plan_scheduled(t->planner, e->now, scheduled_ms, t->b->now_ms, &t->rows);
    txn_rows_of(t, e->now, NULL);
    return OK;
}

/* The scheduled times of a job that was started, or whose schedule has changed: those up to the
 * horizon become rows in this transaction, so that none is late or lost for the edit's sake.
 * FIX_DELAY counts from the end of what is out. */
static enum err job_begin(struct txn *t, struct edit *e, const struct job_record *r,
                          int64_t reach_ms)
{
    struct due_row due = job_due(r);
    struct plan_result planned;
    bool hidden = e->now->schedule.type == SCHEDULE_ONCE && due.next_ms <= due.planned_until_ms;
    bool reached = due.planned_until_ms >= reach_ms;
    int64_t until_ms = reach_ms > e->plan_until_ms ? reach_ms : e->plan_until_ms;
    if (due.next_ms > until_ms && !hidden && reached)
        return OK;
    enum err err = hidden ? hidden_moment(t, e, due.next_ms) : OK;
    if (!err)
        err = txn_plan_job(t, &due, until_ms, reached ? t->b->plan_max_rows : INT_MAX, &planned);
    if (!err)
        err = txn_plan_notes(t);
    if (err)
        return err;
    if (planned.due.planned_until_ms < reach_ms && !planned.more)
        planned.due.planned_until_ms = reach_ms;
    homes_of(t, &planned.due, 1);
    return t->ops->runs->due_put(t->store, &planned.due, 1, &t->b->why);
}

/* ---- among other servers ---------------------------------------------------------------------
 */

static bool life_look(void *ctx, const struct life_record *l)
{
    struct edit *e = ctx;
    if (l->watermark_ms > e->sent_until_ms)
        e->sent_until_ms = l->watermark_ms;
    return true;
}

static bool out_look(void *ctx, const struct untold *u)
{
    struct edit *e = ctx;
    e->waits |= u->out > 0;
    return true;
}

/* What others may have sent of the job, up to their watermarks, and whether FIX_DELAY waits for
 * something there. */
static enum err others_look(struct txn *t, struct edit *e, const struct job_record *r)
{
    const struct store_cluster *ops = t->ops->cluster;
    int64_t node, epoch;
    if (!t->store->shared || !ops)
        return OK;
    ops->life(t->store, &node, &epoch);
    enum err err = ops->lives_each(t->store, LIVES_MAX, life_look, e, &t->b->why);
    if (!err && same_text(r->schedule_type, "FIX_DELAY"))
        err = ops->runs_untold(t->store, r->id, VERSION_DELETED, epoch, out_look, e, &t->b->why);
    return err;
}

/* Up to where rows of the schedule as it was may stand that another server has not sent yet. What
 * is not planned in their presence would be planned once they have been sent and have ended, so the
 * edit plans all of it. INT64_MIN: there are none. FIX_DELAY has one run at a time; what lies
 * further ahead is of a clock that has gone back. */
static int64_t others_reach(const struct txn *t, const struct edit *e, const struct job_record *r)
{
    bool far =
        r->planned_until_ms - e->sent_until_ms > REACH_MS || (is_rate(r) && clock_went_back(t, e));
    if (!t->store->shared || far || same_text(r->schedule_type, "FIX_DELAY"))
        return INT64_MIN;
    return r->planned_until_ms;
}

/* A rate may have forgotten what was sent by a clock that has gone back; the calendar that takes
 * its place must not: it may have been the job's before. */
static enum err job_change(struct txn *t, struct edit *e, struct job_record *r, struct difference d,
                           bool was_rate)
{
    int64_t before = r->version;
    enum err err = others_look(t, e, r);
    if (err)
        return err;
    e->anew = d.when;
    e->moved = d.where;
    if (d.when && was_rate && !is_rate(r) && r->planned_until_ms < e->sent_until_ms)
        r->planned_until_ms = e->sent_until_ms;
    int64_t reach_ms = others_reach(t, e, r);
    if (d.when && r->enabled) {
        const struct job *j = planner_keep(t->planner, r);
        unplan(t, r, e, is_rate(r));
        if (j->schedule.type == SCHEDULE_FIX_DELAY && e->waits)
            r->next_ms = NEVER_MS;
    }
    err = job_write(t, e, r);
    if (err)
        return err;
    err = sort_runs(t, e, r, before, d);
    if (!err)
        err = runs_edit(t, e);
    if (!err && d.when && r->enabled && r->next_ms != NEVER_MS)
        err = job_begin(t, e, r, reach_ms);
    return err;
}

/* A job whose last scheduled time is planned is stopped already; its schedule goes on while that
 * scheduled time has not come. Its rows may be on their way: planned again with this batch. */
static bool has_unsent(const struct txn *t, const struct edit *e)
{
    for (int i = 0; i < e->nruns; i++)
        if (e->runs[i].change.what)
            return true;
    for (int i = 0; i < t->b->nspawns; i++)
        if (t->b->spawns[i].job_id == e->id && t->b->spawns[i].kind == KIND_CRON)
            return true;
    return false;
}

/* What users do not set stays as the row has it. */
static enum err job_merge(struct txn *t, struct edit *e, const struct job_record *old,
                          struct difference *ret)
{
    struct job_record *r = &e->job;
    e->was_group_id = old->group_id;
    r->id = e->id;
    r->enabled = old->enabled;
    r->added_ms = old->added_ms;
    r->version = old->version;
    r->planned_until_ms = old->planned_until_ms;
    r->last_ms = old->last_ms;
    r->next_ms = old->next_ms;
    if (!r->glue_updated_ms)
        r->glue_updated_ms = old->glue_updated_ms;
    free(r->stop_reason);
    r->stop_reason = mem_dup(old->stop_reason);
    *ret = difference(old, r);
    return r->group_id != old->group_id ? groups_there(t, r->group_id, &e->why) : OK;
}

static enum err job_update(struct txn *t, struct edit *e)
{
    struct job_record old;
    enum err err = job_row(t, e, &old);
    if (!err && e->version >= 0 && e->version != old.version)
        err = overtaken(e, "job");
    if (err)
        goto out;
    struct job_record *r = &e->job;
    struct difference d;
    err = job_merge(t, e, &old, &d);
    if (!err && d.when && !r->enabled && r->stop_reason && has_unsent(t, e)) {
        r->enabled = true;
        free(r->stop_reason);
        r->stop_reason = NULL;
    }
    if (!err && d.when && r->enabled)
        err = first_scheduled(t, r, &e->why);
    if (!err)
        err = job_change(t, e, r, d, is_rate(&old));
out:
    job_record_done(&old);
    return err;
}

static enum err job_stop(struct txn *t, struct edit *e, struct job_record *r, struct difference d)
{
    e->anew = true;
    e->moved = d.where;
    enum err err = others_look(t, e, r);
    if (err)
        return err;
    if (!t->store->shared) /* else rows of others may stand: a start sets it back */
        unplan(t, r, e, false);
    err = job_write(t, e, r);
    for (int i = 0; !err && i < e->nruns; i++)
        e->runs[i].stays = e->runs[i].by_hand;
    return err ? err : runs_edit(t, e);
}

static enum err job_switch_to(struct txn *t, struct edit *e, const struct job_record *old,
                              struct job_record *r, struct difference d)
{
    enum err err = OK;
    r->enabled = e->kind == EDIT_JOB_START;
    r->next_ms = NEVER_MS;
    free(r->stop_reason);
    r->stop_reason = NULL;
    if (!r->enabled)
        return job_stop(t, e, r, d);
    d.when = true;
    err = first_scheduled(t, r, &e->why);
    return err ? err : job_change(t, e, r, d, is_rate(old));
}

static enum err job_switch(struct txn *t, struct edit *e)
{
    struct job_record old;
    struct difference d = { false, false, false };
    enum err err = job_row(t, e, &old);
    if (!err && e->version >= 0 && e->version != old.version)
        err = overtaken(e, "job");
    if (!err && e->whole)
        err = job_merge(t, e, &old, &d);
    if (!err)
        err = job_switch_to(t, e, &old, e->whole ? &e->job : &old, d);
    job_record_done(&old);
    return err;
}

/* A deletion may say the version that it was decided on, as an update does. */
static enum err still_at_version(struct txn *t, struct edit *e)
{
    struct job_record r;
    enum err err = job_row(t, e, &r);
    e->was_group_id = r.group_id;
    if (!err && e->version >= 0 && r.version != e->version)
        err = overtaken(e, "job");
    job_record_done(&r);
    return err;
}

static enum err job_delete(struct txn *t, struct edit *e)
{
    if (e->gone)
        return runs_edit(t, e);
    enum err err = still_at_version(t, e);
    if (err)
        return err;
    err = t->ops->catalog->job_delete(t->store, e->id, &e->why);
    if (err)
        return err;
    planner_forget(t->planner, e->id);
    return runs_edit(t, e);
}

/* ---- edits of others ------------------------------------------------------------------------- */

static int64_t oldest_version(const struct edit *e, int64_t now)
{
    int64_t oldest = now;
    for (int i = 0; i < e->nruns; i++)
        if (!e->runs[i].by_hand && e->runs[i].version < oldest)
            oldest = e->runs[i].version;
    return oldest;
}

/* The job as its row says, while nobody changes it, and whether its schedule has changed since
 * these runs were planned. */
static enum err sync_read(struct txn *t, struct edit *e, struct job_record *r)
{
    const struct store_cluster *ops = t->ops->cluster;
    e->anew = true;
    enum err err = ops ? ops->jobs_hold(t->store, &e->id, 1, &e->why) : OK;
    if (!err)
        err = job_row(t, e, r);
    if (!err && ops)
        err = ops->changes_anew(t->store, e->id, oldest_version(e, r->version), r->version,
                                &e->anew, &e->why);
    if (err)
        return err;
    planner_forget(t->planner, r->id);
    e->now = job_ref(planner_keep(t->planner, r));
    e->sent_until_ms = r->planned_until_ms;
    e->was_group_id = r->group_id;
    e->moved = true;
    return OK;
}

/* Another server has changed the job, and written the row. What of it is planned here goes with the
 * old version, unless the new one wants the same scheduled time: that server has found the row in
 * its place then, and planned none. Nothing else is planned here: that was done with the edit. */
static enum err job_sync(struct txn *t, struct edit *e)
{
    struct difference d = { .what = true };
    struct job_record r;
    job_record_init(&r);
    enum err err = sync_read(t, e, &r);
    if (!err && !r.enabled && !e->now->ended) {
        for (int i = 0; i < e->nruns; i++)
            e->runs[i].stays = e->runs[i].by_hand || e->runs[i].version >= r.version;
    } else if (!err) {
        d.when = e->anew;
        err = sort_runs(t, e, &r, r.version, d);
    }
    if (!err)
        err = runs_edit(t, e);
    if (!err && t->ops->cluster)
        err = t->ops->cluster->runs_told(t->store, e->id, r.version, &e->why);
    job_record_done(&r);
    return err;
}

enum err jobs_edit(struct txn *t, struct edit *e)
{
    switch (e->kind) {
    case EDIT_JOB_INSERT:
        return job_insert(t, e);
    case EDIT_JOB_UPDATE:
        return job_update(t, e);
    case EDIT_JOB_START:
    case EDIT_JOB_STOP:
        return job_switch(t, e);
    case EDIT_JOB_SYNC:
        return job_sync(t, e);
    case EDIT_JOB_DELETE:
        return job_delete(t, e);
    default:
        return ERR_INVALID;
    }
}
