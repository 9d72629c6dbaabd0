/* SPDX-License-Identifier: Apache-2.0 */
/* sessions.c - the sessions of users on any engine that speaks SQL: a row by the digest of what the
 * browser has. */
#include "store/sql/users.h"
#include <string.h>

#define SESSION_COLUMNS                                                                            \
    "SELECT digest, user_id, created_ms, expires_ms, used_ms, address FROM peal_session "

enum err sql_session_delete(struct store *store, const char *digest, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store), "DELETE FROM peal_session WHERE digest = ?1", &q, why);
    if (err)
        return err;
    sql_bind_text(q, 1, digest);
    return sql_do(q, why);
}

enum err sql_session_put(struct store *store, const struct session_record *r, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_session_delete(store, r->digest, why);
    if (!err)
        err = sql_query(sql_of(store),
                        "INSERT INTO peal_session (digest, user_id, created_ms, expires_ms, "
                        "used_ms, address) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                        &q, why);
    if (err)
        return err;
    sql_bind_text(q, 1, r->digest);
    sql_bind_i64(q, 2, r->user_id);
    sql_bind_i64(q, 3, r->created_ms);
    sql_bind_i64(q, 4, r->expires_ms);
    sql_bind_i64(q, 5, r->used_ms);
    sql_bind_text(q, 6, r->address);
    return sql_do(q, why);
}

static void session_read(struct sql_query *q, struct session_record *r)
{
    memset(r, 0, sizeof(*r));
    sql_text_copy(q, 0, r->digest, sizeof(r->digest));
    r->user_id = sql_i64(q, 1, 0);
    r->created_ms = sql_i64(q, 2, 0);
    r->expires_ms = sql_i64(q, 3, 0);
    r->used_ms = sql_i64(q, 4, 0);
    sql_text_copy(q, 5, r->address, sizeof(r->address));
}

enum err sql_session_find(struct store *store, const char *digest, struct session_record *ret,
                          struct why *why)
{
    struct sql_query *q;
    enum err err = sql_row_by_text(sql_of(store), SESSION_COLUMNS "WHERE digest = ?1", "session",
                                   digest, &q, why);
    if (err)
        return err;
    session_read(q, ret);
    sql_reset(q);
    return OK;
}

static bool session_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct session_record r;
    session_read(q, &r);
    return (*(session_row_fn **)fn)(ctx, &r);
}

enum err sql_sessions_of(struct store *store, int64_t user_id, session_row_fn *fn, void *ctx,
                         struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(
        s, SESSION_COLUMNS "WHERE user_id = ?1 ORDER BY created_ms DESC, digest", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, user_id);
    return sql_rows(q, session_lend, &fn, ctx, why);
}

enum err sql_session_used(struct store *store, const char *digest, int64_t used_ms, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s, "UPDATE peal_session SET used_ms = ?2 WHERE digest = ?1", &q, why);
    if (err)
        return err;
    sql_bind_text(q, 1, digest);
    sql_bind_i64(q, 2, used_ms);
    return sql_do(q, why);
}

enum err sql_sessions_end(struct store *store, int64_t user_id, const char *but, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err =
        sql_query(s, "DELETE FROM peal_session WHERE user_id = ?1 AND digest <> ?2", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, user_id);
    sql_bind_text_or(q, 2, but, "");
    return sql_do(q, why);
}

enum err sql_sessions_expire(struct store *store, int64_t now_ms, struct why *why)
{
    return sql_change_by_id(sql_of(store), "DELETE FROM peal_session WHERE expires_ms <= ?1",
                            now_ms, NULL, why);
}
