/* SPDX-License-Identifier: Apache-2.0 */
/* executors.c - addresses as pages show them.
 *
 * A page is a walk over all lanes that keeps the first few by address: there are thousands of them
 * at most, and the walk reads what each lane counts anyhow. Which groups an address is of says its
 * place in their lists: one that has registered just now has none until the next batch. One that
 * has left all of them is of the groups whose runs it still works on. */
#include "sched/executors.h"
#include "sched/beat.h"
#include "sched/group.h"
#include "sched/lane.h"
#include "sched/run.h"
#include "sched/state.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- one address ----------------------------------------------------------------------------- */

/* Lists by registry, which follow with a batch, do not count. */
static bool by_hand(const struct lane *lane)
{
    list_each(&lane->members, n, tmp)
    {
        if (container_of(n, struct member, of_lane)->group->address_type != 0)
            return true;
    }
    return false;
}

static bool is_draining(const struct lane *lane)
{
    return lane->left_ms && !lane->registered && !list_empty(&lane->runs) && !by_hand(lane);
}

static enum executor_state state_of(const struct lane *lane, struct now now)
{
    if (is_draining(lane))
        return EXECUTOR_DRAINING;
    if (lane->dead)
        return EXECUTOR_REFUSING;
    bool silent = lane->registered && now.boot_ms - lane->beat_ms >= EXECUTOR_SILENT_MS;
    return silent ? EXECUTOR_SILENT : EXECUTOR_UP;
}

static int64_t wall_of(struct now now, int64_t boot_ms)
{
    return boot_ms ? now.wall_ms - (now.boot_ms - boot_ms) : -1;
}

static int64_t since(const struct lane *lane, enum executor_state state)
{
    switch (state) {
    case EXECUTOR_REFUSING:
        return lane->dead_ms;
    case EXECUTOR_SILENT:
        return lane->beat_ms + EXECUTOR_SILENT_MS;
    case EXECUTOR_DRAINING:
        return lane->left_ms;
    default:
        return lane->up_ms;
    }
}

/* ---- its groups ------------------------------------------------------------------------------ */

struct seen { /* ids of groups */
    int64_t ids[EXECUTOR_GROUPS_MAX];
    size_t n;
};

static void see(struct seen *to, const struct scope *scope, int64_t id)
{
    if (to->n < EXECUTOR_GROUPS_MAX && scope_has(scope, id)) {
        to->ids[to->n++] = id;
        to->n = scope_sort(to->ids, to->n);
    }
}

static void groups_seen(const struct lane *lane, const struct scope *scope, struct seen *ret)
{
    ret->n = 0;
    list_each(&lane->members, n, tmp)
    {
        const struct group *g = container_of(n, struct member, of_lane)->group;
        if (group_place(g, lane) >= 0)
            see(ret, scope, g->id);
    }
    if (!is_draining(lane))
        return;
    int looks = EXECUTOR_GROUPS_MAX;
    list_each(&lane->runs, n, tmp)
    {
        if (looks-- == 0)
            break;
        see(ret, scope, run_group(container_of(n, struct run, of_lane)));
    }
}

/* An address of no group is seen by those who see everything. */
static bool is_wanted(const struct lane *lane, struct now now, const struct executors_filter *f,
                      struct seen *ret)
{
    if (!lane->registered && !by_hand(lane) && !is_draining(lane))
        return false; /* of runs only: a user gave it, or it has gone */
    if (f->states && !(f->states & 1u << state_of(lane, now)))
        return false;
    groups_seen(lane, f->scope, ret);
    if (ret->n == 0 && (f->groups || !scope_is_all(f->scope)))
        return false;
    for (size_t i = 0; f->groups && i < ret->n; i++)
        if (scope_has(f->groups, ret->ids[i]))
            return true;
    return !f->groups;
}

/* ---- a page ---------------------------------------------------------------------------------- */

struct page {
    const struct lane **lanes; /* by address; room for one more than max */
    int n, max;
};

static void keep(struct page *p, const struct lane *lane)
{
    int i = p->n;
    for (; i > 0 && strcmp(lane->address, p->lanes[i - 1]->address) < 0; i--)
        p->lanes[i] = p->lanes[i - 1];
    p->lanes[i] = lane;
    if (p->n < p->max)
        p->n++;
}

static void tell(const struct sched *s, struct now now, const struct lane *lane,
                 struct seen *groups, sched_executor_fn *fn, void *ctx)
{
    struct executor_view v = {
        .address = lane->address,
        .error = lane->error,
        .state = state_of(lane, now),
        .registered = lane->registered > 0 || is_draining(lane),
        .listed = by_hand(lane),
        .ours = lane->ours,
        .waiting = lane->nqueue,
        .in_flight = lane->in_flight,
        .window = lane->window,
        .window_max = lane_most(s),
        .accepted = lane->accepted,
        .unknown = lane->unknown,
        .beat_age_ms = lane->registered ? now.boot_ms - lane->beat_ms : -1,
        .error_ms = wall_of(now, lane->error_ms),
        .answer_p95_us = lane_answer_us(lane, 950),
        .groups = groups->ids,
        .ngroups = groups->n,
    };
    v.since_ms = wall_of(now, since(lane, v.state));
    fn(ctx, &v);
}

int executors_each(const struct sched *s, struct now now, const struct executors_filter *f,
                   sched_executor_fn *fn, void *ctx)
{
    struct page page = { mem_new(((size_t)f->limit + 1) * sizeof(*page.lanes)), 0, f->limit };
    struct seen groups;
    int total = 0;
    void *value;
    for (size_t i = 0; textmap_next(&s->lanes, &i, &value);) {
        const struct lane *lane = value;
        if (f->only && strcmp(f->only, lane->address) != 0)
            continue;
        if (!is_wanted(lane, now, f, &groups))
            continue;
        total++;
        if (!f->after || strcmp(f->after, lane->address) < 0)
            keep(&page, lane);
    }
    for (int i = 0; i < page.n; i++) {
        groups_seen(page.lanes[i], f->scope, &groups);
        tell(s, now, page.lanes[i], &groups, fn, ctx);
    }
    free(page.lanes);
    return total;
}

/* ---- what has changed -------------------------------------------------------------------------
 */

static bool same_told(const struct lane_told *t, enum executor_state state,
                      const struct seen *groups)
{
    return t->state == state && t->ngroups == groups->n &&
           (!groups->n || memcmp(t->groups, groups->ids, groups->n * sizeof(*groups->ids)) == 0);
}

static struct lane_told *told_new(const struct lane *lane, enum executor_state state,
                                  const struct seen *groups)
{
    struct lane_told *t = mem_new(sizeof(*t) + groups->n * sizeof(*t->groups));
    t->address = mem_dup(lane->address);
    t->state = state;
    t->ngroups = groups->n;
    if (groups->n)
        memcpy(t->groups, groups->ids, groups->n * sizeof(*t->groups));
    return t;
}

/* Told to those who see its groups, and to those who saw the groups that it had. One of the two may
 * be NULL. */
static void tell_change(const struct lane_told *was, const struct lane_told *is, sched_seen_fn *fn,
                        void *ctx)
{
    assert(was || is);
    const struct lane_told *both[] = { was, is };
    int64_t ids[2 * EXECUTOR_GROUPS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < countof(both); i++) {
        if (both[i] && both[i]->ngroups)
            memcpy(ids + n, both[i]->groups, both[i]->ngroups * sizeof(*ids));
        n += both[i] ? both[i]->ngroups : 0;
    }
    const struct executor_seen e = { .address = (is ? is : was)->address,
                                     .state = is ? is->state : EXECUTOR_STATES,
                                     .groups = ids,
                                     .ngroups = scope_sort(ids, n) };
    fn(ctx, &e);
}

static void look_at(struct lane *lane, struct now now, bool anew, sched_seen_fn *fn, void *ctx)
{
    static const struct executors_filter all = { 0 };
    struct seen groups;
    struct lane_told *was = lane->told;
    bool there = is_wanted(lane, now, &all, &groups);
    enum executor_state state = there ? state_of(lane, now) : EXECUTOR_STATES;
    if (was ? there && same_told(was, state, &groups) : !there)
        return;
    lane->told = there ? told_new(lane, state, &groups) : NULL;
    if (!anew)
        tell_change(was, lane->told, fn, ctx);
    lane_told_free(was);
}

void executors_unseen(struct sched *s)
{
    while (s->ngone)
        lane_told_free(s->gone[--s->ngone]);
    free(s->gone);
    s->gone = NULL;
}

void executors_seen(struct sched *s, struct now now, bool anew, sched_seen_fn *fn, void *ctx)
{
    void *value;
    for (size_t i = 0; i < s->ngone && !anew; i++)
        tell_change(s->gone[i], NULL, fn, ctx);
    executors_unseen(s);
    for (size_t i = 0; textmap_next(&s->lanes, &i, &value);)
        look_at(value, now, anew, fn, ctx);
}

/* ---- what it works on -------------------------------------------------------------------------
 */

#define BUSY_LOOKS 2000 /* runs that one answer looks at */

int executors_busy(const struct sched *s, const char *address,
                   struct sched_busy ret[SCHED_BUSY_MAX])
{
    const struct lane *lane = textmap_find(&s->lanes, slice_text(address));
    int n = 0, looks = BUSY_LOOKS;
    if (!lane)
        return 0;
    list_each(&lane->runs, node, tmp)
    {
        const struct run *r = container_of(node, struct run, of_lane);
        if (looks-- == 0 || n == SCHED_BUSY_MAX)
            break;
        if (r->phase != PHASE_ACCEPTED && r->phase != PHASE_UNKNOWN)
            continue;
        int i = 0;
        while (i < n && ret[i].job_id != r->job->id)
            i++;
        if (i == n)
            ret[n++] = (struct sched_busy){ r->job->id, run_group(r) };
    }
    return n;
}

bool sched_lane_out(const struct sched *s, struct slice address, struct lane_out *ret)
{
    const struct lane *lane = textmap_find(&s->lanes, address);
    if (lane)
        *ret = (struct lane_out){ .waiting = lane->nqueue,
                                  .in_flight = lane->in_flight,
                                  .window = lane->window,
                                  .accepted = lane->accepted,
                                  .unknown = lane->unknown };
    return lane;
}

/* ---- a user's probe -------------------------------------------------------------------------- */

void executors_probed(struct sched *s, struct now now, const struct call_result *c)
{
    struct lane *lane = textmap_find(&s->lanes, slice_text(c->address));
    if (!lane)
        return;
    lane->refs++;
    lane_note_error(lane, now, c);
    if (c->outcome == CALL_ANSWERED)
        lane_alive(s, now, lane);
    else if (c->outcome == CALL_NOT_SENT)
        lane_dead(s, now, lane);
    lane_put(s, lane);
}
