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

struct reading {
    struct batch *b;
    struct planner *planner;
};

static bool job_read(void *ctx, const struct job_record *record)
{
    const struct reading *r = ctx;
    struct job *j = planner_keep(r->planner, record);
    for (int i = 0; i < r->b->nadopted; i++) {
        struct planned *p = &r->b->adopted[i];
        if (p->row.job_id == record->id && !p->job)
            p->job = job_ref(j);
    }
    return true;
}

/* As they are now: the life that has ended may have known an older version, and its runs say so. */
static enum err jobs_read(struct txn *t)
{
    struct batch *b = t->b;
    struct reading r = { b, t->planner };
    int64_t *ids = mem_new((size_t)b->nadopted * sizeof(*ids) + 1);
    int n = 0;
    for (int i = 0; i < b->nadopted; i++) {
        bool known = false;
        for (int k = 0; k < n && !known; k++)
            known = ids[k] == b->adopted[i].row.job_id;
        if (!known)
            ids[n++] = b->adopted[i].row.job_id;
    }
    enum err err = t->ops->catalog->jobs_get(t->store, ids, n, job_read, &r, &b->why);
    free(ids);
    return err;
}

/* A run whose job is gone has an empty definition. */
static void job_empty(struct txn *t, struct planned *p)
{
    struct job_record r;
    if (p->job)
        return;
    job_record_init(&r);
    r.id = p->row.job_id;
    r.group_id = p->row.group_id;
    p->job = job_ref(planner_keep(t->planner, &r));
    planner_forget(t->planner, r.id);
    job_record_done(&r);
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
    if (!err && b->nadopted)
        err = jobs_read(t);
    for (int i = 0; !err && i < b->nadopted; i++)
        job_empty(t, &b->adopted[i]);
    if (!err && b->nadopted)
        err = t->ops->cluster->inbox_each(t->store, 0, INBOX_ROWS, keep, b, &b->why);
    return err;
}
