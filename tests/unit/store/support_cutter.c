/* SPDX-License-Identifier: Apache-2.0 */
/* What one read of the client's gives counts as a packet: a client that waits for answers sends
 * each request in one piece. */
#include "support_cutter.h"
#include "base/clock.h"
#include "base/mem.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAIRS 16
#define LATE_MS 150
#define LINGER_MS 50 /* after a late packet, until the server hears of the end */

struct pair {
    int client, server; /* -1: closed */
    bool answer_goes;   /* the next answer of the server ends it */
    char *late;
    size_t nlate;
    int64_t late_ms, end_ms; /* boot; 0: none */
};

struct cutter {
    uint16_t port, server_port;
    int listener, stop[2];
    struct pair pairs[PAIRS];
    _Atomic int left, how; /* packets until the cut, 0: not armed */
    _Atomic bool fired;
    pthread_t thread;
};

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void pair_end(struct pair *p)
{
    shut(&p->client);
    shut(&p->server);
    free(p->late);
    *p = (struct pair){ .client = -1, .server = -1 };
}

static struct sockaddr_in local(uint16_t port)
{
    return (struct sockaddr_in){ .sin_family = AF_INET,
                                 .sin_port = htons(port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static void quick(int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static void pair_begin(struct cutter *c)
{
    struct sockaddr_in to = local(c->server_port);
    int client = accept(c->listener, NULL, NULL), server = socket(AF_INET, SOCK_STREAM, 0);
    struct pair *p = c->pairs;
    while (p < c->pairs + PAIRS && p->server >= 0)
        p++;
    if (client < 0 || p == c->pairs + PAIRS ||
        connect(server, (struct sockaddr *)&to, sizeof(to))) {
        shut(&client);
        shut(&server);
        return;
    }
    quick(client);
    quick(server);
    p->client = client;
    p->server = server;
}

static bool pass(int to, const char *bytes, size_t n)
{
    while (n) {
        ssize_t done = send(to, bytes, n, MSG_NOSIGNAL);
        if (done <= 0)
            return false;
        bytes += done;
        n -= (size_t)done;
    }
    return true;
}

static void cut(struct cutter *c, struct pair *p, const char *bytes, size_t n)
{
    enum cut how = (enum cut)c->how;
    c->fired = true;
    if (how == CUT_LATE) {
        p->late = mem_dupn(bytes, n);
        p->nlate = n;
        p->late_ms = clock_boot_ms() + LATE_MS;
        shut(&p->client);
        return;
    }
    if (how != CUT_BEFORE)
        pass(p->server, bytes, n);
    if (how == CUT_ANSWER)
        p->answer_goes = true;
    else
        pair_end(p);
}

static void from_client(struct cutter *c, struct pair *p)
{
    char bytes[65536];
    ssize_t n = read(p->client, bytes, sizeof(bytes));
    if (n <= 0)
        pair_end(p);
    else if (c->left > 0 && --c->left == 0)
        cut(c, p, bytes, (size_t)n);
    else if (!pass(p->server, bytes, (size_t)n))
        pair_end(p);
}

static void from_server(struct pair *p)
{
    char bytes[65536];
    ssize_t n = read(p->server, bytes, sizeof(bytes));
    if (n <= 0 || p->answer_goes || (p->client >= 0 && !pass(p->client, bytes, (size_t)n)))
        pair_end(p);
}

static void late(struct pair *p, int64_t now_ms)
{
    if (p->late_ms && now_ms >= p->late_ms) {
        pass(p->server, p->late, p->nlate);
        p->late_ms = 0;
        p->end_ms = now_ms + LINGER_MS;
    } else if (p->end_ms && now_ms >= p->end_ms) {
        pair_end(p);
    }
}

static void *cutter_main(void *arg)
{
    struct cutter *c = arg;
    for (;;) {
        struct pollfd fds[2 + 2 * PAIRS] = { { .fd = c->stop[0], .events = POLLIN },
                                             { .fd = c->listener, .events = POLLIN } };
        for (int i = 0; i < PAIRS; i++) {
            fds[2 + 2 * i] = (struct pollfd){ .fd = c->pairs[i].client, .events = POLLIN };
            fds[3 + 2 * i] = (struct pollfd){ .fd = c->pairs[i].server, .events = POLLIN };
        }
        poll(fds, 2 + 2 * PAIRS, 20);
        if (fds[0].revents)
            return NULL;
        if (fds[1].revents)
            pair_begin(c);
        for (int i = 0; i < PAIRS; i++) {
            struct pair *p = &c->pairs[i];
            if (fds[2 + 2 * i].revents && fds[2 + 2 * i].fd == p->client)
                from_client(c, p);
            if (fds[3 + 2 * i].revents && fds[3 + 2 * i].fd == p->server)
                from_server(p);
            late(p, clock_boot_ms());
        }
    }
}

struct cutter *cutter_new(uint16_t port)
{
    struct cutter *c = mem_new(sizeof(*c));
    struct sockaddr_in at = local(0);
    socklen_t size = sizeof(at);
    c->server_port = port;
    for (int i = 0; i < PAIRS; i++)
        c->pairs[i] = (struct pair){ .client = -1, .server = -1 };
    c->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(c->listener, (struct sockaddr *)&at, sizeof(at)) || listen(c->listener, 16) ||
        getsockname(c->listener, (struct sockaddr *)&at, &size) || pipe(c->stop) ||
        pthread_create(&c->thread, NULL, cutter_main, c))
        abort();
    c->port = ntohs(at.sin_port);
    return c;
}

void cutter_free(struct cutter *c)
{
    (void)!write(c->stop[1], "", 1);
    pthread_join(c->thread, NULL);
    for (int i = 0; i < PAIRS; i++)
        pair_end(&c->pairs[i]);
    close(c->listener);
    close(c->stop[0]);
    close(c->stop[1]);
    free(c);
}

uint16_t cutter_port(const struct cutter *c)
{
    return c->port;
}

void cutter_arm(struct cutter *c, enum cut how, int n)
{
    c->fired = false;
    c->how = how;
    c->left = n;
}

bool cutter_fired(struct cutter *c)
{
    c->left = 0;
    return c->fired;
}
