/* SPDX-License-Identifier: Apache-2.0 */
/* xxl_rows.h - rows of an XXL-JOB database as rows of ours: which tables an import copies, what is
 * selected there, what a value becomes. Private to src/store. One thread. */
#ifndef PEAL_STORE_XXL_ROWS_H
#define PEAL_STORE_XXL_ROWS_H

#include "base/buf.h"
#include "store/bulk.h"
#include "store/xxl_import.h"

enum { XXL_LOG, XXL_GROUPS, XXL_JOBS, XXL_DUE, XXL_SCRIPTS, XXL_USERS, XXL_REGISTRY };

struct xxl_rows {
    struct bulk_column job_columns[BULK_COLUMNS_MAX]; /* id, and those of xxl_job_info */
    struct bulk_table tables[XXL_IMPORT_TABLES];
    int status; /* place of trigger_status among the job's columns */
};

/* What people call them. */
extern const char *const xxl_table_names[XXL_IMPORT_TABLES];
/* Places of columns of the log. */
enum { XXL_LOG_ID = 0, XXL_LOG_JOB = 2, XXL_LOG_TIME = 8 };

void xxl_rows_make(struct xxl_rows *p); /* nothing to release; *p must not be moved */

/* "SELECT the columns FROM the table", without conditions. */
void xxl_rows_select(struct buf *sql, const struct xxl_rows *p, const struct layout *l, int table);

struct xxl_row {
    struct bulk_value values[BULK_COLUMNS_MAX];
    char *texts[BULK_COLUMNS_MAX]; /* owned */
};
/* Release with xxl_row_done, also on an error. ERR_INVALID: a value that cannot be held, with its
 * table, id and column. */
MUST_CHECK enum err xxl_row_take(const struct xxl_rows *p, int table, const struct zone *zone,
                                 const struct slice *from, struct xxl_row *ret, struct why *why);
void xxl_row_done(struct xxl_row *row);

#endif
