/* SPDX-License-Identifier: Apache-2.0 */
/* keeper.h - the thread that reads logs, writes what runs without a file leave, adds late lines and
 * cleans old days, so that a slow disk or a large log holds up neither the loop nor a worker.
 *
 * Shares and notes are gathered for KEEPER_GATHER_MS, or until KEEPER_GATHER_BYTES of them wait,
 * and then written together; a read writes them first, so it sees what was handed over before it.
 * An executor that is killed loses the lines of those milliseconds, not the results. When the disk
 * does not keep up, what goes beyond KEEPER_WAITING_MAX bytes (notes: beyond KEEPER_NOTES_MAX, the
 * center knows what they say) is dropped and counted in the executor's log. */
#ifndef PEAL_EXECUTOR_KEEPER_H
#define PEAL_EXECUTOR_KEEPER_H

#include "base/mailbox.h"
#include "executor/runlog_read.h"

enum {
    KEEPER_GATHER_MS = 20,
    KEEPER_GATHER_BYTES = 1 << 20,
    KEEPER_WAITING_MAX = 64 << 20,
    KEEPER_NOTES_MAX = 2 << 20,
};

struct keeper; /* opaque */
struct shared_record;

struct keeper_read {      /* an order, and its answer */
    struct letter letter; /* comes back with the kind that it had */
    int64_t log_id, log_date_ms;
    int from_line;
    bool whole_lines;
    void *user;
    struct runlog_page page; /* the receiver releases page.content */
};

/* logpath, loop: borrowed. loop: where the answers go. retention_days: cleaner.h. The thread speaks
 * to the caller's log sink. NULL: the system gives no thread. */
struct keeper *keeper_new(const char *logpath, int retention_days, struct mailbox *loop);
/* Writes what it was given and answers what was ordered, then ends. NULL is fine. */
void keeper_free(struct keeper *k);
/* Any thread. r belongs to the keeper until it comes back as a letter. */
void keeper_read(struct keeper *k, struct keeper_read *r);
/* Any thread. r is the keeper's from here on; NULL is fine: a run with a file of its own. */
void keeper_share(struct keeper *k, struct shared_record *r);
/* Any thread. A line about the callback for a run that has a file; word is "finish" or "fail",
 * static. */
void keeper_note(struct keeper *k, int64_t log_id, int64_t log_date_ms, const char *word);

#endif
