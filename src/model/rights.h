/* SPDX-License-Identifier: Apache-2.0 */
/* rights.h - what a user was given, and the actor that comes of it for one request. Pure.
 *
 * A user has a role of the server and grants: a role for a group, or for all groups and those that
 * come later. XXL-JOB knows two roles: role 1 is the admin; role 0 with the text "1,4" in its
 * column permission is a developer of these groups. The mapping is safe in both directions: a group
 * stands in that text only for a developer, so a Java admin on the same database never allows more
 * than we do. The text that our grants belong to is remembered; a text that another program has
 * changed since counts in place of the grants. */
#ifndef PEAL_MODEL_RIGHTS_H
#define PEAL_MODEL_RIGHTS_H

#include "model/permission.h"
#include "model/scope.h"

#define GRANTS_MAX 1000        /* of a user: a role on a group each */
#define XXL_PERMISSION_MAX 255 /* characters of the column */

struct grant {
    int64_t group_id; /* 0: all, also later ones */
    enum role role;
};

struct rights {
    enum center_role center;
    struct grant *grants; /* owned; by group, one each */
    int n;
};

void rights_done(struct rights *r);
void rights_copy(struct rights *to, const struct rights *from);
bool rights_same(const struct rights *a, const struct rights *b);
/* Of two grants for the same group the larger role stays. False: there are GRANTS_MAX already. */
bool rights_add(struct rights *r, int64_t group_id, enum role role);

/* What XXL-JOB's columns say (permission may be NULL). What is no id in the text is left out. */
void rights_of_xxl(int role, const char *permission, struct rights *ret);
/* XXL-JOB's columns for these rights: groups in ascending order, as many as the column has room
 * for. *ret_permission is owned by the caller, never NULL. */
void rights_to_xxl(const struct rights *r, int *ret_role, char **ret_permission);
/* Both columns as one text, to be remembered beside the grants: "0:1,4". Owned by the caller. */
char *rights_xxl_text(int role, const char *permission);

/* ---- the actor --------------------------------------------------------------------------------
 */

struct actor {
    int64_t user_id, token_id; /* token_id 0: a session */
    unsigned center;           /* permissions for the server: bits */
    struct scope scopes[PERMISSIONS_OF_GROUPS];
    int64_t *ids; /* private: what the lists are in */
};

/* Never NULL. */
struct actor *actor_new(int64_t user_id, const struct rights *r);
/* What the user may, cut to a token's permissions and groups. A token for some groups has none of
 * the permissions of the server: these know no groups, and lead to all of them. */
struct actor *actor_new_token(const struct actor *user, int64_t token_id, unsigned permissions,
                              const struct scope *groups);
void actor_free(struct actor *a);

/* On that group; for a permission of the server the group does not count. */
bool actor_may(const struct actor *a, enum permission p, int64_t group_id);
/* On some group, or for the server. */
bool actor_has(const struct actor *a, enum permission p);
/* Does the actor have all that these rights give? Else they are not the actor's to give, and
 * whoever has them is not the actor's to change. */
bool actor_covers(const struct actor *a, const struct rights *r);
/* The groups that a permission of groups is held for; borrowed from the actor. */
const struct scope *actor_scope(const struct actor *a, enum permission p);

#endif
