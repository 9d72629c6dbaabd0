/* SPDX-License-Identifier: Apache-2.0 */
/* txn.c - what a transaction is made of, in the order that batch.h gives.
 *
 * Every total is changed here or comes with the batch, so that planned - ended = live holds after
 * each commit. What is refused for its own sake (an edit, a write) leaves no trace and takes
 * nothing else down; any other failure ends the whole transaction. */
#include "ledger/txn.h"
#include "base/clock.h"
#include "base/mem.h"
#include "ledger/internal.h"
#include <stdio.h>
#include <stdlib.h>

enum { PLAN_WAIT_MS = 20 }; /* for the lock of other programs: so long results may wait, too */

static enum err registry_one(struct txn *t, const struct registry_change *c)
{
    const struct store_ops *ops = t->ops;
    bool refused;
    char what[700];
    snprintf(what, sizeof(what), "the registration of %.255s for %.255s", c->row.value, c->row.key);
    enum err err = apart_begin(t);
    if (!err)
        err = apart_end(t,
                        c->gone ? ops->catalog->registry_delete(t->store, &c->row, 1, &t->b->why)
                                : ops->catalog->registry_put(t->store, &c->row, 1, &t->b->why),
                        what, &refused);
    return err;
}

/* In order: an executor that leaves and comes back within one batch is there. */
static enum err registry_run(struct txn *t)
{
    enum err err = OK;
    for (int i = 0; !err && i < t->b->nregistry; i++)
        err = registry_one(t, &t->b->registry[i]);
    return err;
}

static enum err changes_run(struct txn *t)
{
    struct batch *b = t->b;
    int64_t missed = 0;
    if (!b->nchanges)
        return OK;
    enum err err =
        t->apart ? apart_changes(t, &missed) : alarms_change(t, b->changes, b->nchanges, &missed);
    if (!err)
        err = stories_put(t);
    if (!err)
        txn_ends(t);
    return !err && missed ? late_missing(t, missed) : err;
}

/* With all that this transaction adds and what the batch says of the watermark. */
static enum err commit(struct txn *t)
{
    struct commit c = { .watermark = t->b->watermark, .clean = t->b->clean };
    for (int i = 0; i < TOTAL_COUNT; i++)
        t->totals.n[i] += t->b->totals.n[i];
    c.totals = t->totals;
    return t->ops->txn->commit(t->store, &c, &t->b->why);
}

static enum err body(struct txn *t)
{
    struct batch *b = t->b;
    homes_begin(t);
    enum err err = adopt_run(t);
    if (!err)
        err = registry_run(t);
    if (!err)
        err = groups_put_lists(t);
    if (!err)
        err = changes_run(t);
    if (!err)
        err = late_results(t);
    if (!err)
        err = spawns_follow(t);
    if (!err)
        err = edits_run(t);
    if (!err && t->store->shared)
        err = edits_tell(t);
    if (!err)
        err = spawns_run(t);
    if (!err && b->sweep)
        err = plan_sweep(t);
    if (!err && b->homes.wanted)
        err = homes_sweep(t);
    int64_t began = clock_boot_us();
    if (!err && b->plan_until_ms && t->may_plan)
        err = plan_slice(t);
    b->plan_us = clock_boot_us() - began;
    if (!err)
        err = txn_rows_add(t);
    if (!err && t->store->shared && b->nedits)
        err = firings_look_again(t);
    if (!err)
        err = spawns_made(t);
    if (!err && t->figures)
        err = figures_write(t->figures, t->store, b, &b->why);
    if (!err)
        err = incidents_run(t);
    if (!err && t->writes)
        err = ledger_writes_run(t->store, t->writes, &b->why);
    return err;
}

/* The transaction is gone: so are the results, and what the planner learned from its rows. */
static void undo(struct planner *planner, struct batch *b)
{
    for (int i = 0; i < b->nplanned; i++) {
        run_row_done(&b->planned[i].row);
        job_unref(b->planned[i].job);
    }
    b->nplanned = b->nends = 0;
    batch_adopted_drop(b);
    for (int i = 0; i < b->nedits; i++) {
        struct edit *e = b->edits[i];
        if (e->kind <= EDIT_JOB_DELETE && e->id)
            planner_forget(planner, e->id);
        job_unref(e->now);
        e->now = NULL;
        if (e->kind == EDIT_JOB_INSERT || e->kind == EDIT_GROUP_INSERT)
            e->id = 0;
    }
    for (int i = 0; i < b->nspawns; i++)
        if (b->spawns[i].kind == KIND_MANUAL || b->spawns[i].kind == KIND_API)
            b->spawns[i].cause = 0;
}

/* What is known of the batch's fate reaches those who keep something of it in memory. */
static void settled(struct planner *planner, struct figures *figures, struct batch *b)
{
    if (figures)
        figures_written(figures, b, b->err == OK);
    if (b->err)
        undo(planner, b);
}

void txn_settle(struct store *store, struct planner *planner, struct figures *figures,
                struct batch *b)
{
    struct why why = { "" };
    bool done = false;
    enum err err = store->ops->txn->outcome(store, &done, &why);
    if (err && err != ERR_FENCED) {
        b->why = why;
        return;
    }
    b->err = err ? err : done ? OK : ERR_STORE;
    if (err)
        b->why = why;
    settled(planner, figures, b);
}

/* Where other programs plan jobs of this database too. What is not planned now is planned by the
 * next batch; the others wait for the lock within their transaction, if they have to. */
static enum err plan_lock(struct txn *t)
{
    t->may_plan = true;
    if (!t->ops->txn->plan_lock || !t->b->plan_until_ms)
        return OK;
    enum err err = t->ops->txn->plan_lock(t->store, PLAN_WAIT_MS, &t->may_plan, &t->b->why);
    t->b->plan_more = !t->may_plan;
    return err;
}

static void try_batch(struct store *store, struct planner *planner, struct figures *figures,
                      struct batch *b, struct list *writes, bool apart)
{
    struct txn t = { .store = store,
                     .apart = apart,
                     .ops = store->ops,
                     .planner = planner,
                     .figures = figures,
                     .b = b,
                     .writes = writes };
    for (int i = 0; i < b->nviews; i++)
        planner_set_view(planner, group_view_ref(b->views[i]));
    if (b->forget_jobs)
        planner_forget_all(planner);
    why_clear(&b->why);
    b->plan_more = false;
    b->nalarms = b->refused = 0;
    b->plan_next_ms = NEVER_MS;
    free(b->ends);
    b->ends = NULL;
    b->nends = 0;
    b->ends_no = 0;
    b->err = plan_lock(&t);
    if (!b->err)
        b->err = store->ops->txn->begin(store, &b->why);
    if (store->moved)
        planner_forget_all(planner);
    store->moved = false;
    if (!b->err) {
        b->err = body(&t);
        if (!b->err)
            b->err = commit(&t);
        b->told = store->told && !b->err;
        store->told &= b->err != OK;
        b->written = t.totals;
        if (b->err)
            store->ops->txn->rollback(store);
        if (b->err != ERR_UNHEARD)
            settled(planner, figures, b);
    }
    txn_rows_drop(&t);
}

/* Requests for runs that are left out: each shows in a try of its own. */
static int refused(const struct batch *b)
{
    int n = 0;
    for (int i = 0; i < b->nspawns; i++)
        n += b->spawns[i].refused;
    return n;
}

void txn_run(struct store *store, struct planner *planner, struct figures *figures, struct batch *b,
             struct list *writes)
{
    int before = -1;
    try_batch(store, planner, figures, b, writes, false);
    while (b->err == ERR_VALUE && before < refused(b)) {
        before = refused(b);
        try_batch(store, planner, figures, b, writes, true);
    }
}
