/* SPDX-License-Identifier: Apache-2.0 */
/* Users in XXL-JOB's words: a role, and a list of groups. Rights that these words cannot say (a
 * viewer, an auditor) stay as long as the words stay as they are. */
#include "api/xxl/users.h"
#include "api/accounts.h"
#include "api/password.h"
#include "api/session.h"
#include "api/xxl/fields.h"
#include "api/xxl/reply.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define NAME_MIN 4
#define NAME_MAX 20

/* ---- list --------------------------------------------------------------------------------------
 */

static bool add_row(void *ctx, const struct user_record *u)
{
    struct page *p = ctx;
    struct jsonw *w = &p->w;
    jsonw_object(w, NULL);
    jsonw_i64(w, "id", u->id);
    jsonw_text(w, "username", u->username);
    jsonw_null(w, "password");
    if (p->shape == SHAPE_3)
        jsonw_null(w, "token");
    jsonw_i64(w, "role", u->role);
    jsonw_text(w, "permission", u->permission);
    jsonw_object_end(w);
    return !p->rows.failed;
}

void users_list(struct web_call *call)
{
    struct page page;
    struct why why = { "" };
    int64_t total = 0;
    struct users_filter f = { .role = -1, .by_name = true };
    enum err err = page_begin(call, &page, &why);
    if (err) {
        reply_err(call, err, &why);
        return;
    }
    f.name = form_get(&call->form, "username");
    f.offset = page.offset;
    f.limit = page.limit;
    err = form_int(&call->form, "role", &f.role, &why);
    if (!err)
        err = call->db->ops->users->users_page(call->db, &f, add_row, &page, &total, &why);
    if (err)
        reply_err(call, err, &why);
    else
        page_reply(call, &page, total);
    page_done(&page);
}

/* ---- fields ------------------------------------------------------------------------------------
 */

static enum err read_name(const struct form *f, struct slice *ret, struct why *why)
{
    struct slice s = slice_trim(slice_text(form_get(f, "username")));
    size_t n = utf8_units(s.p, s.n);
    if (n < NAME_MIN || n > NAME_MAX) {
        why_set(why, "username: must have %d-%d characters", NAME_MIN, NAME_MAX);
        return ERR_INVALID;
    }
    *ret = s;
    return OK;
}

/* *ret->p NULL: it is blank, and may be. */
static enum err read_password(const struct form *f, bool required, struct slice *ret,
                              struct why *why)
{
    struct slice s = slice_trim(slice_text(form_get(f, "password")));
    *ret = (struct slice){ NULL, 0 };
    if (s.n == 0 && !required)
        return OK;
    enum err err = password_check(s, PASSWORD_MAX, why);
    if (!err)
        *ret = s;
    return err;
}

static enum err read_permission(const char *text, struct why *why)
{
    struct slice rest = slice_text(text), one;
    int64_t id;
    if (rest.n > XXL_PERMISSION_MAX) {
        why_set(why, "permission: at most %d characters", XXL_PERMISSION_MAX);
        return ERR_TOOBIG;
    }
    while (slice_item(&rest, &one))
        if (!parse_i64(one, &id) || id < 1) {
            why_set(why, "permission: must be ids of groups, separated by commas");
            return ERR_INVALID;
        }
    return OK;
}

struct words { /* XXL-JOB's two columns, borrowed from the form or the user */
    int role;
    const char *permission;
};

static enum err read_words(const struct form *f, struct words *w, struct why *why)
{
    const char *permission = form_get(f, "permission");
    enum err err = form_int(f, "role", &w->role, why);
    if (!err && w->role != 0 && w->role != 1) {
        why_set(why, "role: must be 0 (normal) or 1 (administrator)");
        err = ERR_INVALID;
    }
    if (permission)
        w->permission = permission;
    return err ? err : read_permission(w->permission, why);
}

/* ---- change ------------------------------------------------------------------------------------
 */

static enum err covers(const struct web_call *call, const struct rights *rights, struct why *why)
{
    if (actor_covers(call->actor, rights))
        return OK;
    why_set(why, ACCOUNT_NOT_COVERED);
    return ERR_INVALID;
}

/* The rights that XXL-JOB's words would give. */
static enum err covers_words(const struct web_call *call, const struct words *w, struct why *why)
{
    struct rights rights;
    rights_of_xxl(w->role, w->permission, &rights);
    enum err err = covers(call, &rights, why);
    rights_done(&rights);
    return err;
}

static enum err insert(struct web_call *call, struct why *why)
{
    struct slice name, password;
    struct words words = { .permission = "" };
    char hash[PASSWORD_HASH_SIZE], column[65] = "";
    enum err err = read_name(&call->form, &name, why);
    if (!err)
        err = read_password(&call->form, true, &password, why);
    if (!err)
        err = read_words(&call->form, &words, why);
    if (!err)
        err = covers_words(call, &words, why);
    if (!err)
        err = password_hash(password, hash);
    if (err)
        return err;
    if (call->config->write_passwords)
        password_shared(password, call->db->md5_passwords, column);
    char *username = mem_dupn(name.p, name.n);
    struct user_record u = { .username = username,
                             .password = column,
                             .argon2 = hash,
                             .role = -1,
                             .created_ms = clock_wall_ms() };
    user_record_grant_xxl(&u, words.role, words.permission);
    err = account_add(call->center, &u, audit_new(call, "user.create"), NULL, why);
    rights_done(&u.rights);
    free(u.permission);
    free(username);
    if (err == ERR_EXISTS) {
        why_clear(why);
        why_set(why, "username: a user of that name exists already");
    }
    return err;
}

void users_insert(struct web_call *call)
{
    struct why why = { "" };
    enum err err = insert(call, &why);
    if (err)
        reply_err(call, err, &why);
    else
        reply_ok(call);
}

/* The user of the form's id, who is not the asker. */
static enum err other_user(struct web_call *call, struct user_record *ret, struct why *why)
{
    int64_t id;
    enum err err = field_id(&call->form, &id, why);
    if (!err && id == call->user.id) {
        why_set(why, "id: users cannot change or delete themselves here");
        err = ERR_INVALID;
    }
    if (!err)
        err = call->db->ops->users->user_get(call->db, id, ret, why);
    if (err)
        return err;
    err = covers(call, &ret->rights, why);
    if (err)
        user_record_done(ret);
    return err;
}

static enum err update_read(struct web_call *call, const struct user_record *u,
                            struct account_change *c, char hash[PASSWORD_HASH_SIZE],
                            char column[65], struct why *why)
{
    struct slice password;
    struct words words = { u->role, u->permission };
    enum err err = read_password(&call->form, false, &password, why);
    if (!err)
        err = read_words(&call->form, &words, why);
    if (!err)
        err = covers_words(call, &words, why);
    if (!err && password.p)
        err = password_hash(password, hash);
    if (err)
        return err;
    *c = (struct account_change){ .user_id = u->id,
                                  .version = u->version,
                                  .xxl = true,
                                  .role = words.role,
                                  .permission = words.permission,
                                  .argon2 = password.p ? hash : NULL };
    if (password.p && call->config->write_passwords) {
        password_shared(password, call->db->md5_passwords, column);
        c->column = column;
    }
    return OK;
}

static enum err update(struct web_call *call, struct why *why)
{
    struct user_record u;
    struct account_change change;
    char hash[PASSWORD_HASH_SIZE], column[65];
    enum err err = other_user(call, &u, why);
    if (err)
        return err;
    err = update_read(call, &u, &change, hash, column, why);
    if (!err)
        err = account_change(call->center, &change, audit_new(call, "user.update"), why);
    user_record_done(&u);
    return err;
}

void users_update(struct web_call *call)
{
    field_update(call, update);
}

void users_delete(struct web_call *call)
{
    struct why why = { "" };
    struct user_record u;
    enum err err = other_user(call, &u, &why);
    if (!err) {
        err = account_delete(call->center, u.id, -1, audit_new(call, "user.delete"), &why);
        user_record_done(&u);
    }
    if (err)
        reply_err(call, err, &why);
    else
        reply_ok(call);
}

/* ---- one's own password ------------------------------------------------------------------------
 */

void users_password(struct web_call *call)
{
    struct why why = { "" };
    struct slice new, old = slice_trim(slice_text(form_get(&call->form, "oldPassword")));
    int64_t wait_ms;
    enum err err = read_password(&call->form, true, &new, &why);
    if (!err && old.n == 0) {
        why_set(&why, "oldPassword: must not be empty");
        err = ERR_INVALID;
    }
    if (!err)
        err = session_set_password(call, old, new, &wait_ms, &why);
    if (err)
        reply_err(call, err, &why);
    else
        reply_ok(call);
}
