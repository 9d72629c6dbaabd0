/* SPDX-License-Identifier: Apache-2.0 */
/* What PostgreSQL's errors mean: by SQLSTATE, which no release and no language changes. */
#include "store/postgres/pg.h"
#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#define NO_RIGHT_ADVICE                                                                            \
    "this user lacks a right there: the owner of the table grants it, and only the owner alters "  \
    "the table"
#define NO_TABLE_ADVICE "a table of Peal's is gone: restore a backup"

static const struct {
    const char *sqlstate; /* or its class */
    enum err err;
} classes[] = {
    { "40P01", ERR_CONFLICT }, { "40001", ERR_CONFLICT }, { "40003", ERR_CONFLICT },
    { "55P03", ERR_BUSY },     { "53300", ERR_BUSY },     { "57P01", ERR_STORE },
    { "57P02", ERR_STORE },    { "57P03", ERR_STORE },    { "08", ERR_STORE },
    { "25006", ERR_READONLY }, { "53100", ERR_FULL },     { "28", ERR_INVALID },
    { "42501", ERR_INVALID },  { "42P01", ERR_INVALID },  { "3D000", ERR_INVALID },
    { "23505", ERR_EXISTS },   { "57014", ERR_TIMEOUT },  { "54000", ERR_TOOBIG },
    { "XX001", ERR_CORRUPT },  { "XX002", ERR_CORRUPT },
};

enum err pg_class(const char *sqlstate)
{
    for (size_t i = 0; sqlstate && i < sizeof(classes) / sizeof(*classes); i++)
        if (strncmp(sqlstate, classes[i].sqlstate, strlen(classes[i].sqlstate)) == 0)
            return classes[i].err;
    return ERR_STORE;
}

const char *pg_advice(enum err err)
{
    switch (err) {
    case ERR_CONFLICT:
        return "another transaction was in the way; the same one is made again";
    case ERR_BUSY:
        return "another session holds a lock (pg_locks, pg_stat_activity), or there are too many "
               "connections (max_connections)";
    case ERR_READONLY:
        return "this server takes no writes; name the primary, or all servers, in the URL";
    case ERR_FULL:
        return "make room on its disk; nothing that was acknowledged is lost";
    case ERR_INVALID:
        return "see that the user, its password and its rights on the database are right";
    case ERR_EXISTS:
        return "there is such a row already";
    case ERR_TIMEOUT:
        return "it took longer than it may; narrow it by job or by time";
    case ERR_TOOBIG:
        return "a row or a statement is larger than the server takes";
    case ERR_CORRUPT:
        return "stop the server, keep a copy of its files, and restore a backup";
    case ERR_STORE:
        return "is the server up, and do the address, the user, the password and the database of "
               "the URL fit? A standby takes no writes: name the primary";
    default:
        return "see the log of the database";
    }
}

enum err pg_fail_with(struct pg *s, enum err err, const char *text, const char *advice,
                      struct why *why)
{
    struct why full = { "" };
    why_set(&full, "database %s: %s; %s", s->name, text, advice);
    why_set(why, "%s", full.text);
    if (s->in_transaction && !s->lost) {
        s->lost = err;
        snprintf(s->lost_text, sizeof(s->lost_text), "%s", full.text);
    }
    return err;
}

enum err pg_fail_as(struct pg *s, enum err err, const char *text, struct why *why)
{
    return pg_fail_with(s, err, text, pg_advice(err), why);
}

/* The first line of a message of the library, without what it begins with. */
static void first_line(const char *from, char *to, size_t size)
{
    struct slice rest = slice_trim(slice_text(from)), line;
    if (!slice_cut(&rest, '\n', &line))
        line = slice_text("no reason is known");
    text_copy(to, size, line);
}

/* All that the server says to statements behind the one that has failed. */
static bool says_failed_before(const char *state)
{
    return state && strcmp(state, "25P02") == 0;
}

static const char *advice_of(const char *state)
{
    if (state && strcmp(state, "42P01") == 0)
        return NO_TABLE_ADVICE;
    if (state && strcmp(state, "42501") == 0)
        return NO_RIGHT_ADVICE;
    return pg_advice(pg_class(state));
}

/* The server takes no such value, whatever the rest of the transaction is: class 22, data, and 23
 * but for a row that is there already. */
static bool of_value(const char *state)
{
    return state && (strncmp(state, "22", 2) == 0 || strcmp(state, "23502") == 0 ||
                     strcmp(state, "23514") == 0);
}

enum err pg_fail(struct pg *s, const PGresult *r, struct why *why)
{
    char text[300], said[200];
    const char *state = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
    if (s->in_transaction && s->lost && says_failed_before(state)) {
        why_set(why, "%s", s->lost_text);
        return s->lost;
    }
    const char *primary = r ? PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    if (!primary)
        primary = s->db ? PQerrorMessage(s->db) : "there is no connection";
    first_line(primary, said, sizeof(said));
    snprintf(text, sizeof(text), state ? "%s (%s)" : "%s", said, state);
    if (of_value(state)) /* what has a savepoint is refused; the transaction goes on */
        return pg_fail_with(s, s->saved.on ? ERR_INVALID : ERR_VALUE, text,
                            "its column does not take this value", why);
    return pg_fail_with(s, pg_class(state), text, advice_of(state), why);
}
