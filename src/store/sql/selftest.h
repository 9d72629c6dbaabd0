/* SPDX-License-Identifier: Apache-2.0 */
/* selftest.h - what an engine brings for the test of its server (store/selftest.h): the statements
 * that differ from server to server. Private to src/store. */
#ifndef PEAL_STORE_SQL_SELFTEST_H
#define PEAL_STORE_SQL_SELFTEST_H

#include "base/err.h"
#include "base/why.h"
#include <stddef.h>

struct sql;

struct sql_selftest {
    const char *create;          /* the table peal_selftest_rows, unless it is there */
    const char *alter;           /* changes a column of it; may be repeated */
    const char *locks, *unlocks; /* a lock with a name, without waiting: 1 if it was to be had */
    const char *schema;          /* an expression: where its tables are */
    const char *session;         /* the connection's number */
    const char *end;             /* with %lld: ends the session of that number */
    /* Has the user the rights on the schema and on tables of Peal that are there? Asked before
     * anything is written; NULL: the statements say it. */
    enum err (*rights)(struct sql *s, struct why *why);
    /* Where commits are certified: what of the cluster's settings Peal cannot work with; NULL: this
     * engine has no such servers. remark: what an operator should know. */
    enum err (*cluster)(struct sql *s, char *remark, size_t size, struct why *why);
};

extern const struct sql_selftest my_selftest, pg_selftest;

#endif
