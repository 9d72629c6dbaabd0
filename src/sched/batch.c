/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch owns is freed in one place, whether it was committed or dropped. An edit that
 * nothing has ended is ended as ERR_STOPPING, so the thread that waits for it always gets an
 * answer. */
#include "sched/batch.h"
#include "base/mem.h"
#include <stdlib.h>

struct edit *edit_new(enum edit_kind kind)
{
    struct edit *e = mem_new(sizeof(*e));
    e->kind = kind;
    job_record_init(&e->job);
    e->version = -1;
    return e;
}

void edit_end(struct edit *e, enum err err)
{
    const struct edit_companion *companion = e->companion;
    e->companion = NULL;
    if (companion)
        companion->done(e->companion_arg, err, &e->why);
}

void edit_free(struct edit *e)
{
    if (!e)
        return;
    edit_end(e, ERR_STOPPING);
    job_record_done(&e->job);
    group_record_done(&e->group);
    group_record_done(&e->was);
    for (int i = 0; i < e->nruns; i++)
        run_change_done(&e->runs[i].change);
    free(e->runs);
    job_unref(e->now);
    free(e);
}

struct batch *batch_new(void)
{
    struct batch *b = mem_new(sizeof(*b));
    b->plan_next_ms = NEVER_MS;
    return b;
}

void batch_adopted_drop(struct batch *b)
{
    for (int i = 0; i < b->nadopted; i++) {
        run_row_done(&b->adopted[i].row);
        job_unref(b->adopted[i].job);
    }
    b->nadopted = 0;
    for (int i = 0; i < b->ninbox; i++)
        free(b->inbox[i].msg);
    b->ninbox = 0;
}

void batch_free(struct batch *b)
{
    if (!b)
        return;
    for (int i = 0; i < b->nviews; i++)
        group_view_unref(b->views[i]);
    free(b->views);
    for (int i = 0; i < b->nlists; i++)
        free(b->lists[i].addresses);
    free(b->lists);
    for (int i = 0; i < b->nregistry; i++)
        registry_record_done(&b->registry[i].row);
    free(b->registry);
    for (int i = 0; i < b->nchanges; i++)
        run_change_done(&b->changes[i]);
    free(b->changes);
    for (int i = 0; i < b->nlate; i++)
        late_result_done(&b->late[i]);
    free(b->late);
    for (int i = 0; i < b->nedits; i++)
        edit_free(b->edits[i]); /* those that were not handed back */
    free(b->edits);
    for (int i = 0; i < b->nspawns; i++)
        spawn_done(&b->spawns[i]);
    free(b->spawns);
    free(b->delays);
    for (int i = 0; i < b->nplanned; i++) {
        run_row_done(&b->planned[i].row);
        job_unref(b->planned[i].job);
    }
    free(b->planned);
    batch_adopted_drop(b);
    free(b->adopted);
    free(b->inbox);
    free(b->ends);
    free(b);
}
