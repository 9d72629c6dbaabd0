/* SPDX-License-Identifier: Apache-2.0 */
/* tls_front.h - where connections over TLS begin: a listener and a thread of their own.
 *
 * A handshake costs up to a millisecond of CPU, a hundred times what a request costs. So that a
 * flood of them holds up neither firings nor pages, a connection comes to the scheduler's loop when
 * its first request is there, and never comes back. Private to src/server; the scheduler's
 * thread. */
#ifndef PEAL_SERVER_TLS_FRONT_H
#define PEAL_SERVER_TLS_FRONT_H

#include "net/httpd.h"

struct tls_front; /* opaque */

/* Listens nowhere yet. tls is borrowed; connections with a request go to to, which turns on l. */
struct tls_front *tls_front_new(struct tls_server *tls, struct loop *l, struct httpd *to);
/* Where to listen; before tls_front_start. */
struct httpd *tls_front_httpd(struct tls_front *f);
MUST_CHECK enum err tls_front_start(struct tls_front *f, struct why *why);
/* Take no new connections; those without a request end now, or with last_answers at their first
 * answer. */
void tls_front_drain(struct tls_front *f, bool last_answers);
bool tls_front_empty(struct tls_front *f); /* as of its thread's last iteration */
/* Ends the thread; its loop's owner does not turn it any more. */
void tls_front_free(struct tls_front *f);

#endif
