/* SPDX-License-Identifier: Apache-2.0 */
/* Permissions and roles as tables of their names: each role has what the one before it has. */
#include "model/permission.h"
#include "base/mem.h"

static const char *const permission_texts[PERMISSIONS] = {
    [PERM_READ] = "read",
    [PERM_RUN] = "run",
    [PERM_JOBS_WRITE] = "jobs:write",
    [PERM_SCRIPTS_WRITE] = "scripts:write",
    [PERM_AUDIT_READ] = "audit:read",
    [PERM_EXECUTORS_WRITE] = "executors:write",
    [PERM_USERS_ADMIN] = "users:admin",
    [PERM_SYSTEM_ADMIN] = "system:admin",
};

static const char *const role_texts[ROLES] = {
    [ROLE_VIEWER] = "viewer",
    [ROLE_OPERATOR] = "operator",
    [ROLE_EDITOR] = "editor",
    [ROLE_DEVELOPER] = "developer",
};

static const char *const center_role_texts[CENTER_ROLES] = {
    [CENTER_NONE] = "none",
    [CENTER_AUDITOR] = "auditor",
    [CENTER_ADMIN] = "admin",
};

const char *permission_text(enum permission p)
{
    return permission_texts[p];
}

const char *role_text(enum role r)
{
    return role_texts[r];
}

const char *center_role_text(enum center_role c)
{
    return center_role_texts[c];
}

/* The place of a text in a table; n if it is not there. */
static int place(const char *const *texts, int n, struct slice text)
{
    int i = 0;
    while (i < n && !slice_eq(text, texts[i]))
        i++;
    return i;
}

bool permission_of(struct slice text, enum permission *ret)
{
    int i = place(permission_texts, PERMISSIONS, text);
    if (i < PERMISSIONS)
        *ret = (enum permission)i;
    return i < PERMISSIONS;
}

bool role_of(struct slice text, enum role *ret)
{
    int i = place(role_texts, ROLES, text);
    if (i < ROLES)
        *ret = (enum role)i;
    return i < ROLES;
}

bool center_role_of(struct slice text, enum center_role *ret)
{
    int i = place(center_role_texts, CENTER_ROLES, text);
    if (i < CENTER_ROLES)
        *ret = (enum center_role)i;
    return i < CENTER_ROLES;
}

unsigned role_permissions(enum role r)
{
    return PERM_BIT((unsigned)r + 1) - 1;
}

unsigned center_role_permissions(enum center_role c)
{
    switch (c) {
    case CENTER_AUDITOR:
        return PERM_BIT(PERM_READ) | PERM_BIT(PERM_AUDIT_READ);
    case CENTER_ADMIN:
        return PERM_ALL;
    default:
        return 0;
    }
}

void permissions_write(unsigned set, struct buf *out)
{
    const char *mark = "";
    for (int p = 0; p < PERMISSIONS; p++)
        if (set & PERM_BIT(p)) {
            buf_printf(out, "%s%s", mark, permission_texts[p]);
            mark = ",";
        }
}

enum err permissions_read(struct slice text, unsigned *ret, struct why *why)
{
    unsigned set = 0;
    for (struct slice one; slice_item(&text, &one);) {
        enum permission p;
        if (!permission_of(one, &p)) {
            why_set(why, "permissions: there is no permission %.*s",
                    (int)utf8_cut(one.p, one.n, 40), one.p);
            return ERR_INVALID;
        }
        if (set & PERM_BIT(p)) {
            why_set(why, "permissions: %s comes twice", permission_text(p));
            return ERR_INVALID;
        }
        set |= PERM_BIT(p);
    }
    *ret = set;
    return OK;
}

_Static_assert((int)ROLES == (int)PERMISSIONS_OF_GROUPS, "each role has one permission more");
