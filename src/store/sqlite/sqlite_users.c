/* SPDX-License-Identifier: Apache-2.0 */
/* Users, their grants, sessions and tokens on SQLite.
 *
 * xxl_job_user is XXL-JOB's and keeps its meaning. peal_user holds what a user has beyond it, and
 * the text of the two columns that the rows of peal_grant belong to: while these are the same, our
 * rights hold; when another program has changed them, theirs do. */
#include "base/mem.h"
#include "store/shared.h"
#include "store/sqlite/sqlite_db.h"
#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------------
 */

#define USER_COLUMNS                                                                               \
    "SELECT u.id, u.username, u.password, p.argon2, p.legacy, u.permission, u.role, p.center, "    \
    "p.xxl, p.preferences, p.must_change, p.version, p.created_ms, p.login_ms, "                   \
    "(SELECT count(*) FROM peal_session s WHERE s.user_id = u.id) "                                \
    "FROM xxl_job_user u LEFT JOIN peal_user p ON p.user_id = u.id "

static bool grant_read(sqlite3_stmt *q, void *fn, void *ctx)
{
    (void)fn;
    struct rights *r = ctx;
    enum role role;
    int64_t group_id = col_i64(q, 0, -1);
    char *text = col_text(q, 1);
    bool more = group_id < 0 || !role_of(slice_text(text), &role) || rights_add(r, group_id, role);
    free(text);
    return more;
}

static enum err grants_read(struct sqlite *s, int64_t user_id, struct rights *r, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(
        s, "SELECT group_id, role FROM peal_grant WHERE user_id = ?1 ORDER BY group_id", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, user_id);
    return sql_each(s, q, grant_read, NULL, r, NULL, why);
}

/* All but the grants. Are these to be read? */
static bool user_read(sqlite3_stmt *q, struct user_record *r)
{
    memset(r, 0, sizeof(*r));
    r->id = col_i64(q, 0, 0);
    r->username = col_text(q, 1);
    r->password = col_text(q, 2);
    r->argon2 = col_text(q, 3);
    char *legacy = col_text(q, 4), *center = col_text(q, 7), *xxl = col_text(q, 8);
    if (!store_argon2_counts(r->password, legacy)) {
        free(r->argon2);
        r->argon2 = NULL;
    }
    r->permission = col_text(q, 5);
    r->role = col_int(q, 6, 0);
    r->preferences = col_text(q, 9);
    r->must_change = col_i64(q, 10, 0) != 0;
    r->version = col_i64(q, 11, 0);
    r->created_ms = col_i64(q, 12, -1);
    r->login_ms = col_i64(q, 13, -1);
    r->sessions = col_i64(q, 14, 0);
    bool ours = store_rights_count(r, xxl) && center_role_of(slice_text(center), &r->rights.center);
    if (!ours)
        rights_of_xxl(r->role, r->permission, &r->rights);
    free(legacy);
    free(center);
    free(xxl);
    return ours;
}

/* The row of a statement that is bound. *ret_row: there is one. */
static enum err user_one(struct sqlite *s, sqlite3_stmt *q, struct user_record *ret, bool *ret_row,
                         struct why *why)
{
    enum err err = sql_step(s, q, ret_row, why);
    if (err || !*ret_row)
        return err;
    struct user_record r;
    bool grants = user_read(q, &r);
    sqlite3_reset(q);
    if (grants)
        err = grants_read(s, r.id, &r.rights, why);
    if (err)
        user_record_done(&r);
    else
        *ret = r;
    return err;
}

enum err sqlite_user_find(struct store *store, const char *username, struct user_record *ret,
                          struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s, USER_COLUMNS "WHERE u.username = ?1", &q, why);
    if (err)
        return err;
    bind_text_or(q, 1, username, "");
    bool row;
    err = user_one(s, q, ret, &row, why);
    if (err || row)
        return err;
    why_set(why, "no user of that name");
    return ERR_NOTFOUND;
}

enum err sqlite_user_get(struct store *store, int64_t id, struct user_record *ret, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s, USER_COLUMNS "WHERE u.id = ?1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, id);
    bool row;
    err = user_one(s, q, ret, &row, why);
    if (err || row)
        return err;
    return sql_missing("user", id, why);
}

enum err sqlite_user_count(struct store *store, bool admins, int64_t *ret, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err =
        sql_get(s, "SELECT count(*) FROM xxl_job_user WHERE ?1 = 0 OR role = 1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, admins);
    return sql_number(s, q, 0, ret, why);
}

/* ---- pages ------------------------------------------------------------------------------------
 */

#define USERS_WHERE                                                                                \
    "WHERE (?1 = '' OR instr(lower(u.username), lower(?1)) > 0) AND (?2 < 0 OR u.role = ?2) "

static enum err users_bound(struct sqlite *s, const char *text, const struct users_filter *f,
                            sqlite3_stmt **ret, struct why *why)
{
    enum err err = sql_get(s, text, ret, why);
    if (err)
        return err;
    bind_text_or(*ret, 1, f->name, "");
    bind_i64(*ret, 2, f->role);
    return OK;
}

struct users_walk {
    struct sqlite *s;
    user_row_fn *fn;
    void *ctx;
    enum err err;
    struct why *why;
};

static bool users_row(sqlite3_stmt *q, void *fn, void *ctx)
{
    (void)fn;
    struct users_walk *w = ctx;
    struct user_record r;
    if (user_read(q, &r))
        w->err = grants_read(w->s, r.id, &r.rights, w->why);
    bool more = !w->err && w->fn(w->ctx, &r);
    user_record_done(&r);
    return more;
}

enum err sqlite_users_page(struct store *store, const struct users_filter *f, user_row_fn *fn,
                           void *ctx, int64_t *ret_total, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    struct users_walk w = { s, fn, ctx, OK, why };
    sqlite3_stmt *q;
    enum err err = users_bound(s, "SELECT count(*) FROM xxl_job_user u " USERS_WHERE, f, &q, why);
    if (!err)
        err = sql_number(s, q, 0, ret_total, why);
    if (!err)
        err = users_bound(s,
                          f->by_name
                              ? USER_COLUMNS USERS_WHERE "ORDER BY u.username LIMIT ?3 OFFSET ?4"
                              : USER_COLUMNS USERS_WHERE "AND u.id > ?4 ORDER BY u.id LIMIT ?3",
                          f, &q, why);
    if (err)
        return err;
    bind_i64(q, 3, f->limit > 0 ? f->limit : 0);
    bind_i64(q, 4, f->by_name ? (f->offset > 0 ? f->offset : 0) : f->after_id);
    err = sql_each(s, q, users_row, NULL, &w, NULL, why);
    return err ? err : w.err;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

/* Ours beside theirs; legacy is the text that stands in their column now. */
static enum err argon2_put(struct sqlite *s, int64_t id, const char *argon2, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "INSERT INTO peal_user (user_id, argon2, legacy) "
                           "SELECT id, ?2, password FROM xxl_job_user WHERE id = ?1 "
                           "ON CONFLICT (user_id) DO UPDATE SET argon2 = excluded.argon2, "
                           "legacy = excluded.legacy",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, id);
    bind_text(q, 2, argon2);
    err = sql_run(s, q, why);
    if (err || sqlite3_changes(s->db))
        return err;
    return sql_missing("user", id, why);
}

static enum err grants_put(struct sqlite *s, const struct user_record *r, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s, "DELETE FROM peal_grant WHERE user_id = ?1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, r->id);
    err = sql_run(s, q, why);
    for (int i = 0; !err && i < r->rights.n; i++) {
        err = sql_get(s, "INSERT INTO peal_grant (user_id, group_id, role) VALUES (?1, ?2, ?3)", &q,
                      why);
        if (err)
            return err;
        bind_i64(q, 1, r->id);
        bind_i64(q, 2, r->rights.grants[i].group_id);
        bind_text(q, 3, role_text(r->rights.grants[i].role));
        err = sql_run(s, q, why);
    }
    return err;
}

/* What stands in peal_user besides the password; its row is there. */
static enum err own_put(struct sqlite *s, const struct user_record *r, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "UPDATE peal_user SET center = ?2, xxl = ?3, preferences = ?4, "
                           "must_change = ?5, version = ?6, created_ms = ?7 WHERE user_id = ?1",
                           &q, why);
    if (err)
        return err;
    char *xxl = rights_xxl_text(r->role, r->permission);
    bind_i64(q, 1, r->id);
    bind_text(q, 2, center_role_text(r->rights.center));
    bind_text(q, 3, xxl);
    bind_text(q, 4, r->preferences);
    bind_i64(q, 5, r->must_change);
    bind_i64(q, 6, r->version);
    if (r->created_ms > 0)
        bind_i64(q, 7, r->created_ms);
    else
        sqlite3_bind_null(q, 7);
    err = sql_run(s, q, why);
    free(xxl);
    return err ? err : grants_put(s, r, why);
}

enum err sqlite_user_insert(struct store *store, struct user_record *r, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "INSERT INTO xxl_job_user (username, password, role, permission) "
                           "SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS "
                           "(SELECT 1 FROM xxl_job_user WHERE username = ?1)",
                           &q, why);
    if (err)
        return err;
    bind_text_or(q, 1, r->username, "");
    bind_text_or(q, 2, r->password, "");
    bind_i64(q, 3, r->role);
    bind_text(q, 4, r->permission);
    err = sql_run(s, q, why);
    if (err)
        return err;
    if (!sqlite3_changes(s->db)) {
        why_set(why, "a user of that name exists already");
        return ERR_EXISTS;
    }
    r->id = sqlite3_last_insert_rowid(s->db);
    err = argon2_put(s, r->id, r->argon2, why);
    return err ? err : own_put(s, r, why);
}

enum err sqlite_user_update(struct store *store, const struct user_record *r, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(
        s, "UPDATE xxl_job_user SET password = ?2, role = ?3, permission = ?4 WHERE id = ?1", &q,
        why);
    if (err)
        return err;
    bind_i64(q, 1, r->id);
    bind_text_or(q, 2, r->password, "");
    bind_i64(q, 3, r->role);
    bind_text(q, 4, r->permission);
    err = sql_run(s, q, why);
    if (!err && !sqlite3_changes(s->db))
        err = sql_missing("user", r->id, why);
    if (!err)
        err = argon2_put(s, r->id, r->argon2, why);
    return err ? err : own_put(s, r, why);
}

static enum err run_with_id(struct sqlite *s, const char *text, int64_t id, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s, text, &q, why);
    if (err)
        return err;
    bind_i64(q, 1, id);
    return sql_run(s, q, why);
}

enum err sqlite_user_delete(struct store *store, int64_t id, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    enum err err = run_with_id(s, "DELETE FROM xxl_job_user WHERE id = ?1", id, why);
    if (!err && !sqlite3_changes(s->db))
        return sql_missing("user", id, why);
    if (!err)
        err = run_with_id(s, "DELETE FROM peal_user WHERE user_id = ?1", id, why);
    if (!err)
        err = run_with_id(s, "DELETE FROM peal_grant WHERE user_id = ?1", id, why);
    if (!err)
        err = run_with_id(s, "DELETE FROM peal_token WHERE user_id = ?1", id, why);
    return err ? err : run_with_id(s, "DELETE FROM peal_session WHERE user_id = ?1", id, why);
}

enum err sqlite_user_upgrade(struct store *store, int64_t id, const char *argon2, struct why *why)
{
    return argon2_put(sqlite_of(store), id, argon2, why);
}

enum err sqlite_user_seen(struct store *store, int64_t id, int64_t login_ms, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "INSERT INTO peal_user (user_id, login_ms) SELECT id, ?2 FROM "
                           "xxl_job_user WHERE id = ?1 ON CONFLICT (user_id) DO UPDATE SET "
                           "login_ms = excluded.login_ms",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, id);
    bind_i64(q, 2, login_ms);
    return sql_run(s, q, why);
}

/* ---- sessions ---------------------------------------------------------------------------------
 */

#define SESSION_COLUMNS                                                                            \
    "SELECT digest, user_id, created_ms, expires_ms, used_ms, address FROM peal_session "

enum err sqlite_session_put(struct store *store, const struct session_record *r, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "INSERT OR REPLACE INTO peal_session (digest, user_id, created_ms, "
                           "expires_ms, used_ms, address) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                           &q, why);
    if (err)
        return err;
    bind_text(q, 1, r->digest);
    bind_i64(q, 2, r->user_id);
    bind_i64(q, 3, r->created_ms);
    bind_i64(q, 4, r->expires_ms);
    bind_i64(q, 5, r->used_ms);
    bind_text(q, 6, r->address);
    return sql_run(s, q, why);
}

static void text_read(sqlite3_stmt *q, int i, char *to, size_t size)
{
    text_copy(to, size, slice_text((const char *)sqlite3_column_text(q, i)));
}

static void session_read(sqlite3_stmt *q, struct session_record *r)
{
    memset(r, 0, sizeof(*r));
    text_read(q, 0, r->digest, sizeof(r->digest));
    r->user_id = col_i64(q, 1, 0);
    r->created_ms = col_i64(q, 2, 0);
    r->expires_ms = col_i64(q, 3, 0);
    r->used_ms = col_i64(q, 4, 0);
    text_read(q, 5, r->address, sizeof(r->address));
}

enum err sqlite_session_find(struct store *store, const char *digest, struct session_record *ret,
                             struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s, SESSION_COLUMNS "WHERE digest = ?1", &q, why);
    if (err)
        return err;
    bind_text(q, 1, digest);
    bool row;
    err = sql_step(s, q, &row, why);
    if (err)
        return err;
    if (!row) {
        why_set(why, "no such session");
        return ERR_NOTFOUND;
    }
    session_read(q, ret);
    sqlite3_reset(q);
    return OK;
}

static bool session_row(sqlite3_stmt *q, void *fn, void *ctx)
{
    struct session_record r;
    session_read(q, &r);
    return (*(session_row_fn **)fn)(ctx, &r);
}

enum err sqlite_sessions_of(struct store *store, int64_t user_id, session_row_fn *fn, void *ctx,
                            struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err =
        sql_get(s, SESSION_COLUMNS "WHERE user_id = ?1 ORDER BY created_ms DESC, digest", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, user_id);
    return sql_each(s, q, session_row, &fn, ctx, NULL, why);
}

enum err sqlite_session_used(struct store *store, const char *digest, int64_t used_ms,
                             struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s, "UPDATE peal_session SET used_ms = ?2 WHERE digest = ?1", &q, why);
    if (err)
        return err;
    bind_text(q, 1, digest);
    bind_i64(q, 2, used_ms);
    return sql_run(s, q, why);
}

enum err sqlite_session_delete(struct store *store, const char *digest, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s, "DELETE FROM peal_session WHERE digest = ?1", &q, why);
    if (err)
        return err;
    bind_text(q, 1, digest);
    return sql_run(s, q, why);
}

enum err sqlite_sessions_end(struct store *store, int64_t user_id, const char *but, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err =
        sql_get(s, "DELETE FROM peal_session WHERE user_id = ?1 AND digest <> ?2", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, user_id);
    bind_text_or(q, 2, but, "");
    return sql_run(s, q, why);
}

enum err sqlite_sessions_expire(struct store *store, int64_t now_ms, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s, "DELETE FROM peal_session WHERE expires_ms <= ?1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, now_ms);
    return sql_run(s, q, why);
}

/* ---- tokens -----------------------------------------------------------------------------------
 */

#define TOKEN_COLUMNS                                                                              \
    "SELECT id, user_id, name, digest, prefix, permissions, groups, created_ms, expires_ms, "      \
    "used_ms FROM peal_token "

static void token_read(sqlite3_stmt *q, struct token_record *r)
{
    memset(r, 0, sizeof(*r));
    r->id = col_i64(q, 0, 0);
    r->user_id = col_i64(q, 1, 0);
    r->name = col_text(q, 2);
    text_read(q, 3, r->digest, sizeof(r->digest));
    text_read(q, 4, r->prefix, sizeof(r->prefix));
    char *permissions = col_text(q, 5), *groups = col_text(q, 6);
    /* a text that another release wrote, and that this one does not know, permits nothing */
    if (permissions_read(slice_text(permissions), &r->permissions, NULL))
        r->permissions = 0;
    token_groups_read(r, groups);
    free(permissions);
    free(groups);
    r->created_ms = col_i64(q, 7, 0);
    r->expires_ms = col_i64(q, 8, -1);
    r->used_ms = col_i64(q, 9, -1);
}

enum err sqlite_token_insert(struct store *store, struct token_record *r, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err =
        sql_get(s,
                "INSERT INTO peal_token (user_id, name, digest, prefix, permissions, "
                "groups, created_ms, expires_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                &q, why);
    if (err)
        return err;
    struct buf permissions = BUF_INIT(1000);
    char *groups = token_groups_write(r);
    permissions_write(r->permissions, &permissions);
    bind_i64(q, 1, r->user_id);
    bind_text_or(q, 2, r->name, "");
    bind_text(q, 3, r->digest);
    bind_text(q, 4, r->prefix);
    bind_text(q, 5, buf_str(&permissions));
    bind_text(q, 6, groups);
    bind_i64(q, 7, r->created_ms);
    if (r->expires_ms > 0)
        bind_i64(q, 8, r->expires_ms);
    else
        sqlite3_bind_null(q, 8);
    err = sql_run(s, q, why);
    free(groups);
    buf_done(&permissions);
    if (!err)
        r->id = sqlite3_last_insert_rowid(s->db);
    return err;
}

enum err sqlite_token_get(struct store *store, int64_t id, struct token_record *ret,
                          struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_by_id(sqlite_of(store), TOKEN_COLUMNS "WHERE id = ?1", "token", id, &q, why);
    if (err)
        return err;
    token_read(q, ret);
    sqlite3_reset(q);
    return OK;
}

enum err sqlite_token_find(struct store *store, const char *digest, struct token_record *ret,
                           struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s, TOKEN_COLUMNS "WHERE digest = ?1", &q, why);
    if (err)
        return err;
    bind_text(q, 1, digest);
    bool row;
    err = sql_step(s, q, &row, why);
    if (err)
        return err;
    if (!row) {
        why_set(why, "no such token");
        return ERR_NOTFOUND;
    }
    token_read(q, ret);
    sqlite3_reset(q);
    return OK;
}

static bool token_row(sqlite3_stmt *q, void *fn, void *ctx)
{
    struct token_record r;
    token_read(q, &r);
    bool more = (*(token_row_fn **)fn)(ctx, &r);
    token_record_done(&r);
    return more;
}

enum err sqlite_tokens_of(struct store *store, int64_t user_id, int64_t after_id, int64_t limit,
                          token_row_fn *fn, void *ctx, int64_t *ret_total, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s, "SELECT count(*) FROM peal_token WHERE user_id = ?1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, user_id);
    err = sql_number(s, q, 0, ret_total, why);
    if (!err)
        err = sql_get(s, TOKEN_COLUMNS "WHERE user_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3", &q,
                      why);
    if (err)
        return err;
    bind_i64(q, 1, user_id);
    bind_i64(q, 2, after_id);
    bind_i64(q, 3, limit > 0 ? limit : 0);
    return sql_each(s, q, token_row, &fn, ctx, NULL, why);
}

enum err sqlite_token_used(struct store *store, int64_t id, int64_t used_ms, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s, "UPDATE peal_token SET used_ms = ?2 WHERE id = ?1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, id);
    bind_i64(q, 2, used_ms);
    return sql_run(s, q, why);
}

enum err sqlite_token_delete(struct store *store, int64_t id, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    enum err err = run_with_id(s, "DELETE FROM peal_token WHERE id = ?1", id, why);
    if (err || sqlite3_changes(s->db))
        return err;
    return sql_missing("token", id, why);
}
