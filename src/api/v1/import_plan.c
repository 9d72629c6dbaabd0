/* SPDX-License-Identifier: Apache-2.0 */
/* A thing is compared member by member with what the file says of it; what the file does not say
 * stays. Only members that differ are looked at by the rules, so that a file of what there is
 * changes nothing, whatever the rules of today are. */
#include "api/v1/import.h"
#include "api/edits.h"
#include "api/scripts.h"
#include "api/v1/consequences.h"
#include "api/v1/group_page.h"
#include "api/v1/job_json.h"
#include "base/mem.h"
#include "wire/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_MAX (8u << 20) /* bytes of one job or group */

static const char *text_of(const json_t *o, const char *name)
{
    const char *text = json_string_value(json_object_get(o, name));
    return text ? text : "";
}

static void unclear(struct import *x, enum import_list list, int item, const char *what)
{
    problem_error(import_fault(x, PROBLEM_CONFLICT, list, item), "", "name.unclear", NULL,
                  "the center has several %ss of that name", what);
}

static struct import_step *add_step(struct import *x, enum import_action action, const char *app,
                                    const char *name)
{
    if (x->n == x->room) {
        x->room = x->room ? 2 * x->room : 64;
        x->steps = mem_resize(x->steps, (size_t)x->room * sizeof(*x->steps));
    }
    struct import_step *s = &x->steps[x->n++];
    *s = (struct import_step){
        .action = action, .of_job = name != NULL, .item = -1, .group_step = -1
    };
    s->app = mem_dup(app);
    s->name = mem_dup(name);
    s->changes = json_array();
    job_record_init(&s->was);
    job_record_init(&s->now);
    return s;
}

static void step_done(struct import_step *s)
{
    free(s->app);
    free(s->name);
    free(s->children);
    json_decref(s->changes);
    edit_free(s->edit);
    job_record_done(&s->was);
    job_record_done(&s->now);
}

static void drop_last(struct import *x)
{
    step_done(&x->steps[--x->n]);
}

void import_done(struct import *x)
{
    while (x->n)
        drop_last(x);
    free(x->steps);
    import_alarms_done(x);
    import_users_done(x);
    json_decref(x->groups);
    json_decref(x->file_jobs);
    json_decref(x->file_groups);
    json_decref(x->pruned);
    problem_errors_done(&x->errors);
}

static json_t *read_back(struct buf *b)
{
    json_t *doc = json_loadb(b->data, b->len, 0, NULL);
    buf_done(b);
    return doc;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static json_t *group_json(const struct group_record *g)
{
    const struct group_live none = { .jobs = 0 };
    struct buf b = BUF_INIT(JSON_MAX);
    struct jsonw w = jsonw_on(&b);
    group_write(&w, g, &none, 0);
    return read_back(&b);
}

static void make_group(struct import *x, const json_t *want, int item)
{
    const char *app = text_of(want, "app");
    if (!import_allowed(x, PERM_EXECUTORS_WRITE, 0, IMPORT_GROUPS, item))
        return;
    struct import_step *s = add_step(x, IMPORT_MAKE, app, NULL);
    s->item = item;
    s->edit = edit_new(EDIT_GROUP_INSERT);
    json_object_set_new(x->file_groups, app, json_integer(x->n - 1));
    (void)!group_json_read(want, true, &s->edit->group,
                           import_fault(x, PROBLEM_INVALID, IMPORT_GROUPS, item));
}

static void change_group(struct import *x, const json_t *want, int item, int64_t id)
{
    static const char *const members[] = { "title", "addressing", "addresses" };
    struct import_step *s = add_step(x, IMPORT_CHANGE, text_of(want, "app"), NULL);
    struct edit *e = s->edit = edit_new(EDIT_GROUP_UPDATE);
    s->item = item;
    s->id = e->id = id;
    x->err = x->call->db->ops->catalog->group_get(x->call->db, id, &e->group, &x->why);
    if (x->err)
        return;
    group_record_copy(&e->was, &e->group);
    json_t *have = group_json(&e->group);
    json_t *body = import_differ(s->changes, want, have, "", members, countof(members));
    if (!json_object_size(body)) {
        drop_last(x);
        x->same++;
    } else if (import_allowed(x, PERM_EXECUTORS_WRITE, id, IMPORT_GROUPS, item)) {
        if (json_object_get(body, "addressing") && json_object_get(want, "addresses"))
            json_object_set(body, "addresses", json_object_get(want, "addresses"));
        (void)!group_json_read(body, false, &e->group,
                               import_fault(x, PROBLEM_INVALID, IMPORT_GROUPS, item));
    }
    json_decref(body);
    json_decref(have);
}

static void plan_group(struct import *x, const json_t *want, int item)
{
    int64_t id;
    json_object_set_new(x->file_groups, text_of(want, "app"), json_integer(-1));
    switch (import_group(x, text_of(want, "app"), &id)) {
    case IMPORT_SEVERAL:
        unclear(x, IMPORT_GROUPS, item, "group");
        break;
    case IMPORT_NONE:
        make_group(x, want, item);
        break;
    default:
        change_group(x, want, item, id);
    }
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static json_t *job_json(struct job_record *r)
{
    struct buf b = BUF_INIT(JSON_MAX);
    struct jsonw w = jsonw_on(&b);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "owner", r->author ? r->author : "");
    job_json_object(&w, "schedule", r);
    job_json_object(&w, "task", r);
    job_json_object(&w, "running", r);
    job_json_emails(&w, r);
    jsonw_object_end(&w);
    return read_back(&b);
}

/* Put what the rules said into place. */
static void rules_said(struct import *x, enum err err)
{
    if (err && err != ERR_INVALID)
        x->err = err;
}

static void fault_of(struct import *x, const struct import_step *s, const char *field,
                     const char *rule, const char *text)
{
    problem_error(import_fault(x, PROBLEM_INVALID, IMPORT_JOBS, s->item), field, rule, NULL, "%s",
                  text);
}

static void make_job(struct import *x, struct import_step *s, const json_t *want, int64_t group_id)
{
    static const char *const elsewhere[] = { "group", "state", "children" };
    struct edit *e = s->edit = edit_new(EDIT_JOB_INSERT);
    json_t *body = json_copy((json_t *)want);
    bool script = json_string_length(json_object_get(want, "script")) > 0;
    for (size_t i = 0; i < countof(elsewhere); i++)
        json_object_del(body, elsewhere[i]);
    if (group_id)
        json_object_set_new(body, "groupId", json_integer(group_id));
    if (strcmp(text_of(want, "state"), "scheduled") == 0)
        json_object_set_new(body, "start", json_true());
    if (import_allowed(x, PERM_JOBS_WRITE, group_id, IMPORT_JOBS, s->item) &&
        (!script || import_allowed(x, PERM_SCRIPTS_WRITE, group_id, IMPORT_JOBS, s->item))) {
        struct job_rules rules = x->rules;
        rules.group_later = true;
        rules_said(x, job_json_insert(body, &rules, &e->job,
                                      import_fault(x, PROBLEM_INVALID, IMPORT_JOBS, s->item),
                                      &x->why));
    }
    if (script_has(&e->job) && e->job.glue_source && e->job.glue_source[0])
        script_first(e);
    json_decref(body);
}

/* The body of what differs; owned. */
static json_t *compare(struct import_step *s, const json_t *want)
{
    static const char *const members[] = { "owner", "alarmEmails" };
    static const char *const objects[] = { "schedule", "task", "running" };
    json_t *have = job_json(&s->was),
           *body = import_differ(s->changes, want, have, "", members, countof(members));
    for (size_t i = 0; i < countof(objects); i++) {
        const char *name = objects[i];
        json_t *inner = import_differ(s->changes, json_object_get(want, name),
                                      json_object_get(have, name), name, NULL, 0);
        if (json_object_size(inner))
            json_object_set(body, name, inner);
        json_decref(inner);
    }
    json_decref(have);
    return body;
}

static bool compare_script(struct import *x, struct import_step *s, const json_t *want)
{
    const char *script = json_string_value(json_object_get(want, "script"));
    const char *now = s->was.glue_source;
    if (!script)
        return false;
    if (!script_has(&s->was))
        fault_of(x, s, "/script", "job.kind", "the job is of a kind that has no script");
    else if (!*script)
        fault_of(x, s, "/script", "text.empty", "must not be empty");
    else if (strcmp(script, now ? now : "") != 0) {
        import_note(s->changes, "", "script");
        return true;
    }
    return false;
}

/* The same ids, in any order. */
static bool same_children(const struct import_step *s)
{
    struct slice rest = slice_text(s->was.children), one;
    int n = 0;
    while (slice_item(&rest, &one)) {
        int64_t id = 0;
        bool found = false;
        (void)!parse_i64(one, &id);
        for (int i = 0; i < s->nchildren; i++)
            found |= id && s->children[i].id == id;
        n += id > 0;
        if (id > 0 && !found)
            return false;
    }
    return n == s->nchildren;
}

/* EDIT_JOB_UPDATE, or with it what starts or stops the job. */
static enum edit_kind kind_of(struct import_step *s, const json_t *want)
{
    const char *state = text_of(want, "state");
    if (!*state || strcmp(state, s->was.enabled ? "scheduled" : "stopped") == 0)
        return EDIT_JOB_UPDATE;
    import_note(s->changes, "", "state");
    return *state == 's' && state[1] == 'c' ? EDIT_JOB_START : EDIT_JOB_STOP;
}

static void change_job(struct import *x, struct import_step *s, const json_t *want)
{
    struct edit *e = s->edit = edit_new(EDIT_JOB_UPDATE);
    uint64_t said = 0;
    int64_t group = s->was.group_id;
    json_t *body = compare(s, want);
    bool script = compare_script(x, s, want);
    bool edits = json_object_size(body) > 0;
    if (s->says_children && !same_children(s)) {
        import_note(s->changes, "", "children");
        edits = true;
    } else {
        s->says_children = false;
    }
    e->kind = kind_of(s, want);
    e->whole = e->kind != EDIT_JOB_UPDATE;
    e->id = s->id;
    e->version = s->was.version;
    job_record_copy(&e->job, &s->was);
    bool may = (!edits || import_allowed(x, PERM_JOBS_WRITE, group, IMPORT_JOBS, s->item)) &&
               (!script || import_allowed(x, PERM_SCRIPTS_WRITE, group, IMPORT_JOBS, s->item)) &&
               (!e->whole || import_allowed(x, PERM_RUN, group, IMPORT_JOBS, s->item));
    if (may && json_object_size(body))
        rules_said(x, job_json_update(body, &x->rules, &e->job, &said,
                                      import_fault(x, PROBLEM_INVALID, IMPORT_JOBS, s->item),
                                      &x->why));
    if (may && script)
        script_next(e, json_string_value(json_object_get(want, "script")), x->remark);
    json_decref(body);
}

static void take_after(struct import *x, struct import_step *s)
{
    job_record_copy(&s->now, &s->edit->job);
    if (s->edit->whole)
        s->now.enabled = s->edit->kind == EDIT_JOB_START;
    unsigned changes = job_record_changes(&s->was, &s->now);
    bool planned = !s->id || s->edit->whole || changes & JOB_CHANGES_TIMES;
    if (planned && s->now.enabled && consequences_over(x->call, &s->now))
        fault_of(x, s, "/schedule", "schedule.over",
                 "the schedule has no scheduled time from now on");
}

static void plan_found(struct import *x, const json_t *want, int item, int64_t id, int64_t group_id)
{
    const char *app = text_of(want, "group");
    struct import_step *s =
        add_step(x, id ? IMPORT_CHANGE : IMPORT_MAKE, app, text_of(want, "name"));
    int before = x->errors.n;
    s->item = item;
    s->id = id;
    if (id)
        x->err = x->call->db->ops->catalog->job_get(x->call->db, id, &s->was, &x->why);
    else if (!group_id)
        s->group_step = (int)json_integer_value(json_object_get(x->file_groups, app));
    if (x->err || !import_children(x, s, want))
        return;
    if (id)
        change_job(x, s, want);
    else
        make_job(x, s, want, group_id);
    if (x->errors.n == before && !x->err)
        take_after(x, s);
    if (id && x->errors.n == before && !x->err && !json_array_size(s->changes)) {
        drop_last(x);
        x->same++;
    }
}

static void plan_one_job(struct import *x, const json_t *want, int item)
{
    const char *app = text_of(want, "group");
    int64_t group_id, id;
    enum import_found group = import_group(x, app, &group_id);
    if (group == IMPORT_SEVERAL) {
        unclear(x, IMPORT_JOBS, item, "group");
        return;
    }
    if (group == IMPORT_NONE && !json_object_get(x->file_groups, app)) {
        problem_error(import_fault(x, PROBLEM_INVALID, IMPORT_JOBS, item), "/group", "group.exists",
                      NULL, "there is no group %.64s, and no file makes it", app);
        return;
    }
    enum import_found job = import_job(x, app, text_of(want, "name"), &id);
    if (job == IMPORT_SEVERAL)
        unclear(x, IMPORT_JOBS, item, "job");
    else if (job != IMPORT_FAILED)
        plan_found(x, want, item, id, group_id);
}

/* ---- what the file does not name ------------------------------------------------------------- */

static void delete_job(struct import *x, const char *app, const char *name, int64_t id)
{
    struct import_step *s = add_step(x, IMPORT_DELETE, app, name);
    s->id = id;
    x->err = x->call->db->ops->catalog->job_get(x->call->db, id, &s->was, &x->why);
    s->edit = edit_new(EDIT_JOB_DELETE);
    s->edit->id = id;
    s->edit->version = s->was.version;
    if (!x->err && !import_may(x, PERM_JOBS_WRITE, s->was.group_id)) {
        x->errors.place[0] = '\0';
        x->kind = x->errors.n ? x->kind : PROBLEM_FORBIDDEN;
        problem_error(&x->errors, "prune", "permission", NULL,
                      "to delete jobs of group %.64s needs the permission jobs:write on it", app);
    }
}

/* Of several with one name nothing says which is meant: they stay. */
static void prune_group(struct import *x, const char *app)
{
    const json_t *there = import_jobs(x, app), *id;
    const json_t *named = json_object_get(x->file_jobs, app);
    const char *name;
    json_object_foreach((json_t *)there, name, id)
    {
        if (json_is_integer(id) && !json_object_get(named, name) && !x->err)
            delete_job(x, app, name, json_integer_value(id));
    }
}

static void prune_all(struct import *x)
{
    const char *app;
    json_t *v;
    json_object_foreach(x->pruned, app, v)
    {
        prune_group(x, app);
    }
}

/* The groups that the file has, or of which it has jobs. */
static void note_pruned(struct import *x)
{
    const json_t *one;
    size_t i;
    x->pruned = json_object();
    json_array_foreach(json_object_get(x->doc, "groups"), i, one)
    {
        json_object_set_new(x->pruned, text_of(one, "app"), json_true());
    }
    json_array_foreach(json_object_get(x->doc, "jobs"), i, one)
    {
        json_object_set_new(x->pruned, text_of(one, "group"), json_true());
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void index_jobs(struct import *x, const json_t *jobs)
{
    size_t i;
    const json_t *job;
    json_array_foreach(jobs, i, job)
    {
        const char *app = text_of(job, "group");
        if (!json_object_get(x->file_jobs, app))
            json_object_set_new(x->file_jobs, app, json_object());
        json_object_set_new(json_object_get(x->file_jobs, app), text_of(job, "name"),
                            json_integer((json_int_t)i));
    }
}

static bool go_on(struct import *x)
{
    if (!x->err && x->n + x->nalarms + x->nusers > IMPORT_STEPS_MAX) {
        why_set(&x->why, "more than %d things would change: import them group by group",
                IMPORT_STEPS_MAX);
        x->err = ERR_TOOBIG;
    }
    return !x->err;
}

void import_plan(struct import *x)
{
    const json_t *groups = json_object_get(x->doc, "groups"), *one;
    const json_t *jobs = json_object_get(x->doc, "jobs");
    size_t i;
    x->groups = json_object();
    x->file_jobs = json_object();
    x->file_groups = json_object();
    x->err = import_world(x);
    index_jobs(x, jobs);
    note_pruned(x);
    json_array_foreach(groups, i, one)
    {
        if (go_on(x))
            plan_group(x, one, (int)i);
    }
    json_array_foreach(jobs, i, one)
    {
        if (go_on(x))
            plan_one_job(x, one, (int)i);
    }
    if (x->prune && !x->err)
        prune_all(x);
    if (!x->err)
        import_alarms_plan(x);
    if (!x->err)
        import_users_plan(x);
    (void)!go_on(x);
}
