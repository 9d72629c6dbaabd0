/* SPDX-License-Identifier: Apache-2.0 */
/* txn.c - what a transaction is made of, in the order that batch.h gives.
 *
 * Every total is changed here or comes with the batch, so that planned - ended = live holds after
 * each commit. What is refused for its own sake (an edit, a write) leaves no trace and takes
 * nothing else down; any other failure ends the whole transaction. */
#include "ledger/txn.h"
#include "base/clock.h"
#include "ledger/internal.h"

/* In order: an executor that leaves and comes back within one batch is there. */
static enum err registry_run(struct txn *t)
{
    const struct store_ops *ops = t->ops;
    enum err err = OK;
    for (int i = 0; !err && i < t->b->nregistry; i++) {
        const struct registry_change *c = &t->b->registry[i];
        err = c->gone ? ops->catalog->registry_delete(t->store, &c->row, 1, &t->b->why)
                      : ops->catalog->registry_put(t->store, &c->row, 1, &t->b->why);
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
        err = t->ops->runs->late_add(t->store, &late, 1, &noted, &t->b->why);
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
        err = groups_put_lists(t);
    if (!err && b->nchanges)
        err = ops->runs->runs_change(s, b->changes, b->nchanges, &b->why);
    if (!err)
        err = missing_late(t, &noted);
    t->totals.n[TOTAL_LATE] += noted;
    noted = 0;
    if (!err && b->nlate)
        err = ops->runs->late_add(s, b->late, b->nlate, &noted, &b->why);
    t->totals.n[TOTAL_LATE] += noted;
    if (!err)
        err = edits_run(t);
    if (!err)
        err = spawns_run(t);
    if (!err)
        err = delays_run(t);
    if (!err && b->sweep)
        err = plan_sweep(t);
    int64_t began = clock_boot_us();
    if (!err && b->plan_until_ms)
        err = plan_slice(t);
    b->plan_us = clock_boot_us() - began;
    if (!err)
        err = txn_rows_add(t);
    if (!err && t->writes)
        err = ledger_writes_run(s, t->writes, &b->why);
    for (int i = 0; i < TOTAL_COUNT; i++)
        t->totals.n[i] += b->totals.n[i];
    if (!err)
        err = ops->txn->totals_add(s, &t->totals, &b->why);
    if (!err && b->watermark.until_ms)
        err = ops->txn->watermark_put(s, &b->watermark, &b->why);
    if (!err && b->clean)
        err = ops->txn->watermark_clean(s, &b->why);
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
    b->err = store->ops->txn->begin(store, &b->why);
    if (!b->err) {
        b->err = body(&t);
        if (!b->err)
            b->err = store->ops->txn->commit(store, &b->why);
        b->written = t.totals;
        if (b->err) {
            store->ops->txn->rollback(store);
            undo(&t);
        }
    }
    txn_rows_drop(&t);
}
