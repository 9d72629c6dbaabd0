/* SPDX-License-Identifier: Apache-2.0 */
/* One run: what happened to it, and what stands around it in its job's history. */
#include "api/run_trace.h"
#include "api/v1/etag.h"
#include "api/v1/run_cause.h"
#include "api/v1/run_page.h"
#include "api/v1/run_story.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"
#include "model/trace.h"
#include <stdio.h>
#include <stdlib.h>

#define NEIGHBOURS 20
#define USUAL 100 /* runs whose median is the usual duration */
#define RETRIES_MAX 100
#define CHILDREN_MAX 100
#define SHARDS_MAX 1000
#define CHANGES_MAX 20
#define NEXT_WITHIN (INT64_C(1) << 21) /* log ids among which the job's next run is looked for */

/* ---- around it ---------------------------------------------------------------------------------
 */

struct dot {
    int64_t id, took_ms, end_ms;
    enum log_outcome outcome;
};

struct dots {
    struct dot list[USUAL];
    size_t n, max;
};

static bool take_dot(void *ctx, const struct log_record *r)
{
    struct dots *d = ctx;
    d->list[d->n++] = (struct dot){ r->id, run_took_ms(r), r->handle_ms, run_outcome(r) };
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

static bool take_last(void *ctx, const struct log_record *r)
{
    *(int64_t *)ctx = r->id; /* they come downwards */
    return true;
}

static void write_id(struct jsonw *w, const char *key, int64_t id)
{
    if (id)
        jsonw_i64(w, key, id);
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

/* The first run of the job behind this one: a window of ids that grows until it has some.
 * *ret_known: it was found, or there is none. */
static enum err look_next(struct web_call *call, const struct log_record *r, int64_t *ret_id,
                          bool *ret_known, struct why *why)
{
    struct runs_end end = { .more = false };
    enum err err = OK;
    *ret_id = 0;
    for (int64_t n = 64; !err && !*ret_id && !end.more && n <= NEXT_WITHIN; n *= 8) {
        const struct runs_filter f = { .scope = actor_scope(call->actor, PERM_READ),
                                       .jobs = &r->job_id,
                                       .njobs = 1,
                                       .from_ms = -1,
                                       .to_ms = -1,
                                       .low_id = r->id + 1,
                                       .below_id = n < NEXT_WITHIN ? r->id + 1 + n : INT64_MAX,
                                       .limit = RUNS_LOOK_MAX,
                                       .now_ms = clock_wall_ms() };
        err = call->db->ops->pages->runs_page(call->db, &f, take_last, ret_id, &end, why);
    }
    *ret_known = !end.more;
    return err;
}

/* ---- the shards of its broadcast ---------------------------------------------------------------
 */

struct shards {
    const struct log_record *of;
    int64_t ids[SHARDS_MAX]; /* by index; 0: not found */
    int64_t index, total;    /* of that one */
};

/* "1/3" */
static bool shard_of(const struct log_record *r, int64_t *ret_index, int64_t *ret_total)
{
    struct slice total = slice_text(r->sharding), index;
    return r->sharding && slice_cut(&total, '/', &index) && parse_i64(index, ret_index) &&
           parse_i64(total, ret_total) && *ret_index >= 0 && *ret_index < *ret_total;
}

/* Of two broadcasts in one second: the shards of one are added at once, in the order of their
 * indexes, so that shard's id lies on its side of this one's, and nearest. */
static bool is_nearer(const struct shards *s, int64_t i, int64_t id)
{
    int64_t mine = s->of->id, other = s->ids[i];
    bool below = i < s->index, fits = (id < mine) == below, other_fits = (other < mine) == below;
    if (!other || id == mine || other == mine)
        return id == mine || !other;
    if (fits != other_fits)
        return fits;
    return llabs(id - mine) < llabs(other - mine);
}

static bool take_shard(void *ctx, const struct log_record *r)
{
    struct shards *s = ctx;
    int64_t i, total;
    if (r->trigger_ms == s->of->trigger_ms && r->kind == s->of->kind && shard_of(r, &i, &total) &&
        total == s->total && i < SHARDS_MAX && is_nearer(s, i, r->id))
        s->ids[i] = r->id;
    return true;
}

static enum err write_shards(struct web_call *call, struct jsonw *w, const struct log_record *r,
                             struct why *why)
{
    const struct runs_filter f = { .scope = actor_scope(call->actor, PERM_READ),
                                   .jobs = &r->job_id,
                                   .njobs = 1,
                                   .kinds = 1u << r->kind,
                                   .from_ms = r->trigger_ms,
                                   .to_ms = r->trigger_ms + 1000,
                                   .below_id = INT64_MAX,
                                   .limit = 2 * SHARDS_MAX };
    struct shards *s = mem_new(sizeof(*s));
    struct runs_end end;
    enum err err = OK;
    s->of = r;
    if (r->kind != KIND_RETRY && shard_of(r, &s->index, &s->total))
        err = call->db->ops->pages->runs_page(call->db, &f, take_shard, s, &end, why);
    jsonw_array(w, "shards");
    for (int64_t i = 0; !err && i < s->total && i < SHARDS_MAX; i++)
        if (s->ids[i])
            jsonw_i64(w, NULL, s->ids[i]);
    jsonw_array_end(w);
    free(s);
    return err;
}

static void write_ids(struct jsonw *w, const char *key, const int64_t *ids, int n)
{
    jsonw_array(w, key);
    for (int i = 0; i < n; i++)
        jsonw_i64(w, NULL, ids[i]);
    jsonw_array_end(w);
}

static enum err write_related(struct web_call *call, struct jsonw *w, const struct log_record *r,
                              const struct story *story, struct dots dots[2], struct why *why)
{
    const struct store_pages *pages = call->db->ops->pages;
    int64_t retries[RETRIES_MAX], children[CHILDREN_MAX], next = 0;
    int64_t cause = story ? story->cause : 0;
    int n = 0, nchildren = 0;
    bool known = false;
    enum err err = pages->retries_of(call->db, r->job_id, r->id, retries, RETRIES_MAX, &n, why);
    if (!err)
        err = pages->children_of(call->db, actor_scope(call->actor, PERM_READ), r->job_id, r->id,
                                 children, CHILDREN_MAX, &nchildren, why);
    if (!err)
        err = look_next(call, r, &next, &known, why);
    if (err)
        return err;
    jsonw_object(w, "related");
    if (cause || r->kind != KIND_RETRY)
        write_id(w, "retryOf", r->kind == KIND_RETRY ? cause : 0);
    write_ids(w, "retries", retries, n);
    if (cause || r->kind != KIND_PARENT)
        write_id(w, "parent", r->kind == KIND_PARENT ? cause : 0);
    write_ids(w, "children", children, nchildren);
    err = write_shards(call, w, r, why);
    write_id(w, "previous", dots[0].n ? dots[0].list[0].id : 0);
    if (known)
        write_id(w, "next", next);
    write_id(w, "lastSuccess", dots[1].n ? dots[1].list[0].id : 0);
    jsonw_object_end(w);
    return err;
}

static bool add_change(void *ctx, const struct audit_record *r)
{
    v1_audit_write(ctx, r);
    return true;
}

/* Edits of the job since its last success, newest first. */
static enum err write_changes(struct web_call *call, struct jsonw *w, const struct log_record *r,
                              const struct dots *success, struct why *why)
{
    char object[24];
    int64_t total = 0;
    const struct audit_filter f = { .kind = "job",
                                    .object = object,
                                    .from_ms = success->n ? success->list[0].end_ms : -1,
                                    .to_ms = -1,
                                    .limit = CHANGES_MAX };
    snprintf(object, sizeof(object), "%lld", (long long)r->job_id);
    jsonw_array(w, "changedSince");
    enum err err = call->db->ops->users->audit_page(call->db, &f, add_change, w, &total, why);
    jsonw_array_end(w);
    return err;
}

static enum err write_around(struct web_call *call, struct jsonw *w, const struct log_record *r,
                             const struct story *story, struct why *why)
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
    if (!err)
        err = write_related(call, w, r, story, dots, why);
    if (!err) {
        write_neighbours(w, &dots[2]);
        err = write_changes(call, w, r, &dots[1], why);
    }
    if (!err)
        write_usual(w, &dots[3]);
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

static void write_trace(struct web_call *call, struct jsonw *w, const struct log_record *r)
{
    char id[TRACE_ID_SIZE];
    const struct trace_root root = run_trace_of(call, r->id);
    const struct trace t = trace_in(&root, center_trace_key(call->center), r->id);
    trace_id_text(&t, id);
    jsonw_text(w, "traceId", id);
}

void v1_run_get(struct web_call *call)
{
    struct log_record r;
    struct run_writer x;
    struct story story;
    struct why why = { "" };
    struct jsonw w = jsonw_on(&call->output);
    if (!run_find_for(call, &r))
        return;
    struct elsewhere_silent silent = { .n = 0 };
    bool found = run_story_find(call, &r, &story, &silent);
    jsonw_object(&w, NULL);
    run_writer_init(&x, call, &w, 0);
    x.story = found ? &story : NULL;
    run_write(&x, "run", &r);
    run_writer_done(&x);
    write_trace(call, &w, &r);
    run_story_write(&w, &r, x.story);
    elsewhere_write(&w, &silent);
    enum err err = write_around(call, &w, &r, x.story, &why);
    if (LOG_OUTCOMES_FAILED & LOG_OUTCOME_BIT(run_outcome(&r)))
        run_same_cause_write(call, &w, &r);
    write_log(&w, &r);
    jsonw_object_end(&w);
    if (err)
        problem_err(call, err, &why);
    else /* a run has no version */
        etag_answer(call, (struct etag){ 'r', r.id, 0 });
    log_record_done(&r);
}
