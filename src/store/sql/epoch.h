/* SPDX-License-Identifier: Apache-2.0 */
/* epoch.h - one life of one server as a row of peal_epoch, on a database that several can open.
 * Private to src/store.
 *
 * A writing handle joins: it gets an epoch of its own and ends those of earlier lives. The last
 * statement before each COMMIT is a compare-and-set of the epoch's number of commits, which finds
 * no row once the epoch has ended. So a transaction is applied once, in order, and never after
 * that, however late the server executes it, and an answer that got lost can be asked for. An
 * engine whose commits go this way has sql_outcome in its store_txn. */
#ifndef PEAL_STORE_SQL_EPOCH_H
#define PEAL_STORE_SQL_EPOCH_H

#include "store/sql/follow.h"
#include "store/sql/rivals.h"

extern const struct store_cluster sql_cluster; /* of store_ops; nodes.c */

#define SQL_OLDER_COPY "an older copy (a standby that was promoted, a backup that was put back)"

/* The newest epoch that has not ended; 0: there is none. Its name and address. */
MUST_CHECK enum err sql_life_read(struct sql *s, struct sql_life *ret, struct why *why);

/* Once on a writing handle, after migration and when begin, commit and rollback of s->store.ops
 * work: s->node, s->epoch, s->batch. Unended epochs end, their live rows become this one's; on a
 * shared database its rivals end (rivals.h), and rows of this name's earlier lives
 * become this one's. Name: of the node, 1 to 128 bytes. */
MUST_CHECK enum err sql_epoch_join(struct sql *s, const char *name, struct why *why);
/* In commit, the last statement before COMMIT: the fence, the totals, the watermark. ERR_FENCED:
 * the epoch has ended, or the database is an older copy of itself. */
MUST_CHECK enum err sql_epoch_flush(struct sql *s, const struct commit *c, struct why *why);
/* peal_node.state: 1, it plans nothing any more; 2, it has the database together with others. */
#define SQL_NODE_ASKED 4 /* an operator wants it to drain; beats leave that alone */
static inline int sql_node_state(bool shared, bool draining)
{
    return (shared ? 2 : 0) + draining;
}
/* Says that a server which shares the database has ended the epoch of this one. */
void sql_epoch_given_up(const struct sql *s, struct why *why);
/* The server has said that it committed. */
static inline void sql_epoch_committed(struct sql *s)
{
    s->batch++;
    sql_follow_committed(s);
}
/* store_txn.outcome: reads the epoch's row, in a transaction that begin opens on whatever
 * connection it finds or makes. */
MUST_CHECK enum err sql_outcome(struct store *store, bool *ret_done, struct why *why);
/* In close of a writing handle, no transaction open: the next life need not wait. Fine without
 * join, and when the database is away. */
void sql_epoch_leave(struct sql *s);

#endif
