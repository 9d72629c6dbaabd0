/* SPDX-License-Identifier: Apache-2.0 */
/* totals.h - what the ledger keeps for the whole center: the totals, and how far runs may have
 * left. Plain data. */
#ifndef PEAL_MODEL_TOTALS_H
#define PEAL_MODEL_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

/* In peal_epoch, for the whole center. None of them ever falls. */
enum total {
    TOTAL_PLANNED,
    TOTAL_FINISHED,
    TOTAL_REJECTED, /* with UNROUTABLE */
    TOTAL_LOST,     /* found to be lost, whatever came after all */
    TOTAL_SKIPPED,  /* planned runs that went to the misfire policy; the rest is in peal_skip */
    TOTAL_WITHDRAWN,
    TOTAL_SENT,   /* runs that are known to have left: accepted, or ended by more than us */
    TOTAL_RESENT, /* sends in a cell of the reconciliation table that admits a second run */
    TOTAL_LATE,   /* results that came after the run was closed */
    TOTAL_FOUND,  /* lost runs whose result came in time after all: lost, and finished */
    TOTAL_COUNT
};
const char *total_name(enum total t); /* "planned" */

struct totals {
    int64_t n[TOTAL_COUNT];
};

/* What nothing has become of; open: rows of peal_run that have not ended. 0 after every
 * transaction. */
int64_t totals_unaccounted(const struct totals *t, int64_t open);

#define RECORDER_ID_SIZE 33 /* 32 hexadecimal digits */

/* In peal_epoch, with what goes with it. The recorder is described in flight.h. */
struct watermark {
    int64_t until_ms; /* nothing that is due later has been sent */
    bool clean;       /* the last process was stopped cleanly: nothing PLANNED has been sent */
    char recorder[RECORDER_ID_SIZE]; /* of the life that renewed it last, "" = it has none */
    int64_t renewals;                /* how often that life has renewed it */
    int64_t last_id;                 /* peal_seq: the last log id that was given */
    int64_t trace_key;               /* read only, of the database: trace.h */
    int64_t batch;                   /* number of the last commit: each has the next */
};

#endif
