/* SPDX-License-Identifier: Apache-2.0 */
/* Alarm channels that were made through the API, on any engine that speaks SQL. */
#include "store/sql/channels.h"

#define VALUES_OF "version, name, kind, settings, enabled, created_ms, updated_ms, per_minute"
#define COLUMNS "id, " VALUES_OF

static struct channel_record channel_read(struct sql_query *q)
{
    int i = 0;
    struct channel_record r = { .id = sql_i64(q, i++, 0) };
    r.version = sql_i64(q, i++, 0);
    r.name = sql_text(q, i++);
    r.kind = sql_text(q, i++);
    r.settings = sql_text(q, i++);
    r.enabled = sql_i64(q, i++, 0) != 0;
    r.created_ms = sql_i64(q, i++, 0);
    r.updated_ms = sql_i64(q, i++, 0);
    r.per_minute = sql_int(q, i, 0);
    return r;
}

static void channel_bind(struct sql_query *q, const struct channel_record *r)
{
    sql_bind_i64(q, 2, r->version);
    sql_bind_text(q, 3, r->name);
    sql_bind_text(q, 4, r->kind);
    sql_bind_text(q, 5, r->settings);
    sql_bind_i64(q, 6, r->enabled);
    sql_bind_i64(q, 7, r->created_ms);
    sql_bind_i64(q, 8, r->updated_ms);
    sql_bind_i64(q, 9, r->per_minute);
}

static bool channel_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct channel_record r = channel_read(q);
    bool more = (*(channel_row_fn **)fn)(ctx, &r);
    channel_record_done(&r);
    return more;
}

enum err sql_channels_each(struct store *s, channel_row_fn *fn, void *ctx, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(sql_of(s), "SELECT " COLUMNS " FROM peal_channel ORDER BY id", &q, why);
    return err ? err : sql_rows(q, channel_lend, &fn, ctx, why);
}

enum err sql_channel_get(struct store *s, int64_t id, struct channel_record *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_row_by_id(sql_of(s), "SELECT " COLUMNS " FROM peal_channel WHERE id = ?1",
                                 "channel", id, &q, why);
    if (err)
        return err;
    *ret = channel_read(q);
    sql_reset(q);
    return OK;
}

enum err sql_channel_insert(struct store *s, struct channel_record *r, struct why *why)
{
    struct sql_query *q;
    sql_of(s)->changed = true;
    enum err err = sql_query(sql_of(s),
                             "INSERT INTO peal_channel (" VALUES_OF ") VALUES (?2, ?3, ?4, ?5, "
                             "?6, ?7, ?8, ?9)",
                             &q, why);
    if (err)
        return err;
    channel_bind(q, r);
    return sql_insert(q, &r->id, why);
}

enum err sql_channel_update(struct store *s, const struct channel_record *r, struct why *why)
{
    struct sql_query *q;
    int64_t rows = 0;
    sql_of(s)->changed = true;
    enum err err = sql_query(sql_of(s),
                             "UPDATE peal_channel SET version = ?2, name = ?3, kind = ?4, "
                             "settings = ?5, enabled = ?6, created_ms = ?7, updated_ms = ?8, "
                             "per_minute = ?9 "
                             "WHERE id = ?1",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->id);
    channel_bind(q, r);
    err = sql_change(q, &rows, why);
    return err || rows ? err : sql_none("channel", r->id, why);
}

enum err sql_channel_delete(struct store *s, int64_t id, struct why *why)
{
    int64_t rows = 0;
    sql_of(s)->changed = true;
    enum err err =
        sql_change_by_id(sql_of(s), "DELETE FROM peal_channel WHERE id = ?1", id, &rows, why);
    return err || rows ? err : sql_none("channel", id, why);
}
