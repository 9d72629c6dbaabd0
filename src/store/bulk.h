/* SPDX-License-Identifier: Apache-2.0 */
/* bulk.h - rows of whole tables as they are, with their ids: how a database is filled from another.
 *
 * The rules of jobs and users do not look at these rows. For a database that no server uses. */
#ifndef PEAL_STORE_BULK_H
#define PEAL_STORE_BULK_H

#include "store/store.h"

enum bulk_type {
    BULK_I64,
    BULK_TEXT,
    BULK_TIME, /* a datetime of XXL-JOB's tables, as epoch milliseconds */
};

struct bulk_column {
    const char *name;
    enum bulk_type type;
};

struct bulk_table {
    const char *name;
    const struct bulk_column *columns; /* the first is the key, a number */
    int n;
};

struct bulk_value {
    bool null;
    int64_t number;
    const char *text; /* of a BULK_TEXT that is not NULL */
};

enum { BULK_COLUMNS_MAX = 32 };

struct bulk_put; /* rows on their way into one table */

/* Within a transaction. ERR_INVALID: the engine keeps no tables. */
MUST_CHECK enum err bulk_begin(struct store *s, const struct bulk_table *t, struct bulk_put **ret,
                               struct why *why);
MUST_CHECK enum err bulk_row(struct bulk_put *b, const struct bulk_value *values, struct why *why);
void bulk_end(struct bulk_put *b); /* NULL is fine */

/* Rows that others add to the table from now on get ids behind those that are there. Within a
 * transaction; for tables whose key is "id" and given by the database. */
MUST_CHECK enum err bulk_lift(struct store *s, const struct bulk_table *t, struct why *why);

typedef void bulk_row_fn(void *ctx, const struct bulk_value *values);
/* All rows, by their key. */
MUST_CHECK enum err bulk_each(struct store *s, const struct bulk_table *t, bulk_row_fn *fn,
                              void *ctx, struct why *why);

/* What tables that are equal have in common, whatever the order of their rows. */
struct bulk_sum {
    int64_t rows;
    uint64_t hash;
};
void bulk_sum_add(struct bulk_sum *sum, const struct bulk_table *t,
                  const struct bulk_value *values);

/* peal_log_span says which ids the log has in a span of time; the span of a time. */
int64_t bulk_log_slot(int64_t ms);

#endif
