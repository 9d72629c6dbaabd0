/* SPDX-License-Identifier: Apache-2.0 */
/* vitals.c - metrics count since the start of the process; what was counted in the last minute is
 * the difference to what they had counted a minute ago. */
#include "live/vitals.h"
#include "base/clock.h"
#include "base/mem.h"
#include "server/center.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 10000
#define LOOKS 6

struct counted {
    uint64_t lateness[HISTOGRAM_BUCKETS], commit[HISTOGRAM_BUCKETS];
};

struct vitals {
    struct center *center;
    struct loop *web;
    struct loop_timer timer;
    pthread_mutex_t lock; /* for the rest */
    struct counted looks[LOOKS];
    int at; /* the oldest look: the next one takes its place */
};

static void look(struct vitals *v, struct counted *ret)
{
    struct metrics *m = center_metrics(v->center);
    histogram_read(&m->lateness, ret->lateness);
    histogram_read(&m->phase[METRIC_COMMIT], ret->commit);
}

static void on_timer(struct loop_timer *t)
{
    struct vitals *v = container_of(t, struct vitals, timer);
    pthread_mutex_lock(&v->lock);
    look(v, &v->looks[v->at]);
    v->at = (v->at + 1) % LOOKS;
    pthread_mutex_unlock(&v->lock);
    loop_timer_set(v->web, t, loop_now_ms(v->web) + LOOK_MS);
}

struct vitals *vitals_new(struct center *c, struct loop *web)
{
    struct vitals *v = mem_new(sizeof(*v));
    v->center = c;
    v->web = web;
    v->timer.fire = on_timer;
    pthread_mutex_init(&v->lock, NULL);
    loop_timer_set(web, &v->timer, loop_now_ms(web) + LOOK_MS);
    return v;
}

void vitals_free(struct vitals *v)
{
    if (!v)
        return;
    loop_timer_clear(v->web, &v->timer);
    pthread_mutex_destroy(&v->lock);
    free(v);
}

static void read_metrics(const struct metrics *m, struct vitals_now *ret)
{
    int64_t ahead_ms = m->horizon_ms - clock_wall_ms();
    ret->planned = m->totals[TOTAL_PLANNED];
    ret->horizon_ms = ahead_ms > 0 ? ahead_ms : 0;
    ret->in_flight = m->in_flight;
    ret->unknown = m->in_doubt;
    ret->waiting = m->queue_lanes;
    ret->open = m->open;
}

void vitals_read(struct vitals *v, struct vitals_now *ret)
{
    struct counted now, before;
    struct center_health h;
    memset(ret, 0, sizeof(*ret));
    look(v, &now);
    pthread_mutex_lock(&v->lock);
    before = v->looks[v->at];
    pthread_mutex_unlock(&v->lock);
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        now.lateness[i] -= before.lateness[i];
        now.commit[i] -= before.commit[i];
    }
    ret->lateness_p99_ms = histogram_at(now.lateness, 990);
    ret->commit_p99_ms = histogram_at(now.commit, 990);
    read_metrics(center_metrics(v->center), ret);
    center_health(v->center, &h);
    ret->ok = h.store_ok && h.fires && !h.draining;
    memcpy(ret->reason, h.reason, sizeof(ret->reason));
}
