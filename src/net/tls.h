/* SPDX-License-Identifier: Apache-2.0 */
/* tls.h - TLS for outgoing connections, over OpenSSL, on a non-blocking socket.
 *
 * Any certificate is accepted, as XXL-JOB's own client does: executors carry self-signed ones.
 * That hides the traffic from listeners and does not prove which program answers. Thread: the
 * loop's. */
#ifndef PEAL_NET_TLS_H
#define PEAL_NET_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls_client; /* opaque: settings shared by the connections of one client */
struct tls;        /* opaque: one connection */

struct tls_client *tls_client_new(void); /* NULL if OpenSSL refuses */
void tls_client_free(struct tls_client *t);

/* fd stays the caller's. name: for SNI, NULL for literals. NULL without memory. */
struct tls *tls_new(struct tls_client *t, int fd, const char *name);
/* polite: say goodbye first (a clean end of an idle connection). */
void tls_free(struct tls *t, bool polite);

/* What a call on the connection came to. */
enum tls_result { TLS_OK, TLS_EOF, TLS_WANT_READ, TLS_WANT_WRITE, TLS_FAILED };

enum tls_result tls_handshake(struct tls *t);
enum tls_result tls_read(struct tls *t, void *to, size_t size, size_t *ret_n);
enum tls_result tls_write(struct tls *t, const void *from, size_t n, size_t *ret_n);
/* Text of the last failure of this thread; static storage. */
const char *tls_why(void);

#endif
