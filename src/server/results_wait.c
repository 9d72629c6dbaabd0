/* SPDX-License-Identifier: Apache-2.0 */
/* results_wait.c - what a callback's answer waits for: its results in this server's core, and each
 * one that is on its way to another node. */
#include "server/state.h"

void results_less(struct center *c, struct reply *r)
{
    if (--r->waits)
        return;
    if (r->claim && r->claim->refused == r->n)
        results_refuse(r);
    else
        results_answer(r);
    journalling_release(c, r);
    results_drop(r);
}

static void committed(struct center *c, struct waiter *k)
{
    results_less(c, container_of(k, struct reply, kept));
}

void results_wait(struct center *c, struct now now, struct reply *r)
{
    r->waits++;
    r->kept.done = committed;
    sched_ack_after(c->sched, now, &r->kept.ack);
}
