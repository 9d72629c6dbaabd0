/* SPDX-License-Identifier: Apache-2.0 */
/* What users want deleted of the log, until it has been done, on any engine that speaks SQL. */
#include "base/buf.h"
#include "base/mem.h"
#include "store/sql/tables.h"
#include <stdlib.h>

static char *groups_text(const struct scope *scope)
{
    struct buf b = BUF_INIT(CLEAN_GROUPS_MAX * 21);
    for (size_t i = 0; i < scope->n; i++)
        buf_printf(&b, "%s%lld", i ? "," : "", (long long)scope->ids[i]);
    return buf_take(&b);
}

/* The first id that no row of the log has yet. */
static enum err next_id(struct sql *s, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s, "SELECT max(id) + 1 FROM xxl_job_log", &q, why);
    return err ? err : sql_one(q, 0, ret, why);
}

enum err sql_clean_add(struct store *store, struct clean_request *r, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    int64_t below = INT64_MAX, next = 0;
    enum err err = next_id(s, &next, why);
    if (!err && r->walk.before_ms != NEVER_MS)
        err = store->ops->runs->log_before(store, r->walk.before_ms, &below, why);
    if (!err)
        err = sql_query(s,
                        "INSERT INTO peal_clean (made_ms, job_id, group_ids, before_ms, keep, "
                        "below_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                        &q, why);
    if (err)
        return err;
    char *groups = r->walk.scope.all ? NULL : groups_text(&r->walk.scope);
    sql_bind_i64(q, 1, r->made_ms);
    sql_bind_i64(q, 2, r->walk.job_id);
    sql_bind_text(q, 3, groups);
    sql_bind_unless(q, 4, r->walk.before_ms, NEVER_MS);
    sql_bind_i64(q, 5, r->walk.keep);
    sql_bind_i64(q, 6, below < next ? below : next);
    err = sql_insert(q, &r->id, why);
    free(groups);
    return err;
}

static void groups_read(char *text, struct scope *ret)
{
    struct slice rest = slice_text(text), one;
    int64_t *ids = mem_new(CLEAN_GROUPS_MAX * sizeof(*ids));
    *ret = (struct scope){ .all = !text, .ids = ids };
    while (ret->n < CLEAN_GROUPS_MAX && slice_item(&rest, &one))
        ret->n += parse_i64(one, &ids[ret->n]);
    free(text);
}

enum err sql_clean_first(struct store *store, struct clean_request *ret, bool *ret_any,
                         struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err =
        sql_query(s,
                  "SELECT id, made_ms, job_id, group_ids, before_ms, keep, below_id, kept, "
                  "gone FROM peal_clean ORDER BY id LIMIT 1",
                  &q, why);
    *ret_any = false;
    if (!err)
        err = sql_next(q, ret_any, why);
    if (err || !*ret_any)
        return err;
    *ret = (struct clean_request){ .id = sql_i64(q, 0, 0), .made_ms = sql_i64(q, 1, 0) };
    struct log_clean *w = &ret->walk;
    w->from_id = INT64_MIN;
    w->job_id = sql_i64(q, 2, 0);
    groups_read(sql_text(q, 3), &w->scope);
    w->before_ms = sql_i64(q, 4, NEVER_MS);
    w->keep = sql_i64(q, 5, 0);
    w->below_id = sql_i64(q, 6, 0);
    w->kept = sql_i64(q, 7, 0);
    w->gone = sql_i64(q, 8, 0);
    sql_reset(q);
    return OK;
}

enum err sql_clean_put(struct store *store, const struct clean_request *r, bool end,
                       struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s,
                             end ? "DELETE FROM peal_clean WHERE id = ?1"
                                 : "UPDATE peal_clean SET below_id = ?2, kept = ?3, gone = ?4 "
                                   "WHERE id = ?1",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->id);
    if (!end) {
        sql_bind_i64(q, 2, r->walk.below_id);
        sql_bind_i64(q, 3, r->walk.kept);
        sql_bind_i64(q, 4, r->walk.gone);
    }
    return sql_do(q, why);
}
