/* SPDX-License-Identifier: Apache-2.0 */
/* room.c - lanes whose calls found the client full.
 *
 * A client without a free connection or descriptor says nothing about the address, and is a
 * condition of the whole center. So these lanes wait in one list under one timer. At each look the
 * first few of the list try one call; a lane that is turned away again goes to the end. A look
 * after which no call was turned away doubles how many try at the next one, another halves it: a
 * client that stays full costs a few calls a look, however many lanes wait. A lane that got through
 * may have twice as many calls at each look until its window holds them. (After slow start,
 * RFC 5681.)
 *
 * What a lane has under way it keeps: the next run takes the connection of a call that ended. */
#include "sched/room.h"
#include "sched/beat.h"
#include "sched/lane.h"
#include "sched/probe.h"
#include "sched/reconcile.h"
#include "sched/send.h"
#include "sched/state.h"

#define TRIES_MAX 256 /* of one look: the loop has other work between two looks */

static bool has_work(const struct lane *lane)
{
    return lane->nqueue || !list_empty(&lane->beats) || !list_empty(&lane->probes) ||
           !list_empty(&lane->queries) || !list_empty(&lane->logs);
}

static void pump(struct sched *s, struct now now, struct lane *lane)
{
    lane->refs++;
    if (!list_empty(&lane->beats))
        lane_beat(s, lane);
    lane_pump(s, now, lane);
    probe_pump(s, lane);
    reconcile_pump(s, now, lane);
    lane_put(s, lane);
}

static void got_through(struct sched *s, struct now now, struct lane *lane)
{
    lane->room *= 2;
    if (lane->room < lane->window && has_work(lane))
        list_push(&s->trying, &lane->room_node);
    else
        lane->room = ROOM_ENOUGH;
    pump(s, now, lane);
}

/* False: there is nothing to try with any more. */
static bool try_one(struct sched *s, struct now now, struct lane *lane)
{
    bool works = has_work(lane);
    lane->resting = false;
    lane->room = works ? lane->in_flight + 1 : ROOM_ENOUGH;
    if (works)
        list_push(&s->trying, &lane->room_node);
    pump(s, now, lane); /* without work: the lane may go */
    return works;
}

static int next_tries(const struct sched *s)
{
    int n = s->turned_away ? s->tries / 2 : s->tries * 2;
    return n < ROOM_TRIES_MIN ? ROOM_TRIES_MIN : n > TRIES_MAX ? TRIES_MAX : n;
}

void room_look(struct sched *s, struct now now)
{
    struct list through;
    list_init(&through);
    list_move(&through, &s->trying);
    s->tries = next_tries(s);
    s->turned_away = false;
    for (struct list_node *n; (n = list_pop(&through));)
        got_through(s, now, container_of(n, struct lane, room_node));
    int left = s->tries;
    for (struct list_node *n; left > 0 && (n = list_pop(&s->resting));)
        left -= try_one(s, now, container_of(n, struct lane, room_node));
    if (!list_empty(&s->resting) || !list_empty(&s->trying))
        heap_add(&s->waits, &s->room_timer.entry, now.boot_ms + ROOM_LOOK_MS);
}
