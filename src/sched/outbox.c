/* SPDX-License-Identifier: Apache-2.0 */
/* outbox.c - what leaves the core: actions, at once or when the batch that gathers is kept. */
#include "sched/outbox.h"
#include "sched/lane.h"
#include "sched/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool action_pop(struct sched *s, struct action *ret)
{
    if (s->nactions == 0)
        return false;
    *ret = s->actions[s->first_action];
    s->first_action = (s->first_action + 1) % s->cactions;
    s->nactions--;
    return true;
}

/* ---- after the commit ------------------------------------------------------------------------ */

void killed(struct sched *s, void *reply, int64_t log_id, enum err err, const char *text)
{
    struct action *a = action_new(s, ACTION_KILLED);
    a->reply = reply;
    a->log_id = log_id;
    a->err = err;
    snprintf(a->text, sizeof(a->text), "%s", text);
}

void killed_after(struct sched *s, struct kill *k)
{
    k->seq = s->seq;
    list_push(&s->kills, &k->node);
    want_batch(s);
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

static void kills_done(struct sched *s, uint64_t seq)
{
    for (struct list_node *n; (n = list_first(&s->kills));) {
        struct kill *k = container_of(n, struct kill, node);
        if (k->seq > seq)
            return;
        list_remove(n);
        killed(s, k->reply, k->log_id, OK, k->text);
        free(k);
    }
}

void outbox_kept(struct sched *s, uint64_t seq)
{
    acks_done(s, seq);
    kills_done(s, seq);
}

void outbox_free(struct sched *s)
{
    for (struct list_node *n; (n = list_pop(&s->kills));)
        free(container_of(n, struct kill, node));
    free(s->actions);
}
