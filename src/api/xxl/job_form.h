/* SPDX-License-Identifier: Apache-2.0 */
/* job_form.h - what a form makes of a job; the rules are job_rules.h. Private to src/api; blocks on
 * the store only. */
#ifndef PEAL_API_XXL_JOB_FORM_H
#define PEAL_API_XXL_JOB_FORM_H

#include "api/form.h"
#include "api/job_rules.h"

/* A new job, into *r as job_record_init left it. On failure why names field and rule. */
MUST_CHECK enum err job_form_insert(const struct form *f, const struct job_rules *rules,
                                    struct job_record *r, struct why *why);
/* A change of *r, the row as it is: what the form leaves out stays; the script is not touched. */
MUST_CHECK enum err job_form_update(const struct form *f, const struct job_rules *rules,
                                    struct job_record *r, struct why *why);
/* The form's scheduleType, scheduleConf (or jobCron), zone and dst. *ret needs schedule_done. */
MUST_CHECK enum err job_form_schedule(const struct form *f, const struct job_rules *rules,
                                      struct schedule *ret, struct why *why);

#endif
