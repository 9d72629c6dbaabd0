/* SPDX-License-Identifier: Apache-2.0 */
/* board_looks.c - what workers read of the board, with its lock for a millisecond or so. */
#include "live/board_internal.h"
#include "base/clock.h"
#include <stdlib.h>
#include <string.h>

#define NEXT_LOOKS 2000 /* planned runs that one answer looks at */

bool board_wait(struct board *b, int64_t ms)
{
    int64_t until_ms = clock_boot_ms() + ms, left;
    pthread_mutex_lock(&b->lock);
    while (!b->loaded && (left = until_ms - clock_boot_ms()) > 0)
        board_wait_ms(b, left);
    bool loaded = b->loaded;
    pthread_mutex_unlock(&b->lock);
    return loaded;
}

/* The n-th group that is asked for; NULL: there are no more. */
static const struct board_group *asked(const struct board *b, const struct scope *scope, size_t *i)
{
    if (scope_is_all(scope))
        return (*i)++ ? NULL : &b->whole;
    while (*i < scope->n) {
        const struct board_group *g = map_find(&b->groups, (uint64_t)scope->ids[(*i)++]);
        if (g)
            return g;
    }
    return NULL;
}

void board_now(struct board *b, const struct scope *scope, int64_t now_ms, struct board_now *ret)
{
    const struct board_group *g;
    memset(ret, 0, sizeof(*ret));
    pthread_mutex_lock(&b->lock);
    ret->ncauses = failing_top(&b->failing, scope, ret->causes);
    ret->failing = failing_count(&b->failing, scope);
    for (size_t i = 0; (g = asked(b, scope, &i));) {
        ret->late += board_late_count(&g->late, now_ms);
        ret->stuck += g->stuck;
        ret->unknown += g->unknown;
    }
    pthread_mutex_unlock(&b->lock);
}

static void attention_line(struct buf *out, const struct board_group *g, int64_t now_ms)
{
    int64_t late = board_late_count(&g->late_open, now_ms);
    if (!g->id || late || g->stuck || g->unknown)
        buf_printf(out, "%lld %lld %lld %lld\n", (long long)g->id, (long long)late,
                   (long long)g->stuck, (long long)g->unknown);
}

void board_attention(struct board *b, int64_t now_ms, struct buf *out)
{
    void *g;
    pthread_mutex_lock(&b->lock);
    if (b->loaded)
        attention_line(out, &b->whole, now_ms);
    for (size_t i = 0; b->loaded && map_next(&b->groups, &i, &g);)
        attention_line(out, g, now_ms);
    pthread_mutex_unlock(&b->lock);
}

void board_bars(struct board *b, const struct scope *scope, int64_t now_ms, int64_t step_ms, int n,
                struct board_bars *ret)
{
    int64_t from_ms = (now_ms / step_ms - (n - 1)) * step_ms;
    const struct board_group *g;
    *ret = (struct board_bars){ .from_ms = from_ms, .step_ms = step_ms, .n = n };
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; (g = asked(b, scope, &i));) {
        slots_sum(&g->slots, from_ms, step_ms, n, ret->succeeded, ret->failed);
        slots_sum(&g->slots, from_ms - BOARD_WEEK_MS, step_ms, n, ret->previous, ret->previous);
    }
    pthread_mutex_unlock(&b->lock);
}

struct failing_streak *board_streaks(struct board *b, const struct scope *scope, size_t *ret_n)
{
    pthread_mutex_lock(&b->lock);
    struct failing_streak *all = failing_streaks(&b->failing, scope, ret_n);
    pthread_mutex_unlock(&b->lock);
    return all;
}

void board_failing_by_group(struct board *b, const int64_t *groups, size_t n, int64_t *counts)
{
    pthread_mutex_lock(&b->lock);
    failing_by_group(&b->failing, groups, n, counts);
    pthread_mutex_unlock(&b->lock);
}

/* ---- what fires next ------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct board_firing *x = a, *y = b;
    if (x->at_ms != y->at_ms)
        return x->at_ms < y->at_ms ? -1 : 1;
    return (x->job_id > y->job_id) - (x->job_id < y->job_id);
}

/* The shards of a broadcast are one firing. */
static size_t merge(struct board_firing *all, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct board_firing *last = kept ? &all[kept - 1] : NULL;
        if (last && last->at_ms == all[i].at_ms && last->job_id == all[i].job_id)
            last->shards++;
        else
            all[kept++] = all[i];
    }
    return kept;
}

/* Of one second; how many are in all then. */
static size_t collect(const struct board *b, const struct scope *scope, int64_t second,
                      struct board_firing *all, size_t n)
{
    list_each(&b->planned[second % BOARD_SECONDS], node, tmp)
    {
        const struct open_run *r = container_of(node, struct open_run, planned);
        if (n == NEXT_LOOKS)
            break;
        if (r->scheduled_ms / 1000 == second &&
            (scope_is_all(scope) || scope_has(scope, r->group_id)))
            all[n++] = (struct board_firing){ r->scheduled_ms, r->job_id, 1 };
    }
    return n;
}

size_t board_next(struct board *b, const struct scope *scope, int64_t from_ms, size_t max,
                  struct board_firing *ret)
{
    struct board_firing *all = mem_new(NEXT_LOOKS * sizeof(*all));
    size_t n = 0;
    int64_t first = from_ms / 1000;
    pthread_mutex_lock(&b->lock);
    for (int64_t s = first; s < first + BOARD_SECONDS && n < max; s++) {
        size_t found = collect(b, scope, s, all, n);
        qsort(all + n, found - n, sizeof(*all), by_time);
        n += merge(all + n, found - n);
    }
    pthread_mutex_unlock(&b->lock);
    n = n < max ? n : max;
    memcpy(ret, all, n * sizeof(*ret));
    free(all);
    return n;
}
