/* SPDX-License-Identifier: Apache-2.0 */
/* log_asks.c - pages of executors' logs for those who do not wait: a message there, the same
 * message back. What the core knows of the run goes along, as of before the executor was asked: a
 * page that came after the run had ended is its last if it is empty. */
#include "base/clock.h"
#include "base/mem.h"
#include "server/log_page.h"
#include "server/state.h"
#include <stdlib.h>

struct center_log_ask *center_log_ask_new(const struct center_log_of *of, int from_line)
{
    struct center_log_ask *a = mem_new(sizeof(*a));
    a->address = mem_dup(of->address ? of->address : "");
    a->group_id = of->group_id;
    a->log_id = of->log_id;
    a->trigger_ms = of->trigger_ms;
    a->trace = of->trace;
    a->from_line = from_line;
    return a;
}

void center_log_ask_free(struct center_log_ask *a)
{
    if (!a)
        return;
    free(a->address);
    free(a->log.content);
    free(a);
}

void center_log_ask(struct center *c, struct center_log_ask *a, struct mailbox *to, int kind)
{
    a->to = to;
    a->kind = kind;
    a->asked_ms = clock_boot_ms();
    a->message.kind = MESSAGE_LOG_ASK;
    mailbox_send(c->mailbox, &a->message);
}

/* ---- the scheduler's side ----------------------------------------------------------------------
 */

struct log_ask_open {
    struct transport_call call;
    struct transport_page page;
    struct list_node node; /* in center.log_asks */
    struct center_log_ask *ask;
    struct key_sent sent;
};

static void answer(struct center_log_ask *a, enum err err)
{
    a->err = err;
    a->took_ms = clock_boot_ms() - a->asked_ms;
    a->message.kind = a->kind;
    mailbox_send(a->to, &a->message);
}

static void ask_it(struct center *c, struct log_ask_open *o);

static void done(struct transport_call *call, struct call_result *r)
{
    struct log_ask_open *o = container_of(call, struct log_ask_open, call);
    struct center_log_ask *a = o->ask;
    if (calls_again(call->arg, a->group_id, a->address, &o->sent, r)) {
        ask_it(call->arg, o);
        return;
    }
    list_remove(&o->node);
    enum err err = log_page_of(&o->call, &o->page, r, a->address, a->from_line, &a->log, &a->why);
    free(o);
    answer(a, err);
}

static void ask_it(struct center *c, struct log_ask_open *o)
{
    const struct center_log_ask *a = o->ask;
    struct call call = { .kind = CALL_LOG,
                         .address = a->address,
                         .group_id = a->group_id,
                         .log_id = a->log_id,
                         .log_time_ms = a->trigger_ms,
                         .root = a->trace };
    o->page = (struct transport_page){ .from_line = a->from_line };
    o->call = (struct transport_call){ .page = &o->page, .done = done, .arg = c };
    calls_begin(c, &call, &o->call, &o->sent);
}

void log_ask_open(struct center *c, struct message *l)
{
    struct center_log_ask *a = container_of(l, struct center_log_ask, message);
    struct sched_look look;
    a->run_open = sched_look(c->sched, a->log_id, &look);
    if (a->run_open)
        a->trace = look.root;
    if (!a->address[0] && a->run_open && look.address) {
        free(a->address);
        a->address = mem_dup(look.address);
        a->trigger_ms = look.log_ms;
    }
    if (!a->address[0]) { /* there is nothing to ask yet, or for good */
        answer(a, ERR_NOTFOUND);
        return;
    }
    struct log_ask_open *o = mem_new(sizeof(*o));
    o->ask = a;
    list_push(&c->log_asks, &o->node);
    ask_it(c, o);
}

void log_ask_refuse(struct message *l)
{
    center_log_ask_free(container_of(l, struct center_log_ask, message));
}

void log_asks_refuse(struct center *c)
{
    for (struct list_node *n; (n = list_pop(&c->log_asks));) {
        struct log_ask_open *o = container_of(n, struct log_ask_open, node);
        struct center_log_ask *a = o->ask;
        (void)transport_abort(&o->call);
        free(o);
        answer(a, ERR_STOPPING);
    }
}
