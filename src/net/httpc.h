/* SPDX-License-Identifier: Apache-2.0 */
/* httpc.h - the dispatch client: POSTs to many peers over kept-alive connections.
 *
 * Head and body leave in one write. A call ends exactly once, and its outcome says what is proved
 * about delivery, because the ledger decides from it whether a run may be sent again. Nothing is
 * ever posted twice: only a connection found dead before a byte of the call left is replaced.
 * The caller bounds how many calls are open: there is no queue here.
 * https: the certificate must be trusted and for the host, unless the client takes any. Thread:
 * everything on the loop's thread. */
#ifndef PEAL_NET_HTTPC_H
#define PEAL_NET_HTTPC_H

#include "base/err.h"
#include "base/str.h"
#include "base/why.h"
#include "net/addr.h"
#include "net/loop.h"
#include "net/tls.h"

struct httpc;      /* opaque: the client of one loop */
struct httpc_peer; /* opaque: one address */

struct httpc_config {  /* 0 in a number: the default */
    const char *token; /* XXL-JOB-ACCESS-TOKEN of posts without one, sent even when ""; copied */
    int connections;   /* 64, per peer */
    int connect_timeout_ms; /* 3000, resolving and TLS included */
    struct tls_trust tls; /* all NULL: any certificate. Checked at once if it names files; texts are
                           * borrowed until httpc_free */
    struct tls_client *trust; /* in place of the files of tls; borrowed until httpc_free */
    int idle_ms;              /* 4000: idle connections are closed then */
    /* Whether a connection to that address may be opened, by the setting of that name; asked for
     * each, once its name is resolved. NULL: to all. arg is borrowed until httpc_free. */
    bool (*takes)(const void *arg, const struct sockaddr_storage *a);
    const void *takes_arg;
    const char *takes_setting;
};

/* ERR_INVALID if the token cannot stand in a header, or a file of tls is not good (why says). */
MUST_CHECK enum err httpc_new(struct loop *l, const struct httpc_config *config, struct httpc **ret,
                              struct why *why);
/* All calls must have ended (httpc_abort). Frees the peers too. */
void httpc_free(struct httpc *c);

/* address: as in addr_url_parse. ERR_INVALID with the rule in why; ERR_NOMEM; ERR_IO without
 * descriptors for the resolution of a name (only in libpeal: others abort). */
MUST_CHECK enum err httpc_peer_new(struct httpc *c, struct slice address, struct httpc_peer **ret,
                                   struct why *why);
/* Idle connections close; open calls go on to their end. */
void httpc_peer_free(struct httpc_peer *p);
/* As it was given to httpc_peer_new. */
const char *httpc_peer_address(const struct httpc_peer *p);
/* Connections open now, and of them idle. */
int httpc_peer_connections(const struct httpc_peer *p);
int httpc_peer_idle(const struct httpc_peer *p);

/* Open connections ahead of calls until the peer has n, within the bound. Of a name without a fresh
 * address only the address is asked for. What cannot be opened is given up quietly: the call that
 * needs it tells. */
void httpc_warm(struct httpc_peer *p, int n);

enum httpc_outcome {
    HTTPC_ANSWERED, /* status and body are the peer's answer */
    HTTPC_NOT_SENT, /* no byte of it left: it cannot have been delivered */
    HTTPC_IN_DOUBT, /* bytes left and no whole answer came; the connection is reset */
    HTTPC_NOT_HTTP, /* bytes left and something answered that is not HTTP; reset too */
};

/* An open call. The caller's memory, untouched by the caller between httpc_call and done. */
struct httpc_call {
    /* set by the caller */
    void (*done)(struct httpc_call *call); /* once, never from within httpc_call */
    /* Optional: may it leave? Called at most once, from within httpc_call too, immediately before
     * the first byte can be written. False: nothing is written, and the call ends with NOT_SENT and
     * ERR_OVERTAKEN. A yes is for a write at once: if no open connection takes a byte then, the
     * call ends with NOT_SENT as well. Must not call httpc_call or httpc_abort. */
    bool (*leaving)(struct httpc_call *call);
    /* Optional: pieces of the answer's body as they come; nothing is kept then. False: enough,
     * end the call as IN_DOUBT (the connection is reset). Must not call httpc_abort. */
    bool (*on_body)(struct httpc_call *call, struct slice piece);
    size_t body_max; /* of the answer; 0: 1 MiB. More ends as IN_DOUBT */
    void *user;
    /* valid in done */
    enum httpc_outcome outcome;
    int status;        /* ANSWERED; also during on_body */
    enum err err;      /* not ANSWERED: ERR_TIMEOUT, ERR_NET, ERR_TOOBIG, ERR_INVALID (HTTP); with
                        * NOT_SENT also ERR_FULL: no descriptor or memory left here for a connection,
                        * and ERR_OVERTAKEN: see leaving */
    struct slice body; /* valid until done returns */
    const char *why;   /* not ANSWERED: what happened; valid until done returns */
    int64_t sent_us;   /* CLOCK_REALTIME of the write that took the first byte; 0: none did */
    /* private */
    struct httpc_conn *conn;
    bool asked; /* leaving has been */
};

struct httpc_post {             /* all borrowed until httpc_call returns */
    const char *action;         /* appended to the peer's path: "run" */
    struct slice headers;       /* further complete lines, each with CRLF, or empty */
    const struct slice *pieces; /* of the body, in order */
    size_t npieces;
    int timeout_ms;    /* from now to the end of the answer */
    const char *token; /* of this request; NULL: the client's. Fit for a header, as that one is */
};

/* OK: done will come. ERR_FULL: every connection of the peer is in use; ERR_TOOBIG: the request
 * exceeds 64 MiB; ERR_OVERTAKEN: see leaving. */
MUST_CHECK enum err httpc_call(struct httpc_peer *p, const struct httpc_post *post,
                               struct httpc_call *call);
/* An open call: reset its connection now. done will not come; returns what it would have said,
 * NOT_SENT or IN_DOUBT. */
enum httpc_outcome httpc_abort(struct httpc_call *call);

#endif
