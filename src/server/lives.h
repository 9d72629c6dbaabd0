/* SPDX-License-Identifier: Apache-2.0 */
/* lives.h - the other nodes that live, and where each can be called: found by the node's thread,
 * taken by the scheduler's. */
#ifndef PEAL_SERVER_LIVES_H
#define PEAL_SERVER_LIVES_H

#include "base/err.h"
#include "base/why.h"
#include <stdbool.h>
#include <stdint.h>

struct live_node {
    int64_t node, epoch;
    char *address; /* owned; "host:port", or a URL; never empty */
};

struct live_nodes { /* all zero: none */
    struct live_node *items;
    int n;
};

/* One more; the address is copied. One without an address is left out. */
void live_nodes_add(struct live_nodes *l, int64_t node, int64_t epoch, const char *address);
/* The same nodes in the same order, with the same lives and addresses? */
bool live_nodes_same(const struct live_nodes *a, const struct live_nodes *b);
void live_nodes_copy(struct live_nodes *to, const struct live_nodes *from); /* to: none so far */
void live_nodes_done(struct live_nodes *l);

#define NODE_ADDRESS_SIZE 256 /* as wide as the column */
/* Where other nodes reach this one. given: the setting node.address, which counts if it is not
 * empty; ERR_INVALID: it is no address. Else it is where the server listens; in place of every
 * interface it is this machine's name, and port is the one that was bound. tls: the port speaks
 * TLS, which the address then says. */
MUST_CHECK enum err node_address_choose(const char *given, const char *listen, uint16_t port,
                                        bool tls, char ret[NODE_ADDRESS_SIZE], struct why *why);

#endif
