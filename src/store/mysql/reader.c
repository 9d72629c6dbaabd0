/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are streamed (mysql_use_result), so that a table of any length costs the memory of one row.
 */
#include "store/mysql/reader.h"
#include "base/mem.h"
#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <stdlib.h>

enum { READ_S = 30, COLUMNS_MAX = 32 };

struct reader {
    MYSQL *db;
};

static bool is_gone(unsigned code)
{
    return code == CR_SERVER_GONE_ERROR || code == CR_SERVER_LOST || code == CR_CONN_HOST_ERROR ||
           code == CR_CONNECTION_ERROR || code == CR_UNKNOWN_HOST || code == 1053 || code == 1927 ||
           code == 4031;
}

static enum err fail(MYSQL *db, const char *what, struct why *why)
{
    unsigned code = mysql_errno(db);
    why_set(why, "%s: %s (%u)", what, mysql_error(db), code);
    return is_gone(code) ? ERR_NET : ERR_STORE;
}

static enum err all(struct reader *r, const char *const *texts, size_t n, const char *what,
                    struct why *why)
{
    for (size_t i = 0; i < n; i++)
        if (mysql_query(r->db, texts[i]))
            return fail(r->db, what, why);
    return OK;
}

static enum err settings(struct reader *r, struct why *why)
{
    static const char *const texts[] = {
        "SET SESSION TRANSACTION READ ONLY",
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        "SET autocommit = 1",
    };
    return all(r, texts, countof(texts), "the session cannot be made read-only", why);
}

enum err reader_snapshot(struct reader *r, struct why *why)
{
    static const char *const texts[] = {
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT",
    };
    return all(r, texts, countof(texts), "a snapshot cannot be taken", why);
}

static enum err refused(MYSQL *db, const char *host, struct why *why)
{
    enum err err = fail(db, host, why);
    unsigned code = mysql_errno(db);
    bool setting = code == ER_ACCESS_DENIED_ERROR || code == ER_DBACCESS_DENIED_ERROR ||
                   code == ER_BAD_DB_ERROR;
    return setting ? ERR_INVALID : err;
}

static void options(MYSQL *db, const struct db_url *u)
{
    unsigned connect_s = (unsigned)u->connect_timeout_s, read_s = READ_S;
    unsigned protocol = u->socket[0] ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
    my_bool yes = 1;
    mysql_optionsv(db, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
    mysql_optionsv(db, MYSQL_OPT_READ_TIMEOUT, &read_s);
    mysql_optionsv(db, MYSQL_OPT_WRITE_TIMEOUT, &read_s);
    mysql_optionsv(db, MYSQL_OPT_PROTOCOL, &protocol);
    mysql_optionsv(db, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (u->tls != DB_TLS_OFF)
        mysql_optionsv(db, MYSQL_OPT_SSL_ENFORCE, &yes);
    if (u->tls == DB_TLS_VERIFY)
        mysql_optionsv(db, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
    if (u->tls_ca[0])
        mysql_optionsv(db, MYSQL_OPT_SSL_CA, u->tls_ca);
    if (u->tls_cert[0])
        mysql_optionsv(db, MYSQL_OPT_SSL_CERT, u->tls_cert);
    if (u->tls_key[0])
        mysql_optionsv(db, MYSQL_OPT_SSL_KEY, u->tls_key);
}

static enum err open_host(const struct db_url *u, const struct db_host *host, struct reader **ret,
                          struct why *why)
{
    MYSQL *db = mysql_init(NULL);
    if (!db)
        return ERR_NOMEM;
    options(db, u);
    bool local = u->socket[0] != '\0';
    if (!mysql_real_connect(db, local ? NULL : host->name, u->user[0] ? u->user : NULL,
                            u->password[0] ? u->password : NULL, u->database,
                            local ? 0 : host->port, local ? u->socket : NULL, 0)) {
        enum err err = refused(db, local ? u->socket : host->name, why);
        mysql_close(db);
        return err;
    }
    /* Where no certificate is checked, the library goes on without TLS if the server has none. */
    if (u->tls != DB_TLS_OFF && !mysql_get_ssl_cipher(db)) {
        why_set(why, "%s: the server speaks no TLS, which the URL asks for",
                local ? u->socket : host->name);
        mysql_close(db);
        return ERR_INVALID;
    }
    struct reader *r = mem_new(sizeof(*r));
    r->db = db;
    enum err err = settings(r, why);
    if (err)
        reader_free(r);
    else
        *ret = r;
    return err;
}

enum err reader_open(const struct db_url *u, struct reader **ret, struct why *why)
{
    if (u->kind != DB_MYSQL) {
        why_set(why, "XXL-JOB's database is MySQL or MariaDB: mysql://user@host/database, or its "
                     "jdbc:mysql: URL");
        return ERR_INVALID;
    }
    enum err err = ERR_NET;
    for (int i = 0; err == ERR_NET && i < u->nhosts; i++) {
        why_clear(why);
        err = open_host(u, &u->hosts[i], ret, why);
    }
    return err;
}

void reader_free(struct reader *r)
{
    if (!r)
        return;
    mysql_close(r->db);
    free(r);
}

static void give_row(MYSQL_RES *result, MYSQL_ROW row, layout_row_fn *fn, void *ctx)
{
    struct slice values[COLUMNS_MAX];
    unsigned long *sizes = mysql_fetch_lengths(result);
    unsigned n = mysql_num_fields(result);
    for (unsigned i = 0; i < COLUMNS_MAX; i++)
        values[i] = i < n && row[i] ? slice_of(row[i], sizes[i]) : slice_of(NULL, 0);
    fn(ctx, values);
}

enum err reader_query(void *connection, const char *sql, layout_row_fn *fn, void *ctx,
                      struct why *why)
{
    struct reader *r = connection;
    if (mysql_query(r->db, sql))
        return fail(r->db, "a query failed", why);
    MYSQL_RES *result = mysql_use_result(r->db);
    if (!result)
        return mysql_errno(r->db) ? fail(r->db, "a query failed", why) : OK;
    for (MYSQL_ROW row; (row = mysql_fetch_row(result));)
        give_row(result, row, fn, ctx);
    enum err err = mysql_errno(r->db) ? fail(r->db, "a query was cut off", why) : OK;
    mysql_free_result(result);
    return err;
}
