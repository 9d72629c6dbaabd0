/* SPDX-License-Identifier: Apache-2.0 */
/* Groups, and which executors have registered, on any engine that speaks SQL. */
#include "base/log.h"
#include "base/mem.h"
#include "store/sql/page.h"
#include "store/sql/tables.h"
#include <stdlib.h>
#include <string.h>

#define GROUP_COLUMNS "id, app_name, title, address_type, address_list, {ms update_time}"
#define TOKEN_COLUMNS "group_id, token, next_token, since_ms"

/* ---- groups ---------------------------------------------------------------------------------- */

static void group_read(struct sql_query *q, struct group_record *r)
{
    r->id = sql_i64(q, 0, 0);
    r->app = sql_text(q, 1);
    r->title = sql_text(q, 2);
    r->address_type = sql_int(q, 3, 0);
    r->address_list = sql_text(q, 4);
    r->updated_ms = sql_i64(q, 5, 0);
}

/* The list of a group by registry is a copy for XXL-JOB's programs: whole addresses, as many as the
 * column takes. Peal goes by the registry itself. NULL: it fits. Owned. */
static char *list_cut(struct sql *s, const struct group_record *r)
{
    size_t n = r->address_list ? strlen(r->address_list) : 0, max = s->driver->text_max;
    if (r->address_type != 0 || !max || n <= max)
        return NULL;
    const char *end = memrchr(r->address_list, ',', max + 1);
    size_t kept = end ? (size_t)(end - r->address_list) : 0;
    int left_out = 1;
    for (const char *p = r->address_list + kept + 1; (p = strchr(p, ',')); p++)
        left_out++;
    if (s->list_cut != r->id) /* once in a row: the list is written with each executor that comes */
        log_warn("store",
                 "the addresses of group %s do not fit into xxl_job_group.address_list: %d of them "
                 "are not shown to XXL-JOB's programs; Peal calls all of them",
                 r->app, left_out);
    s->list_cut = r->id;
    return mem_dupn(r->address_list, kept);
}

/* list is borrowed until the statement has run. */
static void bind_group(struct sql_query *q, const struct group_record *r, const char *list)
{
    sql_bind_text_or(q, 1, r->app, "");
    sql_bind_text_or(q, 2, r->title, "");
    sql_bind_i64(q, 3, r->address_type);
    sql_bind_text(q, 4, list);
    sql_bind_i64(q, 5, r->updated_ms);
}

static bool group_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct group_record r;
    group_read(q, &r);
    bool more = (*(group_row_fn **)fn)(ctx, &r);
    group_record_done(&r);
    return more;
}

enum err sql_groups_each(struct store *store, group_row_fn *fn, void *ctx, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s, "SELECT " GROUP_COLUMNS " FROM xxl_job_group ORDER BY id", &q, why);
    return err ? err : sql_rows(q, group_lend, &fn, ctx, why);
}

enum err sql_group_insert(struct store *store, struct group_record *r, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s,
                             "INSERT INTO xxl_job_group (app_name, title, address_type, "
                             "address_list, update_time) VALUES (?1, ?2, ?3, ?4, {time ?5})",
                             &q, why);
    if (err)
        return err;
    bind_group(q, r, r->address_list); /* one that is new has no executors yet */
    s->changed = true;
    return sql_insert(q, &r->id, why);
}

enum err sql_group_update(struct store *store, const struct group_record *r, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err =
        sql_query(s,
                  "UPDATE xxl_job_group SET app_name = ?1, title = ?2, address_type = ?3, "
                  "address_list = ?4, update_time = {time ?5} WHERE id = ?6",
                  &q, why);
    if (err)
        return err;
    char *cut = list_cut(s, r);
    bind_group(q, r, cut ? cut : r->address_list);
    sql_bind_i64(q, 6, r->id);
    s->changed = true;
    int64_t rows = 0;
    err = sql_change(q, &rows, why);
    free(cut);
    return err || rows ? err : sql_none("group", r->id, why);
}

/* moved: forget who has as well. */
static enum err token_delete(struct sql *s, int64_t group_id, bool moved, struct why *why)
{
    enum err err = OK;
    s->changed = true;
    if (moved)
        err = sql_change_by_id(s, "DELETE FROM peal_group_moved WHERE group_id = ?1", group_id,
                               NULL, why);
    return err ? err
               : sql_change_by_id(s, "DELETE FROM peal_group WHERE group_id = ?1", group_id, NULL,
                                  why);
}

enum err sql_group_delete(struct store *store, int64_t id, struct why *why)
{
    int64_t rows = 0;
    enum err err =
        sql_change_by_id(sql_of(store), "DELETE FROM xxl_job_group WHERE id = ?1", id, &rows, why);
    if (!err && !rows)
        return sql_none("group", id, why);
    return err ? err : token_delete(sql_of(store), id, true, why);
}

static void group_token_read(struct sql_query *q, struct group_token *t)
{
    *t = (struct group_token){ sql_i64(q, 0, 0), sql_text(q, 1), sql_text(q, 2), sql_i64(q, 3, 0) };
}

enum err sql_group_token_get(struct store *store, int64_t group_id, struct group_token *ret,
                             struct why *why)
{
    struct sql_query *q;
    bool row;
    enum err err = sql_query(
        sql_of(store), "SELECT " TOKEN_COLUMNS " FROM peal_group WHERE group_id = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, group_id);
    err = sql_next(q, &row, why);
    if (err || !row)
        return err ? err : ERR_NOTFOUND;
    group_token_read(q, ret);
    sql_reset(q);
    return OK;
}

enum err sql_group_token_put(struct store *store, const struct group_token *t, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = token_delete(s, t->group_id, t->next || !t->token, why);
    if (err || (!t->token && !t->next))
        return err;
    err =
        sql_query(s, "INSERT INTO peal_group (" TOKEN_COLUMNS ") VALUES (?1, ?2, ?3, ?4)", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, t->group_id);
    sql_bind_text(q, 2, t->token);
    sql_bind_text(q, 3, t->next);
    sql_bind_i64(q, 4, t->since_ms);
    return sql_do(q, why);
}

static bool group_token_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct group_token t;
    group_token_read(q, &t);
    bool more = (*(group_token_row_fn **)fn)(ctx, &t);
    group_token_done(&t);
    return more;
}

enum err sql_group_tokens_each(struct store *store, group_token_row_fn *fn, void *ctx,
                               struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT " TOKEN_COLUMNS " FROM peal_group ORDER BY group_id", &q, why);
    return err ? err : sql_rows(q, group_token_lend, &fn, ctx, why);
}

enum err sql_group_moved_put(struct store *store, int64_t group_id, const char *address,
                             struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    int64_t there = 0;
    enum err err = sql_query(
        s, "SELECT count(*) FROM peal_group_moved WHERE group_id = ?1 AND address = ?2", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, group_id);
    sql_bind_text(q, 2, address);
    err = sql_one(q, 0, &there, why);
    if (err || there)
        return err;
    s->changed = true;
    err = sql_query(s, "INSERT INTO peal_group_moved (group_id, address) VALUES (?1, ?2)", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, group_id);
    sql_bind_text(q, 2, address);
    return sql_do(q, why);
}

static bool group_moved_lend(struct sql_query *q, void *fn, void *ctx)
{
    char *address = sql_text(q, 1);
    bool more = (*(group_moved_row_fn **)fn)(ctx, sql_i64(q, 0, 0), address);
    free(address);
    return more;
}

enum err sql_group_moved_each(struct store *store, group_moved_row_fn *fn, void *ctx,
                              struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(
        sql_of(store), "SELECT group_id, address FROM peal_group_moved ORDER BY group_id, address",
        &q, why);
    return err ? err : sql_rows(q, group_moved_lend, &fn, ctx, why);
}

enum err sql_groups_page(struct store *store, const struct groups_filter *f, group_row_fn *fn,
                         void *ctx, int64_t *ret_total, struct why *why)
{
    struct sql_where p;
    where_init(&p, sql_of(store));
    where_scope(&p, "id", f->scope, 0);
    where_has(&p, "app_name", f->app);
    where_has(&p, "title", f->title);
    static const char *const columns[] = { "app_name", "title" };
    where_all_words(&p, columns, countof(columns), "id", f->words);
    if (f->after_id > 0) {
        buf_text(&p.key, p.where.len ? " AND" : " WHERE");
        buf_printf(&p.key, " id > ?%d", where_param(&p, NULL, f->after_id));
        p.nkey = 1;
    }
    const struct sql_page page = {
        .select = "SELECT " GROUP_COLUMNS " FROM xxl_job_group",
        .order = " ORDER BY id",
        .count = "SELECT id FROM xxl_job_group",
        .count_max = SQL_COUNT_MAX,
        .offset = f->offset,
        .limit = f->limit,
        .lend = group_lend,
        .fn = &fn,
        .ctx = ctx,
    };
    return sql_page_run(sql_of(store), &page, &p, ret_total, why);
}

enum err sql_group_get(struct store *store, int64_t id, struct group_record *ret, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_row_by_id(sql_of(store), "SELECT " GROUP_COLUMNS " FROM xxl_job_group WHERE id = ?1",
                      "group", id, &q, why);
    if (err)
        return err;
    group_read(q, ret);
    sql_reset(q);
    return OK;
}

enum err sql_groups_get(struct store *store, const int64_t *ids, int n, group_row_fn *fn, void *ctx,
                        struct why *why)
{
    bool more = true;
    for (int i = 0; more && i < n; i++) { /* as sql_jobs_get */
        struct why missing = { "" };
        struct group_record g = { 0 };
        enum err err = sql_group_get(store, ids[i], &g, &missing);
        if (err == ERR_NOTFOUND)
            continue;
        if (err) {
            why_set(why, "%s", missing.text);
            return err;
        }
        more = fn(ctx, &g);
        group_record_done(&g);
    }
    return OK;
}

enum err sql_group_jobs(struct store *store, int64_t group_id, int64_t *ret_count, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s, "SELECT count(*) FROM xxl_job_info WHERE job_group = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, group_id);
    return sql_one(q, 0, ret_count, why);
}

enum err sql_job_parents(struct store *store, int64_t id, int64_t *ret_count, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s,
                             "SELECT count(*) FROM xxl_job_info WHERE child_jobid IS NOT NULL "
                             "AND child_jobid <> '' AND id <> ?1 AND ',' || "
                             "replace(child_jobid, ' ', '') || ',' LIKE '%,' || ?1 || ',%'",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    return sql_one(q, 0, ret_count, why);
}

/* ---- the registry ---------------------------------------------------------------------------- */

static bool registry_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct registry_record r = { sql_text(q, 0), sql_text(q, 1), sql_text(q, 2), sql_i64(q, 3, 0) };
    bool more = (*(registry_row_fn **)fn)(ctx, &r);
    registry_record_done(&r);
    return more;
}

enum err sql_registry_each(struct store *store, registry_row_fn *fn, void *ctx, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s,
                             "SELECT registry_group, registry_key, registry_value, "
                             "{ms update_time} FROM xxl_job_registry ORDER BY id",
                             &q, why);
    return err ? err : sql_rows(q, registry_lend, &fn, ctx, why);
}

/* The three columns of its key; the caller binds what else there is. */
static enum err registry_query(struct sql *s, const char *text, const struct registry_record *r,
                               struct sql_query **ret, struct why *why)
{
    enum err err = sql_query(s, text, ret, why);
    if (err)
        return err;
    sql_bind_text_or(*ret, 1, r->group, "");
    sql_bind_text_or(*ret, 2, r->key, "");
    sql_bind_text_or(*ret, 3, r->value, "");
    return OK;
}

/* A beat finds its row; an upsert would write the id counter each time, too. Of two servers that
 * add the same one finds it there when its batch is repeated. */
static enum err registry_put_one(struct sql *s, const struct registry_record *r, struct why *why)
{
    struct sql_query *q;
    int64_t rows = 0;
    enum err err = registry_query(s,
                                  "UPDATE xxl_job_registry SET update_time = {time ?4} WHERE "
                                  "registry_group = ?1 AND registry_key = ?2 AND "
                                  "registry_value = ?3",
                                  r, &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 4, r->updated_ms);
    err = sql_change(q, &rows, why);
    if (err || rows)
        return err;
    err = registry_query(s,
                         "INSERT INTO xxl_job_registry (registry_group, registry_key, "
                         "registry_value, update_time) VALUES (?1, ?2, ?3, {time ?4})",
                         r, &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 4, r->updated_ms);
    s->changed = true;
    err = sql_do(q, why);
    return err == ERR_EXISTS ? ERR_CONFLICT : err;
}

enum err sql_registry_put(struct store *store, const struct registry_record *rows, int n,
                          struct why *why)
{
    enum err err = OK;
    for (int i = 0; !err && i < n; i++)
        err = registry_put_one(sql_of(store), &rows[i], why);
    return err;
}

static enum err registry_delete_one(struct sql *s, const struct registry_record *r, struct why *why)
{
    struct sql_query *q;
    int64_t rows = 0;
    enum err err =
        registry_query(s,
                       r->updated_ms ? "DELETE FROM xxl_job_registry WHERE registry_group = ?1 "
                                       "AND registry_key = ?2 AND registry_value = ?3 AND "
                                       "update_time <= {time ?4}"
                                     : "DELETE FROM xxl_job_registry WHERE registry_group = ?1 "
                                       "AND registry_key = ?2 AND registry_value = ?3",
                       r, &q, why);
    if (err)
        return err;
    if (r->updated_ms)
        sql_bind_i64(q, 4, r->updated_ms);
    err = sql_change(q, &rows, why);
    s->changed |= rows > 0;
    return err;
}

enum err sql_registry_delete(struct store *store, const struct registry_record *rows, int n,
                             struct why *why)
{
    enum err err = OK;
    for (int i = 0; !err && i < n; i++)
        err = registry_delete_one(sql_of(store), &rows[i], why);
    return err;
}
