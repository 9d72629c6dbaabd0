/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_http_host.c - whom httpJobHandler may ask by name. */
#include <string.h>
#include "executor/agent/builtin_http.h"

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
