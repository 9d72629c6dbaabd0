/* SPDX-License-Identifier: Apache-2.0 */
/* address.c - the ranges are those of the IANA registries of special-purpose addresses (RFC 6890
 * and its successors) that are not globally reachable. */
#include "base/address.h"
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include "base/mem.h"

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

bool address_private(const struct sockaddr *a)
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
