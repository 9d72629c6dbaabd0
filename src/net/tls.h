/* SPDX-License-Identifier: Apache-2.0 */
/* tls.h - TLS 1.2 and 1.3 on a non-blocking socket, over OpenSSL, in both directions.
 *
 * A connection belongs to one thread at a time; it may move to another between calls. */
#ifndef PEAL_NET_TLS_H
#define PEAL_NET_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/why.h"

struct tls_client; /* opaque: what servers are checked with; any thread */
struct tls_server; /* opaque: certificate and key of a listener; any thread */
struct tls;        /* opaque: one connection */

struct tls_files {         /* PEM */
    const char *cert;      /* the certificate, and behind it those up to its root */
    const char *key;       /* its private key, without a pass phrase */
    const char *client_ca; /* NULL: clients are not asked for a certificate; else one that they
                            * send must be signed by one of these */
};

/* ERR_INVALID: why names the setting, the file and what is wrong with it. */
MUST_CHECK enum err tls_server_new(const struct tls_files *files, struct tls_server **ret,
                                   struct why *why);
/* The next connections use these; those that are open are not touched. Refused, nothing changes. */
MUST_CHECK enum err tls_server_reload(struct tls_server *s, const struct tls_files *files,
                                      struct why *why);
bool tls_server_asks(struct tls_server *s); /* has it client_ca now? */
void tls_server_free(struct tls_server *s); /* its connections may go on */
/* A connection that was accepted; fd stays the caller's. NULL without memory. */
struct tls *tls_accept(struct tls_server *s, int fd);
/* Has the client shown a certificate that client_ca signed? After the handshake. */
bool tls_client_proved(const struct tls *t);

#define TLS_SYSTEM "system" /* the certificates that this machine trusts */
#define TLS_ANY "any"       /* no certificate is looked at: hides the traffic, proves nothing */

struct tls_trust {       /* texts are borrowed for the call */
    const char *ca;      /* TLS_SYSTEM, TLS_ANY (as NULL), or a file (PEM) of certificates */
    const char *cert;    /* NULL, or a file (PEM) with the certificate to show to servers */
    const char *key;     /* and that with its key */
    const char *setting; /* whose value ca is, for messages; those of the others begin like it */
};

/* ERR_INVALID: why names setting, file and what is wrong with it. trust NULL: TLS_ANY. */
MUST_CHECK enum err tls_client_new(const struct tls_trust *trust, struct tls_client **ret,
                                   struct why *why);
/* The next connections are checked with these, and resume no session from before; those that are
 * open are not touched. Refused, nothing changes. */
MUST_CHECK enum err tls_client_reload(struct tls_client *t, const struct tls_trust *trust,
                                      struct why *why);
void tls_client_free(struct tls_client *t); /* its connections may go on */

/* The session that a server gave last: the next connection to it resumes that one, which saves both
 * sides the certificates and their signatures (RFC 8446, 2.2). All zero: none. */
struct tls_ticket {
    struct ssl_session_st *session; /* owned */
    unsigned reloads;               /* of its client, when the connection began */
};
void tls_ticket_drop(struct tls_ticket *ticket);

/* fd stays the caller's. host: name or literal, which the certificate must be for unless any is
 * taken. ticket: NULL, or of this host and this client's; it is used, renewed, and dropped if the
 * handshake fails; must outlive the connection, on its thread. NULL without memory. */
struct tls *tls_new(struct tls_client *t, int fd, const char *host, bool literal,
                    struct tls_ticket *ticket);
/* Nothing more will be written: says so to the peer, once. */
void tls_end(struct tls *t);
/* polite: tls_end first (a clean end of an idle connection). */
void tls_free(struct tls *t, bool polite);

/* What a call on the connection came to. */
enum tls_result { TLS_OK, TLS_EOF, TLS_WANT_READ, TLS_WANT_WRITE, TLS_FAILED };

enum tls_result tls_handshake(struct tls *t);
/* Its handshake, done or not, began with the session of a ticket: should it fail, one without may
 * succeed. */
bool tls_offers_session(const struct tls *t);
enum tls_result tls_read(struct tls *t, void *to, size_t size, size_t *ret_n);
enum tls_result tls_write(struct tls *t, const void *from, size_t n, size_t *ret_n);
/* Bytes that tls_read has without the socket: epoll does not tell of them. */
size_t tls_pending(const struct tls *t);
/* Text of the last failure of this thread; static storage. */
const char *tls_why(void);
/* Why the peer's certificate was refused; NULL: it was not. Static storage. */
const char *tls_untrusted(const struct tls *t);

#endif
