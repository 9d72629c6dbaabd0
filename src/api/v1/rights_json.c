/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are one a group; the API has one object a role. */
#include "api/v1/rights_json.h"
#include "base/mem.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- writing ------------------------------------------------------------------------------------
 */

void rights_json_groups(struct jsonw *w, const struct scope *scope)
{
    if (scope->all) {
        jsonw_null(w, "groups");
        return;
    }
    jsonw_array(w, "groups");
    for (size_t i = 0; i < scope->n; i++)
        jsonw_i64(w, NULL, scope->ids[i]);
    jsonw_array_end(w);
}

void rights_json_permissions(struct jsonw *w, unsigned set)
{
    jsonw_array(w, "permissions");
    for (int p = 0; p < PERMISSIONS; p++)
        if (set & PERM_BIT(p))
            jsonw_text(w, NULL, permission_text((enum permission)p));
    jsonw_array_end(w);
}

static void write_grant(struct jsonw *w, enum role role, const struct scope *scope)
{
    if (!scope->all && scope->n == 0)
        return;
    jsonw_object(w, NULL);
    jsonw_text(w, "role", role_text(role));
    rights_json_groups(w, scope);
    jsonw_object_end(w);
}

void rights_json_center(struct jsonw *w, const struct rights *r)
{
    jsonw_text(w, "center", center_role_text(r->center));
}

void rights_json_grants(struct jsonw *w, const struct rights *r)
{
    int64_t *ids = mem_new(((size_t)r->n + 1) * sizeof(*ids));
    jsonw_array(w, "grants");
    for (int role = 0; role < ROLES; role++) {
        struct scope some = { .ids = ids };
        bool all = false;
        for (int i = 0; i < r->n; i++) {
            if ((int)r->grants[i].role != role)
                continue;
            if (r->grants[i].group_id == 0)
                all = true;
            else
                ids[some.n++] = r->grants[i].group_id;
        }
        write_grant(w, (enum role)role, &some);
        if (all)
            write_grant(w, (enum role)role, &SCOPE_ALL);
    }
    jsonw_array_end(w);
    free(ids);
}

static void write_right(struct jsonw *w, unsigned set, const struct scope *scope)
{
    jsonw_object(w, NULL);
    rights_json_permissions(w, set);
    rights_json_groups(w, scope);
    jsonw_object_end(w);
}

/* Permissions of the server stand with those of groups that hold for all. */
void rights_json_actor(struct jsonw *w, const struct actor *a)
{
    unsigned told = 0, all = a->center;
    for (int p = 0; p < PERMISSIONS_OF_GROUPS; p++)
        if (a->scopes[p].all)
            all |= PERM_BIT(p);
    jsonw_array(w, "rights");
    if (all)
        write_right(w, all, &SCOPE_ALL);
    told = all;
    for (int p = 0; p < PERMISSIONS_OF_GROUPS; p++) {
        unsigned same = 0;
        for (int q = p; q < PERMISSIONS_OF_GROUPS; q++)
            if (scope_same(&a->scopes[p], &a->scopes[q]))
                same |= PERM_BIT(q);
        if (!(told & PERM_BIT(p)) && actor_has(a, (enum permission)p))
            write_right(w, same, &a->scopes[p]);
        told |= same;
    }
    jsonw_array_end(w);
}

/* ---- reading ------------------------------------------------------------------------------------
 */

struct grant_in {
    struct body_word role;
    struct body_ids groups;
};

static const struct body_field role_field[] = {
    { "role", FIELD_WORD, offsetof(struct grant_in, role), true, 0, 0 },
};
static const struct body_field grant_fields[] = {
    { "role", FIELD_WORD, offsetof(struct grant_in, role), true, 0, 0 },
    { "groups", FIELD_IDS, offsetof(struct grant_in, groups), true, 0, GRANTS_MAX },
};

static bool add(struct rights *r, int64_t group_id, enum role role, const char *pointer,
                struct problem_errors *errors)
{
    if (rights_add(r, group_id, role))
        return true;
    problem_error(errors, pointer, "list.length", NULL, "grants: at most %d roles on groups",
                  GRANTS_MAX);
    return false;
}

static void read_grant(const json_t *grant, const char *pointer, struct rights *r,
                       struct problem_errors *errors)
{
    struct grant_in in = { .role = { .words = "viewer,operator,editor,developer" } };
    int before = errors->n;
    enum role role;
    if (!json_is_object(grant)) {
        body_type_error(errors, pointer, FIELD_OBJECT);
        return;
    }
    const json_t *groups = json_object_get(grant, "groups");
    if (json_is_null(groups)) { /* all; the other members are read without it */
        json_t *rest = json_copy((json_t *)grant);
        json_object_del(rest, "groups");
        body_fields_at(pointer, rest, role_field, countof(role_field), &in, errors);
        bool good = errors->n == before && role_of(in.role.text, &role);
        json_decref(rest);
        if (good)
            (void)add(r, 0, role, pointer, errors);
        return;
    }
    body_fields_at(pointer, grant, grant_fields, countof(grant_fields), &in, errors);
    if (errors->n != before || !role_of(in.role.text, &role))
        return;
    for (size_t i = 0; i < in.groups.n; i++)
        if (!add(r, body_id(&in.groups, i), role, pointer, errors))
            return;
}

void rights_json_read_grants(const struct json_t *grants, struct rights *r,
                             struct problem_errors *errors)
{
    char pointer[64];
    if (!grants)
        return;
    if (!json_is_array(grants)) {
        problem_error(errors, "/grants", "type.array", NULL, "grants: must be an array");
        return;
    }
    if (json_array_size(grants) > GRANTS_MAX) {
        problem_error(errors, "/grants", "list.length", NULL, "grants: at most %d", GRANTS_MAX);
        return;
    }
    for (size_t i = 0; i < json_array_size(grants); i++) {
        snprintf(pointer, sizeof(pointer), "/grants/%zu", i);
        read_grant(json_array_get(grants, i), pointer, r, errors);
    }
}
