/* SPDX-License-Identifier: Apache-2.0 */
/* httpd_conn.h - a connection of the server front, and the front. Private to the files of httpd;
 * the contract is httpd.h. */
#ifndef PEAL_NET_HTTPD_CONN_H
#define PEAL_NET_HTTPD_CONN_H

#include "base/buf.h"
#include "base/list.h"
#include "net/http.h"
#include "net/httpd.h"
#include "net/listen.h"
#include "net/sources.h"
#include "net/stream_queue.h"
#include "net/tls.h"

/*   READING --request complete--> OPEN --reply--> READING
 *      | refused                    | reply, and the connection shall end
 *      +------------> CLOSING <-----+
 *                        | last byte sent
 *                        +--> LINGER (if the peer may still be sending) --> freed
 *   OPEN --httpd_stream--> STREAMING --httpd_stream_end, last piece sent--> CLOSING
 *   Over TLS READING begins with the handshake.
 *   The peer goes away: OPEN waits with fd -1 for its reply, all others are freed. */
enum conn_state { READING, OPEN, STREAMING, CLOSING, LINGER };

/* What the timer waits for. */
enum conn_wait { WAIT_IDLE, WAIT_HEAD, WAIT_BODY, WAIT_WRITE, WAIT_LINGER, WAITS };

struct httpd_stream {
    struct conn *c;
    void (*on_ready)(void *arg);
    void (*on_gone)(void *arg); /* NULL: it was ended, its owner knows it no more */
    void *arg;
    struct stream_queue queue;
    size_t thrown; /* bytes that the client has sent meanwhile */
};

struct conn {
    struct httpd_moved moved;
    struct httpd_request q;
    struct httpd *h; /* NULL while it is on its way to another front */
    struct loop_fd fd;
    struct tls *tls;  /* NULL: plain */
    bool handshaking; /* READING: no request can have come yet */
    bool begun;       /* the handshake: its first byte was one of TLS */
    bool hungry;      /* what is in the buffer does not make a request */
    struct loop_timer timer;
    struct list_node node;       /* in h->conns, least recently used first, or in h->streams */
    struct list_node more;       /* in h->more: has unread input to look at; or in h->written */
    struct httpd_stream *stream; /* STREAMING */
    bool streamed;               /* it is counted among the streams, until it is freed */
    enum conn_state state;
    enum conn_wait wait;
    struct buf in, out;
    size_t out_at; /* of out: sent already */
    struct http_reader reader;
    struct source *source; /* of h */
    struct list_node mine; /* in source->unproved */
    bool proved;
    struct list_node large; /* in h->large */
    size_t counted;         /* of in.cap: part of h->bodies and of source->large */
    int64_t body_ms;        /* when the body's first byte was waited for */
    uint64_t body_mark; /* body bytes at the last look of the timer; LINGER: bytes thrown away */
    bool processing;    /* conn_process is on the stack: it sends and goes on */
    bool linger, sent_continue, paused, head_told;
    struct sockaddr_storage peer;
};

struct delivery { /* a callback on the stack */
    struct conn *c;
    bool gone; /* detached within */
    struct delivery *outer;
};

struct httpd {
    struct loop *loop;
    struct httpd_config cf;
    int timeout_ms[WAITS];
    struct listen listen;
    struct list conns, more, large;
    struct list streams, written; /* all; those with something new to send */
    struct sources sources;
    struct loop_task more_task, written_task, drained_task;
    struct delivery *deliveries;
    size_t bodies; /* bytes that buffers of large bodies take together */
    bool draining, drained, last_answers;
    int64_t date_key;
    char date[40];
    struct httpd_stats stats;
};

enum { HTTPD_KEEP_BUFFER = 16384 }; /* a larger buffer is given back between requests */
#define HTTPD_STREAMED (-1)         /* the body's length is not known yet */

/* httpd_conn.c: in which lists of its front it stands, and how it ends */
void httpd_conn_link(struct conn *c, struct httpd *h);
void httpd_conn_unlink(struct conn *c);
void httpd_conn_destroy(struct conn *c); /* unlinked, or on its way to another front */
void httpd_stream_free(struct conn *c);  /* harmless without one */
/* The peer is gone, or we are done with it. A request with its handler keeps the memory. */
void httpd_conn_close(struct conn *c);
/* Large buffers are counted: many clients with large bodies must not take all memory. */
void httpd_count_buffer(struct conn *c);
/* It is counted among those of its source that may have to yield, or is not any more. */
void httpd_conn_proved(struct conn *c);
void httpd_conn_wait(struct conn *c, enum conn_wait wait);
/* If the front drains and is empty: its owner is told. */
void httpd_check_drained(struct httpd *h);
/* httpd_conn.c: the socket, plain or TLS */
/* As recv(2) without flags, but for EINTR. Of -1 errno is EAGAIN, or the connection is broken. */
ssize_t httpd_conn_recv(struct conn *c, void *to, size_t size);
/* Bytes have come that no event will tell of. */
bool httpd_conn_pending(const struct conn *c);
/* Close the descriptor, off its loop already. */
void httpd_conn_close_fd(struct conn *c);
/* httpd_conn.c: sending */
size_t httpd_conn_unsent(const struct conn *c);
void httpd_conn_events(struct conn *c); /* what its descriptor waits for, as things stand */
/* Send what is there. False: the connection was freed (never if state is OPEN). */
bool httpd_conn_flush(struct conn *c);
void httpd_put_head(struct conn *c, int status, const char *content_type, struct slice headers,
                    int64_t length);
void httpd_put_answer(struct conn *c, int status, const char *content_type, struct slice headers,
                      struct slice body, bool head_only);
void httpd_put_error(struct conn *c, int status, const char *text, bool head_only);

/* httpd_serve.c */
/* In the front's lists; its descriptor is not on the loop yet. */
struct conn *httpd_conn_new(struct httpd *h, int fd, const struct sockaddr_storage *peer);
/* Answer by ourselves and end the connection. The caller flushes. */
void httpd_conn_refuse(struct conn *c, int status, const char *text);
/* Is there room for one more connection of that peer, or has another one yielded? */
bool httpd_make_room(struct httpd *h, const struct sockaddr_storage *peer);
/* Connections whose next request was in the buffer already when the last was answered: the task of
 * h->more. */
void httpd_run_more(struct loop_task *t);
/* The answer to the request that its handler has. False: the client has gone. */
bool httpd_reply_begins(struct conn *c);
void httpd_reply_ends(struct conn *c);

/* httpd_yield.c: which connection yields when there is no room; NULL: none */
/* One that has proved nothing, of the source with the most of them; known: also of known sources.
 */
struct conn *httpd_unproved_one(struct httpd *h, bool known);
/* One that has been idle: a fleet that keeps its connections must not lock out the next client. */
struct conn *httpd_idle_one(struct httpd *h);
/* The slowest of the large bodies that are older than min_ms, of sources that have at least so many
 * bytes; those with the handler are whole already. */
struct conn *httpd_slowest_body(struct httpd *h, int64_t min_ms, size_t min_bytes);
/* Bytes of large bodies that the source with the most has. */
size_t httpd_largest_share(const struct httpd *h);

#endif
