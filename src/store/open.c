/* SPDX-License-Identifier: Apache-2.0 */
/* Which engine a URL means. This file knows all of them, and none of them knows it. */
#include "base/clock.h"
#include "base/log.h"
#include "store/backup.h"
#include "store/backup_name.h"
#ifdef PEAL_MYSQL
#include "store/mysql/mysql.h"
#endif
#ifdef PEAL_POSTGRES
#include "store/postgres/postgres.h"
#endif
#include "store/sqlite/sqlite_db.h"
#include "store/url.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool sqlite_is(const char *url)
{
    return strncmp(url, "sqlite:", 7) == 0 && url[7];
}

/* The file of an SQLite URL, for what only a database in a file has; NULL for another one. A URL
 * may carry a password: it is not repeated. */
static const char *sqlite_path(const char *url, const char *what, struct why *why)
{
    if (sqlite_is(url))
        return url + 7;
    why_set(why,
            "%s is for a database in a file (sqlite:FILE); a database server has tools of its "
            "own for that: mariadb-backup or mysqldump, pg_basebackup or pg_dump",
            what);
    return NULL;
}

/* An engine adds itself here; a release may be built without it. */
static enum err server_open(const struct db_url *u, const struct store_options *options,
                            struct store **ret, struct why *why)
{
    (void)options;
    (void)ret;
#ifdef PEAL_MYSQL
    if (u->kind == DB_MYSQL)
        return mysql_open(u, options, ret, why);
#endif
#ifdef PEAL_POSTGRES
    if (u->kind == DB_POSTGRES)
        return postgres_open(u, options, ret, why);
#endif
    if (u->kind == DB_POSTGRES)
        why_set(why, "db: this release was built without PostgreSQL (libpq)");
    else
        why_set(why, "db: this release was built without MySQL and MariaDB (libmariadb)");
    return ERR_INVALID;
}

static enum err server_open_url(const char *url, const struct store_options *options,
                                struct store **ret, struct why *why)
{
    struct db_url u;
    enum err err = db_url_parse(url, &u, why);
    if (err)
        return err;
    if (u.ignored[0] && !(options && options->read_only))
        log_warn("store", "options of the database's URL that mean nothing here: %s", u.ignored);
    const char *password = options ? options->password : NULL;
    err = db_url_password(&u, password ? password : getenv("PEAL_DB_PASSWORD"), why);
    if (!err)
        err = server_open(&u, options, ret, why);
    db_url_wipe(&u);
    return err;
}

enum err store_open(const char *url, const struct store_options *options, struct store **ret,
                    struct why *why)
{
    if (sqlite_is(url))
        return sqlite_open(url + 7, options, ret, why);
    if (db_url_is(url))
        return server_open_url(url, options, ret, why);
    why_set(why, "db: this is sqlite:FILE, mysql://…, postgres://… or the jdbc: URL of one");
    return ERR_INVALID;
}

enum err store_compact(const char *url, store_progress_fn *progress, void *ctx,
                       struct store_compacted *ret, struct why *why)
{
    const char *path = sqlite_path(url, "compacting", why);
    return path ? store_sqlite_compact(path, progress, ctx, ret, why) : ERR_INVALID;
}

enum err store_backup(const char *url, const char *to, store_step_fn *step, void *ctx,
                      struct store_backup *ret, struct why *why)
{
    char file[PATH_MAX], name[BACKUP_NAME_SIZE];
    struct stat st;
    size_t n = strlen(to);
    bool ends = n && to[n - 1] == '/';
    bool folder = ends || (stat(to, &st) == 0 && S_ISDIR(st.st_mode));
    backup_name(clock_wall_ms(), name);
    const char *between = folder && !ends ? "/" : "";
    int size = snprintf(file, sizeof(file), "%s%s%s", to, between, folder ? name : "");
    if (size >= (int)sizeof(file) - 16) {
        why_set(why, "the name of the file is too long");
        return ERR_TOOBIG;
    }
    const char *path = sqlite_path(url, "a backup", why);
    return path ? store_sqlite_backup(path, file, step, ctx, ret, why) : ERR_INVALID;
}

enum err store_restore(const char *url, const char *from, store_step_fn *step, void *ctx,
                       struct store_restored *ret, struct why *why)
{
    const char *path = sqlite_path(url, "putting a backup back", why);
    return path ? store_sqlite_restore(path, from, step, ctx, ret, why) : ERR_INVALID;
}

void store_close(struct store *s)
{
    if (s)
        s->ops->close(s);
}

enum err store_tend(struct store *s, struct why *why)
{
    return s->ops == &store_sqlite_ops ? store_sqlite_checkpoint(s, NULL, why) : OK;
}
