/* SPDX-License-Identifier: Apache-2.0 */
/* run_now.h - a run that somebody asks for by hand, for both APIs. Private to src/api; blocks. */
#ifndef PEAL_API_RUN_NOW_H
#define PEAL_API_RUN_NOW_H

#include "api/front.h"

#define RUN_NOW_LIST_MAX 65535 /* bytes of the addresses */

struct run_now_names { /* of the fields, in the API's words */
    const char *param, *addresses;
    const char *bad; /* on ERR_INVALID and ERR_TOOBIG: the one that breaks a rule */
};

/* Run the job. param NULL: the job's own. addresses: separated by commas, NULL or "": routed; each
 * must be one of the group's. why begins with the name of the field that breaks a rule. */
MUST_CHECK enum err run_now(struct web_call *call, const struct job_record *job, const char *param,
                            const char *addresses, struct run_now_names *names, int64_t *ret_log_id,
                            struct why *why);

/* The job as its schedule would run it, in two steps, for one of many: its audit is an item of
 * that. */
struct audit_many;
MUST_CHECK struct request *run_now_ask(struct web_call *call, const struct job_record *job,
                                       struct audit_many *audit);
MUST_CHECK enum err run_now_answer(struct web_call *call, struct request *asked,
                                   int64_t *ret_log_id, struct why *why);

#endif
