/* SPDX-License-Identifier: Apache-2.0 */
#include "api/xxl/login.h"
#include "api/cookie.h"
#include "api/password.h"
#include "api/xxl/reply.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/secret.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_BYTES 32
#define TOKEN_CHARS 43 /* of it in base64url */
#define SESSION_S (7 * 86400)
#define REMEMBERED_S (30 * 86400)
#define USERNAME_MAX 50
#define PASSWORD_BYTES_MAX 256 /* more is not hashed at all */

struct logins {
    pthread_mutex_t lock;
    struct throttle throttle;
};

struct logins *logins_new(void)
{
    struct logins *l = mem_new(sizeof(*l));
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

void logins_free(struct logins *l)
{
    if (!l)
        return;
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* ---- sessions ----------------------------------------------------------------------------------
 */

static void digest_of(struct slice token, char ret[65])
{
    unsigned char digest[32];
    sha256(token.p, token.n, digest);
    hex_text(digest, sizeof(digest), ret);
}

/* The live session of that token. */
static enum err session_of(struct web_call *call, struct slice token, struct session_record *ret,
                           struct why *why)
{
    char digest[65];
    if (token.n != TOKEN_CHARS)
        return ERR_NOTFOUND;
    digest_of(token, digest);
    enum err err = call->db->ops->session_find(call->db, digest, ret, why);
    if (!err && ret->expires_ms <= clock_wall_ms())
        return ERR_NOTFOUND;
    return err;
}

enum err login_find(struct web_call *call, struct why *why)
{
    static const char *const names[] = { COOKIE_NEW, COOKIE_OLD };
    if (!call->db) {
        why_set(why, "the database cannot be read");
        return ERR_STORE;
    }
    for (size_t i = 0; i < countof(names); i++) {
        struct slice rest = call->cookie, token;
        for (int tries = 0; tries < 4 && (token = cookie_next(&rest, names[i])).p; tries++) {
            struct session_record s;
            enum err err = session_of(call, token, &s, why);
            if (!err)
                err = call->db->ops->user_get(call->db, s.user_id, &call->user, why);
            if (err != ERR_NOTFOUND)
                return err;
            why_clear(why);
        }
    }
    return ERR_NOTFOUND;
}

/* Releases before 3.2 send everybody to their login page, also scripts. */
static bool speaks_new(const struct web_call *call)
{
    return cookie_has(call, COOKIE_NEW) || form_get(&call->form, "offset") ||
           form_get(&call->form, "pagesize") || form_get(&call->form, "ids[]") ||
           (call->route && call->route->flags & WEB_NEW);
}

void login_wanted(struct web_call *call)
{
    if (speaks_new(call)) {
        if (cookie_has(call, COOKIE_NEW))
            cookie_set(call, COOKIE_NEW, "", 0);
        reply_fail(call, "not login for path: %.*s", (int)utf8_cut(call->path.p, call->path.n, 200),
                   call->path.p);
        return;
    }
    call->status = 302;
    buf_printf(&call->headers, "Location: %s/toLogin\r\n", call->context);
    reply_fail(call, "log in first");
}

bool login_may(const struct web_call *call, int64_t group_id)
{
    if (call->user.role == 1)
        return true;
    struct slice rest = slice_text(call->user.permission);
    for (struct slice one; slice_item(&rest, &one);) {
        int64_t id;
        if (parse_i64(one, &id) && id == group_id)
            return true;
    }
    return false;
}

/* ---- log in ------------------------------------------------------------------------------------
 */

static enum err edit_text(struct web_call *call, enum edit_kind kind, int64_t id, const char *text,
                          struct why *why)
{
    struct edit *e = edit_new(kind), *done;
    e->id = id;
    e->text = mem_dup(text);
    enum err err = center_edit(call->center, e, &done, why);
    if (!err)
        edit_free(done);
    return err;
}

static enum err session_put(struct web_call *call, int64_t user_id, int64_t age_s,
                            char token[TOKEN_CHARS + 1], struct why *why)
{
    struct session_record *s = mem_new(sizeof(*s));
    secret_token(token, TOKEN_CHARS + 1, TOKEN_BYTES);
    digest_of(slice_text(token), s->digest);
    s->user_id = user_id;
    s->created_ms = clock_wall_ms();
    s->expires_ms = s->created_ms + age_s * 1000;
    snprintf(s->address, sizeof(s->address), "%s", call->peer);
    struct edit *e = edit_new(EDIT_SESSION_PUT), *done;
    e->extra = s;
    e->extra_free = free;
    enum err err = center_edit(call->center, e, &done, why);
    if (!err)
        edit_free(done);
    return err;
}

static void upgrade(struct web_call *call, const struct user_record *user, struct slice password)
{
    char hash[PASSWORD_HASH_SIZE];
    struct why why = { "" };
    enum err err = password_hash(password, hash);
    if (!err)
        err = edit_text(call, EDIT_USER_UPGRADE, user->id, hash, &why);
    if (err)
        log_warn("web", "the password of user %lld stays a legacy hash: %s", (long long)user->id,
                 why.text[0] ? why.text : err_text(err));
}

/* Is it the user's password? Counts failures; replies when not. */
static bool verify(struct web_call *call, struct slice name, struct slice password,
                   struct user_record *user)
{
    struct logins *l = call->logins;
    struct why why = { "" };
    pthread_mutex_lock(&l->lock);
    int64_t wait = throttle_wait(&l->throttle, name, call->peer, clock_boot_ms());
    pthread_mutex_unlock(&l->lock);
    if (wait > 0) {
        reply_fail(call, "too many failed logins of this user from this address: wait %lld s",
                   (long long)(wait + 999) / 1000);
        return false;
    }
    char text[USERNAME_MAX * 4 + 1];
    text_copy(text, sizeof(text), name);
    enum err err = call->db ? call->db->ops->user_find(call->db, text, user, &why) : ERR_STORE;
    if (err && err != ERR_NOTFOUND) {
        reply_err(call, err, &why);
        return false;
    }
    bool legacy, yes = password_matches(err ? NULL : user, password, &legacy);
    pthread_mutex_lock(&l->lock);
    if (yes)
        throttle_clear(&l->throttle, name, call->peer);
    else
        throttle_failed(&l->throttle, name, call->peer, clock_boot_ms());
    pthread_mutex_unlock(&l->lock);
    if (!yes) {
        log_warn("web", "failed login from %s", call->peer);
        reply_fail(call, "the user name or the password is wrong");
    } else if (legacy) {
        upgrade(call, user, password);
    }
    return yes;
}

static void login(struct web_call *call, const char *cookie)
{
    struct slice name = slice_trim(slice_text(form_get(&call->form, "userName")));
    struct slice password = slice_trim(slice_text(form_get(&call->form, "password")));
    const char *remember = form_get(&call->form, "ifRemember");
    if (name.n == 0 || password.n == 0) {
        reply_fail(call, "userName, password: must not be empty");
        return;
    }
    if (utf8_units(name.p, name.n) > USERNAME_MAX || password.n > PASSWORD_BYTES_MAX) {
        reply_fail(call, "the user name or the password is wrong"); /* no such user can exist */
        return;
    }
    struct user_record user = { 0 };
    if (verify(call, name, password, &user)) {
        bool keep = remember && (strcmp(remember, "on") == 0 || strcmp(remember, "true") == 0);
        int64_t age_s = keep ? REMEMBERED_S : SESSION_S;
        char token[TOKEN_CHARS + 1];
        struct why why = { "" };
        enum err err = session_put(call, user.id, age_s, token, &why);
        if (err) {
            reply_err(call, err, &why);
        } else {
            cookie_set(call, cookie, token, keep ? age_s : -1);
            reply_ok(call);
        }
    }
    user_record_done(&user);
}

void login_old(struct web_call *call)
{
    login(call, COOKIE_OLD);
}

void login_new(struct web_call *call)
{
    login(call, COOKIE_NEW);
}

/* ---- log out -----------------------------------------------------------------------------------
 */

static void logout(struct web_call *call, const char *cookie)
{
    static const char *const names[] = { COOKIE_NEW, COOKIE_OLD };
    for (size_t i = 0; i < countof(names); i++) {
        struct slice rest = call->cookie, token;
        for (int tries = 0; tries < 4 && (token = cookie_next(&rest, names[i])).p; tries++) {
            struct session_record s;
            struct why why = { "" };
            if (!call->db || session_of(call, token, &s, &why))
                continue;
            enum err err = edit_text(call, EDIT_SESSION_DELETE, 0, s.digest, &why);
            if (err && err != ERR_NOTFOUND) {
                reply_err(call, err, &why);
                return;
            }
        }
    }
    cookie_set(call, cookie, "", 0);
    reply_ok(call);
}

void logout_old(struct web_call *call)
{
    logout(call, COOKIE_OLD);
}

void logout_new(struct web_call *call)
{
    logout(call, COOKIE_NEW);
}

/* ---- the first user ----------------------------------------------------------------------------
 */

static void user_free(void *user)
{
    user_record_done(user);
    free(user);
}

static enum err make_admin(struct center *c, const char *password, struct why *why)
{
    char hash[PASSWORD_HASH_SIZE];
    enum err err = password_hash(slice_text(password), hash);
    if (err)
        return err;
    struct user_record *user = mem_new(sizeof(*user));
    user->username = mem_dup("admin");
    user->password = mem_dup("");
    user->argon2 = mem_dup(hash);
    user->role = 1;
    struct edit *e = edit_new(EDIT_USER_INSERT), *done;
    e->extra = user;
    e->extra_free = user_free;
    err = center_edit(c, e, &done, why);
    if (!err)
        edit_free(done);
    return err;
}

enum err login_first_user(struct center *c, const char *wanted, char *ret_password, size_t size,
                          struct why *why)
{
    struct store *db;
    int64_t count = 0;
    ret_password[0] = '\0';
    enum err err = center_reader(c, &db, why);
    if (err)
        return err;
    err = db->ops->user_count(db, &count, why);
    store_close(db);
    if (err || count > 0)
        return err;
    char password[17];
    password_random(password);
    if (wanted && wanted[0] && password_check(slice_text(wanted), why)) {
        struct why rule = *why;
        why_clear(why);
        why_set(why, "admin.%s", rule.text);
        return ERR_INVALID;
    }
    const char *chosen = wanted && wanted[0] ? wanted : password;
    err = make_admin(c, chosen, why);
    if (!err)
        snprintf(ret_password, size, "%s", chosen);
    return err;
}
