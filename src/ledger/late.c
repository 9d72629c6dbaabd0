/* SPDX-License-Identifier: Apache-2.0 */
/* late.c - results of runs that are not live in this server's memory.
 *
 * The log says whether such a run was given up; then the result is noted in its row. Where several
 * servers share the database the run may be live and another one's, or this one's since a moment.
 * Only its owner may end it, so the result goes to the inbox, and whoever owns the run by then
 * reads it there. A row of the inbox is deleted in the transaction in which its run has no live row
 * any more: either the result has ended the run, with this transaction, or it is noted here. So no
 * other end of a run takes a result away. */
#include "base/mem.h"
#include "ledger/internal.h"
#include "model/claim.h"
#include <stdlib.h>

static enum err note(struct txn *t, struct late_result *late, int n)
{
    int noted = 0;
    enum err err = n ? t->ops->runs->late_add(t->store, late, n, &noted, &t->b->why) : OK;
    t->totals.n[TOTAL_LATE] += noted;
    return err;
}

/* Is it of a group that its sender may speak for? */
static enum err judge(struct txn *t, struct late_result *late)
{
    struct log_record row = { 0 };
    struct why why = { "" };
    late->refused = false;
    if (!late->claim)
        return OK;
    enum err err = t->ops->pages->log_get(t->store, late->log_id, &row, &why);
    if (err == ERR_NOTFOUND)
        return OK;
    if (err)
        why_set(&t->b->why, "%s", why.text);
    else
        late->refused = !claim_has(late->claim, row.group_id);
    log_record_done(&row);
    return err;
}

/* ---- the inbox ------------------------------------------------------------------------------- */

struct passing {
    struct late_result *late;
    int n;
    int64_t *ids;
    bool *yes;
};

static enum err live_look(struct txn *t, struct passing *p)
{
    for (int i = 0; i < p->n; i++)
        p->ids[i] = p->late[i].log_id;
    enum err err = t->ops->cluster->runs_live(t->store, p->ids, p->n, p->yes, &t->b->why);
    for (int i = 0; !err && i < p->n; i++)
        p->late[i].passed = p->yes[i] && !p->late[i].refused;
    return err;
}

static enum err put(struct txn *t, const struct passing *p)
{
    struct inbox_row *rows = mem_new((size_t)p->n * sizeof(*rows));
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        const struct late_result *l = &p->late[i];
        if (l->passed && !l->inbox_id)
            rows[n++] = (struct inbox_row){
                .log_id = l->log_id, .at_ms = l->at_ms, .code = l->code, .msg = l->msg
            };
    }
    enum err err = n ? t->ops->cluster->inbox_put(t->store, rows, n, &t->b->why) : OK;
    t->b->inbox_given = n;
    free(rows);
    return err;
}

/* Those whose run is over. Another server may have found the same: one of both notes it. */
static enum err take(struct txn *t, struct passing *p)
{
    int n = 0;
    for (int i = 0; i < p->n; i++)
        if (p->late[i].inbox_id && !p->late[i].passed)
            p->ids[n++] = p->late[i].inbox_id;
    enum err err = n ? t->ops->cluster->inbox_take(t->store, p->ids, n, p->yes, &t->b->why) : OK;
    t->b->inbox_taken = 0;
    for (int i = 0, k = 0; !err && i < p->n; i++)
        if (p->late[i].inbox_id && !p->late[i].passed) {
            t->b->inbox_taken += p->yes[k];
            p->late[i].passed = !p->yes[k++];
        }
    return err;
}

static enum err pass_on(struct txn *t)
{
    int n = t->b->nlate;
    struct passing p = { .late = t->b->late, .n = n };
    p.ids = mem_new((size_t)n * sizeof(*p.ids));
    p.yes = mem_new((size_t)n * sizeof(*p.yes));
    enum err err = live_look(t, &p);
    if (!err)
        err = put(t, &p);
    if (!err)
        err = take(t, &p);
    free(p.yes);
    free(p.ids);
    return err;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* What is not to be noted is left out, the rest goes in order. */
static enum err note_rest(struct txn *t)
{
    struct late_result *late = t->b->late;
    enum err err = OK;
    int from = 0, n = t->b->nlate;
    for (int i = 0; i < n && !err; i++) {
        if (!late[i].refused && !late[i].passed && !late[i].settled)
            continue;
        err = note(t, &late[from], i - from);
        from = i + 1;
    }
    return err ? err : note(t, &late[from], n - from);
}

enum err late_results(struct txn *t)
{
    struct batch *b = t->b;
    enum err err = OK;
    for (int i = 0; i < b->nlate && !err; i++) {
        b->late[i].passed = false;
        err = judge(t, &b->late[i]);
    }
    if (!err && b->nlate && t->store->shared)
        err = pass_on(t);
    return err ? err : note_rest(t);
}

enum err late_missing(struct txn *t, int64_t missed)
{
    struct late_result *late = mem_new((size_t)missed * sizeof(*late));
    int n = 0;
    for (int i = 0; i < t->b->nchanges; i++) {
        const struct run_change *c = &t->b->changes[i];
        if (c->missing && (c->what & CHANGE_FINISH))
            late[n++] = (struct late_result){ .log_id = c->log_id,
                                              .at_ms = c->handle_ms,
                                              .code = c->handle_code,
                                              .msg = c->handle_msg };
    }
    enum err err = note(t, late, n);
    free(late);
    return err;
}
