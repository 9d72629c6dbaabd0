/* SPDX-License-Identifier: Apache-2.0 */
/* figures.h - what has become of runs, by time: of the whole center, of groups, of jobs.
 *
 * A transaction keeps its ends as one row of bytes (peal_delta), in itself, so the figures are
 * exact whatever a kill cuts off; memory counts them when the commit is made. From time to time
 * what memory has counted is added to rows (peal_figure, peal_job_stat), which say through which
 * commit they include everything, and the bytes go. So what holds is always
 *
 *     rows + ends of the commits behind each row's "through".
 *
 * One thread writes: the one that owns the store's writing handle. Any thread reads, and sees what
 * is committed. Where several servers have the database each counts the runs that it ends; what
 * others have counted is read from their bytes and rows, and all that is read here is of all of
 * them. */
#ifndef PEAL_LEDGER_FIGURES_H
#define PEAL_LEDGER_FIGURES_H

#include "model/job_stat.h"
#include "sched/batch.h"
#include "store/store.h"

struct figures;

/* zone: the server's, by which hours and days are cut; counted. */
struct figures *figures_new(struct zone *zone);
void figures_free(struct figures *f); /* NULL is fine */
/* Before figures_load: other servers may have the database, too; node: this server's number. */
void figures_share(struct figures *f, int64_t node);
/* What the tables hold, before the first transaction. */
MUST_CHECK enum err figures_load(struct figures *f, struct store *s, struct why *why);

/* ---- the thread that reads what other servers commit ------------------------------------------
 */

/* Read anew all that they have counted. */
MUST_CHECK enum err figures_others_load(struct figures *f, struct store *s, struct why *why);
/* The last commit of that server that was read; 0: none. */
int64_t figures_others_read(struct figures *f, int64_t node);
/* Count what a commit behind that holds (a row of peal_delta). Its ends, with their streaks, owned
 * by the caller; *ret_at_ms: when they ended. */
struct run_end *figures_others_take(struct figures *f, int64_t node, int64_t n, struct slice bytes,
                                    size_t *ret_n, int64_t *ret_at_ms);

/* ---- the writer's thread ----------------------------------------------------------------------
 */

/* In the batch's transaction, when all its ends are known: write them, set their streaks (of the
 * runs that this server has ended), and do a step of what is to be done with rows (at most 250, or
 * those of one job). */
MUST_CHECK enum err figures_write(struct figures *f, struct store *s, struct batch *b,
                                  struct why *why);
/* After figures_write, whatever it returned: the transaction was committed, or not. Where servers
 * share the database the streaks of its ends are then those over all of them. */
void figures_written(struct figures *f, const struct batch *b, bool committed);

/* ---- any thread -------------------------------------------------------------------------------
 */

/* How the job is doing by the runs that this server has ended; false: by none. */
bool figures_job_here(struct figures *f, int64_t job_id, struct job_stat *ret);
/* How the job is doing; false: none of its runs has ended. */
bool figures_job(struct figures *f, int64_t job_id, struct job_stat *ret);
/* How many jobs there are of which figures_job knows something. */
size_t figures_jobs(struct figures *f);
/* Their ids, ascending, at most max; failing: those whose last run did not succeed. Owned by the
 * caller. */
int64_t *figures_job_ids(struct figures *f, bool failing, size_t max, size_t *ret_n);
/* The figure of the slot of that level in which the instant lies: of a job (group_id 0), of a group
 * (job_id 0), or of the whole (both 0). durations: DURATION_BUCKETS counts, or NULL; of a job they
 * are 0. reader: the caller's handle. */
MUST_CHECK enum err figures_read(struct figures *f, struct store *reader, enum figure_level level,
                                 int64_t group_id, int64_t job_id, int64_t at_ms,
                                 struct figure *ret, uint32_t *durations, struct why *why);
/* What a second reader begins with: all of it as of one commit. */
struct figures_copy {
    int64_t no; /* of that commit: whose ends are counted, and of those before */
    struct figures_node {
        int64_t node, no; /* the same of another server */
        bool any;         /* rows has some of it */
    } * others;
    size_t nothers;
    struct figure_row
        *rows; /* quarter hours of the whole and of groups, as far as memory has them; by node */
    size_t nrows;
    struct failing_job {
        int64_t job_id;
        int64_t last_id;  /* log id of its last run that ended */
        int64_t since_ms; /* when the first of its failures in a row ended */
        uint32_t streak;
    } * failing; /* jobs whose last run failed */
    size_t nfailing;
};
void figures_copy(struct figures *f, struct figures_copy *ret);
void figures_copy_done(struct figures_copy *c);
/* In which commit of a server does the copy end? Of one that it does not know: 0. */
int64_t figures_copy_no(const struct figures_copy *c, int64_t node);
/* Call fn for the counts of the whole and of groups: by hours from from_ms, by quarter hours from
 * quarters_ms on; several times for a slot, to be added. ERR_OVERTAKEN: rows on disk include
 * commits behind the copy's by now; take another. */
MUST_CHECK enum err figures_copy_slots(struct figures_copy *c, struct figures *f,
                                       struct store *reader, int64_t from_ms, int64_t quarters_ms,
                                       figure_row_fn *fn, void *ctx, struct why *why);
/* The zone that cuts hours and days; borrowed as long as f. */
const struct zone *figures_zone(const struct figures *f);

/* What XXL-JOB's report says of the last days, as it is now: today first. Of the groups in scope;
 * of all groups the live runs are looked at once a second at most, and what is found goes into the
 * table's rows, which are written once a minute. */
#define FIGURES_REPORT_DAYS 3
MUST_CHECK enum err figures_report(struct figures *f, struct store *reader,
                                   const struct scope *scope, int64_t now_ms,
                                   struct report_row ret[FIGURES_REPORT_DAYS], struct why *why);
/* Runs that have succeeded and failed on the day of that instant, in the groups in scope. */
MUST_CHECK enum err figures_report_day(struct figures *f, struct store *reader,
                                       const struct scope *scope, int64_t day_ms,
                                       struct report_row *ret, struct why *why);

#endif
