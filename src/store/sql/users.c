/* SPDX-License-Identifier: Apache-2.0 */
/* users.c - users and their grants on any engine that speaks SQL.
 *
 * xxl_job_user is XXL-JOB's and keeps its meaning. peal_user holds what a user has beyond it, and
 * the text of the two columns that the rows of peal_grant belong to: while these are the same, our
 * rights hold; when another program has changed them, theirs do. */
#include "base/mem.h"
#include "store/shared.h"
#include "store/sql/page.h"
#include "store/sql/tables.h"
#include "store/sql/users.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------------
 */

#define USER_COLUMNS                                                                               \
    "SELECT u.id, u.username, u.password, p.argon2, p.legacy, u.permission, u.role, p.center, "    \
    "p.xxl, p.preferences, p.must_change, p.version, p.created_ms, p.login_ms, "                   \
    "(SELECT count(*) FROM peal_session s WHERE s.user_id = u.id) "                                \
    "FROM xxl_job_user u LEFT JOIN peal_user p ON p.user_id = u.id "

static bool grant_read(struct sql_query *q, void *fn, void *ctx)
{
    (void)fn;
    struct rights *r = ctx;
    enum role role;
    int64_t group_id = sql_i64(q, 0, -1);
    char *text = sql_text(q, 1);
    bool more = group_id < 0 || !role_of(slice_text(text), &role) || rights_add(r, group_id, role);
    free(text);
    return more;
}

static enum err grants_read(struct sql *s, int64_t user_id, struct rights *r, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(
        s, "SELECT group_id, role FROM peal_grant WHERE user_id = ?1 ORDER BY group_id", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, user_id);
    return sql_rows(q, grant_read, NULL, r, why);
}

/* All but the grants. Are these to be read? */
static bool user_read(struct sql_query *q, struct user_record *r)
{
    memset(r, 0, sizeof(*r));
    r->id = sql_i64(q, 0, 0);
    r->username = sql_text(q, 1);
    r->password = sql_text(q, 2);
    r->argon2 = sql_text(q, 3);
    char *legacy = sql_text(q, 4), *center = sql_text(q, 7), *xxl = sql_text(q, 8);
    if (!store_argon2_counts(r->password, legacy)) {
        free(r->argon2);
        r->argon2 = NULL;
    }
    r->permission = sql_text(q, 5);
    r->role = sql_int(q, 6, 0);
    r->preferences = sql_text(q, 9);
    r->must_change = sql_i64(q, 10, 0) != 0;
    r->version = sql_i64(q, 11, 0);
    r->created_ms = sql_i64(q, 12, -1);
    r->login_ms = sql_i64(q, 13, -1);
    r->sessions = sql_i64(q, 14, 0);
    bool ours = store_rights_count(r, xxl) && center_role_of(slice_text(center), &r->rights.center);
    if (!ours)
        rights_of_xxl(r->role, r->permission, &r->rights);
    free(legacy);
    free(center);
    free(xxl);
    return ours;
}

/* The row of a statement that is bound. *ret_row: there is one. */
static enum err user_one(struct sql *s, struct sql_query *q, struct user_record *ret, bool *ret_row,
                         struct why *why)
{
    enum err err = sql_next(q, ret_row, why);
    if (err || !*ret_row)
        return err;
    struct user_record r;
    bool grants = user_read(q, &r);
    sql_reset(q);
    if (grants)
        err = grants_read(s, r.id, &r.rights, why);
    if (err)
        user_record_done(&r);
    else
        *ret = r;
    return err;
}

static enum err user_find(struct store *store, const char *username, struct user_record *ret,
                          struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s, USER_COLUMNS "WHERE u.username = ?1", &q, why);
    if (err)
        return err;
    sql_bind_text_or(q, 1, username, "");
    bool row;
    err = user_one(s, q, ret, &row, why);
    if (err || row)
        return err;
    why_set(why, "no user of that name");
    return ERR_NOTFOUND;
}

static enum err user_get(struct store *store, int64_t id, struct user_record *ret, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s, USER_COLUMNS "WHERE u.id = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    bool row;
    err = user_one(s, q, ret, &row, why);
    if (err || row)
        return err;
    return sql_none("user", id, why);
}

static enum err user_count(struct store *store, bool admins, int64_t *ret, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err =
        sql_query(s, "SELECT count(*) FROM xxl_job_user WHERE ?1 = 0 OR role = 1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, admins);
    return sql_one(q, 0, ret, why);
}

/* ---- pages ------------------------------------------------------------------------------------
 */

static void users_where(struct sql_where *p, struct sql *s, const struct users_filter *f)
{
    where_init(p, s);
    where_has(p, "u.username", f->name);
    if (f->role >= 0)
        where_number(p, "u.role = ", f->role);
}

struct users_walk {
    struct sql *s;
    user_row_fn *fn;
    void *ctx;
    enum err err;
    struct why *why;
};

static bool users_lend(struct sql_query *q, void *fn, void *ctx)
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

static enum err users_count(struct sql *s, const struct users_filter *f, int64_t *ret_total,
                            struct why *why)
{
    struct sql_query *q = NULL;
    struct sql_where p;
    users_where(&p, s, f);
    enum err err = where_query(&p, s, "SELECT count(*) FROM xxl_job_user u", "", &q, why);
    if (!err)
        err = sql_one(q, 0, ret_total, why);
    sql_query_end(q);
    where_done(&p);
    return err;
}

static enum err users_page(struct store *store, const struct users_filter *f, user_row_fn *fn,
                           void *ctx, int64_t *ret_total, struct why *why)
{
    struct sql *s = sql_of(store);
    struct users_walk w = { s, fn, ctx, OK, why };
    struct sql_query *q = NULL;
    struct sql_where p;
    char after[100];
    enum err err = users_count(s, f, ret_total, why);
    if (err)
        return err;
    users_where(&p, s, f);
    if (!f->by_name)
        where_number(&p, "u.id > ", f->after_id);
    snprintf(after, sizeof(after), " ORDER BY %s LIMIT %lld OFFSET %lld",
             f->by_name ? "u.username" : "u.id", (long long)(f->limit > 0 ? f->limit : 0),
             (long long)(f->by_name && f->offset > 0 ? f->offset : 0));
    err = where_query(&p, s, USER_COLUMNS, after, &q, why);
    if (!err)
        err = sql_rows(q, users_lend, NULL, &w, why);
    sql_query_end(q);
    where_done(&p);
    return err ? err : w.err;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

/* Our row of a user, which another program may have left out; ERR_NOTFOUND if there is no user. */
static enum err own_make(struct sql *s, int64_t id, struct why *why)
{
    struct sql_query *q;
    int64_t there = 0, rows = 0;
    enum err err = sql_query(s, "SELECT 1 FROM peal_user WHERE user_id = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    err = sql_one(q, 0, &there, why);
    if (err || there)
        return err;
    err = sql_change_by_id(
        s, "INSERT INTO peal_user (user_id) SELECT id FROM xxl_job_user WHERE id = ?1", id, &rows,
        why);
    return err || rows ? err : sql_none("user", id, why);
}

/* Ours beside theirs; legacy is the text that stands in their column now. */
static enum err argon2_put(struct sql *s, int64_t id, const char *argon2, struct why *why)
{
    struct sql_query *q;
    int64_t rows = 0;
    enum err err = own_make(s, id, why);
    if (!err)
        err = sql_query(s,
                        "UPDATE peal_user SET argon2 = ?1, legacy = (SELECT password FROM "
                        "xxl_job_user WHERE id = ?2) WHERE user_id = ?2 AND EXISTS "
                        "(SELECT 1 FROM xxl_job_user WHERE id = ?2)",
                        &q, why);
    if (err)
        return err;
    sql_bind_text(q, 1, argon2);
    sql_bind_i64(q, 2, id);
    err = sql_change(q, &rows, why);
    return err || rows ? err : sql_none("user", id, why);
}

static enum err grants_put(struct sql *s, const struct user_record *r, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_change_by_id(s, "DELETE FROM peal_grant WHERE user_id = ?1", r->id, NULL, why);
    for (int i = 0; !err && i < r->rights.n; i++) {
        err = sql_query(s, "INSERT INTO peal_grant (user_id, group_id, role) VALUES (?1, ?2, ?3)",
                        &q, why);
        if (err)
            return err;
        sql_bind_i64(q, 1, r->id);
        sql_bind_i64(q, 2, r->rights.grants[i].group_id);
        sql_bind_text(q, 3, role_text(r->rights.grants[i].role));
        err = sql_do(q, why);
    }
    return err;
}

/* What stands in peal_user besides the password; its row is there. */
static enum err own_put(struct sql *s, const struct user_record *r, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s,
                             "UPDATE peal_user SET center = ?2, xxl = ?3, preferences = ?4, "
                             "must_change = ?5, version = ?6, created_ms = ?7 WHERE user_id = ?1",
                             &q, why);
    if (err)
        return err;
    char *xxl = rights_xxl_text(r->role, r->permission);
    sql_bind_i64(q, 1, r->id);
    sql_bind_text(q, 2, center_role_text(r->rights.center));
    sql_bind_text(q, 3, xxl);
    sql_bind_text(q, 4, r->preferences);
    sql_bind_i64(q, 5, r->must_change);
    sql_bind_i64(q, 6, r->version);
    sql_bind_unless(q, 7, r->created_ms > 0 ? r->created_ms : 0, 0);
    err = sql_do(q, why);
    free(xxl);
    return err ? err : grants_put(s, r, why);
}

static enum err user_exists(struct sql *s, const char *username, struct why *why)
{
    struct sql_query *q;
    int64_t one = 0;
    enum err err = sql_query(s, "SELECT 1 FROM xxl_job_user WHERE username = ?1", &q, why);
    if (err)
        return err;
    sql_bind_text_or(q, 1, username, "");
    err = sql_one(q, 0, &one, why);
    if (err || !one)
        return err;
    why_set(why, "a user of that name exists already");
    return ERR_EXISTS;
}

static enum err user_insert(struct store *store, struct user_record *r, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = user_exists(s, r->username, why);
    if (!err)
        err = sql_query(s,
                        "INSERT INTO xxl_job_user (username, password, role, permission) "
                        "VALUES (?1, ?2, ?3, ?4)",
                        &q, why);
    if (err)
        return err;
    sql_bind_text_or(q, 1, r->username, "");
    sql_bind_text_or(q, 2, r->password, "");
    sql_bind_i64(q, 3, r->role);
    sql_bind_text(q, 4, r->permission);
    err = sql_insert(q, &r->id, why);
    if (!err)
        err = argon2_put(s, r->id, r->argon2, why);
    return err ? err : own_put(s, r, why);
}

static enum err user_update(struct store *store, const struct user_record *r, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(
        s, "UPDATE xxl_job_user SET password = ?2, role = ?3, permission = ?4 WHERE id = ?1", &q,
        why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->id);
    sql_bind_text_or(q, 2, r->password, "");
    sql_bind_i64(q, 3, r->role);
    sql_bind_text(q, 4, r->permission);
    int64_t rows = 0;
    err = sql_change(q, &rows, why);
    if (!err && !rows)
        err = sql_none("user", r->id, why);
    if (!err)
        err = argon2_put(s, r->id, r->argon2, why);
    return err ? err : own_put(s, r, why);
}

static enum err user_delete(struct store *store, int64_t id, struct why *why)
{
    static const char *const rest[] = {
        "DELETE FROM peal_user WHERE user_id = ?1",
        "DELETE FROM peal_grant WHERE user_id = ?1",
        "DELETE FROM peal_token WHERE user_id = ?1",
        "DELETE FROM peal_session WHERE user_id = ?1",
    };
    struct sql *s = sql_of(store);
    int64_t gone = 0;
    enum err err = sql_change_by_id(s, "DELETE FROM xxl_job_user WHERE id = ?1", id, &gone, why);
    if (!err && !gone)
        return sql_none("user", id, why);
    for (size_t i = 0; !err && i < countof(rest); i++)
        err = sql_change_by_id(s, rest[i], id, NULL, why);
    return err;
}

static enum err user_upgrade(struct store *store, int64_t id, const char *argon2, struct why *why)
{
    return argon2_put(sql_of(store), id, argon2, why);
}

static enum err user_seen(struct store *store, int64_t id, int64_t login_ms, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    struct why none = { "" };
    enum err err = own_make(s, id, &none);
    if (err == ERR_NOTFOUND)
        return OK;
    if (!err)
        err = sql_query(s, "UPDATE peal_user SET login_ms = ?1 WHERE user_id = ?2", &q, &none);
    if (err) {
        why_set(why, "%s", none.text);
        return err;
    }
    sql_bind_i64(q, 1, login_ms);
    sql_bind_i64(q, 2, id);
    return sql_do(q, why);
}

const struct store_users sql_users = {
    .user_find = user_find,
    .user_get = user_get,
    .user_count = user_count,
    .user_insert = user_insert,
    .user_update = user_update,
    .user_delete = user_delete,
    .user_upgrade = user_upgrade,
    .user_seen = user_seen,
    .users_page = users_page,
    .session_put = sql_session_put,
    .session_find = sql_session_find,
    .sessions_of = sql_sessions_of,
    .session_used = sql_session_used,
    .session_delete = sql_session_delete,
    .sessions_end = sql_sessions_end,
    .sessions_expire = sql_sessions_expire,
    .token_insert = sql_token_insert,
    .token_get = sql_token_get,
    .token_find = sql_token_find,
    .tokens_of = sql_tokens_of,
    .token_used = sql_token_used,
    .token_delete = sql_token_delete,
    .audit_add = sql_audit_add,
    .audit_item_add = sql_audit_item_add,
    .audit_page = sql_audit_page,
    .audit_get = sql_audit_get,
    .audit_expire = sql_audit_expire,
    .idem_find = sql_idem_find,
    .idem_insert = sql_idem_insert,
    .idem_answer = sql_idem_answer,
    .idem_delete = sql_idem_delete,
    .idem_expire = sql_idem_expire,
    .idem_made_get = sql_idem_made_get,
    .idem_made_put = sql_idem_made_put,
};
