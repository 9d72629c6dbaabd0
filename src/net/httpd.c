/* SPDX-License-Identifier: Apache-2.0 */
/* httpd.c - the front: it accepts connections while there is room, says what a handler asks of its
 * request, and drains. What happens on a connection is httpd_serve.c. */
#include "net/httpd_conn.h"
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/mem.h"

enum {
    LINGER_MS = 2000,        /* after our last byte, wait so long for the peer's end */
    CONNECTIONS_MAX = 16384, /* idle ones take 3 KiB each, 8 KiB after a page */
    STREAMS_MAX = 2000,
    REFUSED_MAX = 64, /* connections above the limit that are told so */
};

/* --- requests --- */

struct slice httpd_header(const struct httpd_request *q, const char *name)
{
    const struct conn *c = container_of(q, struct conn, q);
    return http_header(&c->reader, &c->in, name);
}

struct slice httpd_header_back(const struct httpd_request *q, const char *name, int nth)
{
    const struct conn *c = container_of(q, struct conn, q);
    return http_header_back(&c->reader, &c->in, name, nth);
}

const struct sockaddr_storage *httpd_peer_address(const struct httpd_request *q)
{
    return &container_of(q, struct conn, q)->peer;
}

void httpd_peer(const struct httpd_request *q, char *to, size_t size)
{
    const struct conn *c = container_of(q, struct conn, q);
    addr_text(&c->peer, to, size);
}

bool httpd_tls(const struct httpd_request *q)
{
    return container_of(q, struct conn, q)->tls;
}

bool httpd_certified(const struct httpd_request *q)
{
    const struct conn *c = container_of(q, struct conn, q);
    return c->tls && tls_client_proved(c->tls);
}

uint64_t httpd_source(const struct httpd_request *q)
{
    return addr_key(&container_of(q, struct conn, q)->peer);
}

void httpd_proved(struct httpd_request *q)
{
    struct conn *c = container_of(q, struct conn, q);
    c->proved = true;
    httpd_conn_proved(c);
}

/* --- accepting --- */

static void accepted(void *arg, int fd, const struct sockaddr_storage *peer)
{
    struct httpd *h = arg;
    h->stats.accepted++;
    bool full = !httpd_make_room(h, peer);
    h->stats.refused_full += full;
    /* over TLS a refusal costs the handshake, which is what there is too much of */
    if (h->stats.connections >= h->cf.max_connections + REFUSED_MAX || (full && h->cf.tls)) {
        close(fd);
        return;
    }
    struct conn *c = httpd_conn_new(h, fd, peer);
    c->handshaking = h->cf.tls;
    c->tls = h->cf.tls ? tls_accept(h->cf.tls, fd) : NULL;
    if ((h->cf.tls && !c->tls) || loop_fd_add(h->loop, &c->fd)) {
        httpd_conn_close_fd(c);
        httpd_conn_close(c);
        return;
    }
    if (full) {
        httpd_conn_refuse(c, 503, "the server holds as many connections as it may");
        h->stats.bad_requests--;
        httpd_conn_flush(c);
    } else {
        httpd_conn_wait(c, c->handshaking ? WAIT_HEAD : WAIT_IDLE);
    }
}

enum err httpd_listen(struct httpd *h, const struct addr_listen *at, struct why *why)
{
    return listen_add(&h->listen, at, why);
}

enum err httpd_inherit(struct httpd *h, int *ret_n, struct why *why)
{
    return listen_inherit(&h->listen, ret_n, why);
}

uint16_t httpd_port(const struct httpd *h)
{
    return h->listen.port;
}

/* --- the front --- */

static void run_drained(struct loop_task *t)
{
    struct httpd *h = container_of(t, struct httpd, drained_task);
    if (h->cf.on_drained)
        h->cf.on_drained(h->cf.arg);
}

static int or_default(int value, int otherwise)
{
    return value > 0 ? value : otherwise;
}

/* A front that takes every descriptor leaves none for the next client, nor for what the process
 * opens itself. */
static int files_for(int max)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / 4 > (rlim_t)max)
        return max;
    return limit.rlim_cur / 4 > 1 ? (int)(limit.rlim_cur / 4) : 1;
}

struct httpd *httpd_new(struct loop *l, const struct httpd_config *config)
{
    struct httpd *h = mem_new(sizeof(*h));
    h->loop = l;
    h->cf = *config;
    h->cf.max_connections = or_default(config->max_connections, files_for(CONNECTIONS_MAX));
    h->cf.max_streams = files_for(or_default(config->max_streams, STREAMS_MAX));
    if (!h->cf.body_max)
        h->cf.body_max = 8 << 20;
    if (!h->cf.bodies_max)
        h->cf.bodies_max = 256 << 20;
    h->timeout_ms[WAIT_IDLE] = or_default(config->idle_timeout_ms, 75000);
    h->timeout_ms[WAIT_HEAD] = or_default(config->head_timeout_ms, 10000);
    h->timeout_ms[WAIT_BODY] = or_default(config->body_timeout_ms, 10000);
    h->timeout_ms[WAIT_WRITE] = or_default(config->write_timeout_ms, 30000);
    h->timeout_ms[WAIT_LINGER] = LINGER_MS;
    h->date_key = INT64_MIN;
    listen_init(&h->listen, l, accepted, h);
    h->more_task.run = httpd_run_more;
    h->drained_task.run = run_drained;
    list_init(&h->conns);
    list_init(&h->more);
    list_init(&h->streams);
    list_init(&h->written);
    list_init(&h->large);
    sources_init(&h->sources);
    return h;
}

void httpd_last_answers(struct httpd *h)
{
    h->last_answers = true;
    listen_done(&h->listen);
}

void httpd_drain(struct httpd *h)
{
    h->draining = true;
    listen_done(&h->listen);
    list_each(&h->conns, n, tmp)
    {
        struct conn *c = container_of(n, struct conn, node);
        char byte; /* what has arrived already is still answered */
        if (c->state == READING && c->in.len == 0 && !httpd_conn_unsent(c) &&
            recv(c->fd.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0)
            httpd_conn_close(c);
    }
    httpd_check_drained(h);
}

void httpd_free(struct httpd *h)
{
    if (!h)
        return;
    listen_done(&h->listen);
    h->draining = false;
    list_move(&h->conns, &h->streams);
    for (struct list_node *n; (n = list_first(&h->conns));) {
        struct conn *c = container_of(n, struct conn, node);
        httpd_stream_free(c);
        httpd_conn_unlink(c);
        httpd_conn_destroy(c);
    }
    loop_undefer(h->loop, &h->more_task);
    loop_undefer(h->loop, &h->written_task);
    loop_undefer(h->loop, &h->drained_task);
    sources_done(&h->sources);
    free(h);
}

void httpd_stats(const struct httpd *h, struct httpd_stats *ret)
{
    *ret = h->stats;
    ret->max_streams = h->cf.max_streams;
}
