/* SPDX-License-Identifier: Apache-2.0 */
/* log_row.h - the row of the log with what its live row adds, for pages of an engine's own. Private
 * to src/store. */
#ifndef PEAL_STORE_SQL_LOG_ROW_H
#define PEAL_STORE_SQL_LOG_ROW_H

#include "store/sql/sql.h"

/* What sql_log_lend reads: from a log row l and its live row r. */
#define SQL_LOG_COLUMNS                                                                            \
    "SELECT l.id, l.job_group, l.job_id, l.executor_address, l.executor_handler, "                 \
    "l.executor_param, l.executor_sharding_param, l.executor_fail_retry_count, "                   \
    "{ms l.trigger_time}, l.trigger_code, l.trigger_msg, {ms l.handle_time}, l.handle_code, "      \
    "l.handle_msg, l.alarm_status, "                                                               \
    "r.phase, r.kind, r.moment_ms, r.attempt "
#define SQL_LOG_LIVE " LEFT JOIN peal_run r ON r.log_id = l.id"
#define SQL_LOG_SELECT SQL_LOG_COLUMNS "FROM xxl_job_log l" SQL_LOG_LIVE

/* Needs log_record_done. */
void sql_log_read(struct sql_query *q, struct log_record *r);
/* A sql_lend_fn for log_row_fn. */
bool sql_log_lend(struct sql_query *q, void *fn, void *ctx);

#endif
