/* SPDX-License-Identifier: Apache-2.0 */
/* The usual call takes one send when it is made and one recv when it is answered. What decides an
 * outcome is one fact, kept per call: has a byte of it been taken by the socket (sent_us)?
 * SO_LINGER {1, 0} stands on a connection from its opening, so that giving up on it, and the death
 * of this process too, resets it; only a clean idle connection is closed in the friendly way. */
#include "net/httpc.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "net/http.h"
#include "net/resolver.h"
#include "net/tls.h"

enum {
    READ_SIZE = 4095,
    READ_LARGE = 65535,
    KEEP_BUFFER = 65536,    /* larger buffers are not kept between calls */
    REQUEST_MAX = 64 << 20, /* bytes of one request */
    FRESH_MS = 30000,       /* a resolved name is used without asking again */
    STALE_MS = 300000,      /* and so long while it is being asked */
    LOOK_AFTER_MS = 500,    /* what was idle for less has not been closed for being idle */
};

/*   RESOLVING -> CONNECTING -> [HANDSHAKE ->] BUSY <-> IDLE
 *   any of the first four -> FAILED, until done has been called after this iteration. */
enum conn_state { RESOLVING, CONNECTING, HANDSHAKE, BUSY, IDLE, FAILED };

struct httpc_conn {
    struct httpc_peer *peer; /* counted */
    struct httpc_call *call; /* the caller's; NULL while idle, or opened ahead of one */
    enum conn_state state;
    struct loop_fd fd;       /* fd -1 while there is none */
    struct loop_timer timer; /* of the state: connect, call, idle */
    struct list_node node;   /* in the peer's list of its state, or httpc's failed */
    int64_t connect_due_ms, call_due_ms;
    int64_t idle_ms;   /* since when */
    uint32_t answered; /* calls that it carried to an answer */
    int tried;         /* addresses of the peer tried for this connection */
    bool broken;       /* writing failed: read what the peer may have said, then end */
    bool started; /* TLS was given bytes: a record may have left without our knowing how much */
    struct buf in, out;
    size_t out_at;
    struct http_reader reader;
    struct tls *tls;
    char why[160];
};

struct httpc_peer {
    struct httpc *c;
    struct list_node node;
    struct addr_url url;
    char *address; /* as given */
    char *head_a;  /* "POST /prefix/", then comes the action */
    char *head_b;  /* " HTTP/1.1" to "Content-Length: " */
    size_t head_a_len, head_b_len;
    struct list idle, busy, resolving; /* connections */
    struct list opening;               /* those that are opened ahead of calls */
    int nconns, nidle, refs;           /* refs: the owner and each connection */
    bool freed, asking;
    struct lookup addrs; /* found[0..nfound) in the order of trial */
    int64_t resolved_ms;
    bool numeric;
};

struct httpc {
    struct loop *loop;
    struct httpc_config cf;
    char *token;
    struct list peers, failed;
    struct loop_task failed_task;
    struct buf spare; /* the answer's bytes while done runs; swapped with a connection's */
    struct tls_client *tls;
    struct resolver *resolver;
    struct loop_mailbox incoming;
};

static void conn_ready(struct loop_fd *f, uint32_t events);
static void conn_timeout(struct loop_timer *t);
static void conn_connect(struct httpc_conn *k);

/* --- life of peers and connections --- */

static void peer_unref(struct httpc_peer *p)
{
    if (--p->refs > 0)
        return;
    list_remove(&p->node);
    free(p->address);
    free(p->head_a);
    free(p->head_b);
    free(p);
}

/* Out of the socket's life; the connection no longer counts for its peer. */
static void conn_shut(struct httpc_conn *k, bool polite)
{
    struct httpc_peer *p = k->peer;
    struct loop *l = p->c->loop;
    if (k->fd.fd >= 0) {
        loop_fd_remove(l, &k->fd);
        if (polite) {
            struct linger off = { 0, 0 };
            setsockopt(k->fd.fd, SOL_SOCKET, SO_LINGER, &off, sizeof(off));
        }
        tls_free(k->tls, polite);
        k->tls = NULL;
        close(k->fd.fd);
        k->fd.fd = -1;
    }
    loop_timer_clear(l, &k->timer);
    list_remove(&k->node);
    p->nconns--;
    p->nidle -= k->state == IDLE;
}

static void conn_destroy(struct httpc_conn *k)
{
    buf_done(&k->in);
    buf_done(&k->out);
    peer_unref(k->peer);
    free(k);
}

static struct httpc_conn *conn_new(struct httpc_peer *p)
{
    struct httpc_conn *k = mem_new(sizeof(*k));
    k->peer = p;
    k->fd = (struct loop_fd){ .fd = -1, .ready = conn_ready };
    k->timer.fire = conn_timeout;
    buf_init(&k->in, READ_SIZE);
    buf_init(&k->out, REQUEST_MAX);
    p->refs++;
    p->nconns++;
    return k;
}

/* --- endings --- */

/* The call, if there is one yet, ends without an answer: reset now, done after this iteration. */
static void conn_fail(struct httpc_conn *k, enum err err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void conn_fail(struct httpc_conn *k, enum err err, const char *format, ...)
{
    struct httpc *c = k->peer->c;
    struct httpc_call *call = k->call;
    va_list ap;
    va_start(ap, format);
    vsnprintf(k->why, sizeof(k->why), format, ap);
    va_end(ap);
    if (call) {
        call->outcome = !call->sent_us       ? HTTPC_NOT_SENT
                        : k->reader.not_http ? HTTPC_NOT_HTTP
                                             : HTTPC_IN_DOUBT;
        call->err = err;
        call->why = k->why;
    }
    conn_shut(k, false);
    k->state = FAILED;
    list_push(&c->failed, &k->node);
    loop_defer(c->loop, &c->failed_task);
}

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
        conn_destroy(k);
    }
}

static int keep_ms(const struct httpc_conn *k)
{
    int ms = k->peer->c->cf.idle_ms;
    int s = k->reader.keep_alive_s;
    if (s >= 0 && (s - 1) * 1000 < ms)
        ms = (s - 1) * 1000; /* its end is closer than ours */
    return ms;
}

static bool may_be_kept(const struct httpc_conn *k)
{
    return k->reader.keep_alive && !k->broken && k->out_at == k->out.len &&
           http_rest(&k->reader) == k->in.len && !k->peer->freed && keep_ms(k) > 0;
}

static void conn_park(struct httpc_conn *k)
{
    struct httpc_peer *p = k->peer;
    struct loop *l = p->c->loop;
    k->state = IDLE;
    k->call = NULL;
    p->nidle++;
    k->idle_ms = loop_now_ms(l);
    list_remove(&k->node);
    list_push_front(&p->idle, &k->node); /* the youngest first: the others come to their end */
    loop_fd_change(l, &k->fd, EPOLLIN);
    loop_timer_set(l, &k->timer, loop_now_ms(l) + keep_ms(k));
}

/* A whole answer. Its bytes move into httpc's spare buffer, so that the connection is free for
 * what done may call. */
static void conn_answered(struct httpc_conn *k)
{
    struct httpc *c = k->peer->c;
    struct httpc_call *call = k->call;
    k->answered++;
    call->outcome = HTTPC_ANSWERED;
    call->status = k->reader.status;
    call->body = http_body(&k->reader, &k->in);
    call->conn = NULL;
    bool keep = may_be_kept(k);
    struct buf answer = k->in;
    k->in = c->spare;
    c->spare = answer;
    if (keep) {
        conn_park(k);
    } else {
        conn_shut(k, k->reader.phase == HTTP_IN_END && !k->broken);
        conn_destroy(k);
    }
    call->done(call);
    buf_reset(&c->spare);
    if (c->spare.cap > KEEP_BUFFER)
        buf_done(&c->spare);
}

/* --- sending --- */

/* TLS_OK with *ret_n bytes taken, or why not. */
static enum tls_result conn_write(struct httpc_conn *k, const char *p, size_t n, size_t *ret_n)
{
    if (k->tls)
        return tls_write(k->tls, p, n, ret_n);
    ssize_t sent;
    do
        sent = send(k->fd.fd, p, n, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0)
        return errno == EAGAIN ? TLS_WANT_WRITE : TLS_FAILED;
    *ret_n = (size_t)sent;
    return TLS_OK;
}

static enum tls_result conn_read(struct httpc_conn *k, char *p, size_t n, size_t *ret_n)
{
    if (k->tls)
        return tls_read(k->tls, p, n, ret_n);
    ssize_t got;
    do
        got = recv(k->fd.fd, p, n, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == EAGAIN ? TLS_WANT_READ : TLS_FAILED;
    *ret_n = (size_t)got;
    return got ? TLS_OK : TLS_EOF;
}

/* Send what is left of the request. False: a kept connection was dead before a byte was taken. */
static bool conn_send(struct httpc_conn *k)
{
    while (k->out_at < k->out.len) {
        int64_t now_us = k->call->sent_us ? 0 : clock_wall_us();
        size_t n = 0;
        enum tls_result r = conn_write(k, k->out.data + k->out_at, k->out.len - k->out_at, &n);
        /* of a TLS record nobody tells how much left: once it was tried, it counts as sent */
        if (!k->call->sent_us && (r == TLS_OK || k->tls))
            k->call->sent_us = now_us;
        if (r == TLS_FAILED) {
            k->broken = true;
            k->out_at = k->out.len; /* what the peer said before it broke is worth reading */
            return k->call->sent_us != 0;
        }
        if (r != TLS_OK) {
            loop_fd_change(k->peer->c->loop, &k->fd, EPOLLIN | EPOLLOUT);
            return true;
        }
        k->out_at += n;
    }
    loop_fd_change(k->peer->c->loop, &k->fd, EPOLLIN);
    return true;
}

enum begun {
    ON_ITS_WAY,
    NOT_LEAVING, /* the caller said no: nothing was written */
    BROKEN,      /* nothing was taken: the connection was dead, or takes nothing now */
};

static bool may_leave(struct httpc_call *call)
{
    if (!call->leaving || call->asked)
        return true;
    call->asked = true;
    return call->leaving(call);
}

/* The connection stands: the call begins on it. The caller's yes is for a write at once; the first
 * byte of a call that was asked must not wait for the socket. */
static enum begun conn_begin(struct httpc_conn *k)
{
    struct httpc *c = k->peer->c;
    struct httpc_call *call = k->call;
    k->state = BUSY;
    if (!may_leave(call))
        return NOT_LEAVING;
    k->in.max = HTTP_HEAD_MAX * 3 + 2 * READ_LARGE + (call->on_body ? 0 : call->body_max);
    http_begin(&k->reader, HTTP_RESPONSE, 0, call->body_max);
    loop_timer_set(c->loop, &k->timer, k->call_due_ms);
    if (!conn_send(k) || (call->asked && !call->sent_us))
        return BROKEN;
    return ON_ITS_WAY;
}

/* The caller said no. The connection goes too: how long it has been idle for its peer is not known
 * any more. */
static void conn_not_leaving(struct httpc_conn *k)
{
    struct httpc_call *call = k->call;
    call->outcome = HTTPC_NOT_SENT;
    call->err = ERR_OVERTAKEN;
    call->why = err_text(ERR_OVERTAKEN);
    call->conn = NULL;
    conn_shut(k, true);
    conn_destroy(k);
    call->done(call);
}

static void conn_begin_new(struct httpc_conn *k)
{
    if (!k->call) {
        http_begin(&k->reader, HTTP_RESPONSE, 0, 0);
        conn_park(k);
        return;
    }
    enum begun b = conn_begin(k);
    if (b == NOT_LEAVING)
        conn_not_leaving(k);
    else if (b == BROKEN && k->broken)
        conn_fail(k, ERR_NET, "the new connection broke: %s", k->tls ? tls_why() : strerror(errno));
    else if (b == BROKEN)
        conn_fail(k, ERR_FULL, "no room for a connection: the new one takes nothing");
}

/* --- receiving --- */

/* Give the pieces so far to a call that wants them. False: it has had enough, and was failed. */
static bool conn_stream(struct httpc_conn *k)
{
    if (!k->call->on_body || k->reader.phase < HTTP_IN_BODY || k->reader.body_len == 0 ||
        k->reader.phase == HTTP_IN_ERROR)
        return true;
    k->call->status = k->reader.status;
    bool more = k->call->on_body(k->call, http_body(&k->reader, &k->in));
    http_drop_body(&k->reader, &k->in);
    if (!more)
        conn_fail(k, ERR_TOOBIG, "the caller wants no more of the answer");
    return more;
}

static void conn_eof(struct httpc_conn *k)
{
    if (k->reader.phase == HTTP_IN_START && k->in.len == k->reader.at)
        conn_fail(k, ERR_NET, "the peer closed the connection without an answer");
    else if (http_eof(&k->reader) == HTTP_DONE)
        conn_answered(k);
    else
        conn_fail(k, ERR_NET, "%s of the answer", k->reader.why);
}

/* New bytes are in the buffer. True: the call still waits for more. */
static bool conn_look(struct httpc_conn *k)
{
    enum http_event e = http_read(&k->reader, &k->in);
    if (!conn_stream(k))
        return false;
    if (e == HTTP_MORE)
        return true;
    if (e == HTTP_DONE)
        conn_answered(k);
    else
        conn_fail(k, k->reader.status == 413 ? ERR_TOOBIG : ERR_INVALID, "bad answer: %s",
                  k->reader.why);
    return false;
}

static size_t read_size(const struct httpc_conn *k)
{
    const struct http_reader *r = &k->reader;
    bool large = r->phase == HTTP_IN_BODY &&
                 (r->chunked || r->to_eof ? r->body_total : r->length - r->body_total) > READ_SIZE;
    return large ? READ_LARGE : READ_SIZE;
}

static void conn_input(struct httpc_conn *k)
{
    do {
        size_t want = read_size(k), n = 0;
        char *room = buf_room(&k->in, want);
        if (!room) {
            conn_fail(k, ERR_TOOBIG, "the answer exceeds its limit");
            return;
        }
        enum tls_result r = conn_read(k, room, want, &n);
        if (r == TLS_WANT_READ)
            return;
        if (r == TLS_WANT_WRITE) {
            loop_fd_change(k->peer->c->loop, &k->fd, EPOLLIN | EPOLLOUT);
            return;
        }
        if (r == TLS_EOF) {
            conn_eof(k);
            return;
        }
        if (r == TLS_FAILED) {
            conn_fail(k, ERR_NET, "the connection broke: %s", k->tls ? tls_why() : strerror(errno));
            return;
        }
        k->in.len += n;
        k->in.data[k->in.len] = '\0';
    } while (conn_look(k) && k->tls); /* TLS may hold decrypted bytes that epoll cannot see */
}

/* --- connecting --- */

static bool addresses_left(const struct httpc_conn *k)
{
    return k->tried < k->peer->addrs.nfound;
}

static void conn_handshake(struct httpc_conn *k)
{
    switch (tls_handshake(k->tls)) {
    case TLS_OK:
        conn_begin_new(k);
        return;
    case TLS_WANT_READ:
        loop_fd_change(k->peer->c->loop, &k->fd, EPOLLIN);
        return;
    case TLS_WANT_WRITE:
        loop_fd_change(k->peer->c->loop, &k->fd, EPOLLOUT);
        return;
    default:
        conn_fail(k, ERR_NET, "TLS handshake: %s", tls_why());
    }
}

static void conn_connected(struct httpc_conn *k)
{
    struct httpc_peer *p = k->peer;
    if (!p->url.tls) {
        conn_begin_new(k);
        return;
    }
    if (!p->c->tls)
        p->c->tls = tls_client_new();
    k->tls = p->c->tls ? tls_new(p->c->tls, k->fd.fd, p->numeric ? NULL : p->url.host) : NULL;
    if (!k->tls) {
        conn_fail(k, ERR_FULL, "no room for a connection: TLS: %s", tls_why());
        return;
    }
    k->state = HANDSHAKE;
    loop_timer_set(p->c->loop, &k->timer, k->connect_due_ms);
    conn_handshake(k);
}

/* What this process or machine has run out of says nothing about the peer. */
static bool ran_out(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* This address is no good: the next one, or the end. */
static void conn_refused(struct httpc_conn *k, int error)
{
    if (k->fd.fd >= 0) {
        loop_fd_remove(k->peer->c->loop, &k->fd);
        close(k->fd.fd);
        k->fd.fd = -1;
    }
    if (ran_out(error))
        conn_fail(k, ERR_FULL, "no room for a connection: %s", strerror(error));
    else if (addresses_left(k))
        conn_connect(k);
    else
        conn_fail(k, error == ETIMEDOUT ? ERR_TIMEOUT : ERR_NET, "cannot connect: %s",
                  strerror(error));
}

static int open_socket(int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    int on = 1;
    struct linger reset = { 1, 0 };
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    return fd;
}

/* Try the next address of the peer. */
static void conn_connect(struct httpc_conn *k)
{
    struct httpc_peer *p = k->peer;
    struct loop *l = p->c->loop;
    int left = p->addrs.nfound - k->tried;
    int at = k->tried++;
    const struct sockaddr *to = (const struct sockaddr *)&p->addrs.found[at].addr;
    k->state = CONNECTING;
    k->fd.fd = open_socket(to->sa_family);
    if (k->fd.fd < 0) {
        conn_refused(k, errno);
        return;
    }
    int rc = connect(k->fd.fd, to, p->addrs.found[at].len);
    int error = rc < 0 ? errno : 0;
    k->fd.events = EPOLLOUT;
    if (loop_fd_add(l, &k->fd)) {
        conn_fail(k, ERR_FULL, "no room for a connection: epoll takes no more");
    } else if (error && error != EINPROGRESS) {
        conn_refused(k, error);
    } else {
        int64_t now = loop_now_ms(l);
        loop_timer_set(l, &k->timer, now + (k->connect_due_ms - now) / left);
    }
}

/* Who connects to a port of this machine on which nobody listens may be given that very port for
 * its own end, and TCP then joins it to itself (RFC 9293, 3.5: simultaneous open). It would read
 * its own request as the answer, and the one whose port it is could not come back. */
static bool connected_to_itself(int fd)
{
    struct sockaddr_in6 own = { .sin6_port = 0 }, peer = { .sin6_port = 0 };
    struct sockaddr_in own4, peer4;
    socklen_t n = sizeof(own), m = sizeof(peer);
    if (getsockname(fd, (struct sockaddr *)&own, &n) ||
        getpeername(fd, (struct sockaddr *)&peer, &m))
        return false;
    if (own.sin6_port != peer.sin6_port) /* it stands at the same place in both families */
        return false;
    if (own.sin6_family == AF_INET6)
        return memcmp(&own.sin6_addr, &peer.sin6_addr, sizeof(own.sin6_addr)) == 0;
    memcpy(&own4, &own, sizeof(own4));
    memcpy(&peer4, &peer, sizeof(peer4));
    return own4.sin_addr.s_addr == peer4.sin_addr.s_addr;
}

static void conn_writable(struct httpc_conn *k)
{
    int error = 0;
    socklen_t len = sizeof(error);
    getsockopt(k->fd.fd, SOL_SOCKET, SO_ERROR, &error, &len);
    if (!error && connected_to_itself(k->fd.fd))
        error = ECONNREFUSED;
    if (error)
        conn_refused(k, error);
    else
        conn_connected(k);
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
            conn_connect(k);
        else
            conn_fail(k, ERR_NET, "host name %.80s: %s", p->url.host, q->why);
    }
    free(q);
    peer_unref(p);
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

/* --- events --- */

/* An idle connection has something to say: only TLS may, tickets and the like. */
static bool idle_alive(struct httpc_conn *k)
{
    char byte;
    size_t n;
    if (k->tls)
        return tls_read(k->tls, &byte, 1, &n) == TLS_WANT_READ;
    return recv(k->fd.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static void idle_close(struct httpc_conn *k)
{
    conn_shut(k, true);
    conn_destroy(k);
}

static void conn_ready(struct loop_fd *f, uint32_t events)
{
    struct httpc_conn *k = container_of(f, struct httpc_conn, fd);
    switch (k->state) {
    case CONNECTING:
        conn_writable(k);
        return;
    case HANDSHAKE:
        conn_handshake(k);
        return;
    case IDLE:
        if (!idle_alive(k))
            idle_close(k);
        return;
    default:
        break;
    }
    if ((events & EPOLLOUT) && !conn_send(k)) {
        conn_fail(k, ERR_NET, "the connection broke before a byte was sent");
        return;
    }
    if ((events & ~(uint32_t)EPOLLOUT) || k->tls)
        conn_input(k);
}

static void conn_timeout(struct loop_timer *t)
{
    struct httpc_conn *k = container_of(t, struct httpc_conn, timer);
    switch (k->state) {
    case IDLE:
        idle_close(k);
        return;
    case RESOLVING:
        conn_fail(k, ERR_TIMEOUT, "host name %.80s: no answer in time", k->peer->url.host);
        return;
    case CONNECTING:
        conn_refused(k, ETIMEDOUT);
        return;
    case HANDSHAKE:
        conn_fail(k, ERR_TIMEOUT, "TLS handshake: not finished in time");
        return;
    default:
        conn_fail(k, ERR_TIMEOUT, "no whole answer in time");
    }
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
    if (out->cap > KEEP_BUFFER)
        buf_done(out);
    k->out_at = 0;
    buf_add(out, p->head_a, p->head_a_len);
    buf_text(out, post->action);
    buf_add(out, p->head_b, p->head_b_len);
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
        if ((may_have_ended(k) && !idle_alive(k)) || !compose(k, post)) {
            idle_close(k);
            continue;
        }
        list_remove(&k->node);
        list_push(&p->busy, &k->node);
        p->nidle--;
        attach_call(k, call);
        k->call_due_ms = due_ms;
        enum begun b = conn_begin(k);
        if (b == ON_ITS_WAY)
            return b;
        conn_shut(k, b == NOT_LEAVING);
        conn_destroy(k);
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
    struct httpc_conn *k = conn_new(p);
    if (!compose(k, post)) {
        p->nconns--;
        conn_destroy(k);
        return ERR_TOOBIG;
    }
    attach_call(k, call);
    k->call_due_ms = due_ms;
    k->connect_due_ms = now + p->c->cf.connect_timeout_ms;
    if (k->connect_due_ms > due_ms)
        k->connect_due_ms = due_ms;
    if (know_address(p, now)) {
        list_push(&p->busy, &k->node);
        conn_connect(k);
    } else {
        k->state = RESOLVING;
        list_push(&p->resolving, &k->node);
        loop_timer_set(l, &k->timer, k->connect_due_ms);
    }
    return OK;
}

enum err httpc_call(struct httpc_peer *p, const struct httpc_post *post, struct httpc_call *call)
{
    int64_t due_ms = clock_boot_ms() + post->timeout_ms; /* the turn may be old by now */
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
        struct httpc_conn *k = conn_new(p);
        k->connect_due_ms = now + p->c->cf.connect_timeout_ms;
        list_push(&p->opening, &k->node);
        conn_connect(k);
    }
}

enum httpc_outcome httpc_abort(struct httpc_call *call)
{
    struct httpc_conn *k = call->conn;
    enum httpc_outcome outcome = call->sent_us ? HTTPC_IN_DOUBT : HTTPC_NOT_SENT;
    if (k->state == FAILED)
        list_remove(&k->node);
    else
        conn_shut(k, false);
    conn_destroy(k);
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
    buf_text(&b, p->c->token);
    buf_text(&b, "\r\nContent-Length: ");
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
        idle_close(container_of(n, struct httpc_conn, node));
    for (struct list_node *n; (n = list_first(&p->opening));)
        idle_close(container_of(n, struct httpc_conn, node));
    peer_unref(p);
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
    struct httpc *c = mem_new(sizeof(*c));
    c->loop = l;
    c->token = mem_dup(token);
    c->cf.connections = or_default(config->connections, 64);
    c->cf.connect_timeout_ms = or_default(config->connect_timeout_ms, 3000);
    c->cf.idle_ms = or_default(config->idle_ms, 4000);
    c->failed_task.run = run_failed;
    list_init(&c->peers);
    list_init(&c->failed);
    buf_init(&c->spare, READ_SIZE);
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
            peer_unref(p); /* its lookup will find nobody */
        peer_unref(p);
    }
    if (c->resolver) {
        loop_mailbox_remove(c->loop, &c->incoming);
        resolver_free(c->resolver);
    }
    loop_undefer(c->loop, &c->failed_task);
    tls_client_free(c->tls);
    buf_done(&c->spare);
    free(c->token);
    free(c);
}
