/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of records, and how the words of XXL-JOB change rights: only where they differ. */
#include "model/user.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define GROUPS_TEXT_MAX (24 * GRANTS_MAX)

void user_record_done(struct user_record *r)
{
    free(r->username);
    free(r->password);
    free(r->argon2);
    free(r->permission);
    free(r->preferences);
    rights_done(&r->rights);
    memset(r, 0, sizeof(*r));
}

void user_record_copy(struct user_record *to, const struct user_record *from)
{
    *to = *from;
    to->username = mem_dup(from->username);
    to->password = mem_dup(from->password);
    to->argon2 = mem_dup(from->argon2);
    to->permission = mem_dup(from->permission);
    to->preferences = mem_dup(from->preferences);
    rights_copy(&to->rights, &from->rights);
}

void user_record_grant(struct user_record *r, const struct rights *rights)
{
    struct rights copy;
    rights_copy(&copy, rights);
    rights_done(&r->rights);
    r->rights = copy;
    free(r->permission);
    rights_to_xxl(rights, &r->role, &r->permission);
}

void user_record_grant_xxl(struct user_record *r, int role, const char *permission)
{
    if (role == r->role &&
        strcmp(permission ? permission : "", r->permission ? r->permission : "") == 0)
        return;
    r->role = role;
    free(r->permission);
    r->permission = mem_dup(permission);
    rights_done(&r->rights);
    rights_of_xxl(role, permission, &r->rights);
}

/* ---- tokens -----------------------------------------------------------------------------------
 */

void token_record_done(struct token_record *r)
{
    free(r->name);
    free(r->groups);
    memset(r, 0, sizeof(*r));
}

void token_record_copy(struct token_record *to, const struct token_record *from)
{
    *to = *from;
    to->name = mem_dup(from->name);
    to->groups = NULL;
    if (from->n) {
        to->groups = mem_new(from->n * sizeof(*to->groups));
        memcpy(to->groups, from->groups, from->n * sizeof(*to->groups));
    }
}

char *token_groups_write(const struct token_record *r)
{
    struct buf b = BUF_INIT(GROUPS_TEXT_MAX);
    if (r->all_groups)
        return NULL;
    for (size_t i = 0; i < r->n; i++)
        buf_printf(&b, "%s%lld", i ? "," : "", (long long)r->groups[i]);
    return buf_take(&b);
}

void token_groups_read(struct token_record *r, const char *text)
{
    struct slice rest = slice_text(text);
    free(r->groups);
    r->groups = NULL;
    r->n = 0;
    r->all_groups = !text;
    for (struct slice one; r->n < GRANTS_MAX && slice_item(&rest, &one);) {
        int64_t id;
        if (!parse_i64(one, &id) || id < 1)
            continue;
        r->groups = mem_resize(r->groups, (r->n + 1) * sizeof(*r->groups));
        r->groups[r->n++] = id;
    }
    r->n = scope_sort(r->groups, r->n);
}

struct scope token_scope(const struct token_record *r)
{
    return (struct scope){ .all = r->all_groups, .n = r->n, .ids = r->groups };
}
