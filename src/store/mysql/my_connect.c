/* SPDX-License-Identifier: Apache-2.0 */
/* Connections: the hosts of the URL in turn, beginning with the one that answered last (of a Galera
 * cluster: behind it), and the settings of a session.
 *
 * The writer's session ends by itself when it is silent within a transaction for ten seconds: the
 * server then rolls back and frees the rows of a center that is paused or cut off.
 *
 * A server of a Galera cluster that is cut off from the others, or not yet in step with them, lets
 * anybody in and refuses what is said then; the next host may be one of the others. It has what
 * they have committed a moment later than they: a session waits for that before it reads, so that
 * what was answered at one server holds at each. The beat does so once, when its session begins. */
#include "base/clock.h"
#include "store/mysql/my_db.h"
#include "store/sql/follow.h"
#include <errmsg.h>
#include <mysql.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHECK_MS = 2000, /* between looks whether pages are read at the primary still */
    IDLE_MS = 5000,  /* a connection that was silent for so long is tried before it is used */
    READ_S = 12,
    PAGE_READ_S = 5,
    BULK_READ_S = 60, /* of a slice of a table */
    BEAT_READ_S = 2,
    INDEX_READ_S = 86400, /* an index of a long log is made in one statement */
    WAIT_S = 10,          /* wait_timeout of the writer */
    PAGE_WAIT_S = 600,    /* and of handles for pages, which hold no locks */
};

static const char *of_path(const char *path)
{
    return path[0] ? path : NULL;
}

static void set_options(struct mydb *s, MYSQL *db)
{
    unsigned connect_s = (unsigned)s->url.connect_timeout_s;
    unsigned io_s = s->sql.bulk    ? BULK_READ_S
                    : s->read_only ? PAGE_READ_S
                    : s->beats     ? BEAT_READ_S
                    : s->adopt     ? INDEX_READ_S
                                   : READ_S;
    /* The library takes "localhost" for a socket in its own place, whatever the port is. */
    unsigned protocol = s->url.socket[0] ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
    my_bool on = 1, off = 0;
    mysql_options(db, MYSQL_OPT_PROTOCOL, &protocol);
    mysql_options(db, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
    mysql_options(db, MYSQL_OPT_READ_TIMEOUT, &io_s);
    mysql_options(db, MYSQL_OPT_WRITE_TIMEOUT, &io_s);
    mysql_options(db, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    mysql_options(db, MYSQL_OPT_LOCAL_INFILE, &off);
    if (s->url.tls != DB_TLS_OFF) {
        mysql_ssl_set(db, of_path(s->url.tls_key), of_path(s->url.tls_cert), of_path(s->url.tls_ca),
                      NULL, NULL);
        mysql_options(db, MYSQL_OPT_SSL_ENFORCE, &on);
        mysql_options(db, MYSQL_OPT_SSL_VERIFY_SERVER_CERT,
                      s->url.tls == DB_TLS_VERIFY ? &on : &off);
    }
}

static enum err session_set(struct mydb *s, MYSQL *db, struct why *why)
{
    char text[512];
    snprintf(text, sizeof(text),
             "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,PIPES_AS_CONCAT%s', "
             "time_zone = '+00:00', innodb_lock_wait_timeout = 2, wait_timeout = %d, "
             "autocommit = 1, %s%s = %s, %s = %d",
             s->maria ? "" : ",TIME_TRUNCATE_FRACTIONAL",
             s->read_only || s->sql.bulk ? PAGE_WAIT_S : WAIT_S,
             s->maria ? "" : "information_schema_stats_expiry = 0, ", /* ids that were given last */
             s->maria ? "tx_isolation" : "transaction_isolation",
             s->read_only ? "'REPEATABLE-READ'" : "'READ-COMMITTED'",
             s->maria ? "max_statement_time" : "max_execution_time",
             !s->read_only || s->sql.bulk ? 0
             : s->maria                   ? 1
                                          : 1000);
    return mysql_real_query(db, text, strlen(text))
               ? my_fail(s, mysql_errno(db), mysql_error(db), why)
               : OK;
}

/* The account is USER@HOST, and only USER may have an @ in it. */
static void account_set(struct mydb *s, const char *account)
{
    const char *at = account ? strrchr(account, '@') : NULL;
    s->account[0] = 0;
    if (at)
        snprintf(s->account, sizeof(s->account), "'%.*s'@'%s'", (int)(at - account), account,
                 at + 1);
}

/* Pages are read where edits are written: a standby may be behind. Of one host there is no choice,
 * and who copies whole tables may read them at a standby. */
static bool must_write(const struct mydb *s)
{
    return !s->read_only || (s->url.nhosts > 1 && !s->sql.bulk);
}

static bool is_on(const char *value)
{
    return value && (strcmp(value, "1") == 0 || strcmp(value, "ON") == 0);
}

/* A standby would refuse the first write: the next host may be the primary server. The account is
 * asked for in the same round trip: errors about rights name it; so are the distance of ids, the
 * server's number, which no replica has as well, and whether it is one of a Galera cluster, and
 * ready. Where commits are certified none is lost. */
static enum err usable(struct mydb *s, MYSQL *db, struct why *why)
{
#define ASKED "SELECT @@global.read_only, current_user(), @@session.auto_increment_increment, "
    static const char maria[] =
        ASKED "@@global.server_id, (SELECT variable_value FROM information_schema.global_variables "
              "WHERE variable_name = 'wsrep_on'), (SELECT variable_value FROM "
              "information_schema.global_status WHERE variable_name = 'wsrep_ready')";
    static const char other[] = ASKED "@@global.server_uuid, NULL, NULL";
#undef ASKED
    const char *text = s->maria ? maria : other;
    s->checked_ms = clock_boot_ms();
    MYSQL_RES *rows = NULL;
    if (mysql_real_query(db, text, strlen(text)) || !(rows = mysql_store_result(db)))
        return my_fail(s, mysql_errno(db), mysql_error(db), why);
    MYSQL_ROW row = mysql_fetch_row(rows);
    bool standby = row && row[0] && strcmp(row[0], "0") != 0 && must_write(s);
    account_set(s, row ? row[1] : NULL);
    s->id_step = row && row[2] ? strtoll(row[2], NULL, 10) : 1;
    s->sql.certified = row && is_on(row[4]);
    bool apart = s->sql.certified && !is_on(row[5]);
    if (!s->beats && !s->sql.bulk && !s->read_only)
        sql_follow_connected(&s->sql, row && !s->sql.certified ? row[3] : "");
    mysql_free_result(rows);
    if (standby)
        return my_fail(s, 1290, "the server is read-only", why);
    return apart ? my_fail(s, MY_NOT_READY, "WSREP has not yet prepared node for application use",
                           why)
                 : OK;
}

/* What the other servers have committed before is here: now, and for a handle that does not beat
 * before each transaction and each read outside of one. */
static enum err in_step(struct mydb *s, MYSQL *db, struct why *why)
{
    static const char *const texts[] = { "SET SESSION wsrep_sync_wait = 1",
                                         "SELECT count(*) FROM information_schema.schemata",
                                         "SET SESSION wsrep_sync_wait = 0" };
    size_t n = !s->sql.certified ? 0 : s->beats ? 3 : 2;
    for (size_t i = 0; i < n; i++) {
        MYSQL_RES *rows = NULL;
        if (mysql_real_query(db, texts[i], strlen(texts[i])) ||
            (!(rows = mysql_store_result(db)) && mysql_errno(db)))
            return my_fail(s, mysql_errno(db), mysql_error(db), why);
        if (rows)
            mysql_free_result(rows);
    }
    return OK;
}

static enum err connect_one(struct mydb *s, const struct db_host *host, struct why *why)
{
    const struct db_url *u = &s->url;
    MYSQL *db = mysql_init(NULL);
    if (!db) {
        why_set(why, "there is no memory for a connection");
        return ERR_NOMEM;
    }
    set_options(s, db);
    bool local = u->socket[0];
    enum err err = OK;
    if (!mysql_real_connect(db, local ? NULL : host->name, u->user, u->password, u->database,
                            local ? 0 : host->port, local ? u->socket : NULL, CLIENT_FOUND_ROWS))
        err = my_fail(s, mysql_errno(db), mysql_error(db), why);
    /* Where no certificate is checked, the library goes on without TLS if the server has none. */
    if (!err && u->tls != DB_TLS_OFF && !mysql_get_ssl_cipher(db))
        err = my_fail(s, CR_SSL_CONNECTION_ERROR, "the server speaks no TLS", why);
    if (!err) {
        const char *version = mysql_get_server_info(db);
        s->maria = version && strstr(version, "MariaDB");
        err = session_set(s, db, why);
    }
    if (!err)
        err = usable(s, db, why);
    if (!err)
        err = in_step(s, db, why);
    if (err) {
        mysql_close(db);
        return err;
    }
    s->db = db;
    s->generation++;
    return OK;
}

static enum err connect_any(struct mydb *s, struct why *why)
{
    enum err err = ERR_STORE;
    struct why last = { "" };
    for (int i = 0; i < s->url.nhosts; i++) {
        int at = (s->host + i) % s->url.nhosts;
        why_clear(&last);
        err = connect_one(s, &s->url.hosts[at], &last);
        if (!err) {
            s->host = at;
            return OK;
        }
    }
    why_set(why, "%s", last.text);
    return err;
}

/* One of several equal servers that has hung up, or says nothing, is asked last. */
void my_disconnect(struct mydb *s)
{
    if (s->db)
        mysql_close(s->db);
    if (s->db && s->sql.certified && s->url.nhosts > 1)
        s->host = (s->host + 1) % s->url.nhosts;
    s->db = NULL;
    s->generation++;
}

/* Nothing was asked: the server has ended the connection. */
static bool has_word(struct mydb *s)
{
    struct pollfd p = { .fd = mysql_get_socket(s->db), .events = POLLIN };
    return poll(&p, 1, 0) > 0;
}

enum err my_ready(struct mydb *s, struct why *why)
{
    int64_t now_ms = clock_boot_ms();
    if (s->db && (now_ms - s->used_ms > IDLE_MS || has_word(s)) && mysql_ping(s->db))
        my_disconnect(s);
    s->used_ms = now_ms;
    struct why ignored = { "" };
    if (s->db && s->read_only && must_write(s) && now_ms - s->checked_ms > CHECK_MS &&
        usable(s, s->db, &ignored))
        my_disconnect(s); /* it has become a standby, which the writer is told by its next write */
    return s->db ? OK : connect_any(s, why);
}

enum err my_exec(struct mydb *s, const char *text, struct why *why)
{
    enum err err = OK;
    if (!s->in_transaction && !s->in_page)
        err = my_ready(s, why);
    if (err)
        return err;
    if (!s->db)
        return my_fail(s, 2006, "the connection was lost", why);
    if (!mysql_real_query(s->db, text, strlen(text)))
        return OK;
    unsigned code = mysql_errno(s->db);
    err = my_fail(s, code, mysql_error(s->db), why);
    if (my_gone(code))
        my_disconnect(s);
    return err;
}
