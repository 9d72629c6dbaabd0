/* SPDX-License-Identifier: Apache-2.0 */
/* Rights as rows become an actor: one scope for each permission of groups, so that a handler asks
 * one question and a page needs one condition. */
#include "model/rights.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows -------------------------------------------------------------------------------------
 */

void rights_done(struct rights *r)
{
    free(r->grants);
    memset(r, 0, sizeof(*r));
}

void rights_copy(struct rights *to, const struct rights *from)
{
    *to = *from;
    to->grants = NULL;
    if (from->n) {
        to->grants = mem_new((size_t)from->n * sizeof(*to->grants));
        memcpy(to->grants, from->grants, (size_t)from->n * sizeof(*to->grants));
    }
}

bool rights_same(const struct rights *a, const struct rights *b)
{
    if (a->center != b->center || a->n != b->n)
        return false;
    for (int i = 0; i < a->n; i++)
        if (a->grants[i].group_id != b->grants[i].group_id ||
            a->grants[i].role != b->grants[i].role)
            return false;
    return true;
}

bool rights_add(struct rights *r, int64_t group_id, enum role role)
{
    int at = 0;
    while (at < r->n && r->grants[at].group_id < group_id)
        at++;
    if (at < r->n && r->grants[at].group_id == group_id) {
        if (r->grants[at].role < role)
            r->grants[at].role = role;
        return true;
    }
    if (r->n == GRANTS_MAX)
        return false;
    r->grants = mem_resize(r->grants, ((size_t)r->n + 1) * sizeof(*r->grants));
    memmove(r->grants + at + 1, r->grants + at, (size_t)(r->n - at) * sizeof(*r->grants));
    r->grants[at] = (struct grant){ group_id, role };
    r->n++;
    return true;
}

/* ---- XXL-JOB's columns ------------------------------------------------------------------------
 */

void rights_of_xxl(int role, const char *permission, struct rights *ret)
{
    *ret = (struct rights){ .center = role == 1 ? CENTER_ADMIN : CENTER_NONE };
    struct slice rest = slice_text(permission);
    for (struct slice one; ret->center == CENTER_NONE && slice_item(&rest, &one);) {
        int64_t id;
        if (parse_i64(one, &id) && id > 0 && !rights_add(ret, id, ROLE_DEVELOPER))
            break;
    }
}

void rights_to_xxl(const struct rights *r, int *ret_role, char **ret_permission)
{
    struct buf b = BUF_INIT(XXL_PERMISSION_MAX);
    *ret_role = r->center == CENTER_ADMIN;
    for (int i = 0; !*ret_role && i < r->n; i++) {
        char id[24];
        size_t n = (size_t)snprintf(id, sizeof(id), "%s%lld", b.len ? "," : "",
                                    (long long)r->grants[i].group_id);
        if (r->grants[i].group_id < 1 || r->grants[i].role != ROLE_DEVELOPER)
            continue;
        if (b.len + n > XXL_PERMISSION_MAX)
            break;
        buf_add(&b, id, n);
    }
    *ret_permission = buf_take(&b);
}

char *rights_xxl_text(int role, const char *permission)
{
    char start[16];
    snprintf(start, sizeof(start), "%d:", role);
    return mem_join(start, permission ? permission : "");
}

/* ---- the actor --------------------------------------------------------------------------------
 */

static struct scope scope_of(const struct rights *r, enum permission p, int64_t *ids)
{
    struct scope s = { .all = (center_role_permissions(r->center) & PERM_BIT(p)) != 0, .ids = ids };
    for (int i = 0; !s.all && i < r->n; i++) {
        if (!(role_permissions(r->grants[i].role) & PERM_BIT(p)))
            continue;
        if (r->grants[i].group_id == 0)
            s.all = true;
        else
            ids[s.n++] = r->grants[i].group_id;
    }
    if (s.all)
        s.n = 0;
    return s;
}

struct actor *actor_new(int64_t user_id, const struct rights *r)
{
    struct actor *a = mem_new(sizeof(*a));
    a->user_id = user_id;
    a->center = center_role_permissions(r->center) & ~(PERM_BIT(PERMISSIONS_OF_GROUPS) - 1);
    a->ids = mem_new(((size_t)r->n * PERMISSIONS_OF_GROUPS + 1) * sizeof(*a->ids));
    for (int p = 0; p < PERMISSIONS_OF_GROUPS; p++)
        a->scopes[p] = scope_of(r, (enum permission)p, a->ids + (size_t)p * (size_t)r->n);
    return a;
}

struct actor *actor_new_token(const struct actor *user, int64_t token_id, unsigned permissions,
                              const struct scope *groups)
{
    struct actor *a = mem_new(sizeof(*a));
    a->user_id = user->user_id;
    a->token_id = token_id;
    a->center = scope_is_all(groups) ? user->center & permissions : 0;
    size_t room = groups->n;
    for (int p = 0; p < PERMISSIONS_OF_GROUPS; p++)
        if (user->scopes[p].n > room)
            room = user->scopes[p].n;
    a->ids = mem_new((room * PERMISSIONS_OF_GROUPS + 1) * sizeof(*a->ids));
    for (int p = 0; p < PERMISSIONS_OF_GROUPS; p++)
        a->scopes[p] = permissions & PERM_BIT(p)
                           ? scope_and(&user->scopes[p], groups, a->ids + (size_t)p * room)
                           : SCOPE_NONE;
    return a;
}

bool actor_covers(const struct actor *a, const struct rights *r)
{
    struct actor *given = actor_new(a->user_id, r);
    bool covers = !(given->center & ~a->center);
    for (int p = 0; p < PERMISSIONS_OF_GROUPS; p++)
        covers = covers && scope_within(&given->scopes[p], &a->scopes[p]);
    actor_free(given);
    return covers;
}

void actor_free(struct actor *a)
{
    if (!a)
        return;
    free(a->ids);
    free(a);
}

bool actor_may(const struct actor *a, enum permission p, int64_t group_id)
{
    if (p < PERMISSIONS_OF_GROUPS)
        return scope_has(&a->scopes[p], group_id);
    return p < PERMISSIONS && (a->center & PERM_BIT(p));
}

bool actor_has(const struct actor *a, enum permission p)
{
    if (p < PERMISSIONS_OF_GROUPS)
        return a->scopes[p].all || a->scopes[p].n > 0;
    return p < PERMISSIONS && (a->center & PERM_BIT(p));
}

const struct scope *actor_scope(const struct actor *a, enum permission p)
{
    return &a->scopes[p];
}
