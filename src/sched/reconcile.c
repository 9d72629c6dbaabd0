/* SPDX-License-Identifier: Apache-2.0 */
/* reconcile.c - what became of a run that did not answer: the reconciliation table.
 *
 * One round is idleBeat for the job first, /log of the id second (the other way round a whole run
 * fits between them). One idleBeat serves all runs of the job that wait for a round at the address
 * when it is sent; their /log calls follow its answer. A cell acts when two rounds at least
 * reconcile_gap_ms apart agree, because what was on its way when the connection was reset has
 * arrived or died by then. The table, its proofs and what goes wrong without each rule:
 * docs/model/README.md.
 */
#include "sched/reconcile.h"
#include "sched/beat.h"
#include "sched/end.h"
#include "sched/job.h"
#include "sched/lane.h"
#include "sched/outbox.h"
#include "sched/run.h"
#include "sched/send.h"
#include "sched/state.h"
#include <stdlib.h>

#define RECONCILE_AT_ONCE 24   /* calls in flight to one address, of the places kept for such */
#define ROUND_LOOKS 256        /* runs looked at for others of the same job that wait */
#define RECONCILE_MAX_MS 60000 /* longest pause between rounds */

enum cell {
    CELL_NONE_YET,
    CELL_END, /* busy or not */
    CELL_IDLE_STARTED,
    CELL_IDLE_NONE,
    CELL_BUSY_STARTED,
    CELL_BUSY_NONE,
    CELL_IDLE_CANNOT,
    CELL_BUSY_CANNOT,
};

static struct reconcile *reconcile_of(struct run *r)
{
    if (!r->reconcile)
        r->reconcile = mem_new(sizeof(*r->reconcile));
    return r->reconcile;
}

static void unheard(struct sched *s, struct now now, struct run *r);

static void later(int64_t *at_ms, struct now now, int64_t ms)
{
    if (*at_ms)
        *at_ms = *at_ms + ms < now.boot_ms ? *at_ms + ms : now.boot_ms;
}

void reconcile_paused(struct run *r, struct now now, int64_t ms)
{
    if (!r->reconcile)
        return;
    later(&r->reconcile->begun_ms, now, ms);
    later(&r->reconcile->settled_ms, now, ms);
    later(&r->reconcile->since_ms, now, ms);
    later(&r->reconcile->overtaken_ms, now, ms);
}

/* ---- a younger run has started ----------------------------------------------------------------
 *
 * Whatever the strategy, an executor begins the runs of one job in the order in which they came in.
 * So a younger one that has begun tells that an older one has had its turn, or never will. It is a
 * proof only if the younger left when the older was in the queue already (accepted), or had arrived
 * or died (in doubt for the time that messages live): else the older may stand behind it. And it
 * says nothing about a log that was read before it was known: the older may have begun in between.
 */

static bool overtaken(const struct run *r, int64_t gap_ms)
{
    const struct live_job *j = r->job;
    int64_t settled = r->since_ms + (r->phase == PHASE_UNKNOWN ? gap_ms : 1);
    return j->started_lane == r->lane->id && j->started_sent_ms >= settled;
}

/* ---- a round --------------------------------------------------------------------------------- */

struct round { /* an idleBeat under way, and the runs that wait for its answer */
    struct list_node node;
    struct list runs; /* by place; may be empty when all have ended meanwhile */
    uint32_t ticket;
};

static uint32_t reconcile_call(struct sched *s, struct run *r, enum call_kind kind)
{
    s->stats.queries++;
    r->lane->querying++;
    call_out(s, r->lane,
             (struct call){
                 .kind = kind,
                 .log_id = r->log_id,
                 .ticket = ++s->ticket,
                 .job_id = r->job->id,
                 .group_id = run_group(r),
                 .log_time_ms = run_log_time(r),
                 .idle = kind == CALL_LOG ? r->reconcile->ticket : 0,
                 .root = run_root(r),
             });
    return s->ticket;
}

static void join(struct sched *s, struct now now, struct round *round, struct run *r)
{
    struct reconcile *a = reconcile_of(r);
    list_remove(&r->place);
    list_push(&round->runs, &r->place);
    a->step = RECONCILE_IDLE;
    a->rounds++;
    if (r->phase == PHASE_UNKNOWN)
        r->queries = once_more(r->queries);
    a->begun_ms = now.boot_ms;
    if (!a->overtaken_ms && overtaken(r, s->config.reconcile_gap_ms))
        a->overtaken_ms = now.boot_ms;
}

/* All of the job that wait for a round here, by the shorter way: what the job has, or, if that is
 * many, what waits next in the lane. */
static void gather(struct sched *s, struct now now, struct round *round, struct run *first)
{
    struct lane *lane = first->lane;
    struct live_job *job = first->job;
    join(s, now, round, first);
    if (job->nruns <= ROUND_LOOKS) {
        list_each(&job->runs, n, tmp)
        {
            struct run *r = container_of(n, struct run, of_job);
            if (r->lane == lane && r->wait == WAIT_ROUND && r->reconcile->step == RECONCILE_QUEUED)
                join(s, now, round, r);
        }
        return;
    }
    int looks = 0;
    list_each(&lane->queries, n, tmp)
    {
        struct run *r = container_of(n, struct run, place);
        if (looks++ == ROUND_LOOKS)
            return;
        if (r->job == job)
            join(s, now, round, r);
    }
}

static void round_begin(struct sched *s, struct now now, struct lane *lane)
{
    struct run *first = container_of(list_first(&lane->queries), struct run, place);
    struct round *round = mem_new(sizeof(*round));
    list_init(&round->runs);
    list_push(&lane->rounds, &round->node);
    gather(s, now, round, first);
    round->ticket = reconcile_call(s, first, CALL_IDLE);
}

/* The client was full: none while the lane rests, then one to try. */
static bool has_room(const struct lane *lane)
{
    return !lane->resting && (lane->room == ROOM_ENOUGH || lane->querying == 0);
}

/* Rounds that have begun go before new ones: the less time lies between their two calls, the more
 * often they agree. */
void reconcile_pump(struct sched *s, struct now now, struct lane *lane)
{
    while (!s->draining && has_room(lane) && lane->querying < lane_part(s, RECONCILE_AT_ONCE)) {
        struct list_node *n = list_pop(&lane->logs);
        if (n) {
            struct run *r = container_of(n, struct run, place);
            r->reconcile->step = RECONCILE_LOG;
            r->reconcile->ticket = reconcile_call(s, r, CALL_LOG);
        } else if (!list_empty(&lane->queries)) {
            round_begin(s, now, lane);
        } else {
            return;
        }
    }
}

/* Once all runs whose wait ended in the same moment stand in their lists: they share rounds. */
void reconcile_pump_all(struct sched *s, struct now now)
{
    for (struct list_node *n; (n = list_pop(&s->querying));)
        reconcile_pump(s, now, container_of(n, struct lane, reconcile_node));
}

void rounds_free(struct lane *lane)
{
    for (struct list_node *n; (n = list_pop(&lane->rounds));)
        free(container_of(n, struct round, node));
}

/* The run's wait is over: LOST goes, the others are reconciled. */
void reconcile_timer(struct sched *s, struct now now, struct run *r)
{
    run_leave(s, r);
    if (r->flags & RUN_ENDING) { /* an edit ends it, or gives it back */
        run_wait_ms(s, now, r, s->config.reconcile_gap_ms);
        return;
    }
    if (r->phase == PHASE_LOST) {
        run_close_lost(s, r);
        want_batch_soon(s);
        return;
    }
    if (!r->lane)
        return;
    if (r->lane->dead) { /* its beat is asked for each second, and brings the rounds back */
        reconcile_of(r)->rounds++;
        unheard(s, now, r);
        return;
    }
    reconcile_of(r)->step = RECONCILE_QUEUED;
    run_wait_for(s, r, WAIT_ROUND);
    list_push(&r->lane->queries, &r->place);
    if (!list_linked(&r->lane->reconcile_node))
        list_push(&s->querying, &r->lane->reconcile_node);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void lose(struct sched *s, struct now now, struct run *r, const char *proof)
{
    run_finish(s, now, r, PHASE_LOST, 500, proof);
}

static bool current(const struct run *r)
{
    bool same = r->version == r->job->def->version || !(r->flags & RUN_SCHEDULED);
    return same && !r->job->deleted;
}

/* Never arrived: a planned run again, for which scheduled time, watermark, address and edits count
 * as ever. */
static void unsent(struct sched *s, struct now now, struct run *r)
{
    if (r->phase != PHASE_UNKNOWN) {
        lose(s, now, r, "lost: the executor is idle and knows nothing of an accepted run");
        return;
    }
    run_reconciled(r);
    r->flags &= ~(uint32_t)(RUN_LEFT | RUN_DOUBT);
    if (!current(r)) {
        run_withdraw(s, now, r, PHASE_WITHDRAWN, "the job was changed; the run never arrived");
        return;
    }
    run_leave(s, r);
    run_move(s, now, r, PHASE_PLANNED);
    run_dirty(s, r);
    run_wait_due(s, r);
}

/* A cell that admits a second run: send the same id once more, and count it. */
static void resend(struct sched *s, struct now now, struct run *r)
{
    run_reconciled(r);
    run_leave(s, r);
    r->flags |= RUN_RESENT;
    s->stats.resent++;
    s->next->totals.n[TOTAL_RESENT]++;
    run_move(s, now, r, PHASE_SENT);
    run_dirty(s, r);
    send_call(s, r); /* sent_ms stays: the first copy may be the one that starts */
}

static bool may_resend(const struct sched *s, struct now now, const struct run *r)
{
    return r->phase == PHASE_UNKNOWN && !(r->flags & RUN_RENEWING) && !(r->flags & RUN_RESENT) &&
           current(r) && r->due_ms <= now.wall_ms && r->due_ms <= s->watermark_ms;
}

/* Growing pauses, not in step with the job's own period: it may be busy whenever it is asked. */
static void again(struct sched *s, struct now now, struct run *r)
{
    int64_t gap = s->config.reconcile_gap_ms;
    for (int i = 2; i < r->reconcile->rounds && gap < RECONCILE_MAX_MS; i++)
        gap += gap / 2;
    int64_t ms = gap + dice_below(&s->dice, (uint32_t)(gap / 4 + 1));
    if (ms > RECONCILE_MAX_MS)
        ms = RECONCILE_MAX_MS - dice_below(&s->dice, RECONCILE_MAX_MS / 4);
    run_wait_ms(s, now, r, ms);
}

/* Has the answer been the same long enough that what was on its way would have come? */
static bool waited(const struct sched *s, const struct run *r, int64_t from_ms)
{
    return r->reconcile->begun_ms - from_ms >= s->config.end_wait_ms;
}

/* Its log row says first what the second copy is called with; the next round sends it. */
static void resend_or_renew(struct sched *s, struct now now, struct run *r)
{
    if (run_outworn(r)) {
        run_renew(s, r);
        again(s, now, r);
    } else {
        resend(s, now, r);
    }
}

static void decide_idle(struct sched *s, struct now now, struct run *r, enum cell cell)
{
    bool late = waited(s, r, r->reconcile->settled_ms);
    bool away = r->flags & RUN_AWAY;
    switch (cell) {
    case CELL_IDLE_STARTED:
        if (!away || late)
            lose(s, now, r, "lost: the executor is idle, and the log of the run has no end");
        else
            again(s, now, r);
        break;
    case CELL_IDLE_NONE:
        if (r->phase == PHASE_UNKNOWN || !away || late)
            unsent(s, now, r);
        else
            again(s, now, r);
        break;
    default: /* its log cannot be read */
        if (r->job->def->on_doubt == DOUBT_RESEND && may_resend(s, now, r))
            resend_or_renew(s, now, r);
        else if (late)
            lose(s, now, r, "lost: the executor is idle, and its log cannot be read");
        else
            again(s, now, r);
    }
}

static void decide_busy(struct sched *s, struct now now, struct run *r, enum cell cell)
{
    if (cell == CELL_BUSY_STARTED && r->phase == PHASE_UNKNOWN) {
        run_reconciled(r);
        r->flags &= ~(uint32_t)RUN_DOUBT;
        run_move(s, now, r, PHASE_ACCEPTED);
        run_note_trigger(s, r, 200, NULL);
        run_wait_ms(s, now, r, s->config.reconcile_first_ms);
    } else if (cell == CELL_BUSY_NONE && r->job->def->block == BLOCK_SERIAL &&
               may_resend(s, now, r) && !run_outworn(r)) { /* what it is called with must be sure */
        resend(s, now, r);
    } else {
        again(s, now, r);
    }
}

static void decide(struct sched *s, struct now now, struct run *r, enum cell cell)
{
    if (cell == CELL_END && waited(s, r, r->reconcile->settled_ms))
        lose(s, now, r, "lost: the run has ended, but its result did not come within 90 s");
    else if (cell == CELL_END)
        again(s, now, r);
    else if (r->reconcile->idle)
        decide_idle(s, now, r, cell);
    else
        decide_busy(s, now, r, cell);
}

/* ---- the table, when a younger run has started --------------------------------------------- */

static const char *overtaken_text(enum cell cell)
{
    switch (cell) {
    case CELL_IDLE_STARTED:
    case CELL_BUSY_STARTED:
        return "lost: its log has no end, and a younger run of the job has started";
    case CELL_IDLE_CANNOT:
    case CELL_BUSY_CANNOT:
        return "lost: its log cannot be read, and a younger run of the job has started";
    default:
        return "lost: a younger run of the job has started at the same executor";
    }
}

static bool covers(const struct run *r)
{
    return r->job->def->block == BLOCK_COVER;
}

/* The result may still come of a run that nothing could be read about, that ended while the center
 * was away, or that was covered. */
static bool needs_grace(const struct run *r, enum cell cell)
{
    return covers(r) || cell == CELL_IDLE_CANNOT || cell == CELL_BUSY_CANNOT || r->flags & RUN_AWAY;
}

/* True if that decided: idle or busy, and earlier rounds need not agree. But the one that covers
 * begins beside the one that has just left the queue. */
static bool decide_overtaken(struct sched *s, struct now now, struct run *r, enum cell cell)
{
    const struct reconcile *a = r->reconcile;
    bool none = cell == CELL_IDLE_NONE || cell == CELL_BUSY_NONE;
    int64_t settle = covers(r) ? s->config.reconcile_gap_ms : 0;
    if (!a->overtaken_ms || a->begun_ms - a->overtaken_ms < settle || cell == CELL_END)
        return false;
    if (none && r->phase == PHASE_UNKNOWN)
        unsent(s, now, r);
    else if (!needs_grace(r, cell) || waited(s, r, a->overtaken_ms))
        lose(s, now, r, overtaken_text(cell));
    else
        return false;
    return true;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static enum cell cell_of(bool idle, enum log_state log)
{
    switch (log) {
    case LOG_ENDED:
        return CELL_END;
    case LOG_STARTED:
        return idle ? CELL_IDLE_STARTED : CELL_BUSY_STARTED;
    case LOG_NONE:
        return idle ? CELL_IDLE_NONE : CELL_BUSY_NONE;
    default:
        return idle ? CELL_IDLE_CANNOT : CELL_BUSY_CANNOT;
    }
}

static void round_done(struct sched *s, struct now now, struct run *r, enum log_state log)
{
    struct reconcile *a = r->reconcile;
    enum cell cell = cell_of(a->idle, log);
    if (log == LOG_STARTED || log == LOG_ENDED)
        job_started(r);
    if (decide_overtaken(s, now, r, cell))
        return;
    if (a->cell != cell) {
        a->cell = (uint8_t)cell;
        a->settled_ms = a->begun_ms;
        run_wait_ms(s, now, r, s->config.reconcile_gap_ms);
    } else if (a->begun_ms - a->settled_ms < s->config.reconcile_gap_ms) {
        run_wait_ms(s, now, r, s->config.reconcile_gap_ms);
    } else {
        decide(s, now, r, cell);
    }
}

/* No executor answers, which takes nothing from what whole rounds have said. Only an address that
 * is neither registered nor answering for ten minutes proves anything (XXL-JOB's rule for lost
 * results). */
static void unheard(struct sched *s, struct now now, struct run *r)
{
    struct reconcile *a = r->reconcile;
    if (!a->since_ms || a->since_ms < r->lane->heard_ms) /* another call may have heard of it */
        a->since_ms = now.boot_ms;
    if (r->lane->registered == 0 && now.boot_ms - a->since_ms >= s->config.gone_after_ms) {
        lose(s, now, r, "lost: the executor left the registry and has not answered for 10 minutes");
        return;
    }
    again(s, now, r);
}

/* What a call to this address tells about it. */
static void heard_of(struct sched *s, struct now now, struct lane *lane,
                     const struct call_result *c)
{
    if (c->outcome == CALL_ANSWERED)
        lane_alive(s, now, lane);
    else if (c->outcome == CALL_NOT_SENT)
        lane_dead(s, now, lane);
    else if (c->outcome == CALL_FULL)
        lane_rest(s, now, lane);
}

/* Its round begins again when the lane has room: a timer each would be a try each. */
static void not_asked(struct sched *s, struct run *r)
{
    r->reconcile->rounds--;
    r->reconcile->step = RECONCILE_QUEUED;
    run_wait_for(s, r, WAIT_ROUND);
    list_push_front(&r->lane->queries, &r->place);
}

static void round_ends(struct sched *s, struct now now, struct run *r, const struct call_result *c,
                       bool heard)
{
    r->reconcile->step = RECONCILE_NOTHING;
    run_leave(s, r);
    if (s->draining)
        return; /* nothing is sent or asked: the next process begins anew */
    if (r->flags & RUN_ENDING)
        run_wait_ms(s, now, r, s->config.reconcile_gap_ms);
    else if (c->outcome == CALL_FULL)
        not_asked(s, r);
    else if (heard)
        round_done(s, now, r, c->outcome == CALL_ANSWERED ? c->log : LOG_CANNOT_TELL);
    else
        unheard(s, now, r);
}

static void on_idle(struct sched *s, struct now now, struct lane *lane, struct round *round,
                    const struct call_result *c)
{
    bool heard = c->outcome == CALL_ANSWERED;
    list_remove(&round->node);
    for (struct list_node *n; (n = list_pop(&round->runs));) {
        struct run *r = container_of(n, struct run, place);
        if (!heard || s->draining) {
            round_ends(s, now, r, c, false);
            continue;
        }
        r->reconcile->idle = c->code == 200;
        r->reconcile->since_ms = 0;
        r->reconcile->step = RECONCILE_WAITS;
        r->reconcile->ticket = c->ticket;
        list_push(&lane->logs, &r->place);
    }
    free(round);
}

bool reconcile_on_idle(struct sched *s, struct now now, const struct call_result *c)
{
    struct lane *lane = textmap_find(&s->lanes, slice_text(c->address));
    struct round *round = NULL;
    if (!lane)
        return false;
    list_each(&lane->rounds, n, tmp)
    {
        struct round *one = container_of(n, struct round, node);
        if (one->ticket == c->ticket)
            round = one;
    }
    if (!round)
        return false;
    lane->refs++;
    lane->querying--;
    heard_of(s, now, lane, c);
    on_idle(s, now, lane, round, c);
    reconcile_pump(s, now, lane);
    lane_put(s, lane);
    return true;
}

void reconcile_on_log(struct sched *s, struct now now, const struct call_result *c)
{
    struct run *r = run_find(s, c->log_id);
    bool its = r && r->reconcile && r->reconcile->step == RECONCILE_LOG &&
               r->reconcile->ticket == c->ticket;
    struct lane *lane = its ? r->lane : textmap_find(&s->lanes, slice_text(c->address));
    if (!lane)
        return;
    lane->refs++;
    if (its) { /* else the run has ended meanwhile: others wait for its place */
        lane->querying--;
        heard_of(s, now, lane, c);
        round_ends(s, now, r, c, c->outcome == CALL_ANSWERED || c->outcome == CALL_FOREIGN);
    }
    reconcile_pump(s, now, lane);
    lane_put(s, lane);
}
