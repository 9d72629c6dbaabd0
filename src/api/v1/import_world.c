/* SPDX-License-Identifier: Apache-2.0 */
/* What there is, by names, what the asker may do with it, and how it differs from a file. Jobs are
 * read a group at a time, when the file is about that group. */
#include "api/v1/import.h"
#include "base/str.h"
#include <stdio.h>
#include <string.h>

#define PAGE 500

const char *const import_lists[] = { "groups", "jobs", "channels", "rules", "users" };

static bool add_group(void *ctx, const struct group_record *g)
{
    struct import *x = ctx;
    const char *app = g->app ? g->app : "";
    if (!actor_may(x->call->actor, PERM_READ, g->id))
        return true;
    json_object_set_new(
        x->groups, app,
        json_object_get(x->groups, app) ? json_true() : json_pack("{sI}", "id", (json_int_t)g->id));
    return true;
}

enum err import_world(struct import *x)
{
    return x->call->db->ops->catalog->groups_each(x->call->db, add_group, x, &x->why);
}

enum import_found import_group(const struct import *x, const char *app, int64_t *ret_id)
{
    const json_t *g = json_object_get(x->groups, app);
    *ret_id = 0;
    if (!g)
        return IMPORT_NONE;
    if (!json_is_object(g))
        return IMPORT_SEVERAL;
    *ret_id = json_integer_value(json_object_get(g, "id"));
    return IMPORT_ONE;
}

struct names {
    json_t *to;
    int64_t n, last_id;
};

static bool add_name(void *ctx, const struct job_record *r)
{
    struct names *x = ctx;
    const char *name = r->description ? r->description : "";
    json_object_set_new(x->to, name,
                        json_object_get(x->to, name) ? json_true() : json_integer(r->id));
    x->n++;
    x->last_id = r->id;
    return true;
}

static enum err read_names(struct import *x, int64_t group_id, json_t *to)
{
    struct jobs_filter f = {
        .group_id = group_id, .status = -1, .limit = PAGE, .order = JOBS_OLDEST, .count_max = 1
    };
    struct names names = { .to = to };
    struct jobs_key after;
    struct store *db = x->call->db;
    int64_t total, before;
    enum err err;
    do {
        before = names.n;
        err = db->ops->pages->jobs_page(db, &f, add_name, &names, &total, &x->why);
        after = (struct jobs_key){ .id = names.last_id };
        f.after = &after;
        if (!err && (x->njobs += names.n - before) > IMPORT_JOBS_MAX) {
            why_set(&x->why, "the groups have more than %d jobs", IMPORT_JOBS_MAX);
            err = ERR_TOOBIG;
        }
    } while (!err && names.n - before == PAGE);
    return err;
}

const json_t *import_jobs(struct import *x, const char *app)
{
    json_t *g = json_object_get(x->groups, app), *jobs = json_object_get(g, "jobs");
    int64_t id;
    if (jobs || import_group(x, app, &id) != IMPORT_ONE || x->err)
        return jobs;
    jobs = json_object();
    x->err = read_names(x, id, jobs);
    json_object_set_new(g, "jobs", jobs);
    return x->err ? NULL : jobs;
}

enum import_found import_job(struct import *x, const char *app, const char *name, int64_t *ret_id)
{
    const json_t *id = json_object_get(import_jobs(x, app), name);
    *ret_id = json_integer_value(id);
    return x->err ? IMPORT_FAILED : !id ? IMPORT_NONE : *ret_id ? IMPORT_ONE : IMPORT_SEVERAL;
}

/* ---- what its asker may, and is told --------------------------------------------------------- */

struct problem_errors *import_fault(struct import *x, enum problem_kind kind, enum import_list list,
                                    int item)
{
    if (!x->errors.n)
        x->kind = kind;
    snprintf(x->errors.place, sizeof(x->errors.place), "/%s/%d", import_lists[list], item);
    return &x->errors;
}

bool import_may(const struct import *x, enum permission p, int64_t group_id)
{
    if (group_id || p >= PERMISSIONS_OF_GROUPS)
        return actor_may(x->call->actor, p, group_id);
    return scope_is_all(actor_scope(x->call->actor, p));
}

bool import_allowed(struct import *x, enum permission p, int64_t group_id, enum import_list list,
                    int item)
{
    if (import_may(x, p, group_id))
        return true;
    problem_error(import_fault(x, PROBLEM_FORBIDDEN, list, item), "", "permission", NULL,
                  "needs the permission %s%s", permission_text(p),
                  p < PERMISSIONS_OF_GROUPS ? " on its group" : "");
    return false;
}

bool import_fits(struct import *x, enum import_list list, size_t n, size_t max)
{
    const struct problem_limits limits = { 0, (int64_t)max };
    char field[40];
    if (n <= max)
        return true;
    snprintf(field, sizeof(field), "/%s", import_lists[list]);
    x->kind = x->errors.n ? x->kind : PROBLEM_INVALID;
    x->errors.place[0] = '\0';
    problem_error(&x->errors, field, "list.length", &limits, "%s: at most %zu", import_lists[list],
                  max);
    return false;
}

/* ---- what differs ---------------------------------------------------------------------------- */

/* b NULL: the thing does not have the member, which is what null says. */
static bool same(const json_t *a, const json_t *b)
{
    if (json_is_null(a) && !b)
        return true;
    if (json_is_number(a) && json_is_number(b))
        return json_number_value(a) == json_number_value(b);
    return json_equal(a, b);
}

void import_note(json_t *changes, const char *parent, const char *name)
{
    char pointer[160];
    snprintf(pointer, sizeof(pointer), "%s%s/%s", *parent ? "/" : "", parent, name);
    json_array_append_new(changes, json_string(pointer));
}

static bool among(const char *const *members, size_t n, const char *name)
{
    bool found = !n;
    for (size_t i = 0; i < n; i++)
        found |= strcmp(members[i], name) == 0;
    return found;
}

json_t *import_differ(json_t *changes, const json_t *want, const json_t *have, const char *parent,
                      const char *const *members, size_t n)
{
    json_t *to = json_object(), *v;
    const char *name;
    json_object_foreach((json_t *)want, name, v)
    {
        if (!among(members, n, name) || same(v, json_object_get(have, name)))
            continue;
        json_object_set(to, name, v);
        import_note(changes, parent, name);
    }
    return to;
}
