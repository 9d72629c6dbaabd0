/* SPDX-License-Identifier: Apache-2.0 */
/* support_node.h - the rules of one node of a cluster, driven step by step, without a database. */
#ifndef PEAL_TESTS_SUPPORT_NODE_H
#define PEAL_TESTS_SUPPORT_NODE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "model/life.h"
#include "sched/ended.h"
#include "sched/node.h"
#include <string.h>

#define ME 2
#define MINE 20 /* my epoch */
#define OTHER 10
#define WALL 1000000

struct rig {
    struct cluster *c;
    struct now now;
    struct cluster_row rows[8];
    int n;
    struct cluster_action last[CLUSTER_KINDS]; /* the newest of each kind */
    int count[CLUSTER_KINDS];
};

/* All actions that wait, into last and count. */
void pop(struct rig *g);
/* A tick after ms; a look is answered with the rows, a claim and a sweep at once. */
void step(struct rig *g, int64_t ms);
void run(struct rig *g, int64_t ms); /* in steps of LIFE_LOOK_MS */
/* The newest beat is answered. */
void beat(struct rig *g, enum cluster_answer answer);
void run_beating(struct rig *g, int64_t ms); /* the database takes each beat at once */
/* One more row of a life that a look finds. */
struct cluster_row *row(struct rig *g, int64_t node, int64_t epoch);
struct rig rig_out(struct cluster_config config);
struct rig rig_in(void); /* joined as ME, and has looked */
bool sends(const struct rig *g);

#endif
