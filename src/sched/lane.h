/* SPDX-License-Identifier: Apache-2.0 */
/* lane.h - one executor address: what points to it, and how many calls it may have. */
#ifndef PEAL_SCHED_LANE_H
#define PEAL_SCHED_LANE_H

#include "base/heap.h"
#include "model/figure.h"
#include "sched/sched.h"
#include <limits.h>

#define LANE_WINDOW 8 /* calls in flight to an address that has been quiet */
#define LANE_FAIR 64  /* every address may have so many; more only if it is slow */
#define LANE_LEAST 4  /* of either, however many centers share the address */

#define ROOM_ENOUGH INT_MAX
#define ROOM_LOOK_MS 20  /* between two looks at lanes that rest */
#define ROOM_TRIES_MIN 8 /* of them try at one look */

enum timer_kind { TIMER_RUN, TIMER_LANE, TIMER_ROOM };

struct timer {
    struct heap_entry entry;
    uint32_t kind;
};

struct lane_told { /* what those who look on know of an address */
    char *address;
    enum executor_state state;
    size_t ngroups;
    int64_t groups[];
};

struct lane {           /* one executor address */
    struct timer timer; /* the next beat while it is dead */
    char *address;
    struct list queue;   /* PLANNED runs that are due, oldest first */
    struct list queries; /* runs whose reconciliation round is to begin */
    struct list logs;    /* runs whose round has heard the idleBeat: /log is next */
    struct list rounds;  /* struct round: idleBeats of reconciliation that are under way */
    struct list_node reconcile_node; /* in sched.querying: its rounds are to be looked at */
    struct list_node left_node;      /* in sched.left */
    struct list beats;               /* runs that wait for the answer to its beat */
    struct list probes,
        asked; /* struct probe: idleBeats that wait for a place, that are under way */
    int idles; /* of asked */
    int nqueue, in_flight;
    int querying; /* calls of reconciliation under way */
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
    /* what only pages show, see executors.c */
    int accepted, unknown;           /* of runs, those in these phases */
    int64_t up_ms;                   /* boot: since when it answers, 0 = nothing heard yet */
    int64_t beat_ms;                 /* boot: when it last registered */
    int64_t left_ms;                 /* boot: when it unregistered, 0 = never */
    bool ours;                       /* as it registered last */
    struct lane_told *told;          /* to those who look on; NULL = nothing */
    char *error;                     /* of the last call that failed, NULL = none has */
    int64_t error_ms;                /* boot */
    uint16_t took[DURATION_BUCKETS]; /* of answers to /run, in microseconds */
    int ntook;
    struct {
        int refs, registered, listed;
    } sums; /* check.c: as they should be */
};

struct lane *lane_get(struct sched *s, struct slice address); /* counted */
void lane_put(struct sched *s, struct lane *lane);
void lane_told_free(struct lane_told *t); /* NULL is fine */
void lane_free(struct lane *lane);        /* nothing points to it any more; it is in no map */
void lane_narrow(struct sched *s, struct lane *lane); /* to how it begins */
void lane_widen(struct sched *s, struct lane *lane);  /* if it answers slowly */
/* This center's part of a bound on calls to one address, of those that send to it. */
int lane_part(const struct sched *s, int bound);
int lane_most(const struct sched *s); /* of the setting */
int lane_fair(const struct sched *s); /* of LANE_FAIR */
void lanes_narrow(struct sched *s);   /* these have become smaller */
/* Within lane_most; the caller sees to what the center can spare. */
void lane_set_window(struct sched *s, struct lane *lane, int window);
bool lane_may_widen(const struct sched *s, const struct lane *lane);
/* The client was full: it waits until room.c lets it try again. */
void lane_rest(struct sched *s, struct now now, struct lane *lane);
/* A list of addresses loses it: whether the runs in its queue may go there is to be looked at, see
 * groups_left. */
void lane_left(struct sched *s, struct lane *lane);
/* What a call says against the address, for pages; nothing if it does not. */
void lane_note_error(struct lane *lane, struct now now, const struct call_result *c);
/* A /run was answered after so long; 0: not known. */
void lane_note_answer(struct lane *lane, int64_t us);
int64_t lane_answer_us(const struct lane *lane, int per_mille); /* -1: none is known */
/* Once a second: gives back what it does not use. */
void lane_sweep(struct sched *s, struct lane *lane);

#endif
