/* SPDX-License-Identifier: Apache-2.0 */
/* A browser can hold several cookies of one name, for other paths or from an older release, so a
 * reader gets them one after the other and decides itself which is good. */
#include "api/cookie.h"
#include <string.h>
#include <strings.h>

const char *const cookie_names[] = { COOKIE_V1, COOKIE_NEW, COOKIE_OLD, NULL };

/* Tools are known to send back a whole Set-Cookie line; its attributes are pairs like any other. */
struct slice cookie_next(struct slice *rest, const char *name)
{
    while (rest->n) {
        const char *end = memchr(rest->p, ';', rest->n);
        size_t n = end ? (size_t)(end - rest->p) : rest->n;
        struct slice pair = slice_trim(slice_of(rest->p, n));
        n += end ? 1 : 0;
        *rest = slice_of(rest->p + n, rest->n - n);
        const char *equals = pair.n ? memchr(pair.p, '=', pair.n) : NULL;
        if (!equals || !slice_eq(slice_of(pair.p, (size_t)(equals - pair.p)), name))
            continue;
        struct slice value = slice_of(equals + 1, pair.n - (size_t)(equals + 1 - pair.p));
        if (value.n >= 2 && value.p[0] == '"' && value.p[value.n - 1] == '"')
            value = slice_of(value.p + 1, value.n - 2);
        return value;
    }
    return slice_of(NULL, 0);
}

/* A browser that came by TLS through a proxy says so in Origin; the gate has found it ours. A
 * client that lies there gets a cookie that only its own browser refuses to send. */
bool cookie_secure(const struct web_call *call)
{
    return call->tls || (call->origin.n > 8 && strncasecmp(call->origin.p, "https://", 8) == 0);
}

bool cookie_has(const struct web_call *call, const char *name)
{
    struct slice rest = call->cookie;
    return cookie_next(&rest, name).p != NULL;
}

bool cookie_is_new(const struct web_call *call)
{
    return cookie_has(call, COOKIE_NEW) && !cookie_has(call, COOKIE_OLD);
}

void cookie_set(struct web_call *call, const char *name, const char *value, int64_t age_s,
                bool secure)
{
    buf_printf(&call->headers, "Set-Cookie: %s=%s; Path=%s; HttpOnly; SameSite=Strict", name, value,
               call->cookie_path);
    if (age_s >= 0)
        buf_printf(&call->headers, "; Max-Age=%lld", (long long)age_s);
    buf_text(&call->headers, secure ? "; Secure\r\n" : "\r\n");
}
