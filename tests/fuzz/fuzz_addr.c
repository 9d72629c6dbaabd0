/* SPDX-License-Identifier: Apache-2.0 */
/* What is understood is written out again and understood the same; what is refused says why. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "base/buf.h"
#include "net/addr.h"

static void check_url(struct slice text)
{
    struct addr_url a = { .port = 0 }, b = { .port = 0 };
    struct why why = { "" };
    enum err err = addr_url_parse(text, &a, &why);
    if (err) {
        if (!why.text[0])
            abort();
        return;
    }
    size_t n = strlen(a.path);
    if (!a.host[0] || !a.port || a.path[0] != '/' || a.path[n - 1] != '/' || n > ADDR_PATH_MAX + 1)
        abort();
    for (const char *p = a.path; *p; p++)
        if (*p <= ' ' || *p >= 0x7f)
            abort(); /* it goes into a request line */
    if (n > ADDR_PATH_MAX)
        return;
    struct buf again = BUF_INIT(4096);
    buf_printf(&again, a.ipv6 ? "http%s://[%s]:%u%s" : "http%s://%s:%u%s", a.tls ? "s" : "", a.host,
               a.port, a.path);
    if (addr_url_parse(slice_of(again.data, again.len), &b, NULL) || strcmp(a.host, b.host) != 0 ||
        strcmp(a.path, b.path) != 0 || a.port != b.port || a.tls != b.tls || a.ipv6 != b.ipv6)
        abort();
    buf_done(&again);
}

static void check_listen(struct slice text)
{
    struct addr_listen a, b;
    struct why why = { "" };
    enum err err = addr_listen_parse(text, &a, &why);
    if (err) {
        if (!why.text[0])
            abort();
        return;
    }
    struct buf again = BUF_INIT(4096);
    buf_printf(&again, strchr(a.host, ':') ? "[%s]:%u" : "%s:%u", a.host, a.port);
    if (addr_listen_parse(slice_of(again.data, again.len), &b, NULL) ||
        strcmp(a.host, b.host) != 0 || a.port != b.port)
        abort();
    buf_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of((const char *)data, size);
    check_url(text);
    check_listen(text);
    return 0;
}
