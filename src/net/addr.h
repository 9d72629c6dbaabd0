/* SPDX-License-Identifier: Apache-2.0 */
/* addr.h - addresses as people and executors write them, taken apart.
 *
 * Pure text work: nothing is resolved or opened here. Every input is hostile: lengths are
 * bounded, and what is refused is named. Any thread. */
#ifndef PEAL_NET_ADDR_H
#define PEAL_NET_ADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include "base/err.h"
#include "base/str.h"
#include "base/why.h"

enum { ADDR_HOST_MAX = 253, ADDR_PATH_MAX = 512, ADDR_TEXT_MAX = 1024 };

/* Where to listen. */
struct addr_listen {
    char host[ADDR_HOST_MAX + 1]; /* without brackets; "" means every interface */
    uint16_t port;                /* 0: any free port */
};

/* "127.0.0.1:8080", "[::1]:8080", "localhost:0", ":8080", "*:8080".
 * ERR_INVALID with the rule in why. */
MUST_CHECK enum err addr_listen_parse(struct slice text, struct addr_listen *ret, struct why *why);

/* Where an executor (or an admin) answers: scheme://host:port/prefix/ */
struct addr_url {
    char host[ADDR_HOST_MAX + 1]; /* name or literal, IPv6 without its brackets */
    char path[ADDR_PATH_MAX + 2]; /* begins and ends with '/' */
    uint16_t port;
    bool tls;
    bool ipv6; /* the host is an IPv6 literal */
};

/* With or without scheme (none means http://), with or without port (80, 443), path and final
 * slash; blanks around it are dropped. User names, queries and fragments are refused.
 * ERR_INVALID with the rule in why. */
MUST_CHECK enum err addr_url_parse(struct slice text, struct addr_url *ret, struct why *why);

/* A numeric host to a socket address, without a name server. False if it is a name. */
bool addr_numeric(const char *host, uint16_t port, struct sockaddr_storage *ret,
                  socklen_t *ret_len);

/* One number an IPv4 address, and one an IPv6 network of 64 bits; 0 for other families. */
uint64_t addr_key(const struct sockaddr_storage *a);

/* "1.2.3.4" or "::1" of a socket address; "?" for other families. size >= 46. */
void addr_text(const struct sockaddr_storage *a, char *to, size_t size);

#endif
