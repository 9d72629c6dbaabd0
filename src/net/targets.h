/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - which addresses calls may go to. Whoever holds the executors' token names addresses
 * that this server posts to, with that token in a header; so places that answer to anybody who
 * reaches them from this machine are not called. Pure; any thread. */
#ifndef PEAL_NET_TARGETS_H
#define PEAL_NET_TARGETS_H

#include "net/forwarded.h"

struct targets {
    struct proxies only;  /* of these networks; empty: of all, */
    struct proxies never; /* but these */
};

/* "" is all but link-local, multicast and unspecified addresses and those of clouds' metadata
 * services; "any" is all; else networks as in proxies_parse. ERR_INVALID: why says the setting. */
MUST_CHECK enum err targets_parse(struct slice text, const char *setting, struct targets *ret,
                                  struct why *why);
/* arg: a struct targets. */
bool targets_take(const void *arg, const struct sockaddr_storage *a);

#endif
