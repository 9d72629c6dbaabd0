/* SPDX-License-Identifier: Apache-2.0 */
/* httpd_stream.c - answers whose end is not known in advance: pieces that an owner gives by and by,
 * sent after the iteration, together with what else came in it. */
#include "net/httpd_conn.h"
#include <sys/socket.h>
#include "base/mem.h"

enum {
    STREAM_KERNEL = 32768, /* bytes that the kernel may hold for a stream, for it to double */
};

bool httpd_stream_room(const struct httpd *h)
{
    return !h->draining && !h->last_answers && h->stats.streams < h->cf.max_streams;
}

/* From here on the connection is no other's to take, and holds no request. */
static void stream_begins(struct conn *c)
{
    struct httpd *h = c->h;
    h->stats.open_requests--;
    h->stats.connections--;
    h->stats.streams++;
    c->streamed = true;
    c->state = STREAMING;
    c->linger = true;
    if (list_linked(&c->mine))
        source_drop(&h->sources, c->source, &c->mine);
    list_remove(&c->node);
    list_push(&h->streams, &c->node);
    buf_done(&c->in);
    httpd_count_buffer(c);
    loop_timer_clear(h->loop, &c->timer);
    c->wait = WAIT_IDLE;
    int room = STREAM_KERNEL; /* a client that reads slowly must not hold megabytes there */
    (void)setsockopt(c->fd.fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
}

static void run_written(struct loop_task *t)
{
    struct httpd *h = container_of(t, struct httpd, written_task);
    struct list now;
    list_init(&now);
    list_move(&now, &h->written);
    for (struct list_node *n; (n = list_pop(&now));)
        (void)httpd_conn_flush(container_of(n, struct conn, more));
}

/* Send it after this iteration, together with what else comes in it. */
static void stream_written(struct conn *c)
{
    if (list_linked(&c->more))
        return;
    list_push(&c->h->written, &c->more);
    c->h->written_task.run = run_written;
    loop_defer(c->h->loop, &c->h->written_task);
}

struct httpd_stream *httpd_stream(struct httpd_request *q, int status, const char *content_type,
                                  struct slice headers, void (*on_ready)(void *arg),
                                  void (*on_gone)(void *arg), void *arg)
{
    struct conn *c = container_of(q, struct conn, q);
    if (!httpd_stream_room(c->h)) {
        httpd_reply(q, 503, NULL, slice_text("Retry-After: 5\r\n"), slice_of("", 0));
        return NULL;
    }
    if (!httpd_reply_begins(c))
        return NULL;
    if (slice_eq(q->method, "HEAD")) {
        httpd_put_head(c, status, content_type, headers, HTTPD_STREAMED);
        httpd_reply_ends(c);
        return NULL;
    }
    c->reader.keep_alive = false;
    httpd_put_head(c, status, content_type, headers, HTTPD_STREAMED);
    stream_begins(c);
    struct httpd_stream *s = c->stream = mem_new(sizeof(*s));
    s->c = c;
    s->on_ready = on_ready;
    s->on_gone = on_gone;
    s->arg = arg;
    s->queue.raw = c->reader.minor_0;
    stream_written(c);
    return s;
}

bool httpd_stream_write(struct httpd_stream *s, struct shared_buf *b)
{
    if (!stream_queue_put(&s->queue, b))
        return false;
    stream_written(s->c);
    return true;
}

size_t httpd_stream_unsent(const struct httpd_stream *s)
{
    return s->queue.unsent;
}

void httpd_stream_end(struct httpd_stream *s)
{
    s->on_gone = NULL;
    stream_written(s->c);
}
