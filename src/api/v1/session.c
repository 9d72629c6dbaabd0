/* SPDX-License-Identifier: Apache-2.0 */
/* The session as a resource: log in, see the own user, log out. A session of the form API is a
 * session here, and this one's cookie is one there. */
#include "api/session.h"
#include "api/body.h"
#include "api/cookie.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include <strings.h>

#define GROUPS_MAX 1000 /* of a user; the column has room for fewer */

/* ---- own user -----------------------------------------------------------------------------------
 */

static void write_texts(struct jsonw *w, const char *key, const char *const *texts, size_t n)
{
    jsonw_array(w, key);
    for (size_t i = 0; i < n; i++)
        jsonw_text(w, NULL, texts[i]);
    jsonw_array_end(w);
}

/* The groups of a user of role 0, each once. */
static size_t groups_of(const struct user_record *user, int64_t ids[GROUPS_MAX])
{
    struct slice rest = slice_text(user->permission), one;
    size_t n = 0;
    while (n < GROUPS_MAX && slice_item(&rest, &one)) {
        size_t at = 0;
        if (!parse_i64(one, &ids[n]) || ids[n] < 1)
            continue;
        while (ids[at] != ids[n])
            at++;
        n += at == n;
    }
    return n;
}

static void write_groups(struct jsonw *w, const int64_t *ids, size_t n)
{
    jsonw_array(w, "groups");
    for (size_t i = 0; i < n; i++)
        jsonw_i64(w, NULL, ids[i]);
    jsonw_array_end(w);
}

/* Role 1 of XXL-JOB may do everything; role 0 is a developer of the groups of its permission. */
static void write_rights(struct jsonw *w, const struct user_record *user)
{
    static const char *const all[] = { "read",          "run",         "jobs:write",
                                       "scripts:write", "audit:read",  "executors:write",
                                       "users:admin",   "system:admin" };
    enum { OF_GROUPS = 4 };
    bool admin = user->role == 1;
    int64_t ids[GROUPS_MAX];
    size_t n = admin ? 0 : groups_of(user, ids);
    jsonw_text(w, "center", admin ? "admin" : "none");
    jsonw_array(w, "grants");
    if (n) {
        jsonw_object(w, NULL);
        jsonw_text(w, "role", "developer");
        write_groups(w, ids, n);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
    jsonw_array(w, "rights");
    if (admin || n) {
        jsonw_object(w, NULL);
        write_texts(w, "permissions", all, admin ? countof(all) : OF_GROUPS);
        if (admin)
            jsonw_null(w, "groups");
        else
            write_groups(w, ids, n);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}

static void write_me(struct web_call *call)
{
    struct jsonw w = jsonw_on(&call->output);
    jsonw_object(&w, NULL);
    jsonw_object(&w, "user");
    jsonw_i64(&w, "id", call->user.id);
    jsonw_text(&w, "name", call->user.username);
    jsonw_object_end(&w);
    write_rights(&w, &call->user);
    jsonw_object(&w, "preferences");
    jsonw_object_end(&w);
    jsonw_object(&w, "session");
    jsonw_text(&w, "kind", "cookie");
    v1_instant(&w, "expires", call->session.expires_ms);
    jsonw_object_end(&w);
    jsonw_object_end(&w);
}

void v1_session_get(struct web_call *call)
{
    write_me(call);
}

/* ---- log in -------------------------------------------------------------------------------------
 */

struct login {
    struct slice name, password;
    bool remember;
};

static const struct body_field login_fields[] = {
    { "name", FIELD_TEXT, offsetof(struct login, name), true, 1, 64 },
    { "password", FIELD_TEXT, offsetof(struct login, password), true, 1, 256 },
    { "remember", FIELD_BOOL, offsetof(struct login, remember), false, 0, 0 },
};

/* A browser that came by TLS, through a proxy, says so in Origin; the gate has found it ours. A
 * client that lies there gets a cookie that only its own browser refuses to send. */
static bool came_by_tls(const struct web_call *call)
{
    return call->origin.n > 8 && strncasecmp(call->origin.p, "https://", 8) == 0;
}

void v1_session_login(struct web_call *call)
{
    struct login in = { .remember = false };
    struct why why = { "" };
    int64_t wait_ms;
    if (!body_read(call, login_fields, countof(login_fields), &in))
        return;
    enum err err =
        session_login(call, slice_trim(in.name), slice_trim(in.password), &wait_ms, &why);
    if (err == ERR_BUSY) {
        problem_wait(call, PROBLEM_TOO_MANY, wait_ms, why.text);
        return;
    }
    if (err == ERR_NOTFOUND) {
        problem(call, PROBLEM_UNAUTHENTICATED, "%s", why.text);
        return;
    }
    if (!err)
        err = session_open(call, in.remember, COOKIE_V1, came_by_tls(call), &why);
    if (err)
        problem_err(call, err, &why);
    else
        write_me(call);
}

/* ---- log out ------------------------------------------------------------------------------------
 */

void v1_session_logout(struct web_call *call)
{
    struct why why = { "" };
    enum err err = session_end(call, &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    for (size_t i = 0; cookie_names[i]; i++)
        if (cookie_has(call, cookie_names[i]))
            cookie_set(call, cookie_names[i], "", 0, false);
    call->status = 204;
    call->content_type = NULL;
}
