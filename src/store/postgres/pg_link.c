/* SPDX-License-Identifier: Apache-2.0 */
/* The connection: made to the first host of the URL that takes writes, with the session's settings,
 * and given up when an answer does not come in time. */
#include "base/clock.h"
#include "base/mem.h"
#include "store/postgres/pg.h"
#include "store/sql/follow.h"
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERSION_MIN = 150000,
};

/* ---- waiting --------------------------------------------------------------------------------- */

/* False: the time is over. */
static bool wait_for(PGconn *db, short events, int64_t until_ms)
{
    struct pollfd p = { .fd = PQsocket(db), .events = events };
    for (;;) {
        int64_t left = until_ms - clock_boot_ms();
        if (left <= 0)
            return false;
        int n = poll(&p, 1, left > 1000 ? 1000 : (int)left);
        if (n > 0)
            return true;
    }
}

void pg_hang_up(struct pg *s)
{
    if (s->db)
        PQfinish(s->db);
    s->db = NULL;
    s->streaming = NULL;
}

static enum err too_late(struct pg *s, struct why *why)
{
    enum err err = pg_fail_as(s, ERR_STORE, "it has not answered in time", why);
    pg_hang_up(s);
    return err;
}

static enum err gone(struct pg *s, struct why *why)
{
    enum err err = pg_fail(s, NULL, why);
    pg_hang_up(s);
    return err;
}

enum err pg_next(struct pg *s, PGresult **ret, struct why *why)
{
    int64_t until_ms = clock_boot_ms() + s->wait_ms;
    *ret = NULL;
    if (!s->db)
        return pg_fail(s, NULL, why);
    for (;;) {
        int unsent = PQflush(s->db);
        if (unsent < 0)
            return gone(s, why);
        if (!unsent && !PQisBusy(s->db))
            break;
        if (!wait_for(s->db, (short)(POLLIN | (unsent ? POLLOUT : 0)), until_ms))
            return too_late(s, why);
        if (!PQconsumeInput(s->db))
            return gone(s, why);
    }
    *ret = PQgetResult(s->db);
    if (PQstatus(s->db) == CONNECTION_OK)
        return OK;
    enum err err = pg_fail(s, *ret, why);
    PQclear(*ret);
    *ret = NULL;
    pg_hang_up(s);
    return err;
}

enum err pg_quiet(struct pg *s, struct why *why)
{
    return s->streaming ? s->keep(s->streaming, why) : OK;
}

/* All results of what was sent; the first error counts. */
static enum err finish(struct pg *s, struct why *why)
{
    enum err err = OK;
    for (;;) {
        PGresult *r;
        enum err gone_err = pg_next(s, &r, why);
        if (gone_err || !r)
            return gone_err ? gone_err : err;
        ExecStatusType status = PQresultStatus(r);
        if (!err && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            err = pg_fail(s, r, why);
        if (status == PGRES_COMMAND_OK)
            s->changes = strtoll(PQcmdTuples(r), NULL, 10);
        PQclear(r);
    }
}

enum err pg_exec(struct pg *s, const char *text, struct why *why)
{
    enum err err = pg_quiet(s, why);
    if (err)
        return err;
    if (!s->db || !PQsendQuery(s->db, text))
        return gone(s, why);
    return finish(s, why);
}

/* ---- connecting ------------------------------------------------------------------------------ */

/* What a session of ours needs, whatever the server's own settings are. Every statement of the
 * writer has an index to go by: a plan that was made when the tables were empty must be right when
 * they are full, and is kept. */
#define SETTINGS                                                                                   \
    "SET default_transaction_isolation = 'read committed'; SET lock_timeout = '2s'; "              \
    "SET statement_timeout = '10s'; SET idle_in_transaction_session_timeout = '%ds'; "             \
    "SET synchronous_commit = on; SET timezone = 'UTC'; SET bytea_output = 'hex'; "                \
    "SET standard_conforming_strings = on; SET enable_hashjoin = off; "                            \
    "SET enable_mergejoin = off; SET jit = off; "

#define READER "SET default_transaction_read_only = on"
#define WRITER "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan"

enum err pg_session_name(struct pg *s, struct why *why)
{
    char text[100];
    snprintf(text, sizeof(text), "SET application_name = 'peal %lld %lld'", (long long)s->sql.node,
             (long long)s->sql.epoch);
    return pg_exec(s, text, why);
}

static enum err configure(struct pg *s, struct why *why)
{
    char text[700];
    snprintf(text, sizeof(text), s->read_only ? SETTINGS READER : SETTINGS WRITER,
             s->read_only ? 10 : 5);
    enum err err = pg_exec(s, text, why);
    if (!err && s->sql.bulk)
        err = pg_exec(s,
                      "SET statement_timeout = '60s'; "
                      "SET idle_in_transaction_session_timeout = '60s'",
                      why);
    return err ? err : pg_session_name(s, why);
}

/* Cuts ":  28P01" out of what the library says of a server's refusal, SEVERITY:  SQLSTATE: TEXT
 * (the severity and the text are of the server's language). ret is empty where there is none: then
 * the library speaks, not the server. */
static void cut_state(char *said, char ret[6])
{
    enum { STATE = 5 };
    static const char of_state[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    ret[0] = '\0';
    for (char *at = strstr(said, ":  "); at && !ret[0]; at = strstr(at + 1, ":  ")) {
        char *state = at + 3;
        if (strspn(state, of_state) != STATE || strncmp(state + STATE, ": ", 2) != 0)
            continue;
        memcpy(ret, state, STATE);
        ret[STATE] = '\0';
        memmove(at, state + STATE, strlen(state + STATE) + 1);
    }
}

/* What the library itself says, and servers whose SQLSTATE says little (poolers answer many things
 * by 08P01). The program sets no locale, so the library's own words are English. */
static enum err class_by_words(const char *said)
{
    static const struct {
        const char *word;
        enum err err;
    } words[] = { { "read-only", ERR_READONLY },
                  { "hot standby", ERR_READONLY },
                  { "authentication", ERR_INVALID },
                  { "pg_hba.conf", ERR_INVALID },
                  { "does not exist", ERR_INVALID },
                  { "certificate", ERR_INVALID },
                  { "SSL", ERR_INVALID },
                  { "too many", ERR_BUSY } };
    enum err err = ERR_STORE;
    for (size_t i = countof(words); i-- > 0;)
        if (strstr(said, words[i].word))
            err = words[i].err;
    return err;
}

static const char *advice_of(const char *said, const char *state, enum err err)
{
    bool tls =
        !state[0] && err == ERR_INVALID && (strstr(said, "certificate") || strstr(said, "SSL"));
    return tls ? "see tls, tls-ca, tls-cert and tls-key of the URL, and the server's certificate"
               : pg_advice(err);
}

/* The only right that the server looks at before there is a session. */
static void advise_connect(const struct pg *s, char *to, size_t size)
{
    snprintf(to, size, "its owner mends it with: GRANT CONNECT ON DATABASE \"%s\" TO \"%s\"",
             s->url.database, s->url.user);
}

/* Why there is no connection. */
static enum err refused(struct pg *s, struct why *why)
{
    char said[200], state[6], text[300], grant[400];
    struct slice rest = slice_trim(slice_text(s->db ? PQerrorMessage(s->db) : "")), line;
    if (!slice_cut(&rest, '\n', &line))
        line = slice_text("there is no memory for a connection");
    text_copy(said, sizeof(said), line);
    cut_state(said, state);
    enum err err = state[0] ? pg_class(state) : ERR_STORE;
    if (err == ERR_STORE)
        err = class_by_words(said);
    snprintf(text, sizeof(text), state[0] ? "%s (%s)" : "%s", said, state);
    advise_connect(s, grant, sizeof(grant));
    bool denied = strcmp(state, "42501") == 0;
    err = pg_fail_with(s, err, text, denied ? grant : advice_of(said, state, err), why);
    pg_hang_up(s);
    return err;
}

/* Is the server one that the engine knows? */
static enum err check_server(struct pg *s, struct why *why)
{
    const char *encoding = PQparameterStatus(s->db, "server_encoding");
    char text[200] = "";
    if (PQserverVersion(s->db) < VERSION_MIN)
        snprintf(text, sizeof(text), "it is of release %d; 15 or newer is needed",
                 PQserverVersion(s->db) / 10000);
    else if (!encoding || strcmp(encoding, "UTF8") != 0)
        snprintf(text, sizeof(text),
                 "its encoding is %.40s; make one with: CREATE DATABASE name ENCODING 'UTF8' "
                 "TEMPLATE template0",
                 encoding ? encoding : "unknown");
    return text[0] ? pg_fail_as(s, ERR_INVALID, text, why) : OK;
}

/* What the server says beside its answers: a table that is there, and the like. */
static void notice(void *ctx, const char *text)
{
    (void)ctx;
    (void)text;
}

/* Which copy of the data this is: a standby that is promoted begins another time line. What does
 * not tell that (a service that hides it) is taken for the same one always. */
static enum err server_look(struct pg *s, struct why *why)
{
    char name[80] = "";
    if (s->read_only || s->sql.bulk)
        return OK;
    if (!PQsendQuery(s->db, "SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || "
                            "left(pg_walfile_name(pg_current_wal_lsn()), 8)"))
        return gone(s, why);
    for (;;) {
        PGresult *r;
        enum err err = pg_next(s, &r, why);
        if (err)
            return err;
        if (!r)
            break;
        if (PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) == 1)
            text_copy(name, sizeof(name), slice_text(PQgetvalue(r, 0, 0)));
        PQclear(r);
    }
    sql_follow_connected(&s->sql, name);
    return OK;
}

/* One host. */
static enum err connect_to(struct pg *s, const struct db_host *host, struct why *why)
{
    const struct db_url *u = &s->url;
    char port[8];
    snprintf(port, sizeof(port), "%d", host->port);
    const char *mode = u->tls == DB_TLS_OFF      ? "disable"
                       : u->tls == DB_TLS_VERIFY ? "verify-full"
                                                 : "require";
    const char *const pairs[][2] = {
        { "host", u->socket[0] ? u->socket : host->name },
        { "port", port },
        { "user", u->user },
        { "password", u->has_password ? u->password : "" },
        { "dbname", u->database },
        { "sslmode", mode },
        { "sslrootcert", u->tls_ca },
        { "sslcert", u->tls_cert },
        { "sslkey", u->tls_key },
        { "target_session_attrs", "read-write" },
        { "client_encoding", "UTF8" },
        { "fallback_application_name", "peal" },
        { "keepalives_idle", "2" },
        { "keepalives_interval", "2" },
        { "keepalives_count", "3" },
        { "tcp_user_timeout", "5000" },
    };
    const char *keys[countof(pairs) + 1], *values[countof(pairs) + 1];
    int n = 0;
    for (size_t i = 0; i < countof(pairs); i++)
        if (pairs[i][1][0]) {
            keys[n] = pairs[i][0];
            values[n++] = pairs[i][1];
        }
    keys[n] = values[n] = NULL;
    int64_t until_ms = clock_boot_ms() + u->connect_timeout_s * INT64_C(1000);
    s->db = PQconnectStartParams(keys, values, 0);
    if (s->db) /* so that a refusal has its SQLSTATE in it, which is of no language */
        PQsetErrorVerbosity(s->db, PQERRORS_VERBOSE);
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    while (s->db && PQstatus(s->db) != CONNECTION_BAD && status != PGRES_POLLING_OK &&
           status != PGRES_POLLING_FAILED) {
        if (!wait_for(s->db, status == PGRES_POLLING_READING ? POLLIN : POLLOUT, until_ms))
            return too_late(s, why);
        status = PQconnectPoll(s->db);
    }
    if (!s->db || PQstatus(s->db) != CONNECTION_OK || PQsetnonblocking(s->db, 1))
        return refused(s, why);
    PQsetErrorVerbosity(s->db, PQERRORS_DEFAULT);
    PQsetNoticeProcessor(s->db, notice, NULL);
    s->life++;
    enum err err = check_server(s, why);
    if (!err)
        err = configure(s, why);
    return err ? err : server_look(s, why);
}

static enum err connect_any(struct pg *s, struct why *why)
{
    enum err err = ERR_STORE;
    struct why last = { "" };
    for (int i = 0; i < s->url.nhosts; i++) {
        why_clear(&last);
        err = connect_to(s, &s->url.hosts[i], &last);
        if (!err)
            return OK;
        pg_hang_up(s);
    }
    why_set(why, "%s", last.text);
    return err;
}

/* Nothing was asked: the server has said something, or has ended the connection. */
static bool has_word(PGconn *db)
{
    struct pollfd p = { .fd = PQsocket(db), .events = POLLIN };
    return poll(&p, 1, 0) > 0;
}

enum err pg_ready(struct pg *s, struct why *why)
{
    if (s->db && !s->in_transaction && !s->streaming && has_word(s->db)) {
        /* the first may read what the server said last, the second that it has gone */
        if (PQconsumeInput(s->db))
            (void)!PQconsumeInput(s->db);
        if (PQstatus(s->db) != CONNECTION_OK)
            pg_hang_up(s);
    }
    if (s->db)
        return OK;
    return s->in_transaction ? pg_fail(s, NULL, why) : connect_any(s, why);
}
