/* SPDX-License-Identifier: Apache-2.0 */
/* login.h - who is asking: sessions, the first user. Private to src/api.
 *
 * A session is 32 random bytes; the cookie holds them in base64url, the database their SHA-256, so
 * that a stolen database logs nobody in. It ends at a fixed scheduled time, or at logout. */
#ifndef PEAL_API_XXL_LOGIN_H
#define PEAL_API_XXL_LOGIN_H

#include "api/front.h"

struct logins; /* failed logins; any worker */

struct logins *logins_new(void);
void logins_free(struct logins *l);

/* The user of the request's session into call->user. ERR_NOTFOUND: not logged in. */
MUST_CHECK enum err login_find(struct web_call *call, struct why *why);
/* Answer a request that needs a login: as 3.2+ in JSON, or as earlier releases by 302. */
void login_wanted(struct web_call *call);

void login_old(struct web_call *call); /* POST /login */
void login_new(struct web_call *call); /* POST /auth/doLogin */
void logout_old(struct web_call *call);
void logout_new(struct web_call *call);

/* May the user work on the group's jobs? Admins may on all. */
bool login_may(const struct web_call *call, int64_t group_id);

/* See api_first_user. */
MUST_CHECK enum err login_first_user(struct center *c, const char *wanted, char *ret_password,
                                     size_t size, struct why *why);

#endif
