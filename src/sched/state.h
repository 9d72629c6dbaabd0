/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - the scheduler's memory, shared by the files of this folder only.
 *
 * Who owns what: a live_job owns its runs; a run points at its lane (counted) and is linked in at
 * most one of the lists "place" is for: a lane's queue, a lane's asks, the list of runs beyond the
 * mark. A run leaves memory when it is closed, its closing is committed, and no call for it is
 * under way. */
#ifndef PEAL_SCHED_STATE_H
#define PEAL_SCHED_STATE_H

#include "base/dice.h"
#include "base/list.h"
#include "base/map.h"
#include "sched/flight.h"
#include "base/heap.h"
#include "plan/route.h"
#include "sched/sched.h"
#include <limits.h>

#define LANE_WINDOW 8 /* calls in flight to an address that has been quiet */
#define LANE_FAIR 64  /* every address may have so many; more only if it is slow */

#define ROOM_ENOUGH INT_MAX

enum timer_kind { TIMER_RUN, TIMER_LANE, TIMER_ROOM };

struct timer {
    struct heap_entry entry;
    uint32_t kind;
};

struct lane {           /* one executor address */
    struct timer timer; /* the next beat while it is dead */
    char *address;
    struct list queue;               /* PLANNED runs that are due, oldest first */
    struct list queries;             /* runs whose round of asks is to begin */
    struct list logs;                /* runs whose round has heard the idleBeat: /log is next */
    struct list rounds;              /* struct round: idleBeats of asks that are under way */
    struct list_node reconcile_node; /* in sched.asking: its asks are to be looked at */
    struct list beats;               /* runs that wait for the answer to its beat */
    struct list probes,
        asked; /* struct probe: idleBeats that wait for a place, that are under way */
    int idles; /* of asked */
    int nqueue, in_flight;
    int querying; /* calls of asks under way */
    int window;   /* calls that may be in flight now: grows from a few to lane_connections */
    int answers;  /* since the window was last looked at */
    int peak;     /* most in flight since the last sweep */
    int coming;   /* warm.c: runs of a burst, while it counts */
    struct list_node coming_node;
    int64_t warm_ms;     /* boot: when connections for a burst were asked for */
    uint32_t id;         /* never given twice, unlike the place in memory */
    int refs;            /* runs and lists of addresses that point here */
    int listed;          /* of members */
    struct list members; /* struct member: the places that it has in lists of groups */
    struct list runs;    /* that have its address */
    int registered;      /* apps for which it beats */
    bool echoes;         /* a result has brought back just the logDateTime of its run */
    bool own_dates;      /* and one has brought a later time: the executor's own */
    bool dead;
    bool probing; /* a beat is under way */
    bool resting; /* the client was full: waits in sched.resting for its turn to try */
    int room;     /* calls for which the client had room then, ROOM_ENOUGH: it was not full */
    struct list_node room_node; /* in sched.resting or sched.trying */
    uint32_t ticket;            /* of the beat */
    int64_t heard_ms;           /* boot: last answer or beat */
    int64_t dead_ms;            /* boot: since when */
    int64_t alive_ms;           /* boot: when it came back, 0 = never dead */
};

enum run_flag {
    RUN_IN_WAITS = 1, /* its timer is in the timer heap of waits, not in that of scheduled times */
    RUN_CALLING = 2,  /* a /run is under way */
    RUN_DOUBT = 4,    /* an earlier send may have arrived */
    RUN_DOUBTED = 8,  /* was in doubt at least once */
    RUN_RESENT = 16,  /* has used its one resend */
    RUN_BROADCAST = 32,    /* shard i of n */
    RUN_ADDRESS = 64,      /* waits for its address to be on disk */
    RUN_DIRTY = 128,       /* in the list of what is to be written */
    RUN_CLOSED = 256,      /* ended; goes when the end is on disk */
    RUN_HELD = 512,        /* an edit that is being written takes it away */
    RUN_PROBED = 1024,     /* FAILOVER or BUSYOVER has chosen */
    RUN_PROBING = 2048,    /* waits for the answer of an address */
    RUN_AWAY = 4096,       /* the center was away during its life */
    RUN_RETRYING = 8192,   /* it has ended, and its retry is being planned */
    RUN_LEFT = 16384,      /* a /run with this id may have left */
    RUN_SCHEDULED = 32768, /* the job's schedule asked for it, or for the run it retries */
    RUN_QUEUED = 131072,   /* counted in its lane's queue */
    RUN_WRITTEN = 262144,  /* its end is on disk; a call is still under way */
    RUN_UNSENT = 524288,   /* the recorder of the life before says that it was not sent */
    RUN_MOVED = 1048576,   /* its job has got another group or route: it is routed by them */
    RUN_SCHEDULED_LOG =
        2097152, /* a retry with its scheduled time as log time: a release before planned it */
};

enum reconcile_step {
    RECONCILE_NOTHING,
    RECONCILE_QUEUED, /* waits for its round to begin */
    RECONCILE_IDLE,   /* the idleBeat of its round is under way */
    RECONCILE_WAITS,  /* the idleBeat is answered, /log waits for a place */
    RECONCILE_LOG     /* /log is under way */
};

struct reconcile {
    uint32_t ticket; /* of the idleBeat while it waits for /log, then of that */
    uint8_t step;
    bool idle;
    uint8_t cell;         /* what the last whole round said, 0 = none yet */
    int rounds;           /* begun since the question came up */
    int64_t begun_ms;     /* boot: this round */
    int64_t settled_ms;   /* boot: since when the last cell has been standing */
    int64_t since_ms;     /* boot: since when nothing was heard at all, 0 = it answers */
    int64_t overtaken_ms; /* boot: of the first round before whose begin a younger run's start was
                             known, 0 = none yet */
};

struct run_text {  /* what differs from the job's own */
    char *param;   /* NULL = the job's */
    char *choices; /* NULL = the group's */
};

struct run {
    struct timer timer;
    struct list_node place, dirty, of_job, of_lane;
    struct live_job *job;
    struct lane *lane; /* NULL = no address yet */
    int64_t log_id, scheduled_ms, due_ms, cause, version;
    int64_t since_ms; /* boot: of the phase it is in */
    union {
        int64_t sent_ms;    /* boot: since when it may stand in a queue, 0 = before this center */
        int64_t probing_ms; /* boot, before it is sent: since when addresses are asked for it */
    };
    struct run_text *text;
    struct run_change *pending;
    struct reconcile *reconcile;
    struct kill *kill; /* who waits for one that is under way */
    uint32_t flags;
    uint32_t ticket; /* of the call under way */
    int32_t shard, shard_total;
    int32_t attempt, retries_left;
    uint16_t probe;     /* probe.c: place of the address that is asked, twice through the list */
    uint16_t tried;     /* addresses that refused the connection */
    uint8_t probe_list; /* the group's list_no that this place belongs to */
    uint8_t hops, kind, phase;
    flight_place place_of_word;
};

struct live_job {
    int64_t id;
    struct job *def; /* counted: the newest that is known */
    struct list runs;
    struct list probes;         /* idleBeats for it, one an address at most */
    struct list_node broadcast; /* in the core's list of those that have had broadcasts */
    int nruns;
    bool deleted;
    uint64_t anew_seq;       /* the last batch that lays a firing of its schedule anew */
    int64_t started_sent_ms; /* boot: when the last to leave of those known to have started left */
    uint32_t started_lane;   /* and to which lane's id */
};

struct registered {    /* one address of an app */
    struct lane *lane; /* counted */
    int64_t beat_ms;   /* boot */
    int64_t stored_ms; /* boot: when update_time was last written */
    bool ours;
};

struct app {
    char *name;
    struct registered *addresses; /* sorted as Java sorts text: by bytes */
    int n;
    uint8_t list_no;    /* goes up with each change of them */
    struct list groups; /* by their node of_app */
};

struct member { /* one place of a group's list */
    struct list_node of_lane;
    struct group *group;
};

struct group {
    int64_t id;
    struct app *app;
    struct list_node of_app, stale; /* stale: in the core's list of those whose list and view are to
                                       be made anew */
    struct list_node unlaid;        /* in the core's: its broadcasts are to be looked at later */
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

struct sched {
    struct sched_config config;
    struct dice dice;
    struct router *router; /* for runs that are routed again here */
    struct heap due, waits;
    struct map runs, jobs, groups; /* by id */
    struct textmap lanes, apps;
    struct list stale;       /* groups */
    struct list unlaid;      /* groups */
    struct list broadcasts;  /* live jobs */
    int ndead;               /* lanes */
    int spared;              /* by how much windows exceed LANE_FAIR, in all */
    int64_t beat_ms;         /* boot: the latest beat that a dead lane waits for */
    struct list beyond;      /* due, but beyond the watermark */
    struct list dirty;       /* to be written with the next batch */
    struct list lazy;        /* to be written within a second, if nothing else happens to them */
    struct list querying;    /* lanes in which a round of asks may begin */
    struct list resting;     /* lanes whose calls found the client full, in their order */
    struct list trying;      /* those that have tried again since the last look */
    struct timer room_timer; /* the next look */
    int tries;               /* so many lanes try at a look */
    bool turned_away;        /* since the last look the client was full for a call */
    struct list acks, kills; /* in the order of their batches */
    struct action *actions;  /* a circle */
    struct action popped;    /* the last one given out: holds what it refers to until the next */
    uint32_t nactions, cactions, first_action;
    uint32_t ticket, lane_id;
    /* for the next batch */
    struct batch *next; /* gathers; never NULL */
    bool wanted;        /* somebody waits for it although it may be empty */
    uint64_t seq;       /* of next */
    bool writing;       /* a batch is with the writer */
    bool started, draining, replan;
    bool clean_start; /* the process before sent nothing that is planned on disk */
    bool born;        /* the first commit of this life has been heard; nothing leaves before it */
    struct flight flight;
    int64_t renewals;     /* of the watermark, asked for in this life */
    bool clean_requested; /* the same of this one is said in a batch, under way or done */
    bool sweeping[SWEEP_ZONES + 1];
    int64_t sweep_from[SWEEP_ZONES + 1], sweep_ms;
    uint32_t sweep_no;
    int64_t plan_next_ms;
    int64_t
        sent_until_ms;  /* the latest scheduled time that may have left; at start the watermark */
    int64_t horizon_ms; /* planned up to here */
    int64_t watermark_ms, watermark_requested_ms; /* on disk; in the batch under way */
    int64_t warmed_ms; /* wall: bursts before this scheduled time have their connections */
    int64_t watermark_renew_boot_ms, sweep_boot_ms, batch_boot_ms;
    int nphase[PHASE_COUNT];
    struct sched_stats stats;
};

/* run.c */
bool phase_may(enum phase from, enum phase to);
struct run *run_new(struct sched *s, struct now now, const struct run_row *row, struct job *def);
void run_free(struct sched *s, struct run *r);
void run_move(struct sched *s, struct now now, struct run *r, enum phase to);
void run_unlink(struct sched *s, struct run *r); /* out of timer heaps, queues and asks */
/* The pending change, to be written within a second. */
struct run_change *run_dirty(struct sched *s, struct run *r);
struct run_change *run_urgent(struct sched *s, struct run *r); /* with the next batch */
int64_t run_log_time(const struct run *r);                     /* see run_log_ms */
void run_set_lane(struct sched *s, struct run *r, struct lane *lane);
void run_note_trigger(struct sched *s, struct run *r, int code, const char *msg);
/* The end of a run: columns, totals, retry, children, FIX_DELAY's next scheduled time. */
void run_finish(struct sched *s, struct now now, struct run *r, enum phase to, int code,
                const char *msg);
/* Never ran: skipped or withdrawn. Drops both rows, or closes them if it was ever in doubt. */
void run_withdraw(struct sched *s, struct now now, struct run *r, enum phase to,
                  const char *reason);
/* The same for a run that is planned again in the same batch: nothing follows from it. */
void run_forget(struct sched *s, struct now now, struct run *r, enum phase to, const char *reason);
/* A firing of the schedule has ended, and its retry is not a row yet. */
bool run_retries(const struct run *r);
/* The job as it is from now on. Runs that are there keep the parameter that they were planned
 * with. */
void job_define(struct live_job *j, struct job *def);
/* Is a scheduled run of the job open, or on its way to become a row: a retry, or a firing that is
 * planned again with the batch that gathers? */
bool job_is_out(const struct sched *s, const struct live_job *j);
/* FIX_DELAY counts from the end of the last shard's last attempt, however it ended: if none of the
 * job's scheduled runs is open any more, its next scheduled time is asked for. */
void job_delay(struct sched *s, struct now now, const struct live_job *j);
void run_close_lost(struct sched *s, struct run *r); /* its retry leaves: LOST is final */
/* This retry ends without having left: the run that it retries, if LOST, waits for a late result
 * by the clock again. */
void run_release_cause(struct sched *s, struct now now, const struct run *retry);
struct run_change *change_withdrawn(struct run_change *c, const struct run *r, int64_t now_ms,
                                    enum phase to, const char *reason);
struct live_job *job_live(struct sched *s, int64_t id);
void job_settle(struct sched *s, struct live_job *j); /* frees it when nothing is left of it */
/* The run is known to have begun at its executor. */
void job_started(struct run *r);
struct run *retry_of(const struct run *r);
void spawn_add(struct sched *s, const struct spawn *spawn);
const char *run_param(const struct run *r);

/* sched.c */
struct action *action_new(struct sched *s, enum action_kind kind);
/* Ask for a call to the lane's address, which it fills in; the action holds lane and job. */
void call_out(struct sched *s, struct lane *lane, struct call call);
void wait_until(struct sched *s, struct run *r, int64_t boot_ms);

/* dispatch.c */
void dispatch_plan(struct sched *s, struct run *r); /* into the timer heap of scheduled times */
void dispatch_call(struct sched *s,
                   struct run *r); /* the /run call itself: ticket, place in the lane */
void dispatch_due(struct sched *s, struct now now);
void dispatch_watermark(struct sched *s, struct now now); /* the watermark moved */
void dispatch_run(struct sched *s, struct now now, struct run *r);
void dispatch_addressed(struct sched *s, struct now now,
                        struct run *r); /* its address is on disk */
/* The job has got another group or route: what waits begins again with its address. */
void dispatch_moved(struct sched *s, struct run *r);
void dispatch_on_run(struct sched *s, struct now now, const struct call_result *r);
void dispatch_readdress(struct sched *s, struct run *r, struct lane *lane); /* on disk first */
void dispatch_refuse(struct sched *s, struct now now, struct run *r, enum phase to,
                     const char *why);
/* The job was changed since the row was planned: it is withdrawn, true. */
bool dispatch_outdated(struct sched *s, struct now now, struct run *r);
bool dispatch_overdue(struct now now, const struct run *r); /* past its start deadline */
void dispatch_sweep(struct sched *s, struct now now);       /* start deadlines, once a second */
void lane_pump(struct sched *s, struct now now, struct lane *lane);
void lane_enqueue(struct sched *s, struct now now, struct run *r);

/* probe.c */
bool probe_wanted(const struct run *r);
void probe_begin(struct sched *s, struct now now, struct run *r);
void probe_beaten(struct sched *s, struct now now, struct lane *lane, bool yes);
void probe_on_idle(struct sched *s, struct now now, const struct call_result *r);
void probe_pump(struct sched *s, struct lane *lane);
void probe_sweep(struct sched *s, struct now now, struct lane *lane);
void probes_free(struct lane *lane);
void probes_orphan(struct live_job *j); /* the job goes from memory; the probes end by themselves */

/* warm.c */
void warm_lanes(struct sched *s, struct now now); /* once a second */

/* reconcile.c */
void reconcile_soon(struct sched *s, struct now now, struct run *r, int64_t in_ms);
void reconcile_timer(struct sched *s, struct now now, struct run *r);
/* False: the idleBeat is not one of a round. */
bool reconcile_on_idle(struct sched *s, struct now now, const struct call_result *r);
void reconcile_on_log(struct sched *s, struct now now, const struct call_result *r);
void reconcile_pump(struct sched *s, struct now now, struct lane *lane);
void reconcile_pump_all(struct sched *s, struct now now); /* after timers: rounds begin */
void reconcile_free(struct lane *lane);
void reconcile_stop(struct sched *s, struct run *r);
/* The process stood still for so long: that proves no silence. */
void reconcile_paused(struct run *r, struct now now, int64_t ms);

/* lane.c */
struct lane *lane_get(struct sched *s, struct slice address); /* counted */
void lane_put(struct sched *s, struct lane *lane);
void lane_free(struct lane *lane); /* nothing points to it any more; it is in no map */
void lane_dead(struct sched *s, struct now now, struct lane *lane);
void lane_alive(struct sched *s, struct now now, struct lane *lane);
void lane_beat(struct sched *s, struct lane *lane);   /* unless one is under way */
void lane_narrow(struct sched *s, struct lane *lane); /* to how it begins */
/* Within the setting; the caller sees to what the center can spare. */
void lane_set_window(struct sched *s, struct lane *lane, int window);
bool lane_may_widen(const struct sched *s, const struct lane *lane);
void lane_sweep(struct sched *s,
                struct lane *lane); /* once a second: gives back what it does not use */
void lane_timer(struct sched *s, struct now now, struct lane *lane);
void lane_on_beat(struct sched *s, struct now now, const struct call_result *r);

/* room.c */
void lane_rest(struct sched *s, struct now now, struct lane *lane); /* the client was full */
void room_look(struct sched *s, struct now now); /* the timer: lanes that rest try again */

/* directory.c */
void directory_group(struct sched *s, const struct group_record *g);
void directory_group_gone(struct sched *s, int64_t id);
/* The group's list or view has changed: made anew with the next batch, or when somebody looks. */
void directory_stale(struct sched *s, struct group *g);
void directory_refresh(struct sched *s, struct now now); /* makes stale lists and views */
/* The same for one group, if it costs little or has not been done for the batch that gathers. */
void directory_freshen(struct sched *s, struct now now, struct group *g);
/* The same at any cost: a broadcast is about to leave. */
void directory_now(struct sched *s, struct now now, struct group *g);
/* A group's addresses as they are now, whatever its view says: how many, the i-th, where one stands
 * (-1: nowhere), a number that changes with them. */
int group_size(const struct group *g);
struct lane *group_lane(const struct group *g, int i);
int group_place(const struct group *g, const struct lane *lane);
uint8_t group_list_no(const struct group *g);
void directory_sweep(struct sched *s, struct now now);
void directory_paused(struct sched *s, struct now now, int64_t ms);
struct group *group_of(const struct sched *s, int64_t id);
/* A broadcast none of whose shards has left is planned again if the group's list is another by now:
 * it may have changed while the rows were written, or while an edit held them. r: its first shard.
 */
void broadcast_check(struct sched *s, struct now now, struct run *r);
/* The same of rows that have just been written; of a large group perhaps later. */
void broadcast_entered(struct sched *s, struct now now, struct run *r);

/* result.c */
/* Results that had to wait for a commit (kept as late ones of the batch that gathers) count now. */
void results_again(struct sched *s, struct now now, int64_t log_id);
void kill_forget(struct sched *s, struct run *r); /* the run goes: answer who waits for a kill */
void kill_on_call(struct sched *s, struct now now, const struct call_result *r);
void kill_settle(struct sched *s, struct now now, struct run *r); /* held no longer */
void kills_done(struct sched *s, uint64_t seq); /* the batch is kept: tell those it answers */
void kills_free(struct sched *s);

/* edit.c */
void edit_prepare(struct sched *s, struct now now, struct edit *e);
void edit_done(struct sched *s, struct now now, struct edit *e);

#define array_push(array, n, value)                                                                \
    do { /* doubles at powers of two */                                                            \
        if (((n) & ((n)-1)) == 0)                                                                  \
            (array) = mem_resize((array), ((size_t)(n) ? (size_t)(n)*2 : 1) * sizeof(*(array)));   \
        (array)[(n)++] = (value);                                                                  \
    } while (0)

#endif
