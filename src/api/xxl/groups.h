/* SPDX-License-Identifier: Apache-2.0 */
/* groups.h - /jobgroup: executor groups. Private to src/api. */
#ifndef PEAL_API_XXL_GROUPS_H
#define PEAL_API_XXL_GROUPS_H

#include "api/front.h"

void groups_list(struct web_call *call);
void groups_load(struct web_call *call);
void groups_insert(struct web_call *call);
void groups_update(struct web_call *call);
void groups_delete(struct web_call *call);

/* What a form makes of a group; fields that are absent stay. why names field and rule. */
MUST_CHECK enum err group_read(const struct form *f, struct group_record *g, struct why *why);

#endif
