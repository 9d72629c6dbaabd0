/* SPDX-License-Identifier: Apache-2.0 */
/* One run: what happened to it, and what stands around it in its job's history. Times of steps are
 * known to the second, because the row of the log has no others. */
#include "api/v1/run_page.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include <stdlib.h>

#define NEIGHBOURS 20
#define USUAL 100 /* runs whose median is the usual duration */

/* ---- the story ---------------------------------------------------------------------------------
 */

static void step(struct jsonw *w, const char *name, int64_t ms, bool ok)
{
    char at[V1_INSTANT_SIZE];
    jsonw_object(w, NULL);
    jsonw_text(w, "step", name);
    jsonw_text(w, "at", v1_instant_text(ms, at));
    jsonw_i64(w, "ms", ms);
    jsonw_bool(w, "ok", ok);
}

static void step_end(struct jsonw *w)
{
    jsonw_object_end(w);
}

static void step_with(struct jsonw *w, const char *name, int64_t ms, bool ok, const char *param,
                      const char *value)
{
    step(w, name, ms, ok);
    jsonw_object(w, "params");
    jsonw_text(w, param, value);
    jsonw_object_end(w);
    step_end(w);
}

static const char *end_step(enum log_outcome o)
{
    return o == LOG_KILLED ? "killed" : o == LOG_LOST ? "lost" : "ended";
}

static void write_story(struct jsonw *w, const struct log_record *r)
{
    enum log_outcome o = run_outcome(r);
    int64_t due_ms = r->trigger_ms >= 0 ? r->trigger_ms : 0;
    jsonw_array(w, "story");
    step(w, "due", due_ms, true);
    step_end(w);
    if (r->address && r->address[0])
        step_with(w, "routed", due_ms, true, "address", r->address);
    if (o == LOG_REJECTED || o == LOG_UNROUTABLE)
        step_with(w, "refused", due_ms, false, "message", r->trigger_msg);
    else if (r->trigger_code == 200)
        step_with(w, "accepted", due_ms, true, "address", r->address);
    if (r->phase == PHASE_UNKNOWN)
        step_with(w, "unknown", due_ms, false, "address", r->address);
    if (r->handle_code && r->handle_ms >= 0) {
        step(w, end_step(o), r->handle_ms, o == LOG_SUCCEEDED);
        jsonw_object(w, "params");
        jsonw_i64(w, "code", r->handle_code);
        jsonw_object_end(w);
        step_end(w);
    }
    jsonw_array_end(w);
    jsonw_bool(w, "exact", false);
}

/* ---- around it ---------------------------------------------------------------------------------
 */

struct dot {
    int64_t id, took_ms;
    enum log_outcome outcome;
};

struct dots {
    struct dot list[USUAL];
    size_t n, max;
};

static bool take_dot(void *ctx, const struct log_record *r)
{
    struct dots *d = ctx;
    d->list[d->n++] = (struct dot){ r->id, run_took_ms(r), run_outcome(r) };
    return d->n < d->max;
}

/* The newest of the job's runs below that id; outcomes 0: any. */
static enum err look(struct web_call *call, const struct log_record *r, unsigned outcomes,
                     int64_t below_id, size_t max, struct dots *ret, struct why *why)
{
    const struct runs_filter f = { .scope = actor_scope(call->actor, PERM_READ),
                                   .jobs = &r->job_id,
                                   .njobs = 1,
                                   .outcomes = outcomes,
                                   .from_ms = -1,
                                   .to_ms = -1,
                                   .below_id = below_id,
                                   .limit = (int64_t)max };
    struct runs_end end;
    ret->n = 0;
    ret->max = max;
    return call->db->ops->pages->runs_page(call->db, &f, take_dot, ret, &end, why);
}

static void write_id(struct jsonw *w, const char *key, const struct dots *d)
{
    if (d->n)
        jsonw_i64(w, key, d->list[0].id);
    else
        jsonw_null(w, key);
}

static int by_took(const void *a, const void *b)
{
    int64_t x = ((const struct dot *)a)->took_ms, y = ((const struct dot *)b)->took_ms;
    return (x > y) - (x < y);
}

static void write_usual(struct jsonw *w, struct dots *succeeded)
{
    qsort(succeeded->list, succeeded->n, sizeof(*succeeded->list), by_took);
    if (succeeded->n)
        jsonw_i64(w, "usualMs", succeeded->list[succeeded->n / 2].took_ms);
    else
        jsonw_null(w, "usualMs");
}

static void write_neighbours(struct jsonw *w, const struct dots *d)
{
    jsonw_array(w, "neighbours"); /* oldest first */
    for (size_t i = d->n; i-- > 0;) {
        jsonw_object(w, NULL);
        jsonw_i64(w, "runId", d->list[i].id);
        jsonw_text(w, "outcome", log_outcome_text(d->list[i].outcome));
        if (d->list[i].took_ms >= 0)
            jsonw_i64(w, "tookMs", d->list[i].took_ms);
        else
            jsonw_null(w, "tookMs");
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}

static enum err write_around(struct web_call *call, struct jsonw *w, const struct log_record *r,
                             struct why *why)
{
    const unsigned good = LOG_OUTCOME_BIT(LOG_SUCCEEDED);
    struct dots *dots = mem_new(4 * sizeof(*dots));
    enum err err = look(call, r, 0, r->id, 1, &dots[0], why);
    if (!err)
        err = look(call, r, good, r->id, 1, &dots[1], why);
    if (!err)
        err = look(call, r, 0, r->id + 1, NEIGHBOURS, &dots[2], why);
    if (!err)
        err = look(call, r, good, INT64_MAX, USUAL, &dots[3], why);
    if (!err) {
        jsonw_object(w, "related");
        write_id(w, "previous", &dots[0]);
        write_id(w, "lastSuccess", &dots[1]);
        jsonw_object_end(w);
        write_neighbours(w, &dots[2]);
        write_usual(w, &dots[3]);
    }
    free(dots);
    return err;
}

/* ---- the answer --------------------------------------------------------------------------------
 */

static void write_log(struct jsonw *w, const struct log_record *r)
{
    enum log_outcome o = run_outcome(r);
    bool refused = o == LOG_REJECTED || o == LOG_UNROUTABLE;
    bool sent = r->address && r->address[0] && r->trigger_code == 200;
    jsonw_object(w, "log");
    jsonw_bool(w, "available", sent);
    jsonw_text(w, "why", sent ? NULL : refused ? "rejected" : "not_started");
    jsonw_object_end(w);
}

void v1_run_get(struct web_call *call)
{
    struct log_record r;
    struct run_writer x;
    struct why why = { "" };
    struct jsonw w = jsonw_on(&call->output);
    if (!run_find_for(call, &r))
        return;
    jsonw_object(&w, NULL);
    run_writer_init(&x, call, &w, 0);
    run_write(&x, "run", &r);
    run_writer_done(&x);
    write_story(&w, &r);
    enum err err = write_around(call, &w, &r, &why);
    write_log(&w, &r);
    jsonw_object_end(&w);
    log_record_done(&r);
    if (err)
        problem_err(call, err, &why);
}
