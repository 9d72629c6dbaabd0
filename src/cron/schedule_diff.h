/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_diff.h - which firings vanish, appear or move when one schedule takes another's place.
 * Pure; any thread. */
#ifndef PEAL_CRON_SCHEDULE_DIFF_H
#define PEAL_CRON_SCHEDULE_DIFF_H

#include "cron/schedule.h"

enum schedule_change {
    CHANGE_VANISH, /* it fired then, and will not */
    CHANGE_APPEAR, /* it did not, and will */
    CHANGE_MOVE,   /* of one that vanishes and one that appears between two that stay */
};

/* One schedule and its first scheduled time from now on. */
struct schedule_side {
    const struct schedule *schedule; /* NULL: it never fires */
    int64_t first_ms;
};

struct schedule_diff {
    int64_t n[CHANGE_MOVE + 1]; /* of each kind */
    int64_t until_ms;           /* looked at up to here */
};

enum { SCHEDULE_DIFF_LOOK = 20000 }; /* firings that one comparison looks at */

/* from_ms: of what vanishes or moves; to_ms: of what appears, or where it moves to; else 0. In the
 * order of time, but that a move stands where the later of its two does. */
typedef void schedule_diff_fn(void *ctx, enum schedule_change change, int64_t from_ms,
                              int64_t to_ms);
void schedule_diff(struct schedule_side before, struct schedule_side after, int64_t until_ms,
                   schedule_diff_fn *fn, void *ctx, struct schedule_diff *ret);

#endif
