/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - what a job is: its row as a database holds it, and the same job after parsing.
 *
 * A struct job_record is a row (text as written, owned by the record). Its members come from
 * job_columns.def, one row a column; job_columns[] describes them to whatever goes over all of them
 * (SQL, forms, JSON, copies). A struct job is immutable, counted, and shared by the scheduler's and
 * the writer's thread. Times are epoch milliseconds. Names of columns and enum texts are XXL-JOB's
 * (releases 2.3 to 3.4). */
#ifndef PEAL_MODEL_JOB_H
#define PEAL_MODEL_JOB_H

#include <stdatomic.h>
#include "base/err.h"
#include "base/str.h"
#include "base/why.h"
#include "cron/schedule.h"

#define NEVER_MS INT64_MAX /* a next scheduled time that does not exist; NULL in the database */

/* ---- enums, with the texts that the database and the protocols use -------------------------- */

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

const char *route_text(enum route r); /* "SHARDING_BROADCAST" */
const char *block_text(enum block b);
const char *misfire_text(enum misfire m);
/* False for a text that no release knows; *ret is untouched then. Exact, case-sensitive. */
bool route_parse(struct slice s, enum route *ret);
bool block_parse(struct slice s, enum block *ret);
bool misfire_parse(struct slice s, enum misfire *ret);

/* ---- the row --------------------------------------------------------------------------------- */

/* Start deadline of jobs that do not say, in seconds, unless the server's settings say otherwise;
 * and its limits, which are those of the setting too. */
#define JOB_START_DEADLINE_S 60
#define JOB_START_DEADLINE_MIN_MS 1000
#define JOB_START_DEADLINE_MAX_MS 86400000

/* The C types of job_columns.def. */
#define JOB_MEMBER_ID int64_t
#define JOB_MEMBER_I64 int64_t
#define JOB_MEMBER_INT int
#define JOB_MEMBER_BOOL bool
#define JOB_MEMBER_TIME int64_t
#define JOB_MEMBER_NEXT int64_t
#define JOB_MEMBER_REAL double
#define JOB_MEMBER_TEXT char *
#define JOB_MEMBER_BYTES char *
#define JOB_MEMBER_WORD char *
#define JOB_MEMBER_IDS char *

/* One job as its tables hold it: xxl_job_info, peal_job, peal_due. The members are those of
 * job_columns.def. All text is owned, NULL where the column is NULL. */
struct job_record {
    int64_t id;
#define JOB_COLUMN(member, type, ...) JOB_MEMBER_##type member;
#include "model/job_columns.def"
    int64_t key_ms; /* no column: where a page that is ordered by times has put the row */
};

void job_record_init(struct job_record *r); /* the columns' defaults; no text */
void job_record_done(struct job_record *r); /* frees the text; as initialized */
void job_record_copy(struct job_record *to, const struct job_record *from);

/* What an edit does to the rows that are planned already: bits. */
enum job_change {
    JOB_CHANGES_TIMES = 1,     /* the scheduled times */
    JOB_CHANGES_EXECUTORS = 2, /* where runs go */
    JOB_CHANGES_RUN = 4,       /* something else that a planned row holds */
};
/* Of all columns that differ. NULL and "" are the same text. */
unsigned job_record_changes(const struct job_record *before, const struct job_record *after);

/* ---- the columns, one by one ------------------------------------------------------------------
 */

enum job_column_type { /* job_columns.def says what each is */
                       JOB_ID,
                       JOB_I64,
                       JOB_INT,
                       JOB_BOOL,
                       JOB_TIME,
                       JOB_NEXT,
                       JOB_REAL,
                       JOB_TEXT, /* from here on the member is a char * */
                       JOB_BYTES,
                       JOB_WORD,
                       JOB_IDS,
};

enum job_table { JOB_INFO, JOB_DUE, JOB_OWN }; /* xxl_job_info, peal_due, peal_job */
enum job_form { JOB_HIDDEN, JOB_SHOWN, JOB_ON_INSERT, JOB_TAKEN }; /* what the form API does */

struct job_column {
    const char *name; /* in its table */
    enum job_table table;
    enum job_column_type type;
    size_t offset;    /* of the member */
    bool not_null;    /* a text is: text stands for NULL */
    int64_t number;   /* default of a number */
    const char *text; /* default of a text, NULL if it has none */
    int64_t min, max; /* of numbers; max of texts: units of UTF-16, of JOB_BYTES bytes; 0, 0: any */
    const char *words; /* the only texts, separated by commas; NULL: any */
    enum job_form use;
    const char *form; /* name in the form API, NULL: JOB_HIDDEN */
    const char *json; /* JSON pointer into the body of /api/v1, NULL: not there */
    unsigned changes; /* enum job_change */
};

/* JOB_COLUMN_zone is the place of the column of that member in job_columns. */
enum {
#define JOB_COLUMN(member, ...) JOB_COLUMN_##member,
#include "model/job_columns.def"
    JOB_COLUMNS
};
extern const struct job_column job_columns[JOB_COLUMNS];

/* The member of a JOB_TEXT, _BYTES, _WORD or _IDS. */
char **job_text(struct job_record *r, const struct job_column *c);
/* NULL where the record has NULL, or the column's default if it may not be NULL. */
const char *job_stored_text(const struct job_record *r, const struct job_column *c);
/* The member of any other but JOB_REAL, as a number, and back. */
int64_t job_number(const struct job_record *r, const struct job_column *c);
void job_number_set(struct job_record *r, const struct job_column *c, int64_t v);
double *job_real(struct job_record *r, const struct job_column *c);

/* ---- where planning stands --------------------------------------------------------------------
 */

/* peal_due: where planning of a job stands. */
/* Due now, at a time that nobody has said: an enabled job of XXL-JOB whose next time is 0 or less,
 * as scripts insert it. The misfire policy decides of this one firing, and the schedule goes on
 * from now. The statements of the stores write it as 1. */
#define DUE_UNSAID_MS INT64_C(1)

struct due_row {
    int64_t job_id, next_ms, last_ms, planned_until_ms, version;
    int64_t
        home; /* the node that plans it, where several share the database; due_take leaves it 0 */
};

/* The same, of a job that has a next scheduled time: its place among those of its home. */
struct home_row {
    int64_t home, next_ms, job_id;
};

struct due_row job_due(const struct job_record *r);
void job_due_set(struct job_record *r, const struct due_row *due);

/* peal_skip: scheduled times that were not fired, one row a job and outage. */
struct skip_row {
    int64_t job_id, from_ms, to_ms, count;
    enum misfire policy;
    bool extend; /* goes on where the job's latest row ends: add to that one */
};

/* ---- the parsed job ---------------------------------------------------------------------------
 */

/* Which columns are numbers of a struct job: those of xxl_job_info and peal_job that are no ids and
 * no instants. */
#define JOB_VALUE_INFO(type, member) JOB_VALUE_##type(member)
#define JOB_VALUE_OWN(type, member) JOB_VALUE_##type(member)
#define JOB_VALUE_DUE(type, member)
#define JOB_VALUE_INT(member) int member;
#define JOB_VALUE_I64(member) int64_t member;
#define JOB_VALUE_BOOL(member) bool member;
#define JOB_VALUE_REAL(member) double member;
#define JOB_VALUE_ID(member)
#define JOB_VALUE_TIME(member)
#define JOB_VALUE_TEXT(member)
#define JOB_VALUE_BYTES(member)
#define JOB_VALUE_WORD(member)
#define JOB_VALUE_IDS(member)

/* Immutable but for refs and the sender's cache; any thread may hold one. */
struct job {
    _Atomic int refs;
    int64_t id, group_id, version;
    struct schedule schedule; /* type SCHEDULE_NONE if fault is set */
    char *fault;              /* why the row cannot be scheduled, NULL if it can */
    enum route route;
    enum block block;
    enum misfire misfire;
    enum on_doubt on_doubt;
    bool bean;
    bool ended; /* not enabled because its schedule has no further scheduled time, not by a user */
    /* timeout_s, retries, enabled, misfire_max, … under the names of job_columns.def */
#define JOB_COLUMN(member, type, table, ...) JOB_VALUE_##table(type, member)
#include "model/job_columns.def"
    int64_t glue_updated_ms;
    char *handler, *param, *glue_type, *glue_source; /* never NULL: "" */
    char *alarm_email; /* its addresses, comma separated; NULL if it names nobody */
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

#endif
