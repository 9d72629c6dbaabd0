/* SPDX-License-Identifier: Apache-2.0 */
/* The audit: rows are added, and deleted by age; there is no statement that changes one. */
#include "store/sql/page.h"
#include "store/sql/tables.h"
#include <stdio.h>
#include <string.h>

#define COLUMNS                                                                                    \
    "SELECT id, at_ms, user_id, user_name, via, address, action, kind, object, name, changes, "    \
    "reason, (SELECT count(*) FROM peal_audit_item i WHERE i.audit_id = peal_audit.id) "           \
    "FROM peal_audit"
#define TEXT_SIZE 100 /* of an action that is looked for */

enum err sql_audit_add(struct store *store, struct audit_record *r, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(sql_of(store),
                  "INSERT INTO peal_audit (at_ms, user_id, user_name, via, address, action, kind, "
                  "object, name, changes, reason) "
                  "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                  &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->at_ms);
    sql_bind_i64(q, 2, r->user_id);
    sql_bind_text_or(q, 3, r->user, "");
    sql_bind_text_or(q, 4, r->via, "");
    sql_bind_text_or(q, 5, r->address, "");
    sql_bind_text_or(q, 6, r->action, "");
    sql_bind_text_or(q, 7, r->kind, "");
    sql_bind_text_or(q, 8, r->object, "");
    sql_bind_text_or(q, 9, r->name, "");
    sql_bind_text_or(q, 10, r->changes, "[]");
    sql_bind_text(q, 11, r->reason);
    return sql_insert(q, &r->id, why);
}

enum err sql_audit_item_add(struct store *store, int64_t id, const char *kind, const char *object,
                            struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "INSERT INTO peal_audit_item (audit_id, kind, object) "
                             "VALUES (?1, ?2, ?3)",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    sql_bind_text(q, 2, kind);
    sql_bind_text(q, 3, object);
    return sql_do(q, why);
}

static void audit_read(struct sql_query *q, struct audit_record *r)
{
    r->id = sql_i64(q, 0, 0);
    r->at_ms = sql_i64(q, 1, 0);
    r->user_id = sql_i64(q, 2, 0);
    r->user = sql_text(q, 3);
    r->via = sql_text(q, 4);
    r->address = sql_text(q, 5);
    r->action = sql_text(q, 6);
    r->kind = sql_text(q, 7);
    r->object = sql_text(q, 8);
    r->name = sql_text(q, 9);
    r->changes = sql_text(q, 10);
    r->reason = sql_text(q, 11);
    r->items = sql_i64(q, 12, 0);
}

static bool audit_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct audit_record r;
    audit_read(q, &r);
    bool more = (*(audit_row_fn **)fn)(ctx, &r);
    audit_record_done(&r);
    return more;
}

/* ---- pages ------------------------------------------------------------------------------------
 */

struct search { /* texts that parameters point to */
    char from[TEXT_SIZE], to[TEXT_SIZE];
};

static void where_is(struct sql_where *p, const char *column, const char *text)
{
    char condition[64];
    if (!text || !*text)
        return;
    snprintf(condition, sizeof(condition), "%s = ?%d", column, where_param(p, text, 0));
    where_add(p, condition);
}

/* A thing's own entries, and those of bulk actions that it was in. */
static void where_object(struct sql_where *p, const struct audit_filter *f)
{
    char condition[200];
    if (!f->kind || !*f->kind || !f->object || !*f->object) {
        where_is(p, "kind", f->kind);
        where_is(p, "object", f->object);
        return;
    }
    int kind = where_param(p, f->kind, 0), object = where_param(p, f->object, 0);
    snprintf(condition, sizeof(condition),
             "(kind = ?%d AND object = ?%d OR id IN "
             "(SELECT audit_id FROM peal_audit_item WHERE kind = ?%d AND object = ?%d))",
             kind, object, kind, object);
    where_add(p, condition);
}

/* "job.*": from "job." on, before "job/", which is the next character. */
static void where_action(struct sql_where *p, const char *action, struct search *texts)
{
    char condition[64];
    size_t n = action ? strlen(action) : 0;
    if (n < 3 || n >= TEXT_SIZE || strcmp(action + n - 2, ".*") != 0) {
        where_is(p, "action", action);
        return;
    }
    snprintf(texts->from, sizeof(texts->from), "%.*s", (int)n - 1, action);
    snprintf(texts->to, sizeof(texts->to), "%.*s/", (int)n - 2, action);
    int from = where_param(p, texts->from, 0), to = where_param(p, texts->to, 0);
    snprintf(condition, sizeof(condition), "action >= ?%d AND action < ?%d", from, to);
    where_add(p, condition);
}

static void where_words(struct sql_where *p, const char *words)
{
    char name[200], user[200], condition[500];
    if (!words || !*words)
        return;
    int n = where_param(p, words, 0);
    snprintf(name, sizeof(name), p->driver->contains, "name", n);
    snprintf(user, sizeof(user), p->driver->contains, "user_name", n);
    snprintf(condition, sizeof(condition), "(%s OR %s OR object = ?%d)", name, user, n);
    where_add(p, condition);
}

static void audit_where(struct sql_where *p, struct sql *s, const struct audit_filter *f,
                        struct search *texts)
{
    where_init(p, s);
    where_object(p, f);
    where_is(p, "user_name", f->user);
    where_action(p, f->action, texts);
    where_words(p, f->words);
    if (f->from_ms >= 0)
        where_number(p, "at_ms >= ", f->from_ms);
    if (f->to_ms >= 0)
        where_number(p, "at_ms < ", f->to_ms);
}

static enum err audit_count(struct sql *s, const struct audit_filter *f, int64_t *ret_total,
                            struct why *why)
{
    struct sql_query *q = NULL;
    struct sql_where p;
    struct search texts;
    audit_where(&p, s, f, &texts);
    enum err err = where_query(&p, s, "SELECT count(*) FROM (SELECT id FROM peal_audit",
                               " LIMIT 10001) counted", &q, why);
    if (!err)
        err = sql_one(q, 0, ret_total, why);
    sql_query_end(q);
    where_done(&p);
    return err;
}

enum err sql_audit_page(struct store *store, const struct audit_filter *f, audit_row_fn *fn,
                        void *ctx, int64_t *ret_total, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q = NULL;
    struct sql_where p;
    struct search texts;
    char after[60];
    enum err err = audit_count(s, f, ret_total, why);
    if (err)
        return err;
    audit_where(&p, s, f, &texts);
    if (f->before_id > 0)
        where_number(&p, "id < ", f->before_id);
    snprintf(after, sizeof(after), " ORDER BY id DESC LIMIT %lld",
             (long long)(f->limit > 0 ? f->limit : 0));
    err = where_query(&p, s, COLUMNS, after, &q, why);
    if (!err)
        err = sql_rows(q, audit_lend, &fn, ctx, why);
    sql_query_end(q);
    where_done(&p);
    return err;
}

enum err sql_audit_get(struct store *store, int64_t id, struct audit_record *ret, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_row_by_id(sql_of(store), COLUMNS " WHERE id = ?1", "audit entry", id, &q, why);
    if (err)
        return err;
    audit_read(q, ret);
    sql_reset(q);
    return OK;
}

/* The oldest have the smallest ids: what stands behind the max smallest is not looked at. */
enum err sql_audit_expire(struct store *store, int64_t before_ms, int max, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    int64_t least = 0;
    enum err err = sql_query(s, "SELECT min(id) FROM peal_audit", &q, why);
    if (!err)
        err = sql_one(q, 0, &least, why);
    if (!err)
        err = sql_query(s, "DELETE FROM peal_audit WHERE id >= ?1 AND id < ?2 AND at_ms < ?3", &q,
                        why);
    if (err)
        return err;
    sql_bind_i64(q, 1, least);
    sql_bind_i64(q, 2, least + max);
    sql_bind_i64(q, 3, before_ms);
    err = sql_do(q, why);
    if (!err)
        err = sql_query(s,
                        "DELETE FROM peal_audit_item WHERE audit_id < "
                        "(SELECT min(id) FROM peal_audit)",
                        &q, why);
    return err ? err : sql_do(q, why);
}
