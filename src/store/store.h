/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - the one interface to a database: nine tables of functions; an engine is a folder.
 *
 * Synchronous, epoch milliseconds only, one thread per handle. All writing goes through the one
 * handle that the writer thread owns, between begin and commit; what a transaction is made of is
 * decided in src/ledger, the same for every engine and for the simulation, which runs on memory.c.
 * Handles opened read-only serve pages; each of their calls is a snapshot of its own and short.
 *
 * Errors: ERR_NOTFOUND, ERR_EXISTS and ERR_INVALID are about the row named and leave the
 * transaction usable; every other code means that the transaction is lost (call rollback). why
 * then says what happened and what an operator can do. ERR_CONFLICT: the same transaction may
 * succeed at once. Engines that come later fit these shapes:
 * due_take is SELECT … FOR UPDATE SKIP LOCKED, runs_add a multi-row insert that returns ids,
 * runs_change a statement per kind of change, conditional on (node, epoch) and on an open row. */
#ifndef PEAL_STORE_STORE_H
#define PEAL_STORE_STORE_H

#include "model/alarm.h"
#include "model/channel.h"
#include "model/job_stat.h"
#include "model/audit.h"
#include "model/idem.h"
#include "model/incident.h"
#include "model/model.h"
#include "model/scope.h"
#include "model/user.h"
#include "store/clean.h"

struct store {
    const struct store_ops *ops; /* the implementation's struct begins with this one */
    bool md5_passwords; /* xxl_job_user is of XXL-JOB up to 3.1: MD5, later ones have SHA-256 */
    /* A schedule that begins, or that changes, has its first scheduled time so far behind now at
     * least: what is due sooner may be on its way in another program that works on the tables. */
    int64_t start_ahead_ms;
    bool beside; /* other programs schedule on the tables, and have runs of their own in the log */
    bool shared; /* as in store_options: other servers may own live runs */
    /* Since this was last set to false a transaction has found that the database is another server
     * than before (a standby that was promoted): what memory knows of its rows may be newer. */
    bool moved;
    /* After ERR_FENCED, and of a beat that was not ours: commits that were acknowledged and that
     * the database does not have. 0: it has them all. */
    int64_t lost_commits;
    bool told; /* a transaction has changed what all servers keep in memory; its reader clears it */
};

/* A handle that is no server's: whole tables are read or written by it (bulk.h). */
enum store_bulk {
    STORE_SERVED,
    STORE_BULK_READ,  /* writes nothing; the schema must be this release's */
    STORE_BULK_WRITE, /* makes the schema; commits say nothing, as there is no life of a server */
    STORE_BULK_BARE,  /* of a database server: connected, and no table is looked at; ERR_BUSY never
                       */
};

struct store_options {
    bool read_only;            /* a handle for pages */
    enum store_bulk bulk;      /* not STORE_SERVED: ERR_BUSY while a server uses the database */
    int64_t node, epoch;       /* owner of the live runs that this handle adds */
    int64_t start_deadline_ms; /* of jobs whose row has none; 0: the column's default */
    /* Of a database server: the password, if the URL says none; the node's name, by which the next
     * life finds it again. NULL: PEAL_DB_PASSWORD of the environment; "peal". */
    const char *password, *node_name;
    int64_t clock_skew_ms; /* the server's clock may be so far from ours, 0: as it likes */
    int64_t gone_epoch; /* of a life that has ended for certain, so that nobody waits for it; 0 */
    bool lost_commits;  /* the last life of this node has found that the database had lost some: ids
                         * that it may have given are left out */
    /* Other servers may have the same database, each under a name of its own (and each with this
     * set). Not with a file: ERR_INVALID. */
    bool shared;
    int64_t life; /* > 0: a further handle of the life of that node and epoch, for its beat */
};

struct log_record { /* one row of xxl_job_log; text owned, NULL = NULL */
    int64_t id, group_id, job_id;
    char *address, *handler, *param, *sharding;
    int retries;
    int64_t trigger_ms; /* run_log_ms; -1 if NULL */
    int trigger_code;
    char *trigger_msg;
    int64_t handle_ms; /* -1 if NULL */
    int handle_code;
    char *handle_msg;
    int alarm_status;
    enum kind kind; /* KIND_COUNT: a row of another program, which does not say */
    /* from peal_run while the run is live, else phase 0 */
    enum phase phase;
    int64_t scheduled_ms;
    int32_t attempt;
};

enum jobs_order {
    JOBS_NEWEST, /* by id, the largest first */
    JOBS_OLDEST,
    JOBS_NAME,
    JOBS_NEXT,  /* by what next_ms says, those without a next scheduled time last */
    JOBS_LAST,  /* by what last_ms says, the longest ago first; those that have not fired last */
    JOBS_FIRED, /* the same, the newest first; those that have not fired last */
};

#define JOBS_NAME_KEY 85 /* characters of a name that decide about its place */
#define JOBS_WORDS_MAX 5 /* further ones are not looked at */

struct jobs_key {       /* the last job of the page before */
    int64_t id, key_ms; /* its key_ms */
    const char *name;   /* at least its first JOBS_NAME_KEY characters */
};

struct jobs_filter {
    const struct scope *scope;                  /* NULL: all groups */
    int64_t group_id;                           /* <= 0: any */
    int status;                                 /* trigger_status, < 0: any */
    const char *description, *handler, *author; /* substring, NULL or "": any */
    int64_t offset, limit;
    int64_t now_ms; /* see jobs_page; 0: as the tables have it */
    /* pages by key, in place of the offset */
    int64_t id;          /* only this job; 0: any */
    const int64_t *only; /* only these; NULL: any */
    size_t nonly;
    int64_t child;            /* that start this job when they have succeeded; 0: any */
    const char *type, *owner; /* exactly, NULL: any */
    const char *words;        /* each in the name, the handler or the owner, or the id; NULL: any */
    enum jobs_order order;
    const struct jobs_key *after; /* behind this job; NULL: from the first on */
    int64_t count_max;            /* what the total stops at, 0: as below */
};

struct logs_filter {
    const struct scope *scope; /* NULL: all groups */
    int64_t group_id, job_id;  /* <= 0: any */
    int status;                /* 1 succeeded, 2 failed, 3 running (and live), else any */
    int64_t from_ms, to_ms;    /* of trigger_time, inclusive; -1: open */
    int64_t offset, limit;
    int64_t now_ms; /* PLANNED runs that are due later are left out; 0: none is */
};

#define RUNS_LOOK_MAX 200000 /* rows that one runs_page looks at */

struct runs_filter {
    const struct scope *scope;  /* the asker's groups; NULL: the server itself */
    const struct scope *groups; /* and of these groups; NULL: any */
    const int64_t *jobs;        /* of these jobs */
    size_t njobs;               /* 0: any */
    unsigned outcomes, kinds;   /* bits of enum log_outcome, of enum kind; 0: any */
    const char *address;        /* the executor's; NULL: any */
    int64_t from_ms, to_ms;     /* of trigger_time: from, and before; -1: open */
    int64_t min_ms;             /* from trigger_time to the end, at least; 0: any */
    bool unknown;               /* open, and the executor has not said what became of it */
    bool told;                  /* its story is kept */
    /* And what the caller knows of it, looked at last; NULL: any. */
    bool (*also)(void *ctx, const struct log_record *r);
    void *also_ctx;
    int64_t low_id, below_id; /* ids from here on, and below; INT64_MAX: a first page */
    int64_t limit, count_max; /* rows of the page; rows that are counted with it */
    int64_t now_ms;           /* PLANNED runs that are due later are left out; 0: none is */
};

struct runs_end {
    bool more; /* rows may follow: the next page is below below_id */
    int64_t below_id;
    int64_t counted; /* matches, those of the page among them */
    bool exact;      /* there are no others from below_id of the filter on */
};

struct groups_filter {
    const struct scope *scope; /* NULL: all groups */
    const char *app, *title;   /* substring, NULL or "": any */
    int64_t offset, limit;
    const char *words; /* each in app or title, or the id, at most JOBS_WORDS_MAX; NULL: any */
    int64_t after_id;  /* behind this group; 0: from the first on. The total is of all */
};

struct report_row { /* of xxl_job_log_report */
    int64_t day_ms; /* when the day begins, by the zone of who wrote it */
    int64_t running, succeeded, failed;
    int64_t updated_ms;
};

struct audit_filter {          /* NULL or "": any; newest first */
    const char *words;         /* part of the user's or the thing's name, or its id */
    const char *user, *action; /* action "job.*": all that begin with "job." */
    const char *kind, *object; /* both: bulk actions that it was in, too */
    int64_t from_ms, to_ms;    /* to_ms not included; -1: open */
    int64_t before_id, limit;
};

struct users_filter {
    const char *name; /* substring, NULL or "": any */
    int role;         /* of XXL-JOB, < 0: any */
    bool by_name;     /* from offset on, by name; else those behind after_id, by id */
    int64_t offset, after_id, limit;
};

struct job_stop {
    int64_t job_id;
    const char *reason;
};

/* What a commit writes beside the rows of its transaction. All zero: nothing. */
struct commit {
    struct totals totals; /* to be added */
    /* until_ms 0: the watermark stays. Else it is put: it never goes back, an earlier scheduled
     * time leaves it where it is, and it is not clean any more. The recorder and its renewals are
     * as this says; the rest is not looked at. */
    struct watermark watermark;
    bool clean; /* then: until the next one is put no PLANNED row has been sent */
};

/* Called for each row in order; the record is lent. Return false to stop. */
struct script_record { /* a version of a job's script; text owned, NULL = NULL */
    int64_t id, job_id;
    char *glue_type, *source, *remark;
    int64_t bytes; /* of the source */
    int64_t added_ms;
};
typedef bool script_row_fn(void *ctx, const struct script_record *r);
void script_record_done(struct script_record *r);

typedef bool job_row_fn(void *ctx, const struct job_record *r);
typedef bool log_row_fn(void *ctx, const struct log_record *r);
typedef bool group_row_fn(void *ctx, const struct group_record *r);
typedef bool group_token_row_fn(void *ctx, const struct group_token *t);
typedef bool group_moved_row_fn(void *ctx, int64_t group_id, const char *address);
typedef bool registry_row_fn(void *ctx, const struct registry_record *r);
typedef bool audit_row_fn(void *ctx, const struct audit_record *r);
typedef bool user_row_fn(void *ctx, const struct user_record *r);
typedef bool session_row_fn(void *ctx, const struct session_record *r);
typedef bool token_row_fn(void *ctx, const struct token_record *r);
/* msg: lent. False ends the walk. */
typedef bool run_ended_fn(void *ctx, int64_t log_id, int code, const char *msg);
typedef bool run_row_fn(void *ctx, const struct run_row *r);
typedef bool delta_row_fn(void *ctx, int64_t n, struct slice ends);
typedef bool figure_row_fn(void *ctx, const struct figure_row *r);
typedef bool job_stat_row_fn(void *ctx, const struct job_stat_row *r);
typedef bool report_row_fn(void *ctx, const struct report_row *r);
typedef bool alarm_row_fn(void *ctx, const struct alarm_record *r);
typedef bool channel_row_fn(void *ctx, const struct channel_record *r);
typedef bool delivery_row_fn(void *ctx, const struct delivery_record *r);
typedef bool rule_row_fn(void *ctx, const struct rule_record *r);
typedef bool silence_row_fn(void *ctx, const struct silence_record *r);
typedef bool incident_row_fn(void *ctx, const struct incident_record *r);
typedef bool incident_job_row_fn(void *ctx, const struct incident_job *j);
typedef bool job_id_fn(void *ctx, int64_t job_id);

/* The interface is nine tables, by what their rows are about. rollback and close cannot fail;
 * every other result is looked at. A table may be shared: what is read and written row by row is
 * the same for engines that speak SQL. */

struct store_txn {
    MUST_CHECK enum err (*begin)(struct store *s, struct why *why);
    /* With what c says; NULL: nothing. Commits are numbered from 1 on, see struct watermark.
     * ERR_UNHEARD: the answer got lost; rollback, then outcome before anything else. ERR_FENCED:
     * this handle's epoch has ended, none of its transactions will ever be committed again. */
    MUST_CHECK enum err (*commit)(struct store *s, const struct commit *c, struct why *why);
    void (*rollback)(struct store *s);
    /* Before begin, where programs that are not Peal plan jobs of this database too: a lock that
     * keeps them from it is taken, and the transaction that begins next has it until it ends. Waits
     * for wait_ms at most. *ret_have false: it is not had yet, the transaction must not plan, and
     * the place in the lock's queue is kept if it is asked for again before the one after it. NULL:
     * there are no such programs. */
    MUST_CHECK enum err (*plan_lock)(struct store *s, int wait_ms, bool *ret_have, struct why *why);
    /* After ERR_UNHEARD and rollback: was it committed after all, and is it so wherever the
     * database has to keep it? Any error but ERR_FENCED: not known yet, ask again. A database in
     * this process always knows: it was not. */
    MUST_CHECK enum err (*outcome)(struct store *s, bool *ret_done, struct why *why);
    /* Within a transaction, one at a time: what is written from here on can be taken back alone.
     * savepoint_keep ends it and leaves what was written; savepoint_undo ends it and takes that
     * back, also after an error that would have cost the transaction. */
    MUST_CHECK enum err (*savepoint)(struct store *s, struct why *why);
    MUST_CHECK enum err (*savepoint_keep)(struct store *s, struct why *why);
    MUST_CHECK enum err (*savepoint_undo)(struct store *s, struct why *why);
    /* Next n values of a named persistent counter (peal_seq), from *ret_first on; the first of all
     * is 1. Never given twice in committed transactions: what was rolled back is given again, log
     * ids alike. On a shared database each life has values of its own, and gaps. */
    MUST_CHECK enum err (*seq_next)(struct store *s, const char *name, int n, int64_t *ret_first,
                                    struct why *why);
    MUST_CHECK enum err (*watermark_get)(struct store *s, struct watermark *ret,
                                         struct why *why); /* 0, not clean, no recorder if none */
    /* Of all commits so far. *ret_open: live rows that have not ended. */
    MUST_CHECK enum err (*totals_get)(struct store *s, struct totals *ret, int64_t *ret_open,
                                      struct why *why);
};

/* Planning and the ledger: what each firing costs. */
struct store_runs {
    /* Jobs with from_ms <= next_ms <= until_ms, earliest first (ties by id), at most max into rows.
     * *ret_next_ms: the earliest next_ms from from_ms on that was not taken, NEVER_MS if none. */
    MUST_CHECK enum err (*due_take)(struct store *s, int64_t from_ms, int64_t until_ms, int max,
                                    struct due_row *rows, int *ret_n, int64_t *ret_next_ms,
                                    struct why *why);
    /* Advance: next, last and planned_until of existing rows; version is not written. */
    MUST_CHECK enum err (*due_put)(struct store *s, const struct due_row *rows, int n,
                                   struct why *why);
    /* Due rows of rate jobs (FIX_RATE, FIX_DELAY), or else of CRON jobs, that have a next scheduled
     * time, by id from behind after_id: for sweeps over all jobs in slices. */
    MUST_CHECK enum err (*due_each)(struct store *s, bool rate, int64_t after_id, int max,
                                    struct due_row *rows, int *ret_n, struct why *why);
    /* Insert log row and live row of each; sets log_id, to -1 where the unique key (job, kind,
     * scheduled time, shard, attempt, cause) says that the run exists already. */
    MUST_CHECK enum err (*runs_add)(struct store *s, struct run_row *rows, int n, struct why *why);
    /* In order. A change of a run that is not live any more does nothing. *ret_missed: how many of
     * these; missing is set in each of them, and in no other. */
    MUST_CHECK enum err (*runs_change)(struct store *s, struct run_change *changes, int n,
                                       int64_t *ret_missed, struct why *why);
    MUST_CHECK enum err (*runs_each)(struct store *s, run_row_fn *fn, void *ctx, struct why *why);
    /* extend without an earlier row of the job begins one. */
    MUST_CHECK enum err (*skips_add)(struct store *s, const struct skip_row *rows, int n,
                                     struct why *why);
    /* Notes each in its row's handle_msg if the row was closed as lost, withdrawn or skipped
     * (handle_msg begins with "lost: ", "withdrawn: ", "skipped: "). If its live row has gone and
     * it has no end, this is its end, and a note. *ret_noted: how many. Beside other programs such
     * a row is a run of theirs: it gets the end that they would write, once, and is not counted;
     * parent is set in each that was told of. */
    MUST_CHECK enum err (*late_add)(struct store *s, struct late_result *late, int n,
                                    int *ret_noted, struct why *why);
    /* Keep the story of a run, in place of the one that it has. It goes with the log row, soon
     * after it. */
    MUST_CHECK enum err (*story_put)(struct store *s, int64_t log_id, const struct story *story,
                                     struct why *why);
    /* Keep which traces these runs belong to, in place of what is kept of them. Goes with the log
     * row, soon after it. */
    MUST_CHECK enum err (*traces_put)(struct store *s, const struct run_trace *traces, int n,
                                      struct why *why);
    /* Delete up to max log rows of deleted jobs. */
    MUST_CHECK enum err (*purge)(struct store *s, int max, bool *ret_more, struct why *why);
    /* One step of a walk: looks at one chunk of 4,096 ids at most, and deletes up to max rows.
     * *ret_end: there are no more rows to look at. */
    MUST_CHECK enum err (*log_clean)(struct store *s, struct log_clean *c, int max, bool *ret_end,
                                     struct why *why);
    /* Every row whose id is smaller has an earlier trigger_time (and some others may have). */
    MUST_CHECK enum err (*log_before)(struct store *s, int64_t ms, int64_t *ret_id,
                                      struct why *why);
    /* The rows of each job in the chunk of the newest row below an id. *ret_from_id: where that
     * chunk begins; INT64_MAX: there is none. */
    MUST_CHECK enum err (*log_counts)(struct store *s, int64_t below_id, log_count_fn *fn,
                                      void *ctx, int64_t *ret_from_id, struct why *why);
    /* What users ask for. A request begins at the newest row of now; sets id. */
    MUST_CHECK enum err (*clean_add)(struct store *s, struct clean_request *r, struct why *why);
    /* The oldest one; the caller's (clean_request_done). */
    MUST_CHECK enum err (*clean_first)(struct store *s, struct clean_request *ret, bool *ret_any,
                                       struct why *why);
    /* How far it has come; end: it has been done, its row goes. */
    MUST_CHECK enum err (*clean_put)(struct store *s, const struct clean_request *r, bool end,
                                     struct why *why);
};

/* Jobs, groups, and which executors have registered. */
struct store_catalog {
    /* The whole record; ERR_NOTFOUND. Unusable numbers in the row become the defaults. */
    MUST_CHECK enum err (*job_get)(struct store *s, int64_t id, struct job_record *ret,
                                   struct why *why);
    /* The records of these jobs, in any order; fn is not called for one that is not there. */
    MUST_CHECK enum err (*jobs_get)(struct store *s, const int64_t *ids, int n, job_row_fn *fn,
                                    void *ctx, struct why *why);
    /* Stop jobs that can never fire (again): trigger_status 0, next unset, the reason kept. One
     * that is not there is passed over. */
    MUST_CHECK enum err (*jobs_stop)(struct store *s, const struct job_stop *stops, int n,
                                     int64_t now_ms, struct why *why);
    MUST_CHECK enum err (*job_insert)(struct store *s, struct job_record *r,
                                      struct why *why); /* sets id */
    /* Every column of the three tables; ERR_NOTFOUND. */
    MUST_CHECK enum err (*job_update)(struct store *s, const struct job_record *r, struct why *why);
    /* The job, its script history, its due row. Its log rows go step by step, see purge. */
    MUST_CHECK enum err (*job_delete)(struct store *s, int64_t id, struct why *why);
    /* Versions of a job's script: those older than before_id (0: all), newest first, at most max,
     * without the source. */
    MUST_CHECK enum err (*scripts_each)(struct store *s, int64_t job_id, int64_t before_id, int max,
                                        script_row_fn *fn, void *ctx, struct why *why);
    /* ERR_NOTFOUND, too, if it is another job's. */
    MUST_CHECK enum err (*script_get)(struct store *s, int64_t job_id, int64_t id,
                                      struct script_record *ret, struct why *why);
    /* Sets id; of the job's versions the newest keep stay. bytes is not looked at. */
    MUST_CHECK enum err (*script_add)(struct store *s, struct script_record *r, int keep,
                                      struct why *why);
    MUST_CHECK enum err (*group_get)(struct store *s, int64_t id, struct group_record *ret,
                                     struct why *why);
    /* These groups, in any order; fn is not called for one that is not there. */
    MUST_CHECK enum err (*groups_get)(struct store *s, const int64_t *ids, int n, group_row_fn *fn,
                                      void *ctx, struct why *why);
    MUST_CHECK enum err (*group_jobs)(struct store *s, int64_t group_id, int64_t *ret_count,
                                      struct why *why);
    /* Other jobs that name this one as a child. Looks at all jobs. */
    MUST_CHECK enum err (*job_parents)(struct store *s, int64_t id, int64_t *ret_count,
                                       struct why *why);
    MUST_CHECK enum err (*groups_each)(struct store *s, group_row_fn *fn, void *ctx,
                                       struct why *why);
    MUST_CHECK enum err (*group_insert)(struct store *s, struct group_record *r, struct why *why);
    MUST_CHECK enum err (*group_update)(struct store *s, const struct group_record *r,
                                        struct why *why);
    /* With its token. */
    MUST_CHECK enum err (*group_delete)(struct store *s, int64_t id, struct why *why);
    /* ERR_NOTFOUND, without a why: the group has none of its own. */
    MUST_CHECK enum err (*group_token_get)(struct store *s, int64_t group_id,
                                           struct group_token *ret, struct why *why);
    /* Insert or replace; one without token and next goes. No address has moved then; but when a
     * change has ended (token alone), who had is known until the next one begins. */
    MUST_CHECK enum err (*group_token_put)(struct store *s, const struct group_token *t,
                                           struct why *why);
    MUST_CHECK enum err (*group_tokens_each)(struct store *s, group_token_row_fn *fn, void *ctx,
                                             struct why *why);
    /* The address came with the next token of the group; harmless if that is known. */
    MUST_CHECK enum err (*group_moved_put)(struct store *s, int64_t group_id, const char *address,
                                           struct why *why);
    MUST_CHECK enum err (*group_moved_each)(struct store *s, group_moved_row_fn *fn, void *ctx,
                                            struct why *why);
    MUST_CHECK enum err (*registry_each)(struct store *s, registry_row_fn *fn, void *ctx,
                                         struct why *why);
    MUST_CHECK enum err (*registry_put)(struct store *s, const struct registry_record *rows, int n,
                                        struct why *why); /* insert, or touch update_time */
    /* updated_ms: one that was touched later stays; 0: whenever it was. */
    MUST_CHECK enum err (*registry_delete)(struct store *s, const struct registry_record *rows,
                                           int n, struct why *why);
};

struct store_users {
    MUST_CHECK enum err (*user_find)(struct store *s, const char *username, struct user_record *ret,
                                     struct why *why);
    MUST_CHECK enum err (*user_get)(struct store *s, int64_t id, struct user_record *ret,
                                    struct why *why);
    /* Of all users, or of those who may do everything. */
    MUST_CHECK enum err (*user_count)(struct store *s, bool admins, int64_t *ret, struct why *why);
    /* With rights, preferences and the rest; login_ms and sessions do not count. role and
     * permission must be those that belong to the rights (user_record_grant). */
    MUST_CHECK enum err (*user_insert)(struct store *s, struct user_record *r, struct why *why);
    /* All of that but the name. argon2 is that of the password as it stands in r. ERR_NOTFOUND. */
    MUST_CHECK enum err (*user_update)(struct store *s, const struct user_record *r,
                                       struct why *why);
    /* With grants, tokens and sessions. ERR_NOTFOUND. */
    MUST_CHECK enum err (*user_delete)(struct store *s, int64_t id, struct why *why);
    /* Set argon2 for the password column as it stands now, which itself is never rewritten. */
    MUST_CHECK enum err (*user_upgrade)(struct store *s, int64_t id, const char *argon2,
                                        struct why *why);
    /* The time of the last login. */
    MUST_CHECK enum err (*user_seen)(struct store *s, int64_t id, int64_t login_ms,
                                     struct why *why);
    MUST_CHECK enum err (*users_page)(struct store *s, const struct users_filter *f,
                                      user_row_fn *fn, void *ctx, int64_t *ret_total,
                                      struct why *why);

    MUST_CHECK enum err (*session_put)(struct store *s, const struct session_record *r,
                                       struct why *why);
    MUST_CHECK enum err (*session_find)(struct store *s, const char *digest,
                                        struct session_record *ret, struct why *why);
    /* Those of a user, the newest first. */
    MUST_CHECK enum err (*sessions_of)(struct store *s, int64_t user_id, session_row_fn *fn,
                                       void *ctx, struct why *why);
    /* OK also if there is none any more; so are the next three. */
    MUST_CHECK enum err (*session_used)(struct store *s, const char *digest, int64_t used_ms,
                                        struct why *why);
    MUST_CHECK enum err (*session_delete)(struct store *s, const char *digest, struct why *why);
    /* All of a user but one (NULL: all). */
    MUST_CHECK enum err (*sessions_end)(struct store *s, int64_t user_id, const char *but,
                                        struct why *why);
    MUST_CHECK enum err (*sessions_expire)(struct store *s, int64_t now_ms, struct why *why);

    /* Sets id; used_ms does not count. */
    MUST_CHECK enum err (*token_insert)(struct store *s, struct token_record *r, struct why *why);
    MUST_CHECK enum err (*token_get)(struct store *s, int64_t id, struct token_record *ret,
                                     struct why *why);
    MUST_CHECK enum err (*token_find)(struct store *s, const char *digest, struct token_record *ret,
                                      struct why *why);
    /* Those of a user behind after_id, by id; *ret_total: of all. */
    MUST_CHECK enum err (*tokens_of)(struct store *s, int64_t user_id, int64_t after_id,
                                     int64_t limit, token_row_fn *fn, void *ctx, int64_t *ret_total,
                                     struct why *why);
    /* OK also if there is none any more. */
    MUST_CHECK enum err (*token_used)(struct store *s, int64_t id, int64_t used_ms,
                                      struct why *why);
    MUST_CHECK enum err (*token_delete)(struct store *s, int64_t id, struct why *why);

    MUST_CHECK enum err (*audit_add)(struct store *s, struct audit_record *r,
                                     struct why *why); /* sets id; items does not count */
    /* A thing that the entry of a bulk action is about: it is found by it, and counted. */
    MUST_CHECK enum err (*audit_item_add)(struct store *s, int64_t id, const char *kind,
                                          const char *object, struct why *why);
    /* *ret_total: all matches, counted up to 10,001. */
    MUST_CHECK enum err (*audit_page)(struct store *s, const struct audit_filter *f,
                                      audit_row_fn *fn, void *ctx, int64_t *ret_total,
                                      struct why *why);
    MUST_CHECK enum err (*audit_get)(struct store *s, int64_t id, struct audit_record *ret,
                                     struct why *why);
    /* Delete those of the max oldest rows that are older than before_ms. */
    MUST_CHECK enum err (*audit_expire)(struct store *s, int64_t before_ms, int max,
                                        struct why *why);

    /* Requests with an Idempotency-Key: one of a user's key. ERR_NOTFOUND. */
    MUST_CHECK enum err (*idem_find)(struct store *s, int64_t user_id, const char *key,
                                     struct idem_record *ret, struct why *why);
    MUST_CHECK enum err (*idem_insert)(struct store *s, struct idem_record *r,
                                       struct why *why); /* sets id */
    /* Set status, headers and answer. */
    MUST_CHECK enum err (*idem_answer)(struct store *s, const struct idem_record *r,
                                       struct why *why);
    /* With what it has made. OK also if there is none. */
    MUST_CHECK enum err (*idem_delete)(struct store *s, int64_t id, struct why *why);
    /* Delete at most max that are older than before_ms. */
    MUST_CHECK enum err (*idem_expire)(struct store *s, int64_t before_ms, int max,
                                       struct why *why);
    /* What the request has made for that item; ERR_NOTFOUND. */
    MUST_CHECK enum err (*idem_made_get)(struct store *s, int64_t id, int64_t item,
                                         int64_t *ret_made, struct why *why);
    /* Insert or replace. */
    MUST_CHECK enum err (*idem_made_put)(struct store *s, int64_t id, int64_t item, int64_t made,
                                         struct why *why);
};

/* Any handle. Newest first (groups by id). offset and limit below 0 count as 0. *ret_total: all
 * matches. Of the log it is exact up to 10,000, and on a page that is not full; beyond, it may be
 * too high (by the ids that other rows have), never too low. Of jobs and groups it is exact up to a
 * million, or if counting takes too long, the rows seen and one more. */
struct store_facts {
    int64_t bytes, log_bytes; /* of the database; of what is written ahead of it. 0: in memory */
    int64_t oldest_ms; /* trigger_time of the row of the log with the smallest id; -1: none */
};

struct store_pages {
    /* next_ms is the next scheduled time behind now that will really fire: the earliest planned
     * cron run's, else where planning stands. last_ms is the last before it that did; what
     * neither the newest rows of the log nor peal_due tell is 0. By last_ms, a job that fires every
     * few seconds may stand as many seconds off its place. Filters look for text in either case of
     * ASCII messages. */
    MUST_CHECK enum err (*jobs_page)(struct store *s, const struct jobs_filter *f, job_row_fn *fn,
                                     void *ctx, int64_t *ret_total, struct why *why);
    MUST_CHECK enum err (*logs_page)(struct store *s, const struct logs_filter *f, log_row_fn *fn,
                                     void *ctx, int64_t *ret_total, struct why *why);
    /* By id downwards, from f->below_id on: what comes or goes meanwhile repeats and hides no other
     * row. Looks at RUNS_LOOK_MAX rows (or as many as it may in a second); then *ret says where to
     * go on, though the page may not be full. */
    MUST_CHECK enum err (*runs_page)(struct store *s, const struct runs_filter *f, log_row_fn *fn,
                                     void *ctx, struct runs_end *ret, struct why *why);
    MUST_CHECK enum err (*groups_page)(struct store *s, const struct groups_filter *f,
                                       group_row_fn *fn, void *ctx, int64_t *ret_total,
                                       struct why *why);
    MUST_CHECK enum err (*log_get)(struct store *s, int64_t id, struct log_record *ret,
                                   struct why *why);
    /* ERR_NOTFOUND: none is kept of that run. */
    MUST_CHECK enum err (*story_get)(struct store *s, int64_t log_id, struct story *ret,
                                     struct why *why);
    /* Which trace the run belongs to; its own where nothing is kept. */
    MUST_CHECK enum err (*trace_get)(struct store *s, int64_t log_id, struct trace_root *ret,
                                     struct why *why);
    /* The runs that retry this one of the job, by id; at most max. */
    MUST_CHECK enum err (*retries_of)(struct store *s, int64_t job_id, int64_t log_id, int64_t *ids,
                                      int max, int *ret_n, struct why *why);
    /* The runs of other jobs, in the groups in scope, that this one's success has started; the
     * same.
     */
    MUST_CHECK enum err (*children_of)(struct store *s, const struct scope *scope, int64_t job_id,
                                       int64_t log_id, int64_t *ids, int max, int *ret_n,
                                       struct why *why);
    MUST_CHECK enum err (*facts)(struct store *s, struct store_facts *ret, struct why *why);
    /* Open runs that another program has ended in their log rows, a thousand at most. NULL: no
     * other program does that on this engine. */
    MUST_CHECK enum err (*runs_ended)(struct store *s, run_ended_fn *fn, void *ctx,
                                      struct why *why);
};

/* What has become of runs, by time; ledger/figures.h says what the rows mean together. */
struct store_figures {
    /* A commit's ends, as bytes (model/end.h). *ret_n: the number that the commit will have. */
    MUST_CHECK enum err (*delta_add)(struct store *s, struct slice ends, int64_t *ret_n,
                                     struct why *why);
    MUST_CHECK enum err (*deltas_each)(struct store *s, delta_row_fn *fn, void *ctx,
                                       struct why *why); /* by n */
    MUST_CHECK enum err (*deltas_drop)(struct store *s, int64_t through, struct why *why);
    /* Add to the rows, or make them. A row that says it includes that commit stays as it is. */
    MUST_CHECK enum err (*figures_add)(struct store *s, const struct figure_row *rows, int n,
                                       struct why *why);
    /* Summed over nodes; through is the largest. durations: DURATION_BUCKETS sums, NULL: not
     * wanted; ret->durations is NULL. ERR_NOTFOUND, without a why. */
    MUST_CHECK enum err (*figure_get)(struct store *s, int64_t slot, int64_t group_id,
                                      int64_t job_id, struct figure_row *ret, uint32_t *durations,
                                      struct why *why);
    /* Those of the whole and of groups with from <= slot < until, which are slots of one level; by
     * slot. durations: NULL. */
    MUST_CHECK enum err (*figures_each)(struct store *s, int64_t from, int64_t until,
                                        figure_row_fn *fn, void *ctx, struct why *why);
    /* Delete up to max rows with from <= slot < until. */
    MUST_CHECK enum err (*figures_expire)(struct store *s, int64_t from, int64_t until, int max,
                                          bool *ret_more, struct why *why);
    MUST_CHECK enum err (*job_stats_put)(struct store *s, const struct job_stat_row *rows, int n,
                                         struct why *why);
    /* Of all nodes. */
    MUST_CHECK enum err (*job_stats_each)(struct store *s, job_stat_row_fn *fn, void *ctx,
                                          struct why *why);
    /* Insert, or replace that of the day. */
    MUST_CHECK enum err (*reports_put)(struct store *s, const struct report_row *rows, int n,
                                       struct why *why);
    /* from_ms <= day_ms <= to_ms, by day. */
    MUST_CHECK enum err (*reports_each)(struct store *s, int64_t from_ms, int64_t to_ms,
                                        report_row_fn *fn, void *ctx, struct why *why);
    /* Runs that have not ended, but for planned ones that are due later than now, by the day that
     * their trigger_time lies in: days begin then, the latest first. Earlier ones are left out.
     * scope: of the groups of their log rows; looks at all live rows. */
    MUST_CHECK enum err (*runs_running)(struct store *s, const struct scope *scope,
                                        const int64_t *days, int n, int64_t now_ms,
                                        int64_t *ret_counts, struct why *why);
};

typedef bool job_late_fn(void *ctx, int64_t job_id, int64_t scheduled_ms);
typedef bool skip_row_fn(void *ctx, int64_t id, const struct skip_row *r);

#define ALARMS_COUNT_MAX 10000 /* of alarms_page */

struct alarms_filter {
    const struct scope *scope; /* NULL: all groups */
    int64_t incident_id;       /* messages of this alarm of a rule; 0: any */
    int64_t log_id;            /* of this run; 0: any */
    const char *channel;       /* NULL: any */
    enum alarm_status status;  /* ALARM_UNSEEN: any */
    int64_t since_ms;          /* that were closed then or later, or are open; 0: any */
    int64_t below_id, limit;   /* INT64_MAX: a first page */
};

/* What is to be told to people, and what came of it. */
struct store_alarms {
    /* Sets id, to 0 where the log row has an alarm for that channel already. Texts are copied.
     */
    MUST_CHECK enum err (*alarms_add)(struct store *s, struct alarm_record *rows, int n,
                                      struct why *why);
    /* Open alarms of the channel (NULL: of any) with larger ids than after_id, by id, at most max.
     * Any handle. */
    MUST_CHECK enum err (*alarms_open)(struct store *s, const char *channel, int64_t after_id,
                                       int max, alarm_row_fn *fn, void *ctx, struct why *why);
    /* An alarm's tries, by target and number. Any handle. */
    MUST_CHECK enum err (*deliveries_each)(struct store *s, int64_t alarm_id, delivery_row_fn *fn,
                                           void *ctx, struct why *why);
    /* One that has the same alarm, target and number stays as it is. */
    MUST_CHECK enum err (*delivery_add)(struct store *s, const struct delivery_record *r,
                                        struct why *why);
    /* Close it, if it is open. Where the log row has no other open one, its alarm_status -1
     * becomes the worst of all of them. */
    MUST_CHECK enum err (*alarm_close)(struct store *s, int64_t id, enum alarm_status status,
                                       int64_t now_ms, struct why *why);
    MUST_CHECK enum err (*alarm_get)(struct store *s, int64_t id, struct alarm_record *ret,
                                     struct why *why);
    /* By id downwards. *ret_total: all of the filter, whatever the page, counted up to
     * ALARMS_COUNT_MAX. Any handle. */
    MUST_CHECK enum err (*alarms_page)(struct store *s, const struct alarms_filter *f,
                                       alarm_row_fn *fn, void *ctx, int64_t *ret_total,
                                       struct why *why);
    /* It is open again, and an alarm_status that said what came of it is -1. ERR_NOTFOUND: it is
     * not there, or open. */
    MUST_CHECK enum err (*alarm_reopen)(struct store *s, int64_t id, int64_t now_ms,
                                        struct why *why);
    /* Delete up to max alarms that were closed before then, with their deliveries. */
    MUST_CHECK enum err (*alarms_purge)(struct store *s, int64_t before_ms, int max, bool *ret_more,
                                        struct why *why);

    /* Channels that were made through the API. By id. */
    MUST_CHECK enum err (*channels_each)(struct store *s, channel_row_fn *fn, void *ctx,
                                         struct why *why);
    MUST_CHECK enum err (*channel_get)(struct store *s, int64_t id, struct channel_record *ret,
                                       struct why *why);
    /* Sets id. No other has the name. */
    MUST_CHECK enum err (*channel_insert)(struct store *s, struct channel_record *r,
                                          struct why *why);
    /* The whole row. ERR_NOTFOUND. */
    MUST_CHECK enum err (*channel_update)(struct store *s, const struct channel_record *r,
                                          struct why *why);
    MUST_CHECK enum err (*channel_delete)(struct store *s, int64_t id, struct why *why);
};

struct incidents_filter {
    const struct scope *scope; /* NULL: all groups */
    int open;                  /* 1: that are open, 0: that are closed, -1: any */
    int64_t rule_id;           /* 0: any */
    int64_t below_id, limit;   /* INT64_MAX: a first page */
};

/* Rules of alarms, what they have found, and what was told of it. */
struct store_rules {
    MUST_CHECK enum err (*rules_each)(struct store *s, rule_row_fn *fn, void *ctx,
                                      struct why *why); /* by id */
    MUST_CHECK enum err (*rule_get)(struct store *s, int64_t id, struct rule_record *ret,
                                    struct why *why);
    /* Sets id. */
    MUST_CHECK enum err (*rule_insert)(struct store *s, struct rule_record *r, struct why *why);
    /* All but id and created_ms. ERR_NOTFOUND. */
    MUST_CHECK enum err (*rule_update)(struct store *s, const struct rule_record *r,
                                       struct why *why);
    MUST_CHECK enum err (*rule_delete)(struct store *s, int64_t id, struct why *why);
    /* In a transaction: those of other servers that lock it wait until this one ends. Nothing where
     * one server has the data alone, or the rule has gone. */
    MUST_CHECK enum err (*rule_lock)(struct store *s, int64_t id, struct why *why);

    MUST_CHECK enum err (*incident_get)(struct store *s, int64_t id, struct incident_record *ret,
                                        struct why *why);
    /* The newest one that is open, of that rule, group, cause and address. ERR_NOTFOUND, without a
     * why. */
    MUST_CHECK enum err (*incident_find)(struct store *s, int64_t rule_id, int64_t group_id,
                                         enum incident_cause cause, const char *address,
                                         struct incident_record *ret, struct why *why);
    /* Sets id. */
    MUST_CHECK enum err (*incident_insert)(struct store *s, struct incident_record *r,
                                           struct why *why);
    /* What changes: from last_ms on, but log_id and text. ERR_NOTFOUND. */
    MUST_CHECK enum err (*incident_update)(struct store *s, const struct incident_record *r,
                                           struct why *why);
    /* Those of which something may be to be told, by id, behind after_id, at most max. */
    MUST_CHECK enum err (*incidents_unsettled)(struct store *s, int64_t after_id, int max,
                                               incident_row_fn *fn, void *ctx, struct why *why);
    /* By id downwards. *ret_total: all of the filter, whatever the page. */
    MUST_CHECK enum err (*incidents_page)(struct store *s, const struct incidents_filter *f,
                                          incident_row_fn *fn, void *ctx, int64_t *ret_total,
                                          struct why *why);
    /* Delete up to max that are settled and were closed before then, with jobs and messages. */
    MUST_CHECK enum err (*incidents_purge)(struct store *s, int64_t before_ms, int max,
                                           bool *ret_more, struct why *why);
    /* Insert or replace. */
    MUST_CHECK enum err (*incident_job_put)(struct store *s, const struct incident_job *j,
                                            struct why *why);
    /* ERR_NOTFOUND, without a why. */
    MUST_CHECK enum err (*incident_job_get)(struct store *s, int64_t incident_id, int64_t job_id,
                                            struct incident_job *ret, struct why *why);
    /* Of an incident, those that have not recovered first, then by job id; at most max. */
    MUST_CHECK enum err (*incident_jobs_each)(struct store *s, int64_t incident_id, int max,
                                              incident_job_row_fn *fn, void *ctx, struct why *why);
    /* Of a job, where it has not recovered, by incident. */
    MUST_CHECK enum err (*incident_jobs_open)(struct store *s, int64_t job_id,
                                              incident_job_row_fn *fn, void *ctx, struct why *why);
    /* Jobs that have not recovered, of alarms of which something may be to be told; in any order,
     * once each. */
    MUST_CHECK enum err (*incident_jobs_unsettled)(struct store *s, job_id_fn *fn, void *ctx,
                                                   struct why *why);
    /* Sets id. */
    MUST_CHECK enum err (*tell_insert)(struct store *s, struct tell_record *r, struct why *why);
    MUST_CHECK enum err (*tell_get)(struct store *s, int64_t id, struct tell_record *ret,
                                    struct why *why);

    /* Jobs of which a scheduled time up to then was not planned, or not sent, with the first such
     * time; by id, at most max. Any handle. */
    MUST_CHECK enum err (*jobs_late)(struct store *s, int64_t until_ms, int max, job_late_fn *fn,
                                     void *ctx, struct why *why);
    /* What misfire strategies have skipped: rows with their ids, the youngest to_ms first, at most
     * max. policy and extend are not read. Any handle. */
    MUST_CHECK enum err (*skips_newest)(struct store *s, int max, skip_row_fn *fn, void *ctx,
                                        struct why *why);
    /* Has the group an enabled job? Any handle. */
    MUST_CHECK enum err (*group_enabled)(struct store *s, int64_t group_id, bool *ret,
                                         struct why *why);

    MUST_CHECK enum err (*silences_each)(struct store *s, silence_row_fn *fn, void *ctx,
                                         struct why *why); /* by id */
    /* Sets id. */
    MUST_CHECK enum err (*silence_insert)(struct store *s, struct silence_record *r,
                                          struct why *why);
    MUST_CHECK enum err (*silence_delete)(struct store *s, int64_t id, struct why *why);
    /* Delete those that were over before then. */
    MUST_CHECK enum err (*silences_expire)(struct store *s, int64_t before_ms, struct why *why);
};

struct node_beat {
    int64_t n;            /* one more each time */
    int64_t last;         /* of those that were answered the latest; 0: none */
    int64_t watermark_ms; /* what the row has never goes back */
    int64_t skew_ms;      /* the database's clock minus this machine's, as it was last seen */
    int64_t wall_ms, live;
    int64_t jobs;        /* that have their home there; -1: unknown */
    int weight;          /* jobs come to it in proportion, see life_record */
    bool draining;       /* plans nothing any more */
    bool shared;         /* as in store_options */
    const char *address; /* where other nodes reach it: "host:port", or a URL */
};

struct node_record { /* what the database knows of a server; texts are lent by the walk */
    int64_t node, epoch;
    int64_t beat;          /* of that life; 0: none yet, and what follows is of an earlier one */
    int64_t wall_ms, live; /* when it was sent, by that server's clock; open runs in its memory */
    int64_t skew_ms;       /* as in node_beat; of the first beat it is 0 */
    int64_t began_ms;      /* that life, by that server's clock; 0: unknown */
    int64_t jobs;          /* that have their home there; -1: unknown */
    int weight;            /* as in node_beat */
    bool draining;
    bool asked;       /* an operator wants it to drain */
    bool ended, dead; /* that life; dead: another server has found out, it did not say so itself */
    int64_t protocol; /* of the release that it runs: store/release.h */
    const char *name, *address, *version; /* empty: unknown */
};

typedef bool node_row_fn(void *ctx, const struct node_record *r);

struct life_record { /* a node's newest life, or one that has ended and has runs */
    int64_t node, epoch, beat;
    int64_t watermark_ms; /* what falls due later was not sent in it */
    int64_t heir;         /* 0: none */
    int64_t skew_ms;
    int64_t changes; /* a number that moves when it changes groups, tokens or registrations */
    int weight;      /* of this node for homes: the less, the fuller its memory is */
    bool ended, clean;
    bool draining, asked; /* it plans nothing any more; an operator wants it to drain */
    const char *address;  /* as in node_beat; lent by the walk; empty: unknown */
};

typedef bool life_row_fn(void *ctx, const struct life_record *r);
typedef bool inbox_row_fn(void *ctx, const struct inbox_row *r);
typedef bool job_news_fn(void *ctx, const struct job_news *c);

struct untold { /* a life that owns runs of a job and does not know its edit */
    int64_t epoch;
    const char *node; /* its name; lent */
    int64_t unsent;   /* of its runs those that may leave still: up to PHASE_UNKNOWN */
    int64_t out;      /* of those that the schedule asked for the ones that have not ended */
};
typedef bool untold_fn(void *ctx, const struct untold *u);
typedef bool elsewhere_fn(void *ctx, enum kind kind, enum phase phase, int64_t n);

/* The numbers of a life's commits begin here, so that no two lives have one in peal_delta. */
#define EPOCH_COMMITS_BITS 36

enum store_record { STORE_GROUP, STORE_USER, STORE_ADMINS, STORE_CHANNEL, STORE_RECORDS };

/* On a database that several servers can open. */
struct store_cluster {
    /* Of a writing handle: whose life it is. */
    void (*life)(struct store *s, int64_t *ret_node, int64_t *ret_epoch);
    /* On a handle that was opened with options.life: this server lives. *ret_ours: the row was this
     * life's, nothing has declared it dead, and its number was between last and n; else nothing is
     * written and why says what stands there. *ret_clock_ms: the database's clock, epoch
     * milliseconds, -1 if it has none. ERR_UNHEARD does not exist here: after any error the beat
     * may have been written or not. */
    MUST_CHECK enum err (*beat)(struct store *s, const struct node_beat *b, bool *ret_ours,
                                int64_t *ret_clock_ms, struct why *why);
    /* Servers that have opened the database and whose epoch is below that, the newest life first,
     * at most limit, and how many there are in all. Any handle. */
    MUST_CHECK enum err (*nodes_page)(struct store *s, int64_t below_epoch, int64_t limit,
                                      node_row_fn *fn, void *ctx, int64_t *ret_total,
                                      struct why *why);
    /* The newest life of each node, at most limit of them, the newest first. Any handle. */
    MUST_CHECK enum err (*lives_each)(struct store *s, int64_t limit, life_row_fn *fn, void *ctx,
                                      struct why *why);
    /* Lives that have ended and still own live runs. Looks at all of these. Any handle. */
    MUST_CHECK enum err (*orphans_each)(struct store *s, int64_t limit, life_row_fn *fn, void *ctx,
                                        struct why *why);
    /* End that life of a node, unless its beat is another by now, and name this handle's epoch as
     * its heir. On a handle that was opened with options.life. *ret_done: this has ended it. After
     * an error it may have been ended or not, and the same may be asked again. */
    MUST_CHECK enum err (*declare)(struct store *s, int64_t node, int64_t epoch, int64_t beat,
                                   bool *ret_done, struct why *why);
    /* In a transaction: what an operator wants of that node, for as long as it lives; it reads that
     * itself. Nothing changes where it is so already, or where there is no such node. */
    MUST_CHECK enum err (*drain)(struct store *s, int64_t node, bool on, struct why *why);

    /* Homes: each job is planned by one of the servers, peal_due.home. */
    /* From now on due_take takes jobs whose home is that node, and tells the next one of these;
     * behind them come those of other homes that are due up to claim_ms (INT64_MIN: none). And
     * due_put writes homes. A handle that was never told takes all jobs, and puts those that it
     * writes into home 0. */
    void (*home)(struct store *s, int64_t node, int64_t claim_ms);
    /* In a transaction: put jobs into homes. One that is not there is passed over. */
    MUST_CHECK enum err (*homes_put)(struct store *s, const int64_t *ids, const int64_t *homes,
                                     int n, struct why *why);
    /* In a transaction: jobs of a home that have a next scheduled time, by that and by id, behind
     * after (which names the home), at most max; those that no other transaction holds. */
    MUST_CHECK enum err (*homes_take)(struct store *s, const struct home_row *after, int max,
                                      struct home_row *rows, int *ret_n, struct why *why);
    /* The smallest home above that one which has such jobs; -1: there is none. */
    MUST_CHECK enum err (*homes_next)(struct store *s, int64_t home, int64_t *ret, struct why *why);
    /* How many such jobs a home has. Looks at all of them. Any handle. */
    MUST_CHECK enum err (*homes_count)(struct store *s, int64_t home, int64_t *ret,
                                       struct why *why);
    /* In a transaction: runs of an ended life become this handle's, those that no other transaction
     * holds; fn gets them, by id. What may have left in that life is in doubt then. *ret_left: that
     * life has runs still. */
    MUST_CHECK enum err (*runs_adopt)(struct store *s, const struct adoption *a, run_row_fn *fn,
                                      void *ctx, bool *ret_left, struct why *why);

    /* The inbox: results that came to a server which does not own their runs. Its rows say what
     * came, not for whom: that is whoever owns the run when the row is read. */
    /* Sets live[i]: this run has a live row, whoever owns it. */
    MUST_CHECK enum err (*runs_live)(struct store *s, const int64_t *log_ids, int n, bool *live,
                                     struct why *why);
    /* In a transaction; ids are not looked at. */
    MUST_CHECK enum err (*inbox_put)(struct store *s, const struct inbox_row *rows, int n,
                                     struct why *why);
    /* Results and kills of runs that this handle's epoch owns, and results of runs that are not
     * live any more, behind after_id, by id, at most max. A smaller id may be committed later than
     * a greater one. Any handle that has an epoch. */
    MUST_CHECK enum err (*inbox_each)(struct store *s, int64_t after_id, int max, inbox_row_fn *fn,
                                      void *ctx, struct why *why);
    /* In a transaction: delete these rows, those that no other transaction holds. Sets taken[i]: it
     * was there, and this has deleted it. */
    MUST_CHECK enum err (*inbox_take)(struct store *s, const int64_t *ids, int n, bool *taken,
                                      struct why *why);
    /* In a transaction: a kill, and its id. */
    MUST_CHECK enum err (*inbox_ask)(struct store *s, int64_t log_id, int64_t at_ms,
                                     int64_t *ret_id, struct why *why);
    /* In a transaction: what came of it; the first answer stays. msg: short. Rows about kills that
     * are older than before_ms go: nobody waits for these. */
    MUST_CHECK enum err (*inbox_answer)(struct store *s, int64_t id, enum inbox_answer code,
                                        const char *msg, int64_t before_ms, struct why *why);
    /* The row, whatever it is; text owned (free). ERR_NOTFOUND, without a why. Any handle. */
    MUST_CHECK enum err (*inbox_get)(struct store *s, int64_t id, struct inbox_row *ret,
                                     struct why *why);

    /* Edits of jobs. The server that makes one says so, the others ask for what was said; each row
     * of a run has the version of its job that the run's owner knew. */
    /* In a transaction: no other one changes this row until it ends: to be called before what is
     * changed is read, or two servers change what neither has seen. One that is not there is passed
     * over. STORE_ADMINS: all users who are administrators, whatever id is. */
    MUST_CHECK enum err (*record_hold)(struct store *s, enum store_record kind, int64_t id,
                                       struct why *why);
    /* In a transaction: no other one changes these jobs until it ends. One that is not there is
     * passed over. In ascending order, so that two transactions do not wait for each other. */
    MUST_CHECK enum err (*jobs_hold)(struct store *s, const int64_t *ids, int n, struct why *why);
    /* In a transaction: say these; ids are not looked at. Those said before then go. */
    MUST_CHECK enum err (*changes_put)(struct store *s, const struct job_news *changes, int n,
                                       int64_t before_ms, struct why *why);
    /* What was said, behind after_id, by id, at most max. A smaller id may be committed later than
     * a greater one. Any handle. */
    MUST_CHECK enum err (*changes_each)(struct store *s, int64_t after_id, int max, job_news_fn *fn,
                                        void *ctx, struct why *why);
    /* Has an edit of the job given it other scheduled times, of those behind version from and up to
     * version to? Also if not all of them are there any more. */
    MUST_CHECK enum err (*changes_anew)(struct store *s, int64_t job_id, int64_t from, int64_t to,
                                        bool *ret_anew, struct why *why);
    /* In a transaction: this handle's epoch knows the job's version, in all its runs. */
    MUST_CHECK enum err (*runs_told)(struct store *s, int64_t job_id, int64_t version,
                                     struct why *why);
    /* Lives that own runs of the job and do not know that version, but this one. Any handle. */
    MUST_CHECK enum err (*runs_untold)(struct store *s, int64_t job_id, int64_t version,
                                       int64_t but_epoch, untold_fn *fn, void *ctx,
                                       struct why *why);
    /* How many runs of the job other lives than that own, by kind and phase. Any handle. */
    MUST_CHECK enum err (*runs_elsewhere)(struct store *s, int64_t job_id, int64_t but_epoch,
                                          elsewhere_fn *fn, void *ctx, struct why *why);
    /* Firings of schedules that other lives than that have planned as rows, from then on, by their
     * times, at most max: job_id and next_ms of each. Any handle. */
    MUST_CHECK enum err (*planned_elsewhere)(struct store *s, int64_t but_epoch, int64_t from_ms,
                                             int max, struct due_row *rows, int *ret_n,
                                             struct why *why);
    /* The node that owns a live run, and its name (cut to size). ERR_NOTFOUND, without a why. */
    MUST_CHECK enum err (*run_owner)(struct store *s, int64_t log_id, int64_t *ret_node, char *name,
                                     size_t size, struct why *why);
    /* The ends of a server's commits with after < n < below, by n; any handle. */
    MUST_CHECK enum err (*deltas_of)(struct store *s, int64_t node, int64_t after, int64_t below,
                                     int64_t limit, delta_row_fn *fn, void *ctx, struct why *why);
    /* The jobs that are due next from then on, by their times, at most max; takes no lock and sees
     * those of all servers. Any handle. */
    MUST_CHECK enum err (*due_next)(struct store *s, int64_t from_ms, int max, struct due_row *rows,
                                    int *ret_n, struct why *why);
    /* The figure of a slot, one row a server, with durations if the figure is no job's. */
    MUST_CHECK enum err (*figure_nodes)(struct store *s, int64_t slot, int64_t group_id,
                                        int64_t job_id, figure_row_fn *fn, void *ctx,
                                        struct why *why);
};

struct store_ops {
    const char *name; /* "sqlite", "memory" */
    void (*close)(struct store *s);
    const struct store_txn *txn;
    const struct store_runs *runs;
    const struct store_catalog *catalog;
    const struct store_users *users;
    const struct store_pages *pages;
    const struct store_figures *figures;
    const struct store_alarms *alarms;
    const struct store_rules *rules;
    const struct store_cluster *cluster; /* NULL: one server owns the data, by a lock */
};

void log_record_done(struct log_record *r);

/* Open by URL ("sqlite:FILE", or of a server: url.h). Runs the migrations on a writing handle, and
 * takes the lock that keeps a second server off the same data (ERR_BUSY names the holder). */
MUST_CHECK enum err store_open(const char *url, const struct store_options *options,
                               struct store **ret, struct why *why);
/* The second implementation: everything in memory, lost with the last handle. Lives for the
 * simulation and for tests; a rollback is exact. With options.shared it is one that several servers
 * can open, which this handle is the first of; read_only: of none. */
struct store *store_memory_new(const struct store_options *options);
/* Another handle on what a shared one has, used on the same thread: of a server of that node_name,
 * whose life begins (whoever opens it knows that the last life of the name is over), of a life's
 * beat (node, epoch, life), or of pages (read_only; with an epoch it reads that one's inbox).
 * ERR_BUSY: a transaction is under way that holds what it needs. */
MUST_CHECK enum err store_memory_open(struct store *of, const struct store_options *options,
                                      struct store **ret, struct why *why);
/* As the end of a killed process: the transaction is rolled back, the life has not ended. */
void store_memory_drop(struct store *s);
/* A commit that takes its time: the transaction has passed its fence, holds what it has changed,
 * and is let go by the handle, which has no transaction then. heard: the handle takes it as done;
 * else it is as after ERR_UNHEARD. *ret is to be given to store_memory_settle alone. Fails as
 * commit does. */
MUST_CHECK enum err store_memory_prepare(struct store *s, const struct commit *c, bool heard,
                                         struct store **ret, struct why *why);
/* It is committed now, or its session dies and it is rolled back. */
void store_memory_settle(struct store *prepared, bool committed);
/* Another program's change of the owner of the rows added from now on (a node's new epoch). */
void store_memory_owner(struct store *s, int64_t node, int64_t epoch);
/* The simulation's backup: begin one (on), or forget it. Then put it back: the store is as it
 * was.
 */
void store_memory_backup(struct store *s, bool on);
void store_memory_restore(struct store *s);
void store_close(struct store *s); /* NULL is fine */

/* Housekeeping that an engine wants done about once a second, on a read-only handle of a thread
 * of its own: SQLite's checkpoint. Nothing for the others. */
MUST_CHECK enum err store_tend(struct store *s, struct why *why);

struct store_compacted {
    int64_t before, after; /* bytes of the file */
};
/* Bytes of the new file so far, and in the end. */
typedef void store_progress_fn(void *ctx, int64_t done, int64_t all);

/* Write the database anew without unused room, and put it in the old one's place. ERR_BUSY: a
 * server, or another program, uses it; ERR_FULL: no room for a second file; ERR_NOTFOUND. On any
 * error the old one is as it was. */
MUST_CHECK enum err store_compact(const char *url, store_progress_fn *progress, void *ctx,
                                  struct store_compacted *ret, struct why *why);

/* record_hold where other servers share the database; nothing where not. */
MUST_CHECK enum err store_record_hold(struct store *s, enum store_record kind, int64_t id,
                                      struct why *why);

/* Rows touched by planning must not grow with the number of stored jobs: store_sqlite_steps
 * (sqlite.h) counts what a handle has done. */
extern const struct store_ops store_sqlite_ops, store_memory_ops, store_memory_shared_ops;

#endif
