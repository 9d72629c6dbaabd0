/* SPDX-License-Identifier: Apache-2.0 */
/* forwarded.h - what a proxy says of the client behind it: X-Forwarded-For, -Proto, -Host.
 *
 * Everybody can send these headers, so they count only from proxies that are named, and of a list
 * of addresses only what a named proxy wrote. Pure; any thread. */
#ifndef PEAL_NET_FORWARDED_H
#define PEAL_NET_FORWARDED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include "base/err.h"
#include "base/str.h"
#include "base/why.h"

#define PROXIES_MAX 64
#define FORWARDED_HOPS_MAX 32 /* addresses of a list that are looked at */

struct proxies {
    struct proxies_net {
        unsigned char address[16]; /* IPv4 as ::ffff:a.b.c.d */
        int bits;                  /* that count, of 128 */
    } nets[PROXIES_MAX];
    int n;
};

/* "10.0.0.0/8, 192.0.2.7, fd00::/8", or nothing. ERR_INVALID: why says the setting and the rule. */
MUST_CHECK enum err proxies_parse(struct slice text, const char *setting, struct proxies *ret,
                                  struct why *why);
bool proxies_has(const struct proxies *p, const struct sockaddr_storage *a);

/* One value of X-Forwarded-For, from a peer that proxies_has; call it for the last header first. On
 * from *client, which a named proxy has told: from the right each address that is one of a named
 * proxy is passed over, the first other one is the client. What is no address ends it: the proxy
 * itself is then the client. False: the client is found. */
bool forwarded_for(const struct proxies *p, struct slice value, struct sockaddr_storage *client);
/* The first item of a list, without blanks: what the outermost proxy has said. */
struct slice forwarded_first(struct slice value);

#endif
