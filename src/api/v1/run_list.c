/* SPDX-License-Identifier: Apache-2.0 */
/* The list of runs, newest first, by key. */
#include "api/v1/group_filter.h"
#include "api/v1/run_page.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"
#include "model/story.h"
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX 1000 /* rows that are counted beyond a page */
#define DAYS_MS (INT64_C(7) * 86400000)
#define JOBS_MAX 100  /* of the parameter job */
#define FOUND_MAX 500 /* jobs that the words of q find */
#define OPEN LOG_OUTCOME_BIT(LOG_OPEN)

struct run_list {
    struct runs_filter f;
    bool none; /* what is asked for cannot be */
    struct scope groups;
    int64_t group_ids[QUERY_GROUPS_MAX], jobs[FOUND_MAX];
    uint64_t members;
    bool late, stuck;
    int64_t from_ms, to_ms;   /* as they were asked for; to -1: open */
    int64_t job_id, stuck_ms; /* of the job that was met last */
    struct run_writer writer;
};

/* ---- the filter --------------------------------------------------------------------------------
 */

static const char *const outcomes[LOG_OUTCOMES] = {
    "open", "succeeded", "failed", "timed_out", "killed", "lost", "rejected", "unroutable"
};
static const char *const kinds[KIND_COUNT] = {
    "CRON", "MISFIRE", "MANUAL", "RETRY", "PARENT", "API"
};

/* Each code of a cause is one outcome. */
static void read_cause(struct query *q, struct run_list *l)
{
    struct runs_filter *f = &l->f;
    const char *code = query_text(q, "cause", 20);
    unsigned bits = 0;
    if (!code)
        return;
    for (int i = 0; i < LOG_OUTCOMES; i++) {
        const char *of = run_cause_code((enum log_outcome)i);
        if (of && strcmp(of, code) == 0)
            bits = LOG_OUTCOME_BIT(i);
    }
    if (!bits)
        query_bad(q, "cause", "enum", "there is no such code");
    f->outcomes = f->outcomes ? f->outcomes & bits : bits;
    l->none = l->none || !f->outcomes;
}

static bool take_job(void *ctx, const struct job_record *r)
{
    struct run_list *l = ctx;
    l->jobs[l->f.njobs++] = r->id;
    return l->f.njobs < FOUND_MAX;
}

/* A number is the run of that id; words are those of jobs. */
static void read_words(struct query *q, struct run_list *l)
{
    const char *words = query_text(q, "q", 200);
    struct store *db = q->call->db;
    struct why why = { "" };
    int64_t id, total;
    if (!words || !words[0])
        return;
    if (parse_i64(slice_text(words), &id)) {
        l->f.low_id = id;
        l->f.below_id = id < INT64_MAX ? id + 1 : id;
        return;
    }
    if (l->f.njobs) {
        query_bad(q, "q", "together", "words do not go together with job");
        return;
    }
    const struct jobs_filter f = {
        .scope = l->f.scope, .words = words, .status = -1, .limit = FOUND_MAX
    };
    if (db->ops->pages->jobs_page(db, &f, take_job, l, &total, &why))
        query_bad(q, "q", "unavailable", "%s", why.text);
    l->none = l->none || l->f.njobs == 0;
}

/* Sent late: its story is kept then. */
static bool is_late(const struct run_list *l, const struct log_record *r)
{
    struct story story;
    struct store *db = l->writer.call->db;
    return !db->ops->pages->story_get(db, r->id, &story, NULL) && story_late(&story);
}

static bool is_stuck(struct run_list *l, const struct log_record *r)
{
    struct job_stat stat;
    if (r->phase == PHASE_PLANNED)
        return false;
    if (l->job_id != r->job_id) {
        l->job_id = r->job_id;
        l->stuck_ms = figures_job(center_figures(l->writer.call->center), r->job_id, &stat)
                          ? job_stat_stuck_ms(&stat)
                          : -1;
    }
    return l->stuck_ms >= 0 && l->f.now_ms - r->trigger_ms > l->stuck_ms;
}

/* The log knows whole seconds. In the first and the last of them a run goes by the time that it is
 * shown with; a retry by the second in which it was due. */
static bool is_within(const struct run_list *l, const struct log_record *r)
{
    struct story story;
    if (r->kind == KIND_RETRY)
        return true;
    int64_t ms = r->phase ? r->scheduled_ms : r->trigger_ms;
    if (!r->phase &&
        !l->writer.call->db->ops->pages->story_get(l->writer.call->db, r->id, &story, NULL))
        ms = story.scheduled_ms;
    return ms >= l->from_ms && (l->to_ms < 0 || ms < l->to_ms);
}

static bool fits(void *ctx, const struct log_record *r)
{
    struct run_list *l = ctx;
    bool edge = r->trigger_ms < l->from_ms || (l->to_ms >= 0 && r->trigger_ms + 1000 > l->to_ms);
    return (!edge || is_within(l, r)) && (!l->late || is_late(l, r)) &&
           (!l->stuck || is_stuck(l, r));
}

static int64_t second_of(int64_t ms)
{
    return ms - ms % 1000; /* not before 1970 */
}

/* The seconds that the times lie in; `fits` looks at those at the edges. */
static void read_times(struct query *q, struct run_list *l)
{
    struct runs_filter *f = &l->f;
    l->from_ms = query_instant(q, "from", second_of(f->now_ms) - DAYS_MS);
    l->to_ms = query_instant(q, "to", -1);
    f->from_ms = second_of(l->from_ms);
    f->to_ms = l->to_ms;
    if (l->to_ms >= 0 && l->to_ms < INT64_MAX - 1000)
        f->to_ms = second_of(l->to_ms + 999);
    if (f->from_ms != l->from_ms || f->to_ms != l->to_ms) {
        f->also = fits;
        f->also_ctx = l;
    }
}

static void read_marks(struct query *q, struct run_list *l)
{
    struct runs_filter *f = &l->f;
    f->unknown = query_bool(q, "unknown", false);
    l->late = f->told = query_bool(q, "late", false);
    l->stuck = query_bool(q, "stuck", false);
    if (l->stuck) { /* of those that are open */
        f->outcomes = f->outcomes ? f->outcomes & OPEN : OPEN;
        l->none = l->none || !f->outcomes;
    }
    if (l->late || l->stuck) {
        f->also = fits;
        f->also_ctx = l;
    }
}

static bool read_filter(struct web_call *call, struct run_list *l)
{
    struct runs_filter *f = &l->f;
    struct query q;
    struct cursor at;
    query_begin(&q, call);
    *f = (struct runs_filter){ .scope = actor_scope(call->actor, PERM_READ),
                               .jobs = l->jobs,
                               .below_id = INT64_MAX,
                               .count_max = COUNT_MAX,
                               .now_ms = clock_wall_ms() };
    f->limit = query_limit(&q);
    read_times(&q, l);
    f->njobs = query_ids(&q, "job", l->jobs, JOBS_MAX);
    f->outcomes = (unsigned)query_words(&q, "outcome", outcomes, LOG_OUTCOMES);
    f->kinds = (unsigned)query_words(&q, "kind", kinds, KIND_COUNT);
    f->address = query_text(&q, "address", 255);
    f->min_ms = query_i64(&q, "minTookMs", 0, INT64_MAX, 0);
    l->members = query_words(&q, "fields", run_members, RUN_MEMBERS);
    read_cause(&q, l);
    if (query_groups(&q, "group", l->group_ids, &l->groups))
        f->groups = &l->groups;
    read_words(&q, l);
    read_marks(&q, l);
    if (query_cursor(&q, &at) && at.id < f->below_id)
        f->below_id = at.id;
    return query_end(&q);
}

/* ---- the page ----------------------------------------------------------------------------------
 */

static bool add_row(void *ctx, const struct log_record *r)
{
    struct run_list *l = ctx;
    run_write(&l->writer, NULL, r);
    return !l->writer.w->out->failed;
}

static void list(struct web_call *call, struct run_list *l)
{
    struct jsonw w = jsonw_on(&call->output);
    struct runs_end end = { .exact = true };
    struct why why = { "" };
    run_writer_init(&l->writer, call, &w, l->members);
    v1_list_begin(&w);
    enum err err = OK;
    if (!l->none)
        err = call->db->ops->pages->runs_page(call->db, &l->f, add_row, l, &end, &why);
    run_writer_done(&l->writer);
    const struct cursor last = { .id = end.below_id };
    if (err)
        problem_err(call, err, &why);
    else
        v1_list_end(call, &w, end.more ? &last : NULL, end.counted, end.exact);
}

void v1_runs_list(struct web_call *call)
{
    struct run_list *l = mem_new(sizeof(*l));
    if (read_filter(call, l))
        list(call, l);
    free(l);
}
