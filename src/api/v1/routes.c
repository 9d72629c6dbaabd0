/* SPDX-License-Identifier: Apache-2.0 */
/* The table of /api/v1, made from routes.def. What the gate refuses is answered as a problem. */
#include "api/v1/v1.h"
#include "base/mem.h"

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
