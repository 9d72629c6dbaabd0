/* SPDX-License-Identifier: Apache-2.0 */
/* notify.h - tell the service manager how this process is, by the protocol of sd_notify(3).
 *
 * A message is one datagram of lines KEY=VALUE to the socket that NOTIFY_SOCKET names. Without that
 * variable nothing is sent. A struct may be used by several threads once it is open. */
#ifndef PEAL_BASE_NOTIFY_H
#define PEAL_BASE_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "base/err.h"
#include "base/why.h"

struct notify {
    int fd; /* -1: there is no manager */
    struct sockaddr_un to;
    socklen_t to_size;
    int64_t watchdog_ms; /* the manager wants a sign of life as often; 0: it does not */
};

/* By NOTIFY_SOCKET (a path, or @name for an abstract one), WATCHDOG_USEC and WATCHDOG_PID. On
 * ERR_INVALID and ERR_IO the process goes on without a manager, and why says what is wrong. */
MUST_CHECK enum err notify_open(struct notify *ret, struct why *why);
void notify_close(struct notify *n);
static inline bool notify_on(const struct notify *n)
{
    return n->fd >= 0;
}

/* Send it if there is room at once; what comes again, or may be lost. Also in a signal handler. */
void notify_send(const struct notify *n, const char *message);
/* Wait for room, some seconds at most: what is said once. */
void notify_send_surely(const struct notify *n, const char *message);
/* "STATUS=text", one line for people; control characters become blanks. */
void notify_status(const struct notify *n, const char *text);

#endif
