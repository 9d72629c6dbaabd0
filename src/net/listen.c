/* SPDX-License-Identifier: Apache-2.0 */
/* Non-blocking accept in batches. Out of descriptors the sockets ask epoll for nothing for a while,
 * because a level-triggered event that cannot be served would spin the loop. */
#include "net/listen.h"
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "net/addr.h"

enum {
    ACCEPT_BATCH = 64, /* an iteration; the rest comes in the next */
    PAUSE_MS = 100,    /* when out of descriptors */
    FIRST_PASSED = 3,  /* SD_LISTEN_FDS_START of sd_listen_fds(3) */
};

static void watch(struct listen *l, uint32_t events)
{
    for (int i = 0; i < l->n; i++)
        loop_fd_change(l->loop, &l->sockets[i].fd, events);
}

static void pause_accepting(struct listen *l, int failed)
{
    if (!l->told)
        log_warn("net",
                 "cannot accept a connection: %s; those that come wait until there is room (limit "
                 "of open files: ulimit -n, LimitNOFILE)",
                 strerror(failed));
    l->told = true;
    watch(l, 0);
    loop_timer_set(l->loop, &l->again, loop_now_ms(l->loop) + PAUSE_MS);
}

static void accept_again(struct loop_timer *t)
{
    watch(container_of(t, struct listen, again), EPOLLIN);
}

static void take(struct listen *l, int fd, const struct sockaddr_storage *peer)
{
    if (l->told)
        log_info("net", "accepting connections again");
    l->told = false;
    l->accepted(l->arg, fd, peer);
}

static void socket_ready(struct loop_fd *f, uint32_t events)
{
    struct listen *l = container_of(f, struct listen_socket, fd)->set;
    (void)events;
    for (int i = 0; i < ACCEPT_BATCH; i++) {
        struct sockaddr_storage peer;
        socklen_t len = sizeof(peer);
        int fd = accept4(f->fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            take(l, fd, &peer);
            continue;
        }
        int failed = errno;
        if (failed == EMFILE || failed == ENFILE || failed == ENOBUFS || failed == ENOMEM)
            pause_accepting(l, failed);
        if (failed != ECONNABORTED && failed != EINTR)
            return;
    }
}

static uint16_t bound_port(int fd)
{
    struct sockaddr_in6 a = { .sin6_port = 0 }; /* the port stands at the same place in both */
    socklen_t len = sizeof(a);
    if (getsockname(fd, (struct sockaddr *)&a, &len) < 0)
        return 0;
    return ntohs(a.sin6_port);
}

static int listen_on(const struct addrinfo *a, bool both)
{
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    int on = 1, only6 = !both;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* accepted sockets inherit it */
    if (a->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only6, sizeof(only6));
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, 4096) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

static enum err add_socket(struct listen *l, int fd)
{
    if (l->n == LISTEN_MAX)
        return ERR_FULL;
    struct listen_socket *s = &l->sockets[l->n];
    *s = (struct listen_socket){ { .fd = fd, .events = EPOLLIN, .ready = socket_ready }, l };
    enum err err = loop_fd_add(l->loop, &s->fd);
    if (err)
        return err;
    if (l->n++ == 0)
        l->port = bound_port(fd);
    return OK;
}

enum err listen_add(struct listen *l, const struct addr_listen *at, struct why *why)
{
    struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;
    bool both = !at->host[0] || strcmp(at->host, "::") == 0;
    char port[8];
    snprintf(port, sizeof(port), "%u", at->port);
    int rc = getaddrinfo(both ? "::" : at->host, port, &hints, &found);
    if (rc != 0) {
        why_set(why, "cannot listen on %s: %s", at->host, gai_strerror(rc));
        return ERR_NET;
    }
    int fd = -1;
    for (struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
        fd = listen_on(a, both);
    if (fd < 0 && both) { /* a system without IPv6 */
        struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(at->port) };
        struct addrinfo v4 = { .ai_family = AF_INET,
                               .ai_addr = (struct sockaddr *)&any,
                               .ai_addrlen = sizeof(any) };
        fd = listen_on(&v4, false);
    }
    int saved = errno;
    freeaddrinfo(found);
    if (fd < 0) {
        why_set(why, "cannot listen on %s:%u: %s", at->host[0] ? at->host : "*", at->port,
                strerror(saved));
        return ERR_NET;
    }
    enum err err = add_socket(l, fd);
    if (err) {
        close(fd);
        why_set(why, "cannot listen on more than %d addresses", LISTEN_MAX);
    }
    return err;
}

/* A number of the environment; 0 if it is none. */
static long passed_number(const char *name)
{
    const char *text = getenv(name);
    char *end = NULL;
    long n = text && *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : 0;
    return end && !*end ? n : 0;
}

static bool listens(int fd)
{
    int type = 0, on = 0;
    socklen_t len = sizeof(type), on_len = sizeof(on);
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &on_len) == 0 && on;
}

static enum err adopt(struct listen *l, int fd, struct why *why)
{
    if (!listens(fd)) {
        why_set(why, "descriptor %d, which was passed by LISTEN_FDS, is not a listening socket",
                fd);
        return ERR_NET;
    }
    int on = 1, flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) || fcntl(fd, F_SETFD, FD_CLOEXEC)) {
        why_set(why, "descriptor %d, which was passed by LISTEN_FDS: %s", fd, strerror(errno));
        return ERR_NET;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* a local socket has it not */
    enum err err = add_socket(l, fd);
    if (err)
        why_set(why, "cannot listen on more than %d addresses", LISTEN_MAX);
    return err;
}

enum err listen_inherit(struct listen *l, int *ret_n, struct why *why)
{
    long n = passed_number("LISTEN_PID") == getpid() ? passed_number("LISTEN_FDS") : 0;
    unsetenv("LISTEN_PID"); /* children must not take them for theirs */
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    enum err err = OK;
    if (n > LISTEN_MAX) {
        why_set(why, "cannot listen on more than %d addresses", LISTEN_MAX);
        return ERR_FULL;
    }
    for (int i = 0; !err && i < n; i++)
        err = adopt(l, FIRST_PASSED + i, why);
    if (!err)
        *ret_n = (int)n;
    return err;
}

void listen_init(struct listen *l, struct loop *loop, listen_fn *accepted, void *arg)
{
    *l = (struct listen){
        .loop = loop, .accepted = accepted, .arg = arg, .again = { .fire = accept_again }
    };
}

void listen_done(struct listen *l)
{
    for (int i = 0; i < l->n; i++) {
        loop_fd_remove(l->loop, &l->sockets[i].fd);
        close(l->sockets[i].fd.fd);
    }
    l->n = 0;
    loop_timer_clear(l->loop, &l->again);
}
