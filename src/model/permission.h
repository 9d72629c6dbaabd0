/* SPDX-License-Identifier: Apache-2.0 */
/* permission.h - what somebody may do: permissions, and the roles that are names of sets of them.
 *
 * The first PERMISSIONS_OF_GROUPS hold for groups, the others for the server as a whole. A set is
 * an unsigned with one bit a permission. Pure. */
#ifndef PEAL_MODEL_PERMISSION_H
#define PEAL_MODEL_PERMISSION_H

#include "base/buf.h"
#include "base/err.h"
#include "base/why.h"

enum permission {
    PERM_READ,
    PERM_RUN,           /* trigger, rerun, kill, start, stop, probe */
    PERM_JOBS_WRITE,    /* with clearing the log */
    PERM_SCRIPTS_WRITE, /* the source of GLUE jobs */
    PERMISSIONS_OF_GROUPS,
    PERM_AUDIT_READ = PERMISSIONS_OF_GROUPS,
    PERM_EXECUTORS_WRITE, /* groups of executors */
    PERM_USERS_ADMIN,
    PERM_SYSTEM_ADMIN,
    PERMISSIONS
};

#define PERM_BIT(p) (1u << (p))
#define PERM_ALL (PERM_BIT(PERMISSIONS) - 1)

enum role { ROLE_VIEWER, ROLE_OPERATOR, ROLE_EDITOR, ROLE_DEVELOPER, ROLES };

enum center_role {
    CENTER_NONE,
    CENTER_AUDITOR, /* reads all groups and the audit */
    CENTER_ADMIN,   /* may do everything */
    CENTER_ROLES
};

/* "jobs:write", "viewer", "auditor": the texts of the API and of the database. */
const char *permission_text(enum permission p);
const char *role_text(enum role r);
const char *center_role_text(enum center_role c);
/* False: there is none of that name. */
bool permission_of(struct slice text, enum permission *ret);
bool role_of(struct slice text, enum role *ret);
bool center_role_of(struct slice text, enum center_role *ret);

/* Permissions of a role, on its groups. */
unsigned role_permissions(enum role r);
/* Of a role of the server: those of groups hold for all groups. */
unsigned center_role_permissions(enum center_role c);

/* "read,run", in the order of the enum. */
void permissions_write(unsigned set, struct buf *out);
/* Such a list in any order, blanks around the names, no name twice. ERR_INVALID names what is
 * wrong. */
MUST_CHECK enum err permissions_read(struct slice text, unsigned *ret, struct why *why);

#endif
