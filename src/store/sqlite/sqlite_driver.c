/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite as a driver of the statements that all SQL engines share. */
#include "store/sqlite/sqlite_db.h"

static struct sqlite *of(struct sql *s)
{
    return (struct sqlite *)s;
}

static enum err prepare(struct sql *s, const char *text, bool kept, void **ret, struct why *why)
{
    sqlite3_stmt *q = NULL;
    int rc =
        sqlite3_prepare_v3(of(s)->db, text, -1, kept ? SQLITE_PREPARE_PERSISTENT : 0, &q, NULL);
    *ret = q;
    return rc ? sql_fail(of(s), rc, why) : OK;
}

static void finalize(struct sql *s, void *stmt)
{
    sql_drop(of(s), stmt);
}

static void null_bind(void *stmt, int i)
{
    sqlite3_bind_null(stmt, i);
}

static void i64_bind(void *stmt, int i, int64_t v)
{
    bind_i64(stmt, i, v);
}

static void real_bind(void *stmt, int i, double v)
{
    sqlite3_bind_double(stmt, i, v);
}

static void text_bind(void *stmt, int i, const char *text)
{
    bind_text(stmt, i, text);
}

static void blob_bind(void *stmt, int i, struct slice bytes)
{
    bind_blob(stmt, i, bytes);
}

static enum err step(struct sql *s, void *stmt, bool *ret_row, struct why *why)
{
    return sql_step(of(s), stmt, ret_row, why);
}

static void reset(void *stmt)
{
    sqlite3_reset(stmt);
}

static int64_t changes(struct sql *s)
{
    return sqlite3_changes64(of(s)->db);
}

static int64_t inserted(struct sql *s)
{
    return sqlite3_last_insert_rowid(of(s)->db);
}

static bool is_null(void *stmt, int i)
{
    return sqlite3_column_type(stmt, i) == SQLITE_NULL;
}

static int64_t i64(void *stmt, int i)
{
    return sqlite3_column_int64(stmt, i);
}

static double real(void *stmt, int i)
{
    return sqlite3_column_double(stmt, i);
}

static const char *text(void *stmt, int i, size_t *ret_n)
{
    const char *t = (const char *)sqlite3_column_text(stmt, i);
    *ret_n = t ? (size_t)sqlite3_column_bytes(stmt, i) : 0;
    return t;
}

static struct slice blob(void *stmt, int i)
{
    const void *p = sqlite3_column_blob(stmt, i); /* before its length is asked for */
    return slice_of(p, (size_t)sqlite3_column_bytes(stmt, i));
}

static enum err page_begin(struct sql *s, bool *ret_own, struct why *why)
{
    return sql_page_begin(of(s), ret_own, why);
}

static void page_end(struct sql *s, bool own)
{
    sql_page_end(of(s), own);
}

static unsigned char ascii_lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* peal_has(text, part): instr(lower(text), lower(part)) > 0 without two copies a row, since it
 * looks at each row of a large table. */
static void has(sqlite3_context *call, int n, sqlite3_value **args)
{
    (void)n;
    const unsigned char *text = sqlite3_value_text(args[0]), *part = sqlite3_value_text(args[1]);
    int ntext = sqlite3_value_bytes(args[0]), npart = sqlite3_value_bytes(args[1]);
    bool found = text && part && npart == 0;
    for (int i = 0; text && part && !found && i + npart <= ntext; i++) {
        int k = 0;
        while (k < npart && ascii_lower(text[i + k]) == ascii_lower(part[k]))
            k++;
        found = k == npart;
    }
    sqlite3_result_int(call, found);
}

int sqlite_functions_add(sqlite3 *db)
{
    return sqlite3_create_function_v2(db, "peal_has", 2,
                                      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                      has, NULL, NULL, NULL);
}

const struct sql_driver sqlite_driver = {
    .contains = "peal_has(%s, ?%d)",
    .among = "%s IN (SELECT value FROM json_each(?%d))",
    .last_id = "SELECT seq FROM sqlite_sequence WHERE name = '%s'",
    .next_id = { "DELETE FROM sqlite_sequence WHERE name = '%1$s'",
                 "INSERT INTO sqlite_sequence (name, seq) VALUES ('%1$s', %2$lld - 1)" },
    .least = "min",
    .ms_of = "%s",
    .time_of = "%s",
    .bytes_of = "length(CAST(%s AS BLOB))",
    .by_index = " INDEXED BY %s",
    .must_index = " INDEXED BY %s",
    .cut = "%s",
    .counts_tables = true,
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
    .last_fired = sqlite_last_fired,
};
