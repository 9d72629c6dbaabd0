/* SPDX-License-Identifier: Apache-2.0 */
/* A timer that fires has seen the whole iteration before it end, whatever that had to do: a beat
 * that is due needs no other proof of life. */
#include "net/service.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/log.h"
#include "base/mem.h"

enum { BEATS = 3, STATUS_MS = 5000 };

void service_open(struct service *s)
{
    struct why why = { "" };
    memset(s, 0, sizeof(*s));
    if (notify_open(&s->to, &why))
        log_warn("service", "the service manager is told nothing: %s", why.text);
}

static void tell_status(struct service *s)
{
    char text[SERVICE_STATUS_MAX] = "";
    if (!s->status)
        return;
    s->status(s->arg, text);
    if (strcmp(text, s->said) == 0)
        return;
    memcpy(s->said, text, sizeof(text));
    notify_status(&s->to, text);
}

static void beat(struct loop_timer *t)
{
    struct service *s = container_of(t, struct service, timer);
    if (s->to.watchdog_ms)
        notify_send(&s->to, "WATCHDOG=1");
    tell_status(s);
    loop_timer_set(s->loop, t, loop_now_ms(s->loop) + s->every_ms);
}

void service_watch(struct service *s, struct loop *loop,
                   void (*status)(void *arg, char text[SERVICE_STATUS_MAX]), void *arg)
{
    if (!notify_on(&s->to))
        return;
    s->loop = loop;
    s->status = status;
    s->arg = arg;
    s->timer.fire = beat;
    s->every_ms = STATUS_MS;
    if (s->to.watchdog_ms && s->to.watchdog_ms / BEATS < STATUS_MS)
        s->every_ms = s->to.watchdog_ms / BEATS;
    if (s->every_ms < 1)
        s->every_ms = 1;
    loop_timer_set(loop, &s->timer, loop_now_ms(loop) + s->every_ms);
}

void service_unwatch(struct service *s)
{
    if (s->loop)
        loop_timer_clear(s->loop, &s->timer);
    s->loop = NULL;
}

void service_ready(struct service *s, const char *status)
{
    s->ready = true;
    notify_send_surely(&s->to, "READY=1");
    if (status)
        notify_status(&s->to, status);
}

void service_reloading(const struct service *s)
{
    char text[64];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%lld",
             (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    if (s->ready)
        notify_send_surely(&s->to, text);
}

void service_reloaded(const struct service *s)
{
    if (s->ready)
        notify_send_surely(&s->to, "READY=1");
}

void service_stopping(const struct service *s)
{
    notify_send(&s->to, "STOPPING=1\nSTATUS=stopping");
}

void service_close(struct service *s)
{
    notify_close(&s->to);
}
