/* SPDX-License-Identifier: Apache-2.0 */
/* First line: http.proxies. Second: the peer. The others: X-Forwarded-For, the last header first.
 * Only a named proxy is believed, and what is found stands in a header. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "base/mem.h"
#include "net/addr.h"
#include "net/forwarded.h"

static bool same(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    char x[46], y[46];
    addr_text(a, x, sizeof(x));
    addr_text(b, y, sizeof(y));
    return strcmp(x, y) == 0;
}

static struct slice line(struct slice *rest)
{
    struct slice one = slice_of("", 0);
    (void)slice_cut(rest, '\n', &one);
    return one;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice rest = slice_of((const char *)data, size);
    struct proxies p;
    struct why why = { "" };
    struct sockaddr_storage peer, at;
    socklen_t len;
    char host[64];
    if (proxies_parse(line(&rest), "http.proxies", &p, &why)) {
        if (!why.text[0] || p.n > PROXIES_MAX)
            abort();
        return 0;
    }
    text_copy(host, sizeof(host), line(&rest));
    if (!addr_numeric(host, 0, &peer, &len) || !proxies_has(&p, &peer))
        return 0;
    at = peer;
    bool more = true;
    while (rest.n && more) {
        struct slice value = line(&rest);
        struct slice first = forwarded_first(value);
        if (first.n > value.n || (first.n && memchr(first.p, ',', first.n)))
            abort();
        struct sockaddr_storage before = at;
        more = forwarded_for(&p, value, &at);
        if (!same(&before, &at) && !value.n)
            abort();
        if (more && !proxies_has(&p, &at))
            abort(); /* one that is not named must end it */
    }
    return 0;
}
