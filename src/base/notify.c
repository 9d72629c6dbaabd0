/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol is documented and promised to stay: sd_notify(3), "Notes". Each datagram carries its
 * address, so a manager that has been replaced behind the same name gets the next one. */
#include "base/notify.h"
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "base/str.h"

static enum err take_address(struct notify *n, const char *name, struct why *why)
{
    size_t size = strlen(name);
    if (name[0] != '/' && name[0] != '@') {
        why_set(why, "NOTIFY_SOCKET must begin with / or @");
        return ERR_INVALID;
    }
    if (size < 2 || size >= sizeof(n->to.sun_path)) {
        why_set(why, "NOTIFY_SOCKET must have 2-%d bytes", (int)sizeof(n->to.sun_path) - 1);
        return ERR_INVALID;
    }
    n->to.sun_family = AF_UNIX;
    memcpy(n->to.sun_path, name, size);
    if (name[0] == '@') /* an abstract name has no NUL at its end */
        n->to.sun_path[0] = '\0';
    n->to_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size + (name[0] == '/'));
    return OK;
}

/* Is it a number in this variable? Absent: 0. */
static bool number_of(const char *name, int64_t *ret)
{
    const char *text = getenv(name);
    *ret = 0;
    return !text || parse_i64(slice_text(text), ret);
}

/* The variables of a watchdog may be meant for the process that started this one. */
static enum err take_watchdog(struct notify *n, struct why *why)
{
    int64_t us, pid;
    if (!number_of("WATCHDOG_USEC", &us) || us < 0) {
        why_set(why, "WATCHDOG_USEC must be a number of microseconds");
        return ERR_INVALID;
    }
    if (!number_of("WATCHDOG_PID", &pid)) {
        why_set(why, "WATCHDOG_PID must be the number of a process");
        return ERR_INVALID;
    }
    if (pid == 0 || pid == getpid())
        n->watchdog_ms = us > 0 && us < 1000 ? 1 : us / 1000;
    return OK;
}

enum err notify_open(struct notify *ret, struct why *why)
{
    const char *name = getenv("NOTIFY_SOCKET");
    struct notify n = { .fd = -1 };
    *ret = n;
    if (!name || !name[0])
        return OK;
    enum err err = take_address(&n, name, why);
    if (!err)
        err = take_watchdog(&n, why);
    if (err)
        return err;
    n.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (n.fd < 0) {
        why_set(why, "there is no socket for NOTIFY_SOCKET: %s", strerror(errno));
        return ERR_IO;
    }
    const struct timeval patience = { .tv_sec = 5 };
    setsockopt(n.fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    *ret = n;
    return OK;
}

void notify_close(struct notify *n)
{
    if (n->fd >= 0)
        close(n->fd);
    n->fd = -1;
}

static void send_with(const struct notify *n, const char *message, int flags)
{
    int before = errno; /* a signal handler's caller still needs it */
    if (n->fd >= 0)
        while (sendto(n->fd, message, strlen(message), MSG_NOSIGNAL | flags,
                      (const struct sockaddr *)&n->to, n->to_size) < 0 &&
               errno == EINTR)
            ;
    errno = before;
}

void notify_send(const struct notify *n, const char *message)
{
    send_with(n, message, MSG_DONTWAIT);
}

void notify_send_surely(const struct notify *n, const char *message)
{
    send_with(n, message, 0);
}

void notify_status(const struct notify *n, const char *text)
{
    char message[1024];
    snprintf(message, sizeof(message), "STATUS=%s", text);
    message[utf8_cut(message, strlen(message), sizeof(message))] = '\0';
    for (char *p = message; *p; p++)
        if ((unsigned char)*p < 0x20)
            *p = ' ';
    notify_send(n, message);
}
