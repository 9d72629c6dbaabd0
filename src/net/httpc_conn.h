/* SPDX-License-Identifier: Apache-2.0 */
/* httpc_conn.h - one connection of the client, and what it shares with peers and calls. Private to
 * httpc.c and httpc_conn.c; the contract is httpc.h. */
#ifndef PEAL_NET_HTTPC_CONN_H
#define PEAL_NET_HTTPC_CONN_H

#include "base/buf.h"
#include "base/list.h"
#include "net/http.h"
#include "net/httpc.h"
#include "net/resolver.h"
#include "net/tls.h"

enum {
    HTTPC_READ_SIZE = 4095,
    HTTPC_KEEP_BUFFER = 65536,    /* larger buffers are not kept between calls */
    HTTPC_REQUEST_MAX = 64 << 20, /* bytes of one request */
};

/*   RESOLVING -> CONNECTING -> [HANDSHAKE ->] BUSY <-> IDLE
 *   any of the first four -> FAILED, until done has been called after this iteration. */
enum conn_state { RESOLVING, CONNECTING, HANDSHAKE, BUSY, IDLE, FAILED };

struct httpc_conn {
    struct httpc_peer *peer; /* counted */
    struct httpc_call *call; /* the caller's; NULL while idle, or opened ahead of one */
    enum conn_state state;
    struct loop_fd fd;       /* fd -1 while there is none */
    struct loop_timer timer; /* of the state: connect, call, idle */
    struct list_node node;   /* in the peer's list of its state, or httpc's failed */
    int64_t connect_due_ms, call_due_ms;
    int64_t idle_ms;   /* since when */
    uint32_t answered; /* calls that it carried to an answer */
    int tried;         /* addresses of the peer tried for this connection */
    bool broken;       /* writing failed: read what the peer may have said, then end */
    bool whole;        /* its handshake is a whole one: the peer refused the session */
    struct buf in, out;
    size_t out_at;
    struct http_reader reader;
    struct tls *tls;
    char why[160];
};

struct httpc_peer {
    struct httpc *c;
    struct list_node node;
    struct addr_url url;
    char *address; /* as given */
    char *head_a;  /* "POST /prefix/", then comes the action */
    char *head_b;  /* " HTTP/1.1" to "XXL-JOB-ACCESS-TOKEN: " */
    size_t head_a_len, head_b_len;
    struct list idle, busy, resolving; /* connections */
    struct list opening;               /* those that are opened ahead of calls */
    int nconns, nidle, refs;           /* refs: the owner and each connection */
    bool freed, asking;
    struct lookup addrs; /* found[0..nfound) in the order of trial */
    int64_t resolved_ms;
    bool numeric;
    struct tls_ticket ticket; /* for its next connection */
};

struct httpc {
    struct loop *loop;
    struct httpc_config cf;
    char *token;
    struct list peers, failed;
    struct loop_task failed_task;
    struct buf spare; /* the answer's bytes while done runs; swapped with a connection's */
    struct tls_client *tls;
    struct resolver *resolver;
    struct loop_mailbox incoming;
};

enum begun { /* a call, on a connection that stands */
             ON_ITS_WAY,
             NOT_LEAVING, /* the caller said no: nothing was written */
             BROKEN,      /* nothing was taken: the connection was dead, or takes nothing now */
};

void httpc_peer_unref(struct httpc_peer *p); /* a peer goes with the last of its connections */
struct httpc_conn *httpc_conn_new(struct httpc_peer *p); /* without a socket, in no list */
/* Try the next address of the peer. */
void httpc_conn_connect(struct httpc_conn *k);
/* It stands: its call begins. BROKEN and NOT_LEAVING leave it to the caller. */
enum begun httpc_conn_begin(struct httpc_conn *k);
/* Idle: is it still there? Only TLS may have something to say, tickets and the like. */
bool httpc_conn_alive(struct httpc_conn *k);
/* The call, if there is one yet, ends without an answer: reset now, done after this iteration. */
void httpc_conn_fail(struct httpc_conn *k, enum err err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Out of the socket's life; the connection no longer counts for its peer. polite: FIN, not RST. */
void httpc_conn_shut(struct httpc_conn *k, bool polite);
void httpc_conn_destroy(struct httpc_conn *k); /* after conn_shut */
void httpc_conn_close(struct httpc_conn *k);   /* idle: both, politely */

#endif
