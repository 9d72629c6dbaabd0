/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.c - from due to its lane: the watermark, the address, a yes where the route asks for
 * one.
 *
 * A run moves on when its scheduled time has come, the watermark on disk covers it, and the address
 * on disk is the one that is used. The simulation asserts each. */
#include "sched/dispatch.h"
#include "model/log_outcome.h"
#include "sched/broadcast.h"
#include "sched/end.h"
#include "sched/group.h"
#include "sched/job.h"
#include "sched/lane.h"
#include "sched/probe.h"
#include "sched/run.h"
#include "sched/send.h"
#include "sched/state.h"
#include <stdio.h>

#define HOPS_MAX 100 /* length of a chain of child jobs */

/* ---- where to -------------------------------------------------------------------------------- */

/* FIRST, LAST and CONSISTENT_HASH mean one address, and of FAILOVER and BUSYOVER only one has said
 * yes; the others may take the next when one is full. */
static bool sticky(const struct run *r)
{
    enum route route = r->job->def->route;
    return r->flags & (RUN_BROADCAST | RUN_PROBED) || run_choices(r) || route == ROUTE_FIRST ||
           route == ROUTE_LAST || route == ROUTE_CONSISTENT_HASH;
}

static int free_places(const struct sched *s, const struct lane *lane)
{
    return s->config.lane_queue - lane->nqueue;
}

/* A living lane of the group with room, behind the one that was tried; NULL if there is none. */
static struct lane *living_lane(const struct sched *s, const struct group *g,
                                const struct lane *tried)
{
    int n = group_size(g), at = tried ? group_place(g, tried) : -1;
    if (!list_linked(&g->stale) && g->ndead == n)
        return NULL;
    for (int i = 1; i <= n; i++) {
        struct lane *lane = group_lane(g, (at + i) % n);
        if (lane != tried && !lane->dead && free_places(s, lane) > 0)
            return lane;
    }
    return NULL;
}

struct lane *dispatch_next_lane(struct sched *s, const struct run *r)
{
    const struct group *g = group_of(s, r->job->def->group_id);
    return g ? living_lane(s, g, r->lane) : NULL;
}

/* The address that the route gives now; NULL if the group is empty. The view may be a batch old, so
 * what it says is looked at once more. */
static struct lane *pick_lane(struct sched *s, struct now now, const struct run *r)
{
    struct group *g = group_of(s, r->job->def->group_id);
    if (!g || group_size(g) == 0)
        return NULL;
    group_freshen(s, now, g);
    int i = router_pick(s->router, r->job->def->route, r->job->id, g->view, now.wall_ms);
    struct lane *lane = i < 0 ? NULL : textmap_find(&s->lanes, slice_text(g->view->addresses[i]));
    bool listed = lane && group_place(g, lane) >= 0;
    if (listed && !lane->dead)
        return lane;
    struct lane *other = living_lane(s, g, lane);
    return other ? other : listed ? lane : group_lane(g, 0);
}

/* A yes of the old group, or to the old route, is none. */
void dispatch_moved(struct sched *s, struct run *r)
{
    r->flags = (r->flags & ~(uint32_t)RUN_PROBED) | RUN_MOVED;
    if (r->wait != WAIT_LANE && r->wait != WAIT_PROBE && r->wait != WAIT_WATERMARK)
        return;
    run_leave(s, r);
    run_wait_due(s, r);
}

/* The run's address is dead, has left the group, is another group's, or there is none yet. NULL:
 * no address is there. */
static struct lane *other_lane(struct sched *s, struct now now, const struct run *r, bool listed)
{
    struct lane *other = pick_lane(s, now, r);
    return listed && other && other->dead ? r->lane
                                          : other; /* all are dead: its attempt says why */
}

/* Due, within the watermark, chosen: put it on its lane, or find another. */
static void dispatch_run(struct sched *s, struct now now, struct run *r)
{
    bool moved = r->flags & RUN_MOVED;
    r->flags &= ~(uint32_t)RUN_MOVED;
    if (run_choices(r) && r->lane) {
        if (r->flags & RUN_PROBED && r->lane->dead)
            probe_anew(s, now, r);
        else
            lane_enqueue(s, now, r);
        return;
    }
    const struct group *g = group_of(s, r->job->def->group_id);
    bool listed = g && r->lane && group_place(g, r->lane) >= 0;
    if (r->flags & RUN_PROBED && (!listed || r->lane->dead)) { /* since it said yes */
        probe_anew(s, now, r);
        return;
    }
    struct lane *to = r->lane;
    if (!g || group_size(g) == 0)
        to = NULL;
    else if (r->flags & RUN_BROADCAST && r->lane)
        ; /* its address stands */
    else if (!listed || r->lane->dead || moved)
        to = other_lane(s, now, r, listed);
    else if (free_places(s, r->lane) <= 0 && !sticky(r))
        to = dispatch_next_lane(s, r);
    if (!to && !listed)
        run_refuse(s, now, r, PHASE_UNROUTABLE, NO_EXECUTOR_TEXT);
    else if (!to || to == r->lane)
        lane_enqueue(s, now, r);
    else
        run_readdress(s, r, to);
}

void dispatch_addressed(struct sched *s, struct now now, struct run *r)
{
    if (probe_wanted(r)) /* the route is another since the address was chosen */
        probe_begin(s, now, r);
    else
        dispatch_run(s, now, r);
}

/* ---- due ------------------------------------------------------------------------------------- */

/* The latest of the job's planned firings that are overdue. */
static int64_t latest_overdue(const struct live_job *j, int64_t now_ms)
{
    int64_t latest_ms = INT64_MIN;
    list_each(&j->runs, n, tmp)
    {
        const struct run *r = container_of(n, struct run, of_job);
        if (r->phase == PHASE_PLANNED && r->kind == KIND_CRON && r->due_ms <= now_ms &&
            r->scheduled_ms > latest_ms)
            latest_ms = r->scheduled_ms;
    }
    return latest_ms;
}

/* Is there a younger planned firing of the job that is overdue as well? Each shard of a broadcast
 * asks, and there may be thousands: the answer is made once a job and look at what is due, while
 * which nothing is planned and time stands. */
static bool younger_overdue(const struct sched *s, struct now now, const struct run *r)
{
    struct live_job *j = r->job;
    if (j->overdue_look != s->due_look)
        j->overdue_ms = latest_overdue(j, now.wall_ms);
    j->overdue_look = s->due_look;
    return j->overdue_ms > r->scheduled_ms;
}

/* A planned row that could not be sent within its start deadline (the center was away, or held up)
 * goes to the misfire policy. Manual runs, retries and children, which no schedule asked for, still
 * run.
 */
static bool misfired(struct sched *s, struct now now, struct run *r)
{
    const struct job *def = r->job->def;
    if (r->kind != KIND_CRON || now.wall_ms - r->due_ms <= def->start_deadline_ms)
        return false;
    if (def->misfire == MISFIRE_FIRE_ALL)
        return false;
    if (def->misfire == MISFIRE_FIRE_ONCE && !younger_overdue(s, now, r))
        return false;
    run_withdraw(s, now, r, PHASE_SKIPPED, "its start deadline had passed");
    return true;
}

/* A shard leaves by the group's list as it is now: did that take this one back? (Of a large group
 * whose addresses come and go by the list of a moment ago, see put_off in broadcast.c.) */
static bool replanned(struct sched *s, struct now now, struct run *r)
{
    struct group *g = r->flags & RUN_BROADCAST ? group_of(s, r->job->def->group_id) : NULL;
    if (!g)
        return false;
    if (list_linked(&g->stale) || list_linked(&g->to_replan))
        group_now(s, now, g);
    if (r->flags & RUN_MOVED && !(r->flags & RUN_CLOSED)) /* it came back from a call */
        broadcast_check(s, now, r);
    return r->flags & RUN_CLOSED;
}

/* The log row says what is sent, before it is. */
static void renew(struct sched *s, struct run *r)
{
    run_renew(s, r);
    run_wait_for(s, r, WAIT_ADDRESS);
}

static void fire(struct sched *s, struct now now, struct run *r)
{
    if (job_behind(r->job)) { /* the edit lets it go */
        run_wait_for(s, r, WAIT_WATERMARK);
        list_push(&s->beyond, &r->place);
        return;
    }
    if (run_withdraw_outdated(s, now, r) || replanned(s, now, r))
        return;
    if (r->due_ms > s->watermark_ms || !send_leased(s, now, r)) {
        run_wait_for(s, r, WAIT_WATERMARK);
        list_push(&s->beyond, &r->place);
        want_batch(s);
        return;
    }
    if (misfired(s, now, r))
        return;
    if (r->at_us[STORY_DUE] == STORY_UNKNOWN)
        run_at_now(r, STORY_DUE, now);
    if (r->hops > HOPS_MAX)
        run_refuse(s, now, r, PHASE_REJECTED, "a chain of more than 100 child jobs");
    else if (run_outworn(r))
        renew(s, r);
    else
        dispatch_addressed(s, now, r);
}

/* It was popped from its heap or list. */
static struct run *popped(struct sched *s, struct run *r)
{
    run_leave(s, r);
    return r;
}

/* A part of what is due: sched_next_wall stays in the past while there is more, so that the driver
 * looks at results and commits between two parts. */
void dispatch_due(struct sched *s, struct now now)
{
    struct heap_entry *e;
    s->due_look++;
    for (int n = 0;
         n < s->config.dispatch_at_once && !s->draining && (e = heap_pop(&s->due, now.wall_ms));
         n++)
        fire(s, now, popped(s, container_of(e, struct run, timer.entry)));
}

void dispatch_watermark(struct sched *s, struct now now)
{
    if (s->draining)
        return;
    s->due_look++;
    struct list waiting;
    list_init(&waiting);
    for (struct list_node *n; (n = list_pop(&s->beyond));)
        list_push(&waiting, n);
    for (struct list_node *n; (n = list_pop(&waiting));) {
        struct run *r = popped(s, container_of(n, struct run, place));
        if (r->due_ms > now.wall_ms) /* the clock went back meanwhile */
            run_wait_due(s, r);
        else
            fire(s, now, r); /* may put it back */
    }
}

/* ---- start deadlines ------------------------------------------------------------------------- */

static void sweep_lane(struct sched *s, struct now now, struct lane *lane)
{
    list_each(&lane->queue, n, tmp)
    {
        struct run *r = container_of(n, struct run, place);
        if (!run_overdue(now, r))
            continue;
        char why[200];
        long long deadline = r->job->def->start_deadline_ms;
        if (list_linked(&lane->room_node))
            snprintf(
                why, sizeof(why),
                "this center had no connection left for it within the start deadline (%lld ms)",
                deadline);
        else
            snprintf(why, sizeof(why),
                     "the executor was too busy to take it within the start deadline (%lld ms): "
                     "all of its %d connections wait for answers",
                     deadline, lane->window);
        run_refuse(s, now, r, PHASE_REJECTED, why);
    }
}

void dispatch_sweep(struct sched *s, struct now now)
{
    void *value;
    for (size_t i = 0; textmap_next(&s->lanes, &i, &value);) {
        struct lane *lane = value;
        if (lane->nqueue)
            sweep_lane(s, now, lane);
        probe_sweep(s, now, lane);
        lane_sweep(s, lane);
    }
}
