/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - one run: its phase, its row, and what it goes through between two writes. Plain data.
 * Times are epoch milliseconds. */
#ifndef PEAL_MODEL_RUN_H
#define PEAL_MODEL_RUN_H

#include "model/end.h"
#include "model/trace.h"
#include <stdbool.h>
#include <stdint.h>

/*  PLANNED --due--> SENT --200--> ACCEPTED --callback--> SUCCEEDED | FAILED | TIMED_OUT | KILLED
 *     |  \            |  \            \
 *     |   \           |   no answer    +--proof--> LOST --callback before its retry left--> ...
 *     |    \          |     \
 *     |     \       refused  UNKNOWN --ask--> ACCEPTED | PLANNED (same id) | LOST
 *     |      \        |
 *     |  UNROUTABLE  REJECTED (also from PLANNED: lane full past the start deadline)
 *     +--> SKIPPED, WITHDRAWN
 *  phase_may (sched/run.c) holds the table of allowed moves. The numbers stand in peal_run.phase.
 */
enum phase {
    PHASE_PLANNED = 1,
    PHASE_SENT = 2,
    PHASE_UNKNOWN = 3,
    PHASE_ACCEPTED = 4,
    PHASE_LOST = 5, /* live until its retry has left: a late success may still finish it */
    PHASE_SUCCEEDED = 6,
    PHASE_FAILED = 7,
    PHASE_TIMED_OUT = 8,
    PHASE_KILLED = 9,
    PHASE_REJECTED = 10,
    PHASE_UNROUTABLE = 11,
    PHASE_SKIPPED = 12,
    PHASE_WITHDRAWN = 13,
    PHASE_COUNT
};

/* OUTCOME_NONE while it is open. */
enum outcome phase_outcome(enum phase p);

static inline bool phase_open(enum phase p)
{
    return p >= PHASE_PLANNED && p <= PHASE_ACCEPTED;
}

enum kind { KIND_CRON, KIND_MISFIRE, KIND_MANUAL, KIND_RETRY, KIND_PARENT, KIND_API, KIND_COUNT };

const char *phase_text(enum phase p); /* "planned" */
const char *kind_text(enum kind k);   /* "CRON": as XXL-JOB's trigger types */

/* One live run as peal_run and the log row hold it. Text is owned. */
struct run_row {
    int64_t log_id; /* 0 until the store has given one */
    int64_t job_id, group_id;
    int64_t
        scheduled_ms; /* the planned instant of the firing; a retry keeps that of its first run */
    int64_t due_ms;   /* when to send: the scheduled time, or later (retry, misfire) */
    int64_t log_ms;   /* read only: trigger_time of its log row; -1: there is none */
    int64_t cause;    /* 0 for cron and misfire; log id for retry and parent; request number else */
    int64_t version;  /* of the job when the row was planned */
    int32_t shard, shard_total;
    int32_t attempt; /* 0 = first run */
    int32_t retries_left;
    enum kind kind;
    enum phase phase;
    bool broadcast; /* shard i of shard_total: the log gets executor_sharding_param */
    bool doubted;   /* was in doubt at least once: closed, never deleted */
    char *address;  /* NULL = none yet */
    char *handler;  /* for the log row */
    char *param;    /* what the run is called with; NULL = "" */
    char *choices;  /* addresses given by hand for this run, comma separated; NULL = the group's */
    struct trace_root trace;
};

struct adoption {         /* a slice of an ended epoch's runs gets another owner */
    int64_t epoch;        /* 0: none */
    int64_t watermark_ms; /* what was due later was not sent */
    bool clean;           /* nothing that is planned was */
    int max;              /* rows */
};

struct run_trace { /* which trace a run belongs to */
    int64_t log_id;
    struct trace_root root;
};

void run_row_done(struct run_row *r);
/* trigger_time of the run's log row, and the logDateTime that its executor gets: the whole second
 * of the scheduled time, or of the time at which a retry is due. */
int64_t run_log_ms(enum kind kind, int64_t scheduled_ms, int64_t due_ms);

/* What one run went through since it was last written, merged. Text is owned. */
enum run_change_what {
    CHANGE_PHASE = 1,     /* peal_run.phase (and doubted) */
    CHANGE_ADDRESS = 2,   /* both tables */
    CHANGE_TRIGGER = 4,   /* trigger_code, trigger_msg */
    CHANGE_FINISH = 8,    /* handle_time, handle_code, handle_msg */
    CHANGE_CLOSE = 16,    /* the live row goes, the log row stays */
    CHANGE_DROP = 32,     /* both rows go: skipped or withdrawn without ever being in doubt */
    CHANGE_ALARM = 64,    /* alarm_status 0 -> -1 or 1: no other program's alarm, see storage.md */
    CHANGE_VERSION = 128, /* peal_run.version: an edit has left it */
    CHANGE_TASK = 256,    /* executor_handler, executor_param: it leaves by the job as it is now */
};

struct job;
struct story;

struct run_change {
    int64_t log_id;
    unsigned what;
    enum phase phase;
    bool doubted;
    bool sent; /* proves that the run had left: TOTAL_SENT counts it, with this change */
    char *address;
    char *handler, *param; /* with CHANGE_TASK */
    enum kind kind;        /* goes with trigger_msg */
    int trigger_code;
    char *trigger_msg; /* NULL = leave */
    int handle_code;
    int64_t handle_ms;
    char *handle_msg;
    int64_t took_ms;     /* of a finish: since it was answered; for the metric, not written */
    bool tells;          /* what became of all sends before it was taken; not written */
    int64_t version;     /* of the job */
    struct run_end end;  /* for the figures; end.now NONE: it has not ended */
    struct job *job;     /* counted; with CHANGE_ALARM: who may want an alarm, NULL: nobody does */
    bool quiet;          /* with CHANGE_ALARM, by the transaction: to 1, no alarm is needed */
    bool missing;        /* result: there was no live row, nothing is written */
    struct story *story; /* to be kept with the end; NULL: none */
};

void run_change_done(struct run_change *c);

/* A result for a run that is not live here: noted if the log says that it was given up. Of a run
 * that another program began on the same tables it is the end. Where several servers share the
 * database and the run is live, it goes to the inbox. */
struct late_result {
    int64_t log_id, at_ms;
    int code;
    char *msg;
    struct claim *claim; /* counted: nothing is noted for other groups; NULL: for any */
    bool refused;        /* result: it was of another group */
    int64_t parent;      /* result: the job of a run that it has ended with success, whose children
                          * are to follow; 0: none are */
    int64_t inbox_id;    /* it stands in the inbox: that row goes when the run is over; 0: no */
    bool settled;        /* of the inbox: the run in memory has had it, nothing is to be noted */
    bool passed;         /* by the transaction: nothing is to be noted now, it is in the inbox */
};

/* What another server has taken for the owner of a run (peal_inbox). The numbers stand there. */
enum inbox_what {
    INBOX_RESULT = 1,
    INBOX_KILL = 2,     /* a user wants the run to end */
    INBOX_ANSWERED = 3, /* such a row, and what came of it: code is an enum inbox_answer */
};

enum inbox_answer { INBOX_DONE, INBOX_ENDED_BEFORE, INBOX_OTHER_KILL, INBOX_REFUSED };

struct inbox_row {
    int64_t id; /* of the table, > 0 */
    int64_t log_id, at_ms;
    int code;
    enum inbox_what what;
    char *msg; /* NULL: empty */
};

void late_result_done(struct late_result *l);

#define VERSION_DELETED INT64_MAX /* of a job that is deleted */

struct job_news { /* an edit of which other servers on the database are to hear (peal_change) */
    int64_t id;   /* of the table, > 0 */
    int64_t job_id;
    int64_t version; /* of the job after it, or VERSION_DELETED */
    bool anew;       /* it gave the job other scheduled times */
    int64_t at_ms;
};

#endif
