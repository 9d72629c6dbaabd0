/* SPDX-License-Identifier: Apache-2.0 */
/* job_row.h - the row of a job in its three tables. Private to src/store. */
#ifndef PEAL_STORE_SQL_JOB_ROW_H
#define PEAL_STORE_SQL_JOB_ROW_H

#include "base/buf.h"
#include "store/sql/sql.h"

#define SQL_JOB_TABLES                                                                             \
    " FROM xxl_job_info j LEFT JOIN peal_job p ON p.job_id = j.id"                                 \
    " LEFT JOIN peal_due d ON d.job_id = j.id "

/* Makes the texts of the handle, once, before a job is asked for. ERR_NOMEM. */
MUST_CHECK enum err sql_job_texts_new(struct sql *s, struct why *why);
void sql_job_texts_free(struct sql *s);
/* What sql_job_read reads, as a list for SELECT … FROM SQL_JOB_TABLES. */
void sql_job_columns(struct buf *text);
/* Returns how many columns it has read: the place of the next. */
int sql_job_read(const struct sql *s, struct sql_query *q, struct job_record *ret);
/* Binds the columns of one table to the parameters from first on. Returns the next parameter. */
int sql_job_bind(struct sql_query *q, int first, const struct job_record *r, enum job_table t);

#endif
