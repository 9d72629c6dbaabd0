/* SPDX-License-Identifier: Apache-2.0 */
/* The session as a resource: log in, see the own user, log out. A session of the form API is a
 * session here, and this one's cookie is one there. */
#include "api/session.h"
#include "api/body.h"
#include "api/cookie.h"
#include "api/v1/rights_json.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include <strings.h>

/* ---- own user -----------------------------------------------------------------------------------
 */

static void write_session(struct jsonw *w, const struct web_call *call)
{
    bool token = call->token.id != 0;
    int64_t ends_ms = token ? call->token.expires_ms : call->session.expires_ms;
    jsonw_object(w, "session");
    jsonw_text(w, "kind", token ? "token" : "cookie");
    v1_instant_or_null(w, "expires", ends_ms);
    jsonw_object_end(w);
}

static void write_me(struct web_call *call)
{
    struct jsonw w = jsonw_on(&call->output);
    jsonw_object(&w, NULL);
    jsonw_object(&w, "user");
    jsonw_i64(&w, "id", call->user.id);
    jsonw_text(&w, "name", call->user.username);
    jsonw_object_end(&w);
    rights_json_center(&w, &call->user.rights);
    rights_json_grants(&w, &call->user.rights);
    rights_json_actor(&w, call->actor);
    v1_preferences(&w, "preferences", call->user.preferences);
    write_session(&w, call);
    jsonw_bool(&w, "mustChangePassword", call->user.must_change);
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
        err = session_open(call, in.remember, COOKIE_V1, cookie_secure(call), &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    call->actor = actor_new(call->user.id, &call->user.rights);
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
    v1_empty(call);
}
