/* SPDX-License-Identifier: Apache-2.0 */
/* planning.c - looks ahead: jobs that are due within the horizon, and sweeps over all of a kind, a
 * slice a transaction. */
#include "ledger/internal.h"
#include "sched/node.h"

#define SLICE_JOBS 500 /* jobs of one planning slice */

/* ---- homes ----------------------------------------------------------------------------------- */

void homes_begin(struct txn *t)
{
    const struct batch *b = t->b;
    if (t->store->shared)
        t->ops->cluster->home(t->store, b->share.node,
                              b->claims ? b->now_ms + CLUSTER_CLAIM_MS : INT64_MIN);
}

void homes_of(const struct txn *t, struct due_row *rows, int n)
{
    const struct share *s = &t->b->share;
    for (int i = 0; t->store->shared && i < n; i++)
        rows[i].home = home_of(rows[i].job_id, s->homes, s->n);
}

enum err homes_written(struct txn *t, int64_t job_id, struct why *why)
{
    const struct share *s = &t->b->share;
    int64_t home = home_of(job_id, s->homes, s->n);
    return t->store->shared ? t->ops->cluster->homes_put(t->store, &job_id, &home, 1, why) : OK;
}

/* The next home whose jobs are to be looked at: this node's, and those of nodes that plan nothing.
 * -1: there is none. */
static enum err home_after(struct txn *t, int64_t home, int64_t *ret)
{
    const struct share *s = &t->b->share;
    enum err err;
    do
        err = t->ops->cluster->homes_next(t->store, home, &home, &t->b->why);
    while (!err && home >= 0 && home != s->node && homes_have(s, home));
    *ret = home;
    return err;
}

/* A slice of one home; those of its jobs that belong elsewhere by now go there. */
enum err homes_sweep(struct txn *t)
{
    struct homes_slice *h = &t->b->homes;
    const struct share *s = &t->b->share;
    struct home_row rows[SLICE_JOBS];
    int64_t ids[SLICE_JOBS], homes[SLICE_JOBS];
    int n = 0, moved = 0;
    h->left = false;
    h->next = h->from;
    enum err err =
        t->ops->cluster->homes_take(t->store, &h->from, SLICE_JOBS, rows, &n, &t->b->why);
    for (int i = 0; !err && i < n; i++) {
        int64_t home = home_of(rows[i].job_id, s->homes, s->n);
        if (home == h->from.home)
            continue;
        ids[moved] = rows[i].job_id;
        homes[moved++] = home;
    }
    if (!err)
        err = t->ops->cluster->homes_put(t->store, ids, homes, moved, &t->b->why);
    h->moved = moved;
    if (!err && n == SLICE_JOBS)
        h->next = rows[n - 1];
    else if (!err)
        err = home_after(t, h->from.home, &h->next.home);
    if (n < SLICE_JOBS)
        h->next.next_ms = h->next.job_id = INT64_MIN;
    h->left = h->next.home >= 0;
    return err;
}

/* ---- what is due ----------------------------------------------------------------------------- */

/* Jobs whose next scheduled time lies in [from_ms, until_ms], while there are fewer than max_rows.
 */
static enum err plan_range(struct txn *t, int64_t from_ms, int64_t until_ms, int max_rows)
{
    struct batch *b = t->b;
    struct due_row rows[SLICE_JOBS];
    int n = 0, done = 0;
    int64_t next_ms;
    enum err err = t->ops->runs->due_take(t->store, from_ms, until_ms, SLICE_JOBS, rows, &n,
                                          &next_ms, &b->why);
    if (!err && next_ms > until_ms && next_ms < b->plan_next_ms)
        b->plan_next_ms = next_ms;
    b->plan_more |= n == SLICE_JOBS;
    if (!err)
        err = txn_jobs_fetch(t, rows, n);
    for (; !err && done < n && t->rows.n < max_rows; done++) {
        struct plan_result r;
        err = txn_plan_job(t, &rows[done], b->plan_until_ms, b->plan_max_rows, &r);
        if (err)
            break;
        rows[done] = r.due;
        b->plan_more |= r.more;
        if (r.due.next_ms < b->plan_next_ms)
            b->plan_next_ms = r.due.next_ms;
    }
    if (!err)
        err = txn_plan_notes(t);
    if (err)
        return err;
    b->plan_more |= done < n;
    b->njobs_planned += done;
    homes_of(t, rows, done);
    return t->ops->runs->due_put(t->store, rows, done, &b->why);
}

/* What is due comes first, and what was missed has a quarter of a slice: after an outage neither
 * waits for the other to be through. */
enum err plan_slice(struct txn *t)
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
enum err plan_sweep(struct txn *t)
{
    struct batch *b = t->b;
    struct due_row rows[SLICE_JOBS];
    int n, kept = 0;
    enum err err = t->ops->runs->due_each(t->store, b->sweep == SWEEP_REBASE, b->sweep_from,
                                          SLICE_JOBS, rows, &n, &b->why);
    if (err)
        return err;
    b->sweep_next = n == SLICE_JOBS ? rows[n - 1].job_id : 0;
    err = txn_jobs_fetch(t, rows, n);
    if (err)
        return err;
    for (int i = 0; i < n; i++) {
        struct job *j;
        err = txn_job(t, rows[i].job_id, rows[i].version, &j);
        if (err)
            return err;
        int64_t next = j->fault ? NEVER_MS : swept_to(t, j, &rows[i]);
        if (next == NEVER_MS)
            continue;
        rows[kept] = rows[i];
        rows[kept++].next_ms = next;
    }
    homes_of(t, rows, kept);
    return t->ops->runs->due_put(t->store, rows, kept, &b->why);
}
