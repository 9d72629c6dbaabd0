/* SPDX-License-Identifier: Apache-2.0 */
/* resolver.h - host names to addresses off the loop, because getaddrinfo may sleep for seconds.
 *
 * Up to four threads, started when there is work for them, so that one dead name does not hold up
 * the others. Thread: the loop's, except what runs in the threads themselves. */
#ifndef PEAL_NET_RESOLVER_H
#define PEAL_NET_RESOLVER_H

#include <stdint.h>
#include <sys/socket.h>
#include "base/mailbox.h"
#include "net/addr.h"

enum { RESOLVER_ADDRESSES = 4 };

struct lookup {
    struct message message;
    char host[ADDR_HOST_MAX + 1];
    uint16_t port;
    void *user;
    /* the answer */
    struct {
        struct sockaddr_storage addr;
        socklen_t len;
    } found[RESOLVER_ADDRESSES];
    int nfound;      /* 0: failed */
    const char *why; /* static text */
};

struct resolver;

struct resolver *resolver_new(void); /* NULL as mailbox_new */
/* Does not wait for names being asked; their lookups are freed. */
void resolver_free(struct resolver *r);
/* The resolver owns k until it comes back as a message (free it then). */
void resolver_ask(struct resolver *r, struct lookup *k);
struct mailbox *resolver_mailbox(struct resolver *r);

#endif
