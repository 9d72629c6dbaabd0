/* SPDX-License-Identifier: Apache-2.0 */
/* Groups are read first: everything else names them. Of jobs only ids and names are kept, to put
 * them in order; then each is read whole and written, so the memory does not grow with scripts. */
#include "api/export.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "alarm/settings.h"
#include "api/scripts.h"
#include "api/v1/job_json.h"
#include "api/v1/rights_json.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "model/rule.h"
#include "wire/catalog.h"

#define PAGE 500

const char *const export_lists[EXPORT_LISTS] = { "groups",   "jobs",  "users",
                                                 "channels", "rules", "silences" };

struct job_name {
    int64_t id;
    char *name;
};

struct writing {
    struct store *db;
    const struct export_what *what;
    struct jsonw w;
    struct group_record *groups; /* that the asker may read, by app name */
    int ngroups;
    struct job_name *names; /* of jobs of one group */
    int nnames, njobs;
    struct why *why;
};

static bool wanted(const struct writing *x, const char *app)
{
    return !x->what->apps || slice_has_item(slice_text(x->what->apps), slice_text(app));
}

static const char *text(const char *s)
{
    return s ? s : "";
}

/* The array with room for one more than n; it doubles. */
static void *grown(void *array, int n, size_t size)
{
    bool full = (n & (n - 1)) == 0;
    return full ? mem_resize(array, (n ? 2 * (size_t)n : 1) * size) : array;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool add_group(void *ctx, const struct group_record *g)
{
    struct writing *x = ctx;
    if (!scope_is_all(x->what->scope) && !scope_has(x->what->scope, g->id))
        return true;
    x->groups = grown(x->groups, x->ngroups, sizeof(*x->groups));
    group_record_copy(&x->groups[x->ngroups++], g);
    return true;
}

static int by_app(const void *a, const void *b)
{
    const struct group_record *x = a, *y = b;
    return strcmp(text(x->app), text(y->app));
}

static enum err read_groups(struct writing *x)
{
    enum err err = x->db->ops->catalog->groups_each(x->db, add_group, x, x->why);
    if (!err && x->ngroups)
        qsort(x->groups, (size_t)x->ngroups, sizeof(*x->groups), by_app);
    for (int i = 1; i < x->ngroups && !err; i++) {
        const char *app = text(x->groups[i].app);
        if (wanted(x, app) && strcmp(app, text(x->groups[i - 1].app)) == 0) {
            why_set(
                x->why,
                "several groups have the app name %s: a file tells them apart by it; rename all "
                "but one, or leave them out",
                app);
            err = ERR_EXISTS;
        }
    }
    return err;
}

/* The group's app name; NULL: it has gone, or is out of the asker's sight. */
static const char *app_of(const struct writing *x, int64_t group_id)
{
    for (int i = 0; i < x->ngroups; i++)
        if (x->groups[i].id == group_id)
            return text(x->groups[i].app);
    return NULL;
}

static void write_items(struct jsonw *w, const char *key, const char *list)
{
    struct slice rest = slice_text(list), one;
    jsonw_array(w, key);
    while (slice_item(&rest, &one))
        jsonw_slice(w, NULL, one);
    jsonw_array_end(w);
}

static enum err write_groups(struct writing *x)
{
    for (int i = 0; i < x->ngroups; i++) {
        const struct group_record *g = &x->groups[i];
        if (!wanted(x, text(g->app)))
            continue;
        jsonw_object(&x->w, NULL);
        jsonw_text(&x->w, "app", text(g->app));
        jsonw_text(&x->w, "title", text(g->title));
        jsonw_text(&x->w, "addressing", g->address_type == 1 ? "manual" : "registry");
        if (g->address_type == 1) /* else the registry's */
            write_items(&x->w, "addresses", g->address_list);
        jsonw_object_end(&x->w);
    }
    return OK;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* "group" and "name" of a job, or nothing if the asker does not see it. key NULL: an element. */
static enum err write_job_name(struct writing *x, const char *key, int64_t id)
{
    struct job_record r;
    struct why why = { "" };
    job_record_init(&r);
    enum err err = x->db->ops->catalog->job_get(x->db, id, &r, &why);
    const char *app = err ? NULL : app_of(x, r.group_id);
    if (app) {
        jsonw_object(&x->w, key);
        jsonw_text(&x->w, "group", app);
        jsonw_text(&x->w, "name", text(r.description));
        jsonw_object_end(&x->w);
    }
    job_record_done(&r);
    if (!err || err == ERR_NOTFOUND)
        return OK;
    *x->why = why;
    return err;
}

static enum err write_children(struct writing *x, const struct job_record *r)
{
    struct slice rest = slice_text(r->children), one;
    enum err err = OK;
    int64_t id;
    jsonw_array(&x->w, "children");
    while (!err && slice_item(&rest, &one))
        if (parse_i64(one, &id) && id > 0)
            err = write_job_name(x, NULL, id);
    jsonw_array_end(&x->w);
    return err;
}

static enum err write_job(struct writing *x, const char *app, struct job_record *r)
{
    jsonw_object(&x->w, NULL);
    jsonw_text(&x->w, "group", app);
    jsonw_text(&x->w, "name", text(r->description));
    jsonw_text(&x->w, "owner", text(r->author));
    jsonw_text(&x->w, "state", r->enabled ? "scheduled" : "stopped");
    job_json_object(&x->w, "schedule", r);
    job_json_object(&x->w, "task", r);
    job_json_object(&x->w, "running", r);
    enum err err = write_children(x, r);
    job_json_emails(&x->w, r);
    if (script_has(r) && r->glue_source && r->glue_source[0])
        jsonw_text(&x->w, "script", r->glue_source);
    jsonw_object_end(&x->w);
    return err;
}

static bool add_name(void *ctx, const struct job_record *r)
{
    struct writing *x = ctx;
    x->names = grown(x->names, x->nnames, sizeof(*x->names));
    x->names[x->nnames++] = (struct job_name){ .id = r->id, .name = mem_dup(text(r->description)) };
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct job_name *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

static void names_done(struct writing *x)
{
    for (int i = 0; i < x->nnames; i++)
        free(x->names[i].name);
    free(x->names);
    x->names = NULL;
    x->nnames = 0;
}

/* Of a group, in order. */
static enum err read_names(struct writing *x, const struct group_record *g)
{
    struct jobs_filter f = {
        .group_id = g->id, .status = -1, .limit = PAGE, .order = JOBS_OLDEST, .count_max = 1
    };
    struct jobs_key after;
    int64_t total;
    enum err err;
    int before;
    do {
        before = x->nnames;
        err = x->db->ops->pages->jobs_page(x->db, &f, add_name, x, &total, x->why);
        after = (struct jobs_key){ .id = x->nnames ? x->names[x->nnames - 1].id : 0 };
        f.after = &after;
        if (!err && x->njobs + x->nnames > EXPORT_JOBS_MAX) {
            why_set(x->why, "more than %d jobs: export them group by group", EXPORT_JOBS_MAX);
            err = ERR_TOOBIG;
        }
    } while (!err && x->nnames - before == PAGE);
    if (x->nnames)
        qsort(x->names, (size_t)x->nnames, sizeof(*x->names), by_name);
    return err;
}

static enum err write_named(struct writing *x, const char *app, int i)
{
    struct job_record r;
    if (i && strcmp(x->names[i - 1].name, x->names[i].name) == 0) {
        why_set(x->why,
                "several jobs of group %s have the name %s: a file tells them apart by it; rename "
                "all but one, or leave their group out",
                app, x->names[i].name);
        return ERR_EXISTS;
    }
    job_record_init(&r);
    enum err err = x->db->ops->catalog->job_get(x->db, x->names[i].id, &r, x->why);
    if (!err)
        err = write_job(x, app, &r);
    else if (err == ERR_NOTFOUND) { /* deleted just now */
        why_clear(x->why);
        err = OK;
    }
    job_record_done(&r);
    return err;
}

static enum err write_jobs(struct writing *x)
{
    enum err err = OK;
    for (int i = 0; i < x->ngroups && !err; i++) {
        const char *app = text(x->groups[i].app);
        if (!wanted(x, app))
            continue;
        err = read_names(x, &x->groups[i]);
        for (int k = 0; k < x->nnames && !err && !x->w.out->failed; k++)
            err = write_named(x, app, k);
        x->njobs += x->nnames;
        names_done(x);
    }
    return err;
}

/* ---- users ----------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* App names of a role's groups; null: all. One that is not there any more is left out. */
static void write_role(struct writing *x, const struct rights *r, enum role role)
{
    const char **apps = mem_new(((size_t)r->n + 1) * sizeof(*apps));
    bool all = false, any = false;
    size_t n = 0;
    for (int i = 0; i < r->n; i++) {
        if (r->grants[i].role != role)
            continue;
        const char *app = r->grants[i].group_id ? app_of(x, r->grants[i].group_id) : NULL;
        any |= app || !r->grants[i].group_id;
        all |= !r->grants[i].group_id;
        if (app)
            apps[n++] = app;
    }
    qsort(apps, n, sizeof(*apps), by_text);
    if (any) {
        jsonw_object(&x->w, NULL);
        jsonw_text(&x->w, "role", role_text(role));
        if (all) {
            jsonw_null(&x->w, "groups");
        } else {
            jsonw_array(&x->w, "groups");
            for (size_t i = 0; i < n; i++)
                jsonw_text(&x->w, NULL, apps[i]);
            jsonw_array_end(&x->w);
        }
        jsonw_object_end(&x->w);
    }
    free(apps);
}

static bool write_user(void *ctx, const struct user_record *u)
{
    struct writing *x = ctx;
    jsonw_object(&x->w, NULL);
    jsonw_text(&x->w, "name", u->username);
    rights_json_center(&x->w, &u->rights);
    jsonw_array(&x->w, "grants");
    for (int role = 0; role < ROLES; role++)
        write_role(x, &u->rights, (enum role)role);
    jsonw_array_end(&x->w);
    jsonw_object_end(&x->w);
    return true;
}

static enum err write_users(struct writing *x)
{
    struct users_filter f = { .role = -1, .by_name = true, .limit = PAGE };
    int64_t total = 0;
    enum err err = OK;
    do {
        err = x->db->ops->users->users_page(x->db, &f, write_user, x, &total, x->why);
        f.offset += PAGE;
    } while (!err && f.offset < total && !x->w.out->failed);
    return err;
}

/* ---- alarms ---------------------------------------------------------------------------------- */

struct channels {
    struct channel_record rows[CHANNELS_MAX];
    int n;
};

static bool add_channel(void *ctx, const struct channel_record *r)
{
    struct channels *x = ctx;
    channel_record_copy(&x->rows[x->n++], r);
    return x->n < CHANNELS_MAX;
}

static int by_channel(const void *a, const void *b)
{
    const struct channel_record *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* Secrets are named and not told. */
static void number_or_null(struct jsonw *w, const char *key, int64_t v)
{
    if (v > 0)
        jsonw_i64(w, key, v);
    else
        jsonw_null(w, key);
}

static void write_channel(struct writing *x, const struct channel_record *r)
{
    struct settings s;
    struct why why = { "" };
    if (settings_read(r->kind, r->settings, &s, &why)) /* damaged: it has none */
        s = (struct settings){ .doc = NULL };
    int n = s.kind ? s.kind->nfields : 0;
    jsonw_object(&x->w, NULL);
    jsonw_text(&x->w, "name", r->name);
    jsonw_text(&x->w, "kind", r->kind);
    jsonw_bool(&x->w, "enabled", r->enabled);
    jsonw_object(&x->w, "settings");
    for (int i = 0; i < n; i++)
        if (!s.kind->fields[i].secret && s.values.v[s.kind->fields[i].value])
            jsonw_text(&x->w, s.kind->fields[i].name, s.values.v[s.kind->fields[i].value]);
    jsonw_object_end(&x->w);
    jsonw_array(&x->w, "secrets");
    for (int i = 0; i < n; i++)
        if (s.kind->fields[i].secret && s.values.v[s.kind->fields[i].value])
            jsonw_text(&x->w, NULL, s.kind->fields[i].name);
    jsonw_array_end(&x->w);
    number_or_null(&x->w, "perMinute", r->per_minute);
    jsonw_object_end(&x->w);
    settings_free(&s);
}

static enum err write_channels(struct writing *x)
{
    struct channels *all = mem_new(sizeof(*all));
    enum err err = x->db->ops->alarms->channels_each(x->db, add_channel, all, x->why);
    qsort(all->rows, (size_t)all->n, sizeof(all->rows[0]), by_channel);
    for (int i = 0; i < all->n; i++) {
        if (!err)
            write_channel(x, &all->rows[i]);
        channel_record_done(&all->rows[i]);
    }
    free(all);
    return err;
}

struct rules {
    struct rule_record rows[RULES_MAX];
    int n;
};

static bool add_rule(void *ctx, const struct rule_record *r)
{
    struct rules *x = ctx;
    rule_record_copy(&x->rows[x->n++], r);
    return x->n < RULES_MAX;
}

static int by_rule(const void *a, const void *b)
{
    const struct rule_record *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

static void write_quiet(struct jsonw *w, const struct rule_record *r)
{
    char from[16], to[16];
    if (r->quiet_from < 0) {
        jsonw_null(w, "quiet");
        return;
    }
    snprintf(from, sizeof(from), "%02d:%02d", r->quiet_from / 60, r->quiet_from % 60);
    snprintf(to, sizeof(to), "%02d:%02d", r->quiet_to / 60, r->quiet_to % 60);
    jsonw_object(w, "quiet");
    jsonw_text(w, "from", from);
    jsonw_text(w, "to", to);
    jsonw_object_end(w);
}

/* Is what the row is about there, seen and wanted? *ret_app: its group; NULL: all. */
static enum err place_of(struct writing *x, int64_t group_id, int64_t job_id, const char **ret_app,
                         bool *ret_wanted)
{
    struct job_record job;
    enum err err = OK;
    job_record_init(&job);
    if (job_id && !group_id) {
        err = x->db->ops->catalog->job_get(x->db, job_id, &job, x->why);
        group_id = err ? -1 : job.group_id;
        if (err == ERR_NOTFOUND) {
            why_clear(x->why);
            err = OK;
        }
    }
    job_record_done(&job);
    *ret_app = group_id ? app_of(x, group_id) : NULL;
    *ret_wanted = group_id ? *ret_app && wanted(x, *ret_app) : !x->what->apps;
    return err;
}

static enum err write_rule(struct writing *x, const struct rule_record *r)
{
    const char *app;
    bool take;
    enum err err = place_of(x, r->group_id, r->job_id, &app, &take);
    if (err || !take)
        return err;
    jsonw_object(&x->w, NULL);
    jsonw_text(&x->w, "name", r->name);
    jsonw_text(&x->w, "kind", rule_kind_text(r->kind));
    jsonw_text(&x->w, "level", rule_level_text(r->level));
    jsonw_text(&x->w, "group", r->job_id ? NULL : app);
    if (r->job_id)
        err = write_job_name(x, "job", r->job_id);
    else
        jsonw_null(&x->w, "job");
    number_or_null(&x->w, "inARow", r->in_a_row);
    number_or_null(&x->w, "longerMs", r->longer_ms);
    write_items(&x->w, "channels", r->channels);
    write_quiet(&x->w, r);
    number_or_null(&x->w, "repeatMs", r->repeat_ms);
    jsonw_bool(&x->w, "enabled", r->enabled);
    jsonw_object_end(&x->w);
    return err;
}

static enum err read_rules(struct writing *x, struct rules *ret)
{
    enum err err = x->db->ops->rules->rules_each(x->db, add_rule, ret, x->why);
    qsort(ret->rows, (size_t)ret->n, sizeof(ret->rows[0]), by_rule);
    return err;
}

static void rules_free(struct rules *all)
{
    for (int i = 0; i < all->n; i++)
        rule_record_done(&all->rows[i]);
    free(all);
}

static enum err write_rules(struct writing *x)
{
    struct rules *all = mem_new(sizeof(*all));
    enum err err = read_rules(x, all);
    for (int i = 0; i < all->n && !err; i++)
        err = write_rule(x, &all->rows[i]);
    rules_free(all);
    return err;
}

struct silences {
    struct writing *x;
    const struct rules *rules;
    enum err err;
};

static const char *rule_name(const struct rules *all, int64_t id)
{
    for (int i = 0; i < all->n; i++)
        if (all->rows[i].id == id)
            return all->rows[i].name;
    return NULL;
}

static bool write_silence(void *ctx, const struct silence_record *r)
{
    struct silences *s = ctx;
    struct writing *x = s->x;
    const char *app, *rule = rule_name(s->rules, r->rule_id);
    bool take;
    s->err = place_of(x, r->job_id ? 0 : r->group_id, r->job_id, &app, &take);
    if (s->err || !take || r->until_ms <= x->what->now_ms || (r->rule_id && !rule))
        return !s->err;
    jsonw_object(&x->w, NULL);
    jsonw_text(&x->w, "group", r->job_id ? NULL : app);
    if (r->job_id)
        s->err = write_job_name(x, "job", r->job_id);
    else
        jsonw_null(&x->w, "job");
    jsonw_text(&x->w, "rule", rule);
    jsonw_i64(&x->w, "fromMs", r->from_ms);
    jsonw_i64(&x->w, "untilMs", r->until_ms);
    jsonw_text(&x->w, "reason", text(r->reason));
    jsonw_object_end(&x->w);
    return !s->err;
}

/* In the order in which they were made: they have no names. */
static enum err write_silences(struct writing *x)
{
    struct rules *all = mem_new(sizeof(*all));
    struct silences s = { .x = x, .rules = all };
    enum err err = read_rules(x, all);
    if (!err)
        err = x->db->ops->rules->silences_each(x->db, write_silence, &s, x->why);
    rules_free(all);
    return err ? err : s.err;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static enum err (*const writers[EXPORT_LISTS])(struct writing *x) = {
    write_groups, write_jobs, write_users, write_channels, write_rules, write_silences
};

enum err export_write(struct store *db, const struct export_what *what, struct buf *to,
                      struct why *why)
{
    struct writing x = { .db = db, .what = what, .w = jsonw_on(to), .why = why };
    enum err err = read_groups(&x);
    jsonw_object(&x.w, NULL);
    jsonw_i64(&x.w, "peal", CATALOG_VERSION);
    for (int i = 0; i < EXPORT_LISTS && !err; i++) {
        if (!(what->lists >> i & 1))
            continue;
        jsonw_array(&x.w, export_lists[i]);
        err = writers[i](&x);
        jsonw_array_end(&x.w);
    }
    jsonw_object_end(&x.w);
    for (int i = 0; i < x.ngroups; i++)
        group_record_done(&x.groups[i]);
    free(x.groups);
    if (!err && to->failed) {
        why_set(why, "the file would be too large: export groups one by one");
        err = ERR_TOOBIG;
    }
    return err;
}
