/* SPDX-License-Identifier: Apache-2.0 */
/* Requests with an Idempotency-Key, and what they have made. */
#include "store/sql/sql.h"
#include "store/sql/tables.h"

enum err sql_idem_find(struct store *store, int64_t user_id, const char *key,
                       struct idem_record *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT id, user_id, idem_key, body_sha256, at_ms, group_id, status, "
                             "headers, answer FROM peal_idem WHERE user_id = ?1 AND idem_key = ?2",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, user_id);
    sql_bind_text(q, 2, key);
    bool row;
    err = sql_next(q, &row, why);
    if (err)
        return err;
    if (!row) {
        why_set(why, "the key has not been used");
        return ERR_NOTFOUND;
    }
    *ret = (struct idem_record){ .id = sql_i64(q, 0, 0),
                                 .user_id = sql_i64(q, 1, 0),
                                 .key = sql_text(q, 2),
                                 .digest = sql_text(q, 3),
                                 .at_ms = sql_i64(q, 4, 0),
                                 .group_id = sql_i64(q, 5, 0),
                                 .status = (int)sql_i64(q, 6, 0),
                                 .headers = sql_text(q, 7),
                                 .answer = sql_text(q, 8) };
    sql_reset(q);
    return OK;
}

enum err sql_idem_insert(struct store *store, struct idem_record *r, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(sql_of(store),
                  "INSERT INTO peal_idem (user_id, idem_key, body_sha256, at_ms, group_id, "
                  "status, headers, answer) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                  &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->user_id);
    sql_bind_text(q, 2, r->key);
    sql_bind_text(q, 3, r->digest);
    sql_bind_i64(q, 4, r->at_ms);
    sql_bind_i64(q, 5, r->group_id);
    sql_bind_i64(q, 6, r->status);
    sql_bind_text_or(q, 7, r->headers, "");
    sql_bind_text(q, 8, r->answer);
    return sql_insert(q, &r->id, why);
}

enum err sql_idem_answer(struct store *store, const struct idem_record *r, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "UPDATE peal_idem SET status = ?2, headers = ?3, answer = ?4 "
                             "WHERE id = ?1",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->id);
    sql_bind_i64(q, 2, r->status);
    sql_bind_text_or(q, 3, r->headers, "");
    sql_bind_text(q, 4, r->answer);
    return sql_do(q, why);
}

enum err sql_idem_delete(struct store *store, int64_t id, struct why *why)
{
    struct sql *s = sql_of(store);
    enum err err =
        sql_change_by_id(s, "DELETE FROM peal_idem_made WHERE idem_id = ?1", id, NULL, why);
    return err ? err : sql_change_by_id(s, "DELETE FROM peal_idem WHERE id = ?1", id, NULL, why);
}

/* The id of the oldest; 0: none is older. */
static enum err oldest(struct sql *s, int64_t before_ms, int64_t *ret_id, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(
        s, "SELECT id FROM peal_idem WHERE at_ms < ?1 ORDER BY at_ms, id LIMIT 1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, before_ms);
    return sql_one(q, 0, ret_id, why);
}

enum err sql_idem_expire(struct store *store, int64_t before_ms, int max, struct why *why)
{
    enum err err = OK;
    int64_t id = 1;
    while (!err && id && max-- > 0) {
        err = oldest(sql_of(store), before_ms, &id, why);
        if (!err && id)
            err = sql_idem_delete(store, id, why);
    }
    return err;
}

enum err sql_idem_made_get(struct store *store, int64_t id, int64_t item, int64_t *ret_made,
                           struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(
        sql_of(store), "SELECT made FROM peal_idem_made WHERE idem_id = ?1 AND item = ?2", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    sql_bind_i64(q, 2, item);
    err = sql_one(q, -1, ret_made, why);
    if (err || *ret_made >= 0)
        return err;
    why_set(why, "it has not been made");
    return ERR_NOTFOUND;
}

enum err sql_idem_made_put(struct store *store, int64_t id, int64_t item, int64_t made,
                           struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    int64_t rows = 0;
    enum err err = sql_query(
        s, "UPDATE peal_idem_made SET made = ?3 WHERE idem_id = ?1 AND item = ?2", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    sql_bind_i64(q, 2, item);
    sql_bind_i64(q, 3, made);
    err = sql_change(q, &rows, why);
    if (err || rows)
        return err;
    err = sql_query(s, "INSERT INTO peal_idem_made (idem_id, item, made) VALUES (?1, ?2, ?3)", &q,
                    why);
    if (err)
        return err;
    sql_bind_i64(q, 1, id);
    sql_bind_i64(q, 2, item);
    sql_bind_i64(q, 3, made);
    return sql_do(q, why);
}
