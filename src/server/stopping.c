/* SPDX-License-Identifier: Apache-2.0 */
/* What is planned and has not left stays for the next start, which sends it. Beside Java admins
 * that is not enough: they count on whoever has planned a scheduled time to fire it, and go on with
 * the ones behind it. So a center that stops there first plans nothing more and sends what is
 * planned, for as long as planning looks ahead. A second request to stop ends that wait, a third
 * one the next.
 */
#include "server/stopping.h"
#include "base/clock.h"
#include "base/log.h"
#include "net/loop.h"

#define EMPTY_MS 6000 /* planning looks 5 s ahead */
#define DRAIN_MS 5000 /* calls under way may end when the center stops */
#define ANSWERS_MS 50 /* what clients send into a center that stops is answered */

static void drain(struct center *c)
{
    c->drain_until_ms = clock_boot_ms() + DRAIN_MS;
    c->draining = true;
    sched_drain(c->sched);
    node_leave(c->node);
    if (c->passed) { /* its clients connect to the next process: nothing that they send is cut off
                      */
        c->answers_until_ms = clock_boot_ms() + ANSWERS_MS;
        httpd_last_answers(c->front);
    } else {
        httpd_drain(c->front);
    }
    if (c->tls_front)
        tls_front_drain(c->tls_front, c->passed);
    log_info("center", "stopping: nothing new is sent, calls under way may end within 5 s");
}

static void empty(struct center *c)
{
    c->empty_until_ms = clock_boot_ms() + EMPTY_MS;
    c->draining = true;
    sched_plan_ends(c->sched);
    log_info("center", "stopping: Java admins go on with what this server has not planned; what it "
                       "has planned is sent first, which takes up to 5 s");
}

void stopping_asked(struct center *c)
{
    if (c->stop && c->beside && !c->empty_until_ms)
        empty(c);
    else if (c->stop > c->beside && !c->drain_until_ms)
        drain(c);
    else if (c->stop > 1 + c->beside)
        c->finished = true;
}

void stopping_look(struct center *c)
{
    int64_t now_ms = clock_boot_ms();
    if (c->empty_until_ms && !c->drain_until_ms &&
        (sched_empty(c->sched, center_now()) || now_ms >= c->empty_until_ms))
        drain(c);
    if (!c->drain_until_ms)
        return;
    bool idle = list_empty(&c->calls) && !peers_busy(c->peers) && list_empty(&c->replies) &&
                list_empty(&c->requests) && sched_drained(c->sched) &&
                ((httpd_empty(c->front) && (!c->tls_front || tls_front_empty(c->tls_front))) ||
                 now_ms >= c->answers_until_ms);
    if (!idle && now_ms < c->drain_until_ms)
        return;
    c->finished = true;
    loop_stop(c->loop);
}

int64_t stopping_next(const struct center *c, int64_t boot_ms)
{
    int64_t until_ms = c->drain_until_ms ? c->drain_until_ms : c->empty_until_ms;
    if (until_ms && until_ms < boot_ms)
        boot_ms = until_ms; /* nothing else may happen until then */
    if (c->drain_until_ms && clock_boot_ms() < c->answers_until_ms && c->answers_until_ms < boot_ms)
        boot_ms = c->answers_until_ms;
    return boot_ms;
}
