/* SPDX-License-Identifier: Apache-2.0 */
/* warm.c - connections ahead of a burst.
 *
 * Thousands of jobs are due at the same second, and opening a connection costs several times what a
 * send costs. What is planned is known seconds ahead, so once a second the timer heap is looked
 * through: a lane that has many runs on one millisecond gets its connections before, and may use
 * them all at once. A steady load, however high, has no such milliseconds and pays for the look
 * only. */
#include "sched/warm.h"
#include "sched/lane.h"
#include "sched/outbox.h"
#include "sched/run.h"
#include "sched/state.h"

#define AHEAD_MS                                                                                   \
    2200             /* two looks, and one that comes late; less than idle connections are kept    \
                      */
#define BURST_MIN 64 /* runs on one millisecond */
#define BURST_OVER 8 /* and so many times the mean of those looked at */

struct look {
    int64_t from_ms;
    uint32_t at[AHEAD_MS]; /* runs a millisecond */
    uint32_t total, most, burst;
    struct list lanes; /* those with runs in a burst */
};

static void count(void *ctx, struct heap_entry *e, int64_t at_ms)
{
    struct look *l = ctx;
    (void)e;
    uint32_t n = ++l->at[at_ms - l->from_ms];
    l->total++;
    if (n > l->most)
        l->most = n;
}

static void gather(void *ctx, struct heap_entry *e, int64_t at_ms)
{
    struct look *l = ctx;
    if (l->at[at_ms - l->from_ms] < l->burst)
        return;
    struct lane *lane = container_of(e, struct run, timer.entry)->lane;
    if (!lane || lane->dead)
        return;
    if (!list_linked(&lane->coming_node))
        list_push(&l->lanes, &lane->coming_node);
    lane->coming++;
}

static void warm(struct sched *s, struct now now, struct lane *lane)
{
    int most = lane_most(s) < lane_fair(s) ? lane_most(s) : lane_fair(s);
    int n = lane->coming < most ? lane->coming : most;
    lane->coming = 0;
    if (n <= LANE_WINDOW)
        return;
    if (n > lane->window)
        lane_set_window(s, lane, n);
    lane->warm_ms = now.boot_ms;
    struct action *a = action_new(s, ACTION_WARM);
    a->call.address = lane->address;
    a->connections = n;
    a->lane = lane;
    lane->refs++;
}

void warm_lanes(struct sched *s, struct now now)
{
    int64_t until = now.wall_ms + AHEAD_MS;
    struct look l = { .from_ms = s->warmed_ms };
    if (l.from_ms < now.wall_ms || l.from_ms > until) /* the first time; or the clock was set */
        l.from_ms = now.wall_ms;
    s->warmed_ms = until;
    heap_each(&s->due, l.from_ms, until, count, &l);
    uint32_t mean = l.total / (uint32_t)(until - l.from_ms + 1);
    l.burst = mean * BURST_OVER > BURST_MIN ? mean * BURST_OVER : BURST_MIN;
    if (l.most < l.burst)
        return;
    list_init(&l.lanes);
    heap_each(&s->due, l.from_ms, until, gather, &l);
    for (struct list_node *n; (n = list_pop(&l.lanes));)
        warm(s, now, container_of(n, struct lane, coming_node));
}
