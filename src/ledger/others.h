/* SPDX-License-Identifier: Apache-2.0 */
/* others.h - what the other servers of a database have counted: the ends of their commits that no
 * row includes yet, and how each job is doing over all servers.
 *
 * It is made of their rows of peal_delta, which are read as they come (server/follow.h). A server
 * says there as well what it has written as rows, so what is kept here of it is what it keeps
 * itself: row and memory add up as they do for its own (figures.h). Private to src/ledger; any
 * thread. */
#ifndef PEAL_LEDGER_OTHERS_H
#define PEAL_LEDGER_OTHERS_H

#include "ledger/figures.h"
#include "ledger/tally.h"

struct others;

/* node: this server's own number. zone: counted. */
struct others *others_new(int64_t node, struct zone *zone);
void others_free(struct others *o);
int64_t others_node(const struct others *o);

/* Read all anew: what is known is void with it. Blocks for as long as the database takes. own: call
 * back for each job of this server and how it is doing, while this server counts nothing. */
struct others_own {
    void (*hold)(void *arg, bool on); /* from on to off nothing is counted */
    void (*each)(void *arg, void (*fn)(struct others *o, int64_t job_id, const struct job_stat *),
                 struct others *o);
    void *arg;
};
MUST_CHECK enum err others_load(struct others *o, struct store *store, const struct others_own *own,
                                struct why *why);
/* The number of the last commit of a server that was read, 0: none. */
int64_t others_read(struct others *o, int64_t node);
/* Count what that commit of a server holds. The ends, with streaks set, owned by the caller. */
struct run_end *others_take(struct others *o, int64_t node, int64_t n, struct slice bytes,
                            size_t *ret_n, int64_t *ret_at_ms);

/* This server has ended a run: sets its streaks to those over all servers. */
void others_own_end(struct others *o, struct run_end *e, int64_t at_ms);
void others_forget(struct others *o, int64_t job_id); /* it was deleted */

/* How the job is doing over all servers; false: nothing is known. */
bool others_job(struct others *o, int64_t job_id, struct job_stat *ret);
size_t others_jobs(struct others *o);
/* Call fn for each. */
void others_each(struct others *o, void (*fn)(void *ctx, int64_t id, const struct job_stat *s),
                 void *ctx);

/* What is in memory of a slot. */
struct others_part {
    int64_t node, n; /* a row through n, or a later commit, includes all of it */
    struct figure figure;
    uint32_t durations[DURATION_BUCKETS];
};
/* One a server; owned by the caller. */
struct others_part *others_parts(struct others *o, int64_t slot, int64_t group_id, int64_t job_id,
                                 size_t *ret_n);
/* The quarter hours of the whole and of groups, as far as memory has them, behind those in rows;
 * and of each server the commit through which they go. */
void others_copy(struct others *o, struct figures_copy *ret);
/* The last commit of that node which its rows of the group include, in the row of the quarter hour
 * or of its day; 0: none. Any handle. */
MUST_CHECK enum err others_through(struct others *o, struct store *s, int64_t node,
                                   int64_t group_id, int64_t quarter, int64_t *ret,
                                   struct why *why);

#endif
