/* SPDX-License-Identifier: Apache-2.0 */
/* What executors call and probes are answered on the scheduler's loop, where they were read,
 * because that never blocks. Every other request moves with its connection to the web loop
 * (front.h). */
#include "api/api.h"
#include "api/accounts.h"
#include "api/client.h"
#include "api/context.h"
#include "api/front.h"
#include "api/gate.h"
#include "api/health.h"
#include "api/v1/v1.h"
#include "api/xxl/executor_api.h"
#include "api/xxl/routes.h"
#include "base/mem.h"
#include "base/secret.h"
#include "console/console.h"
#include "server/peers.h"
#include <stdatomic.h>
#include <stdlib.h>

struct api {
    struct center *center;
    struct api_config config;
    struct web *web;
    atomic_bool started; /* there is a user who can log in */
};

/* The JSON API has its own corner; every other path is XXL-JOB's, or not there. */
static struct router_match find(struct slice method, struct slice path)
{
    bool v1 = router_under(&v1_routes, path);
    return router_find(v1 ? &v1_routes : &xxl_routes, method, path);
}

/* The console, wherever no API has the path for itself. Web loop. */
static bool page(struct httpd_request *q, struct slice path, const char *context)
{
    if (router_under(&v1_routes, path))
        return false;
    struct router_match m = router_find(&xxl_routes, q->method, path);
    struct client client;
    client_of(q, &client);
    return console_serve(
        q, &(struct console_ask){
               .path = path, .context = context, .taken = m.row != NULL, .tls = client.tls });
}

/* ---- a request on the scheduler's loop ----------------------------------------------------------
 */

static bool stays(struct slice path)
{
    return executor_api_path(path) || peers_path(path) || health_path(context_cut(path));
}

static void on_request(struct httpd_request *q, void *arg)
{
    struct api *a = arg;
    if (executor_api_path(q->path))
        executor_api_serve(a->center, q);
    else if (health_path(context_cut(q->path)))
        health_serve(a->center, a->started, q);
    else
        web_take(a->web, q);
}

/* No stranger's large body takes room here: it has the executors' token, or its connection moves to
 * the web loop, which has room of its own, before it is read. */
static size_t on_head(struct httpd_request *q, void *arg)
{
    struct api *a = arg;
    if (executor_api_path(q->path))
        return executor_api_head(a->center, q);
    if (!health_path(context_cut(q->path)))
        web_take(a->web, q);
    return 0;
}

/* ---- start, stop --------------------------------------------------------------------------------
 */

void api_config_default(struct api_config *c)
{
    *c = (struct api_config){ .lang = WIRE_LANG_EN,
                              .address = "",
                              .prefix = "",
                              .streams_max = API_STREAMS_MAX,
                              .audit_keep_ms = API_AUDIT_KEEP_DAYS * INT64_C(86400000),
                              .session_idle_ms = API_SESSION_IDLE_DAYS * INT64_C(86400000),
                              .token_limit = API_TOKEN_LIMIT,
                              .session_limit = API_SESSION_LIMIT,
                              .login_limit = API_LOGIN_LIMIT };
    secret_random(c->cursor_key, sizeof(c->cursor_key));
}

enum err api_new(struct center *c, const struct api_config *config, struct api **ret,
                 struct why *why)
{
    struct api *a = mem_new(sizeof(*a));
    a->center = c;
    a->config = *config;
    if (center_shares(c))
        cursor_key(center_token(c), center_trace_key(c), a->config.cursor_key);
    context_set(config->prefix);
    client_proxies(&config->proxies);
    enum err err = web_new(c, &a->config, find, gate_serve, stays, page, &a->web, why);
    if (err) {
        free(a);
        return err;
    }
    center_on_request(c, on_request, on_head, a);
    *ret = a;
    return OK;
}

void api_proxies(const struct proxies *proxies)
{
    client_proxies(proxies);
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

enum err api_prefix(const char *setting, char ret[API_PREFIX_MAX + 1], struct why *why)
{
    return context_check(slice_text(setting), ret, why);
}

bool api_has_console(void)
{
    return console_embedded();
}
