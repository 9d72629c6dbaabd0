/* SPDX-License-Identifier: Apache-2.0 */
/* Whom httpJobHandler may ask. The ranges are those of the IANA registries of special-purpose
 * addresses (RFC 6890 and its successors) that are not globally reachable. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include "base/mem.h"
#include "executor/agent/builtin_http.h"

struct range {
    uint8_t bytes[16];
    int bits;
};

static const struct range ranges4[] = {
    { { 0 }, 8 },             /* this network */
    { { 10 }, 8 },            /* private */
    { { 100, 64 }, 10 },      /* shared with a provider; some clouds' metadata */
    { { 127 }, 8 },           /* loopback */
    { { 169, 254 }, 16 },     /* link-local, most clouds' metadata */
    { { 172, 16 }, 12 },      /* private */
    { { 192, 0, 0 }, 24 },    /* protocol assignments; some clouds' metadata */
    { { 192, 0, 2 }, 24 },    /* documentation */
    { { 192, 88, 99 }, 24 },  /* old 6to4 relays */
    { { 192, 168 }, 16 },     /* private */
    { { 198, 18 }, 15 },      /* benchmarks */
    { { 198, 51, 100 }, 24 }, /* documentation */
    { { 203, 0, 113 }, 24 },  /* documentation */
    { { 224 }, 3 },           /* multicast, reserved, broadcast */
};

/* Only 2000::/3 is given out at all; what is left of it after these is public. */
static const struct range global6 = { { 0x20 }, 3 };
static const struct range ranges6[] = {
    { { 0x20, 0x01 }, 23 },             /* protocol assignments, Teredo among them */
    { { 0x20, 0x01, 0x0d, 0xb8 }, 32 }, /* documentation */
    { { 0x3f, 0xff }, 20 },             /* documentation */
};
/* IPv4 inside: where its four bytes are */
static const struct {
    struct range range;
    int at;
} inside6[] = {
    { { { [10] = 0xff, [11] = 0xff }, 96 }, 12 }, /* mapped */
    { { { 0x00, 0x64, 0xff, 0x9b }, 96 }, 12 },   /* NAT64 */
    { { { 0x20, 0x02 }, 16 }, 2 },                /* 6to4 */
};

static bool in_range(const uint8_t *a, const struct range *r)
{
    int whole = r->bits / 8, rest = r->bits % 8;
    if (memcmp(a, r->bytes, (size_t)whole) != 0)
        return false;
    uint8_t mask = (uint8_t)(0xff << (8 - rest));
    return rest == 0 || ((a[whole] ^ r->bytes[whole]) & mask) == 0;
}

static bool in_any(const uint8_t *a, const struct range *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (in_range(a, &r[i]))
            return true;
    return false;
}

static bool private6(const uint8_t *a)
{
    for (size_t i = 0; i < countof(inside6); i++)
        if (in_range(a, &inside6[i].range))
            return in_any(a + inside6[i].at, ranges4, countof(ranges4));
    return !in_range(a, &global6) || in_any(a, ranges6, countof(ranges6));
}

bool http_address_private(const struct sockaddr *a)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    if (a->sa_family == AF_INET) {
        memcpy(&v4, a, sizeof(v4));
        return in_any((const uint8_t *)&v4.sin_addr, ranges4, countof(ranges4));
    }
    if (a->sa_family != AF_INET6)
        return true;
    memcpy(&v6, a, sizeof(v6));
    return private6(v6.sin6_addr.s6_addr);
}

/* Cut ":port" off an entry. A second colon makes it an IPv6 address, which has brackets if it has a
 * port. */
static int cut_port(struct slice *entry)
{
    int port = 0;
    const char *colon = memrchr(entry->p, ':', entry->n);
    if (!colon)
        return 0;
    size_t n = (size_t)(colon - entry->p);
    if (memchr(entry->p, ':', n) && entry->p[n ? n - 1 : 0] != ']')
        return 0;
    if (!parse_int(slice_of(colon + 1, entry->n - n - 1), &port) || port < 1)
        port = -1; /* matches nothing */
    entry->n = n;
    return port;
}

static bool matches(struct slice entry, struct slice host)
{
    if (slice_eq(entry, "*"))
        return true;
    if (entry.n >= 2 && entry.p[0] == '[' && entry.p[entry.n - 1] == ']')
        entry = slice_of(entry.p + 1, entry.n - 2);
    if (entry.n > 2 && entry.p[0] == '*' && entry.p[1] == '.') {
        size_t tail = entry.n - 1;
        return host.n > tail && strncasecmp(host.p + host.n - tail, entry.p + 1, tail) == 0;
    }
    return host.n == entry.n && strncasecmp(host.p, entry.p, host.n) == 0;
}

bool http_host_allowed(const char *list, const char *host, int port)
{
    struct slice rest = slice_text(list), name = slice_text(host);
    if (name.n >= 2 && name.p[0] == '[' && name.p[name.n - 1] == ']')
        name = slice_of(name.p + 1, name.n - 2);
    else if (name.n > 1 && name.p[name.n - 1] == '.')
        name.n--; /* the root, written out */
    for (struct slice entry; slice_item(&rest, &entry);) {
        int only = cut_port(&entry);
        if ((only == 0 || only == port) && name.n && matches(entry, name))
            return true;
    }
    return false;
}
