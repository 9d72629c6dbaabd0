/* SPDX-License-Identifier: Apache-2.0 */
/* kill.c - a user's kill: withdraws what has not left, asks the executor for the rest. */
#include "sched/kill.h"
#include "sched/beat.h"
#include "sched/end.h"
#include "sched/lane.h"
#include "sched/outbox.h"
#include "sched/run.h"
#include "sched/state.h"
#include <stdio.h>
#include <stdlib.h>

static struct kill *kill_new(struct run *r, void *reply)
{
    struct kill *k = mem_new(sizeof(*k));
    k->reply = reply;
    k->log_id = r->log_id;
    r->kill = k;
    return k;
}

/* It worked: the user hears of it when the run's end is kept. */
static void kill_kept(struct sched *s, struct run *r)
{
    struct kill *k = r->kill;
    r->kill = NULL;
    if (k)
        killed_after(s, k);
}

void kill_ask(struct sched *s, struct now now, int64_t log_id, void *reply)
{
    struct run *r = run_find(s, log_id);
    if (!r || !run_open(r)) {
        killed(s, reply, log_id, ERR_NOTFOUND, "the run has ended already");
        return;
    }
    if (r->kill || (!run_never_left(r) && !r->lane)) {
        killed(s, reply, log_id, ERR_BUSY, "another kill is under way");
        return;
    }
    struct kill *k = kill_new(r, reply);
    if (run_never_left(r)) {
        if (run_held(r))
            return; /* kill_settle */
        snprintf(k->text, sizeof(k->text), "withdrawn before it left");
        run_withdraw(s, now, r, PHASE_WITHDRAWN, "killed by a user before it left");
        kill_kept(s, r);
        return;
    }
    call_out(s, r->lane,
             (struct call){ .kind = CALL_KILL,
                            .log_id = log_id,
                            .ticket = ++s->ticket,
                            .job_id = r->job->id,
                            .group_id = run_group(r),
                            .root = run_root(r) });
}

static void kill_finish(struct sched *s, struct now now, struct run *r)
{
    char msg[256];
    snprintf(msg, sizeof(msg), KILLED_BY_USER "%s", r->kill->text);
    run_finish(s, now, r, PHASE_KILLED, 500, msg);
}

void kill_settle(struct sched *s, struct now now, struct run *r)
{
    struct kill *k = r->kill;
    if (!k)
        return;
    if (k->answered) {
        if (run_open(r))
            kill_finish(s, now, r);
        kill_kept(s, r);
    } else if (run_never_left(r)) {
        r->kill = NULL;
        kill_ask(s, now, r->log_id, k->reply);
        free(k);
    }
}

static void kill_refused(struct sched *s, struct run *r)
{
    struct kill *k = r->kill;
    r->kill = NULL;
    killed(s, k->reply, k->log_id, ERR_NET, k->text[0] ? k->text : "the executor did not answer");
    free(k);
}

void kill_on_call(struct sched *s, struct now now, const struct call_result *c)
{
    struct lane *lane = textmap_find(&s->lanes, slice_text(c->address));
    if (lane && c->outcome == CALL_ANSWERED)
        lane_alive(s, now, lane);
    struct run *r = run_find(s, c->log_id);
    struct kill *k = r ? r->kill : NULL;
    if (!k)
        return;
    snprintf(k->text, sizeof(k->text), "%.*s", (int)utf8_cut(c->msg.p, c->msg.n, 150),
             c->msg.p ? c->msg.p : "");
    if (c->outcome != CALL_ANSWERED || c->code != 200) {
        kill_refused(s, r);
        return;
    }
    k->answered = true;
    if (run_held(r))
        return; /* kill_settle, or run_free when the edit takes the run */
    if (run_open(r))
        kill_finish(s, now, r);
    kill_kept(s, r);
}
