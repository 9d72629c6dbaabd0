/* SPDX-License-Identifier: Apache-2.0 */
/* group_filter.h - the parameter "group" of lists: ids or app names of groups, separated by commas.
 * Private to src/api; blocks on the store. */
#ifndef PEAL_API_V1_GROUP_FILTER_H
#define PEAL_API_V1_GROUP_FILTER_H

#include "api/v1/query.h"
#include "model/scope.h"

#define QUERY_GROUPS_MAX 128

/* False: the parameter is absent, or breaks a rule. Else *ret has the groups, in ids. A name that
 * no group has stands for none. */
bool query_groups(struct query *q, const char *name, int64_t ids[QUERY_GROUPS_MAX],
                  struct scope *ret);

#endif
