/* SPDX-License-Identifier: Apache-2.0 */
/* group_page.h - how groups are written, with what is known of them now. Private to src/api. */
#ifndef PEAL_API_V1_GROUP_PAGE_H
#define PEAL_API_V1_GROUP_PAGE_H

#include "api/problem.h"
#include "base/jsonw.h"
#include "server/center.h"

struct json_t;

struct group_live {
    struct center_group addresses;
    int64_t jobs, failing;
};

/* One group as an object; fields: bits of its members, 0: all. */
void group_write(struct jsonw *w, const struct group_record *g, const struct group_live *live,
                 uint64_t fields);
/* A body on top of *g, by all rules of groups. insert: of a new one. False: errors says which are
 * broken. */
bool group_json_read(const struct json_t *body, bool insert, struct group_record *g,
                     struct problem_errors *errors);
/* An address is missing, or none is there. */
bool group_is_bad(const struct center_group *g);
/* That of center_groups_live; one that is not there has no addresses. */
const struct center_group *group_among(const struct center_group *all, size_t n, int64_t id);

#endif
