/* SPDX-License-Identifier: Apache-2.0 */
/* peers.h - what nodes of a cluster say to each other directly, over HTTP.
 *
 * It is fast and nothing else: whatever one node must know of another has a row in the database,
 * which is read within 200 ms, and a call that fails changes nothing but the time that it takes
 * (docs/internals/cluster.md). A call is a POST to /peal/node/PATH at the address that the other
 * one's row of peal_node has, sealed by the access token and meant for one life (peer_seal.h). What
 * is not sealed, or for another life, is answered 403 and nothing else. A node's call that has no
 * row here is refused by a sealed 404, one with too large a body by a sealed 413: the asker may be
 * of a later release.
 *
 * To add a call that nodes answer: a row in peer_rows.c, with a function that takes the call and
 * answers it once, at once or later (peer_answer, peer_refuse). To make one: peers_call on the
 * scheduler's thread, center_peer_ask on any other one (center.h).
 *
 * A node that has not answered in PEER_TIMEOUT_MS is left alone for a while, which doubles from
 * 0.25 s to 8 s with each failure, unless it gets a new life or address: then calls fail at once. A
 * sealed refusal is an answer, and no failure: the other calls to that node go on.
 * Everything on the scheduler's thread, unless a comment says otherwise. */
#ifndef PEAL_SERVER_PEERS_H
#define PEAL_SERVER_PEERS_H

#include "base/str.h"
#include "base/why.h"
#include "net/httpc.h"
#include "net/httpd.h"
#include "server/lives.h"
#include "server/metrics.h"
#include "server/peer_seal.h"

struct center;
struct peers; /* the other nodes, of one server */

#define PEER_PATH "/peal/node/"
#define PEER_TIMEOUT_MS 300        /* of a call, connecting included */
#define PEER_BODY_MAX (4u << 20)   /* of a call, or less as its row says */
#define PEER_ANSWER_MAX (1u << 20) /* of an answer's body */

/* ---- answering ------------------------------------------------------------------------------- */

struct peer_asked {    /* a call that has come; belongs to the function of its row until answered */
    struct slice rest; /* of the path, behind the row's: "17" of "run/17" */
    struct slice body;
    int64_t from; /* the life that asks */
    void *user;   /* the row's function's own */
    struct peers *peers;
    struct httpd_request *request; /* private, as what follows */
    struct list_node node;
    struct peer_seal seal;
};

struct peer_row {
    const char *path; /* "look"; one that ends with '/' stands for all paths that begin so */
    size_t body_max;
    /* Takes the call: peer_answer or peer_refuse once, at once or later. Does not block. The body
     * is a node's own, and still checked as if it were a stranger's. */
    void (*serve)(struct center *c, struct peer_asked *a);
};

extern const struct peer_row peer_rows[]; /* peer_rows.c; ended by a row without a path */

void peer_answer(struct peer_asked *a, struct slice body); /* a is gone afterwards */
/* The asker goes the slow way. status: 503 if others may be asked first for a while; a is gone. */
void peer_refuse(struct peer_asked *a, int status);

/* Is the path one of these, so that a front hands its requests to the scheduler's? Any thread. */
bool peers_path(struct slice path);
/* A request with such a path: it is answered, now or later. peers NULL: this server has the
 * database alone, or has no token: 403. */
void peers_serve(struct peers *p, struct httpd_request *q);
/* The head of one with a large body: see on_head of net/httpd.h. */
size_t peers_head(struct peers *p, struct httpd_request *q);

/* ---- calling --------------------------------------------------------------------------------- */

struct peer_call { /* the caller's memory, zeroed; left alone until done */
    /* Once, never from within peers_call. It may free the call, and make others. */
    void (*done)(struct peer_call *call);
    void *arg;
    /* valid in done */
    bool answered; /* by that life of that node: body is its answer, until done returns */
    struct slice body;
    int refused;     /* else: the status by which that life has refused it; 0: it was not heard */
    const char *why; /* and what happened */
    int64_t epoch;   /* that was called */
    /* private */
    struct httpc_call http;
    struct list_node node;
    struct peers *peers;
    struct peer_seal seal;
};

/* Call that life with a path of its rows and a body, which is copied. False: it cannot be tried
 * (it does not live as far as is known here, it is left alone for a while, or PEER_CALLS calls to
 * it are under way), and done does not come. */
#define PEER_CALLS 8
MUST_CHECK bool peers_call(struct peers *p, int64_t epoch, const char *path, struct slice body,
                           struct peer_call *call);
/* End an open call now: done does not come. */
void peers_abort(struct peer_call *call);
/* The life of that node that can be called now; 0: none. */
int64_t peers_epoch(const struct peers *p, int64_t node);
/* The lives that can be called now and have not answered "503" a moment ago, at most max. Returns
 * how many. */
int peers_ready(const struct peers *p, int64_t *ret_epochs, int max);
/* Tell all others that the database has something new for them: they look at once. At most one
 * such call to each is under way, and one waits. NULL is fine. */
void peers_nudge(struct peers *p);

/* ---- life ------------------------------------------------------------------------------------ */

struct peers_config {
    struct center *center;       /* for the rows' functions */
    const struct peer_row *rows; /* borrowed for good */
    const char *token;           /* copied; not empty */
    struct tls_client *trust;    /* as center_config's; borrowed until peers_free */
    int64_t epoch;               /* of this server */
    int timeout_ms;              /* of a call; 0: PEER_TIMEOUT_MS */
    struct metrics *metrics;
};

MUST_CHECK enum err peers_new(struct loop *l, const struct peers_config *config, struct peers **ret,
                              struct why *why);
/* What other nodes live. */
void peers_heard(struct peers *p, const struct live_nodes *lives);
bool peers_busy(const struct peers *p); /* a call of this server is under way; NULL is fine */
/* Open calls end without done; calls that were not answered are dropped. The fronts live still. */
void peers_free(struct peers *p);

#endif
