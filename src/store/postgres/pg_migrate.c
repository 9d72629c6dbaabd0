/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations: numbered texts that stand in the binary, each applied once, in one transaction, and
 * remembered with its SHA-256. A lock of the database's keeps two programs from doing it at the
 * same time. */
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/postgres/pg.h"
#include "store/sql/migration.h"
#include "store/sql/schema.h"
#include "store/sql/tables.h"

#define TRIES 10       /* of a migration that was the victim of a deadlock */
#define WAIT_MS 600000 /* for the lock, and for one migration */
#define COLUMNS                                                                                    \
    "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "       \
    "WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace "           \
    "AND c.relname ~ '^(peal|xxl_job)_' AND a.attnum > 0 AND NOT a.attisdropped"
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

/* Has the database been opened by a server of Peal? Needs no right on the table. */
static enum err is_ours(struct pg *s, bool *ret, struct why *why)
{
    int64_t there = 0;
    enum err err = count(s,
                         "SELECT count(*) FROM pg_class WHERE relname = 'peal_migration' "
                         "AND relkind = 'r' AND relnamespace = current_schema()::regnamespace",
                         &there, why);
    *ret = there > 0;
    return err;
}

/* Look at what was applied; *ret_applied is the last number, 0: none. */
static enum err check_applied(struct pg *s, const struct sql_migrations *m, int64_t *ret_applied,
                              struct why *why)
{
    bool ours = false;
    enum err err = is_ours(s, &ours, why);
    *ret_applied = 0;
    return err || !ours ? err : sql_migrations_check(&s->sql, m, ret_applied, why);
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

/* The same of the tables that are there, and of the sequences of ids. Who is no superuser may give
 * rights on all tables of a schema only where all of them are his. */
#define LACKING                                                                                    \
    "WITH own AS (SELECT * FROM pg_class WHERE relnamespace = "                                    \
    "(SELECT oid FROM pg_namespace WHERE nspname = current_schema()) "                             \
    "AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')) "                                              \
    "SELECT relname, quote_ident(current_schema()), quote_ident(current_user), "                   \
    "quote_ident(pg_get_userbyid(relowner)), (SELECT count(DISTINCT relowner) FROM own) FROM own " \
    "WHERE relname ~ '^(peal|xxl_job)_' AND NOT CASE relkind "                                     \
    "WHEN 'r' THEN has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') "     \
    "AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE') "               \
    "WHEN 'S' THEN has_sequence_privilege(oid, 'SELECT') "                                         \
    "AND has_sequence_privilege(oid, 'USAGE') AND has_sequence_privilege(oid, 'UPDATE') "          \
    "ELSE true END ORDER BY relkind DESC, relname LIMIT 1"

static enum err may_write(struct pg *s, struct why *why)
{
    struct sql_query *q;
    bool row = false;
    enum err err = sql_query(&s->sql, LACKING, &q, why);
    if (!err)
        err = sql_next(q, &row, why);
    if (err || !row)
        return err;
    char table[100], schema[200], user[200], owner[200];
    sql_text_copy(q, 0, table, sizeof(table));
    sql_text_copy(q, 1, schema, sizeof(schema));
    sql_text_copy(q, 2, user, sizeof(user));
    sql_text_copy(q, 3, owner, sizeof(owner));
    bool one = sql_i64(q, 4, 0) == 1;
    sql_reset(q);
    why_set(why,
            "database %s: user %s may not read and write %s, which belongs to %s; %s mends it "
            "with: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %s TO %s; "
            "GRANT SELECT, USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA %s TO %s",
            s->name, user, table, owner, one ? owner : "a superuser", schema, user, schema, user);
    return ERR_INVALID;
}

enum err pg_rights(struct pg *s, struct why *why)
{
    enum err err = may_create(s, why);
    return err ? err : may_write(s, why);
}

/* The names of tables that a text alters, as a list of literals. */
static void altered(void *ctx, struct slice table, struct slice column, bool made)
{
    struct buf *names = ctx;
    if (!made && !column.n)
        buf_printf(names, "%s'%.*s'", names->len ? ", " : "", (int)table.n, table.p);
}

static enum err not_owner(struct pg *s, struct sql_query *q, struct why *why)
{
    char table[100], user[200], owner[200];
    sql_text_copy(q, 0, table, sizeof(table));
    sql_text_copy(q, 1, user, sizeof(user));
    sql_text_copy(q, 2, owner, sizeof(owner));
    why_set(why,
            "database %s: this release alters the table %s, which belongs to %s, and only an owner "
            "may, whatever rights user %s has; start this release once as %s, or a superuser mends "
            "it with: GRANT %s TO %s",
            s->name, table, owner, user, owner, owner, user);
    return ERR_INVALID;
}

/* A table is altered by its owner, and by no right that could be granted: is this user one of all
 * that the migrations behind that number alter? */
static enum err may_alter(struct pg *s, const struct sql_migrations *m, int64_t applied,
                          struct why *why)
{
    struct buf names = BUF_INIT(1 << 16), text = BUF_INIT(1 << 17);
    struct sql_query *q = NULL;
    bool row = false;
    for (int64_t n = applied; n < m->n; n++)
        sql_schema_walk(m->texts[n], altered, &names);
    buf_printf(&text,
               "SELECT relname, quote_ident(current_user), quote_ident(pg_get_userbyid(relowner)) "
               "FROM pg_class WHERE relkind = 'r' AND relnamespace = "
               "current_schema()::regnamespace AND relname IN (%s) "
               "AND NOT pg_has_role(relowner, 'USAGE') ORDER BY relname LIMIT 1",
               names.len ? buf_str(&names) : "NULL");
    enum err err = sql_query_once(&s->sql, buf_str(&text), &q, why);
    if (!err)
        err = sql_next(q, &row, why);
    if (!err && row)
        err = not_owner(s, q, why);
    sql_query_end(q);
    buf_done(&names);
    buf_done(&text);
    return err;
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

/* What is refused before anything is written. No right helps with another program's tables. */
static enum err check_all(struct pg *s, const struct sql_migrations *m, int64_t *ret_applied,
                          struct why *why)
{
    bool ours = false;
    *ret_applied = 0;
    enum err err = is_ours(s, &ours, why);
    if (!err)
        err = ours ? may_write(s, why) : check_empty(s, why);
    if (!err && ours)
        err = sql_migrations_check(&s->sql, m, ret_applied, why);
    if (!err && *ret_applied < m->n)
        err = may_create(s, why);
    return err || *ret_applied >= m->n ? err : may_alter(s, m, *ret_applied, why);
}

static enum err apply_all(struct pg *s, struct why *why)
{
    struct sql_migrations m = migrations_of(s);
    int64_t applied = 0;
    enum err err = check_all(s, &m, &applied, why);
    while (!err && applied < m.n)
        err = apply(s, &m, ++applied, why);
    if (!err)
        err = sql_schema_whole(&s->sql, &m, COLUMNS, false, why);
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
