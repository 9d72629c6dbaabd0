/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations: numbered texts that stand in the binary, each applied once, in one transaction, and
 * remembered with its SHA-256. A database that remembers another text for a number, or a number
 * that this binary does not know, was made by another release: it is left alone. */
#include "base/mem.h"
#include "store/sqlite/sqlite_db.h"
#include "store/sql/migration.h"

#define SCHEMA(n, file) SCHEMA_TEXT(sqlite, n, file);
#include "store/sqlite_schema.def"
#undef SCHEMA

static const char *const texts[] = {
#define SCHEMA(n, file) SCHEMA_PLACE(sqlite, n),
#include "store/sqlite_schema.def"
};

static struct sql_migrations migrations_of(const struct sqlite *s)
{
    return (struct sql_migrations){ texts, countof(texts), s->path, false };
}

static enum err table_exists(struct sqlite *s, const char *name, bool *ret, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(
        s, "SELECT count(*) FROM sqlite_schema WHERE ?1 = '' OR (type = 'table' AND name = ?1)", &q,
        why);
    if (err)
        return err;
    bind_text(q, 1, name);
    int64_t n;
    err = sql_number(s, q, 0, &n, why);
    if (!err)
        *ret = n > 0;
    return err;
}

static enum err apply(struct sqlite *s, const struct sql_migrations *m, int64_t n, struct why *why)
{
    enum err err = sql_exec(s, "BEGIN IMMEDIATE", why);
    if (!err && n == 1)
        err = sql_exec(s,
                       "CREATE TABLE peal_migration (n INTEGER PRIMARY KEY, sha256 TEXT NOT NULL, "
                       "applied_ms INTEGER NOT NULL) STRICT",
                       why);
    if (!err)
        err = sql_exec(s, m->texts[n - 1], why);
    if (!err)
        err = sql_migration_remember(&s->sql, m, n, why);
    if (!err)
        err = sql_exec(s, "COMMIT", why);
    if (err && !sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return err;
}

enum err sqlite_schema_check(struct sqlite *s, struct why *why)
{
    struct sql_migrations m = migrations_of(s);
    bool ours = false;
    int64_t applied = 0;
    enum err err = table_exists(s, "peal_migration", &ours, why);
    if (!err && ours)
        err = sql_migrations_check(&s->sql, &m, &applied, why);
    return err ? err : sql_migrations_complete(&m, applied, why);
}

enum err sqlite_migrate(struct sqlite *s, struct why *why)
{
    struct sql_migrations m = migrations_of(s);
    bool ours = false, any = false;
    int64_t applied = 0;
    enum err err = table_exists(s, "peal_migration", &ours, why);
    if (!err && !ours) {
        err = table_exists(s, "", &any, why);
        if (!err && any) {
            why_set(why,
                    "%s is an SQLite database of another program (it has tables, but not "
                    "peal_migration); name another file",
                    s->path);
            err = ERR_INVALID;
        }
    } else if (!err) {
        err = sql_migrations_check(&s->sql, &m, &applied, why);
    }
    while (!err && applied < m.n)
        err = apply(s, &m, ++applied, why);
    return err;
}
