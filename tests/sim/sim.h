/* SPDX-License-Identifier: Apache-2.0 */
/* sim.h - a whole scheduling center in one process and in virtual time.
 *
 * The center is the real one (src/sched, src/ledger/txn.c) and the disk is the memory store, which
 * survives a crash of the center. Network, executors, users and clocks are played by dice that
 * come from one number, so a seed is a history that can be told again bit by bit
 * (docs/internals/sim.md).
 *
 * world.c keeps time, center.c drives the core as a server would, net.c carries calls as a
 * transport, exec.c plays executors, users.c makes up jobs and edits, writes.c other writes,
 * alarms.c sends alarms, check*.c hold the promises against what happens. */
#ifndef PEAL_TESTS_SIM_H
#define PEAL_TESTS_SIM_H

#include "base/dice.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "sched/flight.h"
#include "sched/sched.h"
#include "store/store.h"
#include "ledger/txn.h"
#include "transport/transport.h"

struct sim;
struct event;
typedef void event_fn(struct sim *s, struct event *e);

struct event { /* something that will happen */
    int64_t at_ms;
    uint64_t tie; /* order within a millisecond, by dice; no other has it */
    event_fn *fn;
    void *p; /* freed with the event unless fn clears it */
    int64_t a, b;
    uint32_t life; /* of the center or executor that it is for */
};

struct heap_place { /* all that the order of events looks at */
    int64_t at_ms;
    uint64_t tie;
    struct event *event;
};

/* ---- executors ------------------------------------------------------------------------------- */

enum exec_type {
    EXEC_OURS, /* remembers log ids and results in a journal */
    EXEC_JAVA, /* stock: forgets an id once it starts; log files with start and end lines */
    EXEC_MUTE, /* as Go and npm: forgets, no usable log, a callback is sent once */
};

struct exec_run { /* queued, taken from the queue, or running */
    int64_t log_id;
    int shard, shard_total;
};

struct exec_job { /* one job's thread at an executor */
    int64_t id;
    struct exec_run queue[64];
    int nqueue;
    int64_t picked;  /* left the queue, not started yet; 0 = none */
    int64_t running; /* 0 = none */
    uint32_t turn;   /* of the run; what was meant for an older one is void */
    int fate;        /* code with which the running one will end */
};

struct exec_result { /* a callback that is not acknowledged */
    int64_t log_id;
    int code, tries;
    int64_t next_ms; /* not before */
    bool on_way;
};

struct exec {
    int index;
    enum exec_type type;
    char address[48];
    int app;
    bool up, gone; /* gone: never comes back */
    int64_t cut_until_ms;
    int64_t dark_until_ms; /* takes calls and answers none; its beats come through */
    bool slow;             /* answers late */
    uint32_t life;         /* incarnation */
    struct exec_job jobs[96];
    int njobs;
    struct exec_result *results;
    int nresults;
    unsigned char *log;   /* by log id: 0 none, 1 started, 2 ended */
    unsigned char *known; /* by log id: remembered (EXEC_OURS) */
    int64_t nlog;
};

enum { EXECS = 7, APPS = 3, GROUPS = 3, ADDRESSES = EXECS + 1 };

/* ---- the checker's memory -------------------------------------------------------------------- */

struct wire {        /* what has passed over the wire about one run; times are boot ms */
    int peer;        /* number of the address that it was last sent to */
    int outstanding; /* copies that may have arrived */
    uint32_t life;   /* of the center, when it was last sent */
    int64_t calling; /* the /run under way */
    int64_t sent_ms;
    int64_t doubt_ms, accepted_ms;
    int64_t refused_ms;   /* the connection for it was, the last time */
    int64_t reading;      /* log under way */
    int64_t round_ms;     /* the round under way began */
    int64_t begun_ms;     /* the last whole one began */
    int64_t settled_ms;   /* the first of those that agree began */
    int64_t overtaken_ms; /* the first round that began when a younger start was known */
    int64_t last_ms;      /* the last one ended, or was not answered */
    uint8_t said;         /* the last whole round: check_wire.c */
    bool idle, agreed;
    bool cleared;   /* proven: no copy has arrived */
    bool accepted;  /* as far as this center knows */
    bool resending; /* the /run under way is a resend */
    bool proven;    /* lost */
    bool unsure;    /* resent, or planned again: both were right */
    bool resent;    /* by this center, in an admitted cell */
    bool away;      /* the center was away during its life */
};

struct start { /* of one job at one address: what is known to have begun and was sent last */
    int64_t sent_ms;
    uint32_t life;
};

struct placed { /* runs that are bound to one address, or were; of one job */
    int64_t *ids;
    size_t n, cap;
};

struct peer { /* one address, as seen over the wire */
    char address[64], app[16];
    int number, running;
    int laid;          /* runs that had this address on disk, so far */
    int64_t beat_ms;   /* boot; -1 = none, or it deregistered */
    int64_t left_ms;   /* it deregistered; 0 = never */
    int64_t yes_ms;    /* it answered a beat of the center well */
    int64_t no_ms;     /* or not, or an idleBeat not at all */
    int64_t dead_ms;   /* a connection was refused, the last time */
    bool refused;      /* a connection, and nothing was heard since */
    int64_t heard_ms;  /* boot: an answer or a beat came, or the center began */
    int64_t silent_ms; /* boot: the first call since then that came to nothing began; 0: none */
};

struct asked {      /* one job at one address */
    int64_t yes_ms; /* it said that the job is idle */
    int64_t no_ms;  /* or busy */
};

struct listing { /* a group's addresses */
    int64_t group_id;
    bool sure; /* that the center routes over exactly these */
    int n;
    const char *addresses[64];
};

struct choices { /* of one job's route, as long as list and route stay */
    uint64_t list;
    int route;
    uint32_t planner;
    bool aged; /* it has chosen from another list before */
    int last;  /* place + 1 */
    int times[64];
};

struct idle_beat { /* one that serves runs of a job at an address */
    int64_t job_id, conn, begun_ms;
    int peer;
    bool answered, idle;
};

enum end_kind { END_CLEAN, END_KILL, END_POWER_CUT };

struct ghost { /* what the checker knows of one log id */
    int64_t job_id, group_id, scheduled_ms, due_ms, cause, version;
    enum kind kind;
    int shard, shard_total, attempt, retries_left;
    bool broadcast;
    int64_t firing;     /* a shard: the first row of its planning (check_shards.c) */
    int64_t last_shard; /* of the first: the last row, and how many there are */
    int nplanned;
    int64_t taken_ms;        /* the batch was taken that planned it */
    int laid_for;            /* number of the address; 0: none */
    bool kill_asked, killed; /* a user wants it killed; and has been answered */
    bool born, scheduled, doubted, dropped;
    bool fresh;         /* born in this commit */
    bool unsent;        /* planned and without a word when the center was killed */
    bool word_accepted; /* the recorder of the last life says so, and is believed */
    int sends_before;
    bool kept;      /* planned and never sent when the center was stopped cleanly */
    bool taken;     /* dropped by an edit: its scheduled time may be planned anew */
    int64_t epoch;  /* how often rate jobs had been re-based when it was born */
    bool disk_lost; /* an executor that had it lost its disk */
    bool arrived;   /* some executor took it */
    int sends, admitted, started, ends_ok;
    uint32_t at;                /* executors that started it, as bits */
    enum phase end;             /* 0 while open */
    int64_t retry;              /* log id of its retry */
    bool wants_retry;           /* ended in this commit with attempts left */
    bool fresh_success;         /* succeeded in this commit */
    int64_t handle_ms, born_ms; /* wall; boot */
    size_t text_n;              /* length of its message when it ended */
    struct wire wire;
};

struct shadow_end {
    int64_t log_id;
    bool succeeded;
};

struct shadow { /* what the checker knows of one job */
    int64_t id;
    struct schedule schedule;
    char conf[128];     /* type, conf, zone, dst as text: has the schedule changed? */
    int64_t lenient_ms; /* a missing scheduled time up to here is forgiven (see after_edit) */
    int64_t cover_ms;   /* scheduled times up to here are accounted for */
    int64_t expect_ms;  /* the next scheduled time by the definitions */
    int64_t from_ms;    /* the schedule counts from here */
    int64_t skipped;    /* rows in peal_skip so far */
    int64_t answered_version, stopped_version;
    bool deleted_answered;
    int64_t epoch;                              /* see ghost; rows before it do not bind the job */
    bool serial, covers, resends;               /* its strategy, onDoubt */
    bool was_serial, was_covers, was_resending; /* before the last edit */
    bool meddled; /* another program wrote its next scheduled time: skips may go back farther */
    int64_t bad_since, edit_boot_ms;
    int edits;           /* on disk, and not answered yet: the center's memory may not know them */
    int64_t heard_ms;    /* the center heard of the last one */
    int64_t edit_commit; /* the number of the commit that the last edit went with */
    int64_t next_ms;     /* as the table had it after the last commit */
    bool on;             /* users switched it on, and it has not come to its end */
    bool counting;       /* an outage is being counted out */
    struct shadow_end *ends; /* of its runs, as they were written */
    int nends;
};

/* ---- the world ------------------------------------------------------------------------------- */

struct conn { /* a call under way; goes when it is closed and its request has arrived or died */
    int64_t id;
    struct transport_call *of; /* the center's, while open */
    struct call call;          /* other text in it is not used */
    char param[8], handler[16];
    int to; /* executor, -1: an address without an executor */
    char address[48];
    uint32_t exec_lifecycle;
    enum block block;
    int64_t begun_ms;   /* boot clock */
    bool open, pending; /* pending: the request is still on its way */
    bool left;          /* its first byte has been let go */
    uint64_t arrival;   /* the delivery that counts */
};

struct sim_ack { /* a callback request that waits to be kept */
    struct ack ack;
    struct list_node all;
    int exec;
    uint32_t exec_lifecycle;
    int n;
    struct exec_result results[10];
};

struct sim {
    uint64_t seed;
    bool trace;
    struct dice dice;
    int64_t boot_ms, offset_ms; /* wall = boot + offset */
    struct heap_place *heap;
    size_t nheap, cheap;
    uint64_t nevents;
    struct zone *zones[3];

    /* the center */
    struct store *store;
    struct store_ops ops; /* the memory's, but a faulty disk lies below */
    struct store_txn txn;
    struct store_runs runs;
    struct store_catalog catalog;
    struct sched *sched; /* NULL while it is down */
    struct planner *planner;
    struct figures *figures;
    struct zone *figures_zone; /* hours and days are cut by it */
    int64_t figures_next;      /* at so many commits they are counted again */
    struct batch *writing;
    struct list acks, calls;
    bool pumping;
    struct list writes, written_with; /* struct ledger_entry: for the next batch, with that one */
    struct dice write_dice;           /* of writes.c alone */
    int64_t nwrites;
    struct dice alarm_dice; /* of alarms.c alone */
    struct map alarms_sent; /* by their key */
    size_t alarm_looks;     /* at rows, that commits have left for the sender */
    uint32_t life;
    int64_t up_since_ms, store_bad_until_ms, store_good_since_ms, stepped_ms;
    struct flight_head *recorder[2]; /* the files; NULL: there is none */
    int own;                         /* which one this life writes */
    uint32_t boots;
    bool recording, settled;
    bool backup_wanted, backup_made,
        backup_heard;        /* one is to be put back; heard: with a renewal since */
    int64_t frozen_until_ms; /* its process is stopped and goes on then */
    bool outage;             /* when it ends next, it stays away for hours or days */
    int crash_in;            /* calls into the core until it crashes; 0 = none is due */
    bool stopping;           /* it was asked to stop, and drains */
    bool calm;               /* no more faults: the end is near */
    bool slow_disk;
    bool choked; /* a world of stock executors that are slow to take, to run and to answer */
    int64_t wake_ms;

    /* the network */
    struct transport net;
    struct map conns;
    int64_t last_conn;
    int client_room; /* calls that the client has place for to one address; 0 = no bound */
    int open_calls[EXECS + 1]; /* under way, by conn.to + 1 */
    int loss_ppm, double_ppm, late_ppm, refuse_ppm;
    int opening_ppm; /* calls for which a connection is opened first, which takes its time */

    struct exec execs[EXECS];
    int nexecs, ngroups;
    int64_t groups[GROUPS];
    int group_app[GROUPS];
    int njobs_wanted, inserted;

    /* the checker */
    struct ghost *ghosts;
    int64_t nghosts, last_id;
    struct map keys;            /* hash of a run's key -> ghost's number */
    struct map scheduled_times; /* (job, scheduled time) of a schedule -> how many rows */
    struct shadow shadows[96];
    int nshadows;
    bool went_back;    /* the wall clock, at least once */
    int64_t served_ms; /* the latest scheduled time that any run has served */
    int64_t start_watermark_ms;
    bool must_believe;  /* the next start has to believe its recorder */
    int64_t rebased;    /* how often rate jobs were re-based */
    struct map parents; /* (child, cause) -> ghost's number */
    struct textmap peers;
    struct map idles;                    /* (life, ticket) -> struct idle_beat */
    struct map starts;                   /* (job, peer) */
    struct map placed;                   /* (job, peer) -> struct placed: live rows, wire.peer */
    struct map choices, asked;           /* check_routes.c */
    struct map shards;                   /* of a firing -> the first row of its last planning */
    int64_t planning;                    /* that this commit's rows belong to */
    struct listing listings[GROUPS + 1]; /* as the batch under way has them */
    int nlistings;
    int64_t taken_ms;       /* the batch under way was taken */
    int64_t group_heard_ms; /* the center heard of a group's edit */
    int group_edits;        /* as shadow.edits */
    struct totals totals;   /* of the last commit */
    size_t looks;           /* at rows, that commits have left for counting them all */
    uint32_t lists_no;      /* lists have changed so often */
    int64_t lists_ms;       /* and when last (boot) */
    uint32_t planner_no;    /* another one, or a turn was undone that had chosen */
    int lane_bound;         /* of this center */
    int lane_queue; /* likewise: runs that wait for one address before others take the next */
    int64_t resends, resends_unsure, resent_before; /* by this center */

    /* figures */
    int64_t firings, ends, crashes, stops, exec_crashes, steps, edits, commits, queries, doubts,
        lost, resent, believed, restored;
};

/* world.c */
int64_t wall_ms(const struct sim *s);
struct now sim_now(const struct sim *s);
struct event *sim_send(struct sim *s, int64_t in_ms, event_fn *fn, int64_t a, int64_t b, void *p);
bool sim_chance(struct sim *s, int ppm);
int64_t sim_between(struct sim *s, int64_t low, int64_t high); /* inclusive */
void sim_fail(struct sim *s, const char *promise, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));
/* What cannot fail has not failed: the store without its faulty disk. */
void sim_must(struct sim *s, enum err err, const struct why *why);
void sim_trace(struct sim *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
enum err sim_zone(void *ctx, const char *name, struct zone **ret, struct why *why);
/* Play one seed; never returns when a promise is broken. */
void sim_play(struct sim *s);

/* center.c */
void center_start(struct sim *s);
void center_crash(struct sim *s);
/* After each call into the core: do what it asks for. */
void center_pump(struct sim *s);
/* Between any two calls: may be the moment of the crash. False: the center is down now. */
bool center_step(struct sim *s);
void center_crash_soon(struct sim *s, struct event *e);
void center_stop(struct sim *s, struct event *e);
void center_store_fault(struct sim *s, struct event *e);
void center_clock_step(struct sim *s, struct event *e);
void center_freeze(struct sim *s, struct event *e);
/* While it is frozen: the event comes again when it is not. */
bool center_frozen(struct sim *s, struct event *e);
void center_free(struct sim *s);

/* recorder.c */
bool recorder_read(struct sim *s, const struct watermark *watermark, struct flight_said *ret);
void recorder_make(struct sim *s);
void recorder_heard(struct sim *s, const struct batch *b);
void recorder_end(struct sim *s, enum end_kind how);
void recorder_free(struct sim *s);
/* A backup of the database, made at a renewal of the watermark, and put back after a kill that
 * comes while nothing is missing in it but words that the recorder relies on. */
void backup_soon(struct sim *s, struct event *e);
void backup_written(struct sim *s, const struct batch *b);
bool backup_ripe(struct sim *s, const struct batch *b); /* heard: is it time for the kill? */
void backup_sent(struct sim *s, const struct call *c);
void backup_end(struct sim *s);

/* net.c */
void net_init(struct sim *s);
void net_reset_exec(struct sim *s, int exec);

/* exec.c */
struct reply {
    int code;
    bool repeat;
    enum log_state log;
};
void exec_init(struct sim *s);
void exec_start(struct sim *s, struct event *e); /* a: executor */
void exec_crash(struct sim *s, struct event *e); /* a: executor, b: for ever */
void exec_dark(struct sim *s, struct event *e);  /* a: executor; it answers no call for a while */
void exec_crowd(struct sim *s, struct event *e); /* b thousand addresses without an executor */
void exec_cut(struct sim *s, struct event *e);   /* its results do not get through for a while */
void exec_stop(struct sim *s, struct event *e);  /* politely: deregisters first */
struct reply exec_take(struct sim *s, struct exec *x, const struct conn *c);
void exec_acked(struct sim *s, int exec, uint32_t life, const struct exec_result *results, int n);
bool exec_has(const struct exec *x, int64_t log_id); /* queued, picked or running */
void exec_free(struct sim *s);

/* users.c */
void users_init(struct sim *s);
void users_act(struct sim *s, struct event *e);
void users_stop_all(struct sim *s);
void users_edited(struct sim *s, struct edit *e);
void users_spawned(struct sim *s, const struct action *a);

/* writes.c */
void writes_init(struct sim *s);
void writes_taken(struct sim *s); /* a batch leaves for the writer */
void writes_check(struct sim *s); /* it is committed */
void writes_heard(struct sim *s);
void writes_drop(struct sim *s); /* the center's process has gone */

/* alarms.c */
void alarms_init(struct sim *s);
const char *const *alarms_for_all(const struct sim *s); /* channels of every failure */
void alarms_heard(struct sim *s);                       /* a commit was */
void alarms_check(struct sim *s, const struct run_change *c);
void alarms_end(struct sim *s);
void alarms_free(struct sim *s);

/* check_wire.c: what passes */
void check_called(struct sim *s, const struct call *c, int64_t conn);
void check_left(struct sim *s, const struct call *c); /* a /run has been let go */
void check_answered(struct sim *s, const struct conn *c, enum call_outcome outcome,
                    const struct reply *r);
void check_result(struct sim *s, int64_t log_id, int code); /* a result has come */
void check_beat(struct sim *s, const char *address, const char *app, bool there);
void check_thaw(struct sim *s, int64_t gap_ms); /* it was stopped, and goes on */
void check_taken(struct sim *s);                /* a batch goes to the writer */
void check_wire_start(struct sim *s);           /* the center starts, or ends */
void check_wire_end(struct sim *s);

/* check.c, check_ends.c, check_sends.c, check_progress.c */
struct ghost *ghost_of(struct sim *s, int64_t log_id); /* made when it is not there */
void check_commit(struct sim *s, struct batch *b);
void check_send(struct sim *s, const struct call *c);
void check_leaving(struct sim *s, const struct conn *conn);
void check_word(struct sim *s, int64_t log_id);   /* of a run that is let go */
void check_killed(struct sim *s, int64_t log_id); /* a user hears that the kill worked */
void check_started(struct sim *s, struct exec *x, int64_t log_id);
void check_stop(struct sim *s, bool clean); /* the center ends */
void check_flight_end(struct sim *s, enum end_kind how);
void check_flight_read(struct sim *s, const struct watermark *watermark,
                       const struct flight_said *said, const char *why);
void check_flight_over(struct sim *s);
void check_flight_change(struct sim *s, const struct run_change *c);
void check_ack(struct sim *s, const struct sim_ack *a);
void check_edited(struct sim *s, const struct edit *e);
void check_calm(struct sim *s); /* every few seconds: does planning keep up? */
bool check_quiet(struct sim *s);
/* check_figures.c */
void check_figures(struct sim *s);        /* all of them */
void check_figures_commit(struct sim *s); /* now and then */

void check_end(struct sim *s);
void check_free(struct sim *s);

#endif
