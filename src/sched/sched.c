/* SPDX-License-Identifier: Apache-2.0 */
/* sched.c - the core's front: start, time, actions, and the batches that go to the writer. */
#include "sched/state.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SWEEP_MS 1000           /* registry, start deadlines */
#define WATERMARK_RENEW_MS 1000 /* the watermark is renewed every second */
#define WAITS_AT_ONCE 1000 /* waits that end with one tick; more leave the wake-up in the past */
#define BATCH_GAP_MS 4     /* between two starts: small commits cost more than they hurry */
#define PAUSE_MS 2000      /* a sweep that comes so late: the process stood still */

void sched_config_default(struct sched_config *c)
{
    *c = (struct sched_config){
        .lane_connections = SCHED_LANE_CONNECTIONS,
        .dispatch_at_once = 6000,
        .spare_connections = 4096,
        .lane_queue = SCHED_LANE_QUEUE,
        .horizon_ms = 5000,
        .plan_max_rows = 2000,
        .planned_max = 200000,
        .live_max = 2000000,
        .watermark_ahead_ms = 2000,
        .dead_after_ms = 90000,
        .reconcile_gap_ms = 3000,
        .end_wait_ms = 90000,
        .gone_after_ms = 600000,
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
    list_init(&s->unlaid);
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
    s->plan_next_ms = NEVER_MS;
    return s;
}

static void free_values(struct map *m, void (*release)(struct sched *, void *), struct sched *s)
{
    void *value;
    for (size_t i = 0; map_next(m, &i, &value);)
        release(s, value);
    map_done(m);
}

static void release_group(struct sched *s, void *value)
{
    struct group *g = value;
    for (int i = 0; i < g->nlanes; i++)
        lane_put(s, g->lanes[i]);
    free(g->lanes);
    free(g->members);
    group_view_unref(g->view);
    free(g);
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
    kills_free(s);
    map_done(&s->runs);
    map_done(&s->jobs);
    free_values(&s->groups, release_group, s);
    void *value;
    for (size_t i = 0; textmap_next(&s->apps, &i, &value);) {
        struct app *app = value;
        for (int k = 0; k < app->n; k++)
            lane_put(s, app->addresses[k].lane);
        free(app->addresses);
        free(app->name);
        free(app);
    }
    textmap_done(&s->apps);
    for (size_t i = 0; textmap_next(&s->lanes, &i, &value);) { /* calls under way kept them */
        lane_free(value);
    }
    textmap_done(&s->lanes);
    heap_done(&s->due);
    heap_done(&s->waits);
    router_free(s->router);
    batch_free(s->next);
    flight_done(&s->flight);
    free(s->actions);
    free(s);
}

/* ---- actions -------------------------------------------------------------------------------- */

struct action *action_new(struct sched *s, enum action_kind kind)
{
    if (s->nactions == s->cactions) {
        uint32_t cap = s->cactions ? s->cactions * 2 : 64;
        struct action *actions = mem_new(cap * sizeof(*actions));
        for (uint32_t i = 0; i < s->nactions; i++)
            actions[i] = s->actions[(s->first_action + i) % s->cactions];
        free(s->actions);
        s->actions = actions;
        s->cactions = cap;
        s->first_action = 0;
    }
    struct action *a = &s->actions[(s->first_action + s->nactions++) % s->cactions];
    memset(a, 0, offsetof(struct action, text) + 1);
    a->kind = kind;
    return a;
}

/* What an action refers to may go with the same call that asked for it (an edit that is done
 * replaces the job, a list that changes drops the lane), so the action holds it. */
void call_out(struct sched *s, struct lane *lane, struct call call)
{
    struct action *a = action_new(s, ACTION_CALL);
    a->call = call;
    a->call.address = lane->address;
    a->lane = lane;
    lane->refs++;
    if (call.job)
        job_ref(call.job);
}

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
    if (s->nactions == 0)
        return false;
    const struct action *a = &s->actions[s->first_action];
    *ret = *a;
    s->popped.kind = a->kind;
    s->popped.lane = a->lane;
    s->popped.call.job = a->call.job;
    s->first_action = (s->first_action + 1) % s->cactions;
    s->nactions--;
    return true;
}

/* ---- start ---------------------------------------------------------------------------------- */

void sched_load_watermark(struct sched *s, int64_t watermark_ms, bool clean)
{
    s->watermark_ms = watermark_ms;
    s->watermark_requested_ms = watermark_ms;
    s->sent_until_ms = watermark_ms;
    s->clean_start = clean;
}

void sched_record(struct sched *s, struct flight_head *recorder)
{
    flight_init(&s->flight, recorder);
}

/* May a planned row have been sent? Not without an address, nor after a clean stop. Else the
 * recorder knows; without one a row beyond the watermark was certainly not sent. */
static bool may_have_left(const struct sched *s, const struct run_row *row, enum flight_known known)
{
    if (!row->address || s->clean_start)
        return false;
    return known == FLIGHT_KNOWS_NOTHING ? row->due_ms <= s->watermark_ms
                                         : known == FLIGHT_KNOWS_LEFT;
}

/* Found in the phase to; recovery, not a move of this incarnation. */
static void found(struct sched *s, struct run *r, enum phase to)
{
    s->nphase[r->phase]--;
    r->phase = (uint8_t)to;
    s->nphase[r->phase]++;
    r->flags |= RUN_LEFT;
    run_dirty(s, r);
}

/* What the disk says was so when the last commit was made. The recorder's word only adds to a row
 * that is not known to have arrived. */
void sched_load_run(struct sched *s, struct now now, const struct run_row *row, struct job *job,
                    enum flight_known known)
{
    struct run *r = run_new(s, now, row, job);
    r->flags |= RUN_AWAY;
    bool sent = row->phase == PHASE_SENT || row->phase == PHASE_UNKNOWN;
    bool taken = known == FLIGHT_KNOWS_ACCEPTED && row->address && !s->clean_start &&
                 (sent || row->phase == PHASE_PLANNED);
    sent |= taken || (row->phase == PHASE_PLANNED && may_have_left(s, row, known));
    if (known == FLIGHT_KNOWS_UNSENT && row->phase == PHASE_PLANNED)
        r->flags |= RUN_UNSENT;
    if (row->kind == KIND_RETRY) {
        if (row->version == job->version && !job->enabled && !job->ended)
            r->flags &= ~(uint32_t)RUN_SCHEDULED; /* planned while the job was off: by hand */
        if (!sent && !row->doubted) /* a stop would have taken it along: other edits leave it */
            r->version = job->version;
    }
    if (row->group_id != job->group_id)
        r->flags |= RUN_MOVED;
    if (row->log_ms >= 0 && row->log_ms != run_log_time(r)) /* its executor knows it by that */
        r->flags |= RUN_SCHEDULED_LOG;
    if (row->phase == PHASE_PLANNED && !sent) {
        dispatch_plan(s, r);
    } else if (taken) {
        found(s, r, PHASE_ACCEPTED);
        run_dirty(s, r)->sent = true;
        run_note_trigger(s, r, 200, NULL);
        reconcile_soon(s, now, r, 0);
    } else if (sent) {
        r->flags |= RUN_DOUBT | RUN_DOUBTED;
        found(s, r, PHASE_UNKNOWN);
        reconcile_soon(s, now, r, 0);
    } else if (row->phase == PHASE_LOST) {
        wait_until(s, r, now.boot_ms + s->config.lost_keep_ms);
    } else {
        reconcile_soon(s, now, r, 0);
    }
}

void sched_started(struct sched *s, struct now now)
{
    s->watermark_ms = INT64_MIN; /* nothing leaves before the first commit */
    s->watermark_renew_boot_ms = now.boot_ms;
    s->sweep_boot_ms = now.boot_ms;
    s->replan = true;
    s->started = true;
    void *value;
    for (size_t i = 0; map_next(&s->groups, &i, &value);)
        directory_stale(s, value);
    directory_refresh(s, now);
    for (size_t i = 0; map_next(&s->runs, &i, &value);) {
        struct run *r = value;
        struct run *cause = r->kind == KIND_RETRY ? map_find(&s->runs, (uint64_t)r->cause) : NULL;
        if (!cause || cause->phase != PHASE_LOST)
            continue;
        if (r->phase == PHASE_PLANNED && !(r->flags & RUN_DOUBTED))
            run_unlink(s, cause); /* its retry waits: that decides, not the clock */
        else
            run_close_lost(s, cause); /* its retry may have left */
    }
}

/* No run has left whose row may still be PLANNED once what has gathered is written: none is on its
 * way, and none will be. */
static bool want_clean(const struct sched *s)
{
    return s->draining && s->started && !s->clean_requested && s->nphase[PHASE_SENT] == 0;
}

void sched_drain(struct sched *s)
{
    s->draining = true;
    s->wanted = true;
}

bool sched_drained(const struct sched *s)
{
    return !s->writing && !s->wanted && list_empty(&s->dirty) && list_empty(&s->lazy) &&
           !want_clean(s);
}

/* ---- time ----------------------------------------------------------------------------------- */

void wait_until(struct sched *s, struct run *r, int64_t boot_ms)
{
    if (!(r->flags & RUN_IN_WAITS))
        heap_remove(&s->due, &r->timer.entry);
    r->flags |= RUN_IN_WAITS;
    heap_add(&s->waits, &r->timer.entry, boot_ms);
}

static void sweep(struct sched *s, struct now now)
{
    s->sweep_boot_ms = now.boot_ms + SWEEP_MS;
    directory_sweep(s, now);
    dispatch_sweep(s, now);
    warm_lanes(s, now);
}

/* The process stood still, or its machine did: nobody can have been heard in that time, so what
 * counts how long somebody has been silent goes on from there. For a run that is out it is as if
 * the center had been away: executors repeat results that they could not deliver. */
static void notice_pause(struct sched *s, struct now now)
{
    int64_t late = now.boot_ms - s->sweep_boot_ms;
    if (late < PAUSE_MS || !s->started || s->draining)
        return;
    s->sweep_boot_ms = now.boot_ms;
    directory_paused(s, now, late);
    void *value;
    for (size_t i = 0; map_next(&s->runs, &i, &value);) {
        struct run *r = value;
        if (!phase_open(r->phase) || r->phase == PHASE_PLANNED)
            continue;
        r->flags |= RUN_AWAY;
        reconcile_paused(r, now, late);
    }
}

void sched_tick(struct sched *s, struct now now)
{
    notice_pause(s, now);
    if (s->draining)
        return;
    struct heap_entry *e;
    for (int n = 0; n < WAITS_AT_ONCE && (e = heap_pop(&s->waits, now.boot_ms)); n++) {
        struct timer *t = container_of(e, struct timer, entry);
        if (t->kind == TIMER_LANE) {
            lane_timer(s, now, container_of(t, struct lane, timer));
        } else if (t->kind == TIMER_ROOM) {
            room_look(s, now);
        } else {
            struct run *r = container_of(t, struct run, timer);
            r->flags &= ~(uint32_t)RUN_IN_WAITS;
            reconcile_timer(s, now, r);
        }
    }
    reconcile_pump_all(s, now);
    dispatch_due(s, now);
    if (now.boot_ms >= s->sweep_boot_ms)
        sweep(s, now);
}

int64_t sched_next_wall(const struct sched *s)
{
    return s->draining ? NEVER_MS : heap_next(&s->due);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* As many runs in memory as it may hold: planning pauses. */
static bool full(const struct sched *s)
{
    return s->nphase[PHASE_PLANNED] >= s->config.planned_max || s->stats.live >= s->config.live_max;
}

int64_t sched_next_boot(const struct sched *s)
{
    int64_t next = s->draining ? NEVER_MS : least(heap_next(&s->waits), s->sweep_boot_ms);
    if (s->writing || !s->started)
        return next;
    if (s->draining) {
        bool more = s->wanted || want_clean(s) || !list_empty(&s->lazy);
        return more ? s->batch_boot_ms : NEVER_MS;
    }
    bool soon = s->wanted || (s->replan && !full(s));
    return least(next, soon ? s->batch_boot_ms : s->watermark_renew_boot_ms);
}

static void sweep_begin(struct sched *s, enum sweep kind)
{
    s->sweep_from[kind] = 0;
    s->sweeping[kind] = true;
    s->sweep_no++; /* a slice under way belongs to the sweep before */
    s->wanted = true;
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
    s->wanted = true;
    sched_tick(s, now);
}

void sched_zones_changed(struct sched *s)
{
    s->next->forget_jobs = true;
    sweep_begin(s, SWEEP_ZONES);
}

/* ---- calls ---------------------------------------------------------------------------------- */

void sched_on_call(struct sched *s, struct now now, const struct call_result *c)
{
    notice_pause(s, now);
    switch (c->kind) {
    case CALL_RUN:
        dispatch_on_run(s, now, c);
        break;
    case CALL_BEAT:
        lane_on_beat(s, now, c);
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
}

/* ---- users ---------------------------------------------------------------------------------- */

void sched_edit(struct sched *s, struct now now, struct edit *e)
{
    (void)now;
    array_push(s->next->edits, s->next->nedits, e);
    s->wanted = true;
}

void sched_trigger(struct sched *s, struct now now, struct spawn *spawn)
{
    (void)now;
    spawn_add(s, spawn);
    memset(spawn, 0, sizeof(*spawn));
}

/* ---- batches -------------------------------------------------------------------------------- */

/* Planning runs ahead in steps of half a horizon, so that a per-second job is looked at every
 * few seconds and not every second; a bound on rows pauses it. */
static bool want_plan(const struct sched *s, struct now now)
{
    if (s->draining || full(s) || !s->born) /* the first commit is waited for: it stays small */
        return false;
    if (s->replan)
        return true;
    int64_t ahead = s->horizon_ms - now.wall_ms;
    return ahead < s->config.horizon_ms / 2 &&
           s->plan_next_ms <= now.wall_ms + s->config.horizon_ms;
}

static bool want_watermark(const struct sched *s, struct now now)
{
    if (s->draining)
        return false;
    return !s->born || now.boot_ms >= s->watermark_renew_boot_ms ||
           (!list_empty(&s->beyond) &&
            s->watermark_ms < now.wall_ms + s->config.watermark_ahead_ms / 2);
}

static int list_length(const struct list *l)
{
    int n = 0;
    list_each(l, node, tmp) n++;
    return n;
}

static void take_list(struct batch *b, struct list *l)
{
    for (struct list_node *node; (node = list_pop(l));) {
        struct run *r = container_of(node, struct run, dirty);
        assert(r->pending && b->changes); /* that is why it is in the list, and was counted */
        r->pending->tells = r->flags & RUN_CLOSED || !(r->flags & RUN_CALLING);
        b->totals.n[TOTAL_SENT] += r->pending->sent;
        b->changes[b->nchanges++] = *r->pending;
        free(r->pending);
        r->pending = NULL;
    }
}

static void take_changes(struct sched *s, struct batch *b, bool lazy)
{
    int n = list_length(&s->dirty) + (lazy ? list_length(&s->lazy) : 0);
    b->changes = n ? mem_new((size_t)n * sizeof(*b->changes)) : NULL;
    take_list(b, &s->dirty);
    if (lazy)
        take_list(b, &s->lazy);
}

/* One edit of a job at a time: what the second takes depends on what became of the first. The
 * others go with the batch that gathers next. */
static void defer_edits(struct batch *b, struct batch *next)
{
    int kept = 0;
    for (int i = 0; i < b->nedits; i++) {
        struct edit *e = b->edits[i];
        bool second = false;
        for (int k = 0; e->id && e->kind <= EDIT_JOB_DELETE && k < kept; k++)
            second |= b->edits[k]->kind <= EDIT_JOB_DELETE && b->edits[k]->id == e->id;
        if (second)
            array_push(next->edits, next->nedits, e);
        else
            b->edits[kept++] = e;
    }
    b->nedits = kept;
}

/* What has been planned meanwhile, or is planned again, sets the next scheduled time with its own
 * end. */
static void delays_settle(struct sched *s, struct batch *b)
{
    int kept = 0;
    for (int i = 0; i < b->ndelays; i++) {
        const struct live_job *j = job_live(s, b->delays[i].job_id);
        if (!j || !job_is_out(s, j))
            b->delays[kept++] = b->delays[i];
    }
    b->ndelays = kept;
}

struct batch *sched_take_batch(struct sched *s, struct now now)
{
    if (s->writing || !s->started || now.boot_ms < s->batch_boot_ms)
        return NULL;
    bool plan = want_plan(s, now), watermark = want_watermark(s, now);
    bool clean = want_clean(s), last = clean || (s->draining && !list_empty(&s->lazy));
    if (!plan && !watermark && !last && !s->wanted)
        return NULL;
    directory_refresh(s, now);
    struct batch *b = s->next, *next = batch_new();
    defer_edits(b, next);
    delays_settle(s, b);
    for (int i = 0; i < b->nedits; i++)
        edit_prepare(s, now, b->edits[i]);
    take_changes(s, b, watermark || s->draining);
    b->seq = s->seq++;
    b->now_ms = now.wall_ms;
    b->plan_max_rows = s->config.plan_max_rows;
    if (plan) {
        b->plan_until_ms = now.wall_ms + s->config.horizon_ms;
        s->replan = false;
    }
    for (int kind = SWEEP_REBASE; kind <= SWEEP_ZONES && !b->sweep; kind++) {
        if (!s->sweeping[kind])
            continue;
        b->sweep = (enum sweep)kind;
        b->sweep_from = s->sweep_from[kind];
        b->sweep_no = s->sweep_no;
        b->sweep_ms = s->sweep_ms;
    }
    if (watermark) {
        int64_t until = now.wall_ms + s->config.watermark_ahead_ms;
        b->watermark.until_ms = until > s->watermark_requested_ms
                                    ? until
                                    : s->watermark_requested_ms; /* never goes back */
        s->watermark_requested_ms = b->watermark.until_ms;
        s->watermark_renew_boot_ms = now.boot_ms + WATERMARK_RENEW_MS;
        b->watermark.renewals = ++s->renewals;
        if (s->flight.head)
            memcpy(b->watermark.recorder, s->flight.head->id, sizeof(b->watermark.recorder));
    }
    b->clean = clean;
    s->clean_requested |= clean;
    s->batch_boot_ms = now.boot_ms + BATCH_GAP_MS;
    s->next = next;
    s->wanted = next->nedits > 0;
    s->writing = true;
    return b;
}

void sched_want_batch(struct sched *s)
{
    s->wanted = true;
}

/* The change is on disk: what waited for that goes on. */
static void change_done(struct sched *s, struct now now, const struct run_change *c, uint64_t seq)
{
    struct run *r = map_find(&s->runs, (uint64_t)c->log_id);
    if (!r)
        return;
    if (c->tells)
        flight_told(&s->flight, r->place_of_word, r->log_id, seq);
    if (r->flags & RUN_CLOSED) {
        if (c->what & (CHANGE_CLOSE | CHANGE_DROP))
            r->flags |= RUN_WRITTEN;
        if (r->flags & RUN_WRITTEN && !(r->flags & RUN_CALLING) && !r->pending)
            run_free(s, r);
        return;
    }
    if (!(c->what & CHANGE_ADDRESS))
        return;
    bool again = r->pending && r->pending->what & CHANGE_ADDRESS;
    if (r->flags & RUN_ADDRESS && !again) {
        r->flags &= ~(uint32_t)RUN_ADDRESS;
        if (r->phase == PHASE_PLANNED && !(r->flags & (RUN_CLOSED | RUN_HELD)))
            dispatch_addressed(s, now, r);
    }
}

static void planned_done(struct sched *s, struct now now, const struct planned *p)
{
    if (p->row.log_id < 0)
        return; /* the key says that it exists already */
    struct run *r = run_new(s, now, &p->row, p->job);
    const struct spawn *spawn = p->spawn;
    if (spawn) {
        r->hops = (uint8_t)(spawn->hops < 255 ? spawn->hops : 255);
        if (spawn->kind == KIND_RETRY && !spawn->scheduled)
            r->flags &= ~(uint32_t)RUN_SCHEDULED;
    }
    struct live_job *j = r->job;
    bool old = r->version < j->def->version || j->deleted;
    if (old && r->flags & RUN_SCHEDULED) {
        run_withdraw(s, now, r, PHASE_WITHDRAWN, "the job was changed while it was planned");
        return;
    }
    if (old)
        r->version = j->def->version;
    dispatch_plan(s, r);
}

/* A retry is planned, or could not be: results of the LOST run that waited for that. */
static void retry_done(struct sched *s, struct now now, const struct spawn *spawn)
{
    struct run *cause =
        spawn->kind == KIND_RETRY ? map_find(&s->runs, (uint64_t)spawn->cause) : NULL;
    if (!cause || !(cause->flags & RUN_RETRYING))
        return;
    cause->flags &= ~(uint32_t)RUN_RETRYING;
    if (cause->phase != PHASE_LOST)
        return;
    if (!retry_of(cause) && !(cause->flags & RUN_CLOSED))
        wait_until(s, cause, now.boot_ms + s->config.lost_keep_ms);
    results_again(s, now, spawn->cause);
}

static void spawn_done_action(struct sched *s, const struct spawn *spawn)
{
    if (!spawn->reply)
        return;
    struct action *a = action_new(s, ACTION_SPAWNED);
    a->reply = spawn->reply;
    a->err = spawn->err;
    a->log_id = spawn->log_id;
}

static void plan_done(struct sched *s, const struct batch *b)
{
    if (b->ndelays) /* next scheduled times that the last look ahead did not know */
        s->replan = true;
    if (!b->plan_until_ms)
        return;
    s->plan_next_ms = b->plan_next_ms;
    if (b->plan_more)
        s->replan = true;
    else
        s->horizon_ms = b->plan_until_ms;
}

static void sweep_done(struct sched *s, const struct batch *b)
{
    if (!b->sweep || b->sweep_no != s->sweep_no)
        return;
    s->sweep_from[b->sweep] = b->sweep_next;
    s->sweeping[b->sweep] = b->sweep_next != 0;
    s->wanted |= s->sweeping[SWEEP_REBASE] || s->sweeping[SWEEP_ZONES];
    s->replan = true;
}

static void acks_done(struct sched *s, uint64_t seq)
{
    for (struct list_node *n; (n = list_first(&s->acks));) {
        struct ack *ack = container_of(n, struct ack, node);
        if (ack->seq > seq)
            return;
        list_remove(n);
        action_new(s, ACTION_ACK)->ack = ack;
    }
}

void sched_batch_done(struct sched *s, struct now now, struct batch *b)
{
    notice_pause(s, now);
    s->writing = false;
    bool watermark = b->watermark.until_ms > s->watermark_ms;
    int64_t renewals = b->watermark.renewals;
    if (watermark)
        s->watermark_ms = b->watermark.until_ms;
    s->born |= renewals > 0;
    for (int i = 0; i < b->nchanges; i++)
        change_done(s, now, &b->changes[i], b->seq);
    plan_done(s, b);
    sweep_done(s, b);
    for (int i = 0; i < b->nplanned; i++)
        planned_done(s, now, &b->planned[i]);
    for (int i = 0; i < b->nplanned; i++) { /* all shards are there now */
        struct run *r = map_find(&s->runs, (uint64_t)b->planned[i].row.log_id);
        if (r)
            broadcast_entered(s, now, r);
    }
    for (int i = 0; i < b->nedits; i++) /* after what was planned under the old version */
        edit_done(s, now, b->edits[i]);
    b->nedits = 0;
    s->replan |= b->ndelays > 0;
    for (int i = 0; i < b->nspawns; i++) {
        retry_done(s, now, &b->spawns[i]);
        spawn_done_action(s, &b->spawns[i]);
    }
    acks_done(s, b->seq);
    kills_done(s, b->seq);
    batch_free(b);
    if (renewals) /* after all changes that it covers */
        flight_renewed(&s->flight, (uint64_t)renewals);
    if (watermark)
        dispatch_watermark(s, now);
    dispatch_due(s, now);
}

/* ---- looks ---------------------------------------------------------------------------------- */

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
