/* SPDX-License-Identifier: Apache-2.0 */
#include "support_node.h"

void pop(struct rig *g)
{
    struct cluster_action a;
    while (cluster_pop(g->c, &a)) {
        g->last[a.kind] = a;
        g->count[a.kind]++;
    }
}

/* A tick; a look is answered with the rows, a claim and a sweep at once. */
void step(struct rig *g, int64_t ms)
{
    g->now.boot_ms += ms;
    g->now.wall_ms += ms;
    cluster_tick(g->c, g->now);
    pop(g);
    if (g->count[CLUSTER_LOOK])
        cluster_rows(g->c, g->now, &g->last[CLUSTER_LOOK], g->rows, g->n);
    cluster_claimed(g->c, g->now, &g->last[CLUSTER_CLAIM]);
    cluster_swept(g->c, g->now, &g->last[CLUSTER_SWEEP], false);
    pop(g);
}

void run(struct rig *g, int64_t ms)
{
    for (; ms > 0; ms -= LIFE_LOOK_MS)
        step(g, LIFE_LOOK_MS);
}

void beat(struct rig *g, enum cluster_answer answer)
{
    cluster_beat(g->c, g->now, &g->last[CLUSTER_BEAT], answer);
    pop(g);
}

/* The database takes each beat at once. */
void run_beating(struct rig *g, int64_t ms)
{
    for (; ms > 0; ms -= LIFE_LOOK_MS) {
        step(g, LIFE_LOOK_MS);
        beat(g, CLUSTER_YES);
    }
}

struct cluster_row *row(struct rig *g, int64_t node, int64_t epoch)
{
    struct cluster_row *r = &g->rows[g->n++];
    *r = (struct cluster_row){ .node = node, .epoch = epoch, .weight = HOMES_WEIGHT };
    return r;
}

struct rig rig_out(struct cluster_config config)
{
    struct rig g = { .c = cluster_new(&config), .now = { .wall_ms = WALL, .boot_ms = 5000 } };
    return g;
}

struct rig rig_in(void)
{
    struct rig g = rig_out((struct cluster_config){ 0 });
    cluster_joined(g.c, g.now, NULL, ME, MINE);
    row(&g, ME, MINE);
    step(&g, 0);
    return g;
}

bool sends(const struct rig *g)
{
    return cluster_may_send(g->c, g->now, g->now.wall_ms);
}
