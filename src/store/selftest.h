/* SPDX-License-Identifier: Apache-2.0 */
/* selftest.h - tries on a database server what Peal needs of one: peal db check --selftest.
 *
 * All of it happens in a table of its own, peal_selftest_rows, which is dropped at the end, and at
 * the next begin if a test was cut off. Two connections are used. No other table is read or
 * written, so a server of Peal may use the database meanwhile. */
#ifndef PEAL_STORE_SELFTEST_H
#define PEAL_STORE_SELFTEST_H

#include "base/err.h"
#include "base/why.h"
#include <stdbool.h>

#define SELFTEST_SERVER_SIZE 128

/* After each check, in their order. said: why it failed, with what mends it; where it is good, a
 * remark or "". Lent until the function returns. */
typedef void selftest_fn(void *ctx, const char *name, bool good, const char *said);

struct selftest_result {
    char server[SELFTEST_SERVER_SIZE]; /* its own name and release; empty: there is no connection */
    int checks, failed;
};

/* One thread; takes a few seconds. OK as well where checks have failed, the connection included.
 * What needs a check that has failed is left out. ERR_INVALID: url names no database server. */
MUST_CHECK enum err store_selftest(const char *url, selftest_fn *fn, void *ctx,
                                   struct selftest_result *ret, struct why *why);

#endif
