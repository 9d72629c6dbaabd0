/* SPDX-License-Identifier: Apache-2.0 */
/* What a center does as one of several on a database: it sends by a lease, plans what others have
 * left, and leaves nothing planned to them. Which of them lives is decided elsewhere (node.h). */
#include "sched/share.h"
#include "sched/dispatch.h"
#include "sched/job.h"
#include "sched/lane.h"
#include "sched/result.h"
#include "sched/run.h"
#include "sched/start.h"
#include "sched/state.h"
#include <stdlib.h>

void sched_lease(struct sched *s, struct now now, int64_t until_boot_ms, int64_t mark_ms)
{
    bool more = until_boot_ms > s->lease_boot_ms || mark_ms > s->lease_mark_ms;
    s->lease_boot_ms = until_boot_ms;
    s->lease_mark_ms = mark_ms;
    if (more && s->started)
        dispatch_watermark(s, now);
}

void sched_claim(struct sched *s)
{
    s->claims = true;
}

void sched_plan_ends(struct sched *s)
{
    s->plan_ends = true;
}

bool sched_empty(const struct sched *s, struct now now)
{
    return !s->planning && (s->nphase[PHASE_PLANNED] == 0 || now.wall_ms > s->horizon_ms);
}

void sched_share(struct sched *s, const struct share *share)
{
    const struct share *old = &s->share;
    bool same = homes_same(old->homes, old->n, share->homes, share->n);
    bool more = share->living > old->living;
    s->share = *share;
    s->shared = true;
    s->replan |= !same;
    if (more)
        lanes_narrow(s);
}

void sched_homes(struct sched *s, const struct home_row *from)
{
    s->next->homes = (struct homes_slice){ .wanted = true, .from = *from };
    want_batch(s);
}

void sched_adopt(struct sched *s, const struct adoption *a)
{
    s->next->adopt = *a;
    want_batch(s);
}

/* The other server may have begun its last call 2 s after its last beat, and was ended at least 3 s
 * after it: its connection is open for as much longer as a call takes at most. Before that it is
 * too early to ask for the first time. */
static void let_settle(struct sched *s, struct now now, int64_t log_id)
{
    struct run *r = run_find(s, log_id);
    if (r && r->phase == PHASE_UNKNOWN)
        run_wait_ms(s, now, r, s->config.adopted_wait_ms);
}

void share_adopted(struct sched *s, struct now now, const struct batch *b)
{
    for (int i = 0; i < b->nadopted; i++) {
        start_run(s, now, &b->adopted[i].row, b->adopted[i].job, FLIGHT_NOT_ASKED);
        if (!b->adopt.clean)
            let_settle(s, now, b->adopted[i].row.log_id);
    }
    for (int i = 0; i < b->nadopted; i++) { /* a retry may have come before its run */
        struct run *r = run_find(s, b->adopted[i].row.log_id);
        start_retry(s, r);
        if (r && r->phase == PHASE_LOST)
            start_retry(s, retry_of(r));
    }
    for (int i = 0; i < b->nadopted; i++) /* what came before the commit was heard */
        results_again(s, now, b->adopted[i].row.log_id);
    for (int i = 0; i < b->ninbox; i++) /* before anybody is asked */
        result_of_inbox(s, now, &b->inbox[i]);
}

/* ---- edits at others -------------------------------------------------------------------------
 */

/* The job's row may have gone: the edit finds that out. */
static void sync_begin(struct sched *s, struct live_job *j)
{
    j->syncing = true;
    struct edit *e = edit_new(EDIT_JOB_SYNC);
    e->id = j->id;
    e->version = -1;
    array_push(s->next->edits, s->next->nedits, e);
    want_batch(s);
}

static void sync_look(struct sched *s, struct live_job *j)
{
    bool behind = j->told < j->news || j->told < j->def->version;
    if (s->shared && behind && !j->syncing)
        sync_begin(s, j);
}

/* An edit here that was made with the same batch did not know of the run. */
static void adopted_look(struct sched *s, const struct run_row *row)
{
    struct live_job *j = job_live(s, row->job_id);
    if (!j)
        return;
    if (s->shared && row->version < j->told && !j->syncing) {
        j->told = row->version;
        sync_begin(s, j);
    }
    sync_look(s, j);
}

static void heard(struct sched *s, const struct job_news *c)
{
    struct live_job *j = job_live(s, c->job_id);
    if (!j)
        return;
    if (c->version > j->news)
        j->news = c->version;
    sync_look(s, j);
}

/* A batch that is being written may bring runs of a version that was the newest when it began, or
 * may be the very edit. */
void sched_job_changed(struct sched *s, struct now now, const struct job_news *c)
{
    (void)now;
    if (!s->shared)
        return;
    if (s->writing)
        array_push(s->heard, s->nheard, *c);
    else
        heard(s, c);
}

void share_synced(struct sched *s, const struct batch *b)
{
    for (int i = 0; s->shared && i < b->nplanned; i++) {
        struct live_job *j = job_live(s, b->planned[i].row.job_id);
        if (j)
            sync_look(s, j);
    }
    for (int i = 0; i < b->nadopted; i++)
        adopted_look(s, &b->adopted[i].row);
    for (int i = 0; i < s->nheard; i++)
        heard(s, &s->heard[i]);
    free(s->heard);
    s->heard = NULL;
    s->nheard = 0;
}

void share_loaded(struct sched *s)
{
    void *value;
    for (size_t i = 0; s->shared && map_next(&s->jobs, &i, &value);)
        sync_look(s, value);
}
