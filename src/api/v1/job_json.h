/* SPDX-License-Identifier: Apache-2.0 */
/* job_json.h - a job as JSON: what a body makes of one, and how one is written. The members are
 * those of job_columns.def by their pointers; the rules are job_rules.h. Private to src/api; blocks
 * on the store only. */
#ifndef PEAL_API_V1_JOB_JSON_H
#define PEAL_API_V1_JOB_JSON_H

#include "api/job_rules.h"
#include "api/problem.h"
#include "base/jsonw.h"

struct json_t;

/* A new job, into *r as job_record_init left it. ERR_INVALID: all faults are in errors; else what
 * the store said, in why. */
MUST_CHECK enum err job_json_insert(const struct json_t *body, const struct job_rules *rules,
                                    struct job_record *r, struct problem_errors *errors,
                                    struct why *why);
/* A merge patch (RFC 7396) of *r, the row as it is: what is absent stays, null is the default.
 * *ret_said: bits of the columns that it names. */
MUST_CHECK enum err job_json_update(const struct json_t *body, const struct job_rules *rules,
                                    struct job_record *r, uint64_t *ret_said,
                                    struct problem_errors *errors, struct why *why);

/* The member "schedule" alone, into *r as job_record_init left it. What is no schedule by the
 * contract is in errors; an expression, interval, moment or zone that cannot be used is in refused.
 * Else what the store said, in why. */
MUST_CHECK enum err job_json_schedule(const struct json_t *object, const struct job_rules *rules,
                                      struct job_record *r, struct problem_errors *errors,
                                      struct problem_errors *refused, struct why *why);

/* The members "schedule", "task", "running": an object of the columns below that pointer. */
void job_json_object(struct jsonw *w, const char *name, struct job_record *r);
/* "children": ids. "alarmEmails": texts. */
void job_json_children(struct jsonw *w, const struct job_record *r);
void job_json_emails(struct jsonw *w, const struct job_record *r);

#endif
