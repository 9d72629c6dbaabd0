/* SPDX-License-Identifier: Apache-2.0 */
/* Calls go through a client of their own, which sends no access token and opens at most PEER_CALLS
 * connections to a node. A peer is one life of a node: when it ends, or its address changes, what
 * is open goes on to its end and finds no peer any more. */
#include "server/peers.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/secret.h"
#include <stdlib.h>
#include <string.h>

#define IDLE_MS 60000 /* less than what a front leaves a connection idle */
#define QUIET_MIN_MS 250
#define QUIET_MAX_MS 8000
#define TOLD_FAILURES 4 /* a node that dies or stops is no news, that has a row */
#define HEADERS_MAX 512
#define NUDGE "look"

struct peer {
    int64_t node, epoch;
    char *address;
    struct httpc_peer *to;
    int64_t quiet_until_ms; /* boot */
    int failures;           /* in a row */
    int64_t busy_until_ms;  /* boot: it has said so */
    struct peer_call nudge;
    bool nudging, nudge_again;
};

struct peers {
    struct peers_config config; /* token owned */
    struct httpc *client;
    struct peer **items;
    int n;
    struct list calls; /* open ones of this server */
    struct list asked; /* calls that have come and are not answered */
    int64_t nonce;
    struct buf headers, answer; /* kept for the next one */
};

static struct slice token_of(const struct peers *p)
{
    return slice_text(p->config.token);
}

/* ---- answering ------------------------------------------------------------------------------- */

bool peers_path(struct slice path)
{
    size_t n = sizeof(PEER_PATH) - 1;
    return path.n >= n && memcmp(path.p, PEER_PATH, n) == 0;
}

static struct slice behind(struct slice path, size_t n)
{
    return slice_of(path.p + n, path.n - n);
}

static void forbid(struct peers *p, struct httpd_request *q)
{
    if (p)
        atomic_fetch_add_explicit(&p->config.metrics->peer_refused, 1, memory_order_relaxed);
    httpd_reply(q, 403, NULL, slice_of(NULL, 0), slice_of(NULL, 0));
}

static const struct peer_row *row_of(const struct peers *p, struct slice path, struct slice *ret)
{
    for (const struct peer_row *r = p->config.rows; r->path; r++) {
        size_t n = strlen(r->path);
        bool begins = path.n >= n && memcmp(path.p, r->path, n) == 0;
        if (!begins || (path.n > n && r->path[n - 1] != '/'))
            continue;
        *ret = behind(path, n);
        return r;
    }
    return NULL;
}

/* Is its head one of a node's call to this life? Then *ret_row is its row; NULL: it has none. */
static bool admit(const struct peers *p, const struct httpd_request *q, struct peer_seal *seal,
                  const struct peer_row **ret_row, struct slice *ret_rest)
{
    if (!p || !slice_eq(q->method, "POST"))
        return false;
    struct slice path = behind(q->path, sizeof(PEER_PATH) - 1);
    if (!peer_seal_read(token_of(p), path, httpd_header(q, PEER_HEADER), seal))
        return false;
    *ret_row = row_of(p, path, ret_rest);
    return seal->to == p->config.epoch;
}

/* Of a node's call: the asker knows that it was heard. */
static void refuse(struct peers *p, struct httpd_request *q, const struct peer_seal *seal,
                   int status)
{
    buf_reset(&p->answer);
    peer_refusal_write(&p->answer, token_of(p), seal, status);
    httpd_reply(q, status, "text/plain", slice_of(NULL, 0),
                slice_of(p->answer.data, p->answer.len));
}

size_t peers_head(struct peers *p, struct httpd_request *q)
{
    struct peer_seal seal;
    const struct peer_row *row;
    struct slice rest;
    if (!admit(p, q, &seal, &row, &rest))
        forbid(p, q);
    else if (row && row->body_max > HTTPD_HEAD_FIRST)
        return row->body_max;
    else
        refuse(p, q, &seal, row ? 413 : 404);
    return 0;
}

void peers_serve(struct peers *p, struct httpd_request *q)
{
    struct peer_seal seal;
    const struct peer_row *row;
    struct slice rest;
    if (!admit(p, q, &seal, &row, &rest) || !peer_seal_body(&seal, q->body)) {
        forbid(p, q);
        return;
    }
    httpd_proved(q);
    if (!row || q->body.n > row->body_max) {
        refuse(p, q, &seal, row ? 413 : 404);
        return;
    }
    struct peer_asked *a = mem_new(sizeof(*a));
    a->seal = seal;
    a->rest = rest;
    a->body = q->body;
    a->from = a->seal.from;
    a->request = q;
    a->peers = p;
    list_push(&p->asked, &a->node);
    row->serve(p->config.center, a);
}

static void asked_free(struct peer_asked *a)
{
    list_remove(&a->node);
    free(a);
}

void peer_answer(struct peer_asked *a, struct slice body)
{
    struct peers *p = a->peers;
    buf_reset(&p->answer);
    peer_answer_write(&p->answer, token_of(p), &a->seal, body);
    if (p->answer.failed)
        peer_refuse(a, 500);
    else {
        httpd_reply(a->request, 200, "text/plain", slice_of(NULL, 0),
                    slice_of(p->answer.data, p->answer.len));
        asked_free(a);
    }
}

void peer_refuse(struct peer_asked *a, int status)
{
    refuse(a->peers, a->request, &a->seal, status);
    asked_free(a);
}

/* ---- peers ----------------------------------------------------------------------------------- */

static struct peer *peer_of(const struct peers *p, int64_t epoch)
{
    for (int i = 0; i < p->n; i++)
        if (p->items[i]->epoch == epoch)
            return p->items[i];
    return NULL;
}

static bool ready(const struct peer *e)
{
    return clock_boot_ms() >= e->quiet_until_ms;
}

static void peer_free(struct peer *e)
{
    if (e->nudging)
        peers_abort(&e->nudge);
    if (e->to)
        httpc_peer_free(e->to);
    free(e->address);
    free(e);
}

static struct peer *peer_new(struct peers *p, const struct live_node *l)
{
    struct peer *e = mem_new(sizeof(*e));
    struct why why = { "" };
    struct buf url = BUF_INIT(ADDR_TEXT_MAX);
    e->node = l->node;
    e->epoch = l->epoch;
    e->address = mem_dup(l->address);
    buf_printf(&url, "%s" PEER_PATH, l->address);
    if (url.failed || httpc_peer_new(p->client, slice_of(url.data, url.len), &e->to, &why)) {
        log_warn("peers",
                 "node %lld cannot be called at %s: %s; what is for it goes through the "
                 "database alone",
                 (long long)l->node, l->address, why.text);
        e->quiet_until_ms = INT64_MAX;
    }
    buf_done(&url);
    return e;
}

/* The peer that this life is already, taken from the list; NULL: none. */
static struct peer *take_known(struct peers *p, const struct live_node *l)
{
    for (int i = 0; i < p->n; i++) {
        struct peer *e = p->items[i];
        if (!e || e->epoch != l->epoch || strcmp(e->address, l->address) != 0)
            continue;
        p->items[i] = NULL;
        return e;
    }
    return NULL;
}

void peers_heard(struct peers *p, const struct live_nodes *lives)
{
    struct peer **items = mem_new((size_t)(lives->n + 1) * sizeof(struct peer *));
    for (int i = 0; i < lives->n; i++) {
        items[i] = take_known(p, &lives->items[i]);
        if (!items[i])
            items[i] = peer_new(p, &lives->items[i]);
    }
    for (int i = 0; i < p->n; i++)
        if (p->items[i])
            peer_free(p->items[i]);
    free(p->items);
    p->items = items;
    p->n = lives->n;
}

int64_t peers_epoch(const struct peers *p, int64_t node)
{
    for (int i = 0; p && i < p->n; i++)
        if (p->items[i]->node == node && ready(p->items[i]))
            return p->items[i]->epoch;
    return 0;
}

int peers_ready(const struct peers *p, int64_t *ret_epochs, int max)
{
    int n = 0;
    for (int i = 0; p && i < p->n && n < max; i++)
        if (ready(p->items[i]) && clock_boot_ms() >= p->items[i]->busy_until_ms)
            ret_epochs[n++] = p->items[i]->epoch;
    return n;
}

static void failed(struct peers *p, int64_t epoch, const char *why)
{
    struct peer *e = peer_of(p, epoch);
    atomic_fetch_add_explicit(&p->config.metrics->peer_failures, 1, memory_order_relaxed);
    if (!e)
        return;
    int64_t quiet_ms = e->failures < 5 ? QUIET_MIN_MS << e->failures : QUIET_MAX_MS;
    if (++e->failures == TOLD_FAILURES)
        log_warn("peers",
                 "node %lld does not answer at %s: %s; what is for it goes through the database "
                 "alone until it does (is the address right? see node.address)",
                 (long long)e->node, e->address, why);
    e->quiet_until_ms = clock_boot_ms() + quiet_ms;
}

/* refused: by which status; 0: it was not. */
static void heard_of(struct peers *p, int64_t epoch, int refused)
{
    struct peer *e = peer_of(p, epoch);
    if (!e)
        return;
    if (e->failures >= TOLD_FAILURES)
        log_info("peers", "node %lld answers at %s again", (long long)e->node, e->address);
    e->failures = 0;
    if (refused == 503)
        e->busy_until_ms = clock_boot_ms() + QUIET_MIN_MS;
}

/* ---- calling --------------------------------------------------------------------------------- */

/* 403 is what a node says that has another token, or another life. */
static const char *why_not(const struct httpc_call *http, int refused)
{
    if (http->outcome != HTTPC_ANSWERED)
        return http->why ? http->why : err_text(http->err);
    if (refused)
        return refused == 404 ? "it does not know this question: its release is an older one"
                              : "it cannot answer now";
    return http->status == 403 ? "it refuses the call: its access token is another one, or its "
                                 "life is"
                               : "the answer is not one of a node of this cluster";
}

static bool refused(const struct peers *p, const struct peer_call *call)
{
    const struct httpc_call *http = &call->http;
    return http->outcome == HTTPC_ANSWERED && http->status != 200 &&
           peer_refusal_read(token_of(p), &call->seal, http->status, http->body);
}

static void on_done(struct httpc_call *http)
{
    struct peer_call *call = container_of(http, struct peer_call, http);
    struct peers *p = call->peers;
    list_remove(&call->node);
    call->answered = http->outcome == HTTPC_ANSWERED && http->status == 200 &&
                     peer_answer_read(token_of(p), &call->seal, http->body, &call->body);
    call->refused = refused(p, call) ? http->status : 0;
    call->why = call->answered ? NULL : why_not(http, call->refused);
    if (call->answered || call->refused)
        heard_of(p, call->epoch, call->refused);
    else
        failed(p, call->epoch, call->why);
    call->done(call);
}

bool peers_call(struct peers *p, int64_t epoch, const char *path, struct slice body,
                struct peer_call *call)
{
    struct peer *e = p ? peer_of(p, epoch) : NULL;
    if (!e || !ready(e))
        return false;
    call->peers = p;
    call->epoch = epoch;
    call->answered = false;
    call->seal = (struct peer_seal){ .from = p->config.epoch, .to = epoch, .nonce = p->nonce++ };
    peer_seal_make(token_of(p), slice_text(path), body, &call->seal);
    buf_reset(&p->headers);
    buf_text(&p->headers, PEER_HEADER ": ");
    peer_seal_write(&p->headers, &call->seal);
    buf_text(&p->headers, "\r\n");
    struct httpc_post post = { .action = path,
                               .headers = slice_of(p->headers.data, p->headers.len),
                               .pieces = &body,
                               .npieces = 1,
                               .timeout_ms = p->config.timeout_ms };
    call->http = (struct httpc_call){ .done = on_done, .body_max = PEER_ANSWER_MAX + PEER_HEX + 1 };
    if (p->headers.failed || httpc_call(e->to, &post, &call->http))
        return false;
    list_push(&p->calls, &call->node);
    return true;
}

void peers_abort(struct peer_call *call)
{
    list_remove(&call->node);
    (void)httpc_abort(&call->http);
}

/* ---- nudges ---------------------------------------------------------------------------------- */

static void nudge(struct peers *p, struct peer *e);

/* The call is a part of its peer, and aborted before that goes. */
static void nudged(struct peer_call *call)
{
    struct peer *e = container_of(call, struct peer, nudge);
    e->nudging = false;
    if (e->nudge_again)
        nudge(call->peers, e);
}

static void nudge(struct peers *p, struct peer *e)
{
    if (e->nudging) {
        e->nudge_again = true;
        return;
    }
    e->nudge_again = false;
    e->nudge.done = nudged;
    e->nudging = peers_call(p, e->epoch, NUDGE, slice_of(NULL, 0), &e->nudge);
}

void peers_nudge(struct peers *p)
{
    for (int i = 0; p && i < p->n; i++)
        nudge(p, p->items[i]);
}

/* ---- life ------------------------------------------------------------------------------------ */

enum err peers_new(struct loop *l, const struct peers_config *config, struct peers **ret,
                   struct why *why)
{
    struct peers *p = mem_new(sizeof(*p));
    int timeout_ms = config->timeout_ms ? config->timeout_ms : PEER_TIMEOUT_MS;
    const struct httpc_config client = { .token = "", /* a node proves that it has it */
                                         .connections = PEER_CALLS,
                                         .connect_timeout_ms = timeout_ms,
                                         .idle_ms = IDLE_MS,
                                         .tls = { .setting = "executor.ca" },
                                         .trust = config->trust };
    enum err err = httpc_new(l, &client, &p->client, why);
    if (err) {
        free(p);
        return err;
    }
    p->config = *config;
    p->config.timeout_ms = timeout_ms;
    p->config.token = mem_dup(config->token);
    p->nonce = clock_wall_us();
    list_init(&p->calls);
    list_init(&p->asked);
    buf_init(&p->headers, HEADERS_MAX);
    buf_init(&p->answer, PEER_ANSWER_MAX + PEER_HEX + 1);
    *ret = p;
    return OK;
}

bool peers_busy(const struct peers *p)
{
    return p && !list_empty(&p->calls);
}

void peers_free(struct peers *p)
{
    if (!p)
        return;
    peers_heard(p, &(struct live_nodes){ NULL, 0 });
    for (struct list_node *n; (n = list_first(&p->calls));)
        peers_abort(container_of(n, struct peer_call, node));
    for (struct list_node *n; (n = list_first(&p->asked));)
        asked_free(container_of(n, struct peer_asked, node));
    httpc_free(p->client);
    free(p->items);
    buf_done(&p->headers);
    buf_done(&p->answer);
    explicit_bzero((char *)p->config.token, strlen(p->config.token));
    free((char *)p->config.token);
    free(p);
}
