/* SPDX-License-Identifier: Apache-2.0 */
/* Users as a resource, for who may administer them. Rights are those that are in force: ours, or
 * those of XXL-JOB's columns where another program has changed these. */
#include "api/accounts.h"
#include "api/body.h"
#include "api/password.h"
#include "api/v1/etag.h"
#include "api/v1/query.h"
#include "api/v1/rights_json.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- writing ------------------------------------------------------------------------------------
 */

static const char *const members[] = { "id",        "name",      "center",      "grants",
                                       "createdAt", "createdMs", "lastLoginAt", "lastLoginMs",
                                       "sessions",  "version" };
enum { CENTER = 2, GRANTS, CREATED_AT, CREATED_MS, LOGIN_AT, LOGIN_MS, SESSIONS, VERSION };
#define ALL_MEMBERS ((UINT64_C(1) << countof(members)) - 1)
#define HAS(set, member) ((set) >> (member)&1)

/* The pair of an instant, or one of it. */
static void write_time(struct jsonw *w, const char *name, int64_t ms, bool at, bool number)
{
    char key[32];
    if (at && number) {
        v1_instant_or_null(w, name, ms);
        return;
    }
    snprintf(key, sizeof(key), "%s%s", name, at ? "At" : "Ms");
    if (at)
        v1_time(w, key, ms);
    else if (number && ms > 0)
        jsonw_i64(w, key, ms);
    else if (number)
        jsonw_null(w, key);
}

static void write_user(struct jsonw *w, const struct user_record *u, uint64_t set)
{
    jsonw_object(w, NULL);
    jsonw_i64(w, "id", u->id);
    if (set & 2)
        jsonw_text(w, "name", u->username);
    if (HAS(set, CENTER))
        rights_json_center(w, &u->rights);
    if (HAS(set, GRANTS))
        rights_json_grants(w, &u->rights);
    write_time(w, "created", u->created_ms, HAS(set, CREATED_AT), HAS(set, CREATED_MS));
    write_time(w, "lastLogin", u->login_ms, HAS(set, LOGIN_AT), HAS(set, LOGIN_MS));
    if (HAS(set, SESSIONS))
        jsonw_i64(w, "sessions", u->sessions);
    if (HAS(set, VERSION))
        jsonw_i64(w, "version", u->version);
    jsonw_object_end(w);
}

static struct etag tag_of(const struct user_record *u)
{
    return (struct etag){ 'u', u->id, u->version };
}

static void answer_user(struct web_call *call, const struct user_record *u)
{
    struct jsonw w = jsonw_on(&call->output);
    etag_write(call, tag_of(u));
    write_user(&w, u, ALL_MEMBERS);
}

/* ---- list ---------------------------------------------------------------------------------------
 */

static bool add_user(void *ctx, const struct user_record *u)
{
    struct v1_listing *l = ctx;
    if (!v1_listing_takes(l, u->id))
        return false;
    write_user(&l->w, u, l->members);
    return true;
}

void v1_users_list(struct web_call *call)
{
    struct why why = { "" };
    struct query q;
    struct cursor after = { .id = 0 };
    struct v1_listing l = { .w = jsonw_on(&call->output) };
    struct users_filter f = { .role = -1 };
    int64_t total = 0;
    query_begin(&q, call);
    l.limit = query_limit(&q);
    l.members = query_words(&q, "fields", members, countof(members));
    f.name = query_text(&q, "q", 200);
    if (query_cursor(&q, &after))
        f.after_id = after.id;
    if (!query_end(&q))
        return;
    f.limit = l.limit + 1;
    l.members = l.members ? l.members : ALL_MEMBERS;
    v1_list_begin(&l.w);
    enum err err = call->db->ops->users->users_page(call->db, &f, add_user, &l, &total, &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    v1_list_end(call, &l.w, l.more ? &l.last : NULL, total, true);
}

/* ---- one ----------------------------------------------------------------------------------------
 */

/* The user that the path names. False: the call is answered. */
static bool find(struct web_call *call, int64_t id, struct user_record *ret)
{
    struct why why = { "" };
    enum err err = call->db->ops->users->user_get(call->db, id, ret, &why);
    if (err)
        problem_err(call, err, &why);
    return !err;
}

void v1_user_get(struct web_call *call)
{
    struct user_record u;
    if (!find(call, call->params.items[0].number, &u))
        return;
    answer_user(call, &u);
    user_record_done(&u);
}

/* ---- reading ------------------------------------------------------------------------------------
 */

struct user_in {
    struct slice name, password;
    struct body_word center;
    const struct json_t *grants; /* NULL: absent */
};

#define NAME_FIELD                                                                                 \
    {                                                                                              \
        "name", FIELD_TEXT, offsetof(struct user_in, name), true, ACCOUNT_NAME_MIN,                \
            ACCOUNT_NAME_MAX                                                                       \
    }
#define PASSWORD_FIELD(required)                                                                   \
    {                                                                                              \
        "password", FIELD_TEXT, offsetof(struct user_in, password), required, PASSWORD_MIN,        \
            PASSWORD_BYTES_MAX                                                                     \
    }
#define CENTER_FIELD                                                                               \
    {                                                                                              \
        "center", FIELD_WORD, offsetof(struct user_in, center), false, 0, 0                        \
    }
#define GRANTS_FIELD                                                                               \
    {                                                                                              \
        "grants", FIELD_ANY, offsetof(struct user_in, grants), false, 0, 0                         \
    }

static const struct body_field new_fields[] = { NAME_FIELD, PASSWORD_FIELD(true), CENTER_FIELD,
                                                GRANTS_FIELD };
static const struct body_field patch_fields[] = { PASSWORD_FIELD(false), CENTER_FIELD,
                                                  GRANTS_FIELD };

static void check(const struct user_in *in, struct problem_errors *errors)
{
    struct why why = { "" };
    if (in->name.p && !account_name_ok(in->name))
        problem_error(errors, "/name", "user.name", NULL,
                      "name: must begin with a letter a-z; a-z, 0-9, '.', '_' and '-' follow");
    if (in->password.p && password_check(in->password, PASSWORD_BYTES_MAX, &why))
        problem_error(errors, "/password", "password", NULL, "%s", why.text);
}

/* The body by its fields. False: the call is answered. rights: with what the body says. */
static bool read_user(struct web_call *call, const struct body_field *fields, size_t n,
                      struct user_in *in, struct rights *rights)
{
    struct problem_errors errors;
    problem_errors_init(&errors);
    in->center.words = "none,auditor,admin";
    body_fields(call->json, fields, n, in, &errors);
    check(in, &errors);
    if (in->center.text.p)
        (void)center_role_of(in->center.text, &rights->center);
    if (in->grants) {
        free(rights->grants);
        rights->grants = NULL;
        rights->n = 0;
        rights_json_read_grants(in->grants, rights, &errors);
    }
    bool good = errors.n == 0;
    if (!good)
        problem_fields(call, PROBLEM_INVALID, &errors);
    problem_errors_done(&errors);
    return good;
}

/* The column of XXL-JOB for a new password; NULL: it stays. */
static const char *column_of(const struct web_call *call, struct slice password, char to[65])
{
    if (!call->config->write_passwords)
        return NULL;
    password_shared(password, call->db->md5_passwords, to);
    return to;
}

/* Are these rights the asker's to give, and whoever has them the asker's to change? False: the call
 * is answered. */
static bool covers(struct web_call *call, const struct rights *rights)
{
    if (actor_covers(call->actor, rights))
        return true;
    problem(call, PROBLEM_FORBIDDEN, ACCOUNT_NOT_COVERED);
    return false;
}

/* ---- make ---------------------------------------------------------------------------------------
 */

static void answer_made(struct web_call *call, int64_t id)
{
    struct user_record u;
    if (!find(call, id, &u))
        return;
    v1_created(call, "/users", id);
    answer_user(call, &u);
    user_record_done(&u);
}

static enum err make(struct web_call *call, const struct user_in *in, const struct rights *rights,
                     int64_t *ret_id, struct why *why)
{
    char hash[PASSWORD_HASH_SIZE], column[65];
    enum err err = password_hash(in->password, hash);
    if (err)
        return err;
    char *name = mem_dupn(in->name.p, in->name.n);
    const char *shared = column_of(call, in->password, column);
    struct user_record u = { .username = name,
                             .password = (char *)(shared ? shared : ""),
                             .argon2 = hash,
                             .created_ms = clock_wall_ms() };
    user_record_grant(&u, rights);
    err = account_add(call->center, &u, audit_new(call, "user.create"), ret_id, why);
    rights_done(&u.rights);
    free(u.permission);
    free(name);
    return err;
}

void v1_user_create(struct web_call *call)
{
    struct why why = { "" };
    struct user_in in = { .name = { NULL, 0 } };
    struct rights rights = { .center = CENTER_NONE };
    int64_t id;
    if (read_user(call, new_fields, countof(new_fields), &in, &rights) && covers(call, &rights)) {
        enum err err = make(call, &in, &rights, &id, &why);
        if (err)
            problem_err(call, err, &why);
        else
            answer_made(call, id);
    }
    rights_done(&rights);
}

/* ---- change -------------------------------------------------------------------------------------
 */

static void change(struct web_call *call, const struct user_record *u, const struct user_in *in,
                   const struct rights *rights)
{
    struct why why = { "" };
    char hash[PASSWORD_HASH_SIZE], column[65];
    bool anew = in->password.p != NULL;
    bool other = !rights_same(rights, &u->rights);
    struct account_change c = { .user_id = u->id,
                                .version = u->version,
                                .rights = other ? rights : NULL,
                                .argon2 = anew ? hash : NULL,
                                .column = anew ? column_of(call, in->password, column) : NULL };
    if (other && u->id == call->user.id) {
        problem(call, PROBLEM_CONFLICT, "users cannot change their own center or grants");
        return;
    }
    if (anew &&
        u->id == call->user.id) { /* there the old one is asked for, and no token is taken */
        problem(call, PROBLEM_CONFLICT, "users change their own password with PUT /me/password");
        return;
    }
    enum err err = anew ? password_hash(in->password, hash) : OK;
    if (!err && (anew || other))
        err = account_change(call->center, &c, audit_new(call, "user.update"), &why);
    struct user_record now;
    if (err && err != ERR_OVERTAKEN) {
        problem_err(call, err, &why);
    } else if (find(call, u->id, &now)) {
        if (err)
            etag_changed(call, tag_of(&now), "the user");
        else
            answer_user(call, &now);
        user_record_done(&now);
    }
}

void v1_user_update(struct web_call *call)
{
    struct user_in in = { .name = { NULL, 0 } };
    struct rights rights;
    struct user_record u;
    if (!find(call, call->params.items[0].number, &u))
        return;
    rights_copy(&rights, &u.rights);
    if (etag_match(call, tag_of(&u), "the user") && covers(call, &u.rights) &&
        read_user(call, patch_fields, countof(patch_fields), &in, &rights) && covers(call, &rights))
        change(call, &u, &in, &rights);
    rights_done(&rights);
    user_record_done(&u);
}

/* ---- delete -------------------------------------------------------------------------------------
 */

void v1_user_delete(struct web_call *call)
{
    struct why why = { "" };
    struct user_record u;
    if (!find(call, call->params.items[0].number, &u))
        return;
    if (!etag_match(call, tag_of(&u), "the user")) {
        user_record_done(&u);
        return;
    }
    if (u.id == call->user.id) {
        problem(call, PROBLEM_CONFLICT, "users cannot delete themselves");
    } else if (covers(call, &u.rights)) {
        enum err err =
            account_delete(call->center, u.id, u.version, audit_new(call, "user.delete"), &why);
        if (err == ERR_OVERTAKEN)
            etag_changed(call, tag_of(&u), "the user");
        else if (err)
            problem_err(call, err, &why);
        else
            v1_empty(call);
    }
    user_record_done(&u);
}
