/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of the embedded database, and what its errors mean. All other files of this folder
 * stand on this one. */
#include "base/clock.h"
#include "sql/sqlerr.h"
#include "store/sqlite/sqlite_db.h"
#include <stdio.h>
#include <string.h>

enum {
    PAGE_MS = 1000, /* the longest snapshot of a page */
};

/* ---- errors ---------------------------------------------------------------------------------- */

const char *sqlite_advice(enum err err)
{
    switch (err) {
    case ERR_FULL:
        return "make room on its disk; nothing that was acknowledged is lost";
    case ERR_CORRUPT:
        return "stop the server, keep a copy of the file, and restore a backup or save what can "
               "be read with: sqlite3 FILE .recover";
    case ERR_BUSY:
        return "another program holds its write lock; close it";
    case ERR_TOOBIG:
        return "a row is larger than 64 MiB";
    case ERR_TIMEOUT:
        return "the page took longer than a second; narrow it by job or by time";
    default:
        return sqlerr_advice(err);
    }
}

enum err sql_fail(struct sqlite *s, int rc, struct why *why)
{
    enum err err = sqlerr_of(s->db, rc);
    struct why full = { "" };
    why_set(&full, "database %s: %s (%d); %s", s->path, sqlerr_text(s->db, rc), rc,
            sqlite_advice(err));
    why_set(why, "%s", full.text);
    if (s->in_transaction && !s->lost) {
        s->lost = err;
        snprintf(s->lost_text, sizeof(s->lost_text), "%s", full.text);
    }
    return err;
}

/* ---- statements ------------------------------------------------------------------------------ */

_Thread_local int sql_bind_rc;

enum err sql_prepare(struct sqlite *s, const char *text, sqlite3_stmt **ret, struct why *why)
{
    int rc = sqlite3_prepare_v3(s->db, text, -1, 0, ret, NULL);
    return rc ? sql_fail(s, rc, why) : OK;
}

enum err sql_get(struct sqlite *s, const char *text, sqlite3_stmt **ret, struct why *why)
{
    uint64_t key = (uint64_t)(uintptr_t)text;
    sqlite3_stmt *q = map_find(&s->statements, key);
    *ret = NULL; /* compilers that look into callers cannot know that sql_fail is never OK */
    if (!q) {
        int rc = sqlite3_prepare_v3(s->db, text, -1, SQLITE_PREPARE_PERSISTENT, &q, NULL);
        if (rc)
            return sql_fail(s, rc, why);
        map_set(&s->statements, key, q);
    }
    *ret = q;
    return OK;
}

void sql_count_steps(struct sqlite *s, sqlite3_stmt *q)
{
    s->steps += sqlite3_stmt_status(q, SQLITE_STMTSTATUS_VM_STEP, 1);
}

void sql_drop(struct sqlite *s, sqlite3_stmt *q)
{
    if (q)
        sql_count_steps(s, q);
    sqlite3_finalize(q);
}

enum err sql_run(struct sqlite *s, sqlite3_stmt *q, struct why *why)
{
    int rc;
    do {
        rc = sql_step_rc(q);
    } while (rc == SQLITE_ROW);
    enum err err = rc == SQLITE_DONE ? OK : sql_fail(s, rc, why);
    sqlite3_reset(q);
    return err;
}

enum err sql_step(struct sqlite *s, sqlite3_stmt *q, bool *ret_row, struct why *why)
{
    int rc = sql_step_rc(q);
    if (rc == SQLITE_ROW) {
        *ret_row = true;
        return OK;
    }
    enum err err = rc == SQLITE_DONE ? OK : sql_fail(s, rc, why);
    sqlite3_reset(q);
    *ret_row = false;
    return err;
}

enum err sql_number(struct sqlite *s, sqlite3_stmt *q, int64_t otherwise, int64_t *ret,
                    struct why *why)
{
    bool row;
    enum err err = sql_step(s, q, &row, why);
    if (err)
        return err;
    *ret = row ? col_i64(q, 0, otherwise) : otherwise;
    sqlite3_reset(q);
    return OK;
}

enum err sql_exec(struct sqlite *s, const char *text, struct why *why)
{
    int rc = sqlite3_exec(s->db, text, NULL, NULL, NULL);
    return rc ? sql_fail(s, rc, why) : OK;
}

int64_t col_i64(sqlite3_stmt *q, int i, int64_t otherwise)
{
    return sqlite3_column_type(q, i) == SQLITE_NULL ? otherwise : sqlite3_column_int64(q, i);
}

/* ---- a page's snapshot ----------------------------------------------------------------------- */

enum err sql_page_begin(struct sqlite *s, bool *ret_own, struct why *why)
{
    *ret_own = sqlite3_get_autocommit(s->db);
    if (!*ret_own)
        return OK;
    s->deadline_ms = clock_boot_ms() + PAGE_MS;
    sqlite3_stmt *q;
    enum err err = sql_get(s, "BEGIN", &q, why);
    return err ? err : sql_run(s, q, why);
}

void sql_page_end(struct sqlite *s, bool own)
{
    if (!own)
        return;
    s->deadline_ms = 0;
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}
