/* SPDX-License-Identifier: Apache-2.0 */
/* A list of hosts of any text: without a * in it, who is allowed stands there message for message;
 * an entry with another port allows nothing; order and blanks change nothing. Any address is either
 * private or not, and one in IPv6's clothes is what it is without them.
 * Input: port (2), an address (16), its family (1), then the host, a line end, the list. */
#include <netinet/in.h>
#include <string.h>
#include "base/buf.h"
#include "base/mem.h"
#include "executor/agent/builtin_http.h"
#include "fuzz.h"
#include "base/address.h"

enum { HEAD = 2 + 16 + 1 };

static void check_addresses(const uint8_t *a, int family)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 mapped = { .sin6_family = AF_INET6 }, any = { .sin6_family = AF_INET6 };
    struct sockaddr other = { .sa_family = (sa_family_t)family };
    static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };
    memcpy(&v4.sin_addr, a, 4);
    memcpy(mapped.sin6_addr.s6_addr, prefix, sizeof(prefix));
    memcpy(mapped.sin6_addr.s6_addr + 12, a, 4);
    memcpy(any.sin6_addr.s6_addr, a, 16);
    bool hidden = address_private((struct sockaddr *)&v4);
    CHECK(address_private((struct sockaddr *)&mapped) == hidden);
    CHECK(hidden || (a[0] != 127 && a[0] != 10 && a[0] != 0 && a[0] < 224));
    CHECK(address_private((struct sockaddr *)&any) || (a[0] & 0xe0) == 0x20 ||
          memcmp(a, prefix, sizeof(prefix)) == 0 || memcmp(a, "\0\x64\xff\x9b", 4) == 0);
    if (family != AF_INET && family != AF_INET6)
        CHECK(address_private(&other));
}

static void check_list(const char *host, const char *list, int port)
{
    bool yes = http_host_allowed(list, host, port);
    struct buf twice = BUF_INIT(1 << 22);
    buf_printf(&twice, " ,%s, x.invalid ,,%s,", list, list);
    CHECK(http_host_allowed(buf_str(&twice), host, port) == yes || strcasestr(host, "x.invalid"));
    if (yes && !strchr(list, '*')) {
        size_t n = strlen(host);
        size_t from = n >= 2 && host[0] == '[' && host[n - 1] == ']';
        n -= !from && n > 1 && host[n - 1] == '.';
        char *name = mem_dupn(host + from, n - 2 * from);
        CHECK(*name && strcasestr(list, name));
        free(name);
    }
    buf_reset(&twice);
    buf_printf(&twice, "%s:%d", host, port % 65535 + 1);
    if (!strchr(host, ':') && !strchr(host, ',') && port > 0)
        CHECK(!http_host_allowed(buf_str(&twice), host, port));
    buf_done(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD || size > 100000)
        return 0;
    check_addresses(data + 2, data[18]);
    char *text = mem_dupn((const char *)data + HEAD, size - HEAD), *list = strchr(text, '\n');
    if (list) {
        *list++ = '\0';
        check_list(text, list, data[0] << 8 | data[1]);
    }
    free(text);
    return 0;
}
