/* SPDX-License-Identifier: Apache-2.0 */
/* Personal access tokens of the asker. The secret is in the answer that makes one, and nowhere
 * else. */
#include "api/token.h"
#include "api/accounts.h"
#include "api/body.h"
#include "api/v1/query.h"
#include "api/v1/rights_json.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"
#include <jansson.h>
#include <stdlib.h>

#define DAYS_DEFAULT 90
#define DAY_MS INT64_C(86400000)

static void write_token(struct jsonw *w, const char *key, const struct token_record *t)
{
    const struct scope scope = token_scope(t);
    jsonw_object(w, key);
    jsonw_i64(w, "id", t->id);
    jsonw_text(w, "name", t->name);
    jsonw_text(w, "prefix", t->prefix);
    rights_json_permissions(w, t->permissions);
    rights_json_groups(w, &scope);
    v1_instant(w, "created", t->created_ms);
    v1_instant_or_null(w, "expires", t->expires_ms);
    v1_instant_or_null(w, "lastUsed", t->used_ms);
    jsonw_object_end(w);
}

/* ---- list ---------------------------------------------------------------------------------------
 */

struct listing {
    struct jsonw w;
    int64_t limit, shown;
    struct cursor last;
    bool more;
};

static bool add_token(void *ctx, const struct token_record *t)
{
    struct listing *l = ctx;
    l->more = l->shown == l->limit;
    if (l->more)
        return false;
    l->shown++;
    l->last.id = t->id;
    write_token(&l->w, NULL, t);
    return true;
}

void v1_tokens_list(struct web_call *call)
{
    struct why why = { "" };
    struct query q;
    struct cursor after = { .id = 0 };
    struct listing l = { .w = jsonw_on(&call->output) };
    int64_t total = 0;
    query_begin(&q, call);
    l.limit = query_limit(&q);
    (void)query_cursor(&q, &after);
    if (!query_end(&q))
        return;
    v1_list_begin(&l.w);
    enum err err = call->db->ops->users->tokens_of(call->db, call->user.id, after.id, l.limit + 1,
                                                   add_token, &l, &total, &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    v1_list_end(call, &l.w, l.more ? &l.last : NULL, total, true);
}

/* ---- make ---------------------------------------------------------------------------------------
 */

struct token_in {
    struct slice name;
    struct body_texts permissions;
    struct body_ids groups;
    int64_t days;
};

static const struct body_field token_fields[] = {
    { "name", FIELD_TEXT, offsetof(struct token_in, name), true, 1, 64 },
    { "permissions", FIELD_TEXTS, offsetof(struct token_in, permissions), true, 1, PERMISSIONS },
    { "groups", FIELD_IDS, offsetof(struct token_in, groups), false, 0, GRANTS_MAX },
    { "days", FIELD_I64, offsetof(struct token_in, days), false, 0, 3650 },
};

static void read_permissions(const struct body_texts *texts, unsigned *ret,
                             struct problem_errors *errors)
{
    for (size_t i = 0; i < texts->n; i++) {
        struct slice text = body_text(texts, i);
        enum permission p;
        if (!permission_of(text, &p))
            problem_error(errors, "/permissions", "word", NULL,
                          "permissions: there is no permission %.*s",
                          (int)utf8_cut(text.p, text.n, 40), text.p);
        else if (*ret & PERM_BIT(p))
            problem_error(errors, "/permissions", "list.unique", NULL,
                          "permissions: %s comes twice", permission_text(p));
        else
            *ret |= PERM_BIT(p);
    }
}

/* Permissions of the server lead to all groups. */
static void check_groups(const struct token_record *t, struct problem_errors *errors)
{
    const unsigned of_groups = PERM_BIT(PERMISSIONS_OF_GROUPS) - 1;
    struct buf b = BUF_INIT(1000);
    permissions_write(t->permissions & ~of_groups, &b);
    if (!t->all_groups && t->permissions & ~of_groups)
        problem_error(errors, "/groups", "token.groups", NULL,
                      "groups: must be null with %s, which is for the server as a whole",
                      buf_str(&b));
    buf_done(&b);
}

static void read_groups(const struct body_ids *ids, struct token_record *t)
{
    t->all_groups = ids->array == NULL;
    t->groups = mem_new((ids->n + 1) * sizeof(*t->groups));
    for (size_t i = 0; i < ids->n; i++)
        t->groups[t->n++] = body_id(ids, i);
    t->n = scope_sort(t->groups, t->n);
}

/* A group that is null is as if it were absent: all. */
static const json_t *without_null_groups(struct web_call *call)
{
    if (json_is_null(json_object_get(call->json, "groups")))
        json_object_del(call->json, "groups");
    return call->json;
}

static bool read_token(struct web_call *call, struct token_record *t)
{
    struct token_in in = { .days = DAYS_DEFAULT };
    struct problem_errors errors;
    problem_errors_init(&errors);
    body_fields(without_null_groups(call), token_fields, countof(token_fields), &in, &errors);
    read_permissions(&in.permissions, &t->permissions, &errors);
    if (in.days == 0 && call->user.rights.center != CENTER_ADMIN)
        problem_error(&errors, "/days", "token.days", NULL,
                      "days: a token without an end is for administrators");
    t->name = mem_dupn(in.name.n ? in.name.p : "", in.name.n);
    read_groups(&in.groups, t);
    check_groups(t, &errors);
    t->user_id = call->user.id;
    t->created_ms = clock_wall_ms();
    t->expires_ms = in.days ? t->created_ms + in.days * DAY_MS : -1;
    t->used_ms = -1;
    bool good = errors.n == 0;
    if (!good)
        problem_fields(call, PROBLEM_INVALID, &errors);
    problem_errors_done(&errors);
    return good;
}

static void answer_made(struct web_call *call, const struct token_record *t, const char *secret)
{
    struct jsonw w = jsonw_on(&call->output);
    v1_created(call, "/tokens", t->id);
    jsonw_object(&w, NULL);
    write_token(&w, "token", t);
    jsonw_text(&w, "secret", secret);
    jsonw_object_end(&w);
}

void v1_token_create(struct web_call *call)
{
    struct why why = { "" };
    struct token_record t = { .id = 0 };
    char secret[TOKEN_TEXT_SIZE];
    if (!read_token(call, &t)) {
        token_record_done(&t);
        return;
    }
    token_make(secret, t.digest, t.prefix);
    enum err err =
        account_token_add(call->center, &t, audit_new(call, "token.create"), &t.id, &why);
    if (err)
        problem_err(call, err, &why);
    else
        answer_made(call, &t, secret);
    token_record_done(&t);
}

/* ---- revoke -------------------------------------------------------------------------------------
 */

void v1_token_delete(struct web_call *call)
{
    struct why why = { "" };
    enum err err = account_token_delete(call->center, call->user.id, call->params.items[0].number,
                                        audit_new(call, "token.delete"), &why);
    if (err)
        problem_err(call, err, &why);
    else
        v1_empty(call);
}
