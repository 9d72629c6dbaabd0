/* SPDX-License-Identifier: Apache-2.0 */
/* httpd_serve.c - the requests of a connection: read, handed over, answered, moved to another
 * front.
 *
 * The usual request takes one recv, one callback and one send: it is complete in one read, its
 * timeout is a store, and nothing is allocated. Everything else (slow heads, half-closed peers,
 * full sockets, closing so that the answer arrives) is off that path.
 *
 * Reading stops while an answer waits to be taken and while a request is with its handler, so a
 * connection holds at most one message and what the kernel's buffer has. */
#include "net/httpd_conn.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include "base/mem.h"

enum {
    READ_SIZE = 4095,     /* one page with the buffer's NUL */
    READ_LARGE = 65535,   /* inside a body that is longer than that */
    OUT_BATCH = 65536,    /* answers of pipelined requests gather up to this */
    LINGER_MAX = 8 << 20, /* after our last byte this many are taken: the largest body of a path */
    BODY_PROGRESS = 1024, /* bytes that a body must gain in its time */
    SLOW_MS = 1000,       /* a body that takes longer is compared with others by its speed */
    STREAM_INPUT = 65536, /* bytes that the client of a stream may send */
    TLS_FIRST_BYTE = 22,  /* of a record with a handshake */
};

static void conn_process(struct conn *c);
static void conn_input(struct conn *c);
static void conn_ready(struct loop_fd *f, uint32_t events);
static void conn_timeout(struct loop_timer *t);

/* --- a new connection --- */

struct conn *httpd_conn_new(struct httpd *h, int fd, const struct sockaddr_storage *peer)
{
    struct conn *c = mem_new(sizeof(*c));
    c->peer = *peer;
    c->fd = (struct loop_fd){ .fd = fd, .events = EPOLLIN, .ready = conn_ready };
    c->timer.fire = conn_timeout;
    c->state = READING;
    /* a body in small chunks holds besides its bytes one size line and one read */
    buf_init(&c->in, h->cf.body_max + HTTP_HEAD_MAX * 3 + READ_LARGE);
    buf_init(&c->out, SIZE_MAX / 4);
    http_begin(&c->reader, HTTP_REQUEST, 0, h->cf.body_max);
    httpd_conn_link(c, h);
    return c;
}

/* --- refusing --- */

void httpd_conn_refuse(struct conn *c, int status, const char *text)
{
    c->h->stats.bad_requests++;
    c->reader.keep_alive = false;
    c->reader.phase = HTTP_IN_ERROR;
    c->state = CLOSING;
    c->linger = true;
    buf_done(&c->in);
    httpd_count_buffer(c);
    httpd_put_error(c, status, text, false);
}

/* --- requests --- */

static void fill_request(struct conn *c)
{
    struct slice target = http_target(&c->reader, &c->in);
    const char *mark = memchr(target.p, '?', target.n);
    size_t n = mark ? (size_t)(mark - target.p) : target.n;
    c->q.method = http_method(&c->reader, &c->in);
    c->q.path = slice_of(target.p, n);
    c->q.query = mark ? slice_of(mark + 1, target.n - n - 1) : slice_of("", 0);
    c->q.body = http_body(&c->reader, &c->in);
}

/* Hand c's request to the handler. False: it was detached, c is no longer ours. */
static bool deliver(struct conn *c)
{
    struct httpd *h = c->h;
    struct delivery d = { c, false, h->deliveries };
    h->deliveries = &d;
    h->stats.requests++;
    h->cf.on_request(&c->q, h->cf.arg);
    h->deliveries = d.outer;
    return !d.gone;
}

/* The head of a large body's request: its owner may refuse it or take it elsewhere before more is
 * read. False: it was detached, c is no longer ours. */
static bool tell_head(struct conn *c)
{
    struct httpd *h = c->h;
    const struct http_reader *r = &c->reader;
    if (c->head_told || !h->cf.on_head || r->phase != HTTP_IN_BODY ||
        (r->length <= HTTPD_HEAD_FIRST && r->body_total <= HTTPD_HEAD_FIRST))
        return true;
    c->head_told = true;
    c->state = OPEN; /* as for a request that is complete, so that it can be answered */
    h->stats.open_requests++;
    fill_request(c);
    c->q.body = slice_of("", 0);
    struct delivery d = { c, false, h->deliveries };
    h->deliveries = &d;
    size_t max = h->cf.on_head(&c->q, h->cf.arg);
    h->deliveries = d.outer;
    if (d.gone)
        return false;
    if (c->state != OPEN)
        return true;
    c->state = READING;
    h->stats.open_requests--;
    if (!http_limit_body(&c->reader, max))
        httpd_conn_refuse(c, 413, "the body is larger than allowed");
    return true;
}

static void waiting_for_more(struct conn *c)
{
    const struct http_reader *r = &c->reader;
    if (r->phase == HTTP_IN_BODY) {
        if (!c->sent_continue)
            c->body_ms = loop_now_ms(c->h->loop);
        if (r->expect_continue && !c->sent_continue && r->body_total == 0)
            buf_text(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
        c->sent_continue = true;
        httpd_conn_wait(c, WAIT_BODY);
    } else if (c->in.len) {
        httpd_conn_wait(c, WAIT_HEAD);
    }
}

/* After this iteration look at what the buffer still holds. */
static void look_again(struct conn *c)
{
    if (c->state != READING || httpd_conn_unsent(c) || list_linked(&c->more) ||
        (c->in.len == 0 && !httpd_conn_pending(c)))
        return;
    list_push(&c->h->more, &c->more);
    loop_defer(c->h->loop, &c->h->more_task);
}

/* Read messages out of the buffer, hand them over, send what was answered. May free c. */
static void conn_process(struct conn *c)
{
    c->processing = true;
    c->hungry = false;
    while (c->state == READING && c->in.len > 0) {
        if (httpd_conn_unsent(c) > OUT_BATCH)
            break; /* the peer must take its answers first */
        enum http_event e = http_read(&c->reader, &c->in);
        if (e == HTTP_BAD) {
            httpd_conn_refuse(c, c->reader.status, c->reader.why);
        } else if (e == HTTP_MORE) {
            if (!tell_head(c))
                return;
            if (c->state != READING)
                break;
            waiting_for_more(c);
            c->paused = false;
            c->hungry = true;
            break;
        } else {
            c->state = OPEN;
            c->h->stats.open_requests++;
            fill_request(c);
            if (!deliver(c))
                return;
        }
    }
    c->processing = false;
    bool blocked = httpd_conn_unsent(c) > OUT_BATCH;
    if (httpd_conn_unsent(c) && !httpd_conn_flush(c))
        return;
    if (c->fd.fd >= 0)
        httpd_conn_events(c);
    if (blocked || httpd_conn_pending(c))
        look_again(c);
}

void httpd_run_more(struct loop_task *t)
{
    struct httpd *h = container_of(t, struct httpd, more_task);
    struct list now;
    list_init(&now);
    for (struct list_node *n; (n = list_pop(&h->more));)
        list_push(&now, n);
    for (struct list_node *n; (n = list_pop(&now));) {
        struct conn *c = container_of(n, struct conn, more);
        if (c->state == READING && httpd_conn_pending(c) && (c->hungry || !c->in.len))
            conn_input(c);
        else if (c->state == READING)
            conn_process(c);
    }
}

/* The reply is in the buffer: on to the next message, or to the end. */
static void next_message(struct conn *c)
{
    struct httpd *h = c->h;
    h->stats.open_requests--;
    c->q.user = NULL;
    c->sent_continue = c->head_told = c->hungry = false;
    if (!c->reader.keep_alive) {
        c->state = CLOSING;
        return;
    }
    c->state = READING;
    list_remove(&c->node);
    list_push(&h->conns, &c->node);
    if (!c->proved) {
        list_remove(&c->mine);
        list_push(&c->source->unproved, &c->mine);
    }
    buf_eat(&c->in, http_rest(&c->reader));
    if (c->in.len == 0)
        c->paused = false; /* else conn_process looks first at what is here already */
    if (c->in.len == 0 && c->in.cap > HTTPD_KEEP_BUFFER) {
        buf_done(&c->in);
        httpd_count_buffer(c);
    }
    http_begin(&c->reader, HTTP_REQUEST, 0, h->cf.body_max);
    httpd_conn_wait(c, WAIT_IDLE);
}

bool httpd_reply_begins(struct conn *c)
{
    if (c->fd.fd < 0) { /* the client has gone: no answer can reach it */
        httpd_conn_unlink(c);
        httpd_conn_destroy(c);
        return false;
    }
    /* a client that asked for the end sends nothing more; else it may be in the middle of it */
    bool whole = c->reader.phase == HTTP_IN_END;
    c->linger = !whole || c->reader.keep_alive || c->in.len > http_rest(&c->reader);
    if (c->h->draining || c->h->last_answers || !whole)
        c->reader.keep_alive = false;
    return true;
}

void httpd_reply_ends(struct conn *c)
{
    next_message(c);
    if (c->processing)
        return; /* conn_process sends, and goes on */
    if (httpd_conn_flush(c))
        look_again(c);
}

void httpd_reply(struct httpd_request *q, int status, const char *content_type,
                 struct slice headers, struct slice body)
{
    struct conn *c = container_of(q, struct conn, q);
    if (!httpd_reply_begins(c))
        return;
    httpd_put_answer(c, status, content_type, headers, body, slice_eq(q->method, "HEAD"));
    httpd_reply_ends(c);
}

void httpd_reply_error(struct httpd_request *q, int status, const char *text)
{
    struct conn *c = container_of(q, struct conn, q);
    if (!httpd_reply_begins(c))
        return;
    httpd_put_error(c, status, text, slice_eq(q->method, "HEAD"));
    httpd_reply_ends(c);
}

/* --- which connection yields when there is no room --- */

/* Is there room for one more connection from s, or can it be made? */
static bool make_room(struct httpd *h, const struct source *s)
{
    while (h->stats.connections >= h->cf.max_connections) {
        struct conn *c = httpd_unproved_one(h, false);
        if (!c && s->known)
            c = httpd_unproved_one(h, true);
        if (!c)
            c = httpd_idle_one(h);
        if (!c)
            return false;
        h->stats.yielded++;
        httpd_conn_close(c);
    }
    return true;
}

bool httpd_make_room(struct httpd *h, const struct sockaddr_storage *peer)
{
    struct source *s = source_get(&h->sources, peer, loop_now_ms(h->loop));
    bool room = make_room(h, s);
    source_put(&h->sources, s);
    return room;
}

/* Large bodies take more than they may: others yield until they do not. False: c has to. */
static bool make_body_room(struct conn *c)
{
    struct httpd *h = c->h;
    while (h->bodies > h->cf.bodies_max) {
        struct conn *slow = httpd_slowest_body(h, SLOW_MS, 0);
        if (!slow)
            slow = httpd_slowest_body(h, 0, httpd_largest_share(h));
        if (!slow || slow == c)
            return false;
        h->stats.yielded++;
        httpd_conn_refuse(slow, 503, "too many large bodies at once, and this one is slow");
        httpd_conn_flush(slow);
    }
    return true;
}

/* --- moving --- */

struct httpd_moved *httpd_detach(struct httpd_request *q)
{
    struct conn *c = container_of(q, struct conn, q);
    struct httpd *h = c->h;
    httpd_conn_unlink(c);
    if (c->reader.phase != HTTP_IN_END) { /* from on_head: its body is read over there */
        c->state = READING;
        c->head_told = false;
    }
    for (struct delivery *d = h->deliveries; d; d = d->outer)
        d->gone |= d->c == c;
    c->h = q->front = NULL;
    c->processing = false;
    c->moved.user = q->user;
    return &c->moved;
}

/* It came with its head only. */
static void attach_body(struct conn *c, bool room)
{
    if (c->fd.fd < 0) {
        httpd_conn_close(c);
    } else if (!room) {
        httpd_conn_refuse(c, 503, "the server holds as many connections as it may");
        httpd_conn_flush(c);
    } else {
        conn_process(c);
    }
}

void httpd_attach(struct httpd *h, struct httpd_moved *m)
{
    struct conn *c = container_of(m, struct conn, moved);
    bool room = httpd_make_room(h, &c->peer);
    if (!room)
        c->reader.keep_alive = false; /* this request is still served */
    httpd_conn_link(c, h);
    c->q.user = m->user;
    c->in.max = h->cf.body_max + HTTP_HEAD_MAX * 3 + READ_LARGE;
    if (c->fd.fd >= 0) {
        c->paused = false;
        c->fd.events = httpd_conn_unsent(c) ? EPOLLOUT : EPOLLIN;
        if (loop_fd_add(h->loop, &c->fd))
            httpd_conn_close_fd(c);
    }
    if (c->state == READING) {
        attach_body(c, room);
    } else if (c->fd.fd < 0) {
        deliver(c); /* the client has gone: the reply frees it */
    } else {
        c->processing = true;
        if (deliver(c))
            conn_process(c);
    }
}

void httpd_moved_free(struct httpd_moved *m)
{
    httpd_conn_destroy(container_of(m, struct conn, moved));
}

/* --- events --- */

/* What comes behind the last request of a connection is thrown away, up to a bound; that the peer
 * has ended ends the connection. */
static void waste_input(struct conn *c)
{
    char waste[16384];
    ssize_t n = httpd_conn_recv(c, waste, sizeof(waste));
    if (n < 0 && errno == EAGAIN)
        return;
    size_t more = n > 0 ? (size_t)n : 0;
    bool much = c->stream ? (c->stream->thrown += more) > STREAM_INPUT
                          : (c->body_mark += more) > LINGER_MAX;
    if (n <= 0 || much)
        httpd_conn_close(c);
}

static void conn_input(struct conn *c)
{
    if (c->state == LINGER || c->state == STREAMING) {
        waste_input(c);
        return;
    }
    if (c->state != READING) { /* one request at a time; the rest stays in the kernel */
        c->paused = true;
        httpd_conn_events(c);
        return;
    }
    const struct http_reader *r = &c->reader;
    uint64_t left = r->chunked ? r->body_total : r->length - r->body_total;
    bool large = r->phase == HTTP_IN_BODY && left > READ_SIZE;
    size_t want = READ_SIZE;
    if (large) /* no room for more than is to come: buffers double, and are counted */
        want = left < READ_LARGE && !r->chunked ? (size_t)left : READ_LARGE;
    char *room = buf_room(&c->in, want);
    if (!room) {
        httpd_conn_refuse(c, 413, "the body is larger than allowed, or memory is short");
        httpd_conn_flush(c);
        return;
    }
    httpd_count_buffer(c);
    if (large && !make_body_room(c)) {
        httpd_conn_refuse(c, 503, "too many large bodies at once");
        httpd_conn_flush(c);
        return;
    }
    ssize_t n = httpd_conn_recv(c, room, want);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        httpd_conn_close(
            c); /* between requests the usual end; within one no client waits for an answer */
        return;
    }
    c->in.len += (size_t)n;
    c->in.data[c->in.len] = '\0';
    conn_process(c);
}

/* Does the peer begin with a TLS handshake? One that speaks plain HTTP is told what is wrong.
 * False: c has an answer, or is gone. */
static bool speaks_tls(struct conn *c)
{
    unsigned char first;
    ssize_t n = recv(c->fd.fd, &first, 1, MSG_PEEK);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true; /* the handshake will say so */
    if (n == 1 && first == TLS_FIRST_BYTE)
        return true;
    if (n == 1 && first >= 'A' && first <= 'Z') {
        tls_free(c->tls, false);
        c->tls = NULL;
        c->handshaking = false;
        httpd_conn_refuse(c, 400, "this port speaks TLS: use https:// instead of http://");
        httpd_conn_flush(c);
    } else {
        httpd_conn_close(c);
    }
    return false;
}

static void conn_handshake(struct conn *c)
{
    struct loop *l = c->h->loop;
    if (!c->begun && !speaks_tls(c))
        return;
    c->begun = true;
    switch (tls_handshake(c->tls)) {
    case TLS_OK:
        c->handshaking = false;
        httpd_conn_wait(c, WAIT_IDLE);
        httpd_conn_events(c);
        conn_input(c);
        break;
    case TLS_WANT_READ:
        loop_fd_change(l, &c->fd, EPOLLIN);
        break;
    case TLS_WANT_WRITE:
        loop_fd_change(l, &c->fd, EPOLLOUT);
        break;
    default:
        c->h->stats.bad_requests++;
        httpd_conn_close(c);
    }
}

static void conn_ready(struct loop_fd *f, uint32_t events)
{
    struct conn *c = container_of(f, struct conn, fd);
    if (events & (EPOLLERR | EPOLLHUP)) {
        httpd_conn_close(c);
        return;
    }
    if (c->handshaking) {
        conn_handshake(c);
        return;
    }
    if (events & EPOLLOUT) {
        if (!httpd_conn_flush(c) || httpd_conn_unsent(c) || c->fd.fd < 0)
            return;
        if (c->state == READING) {
            httpd_conn_wait(c, WAIT_IDLE);
            conn_process(c); /* pipelined requests that waited for room */
        }
        return;
    }
    if (events & EPOLLIN)
        conn_input(c);
}

static void conn_timeout(struct loop_timer *t)
{
    struct conn *c = container_of(t, struct conn, timer);
    const struct http_reader *r = &c->reader;
    if (c->wait == WAIT_WRITE || c->wait == WAIT_LINGER || c->state == CLOSING || c->handshaking) {
        httpd_conn_close(c);
    } else if (c->state == OPEN) { /* how long a handler may take is the handler's matter */
        c->wait = WAIT_IDLE;
        httpd_conn_wait(c, WAIT_IDLE);
    } else if (c->wait == WAIT_IDLE) {
        httpd_conn_close(c);
    } else if (c->wait == WAIT_BODY && r->body_total - c->body_mark >= BODY_PROGRESS) {
        httpd_conn_wait(c, WAIT_BODY);
    } else {
        httpd_conn_refuse(c, 408,
                          c->wait == WAIT_HEAD ? "the head did not come in time"
                                               : "the body did not come in time");
        httpd_conn_flush(c);
    }
}
