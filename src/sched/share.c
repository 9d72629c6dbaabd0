/* SPDX-License-Identifier: Apache-2.0 */
/* What a center does as one of several on a database: it sends by a lease, and plans what others
 * have left. Which of them lives is decided elsewhere (node.h). */
#include "sched/dispatch.h"
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
    s->replan = true;
}
