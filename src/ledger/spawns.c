/* SPDX-License-Identifier: Apache-2.0 */
/* spawns.c - what others than the schedule ask for: retries, children, runs by hand, broadcasts
 * that are planned again; and the next scheduled time of FIX_DELAY jobs, which an end sets.
 *
 * Two passes: the jobs that all of these name are read in one call, as the transaction's edits left
 * them, and then planned one after the other. On a database server each call is a round trip. */
#include "base/mem.h"
#include "ledger/internal.h"
#include "sched/node.h"
#include <stdlib.h>

/* ---- the jobs that are named ----------------------------------------------------------------- */

struct job_now {
    int64_t id;
    struct job *job; /* counted; NULL: there is none */
    struct due_row due;
    bool enabled;
};

struct jobs_now {
    struct planner *planner;
    struct job_now *rows; /* by id */
    size_t n;
};

static int compare_job(const void *a, const void *b)
{
    const struct job_now *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static struct job_now *job_now(const struct jobs_now *now, int64_t id)
{
    struct job_now key = { .id = id };
    return bsearch(&key, now->rows, now->n, sizeof(key), compare_job);
}

static bool job_read(void *ctx, const struct job_record *r)
{
    struct jobs_now *now = ctx;
    struct job_now *j = job_now(now, r->id);
    job_unref(j->job);
    j->job = job_ref(planner_keep(now->planner, r));
    j->due = job_due(r);
    j->enabled = r->enabled;
    return true;
}

static void ids_sort(struct jobs_now *now)
{
    size_t kept = 0;
    qsort(now->rows, now->n, sizeof(*now->rows), compare_job);
    for (size_t i = 0; i < now->n; i++)
        if (!kept || now->rows[kept - 1].id != now->rows[i].id)
            now->rows[kept++] = now->rows[i];
    now->n = kept;
}

static enum err jobs_read(struct txn *t, struct jobs_now *now)
{
    struct batch *b = t->b;
    size_t n = (size_t)b->nspawns + (size_t)b->ndelays;
    *now = (struct jobs_now){ t->planner, mem_new(n * sizeof(*now->rows)), n };
    for (int i = 0; i < b->nspawns; i++)
        now->rows[i].id = b->spawns[i].job_id;
    for (int i = 0; i < b->ndelays; i++)
        now->rows[b->nspawns + i].id = b->delays[i].job_id;
    ids_sort(now);
    int64_t *ids = mem_new(now->n * sizeof(*ids));
    for (size_t i = 0; i < now->n; i++)
        ids[i] = now->rows[i].id;
    enum err err = OK;
    if (t->store->shared) /* an edit at another server comes before them, or sees their rows */
        err = t->ops->cluster->jobs_hold(t->store, ids, (int)now->n, &b->why);
    if (!err)
        err = t->ops->catalog->jobs_get(t->store, ids, (int)now->n, job_read, now, &b->why);
    free(ids);
    return err;
}

static void jobs_drop(struct jobs_now *now)
{
    for (size_t i = 0; i < now->n; i++)
        job_unref(now->rows[i].job);
    free(now->rows);
}

/* ---- spawns ---------------------------------------------------------------------------------- */

/* It was the edit that has overtaken the spawn, and the job still fires. */
static bool edited_next(const struct edit *e, const struct spawn *s)
{
    if (e->kind == EDIT_JOB_SYNC)
        return e->now->enabled || e->now->ended;
    return e->now->version == s->version + 1 && e->kind != EDIT_JOB_STOP;
}

/* A broadcast of the schedule that is planned again: an edit in the same batch decides about it as
 * about the rows that it replaces. */
static bool firing_goes_on(const struct txn *t, const struct spawn *s)
{
    for (int i = 0; i < t->b->nedits; i++) {
        const struct edit *e = t->b->edits[i];
        if (e->kind <= EDIT_JOB_DELETE && e->id == s->job_id && !e->err)
            return e->now && edited_next(e, s) && jobs_goes_on(e, s->scheduled_ms, e->anew);
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

/* Why it comes to nothing; OK: it goes on. */
static enum err spawn_err(const struct txn *t, const struct spawn *s, const struct job *j)
{
    if (!j || taken_back(t, s, j))
        return ERR_NOTFOUND;
    return plan_choices(s->choices) > PLAN_CHOICES_MAX ? ERR_TOOBIG : OK;
}

static bool wants_cause(const struct spawn *s)
{
    return !s->err && (s->kind == KIND_MANUAL || s->kind == KIND_API) && !s->cause;
}

/* Each request is one cause: a job may be asked for twice in a millisecond. */
static enum err causes_take(struct txn *t)
{
    int n = 0;
    int64_t next = 0;
    for (int i = 0; i < t->b->nspawns; i++)
        n += wants_cause(&t->b->spawns[i]);
    enum err err = n ? t->ops->txn->seq_next(t->store, "request", n, &next, &t->b->why) : OK;
    for (int i = 0; !err && i < t->b->nspawns; i++)
        if (wants_cause(&t->b->spawns[i]))
            t->b->spawns[i].cause = next++;
    return err;
}

/* Ask what is written along with it; OK also if that refuses the spawn. */
static enum err companion_begin(struct txn *t, struct spawn *s)
{
    struct why why = { "" };
    if (s->err || !s->companion)
        return OK;
    enum err err = s->companion->begin(t->store, s->companion_arg, &why);
    if (ledger_refuses(err)) {
        s->err = err;
        return OK;
    }
    if (err)
        why_set(&t->b->why, "%s", why.text);
    return err;
}

enum err spawns_made(struct txn *t)
{
    enum err err = OK;
    for (int i = 0; !err && i < t->b->nspawns; i++) {
        const struct spawn *s = &t->b->spawns[i];
        if (s->companion && !s->err && s->log_id)
            err = s->companion->made(t->store, s->companion_arg, s->log_id, &t->b->why);
    }
    return err;
}

static enum err spawns_plan(struct txn *t, const struct jobs_now *now)
{
    enum err err = OK;
    for (int i = 0; !err && i < t->b->nspawns; i++) {
        struct spawn *s = &t->b->spawns[i];
        s->log_id = 0;
        s->err = s->refused ? ERR_VALUE : spawn_err(t, s, job_now(now, s->job_id)->job);
        t->b->refused += s->refused;
        err = companion_begin(t, s);
    }
    if (!err)
        err = causes_take(t);
    for (int i = 0; !err && i < t->b->nspawns; i++) {
        struct spawn *s = &t->b->spawns[i];
        struct job *j = job_now(now, s->job_id)->job;
        if (s->err)
            continue;
        plan_spawn(t->planner, j, s, t->b->now_ms, &t->rows);
        txn_rows_of(t, j, s);
    }
    return err;
}

/* ---- delays ---------------------------------------------------------------------------------- */

/* The job's home looks for such times, but what is due soon is planned at once: by the next batch
 * where this node is the home, else in this transaction. */
static enum err delay_plan(struct txn *t, struct due_row *due)
{
    const struct share *s = &t->b->share;
    struct plan_result planned;
    int64_t until_ms = t->b->now_ms + CLUSTER_CLAIM_MS;
    homes_of(t, due, 1);
    if (!t->store->shared || due->home == s->node || due->next_ms > until_ms)
        return OK;
    enum err err = txn_plan_job(t, due, until_ms, t->b->plan_max_rows, &planned);
    if (!err)
        err = txn_plan_notes(t);
    planned.due.home = due->home;
    *due = planned.due;
    return err;
}

/* FIX_DELAY: the next scheduled time counts from the end that has just come, of several from the
 * last. */
static enum err delays_run(struct txn *t, const struct jobs_now *now)
{
    struct due_row *rows = mem_new((size_t)t->b->ndelays * sizeof(*rows));
    int n = 0;
    enum err err = OK;
    for (int i = t->b->ndelays - 1; !err && i >= 0; i--) {
        const struct delay *d = &t->b->delays[i];
        struct job_now *j = job_now(now, d->job_id);
        if (!j->job || !j->enabled || j->due.next_ms != NEVER_MS ||
            j->job->schedule.type != SCHEDULE_FIX_DELAY)
            continue;
        struct due_row due = j->due;
        due.next_ms = plan_first(j->job, d->end_ms);
        if (due.next_ms <= due.planned_until_ms)
            due.next_ms = due.planned_until_ms + 1;
        err = delay_plan(t, &due);
        j->due = rows[n++] = due;
    }
    if (!err && n)
        err = t->ops->runs->due_put(t->store, rows, n, &t->b->why);
    free(rows);
    return err;
}

/* ---- children of others' runs ---------------------------------------------------------------- */

static void children_of(struct batch *b, const struct late_result *late, const struct job *parent)
{
    for (int i = 0; i < parent->nchildren; i++) {
        if (parent->children[i] == parent->id)
            continue; /* as the original since 2.5 */
        struct spawn child = {
            .job_id = parent->children[i],
            .kind = KIND_PARENT,
            .scheduled_ms = b->now_ms,
            .due_ms = b->now_ms,
            .cause = late->log_id,
            .retries_left = -1,
            .hops = 1,
            .follows = true,
        };
        b->spawns = mem_resize(b->spawns, ((size_t)b->nspawns + 1) * sizeof(*b->spawns));
        b->spawns[b->nspawns++] = child;
    }
}

static bool parent_read(void *ctx, const struct job_record *r)
{
    struct txn *t = ctx;
    struct job *parent = planner_keep(t->planner, r);
    for (int i = 0; parent && i < t->b->nlate; i++)
        if (t->b->late[i].parent == r->id)
            children_of(t->b, &t->b->late[i], parent);
    return true;
}

/* What an earlier try of this transaction made is gone with it. */
static void follow_anew(struct batch *b)
{
    while (b->nspawns && b->spawns[b->nspawns - 1].follows)
        spawn_done(&b->spawns[--b->nspawns]);
}

enum err spawns_follow(struct txn *t)
{
    struct batch *b = t->b;
    int64_t *ids = mem_new((size_t)b->nlate * sizeof(*ids) + 1);
    int n = 0;
    follow_anew(b);
    for (int i = 0; i < b->nlate; i++) {
        int64_t id = b->late[i].parent;
        bool known = id == 0;
        for (int j = 0; j < n && !known; j++)
            known = ids[j] == id;
        if (!known)
            ids[n++] = id;
    }
    enum err err = n ? t->ops->catalog->jobs_get(t->store, ids, n, parent_read, t, &b->why) : OK;
    free(ids);
    return err;
}

enum err spawns_run(struct txn *t)
{
    struct jobs_now now;
    if (!t->b->nspawns && !t->b->ndelays)
        return OK;
    enum err err = jobs_read(t, &now);
    if (!err)
        err = spawns_plan(t, &now);
    if (!err)
        err = delays_run(t, &now);
    jobs_drop(&now);
    return err;
}
