/* SPDX-License-Identifier: Apache-2.0 */
/* Which jobs fail now is known from the figures; why, from the log row of their last run. */
#include "api/v1/run_cause.h"
#include "model/cause.h"
#include "model/job_stat.h"
#include <stdlib.h>

#define JOBS_MAX 200 /* failing ones that are looked at */

static uint64_t fingerprint(const struct log_record *r)
{
    struct cause cause;
    const struct failure failure = { r->trigger_code, r->handle_code, r->trigger_msg, r->handle_msg,
                                     r->address };
    cause_of(&failure, &cause);
    return cause.fingerprint;
}

/* How many failures in a row the job has of that cause; 0: it does not fail so, or is out of
 * sight. */
static int64_t failures_of(struct web_call *call, int64_t job_id, uint64_t cause)
{
    struct job_stat stat;
    struct log_record r;
    if (!figures_job(center_figures(call->center), job_id, &stat) || !stat.streak || !stat.nlast)
        return 0;
    int64_t id = job_stat_last(&stat, 0).log_id;
    if (call->db->ops->pages->log_get(call->db, id, &r, NULL))
        return 0;
    bool same = actor_may(call->actor, PERM_READ, r.group_id) && fingerprint(&r) == cause;
    log_record_done(&r);
    return same ? stat.streak : 0;
}

void run_same_cause_write(struct web_call *call, struct jsonw *w, const struct log_record *r)
{
    size_t n;
    int64_t *ids = figures_job_ids(center_figures(call->center), true, JOBS_MAX, &n);
    int64_t jobs = 0, runs = 0;
    uint64_t cause = fingerprint(r);
    for (size_t i = 0; i < n; i++) {
        int64_t failures = ids[i] != r->job_id ? failures_of(call, ids[i], cause) : 0;
        jobs += failures > 0;
        runs += failures;
    }
    free(ids);
    jsonw_object(w, "sameCause");
    jsonw_i64(w, "jobs", jobs);
    jsonw_i64(w, "runs", runs);
    jsonw_object_end(w);
}
