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
    BULK_REAL,
    BULK_BLOB,
};

struct bulk_column {
    const char *name;
    enum bulk_type type;
};

struct bulk_table {
    const char *name;
    const struct bulk_column *columns; /* the primary key's come first */
    int n;
    int nkeys; /* columns of the primary key, numbers and texts; 0 stands for 1 */
};

struct bulk_value { /* of the members, the one of the column's type counts */
    bool null;
    int64_t number;
    const char *text;
    double real;
    struct slice bytes;
};

enum { BULK_COLUMNS_MAX = 32, BULK_KEYS_MAX = 4 };

struct bulk_put; /* rows on their way into one table */

/* For the rows of one table, over several transactions if there are many: a server remembers each
 * beginning until the connection ends. ERR_INVALID: the engine keeps no tables. */
MUST_CHECK enum err bulk_begin(struct store *s, const struct bulk_table *t, struct bulk_put **ret,
                               struct why *why);
/* Within a transaction. */
MUST_CHECK enum err bulk_row(struct bulk_put *b, const struct bulk_value *values, struct why *why);
void bulk_end(struct bulk_put *b); /* NULL is fine */

/* Rows that others add to the table from now on get ids behind those that are there. Within a
 * transaction; for tables whose key is "id" and given by the database. */
MUST_CHECK enum err bulk_lift(struct store *s, const struct bulk_table *t, struct why *why);

/* Values are lent until the function returns; an error ends the reading. */
typedef enum err bulk_row_fn(void *ctx, const struct bulk_value *values, struct why *why);

/* A row's key; all zero: before the first row. */
struct bulk_place {
    bool set;
    struct bulk_value key[BULK_KEYS_MAX];
    char *texts[BULK_KEYS_MAX]; /* owned */
};
void bulk_place_done(struct bulk_place *p);

/* The next rows behind *io by their key, max at most: one statement, whose cost does not grow with
 * the table. *io is the last of them afterwards; *ret_n < max: there is none behind. ERR_INVALID
 * also: a text holds a NUL, which not every engine can hold. */
MUST_CHECK enum err bulk_slice(struct store *s, const struct bulk_table *t, struct bulk_place *io,
                               int max, bulk_row_fn *fn, void *ctx, int *ret_n, struct why *why);
/* All rows by their key, in slices: a server need not send a large table in one answer, and an
 * engine that keeps an answer whole does not keep the table. */
MUST_CHECK enum err bulk_each(struct store *s, const struct bulk_table *t, bulk_row_fn *fn,
                              void *ctx, struct why *why);

/* The largest of its keys, INT64_MIN: there is no row. For tables whose key is one number. */
MUST_CHECK enum err bulk_last(struct store *s, const struct bulk_table *t, int64_t *ret,
                              struct why *why);
/* Deletes the rows whose key is more than after and at most upto. Within a transaction; for tables
 * whose key is one number. */
MUST_CHECK enum err bulk_remove(struct store *s, const struct bulk_table *t, int64_t after,
                                int64_t upto, struct why *why);

/* Numbers by name (peal_seq), by which a filling that was cut off is known. put and drop within a
 * transaction. otherwise: where there is none of that name. */
MUST_CHECK enum err bulk_mark_get(struct store *s, const char *name, int64_t otherwise,
                                  int64_t *ret, struct why *why);
MUST_CHECK enum err bulk_mark_put(struct store *s, const char *name, int64_t value,
                                  struct why *why);
MUST_CHECK enum err bulk_mark_drop(struct store *s, const char *name, struct why *why);
/* Is there while an import of an XXL-JOB with its log has begun and has not ended: which source it
 * is. No server may begin on such a part. */
#define BULK_MARK_IMPORT "import"

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
