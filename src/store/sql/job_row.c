/* SPDX-License-Identifier: Apache-2.0 */
/* The row of a job in its three tables, from the table of columns: the texts of the statements are
 * composed once a handle, and what is bound and read follows the same order, so that no place of a
 * column is counted by hand. */
#include "base/buf.h"
#include "store/sql/job_row.h"
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

void sql_job_columns(struct buf *text)
{
    buf_text(text, "j.id");
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        buf_printf(text, c->type == JOB_TIME ? ", {ms %s.%s}" : ", %s.%s", tables[c->table].alias,
                   c->name);
}

/* The columns of one table, with values: as they are set to parameters; commas between them. */
static void list(struct buf *text, enum job_table t, const char *comma, bool values)
{
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        if (c->table == t) {
            buf_printf(text, "%s%s%s", comma, c->name,
                       !values               ? ""
                       : c->type == JOB_TIME ? " = {time ?}"
                                             : " = ?");
            comma = ", ";
        }
}

static void compose_get(struct buf *text)
{
    buf_text(text, "SELECT ");
    sql_job_columns(text);
    buf_text(text, SQL_JOB_TABLES "WHERE j.id = ?1");
}

/* key: that is the first parameter; else the database gives it. */
static void compose_insert(struct buf *text, bool key, enum job_table t,
                           const struct sql_driver *driver)
{
    const char *comma = key ? ", " : "";
    bool more = t == JOB_INFO && driver->job_more;
    buf_printf(text, "INSERT INTO %s (%s", tables[t].name, key ? tables[t].key : "");
    list(text, t, comma, false);
    if (more)
        buf_printf(text, ", %s", driver->job_more);
    buf_text(text, key ? ") VALUES (?" : ") VALUES (");
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        if (c->table == t) {
            buf_printf(text, c->type == JOB_TIME ? "%s{time ?}" : "%s?", comma);
            comma = ", ";
        }
    if (more)
        buf_printf(text, ", %s", driver->job_more_value);
    buf_char(text, ')');
}

/* The key is the last parameter. */
static void compose_update(struct buf *text, enum job_table t, const struct sql_driver *driver)
{
    buf_printf(text, "UPDATE %s SET ", tables[t].name);
    list(text, t, "", true);
    if (t == JOB_INFO && driver->job_more)
        buf_printf(text, ", %s = %s", driver->job_more, driver->job_more_value);
    buf_printf(text, " WHERE %s = ?", tables[t].key);
}

enum err sql_job_texts_new(struct sql *s, struct why *why)
{
    bool failed = false;
    for (int i = 0; i < SQL_JOB_TEXTS; i++) {
        struct buf text = BUF_INIT(STATEMENT_MAX);
        switch ((enum sql_job_text)i) {
        case SQL_JOB_GET:
            compose_get(&text);
            break;
        case SQL_JOB_INSERT:
            compose_insert(&text, false, JOB_INFO, s->driver);
            break;
        case SQL_JOB_UPDATE:
            compose_update(&text, JOB_INFO, s->driver);
            break;
        case SQL_JOB_PUT_OWN:
            compose_insert(&text, true, JOB_OWN, s->driver);
            break;
        case SQL_JOB_PUT_DUE:
            compose_insert(&text, true, JOB_DUE, s->driver);
            break;
        case SQL_JOB_TEXTS:
            break;
        }
        failed |= text.failed;
        s->job_texts[i] = buf_take(&text);
    }
    if (failed)
        why_set(why, "there is no memory for the statements of the database");
    return failed ? ERR_NOMEM : OK;
}

void sql_job_texts_free(struct sql *s)
{
    for (int i = 0; i < SQL_JOB_TEXTS; i++)
        free(s->job_texts[i]);
}

/* ---- values ---------------------------------------------------------------------------------- */

static void bind_column(struct sql_query *q, int i, struct job_record *r,
                        const struct job_column *c)
{
    if (c->type >= JOB_TEXT)
        sql_bind_text(q, i, job_stored_text(r, c));
    else if (c->type == JOB_REAL)
        sql_bind_real(q, i, *job_real(r, c));
    else if (c->type == JOB_NEXT)
        sql_bind_unless(q, i, job_number(r, c), NEVER_MS);
    else
        sql_bind_i64(q, i, job_number(r, c));
}

int sql_job_bind(struct sql_query *q, int first, const struct job_record *r, enum job_table t)
{
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        if (c->table == t)
            bind_column(q, first++, (struct job_record *)r, c); /* only read */
    return first;
}

/* What stands in the record is the default. */
static void read_column(struct sql_query *q, int i, struct job_record *r,
                        const struct job_column *c)
{
    if (c->type >= JOB_TEXT)
        *job_text(r, c) = sql_text(q, i);
    else if (c->type == JOB_INT)
        job_number_set(r, c, sql_int(q, i, (int)job_number(r, c)));
    else if (c->type != JOB_REAL)
        job_number_set(r, c, sql_i64(q, i, job_number(r, c)));
    else
        *job_real(r, c) = sql_real(q, i, *job_real(r, c));
}

int sql_job_read(const struct sql *s, struct sql_query *q, struct job_record *r)
{
    int i = 0;
    job_record_init(r);
    r->start_deadline_ms = s->start_deadline_ms;
    r->id = sql_i64(q, i++, 0);
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        read_column(q, i++, r, c);
    return i;
}
