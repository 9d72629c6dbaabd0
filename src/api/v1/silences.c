/* SPDX-License-Identifier: Apache-2.0 */
/* Silences of alarms as a resource: who may run a group's jobs may silence its alarms; all groups
 * at once are for administrators. */
#include "api/body.h"
#include "api/gate.h"
#include "api/rules.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"

#define ID_MAX ((INT64_C(1) << 53) - 1)

/* ---- writing --------------------------------------------------------------------------------- */

static void id_or_null(struct jsonw *w, const char *key, int64_t id)
{
    if (id > 0)
        jsonw_i64(w, key, id);
    else
        jsonw_null(w, key);
}

static void write_silence(struct jsonw *w, const struct silence_record *r, int64_t now_ms)
{
    jsonw_object(w, NULL);
    jsonw_i64(w, "id", r->id);
    id_or_null(w, "groupId", r->group_id);
    id_or_null(w, "jobId", r->job_id);
    id_or_null(w, "ruleId", r->rule_id);
    v1_instant(w, "from", r->from_ms);
    v1_instant(w, "until", r->until_ms);
    jsonw_bool(w, "active", now_ms >= r->from_ms && now_ms < r->until_ms);
    jsonw_text(w, "reason", r->reason);
    jsonw_text(w, "by", r->by);
    v1_instant(w, "created", r->made_ms);
    jsonw_object_end(w);
}

/* ---- list ------------------------------------------------------------------------------------ */

struct listing {
    struct v1_listing l;
    const struct scope *scope;
    int64_t after_id, total, now_ms;
};

static bool add_silence(void *ctx, const struct silence_record *r)
{
    struct listing *x = ctx;
    if (r->group_id && !scope_has(x->scope, r->group_id))
        return true;
    x->total++;
    if (r->id > x->after_id && !x->l.more && v1_listing_takes(&x->l, r->id))
        write_silence(&x->l.w, r, x->now_ms);
    return true;
}

void v1_silences_list(struct web_call *call)
{
    struct why why = { "" };
    struct query q;
    struct cursor after = { .id = 0 };
    struct listing x = { .l = { .w = jsonw_on(&call->output) },
                         .scope = actor_scope(call->actor, PERM_READ),
                         .now_ms = clock_wall_ms() };
    query_begin(&q, call);
    x.l.limit = query_limit(&q);
    if (query_cursor(&q, &after))
        x.after_id = after.id;
    if (!query_end(&q))
        return;
    v1_list_begin(&x.l.w);
    enum err err = call->db->ops->rules->silences_each(call->db, add_silence, &x, &why);
    if (err)
        problem_err(call, err, &why);
    else
        v1_list_end(call, &x.l.w, x.l.more ? &x.l.last : NULL, x.total, true);
}

/* ---- make ------------------------------------------------------------------------------------ */

struct silence_in {
    int64_t group_id, job_id, rule_id, from_ms, until_ms;
    struct slice reason;
};

static const struct body_field fields[] = {
    { "groupId", FIELD_I64_OR_NULL, offsetof(struct silence_in, group_id), false, 1, ID_MAX },
    { "jobId", FIELD_I64_OR_NULL, offsetof(struct silence_in, job_id), false, 1, ID_MAX },
    { "ruleId", FIELD_I64_OR_NULL, offsetof(struct silence_in, rule_id), false, 1, ID_MAX },
    { "fromMs", FIELD_I64, offsetof(struct silence_in, from_ms), false, 0, ID_MAX },
    { "untilMs", FIELD_I64, offsetof(struct silence_in, until_ms), true, 0, ID_MAX },
    { "reason", FIELD_TEXT, offsetof(struct silence_in, reason), true, 1, SILENCE_REASON_MAX },
};

static void check_place(struct web_call *call, const struct silence_in *in,
                        struct problem_errors *errors)
{
    struct rule_record rule;
    struct group_record group;
    struct why why = { "" };
    if (in->group_id && call->db->ops->catalog->group_get(call->db, in->group_id, &group, &why))
        problem_error(errors, "/groupId", "exists", NULL, "groupId: %s", why.text);
    else if (in->group_id)
        group_record_done(&group);
    why_clear(&why);
    if (in->rule_id && call->db->ops->rules->rule_get(call->db, in->rule_id, &rule, &why))
        problem_error(errors, "/ruleId", "exists", NULL, "ruleId: %s", why.text);
    else if (in->rule_id)
        rule_record_done(&rule);
}

static void check(struct web_call *call, const struct silence_in *in, int64_t now_ms,
                  struct problem_errors *errors)
{
    bool control = false;
    for (size_t i = 0; i < in->reason.n; i++)
        control |= (unsigned char)in->reason.p[i] < ' ' || in->reason.p[i] == 0x7f;
    if (control)
        problem_error(errors, "/reason", "text.control", NULL,
                      "reason: must have no control characters");
    if (in->until_ms <= now_ms || in->until_ms <= in->from_ms)
        problem_error(errors, "/untilMs", "silence.times", NULL,
                      "untilMs: must be in the future, and after fromMs");
    else if (in->until_ms - now_ms > SILENCE_MAX_MS)
        problem_error(errors, "/untilMs", "silence.times", NULL,
                      "untilMs: a silence ends within 90 days from now");
    check_place(call, in, errors);
}

/* A silence of a job is one of its group as well, for who may see and end it. */
static void find_group(struct web_call *call, struct silence_in *in, struct problem_errors *errors)
{
    struct job_record job;
    struct why why = { "" };
    job_record_init(&job);
    if (in->job_id && in->group_id)
        problem_error(errors, "/jobId", "silence.place", NULL,
                      "jobId: a silence is of a group or of a job, not of both");
    else if (in->job_id && call->db->ops->catalog->job_get(call->db, in->job_id, &job, &why))
        problem_error(errors, "/jobId", "exists", NULL, "jobId: %s", why.text);
    else if (in->job_id)
        in->group_id = job.group_id;
    job_record_done(&job);
}

/* May the asker silence these? False: the call is answered. */
static bool allowed(struct web_call *call, int64_t group_id)
{
    return group_id ? gate_group_for(call, PERM_RUN, group_id, "group", group_id)
                    : gate_has(call, PERM_SYSTEM_ADMIN);
}

static void make(struct web_call *call, const struct silence_in *in, int64_t now_ms)
{
    struct why why = { "" };
    struct silence_record r = { .group_id = in->group_id,
                                .job_id = in->job_id,
                                .rule_id = in->rule_id,
                                .from_ms = in->from_ms,
                                .until_ms = in->until_ms,
                                .made_ms = now_ms,
                                .reason = mem_dupn(in->reason.p, in->reason.n),
                                .by = mem_dup(call->user.username) };
    enum err err = silence_add(call->center, &r, audit_new(call, "silence.create"), &r.id, &why);
    if (err) {
        problem_err(call, err, &why);
    } else {
        struct jsonw w = jsonw_on(&call->output);
        v1_created(call, "/alarm-silences", r.id);
        write_silence(&w, &r, now_ms);
    }
    silence_record_done(&r);
}

void v1_silence_create(struct web_call *call)
{
    int64_t now_ms = clock_wall_ms();
    struct silence_in in = { .from_ms = now_ms };
    struct problem_errors errors;
    problem_errors_init(&errors);
    body_fields(call->json, fields, countof(fields), &in, &errors);
    if (!errors.n)
        find_group(call, &in, &errors);
    if (!errors.n && !allowed(call, in.group_id)) {
        problem_errors_done(&errors);
        return;
    }
    if (!errors.n)
        check(call, &in, now_ms, &errors);
    if (errors.n)
        problem_fields(call, PROBLEM_INVALID, &errors);
    else
        make(call, &in, now_ms);
    problem_errors_done(&errors);
}

/* ---- end ------------------------------------------------------------------------------------- */

struct wanted {
    int64_t id, group_id;
    bool found;
};

static bool look(void *ctx, const struct silence_record *r)
{
    struct wanted *x = ctx;
    x->found = r->id == x->id;
    x->group_id = r->group_id;
    return !x->found;
}

void v1_silence_delete(struct web_call *call)
{
    struct why why = { "" };
    struct wanted x = { .id = call->params.items[0].number };
    enum err err = call->db->ops->rules->silences_each(call->db, look, &x, &why);
    if (!err && !x.found) {
        why_set(&why, "silence %lld does not exist", (long long)x.id);
        err = ERR_NOTFOUND;
    }
    if (!err && !allowed(call, x.group_id))
        return;
    if (!err)
        err = silence_end(call->center, x.id, audit_new(call, "silence.delete"), &why);
    if (err)
        problem_err(call, err, &why);
    else
        v1_empty(call);
}
