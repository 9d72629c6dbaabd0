/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - who has sent a request: the peer of its connection, or the client that a named proxy
 * (http.proxies) says is behind it. Private to src/api; any thread, once client_proxies was
 * called. */
#ifndef PEAL_API_CLIENT_H
#define PEAL_API_CLIENT_H

#include "net/forwarded.h"
#include "net/httpd.h"

struct client {
    char address[46];
    uint64_t source;   /* of net/sources.h */
    bool tls;          /* it speaks TLS, to this port or to the proxy */
    struct slice host; /* that it has asked; p NULL: none was sent. As long as the request */
};

/* At start, before requests, and again at any time. */
void client_proxies(const struct proxies *p);
void client_of(const struct httpd_request *q, struct client *ret);

#endif
