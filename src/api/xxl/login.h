/* SPDX-License-Identifier: Apache-2.0 */
/* login.h - logins of the form API, and what it says to those who are not logged in or may not.
 * Private to src/api. */
#ifndef PEAL_API_XXL_LOGIN_H
#define PEAL_API_XXL_LOGIN_H

#include "api/front.h"

/* Answer a request that needs a login: as 3.2+ in JSON, or as earlier releases by 302. */
void login_wanted(struct web_call *call);

void login_old(struct web_call *call); /* POST /login */
void login_new(struct web_call *call); /* POST /auth/doLogin */
void logout_old(struct web_call *call);
void logout_new(struct web_call *call);

/* ERR_INVALID, "permission limit": the asker has not that permission on the group. */
MUST_CHECK enum err login_may(const struct web_call *call, enum permission wanted, int64_t group_id,
                              struct why *why);

#endif
