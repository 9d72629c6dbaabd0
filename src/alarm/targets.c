/* SPDX-License-Identifier: Apache-2.0 */
/* targets.c - the list is read anew for each connection: it is short, and connections are rare. */
#include "alarm/targets.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include "base/address.h"

struct network {
    unsigned char bytes[16];
    int n; /* bytes of an address: 4 or 16 */
    int bits;
};

/* False: it is no address and no network. */
static bool network_read(struct slice item, struct network *ret)
{
    char text[64];
    const char *slash = item.n ? memchr(item.p, '/', item.n) : NULL;
    struct slice address = slice_of(item.p, slash ? (size_t)(slash - item.p) : item.n);
    if (address.n >= sizeof(text))
        return false;
    text_copy(text, sizeof(text), address);
    ret->n = strchr(text, ':') ? 16 : 4;
    if (inet_pton(ret->n == 16 ? AF_INET6 : AF_INET, text, ret->bytes) != 1)
        return false;
    ret->bits = ret->n * 8;
    if (!slash)
        return true;
    struct slice bits = slice_of(slash + 1, item.n - address.n - 1);
    return parse_int(bits, &ret->bits) && ret->bits >= 0 && ret->bits <= ret->n * 8;
}

static bool name_ok(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '.' || c == '_'))
            return false;
    }
    return s.n && s.n <= 253;
}

enum err targets_check(struct slice list, struct why *why)
{
    struct slice one;
    struct network network;
    while (slice_item(&list, &one)) {
        if (network_read(one, &network) || name_ok(one))
            continue;
        why_set(why, "alarm.targets: %.*s is no name of a host, address or network (10.0.0.0/8)",
                (int)utf8_cut(one.p, one.n, 80), one.p);
        return ERR_INVALID;
    }
    return OK;
}

/* An IPv4 address within IPv6 is that IPv4 address. */
static int address_bytes(const struct sockaddr *a, unsigned char ret[16])
{
    if (a->sa_family == AF_INET) {
        memcpy(ret, &((const struct sockaddr_in *)(const void *)a)->sin_addr, 4);
        return 4;
    }
    if (a->sa_family != AF_INET6)
        return 0;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;
    bool four = IN6_IS_ADDR_V4MAPPED(six);
    memcpy(ret, six->s6_addr + (four ? 12 : 0), four ? 4 : 16);
    return four ? 4 : 16;
}

static bool within(const struct network *n, const unsigned char *bytes, int len)
{
    if (n->n != len)
        return false;
    int whole = n->bits / 8, rest = n->bits % 8;
    if (memcmp(n->bytes, bytes, (size_t)whole) != 0)
        return false;
    return !rest || (n->bytes[whole] ^ bytes[whole]) >> (8 - rest) == 0;
}

bool targets_allow(struct slice list, const char *host, const struct sockaddr *a)
{
    unsigned char bytes[16] = { 0 };
    struct network network;
    struct slice one;
    bool any = true;
    int len = address_bytes(a, bytes);
    while (slice_item(&list, &one)) {
        any = false;
        if (slice_eq_nocase(one, host) ||
            (network_read(one, &network) && within(&network, bytes, len)))
            return true;
    }
    return any && !address_private(a);
}
