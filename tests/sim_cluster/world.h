/* SPDX-License-Identifier: Apache-2.0 */
/* world.h - two to five whole centers on one database, with executors and users, in virtual time.
 *
 * Each center is the real one: src/sched with src/sched/node.c, src/ledger, and of src/server what
 * reads the inbox and the news. The database is the store in memory, which several handles share;
 * db.c makes commits late, loses their answers and ends sessions. All chance comes from the seed.
 * check*.c decide from what executors and users have seen and from the tables, and from nothing
 * else (docs/internals/sim.md). */
#ifndef PEAL_SIM_CLUSTER_WORLD_H
#define PEAL_SIM_CLUSTER_WORLD_H

#include "base/dice.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/mem.h"
#include "ledger/txn.h"
#include "model/life.h"
#include "sched/node.h"
#include "sched/sched.h"
#include "server/inbox.h"
#include "server/news.h"
#include "store/memory/memory.h"
#include "store/store.h"
#include <stdlib.h>
#include <string.h>

#define NODES 5
#define EXECS 4
#define APPS 2
#define JOBS 64      /* that run at an executor */
#define JOB_IDS 4096 /* transactions that are rolled back use some up */
#define UNTOUCHED 3  /* the first jobs, which no user changes, and their description: */
#define NOT_CHANGED "untouched"
#define RESULTS 10       /* of one callback */
#define ROUGH_MS 60000   /* everything may happen */
#define SETTLED_MS 20000 /* after that, of calm: every node is in, and has what it shall have */
#define EPOCH_MS 1760000000000 /* the true time at the beginning of a seed */

struct world;
struct cnode;
struct event;
typedef void event_fn(struct world *w, struct event *e);

struct event {
    struct heap_entry in_heap;
    struct cnode *node; /* NULL: of nobody's process */
    uint32_t gen;       /* of the process that it is for; 0: it happens whatever becomes of it */
    event_fn *fn;
    void *p; /* freed with the event unless fn clears it */
    int64_t a, b;
};

/* ---- executors ------------------------------------------------------------------------------- */

struct exec_job { /* a job's thread at an executor */
    int64_t id;
    int64_t queue[32];
    int nqueue;
    int64_t running; /* 0: none */
    uint32_t turn;   /* of the run; what was meant for an older one is void */
    int fate;        /* code with which it will end */
};

struct result { /* a callback that is not acknowledged */
    int64_t log_id;
    int code;
    int64_t next_ms; /* not before */
    bool on_way;
};

struct exec {
    int index, app;
    bool ours; /* remembers log ids and results; else as stock Java */
    bool up;
    uint32_t life;
    char address[40];
    struct exec_job jobs[JOBS];
    int njobs;
    struct result *results;
    int nresults;
    unsigned char *log;   /* by log id: 0 none, 1 started, 2 ended */
    unsigned char *known; /* by log id, of ours */
    int64_t nlog;
};

struct reply {
    int code;
    bool repeat;
    enum log_state log;
};

/* ---- calls ----------------------------------------------------------------------------------- */

struct conn { /* a call under way */
    int64_t id;
    struct cnode *from;
    uint32_t gen; /* of the process */
    int to;       /* executor; -1: there is none at that address */
    uint32_t exec_life;
    enum call_kind kind;
    int64_t log_id, job_id;
    uint32_t ticket;
    enum block block;
    char address[40], param[8], handler[16];
    bool open;    /* for the caller */
    bool pending; /* the request is on its way */
    bool left;    /* its first byte has */
    bool stale;   /* after a pause of the process behind its look at the lease */
    uint32_t arrival;
};

/* ---- a center -------------------------------------------------------------------------------- */

struct life { /* handles of a process; they stay while something of it is on its way to the database
               */
    struct store *store, *beats;
    int64_t node, epoch;
    int refs;
};

struct cack { /* a callback that waits to be kept */
    struct ack ack;
    struct list_node in_node;
    int exec;
    uint32_t exec_life;
    int n;
    struct result results[RESULTS];
};

struct cnode {
    struct world *w;
    int place;
    char name[16];
    bool up;                   /* there is a process */
    uint32_t gen;              /* of it */
    int64_t paused_ms, cut_ms; /* true times: stopped until, without the database until */
    int64_t boot_off, ppm, wall_off;
    int64_t in_ms;      /* true time at which it has joined */
    int64_t agreed_ms;  /* wall minus boot clock, when its process has followed the former last */
    int64_t gone_epoch; /* what its data folder says; 0: it has another one */
    struct life_watch watch; /* while it waits for the last life of its name */
    bool for_good;           /* it does not come back */

    struct life *life; /* NULL: it has not joined yet */
    struct sched *sched;
    struct planner *planner;
    struct batch *writing;
    struct list acks, writes, written_with;
    int ncalls;
    bool pumping;
    int64_t wake_ms; /* true time of the next wake of the loop; -1: none */
    bool leaving;    /* it was asked to stop */
    int64_t leave_ms, stop_ms;
    struct list kills; /* struct kill_ask */

    /* the thread peal-node */
    struct cluster *rules;
    bool busy; /* an operation is under way */
    int64_t thread_ms;
    struct cluster_action adopt, adopting, sweeping;
    bool claim, sweeps, told_leaving;
    bool swept, sweep_left;   /* the answer to sweeping has come */
    struct home_row sweep;    /* where its next slice begins */
    bool asked;               /* another center has said that there is something new */
    bool adopted, adopt_left; /* the answer to adopting has come */
    int64_t adopt_taken;
    struct inbox inbox;
    struct news news;
    int64_t lease_ms, mark_ms;
    struct share share;

    /* what the others have changed */
    uint64_t others, others_seen;
    int64_t heard_ms;
    bool hearing;
    uint64_t committed;

    /* the commit under way */
    bool late, unheard;
    int64_t late_ms;
};

/* ---- the checker's memory -------------------------------------------------------------------- */

struct ghost { /* of one log id */
    bool born, gone;
    int64_t job_id, scheduled_ms, epoch;
    enum kind kind;
    int attempt, shard, shards;
    int sends, stale, begun, ended_ok;
    uint32_t at; /* executors that began it, as bits */
    int acked;   /* the first code that was acknowledged; 0: none */
    bool kill_asked;
};

struct shadow { /* of one job */
    int64_t answered_version, stopped_version;
    bool deleted;
    int64_t period_ms, first_ms, last_ms; /* of the schedule's runs */
};

struct shadow_life { /* of one epoch */
    int64_t batch;
    bool ended;
};

struct world {
    uint64_t seed;
    struct dice dice;
    bool trace, calm;
    bool settled; /* every center is in, and hears of an edit within a second */
    int64_t t, edits_until_ms;
    uint64_t nevents;
    struct heap events;
    struct store *db; /* the checker's handle: no server's */
    int64_t db_down_ms;
    int64_t mad_ms; /* until then a clock is far off, and nothing else is done to anybody */
    bool db_slow;
    int nnodes, nexecs, njobs, inserted;
    struct cnode nodes[NODES];
    struct exec execs[EXECS];
    struct map conns;
    int64_t last_conn;
    int loss_ppm, late_ppm, refuse_ppm;
    int64_t apart[NODES][NODES]; /* two centers do not reach each other until then */
    int64_t groups[APPS];
    /* the checker's */
    struct ghost *ghosts;
    int64_t nghosts, last_id;
    struct shadow shadows[JOB_IDS];
    struct shadow_life *lives;
    int64_t nlives;
    struct map moments; /* (job, scheduled time) -> log id that began */
    struct map rows;    /* (job, scheduled time) -> any */
    /* figures */
    int64_t firings, sends, stale_sends, stale_runs, begun, resent, adopted, joins, declared, kills,
        pauses, stops, mad_clocks, fenced, unheard, late_commits, conflicts, edits, told_late,
        passed_on, lost, commits;
    int64_t takeover_ms, handover_ms; /* the longest of the calm */
};

/* main.c */
int64_t between(struct world *w, int64_t low, int64_t high);
bool chance(struct world *w, uint32_t ppm);
/* After ms of true time, for the process of n: dropped with it, put off while it is paused. */
struct event *after(struct world *w, int64_t ms, struct cnode *n, event_fn *fn, void *p);
/* Whatever becomes of n, which may be NULL. */
struct event *elsewhere(struct world *w, int64_t ms, struct cnode *n, event_fn *fn, void *p);
void say(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void broken(struct world *w, const char *promise, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));
void must(struct world *w, enum err err, const struct why *why);
void world_run(struct world *w, int64_t until_ms);
void world_done(struct world *w);
struct now now_of(const struct cnode *n);

/* history.c */
void play(uint64_t seed, bool trace, struct world *w);

/* node.c: processes */
void node_start(struct world *w, struct cnode *n);
void node_kill(struct world *w, struct cnode *n);
void node_stop(struct world *w, struct cnode *n);
void node_lost(struct world *w, struct cnode *n, const char *what); /* it is refused, and ends */
void node_back_in(struct world *w, struct cnode *n, int64_t ms);
#define CLOCK_WRONG_MS 5000 /* further from the database's clock no center starts */
void node_step_clock(struct world *w, struct cnode *n, int64_t wall_off);
/* What the machine's clock says, also where the process does not follow it; and after an answer of
 * the database, whether it does now. */
int64_t machine_ms(const struct cnode *n);
void node_follow_clock(struct world *w, struct cnode *n);
void life_unref(struct life *l);

/* loop.c: the scheduler's thread, and the writer */
void loop_start(struct world *w, struct cnode *n);
void loop_done(struct cnode *n); /* the process is gone */
/* After each call into the core. */
void loop_pump(struct world *w, struct cnode *n);
void loop_write(struct cnode *n, const struct ledger_write *write, void *arg);

/* thread.c: peal-node */
void thread_start(struct world *w, struct cnode *n);
void thread_step(struct world *w, struct cnode *n);
/* The other centers are told that there is something new, as far as the network likes. */
void thread_nudge_others(struct world *w, struct cnode *n);

/* db.c */
bool db_away(const struct world *w, const struct cnode *n);
int64_t db_ms(struct world *w);                 /* what a statement takes */
void db_writer(struct cnode *n);                /* its commits are as db.c likes */
void db_lost(struct world *w, struct cnode *n); /* its process is gone, with what it had open */
/* Ask each 20 ms whether all know the edit, for a second. */
void db_told(struct world *w, struct cnode *n, const struct edit *e);

/* heard.c: what other centers have changed */
void heard_step(struct world *w, struct cnode *n);

/* net.c */
void net_call(struct world *w, struct cnode *n, const struct call *c);
void net_node_gone(struct world *w, struct cnode *n);
void net_exec_gone(struct world *w, int exec);
void net_done(struct world *w);

/* exec.c */
void execs_make(struct world *w);
void exec_up(struct world *w, struct exec *x);
void exec_crash(struct world *w, struct exec *x);
struct reply exec_take(struct world *w, struct exec *x, const struct conn *c);
bool exec_has(const struct exec *x, int64_t log_id);
void exec_acked(struct world *w, const struct cack *a);
void execs_done(struct world *w);

/* users.c */
void users_begin(struct world *w);
void users_edit(struct world *w, int64_t ms); /* in the calm, for so long */
void users_stop_all(struct world *w);
void users_edited(struct world *w, struct cnode *n, struct edit *e);
void users_killed(struct world *w, struct cnode *n, const struct action *a);
void users_kill_row(struct world *w, struct cnode *n, const struct inbox_row *r);

/* check.c */
struct ghost *ghost_of(struct world *w, int64_t log_id);
void check_commit(struct world *w); /* the tables have changed */
/* Whether the clock of another center, which has been there for a while, shows that this one's is
 * wrong. */
bool check_witness(const struct world *w, const struct cnode *n);
void check_send(struct world *w, const struct conn *c);
void check_begun(struct world *w, struct exec *x, int64_t log_id);
void check_ack(struct world *w, const struct cack *a);
void check_answered(struct world *w, int64_t job_id, enum edit_kind kind, int64_t version);
bool check_quiet(struct world *w);
bool check_owns(struct world *w, int64_t epoch);    /* it has runs that have not ended */
int64_t check_heir(struct world *w, int64_t epoch); /* of an epoch that has ended; 0: none */
void check_planned(struct world *w);
void check_end(struct world *w);
void check_done(struct world *w);

#endif
