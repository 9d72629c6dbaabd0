/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses come from configuration files, registrations of strangers and database rows, so what
 * a host may consist of is a short list and everything else is refused by name. */
#include "net/addr.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool host_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
}

static bool is_ipv6(const char *host)
{
    struct in6_addr a;
    return inet_pton(AF_INET6, host, &a) == 1;
}

/* A name or IPv4 literal, or "[IPv6]"; takes it off the front of *text. */
static enum err take_host(struct slice *text, char *to, bool *ret_ipv6, struct why *why)
{
    struct slice host = { text->p, 0 };
    bool bracket = text->n && text->p[0] == '[';
    if (bracket) {
        const char *end = memchr(text->p, ']', text->n);
        if (!end) {
            why_set(why, "address: '[' without ']'");
            return ERR_INVALID;
        }
        host = slice_of(text->p + 1, (size_t)(end - text->p) - 1);
    } else {
        while (host.n < text->n && host_byte(text->p[host.n]))
            host.n++;
    }
    if (host.n > ADDR_HOST_MAX) {
        why_set(why, "address: host is longer than %d bytes", ADDR_HOST_MAX);
        return ERR_INVALID;
    }
    if (host.n)
        memcpy(to, host.p, host.n);
    to[host.n] = '\0';
    if (bracket && (strlen(to) != host.n || !is_ipv6(to))) {
        why_set(why, "address: what stands in [ ] is not an IPv6 address");
        return ERR_INVALID;
    }
    *ret_ipv6 = bracket;
    size_t used = host.n + (bracket ? 2 : 0);
    *text = slice_of(text->p + used, text->n - used);
    return OK;
}

/* ":port" off the front of *text; untouched if there is none. */
static enum err take_port(struct slice *text, uint16_t *ret, int lowest, struct why *why)
{
    if (!text->n || text->p[0] != ':')
        return OK;
    size_t n = 1;
    int port = 0;
    while (n < text->n && text->p[n] >= '0' && text->p[n] <= '9' && port <= 65535)
        port = port * 10 + (text->p[n++] - '0');
    if (n == 1 || port < lowest || port > 65535) {
        why_set(why, "address: the port must be a number from %d to 65535", lowest);
        return ERR_INVALID;
    }
    *ret = (uint16_t)port;
    *text = slice_of(text->p + n, text->n - n);
    return OK;
}

enum err addr_listen_parse(struct slice text, struct addr_listen *ret, struct why *why)
{
    struct addr_listen a = { .port = 0 };
    bool ipv6;
    text = slice_trim(text);
    if (text.n && text.p[0] == '*')
        text = slice_of(text.p + 1, text.n - 1);
    enum err err = take_host(&text, a.host, &ipv6, why);
    if (err)
        return err;
    if (!text.n || text.p[0] != ':') {
        why_set(why, "listen address: want host:port, [IPv6]:port or :port");
        return ERR_INVALID;
    }
    err = take_port(&text, &a.port, 0, why);
    if (err)
        return err;
    if (text.n) {
        why_set(why, "listen address: unexpected text after the port");
        return ERR_INVALID;
    }
    *ret = a;
    return OK;
}

static bool starts_nocase(struct slice s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.n >= n && strncasecmp(s.p, prefix, n) == 0;
}

static enum err take_scheme(struct slice *text, struct addr_url *a, struct why *why)
{
    if (starts_nocase(*text, "http://")) {
        *text = slice_of(text->p + 7, text->n - 7);
    } else if (starts_nocase(*text, "https://")) {
        a->tls = true;
        *text = slice_of(text->p + 8, text->n - 8);
    } else if (memmem(text->p, text->n, "://", 3)) {
        why_set(why, "address: the scheme must be http or https");
        return ERR_INVALID;
    }
    a->port = a->tls ? 443 : 80;
    return OK;
}

static enum err take_path(struct slice text, struct addr_url *a, struct why *why)
{
    if (text.n && text.p[0] != '/') {
        why_set(why, text.p[0] == '@' ? "address: user names are not supported"
                                      : "address: unexpected character after host and port");
        return ERR_INVALID;
    }
    if (text.n > ADDR_PATH_MAX) {
        why_set(why, "address: path is longer than %d bytes", ADDR_PATH_MAX);
        return ERR_INVALID;
    }
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c <= ' ' || c >= 0x7f || c == '?' || c == '#' || c == '@' || c == '"' || c == '<' ||
            c == '>' || c == '\\') {
            why_set(why, "address: character not allowed in the path");
            return ERR_INVALID;
        }
    }
    if (text.n)
        memcpy(a->path, text.p, text.n);
    size_t n = text.n;
    if (n == 0 || a->path[n - 1] != '/')
        a->path[n++] = '/';
    a->path[n] = '\0';
    return OK;
}

enum err addr_url_parse(struct slice text, struct addr_url *ret, struct why *why)
{
    struct addr_url a = { .tls = false };
    text = slice_trim(text);
    if (text.n > ADDR_TEXT_MAX) {
        why_set(why, "address: longer than %d bytes", ADDR_TEXT_MAX);
        return ERR_INVALID;
    }
    enum err err = take_scheme(&text, &a, why);
    if (err)
        return err;
    err = take_host(&text, a.host, &a.ipv6, why);
    if (err)
        return err;
    if (!a.host[0]) {
        why_set(why, "address: host is missing");
        return ERR_INVALID;
    }
    err = take_port(&text, &a.port, 1, why);
    if (err)
        return err;
    err = take_path(text, &a, why);
    if (err)
        return err;
    *ret = a;
    return OK;
}

bool addr_numeric(const char *host, uint16_t port, struct sockaddr_storage *ret, socklen_t *ret_len)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    if (inet_pton(AF_INET, host, &in.sin_addr) == 1) {
        memcpy(ret, &in, sizeof(in));
        *ret_len = sizeof(in);
        return true;
    }
    if (inet_pton(AF_INET6, host, &in6.sin6_addr) == 1) {
        memcpy(ret, &in6, sizeof(in6));
        *ret_len = sizeof(in6);
        return true;
    }
    return false;
}

void addr_text(const struct sockaddr_storage *a, char *to, size_t size)
{
    int family = a->ss_family;
    const void *from = NULL;
    if (family == AF_INET) {
        from = &((const struct sockaddr_in *)a)->sin_addr;
    } else if (family == AF_INET6) {
        const struct in6_addr *in6 = &((const struct sockaddr_in6 *)a)->sin6_addr;
        bool mapped = IN6_IS_ADDR_V4MAPPED(in6); /* IPv4 on a socket for both */
        family = mapped ? AF_INET : AF_INET6;
        from = mapped ? (const void *)(in6->s6_addr + 12) : in6;
    }
    if (!from || !inet_ntop(family, from, to, (socklen_t)size))
        snprintf(to, size, "?");
}

uint64_t addr_key(const struct sockaddr_storage *a)
{
    static const unsigned char v4_mapped[12] = { [10] = 0xff, [11] = 0xff };
    uint64_t key = 0;
    uint32_t v4 = 0;
    if (a->ss_family == AF_INET) {
        v4 = ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr);
    } else if (a->ss_family == AF_INET6) {
        const unsigned char *b = ((const struct sockaddr_in6 *)a)->sin6_addr.s6_addr;
        bool mapped = memcmp(b, v4_mapped, sizeof(v4_mapped)) == 0;
        for (int i = 0; i < 8; i++)
            key = key << 8 | b[i];
        if (!mapped)
            return key;
        v4 = (uint32_t)b[12] << 24 | (uint32_t)b[13] << 16 | (uint32_t)b[14] << 8 | b[15];
    } else {
        return 0;
    }
    return 0xffffffffull << 32 | v4; /* no peer has a multicast address */
}
