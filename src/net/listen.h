/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h - sockets that listen, and the connections that come of them.
 *
 * Out of descriptors or memory it pauses and tries again by itself: what the kernel has queued
 * meanwhile is accepted then. Not thread-safe: every call on the loop's thread. */
#ifndef PEAL_NET_LISTEN_H
#define PEAL_NET_LISTEN_H

#include <stdint.h>
#include "base/err.h"
#include "base/why.h"
#include "net/loop.h"

struct addr_listen;
struct sockaddr_storage;

#define LISTEN_MAX 8 /* addresses */

/* A connection, non-blocking; fd is the callee's. */
typedef void listen_fn(void *arg, int fd, const struct sockaddr_storage *peer);

struct listen_socket {
    struct loop_fd fd;
    struct listen *set;
};

struct listen { /* embed it; all fields are private but port */
    struct loop *loop;
    listen_fn *accepted;
    void *arg;
    struct listen_socket sockets[LISTEN_MAX];
    int n;
    uint16_t port; /* of the first socket, 0 before */
    struct loop_timer again;
    bool told; /* it is in the log that connections wait */
};

void listen_init(struct listen *l, struct loop *loop, listen_fn *accepted, void *arg);
void listen_done(struct listen *l); /* close the sockets; connections that were accepted stay */

/* Listen there too. ERR_NET or ERR_FULL with the reason in why. */
MUST_CHECK enum err listen_add(struct listen *l, const struct addr_listen *at, struct why *why);
/* Listen on the sockets that this process was started with (LISTEN_FDS and LISTEN_PID, as systemd's
 * socket units pass them). Their backlog outlives the process: connections wait there while it is
 * restarted. *ret_n: how many, 0 if none were passed. Once: the environment is cleared. */
MUST_CHECK enum err listen_inherit(struct listen *l, int *ret_n, struct why *why);

#endif
