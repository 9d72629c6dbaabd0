/* SPDX-License-Identifier: Apache-2.0 */
/* beat.c - whether an address lives.
 *
 * An address that refuses a connection is dead until it answers a beat, or says something by
 * itself. */
#include "sched/beat.h"
#include "sched/group.h"
#include "sched/lane.h"
#include "sched/outbox.h"
#include "sched/run.h"
#include "sched/state.h"

#define PROBE_MS 1000 /* between two beats to a dead address */
#define BEAT_GAP_MS 5 /* between two beats to any: with more dead ones each is asked less often */

static void tell_groups(struct sched *s, const struct lane *lane, int dead)
{
    s->ndead += dead;
    list_each(&lane->members, n, tmp)
    {
        struct group *g = container_of(n, struct member, of_lane)->group;
        g->ndead += dead;
        group_stale(s, g);
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
    if (!lane->up_ms)
        lane->up_ms = now.boot_ms;
    if (!lane->dead)
        return;
    lane->dead = false;
    lane->alive_ms = now.boot_ms;
    lane->up_ms = now.boot_ms;
    heap_remove(&s->waits, &lane->timer.entry);
    tell_groups(s, lane, -1);
    list_each(&lane->runs, n, tmp)
    {
        struct run *r = container_of(n, struct run, of_lane);
        bool out = r->phase == PHASE_ACCEPTED || r->phase == PHASE_UNKNOWN;
        if (out && r->wait != WAIT_ROUND)
            run_wait_ms(s, now, r, 0);
    }
}

/* One that lists it; 0: none does now. */
static int64_t a_group(const struct lane *lane)
{
    struct list_node *n = list_first(&lane->members);
    return n ? container_of(n, struct member, of_lane)->group->id : 0;
}

void lane_beat(struct sched *s, struct lane *lane)
{
    if (lane->probing)
        return;
    lane->probing = true;
    lane->ticket = ++s->ticket;
    call_out(s, lane,
             (struct call){ .kind = CALL_BEAT, .ticket = lane->ticket, .group_id = a_group(lane) });
}

void lane_beaten(struct sched *s, struct now now, struct lane *lane, enum call_outcome outcome)
{
    lane->probing = false;
    if (outcome == CALL_ANSWERED)
        lane_alive(s, now, lane);
    else if (outcome == CALL_NOT_SENT)
        lane_dead(s, now, lane);
    if (lane->dead && lane->refs > 1)
        heap_add(&s->waits, &lane->timer.entry, next_beat(s, now));
}
