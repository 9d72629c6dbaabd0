/* SPDX-License-Identifier: Apache-2.0 */
/* end.h - the end of a run as figures count it, and the bytes in which a batch's ends are kept.
 *
 * Plain data; pure. The bytes stand in peal_delta (docs/internals/ledger.md), so a reader takes
 * nothing about them for granted. */
#ifndef PEAL_MODEL_END_H
#define PEAL_MODEL_END_H

#include "base/buf.h"
#include <stdbool.h>
#include <stdint.h>

/* What became of a run. The numbers stand in peal_delta and peal_job_stat. */
enum outcome {
    OUTCOME_NONE, /* it is open */
    OUTCOME_SUCCEEDED,
    OUTCOME_FAILED,
    OUTCOME_TIMED_OUT,
    OUTCOME_KILLED,
    OUTCOME_LOST, /* may become one of the four above */
    OUTCOME_REJECTED,
    OUTCOME_SKIPPED,   /* never ran, as the next; neither has a log row, unless it was in doubt */
    OUTCOME_WITHDRAWN, /* by an edit, or by hand */
    OUTCOME_COUNT
};

const char *outcome_text(enum outcome o); /* "succeeded" */

static inline bool outcome_never_ran(enum outcome o)
{
    return o == OUTCOME_SKIPPED || o == OUTCOME_WITHDRAWN;
}

/* The executor said so: it has a duration. */
static inline bool outcome_has_result(enum outcome o)
{
    return o >= OUTCOME_SUCCEEDED && o <= OUTCOME_KILLED;
}

struct run_end {
    int64_t log_id, job_id, group_id; /* the group of its log row */
    int64_t log_ms;                   /* trigger_time; whole seconds are kept */
    int64_t took_ms;                  /* since it was sent; 0 without a result */
    int64_t late_ms;                  /* when it was sent, behind the time at which it was due */
    int32_t shard, attempt;
    enum outcome was, now; /* now NONE: it is no end. was: on disk, NONE or LOST */
    /* Set within the transaction (ledger/figures.h), not kept in bytes: failures of the job in a
     * row before it and with it. 0: the last run succeeded. */
    uint32_t streak_was, streak;
};

/* What the batch has written as rows, from the ends of commits before it: of a group (0: the
 * whole), or of all jobs of a shelf (their numbers divided by SHELF_JOBS of ledger/tally.h). Other
 * servers, which count the same ends, learn from it what rows include. */
struct ends_fold {
    bool of_shelf;
    int64_t id;
};

struct ends_writer {
    struct buf *to;
    struct run_end last;
};

/* Begin a batch's bytes. at_ms: when the batch was taken, which is when its runs ended. */
struct ends_writer ends_begin(struct buf *to, int64_t at_ms);
void ends_add_fold(struct ends_writer *w, const struct ends_fold *f); /* before the first end */
void ends_add(struct ends_writer *w, const struct run_end *e);        /* about 14 bytes */

struct ends_reader {
    const uint8_t *p, *end;
    struct run_end last;
    int64_t at_ms;
    bool bad; /* the rest is not what ends_add writes, and is not read */
};

/* Bytes of unknown origin; borrowed until the last ends_next. */
struct ends_reader ends_read(struct slice bytes);
/* False: there is none left, the ends follow, or bad is set. */
bool ends_next_fold(struct ends_reader *r, struct ends_fold *ret);
/* Passes over folds. False: there is none left, or bad is set. What it gives is within its bounds:
 * ids from 1 to 2^53, group from 0, times from 1970 to 9999, durations from 0 to a year, known
 * outcomes. */
bool ends_next(struct ends_reader *r, struct run_end *ret);

/* The variable numbers that these bytes and others of this folder are made of: seven bits a byte,
 * lowest first. Signed: the sign is the lowest bit. */
void number_put(struct buf *to, uint64_t v);
void number_put_signed(struct buf *to, int64_t v);
/* False: the bytes end first, or are no number; then *p is anywhere before end. */
bool number_get(const uint8_t **p, const uint8_t *end, uint64_t *ret);
bool number_get_signed(const uint8_t **p, const uint8_t *end, int64_t *ret);

#endif
