/* SPDX-License-Identifier: Apache-2.0 */
/* edits.h - the one way of both APIs to change a job or a group. Private to src/api; a worker's
 * thread, blocks until the edit is on disk. */
#ifndef PEAL_API_EDITS_H
#define PEAL_API_EDITS_H

#include "api/front.h"
#include "api/job_rules.h"

/* Make the edit and let go of it; *ret_id (may be NULL) is the id that an insert got. As
 * center_edit. */
MUST_CHECK enum err edit_make(struct web_call *call, struct edit *e, int64_t *ret_id,
                              struct why *why);

/* The same in two steps, for one of many: its audit is an item of that. */
struct audit_many;
MUST_CHECK struct request *edit_ask(struct web_call *call, struct edit *e,
                                    struct audit_many *audit);
MUST_CHECK enum err edit_answer(struct web_call *call, struct request *asked, int64_t *ret_id,
                                struct why *why);

/* For one of a bundle (center_edits): attach to the edit what is written along with each, with
 * first before it. first may have no run. */
void edit_along(struct web_call *call, struct edit *e, const struct edit_companion *first,
                void *first_arg);

/* What the rules of jobs look at when this user edits one. Borrows from the call. */
struct job_rules edit_rules(const struct web_call *call);

#endif
