/* SPDX-License-Identifier: Apache-2.0 */
/* Quiet time is a sum over reads, not the distance from the first one: a watcher that could not
 * read knows nothing of the time in between. */
#include "model/life.h"

enum life_sign life_look(struct life_watch *w, int64_t boot_ms, int64_t lease_ms, int64_t epoch,
                         int64_t beat, int64_t commits)
{
    int64_t gap_ms = boot_ms - w->read_ms;
    if (w->epoch != epoch || w->beat != beat || w->commits != commits) {
        *w = (struct life_watch){
            .epoch = epoch, .beat = beat, .commits = commits, .read_ms = boot_ms
        };
        return LIFE_MOVES;
    }
    w->quiet_ms += gap_ms < LIFE_GAP_MS ? gap_ms : LIFE_GAP_MS;
    w->read_ms = boot_ms;
    return w->quiet_ms >= lease_ms ? LIFE_OVER : LIFE_QUIET;
}
