/* SPDX-License-Identifier: Apache-2.0 */
/* seen.h - the nodes of a cluster as the last look at the database showed them, and for how long
 * each has been silent. Pure; owned by its cluster. */
#ifndef PEAL_SCHED_SEEN_H
#define PEAL_SCHED_SEEN_H

#include "model/life.h"
#include "sched/homes.h"

#define CLUSTER_MAX HOMES_MAX

/* An epoch that has not ended; or one that has, as long as runs of it may be left; or a node that
 * has no epoch (0). */
struct cluster_row {
    int64_t node, epoch, beat, watermark_ms;
    int64_t heir;    /* epoch that adopts alone at first; 0: none */
    int64_t skew_ms; /* the database's clock minus the node's */
    int weight;      /* 1..HOMES_WEIGHT */
    bool ended, clean;
    bool draining; /* it plans nothing any more: it stops, or it drains */
    bool asked;    /* an operator wants it to drain */
    bool namesake; /* has this node's name */
};

struct seen {
    struct cluster_row rows[CLUSTER_MAX]; /* a node each, sorted; of several epochs the newest */
    int n;
    int64_t newest;                         /* epoch */
    struct life_watch watches[CLUSTER_MAX]; /* a living one each, found by epoch */
    int nwatches;
    bool waits;        /* this node's beat has not been taken since: */
    int64_t waits_ms;  /* boot clock */
    int64_t missed_ms; /* how long that was the case before, in all */
};

bool seen_living(const struct cluster_row *r);
/* Another look begins: rows go, watches stay until seen_silent. */
void seen_begin(struct seen *s);
void seen_put(struct seen *s, const struct cluster_row *r);
/* The row that has this node's name; NULL if there is none. */
const struct cluster_row *seen_namesake(const struct seen *s);
/* Whether the epoch has not ended; true as well if it is newer than the last look. */
bool seen_lives(const struct seen *s, int64_t epoch);
/* Whether no node but the one of this epoch lives that would take runs. */
bool seen_alone(const struct seen *s, int64_t epoch);
/* Whether the node of this epoch is to drain: it was asked to, and another node lives that plans
 * and was not. */
bool seen_drains(const struct seen *s, int64_t epoch);
/* Whether another living node's clock is within skew_ms of the database's. */
bool seen_agrees(const struct seen *s, int64_t epoch, int64_t skew_ms);
/* This node sends a beat; the database has taken one, or this node has no life any more. What lies
 * between the first beat of a row that were not taken and the next one that is counts as silence of
 * no other node: a database that does not take this node's beat may not take theirs. */
void seen_beat_sent(struct seen *s, int64_t boot_ms);
void seen_beat_over(struct seen *s, int64_t boot_ms);
/* After all rows: watch each living node but the one of this epoch. One that has been silent for
 * lease_ms; NULL if there is none. */
const struct cluster_row *seen_silent(struct seen *s, int64_t epoch, int64_t boot_ms,
                                      int64_t lease_ms);

#endif
