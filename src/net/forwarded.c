/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of both families are compared as 16 bytes, so that an IPv4 client of a socket that
 * listens for both is the same as one of a socket for IPv4. */
#include "net/forwarded.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include "base/mem.h"
#include "net/addr.h"

enum { V4_BITS = 96 }; /* before an IPv4 address */

/* False for other families. */
static bool bytes_of(const struct sockaddr_storage *a, unsigned char ret[16])
{
    static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    if (a->ss_family == AF_INET) {
        memcpy(&v4, a, sizeof(v4));
        memcpy(ret, mapped, sizeof(mapped));
        memcpy(ret + sizeof(mapped), &v4.sin_addr, 4);
    } else if (a->ss_family == AF_INET6) {
        memcpy(&v6, a, sizeof(v6));
        memcpy(ret, &v6.sin6_addr, 16);
    } else {
        return false;
    }
    return true;
}

static bool numeric(struct slice text, struct sockaddr_storage *ret)
{
    char host[INET6_ADDRSTRLEN];
    socklen_t len;
    if (!text.n || text.n >= sizeof(host) || memchr(text.p, '\0', text.n))
        return false;
    text_copy(host, sizeof(host), text);
    return addr_numeric(host, 0, ret, &len);
}

/* ---- the list ----------------------------------------------------------------------------------
 */

static bool net_parse(struct slice text, struct proxies_net *ret)
{
    struct sockaddr_storage a;
    const char *slash = memchr(text.p, '/', text.n);
    struct slice host = slice_of(text.p, slash ? (size_t)(slash - text.p) : text.n);
    if (!numeric(host, &a) || !bytes_of(&a, ret->address))
        return false;
    int before = a.ss_family == AF_INET ? V4_BITS : 0;
    int64_t bits = 128 - before;
    if (slash && (!parse_i64(slice_of(slash + 1, text.n - host.n - 1), &bits) || bits < 0 ||
                  bits > 128 - before))
        return false;
    ret->bits = before + (int)bits;
    return true;
}

enum err proxies_parse(struct slice text, const char *setting, struct proxies *ret, struct why *why)
{
    struct slice one;
    *ret = (struct proxies){ .n = 0 };
    text = slice_trim(text);
    while (text.n && slice_cut(&text, ',', &one)) {
        one = slice_trim(one);
        if (ret->n == PROXIES_MAX) {
            why_set(why, "%s: at most %d addresses and networks", setting, PROXIES_MAX);
            return ERR_INVALID;
        }
        if (!net_parse(one, &ret->nets[ret->n++])) {
            why_set(why,
                    "%s: %.*s is no address or network such as 192.0.2.7, 10.0.0.0/8 or fd00::/8",
                    setting, (int)utf8_cut(one.p, one.n, 80), one.p);
            return ERR_INVALID;
        }
    }
    return OK;
}

static bool within(const struct proxies_net *net, const unsigned char a[16])
{
    int whole = net->bits / 8, rest = net->bits % 8;
    if (memcmp(net->address, a, (size_t)whole) != 0)
        return false;
    return !rest || (net->address[whole] ^ a[whole]) >> (8 - rest) == 0;
}

bool proxies_has(const struct proxies *p, const struct sockaddr_storage *a)
{
    unsigned char bytes[16];
    if (!p->n || !bytes_of(a, bytes))
        return false;
    for (int i = 0; i < p->n; i++)
        if (within(&p->nets[i], bytes))
            return true;
    return false;
}

/* ---- what they say -----------------------------------------------------------------------------
 */

/* "192.0.2.7", "192.0.2.7:4711", "[2001:db8::7]", "[2001:db8::7]:4711", "2001:db8::7" */
static bool hop_parse(struct slice text, struct sockaddr_storage *ret)
{
    const char *colon = text.n ? memchr(text.p, ':', text.n) : NULL;
    if (text.n && text.p[0] == '[') {
        const char *end = memchr(text.p, ']', text.n);
        if (!end)
            return false;
        text = slice_of(text.p + 1, (size_t)(end - text.p) - 1);
    } else if (colon && colon == memrchr(text.p, ':', text.n)) {
        text = slice_of(text.p, (size_t)(colon - text.p));
    }
    return numeric(text, ret);
}

bool forwarded_for(const struct proxies *p, struct slice value, struct sockaddr_storage *client)
{
    for (int hops = 0; value.n; hops++) {
        const char *comma = memrchr(value.p, ',', value.n);
        size_t at = comma ? (size_t)(comma - value.p) + 1 : 0;
        struct slice one = slice_trim(slice_of(value.p + at, value.n - at));
        struct sockaddr_storage hop;
        if (hops == FORWARDED_HOPS_MAX || !hop_parse(one, &hop))
            return false;
        *client = hop;
        if (!proxies_has(p, &hop))
            return false;
        value = slice_of(value.p, comma ? at - 1 : 0);
    }
    return true;
}

struct slice forwarded_first(struct slice value)
{
    const char *comma = value.n ? memchr(value.p, ',', value.n) : NULL;
    return slice_trim(slice_of(value.p, comma ? (size_t)(comma - value.p) : value.n));
}
