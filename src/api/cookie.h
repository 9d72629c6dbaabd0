/* SPDX-License-Identifier: Apache-2.0 */
/* cookie.h - the session's cookie by its names. Those of XXL-JOB also tell the generation of a
 * client: the shape of the form API's answers follows from it. Private to src/api; a worker's
 * thread. */
#ifndef PEAL_API_COOKIE_H
#define PEAL_API_COOKIE_H

#include "api/front.h"

#define COOKIE_OLD "XXL_JOB_LOGIN_IDENTITY" /* XXL-JOB 2.x */
#define COOKIE_NEW "xxl_job_login_token"    /* 3.x */
#define COOKIE_V1 "peal_session"            /* /api/v1 */

/* All of them, up to a NULL; an earlier one is looked at first. */
extern const char *const cookie_names[];

/* The next value of that name in a Cookie header from *rest on; p NULL: none. */
struct slice cookie_next(struct slice *rest, const char *name);
bool cookie_has(const struct web_call *call, const char *name);
/* Did the request come with the cookie of 3.x and without that of 2.x? */
bool cookie_is_new(const struct web_call *call);
/* Did the browser come by TLS, to this port or to a proxy before it? */
bool cookie_secure(const struct web_call *call);
/* age_s: 0 deletes it, negative: until the browser ends. secure: never over plain http. */
void cookie_set(struct web_call *call, const char *name, const char *value, int64_t age_s,
                bool secure);

#endif
