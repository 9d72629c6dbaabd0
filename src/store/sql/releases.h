/* SPDX-License-Identifier: Apache-2.0 */
/* releases.h - which releases use a database, for an operator who wants to start this one there.
 * Private to src/store. */
#ifndef PEAL_STORE_SQL_RELEASES_H
#define PEAL_STORE_SQL_RELEASES_H

#include "store/sql/sql.h"

/* Reads only. remark: the newest migration and the nodes that live, with release and protocol;
 * empty where there are no tables of Peal, or older ones than these. ERR_INVALID: this release
 * could not start there now; why names the node or the protocol that is in the way. */
MUST_CHECK enum err sql_releases_check(struct sql *s, char *remark, size_t size, struct why *why);

#endif
