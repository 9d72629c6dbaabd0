/* SPDX-License-Identifier: Apache-2.0 */
/* What an action on a job takes away, before it is confirmed: what the scheduler holds of it now,
 * what its schedule would do in the next 24 hours, what depends on it. */
#include "api/v1/consequences.h"
#include "api/gate.h"
#include "api/v1/job_page.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cron/outlook.h"
#include "cron/schedule_diff.h"
#include <string.h>

#define DAY_MS ((int64_t)86400000)
#define LISTED_MAX 100 /* changes that are named one by one */

static const char *const actions[] = { "stop", "delete", "update" };
static const enum edit_kind edits[] = { EDIT_JOB_STOP, EDIT_JOB_DELETE, EDIT_JOB_UPDATE };
static const char *const types[] = { "NONE", "CRON", "FIX_RATE", "FIX_DELAY", "ONCE" };
static const char *const policies[] = { "xxl", "smart" };

struct asked {
    enum edit_kind edit;
    const char *type, *conf, *zone, *dst; /* the schedule after an update; NULL: as it is */
};

struct found {
    int64_t now_ms, firings, parents, rows;
    struct sched_withdrawn withdrawn;
    bool compares; /* there is an after */
    struct schedule_side before, after;
};

/* ---- the question ------------------------------------------------------------------------------
 */

/* One of the words, of any action; NULL: not asked for. */
static const char *one_of(struct query *q, const char *name, const char *const *words, size_t n)
{
    int i = query_word(q, name, words, n);
    return i < 0 ? NULL : words[i];
}

static bool read_asked(struct web_call *call, struct asked *ret)
{
    struct query q;
    query_begin(&q, call);
    int action = query_word(&q, "action", actions, countof(actions));
    ret->type = one_of(&q, "type", types, countof(types));
    ret->conf = query_text(&q, "conf", 128);
    ret->zone = query_text(&q, "zone", 64);
    ret->dst = one_of(&q, "dst", policies, countof(policies));
    if (action < 0)
        query_bad(&q, "action", "required", "action: must be one of stop, delete, update");
    else
        ret->edit = edits[action];
    return query_end(&q);
}

static bool names_schedule(const struct asked *in)
{
    return in->edit == EDIT_JOB_UPDATE && (in->type || in->conf || in->zone || in->dst);
}

static enum err zone_of(void *ctx, const char *name, struct zone **ret, struct why *why)
{
    const struct web_call *call = ctx;
    if (!name || !name[0])
        name = center_zone_name(call->center);
    return zones_get(center_zones(call->center), name, ret, why);
}

static void refuse(struct web_call *call, const char *field, const char *rule,
                   const struct why *why)
{
    struct problem_errors errors;
    problem_errors_init(&errors);
    problem_error(&errors, field, rule, NULL, "%s: %s", field, why->text);
    problem_fields(call, PROBLEM_MALFORMED, &errors);
    problem_errors_done(&errors);
}

static const char *said(const char *text, const char *else_text)
{
    return text ? text : else_text ? else_text : "";
}

/* The schedule after the edit; false: answered. */
static bool read_after(struct web_call *call, const struct asked *in, const struct job_record *r,
                       struct schedule *ret)
{
    struct why why = { "" };
    struct zone *zone;
    enum dst_policy dst = DST_XXL;
    (void)dst_policy_find(slice_text(said(in->dst, r->dst)), &dst); /* else as XXL-JOB has it */
    if (zone_of(call, said(in->zone, r->zone), &zone, &why)) {
        refuse(call, "zone", "zone", &why);
        return false;
    }
    enum err err = schedule_parse(slice_text(said(in->type, r->schedule_type)),
                                  slice_text(said(in->conf, r->schedule_conf)), zone, dst,
                                  center_last_year(call->center), ret, &why);
    zone_unref(zone);
    if (err)
        refuse(call, in->type && !in->conf ? "type" : "conf", "schedule.conf", &why);
    return !err;
}

/* ---- what there is -----------------------------------------------------------------------------
 */

static bool no_row(void *ctx, const struct log_record *r)
{
    (void)ctx;
    (void)r;
    return false;
}

static enum err count_rows(struct web_call *call, const struct job_record *r, int64_t *ret,
                           struct why *why)
{
    const struct runs_filter f = { .scope = actor_scope(call->actor, PERM_READ),
                                   .jobs = &r->id,
                                   .njobs = 1,
                                   .from_ms = -1,
                                   .to_ms = -1,
                                   .below_id = INT64_MAX,
                                   .count_max = RUNS_LOOK_MAX };
    struct runs_end end = { .counted = 0 };
    enum err err = call->db->ops->pages->runs_page(call->db, &f, no_row, NULL, &end, why);
    *ret = end.counted;
    return err;
}

/* Where the schedule goes on; FIX_DELAY as if its runs took no time. */
static struct schedule_side side_of(const struct schedule *s, int64_t from_ms)
{
    struct schedule_side side = { s, 0 };
    if (schedule_next(s, from_ms, &side.first_ms))
        side.schedule = NULL;
    return side;
}

static struct schedule_side before_of(const struct job_record *r, const struct schedule *s,
                                      int64_t now_ms)
{
    bool rate = s->type == SCHEDULE_FIX_RATE || s->type == SCHEDULE_FIX_DELAY;
    if (!r->enabled)
        return (struct schedule_side){ NULL, 0 };
    if (rate && r->next_ms > now_ms && r->next_ms != NEVER_MS)
        return (struct schedule_side){ s, r->next_ms };
    return side_of(s, now_ms);
}

static int64_t firings_of(struct schedule_side side, int64_t until_ms)
{
    const struct schedule *s = side.schedule;
    if (!s || side.first_ms >= until_ms)
        return 0;
    if (s->type == SCHEDULE_FIX_DELAY)
        return (until_ms - 1 - side.first_ms) / s->interval_ms + 1;
    return schedule_count(s, side.first_ms, side.first_ms, until_ms);
}

struct elsewhere {
    enum edit_kind edit;
    struct sched_withdrawn *to;
};

/* A run in the memory of another server, by its row: what sched_withdrawn does here. A retry counts
 * as asked for by the schedule, as it does when its row is read at a start. */
static bool add_elsewhere(void *ctx, enum kind kind, enum phase phase, int64_t n)
{
    const struct elsewhere *x = ctx;
    bool of_schedule = kind == KIND_CRON || kind == KIND_MISFIRE || kind == KIND_RETRY;
    bool takes = x->edit == EDIT_JOB_DELETE || (x->edit == EDIT_JOB_STOP && of_schedule) ||
                 kind == KIND_CRON;
    if (phase != PHASE_PLANNED)
        x->to->open += phase_open(phase) ? (int)n : 0;
    else if (takes && kind == KIND_RETRY)
        x->to->retries += (int)n;
    else if (takes)
        x->to->firings += (int)n;
    return true;
}

static enum err look_elsewhere(struct web_call *call, const struct asked *in, int64_t job_id,
                               struct sched_withdrawn *to, struct why *why)
{
    struct elsewhere x = { in->edit, to };
    if (!center_shares(call->center))
        return OK;
    return call->db->ops->cluster->runs_elsewhere(
        call->db, job_id, center_metrics(call->center)->node.epoch, add_elsewhere, &x, why);
}

static enum err look(struct web_call *call, const struct asked *in, const struct job_record *r,
                     struct found *ret, struct why *why)
{
    enum err err = center_withdrawn(call->center, r->id, in->edit, &ret->withdrawn, why);
    if (!err)
        err = look_elsewhere(call, in, r->id, &ret->withdrawn, why);
    if (!err && in->edit == EDIT_JOB_DELETE)
        err = call->db->ops->catalog->job_parents(call->db, r->id, &ret->parents, why);
    if (!err && in->edit == EDIT_JOB_DELETE)
        err = count_rows(call, r, &ret->rows, why);
    return err;
}

enum err consequences_add(struct web_call *call, const struct job_record *r, enum edit_kind kind,
                          struct consequences *sum, struct why *why)
{
    const struct asked in = { .edit = kind };
    struct job *job = job_new(r, zone_of, call, center_last_year(call->center));
    struct found f = { .now_ms = clock_wall_ms() };
    if (!job->fault)
        f.before = before_of(r, &job->schedule, f.now_ms);
    sum->firings += firings_of(f.before, f.now_ms + DAY_MS);
    enum err err = look(call, &in, r, &f, why);
    job_unref(job);
    sum->withdrawn += f.withdrawn.firings;
    sum->retries += f.withdrawn.retries;
    sum->open += f.withdrawn.open;
    sum->parents += f.parents;
    sum->rows += f.rows;
    return err;
}

/* ---- the answer --------------------------------------------------------------------------------
 */

void consequences_write(struct jsonw *w, const struct consequences *sum)
{
    jsonw_i64(w, "firingsWithdrawn", sum->withdrawn);
    jsonw_i64(w, "retriesWithdrawn", sum->retries);
    jsonw_i64(w, "openRuns", sum->open);
    jsonw_i64(w, "firings24h", sum->firings);
    jsonw_i64(w, "childrenOfOthers", sum->parents);
    jsonw_i64(w, "logRows", sum->rows);
}

struct listing {
    struct jsonw *w;
    int n;
};

static void write_change(void *ctx, enum schedule_change change, int64_t from_ms, int64_t to_ms)
{
    static const char *const words[] = { "vanish", "appear", "move" };
    struct listing *l = ctx;
    struct jsonw *w = l->w;
    if (l->n++ >= LISTED_MAX)
        return;
    jsonw_object(w, NULL);
    jsonw_text(w, "what", words[change]);
    jsonw_i64(w, "ms", change == CHANGE_APPEAR ? to_ms : from_ms);
    if (change == CHANGE_MOVE)
        jsonw_i64(w, "toMs", to_ms);
    else
        jsonw_null(w, "toMs");
    jsonw_object_end(w);
}

static void write_changes(struct jsonw *w, const char *key, const struct found *f)
{
    struct listing l = { w, 0 };
    struct schedule_diff diff;
    jsonw_object(w, key);
    jsonw_array(w, "items");
    schedule_diff(f->before, f->after, f->now_ms + DAY_MS, write_change, &l, &diff);
    jsonw_array_end(w);
    jsonw_i64(w, "vanish", diff.n[CHANGE_VANISH]);
    jsonw_i64(w, "appear", diff.n[CHANGE_APPEAR]);
    jsonw_i64(w, "move", diff.n[CHANGE_MOVE]);
    jsonw_i64(w, "untilMs", diff.until_ms);
    jsonw_object_end(w);
}

static struct job *parsed(struct web_call *call, const struct job_record *r)
{
    return r ? job_new(r, zone_of, call, center_last_year(call->center)) : NULL;
}

static bool fires(const struct job *job, const struct job_record *r)
{
    return job && !job->fault && r->enabled;
}

static void pass(void *ctx, enum schedule_change change, int64_t from_ms, int64_t to_ms)
{
    (void)ctx;
    (void)change;
    (void)from_ms;
    (void)to_ms;
}

static bool differs(const struct found *f)
{
    struct schedule_diff diff;
    schedule_diff(f->before, f->after, f->now_ms + DAY_MS, pass, NULL, &diff);
    return diff.n[CHANGE_VANISH] || diff.n[CHANGE_APPEAR] || diff.n[CHANGE_MOVE];
}

bool consequences_over(struct web_call *call, const struct job_record *r)
{
    struct job *job = parsed(call, r);
    bool over = fires(job, r) && !side_of(&job->schedule, clock_wall_ms()).schedule;
    job_unref(job);
    return over;
}

void consequences_firings(struct web_call *call, const struct job_record *before,
                          const struct job_record *after, struct jsonw *w, const char *key)
{
    struct job *was = parsed(call, before), *is = parsed(call, after);
    struct found f = { .now_ms = clock_wall_ms() };
    if (fires(was, before))
        f.before = before_of(before, &was->schedule, f.now_ms);
    if (fires(is, after))
        f.after = side_of(&is->schedule, f.now_ms);
    if (differs(&f))
        write_changes(w, key, &f);
    else
        jsonw_null(w, key);
    job_unref(was);
    job_unref(is);
}

static void write_found(struct web_call *call, const struct found *f)
{
    struct jsonw w = jsonw_on(&call->output);
    jsonw_object(&w, NULL);
    consequences_write(&w, &(struct consequences){ .withdrawn = f->withdrawn.firings,
                                                   .retries = f->withdrawn.retries,
                                                   .open = f->withdrawn.open,
                                                   .firings = f->firings,
                                                   .parents = f->parents,
                                                   .rows = f->rows });
    if (f->compares)
        write_changes(&w, "changes", f);
    jsonw_object_end(&w);
}

static void answer(struct web_call *call, const struct asked *in, const struct job_record *r)
{
    struct job *job = job_new(r, zone_of, call, center_last_year(call->center));
    struct found f = { .now_ms = clock_wall_ms() };
    struct schedule after = { .type = SCHEDULE_NONE };
    struct why why = { "" };
    if (!names_schedule(in) || read_after(call, in, r, &after)) {
        if (!job->fault)
            f.before = before_of(r, &job->schedule, f.now_ms);
        f.firings = firings_of(f.before, f.now_ms + DAY_MS);
        f.compares = in->edit != EDIT_JOB_UPDATE || names_schedule(in);
        if (names_schedule(in) && r->enabled)
            f.after = side_of(&after, f.now_ms);
        enum err err = look(call, in, r, &f, &why);
        if (err)
            problem_err(call, err, &why);
        else
            write_found(call, &f);
    }
    schedule_done(&after);
    job_unref(job);
}

void v1_job_consequences(struct web_call *call)
{
    int64_t id = call->params.items[0].number;
    struct asked in = { .edit = EDIT_JOB_STOP };
    struct job_record r;
    struct why why = { "" };
    enum err err = job_read(call, id, &r, &why);
    if (err == ERR_NOTFOUND)
        problem(call, PROBLEM_NOT_FOUND, "job %lld does not exist, or you may not see it",
                (long long)id);
    else if (err)
        problem_err(call, err, &why);
    else if (gate_group(call, r.group_id, "job", id) && read_asked(call, &in))
        answer(call, &in, &r);
    job_record_done(&r);
}
