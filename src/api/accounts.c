/* SPDX-License-Identifier: Apache-2.0 */
/* accounts.c - users and sessions as writes: each argument is a copy, because an asker that gives
 * up leaves it behind with the writer. */
#include "api/accounts.h"
#include "api/password.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- users ------------------------------------------------------------------------------------
 */

static enum err user_run(struct store *s, void *arg, struct why *why)
{
    return s->ops->users->user_insert(s, arg, why);
}

static void user_done(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    user_record_done(arg);
    free(arg);
}

enum err account_add(struct center *c, const struct user_record *user, struct why *why)
{
    static const struct ledger_write write = { user_run, user_done };
    struct user_record *u = mem_new(sizeof(*u));
    u->username = mem_dup(user->username);
    u->password = mem_dup(user->password);
    u->argon2 = mem_dup(user->argon2);
    u->permission = mem_dup(user->permission);
    u->role = user->role;
    return center_write(c, &write, u, why);
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
    err = db->ops->users->user_count(db, &count, why);
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

struct upgrade {
    int64_t user_id;
    char *argon2;
};

static enum err upgrade_run(struct store *s, void *arg, struct why *why)
{
    const struct upgrade *u = arg;
    return s->ops->users->user_upgrade(s, u->user_id, u->argon2, why);
}

static void upgrade_done(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    free(((struct upgrade *)arg)->argon2);
    free(arg);
}

enum err account_upgrade(struct center *c, int64_t user_id, const char *argon2, struct why *why)
{
    static const struct ledger_write write = { upgrade_run, upgrade_done };
    struct upgrade *u = mem_new(sizeof(*u));
    u->user_id = user_id;
    u->argon2 = mem_dup(argon2);
    return center_write(c, &write, u, why);
}

/* ---- sessions ----------------------------------------------------------------------------------
 */

static void session_done(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    free(arg);
}

static struct session_record *session_copy(const struct session_record *from)
{
    struct session_record *r = mem_new(sizeof(*r));
    *r = *from;
    return r;
}

static enum err log_in_run(struct store *s, void *arg, struct why *why)
{
    return s->ops->users->session_put(s, arg, why);
}

enum err account_log_in(struct center *c, const struct session_record *session, struct why *why)
{
    static const struct ledger_write write = { log_in_run, session_done };
    return center_write(c, &write, session_copy(session), why);
}

static enum err log_out_run(struct store *s, void *arg, struct why *why)
{
    return s->ops->users->session_delete(s, ((struct session_record *)arg)->digest, why);
}

enum err account_log_out(struct center *c, const char *digest, struct why *why)
{
    static const struct ledger_write write = { log_out_run, session_done };
    struct session_record r = { .user_id = 0 };
    snprintf(r.digest, sizeof(r.digest), "%s", digest);
    return center_write(c, &write, session_copy(&r), why);
}
