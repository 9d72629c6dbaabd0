/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.c - from due to answered: the watermark, the address, the lane, the call's end.
 *
 * A run moves on when its scheduled time has come, the watermark on disk covers it, and the address
 * on disk is the one that is used. It may then wait in its lane and for a connection, so the gate
 * of the send is sched_leaving: time, watermark and version are looked at there once more, and the
 * flight recorder gets its word, right before the first byte. The simulation asserts each. */
#include "sched/state.h"
#include <stdio.h>
#include <string.h>

#define WIDEN_MS 5    /* how often a window is looked at while runs wait for it */
#define QUIET_MS 4000 /* then its connections are closed, and the window is small again */
#define HOPS_MAX 100  /* length of a chain of child jobs */

void dispatch_plan(struct sched *s, struct run *r)
{
    heap_add(&s->due, &r->timer.entry, r->due_ms);
}

/* ---- where to ------------------------------------------------------------------------------- */

/* FIRST, LAST and CONSISTENT_HASH mean one address, and of FAILOVER and BUSYOVER only one has said
 * yes; the others may take the next when one is full. */
static bool sticky(const struct run *r)
{
    enum route route = r->job->def->route;
    return r->flags & (RUN_BROADCAST | RUN_PROBED) || (r->text && r->text->choices) ||
           route == ROUTE_FIRST || route == ROUTE_LAST || route == ROUTE_CONSISTENT_HASH;
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

static struct lane *next_lane(struct sched *s, const struct run *r)
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
    directory_freshen(s, now, g);
    int i = router_pick(s->router, r->job->def->route, r->job->id, g->view, now.wall_ms);
    struct lane *lane = i < 0 ? NULL : textmap_find(&s->lanes, slice_text(g->view->addresses[i]));
    bool listed = lane && group_place(g, lane) >= 0;
    if (listed && !lane->dead)
        return lane;
    struct lane *other = living_lane(s, g, lane);
    return other ? other : listed ? lane : group_lane(g, 0);
}

#define NOBODY_TEXT "no executor is registered for the job's group, and none is listed"

/* Change the address: on disk first, the send comes when that is committed. */
void dispatch_readdress(struct sched *s, struct run *r, struct lane *lane)
{
    run_set_lane(s, r, lane);
    r->flags |= RUN_ADDRESS;
    s->wanted = true;
}

void dispatch_refuse(struct sched *s, struct now now, struct run *r, enum phase to, const char *why)
{
    s->stats.refused++;
    run_finish(s, now, r, to, 500, why);
}

/* ---- sending -------------------------------------------------------------------------------- */

void dispatch_call(struct sched *s, struct run *r)
{
    r->flags |= RUN_CALLING;
    r->ticket = ++s->ticket;
    r->lane->in_flight++;
    if (r->lane->in_flight > r->lane->peak)
        r->lane->peak = r->lane->in_flight;
    call_out(s, r->lane,
             (struct call){
                 .kind = CALL_RUN,
                 .log_id = r->log_id,
                 .ticket = r->ticket,
                 .job_id = r->job->id,
                 .job = r->job->def,
                 .param = run_param(r),
                 .shard = r->shard,
                 .shard_total = r->shard_total > 0 ? r->shard_total : 1,
                 .attempt = r->attempt,
                 .scheduled_ms = r->scheduled_ms,
                 .due_ms = r->due_ms,
                 .log_time_ms = run_log_time(r),
             });
}

static void send_run(struct sched *s, struct now now, struct run *r)
{
    run_move(s, now, r, PHASE_SENT);
    /* not written: a planned row within the watermark is asked about after a crash just the same */
    r->flags |= RUN_LEFT;
    r->sent_ms = now.boot_ms;
    s->stats.fired++;
    dispatch_call(s, r);
}

/* Was the job changed since this row was planned? Runs that nobody's schedule asked for stay. */
static bool outdated(const struct run *r)
{
    return r->version < r->job->def->version && r->flags & RUN_SCHEDULED;
}

bool dispatch_outdated(struct sched *s, struct now now, struct run *r)
{
    if (!outdated(r))
        return false;
    run_withdraw(s, now, r, PHASE_WITHDRAWN, "the job was changed");
    return true;
}

/* The job may have changed and the clock may have gone back while the run waited for its address,
 * in its lane, or for a connection; a result or an edit may have ended it. */
static bool may_leave(const struct sched *s, struct now now, const struct run *r)
{
    return r->phase == PHASE_SENT && !(r->flags & (RUN_CLOSED | RUN_HELD)) && !outdated(r) &&
           r->due_ms <= now.wall_ms && r->due_ms <= s->watermark_ms;
}

bool sched_leaving(struct sched *s, struct now now, int64_t log_id, uint32_t ticket)
{
    struct run *r = map_find(&s->runs, (uint64_t)log_id);
    if (!r || !(r->flags & RUN_CALLING) || r->ticket != ticket || !may_leave(s, now, r))
        return false;
    struct run *cause = r->kind == KIND_RETRY ? map_find(&s->runs, (uint64_t)r->cause) : NULL;
    if (cause && cause->phase == PHASE_LOST)
        run_close_lost(s, cause); /* the run that it retries cannot be finished any more */
    flight_leaving(&s->flight, &r->place_of_word, r->log_id, s->seq);
    return true;
}

void lane_pump(struct sched *s, struct now now, struct lane *lane)
{
    int most = lane->room < lane->window ? lane->room : lane->window;
    while (!s->draining && lane->in_flight < most) {
        struct list_node *n = list_first(&lane->queue);
        if (!n)
            return;
        struct run *r = container_of(n, struct run, place);
        run_unlink(s, r);
        if (r->due_ms > now.wall_ms) /* the clock went back while it waited */
            dispatch_plan(s, r);
        else
            send_run(s, now, r);
    }
    bool held = lane_may_widen(s, lane) && !list_empty(&lane->queue);
    if (!held || lane->dead || list_linked(&lane->room_node) || heap_linked(&lane->timer.entry))
        return;
    lane->answers = 0;
    heap_add(&s->waits, &lane->timer.entry, now.boot_ms + WIDEN_MS);
}

static void lane_wait(struct run *r, bool first)
{
    if (first)
        list_push_front(&r->lane->queue, &r->place);
    else
        list_push(&r->lane->queue, &r->place);
    r->lane->nqueue++;
    r->flags |= RUN_QUEUED;
}

void lane_enqueue(struct sched *s, struct now now, struct run *r)
{
    int64_t busy_ms = r->lane->heard_ms > r->lane->warm_ms ? r->lane->heard_ms : r->lane->warm_ms;
    if (r->lane->in_flight == 0 && now.boot_ms - busy_ms > QUIET_MS)
        lane_narrow(s, r->lane);
    lane_wait(r, false);
    lane_pump(s, now, r->lane);
}

/* A yes of the old group, or to the old route, is none. */
void dispatch_moved(struct sched *s, struct run *r)
{
    r->flags = (r->flags & ~(uint32_t)RUN_PROBED) | RUN_MOVED;
    if (r->phase != PHASE_PLANNED || !list_linked(&r->place))
        return;
    run_unlink(s, r); /* it waits in a lane, or for a yes */
    dispatch_plan(s, r);
}

static bool by_hand(const struct run *r)
{
    return r->text && r->text->choices && r->lane;
}

/* The run's address is dead, has left the group, is another group's, or there is none yet. NULL:
 * nobody is there. */
static struct lane *other_lane(struct sched *s, struct now now, const struct run *r, bool listed)
{
    struct lane *other = pick_lane(s, now, r);
    return listed && other && other->dead ? r->lane
                                          : other; /* all are dead: its attempt says why */
}

/* The address that said yes has died or left: FAILOVER and BUSYOVER ask the others. */
static void ask_anew(struct sched *s, struct now now, struct run *r)
{
    r->flags &= ~(uint32_t)RUN_PROBED;
    probe_begin(s, now, r);
}

/* Due, within the watermark, chosen: put it on its lane, or find another. */
void dispatch_run(struct sched *s, struct now now, struct run *r)
{
    if (r->flags & (RUN_ADDRESS | RUN_HELD))
        return; /* comes back when the commit does */
    bool moved = r->flags & RUN_MOVED;
    r->flags &= ~(uint32_t)RUN_MOVED;
    if (by_hand(r)) {
        if (r->flags & RUN_PROBED && r->lane->dead)
            ask_anew(s, now, r);
        else
            lane_enqueue(s, now, r);
        return;
    }
    const struct group *g = group_of(s, r->job->def->group_id);
    bool listed = g && r->lane && group_place(g, r->lane) >= 0;
    if (r->flags & RUN_PROBED && (!listed || r->lane->dead)) { /* since it said yes */
        ask_anew(s, now, r);
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
        to = next_lane(s, r);
    if (!to && !listed)
        dispatch_refuse(s, now, r, PHASE_UNROUTABLE, NOBODY_TEXT);
    else if (!to || to == r->lane)
        lane_enqueue(s, now, r);
    else
        dispatch_readdress(s, r, to);
}

void dispatch_addressed(struct sched *s, struct now now, struct run *r)
{
    if (probe_wanted(r)) /* the route is another since the address was chosen */
        probe_begin(s, now, r);
    else
        dispatch_run(s, now, r);
}

/* ---- due ------------------------------------------------------------------------------------ */

/* Is there a younger planned firing of the job that is overdue as well? */
static bool younger_overdue(const struct run *r, int64_t now_ms)
{
    list_each(&r->job->runs, n, tmp)
    {
        const struct run *other = container_of(n, struct run, of_job);
        if (other != r && other->phase == PHASE_PLANNED && other->scheduled_ms > r->scheduled_ms &&
            other->due_ms <= now_ms && other->kind == r->kind)
            return true;
    }
    return false;
}

/* A planned row that could not be sent within its start deadline (the center was away, or held up)
 * goes to the misfire policy. What nobody schedules - manual runs, retries, children - still runs.
 */
static bool misfired(struct sched *s, struct now now, struct run *r)
{
    const struct job *def = r->job->def;
    if (r->kind != KIND_CRON || now.wall_ms - r->due_ms <= def->start_deadline_ms)
        return false;
    if (def->misfire == MISFIRE_FIRE_ALL)
        return false;
    if (def->misfire == MISFIRE_FIRE_ONCE && !younger_overdue(r, now.wall_ms))
        return false;
    run_withdraw(s, now, r, PHASE_SKIPPED, "its start deadline had passed");
    return true;
}

/* A shard leaves by the group's list as it is now: did that take this one back? (Of a large group
 * whose addresses come and go by the list of a moment ago, see put_off in directory.c.) */
static bool replanned(struct sched *s, struct now now, const struct run *r)
{
    struct group *g = r->flags & RUN_BROADCAST ? group_of(s, r->job->def->group_id) : NULL;
    if (!g || !(list_linked(&g->stale) || list_linked(&g->unlaid)))
        return false;
    directory_now(s, now, g);
    return r->flags & RUN_CLOSED;
}

static void fire(struct sched *s, struct now now, struct run *r)
{
    if (dispatch_outdated(s, now, r) || replanned(s, now, r))
        return;
    if (r->due_ms > s->watermark_ms) {
        list_push(&s->beyond, &r->place);
        s->wanted = true;
        return;
    }
    if (misfired(s, now, r))
        return;
    if (r->hops > HOPS_MAX)
        dispatch_refuse(s, now, r, PHASE_REJECTED, "a chain of more than 100 child jobs");
    else
        dispatch_addressed(s, now, r);
}

/* A part of what is due: sched_next_wall stays in the past while there is more, so that the driver
 * looks at results and commits between two parts. */
void dispatch_due(struct sched *s, struct now now)
{
    struct heap_entry *e;
    for (int n = 0;
         n < s->config.dispatch_at_once && !s->draining && (e = heap_pop(&s->due, now.wall_ms));
         n++)
        fire(s, now, container_of(e, struct run, timer.entry));
}

void dispatch_watermark(struct sched *s, struct now now)
{
    if (s->draining)
        return;
    struct list waiting;
    list_init(&waiting);
    for (struct list_node *n; (n = list_pop(&s->beyond));)
        list_push(&waiting, n);
    for (struct list_node *n; (n = list_pop(&waiting));) {
        struct run *r = container_of(n, struct run, place);
        if (r->due_ms > now.wall_ms) /* the clock went back meanwhile */
            dispatch_plan(s, r);
        else
            fire(s, now, r); /* may put it back */
    }
}

bool dispatch_overdue(struct now now, const struct run *r)
{
    int64_t waited = now.boot_ms - r->since_ms, late = now.wall_ms - r->due_ms;
    return (late < waited ? late : waited) > r->job->def->start_deadline_ms;
}

static void sweep_lane(struct sched *s, struct now now, struct lane *lane)
{
    list_each(&lane->queue, n, tmp)
    {
        struct run *r = container_of(n, struct run, place);
        if (!dispatch_overdue(now, r))
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
        dispatch_refuse(s, now, r, PHASE_REJECTED, why);
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

/* ---- the end of a call ---------------------------------------------------------------------- */

/* Nothing can have been delivered: an ordinary planned run again. False: it is taken care of; an
 * earlier copy may still be there, and only asking tells, or it is to be routed anew. */
static bool take_back(struct sched *s, struct now now, struct run *r)
{
    if (r->flags & RUN_DOUBT) {
        run_move(s, now, r, PHASE_UNKNOWN);
        run_dirty(s, r);
        reconcile_soon(s, now, r, s->config.reconcile_gap_ms);
        return false;
    }
    run_move(s, now, r, PHASE_PLANNED);
    flight_unsent(&s->flight, r->place_of_word, r->log_id);
    r->flags &= ~(uint32_t)RUN_LEFT;
    if (r->flags & RUN_HELD)
        return false; /* the end of the edit plans it, or takes it */
    if (r->flags & RUN_MOVED)
        dispatch_plan(s, r);
    return !(r->flags & RUN_MOVED);
}

/* The client had no room for it, which says nothing about the address: it waits as before. */
static void no_room(struct sched *s, struct now now, struct run *r)
{
    if (r->lane->window > LANE_FAIR)
        lane_set_window(s, r->lane, LANE_FAIR);
    lane_rest(s, now, r->lane);
    if (take_back(s, now, r))
        lane_wait(r, true);
}

/* Something has changed since the call was asked for: the run is decided anew. */
static void not_leaving(struct sched *s, struct now now, struct run *r)
{
    if (take_back(s, now, r))
        dispatch_plan(s, r);
}

/* For another address if there is one. When all have refused, the attempt says why. */
static void not_sent(struct sched *s, struct now now, struct run *r, const struct call_result *c)
{
    struct lane *failed = r->lane;
    lane_dead(s, now, failed);
    if (!take_back(s, now, r))
        return;
    struct lane *other =
        r->flags & RUN_BROADCAST || (r->text && r->text->choices) ? NULL : next_lane(s, r);
    if (other && r->tried++ < 16) {
        if (r->flags & RUN_PROBED)
            ask_anew(s, now, r);
        else
            dispatch_readdress(s, r, other);
        return;
    }
    char why[512];
    snprintf(why, sizeof(why), "cannot connect to %.200s: %.*s", failed->address, (int)c->msg.n,
             c->msg.p ? c->msg.p : "");
    dispatch_refuse(s, now, r, PHASE_REJECTED, why);
}

/* Refused with the words of the result, if it has some. */
static void refuse_with(struct sched *s, struct now now, struct run *r, const struct call_result *c,
                        const char *otherwise)
{
    char why[1024];
    snprintf(why, sizeof(why), "%.*s", (int)utf8_cut(c->msg.p, c->msg.n, sizeof(why) - 1),
             c->msg.p ? c->msg.p : "");
    dispatch_refuse(s, now, r, PHASE_REJECTED, why[0] ? why : otherwise);
}

/* The call cannot be made, whatever the address. */
static void unfit(struct sched *s, struct now now, struct run *r, const struct call_result *c)
{
    if (take_back(s, now, r))
        refuse_with(s, now, r, c, "the call cannot be made");
}

static void in_doubt(struct sched *s, struct now now, struct run *r)
{
    s->stats.doubts++;
    r->flags |= RUN_DOUBT | RUN_DOUBTED;
    run_move(s, now, r, PHASE_UNKNOWN);
    run_urgent(s, r); /* a row that was ever in doubt must be known as such */
    reconcile_soon(s, now, r, 0);
}

static void accepted(struct sched *s, struct now now, struct run *r)
{
    flight_accepted(&s->flight, r->place_of_word, r->log_id);
    r->flags &= ~(uint32_t)RUN_DOUBT;
    run_move(s, now, r, PHASE_ACCEPTED);
    run_note_trigger(s, r, 200, NULL);
    reconcile_soon(s, now, r, s->config.reconcile_first_ms);
}

static void answered(struct sched *s, struct now now, struct run *r, const struct call_result *c)
{
    if (c->code == 200 || c->repeat) {
        accepted(s, now, r);
        return;
    }
    if (r->flags & RUN_DOUBT) { /* the refused one may be the second copy */
        run_move(s, now, r, PHASE_UNKNOWN);
        run_dirty(s, r);
        reconcile_soon(s, now, r, s->config.reconcile_gap_ms);
        return;
    }
    refuse_with(s, now, r, c, "refused by the executor without a message");
}

/* A callback was faster, and proves that the run was accepted: what this answer says, a refusal of
 * the second copy perhaps, changes nothing. */
static void late_answer(struct sched *s, struct run *r)
{
    if (r->flags & RUN_WRITTEN && !r->pending)
        run_free(s, r);
}

void dispatch_on_run(struct sched *s, struct now now, const struct call_result *c)
{
    struct run *r = map_find(&s->runs, (uint64_t)c->log_id);
    if (!r || !(r->flags & RUN_CALLING) || r->ticket != c->ticket)
        return;
    struct lane *lane = r->lane;
    lane->refs++; /* the run may go, or move */
    lane->in_flight--;
    r->flags &= ~(uint32_t)RUN_CALLING;
    if (c->outcome == CALL_ANSWERED) {
        lane_alive(s, now, lane);
        lane->answers++;
    }
    if (r->flags & RUN_CLOSED) {
        late_answer(s, r);
    } else if (r->phase != PHASE_SENT) {
        ; /* its callback was faster, and it was lost or is being edited */
    } else if (c->outcome == CALL_AGAIN) {
        not_leaving(s, now, r);
    } else if (r->flags & RUN_HELD && !(c->outcome == CALL_ANSWERED && c->code == 200)) {
        in_doubt(s, now, r); /* its job is being deleted: no end of its own meanwhile */
    } else if (c->outcome == CALL_ANSWERED) {
        answered(s, now, r, c);
    } else if (c->outcome == CALL_NOT_SENT) {
        not_sent(s, now, r, c);
    } else if (c->outcome == CALL_FULL) {
        no_room(s, now, r);
    } else if (c->outcome == CALL_UNFIT) {
        unfit(s, now, r, c);
    } else if (c->outcome == CALL_FOREIGN && !(r->flags & RUN_DOUBT)) {
        refuse_with(s, now, r, c, "the address speaks another protocol");
    } else {
        in_doubt(s, now, r);
    }
    lane_pump(s, now, lane);
    lane_put(s, lane);
}
