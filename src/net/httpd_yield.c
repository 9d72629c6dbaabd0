/* SPDX-License-Identifier: Apache-2.0 */
/* httpd_yield.c - which connection of a front that is full gives its place to a new one: a flood
 * competes with itself, because the source with the most yields first. */
#include "base/mem.h"
#include "net/httpd_conn.h"

enum {
    YIELD_IDLE_MS = 1000, /* a proved connection idle for so long yields to a new one when full */
    YIELD_LOOK = 64,      /* connections, or sources, that are looked at for one that can yield */
};

/* Of one source, the connection that has completed no request for the longest time. */
static struct conn *slowest_of(const struct source *s)
{
    int looks = 0;
    list_each(&s->unproved, n, tmp)
    {
        struct conn *c = container_of(n, struct conn, mine);
        if (c->state != OPEN)
            return c;
        if (++looks == YIELD_LOOK)
            break;
    }
    return NULL;
}

struct conn *httpd_unproved_one(struct httpd *h, bool known)
{
    struct source *s;
    for (int i = 0; i < YIELD_LOOK && (s = sources_largest(&h->sources, known, i)); i++) {
        struct conn *c = slowest_of(s);
        if (c)
            return c;
    }
    return NULL;
}

struct conn *httpd_idle_one(struct httpd *h)
{
    int64_t before = loop_now_ms(h->loop) + h->timeout_ms[WAIT_IDLE] - YIELD_IDLE_MS;
    int looks = 0;
    list_each(&h->conns, n, tmp)
    {
        struct conn *c = container_of(n, struct conn, node);
        if (c->state == READING && c->wait == WAIT_IDLE && !c->in.len && c->timer.due_ms <= before)
            return c;
        if (++looks == YIELD_LOOK)
            break;
    }
    return NULL;
}

/* Bytes a second since the body began. */
static uint64_t body_speed(const struct conn *c)
{
    int64_t ms = loop_now_ms(c->h->loop) - c->body_ms;
    return c->reader.body_total * 1000 / (uint64_t)(ms > 0 ? ms : 1);
}

struct conn *httpd_slowest_body(struct httpd *h, int64_t min_ms, size_t min_bytes)
{
    struct conn *slowest = NULL;
    list_each(&h->large, n, tmp)
    {
        struct conn *c = container_of(n, struct conn, large);
        if (c->state != READING || c->reader.phase != HTTP_IN_BODY ||
            loop_now_ms(h->loop) - c->body_ms < min_ms || c->source->large < min_bytes)
            continue;
        if (!slowest || body_speed(c) < body_speed(slowest))
            slowest = c;
    }
    return slowest;
}

size_t httpd_largest_share(const struct httpd *h)
{
    size_t most = 0;
    list_each(&h->large, n, tmp)
    {
        const struct source *s = container_of(n, struct conn, large)->source;
        if (s->large > most)
            most = s->large;
    }
    return most;
}
