/* SPDX-License-Identifier: Apache-2.0 */
/* node.h - this node in a cluster without a leader: its lease, which others live, whose
 * runs to adopt, what to plan.
 *
 * Members share a database and nothing else. The rules, and why they suffice, are told in
 * docs/internals/cluster.md; docs/model/nodes.pml is the searched model. Time and what the database
 * said come in as arguments, actions go out as values. An epoch is one life of a node; it ends
 * once, by one row.
 *
 * The driver's duty: after every call pop all actions, do each, and give its answer back with the
 * action itself, once (an answer to an action of an earlier life is ignored). Call cluster_tick
 * when cluster_next says so. Ask cluster_may_send immediately before a run's first byte can be
 * written. Pure; one thread. */
#ifndef PEAL_SCHED_NODE_H
#define PEAL_SCHED_NODE_H

#include "sched/ended.h"
#include "sched/sched.h"
#include "sched/seen.h"

#define CLUSTER_CLAIM_MS 1500 /* so long before its time every node plans what is not planned */

struct cluster;

struct cluster_config {
    int64_t lease_ms;   /* others end an epoch that was silent for so long; 0: LIFE_LEASE_MS. A node
                           itself stops sending after two thirds of it, and beats each third. */
    int64_t skew_ms;    /* a clock that is further off, and alone with it, is wrong; 0: 1 s */
    int64_t gone_epoch; /* the last life of this node, which is known to be over because this
                          process holds the lock of its data folder; 0: none */
    bool single; /* this node is the only one, which a living epoch's row guarantees: no lease,
                    no look at others. One that is refused stays out: its process ends. */
};

enum cluster_state {
    CLUSTER_OUT,      /* has no epoch: looks, then joins */
    CLUSTER_IN,       /* plans, sends, adopts */
    CLUSTER_DRAINING, /* asked to by its row, while others plan: sends what it has; plans and adopts
                         nothing */
    CLUSTER_LEAVING,  /* nothing leaves any more; the last batch hands its runs over */
    CLUSTER_GONE,     /* asked to stop, and handed over */
};

enum cluster_kind {
    CLUSTER_LOOK,    /* read peal_node and peal_epoch: cluster_rows, cluster_failed */
    CLUSTER_JOIN,    /* a new epoch in one transaction: cluster_joined, cluster_failed */
    CLUSTER_BEAT,    /* one row, on the beat's own connection: cluster_beat */
    CLUSTER_DECLARE, /* end a silent epoch by compare-and-set: cluster_declared, cluster_failed */
    CLUSTER_ADOPT,   /* a slice of an ended epoch's runs, in the writer's batch: cluster_adopted */
    CLUSTER_ORPHANS, /* read which ended epochs still have runs: cluster_orphans, cluster_failed */
    CLUSTER_CLAIM,   /* plan what is due until then in the homes of others: cluster_claimed */
    CLUSTER_SWEEP, /* move due rows of own and of dead homes that belong elsewhere: cluster_swept */
    CLUSTER_HANDOVER, /* the last batch: cluster_handed. */
    CLUSTER_FORGET,   /* the epoch has been ended by others: drop all runs, write nothing. No answer
                       */
    CLUSTER_LEFT,     /* CLUSTER_GONE is reached: the process may exit. No answer */
    CLUSTER_REFUSED,  /* the node's name is in use by a process that lives. No answer */
    CLUSTER_KINDS
};

struct cluster_action {
    enum cluster_kind kind;
    uint64_t ticket;
    int64_t epoch;        /* BEAT: own. DECLARE, ADOPT: of which. JOIN: of the node's row as it was
                             read (0: no row): the row is changed only if it is still so */
    int64_t node;         /* DECLARE, REFUSED: of which */
    int64_t beat;         /* BEAT: the new number. DECLARE: the number to compare with */
    int64_t last;         /* BEAT: the row must have this number or a later one below beat */
    int64_t watermark_ms; /* BEAT: what falls due up to here may be sent once this is written.
                             ADOPT: runs due beyond it were not sent */
    int64_t until_ms;     /* CLAIM: wall clock */
    int64_t skew_ms;      /* BEAT: for the row */
    int weight;           /* BEAT: for the row */
    bool draining;        /* BEAT: for the row */
    bool anew;  /* SWEEP: the homes are others now, all are walked from the first one on */
    bool ends;  /* JOIN: the epoch is ended by it, and the new one is its heir */
    bool clean; /* ADOPT: what is planned was not sent, also not within the watermark */
    bool heir;  /* ADOPT: alone, so a flight recorder of that epoch may be believed */
    bool alone; /* HANDOVER: there is no other node; let sends under way come back first */
};

enum cluster_answer {
    CLUSTER_YES,
    CLUSTER_NO,      /* a compare-and-set that matched no row */
    CLUSTER_UNHEARD, /* no answer: it may have happened or not */
};

struct cluster *cluster_new(const struct cluster_config *config);
void cluster_free(struct cluster *c);

/* ---- time, actions --------------------------------------------------------------------------- */

/* Boot time of the next tick; INT64_MAX while only an answer can move anything. */
int64_t cluster_next(const struct cluster *c);
void cluster_tick(struct cluster *c, struct now now);
/* Something is said to have changed in the database: the next look is due. */
void cluster_look(struct cluster *c, struct now now);
/* The next action; false if there is none. */
bool cluster_pop(struct cluster *c, struct cluster_action *ret);

/* ---- what the database said ------------------------------------------------------------------ */

/* All rows of one read; borrowed. An epoch that was given as living must be given again until it
 * has been given as ended. At most CLUSTER_MAX rows of nodes. */
void cluster_rows(struct cluster *c, struct now now, const struct cluster_action *a,
                  const struct cluster_row *rows, int n);
/* A look, a join, a declaration or a search for orphans failed, or was not heard. */
void cluster_failed(struct cluster *c, struct now now, const struct cluster_action *a);
/* The new epoch is written; also where the store has done that itself, before the first tick: then
 * a is NULL. */
void cluster_joined(struct cluster *c, struct now now, const struct cluster_action *a, int64_t node,
                    int64_t epoch);
/* CLUSTER_NO: the row names another epoch or is dead, or holds a number below a->last (the server
 * has lost commits). The lease counts from the tick that made the action, not from the answer. */
void cluster_beat(struct cluster *c, struct now now, const struct cluster_action *a,
                  enum cluster_answer answer);
/* CLUSTER_YES: this node's compare-and-set has ended the epoch, and named this node's as heir. */
void cluster_declared(struct cluster *c, struct now now, const struct cluster_action *a,
                      enum cluster_answer answer);
/* taken: runs that are ours now. left: the epoch has runs still, also such that another node's open
 * transaction holds: the epoch is looked at again. */
void cluster_adopted(struct cluster *c, struct now now, const struct cluster_action *a,
                     int64_t taken, bool left);
/* Ended epochs that have runs, as rows. */
void cluster_orphans(struct cluster *c, struct now now, const struct cluster_action *a,
                     const struct cluster_row *rows, int n);
void cluster_claimed(struct cluster *c, struct now now, const struct cluster_action *a);
/* more: the slice was full. */
void cluster_swept(struct cluster *c, struct now now, const struct cluster_action *a, bool more);
/* The last batch is committed: the epoch has ended, cleanly. */
void cluster_handed(struct cluster *c, struct now now, const struct cluster_action *a);
/* The database's clock minus this machine's, from any answer whose round trip was short. */
void cluster_clock(struct cluster *c, int64_t offset_ms);
/* This machine's clock has stepped, and the caller goes on by the boot clock (now as well). Nothing
 * is sent until a beat that begins after it has been acknowledged: a machine that was stopped has
 * its clock set when it goes on, and its lease may be over. The epoch stays. */
void cluster_stepped(struct cluster *c, struct now now);
/* Whether the machine's clock is to be followed after that, now that it has been compared with the
 * database's, and a look at the others does not show it to be wrong. True once for each step. */
bool cluster_follow(struct cluster *c);
/* A commit was refused by its fence. */
void cluster_fenced(struct cluster *c, struct now now);

/* ---- what the operator and the core say ------------------------------------------------------ */

void cluster_stop(struct cluster *c, struct now now);
/* How many runs are in memory, and how many may be: a fuller node adopts and plans less. */
void cluster_load(struct cluster *c, struct now now, int64_t live, int64_t live_max);

/* ---- questions ------------------------------------------------------------------------------- */

enum cluster_state cluster_state(const struct cluster *c);
int64_t cluster_node(const struct cluster *c);  /* 0 while out */
int64_t cluster_epoch(const struct cluster *c); /* 0 while out */
/* Whether a run that falls due at due_ms may leave at this instant. */
bool cluster_may_send(const struct cluster *c, struct now now, int64_t due_ms);
/* Whether what the home needs may be planned. */
bool cluster_may_plan(const struct cluster *c);
/* Boot time up to which runs may leave; INT64_MIN: not at all. */
int64_t cluster_lease_ms(const struct cluster *c);
/* What falls due up to here may leave; INT64_MIN: nothing. */
int64_t cluster_watermark_ms(const struct cluster *c);
/* This machine's clock is wrong: more than skew_ms from the database's, with which another living
 * node agrees. */
bool cluster_odd(const struct cluster *c);
/* Whether the job's home is this node, by what was read last. */
int64_t cluster_home(const struct cluster *c, int64_t job_id);
/* All of it, for who plans and sends. */
void cluster_share(const struct cluster *c, struct share *ret);
/* Whether this node does what one node does for all: of those that live it is the one that has been
 * there longest. So a node that joins takes it from nobody, and one that has it has it until it
 * leaves, also while it drains; the next one has it when that life has ended. Only the lease
 * (cluster_lease_ms) says that no other has it now. */
bool cluster_first(const struct cluster *c);

#endif
