/* SPDX-License-Identifier: Apache-2.0 */
/* dashboard.c - the first screen in one answer: from the board, with names from the database.
 *
 * An answer is made at most once a second for each set of groups and range, whoever asks. Its tag
 * is made of everything but the time, so a viewer of a center at rest gets 304. */
#include "api/answers.h"
#include "api/elsewhere.h"
#include "api/v1/etag.h"
#include "api/v1/group_filter.h"
#include "api/v1/group_page.h"
#include "api/v1/job_recent.h"
#include "api/v1/run_page.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "live/board.h"
#include "live/vitals.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 3000 /* for the board, right after the start */
#define NEXT_MAX 50
#define NEXT_ROWS 200 /* of jobs that fire next; in search of those of some groups */
#define NEXT_ROWS_SCOPED 1000
#define BAD_GROUPS 20
#define COUNT_MAX 10000
#define HOUR_MS INT64_C(3600000)

static const char *const ranges[] = { "1h", "24h", "7d" };
static const struct {
    int64_t step_ms;
    int n;
} bars_of[] = { { SLOT_MS, 4 }, { SLOT_MS, 96 }, { HOUR_MS, 168 } };

struct dashboard {
    struct web_call *call;
    struct store *db;
    struct scope asked; /* of the filter */
    int64_t groups[QUERY_GROUPS_MAX], both[QUERY_GROUPS_MAX];
    const struct scope *scope;
    int range;
    bool administers; /* reasons name files */
    int64_t now_ms;
    struct jsonw w;
    /* read */
    struct board_now now;
    struct elsewhere_attention others; /* what is open at other servers, and: */
    struct elsewhere_silent silent;    /* those that do not say */
    struct center_group *live;         /* of all groups */
    size_t nlive;
    struct map jobs, names; /* job_record and group_record by id; owned */
    struct board_firing next[NEXT_MAX];
    int nnext;
    struct why why;
};

/* ---- what it reads ----------------------------------------------------------------------------
 */

static bool keep_job(void *ctx, const struct job_record *r)
{
    struct dashboard *d = ctx;
    struct job_record *copy = mem_new(sizeof(*copy));
    job_record_copy(copy, r);
    struct job_record *old = map_set(&d->jobs, (uint64_t)r->id, copy);
    if (old)
        job_record_done(old);
    free(old);
    return true;
}

static bool keep_group(void *ctx, const struct group_record *g)
{
    struct dashboard *d = ctx;
    struct group_record *copy = mem_new(sizeof(*copy));
    group_record_copy(copy, g);
    struct group_record *old = map_set(&d->names, (uint64_t)g->id, copy);
    if (old)
        group_record_done(old);
    free(old);
    return true;
}

static const struct job_record *job_of(const struct dashboard *d, int64_t id)
{
    return map_find(&d->jobs, (uint64_t)id);
}

static const struct group_record *group_of(const struct dashboard *d, int64_t id)
{
    return map_find(&d->names, (uint64_t)id);
}

static bool sees(const struct dashboard *d, int64_t group_id)
{
    return scope_is_all(d->scope) || scope_has(d->scope, group_id);
}

static enum err read_jobs(struct dashboard *d, const int64_t *ids, int n)
{
    return n ? d->db->ops->catalog->jobs_get(d->db, ids, n, keep_job, d, &d->why) : OK;
}

/* Those that are named as failing. */
static enum err read_failing(struct dashboard *d)
{
    int64_t ids[FAILING_CAUSES * FAILING_JOBS];
    int n = 0;
    for (int i = 0; i < d->now.ncauses; i++)
        for (int k = 0; k < d->now.causes[i].n; k++)
            ids[n++] = d->now.causes[i].jobs[k].id;
    return read_jobs(d, ids, n);
}

static int by_time(const void *a, const void *b)
{
    const struct board_firing *x = a, *y = b;
    if (x->at_ms != y->at_ms)
        return x->at_ms < y->at_ms ? -1 : 1;
    return (x->job_id > y->job_id) - (x->job_id < y->job_id);
}

/* A broadcast has a shard for each address that is there. */
static int shards_of(const struct dashboard *d, const struct job_record *r)
{
    if (strcmp(r->route ? r->route : "", "SHARDING_BROADCAST") != 0)
        return 1;
    int up = group_among(d->live, d->nlive, r->group_id)->up;
    return up > 0 ? up : 1;
}

static enum err read_due_rows(struct dashboard *d, struct due_row *due, int rows, int *found)
{
    const struct store_ops *ops = d->db->ops;
    int64_t next_ms;
    if (ops->cluster)
        return ops->cluster->due_next(d->db, d->now_ms, rows, due, found, &d->why);
    return ops->runs->due_take(d->db, d->now_ms, NEVER_MS - 1, rows, due, found, &next_ms, &d->why);
}

/* What is not planned as a row yet; of each job the first firing. */
static enum err read_due(struct dashboard *d, struct board_firing *all, int *n)
{
    int rows = scope_is_all(d->scope) ? NEXT_ROWS : NEXT_ROWS_SCOPED, found = 0;
    struct due_row *due = mem_new((size_t)rows * sizeof(*due));
    int64_t *ids = mem_new((size_t)rows * sizeof(*ids));
    enum err err = read_due_rows(d, due, rows, &found);
    for (int i = 0; i < found; i++)
        ids[i] = due[i].job_id;
    for (int i = 0, more = 0; !err && i < found && more < NEXT_MAX; i++) {
        if (i % NEXT_MAX == 0) /* whose groups they are is in their rows: as few as will do */
            err = read_jobs(d, ids + i, found - i < NEXT_MAX ? found - i : NEXT_MAX);
        const struct job_record *r = job_of(d, due[i].job_id);
        if (!r || !sees(d, r->group_id))
            continue;
        all[(*n)++] = (struct board_firing){ due[i].next_ms, r->id, shards_of(d, r) };
        more++;
    }
    free(due);
    free(ids);
    return err;
}

/* What other servers have planned as rows already. */
static enum err read_elsewhere(struct dashboard *d, struct board_firing *all, int *n)
{
    struct due_row rows[NEXT_ROWS];
    int64_t ids[NEXT_ROWS];
    int found = 0, more = 0;
    if (!center_shares(d->call->center))
        return OK;
    enum err err =
        d->db->ops->cluster->planned_elsewhere(d->db, center_metrics(d->call->center)->node.epoch,
                                               d->now_ms, NEXT_ROWS, rows, &found, &d->why);
    for (int i = 0; i < found; i++)
        ids[i] = rows[i].job_id;
    if (!err)
        err = read_jobs(d, ids, found);
    for (int i = 0; !err && i < found && more < NEXT_MAX; i++) {
        const struct job_record *r = job_of(d, ids[i]);
        if (!r || !sees(d, r->group_id))
            continue;
        all[(*n)++] = (struct board_firing){ rows[i].next_ms, r->id, shards_of(d, r) };
        more++;
    }
    return err;
}

static enum err read_next(struct dashboard *d)
{
    struct board_firing all[3 * NEXT_MAX];
    int64_t ids[NEXT_MAX];
    int n = (int)board_next(d->call->board, d->scope, d->now_ms, NEXT_MAX, all);
    for (int i = 0; i < n; i++)
        ids[i] = all[i].job_id;
    enum err err = read_jobs(d, ids, n);
    if (!err)
        err = read_elsewhere(d, all, &n);
    if (!err && n < NEXT_MAX)
        err = read_due(d, all, &n);
    qsort(all, (size_t)n, sizeof(*all), by_time);
    d->nnext = n < NEXT_MAX ? n : NEXT_MAX;
    memcpy(d->next, all, (size_t)d->nnext * sizeof(*all));
    return err;
}

/* Of everything that is named. */
static enum err read_groups(struct dashboard *d)
{
    int64_t ids[FAILING_CAUSES + NEXT_MAX];
    int n = 0;
    for (int i = 0; i < d->now.ncauses; i++)
        if (d->now.causes[i].group_id)
            ids[n++] = d->now.causes[i].group_id;
    for (int i = 0; i < d->nnext; i++) {
        const struct job_record *r = job_of(d, d->next[i].job_id);
        if (r)
            ids[n++] = r->group_id;
    }
    n = (int)scope_sort(ids, (size_t)n);
    return n ? d->db->ops->catalog->groups_get(d->db, ids, n, keep_group, d, &d->why) : OK;
}

static enum err read_all(struct dashboard *d)
{
    board_now(d->call->board, d->scope, d->now_ms, &d->now);
    elsewhere_attention(d->call, d->scope, &d->others, &d->silent);
    enum err err = center_groups_live(d->call->center, &d->live, &d->nlive, &d->why);
    if (!err)
        err = read_failing(d);
    if (!err)
        err = read_next(d);
    return err ? err : read_groups(d);
}

/* ---- what it writes ---------------------------------------------------------------------------
 */

static void write_ms(struct jsonw *w, const char *key, double ms)
{
    if (ms < 0)
        jsonw_null(w, key);
    else
        jsonw_real(w, key, (double)(int64_t)(ms * 100 + 0.5) / 100);
}

static enum err write_scheduler(struct dashboard *d)
{
    struct vitals_now v;
    struct totals totals;
    int64_t open = 0;
    enum err err = d->db->ops->txn->totals_get(d->db, &totals, &open, &d->why);
    vitals_read(d->call->vitals, &v);
    jsonw_object(&d->w, "scheduler");
    jsonw_bool(&d->w, "ok", v.ok);
    jsonw_text(&d->w, "reason", v.ok || !d->administers ? NULL : v.reason);
    jsonw_i64(&d->w, "unaccounted", err ? 0 : totals_unaccounted(&totals, open));
    jsonw_i64(&d->w, "planned", v.planned);
    write_ms(&d->w, "latenessP99Ms", v.lateness_p99_ms);
    jsonw_i64(&d->w, "horizonMs", v.horizon_ms);
    write_ms(&d->w, "commitP99Ms", v.commit_p99_ms);
    jsonw_i64(&d->w, "inFlight", v.in_flight);
    jsonw_i64(&d->w, "unknown", v.unknown);
    jsonw_i64(&d->w, "waiting", v.waiting);
    jsonw_i64(&d->w, "open", v.open);
    jsonw_object_end(&d->w);
    return err;
}

static void write_failing_job(struct dashboard *d, const struct failing_job_now *j)
{
    const struct job_record *r = job_of(d, j->id);
    struct job_stat stat = { .nlast = 0 };
    if (!r) /* deleted right now */
        return;
    (void)!figures_job(center_figures(d->call->center), j->id, &stat);
    jsonw_object(&d->w, NULL);
    jsonw_i64(&d->w, "id", j->id);
    jsonw_text(&d->w, "name", r->description ? r->description : "");
    jsonw_text(&d->w, "owner", r->author ? r->author : "");
    jsonw_i64(&d->w, "streak", j->streak);
    jsonw_i64(&d->w, "lastRunId", j->last_id);
    v1_instant_or_null(&d->w, "lastSuccess", stat.success_ms);
    job_recent_write(&d->w, &stat);
    jsonw_object_end(&d->w);
}

static void write_group_ref(struct dashboard *d, int64_t group_id)
{
    const struct group_record *g = group_id ? group_of(d, group_id) : NULL;
    if (!g) {
        jsonw_null(&d->w, "group");
        return;
    }
    jsonw_object(&d->w, "group");
    jsonw_i64(&d->w, "id", g->id);
    jsonw_text(&d->w, "app", g->app ? g->app : "");
    jsonw_text(&d->w, "title", g->title ? g->title : "");
    jsonw_object_end(&d->w);
}

static void write_cause(struct dashboard *d, const struct failing_cause *c)
{
    const char *code = run_cause_code(c->outcome);
    jsonw_object(&d->w, NULL);
    jsonw_object(&d->w, "cause");
    jsonw_text(&d->w, "code", code ? code : run_cause_code(LOG_FAILED));
    jsonw_text(&d->w, "text", c->text);
    jsonw_object_end(&d->w);
    jsonw_text(&d->w, "where", c->address[0] ? c->address : NULL);
    write_group_ref(d, c->group_id);
    v1_instant_or_null(&d->w, "since", c->since_ms);
    jsonw_i64(&d->w, "count", c->count);
    jsonw_array(&d->w, "jobs");
    for (int i = 0; i < c->n; i++)
        write_failing_job(d, &c->jobs[i]);
    jsonw_array_end(&d->w);
    jsonw_object_end(&d->w);
}

static void write_broken(struct dashboard *d)
{
    jsonw_array(&d->w, "broken");
    for (int i = 0; i < d->now.ncauses; i++)
        write_cause(d, &d->now.causes[i]);
    jsonw_array_end(&d->w);
    jsonw_i64(&d->w, "brokenTotal", d->now.failing);
}

static bool no_row(void *ctx, const struct job_record *r)
{
    (void)ctx;
    (void)r;
    return false;
}

/* Scheduled jobs of groups that have nobody who answers. */
static enum err count_unroutable(struct dashboard *d, int64_t *ret)
{
    int64_t *ids = mem_new((d->nlive + 1) * sizeof(*ids)), total = 0;
    struct scope dead = { .ids = ids };
    for (size_t i = 0; i < d->nlive; i++)
        if (!d->live[i].up && sees(d, d->live[i].id))
            ids[dead.n++] = d->live[i].id;
    const struct jobs_filter f = {
        .scope = &dead, .status = 1, .limit = 0, .count_max = COUNT_MAX /* none: it is the count */
    };
    enum err err =
        dead.n ? d->db->ops->pages->jobs_page(d->db, &f, no_row, NULL, &total, &d->why) : OK;
    *ret = total < COUNT_MAX ? total : COUNT_MAX;
    free(ids);
    return err;
}

static enum err write_attention(struct dashboard *d)
{
    int64_t unroutable = 0;
    enum err err = count_unroutable(d, &unroutable);
    jsonw_object(&d->w, "attention");
    jsonw_i64(&d->w, "late", d->now.late + d->others.late);
    jsonw_i64(&d->w, "stuck", d->now.stuck + d->others.stuck);
    jsonw_i64(&d->w, "unknown", d->now.unknown + d->others.unknown);
    jsonw_i64(&d->w, "unroutable", unroutable);
    jsonw_object_end(&d->w);
    elsewhere_write(&d->w, &d->silent);
    return err;
}

/* Groups that nobody answers for first, then those that lack some. */
static size_t bad_groups(const struct dashboard *d, int64_t ids[BAD_GROUPS])
{
    size_t n = 0;
    for (int partly = 0; partly < 2; partly++)
        for (size_t i = 0; i < d->nlive && n < BAD_GROUPS; i++) {
            const struct center_group *g = &d->live[i];
            if (group_is_bad(g) && (g->up > 0) == (partly > 0) && sees(d, g->id))
                ids[n++] = g->id;
        }
    return n;
}

static enum err write_bad(struct dashboard *d)
{
    int64_t ids[BAD_GROUPS], sorted[BAD_GROUPS], failing[BAD_GROUPS];
    size_t n = bad_groups(d, ids);
    memcpy(sorted, ids, n * sizeof(*ids));
    scope_sort(sorted, n);
    board_failing_by_group(d->call->board, sorted, n, failing);
    enum err err =
        n ? d->db->ops->catalog->groups_get(d->db, sorted, (int)n, keep_group, d, &d->why) : OK;
    jsonw_array(&d->w, "bad");
    for (size_t i = 0; !err && i < n; i++) {
        struct group_live live = { *group_among(d->live, d->nlive, ids[i]), 0, 0 };
        const struct group_record *g = group_of(d, ids[i]);
        for (size_t k = 0; k < n; k++)
            live.failing += sorted[k] == ids[i] ? failing[k] : 0;
        if (!g)
            continue;
        err = d->db->ops->catalog->group_jobs(d->db, ids[i], &live.jobs, &d->why);
        group_write(&d->w, g, &live, 0);
    }
    jsonw_array_end(&d->w);
    return err;
}

static enum err write_executors(struct dashboard *d)
{
    int64_t groups = 0, addresses = 0;
    for (size_t i = 0; i < d->nlive; i++)
        if (sees(d, d->live[i].id)) {
            groups++;
            addresses += d->live[i].total;
        }
    jsonw_object(&d->w, "executors");
    jsonw_i64(&d->w, "groups", groups);
    jsonw_i64(&d->w, "addresses", addresses);
    enum err err = write_bad(d);
    jsonw_object_end(&d->w);
    return err;
}

static void write_numbers(struct jsonw *w, const char *key, const int64_t *numbers, int n)
{
    jsonw_array(w, key);
    for (int i = 0; i < n; i++)
        jsonw_i64(w, NULL, numbers[i]);
    jsonw_array_end(w);
}

static void write_day(struct dashboard *d)
{
    struct board_bars bars;
    board_bars(d->call->board, d->scope, d->now_ms, bars_of[d->range].step_ms, bars_of[d->range].n,
               &bars);
    jsonw_object(&d->w, "day");
    jsonw_i64(&d->w, "stepMs", bars.step_ms);
    jsonw_i64(&d->w, "fromMs", bars.from_ms);
    write_numbers(&d->w, "succeeded", bars.succeeded, bars.n);
    write_numbers(&d->w, "failed", bars.failed, bars.n);
    write_numbers(&d->w, "previous", bars.previous, bars.n);
    jsonw_object_end(&d->w);
}

static void write_next(struct dashboard *d)
{
    jsonw_array(&d->w, "next");
    for (int i = 0; i < d->nnext; i++) {
        const struct job_record *r = job_of(d, d->next[i].job_id);
        const struct group_record *g = r ? group_of(d, r->group_id) : NULL;
        if (!r)
            continue;
        jsonw_object(&d->w, NULL);
        jsonw_i64(&d->w, "atMs", d->next[i].at_ms);
        jsonw_object(&d->w, "job");
        jsonw_i64(&d->w, "id", r->id);
        jsonw_text(&d->w, "name", r->description ? r->description : "");
        jsonw_object_end(&d->w);
        jsonw_text(&d->w, "app", g && g->app ? g->app : "");
        jsonw_i64(&d->w, "shards", d->next[i].shards);
        jsonw_object_end(&d->w);
    }
    jsonw_array_end(&d->w);
}

/* ---- the answer -------------------------------------------------------------------------------
 */

static void done(struct dashboard *d)
{
    void *v;
    for (size_t i = 0; map_next(&d->jobs, &i, &v);) {
        job_record_done(v);
        free(v);
    }
    for (size_t i = 0; map_next(&d->names, &i, &v);) {
        group_record_done(v);
        free(v);
    }
    map_done(&d->jobs);
    map_done(&d->names);
    free(d->live);
}

/* All but the time, which begins it: what follows an open brace. */
static enum err make(struct dashboard *d, struct buf *out)
{
    d->w = jsonw_on(out);
    map_init(&d->jobs);
    map_init(&d->names);
    enum err err = read_all(d);
    jsonw_object(&d->w, NULL);
    if (!err)
        err = write_scheduler(d);
    if (!err) {
        write_broken(d);
        err = write_attention(d);
    }
    if (!err)
        err = write_executors(d);
    if (!err) {
        write_day(d);
        write_next(d);
    }
    jsonw_object_end(&d->w);
    done(d);
    return err;
}

static void add_now(struct dashboard *d, struct buf *out)
{
    struct jsonw w = jsonw_on(out);
    jsonw_object(&w, NULL);
    v1_instant(&w, "now", d->now_ms);
    jsonw_object(&w, "now");
    jsonw_text(&w, "zone", center_zone_name(d->call->center));
    jsonw_object_end(&w);
    buf_char(out, ','); /* the object goes on with what was made */
}

/* Text of a kept answer: its tag, a line's end, the JSON. */
static enum err kept(struct dashboard *d, struct slice key, struct buf *answer)
{
    struct buf text = BUF_INIT(WEB_REPLY_MAX);
    if (answers_take(d->call->answers, key, clock_boot_ms(), answer))
        return OK;
    enum err err = make(d, &text);
    if (err || text.failed) {
        answers_not(d->call->answers, key);
    } else {
        struct slice rest = slice_of(text.data + 1, text.len - 1);
        buf_printf(answer, "%llu\n", (unsigned long long)(hash_text(rest) & ROUTER_ID_MAX));
        add_now(d, answer);
        buf_slice(answer, rest);
        answers_put(d->call->answers, key, clock_boot_ms(), slice_of(answer->data, answer->len));
    }
    buf_done(&text);
    return err;
}

static void key_of(const struct dashboard *d, struct buf *key)
{
    buf_printf(key, "dashboard %d %d", d->range, d->administers);
    for (size_t i = 0; !scope_is_all(d->scope) && i < d->scope->n; i++)
        buf_printf(key, "%c%lld", i ? ',' : ' ', (long long)d->scope->ids[i]);
    if (!scope_is_all(d->scope) && !d->scope->n)
        buf_text(key, " none");
}

static bool read_query(struct dashboard *d)
{
    struct query q;
    const struct scope *mine = actor_scope(d->call->actor, PERM_READ);
    query_begin(&q, d->call);
    int range = query_word(&q, "range", ranges, countof(ranges));
    d->range = range < 0 ? 1 : range;
    d->scope = mine;
    if (query_groups(&q, "group", d->groups, &d->asked)) {
        if (!scope_is_all(mine))
            d->asked = scope_and(&d->asked, mine, d->both);
        d->scope = &d->asked;
    }
    return query_end(&q);
}

static void answer(struct dashboard *d, struct slice text)
{
    struct etag tag = { 'd', d->range, 0 };
    struct slice first;
    if (slice_cut(&text, '\n', &first) && parse_i64(first, &tag.version) &&
        etag_fresh(d->call, tag))
        return;
    etag_write(d->call, tag);
    buf_slice(&d->call->output, text);
}

void v1_dashboard_get(struct web_call *call)
{
    struct dashboard *d = mem_new(sizeof(*d));
    struct buf key = BUF_INIT(1 << 20), text = BUF_INIT(WEB_REPLY_MAX);
    d->call = call;
    d->db = call->db;
    d->now_ms = clock_wall_ms();
    d->administers = actor_may(call->actor, PERM_SYSTEM_ADMIN, 0);
    if (!read_query(d)) {
        free(d);
        return;
    }
    if (!board_wait(call->board, WAIT_MS)) {
        problem_wait(call, PROBLEM_UNAVAILABLE, 1000,
                     "what has become of runs is still being read");
        free(d);
        return;
    }
    key_of(d, &key);
    enum err err = kept(d, slice_of(key.data, key.len), &text);
    if (err)
        problem_err(call, err, &d->why);
    else
        answer(d, slice_of(text.data, text.len));
    buf_done(&key);
    buf_done(&text);
    free(d);
}
