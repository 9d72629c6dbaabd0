/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of a node that is gone become this one's, with the jobs that they belong to, and with the
 * results that wait for them: no executor is asked about a run whose end is known. */
#include "base/mem.h"
#include "ledger/internal.h"
#include <stdlib.h>

#define INBOX_ROWS 4000 /* what is behind them comes as it does to any server */

static bool take(void *ctx, const struct run_row *r)
{
    struct batch *b = ctx;
    struct planned p = { .row = *r };
    p.row.address = mem_dup(r->address);
    p.row.handler = mem_dup(r->handler);
    p.row.param = mem_dup(r->param);
    p.row.choices = mem_dup(r->choices);
    b->adopted = mem_resize(b->adopted, (size_t)(b->nadopted + 1) * sizeof(*b->adopted));
    b->adopted[b->nadopted++] = p;
    return true;
}

/* A run whose job is gone has an empty definition: asking its executor still finds its end. */
static enum err job_of(struct txn *t, struct planned *p)
{
    struct job *j = NULL;
    enum err err = txn_job(t, p->row.job_id, p->row.version, &j);
    if (err == ERR_NOTFOUND) {
        struct job_record r;
        job_record_init(&r);
        r.id = p->row.job_id;
        r.group_id = p->row.group_id;
        j = planner_keep(t->planner, &r);
        job_record_done(&r);
        err = OK;
    }
    if (!err)
        p->job = job_ref(j);
    return err;
}

static bool keep(void *ctx, const struct inbox_row *r)
{
    struct batch *b = ctx;
    struct inbox_row row = *r;
    if (r->what != INBOX_RESULT)
        return true; /* it comes as to any server */
    row.msg = mem_dup(r->msg);
    b->inbox = mem_resize(b->inbox, (size_t)(b->ninbox + 1) * sizeof(*b->inbox));
    b->inbox[b->ninbox++] = row;
    return true;
}

enum err adopt_run(struct txn *t)
{
    struct batch *b = t->b;
    if (!b->adopt.epoch)
        return OK;
    enum err err =
        t->ops->cluster->runs_adopt(t->store, &b->adopt, take, b, &b->adopt_left, &b->why);
    for (int i = 0; !err && i < b->nadopted; i++)
        err = job_of(t, &b->adopted[i]);
    if (!err && b->nadopted)
        err = t->ops->cluster->inbox_each(t->store, 0, INBOX_ROWS, keep, b, &b->why);
    return err;
}
