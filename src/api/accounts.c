/* SPDX-License-Identifier: Apache-2.0 */
/* accounts.c - users and sessions as edits: each carries a copy, because an asker that gives up
 * leaves it behind with the writer. */
#include "api/accounts.h"
#include "api/password.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>

static enum err make(struct center *c, struct edit *e, struct why *why)
{
    struct edit *done;
    enum err err = center_edit(c, e, &done, why);
    if (!err)
        edit_free(done);
    return err;
}

static enum err edit_text(struct center *c, enum edit_kind kind, int64_t id, const char *text,
                          struct why *why)
{
    struct edit *e = edit_new(kind);
    e->id = id;
    e->text = mem_dup(text);
    return make(c, e, why);
}

/* ---- users ------------------------------------------------------------------------------------
 */

static void user_free(void *user)
{
    user_record_done(user);
    free(user);
}

enum err account_add(struct center *c, const struct user_record *user, struct why *why)
{
    struct user_record *u = mem_new(sizeof(*u));
    u->username = mem_dup(user->username);
    u->password = mem_dup(user->password);
    u->argon2 = mem_dup(user->argon2);
    u->permission = mem_dup(user->permission);
    u->role = user->role;
    struct edit *e = edit_new(EDIT_USER_INSERT);
    e->extra = u;
    e->extra_free = user_free;
    return make(c, e, why);
}

static enum err make_admin(struct center *c, const char *password, struct why *why)
{
    char hash[PASSWORD_HASH_SIZE];
    enum err err = password_hash(slice_text(password), hash);
    if (err)
        return err;
    const struct user_record user = {
        .username = "admin", .password = "", .argon2 = hash, .role = 1
    };
    return account_add(c, &user, why);
}

enum err account_first(struct center *c, const char *wanted, char *ret_password, size_t size,
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

enum err account_upgrade(struct center *c, int64_t user_id, const char *argon2, struct why *why)
{
    return edit_text(c, EDIT_USER_UPGRADE, user_id, argon2, why);
}

/* ---- sessions ----------------------------------------------------------------------------------
 */

enum err account_log_in(struct center *c, const struct session_record *session, struct why *why)
{
    struct session_record *r = mem_new(sizeof(*r));
    *r = *session;
    struct edit *e = edit_new(EDIT_SESSION_PUT);
    e->extra = r;
    e->extra_free = free;
    return make(c, e, why);
}

enum err account_log_out(struct center *c, const char *digest, struct why *why)
{
    enum err err = edit_text(c, EDIT_SESSION_DELETE, 0, digest, why);
    return err == ERR_NOTFOUND ? OK : err;
}
