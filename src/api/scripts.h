/* SPDX-License-Identifier: Apache-2.0 */
/* scripts.h - new versions of a job's script, for both APIs: the job's own row and its history
 * change in one transaction. Private to src/api; a worker's thread, blocks. */
#ifndef PEAL_API_SCRIPTS_H
#define PEAL_API_SCRIPTS_H

#include "api/front.h"

#define SCRIPTS_KEPT 30 /* versions of a job, as XXL-JOB keeps */
#define SCRIPT_REMARK_MIN 4
#define SCRIPT_REMARK_MAX 100
#define SCRIPT_ANY_BASE (-1)

struct script_new {
    const char *source, *remark;
    int64_t base; /* the newest version must be this one, 0: there must be none; or
                     SCRIPT_ANY_BASE */
};

/* Has the job scripts at all? */
bool script_has(const struct job_record *job);
/* Publish it: it acts from the next run on. *ret_version: its id. ERR_OVERTAKEN: there is another
 * version than base. ERR_INVALID: a job of kind BEAN has no script. */
MUST_CHECK enum err script_publish(struct web_call *call, int64_t job_id,
                                   const struct script_new *script, int64_t *ret_version,
                                   struct why *why);
/* Let the insert of a job that has a script make its first version, too. */
void script_first(struct edit *insert);
/* Let an edit whose record is that of a job with scripts publish this one, too. */
void script_next(struct edit *e, const char *source, const char *remark);

/* The newest version of a job, 0: there is none. */
MUST_CHECK enum err script_newest(struct store *db, int64_t job_id, int64_t *ret, struct why *why);

#endif
