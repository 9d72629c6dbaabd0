/* SPDX-License-Identifier: Apache-2.0 */
/* Channels and rules of a file. A channel is found by its name, a rule by its name as well, which
 * has to be the only one. Files have no secrets: what a channel has stays, and one that is made
 * needs them in the file's settings. Rules may be about groups and jobs that the same file makes,
 * so they are written behind these, where their ids are known. */
#include "alarm/settings.h"
#include "api/v1/channel_json.h"
#include "api/v1/import.h"
#include "api/v1/rule_json.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULE_JSON_MAX (1u << 20) /* bytes */
#define LATER INT64_MAX          /* in place of an id that the transaction gives */

static const char *text_of(const json_t *o, const char *name)
{
    const char *text = json_string_value(json_object_get(o, name));
    return text ? text : "";
}

static struct import_alarm *add_step(struct import *x, bool of_rule, int item)
{
    x->alarms = mem_resize(x->alarms, ((size_t)x->nalarms + 1) * sizeof(*x->alarms));
    struct import_alarm *a = &x->alarms[x->nalarms++];
    *a =
        (struct import_alarm){ .of_rule = of_rule, .item = item, .group_step = -1, .job_item = -1 };
    a->changes = json_array();
    return a;
}

static void drop_last(struct import *x)
{
    struct import_alarm *a = &x->alarms[--x->nalarms];
    json_decref(a->changes);
    channel_record_done(&a->channel);
    rule_record_done(&a->rule);
}

void import_alarms_done(struct import *x)
{
    while (x->nalarms)
        drop_last(x);
    for (int i = 0; i < x->nchannels; i++)
        channel_record_done(&x->channels[i]);
    for (int i = 0; i < x->nrules; i++)
        rule_record_done(&x->found_rules[i]);
    free(x->alarms);
    free(x->channels);
    free(x->found_rules);
}

/* ---- what there is --------------------------------------------------------------------------- */

static bool add_channel(void *ctx, const struct channel_record *r)
{
    struct import *x = ctx;
    x->channels = mem_resize(x->channels, ((size_t)x->nchannels + 1) * sizeof(*x->channels));
    x->channels[x->nchannels] = (struct channel_record){ .id = 0 };
    channel_record_copy(&x->channels[x->nchannels++], r);
    return true;
}

static bool add_rule(void *ctx, const struct rule_record *r)
{
    struct import *x = ctx;
    x->found_rules = mem_resize(x->found_rules, ((size_t)x->nrules + 1) * sizeof(*x->found_rules));
    x->found_rules[x->nrules] = (struct rule_record){ .id = 0 };
    rule_record_copy(&x->found_rules[x->nrules++], r);
    return true;
}

static const struct channel_record *channel_of(const struct import *x, const char *name)
{
    for (int i = 0; i < x->nchannels; i++)
        if (strcmp(x->channels[i].name, name) == 0)
            return &x->channels[i];
    return NULL;
}

/* How many have that name; one of them. */
static int rules_of(const struct import *x, const char *name, const struct rule_record **ret)
{
    int n = 0;
    for (int i = 0; i < x->nrules; i++) {
        if (strcmp(x->found_rules[i].name, name) != 0)
            continue;
        *ret = &x->found_rules[i];
        n++;
    }
    return n;
}

/* ---- channels -------------------------------------------------------------------------------- */

/* With its secrets, which are compared and not told. */
static json_t *settings_json(const struct channel_record *r)
{
    json_t *to = json_object();
    struct settings s;
    struct why why = { "" };
    if (settings_read(r->kind, r->settings, &s, &why)) /* damaged: it has none */
        return to;
    for (int i = 0; i < s.kind->nfields; i++)
        if (s.values.v[s.kind->fields[i].value])
            json_object_set_new(to, s.kind->fields[i].name,
                                json_string(s.values.v[s.kind->fields[i].value]));
    settings_free(&s);
    return to;
}

/* A channel without a secret that its file names would sign nothing, or be let in nowhere. */
static bool secrets_there(struct import *x, const json_t *want, int item)
{
    const json_t *one;
    size_t i;
    json_array_foreach(json_object_get(want, "secrets"), i, one)
    {
        const char *name = json_string_value(one);
        if (*text_of(json_object_get(want, "settings"), name))
            continue;
        problem_error(import_fault(x, PROBLEM_INVALID, IMPORT_CHANNELS, item), "/secrets",
                      "channel.secret", NULL,
                      "secrets: files have none: put %.60s into settings, or make the channel "
                      "before the import",
                      name);
        return false;
    }
    return true;
}

static void make_channel(struct import *x, const json_t *want, int item)
{
    static const char *const members[] = { "name", "kind", "enabled", "perMinute", "settings" };
    struct import_alarm *a = add_step(x, false, item);
    json_t *body = json_object();
    a->channel.enabled = true;
    for (size_t i = 0; i < countof(members); i++)
        if (json_object_get(want, members[i]))
            json_object_set(body, members[i], json_object_get(want, members[i]));
    if (!json_object_get(body, "settings"))
        json_object_set_new(body, "settings", json_object());
    if (secrets_there(x, want, item))
        (void)!channel_json_read(body, true, &a->channel,
                                 import_fault(x, PROBLEM_INVALID, IMPORT_CHANNELS, item));
    json_decref(body);
}

/* The body of what differs; owned. */
static json_t *compare_channel(struct import_alarm *a, const json_t *want)
{
    static const char *const members[] = { "enabled", "perMinute" };
    const struct channel_record *r = &a->channel;
    json_t *have = json_pack("{sb so}", "enabled", r->enabled, "perMinute",
                             r->per_minute ? json_integer(r->per_minute) : json_null());
    json_t *body = import_differ(a->changes, want, have, "", members, countof(members));
    json_t *now = settings_json(r);
    json_t *inner =
        import_differ(a->changes, json_object_get(want, "settings"), now, "settings", NULL, 0);
    if (json_object_size(inner))
        json_object_set(body, "settings", inner);
    json_decref(inner);
    json_decref(now);
    json_decref(have);
    return body;
}

static void change_channel(struct import *x, const json_t *want, int item,
                           const struct channel_record *is)
{
    if (strcmp(is->kind, text_of(want, "kind")) != 0) {
        problem_error(import_fault(x, PROBLEM_INVALID, IMPORT_CHANNELS, item), "/kind",
                      "channel.kind", NULL,
                      "kind: the channel is of the kind %s, and another kind has other settings: "
                      "delete it first",
                      is->kind);
        return;
    }
    struct import_alarm *a = add_step(x, false, item);
    channel_record_copy(&a->channel, is);
    json_t *body = compare_channel(a, want);
    if (json_object_size(body)) {
        (void)!channel_json_read(body, false, &a->channel,
                                 import_fault(x, PROBLEM_INVALID, IMPORT_CHANNELS, item));
    } else {
        drop_last(x);
        x->same++;
    }
    json_decref(body);
}

static void plan_channel(struct import *x, const json_t *want, int item)
{
    const struct channel_record *is = channel_of(x, text_of(want, "name"));
    if (!import_allowed(x, PERM_SYSTEM_ADMIN, 0, IMPORT_CHANNELS, item))
        return;
    if (is)
        change_channel(x, want, item, is);
    else
        make_channel(x, want, item);
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void rule_fault(struct import *x, int item, const char *field, const char *rule,
                       const char *format, const char *name)
{
    problem_error(import_fault(x, PROBLEM_INVALID, IMPORT_RULES, item), field, rule, NULL, format,
                  name);
}

/* The group that the rule is about. False: told. */
static bool find_group(struct import *x, struct import_alarm *a, const char *app)
{
    const json_t *step = json_object_get(x->file_groups, app);
    int64_t id;
    enum import_found found = import_group(x, app, &id);
    a->app = app;
    a->rule.group_id = id;
    if (found == IMPORT_NONE && json_integer_value(step) >= 0 && step) {
        a->group_step = (int)json_integer_value(step);
        a->rule.group_id = LATER;
        return true;
    }
    if (found == IMPORT_NONE)
        rule_fault(x, a->item, "/group", "group.exists",
                   "there is no group %.64s, and no file makes it", app);
    if (found == IMPORT_SEVERAL)
        rule_fault(x, a->item, "/group", "name.unclear", "several groups have the app name %.64s",
                   app);
    return found == IMPORT_ONE;
}

static bool find_job(struct import *x, struct import_alarm *a, const json_t *ref)
{
    const char *app = text_of(ref, "group"), *name = text_of(ref, "name");
    const json_t *item = json_object_get(json_object_get(x->file_jobs, app), name);
    enum import_found found = import_job(x, app, name, &a->rule.job_id);
    a->app = app;
    if (found == IMPORT_NONE && item) {
        a->job_item = (int)json_integer_value(item);
        a->rule.job_id = LATER;
        return true;
    }
    if (found == IMPORT_NONE)
        rule_fault(x, a->item, "/job", "job.exists",
                   "there is no job %.100s in its group, and no file makes it", name);
    if (found == IMPORT_SEVERAL)
        rule_fault(x, a->item, "/job", "name.unclear", "several jobs of its group are named %.100s",
                   name);
    return found == IMPORT_ONE;
}

/* What the file says that the rule is about; what it does not say stays. False: told. */
static bool find_place(struct import *x, struct import_alarm *a, const json_t *want)
{
    const json_t *group = json_object_get(want, "group"), *job = json_object_get(want, "job");
    int64_t was_group = a->rule.group_id, was_job = a->rule.job_id;
    bool good = true;
    if (json_is_string(group) && json_is_object(job)) {
        rule_fault(x, a->item, "/job", "rule.place",
                   "%s: a rule is of a group or of a job, not of both", "job");
        return false;
    }
    if (group)
        a->rule.group_id = 0;
    if (job)
        a->rule.job_id = 0;
    if (json_is_string(group))
        good = find_group(x, a, json_string_value(group));
    if (json_is_object(job))
        good = find_job(x, a, job);
    if (json_is_string(group) || json_is_object(job)) { /* it is about that, and nothing else */
        a->rule.group_id = json_is_string(group) ? a->rule.group_id : 0;
        a->rule.job_id = json_is_object(job) ? a->rule.job_id : 0;
    }
    if (a->rule.id && a->rule.group_id != was_group)
        import_note(a->changes, "", "group");
    if (a->rule.id && a->rule.job_id != was_job)
        import_note(a->changes, "", "job");
    return good;
}

/* Those that are there, and those that the file makes. */
static void check_channels(struct import *x, const struct import_alarm *a)
{
    const json_t *channels = json_object_get(x->doc, "channels"), *one;
    struct slice rest = slice_text(a->rule.channels), name;
    size_t i;
    while (slice_item(&rest, &name)) {
        bool made = false;
        json_array_foreach(channels, i, one)
        {
            made |= slice_eq(name, text_of(one, "name"));
        }
        if (!made)
            rule_json_channel(x->call, name,
                              import_fault(x, PROBLEM_INVALID, IMPORT_RULES, a->item));
    }
}

static json_t *rule_json(const struct rule_record *r)
{
    struct buf b = BUF_INIT(RULE_JSON_MAX);
    struct jsonw w = jsonw_on(&b);
    rule_json_write(&w, r);
    json_t *doc = json_loadb(b.data, b.len, 0, NULL);
    buf_done(&b);
    return doc;
}

/* The members of the file that the rule does not have like that; all, of one that is made. */
static json_t *rule_body(struct import_alarm *a, const json_t *want)
{
    static const char *const members[] = { "name",     "kind",  "level",    "inARow", "longerMs",
                                           "channels", "quiet", "repeatMs", "enabled" };
    json_t *have = a->rule.id ? rule_json(&a->rule) : json_object();
    json_t *body = import_differ(a->changes, want, have, "", members, countof(members));
    json_decref(have);
    if (!a->rule.id)
        json_array_clear(a->changes);
    return body;
}

static void read_rule(struct import *x, struct import_alarm *a, const json_t *want)
{
    json_t *body = rule_body(a, want);
    bool channels = json_object_get(body, "channels") != NULL;
    if (find_place(x, a, want)) {
        struct problem_errors *errors = import_fault(x, PROBLEM_INVALID, IMPORT_RULES, a->item);
        if (rule_json_read(body, !a->rule.id, &a->rule, errors))
            rule_json_kind(&a->rule, errors);
        if (channels)
            check_channels(x, a);
    }
    json_decref(body);
}

static bool named_before(const json_t *rules, size_t item, const char *name)
{
    for (size_t i = 0; i < item; i++)
        if (strcmp(text_of(json_array_get(rules, i), "name"), name) == 0)
            return true;
    return false;
}

static void plan_rule(struct import *x, const json_t *want, int item)
{
    const char *name = text_of(want, "name");
    const struct rule_record *is = NULL;
    int before = x->errors.n;
    if (!import_allowed(x, PERM_SYSTEM_ADMIN, 0, IMPORT_RULES, item))
        return;
    bool twice = named_before(json_object_get(x->doc, "rules"), (size_t)item, name);
    if (rules_of(x, name, &is) > 1 || twice) {
        problem_error(import_fault(x, PROBLEM_CONFLICT, IMPORT_RULES, item), "", "name.unclear",
                      NULL, "%s several rules of that name",
                      twice ? "the file has" : "the center has");
        return;
    }
    struct import_alarm *a = add_step(x, true, item);
    a->rule = (struct rule_record){
        .level = RULE_WARNING, .version = 1, .quiet_from = -1, .quiet_to = -1, .enabled = true
    };
    if (is)
        rule_record_copy(&a->rule, is);
    read_rule(x, a, want);
    if (is && x->errors.n == before && !json_array_size(a->changes)) {
        drop_last(x);
        x->same++;
    }
}

void import_alarms_plan(struct import *x)
{
    const json_t *channels = json_object_get(x->doc, "channels"), *one;
    const json_t *rules = json_object_get(x->doc, "rules");
    struct store *db = x->call->db;
    size_t i;
    if (!json_array_size(channels) && !json_array_size(rules))
        return;
    if (!import_fits(x, IMPORT_CHANNELS, json_array_size(channels), CHANNELS_MAX) ||
        !import_fits(x, IMPORT_RULES, json_array_size(rules), RULES_MAX))
        return;
    x->err = db->ops->alarms->channels_each(db, add_channel, x, &x->why);
    if (!x->err)
        x->err = db->ops->rules->rules_each(db, add_rule, x, &x->why);
    json_array_foreach(channels, i, one)
    {
        if (!x->err)
            plan_channel(x, one, (int)i);
    }
    json_array_foreach(rules, i, one)
    {
        if (!x->err)
            plan_rule(x, one, (int)i);
    }
}
