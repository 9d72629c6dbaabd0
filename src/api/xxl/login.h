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

/* May the user work on the group's jobs? Admins may on all. */
bool login_may(const struct web_call *call, int64_t group_id);

#endif
