/* SPDX-License-Identifier: Apache-2.0 */
/* writer.h - the thread that owns the store's writing handle and the planner.
 *
 * It takes one batch at a time, makes it one transaction, and posts it back. A batch that fails is
 * tried again, unchanged, until it succeeds or the writer is stopped; meanwhile the health says
 * why. How long it waits between two tries depends on what kind of failure it was. One comes back
 * with an error: ERR_FENCED, after which no transaction of this process will be committed. It does
 * the store's housekeeping in small steps, in the transactions of batches; of several servers on
 * one database the first one alone does. */
#ifndef PEAL_SERVER_WRITER_H
#define PEAL_SERVER_WRITER_H

#include "base/mailbox.h"
#include "ledger/figures.h"
#include "ledger/retention.h"
#include "ledger/write.h"
#include "sched/batch.h"
#include "server/metrics.h"
#include "server/node.h"

struct writer;

struct batch_message {
    struct message message;
    struct batch *batch;
    struct list writes; /* struct ledger_entry, of the same transaction */
};

/* Takes store and planner; both are freed by writer_free. The figures and the node (NULL is fine)
 * are borrowed. Done batches go to the mailbox done. */
struct writer *writer_new(struct store *store, struct planner *planner, struct figures *figures,
                          const struct retention_rules *rules, struct mailbox *done, int done_kind,
                          struct metrics *metrics, const struct node *node);
/* Scheduler's thread. The message belongs to the writer until it comes back. */
void writer_give(struct writer *w, struct batch_message *incoming);
/* Any thread: what the last transaction's failure was; false if it succeeded. */
bool writer_trouble(struct writer *w, char *text, size_t size);
/* Any thread: the same without the words, and without a lock. */
bool writer_in_trouble(const struct writer *w);
/* Stop after the batch under way; one that keeps failing is given up (it was never acknowledged).
 * Joins the thread. */
void writer_stop(struct writer *w);
void writer_free(struct writer *w);

#endif
