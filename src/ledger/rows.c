/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - the rows that a transaction plans: made by the planner one job after the other, inserted
 * together at the end, and only then known by their log ids. */
#include "base/mem.h"
#include "ledger/internal.h"
#include <stdlib.h>

enum err txn_job(struct txn *t, int64_t id, int64_t version, struct job **ret)
{
    struct job *j = planner_find(t->planner, id, version);
    if (!j) {
        struct job_record r;
        job_record_init(&r);
        enum err err = t->ops->catalog->job_get(t->store, id, &r, &t->b->why);
        if (err)
            return err;
        j = planner_keep(t->planner, &r);
        job_record_done(&r);
    }
    *ret = j;
    return OK;
}

void txn_rows_of(struct txn *t, struct job *j, const struct spawn *spawn)
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

/* Firings of the schedule have traces of their own, of which nothing is kept. */
static enum err traces_add(struct txn *t)
{
    const struct run_row *rows = t->rows.rows;
    struct run_trace *kept = NULL;
    int n = 0;
    for (int i = 0; i < t->rows.n; i++) {
        if (rows[i].trace.kind == TRACE_OWN || rows[i].log_id < 0)
            continue;
        if (!kept)
            kept = mem_new((size_t)t->rows.n * sizeof(*kept));
        kept[n++] = (struct run_trace){ rows[i].log_id, rows[i].trace };
    }
    enum err err = n ? t->ops->runs->traces_put(t->store, kept, n, &t->b->why) : OK;
    free(kept);
    return err;
}

/* Are both rows shards of one firing, which the schedule has planned here? */
static bool one_firing(const struct txn *t, int a, int b)
{
    const struct run_row *x = &t->rows.rows[a], *y = &t->rows.rows[b];
    return !t->spawns[a] && !t->spawns[b] && x->job_id == y->job_id && x->kind == y->kind &&
           x->scheduled_ms == y->scheduled_ms;
}

static enum err take_back(struct txn *t, struct run_row *r)
{
    struct run_change c = { .log_id = r->log_id, .what = CHANGE_DROP, .phase = PHASE_WITHDRAWN };
    int64_t missed;
    enum err err = t->ops->runs->runs_change(t->store, &c, 1, &missed, &t->b->why);
    r->log_id = -1;
    return err;
}

/* This transaction has laid down that shard itself, among the rows from first to end: the one that
 * exists already is its twin. An edit and the planner may come upon one scheduled time. */
static bool has_twin(const struct txn *t, int first, int end, int i)
{
    const struct run_row *rows = t->rows.rows;
    for (int k = first; k < end; k++)
        if (rows[k].log_id > 0 && rows[k].shard == rows[i].shard)
            return true;
    return false;
}

/* A broadcast is laid down whole, by one list of executors, or not at all: where another server has
 * some of its shards, which an edit here plans again by another list, all of it is that server's.
 */
static enum err parts_drop(struct txn *t)
{
    enum err err = OK;
    for (int i = 0, end; !err && i < t->rows.n; i = end) {
        bool there = false;
        for (end = i + 1; end < t->rows.n && one_firing(t, i, end);)
            end++;
        for (int k = i; k < end; k++)
            there |= t->rows.rows[k].log_id < 0 && !has_twin(t, i, end, k);
        for (int k = i; !err && there && k < end; k++)
            if (t->rows.rows[k].log_id > 0)
                err = take_back(t, &t->rows.rows[k]);
    }
    return err;
}

enum err txn_rows_add(struct txn *t)
{
    struct batch *b = t->b;
    enum err err = t->apart ? apart_rows(t)
                            : t->ops->runs->runs_add(t->store, t->rows.rows, t->rows.n, &b->why);
    if (!err && t->store->shared)
        err = parts_drop(t);
    if (!err)
        err = traces_add(t);
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

void txn_rows_cut(struct txn *t, int n)
{
    while (t->njobs > n)
        job_unref(t->jobs[--t->njobs]);
    while (t->rows.n > n)
        run_row_done(&t->rows.rows[--t->rows.n]);
}

static void notes_drop(struct txn *t)
{
    while (t->nstops > 0)
        free((char *)t->stops[--t->nstops].reason);
    t->nskips = 0;
}

void txn_rows_drop(struct txn *t)
{
    for (int i = 0; i < t->njobs; i++)
        job_unref(t->jobs[i]);
    plan_rows_done(&t->rows);
    free(t->jobs);
    free(t->spawns);
    notes_drop(t);
    free(t->stops);
    free(t->skips);
}

static bool job_fetched(void *ctx, const struct job_record *r)
{
    planner_keep(ctx, r);
    return true;
}

enum err txn_jobs_fetch(struct txn *t, const struct due_row *due, int n)
{
    int64_t *ids = mem_new(((size_t)n + 1) * sizeof(*ids));
    int wanted = 0;
    for (int i = 0; i < n; i++)
        if (!planner_find(t->planner, due[i].job_id, due[i].version))
            ids[wanted++] = due[i].job_id;
    enum err err = OK;
    if (wanted)
        err = t->ops->catalog->jobs_get(t->store, ids, wanted, job_fetched, t->planner, &t->b->why);
    free(ids);
    return err;
}

enum err txn_plan_job(struct txn *t, const struct due_row *due, int64_t until_ms, int max_rows,
                      struct plan_result *ret)
{
    struct job *j;
    enum err err = txn_job(t, due->job_id, due->version, &j);
    if (err == ERR_NOTFOUND) { /* a due row without a job: another program deleted the job */
        *ret = (struct plan_result){ .due = *due };
        ret->due.next_ms = NEVER_MS;
        why_clear(&t->b->why);
        return OK;
    }
    if (err)
        return err;
    plan_job(t->planner, j, due, t->b->now_ms, until_ms, max_rows, &t->rows, ret);
    txn_rows_of(t, j, NULL);
    if (ret->stop) {
        t->stops = mem_resize(t->stops, ((size_t)t->nstops + 1) * sizeof(*t->stops));
        t->stops[t->nstops++] = (struct job_stop){ due->job_id, mem_dup(ret->stop) };
    }
    if (ret->skip.count) {
        t->skips = mem_resize(t->skips, ((size_t)t->nskips + 1) * sizeof(*t->skips));
        t->skips[t->nskips++] = ret->skip;
    }
    return OK;
}

enum err txn_plan_notes(struct txn *t)
{
    enum err err = incidents_stopped(t);
    if (!err && t->nstops)
        err = t->ops->catalog->jobs_stop(t->store, t->stops, t->nstops, t->b->now_ms, &t->b->why);
    if (!err && t->nskips)
        err = t->ops->runs->skips_add(t->store, t->skips, t->nskips, &t->b->why);
    notes_drop(t);
    return err;
}
