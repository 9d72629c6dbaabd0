/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - which release's tables an XXL-JOB database on MySQL or MariaDB has.
 *
 * Told by what is there and never by a version number: columns, indexes and rows that releases have
 * added. It is read once, when a database is opened; statements are composed from it. Releases 2.3
 * to 3.5 are known. Immutable after reading. */
#ifndef PEAL_STORE_MYSQL_LAYOUT_H
#define PEAL_STORE_MYSQL_LAYOUT_H

#include "base/err.h"
#include "base/map.h"
#include "base/why.h"

/* Run a statement and call fn with the values of each row; a NULL's p is NULL. The columns' number
 * is that of the statement. What the layout needs of a connection. */
typedef void layout_row_fn(void *ctx, const struct slice *values);
typedef enum err layout_query_fn(void *connection, const char *sql, layout_row_fn *fn, void *ctx,
                                 struct why *why);

enum layout_release { LAYOUT_2_3, LAYOUT_2_5, LAYOUT_3_2, LAYOUT_3_4, LAYOUT_3_5 };

struct layout_column {
    int64_t chars; /* most characters of a text; -1: it is none */
    bool nullable;
    char collation[64]; /* "" where the column has none */
};

struct layout {
    enum layout_release release;
    const char *job_name, *group_name; /* columns: job_desc and title, or name */
    bool registry_unique;              /* one row a registration; else readers see doubles */
    bool user_token;                   /* passwords are SHA-256 of 64 digits, else MD5 of 32 */
    bool lock_row;                     /* what keeps the admins from each other is there */
    bool transactions;                 /* the tables' engine knows them */
    bool same_collation;               /* of executor_address and registry_value */
    bool due_index, log_index; /* (trigger_status, trigger_next_time); (job_id) of the log */
    bool galera;
    bool ours;              /* tables of ours are there */
    struct textmap columns; /* "table.column" -> struct layout_column, owned */
};

/* Of the connection's database. ERR_INVALID: it is no database of XXL-JOB, or one of a release
 * before 2.3, or a column is missing that each later one has; else the query's own error. *ret
 * always needs layout_done. */
MUST_CHECK enum err layout_read(layout_query_fn *query, void *connection, struct layout *ret,
                                struct why *why);
void layout_done(struct layout *l);

/* NULL: there is no such column. */
const struct layout_column *layout_column(const struct layout *l, const char *table,
                                          const char *column);
/* "2.3 to 2.4", ...; static storage. */
const char *layout_text(const struct layout *l);

/* May a center work on it? ERR_INVALID: why says what is missing, and the statement that mends it.
 */
MUST_CHECK enum err layout_usable(const struct layout *l, struct why *why);
/* What a center or its Java neighbours would suffer from, one sentence each. */
void layout_warnings(const struct layout *l, void (*fn)(void *ctx, const char *text), void *ctx);

#endif
