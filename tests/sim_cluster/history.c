/* SPDX-License-Identifier: Apache-2.0 */
/* A history: a minute in which everything happens to centers, database and executors, then a calm
 * in which users go on with edits, one center is killed together with its heir, one for good, and
 * one is stopped; at the end every job is stopped and every run has come to its end. */
#include "world.h"
#include <stdio.h>

#define TAKEN_OVER_MS 4500 /* beat 1 s, lease 3 s, a look, a declaration, a batch */
#define HANDED_OVER_MS 1000
#define EDITING_MS 5000
#define AWAY_MS 9000 /* of the two that are killed one after the other */
#define QUIET_MS 240000

/* ---- what happens ---------------------------------------------------------------------------- */

static void kill_one(struct world *w, struct cnode *n)
{
    say(w, "%s is killed", n->name);
    w->kills++;
    node_kill(w, n);
    if (chance(w, 500000))
        n->gone_epoch = 0; /* it comes back with another data folder */
    node_back_in(w, n, between(w, 50, 12000));
}

static void ask_to_drain(struct world *w, struct cnode *n, bool on)
{
    struct why why = { "" };
    if (!n->life)
        return;
    if (w->db->ops->cluster->drain(w->db, n->life->node, on, &why))
        say(w, "the row of %s is held", n->name);
    else
        say(w, "%s is asked %s", n->name, on ? "to drain" : "to go on");
}

static void on_clock_right(struct world *w, struct event *e)
{
    if (!w->calm)
        node_step_clock(w, e->node, between(w, -300, 300));
}

/* By a minute to months, either way, for a while, beside another center whose clock is right: that
 * one is left alone meanwhile, so the database's clock has a witness. */
static bool clock_goes_mad(struct world *w, struct cnode *n, int64_t ms)
{
    static const int64_t steps[] = { 60000, 3600000, 86400000, 40 * INT64_C(86400000) };
    int64_t by = steps[dice_below(&w->dice, countof(steps))] + between(w, -5000, 5000);
    if (w->t < w->db_down_ms || !check_witness(w, n))
        return false;
    w->mad_ms = w->t + (ms < 4000 ? ms : 4000);
    w->mad_clocks++;
    if (chance(w, 300000))
        n->cut_ms = w->t + ms / 2;
    node_step_clock(w, n, chance(w, 500000) ? by : -by);
    elsewhere(w, w->mad_ms - w->t, n, on_clock_right, NULL);
    return true;
}

static void trouble_at_node(struct world *w, struct cnode *n, int64_t ms)
{
    switch (dice_below(&w->dice, 6)) {
    case 0:
        kill_one(w, n);
        return;
    case 1:
        say(w, "%s is stopped for %lld ms", n->name, (long long)ms);
        w->pauses++;
        n->paused_ms = w->t + ms;
        return;
    case 2:
        say(w, "%s is without the database for %lld ms", n->name, (long long)ms);
        n->cut_ms = w->t + ms;
        return;
    case 3:
        node_stop(w, n);
        return;
    case 4:
        ask_to_drain(w, n, chance(w, 500000));
        return;
    default:
        if (chance(w, 500000) && clock_goes_mad(w, n, ms))
            return;
        node_step_clock(w, n, between(w, -2000, 2000));
        if (chance(w, 300000)) /* no beat says what the new clock makes due */
            n->cut_ms = w->t + ms;
    }
}

static void put_apart(struct world *w, int64_t ms)
{
    int a = (int)dice_below(&w->dice, (uint32_t)w->nnodes);
    int b = (int)dice_below(&w->dice, (uint32_t)w->nnodes);
    say(w, "n%d and n%d do not reach each other for %lld ms", a + 1, b + 1, (long long)ms);
    w->apart[a][b] = w->apart[b][a] = w->t + ms;
}

static void trouble(struct world *w)
{
    int64_t ms = between(w, 50, chance(w, 300000) ? 15000 : 3000);
    uint32_t what = dice_below(&w->dice, 11);
    struct cnode *n = &w->nodes[dice_below(&w->dice, (uint32_t)w->nnodes)];
    if (what == 0) {
        say(w, "the database is away for %lld ms", (long long)ms);
        w->db_down_ms = w->t + ms;
    } else if (what == 1) {
        w->db_slow = !w->db_slow;
    } else if (what < 4) {
        exec_crash(w, &w->execs[dice_below(&w->dice, (uint32_t)w->nexecs)]);
    } else if (what == 4) {
        put_apart(w, ms);
    } else if (n->up) {
        trouble_at_node(w, n, ms);
    }
}

static void on_trouble(struct world *w, struct event *e)
{
    (void)e;
    if (w->calm)
        return;
    if (w->t >= w->mad_ms)
        trouble(w);
    elsewhere(w, between(w, 200, 5000), NULL, on_trouble, NULL);
}

/* ---- the calm -------------------------------------------------------------------------------- */

static void calm_down(struct world *w)
{
    say(w, "all is calm");
    w->calm = true;
    w->db_down_ms = w->mad_ms = 0;
    w->db_slow = false;
    w->loss_ppm = w->late_ppm = w->refuse_ppm = 0;
    for (int i = 0; i < w->nnodes; i++) {
        struct cnode *n = &w->nodes[i];
        n->cut_ms = 0;
        node_step_clock(w, n, between(w, -150, 150));
        ask_to_drain(w, n, false);
        node_back_in(w, n, 0);
    }
    for (int i = 0; i < w->nexecs; i++)
        exec_up(w, &w->execs[i]);
}

static int living(const struct world *w)
{
    int n = 0;
    for (int i = 0; i < w->nnodes; i++)
        n += w->nodes[i].sched != NULL;
    return n;
}

static struct cnode *any_living(struct world *w)
{
    for (;;) {
        struct cnode *n = &w->nodes[dice_below(&w->dice, (uint32_t)w->nnodes)];
        if (n->sched)
            return n;
    }
}

static int64_t until_adopted(struct world *w, int64_t epoch, int64_t max_ms, const char *what)
{
    int64_t from_ms = w->t;
    while (check_owns(w, epoch) && w->t < from_ms + max_ms)
        world_run(w, w->t + 10);
    if (check_owns(w, epoch))
        broken(w, "the take-over", "epoch %lld has runs still, %lld ms after %s", (long long)epoch,
               (long long)max_ms, what);
    return w->t - from_ms;
}

static void kill_for_a_while(struct world *w, struct cnode *n)
{
    node_kill(w, n);
    n->gone_epoch = 0; /* its machine is gone: it comes back with another data folder */
    node_back_in(w, n, AWAY_MS);
}

static struct cnode *center_of(struct world *w, int64_t epoch)
{
    for (int i = 0; i < w->nnodes; i++)
        if (w->nodes[i].life && w->nodes[i].life->epoch == epoch)
            return &w->nodes[i];
    return NULL;
}

/* Who ends the epoch of a center that was killed has the first right to its runs, and is killed at
 * that moment. */
static void kill_with_heir(struct world *w)
{
    struct cnode *n = any_living(w), *heir = NULL;
    int64_t epoch = n->life->epoch, end_ms = w->t + TAKEN_OVER_MS;
    say(w, "%s is killed, and its heir will be", n->name);
    users_edit(w, 2 * TAKEN_OVER_MS);
    kill_for_a_while(w, n);
    while (!heir && check_owns(w, epoch) && w->t < end_ms) {
        world_run(w, w->t + 1);
        heir = center_of(w, check_heir(w, epoch));
    }
    if (!heir) { /* it had no runs, or is back already */
        w->edits_until_ms = 0;
        return;
    }
    int64_t its_epoch = heir->life->epoch;
    say(w, "%s, the heir, is killed", heir->name);
    kill_for_a_while(w, heir);
    (void)until_adopted(w, its_epoch, TAKEN_OVER_MS, "the kill of an heir");
    (void)until_adopted(w, epoch, TAKEN_OVER_MS, "the kill of its heir");
    w->edits_until_ms = 0;
    world_run(w, w->t + AWAY_MS + SETTLED_MS / 2);
}

static void kill_for_good(struct world *w)
{
    struct cnode *n = any_living(w);
    int64_t epoch = n->life->epoch;
    say(w, "%s is killed for good", n->name);
    n->for_good = true;
    node_kill(w, n);
    w->takeover_ms = until_adopted(w, epoch, TAKEN_OVER_MS, "a kill");
}

static void stop_for_good(struct world *w)
{
    struct cnode *n = any_living(w);
    int64_t epoch = n->life->epoch;
    n->for_good = true;
    node_stop(w, n);
    while (n->up)
        world_run(w, w->t + 10);
    w->handover_ms = until_adopted(w, epoch, HANDED_OVER_MS, "the end of one that was stopped");
}

/* ---- a seed ---------------------------------------------------------------------------------- */

/* By another program, before all. */
static void database_make(struct world *w)
{
    const struct store_options observer = { .shared = true, .read_only = true },
                               maker = { .shared = true, .node_name = "maker" };
    struct store *s;
    struct why why = { "" };
    w->db = store_memory_new(&observer);
    must(w, store_memory_open(w->db, &maker, &s, &why), &why);
    must(w, s->ops->txn->begin(s, &why), &why);
    for (int i = 0; i < APPS; i++) {
        char app[16];
        snprintf(app, sizeof(app), "app-%d", i);
        struct group_record g = { .app = app, .title = app };
        must(w, s->ops->catalog->group_insert(s, &g, &why), &why);
        w->groups[i] = g.id;
    }
    must(w, s->ops->txn->commit(s, NULL, &why), &why);
    store_close(s);
}

static void make(struct world *w)
{
    database_make(w);
    w->nnodes = (int)between(w, 2, NODES);
    w->loss_ppm = (int)between(w, 0, 2) * 6000;
    w->late_ppm = (int)between(w, 0, 2) * 6000;
    w->refuse_ppm = (int)between(w, 0, 2) * 3000;
    for (int i = 0; i < w->nnodes; i++) {
        struct cnode *n = &w->nodes[i];
        n->w = w;
        n->place = i;
        n->ppm = between(w, -200, 200);
        n->wall_off = between(w, -300, 300);
        snprintf(n->name, sizeof(n->name), "n%d", i + 1);
        node_back_in(w, n, between(w, 0, 3000));
    }
    execs_make(w);
    users_begin(w);
    elsewhere(w, between(w, 5000, 10000), NULL, on_trouble, NULL);
}

static void free_all(struct world *w)
{
    for (int i = 0; i < w->nnodes; i++) {
        w->nodes[i].for_good = true; /* none comes back */
        if (w->nodes[i].up)
            node_kill(w, &w->nodes[i]);
    }
    world_run(w, w->t + 20000); /* what is on its way to the database */
    world_done(w);
    net_done(w);
    execs_done(w);
    check_done(w);
    store_memory_drop(w->db);
}

void play(uint64_t seed, bool trace, struct world *w)
{
    memset(w, 0, sizeof(*w));
    w->seed = seed;
    w->dice.state = seed;
    w->trace = trace;
    heap_init(&w->events);
    map_init(&w->conns);
    map_init(&w->moments);
    map_init(&w->rows);
    make(w);
    world_run(w, ROUGH_MS);
    calm_down(w);
    world_run(w, ROUGH_MS + SETTLED_MS);
    w->settled = true;
    users_edit(w, EDITING_MS);
    world_run(w, w->t + EDITING_MS + 2000);
    w->settled = false;
    if (living(w) > 2)
        kill_with_heir(w);
    if (living(w) > 1)
        kill_for_good(w);
    if (living(w) > 1)
        stop_for_good(w);
    world_run(w, w->t + 3000);
    check_planned(w);
    users_stop_all(w);
    int64_t end_ms = w->t + QUIET_MS;
    do
        world_run(w, w->t + 1000);
    while (w->t < end_ms && !check_quiet(w));
    check_end(w);
    free_all(w);
}
