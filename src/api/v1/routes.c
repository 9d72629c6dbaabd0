/* SPDX-License-Identifier: Apache-2.0 */
#include "api/v1/v1.h"
#include "base/mem.h"
#include "cron/rfc3339.h"
#include <stdio.h>

static const struct web_route rows[] = {
#define ROUTE(method, path, permission, body, answer, class, run)                                  \
    { METHOD_##method,                                                                             \
      path,                                                                                        \
      PERM_##permission,                                                                           \
      BODY_##body,                                                                                 \
      ANSWER_##answer,                                                                             \
      WEB_##class,                                                                                 \
      0,                                                                                           \
      run,                                                                                         \
      NULL },
#include "api/v1/routes.def"
#undef ROUTE
};

static void refuse(struct web_call *call, enum problem_kind kind, const char *text)
{
    if (kind == PROBLEM_UNAVAILABLE)
        problem_wait(call, kind, 1000, text);
    else
        problem(call, kind, "%s", text);
}

const struct router_table v1_routes = { "/api/v1", rows, countof(rows), true, refuse };

void v1_instant(struct jsonw *w, const char *name, int64_t ms)
{
    char key[64], wall[RFC3339_SIZE], text[RFC3339_SIZE];
    walltime_format(ms, zone_utc(), wall); /* "yyyy-MM-dd HH:mm:ss" */
    snprintf(text, sizeof(text), "%.10sT%.8s.%03dZ", wall, wall + 11, (int)(ms % 1000));
    snprintf(key, sizeof(key), "%sAt", name);
    jsonw_text(w, key, text);
    snprintf(key, sizeof(key), "%sMs", name);
    jsonw_i64(w, key, ms);
}
