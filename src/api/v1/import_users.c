/* SPDX-License-Identifier: Apache-2.0 */
/* Users of a file, found by their names. A file says their rights; it may say the password of a
 * user that is made, and one without cannot log in until an administrator gives it one. A user that
 * is there keeps its password, and none goes because a file does not have it. */
#include "api/accounts.h"
#include "api/body.h"
#include "api/password.h"
#include "api/v1/import.h"
#include "base/mem.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USERS_MAX 1000
#define PASSWORDS_MAX 100 /* each costs some 50 ms of a worker */

static struct problem_errors *fault(struct import *x, enum problem_kind kind, int item)
{
    return import_fault(x, kind, IMPORT_USERS, item);
}

static struct import_user *add_step(struct import *x, int item, const char *name)
{
    x->users = mem_resize(x->users, ((size_t)x->nusers + 1) * sizeof(*x->users));
    struct import_user *u = &x->users[x->nusers++];
    *u = (struct import_user){ .item = item, .name = name };
    u->changes = json_array();
    return u;
}

static void drop_last(struct import *x)
{
    struct import_user *u = &x->users[--x->nusers];
    json_decref(u->changes);
    rights_done(&u->rights);
}

void import_users_done(struct import *x)
{
    while (x->nusers)
        drop_last(x);
    free(x->users);
}

/* ---- rights ---------------------------------------------------------------------------------- */

/* The id of a group, or what stands for one that the file makes. False: told. */
static bool find_group(struct import *x, int item, const char *app, const char *field,
                       int64_t *ret_id)
{
    const json_t *step = json_object_get(x->file_groups, app);
    switch (import_group(x, app, ret_id)) {
    case IMPORT_ONE:
        return true;
    case IMPORT_NONE:
        if (step && json_integer_value(step) >= 0) {
            *ret_id = import_later((int)json_integer_value(step));
            return true;
        }
        problem_error(fault(x, PROBLEM_INVALID, item), field, "group.exists", NULL,
                      "there is no group %.64s, and no file makes it", app);
        return false;
    default:
        problem_error(fault(x, PROBLEM_INVALID, item), field, "name.unclear", NULL,
                      "several groups have the app name %.64s", app);
        return false;
    }
}

static bool add_grant(struct import *x, struct import_user *u, int64_t group_id, enum role role)
{
    if (rights_add(&u->rights, group_id, role))
        return true;
    problem_error(fault(x, PROBLEM_INVALID, u->item), "/grants", "list.length", NULL,
                  "grants: at most %d roles on groups", GRANTS_MAX);
    return false;
}

static void read_grant(struct import *x, struct import_user *u, const json_t *want, size_t no)
{
    const json_t *groups = json_object_get(want, "groups"), *one;
    enum role role;
    int64_t id;
    char field[64];
    size_t i;
    snprintf(field, sizeof(field), "/grants/%zu/role", no);
    if (!role_of(slice_text(json_string_value(json_object_get(want, "role"))), &role)) {
        problem_error(fault(x, PROBLEM_INVALID, u->item), field, "word", NULL,
                      "role: must be viewer, operator, editor or developer");
        return;
    }
    snprintf(field, sizeof(field), "/grants/%zu/groups", no);
    if (!groups)
        problem_error(fault(x, PROBLEM_INVALID, u->item), field, "required", NULL,
                      "groups: is missing; null: all groups");
    if (json_is_null(groups))
        (void)add_grant(x, u, 0, role);
    json_array_foreach(groups, i, one)
    {
        snprintf(field, sizeof(field), "/grants/%zu/groups/%zu", no, i);
        if (find_group(x, u->item, json_string_value(one), field, &id) &&
            !add_grant(x, u, id, role))
            return;
    }
}

/* What the file says of them; the rest stays. */
static void read_rights(struct import *x, struct import_user *u, const json_t *want)
{
    const char *center = json_string_value(json_object_get(want, "center"));
    const json_t *grants = json_object_get(want, "grants"), *one;
    size_t i;
    if (center && !center_role_of(slice_text(center), &u->rights.center))
        problem_error(fault(x, PROBLEM_INVALID, u->item), "/center", "word", NULL,
                      "center: must be none, auditor or admin");
    if (!grants)
        return;
    free(u->rights.grants);
    u->rights.grants = NULL;
    u->rights.n = 0;
    json_array_foreach(grants, i, one)
    {
        read_grant(x, u, one, i);
    }
}

/* ---- made, changed --------------------------------------------------------------------------- */

static void read_password(struct import *x, struct import_user *u, const json_t *want)
{
    const json_t *password = json_object_get(want, "password");
    struct why why = { "" };
    if (!password)
        return;
    u->password = slice_of(json_string_value(password), json_string_length(password));
    if (password_check(u->password, PASSWORD_BYTES_MAX, &why))
        problem_error(fault(x, PROBLEM_INVALID, u->item), "/password", "password", NULL, "%s",
                      why.text);
}

static void covered(struct import *x, int item, const struct rights *rights)
{
    if (!actor_covers(x->call->actor, rights))
        problem_error(fault(x, PROBLEM_FORBIDDEN, item), "", "permission", NULL, "%s",
                      ACCOUNT_NOT_COVERED);
}

static void make_user(struct import *x, const json_t *want, int item, const char *name)
{
    struct import_user *u = add_step(x, item, name);
    if (!account_name_ok(slice_text(name)))
        problem_error(fault(x, PROBLEM_INVALID, item), "/name", "user.name", NULL,
                      "name: must have %d to %d characters and begin with a letter a-z; a-z, 0-9, "
                      "'.', '_' and '-' follow",
                      ACCOUNT_NAME_MIN, ACCOUNT_NAME_MAX);
    read_password(x, u, want);
    read_rights(x, u, want);
    covered(x, item, &u->rights);
}

static bool same_grants(const struct rights *a, const struct rights *b)
{
    struct rights x = *a, y = *b;
    x.center = y.center;
    return rights_same(&x, &y);
}

static void change_user(struct import *x, const json_t *want, int item,
                        const struct user_record *is)
{
    struct import_user *u = add_step(x, item, json_string_value(json_object_get(want, "name")));
    u->id = is->id;
    u->version = is->version;
    rights_copy(&u->rights, &is->rights);
    read_rights(x, u, want);
    if (u->rights.center != is->rights.center)
        import_note(u->changes, "", "center");
    if (!same_grants(&u->rights, &is->rights))
        import_note(u->changes, "", "grants");
    if (json_array_size(u->changes) && is->id == x->call->user.id)
        problem_error(fault(x, PROBLEM_CONFLICT, item), "", "user.self", NULL,
                      "users cannot change their own center or grants");
    if (json_array_size(u->changes)) {
        covered(x, item, &is->rights);
        covered(x, item, &u->rights);
    }
}

static void plan_user(struct import *x, const json_t *want, int item)
{
    const char *name = json_string_value(json_object_get(want, "name"));
    int before = x->errors.n;
    struct user_record is;
    struct why why = { "" };
    if (!import_allowed(x, PERM_USERS_ADMIN, 0, IMPORT_USERS, item))
        return;
    enum err err = x->call->db->ops->users->user_find(x->call->db, name, &is, &why);
    if (err == ERR_NOTFOUND) {
        make_user(x, want, item, name);
    } else if (err) {
        x->err = err;
        x->why = why;
    } else {
        change_user(x, want, item, &is);
        if (x->errors.n == before && !json_array_size(x->users[x->nusers - 1].changes)) {
            drop_last(x);
            x->same++;
        }
        user_record_done(&is);
    }
}

static void check_passwords(struct import *x)
{
    int n = 0;
    for (int i = 0; i < x->nusers; i++) {
        n += x->users[i].password.p != NULL;
        if (n > PASSWORDS_MAX) {
            problem_error(fault(x, PROBLEM_INVALID, x->users[i].item), "/password", "list.length",
                          NULL, "password: an import makes at most %d users with passwords",
                          PASSWORDS_MAX);
            return;
        }
    }
}

void import_users_plan(struct import *x)
{
    const json_t *users = json_object_get(x->doc, "users"), *one;
    size_t i;
    if (!import_fits(x, IMPORT_USERS, json_array_size(users), USERS_MAX))
        return;
    json_array_foreach(users, i, one)
    {
        if (!x->err)
            plan_user(x, one, (int)i);
    }
    check_passwords(x);
}
