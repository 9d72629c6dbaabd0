/* SPDX-License-Identifier: Apache-2.0 */
/* POST /import: a file as one transaction. All of it is looked at before anything is asked for; the
 * edits that come of it are a bundle, each made from what was looked at, so that what has changed
 * meanwhile refuses all of them. Jobs are made behind their groups and their children, and learn
 * the ids of both within the transaction. Channels, rules and users, which the scheduler does not
 * know, are written along with the last edit. */
#include "api/v1/import.h"
#include "alarm/alarm.h"
#include "api/edit_told.h"
#include "api/edits.h"
#include "api/gate.h"
#include "api/scripts.h"
#include "api/v1/consequences.h"
#include "api/v1/etag.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include "wire/catalog.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a job learns within the transaction ------------------------------------------------ */

struct part {                 /* of an edit; the edits that it names are in its bundle */
    bool is_job;              /* that is made or changed */
    const struct edit *group; /* that makes its group; NULL: it is there */
    bool says_children;
    struct part_child {
        int64_t id; /* 0: what made makes */
        const struct edit *made;
    } * children;
    int nchildren;
    struct import_write *others; /* what is written behind it; NULL: nothing */
};

static enum err part_before(void *arg, struct edit *e, struct why *why)
{
    const struct part *p = arg;
    struct buf list = BUF_INIT(4096);
    if (!p->is_job)
        return OK;
    if (p->group)
        e->job.group_id = p->group->id;
    for (int i = 0; i < p->nchildren; i++)
        buf_printf(&list, "%s%lld", i ? "," : "",
                   (long long)(p->children[i].id ? p->children[i].id : p->children[i].made->id));
    bool fits = list.len <= (size_t)JOB_COLUMN_OF(children)->max;
    if (p->says_children) {
        free(e->job.children);
        e->job.children = mem_dup(buf_str(&list));
    }
    buf_done(&list);
    if (fits)
        return OK;
    why_set(why, "children: their ids have more than %lld characters",
            (long long)JOB_COLUMN_OF(children)->max);
    return ERR_INVALID;
}

static enum err part_run(struct store *s, void *arg, const struct edit_rows *rows, struct why *why)
{
    const struct part *p = arg;
    (void)rows;
    return p->others ? import_write_run(s, p->others, why) : OK;
}

static void part_done(void *arg, enum err err, const struct why *why)
{
    struct part *p = arg;
    (void)err;
    (void)why;
    import_write_unref(p->others);
    free(p->children);
    free(p);
}

/* others: NULL, or what comes behind it; taken. */
static void dress(struct import *x, struct import_step *s, struct import_write *others)
{
    static const struct edit_companion companion = { part_before, part_run, part_done };
    struct part *p = mem_new(sizeof(*p));
    p->others = others;
    if (s->of_job && s->action != IMPORT_DELETE) {
        p->is_job = true;
        p->group = s->group_step >= 0 ? x->steps[s->group_step].edit : NULL;
        p->says_children = s->says_children;
        p->children = mem_new(((size_t)s->nchildren + 1) * sizeof(*p->children));
        for (int i = 0; s->says_children && i < s->nchildren; i++) {
            const struct import_child *c = &s->children[i];
            const struct edit *made = c->id ? NULL : import_maker(x, c->item)->edit;
            p->children[p->nchildren++] = (struct part_child){ c->id, made };
        }
    }
    edit_along(x->call, s->edit, &companion, p);
}

/* ---- done ------------------------------------------------------------------------------------ */

/* Groups, then jobs that are made, then those that change, then those that go; in *ret_steps the
 * number of each one's step. */
static int arrange(struct import *x, const int *order, int norder, struct import_write *others,
                   struct edit **to, int *ret_steps)
{
    int n = 0;
    for (int i = 0; i < x->n; i++)
        if (!x->steps[i].of_job)
            ret_steps[n++] = i;
    for (int i = 0; i < norder; i++)
        ret_steps[n++] = order[i];
    for (int action = IMPORT_CHANGE; action <= IMPORT_DELETE; action++)
        for (int i = 0; i < x->n; i++)
            if (x->steps[i].of_job && x->steps[i].action == (enum import_action)action)
                ret_steps[n++] = i;
    for (int i = 0; i < n; i++) {
        bool last = others && i == n - 1;
        dress(x, &x->steps[ret_steps[i]], last ? import_write_ref(others) : NULL);
        to[i] = x->steps[ret_steps[i]].edit;
    }
    for (int i = 0; i < n; i++) /* they are taken */
        x->steps[ret_steps[i]].edit = NULL;
    return n;
}

static const char *name_of(const struct import_step *s)
{
    return s->name ? s->name : s->app;
}

struct other { /* a channel, a rule or a user */
    enum import_list list;
    const char *name;
    int item;
};

/* As import_write numbers them. */
static struct other other_of(const struct import *x, int which)
{
    if (which >= x->nalarms) {
        const struct import_user *u = &x->users[which - x->nalarms];
        return (struct other){ IMPORT_USERS, u->name, u->item };
    }
    const struct import_alarm *a = &x->alarms[which];
    if (a->of_rule)
        return (struct other){ IMPORT_RULES, a->rule.name, a->item };
    return (struct other){ IMPORT_CHANNELS, a->channel.name, a->item };
}

static void other_refused(struct import *x, int which, enum err err)
{
    struct other o = other_of(x, which);
    const char *list = import_lists[o.list];
    if (err == ERR_OVERTAKEN || err == ERR_NOTFOUND || err == ERR_EXISTS) {
        problem(x->call, PROBLEM_CONFLICT, "nothing was changed: %.*s %.200s: %s",
                (int)strlen(list) - 1, list, o.name, x->why.text);
    } else if (err == ERR_INVALID) {
        problem_error(import_fault(x, PROBLEM_INVALID, o.list, o.item), "", "refused", NULL, "%s",
                      x->why.text);
        problem_fields(x->call, PROBLEM_INVALID, &x->errors);
    } else {
        problem_err(x->call, err, &x->why);
    }
}

/* What the transaction said: nothing was changed. */
static void refused(struct import *x, const struct import_step *s, enum err err)
{
    struct web_call *call = x->call;
    if (s && (err == ERR_OVERTAKEN || err == ERR_NOTFOUND || err == ERR_EXISTS)) {
        problem(call, PROBLEM_CONFLICT,
                "nothing was changed: %.200s %.200s was changed meanwhile: %s",
                s->of_job ? "job" : "group", name_of(s), x->why.text);
    } else if (s && err == ERR_INVALID && s->item >= 0) {
        problem_error(
            import_fault(x, PROBLEM_INVALID, s->of_job ? IMPORT_JOBS : IMPORT_GROUPS, s->item), "",
            "refused", NULL, "%s", x->why.text);
        problem_fields(call, PROBLEM_INVALID, &x->errors);
    } else {
        problem_err(call, err, &x->why);
    }
}

/* Who watches and who sends look at rules and channels anew. */
static void tell_alarms(struct web_call *call)
{
    center_alarms_changed(call->center);
    if (call->config->alarms)
        alarms_changed(call->config->alarms);
}

/* They are made. Do all servers know? Lets go of them. */
static enum err told(struct import *x, struct edit **edits, int n)
{
    enum err err = edits_told(x->call, edits, n, &x->why);
    for (int i = 0; i < n; i++)
        edit_free(edits[i]);
    return err;
}

/* The edits, and behind them what else changes; others NULL: nothing. *ret_made: it is done, even
 * if there is more to say. */
static enum err carry_out(struct import *x, const int *order, int norder,
                          struct import_write *others, bool *ret_made)
{
    struct edit **edits = mem_new(((size_t)x->n + 1) * sizeof(struct edit *));
    int *steps = mem_new(((size_t)x->n + 1) * sizeof(*steps)), which = -1;
    int n = arrange(x, order, norder, others, edits, steps);
    enum err err = OK;
    if (n)
        err = center_edits(x->call->center, edits, n, &which, &x->why);
    else if (others)
        err = import_write_do(x->call->center, import_write_ref(others), &x->why);
    *ret_made = !err;
    int failed = err && others ? import_write_failed(others) : -1;
    if (failed >= 0)
        other_refused(x, failed, err);
    else if (err)
        refused(x, which >= 0 ? &x->steps[steps[which]] : NULL, err);
    else if ((err = told(x, edits, n)))
        problem_err(x->call, err, &x->why);
    free(edits);
    free(steps);
    return err;
}

/* False: answered. */
static bool perform(struct import *x, const int *order, int norder)
{
    struct import_write *others = NULL;
    bool made = false;
    enum err err = x->nalarms || x->nusers ? import_write_new(x, &others) : OK;
    if (err)
        problem_err(x->call, err, &x->why);
    else
        err = carry_out(x, order, norder, others, &made);
    if (made && x->nalarms)
        tell_alarms(x->call);
    import_write_unref(others);
    return !err;
}

/* ---- told ------------------------------------------------------------------------------------ */

static const char *const actions[] = { "make", "change", "delete" };

static void write_changes(struct jsonw *w, const json_t *changes)
{
    const json_t *one;
    size_t i;
    jsonw_array(w, "changes");
    json_array_foreach(changes, i, one)
    {
        jsonw_text(w, NULL, json_string_value(one));
    }
    jsonw_array_end(w);
}

static void write_step(struct import *x, struct jsonw *w, const struct import_step *s)
{
    char path[40];
    bool other = s->was.enabled != s->now.enabled ||
                 job_record_changes(&s->was, &s->now) & JOB_CHANGES_TIMES;
    snprintf(path, sizeof(path), "/%s/%d", import_lists[s->of_job], s->item);
    jsonw_object(w, NULL);
    jsonw_text(w, "kind", s->of_job ? "job" : "group");
    jsonw_text(w, "action", actions[s->action]);
    jsonw_text(w, "group", s->app);
    jsonw_text(w, "name", s->name);
    jsonw_text(w, "path", s->item >= 0 ? path : NULL);
    write_changes(w, s->changes);
    jsonw_bool(w, "scheduled", s->now.enabled);
    if (s->of_job && other)
        consequences_firings(x->call, s->id ? &s->was : NULL,
                             s->action == IMPORT_DELETE ? NULL : &s->now, w, "firings");
    else
        jsonw_null(w, "firings");
    jsonw_object_end(w);
}

/* A channel, a rule or a user. */
static void write_other(struct jsonw *w, enum import_list list, int item, bool made,
                        const char *app, const char *name, const json_t *changes)
{
    static const char *const kinds[] = {
        [IMPORT_CHANNELS] = "channel", [IMPORT_RULES] = "rule", [IMPORT_USERS] = "user"
    };
    char path[40];
    snprintf(path, sizeof(path), "/%s/%d", import_lists[list], item);
    jsonw_object(w, NULL);
    jsonw_text(w, "kind", kinds[list]);
    jsonw_text(w, "action", actions[made ? IMPORT_MAKE : IMPORT_CHANGE]);
    jsonw_text(w, "group", app);
    jsonw_text(w, "name", name);
    jsonw_text(w, "path", path);
    write_changes(w, changes);
    jsonw_bool(w, "scheduled", false);
    jsonw_null(w, "firings");
    jsonw_object_end(w);
}

static void write_others(const struct import *x, struct jsonw *w)
{
    for (int i = 0; i < x->nalarms; i++) {
        const struct import_alarm *a = &x->alarms[i];
        if (a->of_rule)
            write_other(w, IMPORT_RULES, a->item, !a->rule.id, a->app, a->rule.name, a->changes);
        else
            write_other(w, IMPORT_CHANNELS, a->item, !a->channel.id, NULL, a->channel.name,
                        a->changes);
    }
    for (int i = 0; i < x->nusers; i++) {
        const struct import_user *u = &x->users[i];
        write_other(w, IMPORT_USERS, u->item, !u->id, NULL, u->name, u->changes);
    }
}

/* What else a file may have: silences are of the moment. */
static void write_left(struct jsonw *w, const json_t *doc)
{
    jsonw_object(w, "left");
    jsonw_i64(w, "silences", (int64_t)json_array_size(json_object_get(doc, "silences")));
    jsonw_object_end(w);
}

static void answer(struct import *x, bool dry)
{
    struct jsonw w = jsonw_on(&x->call->output);
    jsonw_object(&w, NULL);
    jsonw_bool(&w, "dryRun", dry);
    jsonw_array(&w, "steps");
    for (int i = 0; i < x->n; i++)
        write_step(x, &w, &x->steps[i]);
    write_others(x, &w);
    jsonw_array_end(&w);
    jsonw_i64(&w, "same", x->same);
    write_left(&w, x->doc);
    jsonw_object_end(&w);
}

/* FNV-1a, 64 bits. */
static uint64_t hash(uint64_t h, const char *text)
{
    for (const char *p = text; p && *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211U;
    return h;
}

static uint64_t hash_json(uint64_t h, const json_t *doc)
{
    char *text = json_dumps(doc, JSON_COMPACT);
    h = hash(h, text);
    free(text);
    return h;
}

/* Of what would be done, and what that was made from. */
static struct etag tag_of(const struct import *x)
{
    uint64_t h = 14695981039346656037U;
    for (int i = 0; i < x->n; i++) {
        const struct import_step *s = &x->steps[i];
        char text[80];
        snprintf(text, sizeof(text), "%d %lld %lld %d", s->action, (long long)s->id,
                 (long long)s->was.version, s->item);
        h = hash_json(hash(h, text), s->changes);
    }
    for (int i = 0; i < x->nalarms; i++) {
        const struct import_alarm *a = &x->alarms[i];
        char text[80];
        snprintf(text, sizeof(text), "%d %lld %lld %d", a->of_rule,
                 (long long)(a->of_rule ? a->rule.id : a->channel.id),
                 (long long)(a->of_rule ? a->rule.version : a->channel.version), a->item);
        h = hash_json(hash(h, text), a->changes);
    }
    for (int i = 0; i < x->nusers; i++) {
        const struct import_user *u = &x->users[i];
        char text[80];
        snprintf(text, sizeof(text), "u %lld %lld %d", (long long)u->id, (long long)u->version,
                 u->item);
        h = hash_json(hash(h, text), u->changes);
    }
    return (struct etag){ 'i', 1, (int64_t)(h & ROUTER_ID_MAX) };
}

/* ---- the operation --------------------------------------------------------------------------- */

/* False: answered. */
static bool planned(struct import *x)
{
    if (x->errors.n)
        problem_fields(x->call, x->kind, &x->errors);
    else if (x->err == ERR_TOOBIG)
        problem(x->call, PROBLEM_CONFLICT, "%s", x->why.text);
    else if (x->err)
        problem_err(x->call, x->err, &x->why);
    return !x->errors.n && !x->err;
}

static void import(struct import *x, bool dry)
{
    import_plan(x);
    int *order = mem_new(((size_t)x->n + 1) * sizeof(*order)), n = 0;
    if (!x->errors.n && !x->err)
        n = import_order(x, order);
    if (planned(x)) {
        struct etag tag = tag_of(x);
        bool fits = !x->call->if_match.p || etag_match(x->call, tag, "what the import would do");
        if (fits && (dry || perform(x, order, n))) {
            etag_write(x->call, tag);
            answer(x, dry);
        }
    }
    free(order);
}

static bool shape_ok(struct web_call *call)
{
    struct why why = { "" };
    char field[160];
    enum err err = catalog_check(call->json, &why);
    const char *colon = strstr(why.text, ": ");
    if (err != ERR_INVALID) {
        if (err)
            problem_err(call, err, &why);
        return !err;
    }
    snprintf(field, sizeof(field), "%.*s", colon ? (int)(colon - why.text) : 0, why.text);
    struct problem_errors errors;
    problem_errors_init(&errors);
    problem_error(&errors, field, "file.shape", NULL, "%s", colon ? colon + 2 : why.text);
    problem_fields(call, PROBLEM_INVALID, &errors);
    problem_errors_done(&errors);
    return false;
}

void v1_import(struct web_call *call)
{
    struct query q;
    struct import x = { .call = call, .doc = call->json, .rules = edit_rules(call) };
    query_begin(&q, call);
    bool dry = query_bool(&q, "dryRun", 0) == 1;
    x.prune = query_bool(&q, "prune", 0) == 1;
    x.remark = query_text(&q, "remark", SCRIPT_REMARK_MAX);
    if (x.remark && utf8_units(x.remark, strlen(x.remark)) < SCRIPT_REMARK_MIN)
        query_bad(&q, "remark", "text.length", "remark: at least %d characters", SCRIPT_REMARK_MIN);
    if (!query_end(&q) || !shape_ok(call))
        return;
    x.remark = x.remark ? x.remark : "import";
    call->reason = slice_text(x.remark);
    problem_errors_init(&x.errors);
    import(&x, dry);
    import_done(&x);
}
