/* SPDX-License-Identifier: Apache-2.0 */
/* planning.c - looks ahead: jobs that are due within the horizon, and sweeps over all of a kind, a
 * slice a transaction. */
#include "ledger/internal.h"
#include "sched/node.h"

#define SLICE_JOBS 500 /* jobs of one planning slice */

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
        err = txn_plan_job(t, &rows[done], b->plan_until_ms, &r);
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
    return t->ops->runs->due_put(t->store, rows, done, &b->why);
}

/* What is due comes first, and what was missed has a quarter of a slice: after an outage neither
 * waits for the other to be through. */
enum err plan_slice(struct txn *t)
{
    struct batch *b = t->b;
    int64_t behind_ms = planner_behind(t->planner, b->now_ms);
    planner_slice(t->planner);
    if (t->ops->cluster)
        t->ops->cluster->share(t->store, &b->share, b->now_ms + CLUSTER_CLAIM_MS);
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
    return t->ops->runs->due_put(t->store, rows, kept, &b->why);
}
