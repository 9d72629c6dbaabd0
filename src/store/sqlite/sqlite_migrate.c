/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations: numbered texts that stand in the binary, each applied once, in one transaction, and
 * remembered with its SHA-256. A database that remembers another text for a number, or a number
 * that this binary does not know, was made by another release: it is left alone. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/secret.h"
#include "store/sqlite/sqlite_db.h"
#include <string.h>

/* The text of schema/FILE between two symbols, terminated. CMake lists the files. */
#define SCHEMA(n, file)                                                                            \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global peal_schema_sqlite_" #n "\npeal_schema_sqlite_" #n ":\n"                      \
            ".incbin \"" PEAL_SCHEMA_DIR "/" file "\"\n"                                           \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    extern const char peal_schema_sqlite_##n[] __attribute__((visibility("hidden")));
#include "store/sqlite_schema.def"
#undef SCHEMA

static const char *const migrations[] = {
/* number n at n - 1; 1##n keeps 008 from being octal */
#define SCHEMA(n, file) [1##n - 1001] = peal_schema_sqlite_##n,
#include "store/sqlite_schema.def"
};

static void checksum(const char *text, char hex[65])
{
    unsigned char digest[32];
    sha256(text, strlen(text), digest);
    hex_text(digest, sizeof(digest), hex);
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

static enum err check_one(struct sqlite *s, int64_t n, const char *sha, struct why *why)
{
    char ours[65];
    if (n < 1 || n > (int64_t)countof(migrations)) {
        why_set(why,
                "database %s was written by a newer release (migration %lld, this one knows %zu); "
                "start that release, or restore a backup from before the upgrade",
                s->path, (long long)n, countof(migrations));
        return ERR_INVALID;
    }
    checksum(migrations[n - 1], ours);
    if (sha && strcmp(ours, sha) == 0)
        return OK;
    why_set(why,
            "database %s: migration %lld was applied with another text (SHA-256 %.64s, this "
            "release has %s); it belongs to another build, start that one",
            s->path, (long long)n, sha ? sha : "missing", ours);
    return ERR_INVALID;
}

/* Look at what was applied; *ret_applied is the last number. */
static enum err check_applied(struct sqlite *s, int64_t *ret_applied, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s, "SELECT n, sha256 FROM peal_migration ORDER BY n", &q, why);
    int64_t last = 0;
    bool row = true;
    while (!err) {
        err = sql_step(s, q, &row, why);
        if (err || !row)
            break;
        int64_t n = sqlite3_column_int64(q, 0);
        err = check_one(s, n, (const char *)sqlite3_column_text(q, 1), why);
        if (!err && n != last + 1) {
            why_set(why, "database %s: migration %lld is missing between others; restore a backup",
                    s->path, (long long)last + 1);
            err = ERR_INVALID;
        }
        last = n;
        if (err)
            sqlite3_reset(q);
    }
    if (!err)
        *ret_applied = last;
    return err;
}

static enum err apply(struct sqlite *s, int64_t n, struct why *why)
{
    char sha[65];
    checksum(migrations[n - 1], sha);
    enum err err = sql_exec(s, "BEGIN IMMEDIATE", why);
    if (!err && n == 1)
        err = sql_exec(s,
                       "CREATE TABLE peal_migration (n INTEGER PRIMARY KEY, sha256 TEXT NOT NULL, "
                       "applied_ms INTEGER NOT NULL) STRICT",
                       why);
    if (!err)
        err = sql_exec(s, migrations[n - 1], why);
    sqlite3_stmt *q;
    if (!err)
        err = sql_get(s, "INSERT INTO peal_migration (n, sha256, applied_ms) VALUES (?1, ?2, ?3)",
                      &q, why);
    if (!err) {
        bind_i64(q, 1, n);
        bind_text(q, 2, sha);
        bind_i64(q, 3, clock_wall_ms());
        err = sql_run(s, q, why);
    }
    if (!err)
        err = sql_exec(s, "COMMIT", why);
    if (err && !sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return err;
}

enum err sqlite_schema_check(struct sqlite *s, struct why *why)
{
    bool ours = false;
    int64_t applied = 0;
    enum err err = table_exists(s, "peal_migration", &ours, why);
    if (!err && ours)
        err = check_applied(s, &applied, why);
    if (!err && applied != (int64_t)countof(migrations)) {
        why_set(why, "database %s has not been set up by this release; start the server first",
                s->path);
        err = ERR_INVALID;
    }
    return err;
}

enum err sqlite_migrate(struct sqlite *s, struct why *why)
{
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
        err = check_applied(s, &applied, why);
    }
    while (!err && applied < (int64_t)countof(migrations))
        err = apply(s, ++applied, why);
    return err;
}
