/* SPDX-License-Identifier: Apache-2.0 */
/* Users with their rights, sessions and tokens, in both engines; and on SQLite what another program
 * does to XXL-JOB's columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "support_store.h"

/* A user that may read everywhere and develop in group 4. */
static int64_t add_user(struct store *s, const char *name)
{
    struct user_record u = { .username = mem_dup(name), .argon2 = mem_dup("$argon2id$x") };
    struct rights r = { .center = CENTER_NONE };
    assert_true(rights_add(&r, 0, ROLE_VIEWER) && rights_add(&r, 4, ROLE_DEVELOPER));
    user_record_grant(&u, &r);
    u.created_ms = 77;
    OP(s, users->user_insert, &u);
    int64_t id = u.id;
    rights_done(&r);
    user_record_done(&u);
    return id;
}

static void assert_rights(struct store *s, int64_t id, const char *text)
{
    struct user_record u;
    char got[200];
    OP(s, users->user_get, id, &u);
    int n = snprintf(got, sizeof(got), "%s", center_role_text(u.rights.center));
    for (int i = 0; i < u.rights.n; i++)
        n += snprintf(got + n, sizeof(got) - (size_t)n, " %s@%lld",
                      role_text(u.rights.grants[i].role), (long long)u.rights.grants[i].group_id);
    assert_string_equal(got, text);
    user_record_done(&u);
}

static void rights_come_back_as_they_were_given(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct user_record u;
    OP(s, txn->begin);
    int64_t id = add_user(s, "ann");
    OP(s, txn->commit, NULL);
    assert_rights(s, id, "none viewer@0 developer@4");
    OP(s, users->user_find, "ann", &u);
    assert_string_equal(u.permission, "4");
    assert_true(u.role == 0 && u.version == 0 && u.created_ms == 77 && u.login_ms == -1);
    assert_null(u.preferences);
    const struct rights admin = { .center = CENTER_ADMIN };
    user_record_grant(&u, &admin);
    u.preferences = mem_dup("{}");
    u.version++;
    OP(s, txn->begin);
    OP(s, users->user_update, &u);
    OP(s, users->user_seen, id, 99);
    OP(s, users->user_upgrade, id, "$argon2id$y");
    OP(s, txn->commit, NULL);
    user_record_done(&u);
    assert_rights(s, id, "admin");
    OP(s, users->user_get, id, &u);
    assert_string_equal(u.argon2, "$argon2id$y");
    assert_string_equal(u.preferences, "{}");
    assert_true(u.role == 1 && u.version == 1 && u.created_ms == 77 && u.login_ms == 99);
    user_record_done(&u);
    int64_t admins = 0;
    OP(s, users->user_count, true, &admins);
    assert_int_equal(admins, 1);
    u.id = 99;
    OP(s, txn->begin);
    OP_FAILS(ERR_NOTFOUND, s, users->user_update, &u);
    OP(s, users->user_seen, 99, 1);
    OP(s, txn->commit, NULL);
}

/* A text that another program has changed wins, also when it becomes what it was for us. */
static void columns_that_another_program_changed_win(void **state)
{
    struct engine *e = *state;
    OP(e->s, txn->begin);
    int64_t id = add_user(e->s, "ann");
    OP(e->s, txn->commit, NULL);
    engine_sql(e, "UPDATE xxl_job_user SET permission = '4,5'");
    assert_rights(e->s, id, "none developer@4 developer@5");
    engine_sql(e, "UPDATE xxl_job_user SET role = 1");
    assert_rights(e->s, id, "admin");
    engine_sql(e, "UPDATE xxl_job_user SET role = 0, permission = '4'");
    assert_rights(e->s, id, "none viewer@0 developer@4");
    engine_sql(e, "UPDATE peal_grant SET role = 'king'"); /* of a later release */
    assert_rights(e->s, id, "none");
}

/* ---- pages --------------------------------------------------------------------------------------
 */

struct names {
    char text[100];
    int n, most;
};

static bool add_name(void *ctx, const struct user_record *u)
{
    struct names *names = ctx;
    size_t n = strlen(names->text);
    snprintf(names->text + n, sizeof(names->text) - n, "%s%s", n ? "," : "", u->username);
    return ++names->n < names->most;
}

static void users_are_listed_by_name_or_by_id(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    static const char *const given[] = { "zoe", "ann", "bob", "annabel" };
    OP(s, txn->begin);
    for (size_t i = 0; i < countof(given); i++)
        (void)add_user(s, given[i]);
    OP(s, txn->commit, NULL);
    const struct {
        struct users_filter f;
        int most;
        const char *names;
        int total;
    } cases[] = {
        { { .role = -1, .by_name = true, .limit = 9 }, 9, "ann,annabel,bob,zoe", 4 },
        { { .role = -1, .by_name = true, .offset = 1, .limit = 2 }, 9, "annabel,bob", 4 },
        { { .role = -1, .limit = 9 }, 9, "zoe,ann,bob,annabel", 4 },
        { { .role = -1, .limit = 2, .after_id = 1 }, 9, "ann,bob", 4 },
        { { .role = -1, .limit = 9 }, 1, "zoe", 4 },
        { { .role = -1, .name = "NN", .limit = 9 }, 9, "ann,annabel", 2 },
        { { .role = 0, .name = "b", .by_name = true, .limit = 9 }, 9, "annabel,bob", 2 },
        { { .role = 1, .limit = 9 }, 9, "", 0 },
        { { .role = -1, .limit = 0 }, 9, "", 4 },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct names got = { .most = cases[i].most };
        int64_t total = -1;
        OP(s, users->users_page, &cases[i].f, add_name, &got, &total);
        if (strcmp(got.text, cases[i].names) != 0 || total != cases[i].total)
            fail_msg("case %zu: %s, %d", i, got.text, (int)total);
    }
}

/* ---- sessions and tokens ------------------------------------------------------------------------
 */

static bool add_digest(void *ctx, const struct session_record *r)
{
    strcat(ctx, r->digest);
    return true;
}

static bool add_token_name(void *ctx, const struct token_record *r)
{
    strcat(ctx, r->name);
    return true;
}

static void put_session(struct store *s, const char *digest, int64_t user, int64_t created_ms)
{
    struct session_record r = { .user_id = user, .created_ms = created_ms, .expires_ms = 1000 };
    snprintf(r.digest, sizeof(r.digest), "%s", digest);
    OP(s, users->session_put, &r);
}

static void sessions_of_a_user_end_together(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct session_record got;
    char text[100] = "";
    OP(s, txn->begin);
    put_session(s, "a", 1, 10);
    put_session(s, "b", 1, 30);
    put_session(s, "c", 1, 20);
    put_session(s, "d", 2, 20);
    OP(s, users->session_used, "c", 44);
    OP(s, users->session_used, "nothing", 44);
    OP(s, txn->commit, NULL);
    OP(s, users->sessions_of, 1, add_digest, text);
    assert_string_equal(text, "bca");
    OP(s, users->session_find, "c", &got);
    assert_int_equal(got.used_ms, 44);
    OP(s, txn->begin);
    OP(s, users->sessions_end, 1, "c");
    OP(s, txn->commit, NULL);
    text[0] = '\0';
    OP(s, users->sessions_of, 1, add_digest, text);
    OP(s, users->sessions_of, 2, add_digest, text);
    assert_string_equal(text, "cd");
    OP(s, txn->begin);
    OP(s, users->sessions_end, 1, NULL);
    OP(s, txn->commit, NULL);
    OP_FAILS(ERR_NOTFOUND, s, users->session_find, "c", &got);
}

static int64_t put_token(struct store *s, int64_t user, const char *name, const int64_t *groups,
                         size_t n)
{
    struct token_record t = { .user_id = user,
                              .name = (char *)name,
                              .prefix = "pat_xxxx",
                              .permissions = PERM_BIT(PERM_READ) | PERM_BIT(PERM_USERS_ADMIN),
                              .all_groups = groups == NULL,
                              .groups = (int64_t *)groups,
                              .n = n,
                              .created_ms = 5,
                              .expires_ms = groups ? 500 : -1 };
    snprintf(t.digest, sizeof(t.digest), "digest-%s", name);
    OP(s, users->token_insert, &t);
    return t.id;
}

static void tokens_come_back_and_go(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct token_record got;
    int64_t groups[] = { 3, 7 }, total = 0;
    char text[100] = "";
    OP(s, txn->begin);
    int64_t user = add_user(s, "ann");
    int64_t a = put_token(s, user, "a", groups, 2), b = put_token(s, user, "b", NULL, 0);
    (void)put_token(s, user + 1, "c", groups, 0);
    OP(s, users->token_used, a, 66);
    OP(s, users->token_used, 99, 66);
    put_session(s, "s", user, 1);
    OP(s, txn->commit, NULL);
    OP(s, users->token_find, "digest-a", &got);
    assert_true(got.id == a && got.user_id == user && got.n == 2 && got.groups[1] == 7);
    assert_true(!got.all_groups && got.expires_ms == 500 && got.used_ms == 66);
    assert_int_equal(got.permissions, PERM_BIT(PERM_READ) | PERM_BIT(PERM_USERS_ADMIN));
    assert_string_equal(got.prefix, "pat_xxxx");
    token_record_done(&got);
    OP(s, users->token_get, b, &got);
    assert_true(got.all_groups && got.expires_ms == -1 && got.used_ms == -1);
    token_record_done(&got);
    OP(s, users->token_find, "digest-c", &got);
    assert_true(!got.all_groups && got.n == 0);
    token_record_done(&got);
    OP_FAILS(ERR_NOTFOUND, s, users->token_find, "digest", &got);
    OP(s, users->tokens_of, user, 0, 1, add_token_name, text, &total);
    OP(s, users->tokens_of, user, a, 9, add_token_name, text, &total);
    assert_string_equal(text, "ab");
    assert_int_equal(total, 2);
    OP(s, txn->begin);
    OP(s, users->token_delete, b);
    OP_FAILS(ERR_NOTFOUND, s, users->token_delete, b);
    OP(s, users->user_delete, user);
    OP_FAILS(ERR_NOTFOUND, s, users->user_delete, user);
    OP(s, txn->commit, NULL);
    struct session_record session;
    struct user_record u;
    OP_FAILS(ERR_NOTFOUND, s, users->token_get, a, &got);
    OP_FAILS(ERR_NOTFOUND, s, users->session_find, "s", &session);
    OP_FAILS(ERR_NOTFOUND, s, users->user_find, "ann", &u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(rights_come_back_as_they_were_given),
        { "sqlite: columns_that_another_program_changed_win",
          columns_that_another_program_changed_win, setup_sql, teardown_engine, NULL },
        BOTH(users_are_listed_by_name_or_by_id),
        BOTH(sessions_of_a_user_end_together),
        BOTH(tokens_come_back_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
