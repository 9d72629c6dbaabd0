/* SPDX-License-Identifier: Apache-2.0 */
/* users.h - /user/… of the form API, and the change of one's own password. Private to src/api. */
#ifndef PEAL_API_XXL_USERS_H
#define PEAL_API_XXL_USERS_H

#include "api/front.h"

void users_list(struct web_call *call);
void users_insert(struct web_call *call);
void users_update(struct web_call *call);
void users_delete(struct web_call *call);
void users_password(struct web_call *call); /* /user/updatePwd, /auth/updatePwd */

#endif
