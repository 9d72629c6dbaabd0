/* SPDX-License-Identifier: Apache-2.0 */
/* MySQL and MariaDB as a driver of the statements that all SQL engines share: prepared at the
 * server at first use on each connection, parameters by number, results held by the client whole.
 *
 * Texts have parameters ?1, ?2, … of which each may stand in several places, or ? alone, which is
 * the one behind the largest so far. */
#include "base/clock.h"
#include "base/mem.h"
#include "store/mysql/my_db.h"
#include "store/sql/selftest.h"
#include <assert.h>
#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_MS = 1000 };

enum value_type { VALUE_NULL, VALUE_I64, VALUE_REAL, VALUE_BYTES };

struct value { /* of a parameter */
    enum value_type type;
    int64_t i64;
    double real;
    const char *p; /* lent */
    unsigned long n;
};

struct column { /* of the row that was fetched last */
    enum value_type type;
    int64_t i64;
    double real;
    my_bool null, cut;
    unsigned long n;
    char *text; /* the column's bytes once they were asked for, terminated */
    size_t room;
    bool read;
};

struct my_query {
    struct mydb *s;
    char *text; /* as the server takes it */
    int nvalues, nplaces;
    int *places; /* which value each ? stands for */
    struct value *values;
    MYSQL_BIND *binds;

    struct prepared {
        MYSQL_STMT *stmt;
        uint64_t generation; /* of the connection that it was prepared on */
    } on[2];                 /* [1]: on the lock's connection */
    bool open;               /* rows are being read */
    int ncolumns;
    struct column *columns;
    MYSQL_BIND *results;
};

static struct mydb *of(struct sql *s)
{
    return (struct mydb *)s;
}

/* On the connection that is in use. */
static struct prepared *in_use(struct my_query *q)
{
    return &q->on[q->s->lock.in_use];
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The value that the mark at p stands for; *p behind it. */
static int place_read(const char **p, int largest)
{
    int n = 0;
    while (**p >= '0' && **p <= '9' && n < 100000)
        n = n * 10 + *(*p)++ - '0';
    return n ? n - 1 : largest;
}

static void places_read(struct my_query *q, const char *text)
{
    size_t n = strlen(text), marks = 0;
    for (size_t i = 0; i < n; i++)
        marks += text[i] == '?';
    q->text = mem_new(n + 1);
    q->places = mem_new((marks + 1) * sizeof(*q->places));
    char *to = q->text;
    bool quoted = false;
    while (*text) {
        char c = *text++;
        *to++ = c;
        quoted ^= c == '\'';
        if (c != '?' || quoted)
            continue;
        int at = place_read(&text, q->nvalues);
        q->places[q->nplaces++] = at;
        if (at >= q->nvalues)
            q->nvalues = at + 1;
    }
    q->values = mem_new(((size_t)q->nvalues + 1) * sizeof(*q->values));
    q->binds = mem_new(((size_t)q->nplaces + 1) * sizeof(*q->binds));
}

static enum err prepare(struct sql *s, const char *text, bool kept, void **ret, struct why *why)
{
    (void)kept;
    (void)why;
    struct my_query *q = mem_new(sizeof(*q));
    q->s = of(s);
    char *named = my_adopted_text(q->s, text);
    places_read(q, named ? named : text);
    free(named);
    *ret = q;
    return OK;
}

static void columns_free(struct my_query *q)
{
    for (int i = 0; i < q->ncolumns; i++)
        free(q->columns[i].text);
    free(q->columns);
    free(q->results);
    q->columns = NULL;
    q->results = NULL;
    q->ncolumns = 0;
}

static void finalize(struct sql *sql, void *stmt)
{
    struct my_query *q = stmt;
    struct mydb *s = of(sql);
    if (q->on[1].stmt && s->lock.asked)
        my_lock_drop(s); /* nothing may be said there while an answer is waited for */
    for (int i = 0; i < 2; i++)
        if (q->on[i].stmt)
            mysql_stmt_close(q->on[i].stmt);
    columns_free(q);
    free(q->text);
    free(q->places);
    free(q->values);
    free(q->binds);
    free(q);
}

/* ---- parameters ------------------------------------------------------------------------------ */

static struct value *value_of(void *stmt, int i)
{
    struct my_query *q = stmt;
    assert(i >= 1);
    return i <= q->nvalues ? &q->values[i - 1] : &q->values[q->nvalues]; /* a spare one */
}

static void null_bind(void *stmt, int i)
{
    *value_of(stmt, i) = (struct value){ .type = VALUE_NULL };
}

static void i64_bind(void *stmt, int i, int64_t v)
{
    *value_of(stmt, i) = (struct value){ .type = VALUE_I64, .i64 = v };
}

static void real_bind(void *stmt, int i, double v)
{
    *value_of(stmt, i) = (struct value){ .type = VALUE_REAL, .real = v };
}

static void blob_bind(void *stmt, int i, struct slice bytes)
{
    *value_of(stmt, i) =
        (struct value){ .type = VALUE_BYTES, .p = bytes.n ? bytes.p : "", .n = bytes.n };
}

static void text_bind(void *stmt, int i, const char *text)
{
    if (text)
        *value_of(stmt, i) = (struct value){ .type = VALUE_BYTES, .p = text, .n = strlen(text) };
    else
        null_bind(stmt, i);
}

static void bind_places(struct my_query *q)
{
    static const enum enum_field_types types[] = { [VALUE_NULL] = MYSQL_TYPE_NULL,
                                                   [VALUE_I64] = MYSQL_TYPE_LONGLONG,
                                                   [VALUE_REAL] = MYSQL_TYPE_DOUBLE,
                                                   [VALUE_BYTES] = MYSQL_TYPE_STRING };
    for (int i = 0; i < q->nplaces; i++) {
        struct value *v = &q->values[q->places[i]];
        MYSQL_BIND *b = &q->binds[i];
        memset(b, 0, sizeof(*b));
        b->buffer_type = types[v->type];
        if (v->type == VALUE_I64)
            b->buffer = &v->i64;
        else if (v->type == VALUE_REAL)
            b->buffer = &v->real;
        else if (v->type == VALUE_BYTES) {
            b->buffer = (char *)v->p; /* only read */
            b->buffer_length = v->n;
            b->length = &v->n;
        }
    }
}

/* ---- running --------------------------------------------------------------------------------- */

static enum err fail(struct my_query *q, struct why *why)
{
    unsigned code = mysql_stmt_errno(in_use(q)->stmt);
    enum err err = my_fail(q->s, code, mysql_stmt_error(in_use(q)->stmt), why);
    if (my_gone(code))
        my_disconnect(q->s);
    return err;
}

static enum err server_prepare(struct my_query *q, struct why *why)
{
    struct mydb *s = q->s;
    struct prepared *p = in_use(q);
    if (p->stmt && p->generation == s->generation)
        return OK;
    if (p->stmt)
        mysql_stmt_close(p->stmt);
    p->stmt = mysql_stmt_init(s->db);
    if (!p->stmt) {
        why_set(why, "there is no memory for a statement");
        return ERR_NOMEM;
    }
    columns_free(q);
    if (mysql_stmt_prepare(p->stmt, q->text, strlen(q->text)))
        return fail(q, why);
    p->generation = s->generation;
    return OK;
}

static enum value_type column_type(const MYSQL_FIELD *field)
{
    switch (field->type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_YEAR:
        return VALUE_I64;
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
        return VALUE_REAL;
    default:
        return VALUE_BYTES;
    }
}

/* Bytes are copied when they are asked for. */
static void columns_make(struct my_query *q)
{
    MYSQL_RES *meta = mysql_stmt_result_metadata(in_use(q)->stmt);
    int n = meta ? (int)mysql_num_fields(meta) : 0;
    q->columns = mem_new(((size_t)n + 1) * sizeof(*q->columns));
    q->results = mem_new(((size_t)n + 1) * sizeof(*q->results));
    q->ncolumns = n;
    for (int i = 0; i < n; i++) {
        struct column *c = &q->columns[i];
        MYSQL_BIND *b = &q->results[i];
        c->type = column_type(mysql_fetch_field_direct(meta, (unsigned)i));
        b->buffer_type = c->type == VALUE_I64    ? MYSQL_TYPE_LONGLONG
                         : c->type == VALUE_REAL ? MYSQL_TYPE_DOUBLE
                                                 : MYSQL_TYPE_STRING;
        b->buffer = c->type == VALUE_I64    ? (void *)&c->i64
                    : c->type == VALUE_REAL ? (void *)&c->real
                                            : NULL;
        b->is_null = &c->null;
        b->length = &c->n;
        b->error = &c->cut;
    }
    if (meta)
        mysql_free_result(meta);
}

static enum err results_open(struct my_query *q, struct why *why)
{
    if (!q->columns)
        columns_make(q);
    if (mysql_stmt_bind_result(in_use(q)->stmt, q->results) ||
        mysql_stmt_store_result(in_use(q)->stmt))
        return fail(q, why);
    q->open = true;
    return OK;
}

static enum err execute(struct my_query *q, struct why *why)
{
    struct mydb *s = q->s;
    enum err err = OK;
    if (!s->in_transaction && !s->in_page)
        err = my_ready(s, why);
    if (!err && !s->db)
        err = my_fail(s, 2006, "the connection was lost", why);
    if (!err && s->page_end_ms && clock_boot_ms() > s->page_end_ms)
        err = my_fail(s, 3024, "the page's second is over", why);
    if (!err)
        err = server_prepare(q, why);
    if (err)
        return err;
    bind_places(q);
    if ((q->nplaces && mysql_stmt_bind_param(in_use(q)->stmt, q->binds)) ||
        mysql_stmt_execute(in_use(q)->stmt))
        return fail(q, why);
    if (mysql_stmt_field_count(in_use(q)->stmt))
        return results_open(q, why);
    s->changes = (int64_t)mysql_stmt_affected_rows(in_use(q)->stmt);
    s->inserted = (int64_t)mysql_stmt_insert_id(in_use(q)->stmt);
    return OK;
}

static void reset(void *stmt)
{
    struct my_query *q = stmt;
    if (q->open && in_use(q)->generation == q->s->generation)
        mysql_stmt_free_result(in_use(q)->stmt);
    q->open = false;
}

static enum err step(struct sql *s, void *stmt, bool *ret_row, struct why *why)
{
    (void)s;
    struct my_query *q = stmt;
    *ret_row = false;
    if (!q->open) {
        enum err err = execute(q, why);
        if (err || !q->open)
            return err;
    }
    int rc = mysql_stmt_fetch(in_use(q)->stmt);
    *ret_row = rc == 0 || rc == MYSQL_DATA_TRUNCATED;
    for (int i = 0; *ret_row && i < q->ncolumns; i++)
        q->columns[i].read = false;
    if (*ret_row)
        return OK;
    enum err err = rc == MYSQL_NO_DATA ? OK : fail(q, why);
    reset(q);
    return err;
}

static int64_t changes(struct sql *s)
{
    return of(s)->changes;
}

static int64_t inserted(struct sql *s)
{
    return of(s)->inserted;
}

/* ---- columns --------------------------------------------------------------------------------- */

static bool is_null(void *stmt, int i)
{
    return ((struct my_query *)stmt)->columns[i].null;
}

static void bytes_read(struct my_query *q, int i)
{
    struct column *c = &q->columns[i];
    if (c->read)
        return;
    if (c->room < c->n + 1) {
        free(c->text);
        c->room = c->n + 64;
        c->text = mem_new(c->room);
    }
    unsigned long n = 0;
    my_bool null = 0, cut = 0;
    MYSQL_BIND b = { .buffer_type = MYSQL_TYPE_STRING,
                     .buffer = c->text,
                     .buffer_length = c->room,
                     .length = &n,
                     .is_null = &null,
                     .error = &cut };
    if (mysql_stmt_fetch_column(in_use(q)->stmt, &b, (unsigned)i, 0))
        c->n = 0;
    c->text[c->n] = '\0';
    c->read = true;
}

static const char *text(void *stmt, int i, size_t *ret_n)
{
    struct my_query *q = stmt;
    struct column *c = &q->columns[i];
    *ret_n = 0;
    if (c->null)
        return NULL;
    if (c->type == VALUE_BYTES) {
        bytes_read(q, i);
    } else if (!c->read) {
        if (c->room < 64) {
            free(c->text);
            c->text = mem_new(c->room = 64);
        }
        c->n = (unsigned long)(c->type == VALUE_I64
                                   ? snprintf(c->text, c->room, "%lld", (long long)c->i64)
                                   : snprintf(c->text, c->room, "%.17g", c->real));
        c->read = true;
    }
    *ret_n = c->n;
    return c->text;
}

static int64_t i64(void *stmt, int i)
{
    const struct column *c = &((struct my_query *)stmt)->columns[i];
    if (c->null)
        return 0;
    if (c->type == VALUE_I64)
        return c->i64;
    if (c->type == VALUE_REAL)
        return (int64_t)c->real;
    bytes_read(stmt, i);
    return strtoll(c->text, NULL, 10);
}

static double real(void *stmt, int i)
{
    const struct column *c = &((struct my_query *)stmt)->columns[i];
    if (c->null)
        return 0;
    if (c->type != VALUE_BYTES)
        return c->type == VALUE_REAL ? c->real : (double)c->i64;
    bytes_read(stmt, i);
    return strtod(c->text, NULL);
}

static struct slice blob(void *stmt, int i)
{
    size_t n;
    const char *p = text(stmt, i, &n);
    return slice_of(p ? p : "", n);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* Snapshots need REPEATABLE READ, which the sessions of handles for pages have. */
static enum err page_begin(struct sql *sql, bool *ret_own, struct why *why)
{
    struct mydb *s = of(sql);
    enum err err = OK;
    *ret_own = !s->in_transaction && !s->in_page;
    if (!*ret_own)
        return OK;
    if (!s->read_only)
        err = my_exec(s, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", why);
    if (!err)
        err = my_exec(s, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", why);
    s->in_page = !err;
    s->page_end_ms = err ? 0 : clock_boot_ms() + PAGE_MS;
    return err;
}

static void page_end(struct sql *sql, bool own)
{
    struct mydb *s = of(sql);
    struct why why = { "" };
    if (!own || !s->in_page)
        return;
    if (s->db && my_exec(s, "ROLLBACK", &why))
        my_disconnect(s);
    s->in_page = false;
    s->page_end_ms = 0;
}

static const struct sql_home_index home_index = {
    .there = "SELECT count(*) FROM information_schema.statistics WHERE table_schema = database() "
             "AND table_name = 'peal_due' AND index_name = 'i_due_home'",
    .make = "CREATE INDEX i_due_home ON peal_due (home, next_ms)",
    .drop = "DROP INDEX i_due_home ON peal_due",
    .take = "SELECT next_ms, job_id FROM peal_due FORCE INDEX (i_due_home) WHERE home = ?1 AND "
            "next_ms >= ?2 AND (next_ms > ?2 OR job_id > ?3) ORDER BY next_ms, job_id LIMIT ?4 "
            "FOR UPDATE SKIP LOCKED",
};

const struct sql_driver my_driver = {
    .contains = "instr(lower(%s), lower(?%d)) > 0",
    .among = "json_contains(?%2$d, cast(%1$s AS char))",
    .last_id = "SELECT auto_increment - 1 FROM information_schema.tables "
               "WHERE table_schema = database() AND table_name = '%s'",
    .next_id = { "ALTER TABLE %1$s AUTO_INCREMENT = %2$lld" },
    .least = "least",
    .bytes_of = "coalesce(length(%s), 0)",
    .by_index = "%.0s",
    .must_index = " FORCE INDEX (%s)",
    .cut = "IGNORE %s",
    .text_max = 65535,
    .home_index = &home_index,
    .counts_tables = false,
    .epochs = true,
    .clock = "SELECT cast(unix_timestamp(now(3)) * 1000 AS signed)",
    .ids_skip = my_ids_skip,
    .selftest = &my_selftest,
    .prepare = prepare,
    .finalize = finalize,
    .bind_null = null_bind,
    .bind_i64 = i64_bind,
    .bind_real = real_bind,
    .bind_text = text_bind,
    .bind_blob = blob_bind,
    .step = step,
    .reset = reset,
    .changes = changes,
    .inserted = inserted,
    .is_null = is_null,
    .i64 = i64,
    .real = real,
    .text = text,
    .blob = blob,
    .page_begin = page_begin,
    .page_end = page_end,
    .last_fired = my_last_fired,
};
