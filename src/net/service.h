/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - a process under a service manager (systemd): ready, signs of life, stopping.
 *
 * The signs of life come from a timer of the loop that does the work: if an iteration of that loop
 * does not end, they stay away, and the manager kills and restarts the process (WatchdogSec).
 * Without a manager all of this does nothing. */
#ifndef PEAL_NET_SERVICE_H
#define PEAL_NET_SERVICE_H

#include "base/notify.h"
#include "net/loop.h"

#define SERVICE_STATUS_MAX 896 /* with the NUL */

struct service {
    struct notify to;
    struct loop *loop; /* NULL: not watched */
    struct loop_timer timer;
    int64_t every_ms;
    void (*status)(void *arg, char text[SERVICE_STATUS_MAX]);
    void *arg;
    char said[SERVICE_STATUS_MAX];
    _Atomic bool ready;
};

/* Before other threads exist. A manager that cannot be told is a line in the log and no more. */
void service_open(struct service *s);
/* On the loop's thread: from now on a sign of life three times within the time that the manager
 * gives, and the status whenever it has changed. status may be NULL; it does not block. */
void service_watch(struct service *s, struct loop *loop,
                   void (*status)(void *arg, char text[SERVICE_STATUS_MAX]), void *arg);
/* On the same thread, before the loop goes. */
void service_unwatch(struct service *s);
/* Any thread, once: what depends on this process may start. status: for people; NULL where
 * service_watch has one, which it may have told already. */
void service_ready(struct service *s, const char *status);
/* Any thread, in this order: settings are read again, and that is done. Before it is ready nothing
 * is told. */
void service_reloading(const struct service *s);
void service_reloaded(const struct service *s);
/* Any thread, also a signal handler. */
void service_stopping(const struct service *s);
/* After it was unwatched, and when no signal handler can use it any more. */
void service_close(struct service *s);

#endif
