/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h - what rules have found, in SQL: the part of store_rules that incidents.c has. Private to
 * src/store. */
#ifndef PEAL_STORE_SQL_RULES_H
#define PEAL_STORE_SQL_RULES_H

#include "store/sql/sql.h"

/* Columns that hold the texts of enums; a text that another program has put there is the default.
 */
enum rule_kind sql_rule_kind(struct sql_query *q, int i);
enum rule_level sql_rule_level(struct sql_query *q, int i);

MUST_CHECK enum err sql_incident_get(struct store *s, int64_t id, struct incident_record *ret,
                                     struct why *why);
MUST_CHECK enum err sql_incident_find(struct store *s, int64_t rule_id, int64_t group_id,
                                      enum incident_cause cause, const char *address,
                                      struct incident_record *ret, struct why *why);
MUST_CHECK enum err sql_incident_insert(struct store *s, struct incident_record *r,
                                        struct why *why);
MUST_CHECK enum err sql_incident_update(struct store *s, const struct incident_record *r,
                                        struct why *why);
MUST_CHECK enum err sql_incidents_unsettled(struct store *s, int64_t after_id, int max,
                                            incident_row_fn *fn, void *ctx, struct why *why);
MUST_CHECK enum err sql_incidents_page(struct store *s, const struct incidents_filter *f,
                                       incident_row_fn *fn, void *ctx, int64_t *ret_total,
                                       struct why *why);
MUST_CHECK enum err sql_incidents_purge(struct store *s, int64_t before_ms, int max, bool *ret_more,
                                        struct why *why);
MUST_CHECK enum err sql_incident_job_put(struct store *s, const struct incident_job *j,
                                         struct why *why);
MUST_CHECK enum err sql_incident_job_get(struct store *s, int64_t incident_id, int64_t job_id,
                                         struct incident_job *ret, struct why *why);
MUST_CHECK enum err sql_incident_jobs_each(struct store *s, int64_t incident_id, int max,
                                           incident_job_row_fn *fn, void *ctx, struct why *why);
MUST_CHECK enum err sql_incident_jobs_unsettled(struct store *s, job_id_fn *fn, void *ctx,
                                                struct why *why);
MUST_CHECK enum err sql_incident_jobs_open(struct store *s, int64_t job_id, incident_job_row_fn *fn,
                                           void *ctx, struct why *why);

#endif
