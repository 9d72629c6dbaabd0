/* SPDX-License-Identifier: Apache-2.0 */
/* broadcast.c - lists and views made anew, and with them the broadcasts of which no shard has left:
 * they are planned again when their group's addresses have changed. */
#include "sched/broadcast.h"
#include "sched/end.h"
#include "sched/group.h"
#include "sched/job.h"
#include "sched/run.h"
#include "sched/state.h"
#include <stdlib.h>
#include <string.h>

#define CHEAP_VIEW 64  /* addresses: such a view is made whenever it is looked at */
#define RELAY_MS 1000  /* broadcasts of a larger group are planned again once in so long */
#define RELAY_ROW_MS 1 /* and later by this for each row */

static bool is_large(const struct group *g)
{
    return group_size(g) > CHEAP_VIEW;
}

static bool unsent_broadcast(const struct run *r)
{
    return r->flags & RUN_BROADCAST && r->kind != KIND_RETRY && !(r->flags & RUN_LEFT) &&
           !run_choices(r) && !run_outdated(r); /* that is withdrawn, as soon as it is looked at */
}

static bool has_left(const struct run *r)
{
    return !run_never_left(r) || r->flags & RUN_LEFT || run_held(r);
}

/* Shards that are gone from memory have left and ended. */
static bool any_shard_left(const struct run *like)
{
    int there = 0;
    list_each(&like->job->runs, n, tmp)
    {
        const struct run *r = container_of(n, struct run, of_job);
        if (!run_same_firing(r, like) || r->flags & RUN_CLOSED)
            continue;
        if (has_left(r))
            return true;
        there++;
    }
    return there < like->shard_total;
}

static void replan(struct sched *s, struct now now, struct run *like)
{
    struct spawn spawn = {
        .job_id = like->job->id,
        .kind = like->kind,
        .scheduled_ms = like->scheduled_ms,
        .due_ms = like->due_ms,
        .cause = like->cause,
        .version = like->version,
        .attempt = like->attempt,
        .retries_left = like->retries_left,
        .param = mem_dup(run_param(like)),
        .hops = like->hops,
        .trace = run_root(like),
    };
    struct live_job *j = like->job;
    struct group *g = group_of(s, j->def->group_id);
    g->relay_from_ms += (int64_t)like->shard_total * RELAY_ROW_MS;
    j->nruns++; /* keeps it while its runs go */
    list_each(&j->runs, n, tmp)
    {
        struct run *r = container_of(n, struct run, of_job);
        if (r->phase == PHASE_PLANNED && run_same_firing(r, like))
            run_forget(s, now, r, PHASE_WITHDRAWN, "the group's addresses changed");
    }
    j->nruns--;
    if (kind_of_schedule(spawn.kind))
        j->anew_seq = s->seq;
    spawn_add(s, now, &spawn);
}

static bool as_many(const struct group_view *v, const struct run *r)
{
    return r->shard_total == (v->n ? v->n : 1);
}

static bool at_its_place(const struct group_view *v, const struct run *r)
{
    if (v->n == 0 && !r->lane)
        return true;
    return r->shard < v->n && r->lane && strcmp(r->lane->address, v->addresses[r->shard]) == 0;
}

/* Is the firing of this unsent shard planned as the group's list stands now? */
static bool as_listed(const struct group_view *v, const struct run *like)
{
    if (!as_many(v, like))
        return false;
    list_each(&like->job->runs, n, tmp)
    {
        const struct run *r = container_of(n, struct run, of_job);
        if (!run_same_firing(r, like) || r->flags & RUN_CLOSED)
            continue;
        if (!at_its_place(v, r))
            return false;
    }
    return true;
}

void broadcast_check(struct sched *s, struct now now, struct run *r)
{
    const struct group *g = group_of(s, r->job->def->group_id);
    if (g && g->view && r->phase == PHASE_PLANNED && !(r->flags & RUN_CLOSED) &&
        unsent_broadcast(r) && !any_shard_left(r) && !as_listed(g->view, r))
        replan(s, now, r);
}

/* A firing has a row for each address. While thousands of them come, go or die one after another,
 * planning it again with each would write millions of rows: the broadcasts of a large group wait,
 * and the sweep looks at them. True: not now. */
static bool put_off(struct sched *s, struct now now, struct group *g)
{
    bool later = is_large(g) && now.boot_ms < g->relay_from_ms;
    if (later && !list_linked(&g->to_replan))
        list_push(&s->to_replan, &g->to_replan);
    return later;
}

/* They are looked at now. */
static void relay_begins(struct now now, struct group *g)
{
    list_remove(&g->to_replan);
    g->relay = true;
    g->relay_from_ms = now.boot_ms + RELAY_MS;
}

void broadcast_entered(struct sched *s, struct now now, struct run *r)
{
    struct group *g = group_of(s, r->job->def->group_id);
    bool first = r->flags & RUN_BROADCAST && r->shard == 0;
    if (g && first && !put_off(s, now, g))
        broadcast_check(s, now, r);
}

/* ---- all firings of a job in one pass ------------------------------------------------------- */

struct firing {
    const struct run *first; /* its shard 0 */
    int there;               /* of its shards */
    bool left;               /* one has, or is held */
    bool listed;             /* all are planned as the group's list stands now */
    bool unsure;             /* another stands under its key: it is looked at by itself */
};

static uint64_t key_of_firing(const struct run *r)
{
    uint64_t h = hash_u64((uint64_t)r->scheduled_ms) ^ (uint64_t)r->kind;
    return hash_u64(h) ^ (uint64_t)r->cause;
}

static void count_shard(const struct map *firings, const struct group_view *v, const struct run *r)
{
    struct firing *f = map_find(firings, key_of_firing(r));
    if (!f || !run_same_firing(r, f->first) || r->flags & RUN_CLOSED)
        return;
    f->there++;
    f->left |= has_left(r);
    f->listed &= at_its_place(v, r);
}

/* Keeps those of a job's firings, by their first shards, that may have to be planned again; returns
 * their number. With thousands of addresses and a minute's firings that wait, to look at each by
 * itself would be many times through all runs of the job, once a second. */
static int keep_unfit(const struct live_job *j, const struct group_view *v, struct run **firsts,
                      int n)
{
    struct firing *firings = mem_new((size_t)(n + 1) * sizeof(*firings));
    struct map by_key;
    map_init(&by_key);
    for (int i = 0; i < n; i++) {
        firings[i] = (struct firing){ .first = firsts[i], .listed = as_many(v, firsts[i]) };
        firings[i].unsure = map_find(&by_key, key_of_firing(firsts[i])) != NULL;
        if (!firings[i].unsure)
            map_set(&by_key, key_of_firing(firsts[i]), &firings[i]);
    }
    list_each(&j->runs, node, tmp) count_shard(&by_key, v, container_of(node, struct run, of_job));
    int kept = 0;
    for (int i = 0; i < n; i++) {
        const struct firing *f = &firings[i];
        bool whole = !f->left && f->there >= f->first->shard_total;
        if (f->unsure || (whole && !f->listed))
            firsts[kept++] = firsts[i];
    }
    map_done(&by_key);
    free(firings);
    return kept;
}

/* Lays the unsent broadcasts anew of all groups that are marked so. */
static void relay(struct sched *s, struct now now)
{
    struct run **runs = NULL;
    int n = 0;
    list_each(&s->broadcasts, node, tmp)
    {
        struct live_job *j = container_of(node, struct live_job, broadcast);
        const struct group *g = group_of(s, j->def->group_id);
        if (!g || !g->relay || !g->view)
            continue;
        int before = n;
        list_each(&j->runs, m, tmp2)
        {
            struct run *r = container_of(m, struct run, of_job);
            if (r->phase == PHASE_PLANNED && r->shard == 0 && unsent_broadcast(r))
                array_push(runs, n, r);
        }
        if (n > before)
            n = before + keep_unfit(j, g->view, runs + before, n - before);
    }
    for (int i = 0; i < n; i++)
        broadcast_check(s, now, runs[i]);
    free(runs);
}

void group_now(struct sched *s, struct now now, struct group *g)
{
    if (list_linked(&g->stale))
        group_renew(s, g);
    if (!s->started || put_off(s, now, g))
        return;
    relay_begins(now, g);
    relay(s, now);
    g->relay = false;
}

void group_freshen(struct sched *s, struct now now, struct group *g)
{
    if (list_linked(&g->stale) && (group_size(g) <= CHEAP_VIEW || g->view_seq != s->seq))
        group_now(s, now, g);
}

void groups_refresh(struct sched *s, struct now now)
{
    struct list made;
    list_init(&made);
    for (struct list_node *n; (n = list_first(&s->stale));) {
        struct group *g = container_of(n, struct group, stale);
        group_renew(s, g);
        if (s->started && !put_off(s, now, g))
            relay_begins(now, g);
        list_push(&made, n);
    }
    if (list_empty(&made))
        return;
    if (s->started)
        relay(s, now);
    for (struct list_node *n; (n = list_pop(&made));)
        container_of(n, struct group, stale)->relay = false;
}

void broadcast_sweep(struct sched *s, struct now now)
{
    list_each(&s->to_replan, n, tmp)
    {
        struct group *g = container_of(n, struct group, to_replan);
        if (!is_large(g) || now.boot_ms >= g->relay_from_ms)
            group_now(s, now, g);
    }
}
