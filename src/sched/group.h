/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - groups: which addresses they have, their list and their view. */
#ifndef PEAL_SCHED_GROUP_H
#define PEAL_SCHED_GROUP_H

#include "sched/state.h"

struct lane;
struct run;

struct member { /* one place of a group's list */
    struct list_node of_lane;
    struct group *group;
};

struct group {
    int64_t id;
    struct app *app;
    struct list_node of_app, stale; /* stale: in the core's list of those whose list and view are to
                                       be made anew */
    struct list_node to_replan;     /* in the core's: its broadcasts are to be looked at later */
    int64_t relay_from_ms;          /* boot: not earlier, if it is large */
    int address_type;
    struct lane **lanes; /* counted: the list when the view was made; one by hand is always true */
    struct member *members; /* the same places, as their lanes know them */
    int nlanes, ndead;
    uint8_t list_no;             /* goes up with each change of lanes */
    bool relay;                  /* its broadcasts are looked at */
    bool unsure;                 /* its row may list others than the registry has */
    struct group_view *view;     /* the same as the planner's */
    uint64_t view_seq, list_seq; /* batches that view and list went with */
    int view_at, list_at;        /* and where they stand in them */
};

/* The group's list or view has changed: made anew with the next batch, or when it is looked at. */
static inline void group_stale(struct sched *s, struct group *g)
{
    if (!list_linked(&g->stale))
        list_push(&s->stale, &g->stale);
    want_batch(s);
}

struct group *group_of(const struct sched *s, int64_t id);
/* A group's addresses as they are now, whatever its view says: how many, the i-th, where one stands
 * (-1: nowhere), a number that changes with them. */
int group_size(const struct group *g);
struct lane *group_lane(const struct group *g, int i);
int group_place(const struct group *g, const struct lane *lane);
uint8_t group_list_no(const struct group *g);
/* May the run go to its address? It stands in the list of the run's group, a user gave it, or the
 * run is a shard. */
bool group_serves(const struct sched *s, const struct run *r);
/* Runs in the queue of a lane that has left their group's list are routed again. For the end of an
 * entry that may have taken addresses out of lists. */
void groups_left(struct sched *s);
void group_renew(struct sched *s, struct group *g); /* its list and view; not stale any more */
void group_set(struct sched *s, const struct group_record *g);
void group_gone(struct sched *s, int64_t id);
void groups_free(struct sched *s);

#endif
