/* SPDX-License-Identifier: Apache-2.0 */
/* One shape for all requests: a round goes from center to center, beginning with the one that
 * answered last, until one says yes; a timer starts the next round after a pause. The registration
 * is one round that is repeated for ever; each sender of results is another.
 *
 * A result is in exactly one list: it waits, or it is in the request of one sender. After a refusal
 * requests carry one result each, until one is accepted: so a result that a center refuses
 * does not hold up the others. */
#include "executor/core/centers.h"
#include <stdlib.h>
#include <string.h>
#include "base/dice.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/secret.h"
#include "net/httpc.h"
#include "wire/open_api.h"
#include "wire/texts.h"

enum {
    CENTERS_MAX = 32,
    JOIN_EVERY_MS = 30000,
    PAUSE_MIN_MS = 1000,
    PAUSE_MAX_MS = 30000,
    REGISTRY_TIMEOUT_MS = 3000,
    CALLBACK_TIMEOUT_MS = 5000,
    BATCH_BYTES = 262144, /* of messages in one request */
    SENDERS = 4,          /* requests with results at a time */
};

/* A request that goes from center to center until one says yes. */
struct round {
    struct centers *c;
    struct httpc_call call;
    struct loop_timer again;
    const char *action;
    struct buf body;
    int timeout_ms, tried, pause_ms;
    int at;       /* the center that is tried */
    bool open;    /* a call is on its way */
    bool refused; /* in this round a center answered, and not with yes */
    void (*end)(struct round *r, bool yes);
};

struct sender {
    struct round round;
    struct list sending; /* struct result: in its request */
};

struct centers {
    struct loop *loop;
    const struct centers_config *cf;
    struct httpc *client;
    struct httpc_peer *peers[CENTERS_MAX]; /* owned by client */
    char *names[CENTERS_MAX];              /* owned */
    int npeers, current;
    struct dice dice;
    struct round registry;
    struct sender senders[SENDERS];
    struct loop_task left_task, send_task;
    bool leaving, removing, joined;
    struct list waiting; /* struct result */
    size_t nwaiting;
    size_t pending;
    int batch_max;
    bool trouble; /* the last request with results failed */
};

void result_free(struct result *r)
{
    if (!r)
        return;
    free(r->msg);
    free(r);
}

/* --- rounds --- */

static void round_done(struct httpc_call *call);

static void round_try(struct round *r)
{
    struct centers *c = r->c;
    struct slice body = slice_of(buf_str(&r->body), r->body.len);
    struct httpc_post post = {
        .action = r->action,
        .headers = slice_text(r == &c->registry ? WIRE_HEADER_EXECUTOR ": 1\r\n" : ""),
        .pieces = &body,
        .npieces = 1,
        .timeout_ms = r->timeout_ms,
    };
    r->call = (struct httpc_call){ .done = round_done, .user = r };
    r->open = httpc_call(c->peers[r->at], &post, &r->call) == OK;
    if (!r->open)
        r->end(r, false);
}

static void round_begin(struct round *r)
{
    loop_timer_clear(r->c->loop, &r->again);
    r->tried = 0;
    r->refused = false;
    r->at = r->c->current;
    if (r->body.failed) /* no memory: half of it must not be sent */
        r->end(r, false);
    else
        round_try(r);
}

/* The next round comes after the pause, which grows, give or take a quarter. */
static void round_pause(struct round *r)
{
    int64_t pause = r->pause_ms ? r->pause_ms : PAUSE_MIN_MS;
    r->pause_ms = pause * 2 < PAUSE_MAX_MS ? (int)pause * 2 : PAUSE_MAX_MS;
    pause = pause * 3 / 4 + dice_below(&r->c->dice, (uint32_t)pause / 2);
    loop_timer_set(r->c->loop, &r->again, loop_now_ms(r->c->loop) + pause);
}

static void round_done(struct httpc_call *call)
{
    struct round *r = call->user;
    struct centers *c = r->c;
    struct why why = { { 0 } };
    bool answered = call->outcome == HTTPC_ANSWERED;
    bool yes = answered && wire_admin_accepts(call->status, call->body, &why);
    r->open = false;
    if (yes) {
        c->current = r->at;
        r->end(r, true);
        return;
    }
    r->refused |= answered;
    log_warn("executor", "%s: %s of %s: %.300s", r->action, answered ? "refused" : "no answer",
             c->names[r->at], answered ? why.text : call->why);
    r->at = (r->at + 1) % c->npeers;
    if (++r->tried < c->npeers)
        round_try(r);
    else
        r->end(r, false);
}

static void round_init(struct round *r, struct centers *c, const char *action, int timeout_ms,
                       void (*end)(struct round *, bool), void (*again)(struct loop_timer *))
{
    r->c = c;
    r->action = action;
    r->timeout_ms = timeout_ms;
    r->end = end;
    r->again.fire = again;
    buf_init(&r->body, WIRE_CALLBACK_MAX);
}

static void round_free(struct round *r)
{
    if (r->open)
        httpc_abort(&r->call);
    loop_timer_clear(r->c->loop, &r->again);
    buf_done(&r->body);
}

/* --- registry --- */

static void tell_left(struct loop_task *t)
{
    struct centers *c = container_of(t, struct centers, left_task);
    c->cf->left(c->cf->arg);
}

static void remove_us(struct centers *c)
{
    c->removing = true;
    c->registry.action = "api/registryRemove";
    round_begin(&c->registry);
}

/* centers_join may have been called meanwhile. */
static void removed(struct centers *c, bool yes)
{
    c->removing = c->joined = false;
    if (yes)
        log_info("executor", "deregistered at %s", c->names[c->current]);
    c->registry.action = "api/registry";
    if (c->leaving)
        loop_defer(c->loop, &c->left_task);
    else
        round_begin(&c->registry);
}

static void registry_end(struct round *r, bool yes)
{
    struct centers *c = r->c;
    if (c->removing) {
        removed(c, yes);
        return;
    }
    if (yes && !c->joined)
        log_info("executor", "registered at %s as %s, %s", c->names[c->current], c->cf->appname,
                 c->cf->address);
    c->joined = yes;
    if (c->leaving) {
        remove_us(c);
    } else if (yes) {
        r->pause_ms = 0;
        loop_timer_set(c->loop, &r->again, loop_now_ms(c->loop) + JOIN_EVERY_MS);
    } else {
        round_pause(r);
    }
}

/* Once, unless there was no memory for it. */
static void registry_compose(struct centers *c)
{
    if (c->registry.body.len && !c->registry.body.failed)
        return;
    buf_reset(&c->registry.body);
    wire_registry_body(&c->registry.body, slice_text(c->cf->appname), slice_text(c->cf->address));
}

static void registry_again(struct loop_timer *t)
{
    struct round *r = container_of(t, struct round, again);
    registry_compose(r->c);
    round_begin(r);
}

void centers_join(struct centers *c)
{
    c->leaving = false;
    loop_undefer(c->loop, &c->left_task);
    if (c->npeers == 0 || !c->cf->appname[0])
        return;
    registry_compose(c);
    if (!c->registry.open) /* else its answer comes first */
        round_begin(&c->registry);
}

void centers_leave(struct centers *c)
{
    if (c->leaving)
        return;
    c->leaving = true;
    if (c->registry.body.len == 0)
        loop_defer(c->loop, &c->left_task);
    else if (!c->registry.open) /* else its answer comes first: a late one must not undo ours */
        remove_us(c);
}

/* --- results --- */

static void gather(struct sender *s)
{
    struct centers *c = s->round.c;
    struct wire_callback items[WIRE_CALLBACK_BATCH];
    size_t n = 0, bytes = 0;
    while (n < (size_t)c->batch_max && bytes < BATCH_BYTES && !list_empty(&c->waiting)) {
        struct result *r = container_of(list_pop(&c->waiting), struct result, node);
        list_push(&s->sending, &r->node);
        items[n++] = (struct wire_callback){ .log_id = r->log_id,
                                             .log_date_ms = r->log_date_ms,
                                             .code = r->code,
                                             .has_code = true,
                                             .msg = slice_text(r->msg) };
        bytes += items[n - 1].msg.n;
    }
    c->nwaiting -= n;
    buf_reset(&s->round.body);
    wire_callback_body(&s->round.body, items, n);
}

/* The sender that may send now: one, and others beside it only while a whole request waits, so that
 * what comes meanwhile goes together. After a failure none until the pause is over, then one. */
static struct sender *free_sender(struct centers *c)
{
    struct sender *idle = NULL;
    size_t open = 0;
    for (int i = SENDERS - 1; i >= 0; i--) {
        struct sender *s = &c->senders[i];
        if (loop_timer_is_set(&s->round.again))
            return NULL;
        if (s->round.open)
            open++;
        else
            idle = s;
    }
    if (open && (c->trouble || c->nwaiting < WIRE_CALLBACK_BATCH))
        return NULL;
    return idle;
}

static void send_results(struct centers *c)
{
    struct sender *s;
    while (c->nwaiting && (s = free_sender(c))) {
        gather(s);
        round_begin(&s->round);
    }
}

/* What an iteration brings goes together. */
static void send_later(struct loop_task *t)
{
    send_results(container_of(t, struct centers, send_task));
}

static void acknowledged(struct sender *s)
{
    struct centers *c = s->round.c;
    for (struct list_node *n; (n = list_pop(&s->sending));) {
        struct result *r = container_of(n, struct result, node);
        c->pending--;
        c->cf->told(r, true, c->cf->arg);
    }
}

static void wait_for_turn(struct centers *c, struct result *r)
{
    list_push(&c->waiting, &r->node);
    c->nwaiting++;
}

/* Back into the queue, at its end: a result that a center cannot take must not stand before the
 * others. */
static void take_back(struct sender *s)
{
    struct centers *c = s->round.c;
    for (struct list_node *n; (n = list_pop(&s->sending));) {
        struct result *r = container_of(n, struct result, node);
        if (r->tries++ == 0)
            c->cf->told(r, false, c->cf->arg);
        wait_for_turn(c, r);
    }
}

static void callback_end(struct round *r, bool yes)
{
    struct centers *c = r->c;
    struct sender *s = container_of(r, struct sender, round);
    c->trouble = !yes;
    if (yes) {
        r->pause_ms = 0;
        c->batch_max = WIRE_CALLBACK_BATCH;
        acknowledged(s);
        send_results(c);
        return;
    }
    if (r->refused) /* find out which of them it is */
        c->batch_max = 1;
    take_back(s);
    round_pause(r);
}

static void callback_again(struct loop_timer *t)
{
    send_results(container_of(t, struct round, again)->c);
}

void centers_report(struct centers *c, struct result *r)
{
    c->pending++;
    wait_for_turn(c, r);
    loop_defer(c->loop, &c->send_task);
}

bool centers_any(const struct centers *c)
{
    return c->npeers > 0;
}

bool centers_registered(const struct centers *c)
{
    return c->joined && !c->leaving;
}

size_t centers_pending(const struct centers *c)
{
    return c->pending;
}

/* --- making and freeing --- */

static enum err add_peers(struct centers *c, struct why *why)
{
    struct slice rest = slice_text(c->cf->addresses);
    for (struct slice name; slice_item(&rest, &name);) {
        struct why reason = { { 0 } };
        if (c->npeers == CENTERS_MAX) {
            why_set(why, "xxl.job.admin.addresses: at most %d", CENTERS_MAX);
            return ERR_TOOBIG;
        }
        enum err err = httpc_peer_new(c->client, name, &c->peers[c->npeers], &reason);
        if (err) {
            why_set(why, "xxl.job.admin.addresses: %.*s: %s", (int)utf8_cut(name.p, name.n, 100),
                    name.p, reason.text);
            return err;
        }
        c->names[c->npeers++] = mem_dupn(name.p, name.n);
    }
    return OK;
}

enum err centers_new(struct loop *l, const struct centers_config *config, struct centers **ret,
                     struct why *why)
{
    struct centers *c = mem_new(sizeof(*c));
    c->loop = l;
    c->cf = config;
    c->batch_max = WIRE_CALLBACK_BATCH;
    c->left_task.run = tell_left;
    c->send_task.run = send_later;
    list_init(&c->waiting);
    secret_random(&c->dice, sizeof(c->dice));
    round_init(&c->registry, c, "api/registry", REGISTRY_TIMEOUT_MS, registry_end, registry_again);
    for (int i = 0; i < SENDERS; i++) {
        round_init(&c->senders[i].round, c, "api/callback", CALLBACK_TIMEOUT_MS, callback_end,
                   callback_again);
        list_init(&c->senders[i].sending);
    }
    bool shows = config->cert && config->cert[0];
    struct httpc_config client = { .token = config->token,
                                   .connections = SENDERS + 1,
                                   .tls = { .ca = config->ca,
                                            .cert = shows ? config->cert : NULL,
                                            .key = config->key,
                                            .setting = "peal.executor.centers.ca" } };
    enum err err = httpc_new(l, &client, &c->client, why);
    if (!err)
        err = add_peers(c, why);
    if (err)
        centers_free(c);
    else
        *ret = c;
    return err;
}

static void free_results(struct list *l)
{
    for (struct list_node *n; (n = list_pop(l));)
        result_free(container_of(n, struct result, node));
}

void centers_free(struct centers *c)
{
    if (!c)
        return;
    round_free(&c->registry);
    for (int i = 0; i < SENDERS; i++)
        round_free(&c->senders[i].round);
    loop_undefer(c->loop, &c->left_task);
    loop_undefer(c->loop, &c->send_task);
    httpc_free(c->client);
    free_results(&c->waiting);
    for (int i = 0; i < SENDERS; i++)
        free_results(&c->senders[i].sending);
    for (int i = 0; i < c->npeers; i++)
        free(c->names[i]);
    free(c);
}
