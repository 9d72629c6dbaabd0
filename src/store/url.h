/* SPDX-License-Identifier: Apache-2.0 */
/* url.h - where a database server is, out of one text.
 *
 *   mysql://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?OPTION=VALUE&OPTION=VALUE
 *   mariadb://…, postgres://…, postgresql://…   the same
 *   jdbc:mysql://…, jdbc:mariadb://…, jdbc:postgresql://…   as Java programs write it
 *
 * Reserved characters in a part are written %XX. Errors never repeat what stands in the text: in a
 * malformed one, a part of the password may stand anywhere. */
#ifndef PEAL_STORE_URL_H
#define PEAL_STORE_URL_H

#include "base/err.h"
#include "base/why.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DB_URL_MAX 4096 /* bytes of the text */
#define DB_HOSTS_MAX 8

enum db_kind { DB_MYSQL, DB_POSTGRES };

enum db_tls {
    DB_TLS_OFF,
    DB_TLS_ON,     /* encrypted, whoever the server is */
    DB_TLS_VERIFY, /* and its certificate is of that host */
};

struct db_host {
    char name[256]; /* a name or an address, without brackets */
    uint16_t port;
};

struct db_url {
    enum db_kind kind;
    struct db_host hosts[DB_HOSTS_MAX];
    int nhosts; /* at least 1 */
    char user[129], password[257], database[129];
    bool has_password;
    enum db_tls tls;
    char tls_ca[256], tls_cert[256], tls_key[256]; /* files; "": none */
    int connect_timeout_s;                         /* 1 to 60 */
    char zone[64];           /* of XXL-JOB's datetime columns; "": the center's */
    char socket[108];        /* of this machine, in place of the hosts; "": none */
    char password_file[256]; /* "": none */
    char ignored[256];       /* names of a Java URL's options that mean nothing here, by ", " */
};

/* Does the text name a database server, by its scheme? */
bool db_url_is(const char *text);
/* What is not said has its default. ERR_INVALID, ERR_TOOBIG. */
MUST_CHECK enum err db_url_parse(const char *text, struct db_url *ret, struct why *why);
/* The password, if the text had none: the first line of password_file, or else that (NULL: there is
 * none). ERR_INVALID: the file cannot be read. */
MUST_CHECK enum err db_url_password(struct db_url *u, const char *otherwise, struct why *why);
/* For people: scheme, hosts, database; without user and password. Cut to fit. */
void db_url_text(const struct db_url *u, char *to, size_t size);
/* The password leaves memory. */
void db_url_wipe(struct db_url *u);

#endif
