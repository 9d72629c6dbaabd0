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
#include "api/v1/v1.h"
#include "base/mem.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_MAX ((INT64_C(1) << 53) - 1)

/* ---- writing --------------------------------------------------------------------------------- */

static void number_or_null(struct jsonw *w, const char *key, int64_t v)
{
    if (v > 0)
        jsonw_i64(w, key, v);
    else
        jsonw_null(w, key);
}

static void write_minute(struct jsonw *w, const char *key, int minute)
{
    char text[16];
    snprintf(text, sizeof(text), "%02d:%02d", minute / 60, minute % 60);
    jsonw_text(w, key, text);
}

static void write_quiet(struct jsonw *w, const struct rule_record *r)
{
    if (r->quiet_from < 0) {
        jsonw_null(w, "quiet");
        return;
    }
    jsonw_object(w, "quiet");
    write_minute(w, "from", r->quiet_from);
    write_minute(w, "to", r->quiet_to);
    jsonw_object_end(w);
}

static void write_rule(struct jsonw *w, const struct rule_record *r)
{
    struct slice rest = slice_text(r->channels), one;
    jsonw_object(w, NULL);
    jsonw_i64(w, "id", r->id);
    jsonw_text(w, "name", r->name);
    jsonw_text(w, "kind", rule_kind_text(r->kind));
    jsonw_text(w, "level", rule_level_text(r->level));
    number_or_null(w, "groupId", r->group_id);
    number_or_null(w, "jobId", r->job_id);
    number_or_null(w, "inARow", r->in_a_row);
    number_or_null(w, "longerMs", r->longer_ms);
    jsonw_array(w, "channels");
    while (slice_item(&rest, &one))
        jsonw_slice(w, NULL, one);
    jsonw_array_end(w);
    write_quiet(w, r);
    number_or_null(w, "repeatMs", r->repeat_ms);
    jsonw_bool(w, "enabled", r->enabled);
    v1_instant(w, "created", r->created_ms);
    v1_instant(w, "updated", r->updated_ms);
    jsonw_i64(w, "version", r->version);
    jsonw_object_end(w);
}

static struct etag tag_of(const struct rule_record *r)
{
    return (struct etag){ 'r', r->id, r->version };
}

static void answer_rule(struct web_call *call, const struct rule_record *r)
{
    struct jsonw w = jsonw_on(&call->output);
    etag_write(call, tag_of(r));
    write_rule(&w, r);
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
        write_rule(&x->l.w, r);
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

struct rule_in {
    struct slice name;
    struct body_word kind, level;
    int64_t group_id, job_id, in_a_row, longer_ms, repeat_ms; /* -1: absent */
    struct body_texts channels;
    const struct json_t *quiet; /* NULL: absent */
    bool enabled;
};

#define RULE_FIELDS(new)                                                                            \
    { "name", FIELD_TEXT, offsetof(struct rule_in, name), new, 1, RULE_NAME_MAX },                  \
        { "kind", FIELD_WORD, offsetof(struct rule_in, kind), new, 0, 0 },                          \
        { "level", FIELD_WORD, offsetof(struct rule_in, level), false, 0, 0 },                      \
        { "groupId", FIELD_I64_OR_NULL, offsetof(struct rule_in, group_id), false, 1, ID_MAX },     \
        { "jobId", FIELD_I64_OR_NULL, offsetof(struct rule_in, job_id), false, 1, ID_MAX },         \
        { "inARow", FIELD_I64_OR_NULL, offsetof(struct rule_in, in_a_row), false,                   \
          1,        RULE_IN_A_ROW_MAX },                                                            \
        { "longerMs", FIELD_I64_OR_NULL,  offsetof(struct rule_in, longer_ms),                      \
          false,      RULE_LONGER_MIN_MS, RULE_LONGER_MAX_MS },                                     \
        { "channels", FIELD_TEXTS, offsetof(struct rule_in, channels), new, 1, RULE_CHANNELS_MAX }, \
        { "quiet", FIELD_ANY, offsetof(struct rule_in, quiet), false, 0, 0 },                       \
        { "repeatMs", FIELD_I64_OR_NULL,  offsetof(struct rule_in, repeat_ms),                      \
          false,      RULE_REPEAT_MIN_MS, RULE_REPEAT_MAX_MS },                                     \
    {                                                                                               \
        "enabled", FIELD_BOOL, offsetof(struct rule_in, enabled), false, 0, 0                       \
    }

static const struct body_field new_fields[] = { RULE_FIELDS(true) };
static const struct body_field patch_fields[] = { RULE_FIELDS(false) };

/* A member that is null stands for none; one that is absent leaves what there is. */
static void put_number(const struct web_call *call, const char *name, int64_t v, int64_t *to)
{
    if (v >= 0)
        *to = v;
    else if (body_has(call->json, name))
        *to = 0;
}

static bool control_in(struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
            return true;
    return false;
}

static void read_channels(const struct body_texts *in, struct rule_record *r,
                          struct problem_errors *errors)
{
    struct buf b = BUF_INIT((RULE_CHANNELS_MAX + 1) * 4 * (RULE_CHANNEL_MAX + 1));
    if (!in->array)
        return;
    for (size_t i = 0; i < in->n; i++) {
        struct slice name = body_text(in, i);
        bool bad = memchr(name.p, ',', name.n) || control_in(name) ||
                   slice_trim(name).n != name.n || name.n > RULE_CHANNEL_MAX;
        if (bad)
            problem_error(errors, "/channels", "channel.name", NULL,
                          "channels: %.*s: the name of a channel has at most %d bytes, no comma, "
                          "no control characters, and no blanks around it",
                          (int)utf8_cut(name.p, name.n, 40), name.p, RULE_CHANNEL_MAX);
        if (slice_has_item(slice_of(b.data, b.len), name))
            problem_error(errors, "/channels", "list.unique", NULL, "channels: %.*s comes twice",
                          (int)utf8_cut(name.p, name.n, 40), name.p);
        buf_printf(&b, "%s%.*s", i ? "," : "", (int)name.n, name.p);
    }
    free(r->channels);
    r->channels = buf_take(&b);
}

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

static void check_channel(struct web_call *call, struct slice name, struct problem_errors *errors)
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
        check_channel(call, one, errors);
}

/* "22:30". False: it is no time of day. */
static bool read_minute(const json_t *v, int *ret)
{
    const char *s = json_is_string(v) ? json_string_value(v) : "";
    int hour, minute;
    if (strlen(s) != 5 || s[2] != ':' || !parse_int(slice_of(s, 2), &hour) ||
        !parse_int(slice_of(s + 3, 2), &minute) || hour < 0 || hour > 23 || minute < 0 ||
        minute > 59)
        return false;
    *ret = hour * 60 + minute;
    return true;
}

static void read_quiet(const struct json_t *v, struct rule_record *r, struct problem_errors *errors)
{
    r->quiet_from = r->quiet_to = -1;
    if (json_is_null(v))
        return;
    if (!json_is_object(v) || json_object_size(v) != 2 ||
        !read_minute(json_object_get(v, "from"), &r->quiet_from) ||
        !read_minute(json_object_get(v, "to"), &r->quiet_to))
        problem_error(
            errors, "/quiet", "rule.quiet", NULL,
            "quiet: must be null, or an object of from and to, times of day as \"22:30\"");
    else if (r->quiet_from == r->quiet_to)
        problem_error(errors, "/quiet", "rule.quiet", NULL,
                      "quiet: from and to must differ; enabled: false turns a rule off");
}

/* What a kind needs, and what it has no use for. */
static void check_kind(struct rule_record *r, struct problem_errors *errors)
{
    if (r->kind == RULE_FAILED && !r->in_a_row)
        r->in_a_row = 1;
    if (r->kind != RULE_FAILED && r->in_a_row)
        problem_error(errors, "/inARow", "rule.kind", NULL,
                      "inARow: is only for rules of the kind failed");
    bool limit = r->kind == RULE_SLOW || r->kind == RULE_LATE;
    if (limit && !r->longer_ms)
        problem_error(errors, "/longerMs", "required", NULL,
                      "longerMs: a rule of the kind %s needs it", rule_kind_text(r->kind));
    if (!limit && !rule_watches(r->kind) && r->longer_ms)
        problem_error(errors, "/longerMs", "rule.kind", NULL,
                      "longerMs: is not for rules of the kind %s", rule_kind_text(r->kind));
    if (rule_watches(r->kind) && r->kind != RULE_LATE && r->job_id)
        problem_error(errors, "/jobId", "rule.kind", NULL, "jobId: is not for rules of the kind %s",
                      rule_kind_text(r->kind));
    if (r->kind == RULE_CENTER && r->group_id)
        problem_error(errors, "/groupId", "rule.kind", NULL,
                      "groupId: is not for rules of the kind center");
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

static void put(struct web_call *call, const struct rule_in *in, struct rule_record *r,
                struct problem_errors *errors)
{
    if (in->name.p) {
        free(r->name);
        r->name = mem_dupn(in->name.p, in->name.n);
        if (control_in(in->name))
            problem_error(errors, "/name", "text.control", NULL,
                          "name: must have no control characters");
    }
    if (in->kind.text.p)
        (void)!rule_kind_of(in->kind.text, &r->kind);
    if (in->level.text.p)
        (void)!rule_level_of(in->level.text, &r->level);
    put_number(call, "groupId", in->group_id, &r->group_id);
    put_number(call, "jobId", in->job_id, &r->job_id);
    int64_t in_a_row = r->in_a_row;
    put_number(call, "inARow", in->in_a_row, &in_a_row);
    r->in_a_row = (int)in_a_row;
    put_number(call, "longerMs", in->longer_ms, &r->longer_ms);
    put_number(call, "repeatMs", in->repeat_ms, &r->repeat_ms);
    read_channels(&in->channels, r, errors);
    if (in->quiet)
        read_quiet(in->quiet, r, errors);
    r->enabled = in->enabled;
}

/* The body over what is in r. False: the call is answered. */
static bool read_rule(struct web_call *call, const struct body_field *fields, size_t n,
                      struct rule_record *r)
{
    struct rule_in in = { .kind = { .words =
                                        "failed,recovered,slow,stopped,late,empty,gone,center" },
                          .level = { .words = "info,warning,critical" },
                          .group_id = -1,
                          .job_id = -1,
                          .in_a_row = -1,
                          .longer_ms = -1,
                          .repeat_ms = -1,
                          .enabled = r->enabled };
    struct problem_errors errors;
    problem_errors_init(&errors);
    body_fields(call->json, fields, n, &in, &errors);
    put(call, &in, r, &errors);
    if (!errors.n) {
        check_kind(r, &errors);
        check_place(call, r, &errors);
        if (in.channels.array) /* a rule that names one that has gone can be turned off */
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
    if (read_rule(call, new_fields, countof(new_fields), &r)) {
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
    if (etag_match(call, tag_of(&r), "the rule") &&
        read_rule(call, patch_fields, countof(patch_fields), &r)) {
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
