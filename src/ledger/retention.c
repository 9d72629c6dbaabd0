/* SPDX-License-Identifier: Apache-2.0 */
/* Three kinds of work, one step of one of them at a time.
 *
 * Requests come first; how far each has come is written with the rows that it deletes. By age: a
 * walk from the smallest id of a row that is young enough downwards; where failures stay longer, a
 * second walk takes them. By number: a walk over all chunks of the log that counts each job's rows
 * from the newest on, and deletes those beyond the number, chunk by chunk. What these walks know is
 * memory alone: when a transaction is lost they begin anew, which costs time and loses nothing. */
#include "ledger/retention.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define DAY_MS INT64_C(86400000)
#define AGE_EVERY_MS 60000
#define ROWS_EVERY_MS 600000
#define LOG_EVERY_MS 60000
#define CHUNK_JOBS 4096

struct age_walk {
    bool on;
    int64_t from_id; /* everything below has been looked at by an earlier walk */
    int64_t top_id;  /* where this one began */
    struct log_clean walk;
};

struct job_count {
    int64_t job_id, n;
};

struct rows_walk {
    bool on;
    int64_t below_id;       /* chunks from here on are done */
    int64_t low_id;         /* the chunk under way begins here */
    size_t njobs, at;       /* of the chunk; jobs before at are done. njobs 0: none under way */
    struct job_count *jobs; /* of the chunk */
    struct map counts;      /* job -> struct job_count: its rows above the chunk */
    struct log_clean walk;  /* of jobs[at] */
    bool walking;
};

struct retention {
    struct retention_rules rules;
    struct age_walk age, failed;
    struct rows_walk rows;
    int64_t age_due_ms, rows_due_ms; /* boot: the next walks */
    bool held;                       /* nothing by age */
    bool asked;                      /* there is a request, or there may be */
    int64_t gone[GONE_COUNT], kept[GONE_COUNT];
    int64_t told, log_ms; /* rows that the log has been told of, and when */
};

/* ---- begin, end ------------------------------------------------------------------------------ */

struct retention *retention_new(const struct retention_rules *rules)
{
    struct retention *r = mem_new(sizeof(*r));
    r->rules = *rules;
    if (r->rules.failed_days < r->rules.days)
        r->rules.failed_days = r->rules.days;
    r->rows.jobs = mem_new(CHUNK_JOBS * sizeof(*r->rows.jobs));
    map_init(&r->rows.counts);
    r->age.from_id = r->failed.from_id = INT64_MIN;
    r->asked = true;
    return r;
}

static void counts_free(struct map *counts)
{
    void *row;
    for (size_t i = 0; map_next(counts, &i, &row);)
        free(row);
    map_done(counts);
}

void retention_free(struct retention *r)
{
    if (!r)
        return;
    counts_free(&r->rows.counts);
    free(r->rows.jobs);
    free(r);
}

static void rows_end(struct rows_walk *w)
{
    counts_free(&w->counts);
    map_init(&w->counts);
    w->on = w->walking = false;
    w->njobs = w->at = 0;
}

void retention_lost(struct retention *r)
{
    memcpy(r->gone, r->kept, sizeof(r->gone));
    r->age = (struct age_walk){ .from_id = INT64_MIN };
    r->failed = (struct age_walk){ .from_id = INT64_MIN };
    rows_end(&r->rows);
    r->age_due_ms = r->rows_due_ms = 0;
    r->asked = true;
}

void retention_kept(struct retention *r, int64_t boot_ms)
{
    memcpy(r->kept, r->gone, sizeof(r->kept));
    int64_t all = r->kept[GONE_REQUEST] + r->kept[GONE_AGE] + r->kept[GONE_ROWS];
    if (all == r->told || boot_ms < r->log_ms)
        return;
    log_info("retention",
             "%lld log rows deleted so far: %lld by age, %lld by number, %lld on request",
             (long long)all, (long long)r->kept[GONE_AGE], (long long)r->kept[GONE_ROWS],
             (long long)r->kept[GONE_REQUEST]);
    r->told = all;
    r->log_ms = boot_ms + LOG_EVERY_MS;
}

int64_t retention_count(const struct retention *r, enum retention_gone why)
{
    return r->kept[why];
}

/* ---- what users ask for ---------------------------------------------------------------------- */

enum err retention_ask(struct store *s, struct clean_request *r, struct why *why)
{
    return s->ops->runs->clean_add(s, r, why);
}

static enum err request_step(struct retention *r, struct store *s, bool *ret_any, struct why *why)
{
    struct clean_request q = { 0 };
    bool end = false;
    enum err err = s->ops->runs->clean_first(s, &q, ret_any, why);
    if (err || !*ret_any)
        return err;
    int64_t before = q.walk.gone;
    err = s->ops->runs->log_clean(s, &q.walk, RETENTION_ROWS, &end, why);
    if (!err)
        err = s->ops->runs->clean_put(s, &q, end, why);
    r->gone[GONE_REQUEST] += q.walk.gone - before;
    if (!err && end)
        log_info("retention", "request %lld to delete log rows is done: %lld rows", (long long)q.id,
                 (long long)q.walk.gone);
    clean_request_done(&q);
    return err;
}

/* ---- by age ---------------------------------------------------------------------------------- */

static enum err age_begin(struct age_walk *w, struct store *s, int64_t days, bool failures_stay,
                          int64_t wall_ms, struct why *why)
{
    w->walk = (struct log_clean){ .scope = SCOPE_ALL,
                                  .before_ms = wall_ms - days * DAY_MS,
                                  .failures_stay = failures_stay,
                                  .from_id = w->from_id };
    enum err err = s->ops->runs->log_before(s, w->walk.before_ms, &w->walk.below_id, why);
    w->top_id = w->walk.below_id;
    w->on = !err;
    return err;
}

static enum err age_step(struct retention *r, struct age_walk *w, struct store *s, struct why *why)
{
    int64_t before = w->walk.gone;
    bool end;
    enum err err = s->ops->runs->log_clean(s, &w->walk, RETENTION_ROWS, &end, why);
    r->gone[GONE_AGE] += w->walk.gone - before;
    if (err || !end)
        return err;
    w->on = false;
    /* what stays below is live or failed; a restart looks at it again */
    if (w->walk.failures_stay && w->top_id != INT64_MAX && w->top_id > w->from_id)
        w->from_id = w->top_id;
    return OK;
}

static enum err age_all_begin(struct retention *r, struct store *s, int64_t wall_ms,
                              int64_t boot_ms, struct why *why)
{
    bool longer = r->rules.failed_days > r->rules.days;
    enum err err = age_begin(&r->age, s, r->rules.days, longer, wall_ms, why);
    if (!err && longer)
        err = age_begin(&r->failed, s, r->rules.failed_days, false, wall_ms, why);
    r->age_due_ms = boot_ms + AGE_EVERY_MS;
    return err;
}

/* ---- by number ------------------------------------------------------------------------------- */

static void rows_count(void *ctx, int64_t job_id, int64_t n)
{
    struct rows_walk *w = ctx;
    if (w->njobs < CHUNK_JOBS)
        w->jobs[w->njobs++] = (struct job_count){ job_id, n };
}

static enum err rows_chunk(struct rows_walk *w, struct store *s, struct why *why)
{
    w->njobs = w->at = 0;
    enum err err = s->ops->runs->log_counts(s, w->below_id, rows_count, w, &w->low_id, why);
    if (!err && w->njobs == 0)
        rows_end(w);
    return err;
}

/* Begin with jobs[at]; false: all of its rows in this chunk stay. */
static bool rows_begin(struct rows_walk *w, int64_t max)
{
    const struct job_count *in = &w->jobs[w->at];
    struct job_count *above = map_find(&w->counts, (uint64_t)in->job_id);
    if (!above) {
        above = mem_new(sizeof(*above));
        above->job_id = in->job_id;
        map_set(&w->counts, (uint64_t)in->job_id, above);
    }
    int64_t before = above->n;
    above->n += in->n;
    if (above->n <= max)
        return false;
    w->walk = (struct log_clean){ .scope = SCOPE_ALL,
                                  .job_id = in->job_id,
                                  .before_ms = NEVER_MS,
                                  .keep = before < max ? max - before : 0,
                                  .from_id = w->low_id,
                                  .below_id = w->below_id };
    return true;
}

static enum err rows_step(struct retention *r, struct store *s, struct why *why)
{
    struct rows_walk *w = &r->rows;
    if (w->njobs == 0)
        return rows_chunk(w, s, why);
    while (!w->walking && w->at < w->njobs) {
        w->walking = rows_begin(w, r->rules.job_rows);
        w->at += !w->walking;
    }
    if (!w->walking) {
        w->below_id = w->low_id;
        w->njobs = 0;
        return OK;
    }
    int64_t before = w->walk.gone;
    bool end;
    enum err err = s->ops->runs->log_clean(s, &w->walk, RETENTION_ROWS, &end, why);
    r->gone[GONE_ROWS] += w->walk.gone - before;
    if (end || w->walk.below_id <= w->low_id) {
        w->walking = false;
        w->at++;
    }
    return err;
}

static void rows_all_begin(struct retention *r, int64_t boot_ms)
{
    rows_end(&r->rows);
    r->rows.on = true;
    r->rows.below_id = INT64_MAX;
    r->rows_due_ms = boot_ms + ROWS_EVERY_MS;
}

/* ---- all of it ------------------------------------------------------------------------------- */

void retention_hold(struct retention *r, bool held)
{
    r->held = held;
    if (held)
        r->age.on = r->failed.on = false;
}

static bool age_due(const struct retention *r, int64_t boot_ms)
{
    return r->rules.days > 0 && !r->held && boot_ms >= r->age_due_ms;
}

bool retention_due(struct retention *r, struct store *s, int64_t boot_ms)
{
    struct clean_request q = { 0 };
    if (!r->asked && !s->ops->runs->clean_first(s, &q, &r->asked, NULL) && r->asked)
        clean_request_done(&q);
    return r->asked || r->age.on || r->failed.on || r->rows.on || age_due(r, boot_ms) ||
           (r->rules.job_rows > 0 && boot_ms >= r->rows_due_ms);
}

enum err retention_step(struct retention *r, struct store *s, int64_t wall_ms, int64_t boot_ms,
                        bool *ret_more, struct why *why)
{
    enum err err = OK;
    *ret_more = true;
    if (r->asked) {
        err = request_step(r, s, &r->asked, why);
        if (err || r->asked)
            return err;
    }
    if (r->age.on)
        return age_step(r, &r->age, s, why);
    if (r->failed.on)
        return age_step(r, &r->failed, s, why);
    if (r->rows.on)
        return rows_step(r, s, why);
    if (age_due(r, boot_ms))
        return age_all_begin(r, s, wall_ms, boot_ms, why);
    *ret_more = r->rules.job_rows > 0 && boot_ms >= r->rows_due_ms;
    if (*ret_more)
        rows_all_begin(r, boot_ms);
    return OK;
}
