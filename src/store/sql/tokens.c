/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c - the tokens with which programs speak for a user, on any engine that speaks SQL. Of a
 * token itself only the digest is kept. */
#include "store/sql/users.h"
#include "base/mem.h"
#include "store/shared.h"
#include <stdlib.h>
#include <string.h>

#define TOKEN_COLUMNS                                                                              \
    "SELECT id, user_id, name, digest, prefix, permissions, group_ids, created_ms, expires_ms, "   \
    "used_ms FROM peal_token "

static void token_read(struct sql_query *q, struct token_record *r)
{
    memset(r, 0, sizeof(*r));
    r->id = sql_i64(q, 0, 0);
    r->user_id = sql_i64(q, 1, 0);
    r->name = sql_text(q, 2);
    sql_text_copy(q, 3, r->digest, sizeof(r->digest));
    sql_text_copy(q, 4, r->prefix, sizeof(r->prefix));
    char *permissions = sql_text(q, 5), *groups = sql_text(q, 6);
    /* a text that another release wrote, and that this one does not know, permits nothing */
    if (permissions_read(slice_text(permissions), &r->permissions, NULL))
        r->permissions = 0;
    token_groups_read(r, groups);
    free(permissions);
    free(groups);
    r->created_ms = sql_i64(q, 7, 0);
    r->expires_ms = sql_i64(q, 8, -1);
    r->used_ms = sql_i64(q, 9, -1);
}

enum err sql_token_insert(struct store *store, struct token_record *r, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err =
        sql_query(s,
                  "INSERT INTO peal_token (user_id, name, digest, prefix, permissions, "
                  "group_ids, created_ms, expires_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                  &q, why);
    if (err)
        return err;
    struct buf permissions = BUF_INIT(1000);
    char *groups = token_groups_write(r);
    permissions_write(r->permissions, &permissions);
    sql_bind_i64(q, 1, r->user_id);
    sql_bind_text_or(q, 2, r->name, "");
    sql_bind_text(q, 3, r->digest);
    sql_bind_text(q, 4, r->prefix);
    sql_bind_text(q, 5, buf_str(&permissions));
    sql_bind_text(q, 6, groups);
    sql_bind_i64(q, 7, r->created_ms);
    sql_bind_unless(q, 8, r->expires_ms > 0 ? r->expires_ms : 0, 0);
    err = sql_insert(q, &r->id, why);
    free(groups);
    buf_done(&permissions);
    return err;
}

enum err sql_token_get(struct store *store, int64_t id, struct token_record *ret, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_row_by_id(sql_of(store), TOKEN_COLUMNS "WHERE id = ?1", "token", id, &q, why);
    if (err)
        return err;
    token_read(q, ret);
    sql_reset(q);
    return OK;
}

enum err sql_token_find(struct store *store, const char *digest, struct token_record *ret,
                        struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_row_by_text(sql_of(store), TOKEN_COLUMNS "WHERE digest = ?1", "token", digest, &q, why);
    if (err)
        return err;
    token_read(q, ret);
    sql_reset(q);
    return OK;
}

static bool token_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct token_record r;
    token_read(q, &r);
    bool more = (*(token_row_fn **)fn)(ctx, &r);
    token_record_done(&r);
    return more;
}

enum err sql_tokens_of(struct store *store, int64_t user_id, int64_t after_id, int64_t limit,
                       token_row_fn *fn, void *ctx, int64_t *ret_total, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s, "SELECT count(*) FROM peal_token WHERE user_id = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, user_id);
    err = sql_one(q, 0, ret_total, why);
    if (!err)
        err = sql_query(s, TOKEN_COLUMNS "WHERE user_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3", &q,
                        why);
    if (err)
        return err;
    sql_bind_i64(q, 1, user_id);
    sql_bind_i64(q, 2, after_id);
    sql_bind_i64(q, 3, limit > 0 ? limit : 0);
    return sql_rows(q, token_lend, &fn, ctx, why);
}

enum err sql_token_used(struct store *store, int64_t id, int64_t used_ms, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s, "UPDATE peal_token SET used_ms = ?2 WHERE id = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    sql_bind_i64(q, 2, used_ms);
    return sql_do(q, why);
}

enum err sql_token_delete(struct store *store, int64_t id, struct why *why)
{
    int64_t gone = 0;
    enum err err =
        sql_change_by_id(sql_of(store), "DELETE FROM peal_token WHERE id = ?1", id, &gone, why);
    return err || gone ? err : sql_none("token", id, why);
}
