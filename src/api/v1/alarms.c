/* SPDX-License-Identifier: Apache-2.0 */
/* What rules have found, as a resource: alarms that are open, and those of the last 30 days. */
#include "api/gate.h"
#include "api/rules.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include <string.h>

#define JOBS_SHOWN 500 /* of one alarm */

/* ---- writing --------------------------------------------------------------------------------- */

static void write_rule(struct jsonw *w, struct store *db, int64_t rule_id)
{
    struct rule_record r;
    struct why why = { "" };
    jsonw_object(w, "rule");
    jsonw_i64(w, "id", rule_id);
    if (db->ops->rules->rule_get(db, rule_id, &r, &why)) {
        jsonw_null(w, "name");
    } else {
        jsonw_text(w, "name", r.name);
        rule_record_done(&r);
    }
    jsonw_object_end(w);
}

static void write_members(struct jsonw *w, struct store *db, const struct incident_record *i)
{
    static const char *const causes[CAUSES] = { [CAUSE_GROUP] = "group",
                                                [CAUSE_EXECUTOR] = "executor",
                                                [CAUSE_NO_EXECUTOR] = "no_executor",
                                                [CAUSE_CENTER] = "center" };
    char check[32]; /* the text names the server */
    text_copy(check, sizeof(check), slice_of(i->address, strcspn(i->address, "@")));
    jsonw_i64(w, "id", i->id);
    write_rule(w, db, i->rule_id);
    jsonw_text(w, "kind", rule_kind_text(i->kind));
    jsonw_text(w, "level", rule_level_text(i->level));
    v1_group_named(w, db, i->group_id);
    jsonw_text(w, "cause", causes[i->cause]);
    jsonw_text(w, "executor", i->cause == CAUSE_EXECUTOR ? i->address : NULL);
    jsonw_text(w, "check", i->cause == CAUSE_CENTER ? check : NULL);
    jsonw_text(w, "text", i->text);
    v1_instant(w, "since", i->since_ms);
    v1_instant(w, "last", i->last_ms);
    jsonw_i64(w, "jobs", i->jobs);
    jsonw_i64(w, "open", i->open);
    jsonw_i64(w, "events", i->events);
    jsonw_i64(w, "messages", i->told);
    v1_instant_or_null(w, "told", i->told_ms);
    v1_instant_or_null(w, "acknowledged", i->acknowledged_ms);
    jsonw_text(w, "acknowledgedBy", i->acknowledged_by);
    v1_instant_or_null(w, "closed", i->closed_ms);
    jsonw_text(w, "closedBy", i->closed_by);
}

struct jobs {
    struct jsonw *w;
    struct store *db;
};

static bool add_job(void *ctx, const struct incident_job *j)
{
    struct jobs *x = ctx;
    struct job_record job;
    struct why why = { "" };
    job_record_init(&job);
    bool there = !x->db->ops->catalog->job_get(x->db, j->job_id, &job, &why);
    jsonw_object(x->w, NULL);
    jsonw_i64(x->w, "id", j->job_id);
    jsonw_text(x->w, "name", there ? job.description : NULL);
    if (j->log_id > 0)
        jsonw_i64(x->w, "runId", j->log_id);
    else
        jsonw_null(x->w, "runId");
    v1_instant(x->w, "since", j->since_ms);
    jsonw_i64(x->w, "events", j->events);
    jsonw_i64(x->w, "tookMs", j->took_ms);
    jsonw_text(x->w, "text", j->text);
    v1_instant_or_null(x->w, "recovered", j->closed_ms);
    jsonw_object_end(x->w);
    job_record_done(&job);
    return true;
}

/* ---- list ------------------------------------------------------------------------------------ */

struct listing {
    struct v1_listing l;
    struct store *db;
};

static bool add_alarm(void *ctx, const struct incident_record *i)
{
    struct listing *x = ctx;
    if (!v1_listing_takes(&x->l, i->id))
        return false;
    jsonw_object(&x->l.w, NULL);
    write_members(&x->l.w, x->db, i);
    jsonw_object_end(&x->l.w);
    return true;
}

void v1_alarms_list(struct web_call *call)
{
    struct why why = { "" };
    struct query q;
    struct cursor after = { .id = 0 };
    struct listing x = { .l = { .w = jsonw_on(&call->output) }, .db = call->db };
    struct incidents_filter f = { .scope = actor_scope(call->actor, PERM_READ),
                                  .below_id = INT64_MAX };
    int64_t total = 0;
    query_begin(&q, call);
    x.l.limit = query_limit(&q);
    f.open = query_bool(&q, "open", -1);
    f.rule_id = query_i64(&q, "rule", 1, (INT64_C(1) << 53) - 1, 0);
    if (query_cursor(&q, &after))
        f.below_id = after.id;
    if (!query_end(&q))
        return;
    f.limit = x.l.limit + 1;
    v1_list_begin(&x.l.w);
    enum err err = call->db->ops->rules->incidents_page(call->db, &f, add_alarm, &x, &total, &why);
    if (err)
        problem_err(call, err, &why);
    else
        v1_list_end(call, &x.l.w, x.l.more ? &x.l.last : NULL, total, true);
}

/* ---- one ------------------------------------------------------------------------------------- */

static void answer(struct web_call *call, const struct incident_record *i)
{
    struct why why = { "" };
    struct jsonw w = jsonw_on(&call->output);
    struct jobs x = { &w, call->db };
    jsonw_object(&w, NULL);
    write_members(&w, call->db, i);
    jsonw_array(&w, "items");
    enum err err =
        call->db->ops->rules->incident_jobs_each(call->db, i->id, JOBS_SHOWN, add_job, &x, &why);
    jsonw_array_end(&w);
    jsonw_object_end(&w);
    if (err)
        problem_err(call, err, &why);
}

/* The alarm that the path names, if the asker may do to it what the row says. False: the call is
 * answered. */
static bool find(struct web_call *call, struct incident_record *ret)
{
    struct why why = { "" };
    int64_t id = call->params.items[0].number;
    enum err err = call->db->ops->rules->incident_get(call->db, id, ret, &why);
    if (err) {
        problem_err(call, err, &why);
        return false;
    }
    bool may = gate_group(call, ret->group_id, "alarm", id);
    if (!may)
        incident_record_done(ret);
    return may;
}

void v1_alarm_get(struct web_call *call)
{
    struct incident_record i;
    if (!find(call, &i))
        return;
    answer(call, &i);
    incident_record_done(&i);
}

static void act(struct web_call *call,
                enum err (*fn)(struct center *c, int64_t id, const char *by, struct audit *audit,
                               struct why *why),
                const char *action)
{
    struct incident_record i;
    struct why why = { "" };
    if (!find(call, &i))
        return;
    enum err err = fn(call->center, i.id, call->user.username, audit_new(call, action), &why);
    incident_record_done(&i);
    if (err)
        problem_err(call, err, &why);
    else
        v1_alarm_get(call);
}

void v1_alarm_acknowledge(struct web_call *call)
{
    act(call, alarm_acknowledge, "alarm.acknowledge");
}

void v1_alarm_close(struct web_call *call)
{
    act(call, alarm_close, "alarm.close");
}
