/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - the end of a /run call: accepted, refused, not sent, or in doubt. */
#include "sched/answer.h"
#include "sched/beat.h"
#include "sched/dispatch.h"
#include "sched/end.h"
#include "sched/group.h"
#include "sched/lane.h"
#include "sched/probe.h"
#include "sched/run.h"
#include "sched/send.h"
#include "sched/state.h"
#include "model/cause.h"
#include <stdio.h>

/* Nothing can have been delivered: an ordinary planned run again. False: it is taken care of; an
 * earlier copy may still be there, and only reconciliation tells, or it is to be routed anew. */
static bool take_back(struct sched *s, struct now now, struct run *r)
{
    if (r->flags & RUN_DOUBT) {
        run_move(s, now, r, PHASE_UNKNOWN);
        run_dirty(s, r);
        run_wait_ms(s, now, r, s->config.reconcile_gap_ms);
        return false;
    }
    run_move(s, now, r, PHASE_PLANNED);
    flight_unsent(&s->flight, r->place_of_word, r->log_id);
    r->flags &= ~(uint32_t)RUN_LEFT;
    if (r->flags & RUN_ENDING) { /* the end of the edit plans it, or takes it */
        r->flags &= ~(uint32_t)RUN_ENDING;
        run_wait_for(s, r, WAIT_EDIT);
        return false;
    }
    if (r->flags & RUN_MOVED)
        run_wait_due(s, r);
    return !(r->flags & RUN_MOVED);
}

/* The client had no room for it, which says nothing about the address: it waits as before, unless
 * the address has left the group meanwhile. */
static void no_room(struct sched *s, struct now now, struct run *r)
{
    if (r->lane->window > lane_fair(s))
        lane_set_window(s, r->lane, lane_fair(s));
    lane_rest(s, now, r->lane);
    if (!take_back(s, now, r))
        return;
    if (group_serves(s, r))
        lane_wait(s, r, true);
    else
        run_wait_due(s, r);
}

/* Something has changed since the call was asked for: the run is decided anew. */
static void not_leaving(struct sched *s, struct now now, struct run *r)
{
    if (!take_back(s, now, r))
        return;
    if (r->flags & RUN_BROADCAST)
        r->flags |= RUN_MOVED; /* the list may have changed during the call, when no shard could be
                                * planned again */
    run_wait_due(s, r);
}

/* For another address if there is one. When all have refused, the attempt says why. */
static void not_sent(struct sched *s, struct now now, struct run *r, const struct call_result *c)
{
    struct lane *failed = r->lane;
    lane_dead(s, now, failed);
    if (!take_back(s, now, r))
        return;
    struct lane *other =
        r->flags & RUN_BROADCAST || run_choices(r) ? NULL : dispatch_next_lane(s, r);
    if (other && r->tried++ < 16) {
        if (r->flags & RUN_PROBED)
            probe_anew(s, now, r);
        else
            run_readdress(s, r, other);
        return;
    }
    char why[512];
    snprintf(why, sizeof(why), CAUSE_UNREACHED "%.200s: %.*s", failed->address, (int)c->msg.n,
             c->msg.p ? c->msg.p : "");
    run_refuse(s, now, r, PHASE_REJECTED, why);
}

/* Refused with the words of the result, if it has some. */
static void refuse_with(struct sched *s, struct now now, struct run *r, const struct call_result *c,
                        const char *otherwise)
{
    char why[1024];
    snprintf(why, sizeof(why), "%.*s", (int)utf8_cut(c->msg.p, c->msg.n, sizeof(why) - 1),
             c->msg.p ? c->msg.p : "");
    run_refuse(s, now, r, PHASE_REJECTED, why[0] ? why : otherwise);
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
    r->doubts = once_more(r->doubts);
    r->flags |= RUN_DOUBT | RUN_DOUBTED;
    run_move(s, now, r, PHASE_UNKNOWN);
    run_urgent(s, r); /* a row that was ever in doubt must be known as such */
    run_wait_ms(s, now, r, 0);
}

static void accepted(struct sched *s, struct now now, struct run *r)
{
    flight_accepted(&s->flight, r->place_of_word, r->log_id);
    r->flags &= ~(uint32_t)RUN_DOUBT;
    run_move(s, now, r, PHASE_ACCEPTED);
    run_note_trigger(s, r, 200, NULL);
    run_wait_ms(s, now, r, s->config.reconcile_first_ms);
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
        run_wait_ms(s, now, r, s->config.reconcile_gap_ms);
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

/* A call that left nothing here has no times. */
static void note_times(struct now now, struct run *r, const struct call_result *c)
{
    if (c->outcome == CALL_ANSWERED || c->outcome == CALL_IN_DOUBT) {
        run_at_now(r, STORY_ANSWERED, now);
    } else {
        r->at_us[STORY_SENT] = STORY_UNKNOWN;
        return;
    }
    if (!c->sent_us)
        return;
    run_at(r, STORY_SENT, c->sent_us);
    run_at(r, STORY_ANSWERED, c->sent_us + c->took_us);
}

void answer_on_run(struct sched *s, struct now now, const struct call_result *c)
{
    struct run *r = run_find(s, c->log_id);
    if (!r || r->wait != WAIT_CALL || r->ticket != c->ticket)
        return;
    struct lane *lane = r->lane;
    lane->refs++; /* the run may go, or move */
    lane->in_flight--;
    run_wait_for(s, r, WAIT_NOTHING);
    if (c->outcome == CALL_ANSWERED) {
        lane_alive(s, now, lane);
        lane->answers++;
        lane_note_answer(lane, c->took_us);
    }
    note_times(now, r, c);
    if (r->flags & RUN_CLOSED) {
        late_answer(s, r);
    } else if (c->outcome == CALL_AGAIN) {
        not_leaving(s, now, r);
    } else if (r->flags & RUN_ENDING && !(c->outcome == CALL_ANSWERED && c->code == 200)) {
        in_doubt(s, now, r); /* no end of its own meanwhile */
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
