/* SPDX-License-Identifier: Apache-2.0 */
/* send.c - the queue of a lane, the /run call itself, and the gate before its first byte.
 *
 * A run waits in its lane, and then for a connection. So the gate of the send is sched_leaving:
 * time, watermark and version are looked at there once more, and the flight recorder gets its word,
 * right before the first byte. */
#include "sched/send.h"
#include "sched/end.h"
#include "sched/lane.h"
#include "sched/outbox.h"
#include "sched/run.h"
#include "sched/state.h"

#define WIDEN_MS 5    /* how often a window is looked at while runs wait for it */
#define QUIET_MS 4000 /* then its connections are closed, and the window is small again */

void send_call(struct sched *s, struct run *r)
{
    run_wait_for(s, r, WAIT_CALL);
    r->flags &= ~(uint32_t)RUN_STALE;
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
                 .group_id = run_group(r),
                 .job = r->job->def,
                 .param = run_param(r),
                 .shard = r->shard,
                 .shard_total = r->shard_total > 0 ? r->shard_total : 1,
                 .attempt = r->attempt,
                 .scheduled_ms = r->scheduled_ms,
                 .due_ms = r->due_ms,
                 .log_time_ms = run_log_time(r),
                 .root = run_root(r),
             });
}

bool send_leased(const struct sched *s, struct now now, const struct run *r)
{
    return now.boot_ms < s->lease_boot_ms && r->due_ms <= s->lease_mark_ms;
}

static void send_run(struct sched *s, struct now now, struct run *r)
{
    run_move(s, now, r, PHASE_SENT);
    /* not written: a planned row within the watermark is reconciled after a crash just the same */
    r->flags |= RUN_LEFT;
    r->sent_ms = now.boot_ms;
    s->stats.fired++;
    send_call(s, r);
}

/* The job may have changed and the clock may have gone back while the run waited for its address,
 * in its lane, or for a connection; a result or an edit may have ended it. */
static bool may_leave(const struct sched *s, struct now now, const struct run *r)
{
    return r->phase == PHASE_SENT && !(r->flags & (RUN_CLOSED | RUN_ENDING)) &&
           !(r->flags & RUN_STALE) && !run_outdated(r) && !job_behind(r->job) &&
           r->due_ms <= now.wall_ms && r->due_ms <= s->watermark_ms && send_leased(s, now, r);
}

bool send_leaving(struct sched *s, struct now now, int64_t log_id, uint32_t ticket)
{
    struct run *r = run_find(s, log_id);
    if (!r || r->wait != WAIT_CALL || r->ticket != ticket || !may_leave(s, now, r))
        return false;
    struct run *cause = run_retried(s, (enum kind)r->kind, r->cause);
    if (cause && cause->phase == PHASE_LOST)
        run_close_lost(s, cause); /* the run that it retries cannot be finished any more */
    flight_leaving(&s->flight, &r->place_of_word, r->log_id, s->seq);
    run_at_now(r, STORY_SENT, now);
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
        run_leave(s, r);
        /* the clock went back while it waited, or an edit has come */
        if (r->due_ms > now.wall_ms || job_behind(r->job) || run_outworn(r))
            run_wait_due(s, r);
        else
            send_run(s, now, r);
    }
    bool held = lane_may_widen(s, lane) && !list_empty(&lane->queue);
    if (!held || lane->dead || list_linked(&lane->room_node) || heap_linked(&lane->timer.entry))
        return;
    lane->answers = 0;
    heap_add(&s->waits, &lane->timer.entry, now.boot_ms + WIDEN_MS);
}

void lane_wait(struct sched *s, struct run *r, bool first)
{
    run_wait_for(s, r, WAIT_LANE);
    if (first)
        list_push_front(&r->lane->queue, &r->place);
    else
        list_push(&r->lane->queue, &r->place);
    r->lane->nqueue++;
}

void lane_enqueue(struct sched *s, struct now now, struct run *r)
{
    int64_t busy_ms = r->lane->heard_ms > r->lane->warm_ms ? r->lane->heard_ms : r->lane->warm_ms;
    if (r->lane->in_flight == 0 && now.boot_ms - busy_ms > QUIET_MS)
        lane_narrow(s, r->lane);
    lane_wait(s, r, false);
    lane_pump(s, now, r->lane);
}
