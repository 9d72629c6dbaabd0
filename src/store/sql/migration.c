/* SPDX-License-Identifier: Apache-2.0 */
/* Which migrations a database remembers, and whether this release may go on with them. */
#include "store/sql/migration.h"
#include "base/clock.h"
#include "base/secret.h"
#include "base/str.h"
#include "store/release.h"
#include "store/sql/rivals.h"
#include <string.h>

#define OLDEST "\n-- oldest: "

static void checksum(const char *text, char hex[65])
{
    unsigned char digest[32];
    sha256(text, strlen(text), digest);
    hex_text(digest, sizeof(digest), hex);
}

static enum err newer(const struct sql_migrations *m, int64_t n, struct why *why)
{
    why_set(why,
            "database %s was written by a newer release (migration %lld, this one knows %lld); "
            "start that release, or restore a backup from before the upgrade",
            m->database, (long long)n, (long long)m->n);
    return ERR_INVALID;
}

static enum err check_one(const struct sql_migrations *m, int64_t n, const char *sha,
                          struct why *why)
{
    char ours[65];
    if (n > m->n && m->shared)
        return OK; /* check_oldest */
    if (n < 1 || n > m->n)
        return newer(m, n, why);
    checksum(m->texts[n - 1], ours);
    if (strcmp(ours, sha) == 0)
        return OK;
    why_set(why,
            "database %s: migration %lld was applied with another text (SHA-256 %.64s, this "
            "release has %s); it belongs to another build, start that one",
            m->database, (long long)n, sha[0] ? sha : "missing", ours);
    return ERR_INVALID;
}

/* All of ours are applied, among them the one that has made the column. The row of the last one
 * says so as well where a newer release has begun to break the tables. */
static enum err check_oldest(struct sql *s, const struct sql_migrations *m, int64_t applied,
                             struct why *why)
{
    struct sql_query *q;
    int64_t oldest = 0;
    enum err err = sql_query(s, "SELECT max(oldest) FROM peal_migration", &q, why);
    if (!err)
        err = sql_one(q, 0, &oldest, why);
    if (err || oldest <= store_release.protocol)
        return err;
    struct why text = { "" };
    err = newer(m, applied, &text);
    why_set(why, "%s; it wants protocol %lld, and this release speaks %d", text.text,
            (long long)oldest, store_release.protocol);
    return err;
}

enum err sql_migrations_check(struct sql *s, const struct sql_migrations *m, int64_t *ret_applied,
                              struct why *why)
{
    struct sql_query *q;
    int64_t last = 0;
    bool row = true;
    enum err err = sql_query(s, "SELECT n, sha256 FROM peal_migration ORDER BY n", &q, why);
    while (!err && !(err = sql_next(q, &row, why)) && row) {
        char sha[65] = "";
        int64_t n = sql_i64(q, 0, 0);
        sql_text_copy(q, 1, sha, sizeof(sha));
        err = check_one(m, n, sha, why);
        if (!err && n != last + 1) {
            why_set(why, "database %s: migration %lld is missing between others; restore a backup",
                    m->database, (long long)last + 1);
            err = ERR_INVALID;
        }
        last = n;
        if (err)
            sql_reset(q);
    }
    if (!err && m->shared && last >= m->n)
        err = check_oldest(s, m, last, why);
    if (!err)
        *ret_applied = last;
    return err;
}

enum err sql_migrations_complete(const struct sql_migrations *m, int64_t applied, struct why *why)
{
    if (applied >= m->n)
        return OK;
    why_set(why, "database %s has not been set up by this release; start the server first",
            m->database);
    return ERR_INVALID;
}

/* Of a breaking migration; 0 for a widening one. */
static int64_t oldest_of(const char *text)
{
    int64_t oldest = 0;
    const char *line = strstr(text, OLDEST);
    if (!line)
        return 0;
    struct slice number = slice_of(line + strlen(OLDEST), strcspn(line + strlen(OLDEST), "\n"));
    return parse_i64(number, &oldest) ? oldest : INT64_MAX;
}

enum err sql_migration_begin(struct sql *s, const struct sql_migrations *m, int64_t n,
                             struct why *why)
{
    int64_t oldest = oldest_of(m->texts[n - 1]);
    return oldest ? sql_rivals_leave(s, n - 1, oldest, why) : OK;
}

enum err sql_migration_remember(struct sql *s, const struct sql_migrations *m, int64_t n,
                                struct why *why)
{
    struct sql_query *q;
    char sha[65];
    int64_t oldest = oldest_of(m->texts[n - 1]);
    checksum(m->texts[n - 1], sha);
    enum err err = sql_query(
        s,
        oldest
            ? "INSERT INTO peal_migration (n, sha256, applied_ms, oldest) VALUES (?1, ?2, ?3, ?4)"
            : "INSERT INTO peal_migration (n, sha256, applied_ms) VALUES (?1, ?2, ?3)",
        &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, n);
    sql_bind_text(q, 2, sha);
    sql_bind_i64(q, 3, clock_wall_ms());
    if (oldest)
        sql_bind_i64(q, 4, oldest);
    return sql_do(q, why);
}
