/* SPDX-License-Identifier: Apache-2.0 */
/* accounts.c - users, sessions and tokens as writes: each argument is a copy, because an asker that
 * gives up leaves it behind with the writer. What a write makes is told to the asker by a place
 * that both count. */
#include "api/accounts.h"
#include "api/password.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS_MAX 100 /* of a user */

/* ---- one kind of write ------------------------------------------------------------------------
 */

enum account_act {
    ACT_ADD,
    ACT_CHANGE,
    ACT_DELETE,
    ACT_UPGRADE,
    ACT_LOG_IN,
    ACT_LOG_OUT,
    ACT_TOKEN_ADD,
    ACT_TOKEN_DELETE,
    ACT_SESSION_USED,
    ACT_TOKEN_USED,
};

struct account { /* owned by the write, counted because the asker reads id after it */
    _Atomic int refs;
    enum account_act act;
    int64_t id; /* of the user or the token; of a new one */
    int64_t user_id, version, now_ms;
    struct user_record user; /* new, or its parts that change: */
    bool rights, xxl;        /* of the user these two */
    char *argon2, *column;
    struct session_record session;
    bool keeps; /* but this session */
    struct token_record token;
    struct audit *audit; /* owned; NULL: none */
};

static struct account *account_new(enum account_act act)
{
    struct account *a = mem_new(sizeof(*a));
    atomic_init(&a->refs, 1);
    a->act = act;
    return a;
}

static void account_unref(struct account *a)
{
    if (!a || atomic_fetch_sub(&a->refs, 1) != 1)
        return;
    user_record_done(&a->user);
    token_record_done(&a->token);
    audit_free(a->audit);
    free(a->argon2);
    free(a->column);
    free(a);
}

static void account_done(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    account_unref(arg);
}

/* ---- in the transaction ------------------------------------------------------------------------
 */

static enum err overtaken(int64_t now, int64_t wanted, struct why *why)
{
    why_set(why, "the user is at version %lld, the edit was made on %lld", (long long)now,
            (long long)wanted);
    return ERR_OVERTAKEN;
}

static enum err is_last_admin(struct store *s, const struct user_record *u, struct why *why)
{
    int64_t admins = 0;
    if (u->role != 1)
        return OK;
    enum err err = store_record_hold(s, STORE_ADMINS, 0, why);
    if (!err)
        err = s->ops->users->user_count(s, true, &admins, why);
    if (err || admins > 1)
        return err;
    why_set(why, "user %s is the last administrator, and stays one", u->username);
    return ERR_EXISTS;
}

/* Rights as JSON, for the audit. */
static char *rights_text(const struct rights *r)
{
    struct buf b = BUF_INIT(48 * (GRANTS_MAX + 1));
    buf_char(&b, '[');
    for (int i = 0; i < r->n; i++)
        buf_printf(&b, "%s\"%s@%lld\"", i ? "," : "", role_text(r->grants[i].role),
                   (long long)r->grants[i].group_id);
    buf_char(&b, ']');
    return buf_take(&b);
}

/* was or now NULL: the user is new, or goes. */
static void audit_user(struct audit *audit, const struct user_record *was,
                       const struct user_record *now)
{
    const struct user_record *some = now ? now : was;
    char *before = was ? rights_text(&was->rights) : NULL;
    char *after = now ? rights_text(&now->rights) : NULL;
    audit_thing(audit, some->id, some->username);
    audit_text(audit, "/center", was ? center_role_text(was->rights.center) : NULL,
               now ? center_role_text(now->rights.center) : NULL);
    audit_json(audit, "/grants", before, after);
    free(before);
    free(after);
}

static enum err audit_end(struct account *a, struct store *s, struct why *why)
{
    return a->audit ? audit_put(a->audit, s, why) : OK;
}

/* The user as it is, if the edit was made from that. */
static enum err user_take(struct store *s, const struct account *a, struct user_record *ret,
                          struct why *why)
{
    enum err err = store_record_hold(s, STORE_USER, a->id, why);
    if (!err)
        err = s->ops->users->user_get(s, a->id, ret, why);
    if (err || a->version < 0 || ret->version == a->version)
        return err;
    err = overtaken(ret->version, a->version, why);
    user_record_done(ret);
    return err;
}

static void text_put(char **to, const char *text)
{
    free(*to);
    *to = mem_dup(text);
}

/* The parts that change into u. Are there others than preferences? */
static bool change_apply(const struct account *a, struct user_record *u)
{
    bool anew = a->argon2 || a->rights || a->xxl;
    if (a->rights)
        user_record_grant(u, &a->user.rights);
    if (a->xxl)
        user_record_grant_xxl(u, a->user.role, a->user.permission);
    if (a->argon2) {
        text_put(&u->argon2, a->argon2);
        u->must_change = false;
    }
    if (a->column)
        text_put(&u->password, a->column);
    if (a->user.preferences)
        text_put(&u->preferences, a->user.preferences);
    u->version += anew;
    return anew;
}

static enum err run_change(struct store *s, struct account *a, struct why *why)
{
    struct user_record u, was;
    enum err err = user_take(s, a, &u, why);
    if (err)
        return err;
    user_record_copy(&was, &u);
    (void)change_apply(a, &u);
    bool other = !rights_same(&u.rights, &was.rights);
    if (u.role != 1)
        err = is_last_admin(s, &was, why);
    if (!err)
        err = s->ops->users->user_update(s, &u, why);
    if (!err && (a->argon2 || other))
        err = s->ops->users->sessions_end(s, a->id, a->keeps ? a->session.digest : NULL, why);
    if (a->audit)
        audit_user(a->audit, &was, &u);
    if (a->audit && a->argon2)
        audit_secret(a->audit, "/password");
    if (!err)
        err = audit_end(a, s, why);
    user_record_done(&u);
    user_record_done(&was);
    return err;
}

static enum err run_delete(struct store *s, struct account *a, struct why *why)
{
    struct user_record u;
    enum err err = user_take(s, a, &u, why);
    if (err)
        return err;
    err = is_last_admin(s, &u, why);
    if (!err)
        err = s->ops->users->user_delete(s, a->id, why);
    if (a->audit)
        audit_user(a->audit, &u, NULL);
    if (!err)
        err = audit_end(a, s, why);
    user_record_done(&u);
    return err;
}

static bool no_row(void *ctx, const struct token_record *r)
{
    (void)ctx;
    (void)r;
    return false;
}

static void audit_token(struct audit *audit, const struct token_record *t, bool made)
{
    struct buf b = BUF_INIT(1000);
    char *groups = token_groups_write(t);
    permissions_write(t->permissions, &b);
    audit_thing(audit, t->id, t->name);
    audit_text(audit, "/permissions", made ? NULL : buf_str(&b), made ? buf_str(&b) : NULL);
    audit_text(audit, "/groups", made ? NULL : groups, made ? groups : NULL);
    free(groups);
    buf_done(&b);
}

static enum err run_token_add(struct store *s, struct account *a, struct why *why)
{
    int64_t n = 0;
    enum err err = s->ops->users->tokens_of(s, a->token.user_id, 0, 0, no_row, NULL, &n, why);
    if (!err && n >= TOKENS_MAX) {
        why_set(why, "a user has at most %d tokens: revoke one first", TOKENS_MAX);
        err = ERR_EXISTS;
    }
    if (!err)
        err = s->ops->users->token_insert(s, &a->token, why);
    a->id = a->token.id;
    if (a->audit)
        audit_token(a->audit, &a->token, true);
    return err ? err : audit_end(a, s, why);
}

static enum err run_token_delete(struct store *s, struct account *a, struct why *why)
{
    struct token_record t;
    enum err err = s->ops->users->token_get(s, a->id, &t, why);
    if (err)
        return err;
    bool own = t.user_id == a->user_id;
    if (own && a->audit)
        audit_token(a->audit, &t, false);
    token_record_done(&t);
    if (own) {
        err = s->ops->users->token_delete(s, a->id, why);
        return err ? err : audit_end(a, s, why);
    }
    why_set(why, "token %lld does not exist", (long long)a->id);
    return ERR_NOTFOUND;
}

enum err account_run(struct store *s, struct account *a, struct why *why)
{
    const struct store_users *users = s->ops->users;
    enum err err;
    switch (a->act) {
    case ACT_ADD:
        err = users->user_insert(s, &a->user, why);
        a->id = a->user.id;
        if (a->audit)
            audit_user(a->audit, NULL, &a->user);
        return err ? err : audit_end(a, s, why);
    case ACT_CHANGE:
        return run_change(s, a, why);
    case ACT_DELETE:
        return run_delete(s, a, why);
    case ACT_UPGRADE:
        return users->user_upgrade(s, a->id, a->argon2, why);
    case ACT_LOG_IN:
        err = users->session_put(s, &a->session, why);
        if (!err)
            err = users->user_seen(s, a->session.user_id, a->session.created_ms, why);
        return err ? err : audit_end(a, s, why);
    case ACT_LOG_OUT:
        err = users->session_delete(s, a->session.digest, why);
        return err ? err : audit_end(a, s, why);
    case ACT_TOKEN_ADD:
        return run_token_add(s, a, why);
    case ACT_TOKEN_DELETE:
        return run_token_delete(s, a, why);
    case ACT_SESSION_USED:
        return users->session_used(s, a->session.digest, a->now_ms, why);
    case ACT_TOKEN_USED:
        return users->token_used(s, a->id, a->now_ms, why);
    }
    return ERR_INVALID;
}

static enum err write_run(struct store *s, void *arg, struct why *why)
{
    return account_run(s, arg, why);
}

static const struct ledger_write account_write = { write_run, account_done };

/* Make the write; ret_id may be NULL. */
static enum err account_do(struct center *c, struct account *a, int64_t *ret_id, struct why *why)
{
    atomic_fetch_add(&a->refs, 1);
    enum err err = center_write(c, &account_write, a, why);
    if (!err && ret_id)
        *ret_id = a->id;
    account_unref(a);
    return err;
}

/* ---- users ------------------------------------------------------------------------------------
 */

struct account *account_add_new(const struct user_record *user, struct audit *audit)
{
    struct account *a = account_new(ACT_ADD);
    user_record_copy(&a->user, user);
    a->audit = audit;
    return a;
}

struct account *account_rights_new(int64_t user_id, int64_t version, const struct rights *rights,
                                   struct audit *audit)
{
    struct account *a = account_new(ACT_CHANGE);
    a->audit = audit;
    a->id = user_id;
    a->version = version;
    a->rights = true;
    rights_copy(&a->user.rights, rights);
    return a;
}

void account_place(struct account *a, const struct rights *rights)
{
    user_record_grant(&a->user, rights);
}

void account_free(struct account *a)
{
    account_unref(a);
}

enum err account_add(struct center *c, const struct user_record *user, struct audit *audit,
                     int64_t *ret_id, struct why *why)
{
    return account_do(c, account_add_new(user, audit), ret_id, why);
}

bool account_name_ok(struct slice name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool letter = c >= 'a' && c <= 'z';
        bool more = i > 0 && ((c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-');
        if (!letter && !more)
            return false;
    }
    return name.n >= ACCOUNT_NAME_MIN && name.n <= ACCOUNT_NAME_MAX;
}

static enum err make_admin(struct center *c, const char *password, bool generated, struct why *why)
{
    char hash[PASSWORD_HASH_SIZE];
    enum err err = password_hash(slice_text(password), hash);
    if (err)
        return err;
    struct user_record user = { .username = "admin",
                                .password = "",
                                .argon2 = hash,
                                .must_change = generated,
                                .created_ms = clock_wall_ms() };
    const struct rights rights = { .center = CENTER_ADMIN };
    user_record_grant(&user, &rights);
    err = account_add(c, &user, audit_new_center("user.create", 0), NULL, why);
    free(user.permission);
    return err;
}

/* Scripts go on with a generated password; each start says so once. */
static enum err remind(struct store *db, struct why *why)
{
    struct user_record u;
    enum err err = db->ops->users->user_find(db, "admin", &u, why);
    if (err == ERR_NOTFOUND) {
        why_clear(why);
        return OK;
    }
    if (err)
        return err;
    if (u.must_change)
        log_warn("server", "the user admin still has the password that the first start printed: "
                           "change it (PUT /api/v1/me/password, or /user/updatePwd)");
    user_record_done(&u);
    return OK;
}

static enum err users_there(struct center *c, int64_t *ret_count, struct why *why)
{
    struct store *db;
    enum err err = center_reader(c, &db, why);
    if (err)
        return err;
    err = db->ops->users->user_count(db, false, ret_count, why);
    if (!err && *ret_count > 0)
        err = remind(db, why);
    store_close(db);
    return err;
}

enum err account_first(struct center *c, const char *wanted, char *ret_password, size_t size,
                       struct why *why)
{
    int64_t count = 0;
    ret_password[0] = '\0';
    enum err err = users_there(c, &count, why);
    if (err || count > 0)
        return err;
    char password[17];
    bool given = wanted && wanted[0];
    password_random(password);
    if (given && password_check(slice_text(wanted), PASSWORD_MAX, why)) {
        struct why rule = *why;
        why_clear(why);
        why_set(why, "admin.%s", rule.text);
        return ERR_INVALID;
    }
    const char *chosen = given ? wanted : password;
    err = make_admin(c, chosen, !given, why);
    if (err == ERR_EXISTS) { /* another server has made it meanwhile */
        why_clear(why);
        return users_there(c, &count, why);
    }
    if (!err)
        snprintf(ret_password, size, "%s", chosen);
    return err;
}

enum err account_change(struct center *c, const struct account_change *change, struct audit *audit,
                        struct why *why)
{
    struct account *a = account_new(ACT_CHANGE);
    a->audit = audit;
    a->id = change->user_id;
    a->version = change->version;
    a->argon2 = mem_dup(change->argon2);
    a->column = mem_dup(change->column);
    a->rights = change->rights != NULL;
    if (a->rights)
        rights_copy(&a->user.rights, change->rights);
    a->xxl = change->xxl;
    a->user.role = change->role;
    a->user.permission = mem_dup(change->permission);
    a->user.preferences = mem_dup(change->preferences);
    a->keeps = change->session != NULL;
    if (a->keeps)
        snprintf(a->session.digest, sizeof(a->session.digest), "%s", change->session);
    return account_do(c, a, NULL, why);
}

enum err account_delete(struct center *c, int64_t user_id, int64_t version, struct audit *audit,
                        struct why *why)
{
    struct account *a = account_new(ACT_DELETE);
    a->audit = audit;
    a->id = user_id;
    a->version = version;
    return account_do(c, a, NULL, why);
}

enum err account_upgrade(struct center *c, int64_t user_id, const char *argon2, struct why *why)
{
    struct account *a = account_new(ACT_UPGRADE);
    a->id = user_id;
    a->argon2 = mem_dup(argon2);
    return account_do(c, a, NULL, why);
}

/* ---- sessions ----------------------------------------------------------------------------------
 */

enum err account_log_in(struct center *c, const struct session_record *session, struct audit *audit,
                        struct why *why)
{
    struct account *a = account_new(ACT_LOG_IN);
    a->audit = audit;
    a->session = *session;
    return account_do(c, a, NULL, why);
}

static struct account *of_session(enum account_act act, const char *digest)
{
    struct account *a = account_new(act);
    snprintf(a->session.digest, sizeof(a->session.digest), "%s", digest);
    return a;
}

enum err account_log_out(struct center *c, const char *digest, struct audit *audit, struct why *why)
{
    struct account *a = of_session(ACT_LOG_OUT, digest);
    a->audit = audit;
    return account_do(c, a, NULL, why);
}

void account_session_used(struct center *c, const char *digest, int64_t now_ms)
{
    struct account *a = of_session(ACT_SESSION_USED, digest);
    a->now_ms = now_ms;
    center_write_later(c, &account_write, a);
}

/* ---- tokens ------------------------------------------------------------------------------------
 */

enum err account_token_add(struct center *c, const struct token_record *token, struct audit *audit,
                           int64_t *ret_id, struct why *why)
{
    struct account *a = account_new(ACT_TOKEN_ADD);
    a->audit = audit;
    token_record_copy(&a->token, token);
    return account_do(c, a, ret_id, why);
}

enum err account_token_delete(struct center *c, int64_t user_id, int64_t id, struct audit *audit,
                              struct why *why)
{
    struct account *a = account_new(ACT_TOKEN_DELETE);
    a->audit = audit;
    a->user_id = user_id;
    a->id = id;
    return account_do(c, a, NULL, why);
}

void account_token_used(struct center *c, int64_t id, int64_t now_ms)
{
    struct account *a = account_new(ACT_TOKEN_USED);
    a->id = id;
    a->now_ms = now_ms;
    center_write_later(c, &account_write, a);
}
