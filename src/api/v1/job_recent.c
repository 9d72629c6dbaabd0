/* SPDX-License-Identifier: Apache-2.0 */
/* job_recent.c - a job's state (model/job_stat.h) as JSON. */
#include "api/v1/job_recent.h"
#include "api/v1/v1.h"

void job_recent_write(struct jsonw *w, const struct job_stat *stat)
{
    jsonw_array(w, "recent");
    for (int i = stat->nlast - 1; i >= 0; i--) {
        struct last_run r = job_stat_last(stat, i);
        jsonw_object(w, NULL);
        jsonw_i64(w, "runId", r.log_id);
        jsonw_text(w, "outcome", outcome_text(r.outcome));
        if (outcome_has_result(r.outcome))
            jsonw_i64(w, "tookMs", r.took_ms);
        else
            jsonw_null(w, "tookMs");
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}

void job_streak_write(struct jsonw *w, const struct job_stat *stat)
{
    if (!stat->streak || !stat->nlast) {
        jsonw_null(w, "streak");
        return;
    }
    jsonw_object(w, "streak");
    jsonw_text(w, "outcome", outcome_text(job_stat_last(stat, 0).outcome));
    jsonw_i64(w, "count", stat->streak);
    v1_instant_or_null(w, "since", stat->failed_ms);
    jsonw_object_end(w);
}
