/* SPDX-License-Identifier: Apache-2.0 */
/* sources.h - the addresses that connections of a front come from, and their shares of it.
 *
 * A source is one IPv4 address or one IPv6 network of 64 bits, which is what one machine can choose
 * from. It counts the connections that have proved nothing, so that a full front can take a place
 * from the source that has the most. A source whose peers have proved that they belong here is
 * known for ten minutes. Everything costs the same however many sources there are.
 * Thread: that of the front. */
#ifndef PEAL_NET_SOURCES_H
#define PEAL_NET_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include "base/list.h"
#include "base/map.h"

enum {
    SOURCE_SIZES = 20,         /* powers of two of connections */
    SOURCES_KNOWN_MAX = 16384, /* above: the one that proved itself longest ago is forgotten */
    SOURCE_KNOWN_MS = 600000,
};

struct source {
    /* read-only for the owner */
    struct list unproved; /* its connections; the one without a request for the longest first */
    int n;                /* of these */
    size_t large;         /* owner's: bytes in the buffers of its large bodies */
    /* private */
    uint64_t key;
    int refs;
    bool known;
    int64_t proved_ms;
    struct list_node by_size, by_proof;
};

struct sources {
    struct map by_key;
    struct list sizes[2][SOURCE_SIZES]; /* [known][log2 of n] */
    struct list proofs;                 /* known ones, longest ago first */
    int nknown;
};

void sources_init(struct sources *t);
void sources_done(struct sources *t); /* no source may be held */

/* The source of a peer, held until it is put back. now_ms: any steady clock. */
struct source *source_get(struct sources *t, const struct sockaddr_storage *peer, int64_t now_ms);
void source_put(struct sources *t, struct source *s);
/* A connection that has proved nothing, at the end of the list; and it leaves. */
void source_add(struct sources *t, struct source *s, struct list_node *connection);
void source_drop(struct sources *t, struct source *s, struct list_node *connection);
/* A peer of it has proved that it belongs here. */
void source_proved(struct sources *t, struct source *s, int64_t now_ms);
/* The n-th (0 first) of those that have about the most connections which have proved nothing
 * (within a factor of two), among known sources or among the others. NULL: no more. */
struct source *sources_largest(const struct sources *t, bool known, int n);

#endif
