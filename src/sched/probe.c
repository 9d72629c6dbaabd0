/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c - FAILOVER and BUSYOVER ask before they send: /beat, or /idleBeat for the job, in the
 * order of the group's list, or of the one that a user gave for the run. The first yes wins;
 * addresses that are known to be dead come last.
 *
 * A lane's one beat answers for every run that waits for it, an idleBeat for all runs of its job.
 * Few idleBeats to one address are under way at once, the others wait for a place; when one comes
 * to nothing, the executor is mute and not the job, so that is the answer for all of them. A burst
 * of such jobs costs a few calls an address, and never the places of its sends. */
#include "sched/probe.h"
#include "model/log_outcome.h"
#include "sched/beat.h"
#include "sched/end.h"
#include "sched/group.h"
#include "sched/job.h"
#include "sched/lane.h"
#include "sched/outbox.h"
#include "sched/run.h"
#include "sched/send.h"
#include "sched/state.h"
#include <stdio.h>
#include <stdlib.h>

#define IDLES_AT_ONCE 8   /* idleBeats under way to one address */
#define DEAD_TRIED_MAX 16 /* dead addresses that one run asks */

struct probe {             /* an idleBeat */
    struct list_node node; /* in its lane's probes (waits for a place) or asked (under way) */
    struct list_node of_job;
    struct list runs;  /* that wait for the answer, by place */
    struct lane *lane; /* counted */
    int64_t job_id, group_id;
    uint32_t ticket;
};

bool probe_wanted(const struct run *r)
{
    enum route route = r->job->def->route;
    return (route == ROUTE_FAILOVER || route == ROUTE_BUSYOVER) && !(r->flags & RUN_PROBED) &&
           !(r->flags & RUN_BROADCAST);
}

/* ---- one idleBeat a lane and job ------------------------------------------------------------- */

static struct probe *probe_of(const struct live_job *j, const struct lane *lane)
{
    list_each(&j->probes, n, tmp)
    {
        struct probe *p = container_of(n, struct probe, of_job);
        if (p->lane == lane)
            return p;
    }
    return NULL;
}

static struct probe *probe_new(struct live_job *j, struct lane *lane)
{
    struct probe *p = mem_new(sizeof(*p));
    list_init(&p->runs);
    p->lane = lane;
    lane->refs++;
    p->job_id = j->id;
    p->group_id = j->def->group_id;
    list_push(&j->probes, &p->of_job);
    list_push(&lane->probes, &p->node);
    return p;
}

static void probe_free(struct probe *p)
{
    list_remove(&p->node);
    list_remove(&p->of_job);
    free(p);
}

void probes_free(struct lane *lane)
{
    struct list_node *n;
    while ((n = list_first(&lane->probes)) || (n = list_first(&lane->asked)))
        probe_free(container_of(n, struct probe, node));
}

static void drop(struct sched *s, struct probe *p)
{
    struct lane *lane = p->lane;
    probe_free(p);
    lane_put(s, lane);
}

/* The client was full: none while the lane rests, then one to try. */
static bool has_room(const struct lane *lane)
{
    return !lane->resting && (lane->room == ROOM_ENOUGH || lane->idles == 0);
}

void probe_pump(struct sched *s, struct lane *lane)
{
    lane->refs++;
    while (!s->draining && has_room(lane) && lane->idles < lane_part(s, IDLES_AT_ONCE)) {
        struct list_node *n = list_first(&lane->probes);
        if (!n)
            break;
        struct probe *p = container_of(n, struct probe, node);
        if (list_empty(&p->runs)) { /* they have been taken away meanwhile */
            drop(s, p);
            continue;
        }
        list_remove(n);
        list_push(&lane->asked, n);
        lane->idles++;
        p->ticket = ++s->ticket;
        call_out(s, lane,
                 (struct call){ .kind = CALL_IDLE,
                                .ticket = p->ticket,
                                .job_id = p->job_id,
                                .group_id = p->group_id });
    }
    lane_put(s, lane);
}

static void wait_idle(struct sched *s, struct run *r, struct lane *lane)
{
    struct probe *p = probe_of(r->job, lane);
    if (!p)
        p = probe_new(r->job, lane);
    run_wait_for(s, r, WAIT_PROBE);
    list_push(&p->runs, &r->place);
    probe_pump(s, lane);
}

static void wait_beat(struct sched *s, struct run *r, struct lane *lane)
{
    run_wait_for(s, r, WAIT_PROBE);
    list_push(&lane->beats, &r->place);
    if (!lane->resting)
        lane_beat(s, lane);
}

/* ---- one run's walk ------------------------------------------------------------------------- */

static int list_size(const struct group *g, const struct run *r)
{
    return run_choices(r) ? plan_choices(run_choices(r)) : g ? group_size(g) : 0;
}

/* A place of the run's list, counted (lane_put): one that a user gave may be in no group's. */
static struct lane *list_lane(struct sched *s, const struct group *g, const struct run *r, int at)
{
    if (run_choices(r)) {
        struct slice rest = slice_text(run_choices(r)), one = { NULL, 0 };
        for (int i = 0; i <= at; i++)
            slice_item(&rest, &one);
        return lane_get(s, one);
    }
    struct lane *lane = group_lane(g, at);
    lane->refs++;
    return lane;
}

static bool to_query(struct run *r, const struct lane *lane, bool again)
{
    if (!lane->dead)
        return !again || lane->alive_ms >= r->probing_ms;
    return again && lane->dead_ms < r->probing_ms && r->tried++ < DEAD_TRIED_MAX;
}

/* The next address to ask, counted; NULL: none is left. The list is gone through twice: the living,
 * then those that were dead all the time, or have come back since. */
static struct lane *next_to_query(struct sched *s, const struct group *g, struct run *r)
{
    for (int n = list_size(g, r); r->probe < 2 * n; r->probe++) {
        struct lane *lane = list_lane(s, g, r, r->probe % n);
        if (to_query(r, lane, r->probe >= n))
            return lane;
        lane_put(s, lane);
    }
    return NULL;
}

static const char *route_of(const struct run *r)
{
    return r->job->def->route == ROUTE_BUSYOVER ? "BUSYOVER" : "FAILOVER";
}

static void nobody(struct sched *s, struct now now, struct run *r, int listed)
{
    bool busy = r->job->def->route == ROUTE_BUSYOVER;
    run_refuse(s, now, r, listed ? PHASE_REJECTED : PHASE_UNROUTABLE,
               !listed          ? NO_EXECUTOR_TEXT
               : run_choices(r) ? busy
                                      ? "BUSYOVER: none of the addresses given for this run is idle"
                                      : "FAILOVER: none of the addresses given for this run answers"
               : busy           ? "BUSYOVER: no executor of the group is idle"
                                : "FAILOVER: no executor of the group answers");
}

static void probe_next(struct sched *s, struct now now, struct run *r)
{
    const struct group *g = group_of(s, r->job->def->group_id);
    if (g && r->probe_list !=
                 group_list_no(g)) { /* other addresses: those that were asked prove little */
        r->probe_list = group_list_no(g);
        r->probe = 0;
    }
    struct lane *lane = next_to_query(s, g, r);
    if (!lane) {
        nobody(s, now, r, list_size(g, r));
        return;
    }
    if (r->job->def->route == ROUTE_BUSYOVER && !lane->dead)
        wait_idle(s, r, lane);
    else
        wait_beat(s, r, lane);
    lane_put(s, lane);
}

void probe_begin(struct sched *s, struct now now, struct run *r)
{
    const struct group *g = group_of(s, r->job->def->group_id);
    r->probe = 0;
    r->probe_list = g ? group_list_no(g) : 0;
    r->probing_ms = now.boot_ms;
    r->flags &= ~(uint32_t)RUN_MOVED;
    probe_next(s, now, r);
}

void probe_anew(struct sched *s, struct now now, struct run *r)
{
    r->flags &= ~(uint32_t)RUN_PROBED;
    probe_begin(s, now, r);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void chosen(struct sched *s, struct now now, struct run *r, struct lane *lane)
{
    r->flags |= RUN_PROBED;
    if (r->lane == lane)
        lane_enqueue(s, now, r);
    else
        run_readdress(s, r, lane);
}

/* The lane has answered for these runs, or has not. They leave the list. */
static void settle(struct sched *s, struct now now, struct list *runs, struct lane *lane, bool yes)
{
    for (struct list_node *n; (n = list_pop(runs));) {
        struct run *r = container_of(n, struct run, place);
        run_leave(s, r);
        if (!s->draining && job_behind(r->job)) {
            run_wait_due(s, r);
            continue;
        }
        if (s->draining || run_withdraw_outdated(s, now, r))
            continue;
        if (yes) {
            chosen(s, now, r, lane);
            continue;
        }
        r->probe++;
        probe_next(s, now, r);
    }
}

static void beaten(struct sched *s, struct now now, struct lane *lane, bool yes)
{
    struct list runs, busyover;
    list_init(&runs);
    list_init(&busyover);
    for (struct list_node *n; (n = list_pop(&lane->beats));) {
        const struct run *r = container_of(n, struct run, place);
        bool still = yes && r->job->def->route == ROUTE_BUSYOVER; /* it lives: is it idle? */
        list_push(still ? &busyover : &runs, n);
    }
    for (struct list_node *n; (n = list_pop(&busyover));)
        wait_idle(s, container_of(n, struct run, place), lane);
    settle(s, now, &runs, lane, yes);
}

void probe_on_beat(struct sched *s, struct now now, const struct call_result *c)
{
    struct lane *lane = textmap_find(&s->lanes, slice_text(c->address));
    if (!lane || !lane->probing || lane->ticket != c->ticket)
        return;
    lane->refs++;
    lane_beaten(s, now, lane, c->outcome);
    if (c->outcome == CALL_FULL)
        lane_rest(s, now, lane);
    else
        beaten(s, now, lane, c->outcome == CALL_ANSWERED && c->code == 200);
    lane_put(s, lane);
}

static struct probe *asked(const struct lane *lane, uint32_t ticket)
{
    list_each(&lane->asked, n, tmp)
    {
        struct probe *p = container_of(n, struct probe, node);
        if (p->ticket == ticket)
            return p;
    }
    return NULL;
}

/* Nothing came of an idleBeat: the others would wait in vain. */
static void gather_waiting(struct sched *s, struct list *runs, struct lane *lane)
{
    for (struct list_node *n; (n = list_first(&lane->probes));) {
        struct probe *p = container_of(n, struct probe, node);
        list_move(runs, &p->runs);
        drop(s, p);
    }
}

void probe_on_idle(struct sched *s, struct now now, const struct call_result *c)
{
    struct lane *lane = textmap_find(&s->lanes, slice_text(c->address));
    struct probe *p = lane ? asked(lane, c->ticket) : NULL;
    if (!p)
        return;
    lane->refs++;
    lane->idles--;
    if (c->outcome == CALL_FULL) {
        list_remove(&p->node);
        list_push_front(&lane->probes, &p->node);
        lane_rest(s, now, lane);
    } else {
        struct list runs;
        list_init(&runs);
        list_move(&runs, &p->runs);
        drop(s, p);
        if (c->outcome == CALL_ANSWERED)
            lane_alive(s, now, lane);
        else if (c->outcome == CALL_NOT_SENT)
            lane_dead(s, now, lane);
        if (c->outcome != CALL_ANSWERED)
            gather_waiting(s, &runs, lane);
        settle(s, now, &runs, lane, c->outcome == CALL_ANSWERED && c->code == 200);
        probe_pump(s, lane);
    }
    lane_put(s, lane);
}

/* ---- start deadlines ------------------------------------------------------------------------- */

static void sweep(struct sched *s, struct now now, struct list *runs)
{
    list_each(runs, n, tmp)
    {
        struct run *r = container_of(n, struct run, place);
        if (!run_overdue(now, r))
            continue;
        char why[160];
        snprintf(why, sizeof(why),
                 "%s: no executor of the group said yes within the start deadline (%lld ms)",
                 route_of(r), (long long)r->job->def->start_deadline_ms);
        run_refuse(s, now, r, PHASE_REJECTED, why);
    }
}

void probe_sweep(struct sched *s, struct now now, struct lane *lane)
{
    sweep(s, now, &lane->beats);
    list_each(&lane->probes, n, tmp) sweep(s, now, &container_of(n, struct probe, node)->runs);
    list_each(&lane->asked, m, tmp2) sweep(s, now, &container_of(m, struct probe, node)->runs);
}
