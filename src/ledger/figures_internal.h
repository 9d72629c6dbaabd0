/* SPDX-License-Identifier: Apache-2.0 */
/* figures_internal.h - the figures' memory, shared by the files figures*.c only.
 *
 * From the ground up: figures_fold.c (rows out, bytes away), figures_read.c (what the figures
 * say), figures_copy.c (all of them, for a second reader), figures_report.c (XXL-JOB's report),
 * figures_load.c (the start), figures.c (the transaction). */
#ifndef PEAL_LEDGER_FIGURES_INTERNAL_H
#define PEAL_LEDGER_FIGURES_INTERNAL_H

#include "base/buf.h"
#include "base/mem.h"
#include "ledger/figures.h"
#include "ledger/others.h"
#include "ledger/tally.h"
#include <pthread.h>

struct delta { /* a row of peal_delta */
    int64_t n;
    size_t bytes;
};

struct running { /* live runs, of the days of the report */
    int64_t at_ms;
    int64_t days[FIGURES_REPORT_DAYS], counts[FIGURES_REPORT_DAYS];
};

struct step {  /* of the transaction under way, to be done in memory when it is committed */
    int64_t n; /* the commit with the ends; 0: there are none */
    struct job_tally **jobs; /* whose stat is staged */
    int njobs, cjobs;
    struct tally **folded;
    int nfolded, cfolded;
    struct shelf **shelves; /* all of whose jobs are folded */
    int nshelves, cshelves;
    int ndropped;
    int expire;  /* the level that is through, 0: none */
    bool report; /* it was written */
};

struct figures {
    pthread_mutex_t lock;  /* for what other threads read: all, n, running */
    struct others *others; /* NULL: this server has the database alone */
    struct tallies all;
    int64_t n; /* the last commit that is counted */
    struct running running;

    /* the writer's own */
    struct step step;
    struct delta *deltas; /* on disk, by n */
    int first_delta, ndeltas, cdeltas;
    size_t delta_bytes;
    int64_t force_n; /* what is as old is folded now */
    int64_t quarter;
    int64_t expired_ms, report_ms;
    int expiring; /* the next level, 0: none */
    struct buf bytes;
    struct tally_rows rows;
    struct job_stat_row *stats;
    int nstats, cstats;
};

#define append(array, n, cap, value)                                                               \
    do {                                                                                           \
        if ((n) == (cap)) {                                                                        \
            (cap) = (cap) ? (cap)*2 : 64;                                                          \
            (array) = mem_resize((array), (size_t)(cap) * sizeof(*(array)));                       \
        }                                                                                          \
        (array)[(n)++] = (value);                                                                  \
    } while (0)

static inline int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* ---- figures_fold.c: the writer's thread, inside the transaction ------------------------------
 */

/* A row of bytes is on disk: its commit, and how many bytes. */
void figures_noted(struct figures *f, int64_t n, size_t bytes);
/* Stage, and write, the rows that are due: 250 at most, or those of one shelf of jobs. */
MUST_CHECK enum err figures_fold(struct figures *f, struct store *s, const struct batch *b,
                                 struct why *why);
/* Delete the bytes that every row includes. */
MUST_CHECK enum err figures_drop(struct figures *f, struct store *s, struct why *why);
/* Delete rows that are older than what is kept of their level: a level in ten minutes at most. */
MUST_CHECK enum err figures_expire(struct figures *f, struct store *s, int64_t now_ms,
                                   struct why *why);
/* The transaction was committed: what these three have staged holds. With the lock. */
void figures_folded(struct figures *f);
/* The same, of what no other thread reads: without the lock. */
void figures_dropped(struct figures *f);

/* ---- figures_report.c ------------------------------------------------------------------------ */

/* Write the report's rows of the last days, once a minute. */
MUST_CHECK enum err figures_report_write(struct figures *f, struct store *s, int64_t now_ms,
                                         struct why *why);

#endif
