/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - the words of the ledger as plain structs: jobs, groups, runs, and what changes them.
 *
 * Everything here is data. Records are rows as a database holds them (text as written, owned by
 * the record); a struct job is the same job after parsing, immutable, counted, and shared by the
 * scheduler's and the writer's thread. Times are epoch milliseconds throughout. Names of columns
 * and enum texts are XXL-JOB's (releases 2.3 to 3.4). */
#ifndef PEAL_MODEL_MODEL_H
#define PEAL_MODEL_MODEL_H

#include <stdatomic.h>
#include "base/err.h"
#include "base/str.h"
#include "base/why.h"
#include "cron/schedule.h"

#define NEVER_MS INT64_MAX /* a next scheduled time that does not exist; NULL in the database */

/* ---- enums, with the texts that the database and the protocols use -------------------------- */

/*  PLANNED --due--> SENT --200--> ACCEPTED --callback--> SUCCEEDED | FAILED | TIMED_OUT | KILLED
 *     |  \            |  \            \
 *     |   \           |   no answer    +--proof--> LOST --callback before its retry left--> ...
 *     |    \          |     \
 *     |     \       refused  UNKNOWN --ask--> ACCEPTED | PLANNED (same id) | LOST
 *     |      \        |
 *     |  UNROUTABLE  REJECTED (also from PLANNED: lane full past the start deadline)
 *     +--> SKIPPED, WITHDRAWN
 *  phase_may (ledger.h) holds the table of allowed moves. The numbers stand in peal_run.phase. */
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

static inline bool phase_open(enum phase p)
{
    return p >= PHASE_PLANNED && p <= PHASE_ACCEPTED;
}

enum kind { KIND_CRON, KIND_MISFIRE, KIND_MANUAL, KIND_RETRY, KIND_PARENT, KIND_API, KIND_COUNT };

enum route {
    ROUTE_FIRST,
    ROUTE_LAST,
    ROUTE_ROUND,
    ROUTE_RANDOM,
    ROUTE_CONSISTENT_HASH,
    ROUTE_LFU, /* LEAST_FREQUENTLY_USED */
    ROUTE_LRU, /* LEAST_RECENTLY_USED */
    ROUTE_FAILOVER,
    ROUTE_BUSYOVER,
    ROUTE_BROADCAST, /* SHARDING_BROADCAST */
    ROUTE_COUNT
};

enum block { BLOCK_SERIAL, BLOCK_DISCARD, BLOCK_COVER, BLOCK_COUNT };
enum misfire { MISFIRE_DO_NOTHING, MISFIRE_FIRE_ONCE, MISFIRE_FIRE_ALL, MISFIRE_COUNT };
enum on_doubt { DOUBT_WAIT, DOUBT_RESEND };

const char *phase_text(enum phase p); /* "planned" */
const char *kind_text(enum kind k);   /* "CRON": as XXL-JOB's trigger types */
const char *route_text(enum route r); /* "SHARDING_BROADCAST" */
const char *block_text(enum block b);
const char *misfire_text(enum misfire m);
/* False for a text that no release knows; *ret is untouched then. Exact, case-sensitive. */
bool route_parse(struct slice s, enum route *ret);
bool block_parse(struct slice s, enum block *ret);
bool misfire_parse(struct slice s, enum misfire *ret);

/* ---- jobs ---------------------------------------------------------------------------------- */

/* One job as its tables hold it: xxl_job_info, peal_job, peal_due. All text is owned, NULL where
 * the column is NULL. */
struct job_record {
    int64_t id, group_id;
    char *description, *author, *alarm_email;
    char *schedule_type, *schedule_conf, *misfire;
    char *route, *handler, *param, *block;
    int timeout_s, retries; /* executor_timeout, executor_fail_retry_count */
    char *glue_type, *glue_source, *glue_remark;
    int64_t glue_updated_ms, added_ms, updated_ms;
    char *children; /* child_jobid: ids separated by commas */
    bool enabled;   /* trigger_status */
    /* peal_job */
    char *zone; /* IANA name, NULL or "" = the server's */
    char *dst;  /* "xxl" or "smart" */
    int misfire_max;
    int64_t retry_delay_ms, start_deadline_ms;
    double retry_backoff;
    char *on_doubt;    /* "wait" or "resend" */
    char *stop_reason; /* why the center stopped it, NULL if it did not */
    /* peal_due */
    int64_t next_ms, last_ms, planned_until_ms; /* next_ms: NEVER_MS if unset */
    int64_t version;
};

#define JOB_MISFIRE_MAX 100 /* defaults of decisions.md, Settings */
#define JOB_RETRY_DELAY_MS 5000
#define JOB_START_DEADLINE_MS 60000

void job_record_init(struct job_record *r); /* zeroed, with the defaults above */
void job_record_done(struct job_record *r); /* frees the text */
void job_record_copy(struct job_record *to, const struct job_record *from);

/* The parsed form. Immutable but for refs and the sender's cache; any thread may hold one. */
struct job {
    _Atomic int refs;
    int64_t id, group_id, version;
    struct schedule schedule; /* type SCHEDULE_NONE if fault is set */
    char *fault;              /* why the row cannot be scheduled, NULL if it can */
    enum route route;
    enum block block;
    enum misfire misfire;
    enum on_doubt on_doubt;
    bool enabled, bean;
    bool ended; /* not enabled because its schedule has no further scheduled time, not by a user */
    int timeout_s, retries, misfire_max;
    int64_t retry_delay_ms, start_deadline_ms, glue_updated_ms;
    double retry_backoff;
    char *handler, *param, *glue_type, *glue_source; /* never NULL: "" */
    int64_t *children;
    int nchildren;
    char *form; /* made by the sender at the first send; scheduler's thread only; freed here */
    uint32_t form_parts[4];
};

/* Zone by name for job_new; the answer is counted. */
typedef enum err zone_find_fn(void *ctx, const char *name, struct zone **ret, struct why *why);

/* Parse a record. Never fails: a row that another program has spoiled gives a job with fault set
 * (names the column and the rule), unknown enums fall back as XXL-JOB reads them (FIRST, SERIAL,
 * DO_NOTHING). last_year bounds the search of cron expressions. One reference. */
struct job *job_new(const struct job_record *r, zone_find_fn *zone_find, void *ctx, int last_year);
struct job *job_ref(struct job *j);
void job_unref(struct job *j); /* NULL is fine */

/* ---- groups and the registry ----------------------------------------------------------------- */

struct group_record {
    int64_t id;
    char *app, *title;
    int address_type;   /* 0 by registry, 1 by hand */
    char *address_list; /* comma separated, NULL = none */
    int64_t updated_ms;
};

struct registry_record {
    char *group, *key,
        *value; /* registry_group, registry_key (app name), registry_value (address) */
    int64_t updated_ms;
};

void group_record_done(struct group_record *r);
void group_record_copy(struct group_record *to, const struct group_record *from);
void registry_record_done(struct registry_record *r);

/* The addresses that a group's jobs are routed over right now: the listed ones less the dead, or
 * all of them when all are dead. Immutable, counted; a change makes a new one with a higher
 * version. */
struct group_view {
    _Atomic int refs;
    int64_t group_id;
    uint64_t version;
    int n;
    char **addresses; /* verbatim, in the order of the list */
};

struct group_view *group_view_new(int64_t group_id, uint64_t version, const char *const *addresses,
                                  int n);
struct group_view *group_view_ref(struct group_view *v);
void group_view_unref(struct group_view *v);

/* ---- runs ------------------------------------------------------------------------------------ */

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
    CHANGE_ALARM = 64,    /* alarm_status 0 -> -1: claimed for our alarms, see storage.md */
    CHANGE_VERSION = 128, /* peal_run.version: an edit has left it */
};

struct run_change {
    int64_t log_id;
    unsigned what;
    enum phase phase;
    bool doubted;
    bool sent; /* proves that the run had left: TOTAL_SENT counts it, with this change */
    char *address;
    enum kind kind; /* goes with trigger_msg */
    int trigger_code;
    char *trigger_msg; /* NULL = leave */
    int handle_code;
    int64_t handle_ms;
    char *handle_msg;
    int64_t took_ms; /* of a finish: since it was answered; for the metric, not written */
    bool tells;      /* what became of all sends before it was taken; not written */
    int64_t version; /* of the job */
    bool missing;    /* result: there was no live row, nothing is written */
};

void run_change_done(struct run_change *c);

/* peal_due: where planning of a job stands. */
struct due_row {
    int64_t job_id, next_ms, last_ms, planned_until_ms, version;
};

/* peal_skip: scheduled times that were not fired, one row a job and outage. */
struct skip_row {
    int64_t job_id, from_ms, to_ms, count;
    enum misfire policy;
    bool extend; /* goes on where the job's latest row ends: add to that one */
};

/* peal_total (job_id 0: the whole center). None of them ever falls. */
enum total {
    TOTAL_PLANNED,
    TOTAL_FINISHED,
    TOTAL_REJECTED, /* with UNROUTABLE */
    TOTAL_LOST,     /* found to be lost, whatever came after all */
    TOTAL_SKIPPED,  /* planned runs that went to the misfire policy; the rest is in peal_skip */
    TOTAL_WITHDRAWN,
    TOTAL_SENT,   /* runs that are known to have left: accepted, or ended by more than us */
    TOTAL_RESENT, /* sends in a cell of the reconciliation table that admits a second run */
    TOTAL_LATE,   /* results that came after the run was closed */
    TOTAL_FOUND,  /* lost runs whose result came in time after all: lost, and finished */
    TOTAL_COUNT
};
const char *total_name(enum total t); /* "planned" */

struct totals {
    int64_t n[TOTAL_COUNT];
};

/* What nothing has become of; open: rows of peal_run that have not ended. 0 after every
 * transaction. */
int64_t totals_unaccounted(const struct totals *t, int64_t open);

#define RECORDER_ID_SIZE 33 /* 32 hexadecimal digits */

/* peal_mark, and what goes with it. The recorder is described in flight.h. */
struct watermark {
    int64_t until_ms; /* nothing that is due later has been sent */
    bool clean;       /* the last process was stopped cleanly: nothing PLANNED has been sent */
    char recorder[RECORDER_ID_SIZE]; /* of the life that renewed it last, "" = it has none */
    int64_t renewals;                /* how often that life has renewed it */
    int64_t last_id;                 /* peal_seq: the last log id that was given */
};

/* A result for a run that is no longer live: noted if the log says that it was given up. */
struct late_result {
    int64_t log_id, at_ms;
    int code;
    char *msg;
};

#endif
