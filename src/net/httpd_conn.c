/* SPDX-License-Identifier: Apache-2.0 */
/* httpd_conn.c - the life of a connection, whatever is said on it: in which lists of its front it
 * stands, what it may wait for, and sending, to the end. */
#include "net/httpd_conn.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/jsonw.h"
#include "base/mem.h"

enum { TLS_RECORD = 16384 }; /* bytes that one may carry */

bool httpd_empty(const struct httpd *h)
{
    return list_empty(&h->conns) && list_empty(&h->streams);
}

void httpd_check_drained(struct httpd *h)
{
    if (h->draining && !h->drained && httpd_empty(h)) {
        h->drained = true;
        loop_defer(h->loop, &h->drained_task);
    }
}

/* Large buffers are counted: many clients with large bodies must not take all memory. */
void httpd_count_buffer(struct conn *c)
{
    size_t now = c->in.cap > HTTPD_KEEP_BUFFER ? c->in.cap : 0;
    c->h->bodies += now - c->counted;
    c->source->large += now - c->counted;
    c->counted = now;
    if (!now)
        list_remove(&c->large);
    else if (!list_linked(&c->large))
        list_push(&c->h->large, &c->large);
}

/* It is counted among those of its source that may have to yield, or is not any more. */
void httpd_conn_proved(struct conn *c)
{
    if (c->proved && list_linked(&c->mine))
        source_drop(&c->h->sources, c->source, &c->mine);
    else if (!c->proved && !list_linked(&c->mine))
        source_add(&c->h->sources, c->source, &c->mine);
    if (c->proved)
        source_proved(&c->h->sources, c->source, loop_now_ms(c->h->loop));
}

void httpd_conn_unlink(struct conn *c)
{
    struct httpd *h = c->h;
    h->bodies -= c->counted;
    c->source->large -= c->counted;
    c->counted = 0;
    list_remove(&c->large);
    if (list_linked(&c->mine))
        source_drop(&h->sources, c->source, &c->mine);
    source_put(&h->sources, c->source);
    c->source = NULL;
    if (c->fd.fd >= 0)
        loop_fd_remove(h->loop, &c->fd);
    loop_timer_clear(h->loop, &c->timer);
    list_remove(&c->more);
    list_remove(&c->node);
    h->stats.connections -= !c->streamed;
    h->stats.streams -= c->streamed;
    h->stats.open_requests -= c->state == OPEN;
    httpd_check_drained(h);
}

void httpd_conn_link(struct conn *c, struct httpd *h)
{
    c->h = h;
    c->q.front = h;
    list_push(&h->conns, &c->node);
    c->source = source_get(&h->sources, &c->peer, loop_now_ms(h->loop));
    httpd_conn_proved(c);
    httpd_count_buffer(c);
    h->stats.connections++;
    h->stats.open_requests += c->state == OPEN;
}

void httpd_conn_close_fd(struct conn *c)
{
    tls_free(c->tls, true);
    c->tls = NULL;
    close(c->fd.fd);
    c->fd.fd = -1;
}

void httpd_conn_destroy(struct conn *c)
{
    if (c->fd.fd >= 0)
        httpd_conn_close_fd(c);
    buf_done(&c->in);
    buf_done(&c->out);
    free(c);
}

void httpd_stream_free(struct conn *c)
{
    if (!c->stream)
        return;
    stream_queue_done(&c->stream->queue);
    free(c->stream);
    c->stream = NULL;
}

/* The peer is gone, or we are done with it. A request with its handler keeps the memory. */
void httpd_conn_close(struct conn *c)
{
    if (c->state != OPEN) {
        struct httpd_stream told = c->stream ? *c->stream : (struct httpd_stream){ 0 };
        httpd_stream_free(c);
        httpd_conn_unlink(c);
        httpd_conn_destroy(c);
        if (told.on_gone)
            told.on_gone(told.arg);
        return;
    }
    if (c->fd.fd < 0)
        return;
    loop_fd_remove(c->h->loop, &c->fd);
    httpd_conn_close_fd(c);
    loop_timer_clear(c->h->loop, &c->timer);
    buf_done(&c->out);
    c->out_at = 0;
}

void httpd_conn_wait(struct conn *c, enum conn_wait wait)
{
    if (c->wait == wait && wait != WAIT_IDLE && loop_timer_is_set(&c->timer))
        return; /* a deadline does not move because a byte came */
    c->wait = wait;
    c->body_mark = wait == WAIT_LINGER ? 0 : c->reader.body_total;
    loop_timer_set(c->h->loop, &c->timer, loop_now_ms(c->h->loop) + c->h->timeout_ms[wait]);
}

/* --- the socket --- */

/* What recv(2) or send(2) would have returned. */
static ssize_t as_posix(enum tls_result r, size_t n)
{
    if (r == TLS_OK)
        return (ssize_t)n;
    if (r == TLS_EOF)
        return 0;
    errno = r == TLS_FAILED ? EPROTO : EAGAIN;
    return -1;
}

ssize_t httpd_conn_recv(struct conn *c, void *to, size_t size)
{
    size_t n = 0;
    if (c->tls) {
        enum tls_result r = tls_read(c->tls, to, size, &n);
        return as_posix(r, n);
    }
    ssize_t got = recv(c->fd.fd, to, size, 0);
    if (got < 0 && errno == EINTR)
        errno = EAGAIN;
    return got;
}

bool httpd_conn_pending(const struct conn *c)
{
    return c->tls && !c->handshaking && tls_pending(c->tls) > 0;
}

static ssize_t conn_send(struct conn *c, const void *from, size_t n)
{
    size_t sent = 0;
    if (c->tls) {
        enum tls_result r = tls_write(c->tls, from, n, &sent);
        return as_posix(r == TLS_EOF ? TLS_FAILED : r, sent); /* the peer has ended, and is gone */
    }
    return send(c->fd.fd, from, n, MSG_NOSIGNAL);
}

/* A record takes what fits into it, so that many small pieces are one. What a record that could not
 * leave had is the same, or more, at the next try: nothing is put before it. */
static ssize_t queue_send(struct conn *c)
{
    struct stream_queue *q = &c->stream->queue;
    char record[TLS_RECORD];
    if (!c->tls)
        return stream_queue_send(q, c->fd.fd);
    ssize_t n = conn_send(c, record, stream_queue_copy(q, record, sizeof(record)));
    if (n > 0)
        stream_queue_took(q, (size_t)n);
    return n;
}

/* --- sending --- */

size_t httpd_conn_unsent(const struct conn *c)
{
    return c->out.len - c->out_at;
}

/* That its client goes is seen while there is nothing to send, too. */
static uint32_t stream_events(const struct conn *c)
{
    return httpd_conn_unsent(c) || c->stream->queue.n ? EPOLLIN | EPOLLOUT : EPOLLIN;
}

void httpd_conn_events(struct conn *c)
{
    uint32_t events = c->state == STREAMING               ? stream_events(c)
                      : httpd_conn_unsent(c)              ? EPOLLOUT
                      : c->paused && c->state <= OPEN     ? 0
                      : c->state == CLOSING && !c->linger ? 0
                                                          : EPOLLIN;
    loop_fd_change(c->h->loop, &c->fd, events);
}

/* The last byte has left. True if the connection still exists. */
static bool conn_end(struct conn *c)
{
    if (!c->linger) {
        httpd_conn_close(c);
        return false;
    }
    /* Closing now would answer what the peer still sends with a reset, and a reset can destroy our
     * answer before it is read: end our side only, and wait for the peer's end. */
    if (c->tls)
        tls_end(c->tls);
    shutdown(c->fd.fd, SHUT_WR);
    c->state = LINGER;
    httpd_conn_wait(c, WAIT_LINGER);
    httpd_conn_events(c);
    return true;
}

/* Send what the queue holds, as httpd_conn_flush. *ret_empty: all of it has left. */
static bool queue_flush(struct conn *c, bool *ret_empty)
{
    struct stream_queue *q = &c->stream->queue;
    *ret_empty = false;
    while (q->n) {
        ssize_t n = queue_send(c);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN) {
            httpd_conn_close(c);
            return false;
        }
        if (n < 0) {
            httpd_conn_wait(c, WAIT_WRITE);
            httpd_conn_events(c);
            return true;
        }
        if (c->wait == WAIT_WRITE)
            loop_timer_clear(c->h->loop, &c->timer);
    }
    *ret_empty = true;
    return true;
}

/* The head has left: on with the queue, and at its end with what the owner has. */
static bool stream_flush(struct conn *c)
{
    bool empty;
    struct httpd_stream *s = c->stream;
    if (!queue_flush(c, &empty))
        return false;
    if (empty && !s->on_gone) {
        if (!s->queue.raw)
            buf_text(&c->out, "0\r\n\r\n");
        httpd_stream_free(c);
        c->state = CLOSING;
        return httpd_conn_flush(c);
    }
    if (empty) {
        s->on_ready(s->arg);
        httpd_conn_events(c);
    }
    return true;
}

/* Send what is there. False: the connection was freed (never if state is OPEN). */
bool httpd_conn_flush(struct conn *c)
{
    if (c->out.failed) { /* no memory for the answer: half of one must not be sent */
        bool keep = c->state == OPEN;
        httpd_conn_close(c);
        return keep;
    }
    while (httpd_conn_unsent(c)) {
        ssize_t n = conn_send(c, c->out.data + c->out_at, httpd_conn_unsent(c));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN) {
            bool keep = c->state == OPEN;
            httpd_conn_close(c);
            return keep;
        }
        if (n < 0) {
            httpd_conn_wait(c, WAIT_WRITE);
            httpd_conn_events(c);
            return true;
        }
        c->out_at += (size_t)n;
        if (c->wait == WAIT_WRITE)
            loop_timer_clear(c->h->loop, &c->timer); /* progress: its time starts anew */
    }
    c->out_at = 0;
    buf_reset(&c->out);
    if (c->out.cap > HTTPD_KEEP_BUFFER)
        buf_done(&c->out);
    if (c->state == CLOSING)
        return conn_end(c);
    if (c->state == STREAMING)
        return stream_flush(c);
    if (c->h->draining && c->state == READING && c->in.len == 0) {
        httpd_conn_close(c);
        return false;
    }
    httpd_conn_events(c);
    return true;
}

static const char *http_date(struct httpd *h)
{
    int64_t key = loop_now_ms(h->loop) / 500;
    if (key != h->date_key) {
        static const char days[] = "SunMonTueWedThuFriSat";
        static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
        time_t now = (time_t)(clock_wall_ms() / 1000);
        struct tm t;
        gmtime_r(&now, &t);
        snprintf(h->date, sizeof(h->date), "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
                 days + 3 * t.tm_wday, t.tm_mday % 100, months + 3 * t.tm_mon,
                 (t.tm_year + 1900) % 10000, t.tm_hour % 100, t.tm_min % 100, t.tm_sec % 100);
        h->date_key = key;
    }
    return h->date;
}

void httpd_put_head(struct conn *c, int status, const char *content_type, struct slice headers,
                    int64_t length)
{
    struct buf *out = &c->out;
    if (c->h->cf.answered)
        atomic_fetch_add_explicit(c->h->cf.answered, 1, memory_order_relaxed);
    if (status == 200) {
        buf_text(out, "HTTP/1.1 200 OK\r\nDate: ");
    } else {
        buf_text(out, "HTTP/1.1 ");
        buf_i64(out, status);
        buf_char(out, ' ');
        buf_text(out, http_reason(status));
        buf_text(out, "\r\nDate: ");
    }
    buf_text(out, http_date(c->h));
    if (content_type) {
        buf_text(out, "\r\nContent-Type: ");
        buf_text(out, content_type);
    }
    if (length == HTTPD_STREAMED && !c->reader.minor_0) {
        buf_text(out, "\r\nTransfer-Encoding: chunked");
    } else if (length != HTTPD_STREAMED && status != 204 && status != 304 && status >= 200) {
        buf_text(out, "\r\nContent-Length: ");
        buf_i64(out, length);
    }
    if (!c->reader.keep_alive)
        buf_text(out, "\r\nConnection: close");
    else if (c->reader.minor_0)
        buf_text(out, "\r\nConnection: keep-alive");
    buf_text(out, "\r\n");
    buf_slice(out, headers);
    buf_text(out, "\r\n");
}

void httpd_put_answer(struct conn *c, int status, const char *content_type, struct slice headers,
                      struct slice body, bool head_only)
{
    bool bodiless = status == 204 || status == 304 || status < 200;
    httpd_put_head(c, status, content_type, headers, (int64_t)body.n);
    if (!bodiless && !head_only)
        buf_slice(&c->out, body);
}

void httpd_put_error(struct conn *c, int status, const char *text, bool head_only)
{
    struct buf body = BUF_INIT(4096);
    struct jsonw w = jsonw_on(&body);
    jsonw_object(&w, NULL);
    jsonw_i64(&w, "code", status);
    jsonw_text(&w, "msg", text);
    jsonw_object_end(&w);
    httpd_put_answer(c, status, "application/json", slice_of(NULL, 0),
                     slice_of(buf_str(&body), body.len), head_only);
    buf_done(&body);
}
