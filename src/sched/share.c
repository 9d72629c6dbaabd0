/* SPDX-License-Identifier: Apache-2.0 */
/* What a center does as one of several on a database: it sends by a lease, plans what others have
 * left, and leaves nothing planned to them. Which of them lives is decided elsewhere (node.h). */
#include "sched/share.h"
#include "sched/dispatch.h"
#include "sched/job.h"
#include "sched/result.h"
#include "sched/run.h"
#include "sched/start.h"
#include "sched/state.h"

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
    bool same = s->share.nodes == share->nodes && s->share.place == share->place;
    s->share = *share;
    s->replan |= !same;
}

void sched_adopt(struct sched *s, const struct adoption *a)
{
    s->next->adopt = *a;
    s->wanted = true;
}

void share_adopted(struct sched *s, struct now now, const struct batch *b)
{
    for (int i = 0; i < b->nadopted; i++)
        start_run(s, now, &b->adopted[i].row, b->adopted[i].job, FLIGHT_NOT_ASKED);
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
