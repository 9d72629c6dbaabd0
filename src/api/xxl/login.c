/* SPDX-License-Identifier: Apache-2.0 */
/* Both generations of the login. They differ in the path, in the name of the cookie, and in what a
 * request without a session gets: a redirect to the login page, or JSON. */
#include "api/xxl/login.h"
#include "api/cookie.h"
#include "api/session.h"
#include "api/xxl/reply.h"
#include <string.h>

/* ---- requests without a login
 * ------------------------------------------------------------------------------
 */

/* Releases before 3.2 send everybody to their login page, also scripts. */
static bool speaks_new(const struct web_call *call)
{
    return cookie_has(call, COOKIE_NEW) || form_get(&call->form, "offset") ||
           form_get(&call->form, "pagesize") || form_get(&call->form, "ids[]") ||
           (call->match.near && call->match.near->flags & WEB_NEW);
}

void login_wanted(struct web_call *call)
{
    if (speaks_new(call)) {
        if (cookie_has(call, COOKIE_NEW))
            cookie_set(call, COOKIE_NEW, "", 0, false);
        reply_fail(call, "not login for path: %.*s", (int)utf8_cut(call->path.p, call->path.n, 200),
                   call->path.p);
        return;
    }
    call->status = 302;
    buf_printf(&call->headers, "Location: %s/toLogin\r\n", call->context);
    reply_fail(call, "log in first");
}

enum err login_may(const struct web_call *call, enum permission wanted, int64_t group_id,
                   struct why *why)
{
    if (actor_may(call->actor, wanted, group_id))
        return OK;
    why_set(why, "permission limit");
    return ERR_INVALID;
}

/* ---- log in ------------------------------------------------------------------------------------
 */

static void login(struct web_call *call, const char *cookie)
{
    struct slice name = slice_trim(slice_text(form_get(&call->form, "userName")));
    struct slice password = slice_trim(slice_text(form_get(&call->form, "password")));
    const char *remember = form_get(&call->form, "ifRemember");
    bool keep = remember && (strcmp(remember, "on") == 0 || strcmp(remember, "true") == 0);
    struct why why = { "" };
    int64_t wait_ms;
    if (name.n == 0 || password.n == 0) {
        reply_fail(call, "userName, password: must not be empty");
        return;
    }
    enum err err = session_login(call, name, password, &wait_ms, &why);
    if (!err)
        err = session_open(call, keep, cookie, call->tls, &why);
    if (err)
        reply_err(call, err, &why);
    else
        reply_ok(call);
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
    struct why why = { "" };
    enum err err = session_end(call, &why);
    if (err) {
        reply_err(call, err, &why);
        return;
    }
    cookie_set(call, cookie, "", 0, false);
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
