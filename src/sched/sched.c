/* SPDX-License-Identifier: Apache-2.0 */
/* sched.c - the core's door: each entry, the clocks and the timers. */
#include "sched/sched.h"
#include "sched/answer.h"
#include "sched/beat.h"
#include "sched/broadcast.h"
#include "sched/check.h"
#include "sched/commit.h"
#include "sched/dispatch.h"
#include "sched/end.h"
#include "sched/executors.h"
#include "sched/group.h"
#include "sched/kill.h"
#include "sched/lane.h"
#include "sched/outbox.h"
#include "sched/probe.h"
#include "sched/reconcile.h"
#include "sched/registry.h"
#include "sched/result.h"
#include "sched/room.h"
#include "sched/run.h"
#include "sched/send.h"
#include "sched/share.h"
#include "sched/start.h"
#include "sched/state.h"
#include "sched/warm.h"
#include <stdlib.h>
#include <string.h>

#define SWEEP_MS 1000      /* registry, start deadlines */
#define WAITS_AT_ONCE 1000 /* waits that end with one tick; more leave the wake-up in the past */
#define PAUSE_MS 2000      /* a sweep that comes so late: the process stood still */
#define LOOKS_AN_ENTRY 16  /* runs and lanes that checking the sums looks at, on average */

/* The end of each entry. In a debug build the sums are checked after every one as long as the core
 * is small; after as many as keep the looks at each run few, when it is not. */
static void entry_done(struct sched *s)
{
#ifdef PEAL_CHECKED
    if (++s->unchecked * LOOKS_AN_ENTRY < s->runs.len + s->lanes.len)
        return;
    s->unchecked = 0;
    sched_check(s);
#else
    (void)s;
#endif
}

void sched_config_default(struct sched_config *c)
{
    *c = (struct sched_config){
        .lane_connections = SCHED_LANE_CONNECTIONS,
        .dispatch_at_once = 6000,
        .spare_connections = 4096,
        .lane_queue = SCHED_LANE_QUEUE,
        .horizon_ms = 5000,
        .batch_gap_ms = 4,
        .batch_wait_ms = 4,
        .batch_rows = 500,
        .plan_max_rows = 2000,
        .planned_max = 200000,
        .live_max = SCHED_LIVE_MAX,
        .watermark_ahead_ms = 2000,
        .dead_after_ms = 90000,
        .reconcile_gap_ms = 3000,
        .end_wait_ms = 90000,
        .gone_after_ms = 600000,
        .adopted_wait_ms = 2000,
        .reconcile_first_ms = 10000,
        .lost_keep_ms = 3600000,
    };
}

struct sched *sched_new(const struct sched_config *config)
{
    struct sched *s = mem_new(sizeof(*s));
    s->config = *config;
    s->dice.state = config->seed;
    s->router = router_new(dice_u64(&s->dice));
    heap_init(&s->due);
    heap_init(&s->waits);
    map_init(&s->runs);
    map_init(&s->jobs);
    map_init(&s->groups);
    textmap_init(&s->lanes);
    textmap_init(&s->apps);
    list_init(&s->stale);
    list_init(&s->left);
    list_init(&s->to_replan);
    list_init(&s->broadcasts);
    list_init(&s->beyond);
    list_init(&s->dirty);
    list_init(&s->lazy);
    list_init(&s->querying);
    list_init(&s->resting);
    list_init(&s->trying);
    s->room_timer.kind = TIMER_ROOM;
    list_init(&s->acks);
    list_init(&s->kills);
    s->next = batch_new();
    s->seq = 1;
    s->lease_boot_ms = s->lease_mark_ms = INT64_MAX;
    s->plan_next_ms = NEVER_MS;
    return s;
}

void sched_free(struct sched *s)
{
    if (!s)
        return;
    struct action a;
    while (sched_pop(s, &a))
        ;
    struct run *run;
    for (size_t i = 0; (run = map_any(&s->runs, &i));)
        run_free(s, run);
    outbox_free(s);
    map_done(&s->runs);
    map_done(&s->jobs);
    groups_free(s);
    registry_free(s);
    void *value;
    for (size_t i = 0; textmap_next(&s->lanes, &i, &value);) { /* calls under way kept them */
        probes_free(value);
        rounds_free(value);
        lane_free(value);
    }
    textmap_done(&s->lanes);
    heap_done(&s->due);
    heap_done(&s->waits);
    router_free(s->router);
    batch_free(s->next);
    flight_done(&s->flight);
    executors_unseen(s);
    free(s->seen);
    free(s->heard);
    free(s);
}

/* ---- actions --------------------------------------------------------------------------------- */

static void action_release(struct sched *s, struct action *a)
{
    if (a->lane)
        lane_put(s, a->lane);
    if (a->kind == ACTION_CALL)
        job_unref(a->call.job);
    a->lane = NULL;
    a->call.job = NULL;
}

bool sched_pop(struct sched *s, struct action *ret)
{
    action_release(s, &s->popped);
    if (!action_pop(s, ret))
        return false;
    s->popped.kind = ret->kind;
    s->popped.lane = ret->lane;
    s->popped.call.job = ret->call.job;
    entry_done(s);
    return true;
}

/* ---- start and stop -------------------------------------------------------------------------- */

void sched_load_watermark(struct sched *s, int64_t watermark_ms, bool clean)
{
    start_watermark(s, watermark_ms, clean);
}

void sched_load_group(struct sched *s, const struct group_record *g)
{
    group_set(s, g);
    entry_done(s);
}

void sched_load_registry(struct sched *s, struct now now, const struct registry_record *r)
{
    registry_load(s, now, r);
    entry_done(s);
}

uint64_t sched_committed(const struct sched *s)
{
    return s->done_seq;
}

void sched_group_gone(struct sched *s, int64_t group_id)
{
    group_gone(s, group_id);
    entry_done(s);
}

bool sched_heard_registry(struct sched *s, struct now now, const struct registry_record *rows,
                          int n, uint64_t seq)
{
    bool heard = registry_heard(s, now, rows, n, seq);
    groups_left(s);
    entry_done(s);
    return heard;
}

void sched_record(struct sched *s, struct flight_head *recorder)
{
    flight_init(&s->flight, recorder);
}

void sched_load_run(struct sched *s, struct now now, const struct run_row *row, struct job *job,
                    enum flight_known known)
{
    start_run(s, now, row, job, known);
    entry_done(s);
}

void sched_started(struct sched *s, struct now now)
{
    start_done(s, now);
    share_loaded(s);
    entry_done(s);
}

void sched_drain(struct sched *s)
{
    s->draining = true;
    s->batch_boot_ms = 0; /* the gap that others widened does not hold a stop up */
    want_batch(s);
}

bool sched_drained(const struct sched *s)
{
    return !s->writing && !s->wanted && list_empty(&s->dirty) && list_empty(&s->lazy) &&
           !commit_wants_clean(s);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void sweep(struct sched *s, struct now now)
{
    s->sweep_boot_ms = now.boot_ms + SWEEP_MS;
    registry_sweep(s, now);
    groups_left(s);
    broadcast_sweep(s, now);
    dispatch_sweep(s, now);
    warm_lanes(s, now);
}

/* The process stood still, or its machine did: no beat can have been heard in that time, so what
 * counts how long an address has been silent goes on from there. For a run that is out it is as if
 * the center had been away: executors repeat results that they could not deliver. */
static void notice_pause(struct sched *s, struct now now)
{
    int64_t late = now.boot_ms - s->sweep_boot_ms;
    if (late < PAUSE_MS || !s->started || s->draining)
        return;
    s->sweep_boot_ms = now.boot_ms;
    registry_paused(s, now, late);
    void *value;
    for (size_t i = 0; map_next(&s->runs, &i, &value);) {
        struct run *r = value;
        if (!phase_open(r->phase) || r->phase == PHASE_PLANNED)
            continue;
        r->flags |= RUN_AWAY;
        reconcile_paused(r, now, late);
    }
}

static void lane_timer(struct sched *s, struct now now, struct lane *lane)
{
    lane->refs++;
    if (lane->dead) {
        lane_beat(s, lane);
    } else { /* it answers slowly: let more calls stand open */
        lane_widen(s, lane);
        lane_pump(s, now, lane);
    }
    lane_put(s, lane);
}

static void tick(struct sched *s, struct now now)
{
    if (s->draining)
        return;
    struct heap_entry *e;
    for (int n = 0; n < WAITS_AT_ONCE && (e = heap_pop(&s->waits, now.boot_ms)); n++) {
        struct timer *t = container_of(e, struct timer, entry);
        if (t->kind == TIMER_LANE)
            lane_timer(s, now, container_of(t, struct lane, timer));
        else if (t->kind == TIMER_ROOM)
            room_look(s, now);
        else
            reconcile_timer(s, now, container_of(t, struct run, timer));
    }
    reconcile_pump_all(s, now);
    dispatch_due(s, now);
    if (now.boot_ms >= s->sweep_boot_ms)
        sweep(s, now);
}

void sched_tick(struct sched *s, struct now now)
{
    notice_pause(s, now);
    tick(s, now);
    entry_done(s);
}

int64_t sched_next_wall(const struct sched *s)
{
    return s->draining ? NEVER_MS : heap_next(&s->due);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t sched_next_boot(const struct sched *s)
{
    int64_t next = s->draining ? NEVER_MS : least(heap_next(&s->waits), s->sweep_boot_ms);
    if (s->writing || !s->started)
        return next;
    if (s->draining) {
        bool more = s->wanted || commit_wants_clean(s) || !list_empty(&s->lazy);
        return more ? s->batch_boot_ms : NEVER_MS;
    }
    if (s->hurried || (s->replan && commit_plans(s)))
        return least(next, s->batch_boot_ms);
    next = least(next, s->watermark_renew_boot_ms);
    return s->wanted ? least(next, s->soon_boot_ms) : next;
}

static void sweep_begin(struct sched *s, enum sweep kind)
{
    s->sweep_from[kind] = 0;
    s->sweeping[kind] = true;
    s->sweep_no++; /* a slice under way belongs to the sweep before */
    want_batch(s);
}

void sched_clock_stepped(struct sched *s, struct now now, int64_t by_ms)
{
    s->replan = true;
    s->horizon_ms = 0; /* nothing is known to be planned by the new clock */
    s->plan_next_ms = 0;
    if (by_ms < -s->config.horizon_ms) {
        s->sweep_ms = now.wall_ms + s->config.horizon_ms;
        sweep_begin(s, SWEEP_REBASE);
    }
    want_batch(s);
    sched_tick(s, now);
}

void sched_zones_changed(struct sched *s)
{
    s->next->forget_jobs = true;
    sweep_begin(s, SWEEP_ZONES);
}

/* ---- what executors say ---------------------------------------------------------------------- */

bool sched_leaving(struct sched *s, struct now now, int64_t log_id, uint32_t ticket)
{
    return send_leaving(s, now, log_id, ticket);
}

static void note_error(struct sched *s, struct now now, const struct call_result *c)
{
    struct lane *lane = c->address ? textmap_find(&s->lanes, slice_text(c->address)) : NULL;
    if (lane)
        lane_note_error(lane, now, c);
}

void sched_on_call(struct sched *s, struct now now, const struct call_result *c)
{
    notice_pause(s, now);
    if (c->outcome != CALL_ANSWERED)
        note_error(s, now, c);
    switch (c->kind) {
    case CALL_RUN:
        answer_on_run(s, now, c);
        break;
    case CALL_BEAT:
        probe_on_beat(s, now, c);
        break;
    case CALL_IDLE:
        if (!reconcile_on_idle(s, now, c))
            probe_on_idle(s, now, c);
        break;
    case CALL_LOG:
        reconcile_on_log(s, now, c);
        break;
    case CALL_KILL:
        kill_on_call(s, now, c);
        break;
    }
    entry_done(s);
}

bool sched_register(struct sched *s, struct now now, struct slice app, struct slice address,
                    bool ours)
{
    bool added = registry_add(s, now, app, address, ours);
    entry_done(s);
    return added;
}

void sched_unregister(struct sched *s, struct now now, struct slice app, struct slice address)
{
    registry_remove(s, now, app, address);
    groups_left(s);
    entry_done(s);
}

bool sched_result_foreign(struct sched *s, int64_t log_id, int64_t date_ms)
{
    return result_foreign(s, log_id, date_ms);
}

bool sched_result_group(const struct sched *s, int64_t log_id, int64_t *ret_group_id)
{
    const struct run *r = run_find(s, log_id);
    if (r)
        *ret_group_id = run_group(r);
    return r != NULL;
}

bool sched_result(struct sched *s, struct now now, int64_t log_id, int code, struct slice msg)
{
    return sched_result_claimed(s, now, log_id, code, msg, NULL);
}

void sched_result_again(struct sched *s, struct now now, int64_t log_id, int code, struct slice msg)
{
    s->taken_before = true;
    (void)sched_result(s, now, log_id, code, msg);
    s->taken_before = false;
}

void sched_result_elsewhere(struct sched *s, struct now now, int64_t log_id, int code,
                            struct slice msg)
{
    struct run *r = run_find(s, log_id);
    if (!r || r->flags & RUN_CLOSED)
        return;
    r->flags |= RUN_ELSEWHERE;
    (void)sched_result(s, now, log_id, code, msg);
}

bool sched_result_claimed(struct sched *s, struct now now, int64_t log_id, int code,
                          struct slice msg, struct claim *claim)
{
    bool taken = result_take(s, now, log_id, code, msg, claim);
    entry_done(s);
    return taken;
}

void sched_inbox(struct sched *s, struct now now, const struct inbox_row *row)
{
    result_of_inbox(s, now, row);
    entry_done(s);
}

void sched_ack_after(struct sched *s, struct now now, struct ack *ack)
{
    (void)now;
    ack->seq = s->seq;
    list_push(&s->acks, &ack->node);
    want_batch_soon(s);
}

/* ---- what users ask -------------------------------------------------------------------------- */

void sched_edit(struct sched *s, struct now now, struct edit *e)
{
    (void)now;
    array_push(s->next->edits, s->next->nedits, e);
    want_batch(s);
}

void sched_trigger(struct sched *s, struct now now, struct spawn *spawn)
{
    spawn_add(s, now, spawn);
    memset(spawn, 0, sizeof(*spawn));
}

void sched_kill(struct sched *s, struct now now, int64_t log_id, void *reply)
{
    kill_ask(s, now, log_id, reply);
    entry_done(s);
}

bool sched_address_listed(const struct sched *s, int64_t group_id, struct slice address)
{
    const struct group *g = group_of(s, group_id);
    return g && g->address_type != 0 && sched_address_known(s, group_id, address);
}

bool sched_address_known(const struct sched *s, int64_t group_id, struct slice address)
{
    const struct group *g = group_of(s, group_id);
    const struct lane *lane = g ? textmap_find(&s->lanes, address) : NULL;
    return lane && group_place(g, lane) >= 0;
}

void sched_groups(const struct sched *s, sched_group_fn *fn, void *ctx)
{
    void *value;
    for (size_t i = 0; map_next(&s->groups, &i, &value);) {
        const struct group *g = value;
        int n = group_size(g), up = 0;
        for (int k = 0; k < n; k++)
            up += !group_lane(g, k)->dead;
        fn(ctx, g->id, n, up);
    }
}

void sched_addresses(const struct sched *s, int64_t group_id, sched_address_fn *fn, void *ctx)
{
    const struct group *g = group_of(s, group_id);
    for (int i = 0, n = g ? group_size(g) : 0; i < n; i++)
        fn(ctx, group_lane(g, i)->address, group_lane(g, i)->dead);
}

int sched_executors(const struct sched *s, struct now now, const struct executors_filter *f,
                    sched_executor_fn *fn, void *ctx)
{
    return executors_each(s, now, f, fn, ctx);
}

bool sched_forget(struct sched *s, struct now now, struct slice address)
{
    bool found = registry_forget(s, now, address);
    groups_left(s);
    entry_done(s);
    return found;
}

void sched_executors_seen(struct sched *s, struct now now, bool anew, sched_seen_fn *fn, void *ctx)
{
    executors_seen(s, now, anew, fn, ctx);
}

int sched_busy(const struct sched *s, const char *address, struct sched_busy ret[SCHED_BUSY_MAX])
{
    return executors_busy(s, address, ret);
}

void sched_probed(struct sched *s, struct now now, const struct call_result *c)
{
    executors_probed(s, now, c);
    entry_done(s);
}

bool sched_look(const struct sched *s, int64_t log_id, struct sched_look *ret)
{
    const struct run *r = run_find(s, log_id);
    if (!r || !run_open(r))
        return false;
    *ret = (struct sched_look){ r->lane ? r->lane->address : NULL, run_log_time(r), run_root(r) };
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

struct batch *sched_take_batch(struct sched *s, struct now now)
{
    struct batch *b = commit_take(s, now);
    entry_done(s);
    return b;
}

void sched_want_batch(struct sched *s)
{
    want_batch(s);
}

int64_t sched_batch_in(const struct sched *s, struct now now)
{
    return s->hurried || now.boot_ms >= s->soon_boot_ms ? 0 : s->soon_boot_ms - now.boot_ms;
}

void sched_batch_done(struct sched *s, struct now now, struct batch *b)
{
    notice_pause(s, now);
    commit_done(s, now, b);
    entry_done(s);
}

/* ---- for those who look on --------------------------------------------------------------------
 */

void sched_watch(struct sched *s, struct now now)
{
    sched_unwatch(s);
    s->watched = true;
    void *value;
    for (size_t i = 0; map_next(&s->runs, &i, &value);) {
        const struct run *r = value;
        bool left = r->phase != PHASE_PLANNED && r->sent_ms;
        if (run_open(r))
            run_see(s, r, left ? now.wall_ms - (now.boot_ms - r->sent_ms) : r->due_ms);
    }
}

void sched_unwatch(struct sched *s)
{
    s->watched = false;
    size_t n;
    free(sched_seen(s, &n));
}

struct run_seen *sched_seen(struct sched *s, size_t *ret_n)
{
    struct run_seen *seen = s->nseen ? s->seen : NULL;
    *ret_n = s->nseen;
    if (seen) {
        s->seen = NULL;
        s->nseen = s->cseen = 0;
    }
    return seen;
}

const char *sched_run_address(const struct sched *s, int64_t log_id)
{
    const struct run *r = run_find(s, log_id);
    return r && r->lane ? r->lane->address : NULL;
}

bool sched_story(const struct sched *s, int64_t log_id, struct story *ret)
{
    const struct run *r = run_find(s, log_id);
    if (r)
        *ret = run_story(r);
    return r;
}

/* ---- what it looks like from outside --------------------------------------------------------- */

void sched_stats(const struct sched *s, struct sched_stats *ret)
{
    *ret = s->stats;
    ret->planned = s->nphase[PHASE_PLANNED];
    ret->in_flight = s->nphase[PHASE_SENT];
    ret->in_doubt = s->nphase[PHASE_UNKNOWN];
    ret->accepted = s->nphase[PHASE_ACCEPTED];
    ret->lost = s->nphase[PHASE_LOST];
    ret->words = s->flight.in_use;
    ret->without_word = s->flight.without_word;
    ret->recorded = s->flight.head;
    ret->horizon_ms = s->horizon_ms;
    ret->watermark_ms = s->watermark_ms;
    ret->addresses = (int)s->lanes.len;
    void *value;
    for (size_t i = 0; textmap_next(&s->lanes, &i, &value);) {
        const struct lane *lane = value;
        ret->dead += lane->dead;
        ret->lanes_waiting += lane->nqueue;
    }
}
