/* SPDX-License-Identifier: Apache-2.0 */
/* httpd.h - the server front: connections in, requests out to a callback, answers back.
 *
 * One request of a connection is open at a time; pipelined ones wait in its buffer, so answers
 * leave in order. An answer may come at once or much later. A request can be moved with its
 * connection to another front on another thread: the scheduler's loop keeps /api, the web loop
 * takes the rest. docs/internals/net.md has limits and life cycle.
 * Thread: a front belongs to its loop's thread; so do its requests until moved. */
#ifndef PEAL_NET_HTTPD_H
#define PEAL_NET_HTTPD_H

#include "base/err.h"
#include "base/mailbox.h"
#include "base/str.h"
#include "base/why.h"
#include "net/addr.h"
#include "net/loop.h"
#include "net/shared_buf.h"

struct httpd; /* opaque */
struct tls_server;

/* A request in the hands of the handler. Slices stay valid until the reply. */
struct httpd_request {
    struct slice method;
    struct slice path;  /* as sent, not decoded, begins with '/' */
    struct slice query; /* without '?', not decoded; empty if none */
    struct slice body;
    struct httpd *front; /* the front that it is on now */
    void *user;          /* the handler's; NULL at first, kept when moved */
};

struct httpd_config {     /* 0 in a number: the default */
    int max_connections;  /* 16384, or a quarter of the files that the process may open; then one
                             yields, see below; if none can: 503 and closed */
    int max_streams;      /* 2000, beside the connections; at most a quarter of these files */
    size_t body_max;      /* 8 MiB; above: 413 */
    size_t bodies_max;    /* 256 MiB in the buffers of all large bodies; then one yields: 503 */
    int head_timeout_ms;  /* 10 s from a request's first byte to the end of its head: 408 */
    int body_timeout_ms;  /* 10 s, in which the body must end or gain 1 KiB: 408 */
    int idle_timeout_ms;  /* 75 s between requests; then closed */
    int write_timeout_ms; /* 30 s in which the peer must take a byte of a waiting answer */
    /* Called for each request, in order within a connection. Reply, keep, or detach it. */
    void (*on_request)(struct httpd_request *q, void *arg);
    /* Optional: the head of a request has come whose body has more than HTTPD_HEAD_FIRST bytes.
     * Called once, before that body is read; q->body is empty. Reply (which ends the connection),
     * detach (the body goes on there), or return how many bytes the body may have (more: 413). */
    size_t (*on_head)(struct httpd_request *q, void *arg);
    /* Optional: counts every answer, refusals included. Several fronts may share one. */
    _Atomic uint64_t *answered;
    /* Optional: after httpd_drain, the last connection has gone. */
    void (*on_drained)(void *arg);
    /* Optional: connections that it accepts speak TLS, with this certificate. Borrowed. Their
     * handshake, and the first request, have head_timeout_ms each. */
    struct tls_server *tls;
    void *arg;
};

enum { HTTPD_HEAD_FIRST = 16384 };

/* Which connection yields: a full front takes the place of a connection that has no request with
 * the handler and has not proved anything: of the source (sources.h) that has the most of them, the
 * one that has completed no request for the longest time, however many bytes it trickles.
 * Connections from known sources yield to known sources only. Connections that have proved
 * themselves yield when they have been idle for a second, the longest idle first. Large bodies: the
 * slowest that is older than a second, else the slowest of the source that has the most.
 *
 * A front without a socket: it serves what is attached to it. */
struct httpd *httpd_new(struct loop *l, const struct httpd_config *config);
/* Closes everything at once. Requests still with a handler must not be used afterwards. */
void httpd_free(struct httpd *h);

/* Listen as well; several times for several addresses. A host name is resolved here (at start).
 * ERR_NET or ERR_FULL with the reason in why. */
MUST_CHECK enum err httpd_listen(struct httpd *h, const struct addr_listen *at, struct why *why);
/* On the sockets that the process was started with, see listen_inherit. */
MUST_CHECK enum err httpd_inherit(struct httpd *h, int *ret_n, struct why *why);
/* The port of the first listener, as bound; 0 if there is none. */
uint16_t httpd_port(const struct httpd *h);

/* The first header of that name, any case; p is NULL if absent. */
struct slice httpd_header(const struct httpd_request *q, const char *name);
/* The same, counted from the last of that name: 0 the last, 1 the one before it. */
struct slice httpd_header_back(const struct httpd_request *q, const char *name, int nth);
const struct sockaddr_storage *httpd_peer_address(const struct httpd_request *q);
/* Numeric text of the peer's address. size >= 46. */
void httpd_peer(const struct httpd_request *q, char *to, size_t size);

/* The number of the peer's source: one an IPv4 address, one an IPv6 network of 64 bits. */
uint64_t httpd_source(const struct httpd_request *q);
/* Does its connection speak TLS? */
bool httpd_tls(const struct httpd_request *q);
/* Has the client shown a certificate that the listener's tls.client-ca signed? */
bool httpd_certified(const struct httpd_request *q);
/* The peer has proved that it belongs here (a token, a session): its connection yields last, and
 * its source is known for ten minutes. */
void httpd_proved(struct httpd_request *q);

/* Answer; q is gone afterwards. content_type NULL: no such header. headers: further complete lines,
 * each with its CRLF, or empty; the caller vouches for their bytes. The body is copied. If the
 * client has gone the answer is dropped. For HEAD the body's length is sent, not the body. */
void httpd_reply(struct httpd_request *q, int status, const char *content_type,
                 struct slice headers, struct slice body);
/* The same with {"code":status,"msg":text} as its body. */
void httpd_reply_error(struct httpd_request *q, int status, const char *text);

/* ---- answers without an end known in advance ---------------------------------------------------
 */

struct httpd_stream; /* opaque */

/* Can one more stream begin? Not when there are max_streams, nor while the front drains. */
bool httpd_stream_room(const struct httpd *h);
/* Answer with a body that comes by and by, in chunks (HTTP/1.0: until the end of the connection,
 * which ends with the stream in any case); q is gone afterwards. The connection yields to no other
 * from here on; what the client sends on it is thrown away. A client that takes nothing for the
 * write timeout is cut off; that there is nothing to send is no fault. on_ready: all that was
 * written has left. on_gone: the client has gone, and s with it. Both come from the loop, never
 * from within a call, and not from httpd_free.
 * NULL: the request is answered and there is nothing to write to: the client has gone, it was a
 * HEAD, or there was no room (503). */
struct httpd_stream *httpd_stream(struct httpd_request *q, int status, const char *content_type,
                                  struct slice headers, void (*on_ready)(void *arg),
                                  void (*on_gone)(void *arg), void *arg);
/* Send these bytes too; the stream holds a reference until they have left. They leave after the
 * current iteration. False: 256 pieces wait already, and these were not taken. */
MUST_CHECK bool httpd_stream_write(struct httpd_stream *s, struct shared_buf *b);
size_t httpd_stream_unsent(const struct httpd_stream *s); /* bytes that wait to leave */
/* That was all; s is gone, on_gone does not come. What waits is still sent. */
void httpd_stream_end(struct httpd_stream *s);

/* A request on its way to another front: its connection, unread bytes, and unsent answers. */
struct httpd_moved {
    struct message message; /* for a mailbox; kind is the sender's */
    void *user;             /* q->user */
};

/* Take q off its front. The caller owns the result: post it, attach it, or free it. */
struct httpd_moved *httpd_detach(struct httpd_request *q);
/* Go on there: calls h's on_request for it, from within. h owns it from here on. */
void httpd_attach(struct httpd *h, struct httpd_moved *m);
void httpd_moved_free(struct httpd_moved *m); /* closes the connection */

/* Stop accepting, close idle connections, answer what is open with "Connection: close". Streams go
 * on until their owner ends them. */
void httpd_drain(struct httpd *h);
/* Stop accepting; the next answer of each connection is its last. Idle ones stay open, because
 * their clients may have sent something. */
void httpd_last_answers(struct httpd *h);
bool httpd_empty(const struct httpd *h); /* no connection is open */

struct httpd_stats {
    int connections;   /* without those of streams */
    int open_requests; /* with the handler */
    int streams, max_streams;
    uint64_t requests, accepted, refused_full, bad_requests, yielded;
};
void httpd_stats(const struct httpd *h, struct httpd_stats *ret);

#endif
