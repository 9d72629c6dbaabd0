/* SPDX-License-Identifier: Apache-2.0 */
/* executor_api.h - what executors call: /api/registry, /api/registryRemove, /api/callback, under /
 * and under /xxl-job-admin. Contract: docs/protocol.md. Scheduler's thread; never blocks. */
#ifndef PEAL_API_XXL_EXECUTOR_API_H
#define PEAL_API_XXL_EXECUTOR_API_H

#include "server/center.h"

/* Is it a path of this interface? */
bool executor_api_path(struct slice path);
/* Its head has come, its body of more than 16 KiB has not: refuses q unless it carries the token.
 * How many bytes the body may have. */
size_t executor_api_head(struct center *c, struct httpd_request *q);
/* Answers q, at once or when what it brought is kept. */
void executor_api_serve(struct center *c, struct httpd_request *q);

#endif
