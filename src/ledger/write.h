/* SPDX-License-Identifier: Apache-2.0 */
/* write.h - the generic write: rows that are not scheduling, in the transactions of scheduling.
 *
 * Users, sessions, and whatever else the scheduler does not know: a kind of write is two functions
 * and its argument. A write goes with the next batch, behind everything that the batch itself
 * writes, so it costs no commit of its own, and it is heard of when the batch's commit is. */
#ifndef PEAL_LEDGER_WRITE_H
#define PEAL_LEDGER_WRITE_H

#include "base/list.h"
#include "store/store.h"

struct ledger_write {
    /* Writer's thread, in the batch's transaction, in a savepoint of its own. Uses the functions of
     * store.h that read and write rows, and no others. May be called several times, because a batch
     * that fails is tried again, and must come to the same each time: how far it has come is read
     * from the tables, not remembered in arg.
     *
     * At most 500 rows and 5 ms. What needs more does a part and returns ERR_MORE: the part is
     * committed with this batch, and run is called again with the next.
     *
     * ERR_NOTFOUND, ERR_EXISTS, ERR_INVALID, ERR_OVERTAKEN refuse this write alone: what this call
     * wrote is taken back, why goes to the asker. (The parts before stay.) Any other error is the
     * batch's: all of it is rolled back and tried again. */
    enum err (*run)(struct store *s, void *arg, struct why *why);
    /* Called once; nothing uses arg after it, so it frees what arg owns. With OK, or with what
     * refused the write, after the commit was heard, on the asker's thread. With another error the
     * asker has given up (ERR_TIMEOUT), or is told that nothing was begun, or the server stops:
     * then it may be called on any thread, while the write may have been committed, and does no
     * more than free. */
    void (*done)(void *arg, enum err err, const struct why *why);
};

struct ledger_entry { /* one write on its way */
    struct list_node node;
    const struct ledger_write *write;
    void *arg;
    void *reply; /* of the caller that waits; not looked at here */
    /* result of the last transaction that was committed; ERR_MORE: it goes with the next, too */
    enum err err;
    struct why why;
};

/* arg belongs to the entry until write->done. */
struct ledger_entry *ledger_entry_new(const struct ledger_write *write, void *arg);
/* Call write->done, and free the entry. */
void ledger_entry_end(struct ledger_entry *e, enum err err);
/* The same for all of a list (of struct ledger_entry), which is empty afterwards. */
void ledger_entries_end(struct list *entries, enum err err);

/* Is the error about what was asked for, so that the transaction goes on without it? */
bool ledger_refuses(enum err err);

/* In a transaction: run each. Not OK: the transaction is lost. */
MUST_CHECK enum err ledger_writes_run(struct store *s, struct list *writes, struct why *why);

#endif
