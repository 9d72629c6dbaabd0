/* SPDX-License-Identifier: Apache-2.0 */
/* homes.h - which node of a cluster plans which job.
 *
 * The home of a job is a preference: routing state, planner's cache and the runs of a job stay in
 * one memory. Nodes that disagree for a while about who lives do no harm, because a due row is
 * planned under its lock. Rendezvous hashing (D. Thaler, C. Ravishankar, IEEE/ACM Transactions on
 * Networking 6, 1998): of N nodes, one that comes or goes moves 1/N of the jobs. Pure. */
#ifndef PEAL_SCHED_HOMES_H
#define PEAL_SCHED_HOMES_H

#include <stdbool.h>
#include <stdint.h>

#define HOMES_WEIGHT 4 /* of a node with an empty memory; a full one has 1 */

#define HOMES_MAX 64 /* nodes of a cluster; a driver refuses to join as one more */

struct home {
    int64_t node;
    int weight; /* 1..HOMES_WEIGHT: a node gets jobs in proportion to it */
};

struct share {                    /* what a node knows of all of them */
    int64_t node;                 /* this one */
    struct home homes[HOMES_MAX]; /* of those that plan; sorted by node */
    int n;
    int living; /* that may send, this one included */
};

/* The node that plans the job; 0 if there is none, which is a home that every node looks after.
 * The order of homes does not count. */
int64_t home_of(int64_t job_id, const struct home *homes, int n);
/* Weight of a node that holds live of live_max runs. */
int home_weight(int64_t live, int64_t live_max);
/* Whether jobs have their home at that node. */
bool homes_have(const struct share *s, int64_t node);
/* Whether two lists, both sorted by node, give every job the same home. */
bool homes_same(const struct home *a, int na, const struct home *b, int nb);

#endif
