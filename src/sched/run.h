/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - a run: its birth and death, its phase, where it waits, and its pending change. */
#ifndef PEAL_SCHED_RUN_H
#define PEAL_SCHED_RUN_H

#include <assert.h>
#include "model/story.h"
#include "sched/job.h"
#include "sched/lane.h"
#include "sched/state.h"

/* What a run waits for, which is also the place that it stands in. One function changes it; the
 * moves, and the phases in which a run may wait so, stand in run.c. */
enum wait {
    WAIT_NOTHING,   /* in the hand of a function, or for good: it has ended, or the core drains */
    WAIT_DUE,       /* its scheduled time: in sched.due */
    WAIT_WATERMARK, /* the watermark on disk, to pass it: in sched.beyond */
    WAIT_PROBE,     /* a yes: among a lane's beats, or a probe's runs */
    WAIT_ADDRESS,   /* its address, handler and parameter, to be on disk: the commit finds it */
    WAIT_LANE,      /* a free connection: in its lane's queue */
    WAIT_EDIT,      /* an edit that is being written, and takes it away or gives it back */
    WAIT_CALL,      /* the end of its /run, even if the run itself ends before */
    WAIT_TIMER,     /* in sched.waits: to be reconciled; LOST, for a late result */
    WAIT_ROUND,     /* a reconciliation round: enum reconcile_step says how far it is */
    WAIT_COUNT
};

/* Each flag has the bit of its place in this table: no number is written by hand. */
#define RUN_FLAGS(X)                                                                               \
    X(DOUBT)         /* an earlier send may have arrived */                                        \
    X(DOUBTED)       /* was in doubt at least once */                                              \
    X(RESENT)        /* has used its one resend */                                                 \
    X(BROADCAST)     /* shard i of n */                                                            \
    X(CLOSED)        /* ended; goes when the end is on disk */                                     \
    X(WRITTEN)       /* its end is on disk; a call is still under way */                           \
    X(ENDING)        /* is out, and its job is being deleted: no end of its own meanwhile */       \
    X(PROBED)        /* FAILOVER or BUSYOVER has chosen */                                         \
    X(AWAY)          /* the center was away during its life */                                     \
    X(RETRYING)      /* it has ended, and its retry is being planned */                            \
    X(LEFT)          /* a /run with this id may have left */                                       \
    X(SCHEDULED)     /* the job's schedule asked for it, or for the run it retries */              \
    X(UNSENT)        /* the recorder of the life before says that it was not sent */               \
    X(MOVED)         /* its job has got another group or route: it is routed by them */            \
    X(ELSEWHERE)     /* another program has ended it, and sees to what follows */                  \
    X(SCHEDULED_LOG) /* a retry with its scheduled time as log time, of an older release */        \
    X(STALE)         /* the job was changed since the call under way was made */                   \
    X(RENEWING)      /* its log row gets the job's handler and parameter (run_renew) */

#define RUN_FLAG_BIT(name) RUN_BIT_##name,
#define RUN_FLAG_VALUE(name) RUN_##name = 1 << RUN_BIT_##name,
enum run_flag_bit { RUN_FLAGS(RUN_FLAG_BIT) RUN_FLAG_BITS };
enum run_flag { RUN_FLAGS(RUN_FLAG_VALUE) };
#undef RUN_FLAG_BIT
#undef RUN_FLAG_VALUE
static_assert(RUN_FLAG_BITS < 31, "an int, and run.flags, hold each of them");

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

struct run_text {     /* what differs from the job's own */
    char *param;      /* NULL = the job's; of a firing of the schedule: what its log row says */
    char *handler;    /* what its log row says; NULL = the job's */
    char *choices;    /* NULL = the group's */
    int64_t group_id; /* of its log row; 0 = the job's */
    struct trace_root trace;
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
    struct kill *kill; /* the requests that wait for one under way */
    uint32_t flags;
    uint32_t ticket; /* of the call under way */
    int32_t shard, shard_total;
    int32_t attempt, retries_left;
    uint16_t probe;     /* probe.c: place of the address that is asked, twice through the list */
    uint16_t tried;     /* addresses that refused the connection */
    uint8_t probe_list; /* the group's list_no that this place belongs to */
    uint8_t hops, kind, phase, wait;
    uint8_t reroutes, doubts, queries; /* of its story, as the next */
    flight_place place_of_word;
    int32_t at_us[STORY_OF_LIVE];
};

static inline uint8_t once_more(uint8_t n)
{
    return n < UINT8_MAX ? n + 1 : n;
}

static inline void run_at(struct run *r, enum story_time t, int64_t epoch_us)
{
    r->at_us[t] = story_us(epoch_us - r->due_ms * 1000);
}

static inline void run_at_now(struct run *r, enum story_time t, struct now now)
{
    run_at(r, t, now.wall_ms * 1000);
}

static inline struct run *run_find(const struct sched *s, int64_t log_id)
{
    return map_find(&s->runs, (uint64_t)log_id);
}

/* The run that a retry of this cause retries; NULL if it is none, or that run is gone. */
static inline struct run *run_retried(const struct sched *s, enum kind kind, int64_t cause)
{
    return kind == KIND_RETRY ? run_find(s, cause) : NULL;
}

static inline bool run_open(const struct run *r)
{
    return !(r->flags & RUN_CLOSED) && phase_open(r->phase);
}

/* An edit that is being written decides what becomes of it. */
static inline bool run_held(const struct run *r)
{
    return r->wait == WAIT_EDIT || r->flags & RUN_ENDING;
}

/* It is planned and was never in doubt: nothing of it has ever left this center. */
static inline bool run_never_left(const struct run *r)
{
    return r->phase == PHASE_PLANNED && !(r->flags & RUN_DOUBTED);
}

/* Was the job changed since this row was planned? Runs that no schedule asked for stay. */
static inline bool run_outdated(const struct run *r)
{
    return r->version < r->job->def->version && r->flags & RUN_SCHEDULED;
}

/* The addresses that a user gave for it; NULL: the group's. */
static inline const char *run_choices(const struct run *r)
{
    return r->text ? r->text->choices : NULL;
}

/* The trace that it belongs to. */
static inline struct trace_root run_root(const struct run *r)
{
    return r->text ? r->text->trace : (struct trace_root){ .kind = TRACE_OWN };
}

/* A shard, or a retry of it, and the other shards of the same firing. */
static inline bool run_same_firing(const struct run *a, const struct run *b)
{
    return a->scheduled_ms == b->scheduled_ms && a->kind == b->kind && a->cause == b->cause;
}

/* A firing of the schedule, not a retry of one. */
static inline bool kind_of_schedule(enum kind k)
{
    return k == KIND_CRON || k == KIND_MISFIRE;
}

/* A firing of the schedule has ended, and its retry is not a row yet. */
static inline bool run_retries(const struct run *r)
{
    return r->flags & RUN_RETRYING && r->flags & RUN_SCHEDULED && !(r->flags & RUN_WRITTEN);
}

bool phase_may(enum phase from, enum phase to);
struct run *run_new(struct sched *s, struct now now, const struct run_row *row, struct job *def);
void run_free(struct sched *s, struct run *r);
const char *run_param(const struct run *r);
/* Does its log row say another handler or parameter than its next call has to have? A firing of the
 * schedule is called with the job's parameter as it is when it leaves, all others with their own.
 */
bool run_outworn(const struct run *r);
/* The next call has what the job says now, and the log row with the next batch, at once. */
void run_renew(struct sched *s, struct run *r);
struct story run_story(const struct run *r);
int64_t run_group(const struct run *r);                /* of its log row */
int64_t run_log_time(const struct run *r);             /* see run_log_ms */
bool run_overdue(struct now now, const struct run *r); /* past its start deadline */

/* The phase, and what counts runs by it; run_move is a move of this life, this is any. */
void run_set_phase(struct sched *s, struct run *r, enum phase to);
void run_move(struct sched *s, struct now now, struct run *r, enum phase to);
/* Note that it is in its phase since then (wall), if somebody looks on. */
void run_see(struct sched *s, const struct run *r, int64_t at_ms);

bool wait_may(enum wait from, enum wait to);
bool wait_fits(enum wait w, enum phase phase);
/* Waits for nothing any more: out of timer heap, queue or round. A call under way goes on. */
void run_leave(struct sched *s, struct run *r);
/* The caller links place, where the run then stands in a list. */
void run_wait_for(struct sched *s, struct run *r, enum wait to);
void run_wait_due(struct sched *s, struct run *r); /* for its scheduled time */
/* For the timer: LOST goes then, the others are reconciled (reconcile_timer). */
void run_wait_ms(struct sched *s, struct now now, struct run *r, int64_t ms);
/* What became of it is known: reconciliation rounds of it count no longer. */
void run_reconciled(struct run *r);

/* The pending change, to be written within a second. */
struct run_change *run_dirty(struct sched *s, struct run *r);
struct run_change *run_urgent(struct sched *s, struct run *r); /* with the next batch, at once */
struct run_change *run_soon(struct sched *s, struct run *r);   /* with the next batch */
void run_note_trigger(struct sched *s, struct run *r, int code, const char *msg);
/* Change the address: on disk first, the send comes when that is committed. */
void run_readdress(struct sched *s, struct run *r, struct lane *lane);

#endif
