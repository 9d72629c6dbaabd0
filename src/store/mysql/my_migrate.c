/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations on MySQL and MariaDB: numbered texts that stand in the binary, remembered with their
 * SHA-256. The server commits each statement that changes a table by itself, so a text can be cut
 * off in its middle: its statements do nothing where they have been done before, and a migration
 * counts once its row in peal_migration is there. A lock of the server keeps two of them apart.
 *
 * On a Galera cluster that lock is one server's. Two that migrate at two servers do the same, each
 * statement after the other one's, and the row of one is refused: it looks again then. */
#include "base/mem.h"
#include "store/mysql/my_db.h"
#include "store/sql/migration.h"
#include "store/sql/schema.h"
#include "store/sql/tables.h"
#include <stdlib.h>
#include <string.h>

/* Of Peal's tables and XXL-JOB's: a database may have many others. */
#define COLUMNS                                                                                    \
    "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = "         \
    "database() AND (left(table_name, 5) = 'peal_' OR left(table_name, 8) = 'xxl_job_')"
#define ROUNDS 10 /* the same, of all of it */
#define TRIES 100 /* of texts that another process runs as well */

#define SCHEMA(n, file) SCHEMA_TEXT(mysql, n, file);
#include "store/mysql_schema.def"
#undef SCHEMA

static const char *const texts[] = {
#define SCHEMA(n, file) SCHEMA_PLACE(mysql, n),
#include "store/mysql_schema.def"
};

static struct sql_migrations migrations_of(const struct mydb *s)
{
    return (struct sql_migrations){ texts, countof(texts), s->name, !s->sql.bulk };
}

/* Is there such a table? */
static enum err table_exists(struct mydb *s, const char *name, bool *ret, struct why *why)
{
    struct sql_query *q;
    int64_t n = 0;
    enum err err = sql_query(&s->sql,
                             "SELECT count(*) FROM information_schema.tables "
                             "WHERE table_schema = database() AND table_name = ?1",
                             &q, why);
    if (err)
        return err;
    sql_bind_text(q, 1, name);
    err = sql_one(q, 0, &n, why);
    *ret = n > 0;
    return err;
}

/* A statement ends with a semicolon at a line's end. */
static enum err run_text(struct mydb *s, const char *text, struct why *why)
{
    enum err err = OK;
    while (!err && *text) {
        const char *end = strstr(text, ";\n");
        if (!end)
            break; /* comments, or nothing */
        char *one = mem_dupn(text, (size_t)(end - text));
        err = my_exec(s, one, why);
        free(one);
        text = end + 2;
    }
    return err;
}

static enum err apply(struct mydb *s, const struct sql_migrations *m, int64_t n, struct why *why)
{
    enum err err = sql_migration_begin(&s->sql, m, n, why);
    if (!err)
        err = run_text(s, m->texts[n - 1], why);
    return err ? err : sql_migration_remember(&s->sql, m, n, why);
}

enum err my_schema_check(struct mydb *s, struct why *why)
{
    struct sql_migrations m = migrations_of(s);
    bool ours = false;
    int64_t applied = 0;
    enum err err = table_exists(s, "peal_migration", &ours, why);
    if (!err && ours)
        err = sql_migrations_check(&s->sql, &m, &applied, why);
    return err ? err : sql_migrations_complete(&m, applied, why);
}

/* Has the database any table that this user may see? */
static enum err tables_exist(struct mydb *s, bool *ret, struct why *why)
{
    struct sql_query *q;
    int64_t n = 0;
    enum err err = sql_query(
        &s->sql, "SELECT count(*) FROM information_schema.tables WHERE table_schema = database()",
        &q, why);
    if (!err)
        err = sql_one(q, 0, &n, why);
    *ret = n > 0;
    return err;
}

static enum err foreign(const struct mydb *s, bool xxl, struct why *why)
{
    if (xxl)
        why_set(
            why,
            "database %s has the tables of XXL-JOB, and none of Peal: look at it with \"peal db "
            "check\", then add Peal's to it with \"peal db migrate\", or copy it into an empty "
            "database with \"peal db import\"",
            s->name);
    else
        why_set(why,
                "%s is a database of another program (it has tables, but not peal_migration); name "
                "another one",
                s->name);
    return ERR_INVALID;
}

/* A database with tables, of which none says that Peal has opened it, is another program's,
 * XXL-JOB's maybe: it is not changed by a start of the server. */
static enum err foreign_check(struct mydb *s, bool ours, struct why *why)
{
    bool tables = false, xxl = false;
    if (ours || s->adopt)
        return OK;
    enum err err = tables_exist(s, &tables, why);
    if (!err && tables)
        err = table_exists(s, "xxl_job_info", &xxl, why);
    if (!err && tables && s->sql.certified) { /* a migration at another server may have begun */
        err = table_exists(s, "peal_migration", &ours, why);
        tables = !ours;
    }
    return err || !tables ? err : foreign(s, xxl, why);
}

/* A change of tables at another server of a Galera cluster ends what is under way at this one, as a
 * conflict or as a query that was interrupted (1317, ERR_TIMEOUT). */
static bool refused(enum err err)
{
    return err == ERR_CONFLICT || err == ERR_EXISTS || err == ERR_TIMEOUT;
}

/* Those that are not there yet. */
static enum err apply_rest(struct mydb *s, const struct sql_migrations *m, struct why *why)
{
    int64_t applied = 0;
    int tries = 0;
    enum err err = sql_migrations_check(&s->sql, m, &applied, why);
    while (!err && applied < m->n) {
        err = apply(s, m, applied + 1, why);
        if (s->sql.certified && refused(err) && ++tries < TRIES) {
            why_clear(why);
            err = sql_migrations_check(&s->sql, m, &applied, why);
        } else {
            applied++;
        }
    }
    return err;
}

/* The tables of an XXL-JOB are as its release has them. */
static enum err check_whole(struct mydb *s, const struct sql_migrations *m, struct why *why)
{
    bool adopted = false;
    enum err err = table_exists(s, "peal_info", &adopted, why);
    return err ? err : sql_schema_whole(&s->sql, m, COLUMNS, adopted, why);
}

static enum err migrate_locked(struct mydb *s, struct why *why)
{
    struct sql_migrations m = migrations_of(s);
    bool ours = false;
    enum err err = table_exists(s, "peal_migration", &ours, why);
    if (!err)
        err = foreign_check(s, ours, why);
    if (!err && s->adopt)
        err = my_adopt_mark(s, ours, why);
    if (!err && !ours)
        err = my_exec(s,
                      "CREATE TABLE IF NOT EXISTS peal_migration (n int NOT NULL PRIMARY KEY, "
                      "sha256 varchar(64) NOT NULL, applied_ms bigint NOT NULL) ENGINE=InnoDB "
                      "ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
                      why);
    if (!err)
        err = apply_rest(s, &m, why);
    if (!err)
        err = check_whole(s, &m, why);
    if (!err)
        err = sql_home_index_make(&s->sql, why);
    if (s->sql.certified && refused(err)) { /* made at another server meanwhile */
        why_clear(why);
        err = sql_home_index_make(&s->sql, why);
    }
    /* The only right that the start of a server does not use: a job's first end would. */
    return err ? err : my_exec(s, "DELETE FROM peal_run WHERE 1 = 0", why);
}

/* The lock's name is of this database: a server may have several. */
enum err my_migrate(struct mydb *s, struct why *why)
{
    struct sql_query *q;
    int64_t got = 0;
    enum err err = sql_query(
        &s->sql, "SELECT get_lock(left(concat('peal_migrate ', database()), 64), 60)", &q, why);
    if (!err)
        err = sql_one(q, 0, &got, why);
    if (!err && !got) {
        why_set(why, "database %s: another process has been changing its tables for a minute",
                s->name);
        err = ERR_BUSY;
    }
    if (err)
        return err;
    err = migrate_locked(s, why);
    for (int i = 0; s->sql.certified && !s->adopt && refused(err) && i < ROUNDS; i++) {
        why_clear(why);
        err = migrate_locked(s, why);
    }
    struct why ignored = { "" };
    if (!sql_query(&s->sql, "SELECT release_lock(left(concat('peal_migrate ', database()), 64))",
                   &q, &ignored) &&
        sql_one(q, 0, &got, &ignored))
        my_disconnect(s); /* which frees it as well */
    return err;
}
