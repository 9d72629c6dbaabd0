/* SPDX-License-Identifier: Apache-2.0 */
/* results_forward.c - results that end runs of other nodes, brought to these.
 *
 * Which node owns a run stands in the database, where one statement would find it. It is quicker to
 * ask: a node says at once which of the runs it does not have. The first one to be asked is the one
 * that had a run with about the same log id: ids that one transaction gives lie side by side. So
 * nothing here must be right. What no node takes, for whatever reason, goes the way that needs none
 * of them: into this server's next batch, and from there into the inbox of the run or onto its log
 * row. An executor is answered when its last result is kept: by its owner's commit or by ours.
 *
 * Results for one node gather while calls to it are under way, or for 2 ms. */
#include "base/jsonw.h"
#include "base/mem.h"
#include "sched/seen.h"
#include "server/state.h"
#include "wire/open_api.h"
#include <stdlib.h>
#include <string.h>

#define GATHER_MS 2
#define GATHER 500      /* then they go */
#define GATHER_MAX 2000 /* more do not wait for one node */
#define OPEN_MAX 4      /* calls to one node */
#define ASK_MAX 3       /* nodes for one result */
#define BLOCK_BITS 5    /* log ids of one hint */

struct item {
    int64_t log_id;
    struct reply *reply;
    int64_t asked[ASK_MAX]; /* lives that do not have the run */
    int nasked;
};

struct forward {        /* to one life */
    struct waiter kept; /* of what goes into the core here after all */
    struct list_node node;
    struct center *center;
    int64_t epoch, since_ms; /* boot: of the first one */
    struct buf body;         /* as executors send it, without its end */
    struct item *items;      /* one an element of the body */
    int n, cap;
    struct peer_call call;
    bool sent;
};

/* ---- which node ------------------------------------------------------------------------------ */

static struct forward_hint *hint_of(struct center *c, int64_t block)
{
    return &c->forwards.hints[hash_u64((uint64_t)block) % FORWARD_HINTS];
}

static void learn(struct center *c, int64_t log_id, int64_t epoch)
{
    int64_t block = log_id >> BLOCK_BITS;
    *hint_of(c, block) = (struct forward_hint){ block, epoch };
}

static int64_t hint(struct center *c, int64_t log_id)
{
    int64_t block = log_id >> BLOCK_BITS;
    for (int64_t b = block; b >= block - 1; b--) {
        const struct forward_hint *h = hint_of(c, b);
        if (h->block == b && h->epoch)
            return h->epoch;
    }
    return 0;
}

static bool was_asked(const struct item *i, int64_t epoch)
{
    for (int k = 0; k < i->nasked; k++)
        if (i->asked[k] == epoch)
            return true;
    return false;
}

/* The life to ask next; 0: none. */
static int64_t choose(struct center *c, const struct item *item)
{
    int64_t ready[CLUSTER_MAX], first = 0, likely = hint(c, item->log_id);
    int n = item->nasked < ASK_MAX ? peers_ready(c->peers, ready, CLUSTER_MAX) : 0;
    for (int k = n - 1; k >= 0; k--) {
        if (was_asked(item, ready[k]))
            continue;
        first = ready[k];
        if (first == likely)
            break;
    }
    return first;
}

/* ---- gathering ------------------------------------------------------------------------------- */

static struct forward *gathering(const struct center *c, int64_t epoch, int *ret_open)
{
    struct forward *found = NULL;
    *ret_open = 0;
    list_each(&c->forwards.open, n, tmp)
    {
        struct forward *f = container_of(n, struct forward, node);
        if (f->epoch != epoch)
            continue;
        if (f->sent)
            ++*ret_open;
        else if (!f->kept.done)
            found = f;
    }
    return found;
}

static struct forward *forward_new(struct center *c, int64_t epoch)
{
    struct forward *f = mem_new(sizeof(*f));
    f->center = c;
    f->epoch = epoch;
    f->since_ms = clock_boot_ms();
    buf_init(&f->body, PEER_BODY_MAX - 1);
    list_push(&c->forwards.open, &f->node);
    return f;
}

static void forward_free(struct forward *f)
{
    list_remove(&f->node);
    buf_done(&f->body);
    free(f->items);
    free(f);
}

static void item_add(struct forward *f, const struct item *item)
{
    if (f->n == f->cap) {
        f->cap = f->cap ? 2 * f->cap : 16;
        f->items = mem_resize(f->items, (size_t)f->cap * sizeof(*f->items));
    }
    f->items[f->n++] = *item;
}

static bool element_add(struct buf *body, const struct center_result *r)
{
    size_t before = body->len;
    struct jsonw w = jsonw_on(body);
    buf_char(body, before ? ',' : '[');
    jsonw_object(&w, NULL);
    jsonw_i64(&w, "logId", r->log_id);
    jsonw_i64(&w, "logDateTim", r->date_ms);
    jsonw_i64(&w, "handleCode", r->code);
    jsonw_slice(&w, "handleMsg", r->msg);
    jsonw_object_end(&w);
    if (!body->failed && body->len < body->max) /* there is room for its end */
        return true;
    body->failed = false;
    body->len = before;
    return false;
}

/* False: there is no node to ask, or no room. */
static bool gather(struct center *c, const struct item *item, const struct center_result *result)
{
    int open;
    int64_t epoch = choose(c, item);
    if (!epoch)
        return false;
    struct forward *f = gathering(c, epoch, &open);
    if (f && f->n >= GATHER_MAX)
        return false;
    if (!f)
        f = forward_new(c, epoch);
    if (!element_add(&f->body, result)) {
        if (!f->n)
            forward_free(f);
        return false;
    }
    item_add(f, item);
    return true;
}

bool forward_result(struct center *c, struct reply *r, const struct center_result *result)
{
    const struct item item = { .log_id = result->log_id, .reply = r };
    if (result->code <= 0) /* ends no run */
        return false;
    if (!c->forwards.hints)
        c->forwards.hints = mem_new(FORWARD_HINTS * sizeof(*c->forwards.hints));
    if (!gather(c, &item, result))
        return false;
    r->waits++;
    return true;
}

/* ---- what no node took ----------------------------------------------------------------------- */

static void kept_here(struct center *c, struct waiter *k)
{
    struct forward *f = container_of(k, struct forward, kept);
    for (int i = 0; i < f->n; i++)
        results_less(c, f->items[i].reply);
    forward_free(f);
}

/* Into the core, as if they had come just now. */
static void keep(struct center *c, struct forward *f, const struct center_result *results)
{
    struct now now = center_now();
    for (int i = 0; i < f->n; i++)
        if (!sched_result(c->sched, now, f->items[i].log_id, results[i].code, results[i].msg))
            results_refuse_full(c, f->items[i].reply);
    list_remove(&f->node);
    list_push(&c->forwards.open, &f->node);
    f->kept.done = kept_here;
    sched_ack_after(c->sched, now, &f->kept.ack);
    sched_want_batch(c->sched);
}

/* Those that are left of f, in their order: each to the next node, or into the core. */
static void go_on(struct center *c, struct forward *f, struct center_result *results, bool ask)
{
    int n = 0;
    for (int i = 0; i < f->n; i++) {
        if (ask && gather(c, &f->items[i], &results[i]))
            continue;
        f->items[n] = f->items[i];
        results[n++] = results[i];
    }
    f->n = n;
    if (n)
        keep(c, f, results);
    else
        forward_free(f);
}

/* The body says what was gathered; it is read again only if it has to be. */
static void rest(struct center *c, struct forward *f, const bool *left, bool ask)
{
    struct wire_callbacks all;
    struct why why = { "" };
    int n = 0;
    if (wire_callbacks_parse(slice_of(f->body.data, f->body.len), &all, &why))
        abort(); /* it was written here */
    struct center_result *results = mem_new((size_t)f->n * sizeof(*results));
    for (int i = 0; i < f->n; i++) {
        if (left && !left[i])
            continue;
        f->items[n] = f->items[i];
        results[n++] = (struct center_result){ all.items[i].log_id, all.items[i].log_date_ms,
                                               all.items[i].code, all.items[i].msg };
    }
    f->n = n;
    go_on(c, f, results, ask);
    free(results);
    wire_callbacks_done(&all);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The places of those that the node does not have, ascending. False: that is no such list. */
static bool missing_of(struct slice said, bool *left, int n, int *ret_missing)
{
    struct slice one;
    int64_t at, last = -1;
    while (slice_cut(&said, ' ', &one)) {
        if (!parse_i64(one, &at) || at <= last || at >= n)
            return false;
        left[at] = true;
        last = at;
        ++*ret_missing;
    }
    return true;
}

static void taken(struct center *c, struct forward *f, const bool *left)
{
    unsigned n = 0;
    for (int i = 0; i < f->n; i++) {
        struct item *item = &f->items[i];
        if (left[i]) {
            item->asked[item->nasked++] = f->epoch;
            continue;
        }
        learn(c, item->log_id, f->epoch);
        results_less(c, item->reply);
        n++;
    }
    atomic_fetch_add_explicit(&c->metrics.forwarded, n, memory_order_relaxed);
}

static void on_done(struct peer_call *call)
{
    struct forward *f = container_of(call, struct forward, call);
    struct center *c = f->center;
    int missing = 0;
    bool *left = mem_new((size_t)f->n);
    f->sent = false;
    list_remove(&f->node); /* it gathers no more */
    if (!call->answered || !missing_of(call->body, left, f->n, &missing)) {
        rest(c, f, NULL, false);
    } else {
        taken(c, f, left);
        if (missing)
            rest(c, f, left, true);
        else
            forward_free(f);
    }
    free(left);
}

static void send_it(struct center *c, struct forward *f)
{
    buf_char(&f->body, ']');
    f->call.done = on_done;
    f->sent =
        peers_call(c->peers, f->epoch, "results", slice_of(f->body.data, f->body.len), &f->call);
    if (f->sent)
        return;
    list_remove(&f->node);
    rest(c, f, NULL, false);
}

static bool waits(const struct forward *f)
{
    return f->n && !f->sent && !f->kept.done;
}

void forwards_flush(struct center *c)
{
    int64_t now_ms = clock_boot_ms();
    int open;
    list_each(&c->forwards.open, n, tmp)
    {
        struct forward *f = container_of(n, struct forward, node);
        if (!waits(f))
            continue;
        (void)gathering(c, f->epoch, &open);
        if (open < OPEN_MAX && (!open || f->n >= GATHER || f->since_ms + GATHER_MS <= now_ms))
            send_it(c, f);
    }
}

int64_t forwards_next(const struct center *c)
{
    int64_t next = INT64_MAX;
    int open;
    list_each(&c->forwards.open, n, tmp)
    {
        struct forward *f = container_of(n, struct forward, node);
        if (!waits(f) || f->since_ms + GATHER_MS >= next)
            continue;
        (void)gathering(c, f->epoch, &open);
        if (open < OPEN_MAX) /* else it goes when one of these comes back */
            next = f->since_ms + GATHER_MS;
    }
    return next;
}

void forwards_free(struct center *c)
{
    for (struct list_node *n; (n = list_first(&c->forwards.open));) {
        struct forward *f = container_of(n, struct forward, node);
        if (f->sent)
            peers_abort(&f->call);
        forward_free(f);
    }
    free(c->forwards.hints);
    c->forwards.hints = NULL;
}
