/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of the server and of its library, in classes: what the writer does with a batch depends on
 * the class, what an operator does on the text. */
#include "base/mem.h"
#include "store/mysql/my_db.h"
#include <errmsg.h>
#include <stdio.h>

#define TOO_LONG 1406
#define NO_TABLE 1146

static const struct {
    unsigned code;
    enum err err;
} classes[] = {
    { 1213, ERR_CONFLICT },                     /* deadlock */
    { 1020, ERR_CONFLICT },                     /* the row has changed since it was read */
    { 1205, ERR_BUSY },                         /* lock wait; only the statement is undone */
    { 3572, ERR_BUSY },     { 1040, ERR_BUSY }, /* too many connections, and of this user */
    { 1203, ERR_BUSY },     { 1226, ERR_BUSY },        { 1290, ERR_READONLY },
    { 1792, ERR_READONLY }, { 1836, ERR_READONLY },    { 1114, ERR_FULL },
    { 1021, ERR_FULL },     { 3, ERR_FULL },           { 1044, ERR_INVALID },
    { 1045, ERR_INVALID },  { 1049, ERR_INVALID },     { 1142, ERR_INVALID },
    { 1143, ERR_INVALID },  { NO_TABLE, ERR_INVALID }, { 1698, ERR_INVALID },
    { 1298, ERR_INVALID },  { 1050, ERR_EXISTS },      { 1060, ERR_EXISTS },
    { 1061, ERR_EXISTS }, /* table, column, index
                           */
    { 1062, ERR_EXISTS },   { 1969, ERR_TIMEOUT },     { 3024, ERR_TIMEOUT },
    { 1317, ERR_TIMEOUT },  { TOO_LONG, ERR_TOOBIG },  { 1264, ERR_TOOBIG },
    { 1153, ERR_TOOBIG },
};

bool my_gone(unsigned code)
{
    static const unsigned codes[] = { MY_NOT_READY, 1053, 1927, 2002, 2003, CR_UNKNOWN_HOST,
                                      2006,         2013, 2014, 2055, 4031 };
    for (size_t i = 0; i < countof(codes); i++)
        if (codes[i] == code)
            return true;
    return false;
}

enum err my_class(unsigned code)
{
    for (size_t i = 0; i < countof(classes); i++)
        if (classes[i].code == code)
            return classes[i].err;
    return ERR_STORE;
}

static const char *advice(const struct mydb *s, unsigned code, enum err err)
{
    if (code == MY_NOT_READY)
        return "this server is cut off from the others of its Galera cluster, or not yet in step "
               "with them; name all of them in the URL";
    if (code == CR_SSL_CONNECTION_ERROR)
        return "see tls, tls-ca, tls-cert and tls-key of the URL, and the server's certificate";
    if (code == NO_TABLE)
        return "a table of Peal's is gone: restore a backup";
    switch (err) {
    case ERR_CONFLICT:
        return "the transaction is tried again";
    case ERR_BUSY:
        return code == 1205 || code == 3572
                   ? "another session holds the row (see information_schema.innodb_trx)"
                   : "the server has no connection left: raise max_connections";
    case ERR_READONLY:
        return "this server is read-only: name the primary server in the URL";
    case ERR_FULL:
        return "make room on the database's disk";
    case ERR_INVALID:
        return "check user, password, rights and the database's name in the URL";
    case ERR_TIMEOUT:
        return s->sql.certified ? "ask for less at a time; or the servers of the Galera cluster do "
                                  "not agree just now, and this one waits for the others"
                                : "ask for less at a time";
    case ERR_TOOBIG:
        return "a value is larger than its column";
    case ERR_VALUE:
        return "a value does not fit its column, or has a character that the column lacks";
    default:
        return my_gone(code) ? "is the server up, and does the address lead to it?"
                             : "see the log of the database server";
    }
}

/* The server's text says which right is missing, of which table. Its account in that text has the
 * client's address in place of the host that GRANT wants. */
static bool lacks_right(unsigned code)
{
    return code == 1044 || code == 1142 || code == 1143;
}

/* The server takes no such value, whatever the rest of the transaction is. */
static bool of_value(unsigned code)
{
    static const unsigned codes[] = { TOO_LONG, 1264, 1265, 1366, 1267, 3988 };
    for (size_t i = 0; i < countof(codes); i++)
        if (codes[i] == code)
            return true;
    return false;
}

static void advise_grant(const struct mydb *s, char *to, size_t size)
{
    char guess[sizeof(s->account)];
    snprintf(guess, sizeof(guess), "'%.300s'@'%%'", s->url.user);
    snprintf(to, size,
             "an administrator of the server mends it with: GRANT SELECT, INSERT, UPDATE, DELETE, "
             "CREATE, ALTER, INDEX ON `%s`.* TO %s",
             s->url.database, s->account[0] ? s->account : guess);
}

enum err my_fail(struct mydb *s, unsigned code, const char *text, struct why *why)
{
    enum err err = my_class(code);
    struct why full = { "" };
    char grant[1024];
    /* Columns may be shorter than the rules of edits know (XXL-JOB's older releases), or lack the
     * character (tables that are not utf8mb4): what has a savepoint is refused then, and its
     * transaction goes on */
    if (of_value(code) && !s->has_saved)
        err = ERR_VALUE;
    if (of_value(code) && s->has_saved) {
        err = ERR_INVALID;
        why_set(&full,
                code == TOO_LONG ? "longer than its column in this database: %.300s"
                                 : "its column in this database does not take it: %.300s",
                text);
    } else if (lacks_right(code)) {
        advise_grant(s, grant, sizeof(grant));
        why_set(&full, "database %s: %.200s (%u); %s", s->name, text, code, grant);
    } else {
        why_set(&full, "database %s: %.300s (%u); %s", s->name, text, code, advice(s, code, err));
    }
    why_set(why, "%s", full.text);
    if (s->in_transaction && !s->lost && err != ERR_EXISTS) {
        s->lost = err;
        snprintf(s->lost_text, sizeof(s->lost_text), "%s", full.text);
    }
    if (my_gone(code))
        s->generation++; /* what is prepared on it is no more */
    return err;
}
