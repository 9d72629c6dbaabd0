/* SPDX-License-Identifier: Apache-2.0 */
/* One parser for both ways to write it: they differ in the names of options, and in that Java's has
 * user and password among these. */
#include "store/url.h"
#include "base/file.h"
#include "base/str.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_TIMEOUT_S 3
#define CONNECT_TIMEOUT_MAX_S 60
#define ESCAPES "in user and password write @ : / ? # % as %40 %3A %2F %3F %23 %25"

struct parse {
    struct db_url *u;
    bool java;
    struct why *why;
};

static enum err invalid(const struct parse *p, const char *part, const char *rule)
{
    why_set(p->why, "the database's URL: %s %s", part, rule);
    return ERR_INVALID;
}

/* ---- schemes --------------------------------------------------------------------------------- */

static const struct scheme {
    const char *prefix;
    enum db_kind kind;
    bool java;
} schemes[] = {
    { "mysql://", DB_MYSQL, false },
    { "mariadb://", DB_MYSQL, false },
    { "postgres://", DB_POSTGRES, false },
    { "postgresql://", DB_POSTGRES, false },
    { "jdbc:mysql://", DB_MYSQL, true },
    { "jdbc:mariadb://", DB_MYSQL, true },
    { "jdbc:postgresql://", DB_POSTGRES, true },
};

static const struct scheme *scheme_of(const char *text)
{
    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
        if (strncmp(text, schemes[i].prefix, strlen(schemes[i].prefix)) == 0)
            return &schemes[i];
    return NULL;
}

bool db_url_is(const char *text)
{
    return scheme_of(text) != NULL;
}

static uint16_t port_of(enum db_kind kind)
{
    return kind == DB_MYSQL ? 3306 : 5432;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* The byte at *i, which moves behind it; -1: %XX that is none. */
static int byte_at(struct slice s, size_t *i)
{
    if (s.p[*i] != '%')
        return (unsigned char)s.p[(*i)++];
    if (s.n - *i < 3)
        return -1;
    int high = hex_digit(s.p[*i + 1]), low = hex_digit(s.p[*i + 2]);
    *i += 3;
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* A part with its %XX decoded. */
static enum err decode(const struct parse *p, const char *part, struct slice s, char *to,
                       size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n;) {
        int c = byte_at(s, &i);
        if (c < 0)
            return invalid(p, part, "has a % without two hexadecimal digits behind it");
        if (c < ' ' || c == 0x7f)
            return invalid(p, part, "has a control character");
        if (n + 1 >= size)
            return invalid(p, part, "is too long");
        to[n++] = (char)c;
    }
    if (!utf8_valid(to, n))
        return invalid(p, part, "is not UTF-8");
    to[n] = '\0';
    return OK;
}

static bool host_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
}

static bool address_char(char c)
{
    return hex_digit(c) >= 0 || c == ':' || c == '.';
}

static enum err host_name(const struct parse *p, struct slice name, bool brackets,
                          struct db_host *ret)
{
    if (!name.n || name.n >= sizeof(ret->name))
        return invalid(p, "a host", name.n ? "is too long" : "is missing");
    for (size_t i = 0; i < name.n; i++)
        if (!(brackets ? address_char(name.p[i]) : host_char(name.p[i])))
            return invalid(p, "a host", "has a character that no host has; " ESCAPES);
    text_copy(ret->name, sizeof(ret->name), name);
    return OK;
}

static enum err port(const struct parse *p, struct slice text, struct db_host *ret)
{
    int64_t n;
    if (!parse_i64(text, &n) || n < 1 || n > 65535)
        return invalid(p, "a port", "is a number from 1 to 65535; " ESCAPES);
    ret->port = (uint16_t)n;
    return OK;
}

/* HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT. */
static enum err host(const struct parse *p, struct slice s)
{
    struct slice name = s, behind = { 0 };
    bool brackets = s.n && s.p[0] == '[';
    if (p->u->nhosts == DB_HOSTS_MAX)
        return invalid(p, "the list of hosts", "has at most 8");
    if (brackets) {
        const char *end = memchr(s.p, ']', s.n);
        if (!end)
            return invalid(p, "a host", "has a [ without ]");
        name = slice_of(s.p + 1, (size_t)(end - s.p) - 1);
        behind = slice_of(end + 1, s.n - (size_t)(end - s.p) - 1);
    } else {
        const char *colon = s.n ? memchr(s.p, ':', s.n) : NULL;
        name.n = colon ? (size_t)(colon - s.p) : s.n;
        behind = slice_of(s.p + name.n, s.n - name.n);
    }
    struct db_host *h = &p->u->hosts[p->u->nhosts];
    h->port = port_of(p->u->kind);
    enum err err = host_name(p, name, brackets, h);
    if (!err && behind.n && behind.p[0] != ':')
        err = invalid(p, "a host", "has something between ] and its port");
    if (!err && behind.n)
        err = port(p, slice_of(behind.p + 1, behind.n - 1), h);
    p->u->nhosts += !err;
    return err;
}

static enum err hosts(const struct parse *p, struct slice s)
{
    enum err err = OK;
    for (const char *comma; !err && (comma = s.n ? memchr(s.p, ',', s.n) : NULL);) {
        size_t n = (size_t)(comma - s.p);
        err = host(p, slice_of(s.p, n));
        s = slice_of(comma + 1, s.n - n - 1);
    }
    return err ? err : host(p, s);
}

static enum err password(const struct parse *p, struct slice s)
{
    p->u->has_password = true;
    return decode(p, "the password", s, p->u->password, sizeof(p->u->password));
}

static enum err user(const struct parse *p, struct slice s)
{
    const char *colon = memchr(s.p, ':', s.n);
    size_t n = colon ? (size_t)(colon - s.p) : s.n;
    enum err err = decode(p, "the user", slice_of(s.p, n), p->u->user, sizeof(p->u->user));
    return err || !colon ? err : password(p, slice_of(colon + 1, s.n - n - 1));
}

/* USER:PASSWORD@HOSTS; the last @ ends the user. */
static enum err authority(const struct parse *p, struct slice s)
{
    const char *at = s.n ? memrchr(s.p, '@', s.n) : NULL;
    size_t n = at ? (size_t)(at - s.p) : 0;
    enum err err = at ? user(p, slice_of(s.p, n)) : OK;
    return err ? err : hosts(p, at ? slice_of(at + 1, s.n - n - 1) : s);
}

/* ---- options --------------------------------------------------------------------------------- */

struct option {
    const char *name;
    enum err (*set)(const struct parse *p, const char *name, struct slice value);
};

static enum err text_option(const struct parse *p, const char *name, struct slice value, char *to,
                            size_t size)
{
    char part[64];
    snprintf(part, sizeof(part), "option %s", name);
    return decode(p, part, value, to, size);
}

static enum err path_option(const struct parse *p, const char *name, struct slice value, char *to,
                            size_t size)
{
    enum err err = text_option(p, name, value, to, size);
    return !err && to[0] != '/' ? invalid(p, name, "is the whole path of a file") : err;
}

static enum err set_user(const struct parse *p, const char *name, struct slice value)
{
    return text_option(p, name, value, p->u->user, sizeof(p->u->user));
}

static enum err set_password(const struct parse *p, const char *name, struct slice value)
{
    (void)name;
    return password(p, value);
}

static enum err set_tls_ca(const struct parse *p, const char *name, struct slice value)
{
    return path_option(p, name, value, p->u->tls_ca, sizeof(p->u->tls_ca));
}

static enum err set_tls_cert(const struct parse *p, const char *name, struct slice value)
{
    return path_option(p, name, value, p->u->tls_cert, sizeof(p->u->tls_cert));
}

static enum err set_tls_key(const struct parse *p, const char *name, struct slice value)
{
    return path_option(p, name, value, p->u->tls_key, sizeof(p->u->tls_key));
}

static enum err set_socket(const struct parse *p, const char *name, struct slice value)
{
    return path_option(p, name, value, p->u->socket, sizeof(p->u->socket));
}

static enum err set_password_file(const struct parse *p, const char *name, struct slice value)
{
    return path_option(p, name, value, p->u->password_file, sizeof(p->u->password_file));
}

/* A name of the zone database, or an offset; whether there is such a zone the engine finds out. */
static enum err set_zone(const struct parse *p, const char *name, struct slice value)
{
    enum err err = text_option(p, name, value, p->u->zone, sizeof(p->u->zone));
    for (const char *c = p->u->zone; !err && *c; c++)
        if (!host_char(*c) && *c != '/' && *c != '+' && *c != ':')
            err = invalid(p, name, "is a zone's name, or an offset such as +08:00");
    return err;
}

/* The word that a value is, as its place in the table; -1: none of them. */
static int word_of(struct slice value, const char *const words[], int n)
{
    for (int i = 0; i < n; i++)
        if (slice_eq_nocase(value, words[i]))
            return i;
    return -1;
}

static enum err set_tls(const struct parse *p, const char *name, struct slice value)
{
    static const char *const words[] = { "off", "on", "verify" };
    int i = word_of(value, words, 3);
    if (i < 0)
        return invalid(p, name, "is off, on or verify");
    p->u->tls = (enum db_tls)i;
    return OK;
}

/* sslMode and sslmode of Java's drivers. */
static enum err set_ssl_mode(const struct parse *p, const char *name, struct slice value)
{
    static const char *const words[] = {
        "disable",  "disabled", "allow",     "prefer",    "preferred",   "require",
        "required", "trust",    "verify-ca", "verify_ca", "verify-full", "verify_identity"
    };
    int i = word_of(value, words, 12);
    if (i < 0)
        return invalid(p, name, "is a word that Java's drivers do not have");
    p->u->tls = i < 5 ? DB_TLS_OFF : i < 8 ? DB_TLS_ON : DB_TLS_VERIFY;
    return OK;
}

static enum err truth(const struct parse *p, const char *name, struct slice value, bool *ret)
{
    static const char *const words[] = { "false", "true" };
    int i = word_of(value, words, 2);
    if (i < 0)
        return invalid(p, name, "is true or false");
    *ret = i;
    return OK;
}

static enum err set_use_ssl(const struct parse *p, const char *name, struct slice value)
{
    bool on = false;
    enum err err = truth(p, name, value, &on);
    if (!err && on && p->u->tls == DB_TLS_OFF)
        p->u->tls = DB_TLS_ON;
    else if (!err && !on)
        p->u->tls = DB_TLS_OFF;
    return err;
}

static enum err set_verify(const struct parse *p, const char *name, struct slice value)
{
    bool on = false;
    enum err err = truth(p, name, value, &on);
    if (!err && on)
        p->u->tls = DB_TLS_VERIFY;
    return err;
}

static enum err set_timeout(const struct parse *p, const char *name, struct slice value)
{
    int64_t s;
    if (!parse_i64(value, &s) || s < 1 || s > CONNECT_TIMEOUT_MAX_S)
        return invalid(p, name, "is a number of seconds from 1 to 60");
    p->u->connect_timeout_s = (int)s;
    return OK;
}

/* MySQL's drivers count milliseconds, and 0 is without end. */
static enum err set_timeout_ms(const struct parse *p, const char *name, struct slice value)
{
    int64_t ms;
    if (!parse_i64(value, &ms) || ms < 0 || ms > INT32_MAX)
        return invalid(p, name, "is a number of milliseconds");
    int64_t s = (ms + 999) / 1000;
    p->u->connect_timeout_s = ms == 0 || s > CONNECT_TIMEOUT_MAX_S ? CONNECT_TIMEOUT_MAX_S : (int)s;
    return OK;
}

static const struct option own_options[] = {
    { "tls", set_tls },
    { "tls-ca", set_tls_ca },
    { "tls-cert", set_tls_cert },
    { "tls-key", set_tls_key },
    { "socket", set_socket },
    { "connect-timeout", set_timeout },
    { "zone", set_zone },
    { "password-file", set_password_file },
    { NULL, NULL },
};

static const struct option java_mysql_options[] = {
    { "user", set_user },
    { "password", set_password },
    { "useSSL", set_use_ssl },
    { "requireSSL", set_use_ssl },
    { "verifyServerCertificate", set_verify },
    { "sslMode", set_ssl_mode },
    { "serverTimezone", set_zone },
    { "connectionTimeZone", set_zone },
    { "connectTimeout", set_timeout_ms },
    { NULL, NULL },
};

static const struct option java_postgres_options[] = {
    { "user", set_user },
    { "password", set_password },
    { "sslmode", set_ssl_mode },
    { "sslrootcert", set_tls_ca },
    { "sslcert", set_tls_cert },
    { "sslkey", set_tls_key },
    { "connectTimeout", set_timeout },
    { NULL, NULL },
};

static const struct option *options_of(const struct parse *p)
{
    return !p->java                 ? own_options
           : p->u->kind == DB_MYSQL ? java_mysql_options
                                    : java_postgres_options;
}

/* The name of an option that means nothing here, if it looks like one. */
static void ignore(struct db_url *u, struct slice name)
{
    size_t n = strlen(u->ignored);
    for (size_t i = 0; i < name.n; i++)
        if (!host_char(name.p[i]))
            return;
    if (name.n && n + name.n + 3 < sizeof(u->ignored))
        snprintf(u->ignored + n, sizeof(u->ignored) - n, "%s%.*s", n ? ", " : "", (int)name.n,
                 name.p);
}

static enum err option(const struct parse *p, struct slice s)
{
    const char *equals = s.n ? memchr(s.p, '=', s.n) : NULL;
    size_t n = equals ? (size_t)(equals - s.p) : s.n;
    struct slice name = slice_of(s.p, n);
    struct slice value = equals ? slice_of(equals + 1, s.n - n - 1) : slice_of(s.p + n, 0);
    for (const struct option *o = options_of(p); o->name; o++)
        if (slice_eq(name, o->name))
            return o->set(p, o->name, value);
    if (!p->java)
        return invalid(p, "an option",
                       "is none of tls, tls-ca, tls-cert, tls-key, socket, connect-timeout, zone, "
                       "password-file");
    ignore(p->u, name);
    return OK;
}

static enum err options(const struct parse *p, struct slice s)
{
    enum err err = OK;
    while (!err && s.n) {
        const char *mark = memchr(s.p, '&', s.n);
        size_t n = mark ? (size_t)(mark - s.p) : s.n;
        if (n)
            err = option(p, slice_of(s.p, n));
        s = slice_of(s.p + n + (mark != NULL), s.n - n - (mark != NULL));
    }
    return err;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum err parts(const struct parse *p, const char *text)
{
    size_t n = strcspn(text, "/?#");
    struct slice before = slice_of(text, n);
    text += n;
    if (*text != '/')
        return invalid(p, "the database", "is missing: …HOST:PORT/DATABASE");
    n = strcspn(++text, "?#");
    enum err err = authority(p, before);
    if (!err)
        err = decode(p, "the database's name", slice_of(text, n), p->u->database,
                     sizeof(p->u->database));
    text += n;
    if (!err && *text == '#')
        err = invalid(p, "a #", "is written %23");
    if (!err && *text)
        err = options(p, slice_text(text + 1));
    return err;
}

/* What only the whole shows. */
static enum err check(const struct parse *p)
{
    const struct db_url *u = p->u;
    if (!u->database[0] || strchr(u->database, '/'))
        return invalid(p, "the database's name",
                       "is one word behind the host: …HOST:PORT/DATABASE");
    if (u->has_password && u->password_file[0])
        return invalid(p, "the password", "stands in the URL or in password-file, not in both");
    if ((u->tls_cert[0] == '\0') != (u->tls_key[0] == '\0'))
        return invalid(p, "tls-cert and tls-key", "go together");
    return OK;
}

enum err db_url_parse(const char *text, struct db_url *ret, struct why *why)
{
    struct db_url u = { .connect_timeout_s = CONNECT_TIMEOUT_S };
    struct parse p = { .u = &u, .why = why };
    const struct scheme *scheme = scheme_of(text);
    size_t n = strlen(text);
    if (n > DB_URL_MAX) {
        why_set(why, "the database's URL has %zu bytes, and at most %d are allowed", n, DB_URL_MAX);
        return ERR_TOOBIG;
    }
    if (!scheme)
        return invalid(&p, "its scheme",
                       "is mysql, mariadb, postgres, jdbc:mysql, jdbc:mariadb or jdbc:postgresql");
    p.java = scheme->java;
    u.kind = scheme->kind;
    enum err err = parts(&p, text + strlen(scheme->prefix));
    if (!err)
        err = check(&p);
    if (!err)
        *ret = u;
    db_url_wipe(&u);
    return err;
}

enum err db_url_password(struct db_url *u, const char *otherwise, struct why *why)
{
    char line[sizeof(u->password) + 2] = "";
    if (u->has_password)
        return OK;
    if (u->password_file[0]) {
        int fd = open(u->password_file, O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            why_set(why, "the database's password: cannot read %s: %s", u->password_file,
                    strerror(errno));
            return ERR_INVALID;
        }
        line[file_read(fd, 0, line, sizeof(line) - 1)] = '\0';
        close(fd);
        line[strcspn(line, "\r\n")] = '\0';
        otherwise = line;
    }
    if (otherwise && strlen(otherwise) >= sizeof(u->password)) {
        why_set(why, "the database's password has more than %zu bytes", sizeof(u->password) - 1);
        return ERR_INVALID;
    }
    if (otherwise) {
        text_copy(u->password, sizeof(u->password), slice_text(otherwise));
        u->has_password = true;
    }
    explicit_bzero(line, sizeof(line));
    return OK;
}

void db_url_text(const struct db_url *u, char *to, size_t size)
{
    size_t n = 0;
    n += (size_t)snprintf(to, size, "%s://", u->kind == DB_MYSQL ? "mysql" : "postgres");
    for (int i = 0; i < u->nhosts && n < size && !u->socket[0]; i++) {
        bool v6 = strchr(u->hosts[i].name, ':') != NULL;
        n += (size_t)snprintf(to + n, size - n, "%s%s%s%s:%u", i ? "," : "", v6 ? "[" : "",
                              u->hosts[i].name, v6 ? "]" : "", u->hosts[i].port);
    }
    if (u->socket[0] && n < size)
        n += (size_t)snprintf(to + n, size - n, "%s", u->socket);
    if (n < size)
        snprintf(to + n, size - n, "/%s", u->database);
}

void db_url_wipe(struct db_url *u)
{
    explicit_bzero(u->password, sizeof(u->password));
}
