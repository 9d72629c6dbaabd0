/* SPDX-License-Identifier: Apache-2.0 */
/* A history: a minute in which everything happens to nodes and database, then a calm. In it the
 * database takes no beats for a while, one node is killed, its heir too, and one is stopped; at the
 * end every run has come to its end. */
#include "world.h"
#include <string.h>

#define TAKEN_OVER_MS 4500 /* beat 1 s, lease 3 s, a look, a declaration, a batch */
#define HANDED_MS 1000
#define BEATING_MS 3500 /* after a time without beats: each node has written again */

/* ---- what happens to a node ------------------------------------------------------------------ */

static void back(struct world *w, struct snode *n, void *arg)
{
    (void)arg;
    if (!n->up && (!w->calm || w->t < ROUGH_MS + 2000))
        node_up(w, n);
}

static void kill_one(struct world *w, struct snode *n)
{
    say(w, "node %d is killed", n->place + 1);
    n->flock = dice_chance(&w->dice, 500000);
    node_kill(w, n);
    elsewhere(w, between(w, 50, 12000), n, back, NULL);
}

static void clock_step(struct world *w, struct snode *n)
{
    n->wall_off = between(w, -2000, 2000);
    say(w, "the clock of node %d is off by %lld ms", n->place + 1, (long long)n->wall_off);
}

/* As a machine that was moved: without its network, and with another clock. */
static void cut_off(struct world *w, struct snode *n, int64_t ms)
{
    say(w, "node %d is cut off for %lld ms", n->place + 1, (long long)ms);
    n->cut_ms = w->t + ms;
    if (dice_chance(&w->dice, 300000))
        clock_step(w, n);
}

static void trouble(struct world *w, struct snode *n)
{
    int64_t ms = between(w, 50, dice_chance(&w->dice, 300000) ? 15000 : 3000);
    if (!n->up)
        return;
    switch (dice_below(&w->dice, 7)) {
    case 0:
        kill_one(w, n);
        return;
    case 1:
        say(w, "node %d is paused for %lld ms", n->place + 1, (long long)ms);
        n->paused_ms = w->t + ms;
        return;
    case 2:
        cut_off(w, n, ms);
        return;
    case 3:
        say(w, "node %d is asked to stop", n->place + 1);
        cluster_stop(n->c, now_of(w, n));
        node_pump(w, n);
        return;
    case 4:
        w->rows[n->place].asked = dice_chance(&w->dice, 500000);
        return;
    case 5:
        clock_step(w, n);
        return;
    default:
        say(w, "the database is away for %lld ms", (long long)ms);
        w->db_down_ms = w->t + ms;
    }
}

static void troubles(struct world *w, struct snode *none, void *arg)
{
    (void)none;
    (void)arg;
    if (w->calm)
        return;
    trouble(w, &w->nodes[dice_below(&w->dice, (uint32_t)w->nnodes)]);
    elsewhere(w, between(w, 200, 5000), NULL, troubles, NULL);
}

/* ---- the calm -------------------------------------------------------------------------------- */

static void calm(struct world *w)
{
    w->calm = true;
    w->db_down_ms = 0;
    for (int i = 0; i < w->nnodes; i++) {
        struct snode *n = &w->nodes[i];
        n->cut_ms = n->paused_ms = 0;
        n->wall_off = between(w, -150, 150);
        w->rows[i].asked = false;
        back(w, n, NULL);
    }
    say(w, "all is calm");
}

static int living(const struct world *w)
{
    int n = 0;
    for (int i = 0; i < w->nnodes; i++)
        n += w->nodes[i].up;
    return n;
}

static struct snode *any_living(struct world *w)
{
    for (;;) {
        struct snode *n = &w->nodes[dice_below(&w->dice, (uint32_t)w->nnodes)];
        if (n->up)
            return n;
    }
}

static int64_t end_it(struct world *w, struct snode *n, const char *how)
{
    int64_t epoch = cluster_epoch(n->c);
    say(w, "node %d, epoch %lld, is %s", n->place + 1, (long long)epoch, how);
    if (!epoch)
        broken(w, "node %d has not joined in the calm", n->place + 1);
    return epoch;
}

/* One is killed. As soon as another has ended its epoch that one is killed as well. */
static void kills(struct world *w)
{
    struct snode *n = any_living(w);
    int64_t first = end_it(w, n, "killed for good"), end_ms = w->t + TAKEN_OVER_MS;
    node_kill(w, n);
    while (w->t < end_ms && !w->epochs[first].ended)
        world_run(w, w->t + 1);
    int64_t heir = w->epochs[first].heir;
    n = heir ? &w->nodes[w->epochs[heir].node] : NULL;
    if (living(w) < 2 || !n || !n->up || cluster_epoch(n->c) != heir) {
        world_run(w, end_ms);
        check_taken_over(w, first, "a kill");
        return;
    }
    (void)end_it(w, n, "killed as the heir");
    node_kill(w, n);
    world_run(w, w->t + TAKEN_OVER_MS);
    check_taken_over(w, first, "a kill whose heir is killed");
    check_taken_over(w, heir, "a second kill");
}

/* The database answers reads and takes no beat of any node. Nobody is dead for that. */
static void no_beats(struct world *w)
{
    int64_t declared = w->declared, ms = between(w, 4000, 8000);
    say(w, "the database takes no beats for %lld ms", (long long)ms);
    w->no_beats_ms = w->t + ms;
    world_run(w, w->no_beats_ms + BEATING_MS);
    if (w->declared != declared)
        broken(w, "a node is declared dead whose beat the database did not take");
}

static void stop(struct world *w)
{
    struct snode *n = any_living(w);
    int64_t epoch = end_it(w, n, "stopped");
    cluster_stop(n->c, now_of(w, n));
    node_pump(w, n);
    world_run(w, w->t + HANDED_MS);
    check_taken_over(w, epoch, "a stop");
}

/* ---- a seed ---------------------------------------------------------------------------------- */

static void make(struct world *w)
{
    w->nnodes = (int)between(w, 2, NODES);
    w->njobs = (int)between(w, 1, JOBS);
    for (int i = 0; i < w->nnodes; i++) {
        struct snode *n = &w->nodes[i];
        n->place = i;
        n->ppm = between(w, -200, 200);
        n->wall_off = between(w, -300, 300);
        elsewhere(w, between(w, 0, 3000), n, back, NULL);
    }
    for (int j = 0; j < w->njobs; j++)
        w->due[j] = (struct due_line){ .next_ms = between(w, 500, 3000),
                                       .period_ms = between(w, 150, 2500) };
    elsewhere(w, between(w, 3000, 9000), NULL, troubles, NULL);
}

void play(uint64_t seed, bool trace, struct world *w)
{
    memset(w, 0, sizeof(*w));
    w->seed = seed;
    w->dice.state = seed;
    w->trace = trace;
    heap_init(&w->events);
    list_init(&w->memory);
    make(w);
    world_run(w, ROUGH_MS);
    calm(w);
    world_run(w, ROUGH_MS + 20000);
    no_beats(w);
    w->ending = true;
    if (living(w) > 1)
        kills(w);
    if (living(w) > 1)
        stop(w);
    world_run(w, ROUGH_MS + CALM_MS);
    check_end(w);
    world_done(w);
}
