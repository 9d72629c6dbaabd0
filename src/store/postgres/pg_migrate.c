/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations: numbered texts that stand in the binary, each applied once, in one transaction, and
 * remembered with its SHA-256. A lock of the database's keeps two programs from doing it at the
 * same time. */
#include "base/log.h"
#include "base/mem.h"
#include "store/postgres/pg.h"
#include "store/sql/migration.h"
#include "store/sql/tables.h"

#define TRIES 10       /* of a migration that was the victim of a deadlock */
#define WAIT_MS 600000 /* for the lock, and for one migration */
/* Any number that no other program takes; "peal". */
#define LOCK "SELECT pg_advisory_lock(1885692268)"
#define UNLOCK "SELECT pg_advisory_unlock(1885692268)"

#define SCHEMA(n, file) SCHEMA_TEXT(postgres, n, file);
#include "store/postgres_schema.def"
#undef SCHEMA

static const char *const texts[] = {
#define SCHEMA(n, file) SCHEMA_PLACE(postgres, n),
#include "store/postgres_schema.def"
};

static struct sql_migrations migrations_of(const struct pg *s)
{
    return (struct sql_migrations){ texts, countof(texts), s->name, !s->sql.bulk };
}

static enum err count(struct pg *s, const char *text, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(&s->sql, text, &q, why);
    return err ? err : sql_one(q, 0, ret, why);
}

/* Look at what was applied; *ret_applied is the last number, 0: none. */
static enum err check_applied(struct pg *s, const struct sql_migrations *m, int64_t *ret_applied,
                              struct why *why)
{
    int64_t there = 0;
    enum err err = count(s,
                         "SELECT count(*) FROM pg_class WHERE relname = 'peal_migration' "
                         "AND relkind = 'r' AND relnamespace = current_schema()::regnamespace",
                         &there, why);
    *ret_applied = 0;
    return err || !there ? err : sql_migrations_check(&s->sql, m, ret_applied, why);
}

/* The server's word for each missing right is the same code (42501), and its text has a language:
 * what is missing is asked for, before anything is written. */
static enum err may_create(struct pg *s, struct why *why)
{
    struct sql_query *q;
    bool row = false;
    enum err err = sql_query(
        &s->sql,
        "SELECT coalesce(has_schema_privilege(current_schema()::text, 'CREATE'), false)::int, "
        "quote_ident(coalesce(current_schema(), 'public')), quote_ident(current_user)",
        &q, why);
    if (!err)
        err = sql_next(q, &row, why);
    if (err || !row)
        return err;
    char schema[200], user[200];
    bool may = sql_int(q, 0, 0) != 0;
    sql_text_copy(q, 1, schema, sizeof(schema));
    sql_text_copy(q, 2, user, sizeof(user));
    sql_reset(q);
    if (may)
        return OK;
    why_set(why,
            "database %s: user %s may not create tables in schema %s; its owner mends it with: "
            "GRANT USAGE, CREATE ON SCHEMA %s TO %s",
            s->name, user, schema, schema, user);
    return ERR_INVALID;
}

/* The same of the tables that are there, and of the sequences of ids. */
static enum err may_write(struct pg *s, struct why *why)
{
    struct sql_query *q;
    bool row = false;
    enum err err = sql_query(
        &s->sql,
        "SELECT relname, quote_ident(current_schema()), quote_ident(current_user) FROM pg_class "
        "WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) "
        "AND relname ~ '^(peal|xxl_job)_' "
        "AND NOT CASE relkind WHEN 'r' THEN has_table_privilege(oid, 'SELECT') "
        "AND has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE') "
        "AND has_table_privilege(oid, 'DELETE') WHEN 'S' THEN has_sequence_privilege(oid, "
        "'SELECT') "
        "AND has_sequence_privilege(oid, 'USAGE') AND has_sequence_privilege(oid, 'UPDATE') "
        "ELSE true END ORDER BY relkind DESC, relname LIMIT 1",
        &q, why);
    if (!err)
        err = sql_next(q, &row, why);
    if (err || !row)
        return err;
    char table[200], schema[200], user[200];
    sql_text_copy(q, 0, table, sizeof(table));
    sql_text_copy(q, 1, schema, sizeof(schema));
    sql_text_copy(q, 2, user, sizeof(user));
    sql_reset(q);
    why_set(why,
            "database %s: user %s may not read and write %s; its owner mends it with: "
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %s TO %s; "
            "GRANT SELECT, USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA %s TO %s",
            s->name, user, table, schema, user, schema, user);
    return ERR_INVALID;
}

enum err pg_rights(struct pg *s, struct why *why)
{
    enum err err = may_create(s, why);
    return err ? err : may_write(s, why);
}

static enum err try_apply(struct pg *s, const struct sql_migrations *m, int64_t n, struct why *why)
{
    enum err err = pg_exec(s, "BEGIN; SET LOCAL statement_timeout = 0", why);
    if (!err && n == 1)
        err = pg_exec(s,
                      "CREATE TABLE peal_migration (n bigint PRIMARY KEY, sha256 text NOT NULL, "
                      "applied_ms bigint NOT NULL)",
                      why);
    if (!err)
        err = pg_exec(s, m->texts[n - 1], why);
    if (!err)
        err = sql_migration_remember(&s->sql, m, n, why);
    if (!err)
        return pg_exec(s, "COMMIT", why);
    struct why ignored = { "" };
    if (s->db && pg_exec(s, "ROLLBACK", &ignored))
        pg_hang_up(s);
    return err;
}

/* Servers that go on meanwhile lock the same tables, in an order of their own. */
static enum err apply(struct pg *s, const struct sql_migrations *m, int64_t n, struct why *why)
{
    enum err err = sql_migration_begin(&s->sql, m, n, why);
    if (err)
        return err;
    err = try_apply(s, m, n, why);
    for (int i = 1; err == ERR_CONFLICT && s->db && i < TRIES; i++) {
        log_warn("store", "migration %lld is repeated: %s", (long long)n, why->text);
        why_clear(why);
        err = try_apply(s, m, n, why);
    }
    return err;
}

/* Tables that a database has without ours are another program's: they would meet ours. */
static enum err check_empty(struct pg *s, struct why *why)
{
    int64_t n = 0;
    enum err err = count(s,
                         "SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p', 'v') "
                         "AND relnamespace = current_schema()::regnamespace",
                         &n, why);
    if (err || n == 0)
        return err;
    why_set(why,
            "%s is a database of another program (it has tables, but not peal_migration); name "
            "another one",
            s->name);
    return ERR_INVALID;
}

static enum err apply_all(struct pg *s, struct why *why)
{
    struct sql_migrations m = migrations_of(s);
    int64_t applied = 0;
    enum err err = may_write(s, why);
    if (!err)
        err = check_applied(s, &m, &applied, why);
    if (!err && applied == 0)
        err = check_empty(s, why);
    if (!err && applied < m.n)
        err = may_create(s, why);
    while (!err && applied < m.n)
        err = apply(s, &m, ++applied, why);
    if (!err)
        err = sql_migrations_there(&s->sql, why);
    return err ? err : sql_home_index_make(&s->sql, why);
}

enum err pg_migrate(struct pg *s, struct why *why)
{
    int64_t wait_ms = s->wait_ms;
    struct why ignored = { "" };
    s->wait_ms = WAIT_MS;
    enum err err = pg_exec(s, "SET statement_timeout = 0; SET lock_timeout = '60s'; " LOCK, why);
    if (!err)
        err = apply_all(s, why);
    /* the lock goes with the connection as well */
    if (s->db &&
        pg_exec(s,
                s->sql.bulk ? UNLOCK "; SET statement_timeout = '60s'; SET lock_timeout = '2s'"
                            : UNLOCK "; SET statement_timeout = '10s'; SET lock_timeout = '2s'",
                &ignored))
        pg_hang_up(s);
    s->wait_ms = wait_ms;
    return err;
}

enum err pg_schema_check(struct pg *s, struct why *why)
{
    struct sql_migrations m = migrations_of(s);
    int64_t applied = 0;
    enum err err = check_applied(s, &m, &applied, why);
    return err ? err : sql_migrations_complete(&m, applied, why);
}
