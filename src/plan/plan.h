/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - from a job's schedule to rows of the ledger: which scheduled times, which misfire
 * policy, which address. The pure function that a store's planning transaction calls.
 *
 * A planner belongs to the thread that plans (the writer's). It caches parsed jobs by version, and
 * holds the groups' views and the routing state for everything that is born there: firings of a
 * schedule, retries, children, manual runs. */
#ifndef PEAL_PLAN_PLAN_H
#define PEAL_PLAN_PLAN_H

#include "model/model.h"

struct planner;

#define PLAN_MISFIRE_THRESHOLD_S 5 /* default of the setting */

struct planner_config {
    zone_find_fn *zone_find;
    void *zone_ctx;
    int last_year;                /* cron expressions are searched up to this year */
    int64_t misfire_threshold_ms; /* a scheduled time older than this when planned is a misfire */
    uint64_t seed;
};

struct planner *planner_new(const struct planner_config *config);
void planner_free(struct planner *p);

/* The group's addresses from now on; takes the caller's reference. An empty view is fine. */
void planner_set_view(struct planner *p, struct group_view *v);

/* The parsed job: from the cache if the version matches, else NULL. Borrowed. */
struct job *planner_find(struct planner *p, int64_t job_id, int64_t version);
/* Parse and cache. Borrowed; take a reference to keep it. */
struct job *planner_keep(struct planner *p, const struct job_record *r);
void planner_forget(struct planner *p, int64_t job_id);
void planner_forget_all(struct planner *p);

/* What planning of one job came to. Rows are appended to an array that the caller owns. */
struct plan_rows {
    struct run_row *rows; /* owned, grown by the planner; text inside owned */
    int n, cap;
};
void plan_rows_done(struct plan_rows *out); /* frees rows and their text */

struct plan_result {
    struct due_row due;   /* the row to write back */
    struct skip_row skip; /* count 0 if nothing was skipped */
    const char *stop;     /* the job can never fire (again): the reason; NULL if it goes on */
    bool more;            /* a bound was reached: plan this job again soon */
};

/* A slice of planning begins: so much work may be spent on scheduled times that were missed. */
void planner_slice(struct planner *p);
/* Scheduled times before this one are misfires. */
int64_t planner_behind(const struct planner *p, int64_t now_ms);

/* Plan all scheduled times of the job up to until_ms that planned_until does not cover, oldest
 * first, at most max_rows rows. Scheduled times older than the misfire threshold go to the job's
 * policy. */
void plan_job(struct planner *p, const struct job *j, const struct due_row *due, int64_t now_ms,
              int64_t until_ms, int max_rows, struct plan_rows *out, struct plan_result *ret);

/* A run that something other than the schedule asks for. Text is owned. */
struct store;

/* What the driver writes with a spawn, in the same transaction; the core does not look into it. An
 * error of the row (ERR_EXISTS and the like) refuses the spawn, any other the transaction. */
struct spawn_companion {
    /* Before anything is planned. May be called again, as the transaction is. */
    enum err (*begin)(struct store *s, void *arg, struct why *why);
    /* Its first row is written; refuses nothing. */
    enum err (*made)(struct store *s, void *arg, int64_t log_id, struct why *why);
    void (*done)(void *arg); /* nothing uses arg any more; any thread */
};

struct spawn {
    int64_t job_id;
    enum kind kind;
    int64_t scheduled_ms, due_ms, cause;
    int64_t version; /* of the job that wants it; older than the job's: see spawns.c. 0 = any */
    int32_t attempt, retries_left; /* retries_left < 0: the job's own count */
    int32_t shard, shard_total;    /* of a retry; shard_total 0: planned here */
    char *param;                   /* NULL = the job's */
    char *choices; /* addresses given by hand, comma separated; NULL = the group's */
    int hops;      /* length of the chain of children */
    struct trace_root trace;
    bool follows;   /* made by the transaction, of a result for another program's run */
    bool scheduled; /* a retry of what the job's schedule asked for */
    void *reply;    /* of the caller that waits (manual triggers); not looked at here */
    const struct spawn_companion *companion; /* NULL: none */
    void *companion_arg;
    bool refused; /* by the transaction: the database does not take its values */
    /* result */
    enum err err;   /* ERR_NOTFOUND: no such job; or the companion's */
    int64_t log_id; /* of its first row */
};

void spawn_done(struct spawn *s);

#define PLAN_CHOICES_MAX                                                                           \
    64 /* addresses given by hand for one run: each of its rows keeps the list */

/* How many addresses the list names; NULL is fine. */
int plan_choices(const char *choices);

/* Rows for it (several for a broadcast), appended to out. */
void plan_spawn(struct planner *p, const struct job *j, const struct spawn *s, int64_t now_ms,
                struct plan_rows *out);

/* The rows of one firing of the schedule, whose scheduled time is decided. */
void plan_scheduled(struct planner *p, const struct job *j, int64_t scheduled_ms, int64_t now_ms,
                    struct plan_rows *out);

/* First scheduled time of a schedule from now on (start, update, insert): NEVER_MS if there is
 * none. */
int64_t plan_first(const struct job *j, int64_t now_ms);

#endif
