/* SPDX-License-Identifier: Apache-2.0 */
/* follow.h - a database that fails over to another server, which may not have the last commits.
 * Private to src/store.
 *
 * Log ids of such commits have reached executors, which remember them, and must not be given again.
 * No server of Peal knows how many there were, and one that has lost nothing itself may be the
 * first to add rows. So whoever finds that its connection leads to another server than before
 * leaves out SQL_IDS_LOST ids, in its first transaction there; who comes later finds in peal_seq
 * that this has been done. The same at the start of a life whose predecessor has found that commits
 * were lost. */
#ifndef PEAL_STORE_SQL_FOLLOW_H
#define PEAL_STORE_SQL_FOLLOW_H

#include "store/sql/sql.h"

/* The connection of a writing handle is made, and leads to the server of this name (NULL or empty:
 * not known). */
void sql_follow_connected(struct sql *s, const char *server);
/* In the transaction that begins a life. */
MUST_CHECK enum err sql_follow_begin(struct sql *s, struct why *why);
/* In each transaction of a life, before it adds rows. Costs nothing while the server is the same.
 */
MUST_CHECK enum err sql_follow(struct sql *s, struct why *why);
/* The transaction was committed. */
static inline void sql_follow_committed(struct sql *s)
{
    s->followed = s->following;
}

#endif
