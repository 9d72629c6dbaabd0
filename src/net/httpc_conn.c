/* SPDX-License-Identifier: Apache-2.0 */
/* httpc_conn.c - the life of a connection: opened, one call after the other, closed or reset.
 *
 * The usual call takes one send when it is made and one recv when it is answered. What decides an
 * outcome is one fact, kept per call: has a byte of it been taken by the socket (sent_us)?
 * SO_LINGER {1, 0} stands on a connection from its opening, so that giving up on it, and the death
 * of this process too, resets it; only a clean idle connection is closed in the friendly way. */
#include "net/httpc_conn.h"
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

enum { READ_LARGE = 65535 };

static void conn_ready(struct loop_fd *f, uint32_t events);
static void conn_timeout(struct loop_timer *t);

/* --- life --- */

void httpc_peer_unref(struct httpc_peer *p)
{
    if (--p->refs > 0)
        return;
    list_remove(&p->node);
    tls_ticket_drop(&p->ticket);
    free(p->address);
    free(p->head_a);
    free(p->head_b);
    free(p);
}

void httpc_conn_shut(struct httpc_conn *k, bool polite)
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

void httpc_conn_destroy(struct httpc_conn *k)
{
    buf_done(&k->in);
    buf_done(&k->out);
    httpc_peer_unref(k->peer);
    free(k);
}

struct httpc_conn *httpc_conn_new(struct httpc_peer *p)
{
    struct httpc_conn *k = mem_new(sizeof(*k));
    k->peer = p;
    k->fd = (struct loop_fd){ .fd = -1, .ready = conn_ready };
    k->timer.fire = conn_timeout;
    buf_init(&k->in, HTTPC_READ_SIZE);
    buf_init(&k->out, HTTPC_REQUEST_MAX);
    p->refs++;
    p->nconns++;
    return k;
}

/* --- endings --- */

void httpc_conn_fail(struct httpc_conn *k, enum err err, const char *format, ...)
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
    httpc_conn_shut(k, false);
    k->state = FAILED;
    list_push(&c->failed, &k->node);
    loop_defer(c->loop, &c->failed_task);
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
        httpc_conn_shut(k, k->reader.phase == HTTP_IN_END && !k->broken);
        httpc_conn_destroy(k);
    }
    call->done(call);
    buf_reset(&c->spare);
    if (c->spare.cap > HTTPC_KEEP_BUFFER)
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
        /* how much of a TLS record has left is not known: once it was tried, it counts as sent */
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

static bool may_leave(struct httpc_call *call)
{
    if (!call->leaving || call->asked)
        return true;
    call->asked = true;
    return call->leaving(call);
}

/* The caller's yes is for a write at once; the first byte of a call that was asked must not wait
 * for the socket. */
enum begun httpc_conn_begin(struct httpc_conn *k)
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
    httpc_conn_shut(k, true);
    httpc_conn_destroy(k);
    call->done(call);
}

static void conn_begin_new(struct httpc_conn *k)
{
    if (!k->call) {
        http_begin(&k->reader, HTTP_RESPONSE, 0, 0);
        conn_park(k);
        return;
    }
    enum begun b = httpc_conn_begin(k);
    if (b == NOT_LEAVING)
        conn_not_leaving(k);
    else if (b == BROKEN && k->broken)
        httpc_conn_fail(k, ERR_NET, "the new connection broke: %s",
                        k->tls ? tls_why() : strerror(errno));
    else if (b == BROKEN)
        httpc_conn_fail(k, ERR_FULL, "no room for a connection: the new one takes nothing");
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
        httpc_conn_fail(k, ERR_TOOBIG, "the caller wants no more of the answer");
    return more;
}

static void conn_eof(struct httpc_conn *k)
{
    if (k->reader.phase == HTTP_IN_START && k->in.len == k->reader.at)
        httpc_conn_fail(k, ERR_NET, "the peer closed the connection without an answer");
    else if (http_eof(&k->reader) == HTTP_DONE)
        conn_answered(k);
    else
        httpc_conn_fail(k, ERR_NET, "%s of the answer", k->reader.why);
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
        httpc_conn_fail(k, k->reader.status == 413 ? ERR_TOOBIG : ERR_INVALID, "bad answer: %s",
                        k->reader.why);
    return false;
}

static size_t read_size(const struct httpc_conn *k)
{
    const struct http_reader *r = &k->reader;
    bool large =
        r->phase == HTTP_IN_BODY &&
        (r->chunked || r->to_eof ? r->body_total : r->length - r->body_total) > HTTPC_READ_SIZE;
    return large ? READ_LARGE : HTTPC_READ_SIZE;
}

static void conn_input(struct httpc_conn *k)
{
    do {
        size_t want = read_size(k), n = 0;
        char *room = buf_room(&k->in, want);
        if (!room) {
            httpc_conn_fail(k, ERR_TOOBIG, "the answer exceeds its limit");
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
            httpc_conn_fail(k, ERR_NET, "the connection broke: %s",
                            k->tls ? tls_why() : strerror(errno));
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

/* A server that does not take a session makes a whole handshake instead (RFC 8446, 4.2.11), but
 * some end the connection. No byte of a call has left, so the same address is tried once more. */
static bool again_without_session(struct httpc_conn *k)
{
    if (!tls_offers_session(k->tls) || k->tried > k->peer->addrs.nfound)
        return false;
    loop_fd_remove(k->peer->c->loop, &k->fd);
    tls_free(k->tls, false);
    k->tls = NULL;
    close(k->fd.fd);
    k->fd.fd = -1;
    k->whole = true;
    k->tried--;
    httpc_conn_connect(k);
    return true;
}

static void handshake_failed(struct httpc_conn *k)
{
    if (again_without_session(k))
        return;
    const char *setting = k->peer->c->cf.tls.setting, *distrust = tls_untrusted(k->tls);
    if (setting && distrust)
        httpc_conn_fail(k, ERR_NET, "the certificate is not trusted: %s (setting %s)", distrust,
                        setting);
    else
        httpc_conn_fail(k, ERR_NET, "TLS handshake: %s", tls_why());
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
        handshake_failed(k);
    }
}

static void conn_connected(struct httpc_conn *k)
{
    struct httpc_peer *p = k->peer;
    if (!p->url.tls) {
        conn_begin_new(k);
        return;
    }
    if (p->c->tls || !tls_client_new(&p->c->cf.tls, &p->c->tls, NULL))
        k->tls =
            tls_new(p->c->tls, k->fd.fd, p->url.host, p->numeric, k->whole ? NULL : &p->ticket);
    if (!k->tls) {
        httpc_conn_fail(k, ERR_FULL, "no room for a connection: TLS: %s", tls_why());
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

#define NOT_TAKEN (-1) /* in place of an errno */

/* This address is no good: the next one, or the end. */
static void conn_refused(struct httpc_conn *k, int error)
{
    if (k->fd.fd >= 0) {
        loop_fd_remove(k->peer->c->loop, &k->fd);
        close(k->fd.fd);
        k->fd.fd = -1;
    }
    if (error == NOT_TAKEN && !addresses_left(k))
        httpc_conn_fail(k, ERR_NET, "the address is not among those of the setting %s",
                        k->peer->c->cf.takes_setting);
    else if (ran_out(error))
        httpc_conn_fail(k, ERR_FULL, "no room for a connection: %s", strerror(error));
    else if (addresses_left(k))
        httpc_conn_connect(k);
    else
        httpc_conn_fail(k, error == ETIMEDOUT ? ERR_TIMEOUT : ERR_NET, "cannot connect: %s",
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

void httpc_conn_connect(struct httpc_conn *k)
{
    struct httpc_peer *p = k->peer;
    struct loop *l = p->c->loop;
    int left = p->addrs.nfound - k->tried;
    int at = k->tried++;
    const struct sockaddr *to = (const struct sockaddr *)&p->addrs.found[at].addr;
    const struct httpc_config *cf = &p->c->cf;
    k->state = CONNECTING;
    if (cf->takes && !cf->takes(cf->takes_arg, &p->addrs.found[at].addr)) {
        conn_refused(k, NOT_TAKEN);
        return;
    }
    k->fd.fd = open_socket(to->sa_family);
    if (k->fd.fd < 0) {
        conn_refused(k, errno);
        return;
    }
    int rc = connect(k->fd.fd, to, p->addrs.found[at].len);
    int error = rc < 0 ? errno : 0;
    k->fd.events = EPOLLOUT;
    if (loop_fd_add(l, &k->fd)) {
        httpc_conn_fail(k, ERR_FULL, "no room for a connection: epoll takes no more");
    } else if (error && error != EINPROGRESS) {
        conn_refused(k, error);
    } else {
        int64_t now = loop_now_ms(l);
        loop_timer_set(l, &k->timer, now + (k->connect_due_ms - now) / left);
    }
}

/* A connection to a port of this machine on which no socket listens may be given that very port for
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

/* --- events --- */

bool httpc_conn_alive(struct httpc_conn *k)
{
    char byte;
    size_t n;
    if (k->tls)
        return tls_read(k->tls, &byte, 1, &n) == TLS_WANT_READ;
    return recv(k->fd.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

void httpc_conn_close(struct httpc_conn *k)
{
    httpc_conn_shut(k, true);
    httpc_conn_destroy(k);
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
        if (!httpc_conn_alive(k))
            httpc_conn_close(k);
        return;
    default:
        break;
    }
    if ((events & EPOLLOUT) && !conn_send(k)) {
        httpc_conn_fail(k, ERR_NET, "the connection broke before a byte was sent");
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
        httpc_conn_close(k);
        return;
    case RESOLVING:
        httpc_conn_fail(k, ERR_TIMEOUT, "host name %.80s: no answer in time", k->peer->url.host);
        return;
    case CONNECTING:
        conn_refused(k, ETIMEDOUT);
        return;
    case HANDSHAKE:
        httpc_conn_fail(k, ERR_TIMEOUT, "TLS handshake: not finished in time");
        return;
    default:
        httpc_conn_fail(k, ERR_TIMEOUT, "no whole answer in time");
    }
}
