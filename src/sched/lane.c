/* SPDX-License-Identifier: Apache-2.0 */
/* lane.c - one executor address: what points to it, and how many calls it may have. */
#include "sched/lane.h"
#include "model/executor.h"
#include "sched/state.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

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

void lane_told_free(struct lane_told *t)
{
    if (t)
        free(t->address);
    free(t);
}

void lane_free(struct lane *lane)
{
    list_remove(&lane->reconcile_node);
    list_remove(&lane->room_node);
    list_remove(&lane->left_node);
    lane_told_free(lane->told);
    free(lane->address);
    free(lane->error);
    free(lane);
}

void lane_put(struct sched *s, struct lane *lane)
{
    if (--lane->refs > 0 || lane->probing || lane->in_flight || lane->querying)
        return; /* the last call's end comes by here again */
    if (!list_empty(&lane->beats))
        return; /* the timer does */
    assert(list_empty(&lane->rounds) && list_empty(&lane->probes) && list_empty(&lane->asked));
    heap_remove(&s->waits, &lane->timer.entry);
    textmap_take(&s->lanes, slice_text(lane->address));
    s->ndead -= lane->dead;
    lane_set_window(s, lane, 0);
    if (lane->told)
        array_push(s->gone, s->ngone, lane->told);
    lane->told = NULL;
    lane_free(lane);
}

void lane_left(struct sched *s, struct lane *lane)
{
    if (lane->nqueue && !list_linked(&lane->left_node))
        list_push(&s->left, &lane->left_node);
}

/* ---- the window ------------------------------------------------------------------------------ */

/* A burst on an executor that answers at once is faster over a few connections than over 64 fresh
 * ones; one that answers slowly gets them soon: the window doubles after each few milliseconds in
 * which fewer answers came than half of that.  (After slow start, RFC 5681.)  More than LANE_FAIR
 * help only where an answer takes a tenth of a second or longer, and all lanes together get no more
 * of them than the center can spare; a lane that does not use them gives them back. */
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

int lane_part(const struct sched *s, int bound)
{
    int n = s->share.living > 1 ? s->share.living : 1, part = (bound + n - 1) / n;
    return n == 1 || part > LANE_LEAST ? part : least(bound, LANE_LEAST);
}

int lane_most(const struct sched *s)
{
    return lane_part(s, s->config.lane_connections);
}

int lane_fair(const struct sched *s)
{
    return lane_part(s, LANE_FAIR);
}

void lane_set_window(struct sched *s, struct lane *lane, int window)
{
    s->spared -= beyond_fair(lane->window);
    lane->window = least(window, lane_most(s));
    s->spared += beyond_fair(lane->window);
}

/* How wide it may be now. */
static int widest(const struct sched *s, const struct lane *lane)
{
    int left = s->config.spare_connections - s->spared + beyond_fair(lane->window);
    return least(lane_most(s), LANE_FAIR + (left > 0 ? left : 0));
}

bool lane_may_widen(const struct sched *s, const struct lane *lane)
{
    return lane->window < widest(s, lane);
}

void lane_widen(struct sched *s, struct lane *lane)
{
    int share = lane->window < lane_fair(s) ? 2 : SLOW_SHARE;
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
    int fair = lane_fair(s), half = lane->window / 2;
    if (lane->window > fair && lane->peak <= half)
        lane_set_window(s, lane, half > fair ? half : fair);
    lane->peak = lane->in_flight;
}

void lanes_narrow(struct sched *s)
{
    void *value;
    for (size_t i = 0; textmap_next(&s->lanes, &i, &value);) {
        struct lane *lane = value;
        lane_set_window(s, lane, lane->window);
    }
}

/* ---- for pages ------------------------------------------------------------------------------- */

#define TOOK_MANY 400 /* answers: then each counts half, and new ones more than old ones */

void lane_note_error(struct lane *lane, struct now now, const struct call_result *c)
{
    bool against =
        c->outcome == CALL_NOT_SENT || c->outcome == CALL_IN_DOUBT || c->outcome == CALL_FOREIGN;
    if (!against)
        return;
    lane->error_ms = now.boot_ms;
    size_t n = c->msg.n ? utf8_cut(c->msg.p, c->msg.n, EXECUTOR_ERROR_MAX) : 0;
    const char *text = n ? c->msg.p : "";
    if (lane->error && strlen(lane->error) == n && memcmp(lane->error, text, n) == 0)
        return; /* a dead address says the same each second */
    free(lane->error);
    lane->error = mem_dupn(text, n);
}

void lane_note_answer(struct lane *lane, int64_t us)
{
    if (us <= 0)
        return;
    lane->took[duration_bucket(us)]++;
    if (++lane->ntook < TOOK_MANY)
        return;
    lane->ntook = 0;
    for (int i = 0; i < DURATION_BUCKETS; i++) {
        lane->took[i] /= 2;
        lane->ntook += lane->took[i];
    }
}

int64_t lane_answer_us(const struct lane *lane, int per_mille)
{
    uint32_t counts[DURATION_BUCKETS];
    for (int i = 0; i < DURATION_BUCKETS; i++)
        counts[i] = lane->took[i];
    return lane->ntook ? duration_at(counts, per_mille) : -1;
}

/* ---- a full client --------------------------------------------------------------------------- */

void lane_rest(struct sched *s, struct now now, struct lane *lane)
{
    s->turned_away = true;
    lane->room = lane->in_flight;
    if (!lane->resting) {
        list_remove(&lane->room_node);
        list_push(&s->resting, &lane->room_node);
        lane->resting = true;
    }
    if (heap_linked(&s->room_timer.entry))
        return;
    s->tries = ROOM_TRIES_MIN;
    heap_add(&s->waits, &s->room_timer.entry, now.boot_ms + ROOM_LOOK_MS);
}
