/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the database server's clock beside this machine's. Private to src/store. */
#ifndef PEAL_STORE_SQL_CLOCK_H
#define PEAL_STORE_SQL_CLOCK_H

#include "store/sql/sql.h"

/* The server's clock minus this machine's, as far as the time of the question leaves no doubt: 0
 * when the server's lies within it. */
MUST_CHECK enum err sql_clock_apart(struct sql *s, int64_t *ret_ms, struct why *why);
/* ERR_INVALID, with what mends it: they are further apart than max_ms. 0: they may be. */
MUST_CHECK enum err sql_clock_check(struct sql *s, int64_t max_ms, struct why *why);

#endif
