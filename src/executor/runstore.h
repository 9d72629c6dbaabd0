/* SPDX-License-Identifier: Apache-2.0 */
/* runstore.h - the executor's journal: what it has promised, kept in a file until the promise is
 * met.
 *
 * An SQLite database with one row a run, written by one thread that commits what has gathered
 * together (group commit, synchronous=FULL). The order of the posts is the order of the writes.
 *
 *   ACCEPTED --START--> STARTED --RESULT--> ENDED --TOLD--> TOLD (its id alone, for a day)
 *      +--------------------RESULT------------^
 *
 * ACCEPTED before the center hears yes; STARTED before the handler is entered, so that after a
 * crash nobody has to guess; ENDED before the worker's result is forgotten; TOLD when a center has
 * it. TOLD rows are what makes a log id run once across restarts; they are pruned by number and
 * age.
 * Thread: runstore_post on the loop's; answers come back to its mailbox. */
#ifndef PEAL_EXECUTOR_RUNSTORE_H
#define PEAL_EXECUTOR_RUNSTORE_H

#include "base/mailbox.h"
#include "base/err.h"
#include "base/str.h"
#include "base/why.h"

struct runstore; /* opaque */

enum runstore_state { /* as in the file; 0 and 1 would have another length there than the others,
                       * and a START is cheap because it leaves the row's length alone */
                      RUNSTORE_ACCEPTED = 2,
                      RUNSTORE_STARTED = 3,
                      RUNSTORE_ENDED = 4,
                      RUNSTORE_TOLD = 5,
};

struct runstore_row { /* what a row says at start; slices are valid during the call */
    int64_t seq;      /* its name in the journal: grows, never used twice */
    enum runstore_state state;
    int64_t log_id, log_date_ms, moment_ms, accepted_ms;
    int attempt;
    struct slice request; /* body of the /run request; ACCEPTED and STARTED only */
    int64_t ended_ms;     /* ENDED and TOLD */
    int code;             /* ENDED */
    bool has_log;         /* ENDED */
    struct slice msg;     /* ENDED */
};
typedef void runstore_each_fn(void *arg, const struct runstore_row *row);

struct runstore_config {
    const char *path; /* of the database; "-wal" and ".lock" stand beside it. Borrowed */
    int64_t keep;     /* TOLD rows to keep, and for how long */
    int64_t keep_ms;
    struct mailbox *answers; /* borrowed */
    /* every row that is left from before, called by runstore_open: TOLD ones in the order in which
     * they were told, then the others in order of seq */
    runstore_each_fn *each;
    void *arg;
};

/* Takes the file and starts the thread. ERR_BUSY: another process has it. ERR_INVALID: written by a
 * newer version or another program, left as it is. ERR_IO, ERR_FULL, ERR_READONLY: it cannot be
 * made or written. A damaged file is moved to PATH.damaged-<ms>, what could be read of it is kept,
 * and the log says how much. */
MUST_CHECK enum err runstore_open(const struct runstore_config *config, struct runstore **ret,
                                  struct why *why);
/* Does what was posted, then ends; letters may still come meanwhile. On a disk that takes nothing
 * it tries for three seconds; what is not written then comes back with the reason. NULL is fine. */
void runstore_free(struct runstore *s);

enum runstore_what {
    RUNSTORE_ACCEPT, /* row: all of ACCEPTED's fields but seq, which is set; or STARTED's */
    RUNSTORE_START,  /* seq */
    RUNSTORE_RESULT, /* seq, ended_ms, code, has_log, msg */
    RUNSTORE_FORGET, /* seq: it was not taken after all */
    RUNSTORE_TELL,   /* seqs: a center has these results; in rising order they cost least */
};

/* One change. The poster's memory, which it must not touch until it comes back. */
struct runstore_op {
    struct letter letter; /* kind: the poster's */
    enum runstore_what what;
    struct runstore_row row; /* slices: valid until it comes back */
    const int64_t *seqs;     /* TELL */
    size_t nseqs;
    /* OK: on disk. ERR_FULL, ERR_IO and the like: an ACCEPT or START was not written and does not
     * count; the other kinds wait until the disk takes them, in their order, and fail with
     * runstore_free only. ERR_EXISTS: an ACCEPT whose seq was there already. ERR_TOOBIG: request or
     * msg of 64 MiB. Changes of a seq that is not there are OK and change nothing. */
    enum err err;
    struct why why;
};

/* Held back until runstore_flush, so that a turn of the loop becomes one group with one wake. */
void runstore_post(struct runstore *s, struct runstore_op *op);
void runstore_flush(struct runstore *s);
/* The number that the next ACCEPT may take: the loop counts on from here, and the numbers grow. */
int64_t runstore_first_seq(const struct runstore *s);

#endif
