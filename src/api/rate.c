/* SPDX-License-Identifier: Apache-2.0 */
/* A bucket is in one of a few slots behind its key's own; looking for one costs no more than that,
 * however many ask. */
#include "api/rate.h"
#include "base/map.h"
#include "base/mem.h"

#define PROBES 8
#define ONE 1000 /* a request, in the unit of level */

uint64_t rate_key(const struct rate_table *t, char what, struct slice text)
{
    uint64_t key = hash_u64(hash_text(text) ^ hash_u64(t->secret + (unsigned char)what));
    return key ? key : 1;
}

static int64_t level_now(const struct rate_slot *s, int64_t now_ms)
{
    const int64_t most = (int64_t)s->quota * ONE;
    int64_t since_ms = now_ms - s->at_ms;
    if (since_ms < 0)
        return s->level;
    if (since_ms >= RATE_WINDOW_S * 1000)
        return most;
    int64_t level = s->level + since_ms * s->quota / RATE_WINDOW_S;
    return level < most ? level : most;
}

static struct rate_slot *find(const struct rate_table *t, uint64_t key)
{
    for (uint64_t i = 0; i < PROBES; i++) {
        const struct rate_slot *s = &t->slots[(key + i) % RATE_SLOTS];
        if (s->key == key)
            return (struct rate_slot *)s;
    }
    return NULL;
}

/* Does a make way rather than b? */
static bool sooner(const struct rate_slot *a, const struct rate_slot *b, int64_t now_ms)
{
    if (!a->key || !b->key)
        return !a->key && b->key;
    if (a->kept != b->kept)
        return b->kept;
    int64_t x = level_now(a, now_ms) * b->quota, y = level_now(b, now_ms) * a->quota;
    return x != y ? x > y : a->at_ms < b->at_ms;
}

static struct rate_slot *place(struct rate_table *t, uint64_t key, int quota, int64_t now_ms)
{
    struct rate_slot *best = find(t, key);
    if (!best) {
        best = &t->slots[key % RATE_SLOTS];
        for (uint64_t i = 1; i < PROBES; i++) {
            struct rate_slot *s = &t->slots[(key + i) % RATE_SLOTS];
            if (sooner(s, best, now_ms))
                best = s;
        }
        *best = (struct rate_slot){ key, now_ms, (int64_t)quota * ONE, quota, false };
    }
    if (best->quota != quota)
        *best = (struct rate_slot){ key, now_ms, (int64_t)quota * ONE, quota, best->kept };
    return best;
}

static struct rate_state state_of(const struct rate_slot *s, int64_t now_ms)
{
    const int64_t level = level_now(s, now_ms), most = (int64_t)s->quota * ONE;
    const int64_t per_minute = RATE_WINDOW_S; /* level a millisecond is quota / this */
    struct rate_state x = { .left = (int)(level / ONE) };
    x.full_ms = ((most - level) * per_minute + s->quota - 1) / s->quota;
    if (level < ONE)
        x.wait_ms = ((ONE - level) * per_minute + s->quota - 1) / s->quota;
    return x;
}

bool rate_known(const struct rate_table *t, uint64_t key)
{
    const struct rate_slot *s = find(t, key);
    return s && s->kept;
}

struct rate_state rate_look(const struct rate_table *t, uint64_t key, int quota, int64_t now_ms)
{
    const struct rate_slot *s = find(t, key);
    const struct rate_slot full = { key, now_ms, (int64_t)quota * ONE, quota, false };
    return state_of(s && s->quota == quota ? s : &full, now_ms);
}

bool rate_take(struct rate_table *t, uint64_t key, int quota, int64_t now_ms,
               struct rate_state *ret)
{
    struct rate_slot *s = place(t, key, quota, now_ms);
    int64_t level = level_now(s, now_ms);
    bool there = level >= ONE;
    s->level = there ? level - ONE : level;
    s->at_ms = now_ms;
    *ret = state_of(s, now_ms);
    return there;
}

void rate_keep(struct rate_table *t, uint64_t key, int quota, int64_t now_ms)
{
    place(t, key, quota, now_ms)->kept = true;
}
