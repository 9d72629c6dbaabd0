/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "api/accounts.h"
#include "api/session.h"
#include "api/xxl/executor_api.h"
#include "api/xxl/groups.h"
#include "api/health.h"
#include "api/xxl/jobs.h"
#include "api/xxl/login.h"
#include "api/xxl/logs.h"
#include "api/xxl/reply.h"
#include "api/front.h"
#include "base/mem.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct api {
    struct center *center;
    struct api_config config;
    struct web *web;
    atomic_bool started; /* there is a user who can log in */
};

/* ---- the table of paths -----------------------------------------------------------------------
 */

static void page_login(struct web_call *call)
{
    call->content_type = "text/html;charset=UTF-8";
    buf_text(&call->output,
             "<!DOCTYPE html><html lang=\"en\"><title>Peal</title>"
             "<p>This is the scheduling center Peal. Scripts log in with a POST of userName and "
             "password to /login or /auth/doLogin.</p></html>\n");
}

#define PAGE (WEB_PUBLIC)
#define LOGIN (WEB_PUBLIC | WEB_POST | WEB_CHANGES)
#define READ 0
#define CHANGE (WEB_CHANGES)
#define ADMIN_READ (WEB_ADMIN)
#define ADMIN_CHANGE (WEB_ADMIN | WEB_CHANGES)

static const struct web_route routes[] = {
    { "/", WEB_PAGE, PAGE, page_login },
    { "/toLogin", WEB_PAGE, PAGE, page_login },
    { "/auth/login", WEB_PAGE, PAGE, page_login },
    { "/metrics", WEB_PAGE, PAGE, health_metrics },
    { "/actuator/prometheus", WEB_PAGE, PAGE, health_metrics },

    { "/login", WEB_PASSWORD, LOGIN, login_old },
    { "/auth/doLogin", WEB_PASSWORD, LOGIN | WEB_NEW, login_new },
    { "/logout", WEB_PAGE, LOGIN, logout_old },
    { "/auth/logout", WEB_PAGE, LOGIN | WEB_NEW, logout_new },

    { "/jobgroup/pageList", WEB_PAGE, ADMIN_READ, groups_list },
    { "/jobgroup/loadById", WEB_PAGE, READ, groups_load },
    { "/jobgroup/save", WEB_PAGE, ADMIN_CHANGE, groups_insert },
    { "/jobgroup/insert", WEB_PAGE, ADMIN_CHANGE | WEB_NEW, groups_insert },
    { "/jobgroup/update", WEB_PAGE, ADMIN_CHANGE, groups_update },
    { "/jobgroup/remove", WEB_PAGE, ADMIN_CHANGE, groups_delete },
    { "/jobgroup/delete", WEB_PAGE, ADMIN_CHANGE | WEB_NEW, groups_delete },

    { "/jobinfo/pageList", WEB_PAGE, READ, jobs_list },
    { "/jobinfo/add", WEB_PAGE, CHANGE, jobs_insert },
    { "/jobinfo/insert", WEB_PAGE, CHANGE | WEB_NEW, jobs_insert },
    { "/jobinfo/update", WEB_PAGE, CHANGE, jobs_update },
    { "/jobinfo/remove", WEB_PAGE, CHANGE, jobs_delete },
    { "/jobinfo/delete", WEB_PAGE, CHANGE | WEB_NEW, jobs_delete },
    { "/jobinfo/start", WEB_PAGE, CHANGE, jobs_start },
    { "/jobinfo/stop", WEB_PAGE, CHANGE, jobs_stop },
    { "/jobinfo/trigger", WEB_PAGE, CHANGE, jobs_trigger },
    { "/jobinfo/nextTriggerTime", WEB_PAGE, READ, jobs_next },

    { "/joblog/pageList", WEB_PAGE, READ, logs_list },
    { "/joblog/logDetailCat", WEB_EXECUTOR, READ, logs_detail },
    { "/joblog/logKill", WEB_EXECUTOR, CHANGE, logs_kill },
};

static const struct web_route *find_route(struct slice path)
{
    for (size_t i = 0; i < countof(routes); i++)
        if (slice_eq(path, routes[i].path))
            return &routes[i];
    return NULL;
}

/* ---- a request on a worker ----------------------------------------------------------------------
 */

/* ---- requests that another site's page makes a user's browser send --------------------------- */

static struct slice without_suffix(struct slice s, const char *suffix)
{
    size_t n = strlen(suffix);
    bool has = s.n > n && memcmp(s.p + s.n - n, suffix, n) == 0;
    return has ? slice_of(s.p, s.n - n) : s;
}

/* Do the host and port of a URL equal a Host header? Either may leave out the port that the URL's
 * scheme implies. The scheme itself is not compared: a proxy in front of the server may speak TLS.
 * What is no URL ("null") does not. */
bool api_same_host(struct slice url, struct slice host)
{
    const char *mark = url.n ? memmem(url.p, url.n, "://", 3) : NULL;
    if (!mark)
        return false;
    struct slice scheme = slice_of(url.p, (size_t)(mark - url.p));
    struct slice ours = slice_of(mark + 3, url.n - scheme.n - 3);
    size_t n = 0;
    while (n < ours.n && !strchr("/?#", ours.p[n]))
        n++;
    const char *implied = slice_eq_nocase(scheme, "https") ? ":443" : ":80";
    ours = without_suffix(slice_of(ours.p, n), implied);
    host = without_suffix(host, implied);
    return ours.n && ours.n == host.n && strncasecmp(ours.p, host.p, host.n) == 0;
}

/* Browsers say where a request comes from: Sec-Fetch-Site over https and to this machine, Origin
 * with a POST, Referer unless they were told not to. What is sent must be ours. Scripts send none
 * of them. A page cannot make a browser leave out Origin where it sends one. */
static bool foreign(const struct web_call *call)
{
    struct slice site = call->fetch_site;
    if (site.p && !slice_eq(site, "same-origin") && !slice_eq(site, "none"))
        return true;
    if (call->origin.p)
        return !api_same_host(call->origin, call->host);
    return call->referer.n && !api_same_host(call->referer, call->host);
}

/* Is the body a form (or empty)? Tools are known to leave the type out. */
static bool is_form(struct slice type)
{
    static const char form[] = "application/x-www-form-urlencoded";
    const char *end = type.n ? memchr(type.p, ';', type.n) : NULL;
    struct slice name = slice_trim(slice_of(type.p, end ? (size_t)(end - type.p) : type.n));
    return name.n == 0 || slice_eq_nocase(name, form);
}

/* A link or an image on any page makes a browser send a GET with the user's cookie, so GET does not
 * change anything. */
static bool method_ok(struct web_call *call)
{
    unsigned flags = call->route->flags;
    bool changes = flags & WEB_CHANGES, get = slice_eq(call->method, "GET");
    if (slice_eq(call->method, "POST"))
        return true;
    if (!changes && (get || slice_eq(call->method, "HEAD")))
        return true;
    if (get && !(flags & WEB_POST) && call->config->get_changes)
        return true;
    buf_text(&call->headers, changes ? "Allow: POST\r\n" : "Allow: GET, HEAD, POST\r\n");
    if (get && !(flags & WEB_POST))
        reply_status(call, 405,
                     "this path changes something, so it takes POST only; the server's setting "
                     "compat.get-changes allows GET as well");
    else
        reply_status(call, 405, "this method is not supported here");
    return false;
}

static bool allowed(struct web_call *call)
{
    unsigned flags = call->route->flags;
    struct why why = { "" };
    if (flags & WEB_CHANGES && foreign(call)) {
        reply_status(call, 403,
                     "cross-site request refused: its Origin or Referer is not the Host that it "
                     "was sent to (a proxy must pass the Host header on unchanged)");
        return false;
    }
    if (flags & WEB_PUBLIC)
        return true;
    enum err err = session_find(call, &why);
    if (err == ERR_NOTFOUND)
        login_wanted(call);
    else if (err)
        reply_err(call, err, &why);
    else if (flags & WEB_ADMIN && call->user.role != 1)
        reply_fail(call, "permission limit");
    else
        return true;
    return false;
}

static void serve(struct web_call *call)
{
    struct why why = { "" };
    buf_text(&call->headers, "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n");
    if (!call->route) {
        reply_status(call, 404, "there is nothing at this path");
        return;
    }
    if (!method_ok(call))
        return;
    if (call->body.n && !is_form(call->type)) {
        reply_status(call, 415, "the body must be application/x-www-form-urlencoded");
        return;
    }
    enum err err = form_parse(call->query, call->body, &call->form, &why);
    if (err)
        reply_err(call, err, &why);
    else if (allowed(call))
        call->route->run(call);
}

/* ---- a request on the scheduler's loop ----------------------------------------------------------
 */

static bool stays(struct slice path)
{
    return executor_api_path(path) || health_path(web_path(path));
}

static void on_request(struct httpd_request *q, void *arg)
{
    struct api *a = arg;
    if (executor_api_path(q->path))
        executor_api_serve(a->center, q);
    else if (health_path(web_path(q->path)))
        health_serve(a->center, a->started, q);
    else
        web_take(a->web, q);
}

/* Nobody's large body takes room here: it has the executors' token, or its connection moves to the
 * web loop, which has room of its own, before it is read. */
static size_t on_head(struct httpd_request *q, void *arg)
{
    struct api *a = arg;
    if (executor_api_path(q->path))
        return executor_api_head(a->center, q);
    if (!health_path(web_path(q->path)))
        web_take(a->web, q);
    return 0;
}

/* ---- start, stop --------------------------------------------------------------------------------
 */

void api_config_default(struct api_config *c)
{
    *c = (struct api_config){ .lang = WIRE_LANG_EN, .address = "" };
}

enum err api_new(struct center *c, const struct api_config *config, struct api **ret,
                 struct why *why)
{
    struct api *a = mem_new(sizeof(*a));
    a->center = c;
    a->config = *config;
    enum err err = web_new(c, &a->config, find_route, serve, stays, &a->web, why);
    if (err) {
        free(a);
        return err;
    }
    center_on_request(c, on_request, on_head, a);
    *ret = a;
    return OK;
}

void api_free(struct api *a)
{
    if (!a)
        return;
    web_free(a->web);
    free(a);
}

enum err api_first_user(struct api *a, const char *wanted, char ret_password[API_PASSWORD_SIZE],
                        struct why *why)
{
    enum err err = account_first(a->center, wanted, ret_password, API_PASSWORD_SIZE, why);
    if (!err)
        a->started = true;
    return err;
}
