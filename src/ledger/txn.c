/* SPDX-License-Identifier: Apache-2.0 */
/* txn.c - what a transaction is made of, in the order that batch.h gives.
 *
 * Every total is changed here or comes with the batch, so that planned - ended = live holds after
 * each commit. An edit that the store refuses (not found, exists, invalid) leaves no trace and
 * takes nothing else down; any other failure ends the whole transaction. */
#include "ledger/txn.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_JOBS 500 /* jobs of one planning slice */

struct txn {
    struct store *store;
    const struct store_ops *ops;
    struct planner *planner;
    struct batch *b;
    struct list *writes;
    struct totals totals;
    struct plan_rows rows; /* planned, not yet inserted */
    struct job **jobs;     /* of each row, borrowed from the planner until they are counted */
    const struct spawn **spawns;
    int njobs;
};

/* ---- jobs -------------------------------------------------------------------------------------
 */

/* The parsed job at this version; ERR_NOTFOUND if the row is gone. Borrowed from the planner. */
static enum err job_at(struct txn *t, int64_t id, int64_t version, struct job **ret)
{
    struct job *j = version >= 0 ? planner_find(t->planner, id, version) : NULL;
    if (!j) {
        struct job_record r;
        job_record_init(&r);
        enum err err = t->ops->job_get(t->store, id, &r, &t->b->why);
        if (err)
            return err;
        j = planner_keep(t->planner, &r);
        job_record_done(&r);
    }
    *ret = j;
    return OK;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* Note who asked for the rows that were appended since the last call. */
static void rows_of(struct txn *t, struct job *j, const struct spawn *spawn)
{
    if (t->rows.n == t->njobs)
        return;
    t->jobs = mem_resize(t->jobs, (size_t)t->rows.n * sizeof(*t->jobs));
    t->spawns = mem_resize(t->spawns, (size_t)t->rows.n * sizeof(*t->spawns));
    for (; t->njobs < t->rows.n; t->njobs++) {
        t->jobs[t->njobs] = job_ref(j);
        t->spawns[t->njobs] = spawn;
    }
}

/* Insert all rows that were planned; they become the batch's planned. */
static enum err rows_add(struct txn *t)
{
    struct batch *b = t->b;
    enum err err = t->ops->runs_add(t->store, t->rows.rows, t->rows.n, &b->why);
    if (err)
        return err;
    b->planned =
        mem_resize(b->planned, ((size_t)b->nplanned + (size_t)t->rows.n + 1) * sizeof(*b->planned));
    for (int i = 0; i < t->rows.n; i++) {
        if (t->rows.rows[i].log_id < 0) { /* exists already */
            run_row_done(&t->rows.rows[i]);
            job_unref(t->jobs[i]);
            continue;
        }
        b->planned[b->nplanned++] = (struct planned){ t->rows.rows[i], t->jobs[i], t->spawns[i] };
        t->totals.n[TOTAL_PLANNED]++;
        struct spawn *spawn = (struct spawn *)t->spawns[i];
        if (spawn && !spawn->log_id)
            spawn->log_id = t->rows.rows[i].log_id;
    }
    t->rows.n = t->njobs = 0;
    return OK;
}

static void rows_drop(struct txn *t)
{
    for (int i = 0; i < t->njobs; i++)
        job_unref(t->jobs[i]);
    plan_rows_done(&t->rows);
    free(t->jobs);
    free(t->spawns);
}

/* Plan the job's scheduled times up to until_ms. */
static enum err job_planned(struct txn *t, const struct due_row *due, int64_t until_ms,
                            struct plan_result *ret)
{
    struct job *j;
    enum err err = job_at(t, due->job_id, due->version, &j);
    if (err == ERR_NOTFOUND) { /* a due row without a job: another program deleted the job */
        *ret = (struct plan_result){ .due = *due };
        ret->due.next_ms = NEVER_MS;
        why_clear(&t->b->why);
        return OK;
    }
    if (err)
        return err;
    plan_job(t->planner, j, due, t->b->now_ms, until_ms, t->b->plan_max_rows, &t->rows, ret);
    rows_of(t, j, NULL);
    if (ret->stop)
        err = t->ops->job_stop(t->store, due->job_id, ret->stop, t->b->now_ms, &t->b->why);
    if (!err && ret->skip.count)
        err = t->ops->skips_add(t->store, &ret->skip, 1, &t->b->why);
    return err;
}

/* ---- edits ------------------------------------------------------------------------------------
 */

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* First scheduled time by the record's schedule from now on; ERR_INVALID says why there is none. */
static enum err first_scheduled(struct txn *t, struct job_record *r, struct why *why)
{
    struct job *j = planner_keep(t->planner, r);
    int64_t next = j->fault ? NEVER_MS : plan_first(j, t->b->now_ms);
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

/* Whoever asked has looked, but on another snapshot: the group may have been deleted since. */
static enum err group_there(struct txn *t, int64_t id, struct why *why)
{
    struct group_record g = { 0 };
    enum err err = t->ops->group_get(t->store, id, &g, why);
    group_record_done(&g);
    if (err != ERR_NOTFOUND)
        return err;
    why_clear(why);
    why_set(why, "jobGroup: there is no group %lld", (long long)id);
    return ERR_INVALID;
}

static enum err job_insert(struct txn *t, struct edit *e)
{
    e->job.version = 1;
    e->job.added_ms = e->job.updated_ms = e->job.glue_updated_ms = t->b->now_ms;
    e->job.next_ms = NEVER_MS;
    enum err err = group_there(t, e->job.group_id, &e->why);
    if (!err && e->job.enabled)
        err = first_scheduled(t, &e->job, &e->why);
    if (!err)
        err = t->ops->job_insert(t->store, &e->job, &e->why);
    e->id = e->job.id;
    return err;
}

/* The row as it is, for an edit that changes part of it. */
static enum err job_row(struct txn *t, struct edit *e, struct job_record *ret)
{
    job_record_init(ret);
    return t->ops->job_get(t->store, e->id, ret, &e->why);
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

/* Does the firing of this moment belong to the job as it is now? What lies beyond all that has left
 * is planned by the new schedule in any case. */
static bool goes_on(const struct edit *e, int64_t scheduled_ms, struct difference d)
{
    return !d.when || (scheduled_ms <= e->sent_until_ms && has_scheduled(e->now, scheduled_ms));
}

/* Which runs an update or start leaves, under the new version; those that it takes although their
 * scheduled times stand are planned again. */
static void sort_runs(struct txn *t, struct edit *e, int64_t before, struct difference d)
{
    int64_t planned_ms = INT64_MIN;
    for (int i = 0; i < e->nruns; i++) {
        struct edit_run *x = &e->runs[i];
        if (x->version != before) /* an earlier edit has overtaken it */
            continue;
        bool on = x->kind != KIND_CRON || goes_on(e, x->scheduled_ms, d);
        bool same = x->kind != KIND_CRON || !(x->whole ? d.what : d.where);
        x->stays = on && same;
        if (on && !same && x->whole && x->scheduled_ms != planned_ms) {
            planned_ms = x->scheduled_ms; /* once for all shards */
            plan_scheduled(t->planner, e->now, planned_ms, t->b->now_ms, &t->rows);
            rows_of(t, e->now, NULL);
        }
    }
}

static enum err run_leave(struct txn *t, const struct edit *e, const struct edit_run *x)
{
    struct run_change c = { .log_id = x->log_id,
                            .what = CHANGE_VERSION,
                            .version = e->now->version };
    return t->ops->runs_change(t->store, &c, 1, &t->b->why);
}

static enum err run_take(struct txn *t, struct edit_run *x)
{
    t->totals.n[TOTAL_SENT] += x->change.sent;
    if (x->change.phase == PHASE_WITHDRAWN)
        t->totals.n[TOTAL_WITHDRAWN]++;
    else if (x->change.phase != PHASE_LOST) /* LOST is counted when it is found */
        t->totals.n[TOTAL_FINISHED]++;
    return t->ops->runs_change(t->store, &x->change, 1, &t->b->why);
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

/* A new schedule counts from the latest scheduled time that may have left: what was decided beyond
 * it is undone. A rate has no calendar: what was sent by a clock that has gone back does not bind
 * it. */
static void unplan(const struct txn *t, struct job_record *r, const struct edit *e, bool rate)
{
    int64_t until = e->sent_until_ms;
    if (rate && until > e->plan_until_ms)
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
    enum err err = t->ops->job_update(t->store, r, &e->why);
    planner_forget(t->planner, r->id);
    if (!err)
        e->now = job_ref(planner_keep(t->planner, r));
    return err;
}

struct search { /* for a firing in the log */
    int64_t scheduled_ms;
    bool found;
};

/* The log knows the second of a run that has ended, and the instant of one that is live. */
static bool is_firing(void *ctx, const struct log_record *r)
{
    struct search *s = ctx;
    bool scheduled = r->kind == KIND_CRON || r->kind == KIND_MISFIRE || r->kind == KIND_COUNT;
    s->found |= scheduled && (!r->phase || r->scheduled_ms == s->scheduled_ms);
    return !s->found;
}

static bool laid_down(const struct txn *t, int64_t job_id, int64_t scheduled_ms)
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
    if (laid_down(t, e->id, scheduled_ms))
        return OK;
    int64_t second = scheduled_ms / 1000 * 1000, total;
    struct search search = { .scheduled_ms = scheduled_ms };
    const struct logs_filter f = {
        .job_id = e->id, .from_ms = second, .to_ms = second, .limit = INT32_MAX
    };
    enum err err = t->ops->logs_page(t->store, &f, is_firing, &search, &total, &t->b->why);
    if (err || search.found)
        return err;
    plan_scheduled(t->planner, e->now, scheduled_ms, t->b->now_ms, &t->rows);
    rows_of(t, e->now, NULL);
    return OK;
}

/* The scheduled times of a job that was started, or whose schedule has changed: those up to the
 * horizon become rows in this transaction, so that none is late or lost for the edit's sake.
 * FIX_DELAY counts from the end of what is out. */
static enum err job_begin(struct txn *t, struct edit *e, const struct job_record *r)
{
    struct due_row due = job_due(r);
    struct plan_result planned;
    bool hidden = e->now->schedule.type == SCHEDULE_ONCE && due.next_ms <= due.planned_until_ms;
    if (due.next_ms > e->plan_until_ms && !hidden)
        return OK;
    enum err err = hidden ? hidden_moment(t, e, due.next_ms) : OK;
    if (!err)
        err = job_planned(t, &due, e->plan_until_ms, &planned);
    return err ? err : t->ops->due_put(t->store, &planned.due, 1, &t->b->why);
}

/* A rate may have forgotten what was sent by a clock that has gone back; the calendar that takes
 * its place must not: it may have been the job's before. */
static enum err job_change(struct txn *t, struct edit *e, struct job_record *r, struct difference d,
                           bool was_rate)
{
    int64_t before = r->version;
    e->anew = d.when;
    e->moved = d.where;
    if (d.when && was_rate && !is_rate(r) && r->planned_until_ms < e->sent_until_ms)
        r->planned_until_ms = e->sent_until_ms;
    if (d.when && r->enabled) {
        const struct job *j = planner_keep(t->planner, r);
        unplan(t, r, e, is_rate(r));
        if (j->schedule.type == SCHEDULE_FIX_DELAY && e->waits)
            r->next_ms = NEVER_MS;
    }
    enum err err = job_write(t, e, r);
    if (err)
        return err;
    sort_runs(t, e, before, d);
    err = runs_edit(t, e);
    if (!err && d.when && r->enabled && r->next_ms != NEVER_MS)
        err = job_begin(t, e, r);
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

static enum err overtaken(struct edit *e, const char *what)
{
    why_set(&e->why, "%s %lld was changed at the same time by somebody else: try again", what,
            (long long)e->id);
    return ERR_OVERTAKEN;
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
    r->id = e->id;
    r->enabled = old.enabled;
    r->added_ms = old.added_ms;
    r->version = old.version;
    r->planned_until_ms = old.planned_until_ms;
    r->last_ms = old.last_ms;
    r->next_ms = old.next_ms;
    if (!r->glue_updated_ms)
        r->glue_updated_ms = old.glue_updated_ms;
    free(r->stop_reason);
    r->stop_reason = mem_dup(old.stop_reason);
    struct difference d = difference(&old, r);
    if (r->group_id != old.group_id)
        err = group_there(t, r->group_id, &e->why);
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

static enum err job_stop(struct txn *t, struct edit *e, struct job_record *r)
{
    int64_t before = r->version;
    unplan(t, r, e, false);
    enum err err = job_write(t, e, r);
    for (int i = 0; !err && i < e->nruns; i++)
        e->runs[i].stays = e->runs[i].by_hand && e->runs[i].version == before;
    return err ? err : runs_edit(t, e);
}

static enum err job_switch(struct txn *t, struct edit *e, bool on)
{
    struct job_record r;
    enum err err = job_row(t, e, &r);
    if (err)
        goto out;
    r.enabled = on;
    r.next_ms = NEVER_MS;
    free(r.stop_reason);
    r.stop_reason = NULL;
    if (on)
        err = first_scheduled(t, &r, &e->why);
    if (!err)
        err = on ? job_change(t, e, &r, (struct difference){ .when = true }, is_rate(&r))
                 : job_stop(t, e, &r);
out:
    job_record_done(&r);
    return err;
}

static enum err job_delete(struct txn *t, struct edit *e)
{
    enum err err = t->ops->job_delete(t->store, e->id, &e->why);
    if (err)
        return err;
    planner_forget(t->planner, e->id);
    return runs_edit(t, e);
}

static bool same_group(const struct group_record *a, const struct group_record *b)
{
    return same_text(a->app, b->app) && same_text(a->title, b->title) &&
           a->address_type == b->address_type &&
           (a->address_type == 0 || same_text(a->address_list, b->address_list));
}

/* The list of a group by registry is the registry's: it changes while somebody looks at a form. */
static enum err group_update(struct txn *t, struct edit *e)
{
    struct group_record old = { 0 };
    struct group_record *g = &e->group;
    enum err err = t->ops->group_get(t->store, e->id, &old, &e->why);
    if (!err && e->was.app && !same_group(&old, &e->was))
        err = overtaken(e, "group");
    if (!err && g->address_type == 0) {
        free(g->address_list);
        g->address_list = mem_dup(old.address_list);
    }
    group_record_done(&old);
    g->updated_ms = t->b->now_ms;
    return err ? err : t->ops->group_update(t->store, g, &e->why);
}

static bool count_group(void *ctx, const struct group_record *g)
{
    (void)g;
    ++*(int *)ctx;
    return true;
}

/* A group with jobs stays, and so does the last one, as the original has it. */
static enum err group_delete(struct txn *t, struct edit *e)
{
    int64_t jobs = 0, total = 0;
    int n = 0;
    struct groups_filter all = { .limit = 2 };
    enum err err = t->ops->group_jobs(t->store, e->id, &jobs, &e->why);
    if (!err)
        err = t->ops->groups_page(t->store, &all, count_group, &n, &total, &e->why);
    if (err)
        return err;
    if (jobs > 0) {
        why_set(&e->why, "group %lld has %lld jobs: delete them first", (long long)e->id,
                (long long)jobs);
        return ERR_INVALID;
    }
    struct group_record g = { 0 };
    err = t->ops->group_get(t->store, e->id, &g, &e->why);
    group_record_done(&g);
    if (!err && n < 2) {
        why_set(&e->why, "group %lld is the last one: it stays", (long long)e->id);
        err = ERR_INVALID;
    }
    return err ? err : t->ops->group_delete(t->store, e->id, &e->why);
}

static enum err edit_run(struct txn *t, struct edit *e)
{
    switch (e->kind) {
    case EDIT_JOB_INSERT:
        return job_insert(t, e);
    case EDIT_JOB_UPDATE:
        return job_update(t, e);
    case EDIT_JOB_START:
        return job_switch(t, e, true);
    case EDIT_JOB_STOP:
        return job_switch(t, e, false);
    case EDIT_JOB_DELETE:
        return job_delete(t, e);
    case EDIT_GROUP_INSERT:
        e->group.updated_ms = t->b->now_ms;
        enum err err = t->ops->group_insert(t->store, &e->group, &e->why);
        e->id = e->group.id;
        return err;
    case EDIT_GROUP_UPDATE:
        return group_update(t, e);
    case EDIT_GROUP_DELETE:
        return group_delete(t, e);
    }
    return ERR_INVALID;
}

static enum err edits_run(struct txn *t)
{
    for (int i = 0; i < t->b->nedits; i++) {
        struct edit *e = t->b->edits[i];
        why_clear(&e->why);
        job_unref(e->now);
        e->now = NULL;
        for (int k = 0; k < e->nruns; k++)
            e->runs[k].stays = false;
        e->err = edit_run(t, e);
        if (e->err && !ledger_refuses(e->err)) {
            why_set(&t->b->why, "%s", e->why.text);
            return e->err;
        }
    }
    return OK;
}

/* ---- what others ask for ------------------------------------------------------------------------
 */

/* A broadcast of the schedule that is planned again: an edit in the same batch decides about it as
 * about the rows that it replaces. */
static bool firing_goes_on(const struct txn *t, const struct spawn *s)
{
    for (int i = 0; i < t->b->nedits; i++) {
        const struct edit *e = t->b->edits[i];
        if (e->kind <= EDIT_JOB_DELETE && e->id == s->job_id && !e->err)
            return e->now && e->now->version == s->version + 1 && e->kind != EDIT_JOB_STOP &&
                   goes_on(e, s->scheduled_ms, (struct difference){ .when = e->anew });
    }
    return false;
}

/* Was the job changed after the scheduler asked for this, in a way that takes it back? */
static bool taken_back(const struct txn *t, const struct spawn *s, const struct job *j)
{
    if (!s->version || s->version >= j->version)
        return false;
    if (s->kind == KIND_CRON) /* planned anew by the new version */
        return !firing_goes_on(t, s);
    bool stopped = !j->enabled && !j->ended;
    return stopped && (s->kind == KIND_MISFIRE || (s->kind == KIND_RETRY && s->scheduled));
}

static enum err spawn_run(struct txn *t, struct spawn *s)
{
    struct job *j;
    s->log_id = 0;
    s->err = job_at(t, s->job_id, -1, &j);
    if (s->err)
        return ledger_refuses(s->err) ? OK : s->err;
    if (taken_back(t, s, j)) {
        s->err = ERR_NOTFOUND;
        return OK;
    }
    if ((s->kind == KIND_MANUAL || s->kind == KIND_API) && !s->cause) {
        enum err err = t->ops->seq_next(t->store, "request", &s->cause, &t->b->why);
        if (err)
            return err;
    }
    if (plan_choices(s->choices) > PLAN_CHOICES_MAX) {
        s->err = ERR_TOOBIG;
        return OK;
    }
    plan_spawn(t->planner, j, s, t->b->now_ms, &t->rows);
    rows_of(t, j, s);
    return OK;
}

static enum err spawns_run(struct txn *t)
{
    for (int i = 0; i < t->b->nspawns; i++) {
        enum err err = spawn_run(t, &t->b->spawns[i]);
        if (err)
            return err;
    }
    why_clear(&t->b->why);
    return OK;
}

/* FIX_DELAY: the next scheduled time counts from the end that has just come, of several from the
 * last. */
static enum err delays_run(struct txn *t)
{
    for (int i = t->b->ndelays - 1; i >= 0; i--) {
        const struct delay *d = &t->b->delays[i];
        struct job_record r;
        job_record_init(&r);
        enum err err = t->ops->job_get(t->store, d->job_id, &r, &t->b->why);
        if (!err && r.enabled && r.next_ms == NEVER_MS) {
            struct job *j = planner_keep(t->planner, &r);
            struct due_row due = { r.id, plan_first(j, d->end_ms), r.last_ms, r.planned_until_ms,
                                   r.version };
            if (due.next_ms <= due.planned_until_ms)
                due.next_ms = due.planned_until_ms + 1;
            if (j->schedule.type == SCHEDULE_FIX_DELAY)
                err = t->ops->due_put(t->store, &due, 1, &t->b->why);
        }
        job_record_done(&r);
        if (err && !ledger_refuses(err))
            return err;
        why_clear(&t->b->why);
    }
    return OK;
}

/* ---- planning -----------------------------------------------------------------------------------
 */

/* Jobs whose next scheduled time lies in [from_ms, until_ms], while there are fewer than max_rows.
 */
static enum err plan_range(struct txn *t, int64_t from_ms, int64_t until_ms, int max_rows)
{
    struct batch *b = t->b;
    struct due_row rows[SLICE_JOBS];
    int n = 0, done = 0;
    int64_t next_ms;
    enum err err =
        t->ops->due_take(t->store, from_ms, until_ms, SLICE_JOBS, rows, &n, &next_ms, &b->why);
    if (!err && next_ms > until_ms && next_ms < b->plan_next_ms)
        b->plan_next_ms = next_ms;
    b->plan_more |= n == SLICE_JOBS;
    for (; !err && done < n && t->rows.n < max_rows; done++) {
        struct plan_result r;
        err = job_planned(t, &rows[done], b->plan_until_ms, &r);
        if (err)
            break;
        rows[done] = r.due;
        b->plan_more |= r.more;
        if (r.due.next_ms < b->plan_next_ms)
            b->plan_next_ms = r.due.next_ms;
    }
    if (err)
        return err;
    b->plan_more |= done < n;
    b->njobs_planned += done;
    return t->ops->due_put(t->store, rows, done, &b->why);
}

/* What is due comes first, and what was missed has a quarter of a slice: after an outage neither
 * waits for the other to be through. */
static enum err plan_slice(struct txn *t)
{
    struct batch *b = t->b;
    int64_t behind_ms = planner_behind(t->planner, b->now_ms);
    planner_slice(t->planner);
    b->njobs_planned = 0;
    enum err err = plan_range(t, behind_ms, b->plan_until_ms, b->plan_max_rows);
    int most = t->rows.n + 1 + b->plan_max_rows / 4;
    return err ? err : plan_range(t, INT64_MIN, behind_ms - 1, most);
}

/* Where the sweep puts a job's next scheduled time; NEVER_MS: it stays as it is. */
static int64_t swept_to(const struct txn *t, const struct job *j, struct due_row *due)
{
    const struct batch *b = t->b;
    int64_t next = plan_first(j, b->now_ms);
    if (b->sweep == SWEEP_REBASE) {
        if (due->next_ms <= b->sweep_ms || next >= due->next_ms)
            return NEVER_MS; /* it waits that long by its interval */
        due->planned_until_ms = b->now_ms;
        return next;
    }
    if (next <= due->planned_until_ms)
        next = plan_first(j, due->planned_until_ms);
    return next == due->next_ms ? NEVER_MS : next;
}

/* One slice of a sweep over all jobs of a kind. */
static enum err sweep(struct txn *t)
{
    struct batch *b = t->b;
    struct due_row rows[SLICE_JOBS];
    int n, kept = 0;
    enum err err = t->ops->due_each(t->store, b->sweep == SWEEP_REBASE, b->sweep_from, SLICE_JOBS,
                                    rows, &n, &b->why);
    if (err)
        return err;
    b->sweep_next = n == SLICE_JOBS ? rows[n - 1].job_id : 0;
    for (int i = 0; i < n; i++) {
        struct job *j;
        err = job_at(t, rows[i].job_id, rows[i].version, &j);
        if (err)
            return err;
        int64_t next = j->fault ? NEVER_MS : swept_to(t, j, &rows[i]);
        if (next == NEVER_MS)
            continue;
        rows[kept] = rows[i];
        rows[kept++].next_ms = next;
    }
    return t->ops->due_put(t->store, rows, kept, &b->why);
}

/* ---- the transaction
 * -----------------------------------------------------------------------------------
 */

static enum err lists_put(struct txn *t)
{
    for (int i = 0; i < t->b->nlists; i++) {
        struct group_record g = { 0 };
        enum err err = t->ops->group_get(t->store, t->b->lists[i].group_id, &g, &t->b->why);
        if (!err && g.address_type == 0) {
            free(g.address_list);
            g.address_list = mem_dup(t->b->lists[i].addresses);
            g.updated_ms = t->b->now_ms;
            err = t->ops->group_update(t->store, &g, &t->b->why);
        }
        group_record_done(&g);
        if (err && !ledger_refuses(err))
            return err;
        why_clear(&t->b->why);
    }
    return OK;
}

/* In order: an executor that leaves and comes back within one batch is there. */
static enum err registry_run(struct txn *t)
{
    const struct store_ops *ops = t->ops;
    enum err err = OK;
    for (int i = 0; !err && i < t->b->nregistry; i++) {
        const struct registry_change *c = &t->b->registry[i];
        err = c->gone ? ops->registry_delete(t->store, &c->row, 1, &t->b->why)
                      : ops->registry_put(t->store, &c->row, 1, &t->b->why);
    }
    return err;
}

/* Another program has removed live rows whose runs we had: what came of them is noted as late. */
static enum err missing_late(struct txn *t, int *ret_noted)
{
    enum err err = OK;
    int all = 0;
    for (int i = 0; !err && i < t->b->nchanges; i++) {
        const struct run_change *c = &t->b->changes[i];
        if (!c->missing || !(c->what & CHANGE_FINISH))
            continue;
        struct late_result late = { c->log_id, c->handle_ms, c->handle_code, c->handle_msg };
        int noted = 0;
        err = t->ops->late_add(t->store, &late, 1, &noted, &t->b->why);
        all += noted;
    }
    *ret_noted = all;
    return err;
}

static enum err body(struct txn *t)
{
    struct batch *b = t->b;
    const struct store_ops *ops = t->ops;
    struct store *s = t->store;
    int noted = 0;
    enum err err = OK;
    err = registry_run(t);
    if (!err)
        err = lists_put(t);
    if (!err && b->nchanges)
        err = ops->runs_change(s, b->changes, b->nchanges, &b->why);
    if (!err)
        err = missing_late(t, &noted);
    t->totals.n[TOTAL_LATE] += noted;
    noted = 0;
    if (!err && b->nlate)
        err = ops->late_add(s, b->late, b->nlate, &noted, &b->why);
    t->totals.n[TOTAL_LATE] += noted;
    if (!err)
        err = edits_run(t);
    if (!err)
        err = spawns_run(t);
    if (!err)
        err = delays_run(t);
    if (!err && b->sweep)
        err = sweep(t);
    int64_t began = clock_boot_us();
    if (!err && b->plan_until_ms)
        err = plan_slice(t);
    b->plan_us = clock_boot_us() - began;
    if (!err)
        err = rows_add(t);
    if (!err && t->writes)
        err = ledger_writes_run(s, t->writes, &b->why);
    for (int i = 0; i < TOTAL_COUNT; i++)
        t->totals.n[i] += b->totals.n[i];
    if (!err)
        err = ops->totals_add(s, &t->totals, &b->why);
    if (!err && b->watermark.until_ms)
        err = ops->watermark_put(s, &b->watermark, &b->why);
    if (!err && b->clean)
        err = ops->watermark_clean(s, &b->why);
    return err;
}

/* The transaction is gone: so are the results, and what the planner learned from its rows. */
static void undo(struct txn *t)
{
    struct batch *b = t->b;
    for (int i = 0; i < b->nplanned; i++) {
        run_row_done(&b->planned[i].row);
        job_unref(b->planned[i].job);
    }
    b->nplanned = 0;
    for (int i = 0; i < b->nedits; i++) {
        struct edit *e = b->edits[i];
        if (e->kind <= EDIT_JOB_DELETE && e->id)
            planner_forget(t->planner, e->id);
        job_unref(e->now);
        e->now = NULL;
        if (e->kind == EDIT_JOB_INSERT || e->kind == EDIT_GROUP_INSERT)
            e->id = 0;
    }
    for (int i = 0; i < b->nspawns; i++)
        if (b->spawns[i].kind == KIND_MANUAL || b->spawns[i].kind == KIND_API)
            b->spawns[i].cause = 0;
}

void txn_run(struct store *store, struct planner *planner, struct batch *b, struct list *writes)
{
    struct txn t = {
        .store = store, .ops = store->ops, .planner = planner, .b = b, .writes = writes
    };
    for (int i = 0; i < b->nviews; i++)
        planner_set_view(planner, group_view_ref(b->views[i]));
    if (b->forget_jobs)
        planner_forget_all(planner);
    why_clear(&b->why);
    b->plan_more = false;
    b->plan_next_ms = NEVER_MS;
    b->err = store->ops->begin(store, &b->why);
    if (!b->err) {
        b->err = body(&t);
        if (!b->err)
            b->err = store->ops->commit(store, &b->why);
        b->written = t.totals;
        if (b->err) {
            store->ops->rollback(store);
            undo(&t);
        }
    }
    rows_drop(&t);
}
