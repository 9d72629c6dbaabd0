/* SPDX-License-Identifier: Apache-2.0 */
/* Permissions, roles, grants, what XXL-JOB's two columns make of them, and the actor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "model/rights.h"

#define GROUPS "read,run,jobs:write,scripts:write"
#define ALL GROUPS ",audit:read,executors:write,users:admin,system:admin"

static void assert_set(unsigned set, const char *text)
{
    struct buf b = BUF_INIT(1000);
    permissions_write(set, &b);
    assert_string_equal(buf_str(&b), text);
    buf_done(&b);
}

static void roles_are_nested_sets(void **state)
{
    (void)state;
    assert_set(role_permissions(ROLE_VIEWER), "read");
    assert_set(role_permissions(ROLE_OPERATOR), "read,run");
    assert_set(role_permissions(ROLE_EDITOR), "read,run,jobs:write");
    assert_set(role_permissions(ROLE_DEVELOPER), GROUPS);
    assert_set(center_role_permissions(CENTER_NONE), "");
    assert_set(center_role_permissions(CENTER_AUDITOR), "read,audit:read");
    assert_set(center_role_permissions(CENTER_ADMIN), ALL);
}

static void texts_name_what_they_are_made_of(void **state)
{
    (void)state;
    enum permission p;
    enum role r;
    enum center_role c;
    for (int i = 0; i < PERMISSIONS; i++)
        assert_true(permission_of(slice_text(permission_text(i)), &p) && (int)p == i);
    for (int i = 0; i < ROLES; i++)
        assert_true(role_of(slice_text(role_text(i)), &r) && (int)r == i);
    for (int i = 0; i < CENTER_ROLES; i++)
        assert_true(center_role_of(slice_text(center_role_text(i)), &c) && (int)c == i);
    assert_false(permission_of(slice_text("Read"), &p));
    assert_false(role_of(slice_text(""), &r));
    assert_false(center_role_of(slice_text("developer"), &c));
}

static void lists_of_permissions_are_read_strictly(void **state)
{
    (void)state;
    static const struct {
        const char *text, *set; /* NULL: refused */
    } rows[] = {
        { "", "" },
        { "read", "read" },
        { " run , read ", "read,run" },
        { "system:admin,read,", "read,system:admin" },
        { ALL, ALL },
        { "read,read", NULL },
        { "reader", NULL },
        { "read;run", NULL },
        { "READ", NULL },
    };
    for (size_t i = 0; i < countof(rows); i++) {
        unsigned set = 0;
        struct why why = { "" };
        enum err err = permissions_read(slice_text(rows[i].text), &set, &why);
        assert_int_equal(err, rows[i].set ? OK : ERR_INVALID);
        if (rows[i].set)
            assert_set(set, rows[i].set);
        else
            assert_int_equal(strncmp(why.text, "permissions: ", 13), 0);
    }
}

/* ---- scopes -------------------------------------------------------------------------------------
 */

static void a_scope_holds_what_is_in_its_list(void **state)
{
    (void)state;
    int64_t ids[] = { 7, 3, 9, 3, 7, 1 };
    size_t n = scope_sort(ids, countof(ids));
    assert_int_equal(n, 4);
    const struct scope s = { .n = n, .ids = ids };
    for (int64_t id = 0; id <= 10; id++)
        assert_int_equal(scope_has(&s, id), id == 1 || id == 3 || id == 7 || id == 9);
    assert_true(scope_has(&SCOPE_ALL, 0));
    assert_true(scope_has(NULL, 5));
    assert_false(scope_has(&SCOPE_NONE, 5));
    assert_int_equal(scope_sort(ids, 0), 0);
}

static void scopes_are_cut_by_each_other(void **state)
{
    (void)state;
    int64_t a_ids[] = { 1, 3, 5 }, b_ids[] = { 2, 3, 5, 8 }, ids[4];
    const struct scope a = { .n = 3, .ids = a_ids }, b = { .n = 4, .ids = b_ids };
    struct scope both = scope_and(&a, &b, ids);
    assert_int_equal(both.n, 2);
    assert_true(ids[0] == 3 && ids[1] == 5 && !both.all);
    both = scope_and(&SCOPE_ALL, &b, ids);
    assert_true(scope_same(&both, &b));
    both = scope_and(&a, &SCOPE_ALL, ids);
    assert_true(scope_same(&both, &a));
    both = scope_and(&SCOPE_ALL, &SCOPE_ALL, ids);
    assert_true(both.all);
    both = scope_and(&a, &SCOPE_NONE, ids);
    assert_true(!both.all && both.n == 0);
    assert_false(scope_same(&a, &b));
    assert_false(scope_same(&a, &SCOPE_ALL));
}

/* ---- XXL-JOB's columns --------------------------------------------------------------------------
 */

static void rights_text(const struct rights *r, char *to, size_t size)
{
    int n = snprintf(to, size, "%s", center_role_text(r->center));
    for (int i = 0; i < r->n; i++)
        n += snprintf(to + n, size - (size_t)n, " %s@%lld", role_text(r->grants[i].role),
                      (long long)r->grants[i].group_id);
}

static void columns_of_the_original_are_developers_and_admins(void **state)
{
    (void)state;
    static const struct {
        int role;
        const char *permission, *rights;
    } rows[] = {
        { 1, NULL, "admin" },
        { 1, "1,2", "admin" },
        { 0, NULL, "none" },
        { 0, "", "none" },
        { 0, "4", "none developer@4" },
        { 0, "22, 1,x,3,,1,-5,0,9e1", "none developer@1 developer@3 developer@22" },
        { 0, "99999999999999999999", "none" },
        { 2, "4", "none developer@4" },
        { -1, "4", "none developer@4" },
    };
    for (size_t i = 0; i < countof(rows); i++) {
        struct rights r;
        char text[200];
        rights_of_xxl(rows[i].role, rows[i].permission, &r);
        rights_text(&r, text, sizeof(text));
        assert_string_equal(text, rows[i].rights);
        rights_done(&r);
    }
}

static struct rights some_rights(enum center_role center, const char *grants)
{
    struct rights r = { .center = center };
    struct slice rest = slice_text(grants), one;
    while (slice_item(&rest, &one)) { /* "viewer@4" */
        struct slice role;
        int64_t id;
        enum role as;
        assert_true(slice_cut(&one, '@', &role) && role_of(role, &as) && parse_i64(one, &id));
        assert_true(rights_add(&r, id, as));
    }
    return r;
}

/* A Java admin on the same database never allows more than we do. */
static void only_developers_stand_in_the_columns(void **state)
{
    (void)state;
    static const struct {
        enum center_role center;
        const char *grants;
        int role;
        const char *permission;
    } rows[] = {
        { CENTER_ADMIN, "developer@4", 1, "" },
        { CENTER_NONE, "", 0, "" },
        { CENTER_NONE, "developer@7,developer@4,editor@5,operator@6,viewer@8", 0, "4,7" },
        { CENTER_AUDITOR, "developer@4", 0, "4" },
        { CENTER_NONE, "developer@0,viewer@3", 0, "" },
        { CENTER_NONE, "viewer@4,developer@4", 0, "4" },
    };
    for (size_t i = 0; i < countof(rows); i++) {
        struct rights r = some_rights(rows[i].center, rows[i].grants);
        int role;
        char *permission;
        rights_to_xxl(&r, &role, &permission);
        assert_int_equal(role, rows[i].role);
        assert_string_equal(permission, rows[i].permission);
        free(permission);
        rights_done(&r);
    }
}

static void a_full_column_loses_whole_groups(void **state)
{
    (void)state;
    struct rights r = { .center = CENTER_NONE }, again;
    for (int i = 0; i < 100; i++)
        assert_true(rights_add(&r, 1000 + i, ROLE_DEVELOPER));
    int role;
    char *permission;
    rights_to_xxl(&r, &role, &permission);
    assert_true(strlen(permission) <= XXL_PERMISSION_MAX);
    rights_of_xxl(role, permission, &again);
    assert_int_equal(again.n, (XXL_PERMISSION_MAX + 1) / 5);
    assert_int_equal(again.grants[again.n - 1].group_id, 1000 + again.n - 1);
    free(permission);
    rights_done(&again);
    rights_done(&r);
}

static void grants_are_bounded_and_one_a_group(void **state)
{
    (void)state;
    struct rights r = { .center = CENTER_NONE }, copy;
    for (int i = 0; i < GRANTS_MAX; i++)
        assert_true(rights_add(&r, GRANTS_MAX - i, ROLE_VIEWER));
    assert_false(rights_add(&r, GRANTS_MAX + 1, ROLE_VIEWER));
    assert_true(rights_add(&r, 5, ROLE_EDITOR));
    assert_true(rights_add(&r, 5, ROLE_OPERATOR));
    assert_int_equal(r.n, GRANTS_MAX);
    assert_int_equal(r.grants[4].role, ROLE_EDITOR);
    rights_copy(&copy, &r);
    assert_true(rights_same(&copy, &r));
    copy.grants[7].role = ROLE_DEVELOPER;
    assert_false(rights_same(&copy, &r));
    rights_done(&copy);
    rights_done(&r);
}

/* ---- the actor ----------------------------------------------------------------------------------
 */

/* What the actor may on groups 1 to 3, a letter a permission, and for the server. */
static void actor_text(const struct actor *a, char to[64])
{
    static const char letters[] = "rgjsaeux";
    for (int64_t group = 1; group <= 3; group++) {
        for (int p = 0; p < PERMISSIONS_OF_GROUPS; p++)
            if (actor_may(a, (enum permission)p, group))
                *to++ = letters[p];
        *to++ = '|';
    }
    for (int p = PERMISSIONS_OF_GROUPS; p < PERMISSIONS; p++)
        if (actor_may(a, (enum permission)p, 0))
            *to++ = letters[p];
    *to = '\0';
}

static void an_actor_may_what_center_and_grants_say(void **state)
{
    (void)state;
    static const struct {
        enum center_role center;
        const char *grants;
        unsigned cut;  /* 0: a session */
        int64_t group; /* of the token; 0: all */
        const char *may;
    } rows[] = {
        { CENTER_NONE, "", 0, 0, "|||" },
        { CENTER_NONE, "viewer@1,operator@2,editor@3", 0, 0, "r|rg|rgj|" },
        { CENTER_NONE, "developer@2", 0, 0, "|rgjs||" },
        { CENTER_NONE, "viewer@0,developer@2", 0, 0, "r|rgjs|r|" },
        { CENTER_AUDITOR, "operator@3", 0, 0, "r|r|rg|a" },
        { CENTER_ADMIN, "", 0, 0, "rgjs|rgjs|rgjs|aeux" },
        { CENTER_ADMIN, "", PERM_BIT(PERM_READ) | PERM_BIT(PERM_RUN), 0, "rg|rg|rg|" },
        { CENTER_ADMIN, "", PERM_ALL, 2, "|rgjs||" },
        { CENTER_NONE, "developer@1,viewer@2", PERM_ALL, 2, "|r||" },
        { CENTER_NONE, "developer@1,viewer@2", PERM_BIT(PERM_RUN), 0, "g|||" },
        { CENTER_NONE, "developer@1", PERM_BIT(PERM_USERS_ADMIN) | PERM_BIT(PERM_READ), 3, "|||" },
        { CENTER_AUDITOR, "", PERM_BIT(PERM_AUDIT_READ), 0, "|||a" },
    };
    for (size_t i = 0; i < countof(rows); i++) {
        struct rights r = some_rights(rows[i].center, rows[i].grants);
        struct actor *a = actor_new(5, &r);
        rights_done(&r);
        if (rows[i].cut) {
            const struct scope one = { .n = 1, .ids = &rows[i].group };
            struct actor *token =
                actor_new_token(a, 9, rows[i].cut, rows[i].group ? &one : &SCOPE_ALL);
            assert_true(token->token_id == 9 && token->user_id == 5);
            actor_free(a);
            a = token;
        }
        char text[64];
        actor_text(a, text);
        if (strcmp(text, rows[i].may) != 0)
            fail_msg("row %zu: %s, expected %s", i, text, rows[i].may);
        assert_int_equal(actor_has(a, PERM_RUN), strchr(text, 'g') != NULL);
        assert_int_equal(actor_has(a, PERM_AUDIT_READ), strchr(text, 'a') != NULL);
        assert_false(actor_may(a, PERM_READ, 0) && !actor_scope(a, PERM_READ)->all);
        actor_free(a);
    }
}

/* What the actor of one user, cut by a token, may give to another. */
static void nobody_gives_what_they_lack(void **state)
{
    (void)state;
    const unsigned of_groups = PERM_BIT(PERMISSIONS_OF_GROUPS) - 1;
    const struct {
        const char *grants; /* of the one who gives */
        enum center_role center;
        unsigned cut; /* of the token; 0: a session */
        enum center_role to;
        const char *given;
        bool covered;
    } rows[] = {
        { "", CENTER_ADMIN, 0, CENTER_ADMIN, "", true },
        { "", CENTER_ADMIN, PERM_ALL, CENTER_ADMIN, "", true },
        { "", CENTER_ADMIN, PERM_BIT(PERM_USERS_ADMIN), CENTER_NONE, "", true },
        { "", CENTER_ADMIN, PERM_BIT(PERM_USERS_ADMIN), CENTER_NONE, "viewer@1", false },
        { "", CENTER_ADMIN, PERM_BIT(PERM_READ), CENTER_AUDITOR, "", false },
        { "", CENTER_ADMIN, PERM_BIT(PERM_READ), CENTER_NONE, "viewer@0", true },
        { "", CENTER_ADMIN, of_groups, CENTER_NONE, "developer@0", true },
        { "", CENTER_ADMIN, PERM_ALL & ~PERM_BIT(PERM_SYSTEM_ADMIN), CENTER_ADMIN, "", false },
        { "developer@1", CENTER_NONE, 0, CENTER_NONE, "viewer@1", true },
        { "developer@1", CENTER_NONE, 0, CENTER_NONE, "viewer@1,viewer@2", false },
        { "developer@1", CENTER_NONE, 0, CENTER_NONE, "viewer@0", false },
        { "viewer@0", CENTER_NONE, 0, CENTER_NONE, "viewer@7", true },
    };
    for (size_t i = 0; i < countof(rows); i++) {
        struct rights r = some_rights(rows[i].center, rows[i].grants);
        struct rights given = some_rights(rows[i].to, rows[i].given);
        struct actor *a = actor_new(5, &r);
        if (rows[i].cut) {
            struct actor *token = actor_new_token(a, 9, rows[i].cut, &SCOPE_ALL);
            actor_free(a);
            a = token;
        }
        if (actor_covers(a, &given) != rows[i].covered)
            fail_msg("row %zu", i);
        actor_free(a);
        rights_done(&r);
        rights_done(&given);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles_are_nested_sets),
        cmocka_unit_test(texts_name_what_they_are_made_of),
        cmocka_unit_test(lists_of_permissions_are_read_strictly),
        cmocka_unit_test(a_scope_holds_what_is_in_its_list),
        cmocka_unit_test(nobody_gives_what_they_lack),
        cmocka_unit_test(scopes_are_cut_by_each_other),
        cmocka_unit_test(columns_of_the_original_are_developers_and_admins),
        cmocka_unit_test(only_developers_stand_in_the_columns),
        cmocka_unit_test(a_full_column_loses_whole_groups),
        cmocka_unit_test(grants_are_bounded_and_one_a_group),
        cmocka_unit_test(an_actor_may_what_center_and_grants_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
