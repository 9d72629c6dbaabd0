/* SPDX-License-Identifier: Apache-2.0 */
/* edits.c - one edit after the other, each with what the driver writes along with it.
 *
 * An edit alone needs no savepoint: its rules look first and write then. With a companion, which
 * may refuse at the end, and in a bundle, whose next edit may be refused, all that was done is
 * taken back: rows by the savepoint, and here what the transaction keeps in memory. */
#include "base/mem.h"
#include "ledger/internal.h"
#include <assert.h>
#include <stdlib.h>

static bool of_job(const struct edit *e)
{
    return e->kind <= EDIT_JOB_DELETE;
}

static enum err edit_alone(struct txn *t, struct edit *e)
{
    return of_job(e) ? jobs_edit(t, e) : groups_edit(t, e);
}

struct row { /* that the edit changes, as it stands in the table */
    struct job_record job;
    struct group_record group;
    bool there;
};

static enum err row_read(struct txn *t, const struct edit *e, struct row *ret)
{
    struct why why = { "" };
    ret->there = false;
    if (!e->id)
        return OK;
    enum err err = of_job(e) ? t->ops->catalog->job_get(t->store, e->id, &ret->job, &why)
                             : t->ops->catalog->group_get(t->store, e->id, &ret->group, &why);
    ret->there = !err;
    if (!err || err == ERR_NOTFOUND)
        return OK;
    why_set(&t->b->why, "%s", why.text);
    return err;
}

static void row_init(struct row *r)
{
    memset(r, 0, sizeof(*r));
    job_record_init(&r->job);
}

static void row_done(struct row *r)
{
    job_record_done(&r->job);
    group_record_done(&r->group);
}

static struct edit_rows rows_of(const struct edit *e, const struct row *was, const struct row *now)
{
    struct edit_rows rows = { NULL, NULL, NULL, NULL };
    if (was->there && of_job(e))
        rows.job_was = &was->job;
    if (now->there && of_job(e))
        rows.job = &now->job;
    if (was->there && !of_job(e))
        rows.group_was = &was->group;
    if (now->there && !of_job(e))
        rows.group = &now->group;
    return rows;
}

/* As it was before it was taken up. */
static void edit_reset(struct edit *e)
{
    job_unref(e->now);
    e->now = NULL;
    e->anew = e->moved = false;
    for (int i = 0; i < e->nruns; i++)
        e->runs[i].stays = false;
}

struct mark { /* what the transaction keeps in memory */
    struct totals totals;
    int nrows, nends;
};

static struct mark mark(const struct txn *t)
{
    return (struct mark){ t->totals, t->rows.n, t->b->nends };
}

static enum err take_back(struct txn *t, struct edit **edits, int n, const struct mark *to)
{
    for (int i = 0; i < n; i++) {
        struct edit *e = edits[i];
        if (of_job(e) && e->id)
            planner_forget(t->planner, e->id);
        edit_reset(e);
        if (e->kind == EDIT_JOB_INSERT || e->kind == EDIT_GROUP_INSERT)
            e->id = 0;
    }
    txn_rows_cut(t, to->nrows);
    t->b->nends = to->nends;
    t->totals = to->totals;
    return t->ops->txn->savepoint_undo(t->store, &t->b->why);
}

static enum err companion_run(struct txn *t, struct edit *e, const struct row *was)
{
    struct row now;
    row_init(&now);
    enum err err = row_read(t, e, &now);
    if (!err) {
        struct edit_rows rows = rows_of(e, was, &now);
        err = e->companion->run(t->store, e->companion_arg, &rows, &e->why);
    }
    row_done(&now);
    assert(err != ERR_MORE);
    return err;
}

/* The edit with what goes along with it. e->err is what became of it; the result is the
 * transaction's. */
static enum err edit_and_companion(struct txn *t, struct edit *e)
{
    struct row was;
    row_init(&was);
    enum err err = row_read(t, e, &was);
    if (!err) {
        e->err = e->companion && e->companion->before
                     ? e->companion->before(e->companion_arg, e, &e->why)
                     : OK;
        if (!e->err)
            e->err = edit_alone(t, e);
        if (!e->err && e->companion)
            e->err = companion_run(t, e, &was);
        err = e->err && !ledger_refuses(e->err) ? e->err : OK;
    }
    row_done(&was);
    return err;
}

/* All of them or none: one that is refused refuses the others; it alone says why. */
static enum err bundle_run(struct txn *t, struct edit **edits, int n)
{
    const struct mark before = mark(t);
    enum err err = t->ops->txn->savepoint(t->store, &t->b->why), refused = OK;
    int done = 0;
    while (!err && !refused && done < n) {
        struct edit *e = edits[done++];
        err = edit_and_companion(t, e);
        refused = e->err;
        if (err && !t->b->why.text[0])
            why_set(&t->b->why, "%s", e->why.text);
    }
    if (err)
        return err;
    if (!refused)
        return t->ops->txn->savepoint_keep(t->store, &t->b->why);
    for (int i = 0; i < n; i++)
        edits[i]->err = refused;
    return take_back(t, edits, done, &before);
}

static enum err edit_run(struct txn *t, struct edit *e)
{
    if (e->companion || t->apart)
        return bundle_run(t, &e, 1);
    e->err = edit_alone(t, e);
    return e->err && !ledger_refuses(e->err) ? e->err : OK;
}

static int by_id(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The rows that the edits change, before any is read: two servers would change what neither has
 * seen, and one of the two changes be lost. In one order, jobs before groups. */
static enum err hold_all(struct txn *t)
{
    struct batch *b = t->b;
    int64_t *ids = mem_new(((size_t)b->nedits + 1) * sizeof(*ids));
    enum err err = OK;
    for (int jobs = 1; !err && jobs >= 0; jobs--) {
        int n = 0, kept = 0;
        for (int i = 0; i < b->nedits; i++)
            if (b->edits[i]->id && of_job(b->edits[i]) == jobs)
                ids[n++] = b->edits[i]->id;
        qsort(ids, (size_t)n, sizeof(*ids), by_id);
        for (int i = 0; i < n; i++)
            if (!kept || ids[kept - 1] != ids[i])
                ids[kept++] = ids[i];
        if (jobs && kept)
            err = t->ops->cluster->jobs_hold(t->store, ids, kept, &b->why);
        for (int i = 0; !jobs && !err && i < kept; i++)
            err = t->ops->cluster->record_hold(t->store, STORE_GROUP, ids[i], &b->why);
    }
    free(ids);
    return err;
}

enum err edits_run(struct txn *t)
{
    enum err held = t->store->shared && t->ops->cluster && t->b->nedits ? hold_all(t) : OK;
    if (held)
        return held;
    for (int i = 0, n; i < t->b->nedits; i += n) {
        struct edit **edits = &t->b->edits[i];
        n = edits[0]->bundle ? edits[0]->bundle : 1;
        for (int k = 0; k < n; k++) {
            why_clear(&edits[k]->why);
            edit_reset(edits[k]);
        }
        enum err err = edits[0]->bundle ? bundle_run(t, edits, n) : edit_run(t, edits[0]);
        if (err) {
            if (!t->b->why.text[0])
                why_set(&t->b->why, "%s", edits[0]->why.text);
            return err;
        }
    }
    return OK;
}

/* ---- other servers --------------------------------------------------------------------------- */

#define SAID_MS 60000 /* how long it is kept: a server that lives asks each 200 ms */

static bool tells(const struct edit *e)
{
    return !e->err && of_job(e) && e->kind != EDIT_JOB_INSERT && e->kind != EDIT_JOB_SYNC &&
           !e->gone;
}

static int64_t version_of(const struct edit *e)
{
    return e->now ? e->now->version : VERSION_DELETED;
}

static bool untold_add(void *ctx, const struct untold *u)
{
    struct edit *e = ctx;
    e->untold += u->unsent;
    return true;
}

/* This server's runs know the edit with its commit. An edit of another server that came before it
 * waits for them as well, and this server does not ask for that one any more.
 *
 * Each edit holds the job's row, so a run of an older version that is added beside it is there now,
 * and none will be. */
static enum err told_and_untold(struct txn *t)
{
    int64_t node, epoch;
    enum err err = OK;
    t->ops->cluster->life(t->store, &node, &epoch);
    for (int i = 0; !err && i < t->b->nedits; i++) {
        struct edit *e = t->b->edits[i];
        e->untold = 0;
        if (!tells(e))
            continue;
        err = t->ops->cluster->runs_told(t->store, e->id, version_of(e), &t->b->why);
        if (!err)
            err = t->ops->cluster->runs_untold(t->store, e->id, version_of(e), epoch, untold_add, e,
                                               &t->b->why);
    }
    return err;
}

enum err edits_tell(struct txn *t)
{
    const struct batch *b = t->b;
    struct job_news *changes = mem_new((size_t)b->nedits * sizeof(*changes) + 1);
    int n = 0;
    for (int i = 0; i < b->nedits; i++) {
        const struct edit *e = b->edits[i];
        if (tells(e))
            changes[n++] = (struct job_news){
                .job_id = e->id, .version = version_of(e), .anew = e->anew, .at_ms = b->now_ms
            };
    }
    enum err err = OK;
    if (n)
        err = t->ops->cluster->changes_put(t->store, changes, n, b->now_ms - SAID_MS, &t->b->why);
    free(changes);
    return err || !n ? err : told_and_untold(t);
}
