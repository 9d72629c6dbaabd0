/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of operators: /peal/drain, /peal/undrain, /peal/status. POST with the token, as
 * the actions of centers; the answer is HTTP 200 and code 200, the state in "data". */
#include <string.h>
#include "base/jsonw.h"
#include "executor/core/internal.h"
#include "executor/process/script.h"

#define STATUS_MAX (4u << 20)

static const char *stop_word(const struct peal_run *r)
{
    static const char *const words[] = {
        [RUN_KILLED] = "killed",     [RUN_COVERED] = "covered",     [RUN_CHANGED] = "changed",
        [RUN_SHUTDOWN] = "shutdown", [RUN_TIMED_OUT] = "timed out",
    };
    int why = atomic_load(&((struct peal_run *)r)->stop);
    return why > RUN_GOES_ON && why < RUN_ENDED ? words[why] : NULL;
}

static void one_run(struct jsonw *w, struct peal_run *r)
{
    char text[sizeof(r->progress)];
    int percent;
    run_get_progress(r, &percent, text);
    jsonw_object(w, NULL);
    jsonw_i64(w, "jobId", r->job_id);
    jsonw_i64(w, "logId", r->log_id);
    jsonw_text(w, "handler", r->handler ? r->handler->name : r->script->glue_type);
    jsonw_i64(w, "attempt", r->attempt);
    if (percent >= 0) {
        jsonw_i64(w, "percent", percent);
        jsonw_text(w, "progress", text);
    }
    jsonw_text(w, "stopping", stop_word(r));
    jsonw_bool(w, "wouldNotStop", r->stage == RUN_REPORTED);
    jsonw_object_end(w);
}

static void all_runs(struct jsonw *w, const struct jobs *j)
{
    size_t i = 0;
    jsonw_array(w, "runs");
    for (struct peal_run *r; (r = jobs_at_work(j, &i));)
        one_run(w, r);
    jsonw_array_end(w);
}

static void write_status(struct buf *to, const struct executor *e)
{
    struct jsonw w = jsonw_on(to);
    jsonw_object(&w, NULL);
    jsonw_i64(&w, "code", 200);
    jsonw_null(&w, "msg");
    jsonw_object(&w, "data");
    jsonw_text(&w, "address", e->address);
    jsonw_bool(&w, "registered", centers_registered(e->centers));
    jsonw_bool(&w, "draining", e->draining);
    jsonw_bool(&w, "stopping", e->phase != RUNNING);
    jsonw_i64(&w, "running", e->jobs.busy);
    jsonw_i64(&w, "waiting", e->jobs.waiting + e->jobs.at_work - e->jobs.busy);
    jsonw_i64(&w, "wouldNotStop", e->jobs.stuck);
    jsonw_i64(&w, "accepted", e->counts.accepted);
    jsonw_i64(&w, "refused", e->counts.refused);
    jsonw_i64(&w, "ended", e->counts.ended);
    jsonw_i64(&w, "resultsPending", (int64_t)e->results.n);
    jsonw_i64(&w, "bytes", e->jobs.bytes + e->results.bytes);
    all_runs(&w, &e->jobs);
    jsonw_object_end(&w);
    jsonw_object_end(&w);
}

bool endpoint_peal(struct executor *e, struct httpd_request *q)
{
    if (!slice_eq(q->method, "POST") || q->query.n)
        return false;
    if (slice_eq(q->path, "/peal/drain"))
        executor_drain(e, true);
    else if (slice_eq(q->path, "/peal/undrain"))
        executor_drain(e, false);
    else if (!slice_eq(q->path, "/peal/status"))
        return false;
    struct buf reply = BUF_INIT(STATUS_MAX);
    write_status(&reply, e);
    if (reply.failed)
        httpd_reply_error(q, 200, "the status is too large");
    else
        httpd_reply(q, 200, "application/json;charset=UTF-8", slice_of("", 0),
                    slice_of(buf_str(&reply), reply.len));
    buf_done(&reply);
    return true;
}
