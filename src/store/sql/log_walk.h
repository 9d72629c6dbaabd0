/* SPDX-License-Identifier: Apache-2.0 */
/* log_walk.h - how an engine finds the rows of one job in the log, chunk by chunk. Private to
 * src/store. */
#ifndef PEAL_STORE_SQL_LOG_WALK_H
#define PEAL_STORE_SQL_LOG_WALK_H

#include "store/sql/log_row.h"

/* Word for word the condition of the indexes over failures. */
#define SQL_LOG_FAILED(t)                                                                          \
    "(" t ".trigger_code NOT IN (0, 200) OR " t ".handle_code NOT IN (0, 200))"

enum { SQL_LOG_ALL, SQL_LOG_JOB, SQL_LOG_JOB_FAILED, SQL_LOG_WALKS };

/* Up to the WHERE clause: the rows, newest first, and the same for counting; and the order where
 * the rows do not come in it. ?1 the job, ?2 the largest id, ?3 the smallest. */
struct sql_log_walk {
    const char *select, *order, *count;
};
#define SQL_LOG_WALK_ALL                                                                           \
    {                                                                                              \
        SQL_LOG_SELECT, " ORDER BY l.id DESC", "SELECT l.id AS id FROM xxl_job_log l" SQL_LOG_LIVE \
    }

MUST_CHECK enum err sql_logs_page(struct store *store,
                                  const struct sql_log_walk walks[SQL_LOG_WALKS],
                                  const struct logs_filter *f, log_row_fn *fn, void *ctx,
                                  int64_t *ret_total, struct why *why);

#endif
