/* SPDX-License-Identifier: Apache-2.0 */
/* results.h - how runs ended: into the journal, from there to a center, and out of both.
 *
 *   added --RESULT on disk, or the disk takes too long--> reported --a center has it--> TELL, gone
 *
 * What an iteration of the loop has to say to the journal about deliveries is one TELL. A result
 * that went out before the disk had it is still owed to the journal until then. Thread: the loop's.
 */
#ifndef PEAL_EXECUTOR_CORE_RESULTS_H
#define PEAL_EXECUTOR_CORE_RESULTS_H

#include "executor/core/centers.h"
#include "executor/journal/run_journal.h"
#include "net/loop.h"

#define RESULTS_WAIT_MS 2000 /* for the disk; then a result goes out without it */

struct write { /* a change on its way to the journal */
    struct run_journal_op op;
    void *of;       /* struct peal_run or struct result */
    int64_t seqs[]; /* TELL */
};
struct write *write_new(enum run_journal_what what, void *of, size_t nseqs);

struct results {       /* embed it; results_init fills it */
    struct loop *loop; /* borrowed, as are the next two: set them before anything is added */
    struct run_journal *journal;
    struct centers *centers;
    struct list unwritten;      /* struct result.late, oldest first: neither on disk nor reported */
    struct loop_timer patience; /* for the oldest of them */
    int64_t *told;              /* seqs for the next TELL; owned */
    size_t ntold, told_room;
    struct loop_task tell;
    size_t n; /* not yet taken by a center */
    int64_t bytes;
    bool closing; /* nothing is reported any more: the journal has it for the next start */
};

/* kind: of the messages that come back. */
enum { RESULTS_MESSAGE_WRITTEN = 16 };

void results_init(struct results *s, struct loop *l);
void results_done(struct results *s); /* results that are left: centers_free takes them */
/* A run ended so. s owns r. */
void results_add(struct results *s, struct result *r, int64_t ended_ms);
/* The journal has it from before. */
void results_restore(struct results *s, struct result *r);
/* Messages of RESULT and TELL. */
void results_written(struct results *s, struct write *w);
/* A center has it. */
void results_told(struct results *s, struct result *r);
/* Say now what has gathered for the journal. */
void results_flush(struct results *s);

#endif
