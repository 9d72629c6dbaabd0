/* SPDX-License-Identifier: Apache-2.0 */
/* txn.h - one batch as one transaction: the same for every engine and for the simulation.
 *
 * Runs on the thread that owns the store's writing handle and the planner. */
#ifndef PEAL_LEDGER_TXN_H
#define PEAL_LEDGER_TXN_H

#include "ledger/figures.h"
#include "ledger/write.h"
#include "sched/batch.h"

/* Do what the batch says, count its ends (figures; NULL: nobody counts), then the writes (struct
 * ledger_entry; NULL: there are none), and commit. b->err tells; on failure nothing of it is on
 * disk, its results are empty and it can be given again. ERR_UNHEARD: that is not known; the batch
 * keeps its results, and txn_settle comes before anything else. The views of a failed batch have
 * reached the planner: they are of memory, not of the disk. */
void txn_run(struct store *store, struct planner *planner, struct figures *figures, struct batch *b,
             struct list *writes);
/* Of a batch with ERR_UNHEARD: ask the store. Still that: ask again later. Another b->err: it is as
 * after txn_run. */
void txn_settle(struct store *store, struct planner *planner, struct figures *figures,
                struct batch *b);

#endif
