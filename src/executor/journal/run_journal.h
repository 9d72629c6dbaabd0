/* SPDX-License-Identifier: Apache-2.0 */
/* run_journal.h - the run journal: what the executor has promised, kept in a file until the promise
 * is met.
 *
 * An SQLite database with one row a run, written by one thread that commits what has gathered
 * together (group commit, synchronous=FULL). Changes are written in the order in which they are
 * sent.
 *
 *   ACCEPTED --START--> STARTED --RESULT--> ENDED --TOLD--> TOLD (its id alone, for a day)
 *      +--------------------RESULT------------^
 *
 * ACCEPTED before the center hears yes; STARTED before the handler is entered, so that after a
 * crash it is certain which handlers were not; ENDED before the worker's result is forgotten; TOLD
 * when a center has it. TOLD rows are what makes a log id run once across restarts; they are pruned
 * by number and age. Thread: run_journal_send on the loop's; answers come back to its mailbox. */
#ifndef PEAL_EXECUTOR_RUN_JOURNAL_H
#define PEAL_EXECUTOR_RUN_JOURNAL_H

#include "base/mailbox.h"
#include "base/err.h"
#include "base/str.h"
#include "base/why.h"

struct run_journal; /* opaque */

enum run_journal_state { /* as in the file; 0 and 1 would have another length there than the others,
                          * and a START is cheap because it leaves the row's length alone */
                         RUN_JOURNAL_ACCEPTED = 2,
                         RUN_JOURNAL_STARTED = 3,
                         RUN_JOURNAL_ENDED = 4,
                         RUN_JOURNAL_TOLD = 5,
};

struct run_journal_row { /* what a row says at start; slices are valid during the call */
    int64_t seq;         /* its name in the journal: grows, never used twice */
    enum run_journal_state state;
    int64_t log_id, log_date_ms, scheduled_ms, accepted_ms;
    int attempt;
    struct slice request; /* body of the /run request; ACCEPTED and STARTED only */
    int64_t ended_ms;     /* ENDED and TOLD */
    int code;             /* ENDED */
    bool has_log;         /* ENDED */
    struct slice msg;     /* ENDED */
};
typedef void run_journal_each_fn(void *arg, const struct run_journal_row *row);

struct run_journal_config {
    const char *path; /* of the database; "-wal" and ".lock" stand beside it. Borrowed */
    int64_t keep;     /* TOLD rows to keep, and for how long */
    int64_t keep_ms;
    struct mailbox *answers; /* borrowed */
    /* every row that is left from before, called by run_journal_open: TOLD ones in the order in
     * which they were told, then the others in order of seq */
    run_journal_each_fn *each;
    void *arg;
};

/* Takes the file and starts the thread. ERR_BUSY: another process has it. ERR_INVALID: written by a
 * newer version or another program, left as it is. ERR_IO, ERR_FULL, ERR_READONLY: it cannot be
 * made or written. A damaged file is moved to PATH.damaged-<ms>, what SQLite can read of it is
 * kept, and the log says how much. */
MUST_CHECK enum err run_journal_open(const struct run_journal_config *config,
                                     struct run_journal **ret, struct why *why);
/* Writes what was sent, then ends; messages may still come meanwhile. On a disk that takes nothing
 * it tries for three seconds; what is not written then comes back with the reason. NULL is fine. */
void run_journal_free(struct run_journal *s);

enum run_journal_what {
    RUN_JOURNAL_ACCEPT, /* row: all of ACCEPTED's fields but seq, which is set; or STARTED's */
    RUN_JOURNAL_START,  /* seq */
    RUN_JOURNAL_RESULT, /* seq, ended_ms, code, has_log, msg */
    RUN_JOURNAL_FORGET, /* seq: it was not taken after all */
    RUN_JOURNAL_TELL,   /* seqs: a center has these results; in rising order they cost least */
};

/* One change. The sender's memory, which it must not touch until it comes back. */
struct run_journal_op {
    struct message message; /* kind: the sender's */
    enum run_journal_what what;
    struct run_journal_row row; /* slices: valid until it comes back */
    const int64_t *seqs;        /* TELL */
    size_t nseqs;
    /* OK: on disk. ERR_FULL, ERR_IO and the like: an ACCEPT or START was not written and does not
     * count; the other kinds wait until the disk takes them, in their order, and fail with
     * run_journal_free only. ERR_EXISTS: an ACCEPT whose seq was there already. ERR_TOOBIG: request
     * or msg of 64 MiB. Changes of a seq that is not there are OK and change nothing. */
    enum err err;
    struct why why;
};

/* Held back until run_journal_flush, so that an iteration of the loop becomes one group with one
 * wake. */
void run_journal_send(struct run_journal *s, struct run_journal_op *op);
void run_journal_flush(struct run_journal *s);
/* The number that the next ACCEPT may take: the loop counts on from here, and the numbers grow. */
int64_t run_journal_first_seq(const struct run_journal *s);

#endif
