/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - one transaction, shared by the files of this folder only.
 *
 * They point downward: txn.c calls edits.c, spawns.c, planning.c and figures.c; the first jobs.c;
 * it groups.c, adopt.c, late.c, rows.c, alarms.c, stories.c and ends.c. */
#ifndef PEAL_LEDGER_INTERNAL_H
#define PEAL_LEDGER_INTERNAL_H

#include "ledger/figures.h"
#include "ledger/incidents.h"
#include "ledger/write.h"
#include "model/cause.h"
#include "plan/plan.h"
#include "sched/batch.h"
#include <string.h>

struct txn {
    struct store *store;
    const struct store_ops *ops;
    struct planner *planner;
    struct figures *figures; /* NULL: none are kept */
    int cends;               /* capacity of the batch's ends */
    struct batch *b;
    struct list *writes;
    struct totals totals;
    bool may_plan;         /* no other program does meanwhile */
    bool apart;            /* each write in a savepoint of its own: see apart.c */
    struct plan_rows rows; /* planned, not yet inserted */
    struct job **jobs;     /* of each row, borrowed from the planner until they are counted */
    const struct spawn **spawns;
    int njobs;
    struct job_stop *stops; /* reasons owned */
    int nstops;
    struct skip_row *skips;
    int nskips;
};

static inline bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static inline enum err overtaken(struct edit *e, const char *what)
{
    why_set(&e->why, "%s %lld was changed at the same time by another request: try again", what,
            (long long)e->id);
    return ERR_OVERTAKEN;
}

/* apart.c */
/* Around a write that can be told apart: where this transaction does so, what is refused for its
 * value is taken back and noted with what it was, and the others go on. Else both do nothing. */
enum err apart_begin(struct txn *t);
enum err apart_end(struct txn *t, enum err err, const char *what, bool *ret_refused);
/* The batch's changes, each apart; *ret_missed as of runs_change. */
enum err apart_changes(struct txn *t, int64_t *ret_missed);
/* The rows that were planned, each apart. What a request asks for is refused with ERR_VALUE. */
enum err apart_rows(struct txn *t);

/* rows.c */
/* The parsed job at this version; ERR_NOTFOUND if the row is gone. Borrowed from the planner. */
enum err txn_job(struct txn *t, int64_t id, int64_t version, struct job **ret);
/* Ask for the jobs of these rows that the planner does not know yet, in one go. */
enum err txn_jobs_fetch(struct txn *t, const struct due_row *due, int n);
/* Plan the job's scheduled times up to until_ms, while there are fewer than max_rows rows of it. */
enum err txn_plan_job(struct txn *t, const struct due_row *due, int64_t until_ms, int max_rows,
                      struct plan_result *ret);
/* Write what planning found out besides rows: jobs that stop, scheduled times that are skipped. */
enum err txn_plan_notes(struct txn *t);
/* Note the caller of the rows that were appended since the last call. */
void txn_rows_of(struct txn *t, struct job *j, const struct spawn *spawn);
/* Insert all rows that were planned; they become the batch's planned. */
enum err txn_rows_add(struct txn *t);
void txn_rows_cut(struct txn *t, int n); /* forget those behind the first n */
void txn_rows_drop(struct txn *t);

/* adopt.c */
enum err adopt_run(struct txn *t); /* what the batch asks for */

/* late.c */
enum err late_results(struct txn *t); /* the batch's results of runs that are not live here */
/* Another program has removed live rows whose runs we had: what came of them is noted as late. */
enum err late_missing(struct txn *t, int64_t missed);

/* ends.c */
void txn_end(struct txn *t, const struct run_change *c); /* of one that was written */
void txn_ends(struct txn *t);                            /* the batch's changes */

/* stories.c */
enum err stories_put(struct txn *t); /* of the batch's changes */

/* alarms.c */
/* runs_change, with the alarms of those changes that are failures. */
enum err alarms_change(struct txn *t, struct run_change *changes, int n, int64_t *ret_missed);

/* Why a run failed, as its change says. */
struct cause change_cause(const struct run_change *c);

/* incidents.c */
enum err incidents_run(struct txn *t);     /* when streaks are known */
enum err incidents_stopped(struct txn *t); /* t->stops, before they are dropped */

/* failing.c */
struct failing; /* jobs in open alarms, of a second ago; one thread */
struct failing *failing_new(void);
void failing_free(struct failing *f);                               /* NULL is fine */
MUST_CHECK enum err failing_look(struct failing *f, struct txn *t); /* if it is time */
bool failing_has(const struct failing *f, int64_t job_id);
struct failing_state { /* of a rule */
    bool open;         /* it is in an alarm that is open */
    bool any;          /* the same, or in one that a user has closed, and has not recovered since */
};
MUST_CHECK enum err failing_of(struct txn *t, int64_t rule_id, int64_t job_id,
                               struct failing_state *ret); /* as it is now */

/* groups.c */
enum err groups_edit(struct txn *t, struct edit *e);
enum err groups_there(struct txn *t, int64_t id, struct why *why); /* ERR_INVALID: it is not */
enum err groups_put_lists(struct txn *t); /* the registry's, of the batch */

/* jobs.c */
enum err jobs_edit(struct txn *t, struct edit *e);
/* Does the firing of this scheduled time belong to the job as it is now? anew: the edit changed
 * when it fires. What lies beyond all that has left is planned by the new schedule in any case. */
bool jobs_goes_on(const struct edit *e, int64_t scheduled_ms, bool anew);

/* firing.c */
#define LIVES_MAX 256 /* servers' lives that are looked at */

struct firing { /* looked for in the log */
    int64_t scheduled_ms;
    const struct edit *but; /* what its runs were planned as does not count; NULL: all does */
    int64_t but_id;         /* nor does this run; 0: none */
    bool found;             /* as planned, */
    bool caught_up;         /* or as a misfire */
};

MUST_CHECK enum err firing_look(struct txn *t, int64_t job_id, struct firing *firing);
/* When the rows are in: ERR_CONFLICT if another server has sent, and ended, what an edit here has
 * planned, between the look at its watermark and now. */
MUST_CHECK enum err firings_look_again(struct txn *t);

/* edits.c */
enum err edits_run(struct txn *t);
enum err edits_tell(struct txn *t); /* other servers, of the edits of jobs that are made */

/* spawns.c */
/* Tell the companions what was made, when the rows have their ids. */
enum err spawns_made(struct txn *t);
/* Children of runs that late results have ended, for spawns_run. */
enum err spawns_follow(struct txn *t);
enum err spawns_run(struct txn *t); /* and the next scheduled times of FIX_DELAY jobs */

/* planning.c */
/* Which jobs this node plans, where several share the database. */
void homes_begin(struct txn *t);                                 /* first in a transaction */
void homes_of(const struct txn *t, struct due_row *rows, int n); /* before these are put */
/* The row of a job has been written anew: put it into its home. */
MUST_CHECK enum err homes_written(struct txn *t, int64_t job_id, struct why *why);
MUST_CHECK enum err homes_sweep(struct txn *t); /* the batch's slice */
enum err plan_slice(struct txn *t);             /* what is due */
enum err plan_sweep(struct txn *t);             /* a slice of the batch's sweep */

#endif
