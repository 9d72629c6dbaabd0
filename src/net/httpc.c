/* SPDX-License-Identifier: Apache-2.0 */
/* httpc.c - peers and calls: which connection carries a call, and where a name leads. What happens
 * on a connection stands in httpc_conn.c. */
#include "net/httpc.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/mem.h"
#include "net/httpc_conn.h"

enum {
    FRESH_MS = 30000,    /* a resolved name is used without asking again */
    STALE_MS = 300000,   /* and so long while it is being asked */
    LOOK_AFTER_MS = 500, /* what was idle for less has not been closed for being idle */
};

/* Calls that have failed end here, after the iteration. */
static void run_failed(struct loop_task *t)
{
    struct httpc *c = container_of(t, struct httpc, failed_task);
    struct list
        now; /* what fails while done runs waits an iteration: a caller may try again at once */
    list_init(&now);
    for (struct list_node *n; (n = list_pop(&c->failed));)
        list_push(&now, n);
    for (struct list_node *n; (n = list_pop(&now));) {
        struct httpc_conn *k = container_of(n, struct httpc_conn, node);
        if (k->call) {
            k->call->conn = NULL;
            k->call->done(k->call);
        }
        httpc_conn_destroy(k);
    }
}

/* --- names --- */

static void peer_ask(struct httpc_peer *p)
{
    if (p->asking)
        return;
    struct lookup *q = mem_new(sizeof(*q));
    text_copy(q->host, sizeof(q->host), slice_text(p->url.host));
    q->port = p->url.port;
    q->user = p;
    p->asking = true;
    p->refs++;
    resolver_ask(p->c->resolver, q);
}

static void on_resolved(struct loop_mailbox *m, struct message *message)
{
    struct lookup *q = container_of(message, struct lookup, message);
    struct httpc_peer *p = q->user;
    (void)m;
    p->asking = false;
    if (q->nfound) {
        p->addrs = *q;
        p->resolved_ms = loop_now_ms(p->c->loop);
    }
    for (struct list_node *n; (n = list_pop(&p->resolving));) {
        struct httpc_conn *k = container_of(n, struct httpc_conn, node);
        list_push(&p->busy, &k->node);
        if (q->nfound)
            httpc_conn_connect(k);
        else
            httpc_conn_fail(k, ERR_NET, "host name %.80s: %s", p->url.host, q->why);
    }
    free(q);
    httpc_peer_unref(p);
}

static enum err need_resolver(struct httpc *c, struct why *why)
{
    if (c->resolver)
        return OK;
    struct resolver *r = resolver_new();
    if (r) {
        c->incoming =
            (struct loop_mailbox){ .mailbox = resolver_mailbox(r), .message = on_resolved };
        if (!loop_mailbox_add(c->loop, &c->incoming)) {
            c->resolver = r;
            return OK;
        }
        resolver_free(r);
    }
    why_set(why, "there is no descriptor for the resolution of names");
    return ERR_IO;
}

/* --- calls --- */

static bool compose(struct httpc_conn *k, const struct httpc_post *post)
{
    const struct httpc_peer *p = k->peer;
    struct buf *out = &k->out;
    size_t body = 0;
    for (size_t i = 0; i < post->npieces; i++)
        body += post->pieces[i].n;
    buf_reset(out);
    if (out->cap > HTTPC_KEEP_BUFFER)
        buf_done(out);
    k->out_at = 0;
    buf_add(out, p->head_a, p->head_a_len);
    buf_text(out, post->action);
    buf_add(out, p->head_b, p->head_b_len);
    buf_text(out, post->token ? post->token : p->c->token);
    buf_text(out, "\r\nContent-Length: ");
    buf_i64(out, (int64_t)body);
    buf_add(out, "\r\n", 2);
    buf_slice(out, post->headers);
    buf_add(out, "\r\n", 2);
    for (size_t i = 0; i < post->npieces; i++)
        buf_slice(out, post->pieces[i]);
    return !out->failed;
}

static void attach_call(struct httpc_conn *k, struct httpc_call *call)
{
    k->call = call;
    k->broken = false;
    call->conn = k;
}

/* Servers close what has been idle for seconds, some after each answer without saying so, and epoll
 * may not have told yet. Where neither is likely the look is saved. */
static bool may_have_ended(const struct httpc_conn *k)
{
    return k->answered < 2 || loop_now_ms(k->peer->c->loop) - k->idle_ms >= LOOK_AFTER_MS;
}

/* On a kept connection that is still alive. BROKEN: there is none, and the caller was not asked. */
static enum begun reuse(struct httpc_peer *p, const struct httpc_post *post,
                        struct httpc_call *call, int64_t due_ms)
{
    for (struct list_node *n; (n = list_first(&p->idle));) {
        struct httpc_conn *k = container_of(n, struct httpc_conn, node);
        if ((may_have_ended(k) && !httpc_conn_alive(k)) || !compose(k, post)) {
            httpc_conn_close(k);
            continue;
        }
        list_remove(&k->node);
        list_push(&p->busy, &k->node);
        p->nidle--;
        attach_call(k, call);
        k->call_due_ms = due_ms;
        enum begun b = httpc_conn_begin(k);
        if (b == ON_ITS_WAY)
            return b;
        httpc_conn_shut(k, b == NOT_LEAVING);
        httpc_conn_destroy(k);
        call->conn = NULL;
        if (b == NOT_LEAVING)
            return b;
        /* nothing of the call left: another connection may carry it */
    }
    return call->asked ? NOT_LEAVING : BROKEN; /* a new connection comes too late for a yes */
}

/* Is there an address to connect to? Asks for one in time. */
static bool know_address(struct httpc_peer *p, int64_t now_ms)
{
    int64_t age = p->numeric ? 0 : now_ms - p->resolved_ms;
    bool known = p->addrs.nfound && age < STALE_MS;
    if (!known || age >= FRESH_MS)
        peer_ask(p);
    return known;
}

/* A connection that is being opened ahead of calls: it is closer to its end than a new one. */
static bool adopt(struct httpc_peer *p, const struct httpc_post *post, struct httpc_call *call,
                  int64_t due_ms)
{
    struct list_node *n = list_first(&p->opening);
    struct httpc_conn *k = n ? container_of(n, struct httpc_conn, node) : NULL;
    if (!k || !compose(k, post))
        return false;
    list_remove(n);
    list_push(&p->busy, n);
    attach_call(k, call);
    k->call_due_ms = due_ms;
    return true;
}

static enum err open_new(struct httpc_peer *p, const struct httpc_post *post,
                         struct httpc_call *call, int64_t due_ms)
{
    struct loop *l = p->c->loop;
    int64_t now = loop_now_ms(l);
    struct httpc_conn *k = httpc_conn_new(p);
    if (!compose(k, post)) {
        p->nconns--;
        httpc_conn_destroy(k);
        return ERR_TOOBIG;
    }
    attach_call(k, call);
    k->call_due_ms = due_ms;
    k->connect_due_ms = now + p->c->cf.connect_timeout_ms;
    if (k->connect_due_ms > due_ms)
        k->connect_due_ms = due_ms;
    if (know_address(p, now)) {
        list_push(&p->busy, &k->node);
        httpc_conn_connect(k);
    } else {
        k->state = RESOLVING;
        list_push(&p->resolving, &k->node);
        loop_timer_set(l, &k->timer, k->connect_due_ms);
    }
    return OK;
}

enum err httpc_call(struct httpc_peer *p, const struct httpc_post *post, struct httpc_call *call)
{
    int64_t due_ms = clock_boot_ms() + post->timeout_ms; /* the iteration may be old by now */
    call->sent_us = 0;
    call->status = 0;
    call->err = OK;
    call->why = NULL;
    call->body = slice_of(NULL, 0);
    call->asked = false;
    if (!call->body_max)
        call->body_max = 1 << 20;
    enum begun b = reuse(p, post, call, due_ms);
    if (b != BROKEN)
        return b == ON_ITS_WAY ? OK : ERR_OVERTAKEN;
    if (adopt(p, post, call, due_ms))
        return OK;
    if (p->nconns >= p->c->cf.connections)
        return ERR_FULL;
    return open_new(p, post, call, due_ms);
}

void httpc_warm(struct httpc_peer *p, int n)
{
    int64_t now = loop_now_ms(p->c->loop);
    int most = n < p->c->cf.connections ? n : p->c->cf.connections;
    if (p->nconns >= most || !know_address(p, now))
        return;
    for (int missing = most - p->nconns; missing > 0; missing--) {
        struct httpc_conn *k = httpc_conn_new(p);
        k->connect_due_ms = now + p->c->cf.connect_timeout_ms;
        list_push(&p->opening, &k->node);
        httpc_conn_connect(k);
    }
}

enum httpc_outcome httpc_abort(struct httpc_call *call)
{
    struct httpc_conn *k = call->conn;
    enum httpc_outcome outcome = call->sent_us ? HTTPC_IN_DOUBT : HTTPC_NOT_SENT;
    if (k->state == FAILED)
        list_remove(&k->node);
    else
        httpc_conn_shut(k, false);
    httpc_conn_destroy(k);
    call->conn = NULL;
    return outcome;
}

/* --- peers --- */

/* False without memory: a request with half a head must not be sent. */
static bool compose_heads(struct httpc_peer *p)
{
    const struct addr_url *u = &p->url;
    struct buf b = BUF_INIT(1 << 20);
    buf_printf(&b, "POST %s", u->path);
    bool whole = !b.failed;
    p->head_a_len = b.len;
    p->head_a = buf_take(&b);
    buf_printf(&b, u->ipv6 ? " HTTP/1.1\r\nHost: [%s]" : " HTTP/1.1\r\nHost: %s", u->host);
    if (u->port != (u->tls ? 443 : 80))
        buf_printf(&b, ":%u", u->port);
    buf_text(&b, "\r\nContent-Type: application/json;charset=UTF-8\r\nXXL-JOB-ACCESS-TOKEN: ");
    whole = whole && !b.failed;
    p->head_b_len = b.len;
    p->head_b = buf_take(&b);
    return whole;
}

enum err httpc_peer_new(struct httpc *c, struct slice address, struct httpc_peer **ret,
                        struct why *why)
{
    struct addr_url url;
    enum err err = addr_url_parse(address, &url, why);
    if (err)
        return err;
    struct lookup addrs = { .nfound = 0 };
    bool numeric = addr_numeric(url.host, url.port, &addrs.found[0].addr, &addrs.found[0].len);
    if (!numeric && (err = need_resolver(c, why)))
        return err;
    struct httpc_peer *p = mem_new(sizeof(*p));
    p->c = c;
    p->url = url;
    p->address = mem_dupn(address.p, address.n);
    p->refs = 1;
    list_init(&p->idle);
    list_init(&p->busy);
    list_init(&p->resolving);
    list_init(&p->opening);
    p->numeric = numeric;
    p->addrs = addrs;
    p->addrs.nfound = numeric;
    list_push(&c->peers, &p->node);
    if (!compose_heads(p)) {
        httpc_peer_free(p);
        return ERR_NOMEM;
    }
    *ret = p;
    return OK;
}

void httpc_peer_free(struct httpc_peer *p)
{
    if (!p)
        return;
    p->freed = true;
    for (struct list_node *n; (n = list_first(&p->idle));)
        httpc_conn_close(container_of(n, struct httpc_conn, node));
    for (struct list_node *n; (n = list_first(&p->opening));)
        httpc_conn_close(container_of(n, struct httpc_conn, node));
    httpc_peer_unref(p);
}

const char *httpc_peer_address(const struct httpc_peer *p)
{
    return p->address;
}

int httpc_peer_connections(const struct httpc_peer *p)
{
    return p->nconns;
}

int httpc_peer_idle(const struct httpc_peer *p)
{
    return p->nidle;
}

/* --- the client --- */

static int or_default(int value, int otherwise)
{
    return value > 0 ? value : otherwise;
}

static bool names_files(const struct tls_trust *t)
{
    return t->cert || (t->ca && strcmp(t->ca, TLS_SYSTEM) != 0 && strcmp(t->ca, TLS_ANY) != 0);
}

enum err httpc_new(struct loop *l, const struct httpc_config *config, struct httpc **ret,
                   struct why *why)
{
    const char *token = config->token ? config->token : "";
    size_t n = strlen(token);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)token[i];
        if (c >= ' ' && c != 0x7f && n <= 4096)
            continue;
        why_set(why, "token: at most 4096 bytes without control characters");
        return ERR_INVALID;
    }
    const struct tls_trust *trust = &config->tls;
    struct tls_client *tls = config->trust; /* else made when a peer wants it */
    if (!tls && names_files(trust) && tls_client_new(trust, &tls, why))
        return ERR_INVALID;
    struct httpc *c = mem_new(sizeof(*c));
    c->loop = l;
    c->tls = tls;
    c->cf.tls = *trust;
    c->cf.trust = config->trust;
    c->cf.takes = config->takes;
    c->cf.takes_arg = config->takes_arg;
    c->cf.takes_setting = config->takes_setting;
    c->token = mem_dup(token);
    c->cf.connections = or_default(config->connections, 64);
    c->cf.connect_timeout_ms = or_default(config->connect_timeout_ms, 3000);
    c->cf.idle_ms = or_default(config->idle_ms, 4000);
    c->failed_task.run = run_failed;
    list_init(&c->peers);
    list_init(&c->failed);
    buf_init(&c->spare, HTTPC_READ_SIZE);
    *ret = c;
    return OK;
}

void httpc_free(struct httpc *c)
{
    if (!c)
        return;
    run_failed(&c->failed_task); /* those that were opened ahead of calls */
    list_each(&c->peers, n, tmp)
    {
        struct httpc_peer *p = container_of(n, struct httpc_peer, node);
        p->refs++; /* ours, for as long as we look at it */
        if (!p->freed)
            httpc_peer_free(p);
        if (p->asking)
            httpc_peer_unref(p); /* its lookup will find no peer */
        httpc_peer_unref(p);
    }
    if (c->resolver) {
        loop_mailbox_remove(c->loop, &c->incoming);
        resolver_free(c->resolver);
    }
    loop_undefer(c->loop, &c->failed_task);
    if (!c->cf.trust)
        tls_client_free(c->tls);
    buf_done(&c->spare);
    free(c->token);
    free(c);
}
