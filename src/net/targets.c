/* SPDX-License-Identifier: Apache-2.0 */
/* An IPv4 address within IPv6 is that IPv4 address, as proxies_has has it. */
#include "net/targets.h"

/* RFC 3927, 4291 (2.5.6), 5771, 1122 (3.2.1.3); metadata: Alibaba Cloud, and Amazon EC2 over IPv6.
 * The usual 169.254.169.254 is link-local. */
#define NEVER                                                                                      \
    "169.254.0.0/16, fe80::/10, 224.0.0.0/4, ff00::/8, 0.0.0.0/8, ::/128, 255.255.255.255, "       \
    "100.100.100.200, fd00:ec2::254"

enum err targets_parse(struct slice text, const char *setting, struct targets *ret, struct why *why)
{
    *ret = (struct targets){ .only = { .n = 0 } };
    text = slice_trim(text);
    if (slice_eq(text, "any"))
        return OK;
    return text.n ? proxies_parse(text, setting, &ret->only, why)
                  : proxies_parse(slice_text(NEVER), setting, &ret->never, why);
}

bool targets_take(const void *arg, const struct sockaddr_storage *a)
{
    const struct targets *t = arg;
    return (!t->only.n || proxies_has(&t->only, a)) && !proxies_has(&t->never, a);
}
