/* SPDX-License-Identifier: Apache-2.0 */
/* v1.h - /api/v1, the JSON API: its table, its handlers, and how all of them write. A handler runs
 * on a worker. Private to src/api. */
#ifndef PEAL_API_V1_V1_H
#define PEAL_API_V1_V1_H

#include "api/front.h"
#include "base/jsonw.h"

extern const struct router_table v1_routes;

#define ROUTE(method, path, permission, body, answer, class, run) void run(struct web_call *call);
#include "api/v1/routes.def"
#undef ROUTE

/* The pair of members that every instant is: "nextAt" (RFC 3339, UTC, milliseconds) and "nextMs".
 */
void v1_instant(struct jsonw *w, const char *name, int64_t ms);

#endif
