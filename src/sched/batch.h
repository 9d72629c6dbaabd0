/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - one transaction's worth of work, and what came of it.
 *
 * The scheduler gathers while the writer works; when the writer is free it takes all that has
 * gathered as one batch (group commit). A batch that fails as a whole is kept and tried again
 * unchanged, so nothing that memory believes is ever taken back; a single edit, or a bundle of
 * edits, may fail alone.
 * Order of effect inside the transaction: views, adoption, registry, changes, late results, edits,
 * spawns, delays, planning, writes of the driver, totals, watermark. The batch owns everything that
 * it points to. */
#ifndef PEAL_SCHED_BATCH_H
#define PEAL_SCHED_BATCH_H

#include "plan/plan.h"
#include "sched/homes.h"

enum edit_kind {
    EDIT_JOB_INSERT,
    EDIT_JOB_UPDATE, /* job: the whole record as it shall be; enabled, stop_reason, next, last,
                        planned_until, version and added_ms are taken from the row */
    EDIT_JOB_START,
    EDIT_JOB_STOP,
    EDIT_JOB_SYNC, /* another server on the database has changed the job: the row stands, what was
                      planned here follows. Made by the core alone */
    EDIT_JOB_DELETE,
    EDIT_GROUP_INSERT,
    EDIT_GROUP_UPDATE,
    EDIT_GROUP_DELETE,
};

/* An open run of the job whose schedule asked for it, when an edit of the job is taken up. */
struct edit_run {
    struct run_change change; /* how the edit takes it; what 0: it cannot, the run has left */
    int64_t log_id, scheduled_ms, version;
    enum kind kind;
    bool by_hand; /* a retry of what a user asked for: no stop takes it */
    bool whole;   /* nothing of its firing has left or was in doubt: it can be planned again */
    /* result */
    bool stays; /* the run is left as it is, and belongs to the new version */
};

struct store;
struct edit;

/* The row that an edit changes, before and after it. NULL: there was none, or there is none. */
struct edit_rows {
    const struct job_record *job_was, *job;
    const struct group_record *group_was, *group;
};

/* What the driver writes with an edit, in the same transaction; the core does not look into it. */
struct edit_companion {
    /* Before the edit is made, in its transaction: fill in what earlier edits of the bundle have
     * made (ids). Refuses as run does. NULL: nothing is to be filled in. Called again when the
     * transaction is tried again. */
    enum err (*before)(void *arg, struct edit *e, struct why *why);
    /* As run of ledger/write.h, but never in parts. Called when the edit has been written. What
     * refuses a write refuses the edit: nothing of both stays. */
    enum err (*run)(struct store *s, void *arg, const struct edit_rows *rows, struct why *why);
    /* As done of ledger/write.h, with what became of the edit. */
    void (*done)(void *arg, enum err err, const struct why *why);
};

/* One request of a user (or script) to change a definition. */
struct edit {
    enum edit_kind kind;
    int64_t id; /* of the job or group; set on insert */
    struct job_record job;
    struct group_record group; /* of a group by registry without its list, which is not written */
    /* An update or deletion was made from this, and is refused with ERR_OVERTAKEN if it has changed
     * since. */
    int64_t version;         /* of the job; -1: from whatever it is */
    struct group_record was; /* the group; app NULL: from whatever it is */
    bool whole; /* EDIT_JOB_START, EDIT_JOB_STOP: the record, too, as EDIT_JOB_UPDATE has it */
    /* Of the first of a bundle how many edits it has, which stand one behind the other: they are
     * made in one transaction, all or none, and name each job once. When one is refused, all have
     * its err, and it alone its why. 0: an edit alone, or a later one of a bundle. */
    int bundle;
    bool gone; /* EDIT_JOB_DELETE by the core: another server has deleted the row, runs are left */
    void *reply;                            /* of the caller that waits; not looked at here */
    const struct edit_companion *companion; /* NULL: none, or it has been told the end */
    void *companion_arg;

    /* filled by the scheduler when it takes the edit up */
    struct edit_run *runs; /* by scheduled time */
    int nruns;
    bool waits;            /* a run of the schedule is out, or its retry is there or on its way */
    int64_t sent_until_ms; /* no firing of a later scheduled time is overdue, or has left this
                              database */
    int64_t plan_until_ms; /* a new schedule's scheduled times are planned up to here */

    /* result */
    enum err err;
    struct why why;
    bool anew;      /* planned by another schedule, or from another scheduled time, than before */
    bool moved;     /* group or route are others: what waits goes where they say */
    int64_t untold; /* runs of other servers that may leave by the job as it was before */
    int64_t done_boot_ms; /* when the core heard that it is written */
    int64_t was_group_id; /* of an update or deletion: the job's before it */
    struct job *now;      /* the job after it, counted; NULL for others and for a deleted job */
};

struct edit *edit_new(enum edit_kind kind);
void edit_free(struct edit *e);
/* Tell its companion, if there is one, what became of it; once. edit_free tells it ERR_STOPPING. */
void edit_end(struct edit *e, enum err err);

struct planned { /* a row that the transaction planned */
    struct run_row row;
    struct job *job;           /* counted */
    const struct spawn *spawn; /* of the batch; NULL if the schedule asked */
};

struct delay { /* the last attempt of a FIX_DELAY job's last shard ended */
    int64_t job_id, end_ms;
};

struct group_list { /* new text of xxl_job_group.address_list */
    int64_t group_id;
    char *addresses; /* NULL = none */
};

struct registry_change {
    struct registry_record row;
    bool gone; /* else it is there, and was heard of now */
};

enum sweep {
    SWEEP_NONE,
    SWEEP_REBASE, /* the clock stepped back: rate jobs go on from now, they have no calendar */
    SWEEP_ZONES,  /* tzdata has changed: CRON jobs' next scheduled times are computed anew */
};

struct homes_slice { /* of a walk over jobs whose home may be another by now */
    bool wanted;
    struct home_row from; /* behind this one; of home 0 and INT64_MIN for the first */
    struct home_row next; /* results: where the next slice begins, */
    bool left;            /* if there is one, */
    int moved;            /* and how many jobs have another home now */
};

struct incidents;

struct batch {
    uint64_t seq;
    int64_t now_ms;
    struct group_view **views; /* for the planner, counted */
    int nviews;
    struct group_list *lists;
    int nlists;
    struct registry_change *registry; /* in this order */
    int nregistry;
    struct run_change *changes;
    int nchanges;
    struct late_result *late;
    int nlate;
    size_t late_bytes;   /* of their messages */
    struct edit **edits; /* borrowed back when done */
    int nedits;
    struct spawn *spawns;
    int nspawns;
    struct delay *delays;
    int ndelays;
    int64_t plan_until_ms; /* 0: no planning in this one */
    bool claims;           /* only what is due before long, whosever it is: no look ahead */
    struct share share;    /* which node plans which job */
    struct homes_slice homes;
    int plan_max_rows;
    enum sweep sweep;           /* a look at all jobs of a kind, a slice a batch */
    int64_t sweep_from;         /* behind this job id */
    uint32_t sweep_no;          /* the scheduler's, to tell an outdated slice */
    int64_t sweep_ms;           /* SWEEP_REBASE: those that wait beyond this time */
    bool forget_jobs;           /* zones have changed: parse every job anew */
    struct adoption adopt;      /* of another node's runs */
    struct watermark watermark; /* until_ms 0: leave */
    bool clean;                 /* what is planned on disk after this one has not been sent */
    struct totals
        totals; /* of the changes; the transaction adds what it plans and withdraws itself */
    const char *const *alarm_channels; /* by the driver: names of those that are told of each
                                        * failure, NULL at the end; borrowed. NULL: none */
    struct incidents *incidents; /* by the driver: the rules of alarms; borrowed. NULL: none */
    bool no_report; /* by the driver: another server writes what XXL-JOB reports of the days */
    int64_t taken_boot_ms; /* the boot clock when now_ms was the time */
    int64_t waited_ms;     /* by the driver, before each try: since then */

    /* results */
    struct totals written; /* all that this transaction added */
    enum err err;          /* of the whole; everything below is void unless OK */
    struct why why;
    struct planned *planned;
    int nplanned, cplanned;
    struct planned *adopted; /* rows that were another node's */
    int nadopted;
    bool adopt_left;         /* and it has more */
    struct inbox_row *inbox; /* results that had come for them */
    int ninbox;
    int inbox_given, inbox_taken; /* results: left for the runs' servers; found, and done with */
    bool told;                    /* other servers have to look at what all keep in memory */
    struct run_end *ends; /* of the runs that ended, in the order in which they were written */
    int nends;
    int64_t ends_no;    /* under which the figures keep them; 0: there are none, or none are kept */
    int64_t sweep_next; /* go on behind this job id; 0: the sweep is through */
    bool plan_more;     /* a bound was reached: plan again at once */
    int64_t
        plan_next_ms;  /* earliest next scheduled time that is not planned yet, NEVER_MS if none */
    int njobs_planned; /* jobs that planning looked at */
    int nalarms;       /* rows of peal_alarm that are new, changes of what rules have found */
    int refused;       /* writes that the database does not take for their values, left out */
    int64_t plan_us;   /* CPU-side time that planning took; for the metric */
};

struct batch *batch_new(void);
void batch_free(struct batch *b);
void batch_adopted_drop(struct batch *b); /* the transaction that took them is gone */

#endif
