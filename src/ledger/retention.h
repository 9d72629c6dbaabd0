/* SPDX-License-Identifier: Apache-2.0 */
/* retention.h - the log rows that go: old ones, too many of one job, those that a user wants gone.
 *
 * Work for the writer's thread, in small steps within the transactions that it makes anyhow. What a
 * user asks for stands in the database (peal_clean) and goes on after a restart; the walks by age
 * and by number begin anew each minute or ten, and after a restart. Rows of live runs stay. */
#ifndef PEAL_LEDGER_RETENTION_H
#define PEAL_LEDGER_RETENTION_H

#include "store/store.h"

struct retention_rules {
    int64_t days;          /* rows go when they are so old; 0: never */
    int64_t failed_days;   /* the same of failures; not smaller than days, 0: as days */
    int64_t job_rows;      /* the newest of each job that stay; 0: all */
    int64_t audit_keep_ms; /* for the writer: entries of the audit that are older go; 0: none do */
};

enum retention_gone { GONE_REQUEST, GONE_AGE, GONE_ROWS, GONE_COUNT };

#define RETENTION_ROWS 100 /* that one step deletes at most: about a millisecond */

struct retention;

struct retention *retention_new(const struct retention_rules *rules);
void retention_free(struct retention *r); /* NULL is fine */

/* From now on nothing is deleted by its age, until it may be again; a walk that is under way ends.
 * What people ask for, and what is one too many, goes on. */
void retention_hold(struct retention *r, bool held);
/* Is there something to do now? Reads the store; not in a transaction. */
bool retention_due(struct retention *r, struct store *s, int64_t boot_ms);
/* One step, in a transaction. *ret_more: there is more to do now. */
MUST_CHECK enum err retention_step(struct retention *r, struct store *s, int64_t wall_ms,
                                   int64_t boot_ms, bool *ret_more, struct why *why);
/* The transaction of the steps before is committed, or it is lost. */
void retention_kept(struct retention *r, int64_t boot_ms);
void retention_lost(struct retention *r);
/* Rows deleted in committed transactions since retention_new. */
int64_t retention_count(const struct retention *r, enum retention_gone why);

/* In a transaction: delete what the request says, later and in steps. r->id is set. */
MUST_CHECK enum err retention_ask(struct store *s, struct clean_request *r, struct why *why);

#endif
