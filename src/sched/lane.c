/* SPDX-License-Identifier: Apache-2.0 */
/* lane.c - one executor address: how many calls it may have, whether it lives.
 *
 * An address that refuses a connection is dead until it answers a beat, or says something by
 * itself. A client that has no room for another call says nothing about the address: its lane
 * rests until there is some (room.c). */
#include "sched/state.h"
#include <stdlib.h>

#define PROBE_MS 1000 /* between two beats to a dead address */
#define BEAT_GAP_MS 5 /* between two beats to any: with more dead ones each is asked less often */

struct lane *lane_get(struct sched *s, struct slice address)
{
    struct lane *lane = textmap_find(&s->lanes, address);
    if (!lane) {
        lane = mem_new(sizeof(*lane));
        lane->timer.kind = TIMER_LANE;
        lane->id = ++s->lane_id;
        lane->address = mem_dupn(address.p, address.n);
        lane_narrow(s, lane);
        lane->room = ROOM_ENOUGH;
        list_init(&lane->queue);
        list_init(&lane->queries);
        list_init(&lane->logs);
        list_init(&lane->rounds);
        list_init(&lane->beats);
        list_init(&lane->probes);
        list_init(&lane->asked);
        list_init(&lane->members);
        list_init(&lane->runs);
        textmap_set(&s->lanes, address, lane);
    }
    lane->refs++;
    return lane;
}

void lane_free(struct lane *lane)
{
    probes_free(lane);
    reconcile_free(lane);
    list_remove(&lane->room_node);
    free(lane->address);
    free(lane);
}

void lane_put(struct sched *s, struct lane *lane)
{
    if (--lane->refs > 0 || lane->probing || lane->in_flight || lane->querying)
        return; /* the last call's end comes by here again */
    if (!list_empty(&lane->beats))
        return; /* the timer does */
    heap_remove(&s->waits, &lane->timer.entry);
    textmap_take(&s->lanes, slice_text(lane->address));
    s->ndead -= lane->dead;
    lane_set_window(s, lane, 0);
    lane_free(lane);
}

/* ---- the window ----------------------------------------------------------------------------- */

/* A burst on an executor that answers at once is faster over a few connections than over 64 fresh
 * ones; one that answers slowly gets them soon: the window doubles after each few milliseconds in
 * which fewer answers came than half of that.  (After slow start, RFC 5681.)  More than LANE_FAIR
 * help only where an answer takes a tenth of a second or longer, and all lanes together get no more
 * of them than the center can spare; who does not use them gives them back. */
#define SLOW_SHARE                                                                                 \
    16 /* fewer answers in WIDEN_MS than so much of the window: each takes > 80 ms                 \
        */

static int beyond_fair(int window)
{
    return window > LANE_FAIR ? window - LANE_FAIR : 0;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

void lane_set_window(struct sched *s, struct lane *lane, int window)
{
    s->spared -= beyond_fair(lane->window);
    lane->window = least(window, s->config.lane_connections);
    s->spared += beyond_fair(lane->window);
}

/* How wide it may be now. */
static int widest(const struct sched *s, const struct lane *lane)
{
    int left = s->config.spare_connections - s->spared + beyond_fair(lane->window);
    return least(s->config.lane_connections, LANE_FAIR + (left > 0 ? left : 0));
}

bool lane_may_widen(const struct sched *s, const struct lane *lane)
{
    return lane->window < widest(s, lane);
}

static void widen(struct sched *s, struct lane *lane)
{
    int share = lane->window < LANE_FAIR ? 2 : SLOW_SHARE;
    if (lane->answers < lane->window / share && lane_may_widen(s, lane))
        lane_set_window(s, lane, least(lane->window * 2, widest(s, lane)));
    lane->answers = 0;
}

void lane_narrow(struct sched *s, struct lane *lane)
{
    lane_set_window(s, lane, LANE_WINDOW);
}

void lane_sweep(struct sched *s, struct lane *lane)
{
    if (lane->window > LANE_FAIR && lane->peak <= lane->window / 2) {
        int half = lane->window / 2;
        lane_set_window(s, lane, half > LANE_FAIR ? half : LANE_FAIR);
    }
    lane->peak = lane->in_flight;
}

/* ---- life and death ------------------------------------------------------------------------- */

static void tell_groups(struct sched *s, const struct lane *lane, int dead)
{
    s->ndead += dead;
    list_each(&lane->members, n, tmp)
    {
        struct group *g = container_of(n, struct member, of_lane)->group;
        g->ndead += dead;
        directory_stale(s, g);
    }
}

/* When a dead lane is asked: thousands of them must not be asked at once. */
static int64_t next_beat(struct sched *s, struct now now)
{
    int64_t turn = (int64_t)s->ndead * BEAT_GAP_MS;
    int64_t last = now.boot_ms + (turn > PROBE_MS ? turn : PROBE_MS);
    int64_t at = s->beat_ms + BEAT_GAP_MS;
    if (at < now.boot_ms + PROBE_MS)
        at = now.boot_ms + PROBE_MS;
    if (at > last) /* most of those whose turn it is have come back */
        at = last;
    s->beat_ms = at;
    return at;
}

void lane_dead(struct sched *s, struct now now, struct lane *lane)
{
    if (lane->dead)
        return;
    lane->dead = true;
    lane->dead_ms = now.boot_ms;
    tell_groups(s, lane, 1);
    heap_add(&s->waits, &lane->timer.entry, next_beat(s, now));
}

/* The executor answered. After a silence it may have been another process: its runs are asked
 * about at once. */
void lane_alive(struct sched *s, struct now now, struct lane *lane)
{
    lane->heard_ms = now.boot_ms;
    if (!lane->dead)
        return;
    lane->dead = false;
    lane->alive_ms = now.boot_ms;
    heap_remove(&s->waits, &lane->timer.entry);
    tell_groups(s, lane, -1);
    list_each(&lane->runs, n, tmp)
    {
        struct run *r = container_of(n, struct run, of_lane);
        if ((r->phase == PHASE_ACCEPTED || r->phase == PHASE_UNKNOWN) && !list_linked(&r->place) &&
            !(r->reconcile && r->reconcile->step))
            reconcile_soon(s, now, r, 0);
    }
}

void lane_beat(struct sched *s, struct lane *lane)
{
    if (lane->probing)
        return;
    lane->probing = true;
    lane->ticket = ++s->ticket;
    call_out(s, lane, (struct call){ .kind = CALL_BEAT, .ticket = lane->ticket });
}

void lane_on_beat(struct sched *s, struct now now, const struct call_result *c)
{
    struct lane *lane = textmap_find(&s->lanes, slice_text(c->address));
    if (!lane || !lane->probing || lane->ticket != c->ticket)
        return;
    lane->refs++;
    lane->probing = false;
    if (c->outcome == CALL_ANSWERED)
        lane_alive(s, now, lane);
    else if (c->outcome == CALL_NOT_SENT)
        lane_dead(s, now, lane);
    if (lane->dead && lane->refs > 1)
        heap_add(&s->waits, &lane->timer.entry, next_beat(s, now));
    if (c->outcome == CALL_FULL)
        lane_rest(s, now, lane);
    else
        probe_beaten(s, now, lane, c->outcome == CALL_ANSWERED && c->code == 200);
    lane_put(s, lane);
}

void lane_timer(struct sched *s, struct now now, struct lane *lane)
{
    lane->refs++;
    if (lane->dead) {
        lane_beat(s, lane);
    } else { /* it answers slowly: let more calls stand open */
        widen(s, lane);
        lane_pump(s, now, lane);
    }
    lane_put(s, lane);
}
