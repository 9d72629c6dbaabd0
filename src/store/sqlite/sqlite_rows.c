/* SPDX-License-Identifier: Apache-2.0 */
/* Groups and the registry on SQLite. */
#include "base/mem.h"
#include "store/shared.h"
#include "store/sqlite/sqlite_db.h"
#include <stdlib.h>
#include <string.h>

/* ---- groups ---------------------------------------------------------------------------------- */

void sqlite_group_read(sqlite3_stmt *q, struct group_record *r)
{
    r->id = col_i64(q, 0, 0);
    r->app = col_text(q, 1);
    r->title = col_text(q, 2);
    r->address_type = col_int(q, 3, 0);
    r->address_list = col_text(q, 4);
    r->updated_ms = col_i64(q, 5, 0);
}

static void bind_group(sqlite3_stmt *q, const struct group_record *r)
{
    bind_text_or(q, 2, r->app, "");
    bind_text_or(q, 3, r->title, "");
    bind_i64(q, 4, r->address_type);
    bind_text(q, 5, r->address_list);
    bind_i64(q, 6, r->updated_ms);
}

bool sqlite_group_row(sqlite3_stmt *q, void *fn, void *ctx)
{
    struct group_record r;
    sqlite_group_read(q, &r);
    bool more = (*(group_row_fn **)fn)(ctx, &r);
    group_record_done(&r);
    return more;
}

enum err sqlite_groups_each(struct store *store, group_row_fn *fn, void *ctx, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err =
        sql_get(s, "SELECT " SQLITE_GROUP_COLUMNS " FROM xxl_job_group ORDER BY id", &q, why);
    return err ? err : sql_each(s, q, sqlite_group_row, &fn, ctx, NULL, why);
}

enum err sqlite_group_insert(struct store *store, struct group_record *r, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "INSERT INTO xxl_job_group (id, app_name, title, address_type, "
                           "address_list, update_time) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                           &q, why);
    if (err)
        return err;
    sqlite3_bind_null(q, 1);
    bind_group(q, r);
    err = sql_run(s, q, why);
    if (!err)
        r->id = sqlite3_last_insert_rowid(s->db);
    return err;
}

enum err sqlite_group_update(struct store *store, const struct group_record *r, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "UPDATE xxl_job_group SET app_name = ?2, title = ?3, address_type = ?4, "
                           "address_list = ?5, update_time = ?6 WHERE id = ?1",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, r->id);
    bind_group(q, r);
    err = sql_run(s, q, why);
    if (err)
        return err;
    return sqlite3_changes(s->db) ? OK : sql_missing("group", r->id, why);
}

enum err sqlite_group_delete(struct store *store, int64_t id, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s, "DELETE FROM xxl_job_group WHERE id = ?1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, id);
    err = sql_run(s, q, why);
    if (err)
        return err;
    return sqlite3_changes(s->db) ? OK : sql_missing("group", id, why);
}

/* ---- the registry ---------------------------------------------------------------------------- */

static bool registry_lend(sqlite3_stmt *q, void *fn, void *ctx)
{
    struct registry_record r = { col_text(q, 0), col_text(q, 1), col_text(q, 2), col_i64(q, 3, 0) };
    bool more = (*(registry_row_fn **)fn)(ctx, &r);
    registry_record_done(&r);
    return more;
}

enum err sqlite_registry_each(struct store *store, registry_row_fn *fn, void *ctx, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "SELECT registry_group, registry_key, registry_value, update_time "
                           "FROM xxl_job_registry ORDER BY id",
                           &q, why);
    return err ? err : sql_each(s, q, registry_lend, &fn, ctx, NULL, why);
}

static enum err registry_row(struct sqlite *s, const char *text, const struct registry_record *r,
                             struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s, text, &q, why);
    if (err)
        return err;
    bind_text_or(q, 1, r->group, "");
    bind_text_or(q, 2, r->key, "");
    bind_text_or(q, 3, r->value, "");
    if (sqlite3_bind_parameter_count(q) == 4)
        bind_i64(q, 4, r->updated_ms);
    return sql_run(s, q, why);
}

enum err sqlite_registry_put(struct store *store, const struct registry_record *rows, int n,
                             struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    enum err err = OK;
    for (int i = 0; !err && i < n; i++) {
        /* a beat finds its row; an upsert would write the id counter each time, too */
        err = registry_row(s,
                           "UPDATE xxl_job_registry SET update_time = ?4 WHERE registry_group = ?1 "
                           "AND registry_key = ?2 AND registry_value = ?3",
                           &rows[i], why);
        if (!err && !sqlite3_changes(s->db))
            err = registry_row(s,
                               "INSERT INTO xxl_job_registry (registry_group, registry_key, "
                               "registry_value, update_time) VALUES (?1, ?2, ?3, ?4)",
                               &rows[i], why);
    }
    return err;
}

enum err sqlite_registry_delete(struct store *store, const struct registry_record *rows, int n,
                                struct why *why)
{
    enum err err = OK;
    for (int i = 0; !err && i < n; i++)
        err = registry_row(sqlite_of(store),
                           "DELETE FROM xxl_job_registry WHERE registry_group = ?1 AND "
                           "registry_key = ?2 AND registry_value = ?3",
                           &rows[i], why);
    return err;
}
