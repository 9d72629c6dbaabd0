/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - the core's memory: struct sched, and what all files of this folder need.
 *
 * Each file has a header of its own with what it owns; a file calls only what stands below it in
 * this order, which scripts/check-structure.py (circles) holds them to: outbox, lane, job, run,
 * end, beat, registry and group, broadcast, send, probe, dispatch, answer, reconcile, room, result,
 * kill, edit, warm, executors, start, commit, sched.
 *
 * Ownership: a live_job owns its runs; a run points at its lane (counted) and waits in at most
 * one place. A run leaves memory when it is closed, its closing is committed, and no call for it is
 * under way. */
#ifndef PEAL_SCHED_STATE_H
#define PEAL_SCHED_STATE_H

#include "base/dice.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "plan/route.h"
#include "sched/flight.h"
#include "sched/lane.h"
#include "sched/sched.h"

struct sched {
    struct sched_config config;
    struct dice dice;
    struct router *router; /* for runs that are routed again here */
    struct heap due, waits;
    struct map runs, jobs, groups; /* by id */
    struct textmap lanes, apps;
    int registered;          /* addresses of all apps */
    struct list stale;       /* groups */
    struct list left;        /* lanes with a queue that have left a list, until the entry ends */
    struct list to_replan;   /* groups */
    struct list broadcasts;  /* live jobs */
    int ndead;               /* lanes */
    int spared;              /* by how much windows exceed LANE_FAIR, in all */
    int64_t beat_ms;         /* boot: the latest beat that a dead lane waits for */
    struct list beyond;      /* due, but beyond the watermark */
    struct list dirty;       /* to be written with the next batch */
    struct list lazy;        /* to be written within a second, if nothing else happens to them */
    struct list querying;    /* lanes in which a reconciliation round may begin */
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
    bool wanted;        /* it is waited for although it may be empty */
    bool hurried;       /* and by what should not wait for more rows */
    int gathered;       /* how often it was wanted soon */
    uint64_t seq;       /* of next */
    uint64_t done_seq;  /* of the last batch that was done */
    uint64_t gone_seq;  /* of the last one in which a registration goes */
    uint64_t registry_looks;
    bool taken_before; /* the results that come were, so that there is room for each */
    bool writing;      /* a batch is with the writer */
    bool planning;     /* and it looks ahead */
    bool started, draining, replan;
    bool plan_ends;   /* no look ahead any more */
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
    struct share share;                           /* among others */
    bool shared;                                  /* there may be some */
    struct job_news *heard; /* of edits at others, while a batch was being written */
    int nheard;
    bool claims;                          /* what these have left is to be looked for */
    int64_t lease_boot_ms, lease_mark_ms; /* of a node among others; else INT64_MAX */
    int64_t warmed_ms;                    /* wall: bursts before this time have their connections */
    uint64_t due_look;                    /* looks at what is due, this one included */
    int64_t watermark_renew_boot_ms, sweep_boot_ms, batch_boot_ms, soon_boot_ms;
    int nphase[PHASE_COUNT];
    struct sched_stats stats;
    struct run_seen *seen; /* noted for those who look on */
    size_t nseen, cseen;
    bool watched;
    struct lane_told **gone; /* addresses that are to be told as gone */
    size_t ngone;
    size_t unchecked; /* entries since the sums were checked */
};

#define NOT_SOON_MS 2000 /* what is due later can be written with other rows before */

/* What has gathered is to be written: as soon as the writer and batch_gap_ms allow. */
static inline void want_batch(struct sched *s)
{
    s->wanted = s->hurried = true;
}

/* The same for what nothing waits for: a batch begins when it has many rows, or batch_wait_ms after
 * the last one. */
static inline void want_batch_soon(struct sched *s)
{
    s->wanted = true;
    s->hurried |= ++s->gathered >= s->config.batch_rows;
}

#define array_push(array, n, value)                                                                \
    do { /* doubles at powers of two */                                                            \
        if (((n) & ((n)-1)) == 0)                                                                  \
            (array) = mem_resize((array), ((size_t)(n) ? (size_t)(n)*2 : 1) * sizeof(*(array)));   \
        (array)[(n)++] = (value);                                                                  \
    } while (0)

#endif
