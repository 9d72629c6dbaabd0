/* SPDX-License-Identifier: Apache-2.0 */
/* The engines have the same tables with the same columns and keys, so the list is read from an
 * empty database of SQLite, which is always built: a table that a later migration adds is moved
 * without a word here. */
#include "store/sql/move_tables.h"
#include "base/mem.h"
#include "store/sql/sql.h"
#include <stdlib.h>
#include <string.h>

static char *name_of(struct sql_query *q, int i)
{
    char *name = sql_text(q, i);
    return name ? name : mem_dup("");
}

/* SQLite has numbers where the servers have datetimes. */
static bool is_time(const char *table, const char *column)
{
    static const char *const names[] = { "add_time",     "update_time", "glue_updatetime",
                                         "trigger_time", "handle_time", "trigger_day" };
    bool is = false;
    for (size_t i = 0; i < countof(names); i++)
        is |= strcmp(column, names[i]) == 0;
    return is && strncmp(table, "xxl_job_", 8) == 0;
}

static enum bulk_type type_of(const char *table, const char *column, const char *type)
{
    if (strcmp(type, "INTEGER") == 0)
        return is_time(table, column) ? BULK_TIME : BULK_I64;
    return strcmp(type, "REAL") == 0   ? BULK_REAL
           : strcmp(type, "BLOB") == 0 ? BULK_BLOB
                                       : BULK_TEXT;
}

static void column_add(struct move_table *t, struct sql_query *q)
{
    char *name = name_of(q, 0), *type = name_of(q, 1);
    int at = t->bulk.n++;
    t->columns[at] = (struct bulk_column){ name, type_of(t->bulk.name, name, type) };
    t->bulk.nkeys += sql_i64(q, 2, 0) > 0;
    if (strcmp(name, "node") == 0)
        t->node = at;
    if (strcmp(name, "epoch") == 0)
        t->epoch = at;
    free(type);
}

static enum err columns_read(struct sql *s, struct move_table *t, struct why *why)
{
    struct sql_query *q;
    bool row = true;
    enum err err = sql_query(
        s, "SELECT name, type, pk FROM pragma_table_info(?1) ORDER BY pk = 0, pk, cid", &q, why);
    if (err)
        return err;
    sql_bind_text(q, 1, t->bulk.name);
    t->node = t->epoch = -1;
    while (!(err = sql_next(q, &row, why)) && row)
        if (t->bulk.n < BULK_COLUMNS_MAX)
            column_add(t, q);
    bool number = t->bulk.nkeys == 1 && t->columns[0].type == BULK_I64;
    t->lined = number;
    t->counted = number && strcmp(t->columns[0].name, "id") == 0;
    return err;
}

static enum err names_read(struct sql *s, struct move_tables *ret, struct why *why)
{
    struct sql_query *q;
    bool row = true;
    enum err err = sql_query(s,
                             "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN "
                             "('peal_migration', 'peal_epoch', 'peal_seq', 'xxl_job_lock') "
                             "AND name NOT LIKE 'sqlite%' ORDER BY name",
                             &q, why);
    if (err)
        return err;
    while (!(err = sql_next(q, &row, why)) && row) {
        ret->items = mem_resize(ret->items, ((size_t)ret->n + 1) * sizeof(*ret->items));
        ret->items[ret->n++] = (struct move_table){ .bulk = { .name = name_of(q, 0) } };
    }
    return err;
}

enum err move_tables_read(struct move_tables *ret, struct why *why)
{
    struct store *model = NULL;
    *ret = (struct move_tables){ NULL, 0 };
    enum err err = store_open("sqlite::memory:", NULL, &model, why);
    if (!err)
        err = names_read(sql_of(model), ret, why);
    for (int i = 0; !err && i < ret->n; i++)
        err = columns_read(sql_of(model), &ret->items[i], why);
    for (int i = 0; i < ret->n; i++) /* they have found their place */
        ret->items[i].bulk.columns = ret->items[i].columns;
    store_close(model);
    return err;
}

void move_tables_done(struct move_tables *t)
{
    for (int i = 0; i < t->n; i++) {
        for (int k = 0; k < t->items[i].bulk.n; k++)
            free((char *)t->items[i].columns[k].name);
        free((char *)t->items[i].bulk.name);
    }
    free(t->items);
}
