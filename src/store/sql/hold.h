/* SPDX-License-Identifier: Apache-2.0 */
/* hold.h - what a lock of rows leaves open where commits are certified. Private to src/store.
 *
 * On a Galera cluster a row is locked on one of its servers only, and a transaction that has locked
 * it, or read it, is committed beside one of another server that has written it. Two that have
 * written the same row are not: the later one is refused with ERR_CONFLICT, by its COMMIT at the
 * latest. So what must exclude another transaction writes a row that the other one writes. */
#ifndef PEAL_STORE_SQL_HOLD_H
#define PEAL_STORE_SQL_HOLD_H

#include "store/sql/sql.h"

/* Where commits are certified: writes these rows and writes them back as they were, so that they
 * count as written. rows: a condition without parameters; column: one that holds a number. Does
 * nothing elsewhere: the caller has locked the rows. */
MUST_CHECK enum err sql_hold(struct sql *s, const char *table, const char *column, const char *rows,
                             struct why *why);
/* The same of the row whose column key has this value. */
MUST_CHECK enum err sql_hold_one(struct sql *s, const char *table, const char *column,
                                 const char *key, int64_t value, struct why *why);
/* Commits a transaction that has done nothing else but hold rows: one that wrote them earlier and
 * has not been committed is refused from now on, however late it comes. Roll back afterwards, in
 * any case. */
MUST_CHECK enum err sql_hold_commit(struct sql *s, struct why *why);

#endif
