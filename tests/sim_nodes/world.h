/* SPDX-License-Identifier: Apache-2.0 */
/* world.h - nodes of a cluster, their database and one executor in virtual time.
 *
 * Each node runs the real src/sched/node.c with a driver made of a few lists. The database is a
 * model: rows, row locks, commits that come late, answers that are lost, sessions that die. All
 * chance comes from the seed. check.c decides from rows of the database and from what the executor
 * has seen, and from nothing else. */
#ifndef PEAL_SIM_NODES_WORLD_H
#define PEAL_SIM_NODES_WORLD_H

#include "base/dice.h"
#include "base/heap.h"
#include "base/list.h"
#include "sched/node.h"

#define NODES 5
#define JOBS 6
#define EPOCHS 4096
#define RUNS 8192
#define MINE 4096    /* runs in a node's memory; after an outage of all nodes they are many */
#define SLICE 3      /* runs of one adoption, due rows of one sweep */
#define HORIZON 4000 /* how far ahead a home plans */
#define ROUGH_MS 60000
#define CALM_MS 60000
#define PLANNED_UNTIL_MS (ROUGH_MS + 48000) /* then the jobs are off */

/* ---- the database ---------------------------------------------------------------------------- */

struct epoch_row {
    int node; /* place */
    bool ended, clean;
    int64_t heir, batch;
    int64_t ended_ms; /* true time */
};

struct node_row {
    int64_t epoch, beat, mark_ms, skew_ms;
    int weight;
    bool draining, asked;
};

struct due_line {
    int64_t next_ms, period_ms, home;
    const void *lock;
};

enum run_phase { RUN_PLANNED, RUN_UNKNOWN, RUN_DONE };

struct run_line {
    int job;
    int64_t due_ms, epoch;
    enum run_phase phase;
    const void *lock;
    /* what the executor and the wire have seen */
    bool left; /* sent by a process that looked at its lease and was not paused after it */
    int begun, ended;
    int64_t begun_ms;
};

/* ---- a node ---------------------------------------------------------------------------------- */

enum mine_state { MINE_WAITS, MINE_OUT, MINE_DOUBT };

struct mine { /* a run in a node's memory */
    int run;
    enum mine_state state;
    int64_t ask_ms; /* true time */
    bool over;      /* its end is to be written, or is being written */
};

struct transaction { /* one transaction; several copies of it may be under way, each a batch of its
                        own */
    int64_t epoch, no;
    int64_t plan_ms;                           /* own home, up to here; 0: none */
    struct cluster_action adopt, claim, sweep; /* ticket 0: none */
    struct cluster_action last;
    int ended[MINE], nended, unknown[MINE], nunknown;
    /* what it found in the database, which is known before it commits */
    int jobs[JOBS], njobs, runs[SLICE], nruns;
    int born[256], nborn;
    bool left, more, applied, fenced;
};

struct snode {
    int place;
    bool up, flock;            /* flock: its next process has the same data folder */
    uint32_t gen;              /* of the process: events of another one are dropped */
    int64_t paused_ms, cut_ms; /* true times until which */
    int64_t boot_off, ppm, wall_off;
    int64_t gone_epoch; /* what node.lock says */
    struct cluster *c;
    struct mine mine[MINE];
    int nmine;
    struct transaction *batch; /* under way */
    int64_t no;                /* of the last one that is known to be committed */
    int64_t plan_ms;           /* true time */
    struct cluster_action adopt, claim, sweep, last;
};

struct world {
    uint64_t seed;
    struct dice dice;
    bool trace, calm;
    bool ending; /* nodes that are killed or stopped do not come back */
    int64_t t;
    struct heap events;
    int nnodes, njobs;
    struct snode nodes[NODES];
    struct epoch_row epochs[EPOCHS];
    int64_t nepochs; /* the first has number 1 */
    struct node_row rows[NODES];
    struct due_line due[JOBS];
    struct run_line runs[RUNS];
    int nruns, first_live; /* below first_live all runs are done */
    struct list memory;    /* of operations: freed with the world */
    int64_t db_down_ms;
    int64_t no_beats_ms; /* until then the database answers reads, and takes nothing of the nodes */
    /* figures */
    int64_t sends, stale, adopted, declared, joins, handed, forgotten, fenced, lost_answers;
};

typedef void event_fn(struct world *w, struct snode *n, void *arg);

/* After ms of true time; dropped with the node's process; put off while the node is paused. */
void after(struct world *w, int64_t ms, struct snode *n, event_fn *fn, void *arg);
/* Whatever becomes of the node: it happens elsewhere. n may be NULL. */
void elsewhere(struct world *w, int64_t ms, struct snode *n, event_fn *fn, void *arg);
void say(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void broken(struct world *w, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
int64_t between(struct world *w, int64_t low, int64_t high);

/* Zeroed; lives as long as the world. */
void *world_new(struct world *w, size_t size);
struct now now_of(const struct world *w, const struct snode *n);

/* main.c */
void world_run(struct world *w, int64_t until_ms);
void world_done(struct world *w);

/* node.c */
void node_up(struct world *w, struct snode *n);
void node_kill(struct world *w, struct snode *n);
void node_result(struct world *w, struct snode *n, int run);
void node_pump(struct world *w, struct snode *n);

/* db.c: an operation's answer comes back as an event of the node */
void db_action(struct world *w, struct snode *n, const struct cluster_action *a);
void db_batch(struct world *w, struct snode *n, struct transaction *b);

/* executor: a /run arrives, an ask is answered */
void executor_run(struct world *w, struct snode *n, void *run);

/* check.c */
void check_send(struct world *w, const struct snode *n, int run, bool stale);
void check_adopt(struct world *w, const struct transaction *b, int run, bool waits);
void check_born(struct world *w, int job, int64_t due_ms);
void check_taken_over(struct world *w, int64_t epoch, const char *what);
void check_end(struct world *w);

void play(uint64_t seed, bool trace, struct world *w);

#endif
