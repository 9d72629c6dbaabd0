/* SPDX-License-Identifier: Apache-2.0 */
#include "support_net.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "base/clock.h"

void iterate_until(struct loop *l, bool (*done)(void *arg), void *arg)
{
    int64_t end = clock_boot_ms() + WAIT_MS;
    while (!done(arg)) {
        if (clock_boot_ms() > end)
            fail_msg("what the test waits for has not come in %d ms", WAIT_MS);
        loop_iterate(l, 10);
    }
}

static bool is_true(void *arg)
{
    return *(const bool *)arg;
}

void iterate_while_false(struct loop *l, const bool *flag)
{
    iterate_until(l, is_true, (void *)flag);
}

static struct sockaddr_in loopback(uint16_t port)
{
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    return a;
}

void raw_open(struct raw *r, uint16_t port)
{
    raw_open_from(r, "127.0.0.1", port);
}

void raw_open_from(struct raw *r, const char *from, uint16_t port)
{
    struct sockaddr_in a = loopback(port), own = loopback(0);
    assert_int_equal(inet_pton(AF_INET, from, &own.sin_addr), 1);
    memset(r, 0, sizeof(*r));
    buf_init(&r->got, 64 << 20);
    r->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(r->fd, (struct sockaddr *)&own, sizeof(own)), 0);
    assert_int_equal(connect(r->fd, (struct sockaddr *)&a, sizeof(a)), 0);
}

void raw_close(struct raw *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
    buf_done(&r->got);
}

void raw_send(struct raw *r, struct loop *l, const char *text)
{
    for (size_t n = strlen(text); n;) {
        ssize_t sent = send(r->fd, text, n, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) {
            text += sent;
            n -= (size_t)sent;
        } else if (errno == EAGAIN) {
            loop_iterate(l, 10);
        } else {
            return; /* the server has had enough; what it said is read by the test */
        }
    }
}

bool raw_has_ended(struct raw *r)
{
    ssize_t n;
    do {
        char *room = buf_room(&r->got, 65536);
        assert_non_null(room);
        n = recv(r->fd, room, 65536, MSG_DONTWAIT);
        r->got.len += n > 0 ? (size_t)n : 0;
        r->got.data[r->got.len] = '\0';
    } while (n > 0);
    r->eof |= n == 0;
    r->reset |= n < 0 && errno != EAGAIN;
    return r->eof || r->reset;
}

struct wanted {
    struct raw *r;
    const char *text;
};

static bool has_come(void *arg)
{
    struct wanted *w = arg;
    raw_has_ended(w->r);
    if (strstr(buf_str(&w->r->got), w->text))
        return true;
    if (w->r->eof || w->r->reset)
        fail_msg("ended without \"%s\": %s", w->text, buf_str(&w->r->got));
    return false;
}

void raw_until(struct raw *r, struct loop *l, const char *text)
{
    struct wanted w = { r, text };
    iterate_until(l, has_come, &w);
}

static bool has_ended(void *arg)
{
    return raw_has_ended(arg);
}

void raw_until_end(struct raw *r, struct loop *l)
{
    iterate_until(l, has_ended, r);
}

enum { PORT_LEAST = 21000, PORTS = 9000 };

/* The next port of the range at which it can be bound; each process begins at another one. */
static int bind_somewhere(uint16_t *ret_port)
{
    static unsigned at;
    if (!at)
        at = (unsigned)getpid() * 61;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    for (int i = 0; i < PORTS; i++) {
        uint16_t port = (uint16_t)(PORT_LEAST + at++ % PORTS);
        struct sockaddr_in a = loopback(port);
        if (bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0) {
            *ret_port = port;
            return fd;
        }
    }
    fail_msg("no port from %d on is free", PORT_LEAST);
    return -1;
}

static void set_patience(int fd)
{
    struct timeval t = { .tv_sec = WAIT_MS / 1000 };
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t));
}

int listen_somewhere(int backlog, uint16_t *ret_port)
{
    int fd = bind_somewhere(ret_port);
    assert_int_equal(listen(fd, backlog), 0);
    set_patience(fd);
    return fd;
}

int refuse_somewhere(uint16_t *ret_port)
{
    return bind_somewhere(ret_port);
}

bool can_listen(uint16_t port)
{
    struct sockaddr_in a = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool can = bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, 1) == 0;
    close(fd);
    return can;
}

uint16_t quiet_port(void)
{
    uint16_t port;
    close(listen_somewhere(1, &port));
    return port;
}

void listen_quietly(struct httpd *h)
{
    struct why why = { "" };
    for (int i = 0; i < 20; i++) { /* another process may be faster */
        struct addr_listen at = { "127.0.0.1", quiet_port() };
        why_clear(&why);
        if (httpd_listen(h, &at, &why) == OK)
            return;
    }
    fail_msg("%s", why.text);
}

static void *script_thread(void *arg)
{
    struct script *s = arg;
    for (int i = 0; i < s->connections; i++) {
        int fd = accept(s->listener, NULL, NULL); /* waits for WAIT_MS */
        s->missed = fd < 0;
        if (fd < 0)
            break;
        set_patience(fd);
        s->serve(s, fd, i);
        close(fd);
        atomic_fetch_add(&s->closed, 1);
    }
    return NULL;
}

void script_start(struct script *s)
{
    buf_init(&s->got, 64 << 20);
    s->listener = listen_somewhere(16, &s->port);
    assert_int_equal(pthread_create(&s->thread, NULL, script_thread, s), 0);
}

void script_join(struct script *s)
{
    pthread_join(s->thread, NULL);
    close(s->listener);
    if (s->missed)
        fail_msg("%d of %d connections have come in %d ms", s->closed, s->connections, WAIT_MS);
}

void script_wait_closed(struct script *s, int n)
{
    int64_t end = clock_boot_ms() + WAIT_MS;
    while (atomic_load(&s->closed) < n) {
        if (clock_boot_ms() > end)
            fail_msg("the script has not closed %d connections in %d ms", n, WAIT_MS);
        sched_yield();
    }
}

int script_read_request(struct script *s, int fd)
{
    buf_reset(&s->got);
    for (int reads = 1;; reads++) {
        char *room = buf_room(&s->got, 65536);
        ssize_t n = recv(fd, room, 65536, 0);
        if (n <= 0)
            return 0;
        s->got.len += (size_t)n;
        s->got.data[s->got.len] = '\0';
        const char *end = strstr(s->got.data, "\r\n\r\n");
        const char *length = strstr(s->got.data, "Content-Length: ");
        if (end && length &&
            s->got.len >= (size_t)(end + 4 - s->got.data) + strtoul(length + 16, NULL, 10))
            return reads;
    }
}

void script_write(int fd, const char *text)
{
    for (size_t n = strlen(text); n;) {
        ssize_t sent = send(fd, text, n, MSG_NOSIGNAL);
        if (sent < 0)
            return;
        text += sent;
        n -= (size_t)sent;
    }
}

void script_wait_end(struct script *s, int fd)
{
    char waste[4096];
    ssize_t n;
    while ((n = recv(fd, waste, sizeof(waste), 0)) > 0)
        ;
    s->end = n < 0 ? errno : 0;
}
