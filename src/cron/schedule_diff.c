/* SPDX-License-Identifier: Apache-2.0 */
/* Both sequences are walked at once. What only one of them has waits until a time that both have,
 * or the end: then the first that vanished and the first that appeared are one that has moved. */
#include "cron/schedule_diff.h"

enum { WAITING_MAX = 256 };

struct waiting {
    int64_t at[WAITING_MAX];
    int n;
};

struct walk {
    struct waiting gone, new;
    schedule_diff_fn *fn;
    void *ctx;
    struct schedule_diff *diff;
};

static void tell(struct walk *w, enum schedule_change change, int64_t from_ms, int64_t to_ms)
{
    w->diff->n[change]++;
    w->fn(w->ctx, change, from_ms, to_ms);
}

static void settle(struct walk *w)
{
    int both = w->gone.n < w->new.n ? w->gone.n : w->new.n;
    for (int i = 0; i < both; i++)
        tell(w, CHANGE_MOVE, w->gone.at[i], w->new.at[i]);
    for (int i = both; i < w->gone.n; i++)
        tell(w, CHANGE_VANISH, w->gone.at[i], 0);
    for (int i = both; i < w->new.n; i++)
        tell(w, CHANGE_APPEAR, 0, w->new.at[i]);
    w->gone.n = w->new.n = 0;
}

static void wait_for(struct walk *w, struct waiting *to, int64_t ms)
{
    if (to->n == WAITING_MAX)
        settle(w);
    to->at[to->n++] = ms;
}

static int64_t first_of(struct schedule_side side)
{
    return side.schedule && side.schedule->type != SCHEDULE_NONE ? side.first_ms : INT64_MAX;
}

static int64_t next_of(struct schedule_side side, int64_t ms)
{
    return schedule_next(side.schedule, ms, &ms) ? INT64_MAX : ms;
}

void schedule_diff(struct schedule_side before, struct schedule_side after, int64_t until_ms,
                   schedule_diff_fn *fn, void *ctx, struct schedule_diff *ret)
{
    struct walk w = { .fn = fn, .ctx = ctx, .diff = ret };
    int64_t a = first_of(before), b = first_of(after);
    *ret = (struct schedule_diff){ .until_ms = until_ms };
    for (int look = 0; a < until_ms || b < until_ms; look++) {
        int64_t at = a < b ? a : b;
        if (look == SCHEDULE_DIFF_LOOK) {
            ret->until_ms = at;
            break;
        }
        if (a == b)
            settle(&w);
        else
            wait_for(&w, a < b ? &w.gone : &w.new, at);
        if (a == at)
            a = next_of(before, at);
        if (b == at)
            b = next_of(after, at);
    }
    settle(&w);
}
