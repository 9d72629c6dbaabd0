/* SPDX-License-Identifier: Apache-2.0 */
/* The row of a job in its three tables, from the table of columns: the texts of the statements are
 * composed once a handle, and what is bound and read follows the same order, so that no place of a
 * column is counted by hand. */
#include "base/buf.h"
#include "store/sqlite/sqlite_db.h"
#include <stdlib.h>

#define STATEMENT_MAX 8192

static const struct {
    const char *name, *alias, *key;
} tables[] = {
    [JOB_INFO] = { "xxl_job_info", "j", "id" },
    [JOB_DUE] = { "peal_due", "d", "job_id" },
    [JOB_OWN] = { "peal_job", "p", "job_id" },
};

/* ---- texts ----------------------------------------------------------------------------------- */

void sqlite_job_columns(struct buf *text)
{
    buf_text(text, "j.id");
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        buf_printf(text, ", %s.%s", tables[c->table].alias, c->name);
}

/* The columns of one table: before, the name, after; commas between them. */
static void list(struct buf *text, enum job_table t, const char *comma, const char *after)
{
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        if (c->table == t) {
            buf_printf(text, "%s%s%s", comma, c->name, after);
            comma = ", ";
        }
}

static void compose_get(struct buf *text)
{
    buf_text(text, "SELECT ");
    sqlite_job_columns(text);
    buf_text(text, SQLITE_JOB_TABLES "WHERE j.id = ?1");
}

/* The key is the first parameter. */
static void compose_insert(struct buf *text, const char *verb, enum job_table t)
{
    buf_printf(text, "%s INTO %s (%s", verb, tables[t].name, tables[t].key);
    list(text, t, ", ", "");
    buf_text(text, ") VALUES (?");
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        if (c->table == t)
            buf_text(text, ", ?");
    buf_char(text, ')');
}

/* The key is the last parameter. */
static void compose_update(struct buf *text, enum job_table t)
{
    buf_printf(text, "UPDATE %s SET ", tables[t].name);
    list(text, t, "", " = ?");
    buf_printf(text, " WHERE %s = ?", tables[t].key);
}

enum err sqlite_job_texts_new(struct sqlite *s, struct why *why)
{
    bool failed = false;
    for (int i = 0; i < SQLITE_JOB_TEXTS; i++) {
        struct buf text = BUF_INIT(STATEMENT_MAX);
        switch ((enum sqlite_job_text)i) {
        case SQLITE_JOB_GET:
            compose_get(&text);
            break;
        case SQLITE_JOB_INSERT:
            compose_insert(&text, "INSERT", JOB_INFO);
            break;
        case SQLITE_JOB_UPDATE:
            compose_update(&text, JOB_INFO);
            break;
        case SQLITE_JOB_PUT_OWN:
            compose_insert(&text, "INSERT OR REPLACE", JOB_OWN);
            break;
        case SQLITE_JOB_PUT_DUE:
            compose_insert(&text, "INSERT OR REPLACE", JOB_DUE);
            break;
        case SQLITE_JOB_TEXTS:
            break;
        }
        failed |= text.failed;
        s->job_texts[i] = buf_take(&text);
    }
    if (failed)
        why_set(why, "there is no memory for the statements of the database");
    return failed ? ERR_NOMEM : OK;
}

void sqlite_job_texts_free(struct sqlite *s)
{
    for (int i = 0; i < SQLITE_JOB_TEXTS; i++)
        free(s->job_texts[i]);
}

/* ---- values ---------------------------------------------------------------------------------- */

static void bind_column(sqlite3_stmt *q, int i, struct job_record *r, const struct job_column *c)
{
    if (c->type >= JOB_TEXT)
        bind_text(q, i, job_stored_text(r, c));
    else if (c->type == JOB_REAL)
        sqlite3_bind_double(q, i, *job_real(r, c));
    else if (c->type == JOB_NEXT)
        bind_scheduled(q, i, job_number(r, c), NEVER_MS);
    else
        bind_i64(q, i, job_number(r, c));
}

int sqlite_job_bind(sqlite3_stmt *q, int first, const struct job_record *r, enum job_table t)
{
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        if (c->table == t)
            bind_column(q, first++, (struct job_record *)r, c); /* only read */
    return first;
}

/* What stands in the record is the default. */
static void read_column(sqlite3_stmt *q, int i, struct job_record *r, const struct job_column *c)
{
    if (c->type >= JOB_TEXT)
        *job_text(r, c) = col_text(q, i);
    else if (c->type == JOB_INT)
        job_number_set(r, c, col_int(q, i, (int)job_number(r, c)));
    else if (c->type != JOB_REAL)
        job_number_set(r, c, col_i64(q, i, job_number(r, c)));
    else if (sqlite3_column_type(q, i) != SQLITE_NULL)
        *job_real(r, c) = sqlite3_column_double(q, i);
}

int sqlite_job_read(const struct sqlite *s, sqlite3_stmt *q, struct job_record *r)
{
    int i = 0;
    job_record_init(r);
    r->start_deadline_ms = s->start_deadline_ms;
    r->id = col_i64(q, i++, 0);
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        read_column(q, i++, r, c);
    return i;
}
