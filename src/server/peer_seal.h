/* SPDX-License-Identifier: Apache-2.0 */
/* peer_seal.h - how nodes of a cluster know a call, and an answer, to be one of theirs.
 *
 * A call has the header "Peal-Node: FROM TO NONCE DIGEST MAC": the life (epoch) that calls, the
 * life that is called, a number that makes each call another one, the SHA-256 of the body, and an
 * HMAC-SHA-256 over the path and all of these, by the access token. The token itself is not sent.
 * The MAC is checked before a large body is read, the body's digest after it. The answer begins
 * with an HMAC over the call's MAC and the answer, so an answer of another program, or to another
 * call, is not taken for a yes. A call that is sent again by a stranger is taken again: calls are
 * such that this changes nothing. A refusal begins with an HMAC of its own, over its status as
 * well, so it is known to be the other node's, and cannot be taken for an answer. Any thread. */
#ifndef PEAL_SERVER_PEER_SEAL_H
#define PEAL_SERVER_PEER_SEAL_H

#include "base/buf.h"
#include "base/err.h"

#define PEER_HEADER "Peal-Node"
#define PEER_HEX 64 /* digits of a digest or a MAC */

struct peer_seal {
    int64_t from, to; /* epochs */
    int64_t nonce;
    char digest[PEER_HEX + 1], mac[PEER_HEX + 1];
};

/* Seal a call. path: behind PEER_PATH. from, to and nonce are set; digest and mac are made. */
void peer_seal_make(struct slice token, struct slice path, struct slice body,
                    struct peer_seal *seal);
void peer_seal_write(struct buf *out, const struct peer_seal *seal); /* the header's value */
/* Read a header's value and look at its MAC. False: it is not one of ours. */
MUST_CHECK bool peer_seal_read(struct slice token, struct slice path, struct slice value,
                               struct peer_seal *ret);
/* Is this the body that was sealed? */
MUST_CHECK bool peer_seal_body(const struct peer_seal *seal, struct slice body);

/* Append the answer to that call: its MAC, a line feed, and the body. */
void peer_answer_write(struct buf *out, struct slice token, const struct peer_seal *call,
                       struct slice body);
/* The body of an answer to that call. False: it is not one of ours. */
MUST_CHECK bool peer_answer_read(struct slice token, const struct peer_seal *call,
                                 struct slice answer, struct slice *ret);

/* Append that the call is refused with that status; it has no body. */
void peer_refusal_write(struct buf *out, struct slice token, const struct peer_seal *call,
                        int status);
/* Has the node that was called refused it with that status? False: another program did, or one of
 * the way. */
MUST_CHECK bool peer_refusal_read(struct slice token, const struct peer_seal *call, int status,
                                  struct slice answer);

#endif
