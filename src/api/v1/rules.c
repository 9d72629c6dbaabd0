/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of alarms as a resource. A rule of all jobs is seen by everybody who may read something;
 * one of a group or a job by who may read the group. Only administrators write rules: they decide
 * who is told, through channels that are the center's. */
#include "alarm/alarm.h"
#include "api/rules.h"
#include "api/body.h"
#include "api/gate.h"
#include "api/v1/etag.h"
#include "api/v1/query.h"
#include "api/v1/rule_json.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_MAX ((INT64_C(1) << 53) - 1)

/* ---- answers --------------------------------------------------------------------------------- */

static struct etag tag_of(const struct rule_record *r)
{
    return (struct etag){ 'r', r->id, r->version };
}

static void answer_rule(struct web_call *call, const struct rule_record *r)
{
    struct jsonw w = jsonw_on(&call->output);
    etag_write(call, tag_of(r));
    rule_json_write(&w, r);
}

/* ---- who sees it ----------------------------------------------------------------------------- */

/* The group that it is about; 0: all. A job that has gone leaves its rule to administrators. */
static int64_t group_of(struct store *db, const struct rule_record *r)
{
    struct job_record job;
    struct why why = { "" };
    int64_t group_id = r->group_id;
    if (!r->job_id)
        return group_id;
    job_record_init(&job);
    group_id = db->ops->catalog->job_get(db, r->job_id, &job, &why) ? -1 : job.group_id;
    job_record_done(&job);
    return group_id;
}

static bool sees(const struct web_call *call, const struct rule_record *r)
{
    int64_t group_id = r->group_id || r->job_id ? group_of(call->db, r) : 0;
    return group_id == 0 || scope_has(actor_scope(call->actor, PERM_READ), group_id);
}

/* The rule that the path names. False: the call is answered. */
static bool find(struct web_call *call, struct rule_record *ret)
{
    struct why why = { "" };
    int64_t id = call->params.items[0].number;
    enum err err = call->db->ops->rules->rule_get(call->db, id, ret, &why);
    if (!err && !sees(call, ret)) {
        rule_record_done(ret);
        err = ERR_NOTFOUND;
        why_set(&why, "rule %lld does not exist, or you may not see it", (long long)id);
    }
    if (err)
        problem_err(call, err, &why);
    return !err;
}

struct listing {
    struct v1_listing l;
    const struct web_call *call;
    int64_t after_id, total;
};

static bool add_rule(void *ctx, const struct rule_record *r)
{
    struct listing *x = ctx;
    if (!sees(x->call, r))
        return true;
    x->total++;
    if (r->id > x->after_id && !x->l.more && v1_listing_takes(&x->l, r->id))
        rule_json_write(&x->l.w, r);
    return true;
}

void v1_rules_list(struct web_call *call)
{
    struct why why = { "" };
    struct query q;
    struct cursor after = { .id = 0 };
    struct listing x = { .l = { .w = jsonw_on(&call->output) }, .call = call };
    query_begin(&q, call);
    x.l.limit = query_limit(&q);
    if (query_cursor(&q, &after))
        x.after_id = after.id;
    if (!query_end(&q))
        return;
    v1_list_begin(&x.l.w);
    enum err err = call->db->ops->rules->rules_each(call->db, add_rule, &x, &why);
    if (err)
        problem_err(call, err, &why);
    else
        v1_list_end(call, &x.l.w, x.l.more ? &x.l.last : NULL, x.total, true);
}

void v1_rule_get(struct web_call *call)
{
    struct rule_record r;
    if (!find(call, &r))
        return;
    answer_rule(call, &r);
    rule_record_done(&r);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct looked_for {
    struct slice name;
    bool found;
};

static bool look_at_channel(void *ctx, const struct channel_record *r)
{
    struct looked_for *x = ctx;
    x->found = slice_eq(x->name, r->name);
    return !x->found;
}

/* One of the settings that is told of alarms of rules? */
static bool set_up(const struct web_call *call, struct slice name, bool *ret_by_job)
{
    const char *one;
    bool by_job;
    *ret_by_job = slice_eq(name, ALARM_BY_JOB);
    for (int i = 0; call->config->alarms && alarms_set_up(call->config->alarms, i, &one, &by_job);
         i++)
        if (one && !by_job && slice_eq(name, one))
            return true;
    return false;
}

void rule_json_channel(struct web_call *call, struct slice name, struct problem_errors *errors)
{
    struct looked_for x = { .name = name };
    struct why why = { "" };
    bool by_job;
    if (set_up(call, name, &by_job))
        return;
    if (by_job) {
        problem_error(errors, "/channels", "exists", NULL,
                      "channels: mail is told by alarmEmail of jobs, not by rules: make a channel "
                      "of the kind mail");
        return;
    }
    enum err err = call->db->ops->alarms->channels_each(call->db, look_at_channel, &x, &why);
    if (err)
        problem_error(errors, "/channels", "exists", NULL, "channels: %s", why.text);
    else if (!x.found)
        problem_error(errors, "/channels", "exists", NULL, "channels: there is no channel %.*s",
                      (int)name.n, name.p);
}

static void check_channels(struct web_call *call, const struct rule_record *r,
                           struct problem_errors *errors)
{
    struct slice rest = slice_text(r->channels), one;
    while (slice_item(&rest, &one))
        rule_json_channel(call, one, errors);
}

static void check_place(struct web_call *call, const struct rule_record *r,
                        struct problem_errors *errors)
{
    struct job_record job;
    struct group_record group;
    struct why why = { "" };
    job_record_init(&job);
    if (r->group_id && r->job_id)
        problem_error(errors, "/jobId", "rule.place", NULL,
                      "jobId: a rule is of a group or of a job, not of both");
    else if (r->job_id && call->db->ops->catalog->job_get(call->db, r->job_id, &job, &why))
        problem_error(errors, "/jobId", "exists", NULL, "jobId: %s", why.text);
    else if (r->group_id && call->db->ops->catalog->group_get(call->db, r->group_id, &group, &why))
        problem_error(errors, "/groupId", "exists", NULL, "groupId: %s", why.text);
    else if (r->group_id)
        group_record_done(&group);
    job_record_done(&job);
}

/* The body over what is in r. False: the call is answered. */
static bool read_rule(struct web_call *call, bool is_new, struct rule_record *r)
{
    struct problem_errors errors;
    problem_errors_init(&errors);
    if (rule_json_read(call->json, is_new, r, &errors)) {
        rule_json_kind(r, &errors);
        check_place(call, r, &errors);
        if (body_has(call->json, "channels")) /* a rule that names one that has gone can be turned
                                               * off */
            check_channels(call, r, &errors);
    }
    bool good = errors.n == 0;
    if (!good)
        problem_fields(call, PROBLEM_INVALID, &errors);
    problem_errors_done(&errors);
    return good;
}

/* ---- make, change, delete -------------------------------------------------------------------- */

static void answer_made(struct web_call *call, int64_t id)
{
    struct rule_record r;
    struct why why = { "" };
    enum err err = call->db->ops->rules->rule_get(call->db, id, &r, &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    v1_created(call, "/alarm-rules", id);
    answer_rule(call, &r);
    rule_record_done(&r);
}

void v1_rule_create(struct web_call *call)
{
    struct why why = { "" };
    int64_t id = 0;
    struct rule_record r = {
        .level = RULE_WARNING, .version = 1, .quiet_from = -1, .quiet_to = -1, .enabled = true
    };
    if (read_rule(call, true, &r)) {
        enum err err = rule_add(call->center, &r, audit_new(call, "rule.create"), &id, &why);
        if (err)
            problem_err(call, err, &why);
        else
            answer_made(call, id);
    }
    rule_record_done(&r);
}

/* What an edit came to. */
static void answer_edit(struct web_call *call, enum err err, const struct why *why)
{
    struct rule_record now;
    if (err && err != ERR_OVERTAKEN) {
        problem_err(call, err, why);
    } else if (find(call, &now)) {
        if (err)
            etag_changed(call, tag_of(&now), "the rule");
        else
            answer_rule(call, &now);
        rule_record_done(&now);
    }
}

void v1_rule_update(struct web_call *call)
{
    struct rule_record r;
    struct why why = { "" };
    if (!find(call, &r))
        return;
    if (etag_match(call, tag_of(&r), "the rule") && read_rule(call, false, &r)) {
        enum err err = rule_change(call->center, &r, audit_new(call, "rule.update"), &why);
        answer_edit(call, err, &why);
    }
    rule_record_done(&r);
}

void v1_rule_delete(struct web_call *call)
{
    struct rule_record r;
    struct why why = { "" };
    if (!find(call, &r))
        return;
    if (etag_match(call, tag_of(&r), "the rule")) {
        enum err err =
            rule_remove(call->center, r.id, r.version, audit_new(call, "rule.delete"), &why);
        if (err)
            answer_edit(call, err, &why);
        else
            v1_empty(call);
    }
    rule_record_done(&r);
}
