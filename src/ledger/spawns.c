/* SPDX-License-Identifier: Apache-2.0 */
/* spawns.c - what others than the schedule ask for: retries, children, runs by hand, broadcasts
 * that are planned again; and the next scheduled time of FIX_DELAY jobs, which an end sets. */
#include "ledger/internal.h"

/* A broadcast of the schedule that is planned again: an edit in the same batch decides about it as
 * about the rows that it replaces. */
static bool firing_goes_on(const struct txn *t, const struct spawn *s)
{
    for (int i = 0; i < t->b->nedits; i++) {
        const struct edit *e = t->b->edits[i];
        if (e->kind <= EDIT_JOB_DELETE && e->id == s->job_id && !e->err)
            return e->now && e->now->version == s->version + 1 && e->kind != EDIT_JOB_STOP &&
                   jobs_goes_on(e, s->scheduled_ms, e->anew);
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
    s->err = txn_job(t, s->job_id, -1, &j);
    if (s->err)
        return ledger_refuses(s->err) ? OK : s->err;
    if (taken_back(t, s, j)) {
        s->err = ERR_NOTFOUND;
        return OK;
    }
    if ((s->kind == KIND_MANUAL || s->kind == KIND_API) && !s->cause) {
        enum err err = t->ops->txn->seq_next(t->store, "request", &s->cause, &t->b->why);
        if (err)
            return err;
    }
    if (plan_choices(s->choices) > PLAN_CHOICES_MAX) {
        s->err = ERR_TOOBIG;
        return OK;
    }
    plan_spawn(t->planner, j, s, t->b->now_ms, &t->rows);
    txn_rows_of(t, j, s);
    return OK;
}

enum err spawns_run(struct txn *t)
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
enum err delays_run(struct txn *t)
{
    for (int i = t->b->ndelays - 1; i >= 0; i--) {
        const struct delay *d = &t->b->delays[i];
        struct job_record r;
        job_record_init(&r);
        enum err err = t->ops->catalog->job_get(t->store, d->job_id, &r, &t->b->why);
        if (!err && r.enabled && r.next_ms == NEVER_MS) {
            struct job *j = planner_keep(t->planner, &r);
            struct due_row due = { r.id, plan_first(j, d->end_ms), r.last_ms, r.planned_until_ms,
                                   r.version };
            if (due.next_ms <= due.planned_until_ms)
                due.next_ms = due.planned_until_ms + 1;
            if (j->schedule.type == SCHEDULE_FIX_DELAY)
                err = t->ops->runs->due_put(t->store, &due, 1, &t->b->why);
        }
        job_record_done(&r);
        if (err && !ledger_refuses(err))
            return err;
        why_clear(&t->b->why);
    }
    return OK;
}
